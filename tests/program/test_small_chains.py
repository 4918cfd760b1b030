"""Where a chain stands, whose line it is, and how long its operands may wait: at the very edge.

Four links in a row: the sum would wait for 3 places, so that is how long their operands may wait,
all in all. One of the first link waits 3, of the second 2, of the third 1, of the last none; what
is needed after the chain anyway waits for nothing.
"""

from __future__ import annotations

import pytest

from retrograde._shared.sites import Site
from retrograde.program.chains import gathered
from retrograde.program.program import ROW, Input, Instruction, Program

START = 8


def links(*dying: int, before: int = 0, again: bool = False) -> Program:
    """x0·x1 + x2·x3 + x4·x5 + x6·x7 after some other instructions. Those named are used for the
    last time there; ``again``: it starts from %8, which is also the first factor of link two."""
    inputs = {index: Input(ROW, f"x{index}") for index in range(9)}
    steps = [Instruction("neg", (100 + place,), (START,), 0) for place in range(before)]
    factors = [[0, 1], [2, 3], [4, 5], [6, 7]]
    if again:
        factors[1][0] = START
    total = START if again else None
    for link, pair in enumerate(factors):
        args = (*pair,) if total is None else (*pair, total)
        total = 10 + link
        steps.append(Instruction("mul" if len(args) == 2 else "fma", (total,), args, 1 + link))
    kept = tuple(index for index in inputs if index not in dying)
    steps.append(Instruction("sum", (20,), kept, 5))
    sites = [Site("f.py", line, "f") for line in range(9)]
    return Program(inputs, steps, [], [13, 20], sites, 200)


def chain_of(program: Program) -> Instruction | None:
    found = [step for step in gathered(program, program.outputs) if step.op == "chain"]
    return found[0] if found else None


def test_a_chain_stands_where_its_last_link_stood_and_is_of_its_line() -> None:
    program = links(before=2)
    chain = Instruction("chain", (13,), (0, 2, 4, 6, 1, 3, 5, 7), 4)
    steps = program.instructions
    assert gathered(program, program.outputs) == [*steps[:2], chain, steps[-1]]
    started = chain_of(links(again=True))
    assert started == Instruction("chain", (13,), (0, START, 4, 6, 1, 3, 5, 7, START), 4)


@pytest.mark.parametrize("before", [0, 7])
@pytest.mark.parametrize(
    ("dying", "one"),
    [
        ((), True),
        ((0,), True),  # 3
        ((2, 4), True),  # 2 + 1
        ((6, 7, 0), True),  # the last link's own wait for nothing
        ((0, 4), False),  # 3 + 1
        ((2, 3), False),  # 2 + 2
        ((2, 4, 5), False),  # 2 + 1 + 1
    ],
)
def test_operands_wait_as_long_as_the_sum_would_and_no_longer(
    dying: tuple[int, ...], one: bool, before: int
) -> None:
    assert (chain_of(links(*dying, before=before)) is not None) == one


def test_what_a_chain_starts_from_is_shared_by_those_links_only_that_it_is_a_factor_of() -> None:
    assert chain_of(links(START, again=True)) is not None  # 2
    assert chain_of(links(START, 3, again=True)) is None  # 2 + 2
