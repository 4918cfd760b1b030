"""Big graphs in groups: every value in one place, never more parts than can be read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrograde.explain.groups import READABLE, WAYS, Group, group, label_parts
from retrograde.explain.pictures import NEIGHBOURS, SIDE_BY_SIDE, pictures

from .stories import layers, walkthroughs


def every_group(everything: Group) -> list[Group]:
    found = [everything]
    for it in found:
        found.extend(part for part in it.parts if isinstance(part, Group))
    return found


def nodes_of(rg: Any, root: Any) -> list[Any]:
    return list(rg.story(root).nodes)


@pytest.fixture(scope="module")
def network(native: Any) -> list[Any]:
    return nodes_of(native, layers(native, depth=12, width=4, points=2))


def test_a_small_story_is_not_grouped(rg: Any) -> None:
    for root in walkthroughs(rg).values():
        nodes = nodes_of(rg, root)
        assert group(nodes).parts == tuple(range(len(nodes)))


@pytest.mark.parametrize("by", [*WAYS, None])
@pytest.mark.parametrize("limit", [5, READABLE])
def test_every_value_lies_in_exactly_one_place(network: list[Any], by: str, limit: int) -> None:
    everything = group(network, by=by, limit=limit)
    places = [part for it in every_group(everything) for part in it.parts if isinstance(part, int)]
    assert sorted(places) == list(range(len(network)))
    for it in every_group(everything):
        inside = [p.members if isinstance(p, Group) else (p,) for p in it.parts]
        assert sorted(value for part in inside for value in part) == list(it.members)


@pytest.mark.parametrize("by", [*WAYS, None])
def test_no_group_has_more_parts_than_can_be_read(network: list[Any], by: str) -> None:
    for limit in (8, 20, READABLE):
        sizes = [len(it.parts) for it in every_group(group(network, by=by, limit=limit))]
        assert max(sizes) <= max(limit, 12)


def test_layers_are_found_by_their_labels_and_collapsed(network: list[Any]) -> None:
    titles = [part.title for part in group(network).parts if isinstance(part, Group)]
    assert "layer* ×12" in titles
    (repeated,) = [p for p in group(network).parts if isinstance(p, Group) and p.repeats > 1]
    assert [part.name for part in repeated.parts if isinstance(part, Group)] == [
        f"layer{k}" for k in range(12)
    ]


def test_what_a_layer_computes_lies_with_its_weights(network: list[Any]) -> None:
    (repeated,) = [p for p in group(network).parts if isinstance(p, Group) and p.repeats > 1]
    first = repeated.parts[0]
    assert isinstance(first, Group)
    names = [part.name if isinstance(part, Group) else "" for part in first.parts]
    assert {"w", "b"} <= {name.split("[")[0] for name in names}
    assert any("tanh" in name for name in names)  # the line that computes


def test_lines_of_source_make_groups_where_there_are_no_labels(native: Any) -> None:
    x = native.Value(0.5)
    for _ in range(60):
        x = x * 1.01
        x = x + 0.25
    titles = [part.title for part in group(nodes_of(native, x), by="line").parts
              if isinstance(part, Group)]  # fmt: skip
    assert any("x = x * 1.01" in title for title in titles)


def test_a_long_chain_becomes_runs(native: Any) -> None:
    x = native.Value(1.0, label="x")
    for _ in range(3_000):
        x = x.tanh()
    everything = group(nodes_of(native, x))
    assert len(everything.parts) <= READABLE
    assert all(len(it.parts) <= READABLE for it in every_group(everything))


def test_an_unknown_way_to_group_is_refused(network: list[Any]) -> None:
    with pytest.raises(ValueError, match="group by one of 'label', 'function', 'line'"):
        group(network, by="colour")


@given(st.text(max_size=30))
def test_any_label_has_parts(label: str) -> None:
    assert label_parts(label)


# ---- pictures -----------------------------------------------------------------------------------


@pytest.mark.parametrize("by", WAYS)
def test_every_edge_is_counted_in_one_picture(network: list[Any], by: str) -> None:
    drawn = pictures(network, group(network, by=by))
    inside = sum(
        line.count
        for picture in drawn
        for line in picture.lines
        if "outside" not in (picture.boxes[line.start].kind, picture.boxes[line.end].kind)
    )
    assert inside == sum(len(node.inputs) for node in network)


def test_pictures_stay_readable_with_what_lies_outside(network: list[Any]) -> None:
    for picture in pictures(network, group(network)):
        assert len(picture.boxes) <= READABLE + 2 * (NEIGHBOURS + 1)


def test_alike_groups_share_a_layout(network: list[Any]) -> None:
    drawn = pictures(network, group(network))
    assert len({id(picture.layout) for picture in drawn}) < len(drawn) / 2


def test_many_lines_between_two_values_become_one(native: Any) -> None:
    a = native.Value(2.0, label="a")
    for count in (SIDE_BY_SIDE, SIDE_BY_SIDE + 1, 500):
        nodes = nodes_of(native, native.sum([a] * count))
        (picture,) = pictures(nodes, group(nodes))
        assert len(picture.lines) == (count if count <= SIDE_BY_SIDE else 1)
        assert sum(line.count for line in picture.lines) == count
