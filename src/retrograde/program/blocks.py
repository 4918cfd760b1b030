"""Memory for results, used again once nobody holds it.

The system hands out large blocks page by page, which costs as much as computing what goes into
them. So the latest few blocks are kept, at most ``MOST_BYTES`` in all, and one that no array of the
caller refers to any more is given out again.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

MOST_BYTES = 128 * 1024 * 1024
LEAST_BYTES = 64 * 1024
"""Smaller blocks come from the allocator, which keeps them itself."""
MOST_BLOCKS = 16
"""A call takes one for every result."""
LINE = 8
"""Numbers in a cache line; blocks begin at one, as stores across two cost twice."""


@dataclass
class _Block:
    """Memory, and the array through which it was given out: every view of that keeps it alive."""

    memory: Any
    lent: Any = None

    @classmethod
    def of(cls, count: int) -> _Block:
        memory = np.empty(count + LINE - 1)
        ahead = -(memory.__array_interface__["data"][0] // 8) % LINE
        return cls(memory[ahead : ahead + count])

    def lend(self, count: int) -> Any:
        # over a memoryview: views of an array that owns nothing refer to it, not to the memory
        array = np.frombuffer(self.memory.data, dtype=np.float64, count=count)
        self.lent = weakref.ref(array)
        return array

    @property
    def is_free(self) -> bool:
        return self.lent is None or self.lent() is None


class _Blocks:
    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: list[_Block] = []

    def take(self, rows: int, columns: int) -> Any:
        """An array (rows, columns) of any numbers."""
        count = rows * columns
        if not LEAST_BYTES <= 8 * count <= MOST_BYTES:
            return np.empty((rows, columns))
        with self._lock:
            for block in self._kept:
                if count <= block.memory.size <= 2 * count and block.is_free:
                    return block.lend(count).reshape(rows, columns)
            block = _Block.of(count)
            self._kept.append(block)
            while len(self._kept) > MOST_BLOCKS or self._bytes() > MOST_BYTES:
                del self._kept[0]
            return block.lend(count).reshape(rows, columns)

    def _bytes(self) -> int:
        return sum(block.memory.nbytes for block in self._kept)

    def forget(self) -> None:
        """Let go of everything that is kept."""
        with self._lock:
            self._kept.clear()


blocks = _Blocks()
