"""Check the gradients of the functions in a file; exit code 1 if one is wrong.

FILE.py:function checks one function, FILE.py every function with a known point. The point comes
from --at, from `points = {"name": point}` or `point = ...` in the file, from the function's
own defaults, or, for a function without arguments, from a list of leaves named `parameters`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from .._text.console import Row, print_line, print_rows
from .._text.terminal import console
from ..check import page as html_page
from ..check.compare import AGAINST, Comparison, compare
from ..check.gradcheck import gradcheck
from ..check.report_text import compare_rows, coverage_text, folded, gradcheck_rows, likely, notes
from ..check.verdicts import Report, worst_first
from ..errors import CheckError, RetrogradeError
from ._points import Found, functions_of

RIGHT, WRONG, MISUSED = 0, 1, 2

Result = Report | Comparison


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("target", metavar="FILE.py[:function]", help="what to check")
    parser.add_argument("--at", metavar="POINT", help="the point, as in --at 'x=1.0, y=[2, 3]'")
    parser.add_argument(
        "--against", choices=AGAINST, metavar="ENGINE", help=f"compare with {', '.join(AGAINST)}"
    )
    parser.add_argument("--order", type=int, choices=(1, 2), default=1, help="2: Hessians too")
    parser.add_argument(
        "--every", action="store_true", help="every input by itself, however many there are"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--html", metavar="OUT.html", help="write the report as a page")


def run(options: argparse.Namespace) -> int:
    """Run the command: 0 all right, 1 a gradient is wrong, 2 nothing could be checked."""
    try:
        found = functions_of(options.target, options.at)
    except CheckError as misuse:
        print(f"retrograde: {misuse}", file=sys.stderr)
        return MISUSED
    results: list[tuple[str, Result]] = []
    refused: list[tuple[str, str]] = list(found.skipped)
    for name, function, point in found.functions:
        try:
            results.append((name, _checked(options, function, point)))
        except RetrogradeError as error:
            refused.append((name, str(error)))
    _show(options, found, results, refused)
    if any(not _is_right(result) for _, result in results):
        return WRONG
    return MISUSED if len(refused) > len(found.skipped) or not results else RIGHT


def _checked(options: argparse.Namespace, function: Any, point: Any) -> Result:
    if options.against:
        return compare(function, point, against=options.against)
    return gradcheck(function, point, order=options.order, every=options.every, raises=False)


def _is_right(result: Result) -> bool:
    return result.right if isinstance(result, Report) else result.agrees


def _show(
    options: argparse.Namespace,
    found: Found,
    results: list[tuple[str, Result]],
    refused: list[tuple[str, str]],
) -> None:
    if options.html:
        fragments = [result._repr_html_() for _, result in results]
        title = f"retrograde check {options.target}"
        Path(options.html).write_text(html_page.whole_page(title, fragments), encoding="utf-8")
    if options.json:
        data = {
            "file": found.file,
            "right": all(_is_right(result) for _, result in results),
            "functions": [{"name": name, **result.data()} for name, result in results],
            "not_checked": [{"name": name, "why": why} for name, why in refused],
        }
        print(json.dumps(data, indent=2))
        return
    page = console()
    for number, (_, result) in enumerate(results):
        if number:
            page.print()
        if isinstance(result, Report):
            _print_report(page, result)
        else:
            _print_comparison(page, result)
    if refused:
        page.print()
    for name, why in refused:
        print_line(page, (name, "bold"), (f" was not checked: {why}", "yellow"))
    if options.html:
        print_line(page, (f"The page is in {options.html}.", "dim"))


_STYLES = {"✓": "green", "✗": "bold red", "~": "yellow", "^": "yellow", "=": "yellow", "": "dim"}


def _print_table(page: Any, rows: list[list[str]], sides: str) -> None:
    styled: list[Row] = [
        [
            (f"{cell} ", _STYLES[row[0]] if place == 0 or not row[0] else "")
            for place, cell in enumerate(row)
        ]
        for row in rows
    ]
    print_rows(page, styled, sides, indent=2)


def _print_report(page: Any, report: Report) -> None:
    style = "bold green" if report.right else "bold red"
    print_line(
        page, (report.function, "bold"), (f" = {report.value:.10g}: ", ""), (report.verdict, style)
    )
    entries = worst_first(report.entries)[:24]
    _print_table(page, gradcheck_rows(entries), "llrrrrl")
    for line in notes(entries):
        print_line(page, (line, ""), indent=2)
    if not report.right:
        for text in likely(report):
            for line in folded(f"likely: {text}"):
                print_line(page, (line, "bold yellow"), indent=2)
    for text in (coverage_text(report), *report.notes):
        print_line(page, (text, "dim"), indent=2)


def _print_comparison(page: Any, found: Comparison) -> None:
    word, style = ("agree", "bold green") if found.agrees else ("differ", "bold red")
    other = f"{found.against} {found.version}".strip()
    print_line(page, (found.function, "bold"), (f" and {other}: they ", ""), (word, style))
    _print_table(page, compare_rows(found)[:25], "llrrrl")
    if not found.values_agree:
        print_line(page, (f"The values differ: {found.ours!r}, {found.theirs!r}.", ""), indent=2)
    for text in found.conventions:
        for line in folded(f"by convention: {text}"):
            print_line(page, (line, "yellow"), indent=2)
