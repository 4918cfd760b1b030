"""Plain text in paragraphs and tables: folded to a width, aligned in columns, counts with their
nouns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from .lines import padded, widths_of

WIDTH = 80


def wrapped(text: str, width: int = WIDTH, first: str = "", more: str = "") -> list[str]:
    """A text in lines of at most a width, no word broken; ``first`` and ``more`` begin them.

    >>> wrapped("a bird in the hand", 12, "- ", "  ")
    ['- a bird in', '  the hand']
    """
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=more,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def table(rows: Sequence[Sequence[str]], sides: str) -> list[str]:
    """Rows in columns as wide as they need, each at its left (l), right (r) or centre (c).

    >>> table([["a", "1"], ["bcd", "20"]], "lr")
    ['a     1', 'bcd  20']
    """
    widths = widths_of(rows)
    return [
        "  ".join(
            padded(cell, width, side) for cell, width, side in zip(row, widths, sides)
        ).rstrip()
        for row in rows
    ]


def counted(number: int, noun: str) -> str:
    """A count with its noun, in the singular where it is one.

    >>> counted(1, "value"), counted(2000, "value"), counted(3, "pass")
    ('1 value', '2,000 values', '3 passes')
    """
    ending = "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{'' if number == 1 else ending}"
