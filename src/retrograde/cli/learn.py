"""Learn backpropagation by exercises: small files, something missing or broken.

  start [FOLDER]   make a folder of exercises (default: retrograde-exercises)
  list             all exercises, and which are done
  next [NAME]      the next one, or this one: what to do, and in which file
  show [NAME]      the task, and the file as it is now
  check [NAME]     run yours and say what is wrong, by name (--all: every file)
  hint [NAME]      a hint; ask again for a stronger one
  watch [NAME]     check again whenever the file is saved
  solution [NAME]  one way to do it
  reset [NAME]     bring back the file as it was (yours is kept as .py.old)

Exit codes: 0 passed, 1 not yet, 2 called wrongly.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from .._text.terminal import console
from ..errors import LearnError
from ..learn.exercises import Exercise, exercise, exercises
from ..learn.progress import DEFAULT, Folder
from ..learn.sandbox import SECONDS
from . import _learn_page as show

if TYPE_CHECKING:
    from ..learn.checking import Check

PASSED, NOT_YET, MISUSED = 0, 1, 2
ACTIONS = ("start", "list", "next", "show", "check", "hint", "watch", "solution", "reset")
POLL_SECONDS = 0.3


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("action", nargs="?", default="list", metavar="ACTION", help="see above")
    parser.add_argument("name", nargs="?", metavar="NAME", help="an exercise: its name or number")
    parser.add_argument("--folder", metavar="FOLDER", help="the folder of your exercises")
    parser.add_argument("--all", action="store_true", help="check: every exercise, in one go")
    parser.add_argument("--json", action="store_true", help="print data")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, metavar="S",
        help=f"time limit of a check (default {SECONDS:g})",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Run the command: 0 passed or done, 1 not yet, 2 called wrongly."""
    try:
        if options.action not in ACTIONS:
            raise LearnError.no_action(options.action, list(ACTIONS))
        if not options.seconds > 0:
            raise LearnError.seconds(options.seconds)
        return int(globals()[f"_{options.action}"](options))
    except LearnError as misuse:
        print(f"retrograde: {misuse}", file=sys.stderr)
        return MISUSED


def _print_json(data: Any) -> None:
    print(json.dumps(data, indent=2))


def _chosen(options: argparse.Namespace, folder: Folder) -> Exercise:
    return folder.own(exercise(options.name)) if options.name else folder.current


def _start(options: argparse.Namespace) -> int:
    folder = Folder.start(options.name or options.folder or DEFAULT)
    if options.json:
        _print_json({"folder": str(folder.path), "exercises": len(exercises())})
    else:
        show.started(console(), folder, says_how=True)
    return PASSED


def _list(options: argparse.Namespace) -> int:
    try:
        folder = Folder.find(options.folder)
    except LearnError:
        if options.folder:
            raise
        folder = None
    done = folder.done if folder else ()
    listed = [folder.own(it) for it in exercises()] if folder else exercises()
    if options.json:
        _print_json([
            {
                "number": it.number, "name": it.name, "title": it.title, "chapter": it.chapter,
                "file": it.file, "done": it.name in done,
            }
            for it in listed
        ])  # fmt: skip
    else:
        show.listed(console(), exercises(), done, folder)
    return PASSED


def _next(options: argparse.Namespace) -> int:
    try:
        folder = Folder.find(options.folder)
    except LearnError:
        folder = Folder.start(options.folder or DEFAULT)
        if not options.json:
            show.started(console(), folder, says_how=False)
    if options.name:
        folder.choose(exercise(options.name))
    it = _chosen(options, folder)
    finished = not options.name and len(folder.done) == len(exercises())
    if options.json:
        _print_json({"exercise": it.name, "file": str(folder.file(it)), "about": it.about,
                     "finished": finished})  # fmt: skip
    elif finished:
        show.finished(console())
    else:
        show.introduced(console(), it, folder)
    return PASSED


def _show(options: argparse.Namespace) -> int:
    """The task and the file; where there is no folder yet, as they would be."""
    folder = None
    try:
        folder = Folder.find(options.folder)
    except LearnError:
        if options.folder or not options.name:
            raise
    it = _chosen(options, folder) if folder else exercise(options.name)
    source = folder.source(it) if folder else it.start
    place = str(folder.file(it)) if folder else it.file
    if options.json:
        _print_json({"exercise": it.name, "file": place, "about": it.about, "source": source})
    else:
        show.task(console(), it)
        show.file_of(console(), place, source)
    return PASSED


def _checked(folder: Folder, chosen: list[Exercise], seconds: float) -> list[Check]:
    """The checks, remembered."""
    from ..learn.checking import check_sources  # here: a list needs none of it

    sources = [(it, folder.source(it)) for it in chosen]
    checks = check_sources(sources, seconds)
    try:
        for it in checks:
            folder.mark(it.exercise, it.passed)
    except LearnError as misuse:  # the verdict stands; it only is not remembered
        print(f"retrograde: {misuse}", file=sys.stderr)
    return checks


def _check(options: argparse.Namespace) -> int:
    folder = Folder.find(options.folder)
    chosen = [*map(folder.own, exercises())] if options.all else [_chosen(options, folder)]
    checks = _checked(folder, chosen, options.seconds)
    if options.json:
        data = [it.data() for it in checks]
        _print_json(data if options.all else data[0])
    elif options.all:
        show.summed(console(), checks)
    else:
        show.checked(console(), checks[0], folder)
    return PASSED if all(it.passed for it in checks) else NOT_YET


def _hint(options: argparse.Namespace) -> int:
    folder = Folder.find(options.folder)
    it = _chosen(options, folder)
    number, text = folder.next_hint(it)
    if options.json:
        _print_json({"exercise": it.name, "hint": number, "of": len(it.hints), "text": text})
    else:
        show.hinted(console(), it, number, text)
    return PASSED


def _solution(options: argparse.Namespace) -> int:
    folder = Folder.find(options.folder)
    it = _chosen(options, folder)
    text = folder.solution(it)
    if options.json:
        _print_json({"exercise": it.name, "solution": text})
    else:
        print(text, end="")
    return PASSED


def _reset(options: argparse.Namespace) -> int:
    folder = Folder.find(options.folder)
    it = _chosen(options, folder)
    kept = folder.reset(it)
    if options.json:
        _print_json({"exercise": it.name, "kept": str(kept) if kept else None})
    else:
        show.was_reset(console(), it, kept)
    return PASSED


def _watch(options: argparse.Namespace) -> int:
    """Check, then again on every save, moving on to the next exercise; Ctrl-C ends it."""
    folder = Folder.find(options.folder)
    page = console()
    passed = False
    try:
        while True:
            it = _chosen(options, folder)
            source = folder.source(it)
            (check,) = _checked(folder, [it], options.seconds)
            passed = check.passed
            if options.json:
                print(json.dumps(check.data()), flush=True)
            else:
                show.checked(page, check, folder)
                show.watching(page, _chosen(options, folder))
            if passed and not options.name:
                if len(folder.done) == len(exercises()):
                    show.finished(page)
                    return PASSED
                it = folder.current
                source = folder.source(it)
            while _unchanged(folder, it, source):
                time.sleep(POLL_SECONDS)
    except KeyboardInterrupt:
        return PASSED if passed else NOT_YET


def _unchanged(folder: Folder, it: Exercise, source: str) -> bool:
    """Whether a file is as it was; while an editor replaces it, it may be gone for a moment."""
    try:
        return folder.source(it) == source
    except LearnError:
        return True
