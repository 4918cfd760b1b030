"""Run a script and say what is wrong with its gradients: where a NaN was born, why a layer does not
learn, which gradients were never reset.

You need not change the script: it may use retrograde's values or PyTorch. The doctor watches its
backward passes and finds its parameters. Arguments after -- go to the script. Exit code 1 if there
is an alarm, or if the script itself failed.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import ExitStack
from dataclasses import fields
from pathlib import PurePath
from typing import Any

from .._text.console import print_line
from .._text.paragraphs import WIDTH, counted
from ..diagnose.report import Report
from ..diagnose.scripted import Rounds, watching_a_program
from ..diagnose.thresholds import Thresholds
from ..errors import DoctorError
from ._engines import refuse_without_pass, uses_torch
from ._files import write_text
from ._labels import Lent, passing_names
from ._script import run_script, source_of

TAKES_MORE = True
"""A script's own arguments may follow."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("script", help="a script that calls backward()")
    parser.add_argument("arguments", nargs="*", help="the script's own arguments")
    parser.add_argument("--json", action="store_true", help="print the reports as JSON")
    parser.add_argument("--html", metavar="FILE", help="write the reports as one page")
    parser.add_argument(
        "--threshold",
        metavar="NAME=NUMBER",
        action="append",
        default=[],
        help=f"change a threshold: {', '.join(each.name for each in fields(Thresholds))}",
    )


def run(options: argparse.Namespace) -> int:
    """Run the command: 1 where a report has an alarm or the script failed."""
    thresholds = _thresholds(options.threshold)
    arguments = [*options.arguments, *options.more, *options.after]
    with ExitStack() as stack:
        lent = Lent(passing_names(source_of(options.script)))
        rounds = stack.enter_context(lent.around(watching_a_program(thresholds)))
        tensors: Any = None
        if uses_torch(options.script):
            from ..torch.scripted import Scripted

            tensors = stack.enter_context(Scripted(thresholds))
        outcome = run_script(options.script, arguments, quiet=options.json)
    reports = rounds.reports()
    passes = rounds.passes
    if tensors is not None:
        found = tensors.report()
        reports += [] if found is None else [found]
        passes += tensors.passes
    if not reports and outcome.error is None:
        gradients = 0 if tensors is None else tensors.gradients
        refuse_without_pass(options.script, gradients, "--doctor")
    _show(options, rounds, reports, passes)
    return outcome.code or int(any(not report.healthy for report in reports))


def _thresholds(given: list[str]) -> Thresholds:
    chosen: dict[str, float] = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            chosen[name] = float(value)
        except ValueError:
            raise DoctorError.threshold(name, value) from None
    return Thresholds.chosen(chosen)


def _show(options: argparse.Namespace, rounds: Rounds, reports: list[Report], passes: int) -> None:
    name = PurePath(options.script).name
    if options.html:
        from ..diagnose.doctor_html import pages

        titled = [(_title(name, place, reports), report) for place, report in enumerate(reports)]
        write_text(options.html, pages(titled, f"The doctor on {name}"))
        print(f"wrote {options.html}", file=sys.stderr)
    if options.json:
        shown = {
            "script": options.script,
            "passes": passes,
            "unexamined": rounds.unexamined,
            "healthy": all(report.healthy for report in reports),
            "reports": [report.as_dict() for report in reports],
        }
        print(json.dumps(shown, indent=2, allow_nan=False))
    elif not options.html:
        _print(name, reports)
    if rounds.unexamined:
        further = counted(rounds.unexamined, "pass")
        verb = "was" if rounds.unexamined == 1 else "were"
        print(f"{further} of further models {verb} not examined", file=sys.stderr)


def _title(name: str, place: int, reports: list[Report]) -> str:
    return f"{name}, model {place + 1}" if len(reports) > 1 else name


def _print(name: str, reports: list[Report]) -> None:
    from .._text.terminal import console
    from ..diagnose.doctor_text import as_text

    page = console()
    for place, report in enumerate(reports):
        if place:
            page.print()
        print_line(page, (_title(name, place, reports), "bold"))
        for number, line in enumerate(as_text(report, min(page.width, WIDTH)).splitlines()):
            tone = "red" if line.startswith("  ✗") else ""
            if number == 0:
                tone = "bold green" if report.healthy else "bold red"
            words = line.lstrip()
            print_line(page, (words, tone), indent=len(line) - len(words))
