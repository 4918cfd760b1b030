"""The story of one row of a compiled function, read off the program that replays it.

Numbers come from the replay's own kernels; steps, names and words are those of the story of the
same function called on values. What exists only in programs is told as eager code would have it: a
``take`` is the item it chose, a ``stop`` a leaf without gradient, a condition a plain number.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._shared.sites import Site, Span, site_of, span_of
from ..errors import CompileError
from ..ops.sentences import shown
from ..program.calling import Replayable
from ..program.executor import executor
from ..program.program import CAPTURED, CONSTANT, Program
from ..program.traces import Family, Trace, shared_length
from ..value import core
from .columns import Columns, Pulled
from .entries import Place
from .names import Variables, given_names
from .reading import partials_of
from .spelling import symbol_of
from .story import Story

_COMPARISONS = frozenset(("less", "less_equal", "equal"))


def story_of_row(
    compiled: Replayable, args: Sequence[Any], kwargs: dict[str, Any], row: int
) -> Story:
    """The story of one row; :meth:`Replayable.story` is this."""
    args = [_one_row(arg, row, compiled) for arg in args]
    kwargs = {name: _one_row(arg, row, compiled) for name, arg in kwargs.items()}
    bound, shapes = compiled._bind(args, kwargs)
    family = compiled._family(bound, shapes)
    compiled._check_single(family)
    found = _fitting(family, bound.numbers)
    if found is None:  # a path that nobody took yet: recorded for this story alone
        trace = compiled._record(bound, shapes, bound.numbers, b"")
        if trace is None:
            compiled(*args, **kwargs)  # says which branch has no recording
            raise AssertionError("a row that replays has a trace")
        found = trace, _evaluated(trace, bound.numbers)
    reader = _Reader(*found)
    reader.read(found[0].program.outputs[0])
    return Story(reader.columns, Pulled(reader.columns, 1.0), 1.0)


def _fitting(family: Family, arguments: Sequence[float]) -> tuple[Trace, list[float]] | None:
    """The trace that a row follows, with all its numbers; None where it was never recorded."""
    trace = family.traces[0]
    while True:
        numbers = _evaluated(trace, arguments)
        answers = bytes([numbers[guard.condition] != 0.0 for guard in trace.program.guards])
        shared = shared_length(answers, trace.path)
        if shared == len(trace.path):
            return trace, numbers
        route, left_at = family.route_after(answers[: shared + 1])
        if left_at is not None:
            return None
        trace = route.trace


def _one_row(nest: Any, row: int, compiled: Replayable) -> Any:
    """Arguments with only one row in each array."""
    if isinstance(nest, np.ndarray) and nest.ndim:
        if not -len(nest) <= row < len(nest):
            raise CompileError.call(compiled._name, f"there is no row {row}: {len(nest)} rows")
        place = row % len(nest)
        return nest[place : place + 1]
    if isinstance(nest, dict):
        return {key: _one_row(part, row, compiled) for key, part in nest.items()}
    if isinstance(nest, (list, tuple)):
        parts = [_one_row(part, row, compiled) for part in nest]
        return type(nest)(*parts) if hasattr(nest, "_fields") else type(nest)(parts)
    return nest


def _evaluated(trace: Trace, arguments: Sequence[float]) -> list[float]:
    """Every number of the program for one row, by the replay's kernels."""
    program = trace.program
    numbers = [0.0] * program.count
    captured = iter(trace.captured)
    for index, given in program.inputs.items():
        if given.kind == CONSTANT:
            numbers[index] = given.number
        elif given.kind == CAPTURED:
            numbers[index] = next(captured).data
        else:
            numbers[index] = arguments[index]
    for op, results, args, _, _ in program.instructions:
        operands = tuple([numbers[arg] for arg in args])
        if op in program.functions:
            numbers[results[0]] = program.functions[op].at(operands)
        else:
            numbers[results[0]] = _computed(op, operands)
    return numbers


def _computed(op: str, operands: tuple[float, ...]) -> float:
    if op == "stop":
        return operands[0]
    if op == "take":
        return operands[_taken(operands)]
    if op in ("sum", "dot"):
        half = len(operands) // 2
        terms = operands if op == "sum" else [
            left * right for left, right in zip(operands[:half], operands[half:])
        ]  # fmt: skip
        total = terms[0]
        for term in terms[1:]:
            total += term
        return total
    return executor.evaluate(op, operands)


def _taken(operands: Sequence[float]) -> int:
    """Which item a take chose; the index is its last operand."""
    return min(max(int(operands[-1]), 0), len(operands) - 2)


class _Reader:
    """Fills columns from a program, in the order the engine would visit the same values."""

    def __init__(self, trace: Trace, numbers: Sequence[float]) -> None:
        self.program: Program = trace.program
        self.numbers = numbers
        self.columns = Columns.empty()
        self._made_by = {it.results[0]: it for it in self.program.instructions}
        captured = (i for i, given in self.program.inputs.items() if given.kind == CAPTURED)
        self._captured = dict(zip(captured, trace.captured))
        self._takes, self._plain = self._gradients()
        self._variables = Variables()
        self._wanted: list[str | None] = []
        self._spans: list[Span | None] = []
        sites = self.program.sites  # files keep no spans
        for site, span in zip(sites, self.program.spans or [None] * len(sites)):
            self._add_site(site, span)

    def _add_site(self, site: Site, span: Span | None) -> int:
        text = linecache.getline(site.file, site.line).strip()
        self.columns.sites.append(Place(site.file, site.line, site.function, text or None))
        self._spans.append(span)
        return len(self._spans) - 1

    def _gradients(self) -> tuple[bytearray, bytearray]:
        """Which numbers take gradients, and which are plain numbers in eager code: operands that
        were numbers, and conditions."""
        program = self.program
        takes, plain, truth = (bytearray(program.count) for _ in range(3))
        for index, given in program.inputs.items():
            if given.kind == CONSTANT:
                takes[index] = program.made.get(index, (False, -1))[0]
                plain[index] = index not in program.made
            elif given.kind == CAPTURED:
                takes[index] = self._captured[index].requires_grad
            else:
                takes[index] = True
        for op, results, args, _, _ in program.instructions:
            result = results[0]
            args = self._inputs(op, args)
            if op == "take":
                chosen = self._chosen(args)
                takes[result], plain[result] = takes[chosen], plain[chosen]
                continue
            truth[result] = op in _COMPARISONS or all(truth[arg] or plain[arg] for arg in args)
            plain[result] = all(plain[arg] for arg in args) or (
                op == "stop" and (truth[args[0]] or self._is_shift(args[0]))
            )
            takes[result] = op != "stop" and any(takes[arg] for arg in args)
        return takes, plain

    def _is_shift(self, index: int) -> bool:
        """Whether this is what softmax and logsumexp subtract, a plain number in eager code: the
        largest term, or 0 where that is not finite."""
        made = self._made_by.get(index)
        if made is None or made.op != "where":
            return False
        finite = self._made_by.get(made.args[0])
        if finite is None or finite.op != "less" or self.numbers[finite.args[1]] != math.inf:
            return False
        size = self._made_by.get(finite.args[0])
        return size is not None and size.op == "abs" and size.args[0] == made.args[1]

    def _chosen(self, args: tuple[int, ...]) -> int:
        return args[_taken([self.numbers[arg] for arg in args])]

    def _resolved(self, index: int) -> int:
        """What a number is in eager code: the item a take chose."""
        while index in self._made_by and self._made_by[index].op == "take":
            index = self._chosen(self._made_by[index].args)
        return index

    def _operands(self, index: int) -> tuple[int, ...]:
        """The inputs of a value that keeps its history."""
        made = self._made_by.get(index)
        if made is None or made.op == "stop" or not self._takes[index]:
            return ()
        return tuple(self._resolved(arg) for arg in self._inputs(made.op, made.args))

    def _inputs(self, op: str, args: tuple[int, ...]) -> tuple[int, ...]:
        """The operands that an instruction has in eager code: what a custom op's function did is
        not seen there."""
        function = self.program.functions.get(op)
        return args if function is None else args[len(args) - function.inputs :]

    def read(self, output: int) -> None:
        """Visit everything under the output, left to right, inputs before uses."""
        root = self._resolved(output)
        places: dict[int, int] = {}
        seen = {root}
        stack = [(root, iter(self._operands(root)))]
        while stack:
            index, remaining = stack[-1]
            for operand in remaining:
                if operand not in seen and not self._plain[operand]:
                    seen.add(operand)
                    stack.append((operand, iter(self._operands(operand))))
                    break
            else:
                stack.pop()
                self._add(index, places)
        columns = self.columns
        fixed = [op == "number" for op in columns.ops]
        columns.names[:] = given_names(self._wanted, fixed, columns.labels)
        columns.named[:] = [bool(name) for name in self._wanted]

    def _add(self, index: int, places: dict[int, int]) -> None:
        operands = self._operands(index)
        inputs = []
        for operand in operands:
            if self._plain[operand]:
                inputs.append(len(self.columns.ops))
                self._append("number", self.numbers[operand], None, False, -1)
                self._wanted[-1] = shown(self.numbers[operand])
            else:
                inputs.append(places[operand])
        places[index] = len(self.columns.ops)
        op = self._made_by[index].op if operands else "leaf"
        takes, label = bool(self._takes[index]), self._label(index)
        self._append(op, self.numbers[index], label, takes, self._site(index))
        if operands:
            columns = self.columns
            data = [columns.data[i] for i in inputs]
            columns.inputs[-1] = tuple(inputs)
            function = self.program.functions.get(op)
            if function is not None:
                if function.op.has_vjp:
                    raise CompileError.story(function.name)
                columns.ops[-1], columns.symbols[-1] = "custom", function.name
                columns.partials[-1] = tuple(function.op.partials_at(data, self.numbers[index]))
                return
            columns.partials[-1] = tuple(partials_of(op, data, self.numbers[index]))

    def _label(self, index: int) -> str | None:
        if index in self._captured:
            return self._captured[index].label or None
        given = self.program.inputs.get(index)
        if given is not None and given.kind != CONSTANT:
            return given.name
        return self.program.labels.get(index)

    def _site(self, index: int) -> int:
        """Where eager code makes the value; an argument comes from the caller."""
        if index in self._made_by:
            return self._made_by[index].site
        if index in self._captured:
            instruction = core.instruction_of(self._captured[index])
            site = site_of(instruction)
            return -1 if site is None else self._add_site(site, span_of(instruction))
        return self.program.made.get(index, (False, -1))[1]

    def _append(self, op: str, data: float, label: str | None, takes: bool, site: int) -> None:
        columns = self.columns
        columns.ops.append(op)
        columns.symbols.append(symbol_of(op))
        columns.labels.append(label)
        columns.data.append(data)
        columns.inputs.append(())
        columns.partials.append(())
        columns.requires_grad.append(takes)
        columns.places.append(site)
        variable = None
        op = "custom" if op in self.program.functions else op
        if site >= 0:
            variable = self._variables.of(columns.sites[site].file, self._spans[site], op)
        self._wanted.append(label or variable)
