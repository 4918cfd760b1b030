"""How much memory a program with shapes may take: more is refused before any of it is taken."""

from __future__ import annotations

import os
from math import prod

from ...errors import CompileError
from .program import Program

PART = 0.75
"""Of the machine's memory."""

UNKNOWN = 4 << 30
"""The limit where the machine does not say."""


def _of_the_machine() -> int:
    try:
        return int(PART * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return UNKNOWN


limit = _of_the_machine()
"""Bytes that one program may take."""


def check_results(program: Program) -> None:
    """Refuse a program with one array that is past the limit, or results that are together."""
    largest = max((prod(each.row.shape) for each in program.instructions), default=0)
    outputs = sum(prod(program.shapes[number]) for number in program.outputs)
    check_bytes(8 * max(largest, outputs))


def check_bytes(wanted: int) -> None:
    """Refuse what is past the limit."""
    if wanted > limit:
        raise CompileError.memory(wanted, limit)
