"""What other people's branches compute is the same, bit for bit, with choices and by traces."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import retrograde as rg

from .choice_programs import function_of
from .strangers import programs
from .strangers.common import BIAS, WEIGHT
from .test_choices import assert_same_bits, rejoined, traced
from .wild_programs import wild_source

pytestmark = pytest.mark.usefixtures("native")  # the reference keeps to traces
PROGRAMS = programs()


def rows(draw: Any, count: int = 18) -> tuple[Any, Any]:
    """Numbers for two arguments, and what is awkward among them."""
    x, y = draw.normal(size=count) * 1.3, draw.normal(size=count)
    x[:7] = [0.0, np.nan, 1.0, 0.5, -0.0, np.inf, -1.0]
    y[:7] = [0.0, 1.0, np.nan, 0.5, 1.0, -1.0, -np.inf]
    order = draw.permutation(count)
    return x[order], y[order]


def leaves(nest: Any) -> list[Any]:
    if isinstance(nest, dict):
        nest = list(nest.values())
    if not isinstance(nest, (list, tuple)):
        return [nest]
    return [part for each in nest for part in leaves(each)]


def asked(compiled: Any, what: str, args: tuple[Any, ...], captured: list[Any]) -> list[Any]:
    """What a compiled function answers, or the kind of its exception."""
    try:
        if what == "value":
            return leaves(compiled(*args))
        if what == "sum":
            return leaves(compiled.value_and_grad(*args, reduce="sum"))
        if what == "backward":
            rg.zero_grad(captured)
            return leaves([compiled.backward(*args), *[leaf.grad for leaf in captured]])
        return leaves(getattr(compiled, what)(*args))
    except Exception as error:
        return [type(error).__name__]


def hold(function: Any, seed: int, asks: tuple[str, ...], captured: list[Any], *more: Any) -> Any:
    """Hold a function with choices to its traces, twice on other rows, and to eager values."""
    draw = np.random.default_rng(seed)
    chosen, plain = rejoined(function), traced(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            args = (*rows(draw), *more)
            for what in asks:
                one = asked(chosen, what, args, captured)
                other = asked(plain, what, args, captured)
                assert len(one) == len(other), (what, one, other)
                for a, b in zip(one, other):
                    if isinstance(a, str) or isinstance(b, str):
                        assert a == b, what
                    else:
                        assert_same_bits(a, b)
        found = asked(chosen, "value", args, captured)
    if len(found) == 1 and not isinstance(found[0], str):
        for row in range(0, len(args[0]), 4):
            number = eagerly(function, [args[0][row], args[1][row], *more])
            if number is not None:
                assert np.isclose(number, found[0][row], rtol=1e-9, equal_nan=True), row
    return chosen, plain


def eagerly(function: Any, numbers: list[float]) -> float | None:
    """What the function gives on values; None where it raises."""
    try:
        result = function(*map(rg.Value, numbers))
    except Exception:
        return None
    return float(rg.data(result)) if isinstance(result, rg.Value) else float(result)


ASKS = ("value", "value_and_grad", "sum", "backward", "hessian", "jacobian")


def sampled(name: str, number: int) -> Any:
    return pytest.param(name, marks=[] if number % 9 == 0 else pytest.mark.sweep)


@pytest.mark.parametrize("name", [sampled(*each) for each in zip(PROGRAMS, range(len(PROGRAMS)))])
def test_strangers_get_the_bits_of_their_traces(name: str) -> None:
    hold(PROGRAMS[name], 1, ASKS, [WEIGHT, BIAS])


@pytest.mark.parametrize(
    "name",
    "label_of op_of class_of memo_values set_of_values set_call tuple_key default_dict key_error "
    "broad_except percent_text dict_get formatted_number stringify binary_search".split(),
)
def test_nothing_tells_a_choice_from_a_number(name: str) -> None:
    chosen, plain = hold(PROGRAMS[name], 2, ("value",), [WEIGHT, BIAS])
    assert len(chosen.traces) == len(plain.traces)


@pytest.mark.parametrize(
    "name", "pid bouncing inventory cliquet lookback viterbi edit_distance".split()
)
def test_strangers_branches_rejoin(name: str) -> None:
    """One trace for what is finite; a second may come of what is not."""
    function = PROGRAMS[name]
    chosen, plain = rejoined(function), traced(function)
    draw = np.random.default_rng(3)
    x, y = draw.normal(size=200), draw.normal(size=200)
    for one, other in zip(chosen.grad(x, y), plain.grad(x, y)):
        assert_same_bits(one, other)
    assert len(chosen.traces) == 1 < len(plain.traces)


def wild(seed: int) -> tuple[int, int]:
    captured = [rg.Value(0.8), rg.Value(-0.4)]
    function = function_of(wild_source(seed), rg=rg, w1=captured[0], w2=captured[1])
    asks = ("value", "value_and_grad") if seed % 2 else ("value_and_grad", "backward")
    chosen, plain = hold(function, seed, asks, captured, 0.7)
    return len(chosen.traces), len(plain.traces)


def test_wild_functions_have_the_bits_of_their_traces() -> None:
    found = np.array([wild(seed) for seed in range(12)])
    assert found[:, 0].sum() < found[:, 1].sum()


@pytest.mark.sweep
def test_many_wild_functions_have_the_bits_of_their_traces() -> None:
    for seed in range(1_000, 101_000):
        wild(seed)
