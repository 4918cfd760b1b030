"""The kind of a statement: how its rule behaves, in the words of ``words.py``."""

from __future__ import annotations

from ..expr import Call
from ..index import Ref, Statement
from ..scalar import OPS


def kind_of_statement(statement: Statement) -> str:
    """A product of two operands weighs, what looks at data chooses, a body that is one row of the
    scalar law is of its kind; all else copies.

    >>> from ..array import ARRAYS
    >>> shapes = {"x": (3, 4), "y": (4, 5)}
    >>> kind_of_statement(ARRAYS["matmul"].state(shapes))
    'weigh'
    >>> [kind_of_statement(ARRAYS[row].state({"x": (3,)})) for row in ("sum", "max", "exp")]
    ['copy', 'choose', 'itself']
    """
    if statement.chosen:
        return "choose"
    if statement.how == "*=":
        return "swap"
    body = statement.terms[0].body if statement.terms else None
    if not isinstance(body, Call):
        return "copy"
    if body.name == "mul" and statement.how == "+=" and all(isinstance(a, Ref) for a in body.args):
        return "weigh"
    return OPS[body.name].kind if body.name in OPS else "copy"
