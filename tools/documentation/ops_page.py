"""The page of ops as the site shows it: one section a row, with formula, words and curves.

``docs/ops.md`` is the same for code hosts, as one table; both are printed from the law.
"""

from __future__ import annotations

import re
from html import escape

from documentation.mathml import mathml
from retrograde.learn.curves import curve, curve_svg
from retrograde.ops import OPS
from retrograde.ops.emit.docs import ways
from retrograde.ops.emit.latex import latex, partials
from retrograde.ops.op import Op
from retrograde.ops.words import WORDS

FIRST_HEADING_AFTER = "## Ops of many values"
STYLE = re.compile(r"<style>.*?</style>")
LEGEND = (
    '<p class="legend"><span class="value">the value z</span> '
    '<span class="slope">its slope, the partial</span></p>'
)


def site_page(page: str) -> str:
    """The page for code hosts with its one wide table turned into sections."""
    before, _, rest = page.partition("\n| op |")
    _, heading, after = rest.partition(FIRST_HEADING_AFTER)
    if not heading:
        raise ValueError("docs/ops.md is not laid out as tools/documentation expects")
    sections = "\n\n".join(map(section, OPS.values()))
    parts = (before.rstrip(), glance(), "## One by one", LEGEND, sections, heading + after)
    return "\n\n".join(parts)


def glance() -> str:
    """All rows as one table of formulas; the sections say the rest."""
    lines = ["| op | value | partials |", "|---|---|---|"]
    for op in OPS.values():
        slopes = "".join(f'<span class="line">{mathml(text)}</span>' for text in partials(op))
        lines.append(f"| [{op.name}](#{op.name}) | {mathml(f'z = {latex(op.value)}')} | {slopes} |")
    return "\n".join(lines)


def section(op: Op) -> str:
    """One row: its formulas and words on one side, a curve along each input on the other."""
    formulas = "".join(
        f"<p>{mathml(text, tall=True)}</p>" for text in (f"z = {latex(op.value)}", *partials(op))
    )
    spelled = re.sub(r"`([^`]+)`", lambda way: f"<code>{escape(way[1])}</code>", ways(op))
    words = f"<p>Backward, it {escape(WORDS[op.kind])}.</p>"
    if op.cure:
        words += f"<p>To stay clear of NaN and infinities: {escape(op.cure)}.</p>"
    return "\n".join([
        f"### {op.name}", "",
        f'<div class="op op-{op.arity}"><div class="op-text">',
        f'<div class="formulas">{formulas}</div>', words,
        f'<p class="ways">{spelled.replace("<br>", " ")}</p></div>',
        f'<div class="op-curves">{"".join(figure(op, name) for name in op.inputs)}</div></div>',
    ])  # fmt: skip


def figure(op: Op, along: str) -> str:
    """A curve with, under it, what the other inputs are held at."""
    drawn = curve(op, along)
    caption = f"along {escape(along)}, at {escape(drawn.where)}" if drawn.held else ""
    caption = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f"<figure>{STYLE.sub('', curve_svg(drawn)).strip()}{caption}</figure>"
