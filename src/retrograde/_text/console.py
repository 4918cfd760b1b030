"""Lines and aligned columns on a console: indented, folded to its width, no trailing spaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import lines
from .lines import Line, Span, folded, joined, line_width, padded

if TYPE_CHECKING:
    from rich.console import Console

Row = Sequence[Span]

NARROWEST_COLUMN = 20


def print_line(page: Console, *parts: Span, indent: int = 0) -> None:
    """One line of styled parts, folded where it is too long."""
    for line in folded(parts, max(1, page.width - indent)):
        _print(page, line, indent)


def widths_of(rows: Sequence[Row]) -> list[int]:
    """How wide each column has to be."""
    return lines.widths_of([[text for text, _ in row] for row in rows])


def print_row(page: Console, row: Row, widths: Sequence[int], sides: str, indent: int = 0) -> None:
    """One row, each cell at the left (l), right (r) or centre (c) of its column.

    A last cell that is too long is folded within its column where that is wide enough.
    """
    cells = [
        (padded(text, width, side) + " ", style)
        for (text, style), width, side in zip(row, widths, sides)
    ]
    *first, (text, style) = cells
    taken = line_width(first)
    if page.width - indent - taken < NARROWEST_COLUMN:
        print_line(page, *cells, indent=indent)
        return
    head, *more = folded([(text.rstrip(), style)], page.width - indent - taken)
    _print(page, [*first, *head], indent)
    for line in more:
        _print(page, line, indent + taken)


def print_rows(page: Console, rows: Sequence[Row], sides: str, indent: int = 0) -> None:
    """Rows under each other, in columns as wide as they need."""
    widths = widths_of(rows)
    for row in rows:
        print_row(page, row, widths, sides, indent)


def _print(page: Console, line: Line, indent: int) -> None:
    from rich.text import Text

    text = Text.assemble(*joined(line))
    text.rstrip()
    text.pad_left(indent)
    page.print(text, no_wrap=True, overflow="crop")
