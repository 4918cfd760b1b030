"""What an exercise asks a learner's file, and the files that would give wrong answers.

A probe asks a learner's process, or a namespace made here, for answers. The same questions go
to a right namespace and to one for every fault, so that answers can be compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from . import tasks
from .faults import BINARY, FAULTS, engine
from .inside.tasks import ASKS
from .questions import Asker, ask_call, ask_engine, ask_program, ask_task, local
from .rules import RULES
from .samples import Answer, Program, drawn, program

Namespace = Mapping[str, Any]
SEED = "retrograde"


@dataclass(frozen=True)
class Probe:
    """Questions, and the namespaces that answer them: "" is right, the others have one fault.

    Answers come one by one, so that who compares them can stop at the first that differs.
    """

    asking: Callable[[Asker], Iterable[Answer]]
    subjects: Callable[[], dict[str, Namespace]]

    def ask(self, namespace: Namespace) -> list[Answer]:
        """All answers of a namespace of ours."""
        return list(self.asking(local(namespace)))


@cache
def probe(text: str) -> Probe:
    """The probe an exercise names: ``rule add``, ``engine add mul deep``, or a task's name.

    >>> right = probe("rule add").subjects()[""]
    >>> len(probe("rule add").ask(right))
    32
    """
    kind, *words = text.split()
    if kind == "rule":
        return _rule_probe(words[0])
    if kind == "engine":
        return _engine_probe(tuple(words))
    return _task_probe(kind)


def _rule_probe(name: str) -> Probe:
    rule = RULES[name]

    def asking(ask: Asker) -> Iterator[Answer]:
        for point in rule.points(SEED):
            right = rule.right(*point)
            several = len(right) if isinstance(right, tuple) else 0
            found = ask_call(ask, rule.function, point, several)
            yield from found
            if found[0].raised == "Missing":
                return

    def subjects() -> dict[str, Namespace]:
        right: dict[str, Namespace] = {"": {rule.function: rule.right}}
        return right | {name: {rule.function: wrong} for name, wrong in rule.wrong.items()}

    return Probe(asking, subjects)


_SINGLES = {
    "add": "y = a + b", "sub": "y = a - b", "mul": "y = a * b", "div": "y = a / b",
    "pow": "y = a**3", "neg": "y = -a", "exp": "y = exp(a)", "log": "y = log(a)",
    "tanh": "y = tanh(a)", "relu": "y = relu(a)", "sigmoid": "y = sigmoid(a)",
}  # fmt: skip
_NUMBERS = {
    "add": "y = 2.5 + a + 0.5", "sub": "y = 3.5 - a; z = y - 1.5", "mul": "y = 3 * a * 1.5",
    "div": "y = 3 / a; z = y / 2",
}  # fmt: skip
_POINT = {"a": 1.3, "b": -0.7}


def _at(text: str, session: str = "once") -> Program:
    return Program(text, tuple(_POINT.items()), session)


def engine_programs(words: tuple[str, ...]) -> list[Program]:
    """The programs for a list of operations and sessions, smallest first."""
    ops = [word for word in words if word in _SINGLES]
    found = [Program(_SINGLES[op], _leaves(_SINGLES[op])) for op in ops]
    if "relu" in ops:
        found += [program("y = relu(a)", a=-0.4), program("y = relu(a)", a=0.0)]
        if "mul" in ops:
            found += [program("y = relu(a) * b", a=0.8, b=-1.7)]
    if "add" in ops:
        found += [program("y = a + a", a=1.7), program("u = a + a; y = u + u", a=1.7)]
        found += [_at("u = a + b; v = u + b; y = a + v + u")]
    if ops == ["add"]:  # all contributions are alike: only a second pass tells which was lost
        found += [program("y = a + a", "twice", a=1.7), program("u = a + a; y = u + a", a=1.7)]
    if "mul" in ops:
        found += [program("y = a * a", a=1.7)]
        found += [_at(_reused(op)) for op in ops]
        found += [_at(f"v = a * b; y = a {_SINGLES[op][6]} v") for op in ops if op in BINARY]
    if "numbers" in words:
        found += [program(_NUMBERS[op], a=1.3) for op in ops if op in _NUMBERS]
    if {"add", "mul"} <= set(ops):
        found += [program("y = (a*b + c) * (a + b)", a=2.0, b=-3.0, c=10.0)]
        found += [program("u = a*b; v = u + a; y = v * (u + b) + u", a=1.5, b=-0.7)]
        found += [_at("u = a + b; v = u + b; y = v + (u + v)")]  # early, late, and of other depth
        found += [drawn(f"{SEED} {place}", ops, 4 + place) for place in range(3)]
    sessions = [it for it in ("twice", "zeroed") if it in words]
    for session in sessions:
        found += [replace(it, session=session) for it in found if it.session == "once"]
    if "deep" in words:
        found.append(program("y = a\nfor step in range(5000):\n    y = y + b", a=1.0, b=0.5))
    return found


def _reused(op: str) -> str:
    """A program whose op reads interior values that received a gradient before it hands its own."""
    if op in BINARY:
        sign = _SINGLES[op][6]
        return f"v = a * b; u = v {sign} a; w = a {sign} v; y = u * w * v * a"
    formula = (
        _SINGLES[op].replace("y = ", "").replace("a", "v", 1)
        if op in ("pow", "neg")
        else f"{op}(v)"
    )
    return f"v = a * a; y = {formula} * v"


def _telling(words: tuple[str, ...]) -> list[Program]:
    """Questions that do not count: they tell faults apart that otherwise look alike."""
    sign = "*" if "mul" in words else "+"
    return [
        _at(f"y = a {sign} b", "primed"),
        _at(f"u = a {sign} b; y = u {sign} b", "twice"),
    ]


def _leaves(text: str) -> tuple[tuple[str, float], ...]:
    formula = re.sub("[a-z]{2,}", "", text.partition("=")[2])
    return tuple((name, number) for name, number in _POINT.items() if name in formula)


def _engine_probe(words: tuple[str, ...]) -> Probe:
    programs = engine_programs(words)
    telling = _telling(words)

    def asking(ask: Asker) -> Iterator[Answer]:
        found = ask_engine(ask)
        if isinstance(found, str):
            yield Answer("Value", None, "Missing", found)
            return
        for each in (*programs, *telling):
            for it in ask_program(ask, each):
                label = f"{each.shown}: {it.label}".rstrip(": ")
                yield replace(it, label=label, counts=each not in telling)

    def subjects() -> dict[str, Namespace]:
        right: dict[str, Namespace] = {"": {"Value": engine()}}
        return right | {fault: {"Value": engine(fault)} for fault in FAULTS}

    return Probe(asking, subjects)


def _task_probe(name: str) -> Probe:
    subjects = tasks.TASKS[name]
    labels = [label for label, _ in ASKS[name](subjects()[""])]
    return Probe(lambda ask: ask_task(ask, name, labels), subjects)
