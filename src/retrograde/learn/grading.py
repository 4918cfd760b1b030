"""Grading anyone's class of values: one verdict a capability, and the misconceptions behind them.

The student's process is asked question by question and knows no answers; here they are compared
with what the right engine and every faulty one answer to the same questions.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Final

from .boundaries import NONE
from .culprits import line_of
from .diagnosis import Found, all_same, example_of, same, shown
from .faults import CONFUSABLE, FAULTS, STYLES, engine, misconception_of
from .misconceptions import MISCONCEPTIONS
from .plain import plain
from .questions import Asker, Engine, ask_engine, ask_program, local
from .rubric import Rubric
from .samples import Answer, Program, chance_of, drawn, ops_in, program
from .sandbox import SECONDS, run

REQUIRED: Final = ("add", "mul", "reuse", "diamond", "order", "expressions")
"""Capabilities that count also where an engine lacks them."""

_WORDS: Final = {
    "add": "a + b", "sub": "a - b", "mul": "a * b", "div": "a / b", "pow": "a**3", "neg": "-a",
    "exp": "exp(a)", "log": "log(a)", "tanh": "tanh(a)", "sigmoid": "sigmoid(a)",
    "sin": "sin(a)", "cos": "cos(a)", "sqrt": "sqrt(a)", "relu": "relu(a)",
    "reuse": "a value used twice by one op: a + a, a * a",
    "diamond": "two routes that meet again",
    "order": "an interior value used twice: all uses before it hands on",
    "numbers": "plain numbers on either side of an operator",
    "zeroing": "backward again after zeroing the leaves",
    "second backward": "backward twice doubles the leaves",
    "deep chain": "5,000 operations in a row",
    "expressions": "expressions drawn for this student",
}  # fmt: skip


CAPABILITIES: Final = tuple(_WORDS)
"""Every capability, in the order of a report."""


@dataclass(frozen=True)
class Capability:
    """One capability: "right", "wrong" or "absent", with the first wrong answer.

    Absent is what the class lacks: no method, or one that raises NotImplementedError.
    """

    name: str
    words: str
    verdict: str
    question: str = ""
    got: str = ""
    expected: str = ""
    line: int | None = None


@dataclass(frozen=True)
class Grade:
    """What a file is worth: its engine as found, capabilities, score, misconceptions.

    ``unexplained`` names the capabilities that are wrong for another reason than those.
    """

    file: str
    seed: str
    engine: dict[str, str]
    problem: str
    line: int | None
    capabilities: tuple[Capability, ...]
    misconceptions: tuple[Found, ...]
    boundary: str = NONE
    rubric: Rubric | None = None
    unexplained: tuple[str, ...] = ()

    @property
    def counting(self) -> tuple[Capability, ...]:
        """Those that count: what the rubric gives points; without one, all that are there, and
        those that must be."""
        return tuple(it for it in self.capabilities if self._weight(it) > 0)

    def _weight(self, it: Capability) -> float:
        if self.rubric is not None:
            return self.rubric.get(it.name, 0.0)
        return float(it.verdict != "absent" or it.name in REQUIRED)

    @property
    def right(self) -> int:
        """How many of those that count are right."""
        return sum(it.verdict == "right" for it in self.counting)

    @property
    def counted(self) -> int:
        """How many count."""
        return len(self.counting)

    @property
    def points(self) -> float:
        """The weights of what is right, added up."""
        return math.fsum(self._weight(it) for it in self.counting if it.verdict == "right")

    @property
    def of(self) -> float:
        """The points there are."""
        if self.rubric is not None:
            return math.fsum(self.rubric.values())
        return math.fsum(map(self._weight, self.counting))

    @property
    def score(self) -> float:
        """The share of the points, from 0 to 1."""
        return round(self.points / self.of, 4) if self.of else 0.0

    @classmethod
    def unread(cls, file: str, seed: str, problem: str, rubric: Rubric | None = None) -> Grade:
        """The grade of a file that could not be graded."""
        return cls(plain(file), plain(seed), {}, plain(problem), None, (), (), "", rubric)

    @property
    def whole(self) -> bool:
        """Whether everything that counts is right."""
        return not self.problem and self.right == self.counted

    def data(self) -> dict[str, Any]:
        """As plain data."""
        told = ("right", "counted", "points", "of", "score")
        return {**asdict(self), **{name: getattr(self, name) for name in told}}


@lru_cache(8)
def capabilities(seed: str) -> dict[str, tuple[Program, ...]]:
    """The questions of every capability for one student."""
    chance = chance_of(f"grade {seed}")
    sizes = chance.sample([x / 10 for x in range(3, 25) if x not in (5, 10, 20)], 3)
    a, b, c = (chance.choice((-1, 1)) * size for size in sizes)
    found: dict[str, tuple[Program, ...]] = {
        name: (_single(f"y = {_WORDS[name]}", a, b),)
        for name in ("add", "sub", "mul", "div", "neg")
    }
    found |= {
        name: (program(f"y = {_WORDS[name]}", a=abs(a)), program(f"y = {_WORDS[name]}", a=abs(b)))
        for name in ("pow", "exp", "log", "tanh", "sigmoid", "sin", "cos", "sqrt")
    }
    found["relu"] = (
        program("y = relu(a)", a=abs(a)), program("y = relu(a)", a=-abs(a)),
        program("y = relu(a) * b", a=abs(a), b=-abs(b)),
    )  # fmt: skip
    found["reuse"] = (program("y = a + a", a=a), program("y = a * a", a=a))
    found["diamond"] = (
        program("y = (a*b + c) * (a + b)", a=a, b=b, c=c),
        program("u = a + b; y = a * u", a=a, b=b),
    )
    found["order"] = (
        program("u = a + a; y = u + u", a=a),
        program("u = a * b; v = u + a; y = u * v", a=a, b=b),
        program("u = a * b; v = u + a; y = v * u + b", a=a, b=b),
    )
    found["numbers"] = tuple(
        program(f"y = {text}", a=a)
        for text in ("a + 2", "2 + a", "a * 3", "3 * a", "2 - a", "a - 2", "2 / a", "a / 2")
    )
    interior = "u = a * b; v = u * u; y = v + a"
    found["zeroing"] = (program(interior, "zeroed", a=a, b=b),)
    found["second backward"] = (
        program(interior, "twice", a=a, b=b), program("u = a * b; y = u * b", "twice", a=a, b=b),
    )  # fmt: skip
    found["deep chain"] = (program("y = a\nfor step in range(5000):\n    y = y + b", a=a, b=b),)
    found["expressions"] = tuple(drawn(f"{seed} {n}", ("add", "mul"), 4 + n) for n in range(3))
    return found


def _single(text: str, a: float, b: float) -> Program:
    return Program(text, (("a", a), ("b", b)) if "b" in text else (("a", a),))


Answered = list[list[Answer]]
Collected = dict[str, Answered]


def _collect(ask: Asker, seed: str) -> tuple[Engine | str, Collected]:
    """What an engine answers; capabilities it has no operations for are absent."""
    engine = ask_engine(ask)
    if isinstance(engine, str):
        return engine, {}
    found: Collected = {}
    for name, programs in capabilities(seed).items():
        able = [it for it in programs if ops_in(it.text) <= engine.ops]
        if able and (len(able) == len(programs) or name == "numbers"):
            each = [ask_program(ask, it) if it in able else [] for it in programs]
            if not any(it and it[0].raised == "NotImplementedError" for it in each):
                found[name] = each
    return engine, found


def _asked(seed: str, name: str, *faults: str) -> Answered:
    """What the engine with these faults answers for a capability."""
    ask = local({"Value": engine(*faults)})
    return [ask_program(ask, it) for it in capabilities(seed)[name]]


@lru_cache(8)
def _right(seed: str) -> Collected:
    return {name: _asked(seed, name) for name in capabilities(seed)}


_KNOWN: Final = tuple(
    (fault, *style)
    for style in STYLES
    for fault in FAULTS
    if not style or not fault.startswith("overwrites:")
)
"""Every faulty engine, in each style an engine may be written in."""


def _match(got: Answered, theirs: Answered | None) -> bool:
    """Whether two engines answer alike, where the first answers at all."""
    if theirs is None:
        return False
    return all(not mine or all_same(mine, other) for mine, other in zip(got, theirs))


def grade_source(
    source: str | bytes,
    file: str,
    seed: str = "",
    seconds: float = SECONDS,
    *,
    boundary: str = "",
    trust: bool = False,
    rubric: Rubric | None = None,
) -> Grade:
    """Grade a student's file, in a process the system keeps apart.

    The questions depend on the seed and on the file itself, so that no table of answers can be
    prepared. ``boundary`` names one of ``retrograde.learn.boundaries.KINDS``, else the strongest
    this system has is used; where it has none, ``trust`` runs the file all the same. A ``rubric``
    says which capabilities count and how much, by the names in ``CAPABILITIES``.

    >>> grade_source("class Value: pass", "mine.py").problem
    'Value(2.75) raised TypeError: Value() takes no arguments'
    """
    data = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    drawn_from = f"{seed} {hashlib.sha256(data).hexdigest()}"
    ran = run(
        source, lambda ask: _collect(ask, drawn_from),
        seconds=seconds, boundary=boundary, trust=trust,
    )  # fmt: skip
    engine, got = ran.result or (ran.problem, {})
    file, seed = plain(file), plain(seed)
    if isinstance(engine, str):
        return Grade(file, seed, {}, engine, ran.line, (), (), ran.boundary, rubric)
    verdicts = tuple(
        _capability(name, got.get(name), right, capabilities(drawn_from)[name], engine)
        for name, right in _right(drawn_from).items()
    )
    wrong = [it.name for it in verdicts if it.verdict == "wrong"]
    fine = [it.name for it in verdicts if it.verdict == "right"]
    chosen, left = _faults(got, wrong, fine, drawn_from)
    return Grade(
        file, seed, engine.described, "", None, verdicts,
        _named(chosen, engine, wrong, data.decode("utf-8", "replace")), ran.boundary, rubric,
        tuple(name for name in wrong if name in left),
    )  # fmt: skip


def _capability(
    name: str, got: Answered | None, right: Answered, programs: Sequence[Program], engine: Engine
) -> Capability:
    words, line = _WORDS[name], engine.lines.get(name)
    if got is None:
        return Capability(name, words, "absent")
    for it, mine, theirs in zip(programs, got, right):
        if mine and mine[0].number is None:
            question, raised = it.shown, shown(mine[0])
            where = mine[0].line or line
            return Capability(name, words, "wrong", question, raised, "an answer", where)
        for one, other in zip(mine, theirs):
            if not same(one, other):
                question = f"{it.shown}: {one.label}"
                return Capability(name, words, "wrong", question, shown(one), shown(other), line)
    return Capability(name, words, "right")


def _faults(
    got: Collected, wrong: Sequence[str], fine: Sequence[str], seed: str
) -> tuple[list[str], set[str]]:
    """The fewest faults that explain what is wrong and contradict nothing that is right; the wrong
    capabilities that they leave unexplained."""
    if not wrong:
        return [], set()
    found = {it: _explained(it, got, wrong, fine, seed) for it in _KNOWN}
    explains = {it: names for it, names in found.items() if names}
    chosen: dict[str, set[str]] = {}
    left = set(wrong)
    while left and explains:
        best = max(explains, key=lambda fault: len(explains[fault] & left))
        if not explains[best] & left:
            break
        chosen[_settled(best[0], best[1:], got, seed)] = explains[best]
        left -= explains[best]
    if left & {"add", "mul"}:  # what larger questions show may come from these
        chosen = {it: names for it, names in chosen.items() if it == "recursion-limit"}
        left = set(wrong).difference(*chosen.values())
    if "numbers" in left:
        for fault in _about_numbers(got["numbers"], capabilities(seed)["numbers"]):
            chosen[fault] = {"numbers"}
            left.discard("numbers")
    return list(chosen), left


def _explained(
    faults: tuple[str, ...], got: Collected, wrong: Sequence[str], fine: Sequence[str], seed: str
) -> set[str]:
    """The wrong capabilities an engine with these faults gives alike; none if it cannot be theirs.

    It must spoil nothing that is right, and the smallest question it spoils has to look as it
    would: larger ones mix faults. Most engines are out of question after a few.
    """
    explains: set[str] = set()
    for name, right in _right(seed).items():
        slow = name == "deep chain" and "recursion-limit" not in faults
        if slow or not (name in wrong or name in fine):
            continue
        theirs = _asked(seed, name, *faults)
        if _match(right, theirs):
            continue
        if name in fine:
            return set()
        if _match(got[name], theirs):
            explains.add(name)
        elif not explains:
            return set()
    return explains


def _named(
    chosen: Sequence[str], engine: Engine, wrong: Sequence[str], text: str
) -> tuple[Found, ...]:
    """The misconceptions of faults, each with its smallest example and its line."""
    found = []
    for name in dict.fromkeys(map(misconception_of, chosen)):
        mine = tuple(it for it in chosen if misconception_of(it) == name)
        told = MISCONCEPTIONS[name]
        line = line_of(mine[0], engine, wrong, text)
        found.append(Found(name, told.title, told.words, example_of(mine), line))
    return tuple(found)


def _settled(fault: str, style: tuple[str, ...], got: Collected, seed: str) -> str:
    """A fault, or the one that says more where further passes speak for it alone."""

    def fits(one: str) -> bool:
        for more in ((), ("interior-leak",)):
            passes = ("zeroing", "second backward")
            if all(_match(got[it], _asked(seed, it, one, *style, *more)) for it in passes):
                return True
        return False

    for stronger, lesser in CONFUSABLE.items():
        if fault == lesser and "zeroing" in got and fits(stronger) and not fits(lesser):
            return stronger
    return fault


def _about_numbers(got: Answered, programs: Sequence[Program]) -> list[str]:
    """What raising on plain numbers says, whatever else is wrong."""
    raised = [it.text for it, mine in zip(programs, got) if mine and mine[0].number is None]
    left = [text for text in raised if text.startswith(("y = 2", "y = 3"))]
    if len(left) < len(raised):
        return ["numbers-not-wrapped"]
    return ["missing-reflected"] if left else []
