"""A function that may come out otherwise the second time is recorded as often as its traces ask."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import count
from typing import Any

import numpy as np
import pytest

import retrograde as rg

from .test_choices import ROWS, assert_same_bits, rejoined, traced

pytestmark = pytest.mark.usefixtures("native")  # the reference keeps to traces

Made = tuple[Callable[[Any], Any], Callable[[], Any]]
"""A function, and how to see what it has left behind."""


def draws_levels() -> Made:
    levels = count(1)
    return (lambda x: (x if x > 0.5 else -x) * next(levels)), lambda: next(levels)


def draws_in_a_helper() -> Made:
    levels = count(1)

    def level() -> float:
        return float(next(levels))

    def function(x: Any) -> Any:
        y = x * level()
        if x > 0.5:
            y = y + x
        return y

    return function, lambda: next(levels)


def draws_after_the_branch_of_some_rows() -> Made:
    levels = count(1)

    def function(x: Any) -> Any:
        if x > 0.5:
            x = x * 2.0
        if x < -1.0:
            return x * next(levels)
        return x

    return function, lambda: next(levels)


def goes_through_an_iterator() -> Made:
    levels = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])

    def function(x: Any) -> Any:
        for level in levels:
            x = x * level
            break
        return x if x > 0.5 else -x

    return function, lambda: list(levels)


def finds_in_an_iterator() -> Made:
    levels = iter(range(100))

    def function(x: Any) -> Any:
        n = 2.0 if 1 in levels else 3.0
        return x * n if x > 0.5 else -x

    return function, lambda: list(levels)


def spreads_an_iterator() -> Made:
    levels = iter([1.0, 2.0, 3.0])

    def function(x: Any) -> Any:
        n = len([*levels, 1.0])
        return x * n if x > 0.5 else -x

    return function, lambda: list(levels)


def takes_the_least_of_an_iterator() -> Made:
    levels = iter([1.0, 2.0, 3.0])

    def function(x: Any) -> Any:
        least = min(levels, default=7.0)
        return x * least if x > 0.5 else -x

    return function, lambda: list(levels)


def sums_a_generator() -> Made:
    def made() -> Iterator[float]:
        yield from (1.0, 2.0, 3.0)

    levels = made()

    def function(x: Any) -> Any:
        return x * sum(levels) if x > 0.5 else -x

    return function, lambda: list(levels)


def draws_at_random() -> Made:
    source = random.Random(3)
    return (lambda x: (x if x > 0.5 else -x) * source.random()), source.random


def draws_with_numpy() -> Made:
    source = np.random.default_rng(3)
    return (lambda x: (x if x > 0.5 else -x) * float(source.normal())), source.normal


def keeps_a_list() -> Made:
    kept: list[float] = []

    def function(x: Any) -> Any:
        kept.append(1.0)
        return x * len(kept) if x > 0.5 else -x

    return function, lambda: kept


def adds_to_a_list() -> Made:
    kept: list[float] = []

    def function(x: Any) -> Any:
        mine = kept
        mine += [1.0]
        return x * len(kept) if x > 0.5 else -x

    return function, lambda: kept


def counts_in_a_dict() -> Made:
    kept = {"calls": 0}

    def function(x: Any) -> Any:
        kept["calls"] += 1
        return x * 2.0 if x > 0.5 else -x

    return function, lambda: kept


def counts_in_an_attribute() -> Made:
    class Counter:
        calls = 0

    kept = Counter()

    def function(x: Any) -> Any:
        kept.calls += 1
        return x * 2.0 if x > 0.5 else -x

    return function, lambda: kept.calls


def counts_in_a_property() -> Made:
    class Model:
        calls = 0

        @property
        def rate(self) -> float:
            self.calls += 1
            return 2.0

    model = Model()
    return (lambda x: x * model.rate if x > 0.5 else -x), lambda: model.calls


def counts_in_an_operator() -> Made:
    class Scale:
        calls = 0

        def __matmul__(self, other: Any) -> Any:
            self.calls += 1
            return other * 2.0

    scale = Scale()
    return (lambda x: scale @ x if x > 0.5 else -x), lambda: scale.calls


def counts_in_a_name() -> Made:
    calls = 0

    def function(x: Any) -> Any:
        nonlocal calls
        calls = calls + 1
        return x * 2.0 if x > 0.5 else -x

    return function, lambda: calls


def keeps_what_it_computed() -> Made:
    @lru_cache
    def level() -> float:
        kept.append(1.0)
        return 2.0

    kept: list[float] = []
    return (lambda x: x * level() if x > 0.5 else -x), lambda: kept


def sorts_by_a_counter() -> Made:
    kept: list[float] = []

    def function(x: Any) -> Any:
        low, _ = sorted([2.0, 1.0], key=lambda v: (kept.append(v), v)[1])
        return x * low if x > 0.5 else -x

    return function, lambda: kept


def calls_a_partial() -> Made:
    levels = count(1)
    return (lambda x: x * level() if x > 0.5 else -x), (level := partial(next, levels))


CASES = [
    draws_levels, draws_in_a_helper, draws_after_the_branch_of_some_rows, goes_through_an_iterator,
    finds_in_an_iterator, spreads_an_iterator, takes_the_least_of_an_iterator, sums_a_generator,
    draws_at_random, draws_with_numpy, keeps_a_list, adds_to_a_list, counts_in_a_dict,
    counts_in_an_attribute, counts_in_a_property, counts_in_an_operator, counts_in_a_name,
    keeps_what_it_computed, sorts_by_a_counter, calls_a_partial,
]  # fmt: skip


def _answer(compiled: Any) -> list[Any]:
    """What two calls give, or say."""
    found: list[Any] = []
    for rows in (ROWS[:6], ROWS[2:]):
        try:
            value, slope = compiled.value_and_grad(rows)
            found += [value, slope]
        except rg.errors.RetrogradeError as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("make", CASES)
def test_what_draws_or_keeps_is_recorded_as_often_as_traces_ask(make: Callable[[], Made]) -> None:
    (one, left_by_one), (other, left_by_other) = make(), make()
    found, expected = _answer(rejoined(one)), _answer(traced(other))
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        if isinstance(a, str) or isinstance(b, str):
            assert a == b
        else:
            assert_same_bits(a, b)
    assert left_by_one() == left_by_other()


def collects(x: Any) -> Any:
    """Lists of its own are a function's own affair."""
    path = [x]
    for _ in range(3):
        path.append(path[-1] * 0.75 + 0.125)
    best = [0.0] * 2
    best[0] = path[-1]
    if x > 0.5:
        best[1] = x
    total = path[0]
    for one, other in zip(path, path[1:]):  # noqa: RUF007  no pairwise: an iterator
        if one > other:
            total = total + one * other
    return total + best[0]


def test_what_a_function_makes_itself_it_may_change() -> None:
    compiled, plain = rejoined(collects), traced(collects)
    for one, other in zip(compiled.value_and_grad(ROWS), plain.value_and_grad(ROWS)):
        assert_same_bits(one, other)
    assert compiled._recordings.choices.on
    assert len(compiled.traces) < len(plain.traces)


def test_an_exception_names_the_row_and_the_line() -> None:
    def checked(x: Any) -> Any:
        y = x * 2.0
        if x > 0.5:
            y = y + 1.0
        if x < -1.0:
            raise ValueError("too low")
        return y

    compiled = rejoined(checked)
    with pytest.raises(ValueError, match="too low") as caught:
        compiled(np.array([0.0, 1.0, 2.0, -2.0]))
    (note,) = caught.value.__notes__  # type: ignore[attr-defined]
    assert note.startswith(f"checked raised this on row 3, at {__file__}:")
    assert compiled(np.array([0.0, 1.0])).tolist() == [0.0, 3.0]
