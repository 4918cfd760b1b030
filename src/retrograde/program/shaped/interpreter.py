"""Programs with shapes carried out by NumPy, one row after the other: the oracle of the native
executor, and what replays on the pure-Python core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .program import ARGUMENT, CAPTURED, Fixed, Given, Program


def run(
    program: Program, arguments: Sequence[Any], captured: Sequence[Any], indices: Sequence[Any]
) -> list[Any]:
    """The numbers of outputs and guards. ``indices`` are by the number of the argument."""
    known: dict[int, Any] = {}
    for number, given in program.inputs.items():
        if given.kind == ARGUMENT:
            known[number] = np.asarray(arguments[given.number])
        elif given.kind == CAPTURED:
            known[number] = np.asarray(captured[given.number])
        else:
            known[number] = given.data
    found: dict[tuple[int, str], Any] = {}
    last = _last_uses(program)
    for place, each in enumerate(program.instructions):
        row = each.row
        arrays = dict(zip(row.operands, (known[number] for number in each.operands)))
        for name, number in each.wholes:
            whole = program.wholes[number]
            if isinstance(whole, Fixed):
                arrays[name] = whole.array
            elif isinstance(whole, Given):
                arrays[name] = counted(indices[whole.argument], whole)
            elif whole.result != each.result:
                arrays[name] = found[whole.result, whole.name].reshape(whole.shape)
        result, wholes = row.run(arrays)
        known[each.result] = np.asarray(result, dtype=np.float64)
        for name, array in wholes.items():
            found[each.result, name] = array
        for number in last[place]:
            del known[number]
    return [known[number] for number in program.roots]


def _last_uses(program: Program) -> list[list[int]]:
    """By instruction: the results that nothing reads after it."""
    last: dict[int, int] = {}
    for place, each in enumerate(program.instructions):
        last[each.result] = place
        for number in each.operands:
            last[number] = place
    kept = set(program.roots) | set(program.inputs)
    ends: list[list[int]] = [[] for _ in program.instructions]
    for number, place in last.items():
        if number not in kept:
            ends[place].append(number)
    return ends


def counted(array: Any, whole: Given) -> Any:
    """The whole numbers of a call, counted from the front; out of range is refused."""
    numbers = np.asarray(array).reshape(-1)[whole.at.reshape(-1)].reshape(whole.at.shape)
    wrong = (numbers < -whole.length) | (numbers >= whole.length)
    if wrong.any():
        raise IndexError(
            f"index {numbers[wrong].flat[0]} is out of bounds for an axis of length {whole.length}"
        )
    return np.where(numbers < 0, numbers + whole.length, numbers)
