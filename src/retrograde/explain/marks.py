"""How numbers, signs and names look in drawings. Text in, text out."""

from __future__ import annotations

from html import escape as _escape
from pathlib import Path

from .._text.lines import shortened, width_of

DIGITS = 5

TITLE_SIZE = 13
"""Pixels of the letters of a box's title, as the style sheet says."""

SHORTEST_TITLE = 4

WIDEST = 0.8
"""Width of a letter that is not listed, by its size: capitals, mostly."""

_WIDTHS = {
    letter: width
    for letters, width in {
        "ijlIJ.,:;' ": 0.4, "f-t[]()|r_": 0.5, "*sczvyxk": 0.64, "abdeghnopqu0123456789": 0.72,
        "w": 0.93, "…M": 1.0, "m": 1.05, "W": 1.11,
    }.items()
    for letter in letters
}  # fmt: skip
"""Widths of bold letters, by their size."""


def brief(number: float) -> str:
    """A number short enough for a box, with a real minus sign.

    >>> brief(-0.123456789), brief(4.0), brief(123456.0), brief(float("nan")), brief(float("-inf"))
    ('−0.12346', '4', '1.2346e5', 'NaN', '−∞')
    """
    if number != number:
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return "∞" if number > 0 else "−∞"
    digits, e, power = f"{number:.{DIGITS}g}".partition("e")
    text = "0" if number == 0.0 else f"{digits}e{int(power)}" if e else digits
    return text.replace("-", "−")


def sign_of(number: float) -> str:
    """What a number's sign is called: "positive", "negative", "zero" or "nan".

    >>> sign_of(-2.0), sign_of(0.0)
    ('negative', 'zero')
    """
    if number != number:
        return "nan"
    return "positive" if number > 0 else "negative" if number < 0 else "zero"


SHAPES = {"positive": "▲", "negative": "▼", "zero": "◆", "nan": "✕"}


def signed(number: float) -> str:
    """A gradient: a shape for its sign, then the sign and the number.

    >>> signed(3.0), signed(-3.0), signed(0.0)
    ('▲ +3', '▼ −3', '◆ 0')
    """
    plus = "+" if number > 0 else ""
    return f"{SHAPES[sign_of(number)]} {plus}{brief(number)}"


def clipped(text: str, length: int) -> str:
    """A text of at most so many characters.

    >>> clipped("layer0.w[3][4]", 10)
    'layer0.w[…'
    """
    return text if len(text) <= length else text[: length - 1] + "…"


def title_width(text: str) -> float:
    """About how wide a text is in a box's title, in pixels: in one of the wider common fonts.

    >>> title_width("will") < title_width("WILL") < title_width("MAMA")
    True
    """
    return TITLE_SIZE * sum(_WIDTHS.get(letter, WIDEST * width_of(letter)) for letter in text)


def titled(name: str, length: int, room: float) -> str:
    """A name of at most so many characters that fits in the room there is.

    >>> titled("MOMENTUM_OF_WEIGHTS", 18, 156.0), titled("hidden", 18, 156.0)
    ('MOMENT…WEIGHTS', 'hidden')
    """
    short = shortened(name, length)
    while title_width(short) > room and length > SHORTEST_TITLE:
        length -= 1
        short = shortened(name, length)
    return short


def escape(text: str) -> str:
    """A text inside XML or HTML; what XML cannot hold is dropped.

    >>> escape('a < "b"')
    'a &lt; &quot;b&quot;'
    """
    kept = "".join(c for c in text if c >= " " or c in "\t\n")
    return _escape(kept.encode("utf-8", "replace").decode("utf-8"))


def stored(name: str) -> str:
    """A file of this room's ``page`` folder."""
    return (Path(__file__).parent / "page" / name).read_text(encoding="utf-8")
