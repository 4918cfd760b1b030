"""How numbers, signs and names look in drawings. Text in, text out."""

from __future__ import annotations

from html import escape as _escape
from pathlib import Path

DIGITS = 5


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
