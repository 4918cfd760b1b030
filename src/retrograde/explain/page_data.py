"""A story as the page holds it: columns instead of entries, and nothing that follows from them.

A contribution is partial × upstream and a gradient the sum of its contributions, in an order the
steps give: the page does those multiplications and additions again, in the same arithmetic, so
they need no space. Steps where that would not give the story's own numbers are kept whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..ops import WORDS, kind_of
from .layout import Layout, path_of
from .paths import paths_of
from .phrases import ADDING, TEMPO, seed_words
from .pictures import Picture
from .stored import jsonable
from .svg import amount_points
from .thermometer import readings_of
from .thermometer_svg import chosen, left_out

if TYPE_CHECKING:
    from .columns import ArrayColumns
    from .entries import Node
    from .ledger import Ledger
    from .story import Story

BARS = 10
MOST_CELLS, MOST_PRODUCTS = 2048, 8
"""How many cells of heat maps can be unfolded on a page, and into how many products each."""
KINDS = {"value": "v", "number": "n", "group": "g", "outside": "o"}


def columns_of(story: Story, nodes: Sequence[Node]) -> dict[str, Any]:
    """The values and steps of a story."""
    ops: dict[tuple[str, str], int] = {}
    sites: dict[Any, int] = {}
    for node in nodes:
        ops.setdefault((node.op, node.symbol), len(ops))
        if node.site is not None:
            sites.setdefault(node.site, len(sites))
    forward = list(story.forward)
    backward = list(story.backward)
    return {
        "root": story.root,
        "seed": plain(story.seed),
        "note": story.note,
        "ops": [[op, symbol, WORDS[kind_of(op)]] for op, symbol in ops],
        "op": [ops[node.op, node.symbol] for node in nodes],
        "names": [node.name for node in nodes],
        "expressions": [node.expression if node.inputs else "" for node in nodes],
        "data": plains(node.data for node in nodes),
        "takes": [int(node.requires_grad) for node in nodes],
        "arity": [len(node.inputs) for node in nodes],
        "inputs": [it for node in nodes for it in node.inputs],
        "partials": plains(
            partial
            for node in nodes
            for partial in (node.partials or (math.nan,) * len(node.inputs))
        ),
        "sites": [[site.file, site.line, site.function, site.text] for site in sites],
        "site": [-1 if node.site is None else sites[node.site] for node in nodes],
        "forward": [step.node for step in forward],
        "forward_words": [step.words for step in forward],
        "backward": [step.node for step in backward],
        "backward_words": [step.words for step in backward],
        "kept": _kept(story, nodes, backward),
        "births": sorted({each.node for each in story.births}),
        "kinks": sorted(story.corners.at),
        "seed_words": seed_words(story.columns.names[story.root], story.seed),
        "adding": ADDING,
        "tempo": TEMPO,
        "paths": paths_of(story, len(nodes)),
        **_thermometer(story),
        **_arrays(story),
    }


def _arrays(story: Story) -> dict[str, Any]:
    """What is known of arrays, and their heat maps; nothing where values are numbers."""
    arrays = story.columns.arrays
    if arrays is None:
        return {}
    about = zip(arrays.shapes, arrays.values, arrays.grads)
    maps = {str(index): pair for index, pair in arrays.pictures.items()}
    return {
        "arrays": [list(each) for each in about],
        "maps": maps,
        "cells": _cells(story, arrays),
    }


def _cells(story: Story, arrays: ArrayColumns) -> dict[str, Any]:
    """Of leaves that take gradients: each cell of the gradient's heat map as its place, its number
    and the largest products it is the sum of. Smaller arrays first, until the page has enough."""
    if story.unfolding is None:
        return {}
    found: dict[str, Any] = {}
    left = MOST_CELLS
    drawn = {i: arrays.pictures[i][1] for i in story.leaves if i in arrays.pictures}
    counts = {i: len(rows) * len(rows[0]) for i, rows in drawn.items() if rows}
    for index, count in sorted(counts.items(), key=lambda pair: pair[1]):
        left -= count
        if left < 0:
            break
        found[str(index)] = [_cell(each) for each in story.unfolding(index, MOST_PRODUCTS)]
    return found


def _cell(account: Ledger) -> list[Any]:
    entries = [[e.name, e.partial, e.upstream, e.amount] for e in account.entries]
    return jsonable([account.name, account.gradient, account.routes, entries])  # type: ignore[no-any-return]


def _thermometer(story: Story) -> dict[str, Any]:
    """The leaves whose gradients are shown as bars, each with its reading in words."""
    leaves = readings_of(story, story.leaves)
    bars = chosen(leaves, BARS)
    ranked = [bar for bar in bars if bar.rank]
    spoken = [f"{bar.words} ({bar.rank})" for bar in ranked] or [bar.words for bar in bars[:1]]
    return {
        "bars": [[bar.node, bar.words] for bar in bars],
        "bars_note": left_out(leaves, len(bars)),
        "reading": " ".join(f"{words[0].upper()}{words[1:]}." for words in spoken),
    }


def _kept(story: Story, nodes: Sequence[Node], backward: Sequence[Any]) -> dict[str, Any]:
    """The steps whose numbers are not partial × upstream, added up: hooks and Python rules."""
    grads = [0.0] * len(nodes)
    grads[story.root] = story.seed
    kept: dict[str, Any] = {}
    for index, step in enumerate(backward):
        node = nodes[step.node]
        upstream = grads[step.node]
        taking = [p for p, it in enumerate(node.inputs) if nodes[it].requires_grad]
        same = _same(upstream, step.upstream) and taking == [
            it.position for it in step.contributions
        ]
        for it in step.contributions:
            same = same and _same(it.amount, it.partial * upstream)
            same = same and _same(it.after, grads[it.to] + it.amount)
            grads[it.to] = it.after
        if not same:
            kept[str(index)] = [
                plain(step.upstream),
                [[it.position, plain(it.amount), plain(it.after)] for it in step.contributions],
            ]
    return kept


def _same(left: float, right: float) -> bool:
    return left == right or (left != left and right != right)


def columns_of_pictures(drawn: Sequence[Picture], values: int) -> dict[str, Any]:
    """Every picture, and the layouts they share."""
    places: dict[int, int] = {}
    layouts: list[dict[str, Any]] = []
    rows = []
    for picture in drawn:
        place = places.get(id(picture.layout))
        if place is None:
            place = places[id(picture.layout)] = len(layouts)
            layouts.append(_layout(picture))
        refs = []
        for box in picture.boxes:
            if box.value is not None:
                refs.append(box.value)
            else:
                refs.append(-box.count if box.group is None else values + box.group)
        rows.append(
            [
                picture.group.title,
                -1 if picture.parent is None else picture.parent,
                place,
                refs,
                [
                    line.position if line.position is not None else -line.count
                    for line in picture.lines
                ],
            ]
        )
    return {"pictures": rows, "layouts": layouts}


def _layout(picture: Picture) -> dict[str, Any]:
    layout: Layout = picture.layout
    floor = layout.height - 16
    return {
        "width": layout.width,
        "height": layout.height,
        "kinds": "".join(KINDS[box.kind] for box in picture.boxes),
        "x": [round(x, 1) for x, _ in layout.corners],
        "y": [round(y, 1) for _, y in layout.corners],
        "ends": [end for line in picture.lines for end in (line.start, line.end)],
        "paths": [
            path_of(route, floor if index in layout.returns else None)
            for index, route in enumerate(layout.routes)
        ],
        "labels": [round(part, 1) for point in amount_points(picture) for part in point],
    }


def plain(number: float) -> float | str:
    """A number as JSON can hold it: NaN and the infinities as their names in JavaScript.

    >>> plain(2.5), plain(float("-inf"))
    (2.5, '-Infinity')
    """
    if math.isfinite(number):
        return number
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"


def plains(numbers: Iterable[float]) -> list[float | str]:
    """Many numbers as JSON can hold them; whole ones lose their point."""
    found: list[float | str] = []
    for number in numbers:
        if number == number and abs(number) < 1e15 and number == int(number):
            found.append(int(number) if number or math.copysign(1.0, number) > 0 else number)
        else:
            found.append(plain(number))
    return found
