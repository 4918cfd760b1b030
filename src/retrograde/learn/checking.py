"""Checking exercises: run the learner's file, judge its answers, and say it as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .diagnosis import Diagnosis, diagnose
from .exercises import Exercise
from .sandbox import SECONDS, Job, Ran, run


@dataclass(frozen=True)
class Check:
    """The verdict on one exercise: a diagnosis of its answers, or a problem in running it."""

    exercise: Exercise
    ran: Ran
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
            "printed": self.ran.printed,
            "right": told.get("right", 0),
            "asked": told.get("asked", 0),
            "wrong": list(told.get("wrong", ())),
            "misconceptions": list(told.get("found", ())),
        }


def check_sources(sources: Sequence[tuple[Exercise, str]], seconds: float = SECONDS) -> list[Check]:
    """Check what learners wrote, all in one process.

    >>> from .exercises import exercise
    >>> it = exercise("add")
    >>> [done.passed for done in check_sources([(it, it.solution)])]
    [True]
    """
    jobs = [
        Job(f"{it.module}" if len(sources) == 1 else f"{it.module}_{place}", source, it.probe)
        for place, (it, source) in enumerate(sources)
    ]
    return [
        Check(it, ran, None if ran.problem else diagnose(it.probe, ran.answers))
        for (it, _), ran in zip(sources, run(jobs, seconds))
    ]
