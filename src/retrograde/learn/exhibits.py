"""Pictures for slides and print: cards of rules, and a story as waterfall, graph or thermometer.

Each is one SVG as text. Graphs and thermometers are drawn by ``explain``, the waterfall and the
wires of a card in modules of their own; here are the cards, with the words and formulas of the law.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..errors import LearnError
from ..explain.reading import read
from ..explain.svg import graph_svg
from ..explain.thermometer import thermometer
from ..explain.thermometer_svg import thermometer_svg
from ..ops import OPS
from ..ops.words import WORDS
from .curves import curve
from .drawing import BACKWARD, INK, MONO, PALE, svg_page, svg_text
from .formulas import formula
from .waterfall import waterfall_svg
from .wires import HEIGHT as WIRES
from .wires import wires_svg

if TYPE_CHECKING:
    from ..ops.op import Op
    from ..value import Value

RULES: Final = (
    "add", "sub", "mul", "div", "neg", "pow", "exp", "log", "tanh", "sigmoid", "relu", "maximum",
)  # fmt: skip
"""The ops a set of cards has unless told otherwise."""

EXHIBITS: Final = ("waterfall", "graph", "thermometer")
WIDTH, BELOW_CURVE = 420, 250.0


def rule_card_svg(name: str) -> str:
    """The card of one op: what it computes, its partials, its rule in words and as wires, and of
    an op of one input its curve.

    >>> card = rule_card_svg("mul")
    >>> "swaps" in card, "∂z/∂x = y" in card
    (True, True)
    """
    if name not in OPS:
        raise LearnError.no_figure(name, [*OPS])
    op = OPS[name]
    words = f"{name} {WORDS[op.kind]}."
    parts = [
        svg_text(20, 36, name, 22, weight="bold"),
        svg_text(20, 66, f"z = {_value_text(op)}", 15, family=MONO),
    ]
    y = 92.0
    for variable, partial in zip(op.inputs, op.shown):
        for line in textwrap.wrap(
            f"∂z/∂{variable} = {formula(partial)}", 44, subsequent_indent="  "
        ):
            parts.append(svg_text(20, y, line, 14, BACKWARD, MONO))
            y += 22
    narrow = op.arity == 1
    y += 10
    for line in textwrap.wrap(words, 30 if narrow else 48):
        parts.append(svg_text(20, y, line, 14))
        y += 19
    if narrow:
        parts += _curve(op, 262, 96, 138, 124)
    y = max(y, BELOW_CURVE if narrow else y)
    parts += wires_svg(op, y)
    height = y + WIRES
    return svg_page(WIDTH, height, f"The rule of {name}: {words}", parts)


def _value_text(op: Op) -> str:
    text = formula(op.value)
    return text if len(text) <= 42 else f"{op.name}({', '.join(op.inputs)})"


def _curve(op: Op, left: float, top: float, width: float, height: float) -> list[str]:
    """The function in ink and its slope in blue, over its domain."""
    drawn = curve(op, op.inputs[0])
    xs, values, slopes = drawn.at, drawn.values, drawn.slopes
    low, high = xs[0], xs[-1]
    both = [y for y in (*values, *slopes) if abs(y) < 1e3]
    bottom, ceiling = max(min(both), -6.0), min(max(both), 6.0)
    span = (ceiling - bottom) or 1.0

    def across(x: float) -> float:
        return left + width * (x - low) / (high - low)

    def up(y: float) -> float:
        return top + height * (1 - (y - bottom) / span)

    def points(ys: Sequence[float]) -> str:
        seen = [(x, y) for x, y in zip(xs, ys) if bottom <= y <= ceiling]
        return " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in seen)

    axes = []
    if bottom <= 0 <= ceiling:
        axes.append((left, up(0), left + width, up(0)))
    if low <= 0 <= high:
        axes.append((across(0), top, across(0), top + height))
    return [
        *(
            f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{PALE}"/>'
            for x, y, to_x, to_y in axes
        ),
        f'<polyline points="{points(values)}" fill="none" stroke="{INK}" stroke-width="2"/>',
        f'<polyline points="{points(slopes)}" fill="none" stroke="{BACKWARD}" stroke-width="2" '
        'stroke-dasharray="5 3"/>',
        svg_text(left, top + height + 16, "— z", 12),
        svg_text(left + 40, top + height + 16, "- - slope", 12, BACKWARD),
    ]


def exhibit_svg(kind: str, root: Value) -> str:
    """A value's story as "waterfall", "graph" or "thermometer".

    >>> import retrograde as rg
    >>> a = rg.Value(3.0, label="a")
    >>> [exhibit_svg(kind, a * a)[:4] for kind in EXHIBITS]
    ['<svg', '<svg', '<svg']
    """
    if kind == "waterfall":
        return waterfall_svg(read([root], [1.0], note="", sites=False))
    if kind == "graph":
        return graph_svg(read([root], [1.0], note="", sites=False))
    if kind == "thermometer":
        return thermometer_svg(thermometer(root))
    raise LearnError.no_figure(kind, [*EXHIBITS, "rules"])
