"""IEEE 754 arithmetic for Python floats: where ``math`` raises, these return what C returns."""

from __future__ import annotations

import math
from collections.abc import Callable

inf, nan = math.inf, math.nan


def div(x: float, y: float) -> float:
    """x / y, with infinities and NaN for a zero divisor."""
    try:
        return x / y
    except ZeroDivisionError:
        if x == 0.0 or x != x:
            return nan
        return math.copysign(inf, x) * math.copysign(1.0, y)


def pow(x: float, y: float) -> float:
    """x raised to y, as C's pow."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -inf if x < 0.0 and y % 2.0 == 1.0 else inf
    except ValueError:
        if x != 0.0:
            return nan
        return math.copysign(inf, x) if y % 2.0 == 1.0 else inf


def fmod(x: float, y: float) -> float:
    """The remainder of x / y with the sign of x, as C's fmod: exact."""
    try:
        return math.fmod(x, y)
    except ValueError:
        return nan


def floor(x: float) -> float:
    """The largest whole float not above x; zeros keep their sign, NaN and infinities stay."""
    return math.copysign(float(math.floor(x)), x) if math.isfinite(x) else x


def _total(
    function: Callable[[float], float], domain: Callable[[float], float] = lambda x: nan
) -> Callable[[float], float]:
    """Make a function of ``math`` total: overflow gives infinity, a bad domain what C gives."""

    def total(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.copysign(inf, x) if function is math.sinh else inf
        except ValueError:
            return domain(x)

    total.__name__ = function.__name__
    total.__doc__ = f"{function.__name__} over the whole range, as in C."
    return total


abs = math.fabs
tanh, asinh, atan, atan2, hypot = math.tanh, math.asinh, math.atan, math.atan2, math.hypot
erf, erfc = math.erf, math.erfc
exp, expm1, sinh, cosh = map(_total, (math.exp, math.expm1, math.sinh, math.cosh))
sin, cos, tan, asin, acos, acosh, sqrt = map(
    _total, (math.sin, math.cos, math.tan, math.asin, math.acos, math.acosh, math.sqrt)
)
log = _total(math.log, lambda x: -inf if x == 0.0 else nan)
log2 = _total(math.log2, lambda x: -inf if x == 0.0 else nan)
log10 = _total(math.log10, lambda x: -inf if x == 0.0 else nan)
log1p = _total(math.log1p, lambda x: -inf if x == -1.0 else nan)
atanh = _total(math.atanh, lambda x: math.copysign(inf, x) if math.fabs(x) == 1.0 else nan)
