"""Printing an explanation: to a terminal with colour, elsewhere plain."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from .._text.terminal import NARROWEST, takes_color, terminal_width, write
from .reading import story
from .story import Story

if TYPE_CHECKING:
    from ..value import Value


def explain(
    root: Value | Story,
    *,
    seed: float = 1.0,
    width: int | None = None,
    color: bool | None = None,
    file: TextIO | None = None,
    against: str | None = None,
) -> None:
    """Print the waterfall of a value's story; ``Value.explain`` is this."""
    stream = file or sys.stdout
    told = root if isinstance(root, Story) else story(root, seed)
    columns = terminal_width(stream) if width is None else max(int(width), NARROWEST)
    colored = takes_color(stream) if color is None else color
    write(told.text(columns, colored), stream)
    if against is not None and not isinstance(root, Story):
        from .badges import badges_text

        write("\n" + badges_text(told, root, against, columns, colored), stream)
