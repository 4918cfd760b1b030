"""Exercises and grades on a terminal. Everything here only reads data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import dropwhile
from pathlib import Path
from typing import TYPE_CHECKING

from .._text.console import Row, print_line, print_rows

if TYPE_CHECKING:
    from rich.console import Console

    from ..learn.checking import Check
    from ..learn.diagnosis import Found, Wrong
    from ..learn.exercises import Exercise
    from ..learn.grading import Grade
    from ..learn.progress import Folder

QUIET, STRONG, GOOD, BAD, NOTICE = "dim", "bold", "bold green", "bold red", "bold yellow"
LONGEST_PRINTED = 600


def started(page: Console, folder: Folder, says_how: bool) -> None:
    """The folder is there; where to go, unless that is where we are going."""
    print_line(page, ("The exercises are in ", ""), (f"{folder.path}", STRONG), (".", ""))
    if says_how:
        print_line(page, ("retrograde learn next", STRONG), (" shows the first one.", ""))


def listed(
    page: Console, everything: Sequence[Exercise], done: Sequence[str], folder: Folder | None
) -> None:
    """All exercises by chapter, the current one marked."""
    current = folder.current.name if folder else everything[0].name
    chapter = ""
    for it in everything:
        if it.chapter != chapter:
            chapter = it.chapter
            page.print()
            print_line(page, (chapter, STRONG))
        sign, style = ("✓", GOOD) if it.name in done else ("·", QUIET)
        if it.name == current and it.name not in done:
            sign, style = "→", NOTICE
        print_line(
            page, (f"{sign} ", style), (f"{it.number:>2} {it.name:<14}", ""), (it.title, QUIET),
            indent=1,
        )  # fmt: skip
    page.print()
    print_line(page, (f"{len(done)} of {len(everything)} done.", STRONG))
    if folder is None:
        print_line(page, ("retrograde learn next", STRONG), (" begins.", ""))


def task(page: Console, it: Exercise) -> None:
    """What to do."""
    rule = "─" * max(0, page.width - len(it.title) - 9)
    print_line(page, (f"── {it.number:>2}  ", QUIET), (it.title, STRONG), (f" {rule}", QUIET))
    for paragraph in it.about.split("\n\n"):
        page.print()
        text = paragraph if paragraph.startswith("    ") else paragraph.replace("\n", " ")
        for line in text.splitlines():
            print_line(page, (line, ""), indent=2)


def file_of(page: Console, place: str, source: str) -> None:
    """A learner's file as it is, without the task at its top."""
    page.print()
    print_line(page, (place, STRONG), indent=2)
    page.print()
    for line in dropwhile(lambda line: not line or line.startswith("#"), source.splitlines()):
        print_line(page, (line, ""), indent=4 if line else 0)


def introduced(page: Console, it: Exercise, folder: Folder) -> None:
    """One exercise: what to do and how to go on."""
    task(page, it)
    page.print()
    rows: list[Row] = [
        (("edit", QUIET), (str(folder.file(it)), STRONG)),
        (("check", QUIET), ("retrograde learn check", STRONG)),
        (("stuck", QUIET), ("retrograde learn hint", STRONG)),
    ]
    if find_spec("pytest"):
        rows.append((("pytest", QUIET), (f"python -m pytest {folder.path / it.test_file}", QUIET)))
    print_rows(page, rows, "ll", indent=2)


def checked(page: Console, check: Check, folder: Folder) -> None:
    """The verdict on one exercise."""
    it = check.exercise
    if check.passed:
        print_line(page, ("✓ ", GOOD), (f"{it.name}: right", GOOD))
        left = folder.current
        if left.name != it.name:
            print_line(page, ("next: ", QUIET), (f"{left.number} {left.title}", STRONG), indent=2)
    else:
        print_line(page, ("✗ ", BAD), (f"{it.name}: not yet", BAD), (_share(check), QUIET))
        _print_problem(page, check)
    if check.ran.printed:
        text = check.ran.printed[:LONGEST_PRINTED].rstrip()
        more = " …" if len(check.ran.printed) > LONGEST_PRINTED else ""
        print_line(page, ("it printed:", QUIET), indent=2)
        for line in (text + more).splitlines()[:12]:
            print_line(page, (line, QUIET), indent=4)
    if not check.passed:
        print_line(page, ("retrograde learn hint", STRONG), (f" {it.name} helps.", QUIET), indent=2)


def _share(check: Check) -> str:
    told = check.diagnosis
    return f"  {told.right} of {told.asked} answers are right" if told and told.right else ""


def _print_problem(page: Console, check: Check) -> None:
    if check.ran.problem:
        where = f"line {check.ran.line}: " if check.ran.line else ""
        print_line(page, (f"{where}{check.ran.problem}", NOTICE), indent=2)
        return
    told = check.diagnosis
    if told is None:
        return
    for it in told.found:
        misconception(page, it)
    if not told.found and not told.wrong[0].raised:
        print_line(page, ("No misconception we know gives these answers.", QUIET), indent=2)
    if told.wrong[0].raised and not told.found:
        _print_raised(page, told.wrong[0])
        return
    for wrong in told.wrong[: 1 if told.found else 3]:
        print_line(page, (wrong.label, STRONG), indent=2)
        print_line(page, ("yours     ", QUIET), (wrong.got, BAD), indent=4)
        print_line(page, ("should be ", QUIET), (wrong.expected, GOOD), indent=4)


def _print_raised(page: Console, wrong: Wrong) -> None:
    """Code that raised in place of answering: where and what, and what it was asked."""
    where = f"line {wrong.line}: " if wrong.line else ""
    if wrong.raised == "NotImplementedError":
        print_line(page, (f"{where}something is still to be written", NOTICE),
                   (", where it says raise NotImplementedError.", ""), indent=2)  # fmt: skip
        return
    print_line(page, (f"{where}{wrong.got}", NOTICE), indent=2)
    if wrong.raised != "Missing":
        print_line(page, ("asked: ", QUIET), (wrong.label, ""), indent=4)


def misconception(page: Console, it: Found) -> None:
    """A misconception: what it is, why, and the smallest example."""
    where = f"line {it.line}: " if it.line else ""
    print_line(page, (f"{where}it {it.title}." if where else f"It {it.title}.", NOTICE), indent=2)
    print_line(page, (it.words, ""), indent=4)
    if it.example:
        print_line(page, ("smallest example: ", QUIET), (it.example, ""), indent=4)


def summed(page: Console, checks: Sequence[Check]) -> None:
    """One line an exercise."""
    rows: list[Row] = []
    for check in checks:
        names = [it.title for it in check.diagnosis.found] if check.diagnosis else []
        why = "; ".join(names) or check.ran.problem
        sign = ("✓", GOOD) if check.passed else ("✗", BAD)
        rows.append((sign, (check.exercise.name, STRONG), ("" if check.passed else why, NOTICE)))
    print_rows(page, rows, "lll", indent=1)
    print_line(page, (f"{sum(it.passed for it in checks)} of {len(checks)} right.", STRONG))


def hinted(page: Console, it: Exercise, number: int, text: str) -> None:
    """A hint."""
    print_line(page, (f"{it.name}, hint {number} of {len(it.hints)}: ", STRONG), (text, ""))
    if number == len(it.hints):
        print_line(page, (f"The last one. retrograde learn solution {it.name}", QUIET))


def was_reset(page: Console, it: Exercise, kept: Path | None) -> None:
    """The file is as it was."""
    print_line(page, (f"{it.file} is as it was.", ""))
    if kept:
        print_line(page, (f"Yours is kept in {kept.name}.", QUIET))


def watching(page: Console, it: Exercise) -> None:
    """What is being watched."""
    print_line(page, (f"watching {it.file}; Ctrl-C ends", QUIET))
    page.print()


def finished(page: Console) -> None:
    """Everything is done."""
    print_line(page, ("All exercises are done.", GOOD), (" You have built an engine.", ""))


def graded(page: Console, grade: Grade) -> None:
    """The report on a student's engine."""
    if grade.problem:
        where = f" line {grade.line}:" if grade.line else ""
        print_line(page, (f"{grade.file}:{where} ", STRONG), (grade.problem, BAD))
        return
    found = grade.engine
    print_line(
        page, (grade.file, STRONG),
        (f"  class {found['class']}, .{found['data']}, .{found['gradient']}, {found['backward']}",
         QUIET),
    )  # fmt: skip
    signs = {"right": ("✓", GOOD), "wrong": ("✗", BAD), "absent": ("·", QUIET)}
    rows: list[Row] = [
        (
            signs[it.verdict],
            (it.name, STRONG if it.verdict != "absent" else QUIET),
            (it.words, QUIET),
        )
        for it in (grade.capabilities if grade.rubric is None else grade.counting)
    ]
    print_rows(page, rows, "lll", indent=1)
    for it in grade.misconceptions:
        page.print()
        misconception(page, it)
    unexplained = [it for it in grade.counting if it.name in grade.unexplained]
    if unexplained and grade.misconceptions:
        page.print()
    for wrong in unexplained[:3]:
        where = f"line {wrong.line}: " if wrong.line else ""
        print_line(page, (f"{where}{wrong.question}", STRONG), indent=2)
        print_line(page, (f"theirs {wrong.got}, right {wrong.expected}", NOTICE), indent=4)
    page.print()
    style = GOOD if grade.right == grade.counted else NOTICE
    absent = [it for it in grade.capabilities if it.verdict == "absent"]
    named = grade.rubric is not None
    told = f"{grade.right} of {grade.counted} capabilities right"
    points = f"{grade.points:g} of {grade.of:g} points, " if named else ""
    print_line(
        page, (f"{told} ({points}{grade.score:.0%})", style),
        ("   · the class lacks it; not counted" if absent and not named else "", QUIET),
        ("   · the class lacks it" if named and {*absent} & {*grade.counting} else "", QUIET),
    )  # fmt: skip
    _print_boundary(page, [grade])


def graded_class(page: Console, grades: Sequence[Grade]) -> None:
    """A class: one line a file, then what went wrong most often."""
    rows: list[Row] = []
    for it in grades:
        sign = ("✓", GOOD) if it.whole else ("✗", BAD)
        where = f"line {it.line}: " if it.line else ""
        names = [found.title for found in it.misconceptions]
        if it.unexplained:
            names.append(f"{'otherwise ' if names else ''}wrong: {', '.join(it.unexplained)}")
        told = f"{where}{it.problem}" if it.problem else "; ".join(names)
        rows.append((sign, (it.file, STRONG), (f"{it.score:.0%}", ""), (told, NOTICE)))
    print_rows(page, rows, "llrl", indent=1)
    often = Counter(found.title for it in grades for found in it.misconceptions)
    page.print()
    print_line(page, (f"{sum(it.whole for it in grades)} of {len(grades)} files are right", STRONG))
    for title, count in often.most_common(5):
        print_line(page, (f"{count:>3} × ", NOTICE), (title, ""), indent=1)
    _print_boundary(page, grades)


def _print_boundary(page: Console, grades: Sequence[Grade]) -> None:
    """What kept the students' code apart; said aloud where nothing did."""
    kinds = list(dict.fromkeys(it.boundary for it in grades if it.boundary))
    if "none" in kinds:
        print_line(page, ("This code was trusted: nothing isolated it.", NOTICE))
    elif kinds:
        print_line(page, (f"isolated by {', '.join(kinds)}", QUIET))
