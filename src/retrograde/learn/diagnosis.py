"""From answers to a verdict: which are wrong, and whose answers they are.

The fault whose answers match all of the learner's is named. Where no single fault does, two at
once are tried on engines; else the first wrong answer is shown and nothing is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import combinations, zip_longest
from typing import Any

from .faults import CONFUSABLE, FAULTS, STYLES, engine, misconception_of
from .misconceptions import MISCONCEPTIONS
from .probes import probe
from .questions import ask_program, local
from .samples import Answer, Program, program


@dataclass(frozen=True)
class Wrong:
    """One answer that is not right; where code raised in place of answering, what and where."""

    label: str
    got: str
    expected: str
    raised: str = ""
    line: int | None = None


@dataclass(frozen=True)
class Found:
    """A misconception that explains the answers, with the smallest example that shows it.

    In grading, also the line of the student's file where it is, as far as that can be told.
    """

    name: str
    title: str
    words: str
    example: str
    line: int | None = None


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


def agree(one: float, other: float) -> bool:
    """Whether two answers are the same but for rounding.

    >>> agree(0.1 + 0.2, 0.3), agree(1.0, 1.001), agree(float("nan"), float("nan"))
    (True, False, True)
    """
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return math.isclose(one, other, rel_tol=1e-7, abs_tol=1e-9)


def same(one: Answer, other: Answer) -> bool:
    """Whether two answers to one question agree; what was raised has to be the same kind."""
    if one.number is None or other.number is None:
        return one.number is other.number and one.raised == other.raised
    return agree(one.number, other.number)


def all_same(some: Sequence[Answer], others: Sequence[Answer]) -> bool:
    """Whether two lists of answers agree throughout."""
    return len(some) == len(others) and all(map(same, some, others))


@cache
def right_answers(text: str) -> tuple[Answer, ...]:
    """The right answers to a probe."""
    it = probe(text)
    return tuple(it.ask(it.subjects()[""]))


def gives(text: str, subject: Mapping[str, Any], answered: Sequence[Answer]) -> bool:
    """Whether a subject answers a probe so, as far as it counts; the first difference ends it."""
    theirs = (it for it in probe(text).asking(local(subject)) if it.counts)
    pairs = zip_longest(theirs, answered)
    return all(one is not None and other is not None and same(one, other) for one, other in pairs)


def diagnose(text: str, got: Sequence[Answer], naming: bool = True) -> Diagnosis:
    """Judge the answers to a probe; without ``naming`` only whether they are right.

    >>> from .probes import probe
    >>> answered = probe("rule add").ask({"backward": lambda dy, x, y: (dy / 2, dy / 2)})
    >>> [it.title for it in diagnose("rule add", answered).found]
    ['thinks that addition splits the gradient']
    """
    right = [it for it in right_answers(text) if it.counts]
    counting = [it for it in got if it.counts]
    if len(counting) != len(right) and not any(it.number is None for it in counting):
        wrong = [Wrong("how many numbers", f"{len(counting)}", f"{len(right)}")]
        return Diagnosis(0, len(right), tuple(wrong), ())
    pairs = _aligned(counting, right)
    wrong = [_wrong(mine, theirs) for mine, theirs in pairs if not same(mine, theirs)]
    told = {it.label: it for it in reversed(wrong)}  # a question that raised is told once
    found = _faults_of(text, got) if wrong and naming else []
    names = list(dict.fromkeys(map(misconception_of, found)))
    return Diagnosis(
        len(right) - len(wrong), len(right), tuple(list(told.values())[::-1][:3]),
        tuple(_found(text, name, found) for name in names),
    )  # fmt: skip


@cache
def telling(text: str) -> tuple[str, ...]:
    """The faults that show in a probe of engines; found without its deep graphs, which cost."""
    shallow = text.replace(" deep", "")
    right = [it for it in right_answers(shallow) if it.counts]
    return tuple(
        it for it in FAULTS
        if (it == "recursion-limit" and shallow != text)
        or not gives(shallow, {"Value": engine(it)}, right)
    )  # fmt: skip


def _faults_of(text: str, got: Sequence[Answer]) -> list[str]:
    """The faults that explain wrong answers: one, in any style of engine, or else two at once."""
    counting = [it for it in got if it.counts]
    if not text.startswith("engine"):
        subjects = probe(text).subjects().items()
        return [fault for fault, subject in subjects if fault and gives(text, subject, counting)]
    made_of_others = {"sub", "neg", "div"} & set(text.split())
    for style in STYLES if made_of_others else STYLES[:1]:
        found = [it for it in telling(text) if gives(text, {"Value": engine(it, *style)}, counting)]
        if found:
            return _settled(text, found, style, got)
    return _two_faults(text, counting) if all(it.number is not None for it in counting) else []


def _two_faults(text: str, counting: Sequence[Answer]) -> list[str]:
    """Two faults that together give these answers; of several pairs, what they have in common."""
    likely = [it for it in telling(text) if not it.startswith("overwrites:")]
    pairs = [
        pair for pair in combinations(likely, 2)
        if gives(text, {"Value": engine(*pair)}, counting)
    ]  # fmt: skip
    kinds = [set(map(misconception_of, pair)) for pair in pairs]
    common = set.intersection(*kinds) if kinds else set()
    return [it for it in (pairs[0] if pairs else ()) if misconception_of(it) in common]


def _settled(
    text: str, found: list[str], style: tuple[str, ...], got: Sequence[Answer]
) -> list[str]:
    """Of two faults that look alike, the one the other questions speak for; else the lesser."""
    extra = [it for it in got if not it.counts]

    def speaks_for(fault: str) -> bool:
        """Interior gradients may be cleared by a pass or not: both are tried."""
        for more in ((), ("interior-leak",)):
            asked = probe(text).ask({"Value": engine(fault, *style, *more)})
            if all_same([it for it in asked if not it.counts], extra):
                return True
        return False

    for fault, lesser in CONFUSABLE.items():
        if fault in found and lesser in found:
            sure = speaks_for(fault) and not speaks_for(lesser)
            found = [it for it in found if it != (lesser if sure else fault)]
    return found


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
    return Wrong(label, shown(got), shown(expected), got.raised, got.line)


def shown(it: Answer) -> str:
    """An answer as text."""
    if it.number is not None:
        return f"{it.number:.6g}"
    if it.raised in ("Missing", "None", "Shape"):
        return it.why
    if it.raised == "RecursionError":
        return "RecursionError: it recurses too deep, or without end"
    return f"{it.raised}: {it.why}".rstrip(": ")


SMALLEST: tuple[Program, ...] = (
    program("y = a + b", a=3.0, b=5.0), program("y = a - b", a=3.0, b=5.0),
    program("y = a * b", a=3.0, b=5.0), program("y = -a", a=3.0),
    program("y = a**3", a=2.0), program("y = a / b", a=3.0, b=5.0),
    program("y = exp(a)", a=3.0), program("y = log(a)", a=3.0), program("y = tanh(a)", a=0.5),
    program("y = sigmoid(a)", a=0.5),
    program("y = relu(a)", a=-3.0), program("y = relu(a) * b", a=2.0, b=-3.0),
    program("y = 2 - a", a=3.0), program("y = 2 / a", a=5.0), program("y = a + 2", a=3.0),
    program("y = a + a", a=3.0), program("u = a * b; y = u * b", a=3.0, b=5.0),
    program("u = a + a; y = u + u", a=3.0),
    program("u = a * a; v = u + a; y = u * v", a=2.0),
    program("u = a + b; v = a * u; y = v * u", a=2.0, b=3.0),
    program("u = a * b; y = u * b", "twice", a=3.0, b=5.0),
    program("y = relu(a)", a=0.0),
    program("u = a + b; y = u * a * b", a=2.0, b=3.0),
    program("u = a - b; y = u * a * b", a=2.0, b=3.0),
    program("u = a * b; y = u * a * b", a=2.0, b=3.0),
    program("u = a / b; y = u * a * b", a=2.0, b=3.0),
    *(program(f"u = {f}; y = u * a", a=2.0)
      for f in ("-a", "a**3", "exp(a)", "log(a)", "tanh(a)", "relu(a)")),
)  # fmt: skip
"""Programs from small to large: the first on which a fault shows is its example."""


@cache
def example_of(faults: tuple[str, ...]) -> str:
    """The smallest program on which one of these faults of the engine shows.

    >>> example_of(("overwrites",))
    'y = a + a   with a = 3: a.grad is 2, this gives 1'
    """
    right = local({"Value": engine()})
    for fault in faults:
        faulty = local({"Value": engine(fault)})
        for it in SMALLEST:
            for mine, theirs in zip(ask_program(right, it), ask_program(faulty, it)):
                if not same(mine, theirs):
                    return f"{it.shown}: {mine.label} is {shown(mine)}, this gives {shown(theirs)}"
    return "a chain of 5,000 additions raises RecursionError" if "recursion-limit" in faults else ""


def _found(text: str, name: str, faults: Iterable[str]) -> Found:
    mine = tuple(fault for fault in faults if misconception_of(fault) == name)
    example = ""
    if text.startswith("engine"):
        example = example_of(mine)
    else:
        it = probe(text)
        for right, theirs in zip(right_answers(text), it.asking(local(it.subjects()[mine[0]]))):
            if not same(right, theirs):
                example = f"{right.label} is {shown(right)}, this gives {shown(theirs)}"
                break
    told = MISCONCEPTIONS[name]
    return Found(name, told.title, told.words, example)
