"""What is written by hand beside the rows: ``sum`` and ``dot`` against their expansion into rows,
and the rows that ``**`` chooses.
"""

from __future__ import annotations

import random
from functools import reduce
from operator import add, mul
from typing import Any

import pytest

from .expressions import same_bits, ulps_apart

LENGTHS = [1, 2, 3, 7, 8, 9, 100, 1001]


def numbers(length: int, seed: int = 0) -> list[float]:
    """Numbers of very different size, so that another order of adding would show."""
    rng = random.Random(seed)
    return [rng.gauss(0.0, 1.0) * 10.0 ** rng.randint(-8, 8) for _ in range(length)]


def expanded_dot(left: list[Any], right: list[Any]) -> Any:
    return reduce(add, map(mul, left, right))


def assert_same_bits(got: list[float], expected: list[float]) -> None:
    assert len(got) == len(expected)
    assert all(map(same_bits, got, expected))


@pytest.mark.parametrize("length", LENGTHS)
def test_sum_is_its_expansion_into_additions(rg: Any, length: int) -> None:
    one, other = ([rg.Value(n) for n in numbers(length)] for _ in range(2))
    total, expansion = rg.sum(one), reduce(add, other)
    assert same_bits(total.data, expansion.data)
    total.backward(-0.3)
    expansion.backward(-0.3)
    assert_same_bits([v.grad for v in one], [v.grad for v in other])


@pytest.mark.parametrize("length", LENGTHS)
def test_dot_is_its_expansion_into_products_and_additions(rg: Any, length: int) -> None:
    sides = [[rg.Value(n) for n in numbers(length, seed)] for seed in (1, 2, 1, 2)]
    total, expansion = rg.dot(*sides[:2]), expanded_dot(*sides[2:])
    assert same_bits(total.data, expansion.data)
    total.backward(-0.3)
    expansion.backward(-0.3)
    for got, expected in zip(sides[:2], sides[2:]):
        assert_same_bits([v.grad for v in got], [v.grad for v in expected])


def test_a_value_that_occurs_twice_receives_both_contributions(rg: Any) -> None:
    a, b, c = (rg.Value(n) for n in (0.1, 1e16, -7.3))
    rg.sum([a, b, a]).backward(0.3)
    assert (a.grad, b.grad) == (0.6, 0.3)
    rg.zero_grad([a, b])
    rg.dot([a, b, a], [b, c, c]).backward()
    assert (a.grad, b.grad, c.grad) == (1e16 + -7.3, 0.1 + -7.3, 1e16 + 0.1)
    rg.zero_grad([a, b, c])
    rg.dot([a, b, c], [a, b, c]).backward()
    assert [v.grad for v in (a, b, c)] == [0.2, 2e16, -14.6]


def test_numbers_take_part_without_gradients(rg: Any) -> None:
    x = rg.Value(3.0)
    total = rg.sum([0.1, x, 2, 0.7])
    assert (total.data, total.op) == (((0.1 + 3.0) + 2.0) + 0.7, "sum")
    weighed = rg.dot([x, 2.0, x], [0.1, x, 5])
    weighed.backward()
    assert weighed.data == (3.0 * 0.1 + 2.0 * 3.0) + 3.0 * 5.0
    assert x.grad == (0.1 + 5.0) + 2.0


def test_sum_and_dot_are_one_node_with_one_partial_an_input(rg: Any) -> None:
    xs = [rg.Value(n) for n in (2.0, 3.0, 5.0)]
    total, weighed = rg.sum(xs), rg.dot(xs, [1.0, 10.0, 100.0])
    assert (total.op, total.partials, [v.data for v in total.inputs]) == (
        "sum", (1.0, 1.0, 1.0), [2.0, 3.0, 5.0],
    )  # fmt: skip
    assert (weighed.op, weighed.partials, [v.data for v in weighed.inputs]) == (
        "dot", (1.0, 10.0, 100.0, 2.0, 3.0, 5.0), [2.0, 3.0, 5.0, 1.0, 10.0, 100.0],
    )  # fmt: skip


def test_a_single_term_keeps_its_sign_of_zero(rg: Any) -> None:
    assert same_bits(rg.sum([rg.Value(-0.0)]).data, -0.0)
    assert same_bits(rg.dot([rg.Value(-0.0)], [1.0]).data, -0.0)
    assert same_bits(rg.sum([-0.0]), -0.0)


def test_numbers_alone_give_a_float_and_nothing_gives_zero(rg: Any) -> None:
    for result in (rg.sum([1, 2.5]), rg.dot([1, 2], [3, 0.25]), rg.sum([]), rg.dot([], [])):
        assert type(result) is float
    assert (rg.sum([1, 2.5]), rg.dot([1, 2], [3, 0.25])) == (3.5, 3.5)
    assert (rg.sum([]), rg.dot([], [])) == (0.0, 0.0)


def test_infinities_and_nan_go_through_sum_and_dot(rg: Any) -> None:
    a, b = rg.Value(float("inf")), rg.Value(0.0)
    total = rg.dot([a], [b])
    total.backward()
    assert total.data != total.data
    assert (a.grad, b.grad) == (0.0, float("inf"))
    assert rg.sum([a, 1.0]).data == float("inf")


def shape(rg: Any, root: Any) -> list[tuple[str, tuple[int, ...]]]:
    """The computed values under a root: each one's op, and where its inputs stand (-1: a leaf)."""
    made = [value for value in rg.order(root) if value.op != "leaf"]
    place = {id(value): index for index, value in enumerate(made)}
    return [(v.op, tuple(place.get(id(w), -1) for w in v.inputs)) for v in made]


MUL, SQUARED = ("mul", (-1, -1)), ("mul", (0, 0))
POWERS = {
    2: [("square", (-1,))],
    -1: [("reciprocal", (-1,))],
    -2: [("reciprocal", (-1,)), ("square", (0,))],
    3: [MUL, ("mul", (0, -1))],
    4: [MUL, SQUARED],
    5: [MUL, SQUARED, ("mul", (1, -1))],
    6: [MUL, ("mul", (0, -1)), ("mul", (1, 1))],
    7: [MUL, ("mul", (0, -1)), ("mul", (1, 1)), ("mul", (2, -1))],
    8: [MUL, SQUARED, ("mul", (1, 1))],
}


@pytest.mark.parametrize("exponent", POWERS)
def test_a_small_whole_exponent_is_multiplied_out(rg: Any, exponent: int) -> None:
    for spelling in (exponent, float(exponent)):
        x = rg.Value(1.7)
        assert shape(rg, x**spelling) == POWERS[exponent]


@pytest.mark.parametrize("exponent", [3, 4, 5, 6, 7, 8])
def test_a_negative_exponent_is_the_positive_power_of_the_reciprocal(
    rg: Any, exponent: int
) -> None:
    shifted = [(op, tuple(place + 1 for place in places)) for op, places in POWERS[exponent]]
    assert shape(rg, rg.Value(1.7) ** -exponent) == [("reciprocal", (-1,)), *shifted]


@pytest.mark.parametrize("exponent", [0, 1, 0.5, -0.5, 2.5, 9, -9, 1e300, float("inf")])
def test_any_other_number_is_left_to_pow(rg: Any, exponent: float) -> None:
    assert shape(rg, rg.Value(1.7) ** exponent) == [("pow", (-1, -1))]


@pytest.mark.parametrize("exponent", [2.0, -1.0, 3.0, 0.5])
def test_a_value_as_exponent_is_left_to_pow(rg: Any, exponent: float) -> None:
    power = rg.Value(1.7) ** rg.Value(exponent)
    assert shape(rg, power) == [("pow", (-1, -1))]
    assert shape(rg, 1.7 ** rg.Value(exponent)) == [("pow", (-1, -1))]
    assert shape(rg, rg.pow(rg.Value(1.7), exponent)) == [("pow", (-1, -1))]


@pytest.mark.parametrize("exponent", [*range(-10, 11), 0.5, -2.5])
@pytest.mark.parametrize("base", [1.7, -0.3, 0.0, float("inf")])
def test_powers_agree_across_engines(
    native: Any, reference: Any, base: float, exponent: float
) -> None:
    results = []
    for rg in (native, reference):
        x = rg.Value(base)
        power = x**exponent
        power.backward()
        results.append((power.data, x.grad))
    if exponent in POWERS or -exponent in POWERS:
        assert_same_bits(*map(list, results))
    else:
        assert all(ulps <= 2 for ulps in map(ulps_apart, *results))


@pytest.mark.parametrize("exponent", [*range(-10, 11), 0.5, -2.5])
def test_every_power_has_the_slope_of_a_power(rg: Any, exponent: float) -> None:
    x = rg.Value(1.7)
    power = x**exponent
    power.backward()
    assert power.data == pytest.approx(1.7**exponent, rel=1e-14)
    assert x.grad == pytest.approx(exponent * 1.7 ** (exponent - 1), rel=1e-14)
