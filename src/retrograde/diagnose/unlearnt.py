"""Variables that a program cuts off from every loss: no pass reaches them, and nothing moves them.

A parameter under a value that was detached is in no graph, so no pass shows it. Here leaves are
remembered when they are cut, with the variable that held them; what no pass has reached by the end
and still has its first number never learns.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, NamedTuple

import numpy as np

from .._shared.sites import Site
from ..optim.optimizer import Optimizer
from ..value import core
from .cures import cure_of
from .discovery import LOOP_NAMES, leaves_of_variable, variables_now
from .parameters import Found
from .phrases import listed, on_line
from .report import ALARM, Verdict
from .zeros import DETACHED

MOST_LEAVES = 100_000
MOST_LOOKS = 32
"""How often the variables are looked through for leaves that were not cut before."""


class _Leaf(NamedTuple):
    found: Found
    first: Any
    site: Site | None
    passes: set[int]


class Unlearnt:
    """The leaves that were cut off by ``detach()``, and where."""

    def __init__(self) -> None:
        self._leaves: dict[int, _Leaf] = {}
        self._seen: dict[int, Any] = {}
        self._looks = 0

    def note(self, value: Any, site: Site | None, number: int, known: Set[int]) -> None:
        """A value is about to lose its history, before the end of pass ``number``."""
        if value.op == "leaf" or len(self._seen) > MOST_LEAVES:
            return
        new = False
        for leaf in core.leaves_under((value,)):
            kept = self._leaves.get(id(leaf))
            if kept is not None:
                kept.passes.add(number)
            elif id(leaf) not in known and id(leaf) not in self._seen and leaf.requires_grad:
                self._seen[id(leaf)] = leaf  # kept alive, so that no id comes twice
                new = True
        if new and self._looks < MOST_LOOKS:
            self._looks += 1
            self._name(site, number)

    def _name(self, site: Site | None, number: int) -> None:
        """Look for the leaves among the program's variables."""
        for name, thing in variables_now().items():
            if name in LOOP_NAMES or isinstance(thing, Optimizer):
                continue
            for found in leaves_of_variable(name, thing):
                key = id(found.value)
                if key in self._seen and key not in self._leaves:
                    self._leaves[key] = _Leaf(found, _number(found.value), site, {number})

    def verdicts(self, known: Set[int], passes: int) -> list[Verdict]:
        """What never learns, one verdict a line that cuts."""
        lines: dict[Site | None, list[_Leaf]] = {}
        for key, leaf in self._leaves.items():
            still = np.array_equal(_number(leaf.found.value), leaf.first)
            if key not in known and still and len(leaf.passes) >= min(2, passes):
                lines.setdefault(leaf.site, []).append(leaf)
        return [_verdict(site, leaves) for site, leaves in lines.items()]


def _number(leaf: Any) -> Any:
    return np.array(leaf.data)


def _verdict(site: Site | None, leaves: list[_Leaf]) -> Verdict:
    groups = list(dict.fromkeys(it.found.branch or it.found.name for it in leaves))
    several = len(leaves) > 1
    count = f"{len(leaves):,} parameters of {listed(groups)}" if several else listed(groups)
    them = "them" if several else "it"
    sentence = (
        f"{count}: detached, detach(){on_line(site)} cuts {them} off from the loss in every pass, "
        f"and nothing else changes {them}."
    )
    return Verdict(
        DETACHED, ALARM, groups[0], sentence, site, len(leaves), cure_of(DETACHED), 1, 0,
        tuple(groups),
    )  # fmt: skip
