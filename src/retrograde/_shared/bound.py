"""A row of the array law bound to shapes and arguments: what one node of an array op is made by.

Both cores make nodes of a ``Bound`` and ask it for the statements to carry out, forward and for
each gradient; NumPy carries out any of them (``run``, ``contributions``), so a core needs kernels
of its own only for speed. Bounds are kept, so a program that repeats itself finds the same object
again, and a core may hang its plan on it (``plan``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..ops import OPS
from ..ops.array import ARRAYS
from ..ops.arrays.adjoint import adjoint
from ..ops.arrays.row import Composed, Implicit
from ..ops.index import RESULT, Chosen, Read, Ref, Shape, Statement
from . import blas, factors, loops
from .numerics import np

KEPT = 8192
"""How many bound rows are kept."""

Arrays = Mapping[str, Any]
_kept: dict[tuple[object, ...], Bound] = {}


@dataclass(frozen=True, slots=True)
class Back:
    """How one operand receives its gradient.

    ``bound`` makes it. Of the arrays it reads by name, ``upstream`` is the gradient of the result
    (of an implicit row: what ``Bound.undone`` makes of it), ``own`` is the result, ``others`` have
    to be made first, each by a bound row of its own, and the rest are the operands.
    """

    bound: Bound
    upstream: str
    own: str
    others: tuple[tuple[str, Bound], ...]

    @property
    def statement(self) -> Statement:
        """What makes the gradient."""
        return self.bound.statement

    @property
    def parts(self) -> tuple[Bound, ...]:
        """The rows that make the gradient, in their order."""
        return (*(bound for _, bound in self.others), self.bound)

    @property
    def reads(self) -> tuple[str, ...]:
        """Every array of numbers that has to be there, in the order of its first mention."""
        made = [name for name, _ in self.others]
        first = [name for _, bound in self.others for name in bound.operands]
        return tuple(dict.fromkeys([*first, *(n for n in self.bound.operands if n not in made)]))


class Bound:
    """One row on shapes: its statement, what it reads, and how gradients go back.

    ``operands`` are the names of the arrays of numbers in order, with their ``shapes``; ``wholes``
    those of the arrays of whole numbers that the caller gives. ``chosen`` are whole numbers that
    the row finds by looking at an operand. The statement of an implicit row is its equation, in
    which the result is called ``s``.

    >>> row = bound("matmul", ((3, 4), (4, 5)))
    >>> row.shape, row.operands, row.adjoint("x").bound.operands
    ((3, 5), ('x', 'y'), ('g', 'y'))
    >>> row is bound("matmul", ((3, 4), (4, 5)))
    True
    """

    __slots__ = (
        "_any_bits", "_backs", "_picks", "_saves", "any_bits", "arguments", "implicit", "name",
        "operands", "origin", "plan", "scalar", "shape", "shapes", "statement", "whole_shapes",
        "wholes",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        statement: Statement,
        operands: Sequence[str],
        shapes: Sequence[Shape],
        shape: Shape | None = None,
        implicit: Implicit | None = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        self.name, self.statement, self.implicit = name, statement, implicit
        self.operands, self.shapes = tuple(operands), tuple(shapes)
        self.shape = statement.shape if shape is None else shape
        found = {name for it in statement.chosen for name in it.names}
        solved = set(implicit.wholes) if implicit is not None else set()
        self.wholes = tuple(n for n in statement.wholes if n not in found and n not in solved)
        self.arguments: Mapping[str, Any] = arguments or {}
        #: The shapes of the whole numbers that the row was bound to.
        self.whole_shapes: Mapping[str, Shape] = {}
        #: Of a row that makes a gradient: the row whose, its operand, and which of its ``parts``.
        self.origin: tuple[Bound, str, int] | None = None
        #: The row of the scalar law whose map over arrays this is, else None.
        self.scalar = name if name in OPS else None
        #: A place for a core to keep what it made of this row.
        self.plan: Any = None
        self._backs: dict[str, Back | None] = {}
        self._picks: tuple[tuple[str, int, int], ...] | None = None
        self._saves: dict[tuple[str, ...], tuple[str, ...]] = {}
        #: Whether NumPy's matrix product carries it out, in whatever order that adds.
        self.any_bits = False
        self._any_bits: Bound | None = None

    def __repr__(self) -> str:
        said = ", ".join(f"{name}: {shape}" for name, shape in zip(self.operands, self.shapes))
        return f"Bound({self.name}; {said} -> {self.shape})"

    def __reduce__(self) -> Any:
        shape = self.shape if self.implicit is not None else None
        implicit = None if self.implicit is None else self.implicit.name
        parts = (self.name, self.statement, self.operands, self.shapes, shape, implicit)
        return _again, (*parts, dict(self.arguments), self.any_bits)

    def by_any_bits(self) -> Bound:
        """The row as nodes inside ``any_bits()`` are made by it: another one, which says so, where
        it is a large product; else itself."""
        if self._any_bits is None:
            self._any_bits = self
            if self.implicit is None and blas.is_large_product(self.statement):
                self._any_bits = self._noted()
        return self._any_bits

    def _noted(self) -> Bound:
        made = Bound(
            self.name, self.statement, self.operands, self.shapes, arguments=self.arguments
        )
        made.any_bits, made.plan, made._any_bits = True, False, made
        return made

    @property
    def chosen(self) -> tuple[Chosen, ...]:
        """What is found by looking at the data."""
        return self.statement.chosen

    @property
    def found(self) -> tuple[str, ...]:
        """The names of the whole numbers that the row finds itself."""
        looked = [name for it in self.chosen for name in it.names]
        return (*looked, *(self.implicit.wholes if self.implicit is not None else ()))

    def reach(self, found: str) -> int:
        """The length of the axis that whole numbers which the row finds are places of."""
        for it in self.chosen:
            if found in it.names:
                shape = self.shapes[self.operands.index(it.array)]
                return shape[it.axes[it.names.index(found)]]
        return self.shape[-2]

    # ---- backward ------------------------------------------------------------------------------

    def adjoint(self, operand: str) -> Back | None:
        """How an operand receives its gradient; None where the result does not depend on it.

        A slope that the law does not state raises ``ValueError``.
        """
        if operand not in self._backs:
            self._backs[operand] = self._made_back(operand)
        return self._backs[operand]

    def _made_back(self, operand: str) -> Back | None:
        shapes = {**dict(zip(self.operands, self.shapes)), RESULT: self.shape}
        if operand not in self.statement.reads:
            return None
        back = adjoint(self.statement, operand, shapes[operand])
        if not back.statement.terms:
            return None
        own = "s" if self.implicit is not None else back.own
        shapes.update({back.upstream: self.statement.shape, own: self.shape})
        name = f"{self.name}'"
        if self.any_bits:
            return Back(_of(name, back.statement, shapes).by_any_bits(), back.upstream, own, ())
        others = []
        for made, statement in back.others:
            others.append((made, _of(name, statement, shapes)))
            shapes[made] = statement.shape
        found = Back(_of(name, back.statement, shapes), back.upstream, own, tuple(others))
        for number, part in enumerate(found.parts):
            part.origin = self, operand, number
        return found

    def saves(self, takers: Sequence[str]) -> tuple[str, ...]:
        """What backward reads if these operands take gradients: operands, the result as ``z``, and
        whole numbers.

        >>> bound("matmul", ((3, 4), (4, 5))).saves(["x"]), bound("exp", ((3,),)).saves(["x"])
        (('y',), ('z',))
        """
        key = tuple(takers)
        if key not in self._saves:
            self._saves[key] = self._needed(key)
        return self._saves[key]

    def _needed(self, takers: Sequence[str]) -> tuple[str, ...]:
        backs = [back for back in map(self.adjoint, takers) if back is not None]
        if backs and self.implicit is not None:  # solving the adjoint system takes everything
            return (*self.operands, RESULT, *self.statement.wholes)
        found: set[str] = set()
        for back in backs:
            found |= {RESULT if n == back.own else n for n in back.reads if n != back.upstream}
            found.update(back.bound.statement.wholes)
            found.update(n for _, other in back.others for n in other.statement.wholes)
        return tuple(n for n in (*self.operands, RESULT, *self.statement.wholes) if n in found)

    def undone(self, do: Any, upstream: Any, result: Any, operands: Mapping[str, Any]) -> Any:
        """Of an implicit row: what its adjoint statements read in the place of the upstream.

        ``do`` carries out rows on whatever these are: arrays, or nodes of a graph.
        """
        if self.implicit is None:
            return upstream
        return do("neg", self.implicit.undo(do, upstream, result, operands))

    # ---- by NumPy ------------------------------------------------------------------------------

    def run(self, arrays: Arrays) -> tuple[Any, dict[str, Any]]:
        """The result by NumPy, and every array of whole numbers that made it.

        ``arrays`` are operands and given whole numbers by name, the latter counted from the front.

        >>> result, wholes = bound("max", ((3,),)).run({"x": np.array([1.0, 5.0, 2.0])})
        >>> float(result), {name: int(m) for name, m in wholes.items()}
        (5.0, {'m': 1})
        """
        if self.implicit is not None:
            result, found = factors.factor(self.name, arrays)
            return result, dict(found)
        wholes = {name: arrays[name] for name in self.wholes}
        for chosen in self.chosen:
            wholes.update(zip(chosen.names, loops.choose(chosen, arrays[chosen.array])))
        return self._carried_out({**arrays, **wholes}), wholes

    def _carried_out(self, arrays: Arrays) -> Any:
        return (blas.product if self.any_bits else loops.run)(self.statement, arrays)

    def contributions(
        self, takers: Sequence[str], upstream: Any, arrays: Arrays, result: Any
    ) -> list[Any]:
        """What operands receive, by NumPy: fresh arrays, None where one receives nothing.

        ``arrays`` are operands and all whole numbers: those that ``saves`` names are enough.
        """
        if self.implicit is not None:
            operands = {name: arrays[name] for name in self.operands}
            upstream = self.undone(numeric, upstream, result, operands)
        found: list[Any] = []
        for back in map(self.adjoint, takers):
            if back is None:
                found.append(None)
                continue
            known = {**arrays, back.upstream: upstream, back.own: result}
            for name, other in back.others:
                known[name] = other._carried_out(known)
            found.append(back.bound._carried_out(known))
        return found

    def contribution(self, operand: str, upstream: Any, arrays: Arrays, result: Any) -> Any:
        """What one operand receives."""
        return self.contributions((operand,), upstream, arrays, result)[0]

    # ---- whole numbers -------------------------------------------------------------------------

    def counted(self, wholes: Mapping[str, Any]) -> dict[str, Any]:
        """Given whole numbers that pick places, counted from the front; out of range is refused."""
        found = {name: np.array(it, np.intp, order="C") for name, it in wholes.items()}
        for name, length, axis in self.picks:
            if name in found:
                found[name] = _from_the_front(found[name], length, axis)
        return found

    @property
    def picks(self) -> tuple[tuple[str, int, int], ...]:
        """The arrays of whole numbers that pick places: the name, the length of the axis, and which
        axis it is."""
        if self._picks is None:
            self._picks = self._made_picks()
        return self._picks

    def _made_picks(self) -> tuple[tuple[str, int, int], ...]:
        """The arrays of whole numbers that pick places, each with the length of the axis and its
        number; what stands under a condition is told apart by its sign."""
        known = {**dict(zip(self.operands, self.shapes)), RESULT: self.statement.shape}
        return tuple(
            (name, known[ref.array][axis], axis)
            for term in self.statement.terms
            if not term.where
            for ref in (term.to, *term.refs)
            for axis, name in _picked(ref)
            if ref.array in known
        )


def bound(
    name: str,
    shapes: Sequence[Shape],
    wholes: Mapping[str, Shape] | None = None,
    **arguments: Any,
) -> Bound:
    """A stated or implicit row on operands of these shapes; ``wholes`` are the shapes of its arrays
    of whole numbers.

    What does not fit raises ``ValueError`` or ``IndexError`` with the row's name.
    """
    places = tuple(wholes.items()) if wholes else ()
    key = (name, tuple(shapes), places, _spelled(arguments) if arguments else ())
    found = _kept.get(key)
    if found is None:
        if len(_kept) >= KEPT:
            _kept.clear()
        found = _kept[key] = _bound(name, shapes, dict(places), arguments)
        found.whole_shapes = dict(places)
    return found


_PLAIN = frozenset((int, bool, float, str, type(None)))


def _spelled(arguments: Mapping[str, Any]) -> object:
    """Arguments as something to look them up by: 1 and True are two things, and so is what is
    equal to another in any other way."""
    kinds = tuple(map(type, arguments.values()))
    if _PLAIN.issuperset(kinds):
        return (*arguments.items(), kinds)
    return repr(arguments)


def _bound(
    name: str, shapes: Sequence[Shape], wholes: Mapping[str, Shape], arguments: Mapping[str, Any]
) -> Bound:
    row = ARRAYS[name]
    assert not isinstance(row, Composed), f"{name} is made of other rows"
    if isinstance(row, Implicit):
        return _implicit(row, shapes)
    operands = row.names(len(shapes))
    if len(shapes) > len(operands):
        raise ValueError(f"{name} takes {len(operands)} operands, not {len(shapes)}")
    operands = operands[: len(shapes)]
    given = {
        **dict(zip(operands, shapes)),
        **{k: it for k, it in wholes.items() if k in row.wholes},
    }
    statement = row.state(given, **arguments)
    return Bound(name, statement, operands, shapes, arguments=arguments)


def _again(
    name: str,
    statement: Statement,
    operands: Sequence[str],
    shapes: Sequence[Shape],
    shape: Shape | None,
    implicit: str | None,
    arguments: Mapping[str, Any],
    any_bits: bool = False,
) -> Bound:
    """A bound row from a pickle."""
    row = None if implicit is None else ARRAYS[implicit]
    assert row is None or isinstance(row, Implicit)
    made = Bound(name, statement, operands, shapes, shape, row, arguments)
    return made._noted() if any_bits else made


def _implicit(row: Implicit, shapes: Sequence[Shape]) -> Bound:
    if min(map(len, shapes)) < 2:
        raise ValueError(f"{row.name}: needs operands of at least two axes")
    matrix, rest = shapes[0], shapes[-1]
    if matrix[-1] != matrix[-2]:
        raise ValueError(f"{row.name}: {matrix} is no square matrix; it takes square ones")
    result = rest
    if len(shapes) > 1:
        if rest[-2] != matrix[-1]:
            raise ValueError(f"{row.name}: {matrix[-1]} unknowns and {rest[-2]} equations")
        try:
            batch = np.broadcast_shapes(matrix[:-2], rest[:-2])
        except ValueError:
            raise ValueError(f"{row.name}: shapes {matrix} and {rest} do not broadcast") from None
        result = (*batch, *rest[-2:])
    known = {**dict(zip(row.operands, shapes)), "s": result}
    known.update(dict.fromkeys(row.wholes, result[:-1]))
    return Bound(row.name, row.state(known), row.operands, shapes, result, row)


def _of(name: str, statement: Statement, shapes: Mapping[str, Shape]) -> Bound:
    """A statement bound already: the operands are what it reads."""
    reads = statement.reads
    return Bound(name, statement, reads, [shapes[it] for it in reads])


def _picked(ref: Ref) -> list[tuple[int, str]]:
    """The axes of a reference whose place is read from an array, and that array's name."""
    found = []
    for axis, index in enumerate(ref.at):
        only = index.parts[0][0] if len(index.parts) == 1 else ()
        if len(only) == 1 and isinstance(only[0], Read):
            found.append((axis, only[0].array))
    return found


def _from_the_front(numbers: Any, length: int, axis: int) -> Any:
    if not numbers.size:
        return numbers
    least = numbers.min()
    if not (-length <= least and numbers.max() < length):
        wrong = numbers[(numbers < -length) | (numbers >= length)].flat[0]
        raise IndexError(f"index {wrong} is out of bounds for axis {axis} of length {length}")
    return np.where(numbers < 0, numbers + length, numbers) if least < 0 else numbers


class Numeric:
    """Carries out rows on plain arrays: how the adjoint system of an implicit row is solved.

    >>> numeric("matmul", np.eye(2), np.ones((2, 1))).tolist()
    [[1.0], [1.0]]
    """

    def __call__(self, name: str, *operands: Any, **arguments: Any) -> Any:
        """One row on arrays and numbers."""
        row = ARRAYS[name]
        if isinstance(row, Composed):
            return row.make(self, *operands, **arguments)
        arrays = [np.asarray(it, dtype=float) for it in operands]
        wholes = {key: np.asarray(arguments.pop(key)) for key in row.wholes if key in arguments}
        shapes = {key: it.shape for key, it in wholes.items()}
        it = bound(name, [array.shape for array in arrays], shapes, **arguments)
        return it.run({**dict(zip(it.operands, arrays)), **it.counted(wholes)})[0]

    def shape(self, operand: Any) -> Shape:
        """The shape of an operand."""
        return np.shape(operand)

    def fill(self, shape: Shape, number: float) -> Any:
        """An array of one number."""
        return np.full(shape, float(number))

    def stop(self, operand: Any) -> Any:
        """The same."""
        return operand


numeric = Numeric()
