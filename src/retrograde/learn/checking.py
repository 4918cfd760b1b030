"""Checking exercises: run the learner's file, judge its answers, and say it as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .diagnosis import Diagnosis, diagnose
from .exercises import Exercise
from .probes import probe
from .samples import Answer
from .sandbox import SECONDS, Ran, run


@dataclass(frozen=True)
class Check:
    """The verdict on one exercise: a diagnosis of its answers, or a problem in running it."""

    exercise: Exercise
    ran: Ran[list[Answer]]
    diagnosis: Diagnosis | None

    @property
    def passed(self) -> bool:
        """Whether every answer is right."""
        return self.diagnosis is not None and self.diagnosis.passed

    def data(self) -> dict[str, Any]:
        """As plain data."""
        told = self.diagnosis.data() if self.diagnosis else {}
        return {
            "exercise": self.exercise.name,
            "file": self.exercise.file,
            "passed": self.passed,
            "problem": self.ran.problem,
            "line": self.ran.line,
            "boundary": self.ran.boundary,
            "printed": self.ran.printed,
            "right": told.get("right", 0),
            "asked": told.get("asked", 0),
            "wrong": list(told.get("wrong", ())),
            "misconceptions": list(told.get("found", ())),
        }


def check_source(
    it: Exercise, source: str, seconds: float = SECONDS, boundary: str = "", naming: bool = True
) -> Check:
    """Check what a learner wrote, in a process of its own.

    The learner's own file is run also where the system has no boundary. Without ``naming`` no
    misconception is looked for.

    >>> from .exercises import exercise
    >>> it = exercise("add")
    >>> check_source(it, it.solution).passed
    True
    """
    ran = run(
        source, lambda ask: list(probe(it.probe).asking(ask)), name=it.module,
        seconds=seconds, boundary=boundary, trust=True, recursion=False,
        ours="retrograde" in it.beginning,
    )  # fmt: skip
    told = None if ran.result is None else diagnose(it.probe, ran.result, naming)
    return Check(it, ran, told)


def check_sources(sources: Sequence[tuple[Exercise, str]], seconds: float = SECONDS) -> list[Check]:
    """Check several files, one after the other."""
    return [check_source(it, source, seconds) for it, source in sources]
