"""For teachers: grade anyone's class of values, print cards, draw exhibits.

  grade student.py             a verdict per capability, misconceptions by name
  grade a.py b.py FOLDER       one line per file; --csv and --json for a class
  grade FILE --rubric R        only what the rubric names counts, by its weights
  grade cards --seed NAME      predict-then-reveal cards of a student's own
  grade exhibit KIND [EXPR a=2 ...] --svg OUT.svg
                               waterfall, graph or thermometer of an expression;
                               an op's rule card; "rules": a folder of them

Students' code runs in an isolated process (Linux: namespaces, else Landlock;
always seccomp). It can read only Python and NumPy. It cannot write, start
processes or threads, reach the network or other processes, or see the answers.
It gets 1 GiB of memory and --seconds of time. It can see the time, the name and
kind of the machine and, with Landlock alone, which paths, processes and
packages there are, with sizes, owners and times of files. On a system without
such a boundary nothing runs unless you pass --trust.

Exit codes: 0 everything right, 1 something wrong, 2 called wrongly.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import __version__
from .._text.terminal import LateBar, accept_any_text, console
from ..errors import BoundaryError, ExpressionError, LearnError, OutputError
from ..learn import exhibits
from ..learn.cards import Card, card
from ..learn.plain import cell
from ..learn.rubric import Rubric, rubric_from
from ..learn.sandbox import SECONDS
from ..learn.submissions import read_submission, submissions_in
from ..ops import OPS
from . import _learn_page as show
from ._expression import evaluate, numbers_given
from ._files import write_text

if TYPE_CHECKING:
    from ..learn.grading import Grade

RIGHT, WRONG, MISUSED = 0, 1, 2
MOST_CARDS = 100
EXAMPLE = ("y = (a*b + c) * (a + b)", ("a=2", "b=-3", "c=10"))


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("target", metavar="FILE.py|cards|exhibit", help="see above")
    parser.add_argument("words", nargs="*", metavar="ARG", help="more files; what exhibit draws")
    parser.add_argument(
        "--seed", "--student", dest="seed", default="", metavar="NAME",
        help="whose expressions: the same name gives the same ones (of several files: theirs)",
    )  # fmt: skip
    parser.add_argument("--count", type=int, default=3, metavar="N", help="cards: how many")
    parser.add_argument("--svg", metavar="PATH", help="write SVG: a folder, for exhibit a file")
    parser.add_argument("--json", action="store_true", help="print data")
    parser.add_argument("--csv", action="store_true", help="print a table: one row per file")
    parser.add_argument(
        "--rubric", metavar="FILE|TEXT",
        help='what counts, and its points: "add=2, mul=2, relu=1", or a file with one per line',
    )  # fmt: skip
    parser.add_argument(
        "--trust", action="store_true",
        help="where nothing keeps students' code apart: run it all the same, as if it were yours",
    )  # fmt: skip
    parser.add_argument(
        "--container", action="store_true",
        help="run nothing: print the command that grades these files in a container",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, metavar="S",
        help=f"time limit of the student's code (default {SECONDS:g})",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Run the command: 0 right, 1 something is wrong, 2 called wrongly."""
    try:
        if options.target == "cards":
            return _cards(options)
        if options.target == "exhibit":
            return _exhibit(options)
        return _grade(options)
    except (LearnError, ExpressionError) as misuse:
        print(f"retrograde: {misuse}", file=sys.stderr)
        return MISUSED


def _grade(options: argparse.Namespace) -> int:
    if options.svg:
        raise LearnError.too_many("--svg belongs to cards and exhibits")
    if not options.seconds > 0:
        raise LearnError.seconds(options.seconds)
    rubric = _rubric(options.rubric)
    if options.container:
        print(_container(options))
        return RIGHT
    files = _files([options.target, *options.words])
    alone = len(files) == 1 and not os.path.isdir(options.target)
    if alone:
        grades = [_one(files[0], options.seed, rubric, options)]
    else:
        grades = _class(files, rubric, options)
    if options.csv:
        _print_csv(grades)
    elif options.json:
        data = [it.data() for it in grades]
        print(json.dumps(data[0] if alone else data, indent=2))
    elif alone:
        show.graded(console(), grades[0])
    else:
        show.graded_class(console(), grades)
    return RIGHT if all(it.whole for it in grades) else WRONG


def _container(options: argparse.Namespace) -> str:
    from ..learn.boundaries import container_command

    given = [options.target, *options.words]
    given += [word for word in ("--json", "--csv") if getattr(options, word[2:])]
    given += ["--seed", options.seed] if options.seed else []
    given += ["--rubric", _rubric_text(options.rubric)] if options.rubric else []
    return container_command([*given, "--seconds", f"{options.seconds:g}"], __version__)


def _files(given: Sequence[str]) -> list[str]:
    """The files that were named; of a folder, every file of Python in it."""
    found: list[str] = []
    for name in given:
        inside = submissions_in(name) if os.path.isdir(name) else [name]
        if not inside:
            raise LearnError.unread(name, "there is no file of Python in it")
        found += inside
    return list(dict.fromkeys(found))


def _rubric_text(given: str) -> str:
    """A rubric as text, whether it was given so or as a file."""
    if not os.path.isfile(given):
        return given
    try:
        return Path(given).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LearnError.rubric(f"{given} cannot be read ({error})") from None


def _rubric(given: str | None) -> Rubric | None:
    if given is None:
        return None
    from ..learn.grading import CAPABILITIES

    if given.endswith((".txt", ".md")) and not os.path.exists(given):
        raise LearnError.rubric(f"there is no file {given}")
    return rubric_from(_rubric_text(given), CAPABILITIES)


def _one(file: str, seed: str, rubric: Rubric | None, options: argparse.Namespace) -> Grade:
    from ..learn.grading import grade_source  # here: other commands need none of it

    source = read_submission(file)
    return grade_source(source, file, seed, options.seconds, trust=options.trust, rubric=rubric)


def _class(files: Sequence[str], rubric: Rubric | None, options: argparse.Namespace) -> list[Grade]:
    """One grade a file; whatever happens to one, it gets its line and the others theirs."""
    from ..learn.grading import Grade

    grades = []
    with LateBar("grading") as bar:
        for place, file in enumerate(files):
            bar(place, len(files))
            seed = options.seed or Path(file).stem
            try:
                grades.append(_one(file, seed, rubric, options))
            except BoundaryError:
                raise
            except Exception as error:
                grades.append(Grade.unread(file, seed, str(error), rubric))
    return grades


def _print_csv(grades: Sequence[Grade]) -> None:
    accept_any_text(sys.stdout)
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow([
        "file", "seed", "score", "right", "counted", "misconceptions", "problem", "points", "of",
    ])  # fmt: skip
    for it in grades:
        names = " ".join(found.name for found in it.misconceptions)
        table.writerow([
            cell(it.file), cell(it.seed), it.score, it.right, it.counted, names, cell(it.problem),
            it.points, it.of,
        ])  # fmt: skip


def _cards(options: argparse.Namespace) -> int:
    if options.words:
        raise LearnError.too_many("cards are drawn from --seed and --count alone")
    if not 1 <= options.count <= MOST_CARDS:
        raise LearnError.count(options.count, MOST_CARDS)
    made = [card(options.seed or "anyone", number + 1) for number in range(options.count)]
    if options.svg:
        _write_cards(made, options.svg)
    if options.json:
        print(json.dumps([it.to_json() for it in made], indent=2))
    elif not options.svg:
        print("\n\n".join(it.text() for it in made), end="")
    return RIGHT


def _write_cards(made: list[Card], folder: str) -> None:
    _make_folder(folder)
    for it in made:
        sides = {"front": it.front_svg(), "back": it.back_svg(), "graph": it.graph_svg()}
        for side, text in sides.items():
            write_text(os.path.join(folder, f"card{it.number}-{side}.svg"), text)
    print(f"{3 * len(made)} pictures are in {folder}.")


def _make_folder(folder: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise OutputError.of(folder, error) from None


def _exhibit(options: argparse.Namespace) -> int:
    kinds = [*exhibits.EXHIBITS, "rules", *OPS]
    kind, *rest = options.words or ["?"]
    if kind not in kinds:
        raise LearnError.no_figure(kind, [*exhibits.EXHIBITS, "rules", *exhibits.RULES])
    if kind == "rules":
        if not options.svg or rest:
            raise LearnError.too_many("a set of rule cards needs a folder alone: --svg FOLDER")
        _make_folder(options.svg)
        for name in exhibits.RULES:
            write_text(os.path.join(options.svg, f"rule-{name}.svg"), exhibits.rule_card_svg(name))
        print(f"{len(exhibits.RULES)} cards are in {options.svg}.")
        return RIGHT
    if kind in OPS:
        picture = exhibits.rule_card_svg(kind)
    else:
        text, given = (rest[0], rest[1:]) if rest else EXAMPLE
        picture = exhibits.exhibit_svg(kind, evaluate(text, numbers_given(given)))
    if options.svg:
        write_text(options.svg, picture)
        print(f"The picture is in {options.svg}.")
    else:
        print(picture, end="")
    return RIGHT
