"""Asking: questions as data, and replies turned into answers once they hold what was asked for.

Who is asked may be a learner's process, which can say anything: numbers have to be numbers, and
as many as were asked for. A reply that is short, long or something else is a wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .inside.adapter import FUNCTIONS, OPERATORS
from .inside.asking import Question, Reply, Subject
from .plain import plain
from .samples import Answer, Program

Asker = Callable[[Question], Reply]
_LONGEST_NAME: Final = 80
_DESCRIBED: Final = ("class", "data", "gradient", "backward")


@dataclass(frozen=True)
class Engine:
    """What was found in a file: names, the operations it has, the lines where they begin."""

    described: dict[str, str]
    ops: frozenset[str]
    lines: dict[str, int]


def local(namespace: Mapping[str, Any]) -> Asker:
    """An asker of a namespace of ours, in this process."""
    return Subject(namespace).reply


def ask_engine(ask: Asker) -> Engine | str:
    """The engine in a file, or why there is none."""
    reply = ask({"ask": "engine"})
    described, ops, lines = (reply.get(it) for it in ("engine", "ops", "lines"))
    if not (isinstance(described, dict) and isinstance(ops, list) and isinstance(lines, dict)):
        if isinstance(reply.get("missing"), str):
            return plain(reply["missing"], 300)
        why = _raised("", reply)
        return f"it raised {why.raised} when it was looked at: {why.why}".rstrip(": ")
    known = (*OPERATORS, *FUNCTIONS)
    return Engine(
        {it: plain(str(described.get(it, "?")), _LONGEST_NAME) for it in _DESCRIBED},
        frozenset(it for it in ops if isinstance(it, str) and it in known),
        {it: line for it, line in lines.items() if type(line) is int and 0 < line < 1_000_000},
    )


def ask_program(ask: Asker, it: Program) -> list[Answer]:
    """What an engine gives for a program, an answer a label; or one answer that says why not."""
    question = {
        "ask": "program", "text": it.text, "root": it.root, "session": it.session,
        "leaves": it.leaves,
    }  # fmt: skip
    return _numbers(ask(question), it.labels)


def ask_task(ask: Asker, name: str, labels: Sequence[str]) -> list[Answer]:
    """What a file gives for a task."""
    return _numbers(ask({"ask": "task", "name": name}), labels)


def ask_call(ask: Asker, name: str, point: Sequence[Any], several: int) -> list[Answer]:
    """What a function returns: a number, or one for each of several."""
    label = f"{name}({', '.join(map(_shown, point))})"
    arguments = [it if isinstance(it, (int, float)) else it.__name__ for it in point]
    reply = ask({"ask": "call", "name": name, "arguments": arguments})
    shape, asked = reply.get("shape"), f"{several} numbers are" if several else "a number is"
    told = {
        "nothing": ("None", "it returned nothing: is there a return?"),
        "text": ("Shape", f"it returned text where {asked} asked for"),
    }
    if isinstance(shape, str) and shape in told:
        return [Answer(label, None, *told[shape])]
    numbers = reply.get("numbers")
    if isinstance(numbers, list) and (several != len(numbers) or shape != "several"):
        if several or shape == "several":
            row = f"{len(numbers)} numbers in a row" if shape == "several" else "a single number"
            return [Answer(label, None, "Shape", f"it returned {row} where {asked} asked for")]
    labels = [f"{label}[{place}]" for place in range(several)] or [label]
    return _numbers(reply, labels, label)


def _shown(argument: Any) -> str:
    return getattr(argument, "__name__", "") or f"{argument:g}"


def missing(name: str) -> Answer:
    """The answer of a file that lacks a function or class."""
    return Answer(name, None, "Missing", f"the file has no function or class '{name}'")


def _numbers(reply: Reply, labels: Sequence[str], label: str = "") -> list[Answer]:
    numbers = reply.get("numbers")
    if not isinstance(numbers, list):
        return [_raised(label, reply)]
    if len(numbers) != len(labels):
        return [_malformed(label, f"it gave {len(numbers)} numbers where {len(labels)} are asked")]
    if not all(type(it) in (int, float) for it in numbers):
        return [_malformed(label, "it gave something that is no number")]
    try:
        return [Answer(one, float(number)) for one, number in zip(labels, numbers)]
    except OverflowError:
        return [_malformed(label, "it gave a number that is too large")]


def _malformed(label: str, why: str) -> Answer:
    return Answer(label, None, "Shape", why)


def _raised(label: str, reply: Reply) -> Answer:
    if isinstance(reply.get("absent"), str):
        return missing(plain(reply["absent"], _LONGEST_NAME))
    name, why = reply.get("raised"), reply.get("why")
    if not (isinstance(name, str) and isinstance(why, str)):
        return _malformed(label, "it gave no answer")
    line = reply.get("line")
    return Answer(
        label, None, plain(name, _LONGEST_NAME), plain(why, 300),
        line=line if type(line) is int else None,
    )  # fmt: skip
