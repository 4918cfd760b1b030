"""The faults of ``faults.py`` with a beginning, and with an end where one is wanted."""

from __future__ import annotations

from . import faults
from .networks import Network, train

LATE = tuple(fault for fault in faults.FAULTS if fault not in (faults.unused, faults.never_reached))
"""Faults that can begin at any pass: not those of parameters that never were in the loss."""


def injected_late(rg, seed, first, last, passes):
    """A healthy network with a fault in passes ``first`` to ``last``: (fault, case, report).

    A fault that is a change of the parameters is undone by giving them their old numbers.
    """
    fault = LATE[seed % len(LATE)]
    kinds = faults.NEEDS.get(fault)
    activation = kinds[seed // len(LATE) % len(kinds)] if kinds else None
    depth = 4 if fault in (faults.vanishing, faults.exploding) else None
    network = Network(rg, 70_000 + seed, activation, depth)
    if fault not in (faults.stale, faults.overwriting):
        network.residual = network.penalty = False  # other ways round the fault
    below = len(network.layers) - 2
    place = 1 if depth else network.source.randint(0, below)
    case = None
    healthy = []
    with rg.doctor.watch(network.parameters) as watched:
        for number in range(1, passes + 1):
            if number == first:
                healthy = [p.data for p in network.values()]
                case = fault(network, place)
            if number == last + 1:
                for p, data in zip(network.values(), healthy):
                    p.data = data
            sick = first <= number <= last
            between = case.between if case is not None and sick else None
            train(network, 1, 0.01, between, zero=case.zero if case is not None and sick else True)
    return fault, case, watched.report()
