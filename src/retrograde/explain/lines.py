"""Lines of styled text: how wide they are, folded to a width, side by side, with colour or without.

A line is a list of spans, a span a text and the name of its style. Nothing here knows what the
text says.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TextIO

Span = tuple[str, str]
Line = list[Span]

STYLES = {
    "": "",
    "strong": "1",
    "quiet": "2",
    "words": "2;3",
    "partial": "36",
    "upstream": "35",
    "amount": "32",
    "notice": "1;33",
    "rises": "32",
    "falls": "31",
}
"""One colour belongs to one idea: partials, upstream gradients, contributions, the two signs."""

NARROWEST, WIDEST, USUAL = 40, 200, 80

_SPELLED_OUT = {"×": "*", "÷": "/", "→": "->", "─": "-", "│": "|", "█": "#", "◀": "<", "▶": ">",
                "…": "...", "·": "|", "⁵": "5", "³": "3", "∞": "inf", "¹": "1", "⁶": "6",
                "↓": "v", "↑": "^"}  # fmt: skip


def width_of(text: str) -> int:
    """How many columns a text takes: wide signs two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        for sign in text
    )


def line_width(line: Iterable[Span]) -> int:
    """How many columns a line takes."""
    return sum(width_of(text) for text, _ in line)


def folded(line: Sequence[Span], width: int, indent: int = 0) -> list[Line]:
    """A line folded at spaces so that none is wider than ``width``; later lines are indented."""
    lines: list[Line] = [[]]
    taken = 0
    for text, style in line:
        for word in re.findall(r"\s+|\S+", text):
            size = width_of(word)
            if taken + size > width and lines[-1] and taken > indent:
                lines.append([(" " * indent, "")] if indent else [])
                taken = indent
                if word.isspace():
                    continue
            while taken + size > width and size > width - indent > 0:
                room = max(width - taken, 1)
                lines[-1].append((word[:room], style))
                word = word[room:]
                size = width_of(word)
                lines.append([(" " * indent, "")] if indent else [])
                taken = indent
            lines[-1].append((word, style))
            taken += size
    return lines


def clipped(text: str, width: int) -> str:
    """A text cut off where it is too wide, and seen to be."""
    if width_of(text) <= width:
        return text
    while text and width_of(text) > width - 1:
        text = text[:-1]
    return text + "…"


def justified(left: Sequence[Span], right: Sequence[Span], width: int) -> Line | None:
    """Two parts at both ends of a line; None where they do not fit beside each other."""
    room = width - line_width(left) - line_width(right)
    return None if room < 2 else [*left, (" " * room, ""), *right]


def beside(left: Sequence[Line], right: Sequence[Line], width: int, gap: int) -> list[Line]:
    """Two columns of lines as one, the left one padded to ``width``."""
    lines = []
    for index in range(max(len(left), len(right))):
        first = list(left[index]) if index < len(left) else []
        second = right[index] if index < len(right) else []
        if second:
            first.append((" " * (width + gap - line_width(first)), ""))
        lines.append([*first, *second])
    return lines


def as_text(lines: Iterable[Line], color: bool) -> str:
    """Lines as one text, without spaces at their ends."""
    return "\n".join(_colored(line) if color else _bare(line) for line in lines)


def _bare(line: Line) -> str:
    return "".join(text for text, _ in line).rstrip()


def _colored(line: Line) -> str:
    spans = [span for span in line if span[0]]
    while spans and spans[-1][0].isspace():
        spans.pop()
    return "".join(
        f"\x1b[{STYLES[style]}m{text}\x1b[0m" if STYLES[style] and not text.isspace() else text
        for text, style in spans
    )


def terminal_width(stream: TextIO) -> int:
    """The width to write for: the terminal's, or the usual one where there is none."""
    if not _is_terminal(stream):
        return USUAL
    return min(max(shutil.get_terminal_size((USUAL, 24)).columns, NARROWEST), WIDEST)


def takes_color(stream: TextIO) -> bool:
    """Colour on terminals, unless NO_COLOR is set or the terminal is dumb."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return _is_terminal(stream)


def _is_terminal(stream: TextIO) -> bool:
    return bool(getattr(stream, "isatty", bool)())


def write(text: str, stream: TextIO | None = None) -> None:
    """Print a text; a stream that lacks our signs gets the nearest spelling of them."""
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        for sign, spelling in _SPELLED_OUT.items():
            text = text.replace(sign, spelling)
        text = text.encode(encoding, "replace").decode(encoding)
    print(text, file=stream)
