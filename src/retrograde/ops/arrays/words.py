"""The sentences that explain how a row hands gradients back, from the structure of its adjoint."""

from __future__ import annotations

from collections.abc import Mapping

from ..expr import Call, Expr
from ..index import (
    Array,
    Index,
    Read,
    Ref,
    Shape,
    Statement,
    Term,
    atoms,
    letters_of,
    refs,
)
from ..scalar import OPS
from ..words import WORDS
from .adjoint import Adjoint, adjoint, written_once
from .notation import body_text, index_text, summed, test_text, text
from .row import AnyRow, Composed, Row
from .slopes import substituted
from .steps import STOP, steps

FLIPPED = " with its sign flipped"
LONG = 60
"""A slope longer than this is not spelled out."""


def sentences(forward: Statement, operand: str, shape: Shape) -> list[str]:
    """What one operand receives, a sentence a term.

    >>> from ..array import ARRAYS
    >>> matmul = ARRAYS["matmul"].state({"x": (3, 4), "y": (4, 5)})
    >>> sentences(matmul, "x", (3, 4))
    ['x[i, k] receives the upstream gradient at [i, j] times y[k, j], added up over j']
    >>> cumsum = ARRAYS["cumsum"].state({"x": (4,)})
    >>> sentences(cumsum, "x", (4,))
    ['x[k] receives the upstream gradient at [i], unchanged, where k <= i, added up over i']
    """
    back = adjoint(forward, operand, shape)
    plain = _plain_slopes(forward)
    chosen = {name: f"{it.by} of {it.array}" for it in forward.chosen for name in it.names}
    return [_sentence(term, operand, back, plain, chosen) for term in back.statement.terms]


def words(row: AnyRow, rows: Mapping[str, AnyRow]) -> list[str]:
    """How a row hands gradients back, in general.

    >>> from ..array import ARRAYS
    >>> for sentence in words(ARRAYS["max"], ARRAYS):
    ...     print(sentence)
    x[i, m[i]] receives the upstream gradient at [i], unchanged, m being argmax of x; what was not \
taken receives nothing
    >>> words(ARRAYS["neg"], ARRAYS)[0]
    'element by element: neg flips the sign of the upstream gradient'
    """
    if isinstance(row, Composed):
        names = [step.row for step in steps(row, rows) if step.row != STOP]
        return [f"is made of {', '.join(dict.fromkeys(names))}, and its gradient goes through them"]
    shapes = row.example.shapes
    if isinstance(row, Row):
        if row.name in OPS:
            return [
                f"element by element: {row.name} {WORDS[OPS[row.name].kind]}",
                "an operand that was spread receives the sum over where it went",
            ]
        forward = row.state(shapes, **row.example.arguments)
        takers = [name for name in forward.reads if name in shapes]
        return [line for name in takers for line in sentences(forward, name, shapes[name])]
    result = shapes[row.operands[-1]]
    forward = row.state({**shapes, "s": result, **dict.fromkeys(row.wholes, result[:-1])})
    said = [f"s is known by its equation, {text(forward).replace(chr(10), '; ')}, which is 0"]
    said.append("u solves the transposed linear system for the upstream gradient of s")
    for name in row.operands:
        for line in sentences(forward, name, shapes[name]):
            flips = FLIPPED in line
            line = line.replace("the upstream gradient", "u" if flips else "minus u")
            said.append(line.replace(FLIPPED, ""))
    return said


def _sentence(
    term: Term,
    operand: str,
    back: Adjoint,
    plain: Mapping[Ref, Expr],
    chosen: Mapping[str, str],
) -> str:
    up, factor = _split(term.body, back.upstream)
    places = f"{operand}{_at(term.to.at)}"
    amount = f"the upstream gradient{_at_words(up)}"
    if isinstance(up, Call):
        amount += FLIPPED
    elif factor is None:
        amount += ", unchanged,"
    if factor is not None:
        factor = plain.get(Array(operand)[term.to.at], factor)
    for name, _ in back.others:
        if factor is not None and any(ref.array == name for ref in refs(factor)):
            amount += " times the product of all the others"
            factor = None
    if factor is not None:
        said = body_text(factor, True)
        amount += f" times {said}" if len(said) <= LONG else " times the slope there"
    if term.where:
        amount += " where " + " and ".join(map(test_text, term.where))
    over = summed(term)
    if over:
        amount += f", added up over {', '.join(over)}"
    said = f"{places} receives {amount}{_meeting(term, chosen)}"
    return said.replace(",,", ",").replace(",;", ";").rstrip(",")


def _meeting(term: Term, chosen: Mapping[str, str]) -> str:
    """What a sentence adds where places are picked, or read several times."""
    read = [a.array for i in term.to.at for a in atoms(i) if isinstance(a, Read)]
    for name in read:
        if name in chosen:
            rest = "each goes back to where its number came from"
            if "argsort" not in chosen[name]:
                rest = "what was not taken receives nothing"
            return f", {name} being {chosen[name]}; {rest}"
    shared = any(len(letters_of(i)) > 1 and i.affine is not None for i in term.to.at)
    if read or (shared and not written_once(term)):
        return "; a place that was read several times receives all of it"
    return ""


def _split(body: Expr, upstream: str) -> tuple[Expr, Expr | None]:
    """The upstream gradient in a body, and what it is multiplied by."""
    if isinstance(body, Call) and body.name == "mul":
        left, right = body.args
        if isinstance(left, Ref) and left.array == upstream:
            return left, right
        inner, factor = _split(left, upstream)
        return inner, right if factor is None else Call("mul", (factor, right))
    return body, None


def _at(at: tuple[Index, ...]) -> str:
    return f"[{', '.join(index_text(i) for i in at)}]" if at else ""


def _at_words(up: Expr) -> str:
    ref = up.args[0] if isinstance(up, Call) else up
    return f" at {_at(ref.at)}" if isinstance(ref, Ref) and ref.at else ""


def _plain_slopes(forward: Statement) -> dict[Ref, Expr]:
    """Of a body that is one row of the scalar law: its partials as a person writes them."""
    found: dict[Ref, Expr] = {}
    for term in forward.terms:
        body = term.body
        if isinstance(body, Call) and body.name in OPS:
            row = OPS[body.name]
            values = {**dict(zip(row.inputs, body.args)), "z": term.to}
            for arg, partial in zip(body.args, row.shown):
                if isinstance(arg, Ref):
                    found[arg] = substituted(partial, values)
    return found
