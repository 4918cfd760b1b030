"""The gradient of a program with choices: each row takes what its own trace would.

A *choice* is one of two numbers, picked row by row; in a row it is the picked number itself, under
another name. So in each row an adjoint must be added up from the contributions of that row's own
sides, in their order, the first written plainly: adding a zero for the side not taken would change
bits, and 0 × inf would make a NaN. Every adjoint here knows in which rows it has been written, and
contributions are selected into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .adjoint import Builder, Sweep, Sweeper
from .adjoint import adjoints as plain_adjoints
from .checker import check
from .doubts import DoubtError
from .masks import ALL, NONE, Masks
from .program import CHOICE, Instruction, Program
from .selections import Selections


def has_choices(program: Program) -> bool:
    """Whether anything is chosen row by row."""
    return any([instruction.op == CHOICE for instruction in program.instructions])


def adjoint(program: Program, wrt: Sequence[int], seeds: Sequence[tuple[int, int]]) -> Program:
    """The program with gradients as further outputs, one an id in ``wrt``."""
    extended, (gradients,) = adjoints(program, [(wrt, seeds)])
    return extended.replaced(outputs=[*program.outputs, *gradients])


def adjoints(
    program: Program, sweeps: Sequence[Sweep], apart: bool = False
) -> tuple[Program, list[list[int]]]:
    """The program with several backward passes over it, and the ids of their gradients."""
    if not has_choices(program):
        return plain_adjoints(program, sweeps, apart)
    build = Builder(program)
    try:
        gradients = [_swept(program, build, wrt, seeds, apart) for wrt, seeds in sweeps]
    except RecursionError:  # how much of the stack is left is the caller's affair
        raise DoubtError("its conditions depend on each other too deeply") from None
    extended = program.replaced(
        inputs=build.inputs,
        instructions=build.instructions,
        count=build.count,
        functions=build.functions,
    )
    return check(extended, "adjoint"), gradients


def _swept(
    program: Program,
    build: Builder,
    wrt: Sequence[int],
    seeds: Sequence[tuple[int, int]],
    apart: bool,
) -> list[int]:
    """One pass; begun again where choices turn out to share what they hand on to.

    In a chain of choices each pass finds one of them, so from the third on, choices that pick those
    that were found are aliases too, twice as far along each time: no bit is changed by that.
    """
    length = len(build.instructions)
    pickers: dict[int, set[int]] = {}
    for each in program.instructions:
        if each.op == CHOICE:
            for side in each.args[1:]:
                pickers.setdefault(side, set()).add(each.results[0])
    aliases: set[int] = set()
    passes = 0
    while True:
        sweep = _ByRows(program, wrt, build, aliases)
        gradients = sweep.run(seeds, apart)
        if not sweep.conflicts:
            return gradients
        passes += 1
        found = sweep.conflicts
        aliases |= found
        for _ in range(min(2**passes // 4, len(pickers))):
            found = set().union(*[pickers.get(each, ()) for each in found]) - aliases
            aliases |= found
        del build.instructions[length:]


Product = tuple[int, int]
"""A partial and an upstream."""


@dataclass
class _Sum:
    """An adjoint on its way: its number, the rows in which it was written, and those in which it is
    one product so far, which is fused with what comes next where that has the partial 1."""

    number: int
    rows: int
    single: int
    product: Product | None


class _ByRows(Sweeper):
    """A backward pass in which every contribution counts in rows of its own.

    A choice hands its adjoint on when it is reached. Where what it picks is also used after it, in
    the same rows, contributions would be added in another order than in a trace: such a choice is
    an *alias*, and contributions to it go to what it picks at once.
    """

    def __init__(
        self, program: Program, wrt: Sequence[int], build: Builder, aliases: set[int]
    ) -> None:
        super().__init__(program, wrt, build)
        self.sums_of: dict[int, _Sum] = {}
        self.masks = Masks(program)
        self.chosen = Selections(build, self.masks)
        self.aliases, self.conflicts = aliases, set[int]()
        self.picked = {
            i.results[0]: i.args for i in program.instructions if i.results[0] in aliases
        }
        self.handed_on, self.most = 0, 8 * len(program.instructions) + 1000

    # ---- the pass ----------------------------------------------------------------------------

    def run(self, seeds: Sequence[tuple[int, int]], apart: bool = False) -> list[int]:
        """Go back from the outputs; the ids of the gradients."""
        self._note_ones(seeds)
        for output, seed in seeds:
            self._add(output, 1.0, seed, -1, self.masks.where(seed) if apart else ALL)
        for instruction in reversed(self.program.instructions):
            result = instruction.results[0]
            found = self.sums_of.pop(result, None)
            if found is None or result not in self.active:
                continue
            if instruction.op in self.program.functions or len(instruction.results) > 1:
                raise DoubtError("it calls a custom op")
            if instruction.op == "take":
                raise DoubtError("it chooses by an index")
            if instruction.op == CHOICE:
                self._hand_over(result, found, instruction)
            else:
                self.now = instruction.op
                self.reached[result] = found.rows
                self._contribute(instruction, found.number)
        zero = self.build.constant(0.0)
        gradients = []
        for wanted in self.wrt:
            found = self.sums_of.get(wanted)
            gradients.append(
                zero
                if found is None
                else self.chosen.select(found.rows, found.number, zero, ALL, -1)
            )
        return gradients

    def _hand_over(self, choice: int, found: _Sum, instruction: Instruction) -> None:
        """What a choice picked has its adjoint, in the rows that picked it."""
        masks = self.masks
        pending = [(instruction.args, found.rows)]
        while pending:
            (condition, *sides), rows = pending.pop()
            where = self.chosen.where(condition)
            for side, lanes in zip(sides, (where, masks.other(where))):
                lanes = masks.both(lanes, rows)
                if lanes == NONE or side not in self.active:
                    continue
                if side in self.aliases:
                    pending.append((self.picked[side], lanes))
                else:
                    self._move(choice, found, side, lanes, instruction.site)

    def _move(self, choice: int, found: _Sum, side: int, lanes: int, site: int) -> None:
        masks = self.masks
        single = masks.both(found.single, lanes)
        before = self.sums_of.get(side)
        if before is None:
            self.sums_of[side] = _Sum(found.number, lanes, single, found.product)
            return
        if masks.both(before.rows, lanes) != NONE:
            self.conflicts.add(choice)
        either, singles = masks.either(before.rows, lanes), masks.either(before.single, single)
        self.sums_of[side] = _Sum(
            self.chosen.select(lanes, found.number, before.number, either, site),
            either,
            singles,
            self._either(lanes, found.product, before.product, singles, site),
        )

    def _add(
        self,
        target: int,
        partial: int | float,
        upstream: int,
        site: int,
        rows: int | None = None,
    ) -> None:
        """adjoint of target += partial * upstream, in some rows."""
        assert rows is not None
        if target not in self.active:
            return
        pending = [(target, rows)]
        while pending:
            target, rows = pending.pop()
            if rows == NONE or target not in self.active:
                continue
            if target not in self.aliases:
                self._count(target, partial, upstream, site, rows)
                continue
            self.handed_on += 1
            if self.handed_on > self.most:
                raise DoubtError("what it picks is used again and again")
            condition, holds, fails = self.picked[target]
            where = self.chosen.where(condition)
            pending.append((fails, self.masks.both(rows, self.masks.other(where))))
            pending.append((holds, self.masks.both(rows, where)))

    # ---- one contribution --------------------------------------------------------------------

    def _count(
        self, target: int, partial: int | float, upstream: int, site: int, rows: int
    ) -> None:
        masks = self.masks
        before = self.sums_of.get(target)
        if before is None:
            number, product = self._first(partial, upstream, site)
            self.sums_of[target] = _Sum(number, rows, rows if product else NONE, product)
            return
        again, fresh = masks.both(rows, before.rows), masks.both(rows, masks.other(before.rows))
        new_product: Product | None = None
        if again == NONE:
            number, new_product = self._first(partial, upstream, site)
        elif fresh == NONE:
            number = self._later(before, partial, upstream, again, site)
        else:
            later = self._later(before, partial, upstream, again, site)
            number, new_product = self._first(partial, upstream, site)
            number = self.chosen.select(before.rows, later, number, rows, site)
        either = masks.either(rows, before.rows)
        singles = masks.both(before.single, masks.other(rows))
        old_product = before.product if singles != NONE else None
        if new_product is not None:
            singles = masks.either(singles, fresh)
        self.sums_of[target] = _Sum(
            self.chosen.select(rows, number, before.number, either, site),
            either,
            singles,
            self._either(rows, new_product, old_product, singles, site),
        )

    def _first(self, partial: int | float, upstream: int, site: int) -> tuple[int, Product | None]:
        """The first contribution, and the product that it is."""
        build = self.build
        if isinstance(partial, float):
            if partial == 1.0:
                return upstream, None
            if partial == -1.0:
                return build.emit("neg", (upstream,), site), None
            partial = build.constant(partial)
        if upstream in self.ones:
            return partial, None
        return build.emit("mul", (partial, upstream), site), (partial, upstream)

    def _later(
        self, before: _Sum, partial: int | float, upstream: int, rows: int, site: int
    ) -> int:
        """A further contribution, in rows that have one."""
        build, masks = self.build, self.masks
        single = masks.both(rows, before.single)
        if isinstance(partial, float):
            if partial == 1.0:
                return self._added(before, upstream, single, rows, site)
            if partial == -1.0:
                return build.emit("sub", (before.number, upstream), site)
            partial = build.constant(partial)
        if upstream in self.ones:
            return build.emit("add", (before.number, partial), site)
        return build.emit("fma", (partial, upstream, before.number), site)

    def _added(self, before: _Sum, upstream: int, single: int, rows: int, site: int) -> int:
        """A contribution with the partial 1: what is one product so far is fused with it."""
        build = self.build
        if single == NONE:
            return build.emit("add", (before.number, upstream), site)
        assert before.product is not None
        fused = build.emit("fma", (*before.product, upstream), site)
        if single == rows:
            return fused
        return self.chosen.select(
            single, fused, build.emit("add", (before.number, upstream), site), rows, site
        )

    def _either(
        self, rows: int, one: Product | None, other: Product | None, among: int, site: int
    ) -> Product | None:
        """One of two products, picked row by row; what nobody needs of it is dropped later."""
        if one is None or other is None:
            return one or other
        first, second = [self.chosen.select(rows, x, y, among, site) for x, y in zip(one, other)]
        return first, second
