"""Work gradients out in the terminal, step by step, then time it on the spot.

Two small formulas: their forward steps, every contribution of the backward pass with the rule
behind it, and the gradients checked against finite differences. Then one pass of a small network
on retrograde and in pure Python, side by side.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TypedDict

from .. import __version__
from .._text.terminal import LateBar, console
from ..value import core_name
from ._race import Race, race
from ._worked import EXAMPLES, Worked, work_out


class Demo(TypedDict):
    """Everything the demo shows; ``speed`` is None where it was not asked for."""

    retrograde: str
    core: str
    examples: list[Worked]
    speed: Race | None


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--json", action="store_true", help="print the steps as JSON")
    parser.add_argument("--no-speed", action="store_true", help="leave out the timing")


def run(options: argparse.Namespace) -> int:
    """Run the command: 1 where a gradient and its finite difference disagree."""
    shown: Demo = {
        "retrograde": __version__,
        "core": core_name,
        "examples": [work_out(example) for example in EXAMPLES],
        "speed": None,
    }
    if options.json:
        shown["speed"] = None if options.no_speed else _timed()
        print(json.dumps(shown, indent=2))
    else:
        _show(shown, timed=not options.no_speed)
    return _verdict(shown)


def _timed() -> Race:
    with LateBar("timing") as bar:
        return race(bar)


def _show(shown: Demo, timed: bool) -> None:
    """Print what is ready before the timing begins."""
    from . import _page

    page = console()
    _page.print_title(page, shown["retrograde"], shown["core"])
    for place, worked in enumerate(shown["examples"], start=1):
        _page.print_worked(page, place, worked)
    if timed:
        _page.print_race(page, len(shown["examples"]) + 1, _timed(), shown["core"])


def _verdict(shown: Demo) -> int:
    wrong = [
        f"d{worked['root']}/d{gradient['leaf']}"
        for worked in shown["examples"]
        for gradient in worked["gradients"]
        if not gradient["agrees"]
    ]
    if wrong:
        print(f"retrograde: {', '.join(wrong)} disagree with finite differences", file=sys.stderr)
    return int(bool(wrong))
