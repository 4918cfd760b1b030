"""Wrong adjoint rules are caught: every way of bending the rule, on every row, or it is named here
as one that changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from retrograde.ops import OPS
from retrograde.ops.array import ARRAYS
from retrograde.ops.arrays.adjoint import Adjoint, adjoint
from retrograde.ops.arrays.row import Composed
from retrograde.ops.expr import Call, Num
from retrograde.ops.index import Ref, Statement, Term, map_refs

from . import array_tape as tensors
from .array_cases import ALL, Case, Mismatch, do, hold_to_torch
from .array_tape import Tensor, Tensors, order

Bend = Callable[[Term, Adjoint], "Term | None"]


def scaled(term: Term, back: Adjoint) -> Term | None:
    return replace(term, body=Call("mul", (Num(1.001), term.body)))


def flipped(term: Term, back: Adjoint) -> Term | None:
    return replace(term, body=Call("neg", (term.body,)))


def places_swapped(term: Term, back: Adjoint) -> Term | None:
    at = term.to.at
    return replace(term, to=Ref(term.to.array, at[::-1])) if at[::-1] != at else None


def upstream_swapped(term: Term, back: Adjoint) -> Term | None:
    def turned(ref: Ref) -> Ref:
        return Ref(ref.array, ref.at[::-1]) if ref.array == back.upstream else ref

    new = map_refs(term.body, turned)
    return replace(term, body=new) if new != term.body else None


def factor_forgotten(term: Term, back: Adjoint) -> Term | None:
    body = term.body
    if isinstance(body, Call) and body.name == "mul" and isinstance(body.args[0], Ref):
        return replace(term, body=body.args[0])
    return None


def condition_dropped(term: Term, back: Adjoint) -> Term | None:
    return replace(term, where=term.where[1:]) if term.where else None


def loop_cut_short(term: Term, back: Adjoint) -> Term | None:
    longer = [n for n, (_, length) in enumerate(term.loops) if length > 1]
    if not longer:
        return None
    loops = list(term.loops)
    loops[longer[-1]] = (loops[longer[-1]][0], loops[longer[-1]][1] - 1)
    return replace(term, loops=tuple(loops))


BENDS: dict[str, Bend] = {
    bend.__name__: bend
    for bend in (
        scaled, flipped, places_swapped, upstream_swapped, factor_forgotten, condition_dropped,
        loop_cut_short,
    )
}  # fmt: skip

HARMLESS = {
    (
        "cholesky",
        "places_swapped",
    ): "of something symmetric: x' and its transpose add up",
    ("cholesky", "condition_dropped"): "u has nothing above its diagonal anyway",
}
"""Bent rules that give the same gradient, and why."""
SPREAD = ("add", "mul", "div", "maximum", "where", "hypot")
"""Rows of the scalar law that are bent too, on operands that are spread."""


def bent(how: Bend, targets: list[Statement], hits: list[int]) -> Callable[..., Adjoint]:
    def wrong(forward: Statement, operand: str, shape: Any) -> Adjoint:
        back = adjoint(forward, operand, shape)
        if forward not in targets:
            return back
        terms = [how(term, back) for term in back.statement.terms]
        hits.extend(1 for term in terms if term is not None)
        new = tuple(b or t for b, t in zip(terms, back.statement.terms))
        return replace(back, statement=replace(back.statement, terms=new))

    return wrong


def first_case_of_each_row() -> list[Case]:
    first = {case.row: case for case in reversed(ALL)}
    wanted = [name for name in first if name not in OPS or name in SPREAD]
    return [replace(first[name], second=False) for name in wanted]


def nodes_of(case: Case) -> list[Tensor]:
    z = case.by(do, [Tensor(array) for array in case.arrays])
    return [node for node in order(z) if node.statement is not None]


def is_noticed(case: Case, bend: Bend, targets: list[Any]) -> bool | None:
    """Whether a bent rule of these statements fails the comparison; None where it bends nothing."""
    hits: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tensors, "adjoint", bent(bend, targets, hits))
        try:
            hold_to_torch(case, Tensors())  # a fresh one: it keeps adjoints
        except (Mismatch, IndexError, ValueError):
            assert hits, "a right rule was refused"
            return True
    return False if hits else None


STATED = [case for case in first_case_of_each_row() if not isinstance(ARRAYS[case.row], Composed)]
COMPOSED = [case for case in first_case_of_each_row() if isinstance(ARRAYS[case.row], Composed)]


@pytest.mark.parametrize("case", STATED, ids=lambda case: case.row)
def test_a_bent_rule_is_noticed(case: Case) -> None:
    targets = [node.statement for node in nodes_of(case) if node.row == case.row]
    verdicts = {name: is_noticed(case, bend, targets) for name, bend in BENDS.items()}
    assert {"scaled": True, "flipped": True}.items() <= verdicts.items()
    unnoticed = {name for name, noticed in verdicts.items() if noticed is False}
    assert unnoticed == {bend for row, bend in HARMLESS if row == case.row}


@pytest.mark.parametrize("case", COMPOSED, ids=lambda case: case.row)
def test_a_bent_rule_of_any_step_of_a_composition_is_noticed(case: Case) -> None:
    steps = {node.statement: node.row for node in nodes_of(case)}
    assert steps
    for statement, row in steps.items():
        # the slope of a variance along its mean is 0, so it shows in second derivatives only
        tries = (case, replace(case, second=True))
        assert any(is_noticed(one, scaled, [statement]) for one in tries), row
