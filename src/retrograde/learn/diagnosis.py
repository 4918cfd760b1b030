"""From answers to a verdict: which are wrong, and whose answers they are.

The fault whose answers match all of the learner's is named. Where no single fault does, two at
once are tried on engines; else the first wrong answer is shown and nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import combinations
from typing import Any

from .adapter import Adapter, agree
from .faults import FAULTS, engine, misconception_of
from .misconceptions import MISCONCEPTIONS
from .probes import probe
from .programs import Answer, Program, answers, program


@dataclass(frozen=True)
class Wrong:
    """One answer that is not right."""

    label: str
    got: str
    expected: str


@dataclass(frozen=True)
class Found:
    """A misconception that explains the answers, with the smallest example that shows it."""

    name: str
    title: str
    words: str
    example: str


@dataclass(frozen=True)
class Diagnosis:
    """What the answers say: how many are right, the first wrong ones, the misconceptions."""

    right: int
    asked: int
    wrong: tuple[Wrong, ...]
    found: tuple[Found, ...]

    @property
    def passed(self) -> bool:
        """Whether every answer is right."""
        return self.right == self.asked

    def data(self) -> dict[str, Any]:
        """As plain data."""
        return {"passed": self.passed, **asdict(self)}


def same(one: Answer, other: Answer) -> bool:
    """Whether two answers to one question agree; what was raised has to be the same kind."""
    if one.number is None or other.number is None:
        return one.number is other.number and one.raised == other.raised
    return agree(one.number, other.number)


def all_same(some: Sequence[Answer], others: Sequence[Answer]) -> bool:
    """Whether two lists of answers agree throughout."""
    return len(some) == len(others) and all(map(same, some, others))


@cache
def known_answers(text: str) -> dict[str, list[Answer]]:
    """The answers of every subject of a probe; "" is the right one."""
    it = probe(text)
    return {fault: it.ask(subject) for fault, subject in it.subjects().items()}


def diagnose(text: str, got: Sequence[Answer]) -> Diagnosis:
    """Judge the answers to a probe.

    >>> from .probes import probe
    >>> answered = probe("rule add").ask({"backward": lambda dy, x, y: (dy / 2, dy / 2)})
    >>> [it.title for it in diagnose("rule add", answered).found]
    ['thinks that addition splits the gradient']
    """
    known = known_answers(text)
    right = known[""]
    if len(got) != len(right) and not any(it.number is None for it in got):
        wrong = [Wrong("how many numbers", f"{len(got)}", f"{len(right)}")]
        return Diagnosis(0, len(right), tuple(wrong), ())
    pairs = _aligned(got, right)
    wrong = [_wrong(mine, theirs) for mine, theirs in pairs if not same(mine, theirs)]
    told = {it.label: it for it in reversed(wrong)}  # a question that raised is told once
    found: list[str] = []
    if wrong:
        found = [
            fault for fault, theirs in known.items()
            if fault and not all_same(theirs, right) and all_same(got, theirs)
        ]  # fmt: skip
        if not found and text.startswith("engine") and all(it.number is not None for it in got):
            found = _two_faults(text, got)
    names = list(dict.fromkeys(map(misconception_of, found)))
    return Diagnosis(
        len(right) - len(wrong), len(right), tuple(list(told.values())[::-1][:3]),
        tuple(_found(text, name, found) for name in names),
    )  # fmt: skip


def _aligned(got: Sequence[Answer], right: Sequence[Answer]) -> list[tuple[Answer, Answer]]:
    """Answers beside the right ones; a program that raised stands for all its answers."""
    by_label = {it.label: it for it in got}
    nothing = Answer("", None, "Missing", "no answer")

    def mine(expected: Answer) -> Answer:
        if expected.label in by_label:
            return by_label[expected.label]
        question = expected.label.rpartition(": ")[0]
        return by_label.get(question) or by_label.get("") or (got[0] if got else nothing)

    return [(mine(expected), expected) for expected in right]


def _wrong(got: Answer, expected: Answer) -> Wrong:
    label = expected.label if got.number is not None else got.label or expected.label
    return Wrong(label, shown(got), shown(expected))


def shown(it: Answer) -> str:
    """An answer as text."""
    if it.number is not None:
        return f"{it.number:.6g}"
    if it.raised in ("Missing", "None"):
        return it.why
    return f"{it.raised}: {it.why}".rstrip(": ")


def _two_faults(text: str, got: Sequence[Answer]) -> list[str]:
    """The first pair of faults that together give these answers."""
    it = probe(text)
    right = known_answers(text)[""]
    telling = [
        fault for fault in FAULTS
        if fault in known_answers(text) and not all_same(known_answers(text)[fault], right)
    ]  # fmt: skip
    for one, other in combinations(telling, 2):
        if all_same(got, it.ask({"Value": engine(one, other)})):
            return [one, other]
    return []


SMALLEST: tuple[Program, ...] = (
    program("y = a + b", a=3.0, b=5.0), program("y = a - b", a=3.0, b=5.0),
    program("y = a * b", a=3.0, b=5.0), program("y = -a", a=3.0),
    program("y = a**3", a=2.0), program("y = a / b", a=3.0, b=5.0),
    program("y = exp(a)", a=3.0), program("y = log(a)", a=3.0), program("y = tanh(a)", a=0.5),
    program("y = relu(a)", a=-3.0), program("y = relu(a) * b", a=2.0, b=-3.0),
    program("y = 2 - a", a=3.0), program("y = 2 / a", a=5.0), program("y = a + 2", a=3.0),
    program("y = a + a", a=3.0), program("u = a * b; y = u * b", a=3.0, b=5.0),
    program("u = a + a; y = u + u", a=3.0),
    program("u = a * a; v = u + a; y = u * v", a=2.0),
    program("u = a + b; v = a * u; y = v * u", a=2.0, b=3.0),
    program("u = a * b; y = u * b", "twice", a=3.0, b=5.0),
)  # fmt: skip
"""Programs from small to large: the first on which a fault shows is its example."""


@cache
def example_of(faults: tuple[str, ...]) -> str:
    """The smallest program on which one of these faults of the engine shows.

    >>> example_of(("overwrites",))
    'y = a + a   with a = 3: a.grad is 2, this gives 1'
    """
    right = Adapter({"Value": engine()})
    for fault in faults:
        faulty = Adapter({"Value": engine(fault)})
        for it in SMALLEST:
            for mine, theirs in zip(answers(right, it), answers(faulty, it)):
                if not same(mine, theirs):
                    return f"{it.shown}: {mine.label} is {shown(mine)}, this gives {shown(theirs)}"
    return "a chain of 5,000 additions raises RecursionError"


def _found(text: str, name: str, faults: Iterable[str]) -> Found:
    mine = tuple(fault for fault in faults if misconception_of(fault) == name)
    known = known_answers(text)
    example = ""
    if text.startswith("engine"):
        example = example_of(mine)
    else:
        for right, theirs in zip(known[""], known[mine[0]]):
            if not same(right, theirs):
                example = f"{right.label} is {shown(right)}, this gives {shown(theirs)}"
                break
    it = MISCONCEPTIONS[name]
    return Found(name, it.title, it.words, example)
