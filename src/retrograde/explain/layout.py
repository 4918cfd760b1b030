"""Where boxes and lines go: a layered drawing from left to right, in plain Python.

Boxes are given in an order in which inputs come before their uses; every line then runs to the
right. A drawing depends on the boxes and lines alone, so nothing moves while a story is stepped
through. Each phase is linear, or linear times a logarithm, in boxes and lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

Point = tuple[float, float]

BETWEEN_LAYERS = 68.0
BETWEEN_BOXES = 18.0
BETWEEN_LINES = 12.0
BETWEEN_ENDS = 20.0
MARGIN = 16.0
SWEEPS = 8
RELAXATIONS = 12
BENDS_PER_PART = 4
"""Long lines are led around boxes by bends; past this many per box and line they run straight."""


@dataclass(frozen=True)
class Layout:
    """A finished drawing: its size, the top left corner of each box, the points of each line.

    ``returns`` are the lines that go against the order of the boxes, which only groups have; they
    run from the bottom of one box, below everything, to the bottom of another.
    """

    width: float
    height: float
    corners: tuple[Point, ...]
    routes: tuple[tuple[Point, ...], ...]
    returns: frozenset[int]


class _Slots:
    """The boxes, and the bends of long lines, in layers: what the phases work on."""

    def __init__(
        self, sizes: Sequence[tuple[float, float]], lines: Sequence[tuple[int, int]]
    ) -> None:
        self.sizes = sizes
        self.boxes = len(sizes)
        self.layer = _layers(len(sizes), lines)
        self.key: list[int] = list(range(len(sizes)))  # the first order within a layer
        self.before: list[list[int]] = [[] for _ in sizes]
        self.after: list[list[int]] = [[] for _ in sizes]
        self.bends: dict[int, list[int]] = {}
        self._lead(lines)
        self.layers: list[list[int]] = [[] for _ in range(max(self.layer, default=-1) + 1)]
        for slot in sorted(range(len(self.layer)), key=self.key.__getitem__):
            self.layers[self.layer[slot]].append(slot)

    def _lead(self, lines: Sequence[tuple[int, int]]) -> None:
        """Join neighbouring layers directly and longer lines by bends, shortest lines first."""
        budget = BENDS_PER_PART * (self.boxes + len(lines)) + 64
        spans = [self.layer[end] - self.layer[start] for start, end in lines]
        for index in sorted(range(len(lines)), key=spans.__getitem__):
            (start, end), span = lines[index], spans[index]
            if span > 1 and span - 1 > budget:
                continue
            budget -= span - 1
            chain = [start]
            for layer in range(self.layer[start] + 1, self.layer[end]):
                chain.append(len(self.layer))
                self.layer.append(layer)
                self.key.append(start)
                self.before.append([])
                self.after.append([])
            self.bends[index] = chain[1:]
            chain.append(end)
            for left, right in pairwise(chain):
                self.after[left].append(right)
                self.before[right].append(left)

    def height(self, slot: int) -> float:
        return self.sizes[slot][1] if slot < self.boxes else 0.0

    def gap(self, upper: int, lower: int) -> float:
        """How far apart the middles of two neighbours in a layer have to be."""
        both = upper < self.boxes and lower < self.boxes
        between = BETWEEN_BOXES if both else BETWEEN_LINES
        return (self.height(upper) + self.height(lower)) / 2 + between


def layered(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Layout:
    """Draw boxes of the given sizes, joined by lines from box to box.

    >>> drawing = layered([(40, 20), (40, 20), (40, 20)], [(0, 2), (1, 2)])
    >>> drawing.corners
    ((16.0, 16.0), (16.0, 54.0), (124.0, 35.0))
    >>> drawing.routes[0]
    ((56.0, 26.0), (124.0, 39.0))
    """
    onward = [index for index, (start, end) in enumerate(edges) if start < end]
    slots = _Slots(sizes, [edges[index] for index in onward])
    _untangle(slots)
    middles = _heights(slots)
    lefts, columns, width = _columns(slots)
    corners = tuple(
        (
            lefts[slots.layer[box]] + (columns[slots.layer[box]] - sizes[box][0]) / 2,
            middles[box] - sizes[box][1] / 2,
        )
        for box in range(len(sizes))
    )
    height = max((y + size[1] for (_, y), size in zip(corners, sizes)), default=0.0)
    height = max([height, *middles]) + MARGIN
    routes: list[tuple[Point, ...]] = [() for _ in edges]
    entries: dict[int, list[tuple[float, int]]] = {}
    exits = _exits(onward, edges, sizes)
    for place, index in enumerate(onward):
        start, end = edges[index]
        route = [(corners[start][0] + sizes[start][0], middles[start] + exits[index])]
        for bend in slots.bends.get(place, ()):
            left, column = lefts[slots.layer[bend]], columns[slots.layer[bend]]
            route += [(left, middles[bend]), (left + column, middles[bend])]
        routes[index] = tuple(route)
        entries.setdefault(end, []).append((route[-1][1], index))
    for end, arriving in entries.items():
        arriving.sort()
        for (_, index), offset in zip(arriving, _spread(len(arriving), sizes[end][1])):
            routes[index] += ((corners[end][0], middles[end] + offset),)
    returns = [i for i, (start, end) in enumerate(edges) if start >= end]
    for index in returns:
        start, end = edges[index]
        routes[index] = (
            (corners[start][0] + sizes[start][0] / 2, corners[start][1] + sizes[start][1]),
            (corners[end][0] + sizes[end][0] / 2, corners[end][1] + sizes[end][1]),
        )
    if returns:
        height += BETWEEN_LAYERS
    return Layout(width, height, corners, tuple(routes), frozenset(returns))


def path_of(route: Sequence[Point], floor: float | None = None) -> str:
    """A route as the path of an SVG: curves that leave and arrive level.

    A line against the order of the boxes is given the ``floor`` it dips to.

    >>> path_of([(0, 0), (10, 4)])
    'M0 0C5 0 5 4 10 4'
    """
    if not route:
        return ""
    (x, y), rest = route[0], route[1:]
    if floor is not None:
        (end_x, end_y) = rest[-1]
        return (
            f"M{_number(x)} {_number(y)}C{_number(x)} {_number(floor)} "
            f"{_number(end_x)} {_number(floor)} {_number(end_x)} {_number(end_y)}"
        )
    pieces = [f"M{_number(x)} {_number(y)}"]
    for next_x, next_y in rest:
        if next_y == y:
            pieces.append(f"H{_number(next_x)}")
        else:
            middle = _number((x + next_x) / 2)
            pieces.append(
                f"C{middle} {_number(y)} {middle} {_number(next_y)} "
                f"{_number(next_x)} {_number(next_y)}"
            )
        x, y = next_x, next_y
    return "".join(pieces)


def _exits(
    onward: Sequence[int], edges: Sequence[tuple[int, int]], sizes: Sequence[tuple[float, float]]
) -> dict[int, float]:
    """Where each line leaves its box, from its middle: only lines side by side leave apart."""
    beside: dict[tuple[int, int], list[int]] = {}
    for index in onward:
        beside.setdefault(edges[index], []).append(index)
    return {
        index: offset
        for (start, _), same in beside.items()
        for index, offset in zip(same, _spread(len(same), sizes[start][1]))
    }


def _spread(count: int, height: float) -> list[float]:
    """Where lines meet the side of a box, from its middle: evenly, and not too far apart."""
    step = min(BETWEEN_ENDS, 0.6 * height / max(1, count - 1))
    return [step * (place - (count - 1) / 2) for place in range(count)]


def _number(x: float) -> str:
    return f"{round(x, 1):g}"


# ---- the phases ---------------------------------------------------------------------------------


def _layers(boxes: int, lines: Iterable[tuple[int, int]]) -> list[int]:
    """Which column each box stands in: one further than its furthest input.

    A box without inputs stands just before its first use, so that its lines are short.
    """
    layer = [0] * boxes
    has_inputs = [False] * boxes
    by_start = sorted(lines)  # inputs come before uses, so one pass settles every start in time
    for start, end in by_start:
        has_inputs[end] = True
        layer[end] = max(layer[end], layer[start] + 1)
    first_use: dict[int, int] = {}
    for start, end in by_start:
        first_use[start] = min(first_use.get(start, layer[end]), layer[end])
    for box, use in first_use.items():
        if not has_inputs[box]:
            layer[box] = use - 1
    return layer


def _untangle(slots: _Slots) -> None:
    """Order each layer so that few lines cross: sweeps by the mean place of the neighbours."""
    place = [0] * len(slots.layer)
    for layer in slots.layers:
        for position, slot in enumerate(layer):
            place[slot] = position
    best, fewest = [list(layer) for layer in slots.layers], _crossings(slots, place)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        downwards = sweep % 2 == 0
        neighbours = slots.before if downwards else slots.after
        for layer in slots.layers if downwards else reversed(slots.layers):
            wish = {
                slot: sum(place[other] for other in neighbours[slot]) / len(neighbours[slot])
                if neighbours[slot]
                else place[slot]
                for slot in layer
            }
            layer.sort(key=lambda slot: (wish[slot], place[slot]))
            for position, slot in enumerate(layer):
                place[slot] = position
        crossings = _crossings(slots, place)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in slots.layers], crossings
    slots.layers = best


def _crossings(slots: _Slots, place: Sequence[int]) -> int:
    """How many pairs of lines between neighbouring layers cross."""
    total = 0
    for layer, following in pairwise(slots.layers):
        ends = [
            end for slot in layer for end in sorted(place[other] for other in slots.after[slot])
        ]
        total += _inversions(ends, len(following))
    return total


def _inversions(places: Sequence[int], size: int) -> int:
    """How many pairs stand in the wrong order: counted with a tree of partial counts."""
    tree = [0] * (size + 1)
    found = 0
    for seen, place in enumerate(places):
        index, not_above = place + 1, 0
        while index > 0:
            not_above += tree[index]
            index &= index - 1
        found += seen - not_above
        index = place + 1
        while index <= size:
            tree[index] += 1
            index += index & -index
    return found


def _heights(slots: _Slots) -> list[float]:
    """The middle of each slot: near the middles of its neighbours, and never overlapping."""
    middle = [0.0] * len(slots.layer)
    for layer in slots.layers:
        for upper, lower in pairwise(layer):
            middle[lower] = middle[upper] + slots.gap(upper, lower)
    for turn in range(RELAXATIONS):
        forwards = turn % 2 == 0
        last = turn >= RELAXATIONS - 2
        for layer in slots.layers if forwards else reversed(slots.layers):
            wishes, weights = [], []
            for slot in layer:
                near = slots.before[slot] if forwards else slots.after[slot]
                if last:
                    near = slots.before[slot] + slots.after[slot]
                if near:
                    wishes.append(sum(middle[other] for other in near) / len(near))
                else:
                    wishes.append(middle[slot])
                weights.append((1.0 if slot < slots.boxes else 4.0) if near else 0.05)
            _settle(slots, layer, wishes, weights, middle)
    top = min((middle[slot] - slots.height(slot) / 2 for slot in range(len(middle))), default=0.0)
    return [y - top + MARGIN for y in middle]


def _settle(
    slots: _Slots,
    layer: Sequence[int],
    wishes: Sequence[float],
    weights: Sequence[float],
    middle: list[float],
) -> None:
    """The heights closest to the wishes (least squares) that keep order and distance.

    With the distances taken off this is isotonic regression, solved by pooling neighbours.
    """
    offsets = [0.0]
    for upper, lower in pairwise(layer):
        offsets.append(offsets[-1] + slots.gap(upper, lower))
    pools: list[tuple[float, float, int]] = []  # height, weight, how many slots
    for wish, weight, offset in zip(wishes, weights, offsets):
        pool = (wish - offset, weight, 1)
        while pools and pools[-1][0] > pool[0]:
            height, total, count = pools.pop()
            weight_of_both = total + pool[1]
            mean = (height * total + pool[0] * pool[1]) / weight_of_both
            pool = (mean, weight_of_both, count + pool[2])
        pools.append(pool)
    index = 0
    for height, _, count in pools:
        for _ in range(count):
            middle[layer[index]] = height + offsets[index]
            index += 1


def _columns(slots: _Slots) -> tuple[list[float], list[float], float]:
    """The left edge and the width of each column, and the width of everything."""
    columns = [
        max((slots.sizes[slot][0] for slot in layer if slot < slots.boxes), default=0.0)
        for layer in slots.layers
    ]
    lefts, x = [], MARGIN
    for column in columns:
        lefts.append(x)
        x += column + BETWEEN_LAYERS
    return lefts, columns, max(x - BETWEEN_LAYERS, MARGIN) + MARGIN
