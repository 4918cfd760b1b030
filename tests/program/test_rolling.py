"""What repeats in a program becomes loops, and written out it is the program that was recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograde.errors import ProgramError
from retrograde.program.checker import check, check_rolled
from retrograde.program.loops import Loop, Rolled, expand
from retrograde.program.numbering import roll
from retrograde.program.program import Instruction, Program
from retrograde.program.rolling import Roller

from .loop_programs import random_function, rows_for


def told(program: Program) -> list[Any]:
    """A program told by what its instructions read, not by ids."""
    names: dict[int, Any] = {}
    for index, given in program.inputs.items():
        known = given.kind == "constant"
        names[index] = ("number", given.number) if known else (given.kind, given.name)
    found: list[Any] = []
    for op, results, args, site, _ in program.instructions:
        found.append((op, len(results), [names[arg] for arg in args], site))
        for part, result in enumerate(results):
            names[result] = (len(found), part)
    found += [("guard", names[g.condition], g.outcome, g.site) for g in program.guards]
    return [*found, [names[output] for output in program.outputs]]


def is_loop(item: Any) -> bool:
    """Of either core's package."""
    return type(item).__name__ == "Loop"


def loops_in(items: Any) -> list[Loop]:
    found = [item for item in items if is_loop(item)]
    return found + [inner for loop in found for inner in loops_in(loop.body)]


def static_size(items: Any) -> int:
    return sum(static_size(i.body) if is_loop(i) else 1 for i in items)


def full_size(items: Any) -> int:
    return sum(i.trips * full_size(i.body) if is_loop(i) else 1 for i in items)


def recorded(compiled: Any) -> Rolled:
    return compiled._families()[0].traces[0].rolled


@pytest.mark.parametrize("seed", range(60))
def test_rolled_and_written_out_is_the_same_program(rg: Any, seed: int) -> None:
    function, _ = random_function(rg, seed)
    compiled = rg.compile(function)
    compiled(*rows_for(seed))
    for trace in compiled.traces:
        flat = trace.program
        check(flat, "test")
        again = check_rolled(roll(flat), "test")
        assert told(expand(again)) == told(flat)


@pytest.mark.sweep
@pytest.mark.parametrize("block", range(20))
def test_many_rolled_and_written_out_are_the_same_program(native: Any, block: int) -> None:
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        test_rolled_and_written_out_is_the_same_program(native, seed)


def asian(rg: Any) -> Any:
    def price(Z: Any, S0: Any, K: Any, r: Any, sigma: Any, T: Any) -> Any:
        dt = T / len(Z)
        drift, volatility = (r - 0.5 * sigma**2) * dt, sigma * rg.sqrt(dt)
        s, total = S0, 0.0
        for z in Z:
            s = s * rg.exp(drift + volatility * z)
            total = total + s
        return rg.exp(-r * T) * rg.maximum(total / len(Z) - K, 0.0)

    compiled = rg.compile(price)
    compiled(np.zeros((2, 252)), 100.0, 100.0, 0.03, 0.2, 1.0)
    return compiled


def test_a_time_loop_is_one_loop(rg: Any) -> None:
    rolled = recorded(asian(rg))
    (loop,) = loops_in(rolled.items)
    assert (loop.trips, len(loop.body), loop.period) == (251, 5, 5)  # the first round stands apart
    assert full_size(rolled.items) == 1274
    assert static_size(rolled.items) == 24


def test_loops_in_loops_are_found(rg: Any) -> None:
    def nested(Z: Any, a: Any) -> Any:
        x = a
        for i in range(20):
            for j in range(12):
                x = x * rg.exp(Z[i * 12 + j]) + a
            x = rg.log(1.0 + x * x)
        return x

    compiled = rg.compile(nested)
    compiled(np.zeros((1, 240)), 0.1)
    rolled = recorded(compiled)
    assert static_size(rolled.items) < 20
    assert any(is_loop(part) for loop in loops_in(rolled.items) for part in loop.body)


def test_numbers_that_differ_from_round_to_round_become_a_table(rg: Any) -> None:
    data = [0.1, 0.0, 0.1, -1.0, 1.0, 0.25] * 3

    def f(x: Any) -> Any:
        for number in data:
            x = x * number + 1.0
        return x

    compiled = rg.compile(f)
    result, slope = compiled.value_and_grad(2.0)
    expected = rg.Value(2.0)
    made = f(expected)
    made.backward()
    assert (result, slope) == (made.data, expected.grad)
    rolled = recorded(compiled)
    assert [loop.trips for loop in loops_in(rolled.items)] == [17]
    assert rolled.tables.tolist() == data[1:]


def test_a_table_with_the_number_one_changes_no_bit(
    native: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found at random: 1 was left out as a factor where it stood alone, and not in a table."""
    draw = np.random.default_rng(1)
    rows = draw.normal(size=40), draw.normal(size=(40, 8))

    def weighted(x: Any, zs: Any) -> Any:
        total, last = x, 0.0
        for i, z in enumerate(zs):
            last = z * i
            total = total + last * last * z
        for i, z in enumerate(zs):
            x = x + z * total * i
        return x * zs[1] + last

    def answers() -> list[Any]:
        compiled = native.compile(weighted)
        found = [compiled.grad(*rows), compiled.hessian(*rows)]
        assert recorded(compiled).has_loops is not written_out
        return arrays(found)

    def arrays(nest: Any) -> list[Any]:
        if not isinstance(nest, (list, tuple)):
            return [nest]
        return [each for part in nest for each in arrays(part)]

    written_out = False
    loops = answers()
    monkeypatch.setattr(Roller, "_round", lambda self: False)
    written_out = True
    for one, other in zip(loops, answers(), strict=True):
        assert np.array_equal(one, other)


def test_lines_of_one_helper_are_told_apart_by_where_they_stand(rg: Any) -> None:
    def slope(x: Any, y: Any) -> Any:
        return x * y - rg.sin(x)

    def f(x: Any) -> Any:
        for _ in range(30):
            first = slope(x, 0.5)
            second = slope(x + 0.5 * first, 0.7)
            x = x + 0.1 * (first + second)
        return x

    compiled = rg.compile(f)
    compiled(np.ones(2))
    rolled = recorded(compiled)
    assert static_size(rolled.items) <= 22
    assert full_size(rolled.items) == 330


def test_the_checker_refuses_loops_that_do_not_hold_together() -> None:
    from retrograde.program.program import Input

    def rolled(loop: Loop, count: int) -> Rolled:
        return Rolled(Program(inputs={0: Input("row", "x")}, count=count, outputs=[1]), [loop])

    body = (Instruction("neg", (1,), (0,)),)
    check_rolled(rolled(Loop(4, body, 1, (0,)), 5), "test")
    for loop, count, why in [
        (Loop(4, body, 2, (0,)), 5, "not made of its body"),
        (Loop(4, body, 1, (0, 0)), 5, "not made of its body"),
        (Loop(4, body, 1, (1,)), 5, "from inputs on to results"),
        (Loop(4, body, 1, (2,)), 5, "before it is defined"),
        (Loop(4, body, 1, (-1,)), 5, "before it is defined"),
        (Loop(4, body, 1, (0,)), 6, "has 5 numbers, not 6"),
        (Loop(4, (Instruction("neg", (2,), (0,)),), 1, (0,)), 5, "other numbers than come next"),
        (Loop(4, (Instruction("launch", (1,), (0,)),), 1, (0,)), 5, "unknown op"),
    ]:
        with pytest.raises(ProgramError, match=why):
            check_rolled(rolled(loop, count), "test")
