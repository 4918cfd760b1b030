"""``rg.births``: where NaN and infinities come from, found in a graph after the fact.

Forward, a birth is a value that is not finite though its operands are; backward, a contribution
that is not finite though its upstream is. Births of one kind on one line are counted as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite, isinf, isnan
from typing import Any

import numpy as np

from .._shared import birth
from .._shared.birth import Birth
from ..errors import AnomalyError, NotAValueError
from ..passes.survey import survey
from ..value import Value, core
from .births_text import births_lines
from .thresholds import KINDS

MOST = 32
"""How many births of different kind or line are described for each phase."""


@dataclass(frozen=True)
class Births:
    """Where NaN and infinities come from: the first places in each pass, in the order met.

    ``values`` and ``gradients`` count everything that is not finite; ``roots_are_finite`` says
    whether it reached the result.
    """

    forward: tuple[Birth, ...] = ()
    backward: tuple[Birth, ...] = ()
    values: int = 0
    gradients: int = 0
    roots_are_finite: bool = True

    def __bool__(self) -> bool:
        return bool(self.forward or self.backward)

    @property
    def first(self) -> Birth | None:
        """The first birth: forward ones come before backward ones."""
        return next(iter((*self.forward, *self.backward)), None)

    def as_dict(self) -> dict[str, Any]:
        """The births as plain data, ready for JSON."""
        return {
            "forward": [each.as_dict() for each in self.forward],
            "backward": [each.as_dict() for each in self.backward],
            "values": self.values,
            "gradients": self.gradients,
            "roots_are_finite": self.roots_are_finite,
        }

    def __str__(self) -> str:
        return "\n".join(births_lines(self))


def births(root: Any, *, raising: bool = False) -> Births:
    """Find where NaN and infinities under a root, or a list of roots, were born.

    No ``.grad`` is changed. With ``raising`` the first birth is raised as :class:`AnomalyError`.

    >>> import retrograde as rg
    >>> x = rg.Value(0.0, label="x")
    >>> print(rg.births(rg.sqrt(x) * 0.0).backward[0].cause)
    0 × inf
    >>> rg.births(x * 2)
    Births(forward=(), backward=(), values=0, gradients=0, roots_are_finite=True)
    """
    roots = (root,) if isinstance(root, Value) else root
    if not isinstance(roots, (tuple, list)):
        raise NotAValueError.of("births", root)
    for index, each in enumerate(roots):
        if not isinstance(each, Value):
            raise NotAValueError.at("births", index, each)
    found = births_under(tuple(roots), (1.0,) * len(roots))
    if raising and found.first is not None:
        raise AnomalyError.of(found.first)
    return found


_NO_LIMITS = bytes(8 * 256)


def births_under(roots: tuple[Value, ...], seeds: tuple[float, ...]) -> Births:
    """The births under roots, for the seeds of one pass."""
    quick = survey(roots, seeds, (), KINDS, _NO_LIMITS)
    odd_data, odd_adjoints = quick["odd_data"], quick["odd_adjoints"]
    if not odd_data and not odd_adjoints:
        return Births()
    values = core.order(roots)
    return Births(
        _forward(values, roots) if odd_data else (),
        _Backward(values, roots, seeds).run() if odd_adjoints else (),
        odd_data,
        odd_adjoints,
        all(isfinite(root.data) for root in roots),
    )


class _Collected:
    """Births, those of one kind on one line as one."""

    def __init__(self) -> None:
        self.found: dict[Any, list[Any]] = {}

    def add(self, value: Value, cause: str, describe: Any) -> None:
        key = (value.op, cause, core.instruction_of(value))
        if key in self.found:
            self.found[key][1] += 1
        elif len(self.found) < MOST:
            self.found[key] = [describe(), 1]

    def births(self) -> tuple[Birth, ...]:
        return tuple(replace(each, count=count) for each, count in self.found.values())


def _forward(values: list[Value], roots: tuple[Value, ...]) -> tuple[Birth, ...]:
    numbers = np.empty(len(values))
    core.read_data(values, numbers)
    collected = _Collected()
    for index in np.flatnonzero(~np.isfinite(numbers)).tolist():
        value = values[index]
        operands = [v.data for v in value.inputs]
        if birth.is_birth(value.data, operands, value.op == "leaf"):
            collected.add(value, "", lambda value=value: birth.forward(value, roots))
    return collected.births()


class _Backward:
    """A backward pass on numbers kept aside that looks at every contribution."""

    def __init__(
        self, values: list[Value], roots: tuple[Value, ...], seeds: Sequence[float]
    ) -> None:
        self.values, self.roots = values, roots
        self.collected = _Collected()
        self.place = {id(value): index for index, value in enumerate(values)}
        self.adjoints = [0.0] * len(values)
        for root, seed in zip(roots, seeds):
            self.adjoints[self.place[id(root)]] += seed
            if not isfinite(seed):
                self._add(root, birth.BY_SEED, partial(birth.elsewhere, birth.BY_SEED, root, seed))

    def _add(self, value: Value, cause: str, describe: Any) -> None:
        self.collected.add(value, cause, describe)

    def run(self) -> tuple[Birth, ...]:
        for index in range(len(self.values) - 1, -1, -1):
            value, upstream = self.values[index], self.adjoints[index]
            if value.op == "leaf":
                continue
            if not value.partials:
                self._call(value, upstream)
                continue
            _, inputs, partials = core.parts(value)
            for number, (target, slope) in enumerate(zip(inputs, partials)):
                if target is not None:
                    self._contribute(value, number, target, slope, upstream)
        return self.collected.births()

    def _contribute(
        self, value: Value, number: int, target: Value, slope: float, upstream: float
    ) -> None:
        place = self.place[id(target)]
        before = self.adjoints[place]
        after = self.adjoints[place] = before + slope * upstream
        if isfinite(after) or not isfinite(upstream) or not target.requires_grad:
            return
        if not isfinite(before) and not (isinf(before) and isnan(after)):
            return  # it was born before, by another contribution
        if not isfinite(slope) and not all(isfinite(v.data) for v in value.inputs):
            return  # the consequence of a birth in the forward pass
        cause = birth.cause_of(slope, upstream, before)
        self._add(
            value, cause,
            lambda: birth.backward(value, number, slope, upstream, before, self.roots),
        )  # fmt: skip

    def _call(self, value: Value, upstream: float) -> None:
        """A closure adds to ``.grad``: it is lent to it and put back."""
        inputs = value.inputs
        lent = [value, *inputs]
        before = [v.grad for v in lent]
        try:
            for v in inputs:
                v.grad = 0.0
            value.grad = upstream
            value._backward()
            for v in {id(v): v for v in inputs}.values():
                place = self.place[id(v)]
                was = self.adjoints[place]
                self.adjoints[place] = was + v.grad
                if isfinite(was) and isfinite(upstream) and not isfinite(self.adjoints[place]):
                    total = self.adjoints[place]
                    self._add(
                        value, birth.BY_CLOSURE,
                        lambda v=v, total=total: birth.elsewhere(
                            birth.BY_CLOSURE, value, total, v, self.roots
                        ),
                    )  # fmt: skip
        finally:
            for v, old in zip(lent, before):
                v.grad = old
