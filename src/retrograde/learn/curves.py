"""An op of the law as curves: its value and its slope along one input, as data and as an SVG.

The numbers come from the row itself. Where it jumps the curve is broken, and a value that stands
alone (``equal``) is a point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..explain.marks import brief, escape

if TYPE_CHECKING:
    from ..ops.op import Op

STEPS: Final = 240
JUMP: Final = 0.2
"""A step by more than this share of the whole height breaks a curve."""

HELD: Final = 0.75
"""Where in its domain an input is held while another moves."""

TALLEST: Final = 8.0
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 320.0, 190.0, 34.0, 10.0, 12.0, 24.0

STYLE: Final = (
    ".curve{--ink:#1c2330;--quiet:#596273;--rule:#dcdad3;--forward:#1c5fb8;--backward:#a8480a;"
    "font:11px system-ui,sans-serif}"
    "@media(prefers-color-scheme:dark){.curve{--ink:#e9ecf2;--quiet:#a4adbc;--rule:#303743;"
    "--forward:#86b7ff;--backward:#ffb077}}"
    ".curve text{fill:var(--quiet)}.curve .axis{stroke:var(--rule)}"
    ".curve .value{stroke:var(--forward);fill:none;stroke-width:2}"
    ".curve .slope{stroke:var(--backward);fill:none;stroke-width:2;stroke-dasharray:5 3}"
    ".curve circle.value{fill:var(--forward)}.curve circle.slope{fill:var(--backward)}"
)


@dataclass(frozen=True)
class Curve:
    """A row along one of its inputs: the numbers of it, of the result, and of the slope."""

    op: str
    along: str
    held: tuple[tuple[str, float], ...]
    at: tuple[float, ...]
    values: tuple[float, ...]
    slopes: tuple[float, ...]

    @property
    def where(self) -> str:
        """What is held, in words: ``y = 1.5``; empty where there is one input."""
        return ", ".join(f"{name} = {brief(number)}" for name, number in self.held)


def curve(op: Op, along: str) -> Curve:
    """An op along one of its inputs, over its domain; the others are held.

    >>> from retrograde.ops import OPS
    >>> drawn = curve(OPS["mul"], "x")
    >>> drawn.where, drawn.at[0], drawn.values[0], drawn.slopes[0]
    ('y = 1.5', -3.0, -4.5, 1.5)
    """
    place = op.inputs.index(along)
    held = {
        name: op.defaults[index - op.arity]
        if op.arity - index <= len(op.defaults)
        else round(low + (high - low) * HELD, 1)
        for index, (name, (low, high)) in enumerate(zip(op.inputs, op.domain))
        if name != along
    }
    low, high = op.domain[place]
    at = tuple(low + (high - low) * step / STEPS for step in range(STEPS + 1))
    values, slopes = [], []
    for x in at:
        inputs = [x if name == along else held[name] for name in op.inputs]
        values.append(op.evaluate(*inputs))
        slopes.append(op.evaluate_partials(*inputs, values[-1])[place])
    return Curve(op.name, along, tuple(held.items()), at, tuple(values), tuple(slopes))


def pieces(ys: Sequence[float], height: float) -> Iterator[tuple[int, int]]:
    """Stretches of a curve without a jump, as places from and to.

    >>> list(pieces([0.0, 0.1, 1.0, 1.1], height=1.0))
    [(0, 2), (2, 4)]
    """
    start = 0
    for place in range(1, len(ys)):
        if abs(ys[place] - ys[place - 1]) > JUMP * height:
            yield start, place
            start = place
    yield start, len(ys)


def curve_svg(drawn: Curve) -> str:
    """The function as a line, its slope dashed, over the domain.

    >>> from retrograde.ops import OPS
    >>> curve_svg(curve(OPS["relu"], "x")).count("<polyline")
    3
    """
    both = [y for y in (*drawn.values, *drawn.slopes) if abs(y) <= TALLEST]
    bottom, top = min(*both, 0.0), max(*both, 0.0)
    span = (top - bottom) or 1.0
    low, high = drawn.at[0], drawn.at[-1]

    def right(x: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (x - low) / (high - low)

    def down(y: float) -> float:
        clipped = min(max(y, bottom), top)
        return TOP + (HEIGHT - TOP - BOTTOM) * (top - clipped) / span

    title = f"{drawn.op} and its slope along {drawn.along}"
    if drawn.held:
        title += f", at {drawn.where}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="curve" role="img" width="{WIDTH:g}" '
        f'height="{HEIGHT:g}" viewBox="0 0 {WIDTH:g} {HEIGHT:g}">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        *_axes(low, high, bottom, top, right, down, drawn.along),
    ]
    for ys, kind in ((drawn.values, "value"), (drawn.slopes, "slope")):
        for start, end in pieces(ys, span):
            points = [
                f"{right(drawn.at[k]):.1f},{down(ys[k]):.1f}"
                for k in range(start, end)
                if abs(ys[k]) <= TALLEST
            ]
            if len(points) == 1:
                x, _, y = points[0].partition(",")
                parts.append(f'<circle class="{kind}" cx="{x}" cy="{y}" r="2"/>')
            elif points:
                parts.append(f'<polyline class="{kind}" points="{" ".join(points)}"/>')
    return "".join([*parts, "</svg>\n"])


def _axes(
    low: float, high: float, bottom: float, top: float,
    right: Callable[[float], float], down: Callable[[float], float], along: str,
) -> Iterator[str]:  # fmt: skip
    """Both axes through zero, and the numbers at their ends."""
    base, edge = HEIGHT - BOTTOM, WIDTH - RIGHT
    yield f'<path class="axis" d="M{LEFT:g} {down(0.0):.1f}H{edge:g}"/>'
    if low <= 0.0 <= high:
        yield f'<path class="axis" d="M{right(0.0):.1f} {TOP:g}V{base:g}"/>'
    for y in sorted({bottom, 0.0, top}):
        yield f'<text x="{LEFT - 6:g}" y="{down(y) + 4:.1f}" text-anchor="end">{y:.3g}</text>'
    middle = (LEFT + edge) / 2
    yield f'<text x="{LEFT:g}" y="{base + 16:g}">{low:g}</text>'
    yield f'<text x="{middle:g}" y="{base + 16:g}" text-anchor="middle">{escape(along)}</text>'
    yield f'<text x="{edge:g}" y="{base + 16:g}" text-anchor="end">{high:g}</text>'
