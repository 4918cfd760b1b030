"""Running a user's script as Python itself would: as ``__main__``, with its own arguments, its own
folder on the path, its own line numbers, and its own traceback when it raises.
"""

from __future__ import annotations

import ast
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from io import open_code
from types import CodeType, ModuleType, TracebackType
from typing import Any

from .._shared.watchers import Enough
from .._values import watch
from ..errors import RetrogradeError, ScriptError

INTERRUPTED = 130
_WATCHERS = (
    watch.__file__,
    os.path.join(os.path.dirname(os.path.dirname(__file__)), "torch") + os.sep,
)
"""Whoever watches a script has frames in its tracebacks."""


@dataclass(frozen=True)
class Outcome:
    """How a script ended: its exit code and, where it raised, what and at which of its lines.

    ``frames`` are the local names of its functions that were running then, innermost first, and
    ``names`` its global names: they keep what the script made alive. A script that does not
    compile never ``ran``.
    """

    code: int
    error: BaseException | None = None
    line: int | None = None
    frames: tuple[dict[str, Any], ...] = ()
    names: dict[str, Any] = field(default_factory=dict)
    ran: bool = True


Compiler = Callable[[bytes, str, dict[str, Any]], CodeType]
"""Makes code of a script's source, its path and its (still empty) global names."""


def as_written(source: bytes, path: str, names: dict[str, Any]) -> CodeType:
    """The script as it stands."""
    return compile(source, path, "exec", dont_inherit=True)


def source_of(path: str) -> bytes:
    """The text of a script."""
    try:
        with open_code(os.path.abspath(path)) as file:
            return file.read()
    except OSError as error:
        raise ScriptError.unreadable(path, error) from None


def tree_of(source: bytes) -> ast.Module | None:
    """A source as a syntax tree, to look at; None where it cannot be one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # running it will give them
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def run_script(
    path: str,
    arguments: Sequence[str] = (),
    *,
    quiet: bool = False,
    compiler: Compiler = as_written,
) -> Outcome:
    """Run a script to its end, or to the exception that ends it, whose traceback is printed.

    With ``quiet`` what it prints goes to standard error, so that standard output stays ours.
    """
    source = source_of(path)
    module = ModuleType("__main__")
    module.__file__ = place = os.path.abspath(path)  # as Python does: a script may leave its folder
    try:
        code = compiler(source, place, vars(module))
    except RetrogradeError:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return replace(_raised(error.with_traceback(None), place, vars(module)), ran=False)
    with _as_main(module, path, arguments, quiet):
        try:
            exec(code, vars(module))
        except SystemExit as leaving:
            return Outcome(_exit_code(leaving), names=vars(module))
        except Enough:
            return Outcome(0, names=vars(module))
        except BaseException as error:
            return _raised(error, place, vars(module))
    return Outcome(0, names=vars(module))


@contextmanager
def _as_main(
    module: ModuleType, path: str, arguments: Sequence[str], quiet: bool
) -> Iterator[None]:
    """What a script expects to find; everything is as it was afterwards."""
    before = sys.modules["__main__"], sys.argv, sys.path
    sys.modules["__main__"] = module
    sys.argv = [path, *arguments]
    sys.path = [os.path.dirname(os.path.abspath(path)), *sys.path]
    try:
        with redirect_stdout(sys.stderr if quiet else sys.stdout):
            yield
    finally:
        sys.modules["__main__"], sys.argv, sys.path = before


def _exit_code(leaving: SystemExit) -> int:
    if leaving.code is None or isinstance(leaving.code, int):
        return leaving.code or 0
    print(leaving.code, file=sys.stderr)
    return 1


def _print_traceback(error: BaseException, trace: TracebackType | None) -> None:
    """The traceback as the script alone would have printed it: watching leaves no frames in it."""
    if trace is None:  # it does not compile: there is nothing to trace
        print("".join(traceback.format_exception_only(error)), file=sys.stderr, end="")
        return
    told: traceback.TracebackException | None = traceback.TracebackException(
        type(error), error, trace
    )
    whole = told
    while told is not None:
        seen = [frame for frame in told.stack if not frame.filename.startswith(_WATCHERS)]
        told.stack = traceback.StackSummary.from_list(seen)
        told = told.__cause__ or told.__context__
    assert whole is not None
    print("".join(whole.format()), file=sys.stderr, end="")


def _raised(error: BaseException, path: str, names: dict[str, Any]) -> Outcome:
    """Print the traceback without our own frames, as Python would have done."""
    ours: TracebackType | None = error.__traceback__
    trace = ours.tb_next if ours is not None else None
    sys.stdout.flush()
    _print_traceback(error, trace)
    line, frames = None, []
    if isinstance(error, SyntaxError) and trace is None:
        line = error.lineno
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
            frames.append(trace.tb_frame.f_locals)
        trace = trace.tb_next
    code = INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
    return Outcome(code, error, line, tuple(reversed(frames)), names)
