"""The units of activations: in how many rows each is shut, from what autograd keeps anyway."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import torch

from ..passes.arrays import Gate
from . import board
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


class Gates:
    """The activations of a pass, as their units are counted."""

    def __init__(self) -> None:
        self._gates: list[Gate] = []
        self._known: dict[Any, Gate] = {}
        self._near: dict[torch.device, list[tuple[Gate, torch.Tensor]]] = {}
        self._far: dict[board.Board, list[tuple[Gate, board.Units]]] = {}
        self._sent: list[tuple[Gate, board.Sent, int, int]] = []

    def add(self, key: Any, gate: Gate, kept: torch.Tensor, axis: int, shut: Shut) -> None:
        """One activation, by what autograd keeps; those with one key are one gate."""
        known = self._known.setdefault(key, gate)
        if known is gate:
            self._gates.append(gate)
        units = kept.shape[axis]
        known.rows += kept.numel() // units
        kind = board.kind_of(kept) if board.far(kept) and kept.numel() < board.COUNTED else None
        if kind is None:
            over = [d for d in range(kept.dim()) if d != axis]
            with torch.no_grad():
                counts = shut(kept).sum(over)
            self._near.setdefault(kept.device, []).append((known, counts))
            return
        last = kept.movedim(axis, -1)
        beside = last.is_contiguous()
        inner = 1 if beside else prod(kept.shape[axis + 1 :])
        task = (last if beside else kept.contiguous(), kind, gate.op, units, inner)
        self._far.setdefault(board.board_of(kept), []).append((known, task))

    def send(self) -> None:
        """All activations are known: what lies on a GPU is counted there."""
        for home, those in self._far.items():
            sent, begin = home.count_shut([task for _, task in those]), 0
            for gate, (_, _, _, units, _) in those:
                self._sent.append((gate, sent, begin, units))
                begin += units
        self._far.clear()

    def counted(self) -> list[Gate]:
        """The gates, when the pass is over: each device is waited for once."""
        for those in self._near.values():
            counts = torch.cat([each for _, each in those]).cpu().numpy()
            ends = np.cumsum([len(each) for _, each in those])
            for (gate, _), mine in zip(those, np.split(counts, ends[:-1])):
                gate.shut = gate.shut + mine
        for gate, sent, begin, units in self._sent:
            gate.shut = gate.shut + sent.numbers()[begin : begin + units]
        return self._gates


def gates_of(reading: Reading) -> Gates:
    """Every activation of a pass; those on one line over one layer are one, as in a recurrence."""
    found = Gates()
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
        site = reading.sites[index]
        gate = Gate(index, op, site, saturates, 0, 0, owner)
        found.add((site, op, owner, kept.shape[axis]), gate, kept.detach(), axis, shut)
    found.send()
    return found


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
