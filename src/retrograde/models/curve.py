"""The loss of a training run as a drawing: SVG, written here, readable on light and dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, isfinite, log10

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 360, 56, 16, 40, 40
MOST_POINTS = 600

_STYLE = """
    text { font: 12px system-ui, sans-serif; fill: #57606a; }
    .title { font-weight: 600; fill: #24292f; }
    .grid { stroke: #d0d7de; stroke-width: 1; }
    .each { fill: none; stroke: #9ec5f0; stroke-width: 1; }
    .smooth { fill: none; stroke: #0969da; stroke-width: 2; }
    .validation { fill: #cf222e; }
    .key { text-anchor: end; }
    @media (prefers-color-scheme: dark) {
      text { fill: #8b949e; } .title { fill: #e6edf3; } .grid { stroke: #30363d; }
      .each { stroke: #1f4b7a; } .smooth { stroke: #58a6ff; } .validation { fill: #ff7b72; }
    }
"""


def smoothed(losses: Sequence[float], keep: float = 0.98) -> list[float]:
    """The running mean of losses, each weighing ``keep`` of the next; the first ones count fully.

    >>> smoothed([2.0, 2.0, 2.0])
    [2.0, 2.0, 2.0]
    """
    out, total, weight = [], 0.0, 0.0
    for loss in losses:
        total, weight = keep * total + (1 - keep) * loss, keep * weight + (1 - keep)
        out.append(total / weight)
    return [round(x, 12) for x in out]


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers across a range.

    >>> ticks(2.1, 3.4)
    [2.25, 2.5, 2.75, 3.0, 3.25]
    """
    raw = (high - low) / about or 1.0
    unit = 10.0 ** floor(log10(raw))
    step = next((unit * k for k in (1.0, 2.0, 2.5, 5.0, 10.0) if unit * k >= raw * 0.9), unit * 10)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(k * step, 10) for k in range(first, last + 1)]


def _key(validated: bool) -> list[str]:
    """What the marks mean, along the top from the right."""
    marks = [("running mean", 96, "smooth"), ("each step", 72, "each")]
    if validated:
        marks.insert(0, ("validation", 74, "validation"))
    parts, right = [], WIDTH - RIGHT
    for words, width, kind in marks:
        left = right - width - 8
        parts.append(f'<text class="key" x="{right}" y="22">{words}</text>')
        if kind == "validation":
            parts.append(f'<circle class="{kind}" cx="{left + 4}" cy="18" r="3.5"/>')
        else:
            parts.append(f'<polyline class="{kind}" points="{left - 12},18 {left + 6},18"/>')
        right = left - 28
    return parts


def loss_curve(
    losses: Sequence[float], validated: Sequence[tuple[int, float]], title: str = "loss"
) -> str:
    """The losses of the steps, their running mean, and the validations, as an SVG document."""
    smooth = smoothed(losses)
    shown = [y for y in (*losses, *(y for _, y in validated)) if isfinite(y)] or [0.0, 1.0]
    low, high = min(shown), max(shown)
    margin = 0.05 * (high - low) or 0.5
    low, high = low - margin, high + margin
    steps = max(len(losses), 2)

    def across(step: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (step - 1) / (steps - 1)

    def down(loss: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - loss) / (high - low)

    def line(numbers: Sequence[float], kind: str) -> str:
        every = max(1, len(numbers) // MOST_POINTS)
        points = " ".join(
            f"{across(at + 1):.1f},{down(numbers[at]):.1f}"
            for at in range(0, len(numbers), every)
            if isfinite(numbers[at])
        )
        return f'<polyline class="{kind}" points="{points}"/>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f'<text class="title" x="{LEFT}" y="22">{escape(title)}</text>',
    ]
    parts += _key(bool(validated))
    for y in ticks(low, high):
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{down(y):.1f}" '
            f'y2="{down(y):.1f}"/><text x="{LEFT - 8}" y="{down(y) + 4:.1f}" '
            f'text-anchor="end">{y:g}</text>'
        )
    for x in ticks(1, steps):
        if x == int(x) and x >= 1:
            parts.append(
                f'<text x="{across(x):.1f}" y="{HEIGHT - 16}" text-anchor="middle">{x:g}</text>'
            )
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 2}" text-anchor="end">step</text>')
    parts += [line(losses, "each"), line(smooth, "smooth")]
    for step, loss in validated:
        if isfinite(loss):
            x, y = across(min(max(step, 1), steps)), down(loss)
            parts.append(
                f'<circle class="validation" cx="{x:.1f}" cy="{y:.1f}" r="3.5">'
                f"<title>validation after {step} steps: {loss:.4f}</title></circle>"
            )
    return "\n".join([*parts, "</svg>", ""])
