"""The units of activations: in how many rows each is shut, from what autograd keeps anyway."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import torch

from ..passes.arrays import Gate
from ._private import saved_by
from .graph import Reading
from .kinds import LEAF, NORMS, kind_of

SATURATED = 1e-3
"""A slope at most this share of the steepest counts as shut, as for values."""

Shut = Callable[[torch.Tensor], torch.Tensor]


def _erf_slope(x: torch.Tensor) -> torch.Tensor:
    """The slope of gelu."""
    density = torch.exp(-0.5 * x * x) * 0.3989422804014327
    return 0.5 * (1.0 + torch.erf(x * 0.7071067811865476)) + x * density


def _silu_slope(x: torch.Tensor) -> torch.Tensor:
    s = torch.sigmoid(x)
    return s * (1.0 + x * (1.0 - s))


_BY_RESULT: dict[str, tuple[bool, Shut]] = {
    "relu": (False, lambda r: r <= 0),
    "threshold": (False, lambda r: r <= 0),
    "tanh": (True, lambda r: 1.0 - r * r <= SATURATED),
    "sigmoid": (True, lambda r: r * (1.0 - r) <= 0.25 * SATURATED),
}
_BY_INPUT: dict[str, tuple[bool, Shut]] = {
    "relu": (False, lambda x: x <= 0),
    "threshold": (False, lambda x: x <= 0),
    "gelu": (True, lambda x: _erf_slope(x).abs() <= SATURATED),
    "silu": (True, lambda x: _silu_slope(x).abs() <= SATURATED),
    "softplus": (True, lambda x: torch.sigmoid(x) <= SATURATED),
    "elu": (True, lambda x: torch.where(x > 0, 1.0, x.exp()) <= SATURATED),
    "hardtanh": (False, lambda x: x.abs() >= 1.0),
}
"""By op: whether it saturates rather than dies, and where it is shut, by result or by input."""


def gates_of(reading: Reading) -> list[Gate]:
    """Every activation of a pass; those on one line over one layer are one, as in a recurrence.
    Their counts stay on their devices until :func:`count`."""
    found: dict[Any, Gate] = {}
    for index, op in enumerate(reading.ops):
        if op not in _BY_RESULT and op not in _BY_INPUT:
            continue
        saved = dict(saved_by(reading.live[index]))
        if "result" in saved and op in _BY_RESULT:
            kept, (saturates, shut) = saved["result"], _BY_RESULT[op]
        elif "self" in saved and op in _BY_INPUT:
            kept, (saturates, shut) = saved["self"], _BY_INPUT[op]
        else:
            continue
        if kept.dim() < 2 or not kept.numel() or kept.is_complex():
            continue
        owner, axis = _owner(reading, index, kept)
        over = [d for d in range(kept.dim()) if d != axis]
        with torch.no_grad():
            rows = prod(kept.shape[d] for d in over)
            counts = shut(kept.detach()).sum(over)
        key = (reading.sites[index], op, owner, len(counts))
        known = found.get(key)
        if known is None:
            gate = Gate(index, op, reading.sites[index], saturates, rows, counts, owner)
            found[key] = gate
        else:
            known.rows += rows
            known.shut = known.shut + counts
    return list(found.values())


def count(gates: list[Gate]) -> None:
    """Read the counts, waiting once for each device."""
    by_device: dict[torch.device, list[Gate]] = {}
    for gate in gates:
        by_device.setdefault(gate.shut.device, []).append(gate)
    for those in by_device.values():
        counts = torch.cat([gate.shut for gate in those]).cpu().numpy()
        ends = np.cumsum([len(gate.shut) for gate in those])
        for gate, mine in zip(those, np.split(counts, ends[:-1])):
            gate.shut = mine


def _owner(reading: Reading, index: int, kept: torch.Tensor) -> tuple[int, int]:
    """The parameter whose outputs the units are, and their axis: the nearest below by sums,
    products and norms. The outputs of a convolution are its channels, along axis 1."""
    pending, seen, axis = [index], {index}, kept.dim() - 1
    convolved = False
    while pending:
        at = pending.pop(0)
        for target in reading.inputs[reading.starts[at] : reading.starts[at + 1]]:
            if target < 0 or target in seen:
                continue
            seen.add(target)
            op = reading.ops[target]
            if op == LEAF:
                shape, names = reading.shapes[target], reading.names
                here = 1 if convolved and kept.dim() > 2 else axis
                if shape and kept.shape[here] in (shape[0], shape[-1]) and target in names:
                    return target, here
            elif kind_of(op) in ("copy", "weigh", "custom", "swap") or op in NORMS:
                convolved = convolved or "conv" in op or op.endswith("batchnorm")
                if len(seen) < 64:
                    pending.append(target)
    return -1, 1 if convolved and kept.dim() > 2 else axis
