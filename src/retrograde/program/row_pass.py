"""One row of a compiled function as a :class:`.Pass`, read off the program that replays it.

Numbers come from the replay's own kernels; values, names and places are those of the same function
called on values. What exists only in programs is read as eager code would have it: a ``take`` is
the item it chose, a ``stop`` a leaf without gradient, a condition a plain number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._shared.sites import Site, Span, site_of, span_of
from .._values.nests import is_array, mapped
from ..errors import CompileError
from ..ops import OPS, STRUCTURAL
from ..passes.flat import CODES, CUSTOM, NUMBER, Pass
from ..passes.numbers import partials_of
from ..value import core
from .calling import Replayable
from .executor import executor
from .program import CAPTURED, CONSTANT, Program
from .traces import Family, Trace, shared_length

_CHOICE, _COMPARISON, _SIZE = OPS["where"].name, OPS["less"].name, OPS["abs"].name
"""What softmax and logsumexp are recorded with, to keep their shift finite."""


def row_pass(compiled: Replayable, args: Sequence[Any], kwargs: dict[str, Any], row: int) -> Pass:
    """The graph under one row's result; :meth:`Replayable.story` tells it."""
    args, kwargs = compiled._unframed(args, kwargs)
    args = [_one_row(arg, row, compiled) for arg in args]
    kwargs = {name: _one_row(arg, row, compiled) for name, arg in kwargs.items()}
    bound, shapes = compiled._bind(args, kwargs)
    bound.on_host(compiled._name, "a story")
    family = compiled._family(bound, shapes, traced=True)
    compiled._check_single(family)
    found = _fitting(family, bound.numbers)
    if found is None:  # a path that nobody took yet: recorded for this pass alone
        trace = compiled._record(bound, shapes, bound.numbers, b"")
        if trace is None:
            compiled(*args, **kwargs)  # says which branch has no recording
            raise AssertionError("a row that replays has a trace")
        found = trace, _evaluated(trace, bound.numbers)
    return _Reader(*found).read(found[0].program.outputs[0])


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

    def cut(part: Any) -> Any:
        if not is_array(part) or not part.ndim:
            return part
        if not -len(part) <= row < len(part):
            raise CompileError.call(compiled._name, f"there is no row {row}: {len(part)} rows")
        place = row % len(part)
        return part[place : place + 1]

    return mapped(cut, nest, is_array)


def _evaluated(trace: Trace, arguments: Sequence[float]) -> list[float]:
    """Every number of the program for one row, by the replay's kernels."""
    program = trace.with_takes
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
    if op in STRUCTURAL:
        return float(STRUCTURAL[op].evaluate(operands))
    return executor.evaluate(op, operands)


def _chooses(op: str) -> bool:
    return op in STRUCTURAL and STRUCTURAL[op].chooses


class _Reader:
    """Fills a pass from a program, in the order the engine would visit the same values; a number
    stands as a value just before its use."""

    def __init__(self, trace: Trace, numbers: Sequence[float]) -> None:
        self.program: Program = trace.with_takes
        self.numbers = numbers
        self._codes, self._data, self._is_taking = bytearray(), list[float](), list[bool]()
        self._starts, self._edges, self._slopes = [0], list[int](), list[float]()
        self._places = list[int]()
        self._labels, self._own = dict[int, str](), dict[int, str]()
        self._made_by = {it.results[0]: it for it in self.program.instructions}
        captured = (i for i, given in self.program.inputs.items() if given.kind == CAPTURED)
        self._captured = dict(zip(captured, trace.captured))
        self._takes, self._plain = self._gradients()
        sites = self.program.sites  # files keep no spans
        self._sites: list[Site | None] = list(sites)
        self._spans: list[Span | None] = list(self.program.spans or [None] * len(sites))

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
            if _chooses(op):
                chosen = self._chosen(op, args)
                takes[result], plain[result] = takes[chosen], plain[chosen]
                continue
            truth[result] = (op in OPS and OPS[op].is_truth) or all(
                truth[arg] or plain[arg] for arg in args
            )
            plain[result] = all(plain[arg] for arg in args) or (
                op == "stop" and (truth[args[0]] or self._is_shift(args[0]))
            )
            takes[result] = op != "stop" and any(takes[arg] for arg in args)
        return takes, plain

    def _is_shift(self, index: int) -> bool:
        """Whether this is what softmax and logsumexp subtract, a plain number in eager code: the
        largest term, or 0 where that is not finite."""
        made = self._made_by.get(index)
        if made is None or made.op != _CHOICE:
            return False
        finite = self._made_by.get(made.args[0])
        if finite is None or finite.op != _COMPARISON or self.numbers[finite.args[1]] != math.inf:
            return False
        size = self._made_by.get(finite.args[0])
        return size is not None and size.op == _SIZE and size.args[0] == made.args[1]

    def _chosen(self, op: str, args: tuple[int, ...]) -> int:
        return args[STRUCTURAL[op].chosen([self.numbers[arg] for arg in args])]

    def _resolved(self, index: int) -> int:
        """What a number is in eager code: the item a take chose."""
        while index in self._made_by and _chooses(self._made_by[index].op):
            index = self._chosen(self._made_by[index].op, self._made_by[index].args)
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

    def read(self, output: int) -> Pass:
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
        return Pass(
            codes=np.frombuffer(bytes(self._codes), np.uint8),
            data=np.array(self._data, np.float64),
            takes=np.array(self._is_taking, np.bool_),
            starts=np.array(self._starts, np.int64),
            inputs=np.array(self._edges, np.int64),
            numbers=np.array(self._slopes, np.float64),
            places=np.array(self._places, np.int32),
            labels=self._labels,
            own=self._own,
            ruled=np.zeros(len(self._codes), np.bool_),
            sites=self._sites,
            spans=self._spans,
        )

    def _add(self, index: int, places: dict[int, int]) -> None:
        operands = self._operands(index)
        inputs = []
        for operand in operands:
            if self._plain[operand]:
                inputs.append(len(self._codes))
                self._append(NUMBER, self.numbers[operand], False, -1)
            else:
                inputs.append(places[operand])
        place = places[index] = len(self._codes)
        op = self._made_by[index].op if operands else "leaf"
        if label := self._label(index):
            self._labels[place] = label
        function = self.program.functions.get(op)
        if function is not None:
            self._own[place] = function.name
        slopes: Sequence[float] = ()
        if operands:
            slopes = self._partials(op, [self._data[i] for i in inputs], self.numbers[index])
        code = CUSTOM if function is not None else CODES[op]
        takes = bool(self._takes[index])
        self._append(code, self.numbers[index], takes, self._site(index), inputs, slopes)

    def _partials(self, op: str, operands: list[float], result: float) -> Sequence[float]:
        function = self.program.functions.get(op)
        if function is None:
            return partials_of(op, operands, result)
        if function.op.has_vjp:
            raise CompileError.story(function.name)
        return tuple(function.op.partials_at(operands, result))

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
            if site is None:
                return -1
            self._sites.append(site)
            self._spans.append(span_of(instruction))
            return len(self._sites) - 1
        return self.program.made.get(index, (False, -1))[1]

    def _append(
        self,
        code: int,
        data: float,
        takes: bool,
        place: int,
        inputs: Sequence[int] = (),
        slopes: Sequence[float] = (),
    ) -> None:
        self._codes.append(code)
        self._data.append(data)
        self._is_taking.append(takes)
        self._places.append(place)
        self._edges.extend(inputs)
        self._slopes.extend(slopes)
        self._starts.append(len(self._edges))
