"""``rg.births``: where NaN and infinities come from, found in a graph after the fact.

Forward, a birth is a value that is not finite though its operands are; backward, a contribution
that is not finite though its upstream is. Births of one kind on one line are counted as one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isinf, isnan
from typing import Any

from .._shared import birth
from .._shared.birth import Birth
from .._shared.numerics import np
from ..errors import AnomalyError, NotAValueError
from ..passes.backward import pull, seeds_at
from ..passes.flat import LEAF, Pass
from ..passes.survey import survey
from ..passes.tensors import holds_tensors
from ..passes.values import read
from ..value import Value
from . import array_births
from .births_text import births_lines
from .thresholds import KINDS

MOST = 32
"""How many births of different kind or line are described for each phase."""


@dataclass(frozen=True)
class Births:
    """Where NaN and infinities come from: the first places in each pass, in the order met.

    ``values`` and ``gradients`` count everything that is not finite; ``roots_are_finite`` says
    whether it reached the result.
    """

    forward: tuple[Birth, ...] = ()
    backward: tuple[Birth, ...] = ()
    values: int = 0
    gradients: int = 0
    roots_are_finite: bool = True

    def __bool__(self) -> bool:
        return bool(self.forward or self.backward)

    @property
    def first(self) -> Birth | None:
        """The first birth: forward ones come before backward ones."""
        return next(iter((*self.forward, *self.backward)), None)

    def as_dict(self) -> dict[str, Any]:
        """The births as plain data, ready for JSON."""
        return {
            "forward": [each.as_dict() for each in self.forward],
            "backward": [each.as_dict() for each in self.backward],
            "values": self.values,
            "gradients": self.gradients,
            "roots_are_finite": self.roots_are_finite,
        }

    def __str__(self) -> str:
        return "\n".join(births_lines(self))


def births(root: Any, *, raising: bool = False) -> Births:
    """Find where NaN and infinities under a root, or a list of roots, were born.

    No ``.grad`` is changed. With ``raising`` the first birth is raised as :class:`AnomalyError`.

    >>> import retrograde as rg
    >>> x = rg.Value(0.0, label="x")
    >>> print(rg.births(rg.sqrt(x) * 0.0).backward[0].cause)
    0 × inf
    >>> rg.births(x * 2)
    Births(forward=(), backward=(), values=0, gradients=0, roots_are_finite=True)
    """
    roots = (root,) if isinstance(root, Value) else root
    if not isinstance(roots, (tuple, list)):
        raise NotAValueError.of("births", root)
    for index, each in enumerate(roots):
        if not isinstance(each, Value):
            raise NotAValueError.at("births", index, each)
    found = births_under(tuple(roots), (1.0,) * len(roots))
    if raising and found.first is not None:
        raise AnomalyError.of(found.first)
    return found


_NO_LIMITS = bytes(8 * 256)


def births_under(roots: tuple[Value, ...], seeds: tuple[float, ...]) -> Births:
    """The births under roots, for the seeds of one pass."""
    if holds_tensors(roots):
        forward = array_births.forward(roots, MOST)
        back = array_births.backward(roots, seeds, MOST)
        finite = all(isfinite(root.data) for root in roots)
        return Births(forward.births(), back.births(), forward.odd, back.odd, finite)
    quick = survey(roots, seeds, (), KINDS, _NO_LIMITS)
    odd_data, odd_adjoints = quick["odd_data"], quick["odd_adjoints"]
    if not odd_data and not odd_adjoints:
        return Births()
    graph = read(roots)
    return Births(
        _forward(graph, roots) if odd_data else (),
        _backward(graph, roots, seeds) if odd_adjoints else (),
        odd_data,
        odd_adjoints,
        all(isfinite(root.data) for root in roots),
    )


class _Collected:
    """Births, those of one kind on one line as one."""

    def __init__(self, graph: Pass) -> None:
        self.graph = graph
        self.found: dict[Any, list[Any]] = {}

    def add(self, index: int, cause: str, describe: Callable[[Value], Birth]) -> None:
        """A birth at one value; the first of its kind is described."""
        graph = self.graph
        assert graph.values is not None
        op = graph.own.get(index, graph.ops[index])
        key = (op, cause, int(graph.places[index]))
        if key in self.found:
            self.found[key][1] += 1
        elif len(self.found) < MOST:
            self.found[key] = [describe(graph.values[index]), 1]

    def births(self) -> tuple[Birth, ...]:
        """What was found, in the order met."""
        return tuple(replace(each, count=count) for each, count in self.found.values())


def _forward(graph: Pass, roots: tuple[Value, ...]) -> tuple[Birth, ...]:
    collected = _Collected(graph)
    for index in np.flatnonzero(~np.isfinite(graph.data)).tolist():
        operands = graph.operands[graph.starts[index] : graph.starts[index + 1]].tolist()
        if birth.is_birth(float(graph.data[index]), operands, graph.codes[index] == LEAF):
            collected.add(index, "", lambda value: birth.forward(value, roots))
    return collected.births()


def _backward(graph: Pass, roots: tuple[Value, ...], seeds: Sequence[float]) -> tuple[Birth, ...]:
    """The births among the contributions of a backward pass on numbers kept aside."""
    collected = _Collected(graph)
    places = graph.of(roots)
    for place, seed in zip(places, seeds):
        if not isfinite(seed):
            collected.add(place, birth.BY_SEED, _by_seed(seed))
    pulled = pull(graph, seeds_at(places, seeds))
    with np.errstate(all="ignore"):
        afters = pulled.befores + pulled.amounts
    upstreams = pulled.gradients[graph.owners]
    odd = np.flatnonzero((graph.inputs >= 0) & ~np.isfinite(afters) & np.isfinite(upstreams))
    for edge in odd[np.argsort(-graph.owners[odd], kind="stable")].tolist():
        index = int(graph.owners[edge])
        before, after = float(pulled.befores[edge]), float(afters[edge])
        position = edge - int(graph.starts[index])
        if graph.ruled[index]:
            if isfinite(before):
                collected.add(index, birth.BY_CLOSURE, _by_closure(position, after, roots))
            continue
        if not graph.takes[graph.inputs[edge]]:
            continue
        if not isfinite(before) and not (isinf(before) and isnan(after)):
            continue  # it was born before, by another contribution
        slope, upstream = float(graph.numbers[edge]), float(upstreams[edge])
        operands = graph.operands[graph.starts[index] : graph.starts[index + 1]]
        if not isfinite(slope) and not np.isfinite(operands).all():
            continue  # the consequence of a birth in the forward pass
        collected.add(
            index,
            birth.cause_of(slope, upstream, before),
            _by_partial(position, slope, upstream, before, roots),
        )
    return collected.births()


def _by_seed(seed: float) -> Callable[[Value], Birth]:
    return lambda root: birth.elsewhere(birth.BY_SEED, root, seed)


def _by_closure(position: int, total: float, roots: tuple[Value, ...]) -> Callable[[Value], Birth]:
    return lambda value: birth.elsewhere(
        birth.BY_CLOSURE, value, total, value.inputs[position], roots
    )


def _by_partial(
    position: int, slope: float, upstream: float, before: float, roots: tuple[Value, ...]
) -> Callable[[Value], Birth]:
    return lambda value: birth.backward(value, position, slope, upstream, before, roots)
