"""Both sides of a branch, run while a function is recorded.

A rewritten function asks its *tag* wherever it decides. Where the branch is to be a choice both
sides are run, one after the other, from the same names, and what the names mean afterwards is
merged: value by value, into choices. Whatever might not be what the function does makes a doubt.
"""

from __future__ import annotations

import sys
from struct import pack
from threading import local
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from .._values import elementwise
from .._values.modes import grad_enabled
from ..value import Value, belongs_to_caller
from .calls import checked
from .conditions import Condition, Decisions
from .doubts import DoubtError
from .entered import is_user_file
from .repeating import repeated
from .rewriting import Fork, Rewritten, rewritten

if TYPE_CHECKING:
    from types import CodeType, FrameType

UNBOUND: Any = type("Unbound", (), {"__slots__": ()})()
"""What a name means that means nothing."""
MOST_WHOLE = 1 << 53


class Chosen(Condition):
    """True in some rows and False in others, where Python has ``True`` or ``False``."""

    __slots__ = ()

    def __invert__(self) -> Any:
        raise now().refuse("~ of a plain True is a number")

    # True + 1 is a whole number

    def __add__(self, other: Any) -> Any:
        now().whole = True
        return super().__add__(other)

    def __sub__(self, other: Any) -> Any:
        now().whole = True
        return super().__sub__(other)

    def __rsub__(self, other: Any) -> Any:
        now().whole = True
        return super().__rsub__(other)

    def __mul__(self, other: Any) -> Any:
        now().whole = True
        return super().__mul__(other)

    def __neg__(self) -> Any:
        now().whole = True
        return super().__neg__()

    __radd__, __rmul__ = __add__, __mul__


class Entry:
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

    ``forks`` are those; ``nodes`` are the choices made, ``tests`` what would have been guards,
    ``whole`` says whether a choice may be a whole number. ``made`` are the lists, sets and dicts
    that the function made itself, ``fresh`` what it made to be gone through once, since the last
    side began. ``unlike`` are values that were used as no plain number can be.
    """

    def __init__(self, forks: frozenset[Fork], off: set[Fork]) -> None:
        self.forks, self.off = forks, off
        self.entries: list[Entry] = []
        self.open = 0
        self.nodes: list[Value] = []
        self.tests: list[Value] = []
        self.unlike: list[Value] = []
        self.whole = False
        self.doubted: set[Fork] = set()
        self.numbers: set[Fork] = set()
        self.why = ""
        self.decisions = Decisions()
        self.after: tuple[Any, ...] = ()
        self._functions: dict[int, tuple[Any, Any]] = {}
        self.codes: set[CodeType] = set()
        self.fresh: dict[int, Any] = {}
        self.made: dict[int, Any] = {}
        self.is_stopped = False

    def chooses(self, fork: Fork) -> bool:
        """Whether a fork is to be a choice: one in a side of another is, if it can be."""
        return fork.root not in self.off and (self.open > 0 or fork.root in self.forks)

    def innermost(self) -> set[Fork]:
        """The branch whose sides were opened last, else all that are choices."""
        opened = [entry.fork.root for entry in self.entries if entry.value is not None]
        return set(opened[-1:]) or set(self.forks)

    def refuse(self, why: str) -> DoubtError:
        """Doubt the innermost side that is open."""
        self.doubted |= self.innermost()
        self.why = self.why or why
        return DoubtError(why)

    def stop(self, why: str) -> DoubtError:
        """Leave the whole function to traces: it may not be recorded once more."""
        self.doubted |= self.forks
        self.is_stopped = True
        self.why = self.why or why
        return DoubtError(why)

    def forbid(self, why: str) -> DoubtError:
        """Refuse what is done, in a side or outside all of them."""
        return self.refuse(why) if self.open else self.stop(why)

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
            return self.decide(not_zero(test), fork)
        return bool(test)

    def tested(self, test: Condition | Value) -> Value:
        """What picks a side, instead of a guard."""
        value: Value = test.value if isinstance(test, Condition) else not_zero(test)
        self.tests.append(value)
        return value

    # ---- merging -----------------------------------------------------------------------------

    def merged(self, condition: Value, one: Any, other: Any) -> Any:
        """What is one thing where a condition holds and the other elsewhere."""
        if one is other:
            return one
        kinds = _kind(one), _kind(other)
        if kinds == ("tuple", "tuple") and len(one) == len(other):
            return tuple([self.merged(condition, x, y) for x, y in zip(one, other)])
        if kinds == ("truth", "truth"):
            if type(one) is bool and type(other) is bool and one == other:
                return one
            return Chosen(self.choice(condition, _number(one), _number(other)))
        if set(kinds) <= {"value", "number", "whole"}:
            if "value" not in kinds and type(one) is type(other) and _bits(one) == _bits(other):
                return one
            if kinds != ("value", "value"):
                self.numbers.update(entry.fork.root for entry in self.entries)
            return self.choice(condition, one, other, "whole" in kinds)
        if kinds == ("text", "text") and one == other:
            return one
        raise self.refuse("its sides give a name things that cannot be one value")

    def choice(self, condition: Value, one: Any, other: Any, whole: bool = False) -> Value:
        """A choice of two values or numbers."""
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
            if found is not None:
                return MethodType(found, function.__self__)
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
        return checked(function, self) if self.open else repeated(function, self)

    def _rewritten(self, function: Any) -> Any:
        if type(function) is not FunctionType or not is_user_file(function.__code__.co_filename):
            return None
        known = self._functions.get(id(function))
        if known is None or known[0] is not function:
            known = self._functions[id(function)] = (function, self._made(function))
        if known[1] is None:
            raise self.forbid(f"it calls {function.__name__}, which may do anything")
        if self.open and not known[1][0].only_assigns:
            raise self.refuse(f"it calls {function.__name__}, which does more than assign names")
        return known[1][1]

    def _made(self, function: Any) -> tuple[Rewritten, Any] | None:
        from .tags import Tag

        found = rewritten(function.__code__, Tag)
        if found is None:
            return None
        self.codes.update(_rewritten_codes(found.code))
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


def now() -> Stage:
    """The recording with choices that is under way."""
    if stages.now is None:
        raise DoubtError("a recorded function was called after its recording")
    return stages.now


def not_zero(value: Value) -> Value:
    """Whether a value counts as true."""
    return (1.0 - elementwise.equal(value, 0.0)).detach()


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


def _rewritten_codes(code: CodeType) -> list[CodeType]:
    """A function's own code and that of its comprehensions; functions in it stand by themselves."""
    found = [code]
    for each in found:
        parts = [part for part in each.co_consts if hasattr(part, "co_code")]
        found.extend([part for part in parts if part.co_name in _COMPREHENSIONS])
    return found


_COMPREHENSIONS = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"))

for _each in (sys.modules[__name__], Stage, Chosen):
    belongs_to_caller(_each)
