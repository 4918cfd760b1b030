"""Lines and aligned columns on a console: indented, folded to its width, no trailing spaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Cell = tuple[str, str]  # text and style
Row = Sequence[Cell]

NARROWEST_COLUMN = 20
_SIDES = {"l": "<", "r": ">", "c": "^"}


def print_line(page: Console, *parts: Cell, indent: int = 0) -> None:
    """One line of styled parts, folded where it is too long."""
    for line in _folded(page, parts, page.width - indent):
        _print(page, line, indent)


def widths_of(rows: Sequence[Row]) -> list[int]:
    """How wide each column has to be."""
    return [max(len(text) for text, _ in column) for column in zip(*rows)]


def print_row(page: Console, row: Row, widths: Sequence[int], sides: str, indent: int = 0) -> None:
    """One row, each cell at the left (l), right (r) or centre (c) of its column.

    A last cell that is too long is folded within its column where that is wide enough.
    """
    cells = [
        (f"{text:{_SIDES[side]}{width}} ", style)
        for (text, style), width, side in zip(row, widths, sides)
    ]
    *first, last = cells
    taken = sum(len(text) for text, _ in first)
    if page.width - indent - taken < NARROWEST_COLUMN:
        print_line(page, *cells, indent=indent)
        return
    head, *more = _folded(page, [last], page.width - indent - taken)
    _print(page, _text(first) + head, indent)
    for line in more:
        _print(page, line, indent + taken)


def print_rows(page: Console, rows: Sequence[Row], sides: str, indent: int = 0) -> None:
    """Rows under each other, in columns as wide as they need."""
    widths = widths_of(rows)
    for row in rows:
        print_row(page, row, widths, sides, indent)


def _text(parts: Sequence[Cell]) -> Text:
    from rich.text import Text

    return Text.assemble(*parts)


def _folded(page: Console, parts: Sequence[Cell], width: int) -> Sequence[Text]:
    text = _text(parts)
    text.rstrip()
    return list(text.wrap(page, max(1, width))) or [text]


def _print(page: Console, line: Text, indent: int) -> None:
    line.rstrip()
    line.pad_left(indent)
    page.print(line, no_wrap=True, overflow="crop")
