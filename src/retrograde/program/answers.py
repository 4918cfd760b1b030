"""Outputs and guards of a program with loops: those of all rounds of one instruction by one rule.

An output or guard has a number. Where the numbers of what an instruction makes are a linear
function of its rounds, one rule tells them all.
"""

from __future__ import annotations

from dataclasses import dataclass

from .nodes import Around, Moves, Node


@dataclass(frozen=True)
class Answer:
    """A guard, or an output: its number, and how a guard must come out."""

    number: int
    holds: bool = True


@dataclass(eq=False)
class Wanted:
    """What becomes of the results of a node: in all rounds by one rule, or by a table."""

    result: int
    base: int = 0
    moves: Moves = ()
    holds: bool = True
    table: str = ""


def by_rule(node: Node, result: int, found: dict[tuple[int, ...], Answer]) -> Wanted | None:
    """Answers as a linear function of the rounds; None where they are none."""
    if len(found) != node.rounds:
        return None
    zero = (0,) * len(node.nest)
    base = found[zero]
    moves: list[tuple[Around, int]] = []
    for level, loop in enumerate(node.nest):
        one = (*zero[:level], 1, *zero[level + 1 :])
        if loop.trips > 1 and found[one].number != base.number:
            moves.append((loop, found[one].number - base.number))
    steps = dict(moves)
    for rounds, answer in found.items():
        number = base.number + sum(
            trip * steps.get(loop, 0) for trip, loop in zip(rounds, node.nest)
        )
        if number != answer.number or answer.holds != base.holds:
            return None
    return Wanted(result, base.number, tuple(moves), base.holds)
