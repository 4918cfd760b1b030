"""The ledger: exact entries, and what whole routes say, checked against listing every route."""

from __future__ import annotations

import json
import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .support import WALKTHROUGHS, leaves, plain_story, routes


def test_seven_is_three_through_the_product_and_four_through_the_sum(rg):
    root = WALKTHROUGHS["two_routes"][0](rg)
    account = rg.ledger(root, "a")
    assert account.words() == "7 = 3 through a*b + 4 through a+b"
    assert [(entry.name, entry.amount) for entry in account.entries] == [
        ("a + b", 4.0),
        ("a*b", 3.0),
    ]
    assert sum(entry.amount for entry in account.entries) == account.gradient == 7.0
    assert rg.ledger(root, "a", through=["a*b", "a+b"]).words() == account.words()


def test_a_value_stands_for_itself_as_well_as_its_name(rg):
    a, b = leaves(rg, a=2.0, b=3.0)
    product = a * b
    product.label = "product"
    root = product + a
    assert rg.ledger(root, a) == rg.ledger(root, "a") == rg.ledger(root, 0)
    words = rg.ledger(root, a, through=[product]).words()
    assert words == "4 = 3 through product + 1 otherwise"


def test_a_plus_a_has_two_entries(rg):
    account = rg.ledger(WALKTHROUGHS["twice"][0](rg), "a")
    assert [(entry.position, entry.amount) for entry in account.entries] == [(0, 1.0), (1, 1.0)]
    assert account.routes == 2
    assert account.words() == "2 = 2 through a+a"


def test_routes_that_cancel_out_are_found(rg):
    (x,) = leaves(rg, x=3.0)
    account = rg.ledger(x * 5.0 - x * 4.0, "x")
    assert (account.gradient, account.absolute, account.cancellation) == (1.0, 9.0, 9.0)
    assert "cancel out in part: 9 in all, 1 left (9 to 1)" in account.text()
    nothing = rg.ledger(x - x, "x")
    assert nothing.cancellation == math.inf
    assert "which cancel out: 2 in all, 0 left" in nothing.text()
    assert rg.ledger(x * 0.0, "x").cancellation == 1.0


@st.composite
def layered(draw):
    """A small graph with many routes: rows of values, each made of two of the row below."""
    numbers = st.sampled_from([-2.0, -1.5, -1.0, 0.5, 1.0, 3.0])
    width, height = draw(st.integers(2, 3)), draw(st.integers(1, 4))
    first = draw(st.lists(numbers, min_size=width, max_size=width))
    pick = st.tuples(st.sampled_from(["add", "mul", "sub"]), st.integers(0, width - 1),
                     st.integers(0, width - 1))  # fmt: skip
    rows = draw(st.lists(st.lists(pick, min_size=width, max_size=width),
                         min_size=height, max_size=height))  # fmt: skip
    return first, rows, draw(st.integers(0, width * height))


def grown(rg, graph):
    first, rows, _ = graph
    row = [rg.Value(x, label=f"x{i}") for i, x in enumerate(first)]
    made = []
    for picks in rows:
        row = [getattr(rg, op)(row[i], row[j]) for op, i, j in picks]
        made += row
    return rg.sum(row), made


@settings(deadline=None, max_examples=100)
@given(graph=layered())
def test_shares_cancellation_and_strongest_routes_agree_with_listing_every_route(rg, graph):
    root, made = grown(rg, graph)
    story = plain_story(rg, root)
    reached = {id(value) for value in rg.order(root)}
    for leaf in story.leaves:
        every = routes(story, leaf)
        chosen = [story.find(value) for value in made[: graph[2]] if id(value) in reached]
        account = rg.ledger(story, leaf, through=chosen, strongest=5)
        assert account.routes == len(every)
        assert account.absolute == pytest.approx(sum(abs(x) for _, x in every))
        assert account.gradient == pytest.approx(sum(x for _, x in every))
        expected = dict.fromkeys((*chosen, None), 0.0)
        for path, amount in every:
            met = next((node for node in reversed(path) if node in chosen), None)
            expected[met] += amount
        found = {share.through: share.amount for share in account.shares}
        for node, amount in expected.items():
            assert found.get(node, 0.0) == pytest.approx(amount, abs=1e-9)
        strengths = sorted((abs(x) for _, x in every), reverse=True)[:5]
        assert [abs(route.amount) for route in account.strongest] == pytest.approx(strengths)
        for route in account.strongest:
            assert any(route.nodes == path for path, _ in every)


def test_ten_to_the_sixteen_routes_are_no_trouble(rg):
    (x,) = leaves(rg, x=1.0)
    y = x
    for _ in range(54):
        y = y + y
    began = time.perf_counter()
    account = rg.ledger(y, "x")
    assert time.perf_counter() - began < 2.0
    assert account.routes == 2.0**54
    assert account.gradient == account.absolute == 2.0**54
    assert "about 1.8e+16 routes, all pulling the same way" in account.text()


@pytest.mark.slow
def test_sixty_thousand_values_take_linear_time(rg):
    x, w = leaves(rg, x=1.0, w=0.99)
    y = x
    for _ in range(15_000):
        y = (y * w).tanh() + x
    story = rg.story(y)
    began = time.perf_counter()
    account = rg.ledger(story, "w", through=["x"])
    assert time.perf_counter() - began < 15.0  # a few tenths of a second alone on a machine
    assert len(account.entries) == 15_000
    assert "… and 14,976 weaker contributions …" in account.text()


def test_the_root_and_what_it_does_not_depend_on(rg):
    a, b = leaves(rg, a=2.0, b=3.0)
    root = a * a
    account = rg.ledger(root, root)
    assert account.entries == ()
    assert account.words() == "1: the seed"
    with pytest.raises(rg.errors.StoryError, match=r"'b' = 3\.0 is not under"):
        rg.ledger(root, b)
    with pytest.raises(rg.errors.StoryError, match="no value named 'aa'; did you mean 'a'"):
        rg.ledger(root, "aa")
    with pytest.raises(rg.errors.StoryError, match="its values are 0 to 1"):
        rg.ledger(root, 7)
    with pytest.raises(rg.errors.StoryError, match="a Value, a name or an id, got None"):
        rg.ledger(root, None)
    with pytest.raises(rg.errors.StoryError, match="ask for 0 to 100"):
        rg.ledger(root, "a", strongest=1000)


def test_a_frozen_value_has_an_empty_ledger(rg):
    a, b = leaves(rg, a=2.0, b=3.0)
    b.requires_grad = False
    account = rg.ledger(a * b, b)
    assert (account.gradient, account.entries, account.routes) == (0.0, (), 0)
    assert account.words() == "0: no use of b reaches a*b"


def test_a_ledger_is_plain_data(rg):
    account = rg.ledger(WALKTHROUGHS["two_routes"][0](rg), "a")
    plain = json.loads(json.dumps(account.to_json(), allow_nan=False))
    assert plain["gradient"] == 7.0
    assert [share["amount"] for share in plain["shares"]] == [4.0, 3.0]
    (x,) = leaves(rg, x=0.0)
    json.dumps(rg.ledger(rg.sqrt(x), "x").to_json(), allow_nan=False)


def test_negative_shares_and_long_lists_read_well(rg):
    (x,) = leaves(rg, x=2.0)
    root = rg.sum([x * float(k) for k in range(-4, 5)])
    words = rg.ledger(root, "x").words()
    assert words.startswith("0 = -4 through x*-4 - 3 through x*-3")
    assert words.endswith("through 3 more")
