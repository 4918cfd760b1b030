"""A program with shapes → steps over buffers.

Rows that only say where numbers stand become views. A body is written out as rows of the scalar
law over a box, with what is summed behind it; sums of products become matrix products. What is
left (conditions, indices, running totals) is a plan of the array law on operands in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ..._shared import views
from ..._shared.bound import Bound
from ...ops.arrays.flat import strides
from ...ops.arrays.plans import is_product, plan
from ...ops.arrays.programs import NUMBER, NUMBERS, REF, written_out
from ...ops.index import Statement, Term
from .contracting import contracted
from .folding import Folding
from .moving import moved
from .program import CONSTANT, Fixed, Instruction, Looked, Program
from .steps import (
    LARGEST,
    SMALLEST,
    SUM,
    Called,
    Choose,
    Layout,
    Map,
    Move,
    Operand,
    Pack,
    Planned,
    Product,
    Reduce,
    Shape,
    Step,
    squeezed,
    whole,
)

CHOICES = {"argmax": 0, "argmin": 1, "argsort": 2}
"""As ``native/kernels/arrays.h`` numbers them."""


EXTREMES = {"max": LARGEST, "min": SMALLEST}
"""Rows that are reductions where nobody asks for the place."""


class Walk:
    """A term that goes over all of the result by letters, and reads at sums of them."""

    def __init__(self, term: Term) -> None:
        self.lengths = dict(term.loops)
        to = [index.letter.name for index in term.to.at if index.letter is not None]
        self.outer = [name for name in to if self.lengths[name] != 1]
        self.inner = [name for name, n in term.loops if name not in to and n != 1]
        read = term.refs
        self.reads = [(ref.array, [index.affine for index in ref.at]) for ref in read]
        self.is_product = is_product(term)
        self.body = written_out(term.body, read)


class UnloweredError(Exception):
    """More loops than a native step has: NumPy carries the program out."""


class Lowering:
    """Steps, and where the numbers of every id lie.

    Roots are ids, and from ``len(program.shapes)`` on what steps make on the way.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.steps: list[Step] = []
        self.layouts: dict[int, Layout] = {}
        self.sizes: dict[int, int] = {}
        self.folding = Folding(self._constant)
        self._next = len(program.shapes)
        self._number_roots: dict[str, int] = {}
        self._same: dict[object, int] = {}
        self._walks: dict[int, list[Walk]] = {}
        self._views: dict[int, Any] = {}
        self._moves: dict[int, Any] = {}
        self._looked_at = {
            (it.result, it.name)
            for each in program.instructions
            for _, number in each.wholes
            if isinstance(it := program.wholes[number], Looked) and it.result != each.result
        }
        for number, given in program.inputs.items():
            shape = program.shapes[number]
            self.layouts[number] = whole(number, shape)
            self.sizes[number] = prod(shape)
            if given.kind == CONSTANT:
                self.folding.constant(number, given.data)
        for each in program.instructions:
            self._lower(each)

    # ---- instructions --------------------------------------------------------------------------

    def _lower(self, each: Instruction) -> None:
        row = each.row
        layout = self._view(each) if row.implicit is None else None
        if layout is None and row.chosen:
            layout = self._extreme(each)
        if layout is None and not row.chosen and row.implicit is None:
            layout = self._plainly(each)
        if layout is None:
            layout = self._called(each) if _is_foreign(row) else self._moved(each)
        if layout is None:
            layout = self._planned(each)
        self.layouts[each.result] = layout

    def _moved(self, each: Instruction) -> Layout | None:
        """Numbers read, or added up, at places along one axis that whole numbers name."""
        row = each.row
        if id(row) not in self._moves:
            self._moves[id(row)] = moved(row)
        found = self._moves[id(row)]
        if found is None:
            return None
        of = self.layouts[each.operands[0]]
        root = self._root(prod(row.shape))
        result = whole(root, tuple(row.shape))
        number = dict(each.wholes)[found.whole]
        places = strides(self.program.wholes[number].shape)
        there, here = found.walked(result, found.to), found.walked(of, found.read)
        led = result if found.adds else of
        turns = found.along(places, found.places)[1]
        self.steps.append(
            Move(root, found.lengths, there, here, number, turns,
                 led.steps[found.axis], led.shape[found.axis], found.adds)
        )  # fmt: skip
        return result

    def _called(self, each: Instruction) -> Layout:
        """A step that NumPy carries out."""
        row = each.row
        args = tuple(self._in_order(number) for number in each.operands)
        root = self._root(prod(row.shape))
        places = tuple((of.root, of.offset) for of in args)
        self.steps.append(Called(root, row, places, each.wholes))
        return whole(root, tuple(row.shape))

    def _view(self, each: Instruction) -> Layout | None:
        """A row that only says where numbers stand."""
        row = each.row
        if row.name.rstrip("'") == "reshape" and len(each.operands) == 1:
            of = self._in_order(each.operands[0])
            return Layout(of.root, of.offset, tuple(row.shape), strides(row.shape))
        if len(each.operands) != 1:
            return None
        if id(row) not in self._views:
            self._views[id(row)] = views.view_of(row)
        axes = self._views[id(row)]
        if axes is False:
            return None
        of = self.layouts[each.operands[0]]
        offset, steps = of.offset, [0] * len(row.shape)
        wholes = dict(each.wholes)
        for (begin, name, *moves), step in zip(axes, of.steps):
            if name is not None:
                fixed = self.program.wholes[wholes[name]]
                if not isinstance(fixed, Fixed):
                    return None
                begin += int(fixed.array)
            offset += begin * step
            for axis, move in enumerate(moves):
                steps[axis] += move * step
        return Layout(of.root, offset, tuple(row.shape), tuple(steps))

    def _extreme(self, each: Instruction) -> Layout | None:
        """The largest or smallest along axes, where nobody asks for the place."""
        row = each.row
        kind = EXTREMES.get(row.name)
        (chosen,) = row.chosen
        asked = any((each.result, name) in self._looked_at for name in chosen.names)
        of = self.layouts[each.operands[0]]
        if kind is None or asked or 0 in of.shape:
            return None
        kept = tuple(n for axis, n in enumerate(of.shape) if axis not in chosen.axes)
        own = iter(strides(kept))
        along = [0 if axis in chosen.axes else next(own) for axis in range(len(of.shape))]
        out = tuple(step for step, n in zip(along, of.shape) if n != 1)
        root = self._root(prod(kept))
        self.steps.append(Reduce(kind, root, of.squeezed(), out, squeezed(of.shape)))
        return whole(root, tuple(row.shape))

    def _plainly(self, each: Instruction) -> Layout | None:
        """Bodies over boxes, and what is summed; None where a term is not of that kind."""
        row = each.row
        known = dict(zip(row.operands, each.operands))
        if id(row) not in self._walks:
            self._walks[id(row)] = _walks(row.statement, row.shape)
        walks = self._walks[id(row)]
        if not walks:
            return None
        box = squeezed(tuple(row.shape))
        total: Operand | None = None
        for walk in walks:
            one = self._term(walk, known, tuple(row.shape))
            if one is None:
                return None
            total = one if total is None else self._map("add", (total, one), box)
        assert total is not None
        return _unsqueezed(total, tuple(row.shape))

    def _term(self, walk: Walk, known: Mapping[str, int], shape: Shape) -> Operand | None:
        """One term as an operand over the result's box."""
        lengths, outer, inner = walk.lengths, walk.outer, walk.inner
        found = [self._reference(known[array], at) for array, at in walk.reads]
        if inner and 0 in (lengths[name] for name in inner):
            return None
        if inner and walk.is_product:
            a, b = (found * 2)[:2]
            made = contracted(lengths, outer, inner, a, b, shape)
            if made is not None:
                return self._product(made, shape)
        order = outer if not inner else _ordered(outer, inner, found)
        box = tuple(lengths[name] for name in order)
        operands = [
            Operand(root, offset, tuple(steps.get(name, 0) for name in order))
            for root, offset, steps in found
        ]
        body = walk.body
        made_here: dict[int, Operand] = {}

        def operand(it: tuple[int, int]) -> Operand:
            kind, number = it
            if kind == REF:
                return operands[number]
            if kind == NUMBER:
                return self._number(body.numbers[number], len(box))
            return made_here[number]

        for op, room, args in body.steps:
            made_here[room] = self._map(op, tuple(map(operand, args)), box)
        result = operand(body.result)
        if not inner:
            return result
        own = dict(zip(outer, strides(tuple(lengths[name] for name in outer))))
        root = self._root(prod(lengths[name] for name in outer))
        out = tuple(own.get(name, 0) for name in order)
        self.steps.append(Reduce(SUM, root, result, out, box))
        return Operand(root, 0, strides(tuple(lengths[name] for name in outer)))

    def _reference(self, number: int, at: Sequence[Any]) -> tuple[int, int, dict[str, int]]:
        """What a reference reads: a root, where it begins, and a step a letter."""
        of = self.layouts[number]
        offset = of.offset
        steps: dict[str, int] = {}
        for affine, step in zip(at, of.steps):
            for name, factor in affine[0].items():
                steps[name] = steps.get(name, 0) + factor * step
            offset += affine[1] * step
        return of.root, offset, steps

    def _product(self, made: Product, shape: Shape) -> Operand:
        made.result = made.c.root = self._root(prod(shape))
        self.steps.append(made)
        return whole(made.result, shape).squeezed()

    def _planned(self, each: Instruction) -> Layout:
        """The long way: a plan of the array law."""
        row = each.row
        wholes = dict(each.wholes)
        for chosen in row.chosen:
            self._choose(each, chosen, wholes)
        shapes: dict[str, Any] = dict(zip(row.operands, row.shapes))
        shapes.update((name, self.program.wholes[n].shape) for name, n in wholes.items())
        made = plan(row.statement, shapes)
        known = dict(zip(row.operands, each.operands))
        args = []
        for name in made.arrays:
            of = self._in_order(known[name])
            args.append((of.root, of.offset))
        root = self._root(prod(row.shape))
        numbers = tuple(wholes[name] for name in made.wholes)
        self.steps.append(Planned(root, row.name, made, tuple(args), numbers))
        return whole(root, tuple(row.shape))

    def _choose(self, each: Instruction, chosen: Any, wholes: Mapping[str, int]) -> None:
        of = self._in_order(each.operands[each.row.operands.index(chosen.array)])
        (axis,) = chosen.axes
        sizes = (prod(of.shape[:axis]), of.shape[axis], prod(of.shape[axis + 1 :]))
        whole_number = wholes[chosen.names[0]]
        by = CHOICES[chosen.by]
        self.steps.append(Choose(-1, by, sizes, (of.root, of.offset), whole_number))

    # ---- roots ---------------------------------------------------------------------------------

    def _root(self, size: int) -> int:
        self._next += 1
        self.sizes[self._next - 1] = size
        return self._next - 1

    def _constant(self, array: Any) -> int:
        root = self._root(array.size)
        self.folding.constant(root, array)
        return root

    def _number(self, number: float, axes: int) -> Operand:
        key = repr(number)
        if key not in self._number_roots:
            self._number_roots[key] = self._constant(np.array([number]))
        return Operand(self._number_roots[key], 0, (0,) * axes)

    def _map(self, op: str | int, args: tuple[Operand, ...], box: Shape) -> Operand:
        """One row over a box; what is there already, or changes nothing, is no step. Along axes in
        which no operand moves it is carried out once."""
        code = NUMBERS[op] if isinstance(op, str) else op
        known = self.folding.map(code, args, box)
        if known is not None:
            return known
        axes = [axis for axis in range(len(box)) if any(it.steps[axis] for it in args)]
        if len(axes) < len(box):
            few = tuple(it._replace(steps=tuple(it.steps[axis] for axis in axes)) for it in args)
            once = self._map(code, few, tuple(box[axis] for axis in axes))
            steps = dict(zip(axes, once.steps))
            return once._replace(steps=tuple(steps.get(axis, 0) for axis in range(len(box))))
        key = (code, args, box)
        root = self._same.get(key)
        if root is None:
            root = self._same[key] = self._root(prod(box))
            self.steps.append(Map(code, root, args, box))
            self.folding.note(code, root, args)
        return Operand(root, 0, strides(box))

    def _in_order(self, number: int) -> Layout:
        """The layout of an id in the order of C, copied if it has to be."""
        of = self.layouts[number]
        return of if of.in_order else self.packed(of)

    def packed(self, of: Layout) -> Layout:
        """A copy in the order of C."""
        if 0 in of.shape:
            return whole(self._constant(np.empty(0)), of.shape)
        arg = of.squeezed()
        key = ("pack", arg, squeezed(of.shape))
        root = self._same.get(key)
        if root is None:
            root = self._same[key] = self._root(prod(of.shape))
            self.steps.append(Pack(root, arg, squeezed(of.shape)))
        return whole(root, of.shape)


def _is_foreign(row: Bound) -> bool:
    """Whether NumPy carries a row out: it is known by an equation, or looks along several axes."""
    return row.implicit is not None or any(len(it.axes) != 1 for it in row.chosen)


def _walks(statement: Statement, shape: Sequence[int]) -> list[Walk]:
    """The terms of a statement over boxes; none where it is not of that kind."""
    terms = statement.terms
    if statement.wholes or 0 in shape:
        return []
    if statement.how not in ("=", "+=") or (statement.how == "=" and len(terms) > 1):
        return []
    return [Walk(term) for term in terms] if all(_is_plain(it, shape) for it in terms) else []


def _is_plain(term: Term, shape: Sequence[int]) -> bool:
    """Whether a term goes over all of the result by letters, and reads at sums of them."""
    if term.where:
        return False
    lengths = dict(term.loops)
    names = []
    for index, length in zip(term.to.at, shape):
        if index.letter is None:
            if index.number != 0 or length != 1:
                return False
        elif lengths[index.letter.name] != length:
            return False
        else:
            names.append(index.letter.name)
    if len(set(names)) != len(names) or len(term.to.at) != len(shape):
        return False
    return all(index.affine is not None for ref in term.refs for index in ref.at)


def _ordered(
    outer: list[str], inner: list[str], found: Sequence[tuple[int, int, dict[str, int]]]
) -> list[str]:
    """The letters of a sum in an order that goes through the widest operand evenly."""
    widest = max(found, key=lambda it: sum(1 for step in it[2].values() if step), default=None)
    steps = widest[2] if widest is not None else {}
    far = 1 << 62
    return sorted([*outer, *inner], key=lambda name: -abs(steps.get(name, 0) or far))


def _unsqueezed(of: Operand, shape: Shape) -> Layout:
    """An operand over a box as a layout of the shape."""
    own = iter(of.steps)
    return Layout(of.root, of.offset, shape, tuple(0 if n == 1 else next(own) for n in shape))
