"""Big graphs in groups: every value in one place, never more parts than can be read."""

from __future__ import annotations

import random
import re
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
    assert {"w", "layer*.b"} <= {name.split("[")[0] for name in names}
    assert any("tanh" in name for name in names)  # the line that computes


def test_lines_of_source_make_groups_where_there_are_no_labels(native: Any) -> None:
    x = native.Value(0.5)
    for _ in range(60):
        x = x * 1.01
        x = x + 0.25
    titles = [part.title for part in group(nodes_of(native, x), by="line").parts
              if isinstance(part, Group)]  # fmt: skip
    assert titles == ["×60 turns"]


def turns_in(everything: Group) -> dict[str, list[int]]:
    """By turn: how many values it has, of every loop."""
    found: dict[str, list[int]] = {}
    for part in every_group(everything):
        if re.fullmatch(r"turn \d+", part.name):
            found.setdefault(part.name, []).append(len(part.members))
    return found


def test_a_turn_holds_all_that_it_computes(native: Any) -> None:
    """Also what comes from no turn before: ``-k`` is made anew each time."""
    k, x, cost = native.Value(0.7), native.Value(1.0), 0.0
    for _ in range(50):
        dx = -k * x + 0.2
        x = x + 0.1 * dx
        cost += (x - 0.5) ** 2
    nodes = nodes_of(native, cost)
    everything = group(nodes, by="line")
    check_flow(nodes, everything)
    turns = turns_in(everything)
    assert len(turns) == 50
    assert {len(set(sizes)) for sizes in list(turns.values())[1:-1]} <= {1, 2}
    assert all(sorted(sizes) in ([4, 7], [5, 7], [4, 8]) for sizes in turns.values()), turns


def test_a_loop_on_one_line_has_turns(native: Any) -> None:
    price, vol = native.Value(100.0, label="S"), native.Value(0.2, label="vol")
    for step in range(12):
        price = price * native.exp(0.004 + vol * (0.3 if step % 2 else -0.25))
    payoff = price - 95.0
    nodes = nodes_of(native, native.square(payoff))
    everything = group(nodes)
    check_flow(nodes, everything)
    titles = [part.title for part in everything.parts if isinstance(part, Group)]
    assert any(title.startswith("×12 turns of price = ") for title in titles)
    assert turns_in(everything) == {f"turn {1 + step}": [6] for step in range(12)}


def test_leaves_without_names_are_called_leaves(native: Any) -> None:
    w = [native.Value(0.1, label=f"m.w[{k}]") for k in range(2)]
    xs = [native.Value(float(k)) for k in range(30)]
    nodes = nodes_of(native, native.sum([w[k % 2] * x for k, x in enumerate(xs)]))
    titles = [part.title for part in every_group(group(nodes))]
    assert not any(title.strip().startswith("×30") and "leaves" not in title for title in titles)
    assert "" not in {title.strip() for title in titles}


@pytest.mark.parametrize("by", [*WAYS, None])
def test_what_flows_out_of_a_group_never_flows_back(network: list[Any], by: str) -> None:
    for limit in (5, READABLE):
        check_flow(network, group(network, by=by, limit=limit))


def check_flow(nodes: list[Any], everything: Group) -> None:
    """No picture has a circle of lines, and counts add up."""
    for it in every_group(everything):
        members = [part.members if isinstance(part, Group) else (part,) for part in it.parts]
        assert sum(map(len, members)) == len(it.members)
        home = {value: place for place, part in enumerate(members) for value in part}
        into: dict[int, set[int]] = {place: set() for place in range(len(members))}
        for value, place in home.items():
            into[place] |= {home[u] for u in nodes[value].inputs if u in home} - {place}
        while into:
            free = [place for place, before in into.items() if not before & into.keys()]
            assert free, f"{it.title}: lines go in a circle"
            for place in free:
                del into[place]


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_flow_one_way(native: Any, seed: int) -> None:
    """Loops inside loops, parameters shared by modules, helpers called from everywhere."""
    draws = random.Random(seed)
    modules = [
        [native.Value(draws.uniform(-1, 1), label=f"m.blocks[{k}].w[{i}]") for i in range(3)]
        for k in range(4)
    ]
    shared = native.Value(0.5, label="m.scale")
    xs = [native.Value(0.1 * i) for i in range(3)]

    def mix(left: Any, right: Any) -> Any:
        return (left * shared + right).tanh()

    for _ in range(draws.randint(4, 9)):
        block = draws.choice(modules)
        for _ in range(draws.randint(1, 3)):
            xs = [w * draws.choice(xs) + draws.choice(xs) for w in block]
            xs = [mix(x, draws.choice(xs)) for x in xs]
    nodes = nodes_of(native, native.sum(xs))
    for by in (*WAYS, None):
        for limit in (6, READABLE):
            check_flow(nodes, group(nodes, by=by, limit=limit))


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
