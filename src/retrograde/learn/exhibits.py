"""Pictures for slides and print: cards of rules, and a story as waterfall, graph or thermometer.

Each is one SVG as text. Graphs and thermometers are drawn by ``explain``; here are the cards, with
the words and formulas of the law, and text set as a picture.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..errors import LearnError
from ..explain.marks import escape
from ..explain.reading import read
from ..explain.svg import graph_svg
from ..explain.thermometer import thermometer
from ..explain.thermometer_svg import thermometer_svg
from ..ops import OPS
from ..ops.words import WORDS
from .curves import curve
from .formulas import formula

if TYPE_CHECKING:
    from ..ops.op import Op
    from ..value import Value

RULES: Final = (
    "add", "sub", "mul", "div", "neg", "pow", "exp", "log", "tanh", "sigmoid", "relu", "maximum",
)  # fmt: skip
"""The ops a set of cards has unless told otherwise."""

EXHIBITS: Final = ("waterfall", "graph", "thermometer")
WIDTH, HEIGHT = 420, 260
INK, FAINT, PALE, BLUE = "#1b1f24", "#6b7280", "#c9ced6", "#1d4ed8"
MONO = "ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"
SANS = "system-ui,'Segoe UI',Helvetica,Arial,sans-serif"


def svg_page(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    """A white card with a frame and a title for readers that do not see it."""
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:g}" '
        f'height="{height:g}" viewBox="0 0 {width:g} {height:g}">',
        f"<title>{escape(title)}</title>",
        f'<rect x="1" y="1" width="{width - 2:g}" height="{height - 2:g}" rx="12" fill="#fff" '
        f'stroke="{FAINT}"/>',
        *parts, "</svg>\n",
    ])  # fmt: skip


def svg_text(
    x: float, y: float, text: str, size: float = 14, fill: str = INK, family: str = SANS,
    weight: str = "normal",
) -> str:  # fmt: skip
    """A line of text; spaces are kept."""
    return (
        f'<text x="{x:g}" y="{y:g}" font-family="{family}" font-size="{size:g}" fill="{fill}" '
        f'font-weight="{weight}" xml:space="preserve">{escape(text)}</text>'
    )


def rule_card_svg(name: str) -> str:
    """The card of one op: what it computes, its partials, its rule in words, and its curve.

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
            parts.append(svg_text(20, y, line, 14, BLUE, MONO))
            y += 22
    narrow = op.arity == 1
    y += 10
    for line in textwrap.wrap(words, 30 if narrow else 48):
        parts.append(svg_text(20, y, line, 14))
        y += 19
    if narrow:
        parts += _curve(op, 262, 96, 138, 124)
    height = max(HEIGHT, y + 10)
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
        f'<polyline points="{points(slopes)}" fill="none" stroke="{BLUE}" stroke-width="2" '
        'stroke-dasharray="5 3"/>',
        svg_text(left, top + height + 16, "— z", 12),
        svg_text(left + 40, top + height + 16, "- - slope", 12, BLUE),
    ]


def waterfall_svg(root: Value) -> str:
    """The waterfall of a value's story, set as text.

    >>> import retrograde as rg
    >>> "a.grad" in waterfall_svg(rg.Value(3.0, label="a") * 2)
    True
    """
    lines = read([root], [1.0], note="", sites=False).text(84).splitlines()
    parts = [
        svg_text(20, 30 + 17 * place, line, 12.5, family=MONO) for place, line in enumerate(lines)
    ]
    return svg_page(700, 40 + 17 * len(lines), "The backward pass, step by step", parts)


def exhibit_svg(kind: str, root: Value) -> str:
    """A value's story as "waterfall", "graph" or "thermometer".

    >>> import retrograde as rg
    >>> a = rg.Value(3.0, label="a")
    >>> [exhibit_svg(kind, a * a)[:4] for kind in EXHIBITS]
    ['<svg', '<svg', '<svg']
    """
    if kind == "waterfall":
        return waterfall_svg(root)
    if kind == "graph":
        return graph_svg(read([root], [1.0], note="", sites=False))
    if kind == "thermometer":
        return thermometer_svg(thermometer(root))
    raise LearnError.no_figure(kind, [*EXHIBITS, "rules"])
