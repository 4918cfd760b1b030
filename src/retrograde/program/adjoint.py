"""The gradient as a transform: a program that computes gradients beside its outputs.

Backward is just another program: for every instruction, from the last to the first, it emits
instructions that add ``partial * upstream`` to the adjoint of each operand. The partials come from
the law, as templates of further rows. The first contribution is a plain write, the others use
``fma``; so nothing is zero-filled. Only what the law states is left out as a factor, 1 or -1: a
number of the program's own may be one of a loop's table, and the bits are the same either way.

What a ``take`` did not choose contributes nothing in that row, whatever its slope there: eagerly it
is not under the result at all. So an instruction that is only reached through takes knows in which
rows it is, and its partials count there alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from struct import pack
from typing import Any

from ..errors import NotDifferentiable, NotTwiceDifferentiable
from ..ops import OPS, STRUCTURAL
from .checker import check
from .customs import inlined, key_of
from .program import CONSTANT, Input, Instruction, Program
from .templates import Operand, Template, templates


class Builder:
    """Appends instructions and constants to a program."""

    def __init__(self, program: Program) -> None:
        self.instructions = list(program.instructions)
        self.count = program.count
        self.inputs = dict(program.inputs)
        self.numbers = {i: g.number for i, g in program.inputs.items() if g.is_known}
        self.known = {pack("d", number): i for i, number in self.numbers.items()}
        self.functions = dict(program.functions)

    def constant(self, number: float) -> int:
        """The id of a constant."""
        bits = pack("d", number)
        known = self.known.get(bits)
        if known is None:
            known = self.known[bits] = self.new()
            self.inputs[known] = Input(CONSTANT, "", number)
            self.numbers[known] = number
        return known

    def new(self) -> int:
        """The next id."""
        self.count += 1
        return self.count - 1

    def emit(self, op: str, args: tuple[int, ...], site: int) -> int:
        """Append an instruction; its result."""
        result = self.count
        self.count += 1
        self.instructions.append(Instruction(op, (result,), args, site))
        return result

    def emit_several(
        self,
        op: str,
        count: int,
        args: tuple[int, ...],
        site: int,
        parameters: tuple[Any, ...] = (),
    ) -> tuple[int, ...]:
        """Append an instruction of several results."""
        results = tuple(self.new() for _ in range(count))
        self.instructions.append(Instruction(op, results, args, site, parameters))
        return results

    def partial(self, template: Template, variables: dict[str, int], site: int) -> int | float:
        """A partial as an id, or as a number where the law states one."""
        steps, where = template
        made: list[int] = []

        def resolve(operand: Operand) -> int:
            if isinstance(operand, str):
                return variables[operand]
            if isinstance(operand, float):
                return self.constant(operand)
            return made[operand]

        for op, operands in steps:
            made.append(self.emit(op, tuple([resolve(o) for o in operands]), site))
        return where if isinstance(where, float) else resolve(where)


Sweep = tuple[Sequence[int], Sequence[tuple[int, int]]]
"""One backward pass: with respect to which ids, and pairs of ids: an output and its seed."""


def adjoint(program: Program, wrt: Sequence[int], seeds: Sequence[tuple[int, int]]) -> Program:
    """The program with gradients as further outputs, one an id in ``wrt``.

    ``seeds`` are pairs of ids: an output, and the input or constant that seeds it.
    """
    extended, (gradients,) = adjoints(program, [(wrt, seeds)])
    return extended.replaced(outputs=[*program.outputs, *gradients])


def accounted(
    program: Program, wrt: Sequence[int], seeds: Sequence[tuple[int, int]]
) -> tuple[Program, dict[int, str]]:
    """The same, and which of its new numbers are gradients on their way: by the op that hands on.

    The others are partials in the making, and may be infinite without anybody's harm.
    """
    build = Builder(program)
    sweep = Sweeper(program, wrt, build)
    gradients = sweep.run(seeds)
    extended = program.replaced(
        inputs=build.inputs,
        instructions=build.instructions,
        count=build.count,
        outputs=[*program.outputs, *gradients],
        functions=build.functions,
    )
    return check(extended, "adjoint"), sweep.sums


def adjoints(
    program: Program, sweeps: Sequence[Sweep], apart: bool = False
) -> tuple[Program, list[list[int]]]:
    """The program with several backward passes over it, and the ids of their gradients.

    Seeds that hold ``apart`` are 0 or 1 in a row: an output with the seed 0 is not gone back from
    there at all.
    """
    build = Builder(program)
    gradients = [Sweeper(program, wrt, build).run(seeds, apart) for wrt, seeds in sweeps]
    extended = program.replaced(
        inputs=build.inputs,
        instructions=build.instructions,
        count=build.count,
        functions=build.functions,
    )
    return check(extended, "adjoint"), gradients


class Sweeper:
    """One backward pass over a program."""

    def __init__(self, program: Program, wrt: Sequence[int], build: Builder) -> None:
        self.program = program
        self.wrt = wrt
        self.build = build
        self.adjoints: dict[int, int] = {}
        self.products: dict[int, tuple[int, int]] = {}
        self.active = self._active()
        self.ones: set[int] = set()
        """Seeds that are the number 1."""
        self.takes: dict[tuple[int, ...], list[int]] = {}
        self.taken: dict[int, list[tuple[int, ...]]] = {}
        self.sums: dict[int, str] = {}
        self.now = ""
        self.reached: dict[int, int | None] = {}
        """By id: None where every row reaches it, else a number that is 1 in the rows that do."""

    def _active(self) -> set[int]:
        """What depends on the inputs asked for."""
        active = set(self.wrt)
        for op, results, args, _, _ in self.program.instructions:
            if op != "stop" and not active.isdisjoint(args):
                active.update(results)
        return active

    def run(self, seeds: Sequence[tuple[int, int]], apart: bool = False) -> list[int]:
        """Go back from the outputs; the ids of the gradients."""
        self._note_ones(seeds)
        for output, seed in seeds:
            self._add(output, 1.0, seed, -1, seed if apart else None)
        for instruction in reversed(self.program.instructions):
            self.now = instruction.op
            for result in instruction.results:
                self._flush(result, instruction.site)
            if instruction.op == "scatter":
                self._pick(instruction)
                continue
            if instruction.op in self.program.functions:
                self._hand_on(instruction)
                continue
            upstream = self.adjoints.get(result)
            if upstream is not None and result in self.active:
                self._contribute(instruction, upstream)
        gradients = []
        for wanted in self.wrt:
            self._flush(wanted, -1)
            found = self.adjoints.get(wanted)
            gradients.append(self.build.constant(0.0) if found is None else found)
        return gradients

    def _note_ones(self, seeds: Sequence[tuple[int, int]]) -> None:
        self.ones.update(seed for _, seed in seeds if self.build.numbers.get(seed) == 1.0)

    def _add(
        self,
        target: int,
        partial: int | float,
        upstream: int,
        site: int,
        rows: int | None = None,
    ) -> None:
        """adjoint of target += partial * upstream, in some ``rows`` or in all."""
        if target not in self.active:
            return
        self._reach(target, rows, site)
        build = self.build
        if rows is not None and not (isinstance(partial, float) and isfinite(partial)):
            # elsewhere the upstream is 0, but 0 times an infinite slope is not
            slope = build.constant(partial) if isinstance(partial, float) else partial
            partial = build.emit("take", (build.constant(0.0), slope, rows), site)
        self._accumulate(target, partial, upstream, site)

    def _accumulate(self, target: int, partial: int | float, upstream: int, site: int) -> None:
        build = self.build
        before = self.adjoints.get(target)
        product = self.products.pop(target, None)
        if partial == 1.0 and isinstance(partial, float):
            if before is None:
                after = upstream
            elif product is not None:  # the first contribution, a product: it is fused after all
                after = build.emit("fma", (*product, upstream), site)
            else:
                after = build.emit("add", (before, upstream), site)
        elif partial == -1.0 and isinstance(partial, float):
            if before is None:
                after = build.emit("neg", (upstream,), site)
            else:
                after = build.emit("sub", (before, upstream), site)
        else:
            if isinstance(partial, float):
                partial = build.constant(partial)
            if upstream in self.ones:
                after = partial if before is None else build.emit("add", (before, partial), site)
            elif before is None:
                after = build.emit("mul", (partial, upstream), site)
                self.products[target] = (partial, upstream)
            else:
                after = build.emit("fma", (partial, upstream, before), site)
        self.adjoints[target] = after
        if after >= self.program.count:
            self.sums.setdefault(after, self.now)

    def _reach(self, target: int, rows: int | None, site: int) -> None:
        """The target is reached in ``rows`` too. Of an input nobody asks: it hands nothing on."""
        if target in self.program.inputs:
            return
        before = self.reached.get(target, -1)
        if before == -1 or rows is None:
            self.reached[target] = rows
        elif before is not None and before != rows:
            self.reached[target] = self.build.emit("maximum", (before, rows), site)

    def _choose(self, elements: tuple[int, ...], index: int, rows: int | None, site: int) -> None:
        """Each of the elements is reached in the rows that choose it."""
        build = self.build
        for place, element in enumerate(elements):
            if element not in self.active or element in self.program.inputs:
                continue
            chosen = build.emit("equal", (index, build.constant(float(place))), site)
            if rows is not None:
                chosen = build.emit("mul", (rows, chosen), site)
            self._reach(element, chosen, site)

    def _contribute(self, instruction: Instruction, upstream: int) -> None:
        op, results, args, site, _ = instruction
        rows = self.reached[results[0]]
        row = STRUCTURAL.get(op)
        if row is not None and not row.chooses:
            for arg, partner in zip(args, row.partners(len(args))):
                self._add(arg, 1.0 if partner is None else args[partner], upstream, site, rows)
        elif op == "fma":
            self._add(args[0], args[1], upstream, site, rows)
            self._add(args[1], args[0], upstream, site, rows)
            self._add(args[2], 1.0, upstream, site, rows)
        elif row is not None:
            elements, index = args[:-1], args[-1]
            self.takes.setdefault(elements, []).extend((index, upstream))
            self._choose(elements, index, rows, site)
            for element in elements:
                groups = self.taken.setdefault(element, [])
                if elements not in groups:
                    groups.append(elements)
        else:
            variables = dict(zip(OPS[op].inputs, args))
            variables["z"] = results[0]
            for name, arg, template in zip(OPS[op].inputs, args, templates(op)):
                if arg in self.active:
                    if template is None:
                        raise NotDifferentiable.recorded(op, name, self.program.site(site))
                    partial = self.build.partial(template, variables, site)
                    self._add(arg, partial, upstream, site, rows)

    def _hand_on(self, instruction: Instruction) -> None:
        """The adjoint of a custom op: what its own rule says."""
        op, results, args, site, _ = instruction
        if self.active.isdisjoint(results) or self.adjoints.keys().isdisjoint(results):
            return
        build, function = self.build, self.program.functions[op]
        if function.is_rule:
            raise NotTwiceDifferentiable.rule(function.op.name, self.program.site(site))
        upstream, rows = self.adjoints[results[0]], self.reached[results[0]]
        inputs = args if function.rows is not None else args[1:]
        given = [upstream] * function.op.has_vjp + [*inputs, results[0]]
        if function.template is not None:
            found: Sequence[int] = inlined(
                function.template,
                given,
                build.constant,
                lambda name, count, on, more: build.emit_several(name, count, on, site, more),
                build.functions,
            )
        else:
            key = key_of(build.functions, function.rule_over_rows())
            found = build.emit_several(key, len(inputs), tuple(given), site)
        for target, each in zip(inputs, found):
            if not function.op.has_vjp:
                self._add(target, each, upstream, site, rows)
            elif target in self.active:
                if rows is not None:
                    each = build.emit("take", (build.constant(0.0), each, rows), site)
                self._add(target, 1.0, each, site, rows)

    def _pick(self, scatter: Instruction) -> None:
        """The adjoint of a scatter: each upstream it handed out takes from where it went."""
        _, results, args, site, _ = scatter
        if self.adjoints.keys().isdisjoint(results):
            return
        build = self.build
        zero, one = build.constant(0.0), build.constant(1.0)
        upstreams = tuple([self.adjoints.get(result, zero) for result in results])
        reached = [self.reached.get(result, zero) for result in results]
        everywhere = all(rows is None for rows in reached)
        where = tuple([one if rows is None else rows for rows in reached])
        for index, target in zip(args[::2], args[1::2]):
            if target in self.active:
                rows = None if everywhere else build.emit("take", (*where, index), site)
                self._add(target, 1.0, build.emit("take", (*upstreams, index), site), site, rows)

    def _flush(self, element: int, site: int) -> None:
        """Hand out what takes from lists with this element have gathered, before it is needed."""
        for elements in self.taken.pop(element, ()):
            pairs = self.takes.pop(elements, None)
            if pairs is None:
                continue
            results = tuple(self.build.new() for _ in elements)
            self.build.instructions.append(Instruction("scatter", results, tuple(pairs), site))
            for target, result in zip(elements, results):
                if target in self.active:  # in which rows is known since the takes
                    self._accumulate(target, 1.0, result, site)


def with_input(program: Program, given: Input) -> tuple[Program, int]:
    """The program with one more input, and its id."""
    inputs = {**program.inputs, program.count: given}
    return program.replaced(inputs=inputs, count=program.count + 1), program.count


def with_one(program: Program) -> tuple[Program, int]:
    """The program with a constant 1 of its own, for a seed."""
    return with_input(program, Input(CONSTANT, "", 1.0))


def with_constant(program: Program, number: float) -> tuple[Program, int]:
    """The program with a constant, and its id."""
    bits = pack("d", number)
    for index, given in program.inputs.items():
        if given.is_known and pack("d", given.number) == bits:
            return program, index
    return with_input(program, Input(CONSTANT, "", number))
