"""Run someone else's program on retrograde's values.

--replace Value puts our Value in the place of the script's own class Value, --replace engine.Value
in the place of a class of a module it imports; --shim micrograd answers its imports of micrograd.
Line numbers and the exit code stay the script's. Arguments after -- go to the script. --explain,
--doctor and --profile then say what its backward passes did.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from contextlib import ExitStack
from pathlib import PurePath
from typing import Any

from .._text.console import print_line
from ..errors import ScriptError
from ._engines import refuse_without_pass, uses_torch
from ._files import refuse_unwritable
from ._labels import Lent, passing_names
from ._replace import Replacement, replacing
from ._replace_module import replacing_in
from ._script import Outcome, as_written, run_script, source_of, tree_of
from ._shim import SHIMS, shimmed

TAKES_MORE = True
"""A script's own arguments follow ``--``."""

MISUSED = 2


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("script", metavar="SCRIPT.py", help="the program")
    parser.add_argument("arguments", nargs="*", help="its own arguments; options follow --")
    parser.add_argument(
        "--replace", metavar="CLASS", help="put our Value in the place of this class of the script"
    )
    parser.add_argument(
        "--shim", choices=SHIMS, help="answer imports of this package with ours, installed or not"
    )
    parser.add_argument("--explain", action="store_true", help="explain its last backward pass")
    parser.add_argument(
        "--at", type=int, metavar="LINE", help="explain the last pass begun at this line instead"
    )
    parser.add_argument("--ledger", metavar="NAME", help="itemise the gradient of one value")
    parser.add_argument("--html", metavar="FILE", help="write the explanation as a page")
    parser.add_argument("--doctor", action="store_true", help="say what is wrong with gradients")
    parser.add_argument(
        "--profile", action="store_true", help="say where time, values and bytes come from"
    )
    parser.add_argument("--json", action="store_true", help="print what was asked for as JSON")


def run(options: argparse.Namespace) -> int:
    """Run the command; the exit code is the script's."""
    options.explain |= any(each is not None for each in (options.at, options.ledger, options.html))
    for text in options.more:
        if text.startswith("-"):
            return _misused(
                f"there is no option '{text}'; what is meant for the script follows --."
            )
    options.arguments += options.more  # those that stand after options of ours
    if options.json and not (options.explain or options.doctor or options.profile):
        return _misused("--json prints what --explain, --doctor or --profile find; add one.")
    if options.html is not None:
        refuse_unwritable(options.html)  # before the script runs for an hour
    with ExitStack() as stack:
        return _Run(options, stack).code()


def _misused(why: str) -> int:
    print(f"retrograde: {why}\nTry 'retrograde run --help'.", file=sys.stderr)
    return MISUSED


class _Run:
    """One run: what is put in place before it, and what is told after it."""

    def __init__(self, options: argparse.Namespace, stack: ExitStack) -> None:
        self._options, self._stack = options, stack
        self._replacement: Replacement | None = None
        self._last_pass: Any = None
        self._rounds: Any = None
        self._profiler: Any = None

    def code(self) -> int:
        """Run the script, show what was asked for, and return its exit code."""
        options = self._options
        source = source_of(options.script)
        if options.shim is not None:
            self._stack.enter_context(shimmed(options.shim))
        compiler = as_written
        if options.replace is not None:
            module, _, name = options.replace.rpartition(".")
            self._replacement = replacement = self._stack.enter_context(replacing(name))
            replacement.script = options.script
            if module:
                self._stack.enter_context(replacing_in(module, replacement, options.script))
            else:
                if tree_of(source) is not None:
                    replacement.statement(source, options.script)
                compiler = replacement.code
        before = set(threading.enumerate())
        with ExitStack() as watchers:
            self._watch(watchers, source)
            outcome = run_script(
                options.script,
                [*options.arguments, *options.after],
                quiet=options.json,
                compiler=compiler,
            )
            _join(before)
        sys.stdout.flush()
        self._say_what_stayed()
        if outcome.ran:
            self._show(outcome, source)
        return outcome.code

    def _watch(self, watchers: ExitStack, source: bytes) -> None:
        """Those who watch; the profiler's clock goes around and inside of all others."""
        options, passing = self._options, passing_names(source)
        if options.profile:
            from ._profile import Profiler

            self._profiler = Profiler(options.script)
            watchers.enter_context(self._profiler.outer())
        if options.explain:
            from ._scripted import LastPass

            self._last_pass = LastPass(options.script, options.at, passing)
            watchers.enter_context(self._last_pass.watching())
        if options.doctor:
            from ..diagnose.scripted import watching_a_program

            self._rounds = watchers.enter_context(Lent(passing).around(watching_a_program()))
        if self._profiler is not None:
            watchers.enter_context(self._profiler.inner())

    def _say_what_stayed(self) -> None:
        """On standard error: methods of the script's class that differ from ours, and its end."""
        replaced = self._replacement
        if replaced is None:
            return
        if replaced.own:
            print(
                f"retrograde: {replaced.name} stayed the script's own: {replaced.own}.",
                file=sys.stderr,
            )
        if replaced.kept:
            print(
                f"retrograde: {replaced.name} is ours but for {', '.join(replaced.kept)}: the "
                "script's own differ from ours, or could not be compared, and were kept.",
                file=sys.stderr,
            )

    def _show(self, outcome: Outcome, source: bytes) -> None:
        """What was asked for, as text or as one JSON object."""
        options = self._options
        told: dict[str, Any] = {"script": options.script, "code": outcome.code}
        if self._replacement is not None:
            replaced = self._replacement
            told["replaced"] = {
                "class": replaced.name,
                "line": replaced.line,
                "added": replaced.added,
                "kept": replaced.kept,
                "own": replaced.own,
            }
        if self._last_pass is not None:
            told["explain"] = self._explained(outcome, source)
        if self._rounds is not None:
            told["doctor"] = self._examined(outcome, source)
        if self._profiler is not None:
            told["profile"] = self._profiled()
        if options.json:
            print(json.dumps(told, allow_nan=False))

    def _explained(self, outcome: Outcome, source: bytes) -> Any:
        from ..explain.ledger import ledger
        from .explain import show

        options = self._options
        if self._last_pass.chosen is None and not self._last_pass.lines:
            self._refuse_other_engine()
        story = self._last_pass.story(outcome)
        if story is None:
            return None
        account = None if options.ledger is None else ledger(story, options.ledger)
        if not options.json or options.html is not None:
            plain = argparse.Namespace(
                html=options.html, svg=None, dot=None, open=False, json=False,
                ledger=options.ledger,
            )  # fmt: skip
            show(story, plain)
        return (account or story).to_json() if options.json else None

    def _refuse_other_engine(self) -> None:
        """Say why there is no pass of ours, where the script has an engine of its own."""
        path, replaced = self._options.script, self._replacement
        if replaced is not None and replaced.own:
            raise ScriptError.stayed_own(path, replaced.name, replaced.own)
        if uses_torch(path):
            raise ScriptError.torch_instead(path, "doctor" if self._options.doctor else "explain")
        refuse_without_pass(path, option="--explain" if self._options.explain else "--doctor")

    def _examined(self, outcome: Outcome, source: bytes) -> Any:
        from .._text.terminal import console

        reports = self._rounds.reports()
        if not reports and outcome.error is None:
            self._refuse_other_engine()
        if self._options.json:
            return [report.as_dict() for report in reports]
        page = console()
        for report in reports:
            page.print()
            print_line(page, (f"The doctor on {PurePath(self._options.script).name}", "bold"))
            for line in report.text().splitlines():
                print_line(page, (line, "red" if line.startswith("  ✗") else ""))
        return None

    def _profiled(self) -> Any:
        from .._text.terminal import console
        from ._profile_text import print_profile

        profile = self._profiler.profile()
        if self._options.json:
            return profile.to_json()
        page = console()
        page.print()
        print_profile(page, profile)
        return None


def _join(before: set[threading.Thread]) -> None:
    """Wait for the script's threads, as Python does before it ends."""
    for thread in set(threading.enumerate()) - before:
        if not thread.daemon:
            thread.join()
