"""Parts of which cards and exhibits are drawn: a page, a line of text, the colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..explain.marks import escape

INK, FAINT, PALE, PAPER = "#1b1f24", "#6b7280", "#c9ced6", "#f4f5f7"
FORWARD, BACKWARD, RISES, FALLS = "#1c5fb8", "#a8480a", "#17803d", "#b42318"
"""Numbers run to the result, gradients run back; what raises a result, what lowers it."""

MONO: Final = "ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"
SANS: Final = "system-ui,'Segoe UI',Helvetica,Arial,sans-serif"


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
    weight: str = "normal", anchor: str = "start",
) -> str:  # fmt: skip
    """A line of text; spaces are kept."""
    return (
        f'<text x="{x:g}" y="{y:g}" font-family="{family}" font-size="{size:g}" fill="{fill}" '
        f'font-weight="{weight}" text-anchor="{anchor}" xml:space="preserve">{escape(text)}</text>'
    )


def wire(points: str, color: str, width: float = 2, dash: str = "", kind: str = "") -> str:
    """A line along an SVG path; ``kind`` says what it is, for those who read the file."""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    named = f' class="{kind}"' if kind else ""
    return (
        f'<path{named} d="{points}" fill="none" stroke="{color}" stroke-width="{width:g}" '
        f'stroke-linecap="round"{dashed}/>'
    )


def arrow(x: float, y: float, color: str, left: bool = False) -> str:
    """The head of an arrow whose tip is at a point."""
    back = 9 if left else -9
    return f'<path d="M{x:g} {y:g}l{back:g} -5v10z" fill="{color}"/>'


def disc(x: float, y: float, radius: float, fill: str, stroke: str, text: str = "") -> str:
    """A circle with a sign in it."""
    drawn = (
        f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}" stroke="{stroke}" '
        'stroke-width="1.5"/>'
    )
    sign = svg_text(x, y + 5, text, 14, stroke, weight="bold", anchor="middle")
    return drawn + sign if text else drawn
