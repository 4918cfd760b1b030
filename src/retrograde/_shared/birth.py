"""A birth: the place where a NaN or an infinity first appears, as data, and in words.

What ``rg.anomaly()`` raises and what ``rg.births`` finds are both made here, so they say the same.
A birth keeps numbers and places only, never a value: no graph stays alive for it.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite, isinf, isnan
from typing import Any

from ..errors import describe
from ..ops import OPS
from .sites import Site

MOST_OPERANDS = 8
MOST_STEPS = 16
"""How many steps of a long route are kept: half from each end."""
FARTHEST = 1_000_000
"""How many values are looked at for a route."""

FORWARD, BACKWARD = "forward", "backward"


@dataclass(frozen=True)
class Operand:
    """One operand: what it is, in words, and its number."""

    words: str
    data: float


@dataclass(frozen=True)
class Step:
    """One value on a route: its op, its label if it has one, and where it was made."""

    op: str
    label: str | None
    site: Site | None

    def __str__(self) -> str:
        name = f"'{self.label}'" if self.label else self.op
        return f"{name} (line {self.site.line})" if self.site else name


@dataclass(frozen=True)
class Birth:
    """Where a NaN or an infinity was born.

    ``phase`` is "forward" or "backward", ``cause`` the reason in a few words, ``result`` the number
    that is not finite. In the backward pass ``partial``, ``upstream`` and ``before`` are the
    numbers that made it, ``target`` the operand whose gradient it is, and ``made`` what the op had
    produced where that was not finite either. ``route`` leads from here
    to the root, ``steps`` is how long it is. ``count`` is how many such births share op and line.

    In an array ``index`` is where the first one stands, and ``amount`` the contribution there.
    Where only a summary is known of it, ``how_many`` numbers are not finite; ``group`` is the
    module, ``because`` says what is behind it.
    """

    phase: str
    cause: str
    op: str
    label: str | None
    result: float
    operands: tuple[Operand, ...] = ()
    more_operands: int = 0
    target: str = ""
    partial: float | None = None
    upstream: float | None = None
    before: float | None = None
    made: float | None = None
    site: Site | None = None
    source: str = ""
    cure: str = ""
    route: tuple[Step, ...] = ()
    steps: int = 0
    count: int = 1
    index: tuple[int, ...] = ()
    how_many: int = 0
    because: str = ""
    group: str = ""
    amount: float | None = None

    def __str__(self) -> str:
        return "\n".join([self._headline(), *self._details()])

    def as_dict(self) -> dict[str, Any]:
        """The birth as plain data, ready for JSON; numbers that are not finite are strings."""
        plain = asdict(self) | {
            "site": self.site._asdict() if self.site else None,
            "route": [
                {"op": s.op, "label": s.label, "site": s.site._asdict() if s.site else None}
                for s in self.route
            ],
        }
        return spelled(plain)  # type: ignore[no-any-return]

    def _headline(self) -> str:
        name = f" '{self.label}'" if self.label else ""
        if self.how_many:
            return f"{self.in_an_array()}."
        where = f" at [{', '.join(map(str, self.index))}]" if self.index else ""
        if self.op == "leaf":
            return f"a leaf{name} was made with {self.result!r}{where}."
        if self.cause == DROPPED:
            return f"{self.op} lost a NaN: {self.target} is NaN, its result {self.result!r} is not."
        if self.phase == FORWARD:
            verb = "passed on" if self.cause == PASSED_ON else "produced"
            return f"{self.op}{name} {verb} {self.result!r}{where} in the forward pass."
        if self.cause == BY_HOOK:
            return f"a hook on {self.target} returned {self.result!r}."
        if self.cause == BY_SEED:
            return f"backward was started with the seed {self.result!r}."
        if self.cause == BY_CLOSURE:
            return f"the _backward of {self.op} made the gradient of {self.target} {self.result!r}."
        if self.amount is not None:
            return (
                f"{self.op} made the gradient of {self.target} non-finite{where} in the backward "
                f"pass: {self.before!r} + contribution {self.amount!r} = {self.result!r}."
            )
        return (
            f"{self.op} made the gradient of {self.target} non-finite in the backward pass: "
            f"{self.before!r} + partial {self.partial!r} × upstream {self.upstream!r} = "
            f"{self.result!r}."
        )

    def in_an_array(self) -> str:
        """What was born in an array, in a few words."""
        many = f"{self.how_many:,} " + ("NaN" if self.result != self.result else "infinite numbers")
        where = f", the first at {list(self.index)}" if self.index else ""
        inside = f" in {self.group}" if self.group else ""
        if self.phase == BACKWARD:
            return (
                f"{self.op}{inside} made the gradient of {self.target} hold {many}{where}: its "
                "slope there is not finite"
            )
        if self.op == "leaf":
            return f"the parameter '{self.label}' holds {many}{where}"
        return f"{self.op}{inside} made {many}{where}"

    def _details(self) -> list[str]:
        lines = [f"  operand {operand.words}" for operand in self.operands]
        if self.because:
            lines.append(f"  why: {self.because}.")
        if self.more_operands:
            plural = "" if self.more_operands == 1 else "s"
            lines.append(f"  and {self.more_operands} more operand{plural}")
        if self.cause == DROPPED:
            lines.append(f"  why: {_why_lost(self.op)}.")
        if self.made is not None:
            made = f"{self.op} produced {self.made!r} in the forward pass"
            lines.append(f"  why: {made}, and its slope there is infinite.")
        elif self.phase == BACKWARD and self.cause in WHY:
            lines.append(f"  why: {WHY[self.cause]}.")
        if self.cure:
            lines.append(f"  cure: {self.cure}.")
        if self.site:
            lines.append(f"  at {self.site}")
            if self.source:
                lines.append(f"      {self.source}")
        if self.count > 1:
            lines.append(f"  and {self.count - 1:,} more of the same kind on this line")
        if self.route:
            lines.append(f"  route to the root: {route_text(self.route, self.steps)}")
        return lines


def spelled(data: Any) -> Any:
    """Plain data with the numbers JSON has no word for as strings.

    >>> spelled({"a": [1.0, float("inf")]})
    {'a': [1.0, 'inf']}
    """
    if isinstance(data, float):
        return data if isfinite(data) else repr(data)
    if isinstance(data, dict):
        return {key: spelled(item) for key, item in data.items()}
    if isinstance(data, (list, tuple)):
        return [spelled(item) for item in data]
    return data


PASSED_ON = "passed on"
GIVEN = "given"
DROPPED = "dropped"
MADE = "made here"
INFINITE_PARTIAL = "infinite partial"
ZERO_TIMES_INFINITY = "0 × inf"
NAN_PARTIAL = "the partial is NaN"
OVERFLOW = "overflow"
ACCUMULATION = "the sum of contributions overflows"
INF_MINUS_INF = "inf − inf"
BY_CLOSURE, BY_HOOK, BY_SEED = "closure", "hook", "seed"

WHY = {
    INFINITE_PARTIAL: "the forward value is finite, but its slope here is infinite",
    ZERO_TIMES_INFINITY: "a zero met an infinity, and 0 × inf is NaN. Nothing of this value counts "
    "in the result (an arm not taken, a factor of 0), but its slope is infinite",
    NAN_PARTIAL: "the op has no slope here",
    OVERFLOW: "partial and upstream are finite, their product is not",
    ACCUMULATION: "each contribution is finite, their sum is not",
    INF_MINUS_INF: "contributions of opposite infinities met, and inf − inf is NaN",
}

_LOST_OTHERWISE = "the op has a result for it"


def _why_lost(op: str) -> str:
    return (OPS[op].hides_nan if op in OPS else "") or _LOST_OTHERWISE


def route_text(route: Sequence[Step], steps: int) -> str:
    """A route in one line, its middle left out where it is long."""
    shown = [str(step) for step in route]
    if steps > len(shown):
        half = len(shown) // 2
        shown[half:half] = [f"… {steps - len(shown)} more …"]
    return " → ".join(shown)


def cause_of(partial: float, upstream: float, before: float) -> str:
    """Why ``before + partial * upstream`` is not finite."""
    contribution = partial * upstream
    if isfinite(contribution):
        return ACCUMULATION
    if isnan(partial):
        return NAN_PARTIAL
    if isnan(contribution):
        return ZERO_TIMES_INFINITY
    if isinf(before) and isnan(before + contribution):
        return INF_MINUS_INF
    return INFINITE_PARTIAL if isinf(partial) else OVERFLOW


def is_birth(data: float, operands: Sequence[float], leaf: bool) -> bool:
    """Whether a forward value is one: a NaN no operand was, an infinity no operand was."""
    if isfinite(data):
        return False
    if leaf:
        return isnan(data)
    if isnan(data):
        return not any(map(isnan, operands))
    return not any(map(isinf, operands))


def forward(value: Any, roots: Sequence[Any] = ()) -> Birth:
    """The birth at a value that is not finite."""
    operands, more = _operands(value)
    passed_on = any(isnan(operand.data) for operand in operands)
    cure = OPS[value.op].cure if value.op in OPS else ""
    cause = GIVEN if value.op == "leaf" else MADE
    if passed_on:
        cause = PASSED_ON
        cure = "an operand was NaN before anomaly() saw it: look at where that one was made"
    return placed(
        Birth(
            FORWARD, cause, value.op, value.label or None, _number(value), operands, more, cure=cure
        ),
        value,
        roots,
    )


def backward(
    value: Any,
    index: int,
    partial: float,
    upstream: float,
    before: float,
    roots: Sequence[Any] = (),
) -> Birth:
    """The birth where ``value`` hands its input ``index`` a contribution."""
    operands, more = _operands(value)
    cure = OPS[value.op].cure if value.op in OPS and not isfinite(partial) else ""
    cause = cause_of(partial, upstream, before)
    if cause == ZERO_TIMES_INFINITY and cure:
        cure += (
            f"; under a where, choose the operand before the op, as in "
            f"rg.{value.op}(rg.where(condition, x, 1.0))"
        )
    made = _number(value)
    birth = Birth(
        BACKWARD, cause, value.op, value.label or None,
        before + partial * upstream, operands, more, describe(value.inputs[index]),
        partial, upstream, before,
        made=None if isfinite(made) or cause != INFINITE_PARTIAL else made, cure=cure,
    )  # fmt: skip
    return placed(birth, value, roots)


def elsewhere(
    cause: str, value: Any, result: float, target: Any = None, roots: Sequence[Any] = ()
) -> Birth:
    """A birth in a closure, a hook or the seed of a backward pass."""
    target = value if target is None else target
    birth = Birth(BACKWARD, cause, value.op, value.label or None, result, target=describe(target))
    return placed(birth, value, roots)


def _number(value: Any) -> float:
    """The number of a value: formatting works always, also while a function is recorded."""
    return float(format(value, ".17g"))


def _operands(value: Any) -> tuple[tuple[Operand, ...], int]:
    inputs = value.inputs
    shown = tuple(Operand(describe(v), _number(v)) for v in inputs[:MOST_OPERANDS])
    return shown, max(len(inputs) - MOST_OPERANDS, 0)


def placed(birth: Birth, value: Any, roots: Sequence[Any]) -> Birth:
    """A birth with where it happened, and the route from there to the root."""
    site = value.site
    source = linecache.getline(site.file, site.line).strip() if site else ""
    route, steps = route_to(roots, value)
    return replace(birth, site=site, source=source, route=route, steps=steps)


def step_of(value: Any) -> Step:
    """A value as a step of a route."""
    return Step(value.op, value.label or None, value.site)


def route_to(roots: Sequence[Any], value: Any) -> tuple[tuple[Step, ...], int]:
    """A shortest route from a value to a root: its steps after the value, long ones cut."""
    above: dict[int, Any] = {}
    level = list(roots)
    alive: list[Any] = []  # ids stay unique while their values live
    found = any(root is value for root in roots)
    while level and not found and len(alive) < FARTHEST:
        below = []
        for use in level:
            alive.append(use)
            for v in use.inputs:
                if v.op == "leaf" and v is not value:
                    continue
                if id(v) not in above:
                    above[id(v)] = use
                    below.append(v)
                    found = found or v is value
        level = below
    if not found:
        return (), 0
    nodes = []
    use = above.get(id(value))
    tops = {id(root) for root in roots}
    while use is not None:
        nodes.append(use)
        use = None if id(use) in tops else above.get(id(use))
    steps = len(nodes)
    if steps > MOST_STEPS:
        nodes = nodes[: MOST_STEPS // 2] + nodes[-MOST_STEPS // 2 :]
    return tuple(step_of(node) for node in nodes), steps
