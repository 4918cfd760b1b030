"""The command ``retrograde``: parsing, exit codes, and errors as one clean message.

Each command is a file of its own. Exit codes: 0 done, 1 it failed, 2 it was called wrongly, 130
interrupted.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
import textwrap
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Any, Final, NoReturn

from .. import __version__
from ..errors import RetrogradeError

COMMANDS: Final = {
    "explain": "explain the gradients of an expression or a script, step by step",
    "run": "run someone else's program on retrograde's values",
    "check": "check the gradients of a function, or of every function in a file",
    "map": "compute values and gradients for every row of some files",
    "memory": "run your script and say what its backward pass keeps in memory",
    "doctor": "run your script and say what is wrong with its gradients",
    "train": "train a small GPT on text, and sample from it",
    "demo": "show gradients being computed, step by step",
    "learn": "exercises that name the misconception behind a wrong answer",
    "grade": "grade anyone's class of values; cards and exhibits for teachers",
    "build": "write a function and its gradients as C",
    "info": "say which core runs here, and why",
    "bench": "time rg.compile against the peers that are installed",
}
"""Each is a file beside this one, loaded when its command is called."""

FAILED, MISUSED, INTERRUPTED = 1, 2, 130

_EPILOG = """\
examples:
  retrograde explain "relu(a*b + d)" a=2 b=-3 d=10
  retrograde explain train.py --html story.html
  retrograde doctor train.py        a script with values, or PyTorch as it is
  retrograde memory train.py
  retrograde run gpt.py --replace Value --profile
  retrograde demo           show gradients being computed, step by step
  retrograde demo --json    the same as data
  retrograde build model.py:price -o price.c
  retrograde info           which core runs here, and why
  retrograde bench          rg.compile timed against its peers
  retrograde check FILE.py  are the gradients of its functions right?
  retrograde map model.py:price trades.parquet --wrt S --out greeks.parquet
  retrograde train          a small GPT on given names, then names it makes up
  retrograde learn next     exercises that say what went wrong
  retrograde grade FILE.py  grade anyone's class of values
"""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help whose list of commands has no line for the word "command" itself."""

    def _format_action(self, action: argparse.Action) -> str:
        text = super()._format_action(action)
        if isinstance(action, argparse._SubParsersAction):
            return textwrap.indent(textwrap.dedent(text.partition("\n")[2]), "  ")
        return text


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one message, with a guess at what was meant."""

    def error(self, message: str) -> NoReturn:
        unknown = re.search(r"^argument command: invalid choice: '([^']*)'", message)
        if unknown:
            close = difflib.get_close_matches(unknown[1], COMMANDS, n=1)
            cure = f"did you mean '{close[0]}'?" if close else f"choose from {', '.join(COMMANDS)}."
            message = f"there is no command '{unknown[1]}'; {cure}"
        print(f"retrograde: {message}\nTry '{self.prog} --help'.", file=sys.stderr)
        raise SystemExit(MISUSED)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    >>> main(["--version"])
    retrograde 0.2.0.dev0
    0
    """
    try:
        return _run(list(sys.argv[1:] if argv is None else argv))
    except SystemExit as leaving:  # argparse, after --help, --version or a usage error
        return leaving.code if isinstance(leaving.code, int) else 0
    except RetrogradeError as error:
        print(f"retrograde: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("retrograde: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader left, as `head` does. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _run(given: list[str]) -> int:
    named = next((word for word in given if not word.startswith("-")), "")
    parser = parser_of([named] if named in COMMANDS else [])
    split = given.index("--") if "--" in given else len(given)
    options, more = parser.parse_known_args(given[:split])
    if options.command is None:
        parser.print_help(sys.stderr)
        return MISUSED
    options.more = more
    options.after = given[split + 1 :]
    command = _loaded(options.command)
    if (more or options.after) and not getattr(command, "TAKES_MORE", False):
        parser.error(f"unrecognized arguments: {' '.join([*more, *options.after])}")
    code: int = command.run(options)
    sys.stdout.flush()  # here, where a closed pipe is still caught
    return code


def _loaded(name: str) -> Any:
    return import_module(f".{name}", __name__)


def parser_of(loaded: Collection[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser of the command line, with the options of the commands that are to be loaded."""
    parser = _Parser(
        prog="retrograde",
        description="Gradients you can see, trust and run fast.",
        epilog=_EPILOG,
        formatter_class=_Help,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version",
        action="version",
        version=f"retrograde {__version__}",
        help="print the version and leave",
    )
    commands = parser.add_subparsers(dest="command", metavar="command", title="commands")
    for name, summary in COMMANDS.items():
        own = commands.add_parser(name, help=summary, allow_abbrev=False)
        if name in loaded:
            command = _loaded(name)
            own.description = (command.__doc__ or "").strip()
            command.configure(own)
    return parser
