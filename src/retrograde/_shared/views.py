"""What the native core makes of a bound row: a map, a product, a sum, a view, or nothing special.

A statement whose result reads one number of one operand, at places that are sums of multiples of
the loops, needs no loops at all: its result is the operand with other strides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from ..ops import OPS
from ..ops.arrays.places import At, is_one_place
from ..ops.arrays.plans import plan as planned
from ..ops.index import Index, Letter, Read, Ref, Shape
from .bound import Bound, bound
from .loops import choose
from .numerics import np

Make = Callable[[bytes, bytes], Any]
"""Makes a native plan of words and numbers."""

_CODES = {name: code for code, name in enumerate(OPS)}


def plan(row: Bound, wholes: Mapping[str, Any], make: Make) -> Any:
    """How the native core carries out a row; ``wholes`` have the shapes of those that are given.

    The number of a scalar row; the name of a row that it has itself; False where NumPy does it; or
    what a ready row is made of: its way, its whole numbers with their shapes and the length of the
    axis they pick from, how many of them are given, and what is to be chosen. A way is "reshape", a
    view (for each axis of the operand where it begins, the name of a whole number to add to that or
    None, and how far each axis of the result steps), or a list of the one step forward.

    >>> plan(bound("transpose", ((2, 3),)), {}, print), plan(bound("mul", ((2,), ())), {}, print)
    ((((0, None, 0, 1), (0, None, 1, 0)), (), 0, None), 2)
    """
    if row.scalar is not None and len(row.operands) == OPS[row.scalar].arity:
        return _CODES[row.scalar]
    if row.name == "matmul" or (row.name == "sum" and row.shape == ()):
        return row.name
    if row.implicit is not None:
        return False
    limits = {name: length for name, length, _ in row.picks}
    if 0 in limits.values():  # nothing to pick from; a limit of 0 would be none
        return False
    places = _looked_up(row, wholes)
    way = row.name if row.name == "reshape" else view_of(row)
    if way is False:
        sources = {name: number for number, name in enumerate(row.operands)}
        way = [_step(row, sources, places, make)]
    kept = tuple((name, shape, limits.get(name, 0)) for name, shape in places.items())
    return way, kept, len(row.wholes), _choice(row)


def by_any_bits(row: Any) -> Any:
    """The row that a node inside ``any_bits()`` is made by: of a custom op its own."""
    return row.by_any_bits() if row.statement is not None else row


def large_matmul(left: Shape, right: Shape) -> Bound | None:
    """``@`` on two shapes as NumPy's product carries it out; None where that does not."""
    row = bound("matmul", (left, right)).by_any_bits()
    return row if row.any_bits else None


def _looked_up(row: Bound, wholes: Mapping[str, Any]) -> dict[str, Shape]:
    """The shapes of all whole numbers of a row: those given, and those it finds by looking."""
    places = {name: np.shape(wholes[name]) for name in row.wholes}
    for it in row.chosen:
        shape = row.shapes[row.operands.index(it.array)]
        free = tuple(n for axis, n in enumerate(shape) if axis not in it.axes)
        places.update(dict.fromkeys(it.names, shape if it.by == "argsort" else free))
    return places


_BY = {"argmax": 0, "argmin": 1, "argsort": 2}


def _choice(row: Bound) -> Any:
    """What the native core finds by looking: how, in which operand, the lengths before, along and
    behind its axes. None where there is nothing to find, False where NumPy does it."""
    if not row.chosen:
        return None
    it, *others = row.chosen
    operand = row.operands.index(it.array)
    shape = row.shapes[operand]
    first, count = it.axes[0] if it.axes else 0, len(it.axes)
    if others or not it.axes or it.axes != tuple(range(first, first + count)) or 0 in shape:
        return False
    inner = prod(shape[first + count :])
    return _BY[it.by], operand, prod(shape[:first]), shape[first : first + count], inner


def _step(
    row: Bound, sources: Mapping[str, int], places: Mapping[str, Shape], make: Make
) -> tuple[Any, ...]:
    """One statement as a plan: the plan itself, where its arrays come from, its whole numbers."""
    made = planned(row.statement, {**dict(zip(row.operands, row.shapes)), **places})
    order = tuple(sources[name] for name in made.arrays)
    return make(made.words, made.numbers), order, made.wholes


UPSTREAM, RESULT, FIRST_MADE = -1, -2, -3
"""Sources of a step backward besides operands; what is made first counts on down."""


def back(
    row: Bound, operand: int, places: Mapping[str, Shape], make: Make
) -> tuple[Any, ...] | None:
    """The steps that make an operand's gradient; None where it receives none. ``places`` are the
    shapes of all whole numbers."""
    found = row.adjoint(row.operands[operand])
    if found is None:
        return None
    sources = {name: number for number, name in enumerate(row.operands)}
    sources.update({found.upstream: UPSTREAM, found.own: RESULT})
    steps = []
    for number, (name, other) in enumerate(found.others):
        steps.append(_step(other, sources, places, make))
        sources[name] = FIRST_MADE - number
    return (*steps, _step(found.bound, sources, places, make))


def chosen(row: Bound, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """All whole numbers of a row, those among them that it finds by looking."""
    found = {name: arrays[name] for name in row.wholes}
    for it in row.chosen:
        places = choose(it, arrays[it.array])
        found.update((n, np.asarray(p, order="C")) for n, p in zip(it.names, places))
    return found


def whole_numbers(names: Sequence[str], shapes: Sequence[Shape], kept: bytes) -> dict[str, Any]:
    """The whole numbers of a node, from how it keeps them."""
    numbers = np.frombuffer(kept, dtype=np.int64)
    found, at = {}, 0
    for name, shape in zip(names, shapes):
        found[name] = numbers[at : at + prod(shape)].reshape(shape)
        at += prod(shape)
    return found


def view_of(row: Bound) -> Any:
    """For each axis of the operand where it begins, the name of a whole number to add to that or
    None, and how far each axis of the result steps; False where a row is no view.

    >>> view_of(bound("sum", ((2, 3),)))
    False
    """
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
    step = max(1, prod(shape[count:]))  # among no numbers every place begins at 0
    found = np.unravel_index(place // step, shape[:count])
    wholes = {f"n{axis + 1}": np.array(it, dtype=np.intp) for axis, it in enumerate(found)}
    lengths = dict.fromkeys(wholes, ())
    if name == "put_at":
        return bound(name, shapes, lengths, count=count), wholes
    return bound(name, shapes, lengths, key=tuple(At(it, ()) for it in wholes)), wholes


def one_place(row: Bound, wholes: Mapping[str, Any]) -> tuple[int, ...] | None:
    """The place of ``x[i]`` and ``x[i] = v``, whole numbers in front of whole axes; else None."""
    if row.name not in ("index", "put_at") or row.statement is None:
        return None
    if row.name == "index" and not is_one_place(row.arguments["key"]):
        return None
    return tuple(int(wholes[f"n{axis + 1}"]) for axis in range(len(wholes)))


def unfit(name: str, shapes: tuple[Any, ...]) -> str:
    """Why a row cannot be bound to shapes, in the law's words."""
    numbers = ((),) * (OPS[name].arity - len(shapes)) if name in OPS else ()
    try:
        bound(name, (*shapes, *numbers))
    except ValueError as error:
        return str(error)
    raise AssertionError(f"{name} fits {shapes}")
