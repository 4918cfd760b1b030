"""Programs of long loops are derived and laid out without writing the loops out, with the same bits
and the same instructions as if they were."""

from __future__ import annotations

import tracemalloc
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from .loop_programs import random_function, rows_for
from .support import same
from .test_rolling import full_size, recorded, static_size, told

TRIPS = (120, 121, 150)


def room(rg: Any, name: str) -> Any:
    return import_module(f"{rg.__name__}.program.{name}")


@pytest.fixture
def checked(rg: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Every plan is checked; a function says from which length on loops stay loops."""
    monkeypatch.setenv("RETROGRADE_CHECK_PLANS", "1")
    traces = room(rg, "traces")
    return lambda least: monkeypatch.setattr(traces, "LONG_PROGRAM", least)


NEVER = 10**9


def results(compiled: Any, arguments: Any, leaves: Any) -> list[Any]:
    """Values and all kinds of derivatives."""
    found = [compiled(*arguments), *compiled.value_and_grad(*arguments, wrt=("a", "b"))]
    found += [*compiled.value_and_grad(*arguments, wrt="Z")]
    found += [*compiled.value_and_grad(*arguments, wrt=("b",), reduce="sum")]
    return found


def flat(found: Any) -> list[Any]:
    if isinstance(found, (list, tuple)):
        return [number for part in found for number in flat(part)]
    return [found]


def compare(rg: Any, checked: Any, seed: int, trips: Any = TRIPS) -> int:
    """How many plans of a random function kept their loops."""
    function, leaves = random_function(rg, seed, trips=trips, deepest=2)
    arguments = rows_for(seed, 3, width=160)
    checked(NEVER)
    plain = rg.compile(function)
    expected = results(plain, arguments, leaves)
    checked(0)
    long = rg.compile(function)
    got = results(long, arguments, leaves)
    for one, other in zip(flat(got), flat(expected), strict=True):
        assert same(one, other), f"seed {seed}"
    kept = 0
    for one, other in zip(long.traces, plain.traces):
        assert one.path == other.path
        for key, ready in one.plans.items():
            if ready.loops is not None:
                kept += 1
                if key in other.plans:
                    assert told(ready.written) == told(other.plans[key].program), f"seed {seed}"
    return kept


@pytest.mark.bank(every=4)
@pytest.mark.parametrize("seed", [3, 4, 9, 11, 18, 21, 22, 25, 27, 35, 37, 38, 39])
def test_random_programs_have_the_same_bits_and_instructions(
    rg: Any, checked: Any, seed: int
) -> None:
    assert compare(rg, checked, seed) > 0 or seed == 4


@pytest.mark.sweep
@pytest.mark.parametrize("block", range(40))
def test_many_random_programs(rg: Any, checked: Any, block: int) -> None:
    for seed in range(1000 + 50 * block, 1050 + 50 * block):
        compare(rg, checked, seed)


def asian(rg: Any) -> Any:
    def price(Z: Any, S0: Any, K: Any, r: Any, sigma: Any, T: Any) -> Any:
        dt = T / len(Z)
        drift, volatility = (r - 0.5 * sigma**2) * dt, sigma * rg.sqrt(dt)
        s, total = S0, 0.0
        for z in Z:
            s = s * rg.exp(drift + volatility * z)
            total = total + s
        return rg.exp(-r * T) * rg.maximum(total / len(Z) - K, 0.0)

    return rg.compile(price)


def test_the_gradient_of_a_time_loop_is_a_few_instructions(rg: Any, checked: Any) -> None:
    checked(0)
    compiled = asian(rg)
    rows = np.random.default_rng(0).normal(size=(4, 252))
    compiled.value_and_grad(rows, 100.0, 100.0, 0.03, 0.2, 1.0, wrt=("S0", "K", "r", "sigma", "T"))
    (ready,) = [each for each in compiled.traces[0].plans.values() if each.loops]
    assert full_size(ready.loops.items) > 2500
    assert static_size(ready.loops.items) < 70
    assert "loops written out 2,5" in compiled.explain()


def test_second_derivatives_of_a_loop(rg: Any, checked: Any) -> None:
    def f(a: Any, b: Any) -> Any:
        x = a
        for _ in range(80):
            x = rg.sin(x) * b + 0.1 * a
        return x * b

    arguments = (np.array([0.3, 0.7]), 0.9)
    checked(NEVER)
    expected = rg.compile(f).hessian(*arguments)
    checked(0)
    compiled = rg.compile(f)
    assert all(same(x, y) for x, y in zip(flat(compiled.hessian(*arguments)), flat(expected)))
    assert all(each.loops for each in compiled.traces[0].plans.values())


def test_captured_leaves_along_a_loop_take_their_gradients(rg: Any, checked: Any) -> None:
    weights = [rg.Value(0.1 * k, label=f"w{k}") for k in range(100)]

    def f(x: Any) -> Any:
        for weight in weights:
            x = rg.tanh(x + weight)
        return x

    found = []
    for least in (NEVER, 0):
        checked(least)
        for weight in weights:
            weight.grad = 0.0
        compiled = rg.compile(f)
        compiled.backward(np.array([0.5, -0.2]))
        found.append([weight.grad for weight in weights])
    assert found[0] == found[1]
    assert any(each.loops for each in compiled.traces[0].plans.values())


def test_sums_over_rounds_are_stretched_too(rg: Any, checked: Any) -> None:
    def f(a: Any) -> Any:
        x, kept = a, []
        for _ in range(90):
            x = rg.sin(x) + 0.5
            kept.append(x * a)
        return rg.sum(kept) + rg.mean(kept)

    found = []
    for least in (NEVER, 0):
        checked(least)
        compiled = rg.compile(f)
        found.append(compiled.value_and_grad(np.array([0.5, -0.2])))
    assert same(found[0][0], found[1][0])
    assert same(found[0][1], found[1][1])
    assert compiled.traces[0].plans[next(iter(compiled.traces[0].plans))].loops


def test_early_exits_of_a_long_loop(rg: Any, checked: Any) -> None:
    def f(Z: Any, level: Any) -> Any:
        s = level * 0.5
        for z in Z:
            s = s + z * 0.1
            if s > level:
                return s * 2.0
        return s

    rows = np.random.default_rng(1).normal(size=(20, 100))
    found = []
    for least in (NEVER, 0):
        checked(least)
        found.append(rg.compile(f).value_and_grad(rows, 1.0, wrt="level"))
    assert all(same(x, y) for x, y in zip(*found))
    expected = [f([float(z) for z in row], 1.0) for row in rows]
    assert same(found[0][0], expected)


# ---- what looks regular in the first rounds and is not -------------------------------------------


def made_inside(rg: Any) -> Any:
    """Values made in each round: at first all 1, later not."""
    data = [1.0] * 60 + [2.0, 0.5] * 20

    def f(Z: Any, a: Any) -> Any:
        for number in data:
            a = a * rg.Value(number) + rg.sin(a)
        return a

    return f


def read_in_part(rg: Any) -> Any:
    """A second loop that reads some of what the first one made."""

    def f(Z: Any, a: Any) -> Any:
        kept = []
        for _ in range(150):
            a = rg.sin(a) + 0.1
            kept.append(a)
        total = 0.0
        for each in kept[:80]:
            total = total + each * each
        return total

    return f


def every_other(rg: Any) -> Any:
    def f(Z: Any, a: Any) -> Any:
        kept = []
        for _ in range(160):
            a = rg.sin(a) + 0.1
            kept.append(a)
        total = 0.0
        for each in kept[::2]:
            total = total + each * each
        return total

    return f


def summed_in_part(rg: Any) -> Any:
    def f(Z: Any, a: Any) -> Any:
        kept = []
        for _ in range(150):
            a = rg.sin(a) + 0.1
            kept.append(a)
        return rg.sum(kept[:90]) + a

    return f


def backwards(rg: Any) -> Any:
    def f(Z: Any, a: Any) -> Any:
        kept = []
        for z in Z:
            a = rg.sin(a) + z
            kept.append(a)
        total = 0.0
        for each, z in zip(kept[::-1], Z):
            total = total * 0.5 + each * z
        return total

    return f


def read_twice(rg: Any) -> Any:
    """One column in the middle is also read outside the loop."""

    def f(Z: Any, a: Any) -> Any:
        for z in Z:
            a = rg.sin(a) + z
        return a * Z[50] + Z[0] + Z[-1]

    return f


def wave(rg: Any) -> Any:
    """What depends on the argument moves along by one place a round."""

    def f(Z: Any, a: Any) -> Any:
        state = [rg.sin(Z[0] * k) for k in range(40)]
        state[-1] = a
        for _ in range(100):
            state = [rg.sin(x) * 0.9 for x in state[1:]] + [state[0] * 1.01]
        return rg.sum(state)

    return f


def blocks(rg: Any) -> Any:
    """A loop in the loop reads several columns a round."""

    def f(Z: Any, a: Any) -> Any:
        for k in range(70):
            for j in range(3):
                a = rg.sin(a) + Z[3 * k + j]
        return a

    return f


def delayed(rg: Any) -> Any:
    """Reads what was made thirty rounds ago."""

    def f(Z: Any, a: Any) -> Any:
        line = [a * 0.01 * k for k in range(30)]
        for z in Z:
            line.append(rg.sin(line[-30]) + z * line[-1])
        return line[-1]

    return f


def trajectory(rg: Any) -> Any:
    """Returns what every round made."""

    def f(Z: Any, a: Any) -> Any:
        kept = []
        for z in Z:
            a = rg.sin(a) + z
            kept.append(a)
        return kept[-1] * kept[100] + kept[7]

    return f


IRREGULAR = [
    made_inside, read_in_part, every_other, summed_in_part, backwards, read_twice, wave, blocks,
    delayed, trajectory,
]  # fmt: skip


@pytest.mark.bank(every=4)
@pytest.mark.parametrize("make", IRREGULAR)
def test_what_is_regular_at_first_only_has_the_same_bits(rg: Any, checked: Any, make: Any) -> None:
    function = make(rg)
    rows = np.random.default_rng(3).normal(size=(3, 210)) * 0.1
    found = []
    for least in (NEVER, 0):
        checked(least)
        compiled = rg.compile(function)
        every = [compiled(rows, 0.3), *compiled.value_and_grad(rows, 0.3, wrt="a")]
        found.append([*every, *compiled.value_and_grad(rows, 0.3, wrt=("Z", "a"))])
    for one, other in zip(flat(found[1]), flat(found[0]), strict=True):
        assert same(one, other)


def test_a_long_program_is_laid_out_in_little_memory(native: Any) -> None:
    """It took 193 bytes an instruction when all numbers had eight; now 103."""
    steps = 40_000

    def grown(a: Any, b: Any) -> Any:
        for _ in range(steps):
            a = native.sin(a) * b + 0.5
        return a

    compiled = native.compile(grown)
    compiled(0.3, 0.7)
    rolled = recorded(compiled)
    tracemalloc.start()
    try:
        room(native, "long_layout").laid_out_long(rolled, [("store", rolled.frame.outputs[0])])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 130 * 3 * steps
