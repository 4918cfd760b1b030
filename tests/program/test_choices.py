"""Branches that rejoin are choices in one trace: the bits of traces, and guards where in doubt."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import retrograde as rg
from retrograde.program import masks, recordings

from .choice_programs import function_of, source_of

pytestmark = pytest.mark.usefixtures("native")  # the reference keeps to traces


def rejoined(function: Any) -> Any:
    """The function compiled with choices, as it is unless told otherwise."""
    return rg.compile(function)


def traced(function: Any) -> Any:
    """The function compiled with traces alone."""
    return rg.compile(function, choices=False)


def assert_same_bits(one: Any, other: Any) -> None:
    a, b = np.asarray(one, float), np.asarray(other, float)
    assert ((a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))).all(), (a, b)


def both(function: Any, *args: Any) -> tuple[Any, Any]:
    """The function with choices, held to traces; and with traces."""
    chosen, plain = rejoined(function), traced(function)
    value, slopes = chosen.value_and_grad(*args)
    expected, steep = plain.value_and_grad(*args)
    assert_same_bits(value, expected)
    for one, other in zip(slopes if isinstance(slopes, tuple) else (slopes,), _several(steep)):
        assert_same_bits(one, other)
    return chosen, plain


def _several(slopes: Any) -> Any:
    return slopes if isinstance(slopes, tuple) else (slopes,)


ROWS = np.array([-2.0, -0.5, 0.0, 0.25, 1.0, 2.0, np.nan, np.inf])


def branch(x: Any) -> Any:
    y = x * 2.0
    if x > 0.5:
        y = rg.log(x) * y
    elif x < -1.0:
        y = -x
    return y * y + x


def flagged(x: Any) -> Any:
    alive, paid = True, 0.0
    for _ in range(4):
        x = x * 1.5 - 0.25
        if x > 2.0:
            alive = False
        if alive and not x < 0.0:
            paid = paid + 0.5 * x
    return paid if alive else -paid


def extremes(x: Any) -> Any:
    return max(x, 0.5, x * x) - min([x, 1.0]) + abs(x) + (1.0 if 0.0 < x < 1.5 else x)


def aliased(x: Any) -> Any:
    y = x if x > 0.0 else x * x
    return y * 3.0 + x * 5.0 + y * 7.0 + x * y


def steep(x: Any) -> Any:
    """sqrt has an infinite slope at 0, which no row takes."""
    return rg.sqrt(x) if x > 0.0 else x * 2.0


def looped(x: Any) -> Any:
    rounds = 0
    while x * x > 1e-3 and rounds < 40:
        x = x * 0.75
        rounds += 1
    return x * rounds


@pytest.mark.parametrize("function", [branch, flagged, extremes, aliased, steep, looped])
def test_one_trace_has_the_bits_of_many(function: Any) -> None:
    chosen, plain = both(function, ROWS)
    assert len(chosen.traces) < len(plain.traces)
    assert not chosen._recordings.choices.off


def test_the_side_not_taken_contributes_nothing() -> None:
    _, slope = rejoined(steep).value_and_grad(np.array([0.0, 4.0, -1.0]))
    assert slope.tolist() == [2.0, 0.25, 2.0]


def test_branches_in_the_body_of_a_scan_rejoin() -> None:
    def step(level: Any, z: Any) -> Any:
        if level > 1.0:
            level = level * 0.5
        return level + z, level * z

    def scanned(x: Any, y: Any) -> Any:
        if x > y:
            x, _ = rg.scan(step, x, [y, 0.25])
        last, found = rg.scan(step, carry=x, xs=[y, 0.5, x, 1.5, x * y])
        found.append(last)
        return sum(found)

    chosen, plain = both(scanned, ROWS, ROWS[::-1].copy())
    assert len(chosen.traces) == 1 < len(plain.traces)


def test_a_scan_of_what_can_be_gone_through_once_is_left_to_traces() -> None:
    def step(level: Any, z: Any) -> Any:
        return level + z if level > 1.0 else level - z, z

    def drawn(x: Any) -> Any:
        once = iter([0.5, 1.5])
        if x > 0.0:
            x, _ = rg.scan(step, x, once)
        return x + sum(once)

    chosen, plain = both(drawn, ROWS)
    assert len(chosen.traces) == len(plain.traces)


def test_helpers_and_methods_rejoin_too() -> None:
    class Model:
        rate = 0.5

        def __call__(self, x: Any) -> Any:
            return self.step(x) if x > 0.0 else x

        def step(self, x: Any) -> Any:
            y = x * self.rate
            if y > 0.75:
                y = y - 0.25 * x
            return y

    model = Model()
    chosen, plain = both(lambda x: model(x) + branch(x), ROWS)
    assert len(chosen.traces) == 1 < len(plain.traces)


LOG: list[float] = []


def grows(x: Any) -> Any:
    found = []
    if x > 0.0:
        found.append(x)
    return x + len(found)


def prints(x: Any) -> Any:
    if x > 0.0:
        print(end="")
        x = x * 2.0
    return x


def draws(x: Any) -> Any:
    if x > 0.0:
        x = x * (1.0 + 0.0 * random.random())
    return x


def counts(x: Any) -> Any:
    if x > 0.0:
        LOG.append(1.0)
        x = x * 2.0
    return x


def returns(x: Any) -> Any:
    if x > 0.0:
        return x * 2.0
    return x


def breaks(x: Any) -> Any:
    for _ in range(3):
        if x > 1.0:
            break
        x = x + 0.75
    return x


def differs_in_length(x: Any) -> Any:
    items = [x, x] if x > 0.0 else [x]
    return sum(items)


def asks(x: Any) -> Any:
    y = 1.0
    if x > 0.0:
        y = x * x
    return y if isinstance(y, float) else y * 2.0


def powers(x: Any) -> Any:
    n = 2.0
    if x > 0.0:
        n = 3.0
    return (x + 3.0) ** n


def of_a_number(x: Any) -> Any:
    y = 0.5
    if x > 0.0:
        y = x
    return rg.exp(y) * x


@pytest.mark.parametrize(
    "function",
    [
        grows, prints, draws, counts, returns, breaks, differs_in_length, asks, powers, of_a_number,
    ],
)  # fmt: skip
def test_what_does_more_than_compute_stays_a_guard(function: Any) -> None:
    chosen, plain = both(function, ROWS)
    assert len(chosen.traces) == len(plain.traces) > 1


def test_an_exception_on_one_side_names_the_line() -> None:
    def checked(x: Any) -> Any:
        if x < 0.0:
            raise ValueError(f"negative at row {1}")
        return rg.sqrt(x)

    with pytest.raises(ValueError, match="negative"):
        rejoined(checked)(np.array([1.0, -1.0]))


def test_a_division_by_the_number_zero_on_one_side_raises_as_it_does() -> None:
    def divided(x: Any) -> Any:
        d = 0.0
        if x > 0.0:
            d = x
        return 1.0 / d

    with pytest.raises(ZeroDivisionError):
        rejoined(divided)(np.array([1.0, -1.0]))


def test_a_division_by_the_number_zero_is_caught_as_it_is_though_nothing_comes_of_it() -> None:
    def caught(x: Any) -> Any:
        one = 1.0
        try:
            if x > 0.0:
                one = x
            unused = one / 0.0
        except ZeroDivisionError:
            return x * 2.0
        return (x * 3.0, unused)[0]

    rows = np.array([1.0, -1.0])
    assert rejoined(caught)(rows).tolist() == traced(caught)(rows).tolist() == [3.0, -2.0]


def test_what_a_plain_number_lacks_is_missed_as_it_is() -> None:
    """Found at random: a choice of a value and a number has methods, a number has none."""

    def detached(x: Any) -> Any:
        one = 1.5
        if x > 0.0:
            one = x * 2.0
        return x * one.detach()  # type: ignore[attr-defined]

    def unused(x: Any) -> Any:
        one = x * 2.0 if x > 0.0 else 1.5
        try:
            one.tanh()
        except AttributeError:
            return x * 3.0
        return x

    with pytest.raises(AttributeError, match="detach"):
        rejoined(detached)(ROWS)
    chosen, plain = both(unused, ROWS)
    assert len(chosen.traces) == len(plain.traces)


def test_what_is_true_of_plain_numbers_is_inverted_as_a_number() -> None:
    def inverted(x: Any) -> Any:
        one = x if x > 0.0 else 0.5
        return rg.where(~(one > 0.25), x, x * 2.0)  # ~True is -2, and as good as True

    both(inverted, ROWS)


def test_explain_names_the_lines_that_are_choices() -> None:
    chosen, plain = both(branch, ROWS)
    first = branch.__code__.co_firstlineno
    said = [line for line in chosen.explain().splitlines() if "either side in one trace" in line]
    assert len(said) == 1
    assert all(f"{__file__}:{line}, in branch" in said[0] for line in (first + 2, first + 4))
    assert "either side" not in plain.explain()


def summed(x: Any, y: Any, zs: Any) -> Any:
    """Found at random: its loop, a table of numbers with a 1 in it, is none in some traces."""
    z = y
    for i, q in enumerate([*zs, x]):
        z = z + q * i
        if z < 0.5 and -0.5 < y < 1.5:
            y = y * 0.5 + q
    for q in zs:
        x = x + q * z
    kept = sum(q for q in (0.7, 0.7, y) if q > x)
    return (-1.0 if kept < -1.0 else y if kept > y else kept) + y * x


def test_a_number_in_a_table_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "agrees", lambda *_: 0)  # it is right without being compared
    draw = np.random.default_rng(5)
    x, y, zs = draw.normal(size=99) * 1.3, draw.normal(size=99), draw.normal(size=(99, 4))
    chosen, plain = both(summed, x, y, zs)
    assert len(chosen.traces) < len(plain.traces)


def test_a_condition_on_nan_takes_the_side_that_python_takes() -> None:
    def sided(x: Any) -> Any:
        return 1.0 * x if x > 0.0 else 2.0 + 0.0 * rg.where(x > 0.0, x, 0.0)

    assert rejoined(sided)(np.array([1.0, np.nan])).tolist() == [1.0, 2.0]


def test_a_mismatch_falls_back_to_traces_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{rg.__name__}.program.recordings.agrees", lambda *_: None)
    compiled = rejoined(branch)
    with pytest.warns(rg.errors.RecordingWarning, match="gave other bits"):
        found = compiled(ROWS)
    assert_same_bits(found, traced(branch)(ROWS))
    assert len(compiled.traces) == 3


def exercised(spot: Any, rate: Any, strike: Any, shocks: Any) -> Any:
    """An American put by given regressions, as Longstaff and Schwartz have it."""
    path, worth = [], spot
    for shock in shocks:
        worth = worth * rg.exp((rate - 0.02) * 0.02 + 0.03 * shock)
        path.append(worth)
    cash, discount = max(strike - path[-1], 0.0), rg.exp(-rate * 0.02)
    for worth in reversed(path[:-1]):
        cash = cash * discount
        gain, later = strike - worth, 4.0 - 0.4 * (worth - 100.0)
        if gain > 0.0 and gain > later:
            cash = gain
    return cash * discount


def test_a_branch_in_a_long_loop_is_one_trace() -> None:
    """Sets of rows are told by as many conditions as there are steps, not by their ways."""
    shocks = np.random.default_rng(1).normal(size=(40, 30))
    chosen = rejoined(exercised)
    value, slopes = chosen.value_and_grad(100.0, 0.03, 100.0, shocks)
    assert len(chosen.traces) == 1
    for row in (0, 7, 39):
        leaves = [rg.Value(100.0), rg.Value(0.03), rg.Value(100.0)]
        result = exercised(*leaves, list(map(rg.Value, shocks[row])))
        result.backward()
        assert np.isclose(result.data, value[row], rtol=1e-12)
        assert np.allclose([leaf.grad for leaf in leaves], [each[row] for each in slopes[:3]])


def knocked_out(s: Any, v: Any, zs: Any) -> Any:
    alive, paid = True, 0.0
    for z in zs:
        s = s * rg.exp(v * z)
        if s > 1.6:
            alive = False
        if alive and s > 1.0:
            paid = paid + s
    return paid if alive else 0.5 * paid


@pytest.mark.slow
def test_two_branches_in_a_year_of_days_are_one_trace() -> None:
    draw = np.random.default_rng(3)
    chosen, plain = both(knocked_out, np.full(4, 1.0), 0.1, draw.normal(size=(4, 252)))
    assert len(chosen.traces) == 1 < len(plain.traces)


def test_more_conditions_than_are_worth_their_price_are_left_to_traces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(masks, "MOST_SETS", 200)
    draw = np.random.default_rng(3)
    chosen, plain = both(knocked_out, np.full(4, 1.0), 0.1, draw.normal(size=(4, 25)))
    assert len(chosen.traces) == len(plain.traces)


def test_the_warning_of_many_traces_says_why_they_are_no_choices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(masks, "MOST_SETS", 200)
    draw = np.random.default_rng(3)
    with pytest.warns(rg.errors.RecordingWarning, match="both sides: its conditions combine"):
        rejoined(knocked_out)(np.full(64, 1.0), 0.2, draw.normal(size=(64, 25)))


def test_a_stack_too_short_for_its_conditions_leaves_a_branch_to_traces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def out_of_stack(*_: Any) -> Any:
        raise RecursionError

    monkeypatch.setattr(masks.Masks, "both", out_of_stack)
    chosen, plain = both(branch, ROWS)
    assert len(chosen.traces) == len(plain.traces)


def test_a_parameter_that_only_decides_is_captured_as_by_a_guard() -> None:
    level = rg.Value(0.5, label="level")

    def f(x: Any) -> Any:
        unused = x
        if level > x:
            unused = x * 2.0
        return (x * 3.0, unused)[0]

    for compiled in (rejoined(f), traced(f)):
        level.grad = 7.0
        assert compiled.backward(np.array([0.0, 1.0])) == 3.0
        assert level.grad == 7.0


def test_jacobians_of_many_outputs_are_made_by_traces() -> None:
    def several(x: Any) -> Any:
        y = branch(x)
        return [y, y * x, rg.exp(y)]

    chosen, plain = rejoined(several), traced(several)
    chosen(ROWS)
    for one, other in zip(chosen.jacobian(ROWS), plain.jacobian(ROWS)):
        assert_same_bits(one, other)


def test_a_long_chain_of_choices_takes_few_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each picks the one before, and is used again: one pass alone would find one of them."""
    from retrograde.program import choosing

    passes = []
    run = choosing._ByRows.run
    monkeypatch.setattr(
        choosing._ByRows, "run", lambda self, *given: passes.append(1) or run(self, *given)
    )

    def chain(x: Any, steps: Any) -> Any:
        best, total = x, 0.0
        for step in steps:
            best = best if best > step else step
            total = total + best * step
        return total + best

    steps = np.random.default_rng(2).normal(size=(30, 60))
    both(chain, np.linspace(-1.0, 1.0, 30), steps)
    assert len(passes) < 30


def test_files_keep_choices(tmp_path: Any) -> None:
    compiled = rejoined(branch)
    expected, slope = compiled.value_and_grad(ROWS)
    compiled.save(tmp_path / "branch.rgp")
    found, loaded_slope = rg.load(tmp_path / "branch.rgp").value_and_grad(ROWS)
    assert_same_bits(found, expected)
    assert_same_bits(loaded_slope, slope)
    finite = ROWS[:6]
    curvature = rg.load(tmp_path / "branch.rgp").hessian(finite)
    assert np.allclose(curvature, compiled.hessian(finite), equal_nan=True)


def test_births_and_stories_are_those_of_the_row() -> None:
    compiled = rejoined(steep)
    compiled.grad(np.array([0.0, 4.0, -1.0]))
    assert compiled.births(np.array([0.0, 4.0, -1.0])).sick.tolist() == []
    assert "sqrt" not in str(compiled.story(np.array([0.0, 4.0]), row=0).forward)


def hold(seed: int) -> tuple[int, int]:
    """Hold a random function with choices to its traces and to eager values."""
    w1, w2 = rg.Value(0.8), rg.Value(-0.4)
    function = function_of(source_of(seed), rg=rg, w1=w1, w2=w2)
    draw = np.random.default_rng(seed)
    x, y = draw.normal(size=16) * 1.5, draw.normal(size=16)
    x[3], x[5], y[7], y[11], x[13], y[13] = np.nan, 0.0, 0.0, np.inf, 1.0, 1.0
    answers, traces = [], []
    for compiled in (rejoined(function), traced(function)):
        try:
            found = compiled.value_and_grad(x, y, 0.7)
            flat = [found[0], *found[1]]
            if compiled.traces[0].captured:
                rg.zero_grad([w1, w2])
                flat += [compiled.backward(x, y, 0.7), w1.grad, w2.grad]
            answers.append(flat)
        except (rg.errors.RetrogradeError, ArithmeticError) as error:
            answers.append([type(error).__name__])
        traces.append(len(compiled.traces))
    assert len(answers[0]) == len(answers[1]), (seed, answers)
    if len(answers[0]) == 1:
        assert answers[0] == answers[1], seed
        return traces[0], traces[1]
    for one, other in zip(*answers):
        assert_same_bits(one, other)
    for row in (0, 1, 2):
        leaves = [rg.Value(x[row]), rg.Value(y[row]), rg.Value(0.7)]
        result = function(*leaves)
        assert np.allclose(rg.data(result), answers[0][0][row], rtol=1e-9, equal_nan=True), seed
    return traces[0], traces[1]


def test_random_functions_have_the_bits_of_their_traces() -> None:
    found = np.array([hold(seed) for seed in range(30)])
    assert found[:, 0].sum() < found[:, 1].sum()


@pytest.mark.sweep
def test_many_random_functions_have_the_bits_of_their_traces() -> None:
    for seed in range(1_000, 101_000):
        hold(seed)
