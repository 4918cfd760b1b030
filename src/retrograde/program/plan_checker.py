"""The checker of plans: that a plan computes its program, found by running both on symbols.

A symbol stands for what an instruction makes of its operands' symbols; equal ones are one. A plan
is followed step by step: every place it names must be there and written before it is read, and
what it stores, reduces and checks must be the program's. So a slot that is given away before its
last use is found, as another symbol stands in it. Asked for by ``RETROGRADE_CHECK_PLANS=1``, by
Python's development mode, and by a debug build of Python.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from struct import pack
from typing import Any

from ..errors import ProgramError
from ..ops import OPS
from ..ops.structural import DOT, TAKE
from .plan import CARRIED, EXTRA, ROW_OPS, STEPS, UNIFORM, Plan
from .program import CAPTURED, CONSTANT, ROW, SEED, Program

_NAMES = {number: name for name, number in STEPS.items()}

Symbol = int


def is_asked() -> bool:
    """Whether plans are to be checked as they are made."""
    debugs = sys.flags.dev_mode or hasattr(sys, "gettotalrefcount")
    return debugs or bool(os.environ.get("RETROGRADE_CHECK_PLANS"))


def check_plan(plan: Plan, program: Program) -> Plan:
    """The plan itself, or the exception that says what is wrong with it."""
    try:
        _Followed(plan, program).run()
    except _FaultError as fault:
        raise ProgramError.plan(str(fault)) from None
    return plan


class _FaultError(Exception):
    """What is wrong."""


class _Symbols:
    """One number for everything that is computed in the same way."""

    def __init__(self) -> None:
        self._known: dict[Any, Symbol] = {}

    def of(self, op: str, operands: Sequence[Any], part: int = 0, parts: int = 1) -> Symbol:
        """What an op makes of operands; ``part`` is which of its results, of how many."""
        return self._known.setdefault((op, tuple(operands), part, parts), len(self._known))


def _meanings(program: Program, symbols: _Symbols) -> dict[int, Symbol]:
    """By id, what the program computes."""
    found = {index: symbols.of("input", (index,)) for index in program.inputs}
    for op, results, args, _, parameters in program.instructions:
        if op == "stop":  # the same number
            found[results[0]] = found[args[0]]
            continue
        operands = (*[found[arg] for arg in args], *parameters)
        for part, result in enumerate(results):
            found[result] = symbols.of(op, operands, part, len(results))
    return found


class _Followed:
    """A plan on symbols: what stands in its slots, its uniform places and its registers."""

    def __init__(self, plan: Plan, program: Program) -> None:
        self.plan, self.program = plan, program
        self.symbols = _Symbols()
        self.meanings = _meanings(program, self.symbols)
        self.slots: list[Symbol | None] = [None] * plan.slots
        self.uniforms: list[Symbol | None] = [None] * plan.places
        self.carried: Symbol | None = None
        self.done: dict[str, set[int]] = {"store": set(), "reduce": set(), "guard": set()}
        self.wanted = {
            what: [index for each, index in plan.outputs if each == what]
            for what in ("store", "reduce")
        } | {"guard": [guard.condition for guard in program.guards]}
        self.passed = 0
        self.has_loops = STEPS["again"] in plan.steps[::6]

    def run(self) -> None:
        self._given()
        for number, step in self._in_turn(self.plan.uniform_steps):
            self._step(f"uniform step {number}", step, self._uniform)
        for number, step in self._in_turn(self.plan.steps):
            self._step(f"step {number}", step, self._operand)
        if [len(each) for each in self.wanted.values()] != [
            self.plan.stored, self.plan.reduced, self.plan.guards,
        ]:  # fmt: skip
            raise _FaultError("it counts other outputs and guards than there are")
        for what, ids in self.wanted.items():
            if len(self.done[what]) != len(ids):
                raise _FaultError(f"it does {len(self.done[what])} of {len(ids)} steps {what}")

    def _in_turn(self, steps: Sequence[int]) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The steps as they are done, loops round by round, each with its number."""
        mine = [list(step) for step in _six(steps)]
        self.extras = self.plan.extras[:]
        at = 0
        while at < len(mine):
            if mine[at][0] == STEPS["again"]:
                at = self._turned(mine, at)
            else:
                yield at, tuple(mine[at])
                at += 1

    def _turned(self, steps: list[list[int]], at: int) -> int:
        """The step after one that goes back; what moves has moved."""
        _, trips, done, back, count, _ = again = steps[at]
        if not 0 < back <= at or not trips or at + count >= len(steps) + (count == 0):
            raise _FaultError(f"step {at} goes back where no step is")
        goes_on = done + 1 < trips
        again[2] = done + 1 if goes_on else 0
        for op, which, far, by, _, _ in steps[at + 1 : at + 1 + count]:
            if op != STEPS["move"] or which > EXTRA or (which < EXTRA and not 0 < far <= back):
                raise _FaultError(f"step {at} moves what is not in its loop")
            moved, place = (self.extras, far) if which == EXTRA else (steps[at - far], 2 + which)
            moved[place] = (moved[place] + (by if goes_on else -by * (trips - 1))) & 0xFFFFFFFF
        return at - back if goes_on else at + 1 + count

    def _given(self) -> None:
        """The uniform places that are filled before a run."""
        given = [i for i in self.program.inputs.items() if i[1].kind not in (ROW, SEED)]
        arguments = []
        for place, (index, what) in enumerate(sorted(given, key=lambda i: i[1].kind != CAPTURED)):
            self.uniforms[place] = self.meanings[index]
            if what.kind == CONSTANT:
                if pack("d", self.plan.uniforms[place]) != pack("d", what.number):
                    raise _FaultError(f"uniform {place} is not the constant %{index}")
            elif what.kind != CAPTURED:
                arguments.append((place, index))
        if arguments != list(zip(self.plan.arguments, self.plan.argument_ids)):
            raise _FaultError("its uniform arguments are not the program's")

    # ---- places ------------------------------------------------------------------------------

    def _uniform(self, place: int) -> Symbol:
        found = self.uniforms[place] if place < len(self.uniforms) else None
        if found is None:
            raise _FaultError(f"reads uniform {place}, which nothing has written")
        return found

    def _operand(self, place: int) -> Symbol:
        if place == CARRIED:
            found = self.carried
        elif place & UNIFORM:
            return self._uniform(place & ~UNIFORM)
        else:
            found = self.slots[place] if place < len(self.slots) else None
        if found is None:
            where = "what is carried" if place == CARRIED else f"slot {place}"
            raise _FaultError(f"reads {where}, which nothing has written")
        return found

    def _listed(self, first: int, count: int, read: Any) -> list[Symbol]:
        extras = self.extras
        if first + count > len(extras):
            raise _FaultError(f"lists operands past the {len(extras)} extras")
        if CARRIED in extras[first : first + count]:
            raise _FaultError("lists what is carried, which only operands in place may be")
        return [read(place) for place in extras[first : first + count]]

    def _write(self, place: int, symbol: Symbol, among: list[Symbol | None]) -> None:
        if place >= len(among):
            raise _FaultError(f"writes place {place} of {len(among)}")
        among[place] = symbol

    def _column(self, number: int) -> Symbol:
        if number >= len(self.plan.columns):
            raise _FaultError(f"loads column {number} of {len(self.plan.columns)}")
        return self.meanings[self.plan.columns[number]]

    # ---- steps -------------------------------------------------------------------------------

    def _step(self, where: str, step: tuple[int, ...], read: Any) -> None:
        try:
            op = _NAMES.get(step[0])
            if op is None:
                raise _FaultError(f"has unknown op {step[0]}")
            if op in ("load", "eight", "fetch"):
                self._load(op, step)
            elif op in self.done:
                self._hand_out(op, step)
            else:
                self._compute(op, step, read)
        except _FaultError as fault:
            raise _FaultError(f"{where} {fault}") from None

    def _load(self, op: str, step: tuple[int, ...]) -> None:
        _, _, out, x, y, _ = step
        if op == "load":
            self._write(out, self._column(x), self.slots)
            return
        if (y > 7) if op == "fetch" else (y + 8 > len(self.extras)):
            raise _FaultError(f"goes on past the end at {y}")
        for offset in range(8):
            symbol = self._column(x + offset)
            if op == "eight":
                self._write(self.extras[y + offset], symbol, self.slots)

    def _hand_out(self, what: str, step: tuple[int, ...]) -> None:
        _, outcome, _, place, target, done = step
        if target in self.done[what] or target >= len(self.wanted[what]):
            raise _FaultError(f"does {what} {target} again, or there is none")
        self.done[what].add(target)
        wanted = self.wanted[what][target]
        if self._operand(place) != self.meanings[wanted]:
            raise _FaultError(f"does {what} {target} of another number than %{wanted}")
        if what != "guard":
            return
        while self.passed in self.done[what]:
            self.passed += 1
        known = self.passed, 0 if self.has_loops else self.passed  # 0: how many is not told
        if outcome != self.program.guards[target].outcome or done not in known:
            raise _FaultError(
                f"checks guard {target} for another outcome, or counts those before wrong"
            )

    def _compute(self, op: str, step: tuple[int, ...], read: Any) -> None:
        _, count, out, x, y, z = step
        once = read == self._uniform
        passes = op in ROW_OPS | {"fma"} and count
        if op == "scatter":
            pairs = self._listed(x, 2 * y, read)
            among = self.uniforms if once else self.slots
            if out + count > len(among):
                raise _FaultError(f"writes place {out + count - 1} of {len(among)}")
            for part in range(count):
                among[out + part] = self.symbols.of(op, pairs, part, count)
            return
        if op == "copy":
            self._write(out, read(x), self.uniforms if once else self.slots)
            return
        symbol = self._value(op, count, (x, y, z), read)
        if once:
            self._write(out, symbol, self.uniforms)
            return
        if out != CARRIED:
            self._write(out, symbol, self.slots)
        elif passes:
            raise _FaultError("passes on what it was handed and keeps its result nowhere")
        if not passes:
            self.carried = symbol

    def _value(self, op: str, count: int, fields: tuple[int, int, int], read: Any) -> Symbol:
        """What a step with one result computes."""
        x, y, z = fields
        if op in ROW_OPS or op == "fma":
            arity = 3 if op == "fma" else OPS[op].arity
            return self.symbols.of(op, [read(place) for place in fields[:arity]])
        if op == DOT.name:
            return self.symbols.of(op, self._listed(x, count, read) + self._listed(y, count, read))
        if op == "chain":
            links = list(zip(self._listed(x, count, read), self._listed(y, count, read)))
            if z:
                (total,) = self._listed(z - 1, 1, read)
            elif links:
                total = self.symbols.of("mul", links.pop(0))
            else:
                raise _FaultError("is a chain of nothing")
            for left, right in links:
                total = self.symbols.of("fma", (left, right, total))
            return total
        return self.symbols.of(op, self._listed(x, count + (op == TAKE.name), read))


def _six(steps: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return zip(*[iter(steps)] * 6)
