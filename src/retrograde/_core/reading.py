"""A graph as flat arrays, and the backward pass over such arrays: what ``native/reading.c`` does
for its engine. Arrays are bytes; ``src/retrograde/passes`` makes a pass of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from math import nan
from typing import Any

from ..errors import NotAValueError
from ..ops import OPS
from ..ops.structural import EAGER
from .reference import Node, order

_CODES = {name: code for code, name in enumerate((*OPS, "leaf", *EAGER))}
_TAKES, _HOOKED, _RULED = 1, 2, 4


def read(roots: tuple[Any, ...], epoch: int, log: list[Any] | None = None, /) -> tuple[Any, ...]:
    """Everything under the roots made since an epoch, inputs before uses, as flat arrays; with the
    log of a recording in the order in which it was made."""
    nodes = [getattr(root, "_node", root) for root in roots]
    for index, (root, node) in enumerate(zip(roots, nodes)):
        if not isinstance(node, Node):
            raise NotAValueError.at("order", index, root)
    values: list[Any] = order(tuple(nodes), epoch)
    if log is not None:
        values = _as_made(values, log, epoch)
    place = {id(value): index for index, value in enumerate(values)}
    ops, flags = bytearray(), bytearray()
    starts, inputs, numbers = array("q", [0]), array("q"), array("d")
    places, made = array("i"), dict[Any, int]()
    labels = {index: value._label for index, value in enumerate(values) if value._label}
    for value in values:
        custom = value._custom is not None
        ops.append(len(_CODES) if custom else _CODES.get(value._op_name, len(_CODES)))
        ruled = value._partials is None or value._array is not None
        flags.append(_TAKES * value._requires_grad + _HOOKED * bool(value._hooks) + _RULED * ruled)
        if value._epoch >= epoch:
            slopes = (0.0,) * len(value._inputs) if ruled else value._partials
            for v, partial in zip(value._inputs, slopes):
                inputs.append(-1 if v._number else place[id(v)])
                numbers.append(_one(v._data) if v._number else partial)
        starts.append(len(inputs))
        where = value._made_at
        places.append(-1 if where is None else made.setdefault(where, len(made)))
    data = array("d", [_one(v._data) for v in values])
    grads = array("d", [_one(v._grad) for v in values])
    shown = [v._shown() for v in values]
    return (
        shown, bytes(ops), bytes(flags), data.tobytes(), grads.tobytes(), starts.tobytes(),
        inputs.tobytes(), numbers.tobytes(), places.tobytes(), list(made), labels,
    )  # fmt: skip


def _one(number: Any) -> float:
    """A number; NaN in the place of an array."""
    return number if isinstance(number, float) else nan


def _as_made(values: list[Any], log: list[Any], epoch: int) -> list[Any]:
    """The values as the log has them: each where it was made, what no op made before its first
    use. Where the log lacks one (another thread made it) they stay as they are."""
    missing = {id(value): value for value in values}
    ordered = []
    for value in log:
        if id(value) not in missing:
            continue
        for each in value._inputs if value._epoch >= epoch else ():
            if not each._number and missing.pop(id(each), None) is not None:
                if each._inputs and each._epoch >= epoch:
                    return values
                ordered.append(each)
        ordered.append(missing.pop(id(value)))
    return ordered + list(missing.values())


def pull(
    starts: Any,
    inputs: Any,
    partials: Any,
    ruled: Any,
    rule: Callable[[int, float], Sequence[float | None]],
    gradients: Any,
    amounts: Any,
    befores: Any,
    /,
) -> None:
    """The backward pass over flat arrays; ``gradients`` comes with the seeds, and ``rule`` gives
    the contributions of the values marked in ``ruled``."""
    begins, targets, slopes = starts.tolist(), inputs.tolist(), partials.tolist()
    totals, given, met = gradients.tolist(), amounts.tolist(), befores.tolist()
    own = ruled.tolist()
    for index in range(len(begins) - 2, -1, -1):
        start, end = begins[index], begins[index + 1]
        if start == end:
            continue
        upstream = totals[index]
        found: Sequence[float | None] = (
            rule(index, upstream)
            if own[index]
            else [slope * upstream for slope in slopes[start:end]]
        )
        for edge, amount in zip(range(start, end), found, strict=True):
            target = targets[edge]
            if target >= 0 and amount is not None:
                given[edge], met[edge] = amount, totals[target]
                totals[target] += amount
    gradients[:], amounts[:], befores[:] = totals, given, met
