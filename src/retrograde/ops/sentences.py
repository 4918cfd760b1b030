"""The sentence of one backward step: what the op's rule does with the numbers at hand.

``words.py`` says how each kind of rule behaves in general; here the same is said of one step, with
its names and numbers. A kind that needs nothing special gets its general sentence and its slope,
so a new row of the law has words without an edit here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from .corners import Corner, Side, corner
from .expr import Expr, Var
from .op import result
from .scalar import OPS
from .words import WORDS

_x, _z = Var("x"), result()

_TIMES: Final[Mapping[Expr | None, str]] = MappingProxyType(
    {
        2 * _x: "twice its input, 2 × {x} = {slope}",
        -(_z * _z): "minus the square of its result, {slope}",
    }
)
"""By slope: what a power multiplies the upstream gradient by, where words say it better."""

_OVER: Final[Mapping[Expr | None, tuple[str, float]]] = MappingProxyType(
    {1 / _x: ("its input", 0.0), 1 / (1 + _x): ("one plus its input", 1.0)}
)
"""By slope: what a logarithm divides the upstream gradient by, and how far that is from x."""


class Operand(NamedTuple):
    """One input of a step: what it is called, its number, the partial, and whether it takes
    gradients."""

    name: str
    data: float
    partial: float
    takes: bool


def shown(number: float) -> str:
    """A number as a person writes it: six digits, no trailing zeros, no minus before zero.

    >>> shown(-3.0), shown(0.1 + 0.2), shown(-0.0), shown(float("nan")), shown(float("-inf"))
    ('-3', '0.3', '0', 'NaN', '-inf')
    """
    if number == 0.0:
        return "0"
    return f"{number:.6g}" if number == number else "NaN"


def sentence(
    op: str, kind: str, operands: Sequence[Operand], result: float, upstream: float
) -> str:
    """What one step of the backward pass does, in words.

    >>> a, b = Operand("a", 2.0, -3.0, True), Operand("b", -3.0, 2.0, True)
    >>> sentence("mul", "swap", (a, b), -6.0, 1.0)
    'multiplication swaps: a receives the upstream gradient times b (-3), b times a (2)'
    >>> sentence("relu", "gate", (Operand("x", -6.0, 0.0, True),), 0.0, 1.0)
    'relu is a gate, closed here since x = -6 is not above 0: nothing passes'
    >>> sentence("relu", "gate", (Operand("x", 0.0, 0.0, True),), 0.0, 1.0)  # doctest: +ELLIPSIS
    "relu has a kink at x = 0: its slope is 0 just below and 1 just above. ..."
    """
    row = OPS.get(op)
    slope = None
    noun = op
    if row is not None and row.kind == kind:  # a custom op may have any name
        noun, slope = row.noun, row.shown[0]
    takers = [operand for operand in operands if operand.takes]
    if not takers:
        return f"{noun} has no input that takes a gradient"
    if upstream == 0.0 and all(math.isfinite(taker.partial) for taker in takers):
        return f"the upstream gradient is 0, so {noun} has nothing to hand on"
    step = _Step(noun, kind, operands, result, upstream, slope)
    if math.isnan(result) and not any(math.isnan(operand.data) for operand in operands):
        return _without_value(step)
    found = None
    if row is not None and slope is not None:
        found = corner(op, [it.data for it in operands], [it.partial for it in operands])
    said = _at_corner(step, found) if found is not None else ""
    said = said or _SAID.get(kind, _general)(step)
    if upstream == 0.0:
        said += "; 0 × inf is NaN: a zero upstream gradient is not skipped"
    elif math.isnan(upstream):
        said += "; the upstream gradient is NaN, and whatever it multiplies becomes NaN"
    return said


class _Step(NamedTuple):
    noun: str
    kind: str
    operands: Sequence[Operand]
    result: float
    upstream: float
    slope: Expr | None


_Saying = Callable[[_Step], str]


def _takers(operands: Sequence[Operand]) -> list[Operand]:
    return [operand for operand in operands if operand.takes]


def _one_value_twice(operands: Sequence[Operand]) -> bool:
    return len(operands) == 2 and operands[0].name == operands[1].name and operands[0].takes


def _without_value(step: _Step) -> str:
    """A step whose op made a NaN: its slopes are of a function that has no value there."""
    slopes = " and ".join(shown(operand.partial) for operand in _takers(step.operands))
    many = len(_takers(step.operands)) > 1
    return (
        f"{step.noun} has no value here: its result is NaN, so its "
        f"{'slopes' if many else 'slope'}, {slopes}, and all that passes back mean nothing"
    )


def _at_corner(step: _Step, found: Corner) -> str:
    """A step at a kink or a jump, or at the edge of a domain; '' where no taker meets it."""
    met = [
        (operand, pair)
        for operand, pair in zip(step.operands, found.sides)
        if pair is not None and operand.takes
    ]
    if not met:
        return ""
    verb = {"kink": "has a kink", "jump": "jumps", "edge": "is at the edge of its domain"}
    slopes = {(below.slope, above.slope) for _, (below, above) in met}
    places = [f"{operand.name} = {shown(operand.data)}" for operand, _ in met]
    if found.kind == "kink" and len(slopes) == 1:
        below, above = map(shown, slopes.pop())
        along = "its slope" if len(met) == 1 else "the slope along each"
        parts = [f"{' and '.join(places)}: {along} is {below} just below and {above} just above"]
    else:
        parts = [
            f"{at}: {_beside('below', below)}, {_beside('above', above)}"
            for at, (_, (below, above)) in zip(places, met)
        ]
    taken = " and ".join(shown(operand.partial) for operand, _ in met)
    why = f"Backward uses {taken}" + (f": {found.why}" if found.why else ", by convention")
    return f"{step.noun} {verb[found.kind]} at {'; at '.join(parts)}. {why}"


def _beside(where: str, side: Side) -> str:
    if side.jumps:
        return f"just {where} it is {shown(side.value)}"
    if math.isnan(side.slope):
        return f"{where} it has no finite value"
    return f"just {where} its slope is {shown(side.slope)}"


def _general(step: _Step) -> str:
    takers = _takers(step.operands)
    said = f"{step.noun} {WORDS[step.kind]}"
    if len(takers) == 1:
        said += f"; here the slope is {shown(takers[0].partial)}"
    return said


def _copy(step: _Step) -> str:
    takers, given = _takers(step.operands), shown(step.upstream)
    said = f"{step.noun} copies the upstream gradient, {given}, to"
    if _one_value_twice(step.operands):
        return f"{said} both inputs; {step.operands[0].name} is both, so it receives it twice"
    if len(takers) == 1:
        return f"{said} {takers[0].name}"
    return f"{said} both inputs" if len(takers) == 2 else f"{said} each of its {len(takers)} inputs"


def _copy_flip(step: _Step) -> str:
    first, second = step.operands
    kept = f"copies the upstream gradient, {shown(step.upstream)}, to {first.name}"
    flipped = f"with its sign flipped, {shown(-step.upstream)}, to {second.name}"
    if not second.takes:
        return f"{step.noun} {kept}"
    if not first.takes:
        return f"{step.noun} copies the upstream gradient {flipped}"
    return f"{step.noun} {kept} and, {flipped}"


def _swap(step: _Step) -> str:
    first, second = step.operands
    if _one_value_twice(step.operands):
        return (
            f"{step.noun} swaps; {first.name} is both inputs, so it receives the upstream gradient "
            f"times itself ({shown(first.data)}), twice"
        )
    if not (first.takes and second.takes):
        taker, factor = (first, second) if first.takes else (second, first)
        return (
            f"{step.noun} by {factor.name} scales the upstream gradient by {shown(taker.partial)}"
        )
    return (
        f"{step.noun} swaps: {first.name} receives the upstream gradient times {second.name} "
        f"({shown(first.partial)}), {second.name} times {first.name} ({shown(second.partial)})"
    )


def _quotient(step: _Step) -> str:
    above, below = step.operands
    parts = []
    if above.takes:
        parts.append(
            f"{above.name} receives the upstream gradient divided by {below.name}"
            + (f" ({shown(below.data)})" if below.takes else "")
        )
    if below.takes:
        share = "minus that, times the quotient" if above.takes else (
            f"minus the upstream gradient times the quotient, divided by {below.name},"
        )  # fmt: skip
        parts.append(f"{below.name} receives {share} ({shown(step.result)})")
    return f"{step.noun}: {'; '.join(parts)}"


def _flip(step: _Step) -> str:
    return (
        f"{step.noun} flips the sign of the upstream gradient: {shown(step.upstream)} becomes "
        f"{shown(-step.upstream)}"
    )


def _power(step: _Step) -> str:
    base = step.operands[0]
    if step.slope in _TIMES:
        slope = _TIMES[step.slope].format(x=shown(base.data), slope=shown(base.partial))
    elif len(step.operands) == 2:
        exponent = step.operands[1]
        parts = []
        if base.takes:
            formula = "exponent × base ** (exponent - 1)"
            parts.append(f"{formula} = {shown(base.partial)} for {base.name}")
        if exponent.takes:
            parts.append(f"result × log(base) = {shown(exponent.partial)} for {exponent.name}")
        slope = f"its slope: {' and '.join(parts)}"
    else:
        return _general(step)
    return f"{step.noun} multiplies the upstream gradient by {slope}"


def _itself(step: _Step) -> str:
    return (
        f"{step.noun} is its own slope: it multiplies the upstream gradient by its own result, "
        f"{shown(step.result)}"
    )


def _inverse(step: _Step) -> str:
    x = step.operands[0]
    if step.slope not in _OVER:
        return _general(step)
    below, apart = _OVER[step.slope]
    return (
        f"{step.noun} divides the upstream gradient by {below}: the slope is 1 ÷ "
        f"{shown(apart + x.data)} = {shown(x.partial)}"
    )


def _saturate(step: _Step) -> str:
    return (
        f"{step.noun} saturates, steep in the middle and flat at both ends; here its slope is "
        f"{shown(step.operands[0].partial)}"
    )


def _gate(step: _Step) -> str:
    x = step.operands[0]
    if math.isnan(x.data):
        return f"{step.noun} is a gate, and its input is NaN, which it lets through"
    side = f"since {x.name} = {shown(x.data)} is {'above' if x.data > 0 else 'not above'} 0"
    if x.partial == 1.0:
        passed = f"the upstream gradient, {shown(step.upstream)}, passes unchanged"
        return f"{step.noun} is a gate, open here {side}: {passed}"
    if x.partial == 0.0:
        return f"{step.noun} is a gate, closed here {side}: nothing passes"
    passed = f"the upstream gradient passes times {shown(x.partial)}"
    return f"{step.noun} is a gate, on its leaky side here {side}: {passed}"


def _choose(step: _Step) -> str:
    taken = [operand for operand in step.operands if operand.partial == 1.0]
    left = [operand.name for operand in _takers(step.operands) if operand.partial != 1.0]
    if not taken:
        return f"{step.noun} chooses: it took a number, so nothing passes"
    said = f"{step.noun} chooses: it took {taken[0].name} ({shown(taken[0].data)})"
    said += (
        f", which receives the whole upstream gradient, {shown(step.upstream)}"
        if taken[0].takes
        else ", which takes no gradient"
    )
    return f"{said}; {' and '.join(left)} receives none" if left else said


def _flat(step: _Step) -> str:
    return f"{step.noun} is flat: its slope is zero, so nothing passes"


def _sign(step: _Step) -> str:
    return (
        f"{step.noun} multiplies the upstream gradient by the sign of its input, "
        f"{shown(step.operands[0].partial)}"
    )


def _custom(step: _Step) -> str:
    return f"{step.noun} {WORDS[step.kind]}"


_SAID: Final[MappingProxyType[str, _Saying]] = MappingProxyType(
    {
        "copy": _copy,
        "copy-flip": _copy_flip,
        "swap": _swap,
        "quotient": _quotient,
        "flip": _flip,
        "power": _power,
        "itself": _itself,
        "inverse": _inverse,
        "saturate": _saturate,
        "gate": _gate,
        "choose": _choose,
        "flat": _flat,
        "sign": _sign,
        "custom": _custom,
    }
)
