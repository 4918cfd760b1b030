"""Program files mutated at random, and what becomes of them: refused, or right to the bit.

A case is a whole number: the same number is the same mutated file. A file that loads is called,
and its answers are held against programs walked in plain Python, row by row and trace by trace.
"""

from __future__ import annotations

import math
import pickle
import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

import retrograde
from retrograde.errors import GuardError, ProgramError, ProgramFileError, TakeError
from retrograde.program.files import VERSION, opened, packed, sealed, unpacked
from retrograde.program.loaded import Loaded
from retrograde.program.loops import Rolled
from retrograde.program.program import CAPTURED, CONSTANT, INSTRUCTIONS, Guard, Instruction, Program
from retrograde.program.reader import Reader
from retrograde.program.shapes import Entries, Number, Row, Rows, UniformArray, inputs_of
from retrograde.program.traces import Family, Trace
from retrograde.program.writer import OPS, encoded
from retrograde.value import core

from . import oracle
from .saved import SAVED
from .support import AWKWARD, same
from .wild import EXACT

_INDEX = {name: index for index, name in enumerate(core.OP_NAMES)}
ROWS = 3


# ---- the files that are mutated ------------------------------------------------------------------


@cache
def originals() -> tuple[bytes, ...]:
    """A file of every function worth saving."""
    return tuple(packed(make(retrograde)._stored_function()) for make in SAVED.values())


class _Fields(Reader):
    """A reader that remembers where each field was."""

    def __init__(self, body: bytes) -> None:
        super().__init__(body, "fields", 0, VERSION)
        self.fields: list[tuple[str, int, int]] = []

    def _noted(self, kind: str, began: int) -> None:
        self.fields.append((kind, began, self.at))

    def byte(self, what: str, most: int = 255) -> int:
        began = self.at
        found = super().byte(what, most)
        self._noted("byte", began)
        return found

    def count(self, what: str) -> int:
        began = self.at
        found = super().count(what)
        while self.fields and self.fields[-1][1] >= began:
            self.fields.pop()
        self._noted("count", began)
        return found

    def number(self, what: str) -> float:
        began = self.at
        found = super().number(what)
        self._noted("number", began)
        return found

    def text(self, what: str) -> str:
        began = self.at
        found = super().text(what)
        self.fields.pop()
        self._noted("text", began)
        return found


@cache
def fields() -> tuple[tuple[bytes, list[tuple[str, int, int]]], ...]:
    """The bodies of the originals, and the places of their fields."""
    found = []
    for data in originals():
        reader = _Fields(opened(data, "original")[0])
        reader.run()
        found.append((reader.body, reader.fields))
    return tuple(found)


# ---- mutations -----------------------------------------------------------------------------------


def _flipped(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _overwritten(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 2, 4))):
        changed[chance.randrange(len(changed))] = chance.choice((0, 1, 127, 128, 255, 3, 4))
    return bytes(changed)


def _cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data))]


def _grown(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data) + 1)
    more = chance.choice((chance.randbytes(chance.randint(1, 9)), data[at : at + 8] or b"\x00"))
    return data[:at] + more + data[at:]


def _shrunk(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + data[at + chance.randint(1, 9) :]


def _spliced(chance: random.Random, data: bytes) -> bytes:
    other = opened(chance.choice(originals()), "other")[0]
    if data.startswith(b"\x89RGP"):
        other = sealed(other)
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other)) :]


RAW = (_flipped, _overwritten, _cut, _grown, _shrunk, _spliced)


def _count(number: int) -> bytes:
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    written.append(number)
    return bytes(written)


def _new_field(chance: random.Random, kind: str, old: bytes) -> bytes:
    if kind == "byte":
        return bytes([chance.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 255))])
    if kind == "number":
        return np.float64(chance.choice(AWKWARD)).tobytes()
    if kind == "text":
        words = ("", "x", "wrt", "class", "neg", "add", "fma", "scatter", "é", "\x1b[2J", "a b")
        text = chance.choice((*words, chance.choice(OPS))).encode()
        return _count(len(text)) + chance.choice((text, text, text, b"\xff" * len(text)))
    shift = sum((byte & 127) << 7 * place for place, byte in enumerate(old))
    near = max(shift + chance.choice((-2, -1, 1, 2)), 0)
    number = chance.choice((near, near, chance.randrange(12), chance.randrange(300), 2**31, 2**40))
    return _count(number) if chance.random() < 0.98 else b"\x80\x00"


def _fielded(chance: random.Random, body: bytes, places: list[tuple[str, int, int]]) -> bytes:
    """Some fields replaced, left out, repeated or exchanged."""
    edits: dict[tuple[int, int], bytes] = {}
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        kind, first, last = chance.choice(places)
        old = body[first:last]
        what = chance.random()
        if what < 0.7:
            edits[first, last] = _new_field(chance, kind, old)
        elif what < 0.8:
            edits[first, last] = b""
        elif what < 0.9:
            edits[first, last] = old + old
        else:
            alike = [place for place in places if place[0] == kind]
            _, begins, ends = chance.choice(alike)
            edits[first, last] = body[begins:ends]
    for (first, last), new in sorted(edits.items(), reverse=True):
        body = body[:first] + new + body[last:]
    return body


def _changed_program(chance: random.Random, program: Program) -> Program:
    """A program with one thing about it changed, perhaps into nonsense."""
    program = program.replaced(
        inputs=dict(program.inputs), instructions=list(program.instructions),
        guards=list(program.guards), outputs=list(program.outputs),
    )  # fmt: skip
    what = chance.choice(("op", "operand", "operand", "constant", "guard", "output", "wide", "new"))
    at = chance.randrange(len(program.instructions)) if program.instructions else -1
    if what in ("op", "operand", "wide") and at >= 0:
        op, results, args, site, _ = program.instructions[at]
        if what == "op":
            op = chance.choice([o for o in OPS if INSTRUCTIONS[o].operands in (len(args), -1)])
        elif what == "operand":
            place = chance.randrange(len(args))
            args = (*args[:place], chance.randrange(results[0]), *args[place + 1 :])
        else:
            op = chance.choice(("sum", "dot", "take"))
            args = tuple(chance.randrange(results[0]) for _ in range(chance.randint(1, 5)))
        program.instructions[at] = Instruction(op, results, args, site)
    elif what == "constant":
        for index, given in program.inputs.items():
            if given.kind == CONSTANT and chance.random() < 0.5:
                program.inputs[index] = given._replace(number=chance.choice(AWKWARD))
    elif what == "guard" and (not program.guards or chance.random() < 0.5):
        program.guards.append(Guard(chance.randrange(program.count), chance.random() < 0.5))
    elif what == "guard":
        place = chance.randrange(len(program.guards))
        asked, outcome, site = program.guards[place]
        program.guards[place] = Guard(
            *chance.choice(((asked, not outcome), (chance.randrange(program.count), outcome))), site
        )
    elif what == "output" and program.outputs:
        program.outputs[chance.randrange(len(program.outputs))] = chance.randrange(program.count)
    elif program.count:
        name = chance.choice(OPS)
        operands = max(INSTRUCTIONS[name].operands, 0) or 4
        args = tuple(chance.randrange(program.count) for _ in range(operands))
        program.instructions.append(Instruction(name, (program.count,), args))
        program.outputs = [*program.outputs[:-1], program.count]
        program.count += 1
    return program


def _reprogrammed(chance: random.Random, data: bytes) -> bytes:
    """A function with its traces or programs changed."""
    stored = unpacked(data, "original")
    _, family = chance.choice(stored.families)
    at = chance.randrange(len(family.traces))
    trace = family.traces[at]
    what = chance.random()
    if what < 0.1:
        family.traces.append(chance.choice(family.traces))
    elif what < 0.2 and len(family.traces) > 1:
        del family.traces[at]
    elif what < 0.25:
        chance.shuffle(family.traces)
    else:
        for _ in range(chance.choice((1, 1, 2, 4))):
            trace = Trace(
                Rolled.of(_changed_program(chance, trace.program)), trace.captured, trace.outputs
            )
            trace.rows = chance.choice((0, 1, 1000))
        family.traces[at] = trace
        if chance.random() < 0.2:
            shared = family.traces[chance.randrange(len(family.traces))]
            family.traces.append(
                Trace(
                    Rolled.of(_changed_program(chance, shared.program)),
                    shared.captured,
                    shared.outputs,
                )
            )
    return sealed(encoded(stored))


def mutated(case: int) -> tuple[str, bytes]:
    """The file of a case, and how it came about."""
    chance = random.Random(case)
    number = chance.randrange(len(originals()))
    what = case % 10
    if what < 6:
        change = chance.choice(RAW)
        return f"raw {change.__name__[1:]}", change(chance, originals()[number])
    body, places = fields()[number]
    if what == 6:
        change = chance.choice(RAW)
        return f"resealed {change.__name__[1:]}", sealed(change(chance, body))
    if what < 9:
        return "fields", sealed(_fielded(chance, body, places))
    try:
        return "programs", _reprogrammed(chance, originals()[number])
    except (ProgramError, IndexError):  # more nonsense than can be written down
        return "fields", sealed(_fielded(chance, body, places))


# ---- what becomes of them ------------------------------------------------------------------------


def verdict(case: int, how: str, data: bytes) -> str:
    """What became of a case: ``refused``, ``same``, ``right`` or ``raised``. Else it raises."""
    try:
        stored = unpacked(data, "mutated")
    except ProgramFileError:
        return "refused"
    if how.startswith("raw"):
        assert data in originals(), f"case {case}: an altered file was not noticed"
        return "same"
    if case % 7 == 0:
        packed(stored)  # whatever loads can be saved again, which reads it back
    return judged(Loaded(stored), random.Random(~case))


def judged(loaded: Any, chance: random.Random) -> str:
    """Call every family of a loaded function and hold its answers against an independent walk."""
    raised = False
    for key, family in loaded._contents.families:
        arguments = _arguments(loaded, key, chance)
        rows = _rows(loaded, key, arguments)
        raised |= not _check_values(loaded, family, arguments, rows)
        if not raised and len(family.traces[0].outputs.items) == 1 and chance.random() < 0.3:
            _check_gradients(loaded, family, arguments, rows)
        if chance.random() < 0.05:
            _exercise(loaded, arguments)
    return "raised" if raised else "right"


def _number(chance: random.Random) -> float:
    what = chance.random()
    if what < 0.15:
        return chance.choice(AWKWARD)
    return float(chance.randrange(3)) if what < 0.5 else chance.uniform(-3.0, 12.0)


def _arguments(loaded: Any, key: Any, chance: random.Random) -> dict[str, Any]:
    def argument(shape: Any) -> Any:
        match shape:
            case Number():
                return _number(chance)
            case Row():
                return np.array([_number(chance) for _ in range(ROWS)])
            case Rows(width):
                numbers = [_number(chance) for _ in range(ROWS * width)]
                return np.array(numbers, dtype=np.float64).reshape(ROWS, width)
            case UniformArray(axes):
                numbers = [_number(chance) for _ in range(math.prod(axes))]
                return retrograde.uniform(np.array(numbers, dtype=np.float64).reshape(axes))
            case Entries(keys, parts):
                return {k: argument(part) for k, part in zip(keys, parts)}
        return shape.make(argument(part) for part in shape.parts)

    return {name: argument(shape) for name, shape in zip(loaded._signature.parameters, key)}


def _called(method: Callable[..., Any], loaded: Any, arguments: dict[str, Any]) -> Any:
    bound = loaded._signature.bind_partial()
    bound.arguments.update(arguments)
    return method(*bound.args, **bound.kwargs, threads=1)


def _flat(nest: Any) -> Iterator[Any]:
    """The columns of numbers in arguments, in their order: arrays of rows, or numbers."""
    if isinstance(nest, dict):
        nest = list(nest.values())
    if isinstance(nest, (list, tuple)):
        for part in nest:
            yield from _flat(part)
    elif isinstance(nest, np.ndarray):
        yield from [nest] if nest.ndim == 1 else list(nest.T)
    elif isinstance(nest, float):
        yield nest
    else:
        yield from nest.array.ravel().tolist()


def _rows(loaded: Any, key: Any, arguments: dict[str, Any]) -> list[dict[int, float]]:
    """The arguments of every row by id."""
    columns = list(_flat(list(arguments.values())))
    names = [i for shape, name in zip(key, arguments) for i in inputs_of(shape, name)]
    assert len(columns) == len(names)
    count = ROWS if any(isinstance(column, np.ndarray) for column in columns) else 1
    return [
        {i: float(c[row]) if isinstance(c, np.ndarray) else c for i, c in enumerate(columns)}
        for row in range(count)
    ]


def _needed(program: Program) -> list[Instruction]:
    """The instructions that results or guards depend on; others need not make sense."""
    needed = {*program.outputs, *(guard.condition for guard in program.guards)}
    found = []
    for instruction in reversed(program.instructions):
        if instruction.results[0] in needed:
            needed.update(instruction.args)
            found.append(instruction)
    return found[::-1]


def _walked(trace: Trace, row: dict[int, float]) -> dict[int, float] | None:
    """Every number of a trace on one row; None where an index leads nowhere."""
    captured = iter(trace.captured)
    numbers = dict(row)
    for index, given in trace.program.inputs.items():
        if given.kind == CONSTANT:
            numbers[index] = given.number
        elif index not in numbers:
            numbers[index] = next(captured).data
    for instruction in _needed(trace.program):
        given = [numbers[arg] for arg in instruction.args]
        if instruction.op in _INDEX and instruction.op not in (*EXACT, "sum", "dot"):
            numbers[instruction.results[0]] = core.evaluate(_INDEX[instruction.op], tuple(given))
            continue
        try:
            numbers[instruction.results[0]] = oracle.results_of(instruction, given)[0]
        except TakeError:
            assert instruction.op == "take"
            return None
    return numbers


def _fits(trace: Trace, numbers: dict[int, float]) -> bool:
    return all((numbers[g.condition] != 0.0) == g.outcome for g in trace.program.guards)


def _check_values(
    loaded: Any, family: Family, arguments: dict[str, Any], rows: list[dict[int, float]]
) -> bool:
    """Whether the call gave an answer; it must be the right one, or the right refusal."""
    expected: list[list[float] | None] = []
    takes_fail = False
    for row in rows:
        found = []
        for trace in family.traces:
            numbers = _walked(trace, row)
            takes_fail |= numbers is None
            if numbers is not None and _fits(trace, numbers):
                found.append([numbers[output] for output in trace.program.outputs])
        assert len(found) < 2, "two traces fit one row"
        expected.append(found[0] if found else None)
    try:
        result = _called(loaded, loaded, arguments)
    except TakeError:
        assert takes_fail, "take refused an index that is there"
        return False
    except GuardError as error:
        lost = [n for n, wanted in enumerate(expected) if wanted is None]
        if list(error.rows) != lost and not takes_fail:
            raise AssertionError(f"rows {error.rows} were lost, not {lost}") from error
        return False
    outputs = family.traces[0].outputs
    columns = _columns(outputs, result)
    for number, wanted in enumerate(expected):
        if wanted is None:
            assert takes_fail, f"row {number} fits no trace, and got an answer"
            continue
        got = [column[number] if np.ndim(column) else column for column in columns]
        assert same(got, wanted), (number, got, wanted)
    return True


def _columns(outputs: Any, result: Any) -> list[Any]:
    found = []
    for path in outputs.paths:
        part = result
        for depth, key in enumerate(path):
            if isinstance(part, np.ndarray):  # an array among the results: its rows come first
                rest = path[depth:]
                part = part[rest if part.ndim == len(rest) else (slice(None), *rest)]
                break
            part = part[key]
        found.append(part)
    return found


def _check_gradients(
    loaded: Any, family: Family, arguments: dict[str, Any], rows: list[dict[int, float]]
) -> None:
    """Where everything on the way is finite and exact, gradients are those taken by hand."""
    grads = _called(loaded.grad, loaded, arguments)
    columns = list(_flat_grads(grads))
    sums: dict[str, list[float]] = {}
    for number, row in enumerate(rows):
        for trace in family.traces:
            numbers = _walked(trace, row)
            if numbers is None or (_fits(trace, numbers) and not _is_tame(trace, numbers)):
                return
            if not _fits(trace, numbers):
                continue
            program = trace.program.replaced(instructions=_needed(trace.program))
            captured = {g.name: i for i, g in trace.program.inputs.items() if g.kind == CAPTURED}
            output, wrt = trace.program.outputs[0], [*range(len(row)), *captured.values()]
            given = {i: numbers[i] for i in trace.program.inputs}
            wanted = oracle.gradients(program, given, output, wrt)
            scales = oracle.gradients(program, given, output, wrt, absolute=True)
            for column, exact, scale in zip(columns, wanted, scales):
                got = column[number] if np.ndim(column) else column
                if math.isfinite(scale) and scale < 1e100:
                    assert abs(got - exact) <= 1e-11 * scale, (number, got, exact)
            for name, exact, scale in zip(captured, wanted[len(row) :], scales[len(row) :]):
                sums.setdefault(name, []).append(exact)
                sums.setdefault(f"|{name}|", []).append(scale)
    if any(family.captured[n].requires_grad for n in range(len(family.captured))):
        retrograde.zero_grad(list(loaded.parameters.values()))
        _called(loaded.backward, loaded, arguments)
        for name, leaf in loaded.parameters.items():
            scale = sum(sums.get(f"|{name}|", ()))
            if leaf.requires_grad and math.isfinite(scale) and scale < 1e100:
                assert abs(leaf.grad - sum(sums.get(name, ()))) <= 1e-11 * scale, name


def _exercise(loaded: Any, arguments: dict[str, Any]) -> None:
    """Whatever else can be asked: an answer, or one of our exceptions. A copy answers the same."""
    assert loaded.explain()
    retrograde.zero_grad(list(loaded.parameters.values()))
    copy = pickle.loads(pickle.dumps(loaded))
    for name in ("jacobian", "hessian", "backward", "grad"):
        answers = []
        for function in (loaded, copy):
            try:
                answers.append(_called(getattr(function, name), function, arguments))
            except retrograde.RetrogradeError as error:
                answers.append(type(error).__name__)
        one, other = ([np.asarray(a) for a in _flat_grads(answer)] for answer in answers)
        assert len(one) == len(other)
        assert all(a.dtype.kind == "U" or same(a, b) for a, b in zip(one, other))
    for name, leaf in loaded.parameters.items():
        assert same(leaf.grad, copy.parameters[name].grad)


def _is_tame(trace: Trace, numbers: dict[int, float]) -> bool:
    ops = {instruction.op for instruction in _needed(trace.program)}
    if not ops <= {"add", "sub", "mul", "neg", "square", "stop", "sum", "dot", "take", "where",
                   "less", "less_equal", "equal", "abs"}:  # fmt: skip
        return False
    return all(math.isfinite(n) and abs(n) < 1e50 for n in numbers.values())


def _flat_grads(nest: Any) -> Iterator[Any]:
    if isinstance(nest, dict):
        nest = list(nest.values())
    if isinstance(nest, (list, tuple)):
        for part in nest:
            yield from _flat_grads(part)
    elif isinstance(nest, np.ndarray) and nest.dtype == object:
        yield from _flat_grads(nest.tolist())
    elif isinstance(nest, np.ndarray) and nest.ndim > 1:
        yield from nest.reshape(len(nest), -1).T
    elif isinstance(nest, np.ndarray):
        yield nest
    else:
        yield nest
