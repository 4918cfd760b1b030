"""Plans as words for the native executor (``native/shaped.c``, ``native/kernels/shaped.c``)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ...ops import OPS
from ...ops.arrays.flat import strides
from ...value import native_core
from .arena import inner_roots, placed
from .foreign import Foreign
from .fusing import Group, accumulated, grouped, turned
from .lowering import Lowering, UnloweredError
from .memory import check_bytes
from .ordering import in_order
from .program import ARGUMENT, CAPTURED, Fixed, Given, Program
from .steps import (
    Body,
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
    squeezed,
)

BOX, PACK, MATRICES, PLANNED, CHOOSE, CALLED, MOVE = range(7)
IN_ARENA, IN_CONSTANTS, IN_ARGUMENTS, IN_CAPTURED, IN_OUTPUTS = range(5)
"""Where a slot lies."""

MOST_LOOPS = 8
"""Loops of a step, as ``native/kernels/shaped.h`` has it."""

WORTH_RELEASING = 20_000
"""Numbers that a run goes through, from which on it lets other threads go on."""

_ARITY = [op.arity for op in OPS.values()]


class Packed:
    """A program as the native executor takes it; ``groups`` and ``layouts`` are for people,
    ``bodies`` for those who compile them: one a box."""

    def __init__(self, program: Program, arguments: int, captured: int) -> None:
        self.program = program
        lowering = Lowering(program)
        self.lowering = lowering
        self.constants: list[Any] = []
        self.data: list[Any] = []
        self.plans: list[Any] = []
        self.calls: list[Any] = []
        self.bodies: list[Body] = []
        self._slots: dict[int, int] = {}
        self._slot_words: list[int] = []
        roots = program.roots
        steps, renamed = accumulated(lowering.steps, set())
        layouts = {
            number: of._replace(root=renamed.get(of.root, of.root))
            for number, of in lowering.layouts.items()
        }
        steps, layouts = turned(steps, layouts, roots)
        steps = in_order(steps, {layouts[number].root for number in roots})
        homes, more = self._outputs(roots, layouts, {step.result for step in steps})
        self.groups = grouped([*steps, *more])
        kept = {layouts[number].root for number in roots}
        outside = inner_roots(self.groups, kept | set(homes))
        self._hidden = outside
        self.places, self.arena = placed(self.groups, lowering.sizes, outside | set(homes))
        self._homes = homes
        check_bytes(8 * (self.arena + sum(prod(program.shapes[it]) for it in program.outputs)))
        words: list[int] = [len(self.groups)]
        for group in self.groups:
            words += self._group(group)
        wholes, found = self._wholes()
        self.work = sum(_work(group) for group in self.groups)
        self.capsule = native_core.shaped_plan(
            array("q", words).tobytes(),
            array("q", self._slot_words).tobytes(),
            array("q", wholes).tobytes(),
            tuple(self.constants),
            tuple(self.data),
            tuple(self.plans),
            tuple(self.calls),
            tuple(program.shapes[number] for number in program.outputs),
            bytes(guard.outcome for guard in program.guards),
            (self.arena, found, arguments, captured, self.work >= WORTH_RELEASING),
        )

    # ---- outputs, slots ------------------------------------------------------------------------

    def _outputs(
        self, roots: Sequence[int], layouts: dict[int, Layout], made: set[int]
    ) -> tuple[dict[int, int], list[Pack]]:
        """The roots that lie in outputs, and the copies of those that cannot."""
        homes: dict[int, int] = {}
        copies: list[Pack] = []
        sizes = self.lowering.sizes
        for place, number in enumerate(roots):
            of = layouts[number]
            whole = of.in_order and of.offset == 0 and sizes[of.root] == prod(of.shape)
            if whole and of.root in made and of.root not in homes:
                homes[of.root] = place
                continue
            root = -2 - place
            sizes[root] = prod(of.shape)
            homes[root] = place
            if 0 not in of.shape:
                copies.append(Pack(root, of.squeezed(), squeezed(of.shape)))
        return homes, copies

    def _slot(self, root: int) -> int:
        known = self._slots.get(root)
        if known is not None:
            return known
        size = self.lowering.sizes[root]
        given = self.program.inputs.get(root)
        if root in self._homes:
            kind, number = IN_OUTPUTS, self._homes[root]
        elif root in self.lowering.folding.constants:
            kind, number = IN_CONSTANTS, len(self.constants)
            self.constants.append(np.ascontiguousarray(self.lowering.folding.constants[root]))
        elif given is not None:
            kind = IN_ARGUMENTS if given.kind == ARGUMENT else IN_CAPTURED
            assert given.kind in (ARGUMENT, CAPTURED)
            number = given.number
        else:
            kind, number = IN_ARENA, self.places[root]
        self._slots[root] = len(self._slots)
        self._slot_words += [kind, number, size]
        return self._slots[root]

    def _wholes(self) -> tuple[list[int], int]:
        """The table of whole numbers, and how many are found by looking."""
        words: list[int] = []
        found = 0
        places: dict[tuple[int, str], int] = {}
        for whole in self.program.wholes:
            size = prod(whole.shape)
            if isinstance(whole, Fixed):
                words += [0, len(self.data), size, 0, 0]
                self.data.append(np.ascontiguousarray(whole.array, dtype=np.int64))
            elif isinstance(whole, Given):
                words += [1, len(self.data), size, whole.argument, whole.length]
                self.data.append(np.ascontiguousarray(whole.at, dtype=np.int64))
            else:
                at = places.setdefault((whole.result, whole.name), found)
                words += [2, at, size, 0, 0]
                found += size if at == found else 0
        return words, found

    # ---- steps ---------------------------------------------------------------------------------

    def _group(self, group: Group) -> list[int]:
        if group.box is not None:
            return self._box(group, group.box)
        (step,) = group.steps
        if isinstance(step, Pack):
            loops, (steps,) = joined(step.box, [step.arg.steps])
            _check_loops(loops)
            return [PACK, len(loops), *loops, self._slot(step.result), self._slot(step.arg.root),
                    step.arg.offset, *steps]  # fmt: skip
        if isinstance(step, Product):
            _check_loops(step.loops)
            words = [MATRICES, len(step.loops), *step.loops, *step.sizes, int(step.adds)]
            for it in (step.a, step.b, step.c):
                words += [self._slot(it.root), it.offset, it.row, it.column, *it.turns]
            return words
        if isinstance(step, Choose):
            return [CHOOSE, step.by, *step.sizes, self._slot(step.arg[0]), step.arg[1], step.whole]
        if isinstance(step, Called):
            return self._called(step)
        if isinstance(step, Move):
            _check_loops(step.loops)
            words = [MOVE, len(step.loops), *step.loops, int(step.adds), step.whole, step.scale,
                     step.limit, *step.turns]  # fmt: skip
            for side in (step.to, step.arg):
                words += [self._slot(side.root), side.offset, *side.steps]
            return words
        assert isinstance(step, Planned)
        self.plans.append(native_core.array_plan(step.plan.words, step.plan.numbers))
        words = [PLANNED, len(self.plans) - 1, self._slot(step.result), len(step.args)]
        for root, offset in step.args:
            words += [self._slot(root), offset]
        return [*words, len(step.wholes), *step.wholes]

    def _called(self, step: Called) -> list[int]:
        self.calls.append(Foreign(step.row, step.wholes, self.program))
        row = step.row
        words = [CALLED, len(self.calls) - 1, 1 + len(step.args)]
        words += [self._slot(step.result), 0, prod(row.shape)]
        for (root, offset), shape in zip(step.args, row.shapes):
            words += [self._slot(root), offset, prod(shape)]
        return [*words, len(step.wholes), *(number for _, number in step.wholes)]

    def _box(self, group: Group, box: Shape) -> list[int]:
        """A body over a box: operands read, then those written, then rows and reductions."""
        order = strides(box)
        reads: dict[Operand, int] = {}
        writes: list[Operand] = []
        for step in group.steps:
            for it in step.args if isinstance(step, Map) else (step.arg,):
                if it.root not in group.inside:
                    reads.setdefault(it, len(reads))
        register: dict[int, int] = {}
        for step in group.steps:
            if isinstance(step, Map) and step.result not in self._hidden:
                register[step.result] = len(reads) + len(writes)
                writes.append(Operand(step.result, 0, order))
        outs = {}
        for step in group.steps:
            if isinstance(step, Reduce):
                outs[step.result] = len(reads) + len(writes)
                writes.append(Operand(step.result, 0, step.out))
        operands = [*reads, *writes]
        # a sum goes along the last axis first, whatever it stands beside
        apart = any(isinstance(step, Reduce) and step.out[-1:] == (0,) for step in group.steps)
        loops, steps = joined(box, [it.steps for it in operands], apart)
        _check_loops(loops)
        words = [BOX, len(loops), *loops, len(operands), len(reads)]
        for it, own in zip(operands, steps):
            words += [self._slot(it.root), it.offset, *own]
        rows, reductions = self._body(group, reads, register, outs, len(operands))
        summed = {source for _, source, _ in reductions}
        alike = {at for at, own in enumerate(steps[: len(reads)]) if not any(own)} - summed
        made = {to for _, to, *_ in rows}
        kept = {it for it in made if it < len(operands)} | (made & summed)
        self.bodies.append(
            Body(len(operands), len(reads), frozenset(alike), frozenset(kept), tuple(rows))
        )
        return [*words, len(rows), *(w for row in rows for w in row),
                len(reductions), *(w for one in reductions for w in one)]  # fmt: skip

    def _body(
        self, group: Group, reads: dict[Operand, int], register: dict[int, int],
        outs: dict[int, int], operands: int,
    ) -> tuple[list[tuple[int, ...]], list[list[int]]]:  # fmt: skip
        """Rows and reductions on registers; rooms are given again after their last use."""
        last: dict[int, int] = {}
        for place, step in enumerate(group.steps):
            end = place if isinstance(step, Map) else len(group.steps)  # reductions come last
            for root in step.reads:
                last[root] = max(last.get(root, 0), end)
        rows: list[tuple[int, ...]] = []
        reductions: list[list[int]] = []
        free: list[int] = []
        count = 0

        def of(it: Operand) -> int:
            return register[it.root] if it.root in group.inside else reads[it]

        for place, step in enumerate(group.steps):
            if isinstance(step, Reduce):
                reductions.append([step.kind, of(step.arg), outs[step.result]])
                continue
            args = [of(it) for it in step.args]
            for root in {it.root for it in step.args}:
                if root in self._hidden and root in group.inside and last[root] == place:
                    free.append(register[root])
            if step.result not in register:
                if free:
                    register[step.result] = free.pop()
                else:
                    register[step.result] = operands + count
                    count += 1
            args += [args[0]] * (3 - len(args))
            rows.append((step.op, register[step.result], *args))
        return rows, reductions


def _check_loops(loops: Sequence[int]) -> None:
    if len(loops) > MOST_LOOPS:
        raise UnloweredError(f"a step of {len(loops)} loops")


def joined(
    box: Shape, steps: Sequence[Shape], apart: bool = False
) -> tuple[list[int], list[list[int]]]:
    """Axes along which all operands go on evenly, as one; the lengths, and the steps of each. The
    last stays ``apart`` where that is asked for.

    >>> joined((2, 3, 4), [(12, 4, 1), (0, 4, 1)])
    ([2, 12], [[12, 1], [0, 1]])
    """
    loops: list[int] = []
    found: list[list[int]] = [[] for _ in steps]
    for axis, length in enumerate(box):
        last = apart and axis == len(box) - 1
        if (
            loops
            and not last
            and all(own[-1] == it[axis] * length for own, it in zip(found, steps))
        ):
            loops[-1] *= length
            for own, it in zip(found, steps):
                own[-1] = it[axis]
            continue
        loops.append(length)
        for own, it in zip(found, steps):
            own.append(it[axis])
    return loops, found


def _work(group: Group) -> int:
    """About how many numbers a group goes through."""
    if group.box is not None:
        return prod(group.box) * len(group.steps)
    (step,) = group.steps
    if isinstance(step, Product):
        return prod(step.sizes) * prod(step.loops) // 8
    if isinstance(step, Planned):
        return prod(step.plan.shape)
    if isinstance(step, Called):
        return prod(step.row.shape)
    if isinstance(step, Move):
        return prod(step.loops)
    return prod(step.box) if isinstance(step, Pack) else prod(step.sizes)
