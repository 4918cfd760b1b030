"""Both sides of a branch, run while a function is recorded.

A rewritten function asks its *tag* wherever it decides. Where the branch is to be a choice both
sides are run, one after the other, from the same names, and what the names mean afterwards is
merged: value by value, into choices. Whatever might not be what the function does makes a doubt.
"""

from __future__ import annotations

import operator
import sys
from struct import pack
from threading import local
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from .._values import elementwise
from .._values.modes import grad_enabled
from ..value import Value, belongs_to_caller
from .calls import checked, is_immutable, is_repeatable
from .conditions import Condition, Decisions
from .doubts import DoubtError
from .entered import is_user_file
from .rewriting import Fork, Rewritten, rewritten

if TYPE_CHECKING:
    from types import CodeType, FrameType

UNBOUND: Any = type("Unbound", (), {"__slots__": ()})()
"""What a name means that means nothing."""
ASKS = frozenset(8 * 4**power for power in range(12))
"""The rounds of a loop with rows of different lengths after which it is asked whether any row goes
on: where none does, the loop ends; where one does, it has a trace with more rounds."""
MOST_WHOLE = 1 << 53


class Chosen(Condition):
    """True in some rows and False in others, where Python has ``True`` or ``False``."""

    __slots__ = ()

    def __invert__(self) -> Any:
        raise DoubtError("~ of a plain True is a number")

    # True + 1 is a whole number

    def __add__(self, other: Any) -> Any:
        _now().whole = True
        return super().__add__(other)

    def __sub__(self, other: Any) -> Any:
        _now().whole = True
        return super().__sub__(other)

    def __rsub__(self, other: Any) -> Any:
        _now().whole = True
        return super().__rsub__(other)

    def __mul__(self, other: Any) -> Any:
        _now().whole = True
        return super().__mul__(other)

    def __neg__(self) -> Any:
        _now().whole = True
        return super().__neg__()

    __radd__, __rmul__ = __add__, __mul__


class _Entry:
    """A branch or loop under way."""

    __slots__ = ("active", "before", "fork", "frame", "held", "outcome", "rounds", "test", "value")

    def __init__(self, fork: Fork, frame: FrameType, test: Any) -> None:
        self.fork, self.frame, self.test = fork, frame, test
        self.value: Any = None  # the condition, where both sides are run
        self.outcome = False
        self.before: tuple[Any, ...] = ()
        self.held: tuple[Any, ...] = ()
        self.active, self.rounds = False, 0


class Stage:
    """One recording in which some branches are choices.

    ``forks`` are those; ``nodes`` are the choices made, ``whole`` says whether one may be a whole
    number.
    """

    def __init__(self, forks: frozenset[Fork], off: set[Fork]) -> None:
        self.forks, self.off = forks, off
        self.entries: list[_Entry] = []
        self.open = 0
        self.nodes: list[Value] = []
        self.whole = False
        self.doubted: set[Fork] = set()
        self.numbers: set[Fork] = set()
        self.why = ""
        self.decisions = Decisions()
        self.after: tuple[Any, ...] = ()
        self._functions: dict[int, tuple[Any, Any]] = {}
        self.codes: set[CodeType] = set()
        self.fresh: list[Any] = []

    def chooses(self, fork: Fork) -> bool:
        """Whether a fork is to be a choice: one in a side of another is, if it can be."""
        return fork.root not in self.off and (self.open > 0 or fork.root in self.forks)

    def refuse(self, why: str) -> DoubtError:
        """Doubt the innermost side that is open."""
        self.doubted |= {entry.fork.root for entry in self.entries[-1:]} or self.forks
        self.why = self.why or why
        return DoubtError(why)

    def in_a_side(self) -> bool:
        """Whether what happens now happens in some rows only."""
        return self.open > 0

    def decide(self, value: Value, fork: Fork) -> bool:
        """A guard."""
        if self.open:
            raise self.refuse("it decides what is done")
        return self.decisions.decide(value, fork)

    def truth(self, test: Any, fork: Fork) -> bool:
        """What ``if`` makes of a test."""
        if isinstance(test, Condition):
            return self.decide(test.value, fork)
        if isinstance(test, Value):
            return self.decide(_not_zero(test), fork)
        return bool(test)

    # ---- merging -----------------------------------------------------------------------------

    def merged(self, condition: Value, one: Any, other: Any) -> Any:
        """What is one thing where a condition holds and the other elsewhere."""
        if one is other:
            return one
        kinds = _kind(one), _kind(other)
        if kinds == ("tuple", "tuple") and len(one) == len(other):
            return tuple([self.merged(condition, x, y) for x, y in zip(one, other)])
        if kinds == ("truth", "truth"):
            if type(one) is bool and one == other and type(other) is bool:
                return one
            return Chosen(self._choice(condition, _number(one), _number(other)))
        if set(kinds) <= {"value", "number", "whole"}:
            if "value" not in kinds and type(one) is type(other) and _bits(one) == _bits(other):
                return one
            if kinds != ("value", "value"):
                self.numbers.update(entry.fork.root for entry in self.entries)
            return self._choice(condition, one, other, "whole" in kinds)
        if kinds == ("text", "text") and one == other:
            return one
        raise self.refuse("its sides give a name things that cannot be one value")

    def _choice(self, condition: Value, one: Any, other: Any, whole: bool = False) -> Value:
        if not grad_enabled():
            raise self.refuse("it is under no_grad")
        node: Value = elementwise.where(condition, one, other)
        self.nodes.append(node)
        self.whole = self.whole or whole
        return node

    # ---- functions ---------------------------------------------------------------------------

    def called(self, function: Any) -> Any:
        """What is called in the place of a function: the function rewritten, where it can be."""
        if type(function) is MethodType:
            found = self._rewritten(function.__func__)
            return function if found is None else MethodType(found, function.__self__)
        found = self._rewritten(function)
        if found is not None:
            return found
        inner = vars(type(function)).get("__call__")
        if type(inner) is FunctionType and type(function) is not type:
            plain = vars(function).get("_function") if _is_compiled(function) else None
            if plain is not None:
                return self.called(plain)
            found = self._rewritten(inner)
            if found is not None:
                return MethodType(found, function)
        if self.open:
            return checked(function, self)
        return function

    def _rewritten(self, function: Any) -> Any:
        if type(function) is not FunctionType or not is_user_file(function.__code__.co_filename):
            return None
        known = self._functions.get(id(function))
        if known is None or known[0] is not function:
            known = self._functions[id(function)] = (function, self._made(function))
        if known[1] is None:
            if self.open:
                raise self.refuse(f"it calls {function.__name__}, whose source is not there")
            return None
        if self.open and not known[1][0].only_assigns:
            raise self.refuse(f"it calls {function.__name__}, which does more than assign names")
        return known[1][1]

    def _made(self, function: Any) -> tuple[Rewritten, Any] | None:
        if vars(function):  # wrappers and what else carries something along
            return None
        found = rewritten(function.__code__, Tag)
        if found is None:
            return None
        self.codes.update(_all_codes(found.code))
        made = FunctionType(
            found.code,
            function.__globals__,
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        made.__kwdefaults__ = function.__kwdefaults__
        made.__qualname__ = function.__qualname__
        return found, made


class _Stages(local):
    def __init__(self) -> None:
        self.now: Stage | None = None


stages = _Stages()


class Tag:
    """What a rewritten function asks, wherever it decides, calls or reads an item."""

    def __init__(self, rewritten: Rewritten) -> None:
        self._forks = rewritten.forks

    def _entry(self) -> _Entry:
        stage = stages.now
        entry = stage.entries[-1] if stage and stage.entries else None
        if entry is None or entry.frame is not sys._getframe(2):
            raise DoubtError("a side was left by an exception")
        return entry

    # ---- branches ----------------------------------------------------------------------------

    def fork(self, test: Any, number: int) -> Any:
        """A branch begins."""
        stage, fork = _now(), self._forks[number]
        entry = _Entry(fork, sys._getframe(1), test)
        is_open = isinstance(test, (Condition, Value)) and stage.chooses(fork)
        if not is_open:
            entry.outcome = stage.truth(test, fork)
            stage.entries.append(entry)
            return test
        entry.value = test.value if isinstance(test, Condition) else _not_zero(test)
        entry.before = _held(entry)
        stage.entries.append(entry)
        stage.open += 1
        return test

    def then(self) -> bool:
        """Whether the first side is run."""
        entry = self._entry()
        return entry.value is not None or entry.outcome

    def other(self) -> bool:
        """Whether the second side is run."""
        entry = self._entry()
        if entry.value is None:
            return not entry.outcome
        entry.held = _held(entry)
        return True

    def rewound(self) -> bool:
        """Whether names go back to what they meant before the first side."""
        return self._entry().value is not None

    def before(self) -> tuple[Any, ...]:
        """What names meant before the branch."""
        return self._entry().before

    def joined(self) -> bool:
        """The branch ends. Whether names are merged."""
        entry, stage = self._entry(), _now()
        if entry.value is not None:
            stage.after = tuple(
                [
                    stage.merged(entry.value, one, other)
                    for one, other in zip(entry.held, _held(entry))
                ]
            )
        self._close(stage)
        return entry.value is not None

    def after(self) -> tuple[Any, ...]:
        """What names mean after the branch."""
        return _now().after

    def _close(self, stage: Stage) -> None:
        if stage.entries.pop().value is not None:
            stage.open -= 1

    def unbound(self, thing: Any) -> bool:
        """Whether a name means nothing."""
        return thing is UNBOUND

    def pick(self, test: Any, one: Any, other: Any) -> Any:
        """``one if test else other``"""
        entry, stage = self._entry(), _now()
        if entry.value is None:
            result = one if entry.outcome else other
        else:
            result = stage.merged(entry.value, one, other)
        self._close(stage)
        return result

    def both(self, test: Any, other: Any) -> Any:
        """``test and other``"""
        entry, stage = self._entry(), _now()
        if entry.value is None:
            result = other if entry.outcome else test
        else:
            result = stage.merged(entry.value, other, _truth_of(test, entry, False))
        self._close(stage)
        return result

    def either(self, test: Any, other: Any) -> Any:
        """``test or other``"""
        entry, stage = self._entry(), _now()
        if entry.value is None:
            result = test if entry.outcome else other
        else:
            result = stage.merged(entry.value, _truth_of(test, entry, True), other)
        self._close(stage)
        return result

    def negated(self, test: Any, number: int) -> Any:
        """``not test``"""
        stage, fork = _now(), self._forks[number]
        if isinstance(test, Condition) and stage.chooses(fork):
            return Condition(1.0 - test.value)
        return not stage.truth(test, fork)

    def between(self, number: int, signs: str, *operands: Any) -> Any:
        """``a < b < c``"""
        stage, fork = _now(), self._forks[number]
        held: Any = None
        found: Any = True
        asked = signs.split()
        for place, (sign, left, right) in enumerate(zip(asked, operands, operands[1:]), 1):
            found = _COMPARE[sign](left, right)
            if held is not None:
                found = stage.merged(held.value, found, False)
            if place == len(asked):
                break
            held = found if isinstance(found, Condition) and stage.chooses(fork) else None
            if held is None and not stage.truth(found, fork):
                break
        return found

    # ---- loops -------------------------------------------------------------------------------

    def loop(self, number: int) -> None:
        """A ``while`` begins."""
        _now().entries.append(_Entry(self._forks[number], sys._getframe(1), None))

    def turn(self, test: Any, number: int) -> bool:
        """Whether there is another round, of all rows or of some."""
        entry, stage = self._entry(), _now()
        is_condition = isinstance(test, (Condition, Value))
        if entry.value is None:
            if stage.open:
                raise stage.refuse("it has a while loop")
            if not (is_condition and stage.chooses(entry.fork)):
                again = stage.truth(test, entry.fork)
                if not again:
                    stage.entries.pop()
                return again
            entry.value = test.value if isinstance(test, Condition) else _not_zero(test)
            stage.open += 1
        elif is_condition:
            value = test.value if isinstance(test, Condition) else _not_zero(test)
            entry.value = stage._choice(entry.value, value, 0.0)
        elif not test:
            self._close(stage)
            return False
        if entry.rounds in ASKS and not stage.decisions.decide(entry.value, entry.fork):
            self._close(stage)
            return False
        entry.rounds += 1
        entry.before = _held(entry)
        return True

    def turned(self) -> bool:
        """A round ends. Whether names are merged with what they meant before it."""
        entry, stage = self._entry(), _now()
        if entry.value is None:
            return False
        stage.after = tuple(
            [
                stage.merged(entry.value, one, other)
                for one, other in zip(_held(entry), entry.before)
            ]
        )
        return True

    # ---- calls and what they take ------------------------------------------------------------

    def call(self, function: Any) -> Any:
        """What is called in the place of a function."""
        stage = stages.now
        return function if stage is None else stage.called(function)

    def extreme(self, function: Any, number: int) -> Any:
        """``min`` or ``max``, if that is what it is."""
        stage, fork = _now(), self._forks[number]
        if function is not min and function is not max:
            return stage.called(function)
        compare = operator.lt if function is min else operator.gt

        def extreme(*given: Any, **settings: Any) -> Any:
            items = given[0] if len(given) == 1 else given
            if settings or not is_repeatable(items) or not len(items):
                if stage.open:
                    raise stage.refuse("min and max are given more than values")
                return function(*given, **settings)
            best, *rest = items
            for each in rest:
                holds = compare(each, best)
                if isinstance(holds, Condition) and stage.chooses(fork):
                    best = self._better(stage, fork, holds.value, each, best)
                elif stage.truth(holds, fork):
                    best = each
            return best

        return extreme

    def _better(self, stage: Stage, fork: Fork, holds: Value, one: Any, other: Any) -> Any:
        stage.entries.append(_Entry(fork, sys._getframe(0), None))
        result = stage.merged(holds, one, other)
        stage.entries.pop()
        return result

    def iterated(self, thing: Any, made: bool) -> Any:
        """What is gone through in a side can be gone through again, or is ``made`` for it."""
        stage = stages.now
        if stage is not None and stage.open and not (made or is_repeatable(thing)):
            raise stage.refuse("it goes through something that can be gone through once")
        return thing

    def fresh(self, generator: Any) -> Any:
        """A generator that is made where it is gone through."""
        if stages.now is not None:
            stages.now.fresh.append(generator)
        return generator

    def item(self, thing: Any) -> Any:
        """Reading an item in a side changes nothing."""
        return self.iterated(thing, False)

    def rebinds(self, thing: Any) -> None:
        """``x += y`` in a side gives the name something new."""
        stage = stages.now
        if stage is not None and stage.open and not is_immutable(thing):
            raise stage.refuse("it changes something in place")


_COMPARE = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}


def _now() -> Stage:
    if stages.now is None:
        raise DoubtError("a recorded function was called after its recording")
    return stages.now


def _held(entry: _Entry) -> tuple[Any, ...]:
    """What the names of a branch mean now."""
    names = entry.fork.names
    if not names:
        return ()
    held = entry.frame.f_locals
    return tuple([held.get(name, UNBOUND) for name in names])


def _not_zero(value: Value) -> Value:
    return (1.0 - elementwise.equal(value, 0.0)).detach()


def _truth_of(test: Any, entry: _Entry, holds: bool) -> Any:
    """What a test is in the rows where it decides alone."""
    if isinstance(test, Condition):
        return holds
    return test


def _kind(thing: Any) -> str:
    kind = type(thing)
    if isinstance(thing, Value):
        return "value" if getattr(thing, "shape", ()) == () else "tensor"
    if kind is float:
        return "number"
    if kind is int:
        return "whole" if abs(thing) < MOST_WHOLE else "huge"
    if kind is bool or isinstance(thing, Condition):
        return "truth"
    if kind is tuple:
        return "tuple"
    if kind in (str, bytes):
        return "text"
    if thing is UNBOUND:
        return "unbound"
    return "thing"


def _number(truth: Any) -> Any:
    return truth.value if isinstance(truth, Condition) else float(truth)


def _bits(number: Any) -> bytes:
    return pack("d", float(number))


def _is_compiled(thing: Any) -> bool:
    from .compiled import Compiled

    return isinstance(thing, Compiled)


def _all_codes(code: CodeType) -> list[CodeType]:
    found = [code]
    for each in found:
        found.extend([part for part in each.co_consts if hasattr(part, "co_code")])
    return found


for _each in (sys.modules[__name__], Tag, Stage, Chosen):
    belongs_to_caller(_each)
