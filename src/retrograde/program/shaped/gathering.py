"""Gradients of parts put together: what arrives at places of one array is one statement.

A function that reads ``s[0, 0]``, ``s[0, 1]``, … sends back an array of zeros with one number in it
for each, and their sum. As one statement each number is added where it belongs, and nothing else
is touched.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ..._shared.bound import Bound, bound
from ...ops.index import Atom, Index, Read, Ref, Statement, Term, as_index, rewritten
from .program import Fixed, Instruction, Program

MOST = 32
"""Parts of one statement."""

KEPT = 2048
"""Statements that are kept, so that equal ones are one object."""

_kept: dict[tuple[object, ...], tuple[list[Bound], Bound]] = {}

Part = tuple[Bound, int, tuple[tuple[str, int], ...]]
"""A row that scatters, its operand, and the whole numbers that name its place."""


def gathered(program: Program) -> Program:
    """Without sums of arrays that are mostly zeros."""
    uses = Counter(number for each in program.instructions for number in each.operands)
    uses.update(program.roots)
    parts: dict[int, list[Part]] = {}
    dropped: set[int] = set()
    made: list[Instruction] = []
    for each in program.instructions:
        part = _scattered(each, program) if each.row.name == "index'" else None
        if part is not None and uses[each.result] == 1:
            parts[each.result] = [part]
        elif all(number in parts for number in each.operands) and _is_sum(each):
            own = [part for number in each.operands for part in parts[number]]
            if len(own) <= MOST and len(set(each.operands)) == 2:
                dropped.update(each.operands)
                each = _together(own, each)
                if uses[each.result] == 1:
                    parts[each.result] = own
        made.append(each)
    return program.with_instructions([it for it in made if it.result not in dropped])


def _is_sum(each: Instruction) -> bool:
    """Whether an instruction adds two arrays of one shape."""
    shape = each.row.shape
    return each.row is bound("add", (shape, shape))


def _scattered(each: Instruction, program: Program) -> Part | None:
    """What is put at fixed places of zeros, if that is all an instruction does."""
    row = each.row
    if len(row.operands) != 1 or row.chosen or len(row.statement.terms) != 1:
        return None
    (term,) = row.statement.terms
    fixed = []
    for name, number in each.wholes:
        whole = program.wholes[number]
        if not isinstance(whole, Fixed) or whole.shape:
            return None
        fixed.append((name, int(whole.array)))
    if term.where or not isinstance(term.body, Ref):
        return None
    return row, each.operands[0], tuple(fixed)


def _together(parts: list[Part], last: Instruction) -> Instruction:
    """One instruction in the place of the last sum."""
    key = tuple((id(row), fixed) for row, _, fixed in parts)
    known = _kept.get(key)
    if known is None:
        if len(_kept) >= KEPT:
            _kept.clear()
        rows = [row for row, _, _ in parts]  # kept, so that no id goes to another
        names = [f"x{number + 1}" for number in range(len(rows))]
        terms = tuple(
            _placed(row.statement.terms[0], name, dict(fixed))
            for (row, _, fixed), name in zip(parts, names)
        )
        statement = Statement(terms, last.row.statement.shape, "+=")
        shapes = [row.shapes[0] for row in rows]
        known = _kept[key] = rows, Bound("index'", statement, names, shapes)
    operands = tuple(operand for _, operand, _ in parts)
    return Instruction(known[1], last.result, operands, (), last.takes, last.site)


def _placed(term: Term, name: str, fixed: dict[str, int]) -> Term:
    """A term with its operand renamed, and numbers where whole numbers name places."""

    def change(atom: Atom) -> Index | None:
        return as_index(fixed[atom.array]) if isinstance(atom, Read) else None

    def inner(index: Index) -> Index:
        return rewritten(index, change)

    assert isinstance(term.body, Ref)
    to = Ref(term.to.array, tuple(map(inner, term.to.at)))
    return replace(term, to=to, body=Ref(name, tuple(map(inner, term.body.at))))
