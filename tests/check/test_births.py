"""Births found in a graph after the fact: what is a birth, what is only its consequence."""

from __future__ import annotations

import json
import math
import random

import pytest

INF, NAN = math.inf, math.nan


def causes(found):
    return [(each.op, each.cause) for each in found.backward]


def test_a_finite_graph_has_no_births(rg):
    x = rg.Value(2.0)
    found = rg.births(x * x + rg.exp(x))
    assert not found
    assert found.first is None
    assert str(found) == "Every value and every gradient is finite."


def test_the_first_place_is_told_from_its_consequences(rg):
    x = rg.Value(-1.0, label="x")
    bad = rg.log(x)
    loss = (bad * 2.0 + 1.0) * x
    found = rg.births(loss)
    assert [(each.op, each.result != each.result) for each in found.forward] == [("log", True)]
    assert found.values == 4
    assert not found.roots_are_finite
    first = found.first
    assert [operand.words for operand in first.operands] == ["'x' = -1.0"]
    assert [step.op for step in first.route] == ["mul", "add", "mul"]
    assert first.steps == 3
    assert first.cure.startswith("keep the input above 0")


def test_births_of_one_line_are_counted(rg):
    losses = [rg.log(rg.Value(-float(i))) for i in range(1, 8)]
    found = rg.births(rg.sum(losses))
    assert [each.count for each in found.forward] == [7]
    assert "and 6 more of the same kind on this line" in str(found)


def test_given_infinities_are_no_births(rg):
    mask = rg.Value(-INF, requires_grad=False)
    x = rg.Value(1.0)
    assert not rg.births(rg.exp(x + mask) + x).forward
    assert rg.births(x * rg.Value(NAN)).forward[0].cause == "given"


@pytest.mark.parametrize(
    ("make", "op", "cause"),
    [
        (lambda rg, x: rg.sqrt(x), "sqrt", "infinite partial"),
        (lambda rg, x: rg.sqrt(x) * 0.0, "sqrt", "0 × inf"),
        (lambda rg, x: rg.where(0.0, rg.log(x), x), "log", "0 × inf"),
        (lambda rg, x: rg.atan2(x, x * 1.0), "atan2", "the partial is NaN"),
        (lambda rg, x: x * 1e200 * 1e200, "mul", "overflow"),
        (lambda rg, x: x * 1.5e308 + x * 1.5e308, "mul", "the sum of contributions overflows"),
    ],
)  # fmt: skip
def test_causes_in_the_backward_pass(rg, make, op, cause):
    found = rg.births(make(rg, rg.Value(0.0, label="x")))
    assert causes(found)[0] == (op, cause)
    assert found.backward[0].target == "'x' = 0.0" or op in ("atan2", "mul")


def test_opposite_infinities_meet(rg):
    x = rg.Value(0.0, label="x")
    found = rg.births(rg.sqrt(x) - rg.sqrt(x))
    assert ("sqrt", "inf − inf") in causes(found)


def test_a_forward_birth_is_not_told_again_as_a_backward_one(rg):
    x, y = rg.Value(-1.0, label="x"), rg.Value(2.0, label="y")
    found = rg.births(rg.log(x) * y)
    assert [each.op for each in found.forward] == ["log"]
    assert found.backward == ()
    assert found.gradients > 0


@pytest.mark.parametrize(
    ("make", "made"),
    [
        (lambda rg, x: rg.log(x), "log produced -inf"),
        (lambda rg, x: 1.0 / x, "div produced inf"),
        (lambda rg, x: rg.atanh(x + 1.0), "atanh produced inf"),
    ],
)
def test_the_reason_says_what_the_forward_pass_made(rg, make, made):
    """A slope is infinite at a pole too, and there the forward value is not finite."""
    found = rg.births(make(rg, rg.Value(0.0, label="x")))
    first = found.backward[0]
    assert first.cause == "infinite partial"
    assert f"why: {made} in the forward pass, and its slope there is infinite." in str(first)
    assert "the forward value is finite" not in str(found)
    json.dumps(found.as_dict(), allow_nan=False)


def test_a_finite_value_with_an_infinite_slope_is_said_to_be_finite(rg):
    found = rg.births(rg.sqrt(rg.Value(0.0)))
    assert "why: the forward value is finite, but its slope here is infinite." in str(found)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda rg, x: rg.sqrt(x), "1 gradient is not finite; the result is finite."),
        (
            lambda rg, x: rg.log(x) * 2.0,
            "2 values and 1 gradient are not finite; the result is not finite.",
        ),
        (lambda rg, x: rg.sqrt(x * 1.0), "2 gradients are not finite; the result is finite."),
    ],
)
def test_the_first_sentence_counts_and_says_how_the_result_is(rg, make, sentence):
    found = rg.births(make(rg, rg.Value(0.0, label="x")))
    assert str(found).splitlines()[0] == sentence


def test_the_text_is_folded_and_keeps_its_indent(rg):
    x = rg.Value(0.0, label="x")
    lines = str(rg.births(rg.where(x > 0.0, rg.sqrt(x), 0.0))).splitlines()
    assert max(len(line) for line in lines if not line.startswith("  at ")) <= 80
    after = lines[next(i for i, line in enumerate(lines) if "why:" in line) + 1]
    assert after.startswith("    in the result")
    assert f"      {SOURCE}" in lines


SOURCE = "lines = str(rg.births(rg.where(x > 0.0, rg.sqrt(x), 0.0))).splitlines()"


def test_closures_can_give_birth(rg):
    x = rg.Value(1.0, label="x")
    out = rg.Value(1.0, (x,), "mine")

    def rule():
        x.grad += NAN

    out._backward = rule
    x.grad = 3.0
    found = rg.births(out * 2.0)
    assert [(each.op, each.cause) for each in found.backward] == [("mine", "closure")]
    assert x.grad == 3.0


def test_raising_says_what_anomaly_says(rg):
    x = rg.Value(0.0, label="x")
    loss = rg.sqrt(x) + 1.0
    with pytest.raises(rg.errors.AnomalyError) as after:
        rg.births(loss, raising=True)
    with pytest.raises(rg.errors.AnomalyError) as at_once, rg.anomaly():
        loss.backward()
    assert str(after.value) == str(at_once.value)
    assert after.value.birth == at_once.value.birth
    assert "route to the root: add" in str(after.value)
    assert rg.births(x * 2.0, raising=True).forward == ()


def test_several_roots(rg):
    x = rg.Value(0.0, label="x")
    found = rg.births([x * 2.0, rg.log(x)])
    assert [each.op for each in found.forward] == ["log"]


def test_a_long_route_is_cut_in_the_middle(rg):
    x = rg.Value(0.0, label="x")
    y = rg.sqrt(x)
    for _ in range(100):
        y = y * 1.0
    first = rg.births(y).backward[0]
    assert first.steps == 100
    assert len(first.route) == 16
    assert "… 84 more …" in str(first)


def test_data_is_json(rg):
    found = rg.births(rg.sqrt(rg.Value(0.0)))
    data = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert data["backward"][0]["result"] == "inf"
    assert data["backward"][0]["site"]["file"] == __file__


def test_no_graph_is_kept_by_a_birth(rg):
    first = rg.births(rg.sqrt(rg.Value(0.0))).backward[0]
    assert not any(isinstance(part, rg.Value) for part in vars(first).values())


@pytest.mark.parametrize("wrong", [3.0, None, "x"])
def test_what_is_no_root_is_refused(rg, wrong):
    with pytest.raises(rg.errors.NotAValueError):
        rg.births(wrong)
    with pytest.raises(rg.errors.NotAValueError):
        rg.births([rg.Value(1.0), wrong])


def random_program(rg, seed):
    """A program that is now and then not finite, and how its first odd value came to be."""
    source = random.Random(seed)
    values = [rg.Value(source.choice((0.0, 1.0, -2.0, 0.5, 700.0))) for _ in range(3)]
    for _ in range(12):
        op = source.choice(("add", "mul", "div", "log", "sqrt", "exp", "relu", "sub"))
        x, y = source.choice(values), source.choice(values)
        values.append(getattr(rg, op)(x, y) if rg.ops[op].arity == 2 else getattr(rg, op)(x))
    return rg.sum(values)


def stopped(rg, act):
    """The birth at which anomaly mode stops, or None."""
    with rg.anomaly():
        try:
            act()
        except rg.errors.AnomalyError as error:
            return error.birth
    return None


@pytest.mark.parametrize("seed", range(200))
def test_births_are_where_anomaly_mode_stops(rg, seed):
    root = random_program(rg, seed)
    found = rg.births(root)
    forward = stopped(rg, lambda: random_program(rg, seed))
    if forward is not None:
        assert forward.op in [each.op for each in found.forward]
        return
    assert not found.forward
    backward = stopped(rg, root.backward)
    assert causes(found)[:1] == ([] if backward is None else [(backward.op, backward.cause)])
