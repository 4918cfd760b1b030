"""Long loops computed again in stretches: the same bits in memory of the root of their length."""

from __future__ import annotations

import copy
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from .loop_programs import random_function, rows_for
from .support import same
from .test_long_loops import IRREGULAR, flat, results


def room(rg: Any, name: str) -> Any:
    return import_module(f"{rg.__name__}.program.{name}")


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every plan is checked to compute the program without checkpoints."""
    monkeypatch.setenv("RETROGRADE_CHECK_PLANS", "1")


def growth(rg: Any, rounds: int) -> Any:
    """A likelihood: what is carried on, data in every round, a sum over all rounds."""
    data = [float(x) for x in np.random.default_rng(0).normal(size=rounds) * 0.01]

    def f(w: Any, a: Any, b: Any) -> Any:
        h, total = w / (1.0 - a - b), 0.0
        for r in data:
            h = w + a * (r * r) + b * h
            total = total + rg.log(h) + r * r / h
        return total

    return f


START = (1e-5, 0.1, 0.8)


def cut_in(compiled: Any) -> int:
    """How many loops of all plans are computed again."""
    return str(compiled.explain()).count("1 loop(s) computed again")


def kept(compiled: Any) -> int:
    """The numbers that a gradient's plan keeps, but for those it is given."""
    (ready,) = [each for key, each in compiled.traces[0].plans.items() if key[0].kind != "value"]
    return int(ready.plan.slots + ready.plan.places - len(ready.plan.uniforms))


def test_a_gradient_has_the_same_bits(rg: Any, checked: None) -> None:
    f = growth(rg, 1500)
    plain, cut = rg.compile(f), rg.compile(f, checkpoint=True)
    assert cut.value_and_grad(*START) == plain.value_and_grad(*START)
    assert cut_in(cut) == 1
    assert cut_in(plain) == 0
    rows = [np.full(9, number) * np.linspace(0.9, 1.0, 9) for number in START]
    asked = {"wrt": ("w", "a", "b")}
    found = flat([cut.value_and_grad(*rows, **asked), cut.value_and_grad(*rows, reduce="sum")])
    expected = flat(
        [plain.value_and_grad(*rows, **asked), plain.value_and_grad(*rows, reduce="sum")]
    )
    assert all(same(x, y) for x, y in zip(found, expected, strict=True))


def test_as_much_is_kept_as_the_root_of_the_rounds(native: Any) -> None:
    for rounds in (4_000, 16_000):
        compiled = native.compile(growth(native, rounds), checkpoint=True)
        compiled.value_and_grad(*START)
        assert kept(compiled) < 8 * rounds**0.5


@pytest.mark.bank(every=4)
@pytest.mark.parametrize("seed", range(8))
def test_random_programs_have_the_same_bits(native: Any, checked: None, seed: int) -> None:
    function, leaves = random_function(native, seed, trips=(300, 420), deepest=2)
    arguments = rows_for(seed, 3, width=420)
    found = [results(native.compile(function, **how), arguments, leaves) for how in ({}, CUT)]
    for one, other in zip(flat(found[0]), flat(found[1]), strict=True):
        assert same(one, other), f"seed {seed}"


CUT = {"checkpoint": True}


@pytest.mark.sweep
@pytest.mark.parametrize("block", range(20))
def test_many_random_programs(native: Any, checked: None, block: int) -> None:
    for seed in range(100 + 20 * block, 120 + 20 * block):
        test_random_programs_have_the_same_bits(native, None, seed)


@pytest.mark.bank(every=4)
@pytest.mark.parametrize("make", IRREGULAR)
def test_what_is_read_in_other_ways_has_the_same_bits(
    native: Any, checked: None, make: Any
) -> None:
    function = make(native)
    rows = np.random.default_rng(3).normal(size=(3, 300)) * 0.1
    found = []
    for how in ({}, CUT):
        compiled = native.compile(function, **how)
        every = [compiled(rows, 0.3), *compiled.value_and_grad(rows, 0.3, wrt="a")]
        found.append([*every, *compiled.value_and_grad(rows, 0.3, wrt=("Z", "a"))])
    for one, other in zip(flat(found[1]), flat(found[0]), strict=True):
        assert same(one, other)


def second(rg: Any) -> Any:
    """A loop that reads what is two and three rounds back, and carries on three numbers."""

    def f(x: Any, y: Any) -> Any:
        line, speed = [x, y, x * y], 0.1 * x
        for _ in range(500):
            speed = speed * 0.9 - rg.sin(line[-3]) * 0.01
            line.append(line[-1] + speed * line[-2])
        return line[-1] * line[-2] + speed

    return f


def test_what_is_several_rounds_back_is_kept_too(rg: Any, checked: None) -> None:
    plain, cut = (rg.compile(second(rg), **how) for how in ({}, CUT))
    asked = {"wrt": ("x", "y")}
    assert cut.value_and_grad(0.3, 0.8, **asked) == plain.value_and_grad(0.3, 0.8, **asked)
    assert cut_in(cut) == 1


def test_gradients_of_every_round_are_stored_as_they_come(rg: Any, checked: None) -> None:
    def f(Z: Any, a: Any) -> Any:
        for z in Z:
            a = rg.sin(a) + z * a
        return a

    rows = np.random.default_rng(5).normal(size=(70, 700)) * 0.1
    plain, cut = rg.compile(f), rg.compile(f, checkpoint=True)
    found = [each.value_and_grad(rows, 0.3, wrt=("Z", "a")) for each in (plain, cut)]
    assert all(same(x, y) for x, y in zip(flat(found[0]), flat(found[1]), strict=True))
    assert cut_in(cut) == 1


def test_two_loops_one_after_another_are_both_cut(rg: Any, checked: None) -> None:
    def f(a: Any, b: Any) -> Any:
        for _ in range(400):
            a = rg.sin(a) * b + 0.5
        for _ in range(300):
            a = rg.tanh(a + b) * 0.9
        return a

    plain, cut = rg.compile(f), rg.compile(f, checkpoint=True)
    asked = {"wrt": ("a", "b")}
    assert cut.value_and_grad(0.3, 0.7, **asked) == plain.value_and_grad(0.3, 0.7, **asked)
    assert "2 loop(s) computed again" in cut.explain()


def test_short_loops_and_plain_functions_are_left_alone(rg: Any, checked: None) -> None:
    compiled = rg.compile(growth(rg, 40), checkpoint=True)
    assert compiled.value_and_grad(*START) == rg.compile(growth(rg, 40)).value_and_grad(*START)
    assert "computed again" not in compiled.explain()
    squared = rg.compile(lambda x: x * x, checkpoint=True)
    assert squared.grad(3.0) == 6.0


def test_what_cannot_be_cut_is_said(rg: Any, checked: None) -> None:
    """A loop whose rounds are read both ways is kept whole."""

    def f(a: Any) -> Any:
        line = []
        for _ in range(400):
            a = rg.sin(a) + 0.1
            line.append(a)
        total = 0.0
        for each in line:
            total = total + each * each * total
        return total

    compiled = rg.compile(f, checkpoint=True)
    assert compiled.value_and_grad(0.3) == rg.compile(f).value_and_grad(0.3)
    assert "0 loop(s) computed again in stretches" in compiled.explain()


def test_copies_methods_and_statics_keep_the_setting(rg: Any, checked: None) -> None:
    compiled = copy.copy(rg.compile(growth(rg, 300), checkpoint=True))
    compiled.value_and_grad(*START)
    assert cut_in(compiled) == 1

    @rg.compile(static="rounds", checkpoint=True)
    def f(a: Any, b: Any, rounds: int) -> Any:
        for _ in range(rounds):
            a = rg.sin(a) * b + 0.5
        return a

    f.grad(0.3, 0.7, 300, wrt=("a", "b"))
    assert cut_in(f) == 1
