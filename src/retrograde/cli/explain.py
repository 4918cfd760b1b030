"""Explain the gradients of an expression or of a script: every step of the backward pass, in words.

Give an expression its numbers as NAME=NUMBER. A script, with retrograde's values or with PyTorch,
runs as usual, and its last backward pass is explained: with --at LINE the last one begun at that
line, with --step N the N-th. Arguments after -- go to the script. Without an argument, an example
is shown.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import Any

from .._text.terminal import takes_color, terminal_width, write
from ..errors import ExpressionError, ScriptError, StoryError
from ..explain.ledger import Ledger, ledger
from ..explain.story import Story
from ._engines import refuse_without_pass, uses_torch
from ._expression import evaluate, numbers_given
from ._files import refuse_unwritable, write_text
from ._script import run_script
from ._scripted import ended, story_of_script

TAKES_MORE = True
"""Names may also follow options, and a script's own arguments follow ``--``."""

MISUSED = 2

EXAMPLE = "relu(a*b + d)", {"a": 2.0, "b": -3.0, "d": 10.0}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("target", nargs="?", help="an expression, or a script ending in .py")
    parser.add_argument(
        "rest", nargs="*", metavar="NAME=NUMBER", help="the numbers of an expression's names"
    )
    parser.add_argument(
        "--at", type=int, metavar="LINE", help="the backward pass begun at this line of the script"
    )
    parser.add_argument("--step", type=int, metavar="N", help="the N-th backward pass of a script")
    parser.add_argument("--ledger", metavar="NAME", help="itemise the gradient of one value")
    parser.add_argument("--json", action="store_true", help="print the story as JSON")
    parser.add_argument("--html", metavar="FILE", help="write the page that steps through it")
    parser.add_argument("--svg", metavar="FILE", help="write the picture of the graph")
    parser.add_argument("--dot", metavar="FILE", help="write the graph for Graphviz")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")


def run(options: argparse.Namespace) -> int:
    """Run the command; a script's own failure is passed on as the exit code."""
    try:
        return _run(options)
    except ExpressionError as error:
        print(f"retrograde: {error}\nTry 'retrograde explain --help'.", file=sys.stderr)
        return MISUSED


def _run(options: argparse.Namespace) -> int:
    target, rest = _told_apart(options)
    for path in (options.html, options.svg, options.dot):
        if path is not None:
            refuse_unwritable(path)  # before a script runs for an hour
    code = 0
    story: Story | None
    if target is not None and _is_script(target):
        if uses_torch(target):
            return _explain_torch(target, rest, options)
        story, code = story_of_script(target, rest, options.at, options.json, options.step)
    elif options.at is not None or options.step is not None:
        raise ExpressionError.only_scripts("--at" if options.at is not None else "--step")
    else:
        story = _story_of_expression(target, rest, quiet=options.json)
    if story is not None:
        show(story, options)
    return code


def _explain_torch(path: str, arguments: list[str], options: argparse.Namespace) -> int:
    """A PyTorch program: the pass that is wanted, or the last that was looked at closely."""
    from ..torch.scripted import Scripted

    pictures = options.html is not None or options.open
    with Scripted(None, options.step, options.at, options.ledger, pictures) as seen:
        outcome = run_script(path, arguments, quiet=options.json)
    story = seen.story(ended(outcome))
    if story is None:
        if outcome.error is not None:
            return outcome.code
        if seen.passes and options.at is not None:
            raise ScriptError.no_pass_at(path, options.at, seen.lines)
        if seen.passes and options.step is not None:
            raise ScriptError.no_step(path, options.step, seen.passes)
        refuse_without_pass(path, seen.gradients)
        return outcome.code
    if options.ledger is not None and seen.account is None:
        raise StoryError.no_name(options.ledger, seen.names)
    show(story, options, seen.account)
    return outcome.code


def _told_apart(options: argparse.Namespace) -> tuple[str | None, list[str]]:
    """What is to be explained, and what was given for it.

    An expression may begin with a minus, which makes it look like an option.
    """
    given = [options.target, *options.rest] if options.target is not None else []
    for text in options.more:
        if text.startswith("--") or (text.startswith("-") and len(text) == 2):
            raise ExpressionError.options(text)
        given.insert(0 if text.startswith("-") else len(given), text)
    given += options.after
    return (given[0], given[1:]) if given else (None, [])


def _is_script(target: str) -> bool:
    return target.endswith(".py") or os.path.isfile(target)


def _story_of_expression(target: str | None, rest: list[str], quiet: bool) -> Story:
    from ..explain.reading import read

    text, numbers = EXAMPLE
    if target is not None:
        text, numbers = target, numbers_given(rest)
    elif not quiet:
        given = " ".join(f"{name}={number:g}" for name, number in numbers.items())
        print(f'An example: retrograde explain "{text}" {given}\n', file=sys.stderr)
    return read([evaluate(text, numbers)], [1.0], note="", sites=False)


def show(story: Story, options: argparse.Namespace, account: Any = None) -> None:
    """Write the files asked for; print what was asked for, the waterfall if nothing was. A ledger
    may be given that was worked out while the script ran."""
    written = []
    page = options.html
    if options.open and page is None:
        page = os.path.join(tempfile.mkdtemp(prefix="retrograde-"), "story.html")
    if page is not None:
        from ..explain.html import page_html

        written.append((page, page_html(story)))
    if options.svg is not None:
        from ..explain.svg import graph_svg

        written.append((options.svg, graph_svg(story)))
    if options.dot is not None:
        from ..explain.dot import graph_dot

        written.append((options.dot, graph_dot(story)))
    for path, text in written:
        write_text(path, text)
        print(f"wrote {path}", file=sys.stderr)
    width, color = terminal_width(sys.stdout), takes_color(sys.stdout)
    if options.ledger is not None and account is None:
        account = ledger(story, options.ledger)
    if options.json:
        print(json.dumps((account or story).to_json(), allow_nan=False))
    elif isinstance(account, Ledger):
        write(account.text(width, color))
    elif account is not None:
        write(account.text())
    elif not written:
        write(story.text(width, color))
    if options.open and page is not None:
        webbrowser.open(Path(page).resolve().as_uri())
