"""Bodies as programs for the kernels: a list of scalar rows, each on what was made before.

Conditions are numbers, 1 where they hold, and routines that are no rows are spelled out, so that
rows are all a program calls. What a body shares is computed once, and rooms are used again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

from ..expr import Absent, Both, Call, Compare, Condition, Either, Expr, Num, Var, Where
from ..index import Ref
from ..scalar import OPS
from .slopes import routine

ROOM, REF, NUMBER = range(3)
"""What an operand of an instruction is."""

Operand = tuple[int, int]
Step = tuple[int, int, tuple[Operand, ...]]
NUMBERS = {name: at for at, name in enumerate(OPS)}
"""Rows by their number in the native core."""


@dataclass(frozen=True)
class Program:
    """Instructions: the row, the room its result goes to, and its operands."""

    steps: tuple[Step, ...]
    result: Operand
    rooms: int
    numbers: tuple[float, ...]


def program(body: Expr, refs: Sequence[Ref]) -> Program:
    """A body over these references.

    >>> from ..index import Array
    >>> x, y = Array("x")[()], Array("y")[()]
    >>> made = program(x * y + x * y, [x, y])
    >>> [(list(OPS)[op], room, operands) for op, room, operands in made.steps]
    [('mul', 0, ((1, 0), (1, 1))), ('add', 0, ((0, 0), (0, 0)))]
    """
    making = _Making(refs)
    result = making.of(body, {})
    return _with_rooms(_needed(making.made, result), result, tuple(making.numbers.values()))


def written_out(body: Expr, refs: Sequence[Ref]) -> Program:
    """The same with a room of its own for every result, in order: to be put together with other
    bodies."""
    making = _Making(refs)
    result = making.of(body, {})
    steps = _needed(making.made, result)
    return Program(tuple(steps), result, len(making.made), tuple(making.numbers.values()))


class _Making:
    """Instructions whose results each have a room of their own."""

    def __init__(self, refs: Sequence[Ref]) -> None:
        self.refs = {ref: at for at, ref in enumerate(refs)}
        self.made: list[Step] = []
        self.numbers: dict[str, float] = {}
        self._places: dict[str, int] = {}
        self._same: dict[tuple[int, tuple[Operand, ...]], Operand] = {}

    def of(self, node: Expr | Condition, variables: dict[str, Operand]) -> Operand:
        """The operand that stands for a node; ``variables`` are what a routine's names mean."""
        done: dict[int, Operand] = {}
        pending: list[Expr | Condition] = [node]
        while pending:  # without recursion: derivatives of routines are deep
            current = pending[-1]
            parts = _parts(current)
            missing = [part for part in parts if id(part) not in done]
            if missing:
                pending.extend(reversed(missing))
                continue
            pending.pop()
            if id(current) not in done:
                done[id(current)] = self._node(current, [done[id(p)] for p in parts], variables)
        return done[id(node)]

    def _node(
        self, node: Expr | Condition, parts: list[Operand], variables: dict[str, Operand]
    ) -> Operand:
        if isinstance(node, Ref):
            return (REF, self.refs[node])
        if isinstance(node, Var):
            return variables[node.name]
        if isinstance(node, Num):
            return self._number(node.value)
        if isinstance(node, Absent):
            return self._number(nan)
        if isinstance(node, Call):
            return self._call(node.name, parts)
        if isinstance(node, Where):
            return self._row("where", *parts)
        if isinstance(node, Compare):
            return self._compared(node.symbol, *parts)
        assert isinstance(node, (Both, Either))
        return self._row("mul" if isinstance(node, Both) else "maximum", *parts)

    def _call(self, name: str, parts: list[Operand]) -> Operand:
        if name in NUMBERS:
            return self._row(name, *parts)
        it = routine(name)
        values = dict(zip(it.inputs, parts))
        for step, expression in it.steps:
            values[step] = self.of(expression, values)
        return self.of(it.value, values)

    def _compared(self, symbol: str, left: Operand, right: Operand) -> Operand:
        if symbol in (">", ">="):
            left, right, symbol = right, left, symbol.replace(">", "<")
        if symbol == "!=":
            return self._row("less", self._row("equal", left, right), self._number(1.0))
        return self._row({"<": "less", "<=": "less_equal", "==": "equal"}[symbol], left, right)

    def _row(self, name: str, *operands: Operand) -> Operand:
        key = (NUMBERS[name], operands)
        if key not in self._same:
            room = len(self.made)
            self.made.append((key[0], room, operands))
            self._same[key] = (ROOM, room)
        return self._same[key]

    def _number(self, value: float) -> Operand:
        key = repr(value)  # zeros differ by their sign, and a NaN is itself
        if key not in self._places:
            self._places[key] = len(self._places)
            self.numbers[key] = value
        return (NUMBER, self._places[key])


def _parts(node: Expr | Condition) -> tuple[Expr | Condition, ...]:
    if isinstance(node, Call):
        return node.args
    if isinstance(node, Where):
        return (node.condition, node.then, node.otherwise)
    if isinstance(node, (Compare, Both, Either)):
        return (node.left, node.right)
    return ()


def _needed(made: Sequence[Step], result: Operand) -> list[Step]:
    """Without what nothing reads: derivatives of routines may make such steps."""
    read = {result}
    kept = []
    for step in reversed(made):
        if (ROOM, step[1]) in read:
            read.update(step[2])
            kept.append(step)
    return kept[::-1]


def _with_rooms(made: Sequence[Step], result: Operand, numbers: tuple[float, ...]) -> Program:
    """Rooms given to others once they are read for the last time."""
    last = {operand[1]: at for at, (_, _, operands) in enumerate(made) for operand in operands
            if operand[0] == ROOM}  # fmt: skip
    if result[0] == ROOM:
        last[result[1]] = len(made)
    free: list[int] = []
    room: dict[int, int] = {}
    count = 0
    steps = []
    for at, (op, own, operands) in enumerate(made):
        read = tuple((kind, room[n] if kind == ROOM else n) for kind, n in operands)
        for kind, n in dict.fromkeys(operands):
            if kind == ROOM and last[n] == at:
                free.append(room[n])
        if free:
            room[own] = free.pop()
        else:
            room[own], count = count, count + 1
        steps.append((op, room[own], read))
    end = (ROOM, room[result[1]]) if result[0] == ROOM else result
    return Program(tuple(steps), end, count, numbers)
