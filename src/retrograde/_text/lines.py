"""Lines of styled text: how wide they are, folded to a width, side by side, in columns.

A line is a list of spans, a span a text and the name of its style. Nothing here knows what the
text says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

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
    "alarm": "1;31",
    "rises": "32",
    "falls": "31",
}
"""One colour belongs to one idea: partials, upstream gradients, contributions, the two signs."""


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
    """A line folded at spaces so that none is wider than ``width``; later lines are indented.

    A word may change its style on the way: it is not folded there. One that is too wide is folded
    before a dot, if there is one in its second half.
    """
    lines: list[Line] = [[]]
    taken, full = 0, False
    for word in _words(line):
        size = line_width(word)
        begins_here = size > width - indent and word[0][0].rfind(".", 0, width - taken) > 0
        if word[0][0].isspace():
            full = taken + size > width  # the spaces at which a line is folded are left out
        elif full or (
            taken + size > width and taken > (indent if len(lines) > 1 else 0) and not begins_here
        ):
            lines.append([(" " * indent, "")] if indent else [])
            taken, full = indent, False
        if full or (len(lines) > 1 and taken == indent and word[0][0].isspace()):
            continue
        for text, style in word:
            while taken + width_of(text) > width > indent:
                room = max(width - taken, 1)
                if (dot := text.rfind(".", 0, room + 1)) > room // 2:
                    room = dot
                lines[-1].append((text[:room], style))
                text = text[room:]
                lines.append([(" " * indent, "")] if indent else [])
                taken = indent
            lines[-1].append((text, style))
            taken += width_of(text)
    return lines


def _words(line: Iterable[Span]) -> list[Line]:
    """A line in words and the spaces between them."""
    words: list[Line] = []
    spaces: bool | None = None
    for text, style in line:
        for piece in re.findall(r"\s+|\S+", text):
            if spaces == piece.isspace():
                words[-1].append((piece, style))
            else:
                words.append([(piece, style)])
            spaces = piece.isspace()
    return words


def joined(line: Iterable[Span]) -> Line:
    """The same line with neighbours of one style as one span."""
    spans: Line = []
    for text, style in line:
        if spans and spans[-1][1] == style:
            spans[-1] = spans[-1][0] + text, style
        else:
            spans.append((text, style))
    return spans


def padded(text: str, width: int, side: str = "l") -> str:
    """A text at the left (l), right (r) or centre (c) of a column.

    >>> padded("ab", 5, "c"), padded("ab", 4, "r")
    (' ab  ', '  ab')
    """
    room = max(width - width_of(text), 0)
    before = {"l": 0, "r": room, "c": room // 2}[side]
    return " " * before + text + " " * (room - before)


def widths_of(rows: Sequence[Sequence[str]]) -> list[int]:
    """How wide each column of a table has to be."""
    return [max(map(width_of, column)) for column in zip(*rows)]


def clipped(text: str, width: int) -> str:
    """A text cut off where it is too wide, and seen to be."""
    if width_of(text) <= width:
        return text
    while text and width_of(text) > width - 1:
        text = text[:-1]
    return text + "…"


_PATH = re.compile(r"[\w.\[\]#*]*[.\[][\w.\[\]#*]+(?: [·×][ \w.\[\]#*]+)?")


def shortened(name: str, width: int) -> str:
    """A name no wider than that: the words of a path give way to its numbers, which tell names
    apart; what is still too wide is cut in the middle, since names differ at their ends.

    >>> shortened("model.layers[0].neurons[2].w[1]", 24)
    'mo….la…[0].ne…[2].w[1]'
    >>> shortened("a_result_with_a_long_name", 16)
    'a_resul…ong_name'
    """
    if width_of(name) <= width:
        return name
    if _PATH.fullmatch(name):
        name = _with_short_words(name, width)
        if width_of(name) <= width:
            return name
    tail = max(width * 5 // 9, 1)
    while tail > 1 and width_of(name[-tail:]) > width - 1:
        tail -= 1
    head = max(width - 1 - tail, 0)
    while head and width_of(name[:head]) + width_of(name[-tail:]) + 1 > width:
        head -= 1
    return f"{name[:head].rstrip('…')}…{name[-tail:].lstrip('…')}"


def _with_short_words(path: str, width: int) -> str:
    """A path with its words cut to as many letters as there is room for."""
    pieces = re.split(r"([^\W\d]{3,})", path)  # every other one is a word
    short = path
    for letters in range(max(map(len, pieces[1::2]), default=0) - 2, -1, -1):
        cut = [it if len(it) <= letters + 1 else f"{it[:letters]}…" for it in pieces[1::2]]
        whole = "".join(map("".join, zip(pieces[::2], [*cut, ""])))
        short = re.sub(r"…(\.…)+", "…", whole)
        if width_of(short) <= width:
            break
    return short


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
