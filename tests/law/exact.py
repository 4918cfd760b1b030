"""The law in as many digits as asked for: a row's value and partials by mpmath, from the row's own
expressions, with the constants it rounds replaced by what they stand for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from mpmath import MPContext

from retrograde.ops import OPS, Op
from retrograde.ops.expr import variables
from retrograde.ops.op import PRIMITIVES, RESULT

from .exact_special import exact_special
from .expressions import NotStated, evaluate

mp = MPContext()
mp.dps = 50

FAR = 10_000


def far_enough(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """An exponential, held still where it is beyond all doubles: mpmath takes long over it.

    Not at a whole number: of those it multiplies e with itself.
    """
    return lambda x: function(max(-FAR * FAR - 0.5, min(FAR * FAR + 0.5, x)))


exp = far_enough(mp.exp)


def erfc(x: Any) -> Any:
    """mpmath's, and far out its asymptote: mpmath's own gives up there."""
    if abs(x) < FAR:
        return mp.erfc(x)
    square = x * x
    tail = exp(-square) / (abs(x) * mp.sqrt(mp.pi)) * (1 - 1 / (2 * square))
    return tail if x > 0 else 2 - tail


def power(x: Any, y: Any) -> Any:
    """mpmath's, but for huge whole exponents, for which it multiplies."""
    if abs(y) < 64 or not x:
        return mp.power(x, y)
    if x < 0 and not mp.isint(y):
        raise ValueError("no real power")
    size = exp(y * mp.log(abs(x)))
    return -size if x < 0 and int(y) % 2 else size


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": mp.fadd, "sub": mp.fsub, "mul": mp.fmul, "div": mp.fdiv, "neg": mp.fneg,
    "pow": power, "abs": mp.fabs, "log2": lambda x: mp.log(x, 2),
    "exp": exp, **{name: far_enough(getattr(mp, name)) for name in ("expm1", "sinh", "cosh")},
    "erfc": erfc, "erf": lambda x: mp.erf(x) if abs(x) < FAR else mp.sign(x) * (1 - erfc(abs(x))),
    **exact_special(mp, exp, far_enough(mp.expm1)),
}  # fmt: skip
"""Primitives that mpmath has under another name, or not at all: one entry each."""

FEWEST, MOST = 192, 3072
"""Bits to begin with, and where to give up: 1 - tanh(370)² needs eleven hundred."""

STEP = 110
"""Bits that two points share whose difference quotient is a slope."""

AGREE = 70
"""How many leading bits have to stay the same."""

TINIEST, HUGEST = -1160, 1100
"""Exponents beyond which every number is 0 or infinite as a double, whatever its digits."""


class Undefined(ArithmeticError):
    """There is no real, finite number here."""


QUICK = frozenset({"add", "sub", "mul", "div", "neg", "abs", "sqrt", "floor"})
"""What takes no longer than to look whether it is known."""


@lru_cache(maxsize=1 << 14)
def remembered(name: str, bits: int, *args: Any) -> Any:
    """A function at a precision: points share their coordinates, and differences their points."""
    return (FUNCTIONS.get(name) or getattr(mp, name))(*args)


def call(name: str, *args: Any) -> Any:
    """A function the law names."""
    if name not in PRIMITIVES:
        return value(OPS[name], args)
    try:
        if name in QUICK:
            result = (FUNCTIONS.get(name) or getattr(mp, name))(*args)
        else:
            result = remembered(name, mp.prec, *args)
    except (ZeroDivisionError, ValueError) as pole:
        raise Undefined(f"{name}{args}") from pole
    if isinstance(result, mp.mpc) or not mp.isfinite(result):
        raise Undefined(f"{name}{args}")
    return result


def value(op: Op, inputs: tuple[Any, ...]) -> Any:
    """A row's value, at the precision that is set."""
    return evaluate(op.value, dict(zip(op.inputs, inputs)), call, mp.mpf)


def partial(op: Op, index: int, inputs: tuple[Any, ...]) -> Any:
    """A row's partial along one input, by the row's own expression: the plain one it shows."""
    expression = op.shown[index]
    known = dict(zip(op.inputs, inputs))
    if RESULT in variables(expression):
        known[RESULT] = value(op, inputs)
    try:
        return evaluate(expression, known, call, mp.mpf)
    except NotStated:
        raise Undefined("no partial is stated") from None


def difference(function: Callable[..., Any], index: int, inputs: tuple[Any, ...], step: Any) -> Any:
    """How much a function changes if an input does."""
    x = inputs[index] + step
    return function(*inputs[:index], x, *inputs[index + 1 :]) - function(*inputs)


def slope(function: Callable[..., Any], index: int, inputs: tuple[Any, ...], about: Any) -> Any:
    """The derivative along one input from values alone; Undefined at a kink.

    The step is far below what a double resolves. ``about`` is how steep the function is said to
    be: it decides how many digits the difference needs.
    """
    step = mp.ldexp(min(abs(number) for number in (*inputs, mp.one) if number), -STEP)
    size = max(mp.mag(number) for number in (function(*inputs), *inputs, mp.one) if number)
    bits = FEWEST + STEP + max(0, int(size - mp.mag(about) - mp.mag(step)))
    if bits > 2 * MOST:
        raise Undefined("too flat to tell")
    with mp.workprec(bits):
        above = difference(function, index, inputs, step) / step
        below = difference(function, index, inputs, -step) / -step
        if abs(above - below) > mp.ldexp(max(abs(above), abs(below)), -AGREE // 2):
            raise Undefined("a kink")
        return (above + below) / 2


def settled(function: Callable[..., Any], inputs: tuple[Any, ...]) -> tuple[Any, int]:
    """A function computed with more and more bits, until its leading ones stay the same; and how
    many bits that took.

    They are enough for 1 not to vanish beside an input. Exactly 0 may be all that was left of a
    difference: it is believed at the last only.
    """
    bits = FEWEST + max([0, *(int(mp.mag(number)) for number in inputs if number)])
    before = mp.zero
    while True:
        with mp.workprec(bits):
            found = function(*inputs)
        if bits >= MOST:
            return found, bits
        if found and before:
            sizes = mp.mag(found), mp.mag(before)
            if max(sizes) < TINIEST or min(sizes) > HUGEST:
                return found, bits
            if mp.mag(found - before) <= sizes[0] - AGREE:
                return found, bits
        bits, before = 2 * bits, found
