"""Programs and plans as text: listings, summaries, explain()."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from retrograde.program.layout import laid_out
from retrograde.program.loops import Rolled
from retrograde.program.program import Program
from retrograde.program.text import listing, plan_text, summary

from ..contract.support import line_of
from .test_checker import sound

X = np.array([1.0, 2.0, 3.0])


def test_a_listing_has_a_line_for_everything() -> None:
    assert listing(Rolled.of(sound())) == (
        "  %0 = row x\n"
        "  %1 = uniform y\n"
        "  %4 = constant 2.0\n"
        "  %2 = mul %0 %1    # line 3\n"
        "  %3 = less %0 %1    # line 3\n"
        "  %5 = add %2 %4\n"
        "  %6 = take %0 %2 %3\n"
        "  %7, %8 = scatter %3 %6\n"
        "  %9 = dot %0 %1 %7 %8\n"
        "  guard %3 holds    # here.py:3, in f\n"
        "  return %5 %9"
    )


def test_a_guard_that_does_not_hold_says_so() -> None:
    program = sound()
    program.guards = [program.guards[0]._replace(outcome=False, site=-1)]
    assert "\n  guard %3 does not hold\n" in listing(Rolled.of(program))


def test_a_long_listing_loses_its_middle() -> None:
    assert listing(Rolled.of(sound()), 11) == listing(Rolled.of(sound()))
    assert listing(Rolled.of(sound()), 4) == (
        "  %0 = row x\n  %1 = uniform y\n  … 7 more lines …\n"
        "  guard %3 holds    # here.py:3, in f\n  return %5 %9"
    )


def test_a_summary_counts() -> None:
    assert summary(Rolled.of(sound())) == (
        "6 instructions, 1 guards, 2 outputs; inputs: 1 constant, 1 row, 1 uniform"
    )
    assert summary(Rolled(Program())) == "0 instructions, 0 guards, 0 outputs; inputs: none"


def test_a_plan_counts_steps_slots_and_bytes() -> None:
    program = sound()
    plan = laid_out(program, [("store", 5), ("reduce", 9)])
    text = plan_text(plan)
    assert (
        f"{plan.slots} slots of {plan.block} lanes: {plan.slots * plan.block * 8:,} bytes" in text
    )
    assert "1 columns loaded, 1 stored, 1 reduced, 1 guards" in text
    assert plan.bytes == plan.slots * plan.block * 8


def test_explain_shows_each_trace_before_and_after_the_passes(rg: Any) -> None:
    w = rg.Value(3.0, label="w")

    @rg.compile
    def loss(x: Any, y: Any) -> Any:
        if x > 0:  # condition
            x = x * w  # product
        return (x - y) ** 2

    assert loss.explain() == "loss: 0 trace(s)"
    loss(X, 2.0)
    loss.value_and_grad(X, 2.0)
    loss.value_and_grad(X, 2.0, reduce="sum")
    loss.jacobian(X, 2.0)
    loss.backward(X, 2.0)
    text = loss.explain()
    condition, product = line_of(__file__, "condition"), line_of(__file__, "product")
    assert text.startswith("loss: 1 trace(s)\n  trace 0: ")
    assert f"mul %0 %{_id(text, 'captured w')}    # line {product}" in text
    assert re.search(rf"guard %\d+ holds    # {re.escape(__file__)}:{condition}, in loss", text)
    assert "%0 = row x" in text
    assert "%1 = uniform y" in text
    headings = re.findall(r"^(\w+), after the passes: (\d+) instructions", text, re.MULTILINE)
    assert [name for name, _ in headings] == [
        "value",
        "gradient",
        "gradient",
        "jacobian",
        "backward",
    ]
    assert int(headings[0][1]) < int(headings[1][1])
    assert text.count(" bytes a thread\n") == 5
    loss(2.0, 2.0)
    assert loss.explain().startswith("loss: 2 trace(s)\n")
    assert "\ntrace 1, as recorded: " in loss.explain()


def _id(text: str, what: str) -> str:
    found = re.search(rf"%(\d+) = {what}", text)
    assert found is not None
    return found[1]


def test_explain_cuts_long_programs(rg: Any) -> None:
    @rg.compile
    def long(x: Any) -> Any:
        for k in range(200):  # no two rounds alike: nothing becomes a loop
            x = sum([x * 1.01] * (k % 7 + 1)) + (0.1 if k % 3 else x) + sum([x] * (k % 5))
        return x

    long(X)
    assert "more lines …" in long.explain()
    assert len(long.explain().splitlines()) < 80


def test_explain_shows_a_loop_once(rg: Any) -> None:
    @rg.compile
    def long(x: Any) -> Any:
        for _ in range(1000):
            x = x * 1.01 + 0.1
        return x

    long(X)
    text = long.explain()
    assert "4 instructions, loops written out 2,000" in text
    assert "  ×999, 2 ids a round:\n    %5 = mul %4+2 %1    # line " in text
    assert len(text.splitlines()) < 20
