"""What the native core makes of a bound row: a map, a product, a sum, a view, or nothing special.

A statement whose result reads one number of one operand, at places that are sums of multiples of
the loops, needs no loops at all: its result is the operand with other strides.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..ops import OPS
from ..ops.arrays.places import At
from ..ops.index import Index, Letter, Read, Ref
from .bound import Bound, bound

_CODES = {name: code for code, name in enumerate(OPS)}


def plan(row: Bound) -> Any:
    """How the native core carries out a row, kept on it.

    The number of a scalar row, the name of a row that it has itself, or a view: for each axis of
    the operand where it begins, the name of a whole number to add to that or None, and how far each
    axis of the result steps. False where NumPy does it.

    >>> plan(bound("transpose", ((2, 3),))), plan(bound("mul", ((2,), ()))), plan(bound("sort", ((2,),)))
    (((0, None, 0, 1), (0, None, 1, 0)), 2, False)
    """
    if row.plan is None:
        row.plan = _plan(row)
    return row.plan


def _plan(row: Bound) -> Any:
    if row.scalar is not None and len(row.operands) == OPS[row.scalar].arity:
        return _CODES[row.scalar]
    if row.name == "matmul" or row.name == "reshape":
        return row.name
    if row.name == "sum" and row.shape == ():
        return "sum"
    return _view(row)


def _view(row: Bound) -> Any:
    statement = row.statement
    if row.implicit is not None or statement.chosen or len(row.operands) != 1:
        return False
    if statement.how != "=" or len(statement.terms) != 1 or statement.terms[0].where:
        return False
    term = statement.terms[0]
    letters = [index.letter for index in term.to.at]
    lengths = dict(term.loops)
    names = [it.name for it in letters if it is not None]
    if len(names) != len(letters) or sorted(names) != sorted(lengths):
        return False
    if [lengths[name] for name in names] != list(row.shape) or not isinstance(term.body, Ref):
        return False
    axes = [_axis(index, names) for index in term.body.at]
    return False if None in axes else tuple(axes)


def _axis(index: Index, names: list[str]) -> tuple[Any, ...] | None:
    begin, whole = 0, None
    steps = dict.fromkeys(names, 0)
    for atoms, factor in index.parts:
        only = atoms[0] if len(atoms) == 1 else None
        if not atoms:
            begin = factor
        elif isinstance(only, Letter):
            steps[only.name] = factor
        elif isinstance(only, Read) and not only.at and factor == 1 and whole is None:
            whole = only.array
        else:
            return None
    return (begin, whole, *steps.values())


def made_by(
    name: str, shapes: tuple[Any, ...], place: int, count: int
) -> tuple[Bound, dict[str, Any]]:
    """The bound row, with its whole numbers, of a node that the native core made without one.

    An index of ``count`` whole numbers, and a write there, begins at ``place`` in the order of C.
    """
    if name not in ("index", "put_at"):
        return bound(name, shapes), {}
    shape = shapes[0]
    found = np.unravel_index(place // prod(shape[count:]), shape[:count])
    wholes = {f"n{axis + 1}": np.array(it, dtype=np.intp) for axis, it in enumerate(found)}
    lengths = dict.fromkeys(wholes, ())
    if name == "put_at":
        return bound(name, shapes, lengths, count=count), wholes
    return bound(name, shapes, lengths, key=tuple(At(it, ()) for it in wholes)), wholes


def unfit(name: str, shapes: tuple[Any, ...]) -> str:
    """Why a row cannot be bound to shapes, in the law's words."""
    try:
        bound(name, shapes)
    except ValueError as error:
        return str(error)
    raise AssertionError(f"{name} fits {shapes}")
