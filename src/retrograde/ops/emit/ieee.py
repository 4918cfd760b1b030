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


# ---- tuned rows: computed as a whole, because their expression would lose digits ----------------
#
# native/tuned.h has the same in C, primitives.js in JavaScript.

_SQRT_HALF, _SQRT_HALF_REST = 0.7071067811865476, -4.833646656726457e-17
_TWO_OVER_SQRT_PI, _ONE_OVER_SQRT_2PI = 1.1283791670955126, 0.3989422804014327


def _product_rest(x: float, y: float, product: float) -> float:
    """What rounding took from ``product``, which is x * y; for sizes below 2**480."""
    x_high = x * 134217729.0 - (x * 134217729.0 - x)
    y_high = y * 134217729.0 - (y * 134217729.0 - y)
    x_low, y_low = x - x_high, y - y_high
    return ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


def _exp_minus_square(a: float, scale: float) -> float:
    """exp(-scale * a²); the rounding of a² = 700 alone would be an error of 250 ulps."""
    square = a * a
    e = math.exp(-scale * square)
    return e - e * (scale * _product_rest(a, a, square))


def gauss(x: float) -> float:
    """exp(-x²), with all its digits."""
    a = math.fabs(x)
    return _exp_minus_square(28.0 if a > 28.0 else a, 1.0)


def norm_pdf(x: float) -> float:
    """exp(-x²/2) / sqrt(2π), with all its digits."""
    a = math.fabs(x)
    return _ONE_OVER_SQRT_2PI * _exp_minus_square(40.0 if a > 40.0 else a, 0.5)


def norm_cdf(x: float) -> float:
    """erfc(-x/sqrt(2)) / 2. What rounding takes from x/sqrt(2) is put back by the slope there."""
    if math.fabs(x) > 40.0:
        return 1.0 if x > 0.0 else 0.0
    a = -x * _SQRT_HALF
    rest = _product_rest(-x, _SQRT_HALF, a) - x * _SQRT_HALF_REST
    return 0.5 * (math.erfc(a) - rest * (_TWO_OVER_SQRT_PI * math.exp(-a * a)))


def gelu(x: float) -> float:
    """x * norm_cdf(x), and by its asymptotic series where norm_cdf(x) is denormal."""
    if not -inf < x < -37.0:
        return x * norm_cdf(x)
    r = 1.0 / (x * x)
    series = 1.0 - r * (
        1.0 - 3.0 * r * (1.0 - 5.0 * r * (1.0 - 7.0 * r * (1.0 - 9.0 * r * (1.0 - 11.0 * r))))
    )
    return -(norm_pdf(x) * series)


def sech2(x: float) -> float:
    """1 / cosh(x)², down to the last denormal."""
    e = math.exp(-2.0 * math.fabs(x))
    below = 1.0 + e * (2.0 + e)  # (1 + e)²
    return 1.0 - (1.0 - e) * (1.0 - e) / below if e > 0.25 else 4.0 * e / below


def silu(x: float) -> float:
    """x / (1 + exp(-x)), in two halves where the exponential alone is denormal."""
    if x < -700.0:
        half = math.exp(0.5 * x)
        return x * half * half
    e = math.exp(-math.fabs(x))
    return x / (1.0 + e) if x >= 0.0 else x * (e / (1.0 + e))
