"""The tag that a rewritten function asks, wherever it decides, calls or reads an item.

What it answers is up to the recording under way (``sides.py``): one side of a branch, as Python
has it, or both.
"""

from __future__ import annotations

import operator
import sys
from typing import Any

from ..value import Value, belongs_to_caller
from .calls import is_immutable, is_repeatable
from .conditions import Condition
from .doubts import DoubtError
from .repeating import lasts, repeated
from .rewriting import Fork, Rewritten
from .sides import UNBOUND, Entry, Stage, now, stages

ASKS = frozenset(8 * 4**power for power in range(12))
"""The rounds of a loop with rows of different lengths after which it is asked whether any row goes
on: where none does, the loop ends; where one does, it has a trace with more rounds."""


class Tag:
    """What a rewritten function asks, wherever it decides, calls or reads an item."""

    def __init__(self, rewritten: Rewritten) -> None:
        self._forks = rewritten.forks

    def _entry(self) -> Entry:
        stage = stages.now
        entry = stage.entries[-1] if stage and stage.entries else None
        if entry is None or entry.frame is not sys._getframe(2):
            raise DoubtError("a side was left by an exception")
        return entry

    # ---- branches ----------------------------------------------------------------------------

    def fork(self, test: Any, number: int) -> Any:
        """A branch begins."""
        stage, fork = now(), self._forks[number]
        entry = Entry(fork, sys._getframe(1), test)
        is_open = isinstance(test, (Condition, Value)) and stage.chooses(fork)
        if not is_open:
            entry.outcome = stage.truth(test, fork)
            stage.entries.append(entry)
            return test
        entry.value = stage.tested(test)
        entry.before = _held(entry)
        stage.entries.append(entry)
        stage.open += 1
        stage.fresh.clear()
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
        now().fresh.clear()
        return True

    def rewound(self) -> bool:
        """Whether names go back to what they meant before the first side."""
        return self._entry().value is not None

    def before(self) -> tuple[Any, ...]:
        """What names meant before the branch."""
        return self._entry().before

    def joined(self) -> bool:
        """The branch ends. Whether names are merged."""
        entry, stage = self._entry(), now()
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
        return now().after

    def _close(self, stage: Stage) -> None:
        if stage.entries.pop().value is not None:
            stage.open -= 1
            stage.fresh.clear()

    def unbound(self, thing: Any) -> bool:
        """Whether a name means nothing."""
        return thing is UNBOUND

    def pick(self, test: Any, one: Any, other: Any) -> Any:
        """``one if test else other``"""
        entry, stage = self._entry(), now()
        if entry.value is None:
            result = one if entry.outcome else other
        else:
            result = stage.merged(entry.value, one, other)
        self._close(stage)
        return result

    def both(self, test: Any, other: Any) -> Any:
        """``test and other``"""
        entry, stage = self._entry(), now()
        if entry.value is None:
            result = other if entry.outcome else test
        else:
            result = stage.merged(entry.value, other, _truth_of(test, entry, False))
        self._close(stage)
        return result

    def either(self, test: Any, other: Any) -> Any:
        """``test or other``"""
        entry, stage = self._entry(), now()
        if entry.value is None:
            result = test if entry.outcome else other
        else:
            result = stage.merged(entry.value, _truth_of(test, entry, True), other)
        self._close(stage)
        return result

    def negated(self, test: Any, number: int) -> Any:
        """``not test``"""
        stage, fork = now(), self._forks[number]
        if isinstance(test, Condition) and stage.chooses(fork):
            return Condition(1.0 - test.value)
        return not stage.truth(test, fork)

    def between(self, number: int, signs: str, *operands: Any) -> Any:
        """``a < b < c``"""
        stage, fork = now(), self._forks[number]
        held: Any = None
        found: Any = True
        asked = signs.split()
        for place, (sign, left, right) in enumerate(zip(asked, operands, operands[1:]), 1):
            found = _COMPARE[sign](left, right)
            if held is not None:
                found = stage.merged(stage.tested(held), found, False)
            if place == len(asked):
                break
            held = found if isinstance(found, Condition) and stage.chooses(fork) else None
            if held is None and not stage.truth(found, fork):
                break
        return found

    # ---- loops -------------------------------------------------------------------------------

    def loop(self, number: int) -> None:
        """A ``while`` begins."""
        now().entries.append(Entry(self._forks[number], sys._getframe(1), None))

    def turn(self, test: Any, number: int) -> bool:
        """Whether there is another round, of all rows or of some."""
        entry, stage = self._entry(), now()
        is_condition = isinstance(test, (Condition, Value))
        if entry.value is None:
            if stage.open:
                raise stage.refuse("it has a while loop")
            if not (is_condition and stage.chooses(entry.fork)):
                again = stage.truth(test, entry.fork)
                if not again:
                    stage.entries.pop()
                return again
            entry.value = stage.tested(test)
            stage.open += 1
        elif is_condition:
            entry.value = stage.choice(entry.value, stage.tested(test), 0.0)
        elif not test:
            self._close(stage)
            return False
        if entry.rounds in ASKS and not stage.decisions.decide(entry.value, entry.fork):
            self._close(stage)
            return False
        entry.rounds += 1
        entry.before = _held(entry)
        stage.fresh.clear()
        return True

    def turned(self) -> bool:
        """A round ends. Whether names are merged with what they meant before it."""
        entry, stage = self._entry(), now()
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
        stage, fork = now(), self._forks[number]
        if function is not min and function is not max:
            return stage.called(function)
        compare = operator.lt if function is min else operator.gt

        def extreme(*given: Any, **settings: Any) -> Any:
            items = given[0] if len(given) == 1 else given
            if settings or not is_repeatable(items) or not len(items):
                if stage.open:
                    raise stage.refuse("min and max are given more than values")
                return repeated(function, stage)(*given, **settings)
            best, *rest = items
            for each in rest:
                holds = compare(each, best)
                if isinstance(holds, Condition) and stage.chooses(fork):
                    best = self._better(stage, fork, stage.tested(holds), each, best)
                elif stage.truth(holds, fork):
                    best = each
            return best

        return extreme

    def _better(self, stage: Stage, fork: Fork, holds: Value, one: Any, other: Any) -> Any:
        stage.entries.append(Entry(fork, sys._getframe(0), None))
        result = stage.merged(holds, one, other)
        stage.entries.pop()
        return result

    def iterated(self, thing: Any, made: bool) -> Any:
        """What is gone through in a side can be gone through again, or is ``made`` for it."""
        stage = stages.now
        if stage is None or made:
            return thing
        if not (is_repeatable(thing) if stage.open else lasts(thing, stage)):
            raise stage.forbid("it goes through something that can be gone through once")
        return thing

    def made(self, thing: Any) -> Any:
        """A list, set or dict that nobody else knows yet."""
        if stages.now is not None:
            stages.now.made[id(thing)] = thing
        return thing

    def changed(self, thing: Any) -> Any:
        """Only what the function has made is changed by it, or the change would come twice."""
        stage = stages.now
        if stage is not None and id(thing) not in stage.made:
            raise stage.forbid(f"it changes a {type(thing).__name__} that was there before")
        return thing

    def fresh(self, generator: Any) -> Any:
        """A generator that is made where it is gone through."""
        if stages.now is not None:
            stages.now.fresh[id(generator)] = generator
        return generator

    def item(self, thing: Any) -> Any:
        """Reading an item in a side changes nothing."""
        stage = stages.now
        if stage is not None and stage.open and not is_repeatable(thing):
            raise stage.refuse("it reads an item of something that may change")
        return thing

    def looked_at(self, thing: Any) -> Any:
        """What an attribute is read of that tells a value from a number or from another value."""
        stage = stages.now
        if stage is not None and isinstance(thing, (Value, Condition)):
            raise stage.forbid("it looks at how a value was made")
        return thing

    def unlike(self, thing: Any) -> Any:
        """What is asked for something that a plain number or truth has not, or gives otherwise."""
        stage = stages.now
        if stage is not None and isinstance(thing, (Value, Condition)):
            stage.unlike.append(thing.value if isinstance(thing, Condition) else thing)
        return thing

    def rebinds(self, thing: Any) -> None:
        """``x += y`` gives the name something new, or changes what the function has made."""
        stage = stages.now
        if stage is None or is_immutable(thing):
            return
        if stage.open or id(thing) not in stage.made:
            raise stage.forbid("it changes something in place")


_COMPARE = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}


def _held(entry: Entry) -> tuple[Any, ...]:
    """What the names of a branch mean now."""
    names = entry.fork.names
    if not names:
        return ()
    held = entry.frame.f_locals
    return tuple([held.get(name, UNBOUND) for name in names])


def _truth_of(test: Any, entry: Entry, holds: bool) -> Any:
    """What a test is in the rows where it decides alone."""
    if isinstance(test, Condition):
        return holds
    return test


for _each in (sys.modules[__name__], Tag):
    belongs_to_caller(_each)
