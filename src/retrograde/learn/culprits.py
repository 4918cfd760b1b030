"""Where in a student's file a fault is: the method of the op, backward, or the line that assigns.

The lines come from the student's process, so they are where its methods say they begin; nothing
of the verdict rests on them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from .faults import misconception_of
from .questions import Engine

_OPS: Final = {
    "halves": ("add",), "add-like-mul": ("add",), "not-swapped": ("mul",), "mul-like-add": ("mul",),
    "second-sign": ("sub",), "sign": ("neg",), "from-input": ("exp", "tanh", "sigmoid"),
    "square-forgotten": ("tanh",), "value-not-slope": ("log", "tanh", "relu"),
    "power-rule-on-exp": ("exp",), "power-not-lowered": ("pow",), "power-factor-lost": ("pow",),
    "inverse-lost": ("log",), "from-result": ("log",), "denominator-sign": ("div",),
    "denominator-square": ("div",), "denominator-like-numerator": ("div",),
    "gate-always-open": ("relu",), "gate-on-upstream": ("relu",), "gate-inverted": ("relu",),
    "edge": ("relu",), "reflected-swapped": ("reflected sub", "reflected div"),
    "numbers-not-wrapped": ("add", "mul"), "missing-reflected": ("add", "mul"),
    "one-input": ("add", "mul"), "set-of-inputs": ("add", "mul"),
}  # fmt: skip
"""The ops whose methods hold a fault; those that are wrong come first. Others are in backward."""


def line_of(fault: str, engine: Engine, wrong: Sequence[str], text: str) -> int | None:
    """The line of a fault in a student's file, where it can be told."""
    name, _, form = fault.partition(":")
    ops = [form.partition("-")[0], f"reflected {form}", *_OPS.get(misconception_of(name), ())]
    ordered = sorted(ops, key=lambda op: op.rpartition(" ")[2] not in wrong)
    if name == "overwrites":
        return _assignment(engine.described["gradient"], text, engine.lines.get(ops[0], 1))
    found = [engine.lines[op] for op in ordered if op in engine.lines]
    return found[0] if found else engine.lines.get("backward")


def _assignment(gradient: str, text: str, begin: int) -> int | None:
    """The first line from ``begin`` on that assigns to a gradient what it reads elsewhere."""
    assigns = re.compile(rf"\.{re.escape(gradient)} ?= ?[^=\n][^=\n]{{0,200}}?\.[a-z_]", re.I)
    for number, line in enumerate(text[:1_000_000].split("\n"), 1):
        if number >= begin and assigns.search(line[:400]):
            return number
    return None
