"""A story as a coloured waterfall: forward steps down the left, backward steps down the right.

Every contribution has a bar to its size: to the right and green where the gradient rises by it, to
the left and red where it falls. It only reads the story.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from .._text.lines import shortened
from ..explain.marks import brief
from .drawing import (
    BACKWARD,
    FAINT,
    FALLS,
    FORWARD,
    INK,
    MONO,
    PALE,
    PAPER,
    RISES,
    svg_page,
    svg_text,
)

if TYPE_CHECKING:
    from ..explain.entries import BackwardStep, Contribution
    from ..explain.story import Story

WIDTH, MARGIN, SPLIT, ROW = 860.0, 24.0, 330.0, 40.0
LINE: Final = 22.0
ZERO, REACH = 752.0, 76.0
MOST: Final = 24
"""Steps of each pass that are drawn; a longer story belongs on its page."""

NAME, WORDS = 12, 74


def waterfall_svg(story: Story) -> str:
    """The drawing, as SVG.

    >>> import retrograde as rg
    >>> a = rg.Value(3.0, label="a")
    >>> drawn = waterfall_svg(rg.story(a * a))
    >>> drawn.count('class="positive"'), "a.grad" in drawn
    (2, True)
    """
    left, left_end = _forward(story)
    right, right_end = _backward(story)
    height = max(left_end, right_end) + MARGIN
    root = f"{story.spelled(story.root)} = {brief(story.columns.data[story.root])}"
    parts = [
        svg_text(MARGIN, 38, shortened(root, 70), 19, weight="bold"),
        svg_text(MARGIN, 70, "FORWARD", 13, FORWARD, weight="bold"),
        svg_text(MARGIN + 84, 70, "inputs to result", 13, FAINT),
        svg_text(SPLIT + MARGIN, 70, "BACKWARD", 13, BACKWARD, weight="bold"),
        svg_text(SPLIT + MARGIN + 96, 70, "input.grad += partial × upstream", 13, FAINT),
        f'<path d="M{SPLIT:g} 56V{height - MARGIN:g}" stroke="{PALE}"/>',
    ]
    return svg_page(WIDTH, height, f"The backward pass of {root}, step by step",
                    [*parts, *left, *right])  # fmt: skip


def _forward(story: Story) -> tuple[list[str], float]:
    columns, y = story.columns, 84.0
    parts: list[str] = []
    for step, it in enumerate(story.forward[:MOST], 1):
        name = shortened(columns.names[it.node], NAME)
        made = bool(columns.inputs[it.node])
        parts += [
            _box(MARGIN, y, SPLIT - 2 * MARGIN, ROW - 8, FORWARD if made else FAINT),
            svg_text(MARGIN + 10, y + 21, f"{step}", 12, FAINT),
            svg_text(MARGIN + 34, y + 21, name, 14, weight="bold", family=MONO),
            svg_text(SPLIT - MARGIN - 10, y + 21, brief(columns.data[it.node]), 14, FORWARD, MONO,
                     "bold", "end"),
        ]  # fmt: skip
        if made:
            text = f"= {shortened(story.expression(it.node), 15)}"
            parts.append(svg_text(MARGIN + 40 + 8.5 * len(name), y + 21, text, 13, INK, MONO))
        y += ROW
    return [*parts, *_more(MARGIN, y, len(story.forward))], y + 14


def _backward(story: Story) -> tuple[list[str], float]:
    x, y = SPLIT + MARGIN, 84.0
    strongest = max(
        (abs(it.amount) for step in story.backward[:MOST] for it in step.contributions
         if math.isfinite(it.amount)), default=0.0,
    )  # fmt: skip
    names = story.columns.names
    parts = [
        svg_text(x, y + 14, f"{names[story.root]}.grad = {brief(story.seed)}, the seed", 13,
                 BACKWARD, MONO),
    ]  # fmt: skip
    y += 26
    for number, step in enumerate(story.backward[:MOST], 1):
        drawn, bottom = _step(story, number, step, strongest, y)
        parts += drawn
        y = bottom
    return [*parts, *_more(x, y, len(story.backward))], y + 14


def _step(
    story: Story, number: int, step: BackwardStep, strongest: float, y: float
) -> tuple[list[str], float]:
    x, right, names = SPLIT + MARGIN, WIDTH - MARGIN, story.columns.names
    words = textwrap.wrap(step.words, WORDS)
    height = 30 + LINE * len(step.contributions) + 16 * len(words) + 8
    made = f"{shortened(names[step.node], NAME)} = {shortened(story.expression(step.node), 22)}"
    parts = [
        _box(x, y, right - x, height, BACKWARD),
        svg_text(x + 10, y + 21, f"{number}", 12, FAINT),
        svg_text(x + 34, y + 21, made, 14, weight="bold", family=MONO),
        svg_text(right - 10, y + 21, f"upstream {brief(step.upstream)}", 13, BACKWARD, MONO,
                 anchor="end"),
    ]  # fmt: skip
    at = y + 30
    for it in step.contributions:
        parts += _contribution(names[it.to], it, step.upstream, strongest, x + 34, at)
        at += LINE
    parts += [svg_text(x + 34, at + 12 + 16 * n, line, 12, FAINT) for n, line in enumerate(words)]
    return parts, y + height + 8


def _contribution(
    name: str, it: Contribution, upstream: float, strongest: float, x: float, y: float
) -> list[str]:
    """``a.grad += −3 × 1 = −3``, and a bar to the size of it."""
    rising = it.amount > 0
    color = RISES if rising else FALLS if it.amount < 0 else FAINT
    product = f"{brief(it.partial)} × {brief(upstream)}"
    text = f"{shortened(name, NAME)}.grad += {product}"
    length = REACH * abs(it.amount) / strongest if strongest and math.isfinite(it.amount) else 0.0
    kind = "positive" if rising else "negative" if it.amount < 0 else "zero"
    parts = [
        svg_text(x, y + 15, text, 13, INK, MONO),
        svg_text(
            ZERO - REACH - 10, y + 15, f"= {brief(it.amount)}", 13, color, MONO, "bold", "end"
        ),
        f'<rect class="{kind}" x="{ZERO if rising else ZERO - length:.1f}" y="{y + 4:g}" '
        f'width="{max(length, 1):.1f}" height="13" rx="3" fill="{color}"/>',
        f'<path d="M{ZERO:g} {y:g}v{LINE - 1:g}" stroke="{PALE}"/>',
    ]
    if it.before != 0.0:  # the second use: what is there already, and what it becomes
        sum_of = f"{brief(it.before)} → {brief(it.after)}"
        beside = ZERO + 6 if not rising else ZERO - 6
        parts.append(svg_text(beside, y + 15, sum_of, 11, FAINT, MONO,
                              anchor="start" if not rising else "end"))  # fmt: skip
    return parts


def _box(x: float, y: float, width: float, height: float, color: str) -> str:
    """A pale box with its colour at the left edge."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5" fill="{PAPER}"/>'
        f'<rect x="{x:g}" y="{y:g}" width="4" height="{height:g}" rx="2" fill="{color}"/>'
    )


def _more(x: float, y: float, steps: int) -> Sequence[str]:
    """What is left out of a long story."""
    left_out = steps - MOST
    return [svg_text(x, y + 14, f"… {left_out:,} more steps …", 13, FAINT)] if left_out > 0 else []
