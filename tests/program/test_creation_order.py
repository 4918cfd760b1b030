"""Programs list their instructions in the order in which the function made them."""

from __future__ import annotations

from typing import Any

import numpy as np


def instructions_of(compiled: Any) -> list[str]:
    return [each.op for each in compiled._families()[0].traces[0].program.instructions]


def test_instructions_stand_as_they_were_made(rg: Any) -> None:
    def f(x: Any) -> Any:
        a = rg.exp(x)
        b = rg.sin(x)
        c = rg.tanh(x)
        return c * (b - a)  # a walk from the result would meet tanh, sin, exp

    compiled = rg.compile(f)
    compiled(1.0)
    assert instructions_of(compiled) == ["exp", "sin", "tanh", "sub", "mul"]


def test_what_no_result_needs_is_left_out(rg: Any) -> None:
    def f(x: Any) -> Any:
        rg.cos(x)
        a = rg.exp(x)
        rg.sin(a)
        return a + 1.0

    compiled = rg.compile(f)
    compiled(1.0)
    assert instructions_of(compiled) == ["exp", "add"]


def test_every_kind_of_node_is_in_the_log(rg: Any) -> None:
    @rg.custom_op
    def squared(x: Any) -> Any:
        return x * x

    @squared.partials
    def _(x: Any, z: Any) -> Any:
        return (2.0 * x,)

    def f(x: Any, y: Any) -> Any:
        late = rg.sum([x, y, x])
        early = x.detach()
        with rg.no_grad():
            cut = rg.exp(y)
        chosen = rg.where(x < y, cut, early)
        return squared(rg.dot([x, y], [late, chosen])) + late

    compiled = rg.compile(f)
    compiled(np.array([0.5, 2.0]), 1.0)
    ops = instructions_of(compiled)
    assert ops[:5] == ["sum", "stop", "exp", "stop", "less"]
    assert ops.index("where") < ops.index("dot") < len(ops) - 1


def test_a_graph_made_in_another_thread_is_still_ordered(rg: Any) -> None:
    from threading import Thread

    weights = [rg.Value(0.5), rg.Value(2.0)]

    def f(x: Any) -> Any:
        made: list[Any] = []
        thread = Thread(target=lambda: made.append(weights[0] * weights[1]))
        thread.start()
        thread.join()
        return x * made[0] + weights[0]

    compiled = rg.compile(f)
    assert compiled(3.0) == 3.5


def test_the_order_of_a_loop_is_that_of_its_rounds(rg: Any) -> None:
    def f(rows: Any, a: Any) -> Any:
        x, total = a, 0.0
        for z in rows:
            x = x * rg.exp(z)
            total = total + x
        return total

    compiled = rg.compile(f)
    compiled(np.zeros((1, 4)), 1.0)
    assert instructions_of(compiled) == ["exp", "mul", "add"] * 4
