"""Run a script and say what its graph holds in memory: by op, by line, and by module.

For a PyTorch program, that is what autograd keeps for the backward pass; for values, every node.
The last backward pass is measured, or with --step N the N-th, and then the script ends. Arguments
after -- go to the script.
"""

from __future__ import annotations

import argparse
import json

from .._text.terminal import write
from ..diagnose.memory import Memory, memory
from ._engines import refuse_without_pass, uses_torch
from ._script import Outcome, run_script

TAKES_MORE = True
"""A script's own arguments may follow."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("script", help="a script that calls backward()")
    parser.add_argument("arguments", nargs="*", help="the script's own arguments")
    parser.add_argument("--step", type=int, metavar="N", help="measure the N-th backward pass")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")


def run(options: argparse.Namespace) -> int:
    """Run the command; the exit code is the script's."""
    arguments = [*options.arguments, *options.more, *options.after]
    found, outcome, gradients = _measured(options, arguments)
    if found is None:
        if outcome.error is None:
            refuse_without_pass(options.script, gradients, "--profile")
        return outcome.code
    if options.json:
        print(json.dumps({"script": options.script, **found.as_dict()}, allow_nan=False))
    else:
        write(found.text())
    return outcome.code


def _measured(
    options: argparse.Namespace, arguments: list[str]
) -> tuple[Memory | None, Outcome, int]:
    if uses_torch(options.script):
        from ..torch.scripted import Scripted

        with Scripted(step=options.step) as seen:
            outcome = run_script(options.script, arguments, quiet=options.json)
        return seen.memory(), outcome, seen.gradients
    from ._scripted import LastPass

    last = LastPass(options.script, None, step=options.step)
    with last.watching():
        outcome = run_script(options.script, arguments, quiet=options.json)
    return (None if last.chosen is None else memory(last.chosen.roots)), outcome, 0
