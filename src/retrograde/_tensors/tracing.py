"""Calls on tensors, traced: which rows they come to, by shapes and arguments alone.

The native core asks once for each name, shapes and arguments, and carries the steps out itself from
then on. Whatever does not come to rows of the array law on the operands is left to Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._shared.numerics import np
from .._shared.operands import is_real_scalar
from ..ops import OPS
from ..ops.array import ARRAYS
from ..ops.arrays.places import At
from ..ops.arrays.row import Composed
from ..ops.index import Shape
from .doing import Doing, StandIn
from .methods import Methods

_CODES = {name: code for code, name in enumerate(OPS)}

Steps = tuple[list[tuple[Any, ...]], tuple[float, ...], int]
"""Steps (a bound row, the code of a scalar row, or None for what stops gradients; the places of its
operands, numbers counted from -1 down; stand-ins for its whole numbers), the numbers, and the place
of the result. Operands of the call stand in front of what the steps make."""


class Traced(StandIn, Methods):
    """Stands for a tensor, a value or a number of which only the shape is known."""

    def __init__(self, trace: Trace, place: int, shape: Shape) -> None:
        self.writer, self.place, self.shape = trace, place, shape

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return int(np.prod(self.shape, dtype=np.int64))


class Wholes:
    """Stands for an array of whole numbers of which only the shape is known."""

    def __init__(self, place: int, shape: Shape) -> None:
        self.place, self.shape = place, shape


class UntraceableError(Exception):
    """A call that does not come to rows on its operands."""


class Trace(Doing):
    """Carries out rows by writing them down."""

    def __init__(self, operands: Sequence[Any]) -> None:
        self._steps: list[tuple[Any, ...]] = []
        self._numbers: list[float] = []
        self._operands = len(operands)
        self.operands = [
            Traced(self, place, () if isinstance(it, float) else it.shape)
            for place, it in enumerate(operands)
        ]

    def __call__(self, name: str, *operands: Any, **arguments: Any) -> Any:
        """One row."""
        row = ARRAYS[name]
        given = [self._operand(it) for it in operands]
        if isinstance(row, Composed):
            return row.make(self, *given, **arguments)
        if name in OPS and not any(map(self.shape, given)):
            return self._step(_CODES[name], given, {}, ())
        wholes = {key: arguments.pop(key) for key in row.wholes if key in arguments}
        return self.node(name, given, wholes, arguments)

    def node(
        self, name: str, operands: Sequence[Any], wholes: dict[str, Any], arguments: dict[str, Any]
    ) -> Any:
        """A node of a stated row."""
        if not all(isinstance(it, Wholes) for it in wholes.values()):
            raise UntraceableError
        row = self.bound(name, operands, wholes, arguments)
        if len({pick[0] for pick in row.picks}) < len(row.picks):
            raise UntraceableError
        return self._step(row, operands, wholes, row.shape)

    def shape(self, it: Any) -> Shape:
        """The shape of an operand."""
        shape: Shape = it.shape if isinstance(it, Traced) else ()
        return shape

    def fill(self, shape: Shape, number: float) -> Any:
        """An array of one number: it is no operand of the call."""
        raise UntraceableError

    def stop(self, it: Any) -> Any:
        """The same numbers, through which no gradient passes."""
        return self._step(None, [it], {}, it.shape) if isinstance(it, Traced) else it

    def ended(self, result: Any) -> Steps:
        """Everything that was written down."""
        if not isinstance(result, Traced):
            raise UntraceableError
        return self._steps, tuple(self._numbers), result.place

    def _operand(self, it: Any) -> Any:
        if isinstance(it, Traced):
            return it
        if not is_real_scalar(it):
            raise UntraceableError
        return float(it)

    def _step(self, what: Any, operands: Sequence[Any], wholes: Any, shape: Shape) -> Traced:
        if not any(isinstance(it, Traced) for it in operands):
            raise UntraceableError
        places = tuple(it.place if isinstance(it, Traced) else self._number(it) for it in operands)
        self._steps.append((what, places, dict(wholes)))
        return Traced(self, self._operands + len(self._steps) - 1, shape)

    def _number(self, number: float) -> int:
        self._numbers.append(number)
        return -len(self._numbers)


def traced(
    way: str,
    name: str,
    operands: tuple[Any, ...],
    args: tuple[Any, ...],
    arguments: Mapping[str, Any],
) -> Steps | None:
    """The steps of a call; None where Python has to do it every time.

    The way is a "row" by its name, a "method" of the first operand, or "picked": one array of
    whole numbers as a key.

    >>> steps, numbers, result = traced("row", "mean", (np.ones((2, 3)),), (), {"axis": 0})
    >>> [getattr(what, "name", what) for what, *_ in steps], numbers, result
    (['sum', 'div'], (2.0,), 2)
    """
    trace = Trace(operands)
    try:
        if way == "row":
            return trace.ended(trace(name, *trace.operands, **_stood_in(name, arguments)))
        if way == "picked":
            wholes = Wholes(0, np.shape(args[0]))
            key = (At("n1", wholes.shape),)
            return trace.ended(trace.node("index", trace.operands, {"n1": wholes}, {"key": key}))
        method = vars(Methods)[name]
        function: Any = method.fget if isinstance(method, property) else method
        return trace.ended(function(trace.operands[0], *args, **arguments))
    except UntraceableError:
        return None


def _stood_in(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a row, with stand-ins for its whole numbers in their order."""
    found, count = dict(arguments), 0
    for key, given in arguments.items():
        if key in ARRAYS[name].wholes:
            found[key] = Wholes(count, np.shape(given))
            count += 1
    return found
