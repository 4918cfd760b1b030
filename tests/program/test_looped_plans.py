"""Plans whose loops are loops: the same bits as plans written out, in memory of their own size."""

from __future__ import annotations

import tracemalloc
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from .loop_programs import random_function, rows_for
from .support import same
from .test_rolling import recorded, told


def room(rg: Any, name: str) -> Any:
    return import_module(f"{rg.__name__}.program.{name}")


@pytest.fixture
def checked(rg: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Every plan is checked; all loops stay loops."""
    monkeypatch.setenv("RETROGRADE_CHECK_PLANS", "1")
    monkeypatch.setattr(room(rg, "traces"), "LONG_PROGRAM", 0)


def names(rg: Any, steps: Any) -> list[str]:
    known = {code: name for name, code in room(rg, "plan").STEPS.items()}
    return [known[code] for code in steps[::6]]


def flat(found: Any) -> list[Any]:
    if isinstance(found, (list, tuple)):
        return [number for part in found for number in flat(part)]
    return [found]


def swing(rg: Any, rounds: int) -> Any:
    def f(a: Any, b: Any) -> Any:
        for _ in range(rounds):
            a = rg.sin(a) * b + 0.5
        return a

    return f


def test_a_plan_is_as_long_as_its_program_with_loops(rg: Any, checked: None) -> None:
    lengths = []
    for rounds in (200, 900):
        compiled = rg.compile(swing(rg, rounds))
        compiled.value_and_grad(0.3, 0.7, wrt=("a", "b"))
        (ready,) = compiled.traces[0].plans.values()
        lengths.append([len(ready.plan.uniform_steps), len(ready.plan.uniforms)])
        done = room(rg, "plan").done_steps(ready.plan.uniform_steps)
        assert done > 7 * rounds
        assert f"({done:,} in all rounds) once a run" in compiled.explain()
    assert lengths[0] == lengths[1]
    assert lengths[0][0] < 50 * 6


@pytest.mark.parametrize("rows", [1, 3, 9, 70, 1100])
def test_rows_of_any_number_have_the_bits_of_a_plan_written_out(
    rg: Any, checked: None, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def f(Z: Any, a: Any) -> Any:
        total, kept = a, []
        for z in Z:
            a = a * rg.exp(0.1 * z) + rg.sin(total)
            total = total + a
            kept.append(rg.tanh(a))
        for z, each in zip(Z[::-1], kept[::-1]):
            total = total * 0.5 + each * z
        return total

    numbers = np.random.default_rng(rows).normal(size=(rows, 83))
    found = []
    for least in (0, 10**9):
        monkeypatch.setattr(room(rg, "traces"), "LONG_PROGRAM", least)
        compiled = rg.compile(f)
        found.append(
            flat(
                [
                    compiled(numbers, 0.3),
                    compiled.value_and_grad(numbers, 0.3, wrt=("Z", "a")),
                    compiled.value_and_grad(numbers.T.copy().T, 0.3, wrt="a", reduce="sum"),
                ]
            )
        )
    assert all(same(x, y) for x, y in zip(*found, strict=True))


def test_adjacent_columns_are_loaded_together(rg: Any, checked: None) -> None:
    def f(Z: Any, a: Any) -> Any:
        for z in Z:
            a = rg.sin(a) + z
        return a

    compiled = rg.compile(f)
    compiled(np.ones((3, 100)), 0.3)
    (ready,) = compiled.traces[0].plans.values()
    found = names(rg, ready.plan.steps)
    assert found.count("eight") == 1
    assert found.count("fetch") == 8
    assert found.count("again") == 2


def test_rounds_are_counted_by_eights_in_the_same_program(rg: Any, checked: None) -> None:
    """Also in the loops of loops."""
    eights, loops = room(rg, "eights"), room(rg, "loops")
    changed = 0
    for seed in range(12):
        function, _ = random_function(rg, seed, trips=(120, 150), deepest=2)
        compiled = rg.compile(function)
        compiled(*rows_for(seed, 2, width=160))
        rolled = compiled.traces[0].rolled
        grouped = eights.by_eights(rolled)
        changed += len(grouped.items) != len(rolled.items)
        assert told(loops.expand(grouped)) == told(loops.expand(rolled))
    assert changed


def test_a_row_that_leaves_a_loop_early_does_not_change_the_next_tile(
    rg: Any, checked: None
) -> None:
    """A tile all of whose rows have left stops in the middle of the loop."""

    def f(Z: Any, level: Any) -> Any:
        s = level * 0.5
        for z in Z:
            s = s + z
            if s > level:
                return s * 2.0
        return s

    rows = np.full((200, 100), 0.001)
    rows[:70, 3] = 10.0
    compiled = rg.compile(f)
    found = compiled(rows, 1.0)
    assert same(found, [f([float(z) for z in row], 1.0) for row in rows])
    assert same(compiled(rows, 1.0), found)


def test_rows_read_what_every_round_computed_once(rg: Any, checked: None) -> None:
    """What is the same for all rows is computed in all rounds before any row reads it."""

    def f(x: Any, a: Any) -> Any:
        for _ in range(90):
            a = rg.tanh(a) * 1.1
            x = x * a + 0.1
        return x

    rows = np.linspace(-1.0, 1.0, 9)
    found = rg.compile(f)(rows, 0.7)
    assert np.allclose(found, [float(f(float(x), 0.7)) for x in rows], rtol=1e-12)


def test_a_long_program_is_laid_out_in_memory_of_its_text(native: Any) -> None:
    """Written out it takes 103 bytes an instruction, here 12 MB."""
    compiled = native.compile(swing(native, 40_000))
    compiled(0.3, 0.7)
    rolled = recorded(compiled)
    tracemalloc.start()
    try:
        room(native, "looped_layout").laid_out_looped(rolled, [("store", rolled.frame.outputs[0])])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200_000
