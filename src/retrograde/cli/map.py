"""Compute values and gradients for every row of some files, and write them to a file.

The rows come from Parquet, Arrow IPC or CSV files; each column is the parameter of the same name.
The output file appears only when it is complete. To continue an interrupted map, give the same
command again: the result has the same bytes.
"""

from __future__ import annotations

import argparse
import ast
import sys
import time
from pathlib import Path
from typing import Any

from .._text.paragraphs import counted
from .._text.terminal import LateBar
from ..errors import CheckError, MapError
from ..program.compiled import compile as compiled
from ..program.loaded import load
from ..program.statics import Specialized
from ..program.streamed import OverFiles
from ..streams.mapping import BATCH_ROWS, mapped
from ._expression import numbers_given
from ._points import module_of, public_of

DONE, MISUSED, INTERRUPTED = 0, 2, 130


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "function", metavar="FILE.py:function", help="the function; or FILE.rgp, a saved one"
    )
    parser.add_argument("source", metavar="FILE", nargs="+", help="files with rows, or a folder")
    parser.add_argument("--out", metavar="FILE", required=True, help="the file that is written")
    parser.add_argument("--wrt", metavar="NAMES", help="gradients by these (all): --wrt S,sigma")
    parser.add_argument(
        "--hessian", metavar="NAMES", default="", help="second derivatives by these"
    )
    parser.add_argument("--keep", metavar="NAMES", default="", help="columns that are copied over")
    parser.add_argument(
        "--set", metavar="NAME=NUMBER", action="append", default=[],
        help="a parameter that is no column",
    )  # fmt: skip
    parser.add_argument("--nulls", choices=("error", "nan"), default="error", help="what nulls are")
    parser.add_argument(
        "--separator", metavar="CHARACTER", help="between the columns of CSV files (,); or tab"
    )
    parser.add_argument("--batch-rows", metavar="N", type=int, default=BATCH_ROWS,
                        help=f"rows that are computed together ({BATCH_ROWS})")  # fmt: skip
    parser.add_argument("--threads", metavar="N", type=int, help="threads (all cores)")
    parser.add_argument("--restart", action="store_true", help="do not go on with an earlier map")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="compute on a Dask cluster")


def run(options: argparse.Namespace) -> int:
    """Run the command: 0 done, 2 called wrongly, 130 interrupted; what fails raises."""
    try:
        function, arguments = _variant(_function(options.function), options.set)
    except CheckError as misuse:
        print(f"retrograde: {misuse}", file=sys.stderr)
        return MISUSED
    began, done = time.monotonic(), 0

    def progress(rows: int, total: int | None) -> None:
        nonlocal done
        done = rows
        bar(rows, total or 0)

    with LateBar(f"rows to {options.out}") as bar:
        try:
            rows = mapped(
                function,
                options.source[0] if len(options.source) == 1 else options.source,
                options.out,
                wrt=None if options.wrt is None else _names(options.wrt),
                hessian=_names(options.hessian),
                keep=_names(options.keep),
                nulls=options.nulls,
                batch_rows=options.batch_rows,
                threads=options.threads,
                arguments=arguments,
                restart=options.restart,
                scheduler=options.scheduler,
                separator="\t" if options.separator == "tab" else options.separator,
                progress=progress,
            )
        except KeyboardInterrupt:
            print(f"retrograde: {MapError.interrupted(done, options.out)}", file=sys.stderr)
            return INTERRUPTED
    seconds = time.monotonic() - began
    print(f"{counted(rows, 'row')} to {options.out} in {seconds:.1f} s")
    return DONE


def _function(target: str) -> Any:
    """The function that a target names, compiled."""
    if target.endswith(".rgp"):
        return load(target)
    path, _, name = target.rpartition(":") if ".py:" in target else (target, "", "")
    module = module_of(Path(path))
    known = public_of(module)
    if not name and len(known) == 1:
        name = next(iter(known))
    if not name:
        raise CheckError(f"name one of its functions: {path}:{next(iter(known), 'function')}.")
    function = getattr(module, name, None)
    if not callable(function):
        shown = ", ".join(known) or "none"
        raise CheckError(f"{path} has no function '{name}'; its functions: {shown}.")
    return function if isinstance(function, (OverFiles, Specialized)) else compiled(function)


def _variant(function: Any, texts: list[str]) -> tuple[Any, dict[str, float]]:
    """The function for what was set of its static parameters, and the other numbers."""
    if not isinstance(function, Specialized):
        return function, numbers_given(texts)
    static = [text for text in texts if text.partition("=")[0].strip() in function.static]
    given: dict[str, Any] = numbers_given([text for text in texts if text not in static])
    for text in static:
        name, _, value = text.partition("=")
        given[name.strip()] = _literal(value)
    return function.chosen(given)


def _literal(text: str) -> Any:
    """A number, a bool or None as Python writes it; else the text."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
