"""Rows that NumPy carries out inside a native plan, on the memory of the plan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._shared.bound import Bound
from .program import Looked, Program


class Foreign:
    """One row as the native executor calls it: the memory of the result, of the operands, then of
    the whole numbers."""

    def __init__(self, row: Bound, wholes: Sequence[tuple[str, int]], program: Program) -> None:
        self.row = row
        self.wholes = [(name, program.wholes[number]) for name, number in wholes]

    def __call__(self, result: memoryview, *memory: memoryview) -> None:
        """Compute the result, and the whole numbers that the row finds."""
        row = self.row
        arrays = {}
        for name, shape, lent in zip(row.operands, row.shapes, memory):
            arrays[name] = np.ndarray(shape, np.float64, lent)
        found = {}
        for (name, whole), lent in zip(self.wholes, memory[len(row.operands) :]):
            numbers = np.ndarray(whole.shape, np.int64, lent)
            if isinstance(whole, Looked) and name not in row.wholes:
                found[name] = numbers
            else:
                arrays[name] = numbers
        made, looked = row.run(arrays)
        np.ndarray(row.shape, np.float64, result)[...] = made
        for name, numbers in found.items():
            numbers[...] = looked[name]
