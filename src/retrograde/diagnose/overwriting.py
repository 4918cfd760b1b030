"""Closure-style rules that overwrite: ``x.grad = …`` in a ``_backward`` where ``+=`` is needed.

A rule is tried twice, once on gradients of 0 and once on gradients of 1: the difference must be 1.
Each function is tried once, on the first node that has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType
from typing import Any

from .._shared.sites import Site
from ..passes.lending import after_rule
from ..value import Value

MOST_RULES = 64
OFTEN = 16
"""From this pass on, rules are looked at once in so many passes."""


@dataclass(frozen=True)
class Overwrite:
    """A rule that overwrites: of which op, what, and where it is written."""

    op: str
    what: str
    site: Site | None


class Rules:
    """The rules tried so far, those of them that overwrite a gradient, and when they were met."""

    def __init__(self) -> None:
        self._tried: dict[Any, Overwrite | None] = {}
        self._met: dict[Overwrite, tuple[int, int, int]] = {}  # first and last pass, and look
        self._looks = 0

    def look(self, closures: list[Value], number: int) -> None:
        """Try the rules of pass ``number`` that are new; of many passes not in every one."""
        if number >= OFTEN and number % OFTEN:
            return
        self._looks += 1
        for value in closures:
            rule = value._backward
            code = getattr(rule, "__code__", type(rule))
            if code not in self._tried and len(self._tried) < MOST_RULES:
                what = _overwritten(value)
                site = _written(code) or value.site
                self._tried[code] = None if what is None else Overwrite(value.op, what, site)
            found = self._tried.get(code)
            if found is not None:
                first = self._met.get(found, (number, 0, 0))[0]
                self._met[found] = (first, number, self._looks)

    def overwrites(self, patience: int) -> list[tuple[Overwrite, int, int]]:
        """The rules that overwrite: each with its first pass, and its last where it is gone."""
        return [
            (found, first, last if self._looks - look >= patience else 0)
            for found, (first, last, look) in self._met.items()
        ]


def _written(code: Any) -> Site | None:
    if not isinstance(code, CodeType):
        return None
    return Site(code.co_filename, code.co_firstlineno, code.co_name)


def _overwritten(value: Value) -> str | None:
    """What a rule overwrites, in words; None where it adds. Gradients are put back."""
    from_zero, from_one = (after_rule(value, 1.0, before) for before in (0.0, 1.0))
    for v, zero, one in zip(value.inputs, from_zero, from_one):
        if v.requires_grad and zero and zero == one:
            return f"'{v.label}'" if v.label else "an input"
    return None
