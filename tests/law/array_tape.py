"""A tape on the array law, for its tests: it carries out rows by NumPy or by the loop oracle.

It shares nothing with the cores but the law, so the law is tried apart from their nodes, walkers
and kernels. Gradients are statements of the one adjoint rule, carried out like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from retrograde._shared import factors, loops
from retrograde.ops.array import ARRAYS
from retrograde.ops.arrays.adjoint import Adjoint, adjoint
from retrograde.ops.arrays.binding import normal_axes
from retrograde.ops.arrays.places import At, located, moved
from retrograde.ops.arrays.row import Composed, Implicit, Row
from retrograde.ops.index import Array, Chosen, Read, Shape, Statement, Term, refs

KEPT = 4096
"""How many statements and adjoints are kept."""


class Tensor:
    """An array, and how it was made.

    ``inputs`` and ``wholes`` are what its statement reads, by the names it uses; an implicit row's
    statement is its equation.
    """

    __slots__ = ("data", "implicit", "inputs", "requires_grad", "row", "statement", "wholes")

    def __init__(
        self,
        data: Any,
        row: str = "leaf",
        statement: Statement | None = None,
        inputs: Mapping[str, Tensor] | None = None,
        wholes: Mapping[str, Any] | None = None,
        implicit: Implicit | None = None,
        requires_grad: bool = True,
    ) -> None:
        self.data = np.asarray(data, dtype=float)
        self.row, self.statement, self.implicit = row, statement, implicit
        self.inputs, self.wholes = inputs or {}, wholes or {}
        self.requires_grad = requires_grad

    @property
    def shape(self) -> Shape:
        """Its shape."""
        return self.data.shape

    def __repr__(self) -> str:
        return f"Tensor({self.data}, row={self.row!r})"


class Evaluator(Protocol):
    """Who computes: NumPy, or the loop oracle."""

    def run(self, statement: Statement, arrays: Mapping[str, Any]) -> Any:
        """What a statement makes of arrays."""

    def choose(self, chosen: Chosen, array: Any) -> tuple[Any, ...]:
        """The places a row finds by looking."""


class Tensors:
    """Carries out rows of the array law on tensors.

    >>> do = Tensors()
    >>> x, w = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[10.0], [1.0]])
    >>> loss = do("sum", do("matmul", x, w))
    >>> [gradient.data.tolist() for gradient in do.gradients(loss, [x, w])]
    [[[10.0, 1.0], [10.0, 1.0]], [[4.0], [6.0]]]
    """

    def __init__(self, evaluator: Evaluator = loops) -> None:
        self._evaluator = evaluator
        self._states: dict[tuple[object, ...], Statement] = {}
        self._adjoints: dict[tuple[object, ...], tuple[Statement, Adjoint]] = {}

    def __call__(
        self,
        name: str,
        *operands: Tensor | float,
        wholes: Mapping[str, Any] | None = None,
        **arguments: Any,
    ) -> Any:
        """One row on tensors and numbers; split gives a list, every other row a tensor."""
        row = ARRAYS[name]
        given = [
            it if isinstance(it, Tensor) else Tensor(it, requires_grad=False) for it in operands
        ]
        if isinstance(row, Composed):
            return row.make(self, *given, **arguments)
        if isinstance(row, Implicit):
            return self._solved(row, given)
        inputs = dict(zip(row.names(len(given)), given))
        numbers = dict(wholes or {})
        numbers.update((key, arguments.pop(key)) for key in row.wholes if key in arguments)
        numbers = {key: np.asarray(it, dtype=np.intp) for key, it in numbers.items()}
        shapes = {key: np.shape(it) for key, it in numbers.items() if key in row.wholes}
        shapes = {**{key: it.shape for key, it in inputs.items()}, **shapes}
        statement = self._stated(row, shapes, arguments)
        return self._made(name, statement, inputs, _from_the_front(statement, inputs, numbers))

    def shape(self, operand: Tensor) -> Shape:
        """The shape of a tensor."""
        return operand.shape

    def fill(self, shape: Shape, number: float) -> Tensor:
        """A tensor of one number, which takes no gradient."""
        return Tensor(np.full(shape, float(number)), requires_grad=False)

    def stop(self, operand: Tensor) -> Tensor:
        """The same numbers as a leaf that takes no gradient."""
        return Tensor(operand.data, requires_grad=False)

    # ---- indexing -------------------------------------------------------------------------

    def index(self, x: Tensor, key: Any) -> Tensor:
        """``x[key]`` as in NumPy: basic, by whole numbers, by masks."""
        entries, wholes = named_key(key, x.shape)
        made: Tensor = self("index", x, key=entries, wholes=wholes)
        return made

    def add_at(self, x: Tensor, key: Any, y: Tensor | float) -> Tensor:
        """x with y added at ``x[key]``; a place named twice receives twice."""
        entries, wholes = named_key(key, x.shape)
        made: Tensor = self("add_at", x, y, key=entries, wholes=wholes)
        return made

    def put(self, x: Tensor, key: Any, y: Tensor | float) -> Tensor:
        """x with ``x[key]`` replaced by y; of a place named twice the last one stays."""
        entries, wholes = named_key(key, x.shape)
        places, at, lengths, selection = located(x.shape, entries)
        written = moved(places, Array("y")[tuple(at)], lengths)
        order = np.arange(1.0, np.prod(selection) + 1.0).reshape(selection)
        turns = Statement((_in_order(written, lengths),), x.shape)
        numbers = _from_the_front(turns, {}, wholes, {"z": x.shape})
        writer = np.asarray(self._evaluator.run(turns, {**numbers, "y": order})) - 1.0
        made: Tensor = self("put", x, y, selection=selection, w=writer.astype(np.intp))
        return made

    # ---- what needs whole numbers or signs besides ------------------------------------------

    def choice(self, by: str, x: Tensor, axis: int | None = None) -> Any:
        """``argmax``, ``argmin`` or ``argsort`` as in NumPy: whole numbers, without a gradient.

        >>> Tensors().choice("argmax", Tensor([[1.0, 5.0], [7.0, 2.0]]), axis=1).tolist()
        [1, 0]
        """
        flat = axis is None
        data = x.data.reshape(-1) if flat else x.data
        axes = normal_axes(0 if axis is None else axis, data.ndim)
        (found,) = self._evaluator.choose(Chosen(("m",), by, "x", axes), data)
        return found

    def slogdet(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The sign of the determinant, which takes no gradient, and the logarithm of its size."""
        logarithm: Tensor = self("logabsdet", x)
        return Tensor(np.linalg.slogdet(x.data)[0], requires_grad=False), logarithm

    def det(self, x: Tensor) -> Tensor:
        """The determinant of a regular matrix."""
        sign, logarithm = self.slogdet(x)
        made: Tensor = self("mul", sign, self("exp", logarithm))
        return made

    # ---- backward --------------------------------------------------------------------------

    def contributions(self, node: Tensor, upstream: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """What a node hands to each input that takes gradients."""
        if node.statement is None:
            return
        if node.implicit is not None:
            upstream = node.implicit.undo(self, upstream, node, node.inputs)
        for name, operand in node.inputs.items():
            if operand.requires_grad and name in node.statement.reads:
                yield operand, self._contribution(node, name, operand, upstream)

    def gradients(
        self, root: Tensor, wrt: Sequence[Tensor], seed: Tensor | None = None
    ) -> list[Tensor]:
        """The gradients of the sum of the root's numbers, as tensors in the graph."""
        upstream = {id(root): seed or self.fill(root.shape, 1.0)}
        for node in reversed(order(root)):
            if id(node) in upstream:
                for operand, amount in self.contributions(node, upstream[id(node)]):
                    before = upstream.get(id(operand))
                    upstream[id(operand)] = amount if before is None else self(
                        "add", before, amount
                    )  # fmt: skip
        return [upstream.get(id(it)) or self.fill(it.shape, 0.0) for it in wrt]

    def _contribution(self, node: Tensor, name: str, operand: Tensor, upstream: Tensor) -> Tensor:
        assert node.statement is not None
        back = self._adjoint(node.statement, name, operand.shape)
        inputs = {**node.inputs, back.upstream: upstream, back.own: node}
        if node.implicit is not None:
            inputs["s"] = node
        for made, statement in back.others:
            inputs[made] = self._made(f"{node.row}'", statement, inputs, node.wholes)
        gradient = self._made(f"{node.row}'", back.statement, inputs, node.wholes)
        return gradient if node.implicit is None else self("neg", gradient)

    # ---- statements, kept: a program makes the same ones again and again ----------------------

    def _stated(
        self, row: Row, shapes: Mapping[str, Shape], arguments: Mapping[str, Any]
    ) -> Statement:
        key = (row.name, *shapes.items(), repr(arguments))
        if key not in self._states:
            _make_room(self._states)
            self._states[key] = row.state(shapes, **arguments)
        return self._states[key]

    def _adjoint(self, statement: Statement, operand: str, shape: Shape) -> Adjoint:
        key = (id(statement), operand, shape)  # kept with the statement, so its id stays its own
        if key not in self._adjoints:
            _make_room(self._adjoints)
            self._adjoints[key] = (statement, adjoint(statement, operand, shape))
        return self._adjoints[key][1]

    # ---- making nodes ----------------------------------------------------------------------

    def _made(
        self,
        name: str,
        statement: Statement,
        inputs: Mapping[str, Tensor],
        wholes: Mapping[str, Any],
    ) -> Tensor:
        read = {key: it for key, it in inputs.items() if key in statement.reads}
        found = dict(wholes)
        for chosen in statement.chosen:
            found.update(
                zip(chosen.names, self._evaluator.choose(chosen, inputs[chosen.array].data))
            )
        found = {key: it for key, it in found.items() if key in statement.wholes}
        data = self._evaluator.run(statement, {**{k: it.data for k, it in read.items()}, **found})
        takes = any(it.requires_grad for it in read.values())
        return Tensor(data, name, statement, read, found, requires_grad=takes)

    def _solved(self, row: Implicit, operands: Sequence[Tensor]) -> Tensor:
        inputs = dict(zip(row.operands, operands))
        arrays = {key: it.data for key, it in inputs.items()}
        if min(it.data.ndim for it in operands) < 2:
            raise ValueError(f"{row.name}: needs operands of at least two axes")
        data, wholes = factors.factor(row.name, arrays)
        shapes = {key: it.shape for key, it in inputs.items()}
        whole_shapes = {key: np.shape(it) for key, it in wholes.items()}
        statement = row.state({**shapes, "s": data.shape, **whole_shapes})
        takes = any(it.requires_grad for it in operands)
        return Tensor(data, row.name, statement, inputs, wholes, row, takes)


def _make_room(kept: dict[Any, Any]) -> None:
    if len(kept) >= KEPT:
        kept.clear()


def order(root: Tensor) -> list[Tensor]:
    """Everything under a tensor, each after its inputs; without recursion."""
    done: list[Tensor] = []
    seen = {id(root)}
    stack = [(root, iter(root.inputs.values()))]
    while stack:
        node, rest = stack[-1]
        for operand in rest:
            if id(operand) not in seen and operand.requires_grad:
                seen.add(id(operand))
                stack.append((operand, iter(operand.inputs.values())))
                break
        else:
            stack.pop()
            done.append(node)
    return done


def named_key(key: Any, shape: Shape) -> tuple[tuple[object, ...], dict[str, Any]]:
    """A key of NumPy's with its arrays named: masks become the places where they are true."""
    given = [_entry(entry) for entry in (key if isinstance(key, tuple) else (key,))]
    spans = [_span(entry) for entry in given]
    entries: list[object] = []
    wholes: dict[str, Any] = {}
    axis = 0
    for place, (entry, span) in enumerate(zip(given, spans)):
        if entry is Ellipsis:
            axis = len(shape) - sum(spans[place:])
        if not isinstance(entry, np.ndarray):
            entries.append(entry)
            axis += span
            continue
        if entry.dtype.kind == "b" and entry.shape != shape[axis : axis + span]:
            raise IndexError(f"a mask of shape {entry.shape} does not fit axes {shape[axis:]}")
        for part in np.nonzero(entry) if entry.dtype.kind == "b" else (entry,):
            name = f"n{len(wholes) + 1}"
            wholes[name] = np.asarray(part, dtype=np.intp)
            entries.append(At(name, part.shape))
        axis += span
    return tuple(entries), wholes


def _entry(entry: Any) -> Any:
    """One entry of a key: a whole number, a slice, None, an ellipsis, or an array."""
    if isinstance(entry, (bool, np.bool_)):
        raise IndexError("a single True or False is no index here; use a mask with axes")
    if isinstance(entry, (int, np.integer)):
        return int(entry)
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return entry
    array = np.asarray(entry)
    if array.size == 0 and array.dtype.kind == "f":  # an empty list
        array = array.astype(np.intp)
    if array.dtype.kind not in "iub":
        raise IndexError(f"an index is of whole numbers or of bools, not {array.dtype}")
    return array


def _span(entry: Any) -> int:
    """How many axes an entry stands for; an ellipsis is counted afterwards."""
    if isinstance(entry, np.ndarray) and entry.dtype.kind == "b":
        return entry.ndim
    return int(entry is not None and entry is not Ellipsis)


def _in_order(term: Term, lengths: Mapping[str, int]) -> Term:
    """The loops in the order of the selection, so that the last to be written stays."""
    return replace(term, loops=tuple(lengths.items()))


def _from_the_front(
    statement: Statement,
    inputs: Mapping[str, Tensor],
    wholes: Mapping[str, Any],
    shapes: Mapping[str, Shape] | None = None,
) -> dict[str, Any]:
    """Whole numbers that pick places, counted from the front; out of range is refused."""
    found = dict(wholes)
    known = {**{name: it.shape for name, it in inputs.items()}, **(shapes or {})}
    known.setdefault("z", statement.shape)
    for term in statement.terms:
        if term.where:
            continue  # what is read there is told apart by its sign
        for ref in (term.to, *refs(term.body)):
            for place, index in enumerate(ref.at):
                only = index.parts[0][0] if len(index.parts) == 1 else ()
                if len(only) == 1 and isinstance(only[0], Read) and only[0].array in wholes:
                    name, length = only[0].array, known[ref.array][place]
                    found[name] = _counted(wholes[name], length, place)
    return found


def _counted(numbers: Any, length: int, axis: int) -> Any:
    if numbers.size and not (-length <= numbers.min() and numbers.max() < length):
        wrong = numbers[(numbers < -length) | (numbers >= length)].flat[0]
        raise IndexError(f"index {wrong} is out of bounds for axis {axis} of length {length}")
    return np.where(numbers < 0, numbers + length, numbers)
