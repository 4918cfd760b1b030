"""Write a function as C: its value and gradients, without Python.

FILE.py:function is recorded with the arguments of --at, or with those that `check` finds in the
file. --rows names the arguments that differ from row to row. A compiled function needs no arguments
if the file has already called it, or if it has no branches.
"""

from __future__ import annotations

import argparse
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._shared.writing import write_whole
from .._values.nests import leaves
from ..errors import CheckError, PrintingError
from ..printing.cfile import CFile
from ..printing.compiler import compiler
from ..printing.proof import proof
from ..program.calling import Replayable
from ..program.compiled import compile as compiled_function
from ..program.rows import PerRow, Uniform, uniform
from ._points import function_of, point_of

FLAGS = "-O2"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("target", metavar="FILE.py:function", help="what to write")
    parser.add_argument("-o", "--out", metavar="OUT.c", help="the file; OUT.h goes beside it")
    parser.add_argument("--at", metavar="POINT", help="arguments: --at 'S=[90, 110], K=95.0'")
    parser.add_argument("--rows", metavar="NAMES", help="which differ from row to row: S,K")
    parser.add_argument("--wrt", metavar="NAMES", help="gradients by these alone: S,sigma")
    parser.add_argument("--hessian", action="store_true", help="Hessian products too")
    parser.add_argument("--test", action="store_true", help="also OUT_test.c, which checks OUT.c")
    parser.add_argument("--so", action="store_true", help="also OUT.so, a shared library")
    parser.add_argument(
        "--flags", default=FLAGS, help=f"for the compiler of --so; by default {FLAGS}"
    )


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    flags = _flags(options.flags)
    if options.out and Path(options.out).suffix in (".h", ".so"):
        raise PrintingError.not_source(options.out)
    module, name, function = function_of(options.target)
    made = function if isinstance(function, Replayable) else compiled_function(function)
    wrt = None if options.wrt is None else tuple(filter(None, options.wrt.split(",")))
    arguments = _arguments(options, module, name, made)
    file = made.c_file(*arguments, wrt=wrt, hessian=options.hessian)
    out = Path(options.out or f"{file.name}.c")
    written = {out: file.source, out.with_suffix(".h"): file.header}
    if options.test:
        if not arguments:
            raise PrintingError.no_test(name)
        test = out.with_name(f"{out.stem}_test.c")
        written[test] = _proof(file, out.with_suffix(".h").name, made, arguments, wrt)
    for path, text in written.items():
        write_whole(path, text.encode())
    if options.so:
        library = out.with_suffix(".so")
        _build(file, flags, library)
        written[library] = ""
    for path in written:
        print(path)
    return 0


def _flags(given: str) -> list[str]:
    """Flags one by one, as a shell takes them apart."""
    try:
        return shlex.split(given)
    except ValueError as error:
        raise PrintingError.flags(given, str(error).lower()) from None


def _arguments(options: argparse.Namespace, module: Any, name: str, made: Replayable) -> list[Any]:
    """What the function is recorded on; none where the file has called it itself."""
    names = list(made._signature.parameters)
    rows = list(filter(None, (options.rows or "").split(",")))
    for each in rows:
        if each not in names:
            raise CheckError(f"--rows names '{each}'; {name} has {', '.join(names)}.")
    if options.at is None and not rows and made.traces:
        return []
    try:
        point = point_of(module, name, made, options.at, alone=True)
    except CheckError:
        if options.at is not None:
            raise
        return _made_up(name, made, names, rows)
    given = list(point) if isinstance(point, (tuple, list)) else [point]
    return [
        np.asarray(it, dtype=float) if each in rows else _settled(it)
        for each, it in zip(names, given)
    ]


def _settled(argument: Any) -> Any:
    """Nested lists of numbers are one array for all rows."""
    if not isinstance(argument, list) or not any(isinstance(it, list) for it in argument):
        return argument
    if any(isinstance(leaf, (np.ndarray, Uniform, PerRow)) for leaf in leaves(argument)):
        return argument
    return uniform(np.asarray(argument, dtype=float))


def _made_up(name: str, made: Replayable, names: list[str], rows: list[str]) -> list[Any]:
    """Numbers of no meaning: they record all there is of a function that does not branch."""
    arguments = [np.ones(1) if not rows or each in rows else 1.0 for each in names]
    try:
        made(*arguments)
    except Exception as error:
        raise PrintingError.made_up(name, f"{type(error).__name__}: {error}") from None
    if any(trace.path for trace in made.traces):
        raise PrintingError.made_up(name, "it branches, and which way depends on them")
    return arguments


def _build(file: CFile, flags: list[str], to: Path) -> None:
    found = compiler()
    if found is None:
        raise PrintingError.no_compiler("--so")
    with tempfile.TemporaryDirectory() as folder:
        found.build(
            file.source, Path(folder), to.absolute(), ("-std=c17", "-fPIC", "-shared", *flags)
        )


def _proof(file: CFile, header: str, made: Replayable, arguments: list[Any], wrt: Any) -> str:
    """The program that checks the file, with what Python computes."""
    entry = file.entries[0]
    numbers = _numbers(arguments)
    given = [
        numbers[each.first] if each.bare else np.array(numbers[each.first :][: each.count]).T
        for each in entry.parameters
    ]
    rows = next((len(each) for each in numbers if isinstance(each, np.ndarray)), 1)
    expected = {file.name: list(_by_rows(made(*arguments), rows).T)}
    gradient = next((it for it in file.entries if it.name == f"{file.name}_gradient"), None)
    if gradient is not None:
        names = wrt if wrt is not None else tuple(made._signature.parameters)
        found = _by_rows(made.value_and_grad(*arguments, wrt=names), rows)
        ends = np.cumsum([each.count for each in gradient.results])
        expected[gradient.name] = np.split(found, ends[:-1], axis=1)
    return proof(file, header, rows, given, expected)


def _numbers(arguments: Sequence[Any]) -> list[Any]:
    """The numbers of arguments in order: each is one for all rows, or an array of one a row."""
    found: list[Any] = []
    for leaf in leaves(arguments):
        array = np.asarray(getattr(leaf, "array", leaf), dtype=float)
        if isinstance(leaf, (np.ndarray, PerRow)):
            found += list(np.atleast_2d(array.T))
        else:
            found += array.reshape(-1).tolist()
    return found


def _by_rows(results: Any, rows: int) -> Any:
    """All numbers of a nest of results, row by row."""
    parts = [np.asarray(each, dtype=float).reshape(rows, -1) for each in leaves(results)]
    return np.concatenate(parts, axis=1)
