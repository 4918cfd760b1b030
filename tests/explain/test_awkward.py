"""Truth at awkward points: kinks, ties, jumps, edges of domains, births of NaN and infinities."""

from __future__ import annotations

import math
import random

import pytest

from retrograde.ops import OPS
from retrograde.ops.corners import corner, reason

from .support import leaves, plain_story


def slopes(op, *inputs):
    found = corner(op, tuple(map(float, inputs)))
    return found and [pair and tuple(side.slope for side in pair) for pair in found.sides]


@pytest.mark.parametrize(
    ("op", "inputs", "expected"),
    [
        ("relu", (0,), [(0, 1)]),
        ("relu", (-0.0,), [(0, 1)]),
        ("abs", (0,), [(-1, 1)]),
        ("maximum", (7, 7), [(0, 1), (0, 1)]),
        ("minimum", (-7, -7), [(1, 0), (1, 0)]),
        ("clip", (1, 0, 1), [(1, 0), None, (1, 0)]),
        ("leaky_relu", (0, 0.25), [(0.25, 1), None]),
        ("hypot", (0, 0), [(-1, 1), (-1, 1)]),
        ("floor", (2,), [(math.inf, 0)]),
        ("floor", (2.5,), None),
        ("where", (0, 1, 2), None),
        ("elu", (0, 1), None),
        ("sigmoid", (0,), None),
        ("tan", (math.pi / 2,), None),
        ("relu", (1e-300,), None),
    ],
)
def test_corners_follow_from_the_rows(op, inputs, expected):
    assert slopes(op, *inputs) == expected


@pytest.mark.parametrize("op", [op for op in OPS if not OPS[op].absent])
def test_no_corner_is_seen_where_a_row_is_smooth(op):
    draws = random.Random(op)
    for _ in range(40):
        scale = draws.choice((1e-3, 1.0, 1.0, 30.0))
        at = [draws.uniform(low - 1, high + 1) * scale for low, high in OPS[op].domain]
        assert corner(op, at) is None, at


@pytest.mark.parametrize("op", [op for op in OPS if not OPS[op].absent])
def test_a_convention_at_a_finite_corner_has_its_reason(op):
    for edge in OPS[op].edges:
        found = corner(op, edge.at)
        if found is not None:
            assert found.why == edge.why or any(found.why == e.why for e in OPS[op].edges)


def test_every_edge_that_is_not_finite_has_its_reason():
    for op, row in OPS.items():
        for edge in row.edges:
            if not math.isfinite(edge.value):
                assert reason(op, edge.at, edge.value)


def one_sided(rg, make, way):
    step = way * 1e-7
    return (make(rg.Value(step)).data - make(rg.Value(0.0)).data) / step


def kinked(rg):
    """Functions of one number that stand on corners at 0, nested in every way."""
    relu, big, small = rg.relu, rg.maximum, rg.minimum
    return [
        relu,
        abs,
        lambda x: relu(relu(x)),
        lambda x: relu(x) + relu(-x),
        lambda x: relu(x) - relu(-x),
        lambda x: big(x, 2 * x),
        lambda x: small(big(x, -x), 3 * x + x * x),
        lambda x: abs(x) * rg.exp(x) * 3 + x,
        lambda x: rg.clip(x, 0.0, 1.0) * 5 - abs(x) / 2,
        lambda x: rg.hypot(x, 2 * x),
        lambda x: relu(x * 4 - 1e-300 * x) * relu(1 - abs(x)),
        lambda x: big(x, x) + small(x, x),
    ]


def test_both_slopes_are_what_moving_the_leaf_shows(rg):
    for make in kinked(rg):
        (x,) = leaves(rg, x=0.0)
        reading = rg.thermometer(make(x)).readings[0]
        below = one_sided(rg, make, -1)
        above = one_sided(rg, make, 1)
        if reading.below is None:  # both are the gradient
            assert below == pytest.approx(reading.gradient, abs=1e-5)
            assert above == pytest.approx(reading.gradient, abs=1e-5)
        else:
            assert reading.below == pytest.approx(below, abs=1e-5)
            assert reading.above == pytest.approx(above, abs=1e-5)


def test_a_reading_at_a_kink_says_both_and_why(rg):
    (x,) = leaves(rg, x=0.0)
    reading = rg.thermometer(rg.relu(x)).readings[0]
    assert reading.words == (
        "x stands at a kink: increase it by a little and relu(x) rises just as fast, decrease it "
        "and relu(x) does not move. Its gradient, 0, is a convention: relu'(0) = 0, as in PyTorch "
        "and JAX"
    )
    a, b = leaves(rg, a=1.0, b=1.0)
    both = rg.thermometer(rg.maximum(a, b)).readings
    assert [(each.below, each.above) for each in both] == [(0.0, 1.0), (0.0, 1.0)]
    text = rg.thermometer(rg.maximum(a, b)).text(200)
    assert text.count("at a kink: increased, maximum(a, b) rises just as fast") == 2


def test_a_jump_and_an_edge_are_said(rg):
    (x,) = leaves(rg, x=2.0)
    assert "decrease it and floor(x)*3 jumps" in rg.thermometer(rg.floor(x) * 3).readings[0].words
    (y,) = leaves(rg, y=0.0)
    assert "decrease it and sqrt(y) has no finite value" in (
        rg.thermometer(rg.sqrt(y)).readings[0].words
    )


def test_nothing_is_read_off_a_loss_that_is_nan(rg):
    x, y = leaves(rg, x=-1.0, y=3.0)
    story = plain_story(rg, rg.log(x) * 4 + y)
    (born,) = story.births
    assert (born.phase, story.columns.ops[born.node]) == ("forward", "log")
    assert "log(-1) is NaN: no real logarithm below 0" in born.words()
    assert "Cure: keep the input above 0" in born.words()
    for reading in rg.thermometer(story).readings:
        assert reading.share == 0.0
        assert "says nothing" in reading.words
        assert "rises" not in reading.words
        assert "falls" not in reading.words
    text = story.text()
    assert "NaN is born at forward step 2" in text
    assert "says nothing" in text
    assert "times as fast" not in text


def test_the_line_of_a_birth_is_named(rg):
    x = rg.Value(-1.0, label="x")
    z = rg.log(x)
    story = rg.story(z * 2)
    (born,) = story.births
    assert born.where.startswith("test_awkward.py line ")
    assert f"born at {born.where}" in story.text()
    assert any(f"NaN is born here, {born.where}, because" in step.words for step in story.forward)


def test_a_birth_in_the_backward_pass_is_told_there(rg):
    (x,) = leaves(rg, x=0.0)
    story = plain_story(rg, rg.sqrt(x) * 0.0)
    (born,) = story.births
    assert (born.phase, born.what) == ("backward", "a NaN gradient of x")
    assert "A NaN gradient of x is born here. Cure: keep the input above 0" in (
        story.backward[1].words
    )
    assert "NaN: it says nothing" in story.text()


def test_a_leaf_given_as_nan_is_named(rg):
    (x,) = leaves(rg, x=math.nan)
    (born,) = plain_story(rg, x * 2).births
    assert "x was given as NaN" in born.words()


def test_births_are_found_where_rg_births_finds_them(rg):
    draws = random.Random(5)
    for _ in range(60):
        numbers = {name: draws.choice((-1.0, 0.0, 2.0, 800.0)) for name in "abc"}
        a, b, c = leaves(rg, **numbers)
        root = draws.choice((rg.log(a * b), rg.sqrt(a) * b, rg.exp(a) - rg.exp(b), a / b)) + c
        story, found = plain_story(rg, root), rg.births(root)
        expected = found.forward or found.backward
        assert bool(story.births) == bool(expected)
        assert {born.phase for born in story.births} == {each.phase for each in expected}
        assert {story.columns.ops[born.node] for born in story.births} == (
            {each.op for each in expected}
        )


def test_births_and_kinks_survive_a_file(rg):
    (x,) = leaves(rg, x=0.0)
    story = plain_story(rg, rg.log(x) * rg.relu(x))
    again = type(story).from_json(story.to_json())
    assert again.births == story.births
    assert again.corners.at == story.corners.at
    assert again.text() == story.text()


def test_the_page_shows_births_in_red_and_kinks(native, show):
    x = native.Value(0.0, label="x")
    y = native.Value(-2.0, label="y")
    page = show(native.story(native.relu(x) + native.log(y)))
    alarm = page.text(".alarm")
    assert "NaN is born at" in alarm
    assert (
        "because log(-2) is NaN: no real logarithm below 0. Cure: keep the input above 0" in alarm
    )
    assert page.page.locator("#graph .born").count() == 1
    assert page.page.locator("#graph .kink").count() == 1
    page.page.click(".alarm a")  # the page follows its address a moment later
    page.page.wait_for_function("document.querySelector('#words').innerText.includes('born here')")
    assert "NaN is born here" in page.text("#words")
    page.press("Home")
    assert "says nothing" in page.text("#reading")
