"""The layered layout: lines run to the right, boxes keep apart, in nearly linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograde.explain.layout import MARGIN, layered, path_of

Graph = tuple[list[tuple[float, float]], list[tuple[int, int]]]


@st.composite
def graphs(draw: st.DrawFn, backwards: bool = False) -> Graph:
    """Boxes of various sizes and lines between them, inputs before uses."""
    count = draw(st.integers(1, 30))
    sizes = draw(
        st.lists(
            st.tuples(st.integers(10, 200).map(float), st.integers(10, 90).map(float)),
            min_size=count,
            max_size=count,
        )
    )
    ends = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    lines = [pair for pair in draw(st.lists(ends, max_size=60)) if pair[0] != pair[1]]
    return sizes, lines if backwards else [(min(pair), max(pair)) for pair in lines]


@given(graphs())
def test_every_line_runs_from_left_to_right(graph: Graph) -> None:
    sizes, lines = graph
    drawing = layered(sizes, lines)
    assert not drawing.returns
    for (start, end), route in zip(lines, drawing.routes):
        assert drawing.corners[start][0] + sizes[start][0] < drawing.corners[end][0]
        across = [x for x, _ in route]
        assert across == sorted(across)
        assert across[0] == drawing.corners[start][0] + sizes[start][0]
        assert across[-1] == drawing.corners[end][0]


@given(graphs(backwards=True))
def test_boxes_never_overlap_and_lie_inside_the_drawing(graph: Graph) -> None:
    sizes, lines = graph
    drawing = layered(sizes, lines)
    boxes = [(x, y, x + w, y + h) for (x, y), (w, h) in zip(drawing.corners, sizes)]
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert left >= MARGIN - 1e-6
        assert top >= MARGIN - 1e-6
        assert right <= drawing.width - MARGIN + 1e-6
        assert bottom <= drawing.height - MARGIN + 1e-6
        for other in boxes[:i]:
            apart = right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
            assert apart, (boxes[i], other)


@given(graphs(backwards=True))
def test_lines_against_the_order_are_set_apart(graph: Graph) -> None:
    sizes, lines = graph
    drawing = layered(sizes, lines)
    assert drawing.returns == {i for i, (start, end) in enumerate(lines) if start > end}


@given(graphs(backwards=True))
def test_the_same_graph_is_drawn_the_same_way(graph: Graph) -> None:
    assert layered(*graph) == layered(*graph)


@given(graphs())
@settings(max_examples=30)
def test_no_line_of_one_step_passes_through_a_box(graph: Graph) -> None:
    sizes, lines = graph
    drawing = layered(sizes, lines)
    for (start, end), route in zip(lines, drawing.routes):
        for (x0, y0), (x1, _) in zip(route[1:-1:2], route[2:-1:2]):  # the level stretches
            for box, ((x, y), (w, h)) in enumerate(zip(drawing.corners, sizes)):
                if box not in (start, end) and x < x1 and x0 < x + w:
                    assert not y < y0 < y + h


def test_trees_are_drawn_without_crossings() -> None:
    lines = [(0, 2), (1, 2), (3, 5), (4, 5), (2, 6), (5, 6)]
    drawing = layered([(40.0, 20.0)] * 7, lines)
    heights = [y for _, y in drawing.corners]
    assert heights[0] < heights[1] < heights[3] < heights[4]
    assert heights[2] < heights[5]


def test_lines_side_by_side_end_apart() -> None:
    drawing = layered([(40.0, 20.0)] * 2, [(0, 1), (0, 1)])
    assert drawing.routes[0][-1] != drawing.routes[1][-1]


def test_nothing_at_all_is_drawn_too() -> None:
    assert layered([], []).corners == ()
    assert path_of([]) == ""


def _seconds(count: int) -> float:
    lines = [(max(0, i - 1 - (i * 7919) % 90), i) for i in range(1, count)]
    lines += [(i - 1, i) for i in range(1, count)] + [(0, i) for i in range(1, count)]
    began = time.process_time()
    layered([(100.0, 50.0)] * count, lines)
    return time.process_time() - began


@pytest.mark.slow
def test_the_time_grows_nearly_with_the_size() -> None:
    """Also where one box has a line to every other, which would need quadratically many bends."""
    small = min(_seconds(1_500) for _ in range(2))
    assert _seconds(6_000) < 4 * small * 2.5
