"""The rule of an op as wires: numbers run to the right, gradients back to the left.

What copies is drawn as one wire that forks, what swaps as two that cross: each input's number runs
over to the other's way back. Every other rule has its partial on the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .._text.lines import shortened
from .drawing import BACKWARD, FAINT, FORWARD, PAPER, arrow, disc, svg_text, wire
from .drawing import MONO as MONO
from .formulas import formula

if TYPE_CHECKING:
    from ..ops.op import Op

HEIGHT: Final = 186.0
LEFT, MIDDLE, RIGHT = 40.0, 262.0, 380.0
FACTOR: Final = 150.0
"""Where on the way back a gradient is multiplied."""

LONGEST: Final = 13
"""Characters of a partial that stand beside the wire; a longer one is named."""

APART: Final = 13.0
"""How far below a number's wire its gradient's runs."""


def wires_svg(op: Op, top: float) -> list[str]:
    """The parts of the drawing, from ``top`` down.

    >>> from retrograde.ops import OPS
    >>> text = "".join(wires_svg(OPS["add"], 0)), "".join(wires_svg(OPS["mul"], 0))
    >>> [(each.count('class="copied"'), each.count('class="crossing"')) for each in text]
    [(2, 0), (0, 2)]
    """
    count = op.arity
    middle = top + 84
    ways = [middle] if count == 1 else [
        middle - 46 + 92 * place / (count - 1) for place in range(count)
    ]  # fmt: skip
    parts = [
        svg_text(LEFT - 20, top + 14, "numbers →", 12, FORWARD),
        svg_text(RIGHT + 20, top + 14, "← gradients", 12, BACKWARD, anchor="end"),
    ]
    for name, y in zip(op.inputs, ways):
        parts += [
            wire(f"M{LEFT + 14:g} {y:g}H200L{MIDDLE - 17:g} {_join(y, middle):g}", FORWARD),
            disc(LEFT, y, 14, PAPER, FORWARD, shortened(name, 2)),
        ]
    parts += [
        wire(f"M{MIDDLE + 17:g} {middle - 5:g}H{RIGHT - 14:g}", FORWARD),
        arrow(RIGHT - 14, middle - 5, FORWARD),
        disc(RIGHT, middle, 14, PAPER, FORWARD, "z"),
        wire(f"M{RIGHT - 14:g} {middle + 8:g}H{MIDDLE + 17:g}", BACKWARD),
        svg_text((MIDDLE + RIGHT) / 2 + 2, middle + 24, "g", 13, BACKWARD, MONO, anchor="middle"),
    ]
    if op.kind in ("copy", "copy-flip"):
        parts += _copying(op, ways, middle)
    elif op.kind == "swap":
        parts += _crossing(op, ways, middle)
    else:
        parts += [part for place, y in enumerate(ways) for part in _scaled(op, place, y, middle)]
    parts.append(disc(MIDDLE, middle, 18, "#fff", FAINT, _sign(op)))
    return parts


def _join(y: float, middle: float) -> float:
    """Where a wire meets the op: a little above or below its middle."""
    return middle + max(min((y - middle) / 4, 9), -9) - 3


def _sign(op: Op) -> str:
    short = op.symbol if len(op.symbol) < 3 else "f"
    return {"*": "×", "/": "÷", "-": "−", "**": "^"}.get(op.symbol, short)


def _back(y: float, middle: float) -> str:
    """The way of a gradient, from the op to its input."""
    return f"M{MIDDLE - 17:g} {middle + 8:g}L200 {y + APART:g}H{LEFT + 16:g}"


def _arrived(y: float, text: str) -> list[str]:
    return [
        arrow(LEFT + 12, y + APART, BACKWARD, left=True),
        svg_text(LEFT + 22, y + APART + 16, text, 12, BACKWARD, MONO),
    ]


def _copying(op: Op, ways: list[float], middle: float) -> list[str]:
    parts = []
    for place, y in enumerate(ways):
        flipped = op.kind == "copy-flip" and place == len(ways) - 1
        parts += [
            wire(_back(y, middle), BACKWARD, 2.5, kind="copied"),
            *_arrived(y, "−g" if flipped else "g"),
        ]
        if flipped:
            parts.append(disc(FACTOR, y + APART, 11, "#fff", BACKWARD, "±"))
    return [*parts, disc(MIDDLE + 24, middle + 8, 4, BACKWARD, BACKWARD)]


def _crossing(op: Op, ways: list[float], middle: float) -> list[str]:
    parts = []
    for place, y in enumerate(ways):
        other = ways[1 - place]
        parts += [
            wire(_back(y, middle), BACKWARD, 2.5),
            wire(f"M{LEFT + 44:g} {other:g}C{LEFT + 70:g} {other:g} {FACTOR - 34:g} {y + APART:g} "
                 f"{FACTOR - 11:g} {y + APART:g}", FORWARD, 2, "5 4", "crossing"),
            disc(LEFT + 44, other, 3, FORWARD, FORWARD),
        ]  # fmt: skip
    for place, y in enumerate(ways):
        parts += [
            disc(FACTOR, y + APART, 11, "#fff", BACKWARD, "×"),
            *_arrived(y, f"{op.inputs[1 - place]}·g"),
        ]
    return parts


def _scaled(op: Op, place: int, y: float, middle: float) -> list[str]:
    """A gradient multiplied by its partial on the way."""
    partial = formula(op.shown[place])
    short = partial if len(partial) <= LONGEST else f"∂z/∂{op.inputs[place]}"
    return [
        wire(_back(y, middle), BACKWARD, 2.5),
        disc(FACTOR, y + APART, 11, "#fff", BACKWARD, "×"),
        svg_text(FACTOR, y + APART + 27, short, 12, BACKWARD, MONO, anchor="middle"),
        *_arrived(y, ""),
    ]
