"""The thermometer as SVG and as HTML: signed bars around zero, each with its reading in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._text.lines import shortened
from .marks import brief, clipped, escape, sign_of, signed, stored

if TYPE_CHECKING:
    from .thermometer import Reading, Thermometer

WIDTH, ROW, TOP = 640.0, 46.0, 44.0
ZERO, REACH = 300.0, 150.0
MOST = 40
"""Readings a drawing shows; past that the strongest."""


def chosen(thermometer: Thermometer, most: int = MOST) -> list[Reading]:
    """The readings that are shown: all in their order, or the strongest where they are many."""
    readings = list(thermometer.readings)
    if len(readings) <= most:
        return readings

    def strength(reading: Reading) -> float:
        return abs(reading.gradient) if reading.gradient == reading.gradient else float("inf")

    return sorted(readings, key=strength, reverse=True)[:most]


def left_out(thermometer: Thermometer, shown: int) -> str:
    """What a drawing says of readings it does not show; nothing where it shows all.

    >>> import retrograde as rg
    >>> left_out(rg.thermometer(rg.Value(1.0) + 2.0), 1)
    ''
    """
    if shown >= len(thermometer.readings):
        return ""
    return f"The {shown} strongest of {len(thermometer.readings):,} values."


def thermometer_svg(thermometer: Thermometer) -> str:
    """The thermometer as an SVG.

    >>> import retrograde as rg
    >>> a, b = rg.Value(2.0, label="a"), rg.Value(-3.0, label="b")
    >>> drawing = thermometer_svg(rg.thermometer(a * b, [a, b]))
    >>> drawing.count('class="tube"'), "falls three times as fast" in drawing
    (2, True)
    """
    readings = chosen(thermometer)
    more = left_out(thermometer, len(readings))
    height = TOP + ROW * len(readings) + (24.0 if more else 0.0) + 8
    title = f"How {thermometer.root} = {brief(thermometer.data)} answers to each value"
    about = ". ".join(reading.words for reading in readings)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="retrograde graph" role="img" '
        f'aria-labelledby="thermometer-title thermometer-about" width="{WIDTH:g}" '
        f'height="{height:g}" viewBox="0 0 {WIDTH:g} {height:g}">',
        f'<title id="thermometer-title">{escape(title)}</title>',
        f'<desc id="thermometer-about">{escape(about)}</desc>',
        f"<style>{stored('graph.css')}</style>",
        f'<rect width="{WIDTH:g}" height="{height:g}" fill="var(--card)"/>',
        f'<text class="name" x="16" y="24">{escape(clipped(title, 80))}</text>',
        *(_row(reading, TOP + ROW * place) for place, reading in enumerate(readings)),
    ]
    if more:
        parts.append(f'<text class="caption" x="16" y="{height - 12:g}">{escape(more)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _row(reading: Reading, y: float) -> str:
    """A name, a bar to the left or right of zero, the gradient, and the sentence below."""
    length = REACH * abs(reading.share)
    left = ZERO - length if reading.share < 0 else ZERO
    sign = sign_of(reading.gradient)
    rank = f" ({reading.rank})" if reading.rank else ""
    return (
        f'<g transform="translate(0 {y:g})"><title>{escape(reading.words)}</title>'
        f'<text class="name" x="16" y="13">{escape(shortened(reading.name, 18))}</text>'
        f'<rect class="tube" x="{ZERO - REACH:g}" y="2" width="{2 * REACH:g}" height="14" rx="7"/>'
        f'<rect class="{sign}" x="{left:.1f}" y="4" width="{length:.1f}" height="10" rx="4"/>'
        f'<path class="middle" d="M{ZERO:g} 0V18"/>'
        f'<text class="digits {sign}" x="{WIDTH - 70:g}" y="14">{signed(reading.gradient)}</text>'
        f'<text class="caption" x="16" y="33">{escape(clipped(reading.words + rank, 95))}</text>'
        "</g>"
    )


def thermometer_html(thermometer: Thermometer) -> str:
    """The thermometer as a piece of HTML: the drawing, and the same as a table for those who do not
    see it.

    >>> import retrograde as rg
    >>> thermometer_html(rg.thermometer(rg.Value(1.0, label="a") + 2.0)).count("<tr>")
    2
    """
    rows = "".join(
        f'<tr><th scope="row">{escape(reading.name)}</th><td>{signed(reading.gradient)}</td>'
        f"<td>{escape(reading.words)}</td></tr>"
        for reading in chosen(thermometer)
    )
    return (
        f"<figure>{thermometer_svg(thermometer)}<details><summary>As a table</summary><table>"
        f'<tr><th scope="col">value</th><th scope="col">gradient</th>'
        f'<th scope="col">in words</th></tr>{rows}</table></details></figure>\n'
    )
