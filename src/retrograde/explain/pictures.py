"""What a drawing of a group shows, as data: boxes, the lines between them, and where they go.

A picture has one box a part of the group and a few for what lies outside it. All groups of a story
are gone through at once, each edge of the graph being counted in every picture it appears in.
Alike pictures share one layout. The SVG, the DOT text and the page read this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .groups import Group, Part
from .layout import Layout, layered

if TYPE_CHECKING:
    from .entries import Node

SIZES = {
    "value": (156.0, 64.0),
    "number": (64.0, 36.0),
    "group": (176.0, 64.0),
    "outside": (136.0, 30.0),
}
"""Width and height of each kind of box: what is written in it never changes its size."""

NEIGHBOURS = 5
"""How many places outside a group are named in its picture, on each side."""

SIDE_BY_SIDE = 6
"""Lines between the same two values that are drawn each for itself; more become one."""


@dataclass(frozen=True)
class Box:
    """One box: a value by its id, a group by its place among the pictures, or some of what lies
    outside, by the same; ``count`` is how many places an outside box without a name stands for.
    """

    kind: str
    value: int | None = None
    group: int | None = None
    count: int = 1


@dataclass(frozen=True)
class Line:
    """``count`` edges of the graph from one box to another.

    Between two values it is one edge, and ``position`` says which input of the use it is.
    """

    start: int
    end: int
    count: int = 1
    position: int | None = None


@dataclass(frozen=True)
class Picture:
    """One group, drawn: where it lies among the pictures, its boxes and lines, and its layout."""

    group: Group
    parent: int | None
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    layout: Layout


def pictures(
    nodes: Sequence[Node], everything: Group, *, only_the_first: bool = False
) -> list[Picture]:
    """The picture of every group, the outermost first."""
    drawing = _Drawing(nodes, everything)
    count = 1 if only_the_first else len(drawing.groups)
    drawing.count_edges(count)
    layouts: dict[object, Layout] = {}
    return [drawing.picture(index, layouts) for index in range(count)]


class _Drawing:
    """The tree of groups in flat form. A part is named by one number: a value by its id, a group
    by its place plus the number of values.
    """

    def __init__(self, nodes: Sequence[Node], everything: Group) -> None:
        self.nodes = nodes
        self.values = len(nodes)
        self.groups: list[Group] = [everything]
        self.parent: list[int] = [-1]
        self.depth: list[int] = [0]
        self.home: list[int] = [0] * self.values  # the innermost group of each value
        self.parts: list[list[int]] = []
        place = 0
        while place < len(self.groups):
            self.parts.append([self._enter(part, place) for part in self.groups[place].parts])
            place += 1
        self.lines: list[dict[tuple[int, int, int], int]] = [{} for _ in self.groups]
        self.arriving: list[dict[tuple[int, int], int]] = [{} for _ in self.groups]
        self.leaving: list[dict[tuple[int, int], int]] = [{} for _ in self.groups]

    def _enter(self, part: Part, inside: int) -> int:
        if isinstance(part, int):
            self.home[part] = inside
            return part
        self.groups.append(part)
        self.parent.append(inside)
        self.depth.append(self.depth[inside] + 1)
        return self.values + len(self.groups) - 1

    def count_edges(self, pictures: int) -> None:
        """Enter each edge in the picture where its two ends are parts, and in those further in."""
        home, parent, depth, values = self.home, self.parent, self.depth, self.values
        inner_too = pictures > 1
        for node in self.nodes:
            for position, it in enumerate(node.inputs):
                left, right = home[it], home[node.id]
                start, end = it, node.id
                starts: list[tuple[int, int]] = []
                ends: list[tuple[int, int]] = []
                while left != right:
                    if depth[left] >= depth[right]:
                        starts.append((left, start))
                        start, left = values + left, parent[left]
                    else:
                        ends.append((right, end))
                        end, right = values + right, parent[right]
                if left >= pictures:
                    continue
                single = start == it and end == node.id
                key = (start, end, position if single else -1)
                self.lines[left][key] = self.lines[left].get(key, 0) + 1
                if inner_too:
                    for group, part in starts:
                        pair = (part, end)
                        self.leaving[group][pair] = self.leaving[group].get(pair, 0) + 1
                    for group, part in ends:
                        pair = (start, part)
                        self.arriving[group][pair] = self.arriving[group].get(pair, 0) + 1

    def picture(self, index: int, layouts: dict[object, Layout]) -> Picture:
        sources, coming = self._outside(
            [(out, part, n) for (out, part), n in self.arriving[index].items()]
        )
        targets, going = self._outside(
            [(out, part, n) for (part, out), n in self.leaving[index].items()]
        )
        boxes = [*sources, *(self._box(part) for part in self.parts[index]), *targets]
        place = {part: len(sources) + i for i, part in enumerate(self.parts[index])}
        last = len(sources) + len(place)
        lines = [Line(outside, place[part], n) for (outside, part), n in coming.items()]
        side_by_side: dict[tuple[int, int], int] = {}
        bundled: set[tuple[int, int]] = set()
        for start, end, _ in self.lines[index]:
            side_by_side[start, end] = side_by_side.get((start, end), 0) + 1
        for (start, end, position), count in self.lines[index].items():
            beside = side_by_side[start, end]
            if beside <= SIDE_BY_SIDE:
                single = position if position >= 0 else None
                lines.append(Line(place[start], place[end], count, single))
            elif (start, end) not in bundled:
                lines.append(Line(place[start], place[end], beside))
                bundled.add((start, end))
        lines += [Line(place[part], last + outside, n) for (outside, part), n in going.items()]
        ends = tuple((line.start, line.end) for line in lines)
        kinds = tuple(box.kind for box in boxes)
        layout = layouts.get((kinds, ends))
        if layout is None:
            layout = layouts[kinds, ends] = layered([SIZES[kind] for kind in kinds], ends)
        parent = self.parent[index] if index else None
        return Picture(self.groups[index], parent, tuple(boxes), tuple(lines), layout)

    def _box(self, part: int) -> Box:
        if part >= self.values:
            return Box("group", group=part - self.values)
        kind = "number" if self.nodes[part].op == "number" else "value"
        return Box(kind, value=part)

    def _outside(
        self, found: Sequence[tuple[int, int, int]]
    ) -> tuple[list[Box], dict[tuple[int, int], int]]:
        """The boxes for what lies outside, the most joined first, and the lines to them."""
        weight: dict[int, int] = {}
        for outside, _, count in found:
            weight[outside] = weight.get(outside, 0) + count
        order = sorted(weight, key=lambda part: (-weight[part], part))
        named = order if len(order) <= NEIGHBOURS + 1 else order[:NEIGHBOURS]
        boxes = [
            Box("outside", group=part - self.values)
            if part >= self.values
            else Box("outside", value=part)
            for part in named
        ]
        if len(named) < len(order):
            boxes.append(Box("outside", count=len(order) - len(named)))
        place = {part: min(index, len(boxes) - 1) for index, part in enumerate(order)}
        lines: dict[tuple[int, int], int] = {}
        for outside, part, count in found:
            pair = (place[outside], part)
            lines[pair] = lines.get(pair, 0) + count
        return boxes, lines
