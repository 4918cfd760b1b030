"""What an exercise asks a learner's file, and the files that would give wrong answers.

A probe asks a namespace (a learner's module, or one made here) for answers. The same questions go
to a right namespace and to one for every fault, so that answers can be compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from . import tasks
from .adapter import Adapter, NoEngineError
from .faults import FAULTS, engine
from .programs import Answer, Program, answers, drawn, program
from .rules import RULES

Namespace = Mapping[str, Any]
SEED = "retrograde"


@dataclass(frozen=True)
class Probe:
    """Questions, and the namespaces that answer them: "" is right, the others have one fault."""

    ask: Callable[[Namespace], list[Answer]]
    subjects: Callable[[], dict[str, Namespace]]


@cache
def probe(text: str) -> Probe:
    """The probe an exercise names: ``rule add``, ``engine add mul deep``, or a task's name.

    >>> right = probe("rule add").subjects()[""]
    >>> len(probe("rule add").ask(right))
    12
    """
    kind, *words = text.split()
    if kind == "rule":
        return _rule_probe(words[0])
    if kind == "engine":
        return _engine_probe(tuple(words))
    ask, subjects = tasks.TASKS[kind]
    return Probe(_guarded(ask), subjects)


def _rule_probe(name: str) -> Probe:
    rule = RULES[name]

    def ask(namespace: Namespace) -> list[Answer]:
        function = namespace.get(rule.function)
        if not callable(function):
            return [_missing(rule.function)]
        found: list[Answer] = []
        for point in rule.points(SEED):
            label = f"{rule.function}({', '.join(map(_shown, point))})"
            try:
                found += _numbers(label, function(*point))
            except Exception as error:
                found.append(Answer(label, None, type(error).__name__, str(error)[:300]))
        return found

    def subjects() -> dict[str, Namespace]:
        right: dict[str, Namespace] = {"": {rule.function: rule.right}}
        return right | {name: {rule.function: wrong} for name, wrong in rule.wrong.items()}

    return Probe(ask, subjects)


def _shown(argument: Any) -> str:
    return getattr(argument, "__name__", "").strip("_") or f"{argument:g}"


def _numbers(label: str, got: Any) -> list[Answer]:
    """An answer that is a number, or one for each of several."""
    if isinstance(got, (tuple, list)):
        return [Answer(f"{label}[{place}]", float(it)) for place, it in enumerate(got)]
    if got is None:
        return [Answer(label, None, "None", "it returned nothing: is there a return?")]
    return [Answer(label, float(got))]


def _missing(name: str) -> Answer:
    return Answer(name, None, "Missing", f"the file has no function or class '{name}'")


_SINGLES = {
    "add": "y = a + b", "sub": "y = a - b", "mul": "y = a * b", "div": "y = a / b",
    "pow": "y = a**3", "neg": "y = -a", "exp": "y = exp(a)", "log": "y = log(a)",
    "tanh": "y = tanh(a)", "relu": "y = relu(a)",
}  # fmt: skip
_NUMBERS = {
    "add": "y = 2.5 + a + 0.5", "sub": "y = 3.5 - a; z = y - 1.5", "mul": "y = 3 * a * 1.5",
    "div": "y = 3 / a; z = y / 2",
}  # fmt: skip
_POINT = {"a": 1.3, "b": -0.7}


def engine_programs(words: tuple[str, ...]) -> list[Program]:
    """The programs for a list of operations and sessions, smallest first."""
    ops = [word for word in words if word in _SINGLES]
    found = [Program(_SINGLES[op], _leaves(_SINGLES[op])) for op in ops]
    if "relu" in ops:
        found += [program("y = relu(a)", a=-0.4)]
        if "mul" in ops:
            found += [program("y = relu(a) * b", a=0.8, b=-1.7)]
    if "add" in ops:
        found += [program("y = a + a", a=1.7), program("u = a + a; y = u + u", a=1.7)]
    if ops == ["add"]:  # all contributions are alike: only a second pass tells which was lost
        found += [program("y = a + a", "twice", a=1.7), program("u = a + a; y = u + a", a=1.7)]
    if "mul" in ops:
        found += [program("y = a * a", a=1.7)]
    if "numbers" in words:
        found += [program(_NUMBERS[op], a=1.3) for op in ops if op in _NUMBERS]
    if {"add", "mul"} <= set(ops):
        found += [program("y = (a*b + c) * (a + b)", a=2.0, b=-3.0, c=10.0)]
        found += [program("u = a*b; v = u + a; y = v * (u + b) + u", a=1.5, b=-0.7)]
        found += [drawn(f"{SEED} {place}", ops, 4 + place) for place in range(3)]
    sessions = [it for it in ("twice", "zeroed") if it in words]
    for session in sessions:
        found += [replace(it, session=session) for it in found if it.session == "once"]
    if "deep" in words:
        found.append(program("y = a\nfor step in range(5000):\n    y = y + b", a=1.0, b=0.5))
    return found


def _leaves(text: str) -> tuple[tuple[str, float], ...]:
    formula = re.sub("[a-z]{2,}", "", text.partition("=")[2])
    return tuple((name, number) for name, number in _POINT.items() if name in formula)


def _engine_probe(words: tuple[str, ...]) -> Probe:
    programs = engine_programs(words)

    def ask(namespace: Namespace) -> list[Answer]:
        try:
            adapter = Adapter(namespace)
        except NoEngineError as error:
            return [Answer("Value", None, "Missing", str(error))]
        return [
            replace(it, label=f"{each.shown}: {it.label}".rstrip(": "))
            for each in programs
            for it in answers(adapter, each)
        ]

    def subjects() -> dict[str, Namespace]:
        right: dict[str, Namespace] = {"": {"Value": engine()}}
        return right | {fault: {"Value": engine(fault)} for fault in FAULTS}

    return Probe(ask, subjects)


def _guarded(ask: Callable[[Namespace], list[Answer]]) -> Callable[[Namespace], list[Answer]]:
    def guarded(namespace: Namespace) -> list[Answer]:
        try:
            return ask(namespace)
        except tasks.AbsentError as error:
            return [_missing(str(error))]
        except Exception as error:
            return [Answer("", None, type(error).__name__, str(error)[:300])]

    return guarded
