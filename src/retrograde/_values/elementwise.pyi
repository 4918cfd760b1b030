# Generated from src/retrograde/ops/scalar.py by tools/regenerate.py: do not edit.

from typing import Any, overload

from numpy.typing import NDArray

from .._native import Value, _Number

__all__ = [  # noqa: RUF022  sorted as Python sorts
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "betaln",
    "cbrt",
    "ceil",
    "celu",
    "clip",
    "cos",
    "cosh",
    "digamma",
    "div",
    "elu",
    "equal",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "fmod",
    "gauss",
    "gelu",
    "hardswish",
    "hardtanh",
    "hypot",
    "leaky_relu",
    "less",
    "less_equal",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_ndtr",
    "logaddexp",
    "logit",
    "logsigmoid",
    "maximum",
    "minimum",
    "mish",
    "mul",
    "ndtri",
    "neg",
    "norm_cdf",
    "norm_pdf",
    "pow",
    "reciprocal",
    "relu",
    "relu6",
    "remainder",
    "round",
    "rsqrt",
    "sech2",
    "selu",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinc",
    "sinh",
    "softplus",
    "softsign",
    "sqrt",
    "square",
    "sub",
    "tan",
    "tanh",
    "trigamma",
    "trunc",
    "where",
    "xlogy",
]

@overload
def abs(x: Value, /) -> Value:
    """``z = abs(x)``.

    Slope: ``dz/dx = sign(x)``. Backward, it multiplies the upstream gradient by the sign of
    its input.
    """

@overload
def abs(x: _Number, /) -> float: ...
@overload
def abs(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def acos(x: Value, /) -> Value:
    """``z = acos(x)``.

    Slope: ``dz/dx = -(1 / sqrt((1 - x) * (1 + x)))``. Backward, it multiplies the upstream
    gradient by the slope of the arc.
    """

@overload
def acos(x: _Number, /) -> float: ...
@overload
def acos(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def acosh(x: Value, /) -> Value:
    """``z = acosh(x)``.

    Slope: ``dz/dx = 1 / (sqrt(x - 1) * sqrt(x + 1))``. Backward, it multiplies the upstream
    gradient by the slope of the arc.
    """

@overload
def acosh(x: _Number, /) -> float: ...
@overload
def acosh(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def add(x: Value, y: Value | _Number) -> Value:
    """``z = x + y``.

    Slopes: ``dz/dx = 1``, ``dz/dy = 1``. Backward, it copies the upstream gradient to every
    input, unchanged and undivided.
    """

@overload
def add(x: _Number, y: Value) -> Value: ...
@overload
def add(x: _Number, y: _Number) -> float: ...
@overload
def add(x: NDArray[Any], y: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def add(x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
@overload
def asin(x: Value, /) -> Value:
    """``z = asin(x)``.

    Slope: ``dz/dx = 1 / sqrt((1 - x) * (1 + x))``. Backward, it multiplies the upstream
    gradient by the slope of the arc.
    """

@overload
def asin(x: _Number, /) -> float: ...
@overload
def asin(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def asinh(x: Value, /) -> Value:
    """``z = asinh(x)``.

    Slope: ``dz/dx = 1 / hypot(x, 1)``. Backward, it multiplies the upstream gradient by the
    slope of the arc.
    """

@overload
def asinh(x: _Number, /) -> float: ...
@overload
def asinh(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def atan(x: Value, /) -> Value:
    """``z = atan(x)``.

    Slope: ``dz/dx = 1 / (1 + x * x)``. Backward, it multiplies the upstream gradient by the
    slope of the arc.
    """

@overload
def atan(x: _Number, /) -> float: ...
@overload
def atan(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def atan2(y: Value, x: Value | _Number) -> Value:
    """``z = atan2(y, x)``.

    Slopes: ``dz/dy = x / hypot(x, y) / hypot(x, y)``, ``dz/dx = -(y / hypot(x, y) / hypot(x,
    y))``. Backward, it shares the upstream gradient out by how each input turns the angle.
    """

@overload
def atan2(y: _Number, x: Value) -> Value: ...
@overload
def atan2(y: _Number, x: _Number) -> float: ...
@overload
def atan2(y: NDArray[Any], x: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def atan2(y: Value | _Number, x: NDArray[Any]) -> NDArray[Any]: ...
@overload
def atanh(x: Value, /) -> Value:
    """``z = atanh(x)``.

    Slope: ``dz/dx = 1 / ((1 - x) * (1 + x))``. Backward, it multiplies the upstream gradient
    by the slope of the arc.
    """

@overload
def atanh(x: _Number, /) -> float: ...
@overload
def atanh(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def betaln(x: Value, y: Value | _Number) -> Value:
    """``z = log_beta(x, y)``.

    Slopes: ``dz/dx = psi_drop(x, y)``, ``dz/dy = psi_drop(y, x)``. Backward, it multiplies
    the upstream gradient by the next function of its family.
    """

@overload
def betaln(x: _Number, y: Value) -> Value: ...
@overload
def betaln(x: _Number, y: _Number) -> float: ...
@overload
def betaln(x: NDArray[Any], y: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def betaln(x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
@overload
def cbrt(x: Value, /) -> Value:
    """``z = cube_root(x)``.

    Slope: ``dz/dx = 1 / (3 * (z * z))``. Backward, it multiplies the upstream gradient by
    the slope of the power.
    """

@overload
def cbrt(x: _Number, /) -> float: ...
@overload
def cbrt(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def ceil(x: Value, /) -> Value:
    """``z = -floor(-x)``.

    Slope: ``dz/dx = 0``. Backward, it is flat: it stops the upstream gradient, for its slope
    is zero wherever it has one.
    """

@overload
def ceil(x: _Number, /) -> float: ...
@overload
def ceil(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def celu(x: Value, alpha: Value | _Number = 1.0) -> Value:
    """``z = x if x > 0 or abs(x / alpha) < 1e-290 else alpha * expm1(x / alpha)``.

    Slopes: ``dz/dx = 1 if x > 0 else exp(x / alpha)``, ``dz/dalpha = 0 if x > 0 else
    growth_gap(x / alpha)``. Backward, it is a soft gate: it passes the upstream gradient on
    one side, stops it on the other, and changes smoothly between.
    """

@overload
def celu(x: _Number, alpha: Value) -> Value: ...
@overload
def celu(x: _Number, alpha: _Number = 1.0) -> float: ...
@overload
def celu(x: NDArray[Any], alpha: Value | _Number | NDArray[Any] = 1.0) -> NDArray[Any]: ...
@overload
def celu(x: Value | _Number, alpha: NDArray[Any]) -> NDArray[Any]: ...
@overload
def clip(x: Value, low: Value | _Number, high: Value | _Number) -> Value:
    """``z = high if (low if x < low or isnan(low) else x) > high or isnan(high) else low if x <
    low or isnan(low) else x``.

    Slopes: ``dz/dx = 0 if ((x < low or x > high) or isnan(low)) or isnan(high) else 1``,
    ``dz/dlow = 0 if (low if x < low or isnan(low) else x) > high or isnan(high) else 1 if x
    < low or isnan(low) else 0``, ``dz/dhigh = 1 if (low if x < low or isnan(low) else x) >
    high or isnan(high) else 0``. Backward, it chooses: the input that was taken receives the
    whole upstream gradient, the others zero.
    """

@overload
def clip(x: _Number, low: Value, high: Value | _Number) -> Value: ...
@overload
def clip(x: _Number, low: _Number, high: Value) -> Value: ...
@overload
def clip(x: _Number, low: _Number, high: _Number) -> float: ...
@overload
def clip(
    x: NDArray[Any], low: Value | _Number | NDArray[Any], high: Value | _Number | NDArray[Any]
) -> NDArray[Any]: ...
@overload
def clip(
    x: Value | _Number, low: NDArray[Any], high: Value | _Number | NDArray[Any]
) -> NDArray[Any]: ...
@overload
def clip(x: Value | _Number, low: Value | _Number, high: NDArray[Any]) -> NDArray[Any]: ...
@overload
def cos(x: Value, /) -> Value:
    """``z = cos(x)``.

    Slope: ``dz/dx = -sin(x)``. Backward, it turns: the slope is the function a quarter
    period on.
    """

@overload
def cos(x: _Number, /) -> float: ...
@overload
def cos(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def cosh(x: Value, /) -> Value:
    """``z = cosh(x)``.

    Slope: ``dz/dx = sinh(x)``. Backward, it multiplies the upstream gradient by its partner:
    sinh and cosh are each other's slope.
    """

@overload
def cosh(x: _Number, /) -> float: ...
@overload
def cosh(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def digamma(x: Value, /) -> Value:
    """``z = psi(x)``.

    Slope: ``dz/dx = trigamma(x)``. Backward, it multiplies the upstream gradient by the next
    function of its family.
    """

@overload
def digamma(x: _Number, /) -> float: ...
@overload
def digamma(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def div(x: Value, y: Value | _Number) -> Value:
    """``z = x / y``.

    Slopes: ``dz/dx = 1 / y``, ``dz/dy = -(z / y)``. Backward, it divides: the numerator
    receives the upstream gradient over the denominator, the denominator minus that, times
    the quotient.
    """

@overload
def div(x: _Number, y: Value) -> Value: ...
@overload
def div(x: _Number, y: _Number) -> float: ...
@overload
def div(x: NDArray[Any], y: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def div(x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
@overload
def elu(x: Value, alpha: Value | _Number = 1.0) -> Value:
    """``z = x if x > 0 else alpha * expm1(x)``.

    Slopes: ``dz/dx = 1 if x > 0 else alpha * exp(x)``, ``dz/dalpha = 0 if x > 0 else
    expm1(x)``. Backward, it is a soft gate: it passes the upstream gradient on one side,
    stops it on the other, and changes smoothly between.
    """

@overload
def elu(x: _Number, alpha: Value) -> Value: ...
@overload
def elu(x: _Number, alpha: _Number = 1.0) -> float: ...
@overload
def elu(x: NDArray[Any], alpha: Value | _Number | NDArray[Any] = 1.0) -> NDArray[Any]: ...
@overload
def elu(x: Value | _Number, alpha: NDArray[Any]) -> NDArray[Any]: ...
@overload
def equal(x: Value, y: Value | _Number) -> Value:
    """``z = 1 if x == y else 0``.

    Slopes: ``dz/dx = 0``, ``dz/dy = 0``. Backward, it is flat: it stops the upstream
    gradient, for its slope is zero wherever it has one.
    """

@overload
def equal(x: _Number, y: Value) -> Value: ...
@overload
def equal(x: _Number, y: _Number) -> float: ...
@overload
def equal(x: NDArray[Any], y: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def equal(x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
@overload
def erf(x: Value, /) -> Value:
    """``z = erf(x)``.

    Slope: ``dz/dx = 1.1283791670955126 * exp(-(x * x))``. Backward, it multiplies the
    upstream gradient by a bell curve: only inputs near zero feel it.
    """

@overload
def erf(x: _Number, /) -> float: ...
@overload
def erf(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def erfc(x: Value, /) -> Value:
    """``z = erfc(x)``.

    Slope: ``dz/dx = -(1.1283791670955126 * exp(-(x * x)))``. Backward, it multiplies the
    upstream gradient by a bell curve: only inputs near zero feel it.
    """

@overload
def erfc(x: _Number, /) -> float: ...
@overload
def erfc(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def erfcx(x: Value, /) -> Value:
    """``z = scaled_erfc(x)``.

    Slope: ``dz/dx = scaled_erfc_slope(x)``. Backward, it multiplies the upstream gradient by
    a slope that fades from one side to the other.
    """

@overload
def erfcx(x: _Number, /) -> float: ...
@overload
def erfcx(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def erfinv(x: Value, /) -> Value:
    """``z = inverse_erf(x)``.

    Slope: ``dz/dx = 0.8862269254527579 * exp(z * z)``. Backward, it divides the upstream
    gradient by the density at its own result: the rarer that is, the larger the slope.
    """

@overload
def erfinv(x: _Number, /) -> float: ...
@overload
def erfinv(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def exp(x: Value, /) -> Value:
    """``z = exp(x)``.

    Slope: ``dz/dx = z``. Backward, it multiplies the upstream gradient by its own result:
    the exponential is its own slope.
    """

@overload
def exp(x: _Number, /) -> float: ...
@overload
def exp(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def exp2(x: Value, /) -> Value:
    """``z = 2 ** x``.

    Slope: ``dz/dx = 0.6931471805599453 * z``. Backward, it multiplies the upstream gradient
    by the slope of the power.
    """

@overload
def exp2(x: _Number, /) -> float: ...
@overload
def exp2(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def expm1(x: Value, /) -> Value:
    """``z = expm1(x)``.

    Slope: ``dz/dx = exp(x)``. Backward, it multiplies the upstream gradient by the
    exponential of its input, which is its own result plus one.
    """

@overload
def expm1(x: _Number, /) -> float: ...
@overload
def expm1(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def floor(x: Value, /) -> Value:
    """``z = floor(x)``.

    Slope: ``dz/dx = 0``. Backward, it is flat: it stops the upstream gradient, for its slope
    is zero wherever it has one.
    """

@overload
def floor(x: _Number, /) -> float: ...
@overload
def floor(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def fmod(x: Value, y: Value | _Number) -> Value:
    """``z = fmod(x, y)``.

    Slopes: ``dz/dx = 1``, ``dz/dy = -round((x - z) / y)``. Backward, it copies the upstream
    gradient to the first input, and hands it to the second times minus how often that was
    taken off.
    """

@overload
def fmod(x: _Number, y: Value) -> Value: ...
@overload
def fmod(x: _Number, y: _Number) -> float: ...
@overload
def fmod(x: NDArray[Any], y: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def fmod(x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
@overload
def gauss(x: Value, /) -> Value:
    """``z = exp(-(x * x))``.

    Slope: ``dz/dx = -(2 * (x * z))``. Backward, it multiplies the upstream gradient by the
    slope of a hill: flat at its top and far out, steepest in between.
    """

@overload
def gauss(x: _Number, /) -> float: ...
@overload
def gauss(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def gelu(x: Value, /) -> Value:
    """``z = x * norm_cdf(x)``.

    Slope: ``dz/dx = norm_cdf(x) + x * norm_pdf(x)``. Backward, it is a soft gate: it passes
    the upstream gradient on one side, stops it on the other, and changes smoothly between.
    """

@overload
def gelu(x: _Number, /) -> float: ...
@overload
def gelu(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def hardswish(x: Value, /) -> Value:
    """``z = 0 if x <= -3 else x if x >= 3 else x * (x + 3) / 6``.

    Slope: ``dz/dx = 0 if x <= -3 else 1 if x >= 3 else x / 3 + 0.5``. Backward, it is a soft
    gate: it passes the upstream gradient on one side, stops it on the other, and changes
    smoothly between.
    """

@overload
def hardswish(x: _Number, /) -> float: ...
@overload
def hardswish(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def hardtanh(x: Value, low: Value | _Number = -1.0, high: Value | _Number = 1.0) -> Value:
    """``z = high if x >= high or isnan(high) else low if x <= low or isnan(low) else x``.

    Slopes: ``dz/dx = 0 if (x <= low or isnan(low)) or (x >= high or isnan(high)) else 1``,
    ``dz/dlow = 0 if x >= high or isnan(high) else 1 if x <= low or isnan(low) else 0``,
    ``dz/dhigh = 1 if x >= high or isnan(high) else 0``. Backward, it is a window: it passes
    the upstream gradient between its bounds and stops it outside.
    """

@overload
def hardtanh(x: _Number, low: Value, high: Value | _Number = 1.0) -> Value: ...
@overload
def hardtanh(x: _Number, low: _Number, high: Value) -> Value: ...
@overload
def hardtanh(x: _Number, low: _Number = -1.0, high: _Number = 1.0) -> float: ...
@overload
def hardtanh(
    x: NDArray[Any],
    low: Value | _Number | NDArray[Any] = -1.0,
    high: Value | _Number | NDArray[Any] = 1.0,
) -> NDArray[Any]: ...
@overload
def hardtanh(
    x: Value | _Number, low: NDArray[Any], high: Value | _Number | NDArray[Any] = 1.0
) -> NDArray[Any]: ...
@overload
def hardtanh(x: Value | _Number, low: Value | _Number, high: NDArray[Any]) -> NDArray[Any]: ...
@overload
def hypot(x: Value, y: Value | _Number) -> Value:
    """``z = hypot(x, y)``.

    Slopes: ``dz/dx = 0 if z == 0 else x / z``, ``dz/dy = 0 if z == 0 else y / z``. Backward,
    it shares the upstream gradient out by how much of the length each input makes up.
    """

@overload
def hypot(x: _Number, y: Value) -> Value: ...
@overload
def hypot(x: _Number, y: _Number) -> float: ...
@overload
def hypot(x: NDArray[Any], y: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def hypot(x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
@overload
def leaky_relu(x: Value, slope: Value | _Number = 0.01) -> Value:
    """``z = slope * x if x <= 0 else x``.

    Slopes: ``dz/dx = slope if x <= 0 else 1``, ``dz/dslope = x if x <= 0 else 0``. Backward,
    it is a gate: it passes the upstream gradient on the open side and scales it down or
    stops it on the other.
    """

@overload
def leaky_relu(x: _Number, slope: Value) -> Value: ...
@overload
def leaky_relu(x: _Number, slope: _Number = 0.01) -> float: ...
@overload
def leaky_relu(x: NDArray[Any], slope: Value | _Number | NDArray[Any] = 0.01) -> NDArray[Any]: ...
@overload
def leaky_relu(x: Value | _Number, slope: NDArray[Any]) -> NDArray[Any]: ...
@overload
def less(x: Value, y: Value | _Number) -> Value:
    """``z = 1 if x < y else 0``.

    Slopes: ``dz/dx = 0``, ``dz/dy = 0``. Backward, it is flat: it stops the upstream
    gradient, for its slope is zero wherever it has one.
    """

@overload
def less(x: _Number, y: Value) -> Value: ...
@overload
def less(x: _Number, y: _Number) -> float: ...
@overload
def less(x: NDArray[Any], y: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def less(x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
@overload
def less_equal(x: Value, y: Value | _Number) -> Value:
    """``z = 1 if x <= y else 0``.

    Slopes: ``dz/dx = 0``, ``dz/dy = 0``. Backward, it is flat: it stops the upstream
    gradient, for its slope is zero wherever it has one.
    """

@overload
def less_equal(x: _Number, y: Value) -> Value: ...
@overload
def less_equal(x: _Number, y: _Number) -> float: ...
@overload
def less_equal(x: NDArray[Any], y: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def less_equal(x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
@overload
def lgamma(x: Value, /) -> Value:
    """``z = log_gamma(x)``.

    Slope: ``dz/dx = digamma(x)``. Backward, it multiplies the upstream gradient by the next
    function of its family.
    """

@overload
def lgamma(x: _Number, /) -> float: ...
@overload
def lgamma(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def log(x: Value, /) -> Value:
    """``z = log(x)``.

    Slope: ``dz/dx = 1 / x``. Backward, it divides the upstream gradient by what the
    logarithm is taken of, up to a constant: the smaller that is, the larger the slope.
    """

@overload
def log(x: _Number, /) -> float: ...
@overload
def log(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def log10(x: Value, /) -> Value:
    """``z = log10(x)``.

    Slope: ``dz/dx = 1 / (x * 2.302585092994046)``. Backward, it divides the upstream
    gradient by what the logarithm is taken of, up to a constant: the smaller that is, the
    larger the slope.
    """

@overload
def log10(x: _Number, /) -> float: ...
@overload
def log10(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def log1p(x: Value, /) -> Value:
    """``z = log1p(x)``.

    Slope: ``dz/dx = 1 / (1 + x)``. Backward, it divides the upstream gradient by what the
    logarithm is taken of, up to a constant: the smaller that is, the larger the slope.
    """

@overload
def log1p(x: _Number, /) -> float: ...
@overload
def log1p(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def log2(x: Value, /) -> Value:
    """``z = log2(x)``.

    Slope: ``dz/dx = 1 / (x * 0.6931471805599453)``. Backward, it divides the upstream
    gradient by what the logarithm is taken of, up to a constant: the smaller that is, the
    larger the slope.
    """

@overload
def log2(x: _Number, /) -> float: ...
@overload
def log2(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def log_ndtr(x: Value, /) -> Value:
    """``z = log(0.5 * erfcx(-(x * 0.7071067811865476))) - 0.5 * (x * x) if x < 0 else
    log1p(-(0.5 * erfc(x * 0.7071067811865476)))``.

    Slope: ``dz/dx = norm_pdf(x) / norm_cdf(x)``. Backward, it multiplies the upstream
    gradient by a slope that fades from one side to the other.
    """

@overload
def log_ndtr(x: _Number, /) -> float: ...
@overload
def log_ndtr(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def logaddexp(x: Value, y: Value | _Number) -> Value:
    """``z = x + 0.6931471805599453 if x == y else (x if x > y else y) + log1p(exp(-abs(x -
    y)))``.

    Slopes: ``dz/dx = sigmoid(x - y)``, ``dz/dy = sigmoid(y - x)``. Backward, it shares the
    upstream gradient out: each input receives its part, and the parts add up to one.
    """

@overload
def logaddexp(x: _Number, y: Value) -> Value: ...
@overload
def logaddexp(x: _Number, y: _Number) -> float: ...
@overload
def logaddexp(x: NDArray[Any], y: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def logaddexp(x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
@overload
def logit(x: Value, /) -> Value:
    """``z = log(x / (1 - x))``.

    Slope: ``dz/dx = 1 / x / (1 - x)``. Backward, it divides the upstream gradient by the
    density at its own result: the rarer that is, the larger the slope.
    """

@overload
def logit(x: _Number, /) -> float: ...
@overload
def logit(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def logsigmoid(x: Value, /) -> Value:
    """``z = (x if x < 0 else 0) - log1p(exp(-abs(x)))``.

    Slope: ``dz/dx = sigmoid(-x)``. Backward, it multiplies the upstream gradient by a slope
    that fades from one side to the other.
    """

@overload
def logsigmoid(x: _Number, /) -> float: ...
@overload
def logsigmoid(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def maximum(x: Value, y: Value | _Number) -> Value:
    """``z = x if x >= y or isnan(x) else y``.

    Slopes: ``dz/dx = 1 if x >= y or isnan(x) else 0``, ``dz/dy = 0 if x >= y or isnan(x)
    else 1``. Backward, it chooses: the input that was taken receives the whole upstream
    gradient, the others zero.
    """

@overload
def maximum(x: _Number, y: Value) -> Value: ...
@overload
def maximum(x: _Number, y: _Number) -> float: ...
@overload
def maximum(x: NDArray[Any], y: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def maximum(x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
@overload
def minimum(x: Value, y: Value | _Number) -> Value:
    """``z = x if x <= y or isnan(x) else y``.

    Slopes: ``dz/dx = 1 if x <= y or isnan(x) else 0``, ``dz/dy = 0 if x <= y or isnan(x)
    else 1``. Backward, it chooses: the input that was taken receives the whole upstream
    gradient, the others zero.
    """

@overload
def minimum(x: _Number, y: Value) -> Value: ...
@overload
def minimum(x: _Number, y: _Number) -> float: ...
@overload
def minimum(x: NDArray[Any], y: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def minimum(x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
@overload
def mish(x: Value, /) -> Value:
    """``z = gated_by_softplus(x)``.

    Slope: ``dz/dx = gated_by_softplus_slope(x)``. Backward, it is a soft gate: it passes the
    upstream gradient on one side, stops it on the other, and changes smoothly between.
    """

@overload
def mish(x: _Number, /) -> float: ...
@overload
def mish(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def mul(x: Value, y: Value | _Number) -> Value:
    """``z = x * y``.

    Slopes: ``dz/dx = y``, ``dz/dy = x``. Backward, it swaps: each input receives the
    upstream gradient times the other input.
    """

@overload
def mul(x: _Number, y: Value) -> Value: ...
@overload
def mul(x: _Number, y: _Number) -> float: ...
@overload
def mul(x: NDArray[Any], y: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def mul(x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
@overload
def ndtri(x: Value, /) -> Value:
    """``z = normal_quantile(x)``.

    Slope: ``dz/dx = 1 / norm_pdf(z)``. Backward, it divides the upstream gradient by the
    density at its own result: the rarer that is, the larger the slope.
    """

@overload
def ndtri(x: _Number, /) -> float: ...
@overload
def ndtri(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def neg(x: Value, /) -> Value:
    """``z = -x``.

    Slope: ``dz/dx = -1``. Backward, it flips the sign of the upstream gradient.
    """

@overload
def neg(x: _Number, /) -> float: ...
@overload
def neg(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def norm_cdf(x: Value, /) -> Value:
    """``z = 0.5 * erfc(-(x * 0.7071067811865476))``.

    Slope: ``dz/dx = norm_pdf(x)``. Backward, it multiplies the upstream gradient by a bell
    curve: only inputs near zero feel it.
    """

@overload
def norm_cdf(x: _Number, /) -> float: ...
@overload
def norm_cdf(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def norm_pdf(x: Value, /) -> Value:
    """``z = 0.3989422804014327 * exp(-(0.5 * (x * x)))``.

    Slope: ``dz/dx = -(x * z)``. Backward, it multiplies the upstream gradient by the slope
    of a hill: flat at its top and far out, steepest in between.
    """

@overload
def norm_pdf(x: _Number, /) -> float: ...
@overload
def norm_pdf(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def pow(x: Value, y: Value | _Number) -> Value:
    """``z = x ** y``.

    Slopes: ``dz/dx = 0 if x == 0 and y == 0 else y * x ** (y - 1)``, ``dz/dy = 0 if x == 0
    and y > 0 else z * log(x)``. Backward, it multiplies the upstream gradient by the slope
    of the power.
    """

@overload
def pow(x: _Number, y: Value) -> Value: ...
@overload
def pow(x: _Number, y: _Number) -> float: ...
@overload
def pow(x: NDArray[Any], y: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def pow(x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
@overload
def reciprocal(x: Value, /) -> Value:
    """``z = 1 / x``.

    Slope: ``dz/dx = -(z * z)``. Backward, it multiplies the upstream gradient by the slope
    of the power.
    """

@overload
def reciprocal(x: _Number, /) -> float: ...
@overload
def reciprocal(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def relu(x: Value, /) -> Value:
    """``z = 0 if x <= 0 else x``.

    Slope: ``dz/dx = 0 if x <= 0 else 1``. Backward, it is a gate: it passes the upstream
    gradient on the open side and scales it down or stops it on the other.
    """

@overload
def relu(x: _Number, /) -> float: ...
@overload
def relu(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def relu6(x: Value, /) -> Value:
    """``z = 0 if x <= 0 else 6 if x >= 6 else x``.

    Slope: ``dz/dx = 0 if x <= 0 or x >= 6 else 1``. Backward, it is a window: it passes the
    upstream gradient between its bounds and stops it outside.
    """

@overload
def relu6(x: _Number, /) -> float: ...
@overload
def relu6(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def remainder(x: Value, y: Value | _Number) -> Value:
    """``z = fmod(x, y) + y if fmod(x, y) < 0 and y > 0 or (fmod(x, y) > 0 and y < 0) else
    fmod(x, y)``.

    Slopes: ``dz/dx = 1``, ``dz/dy = (1 if fmod(x, y) < 0 and y > 0 or (fmod(x, y) > 0 and y
    < 0) else 0) - round((x - fmod(x, y)) / y)``. Backward, it copies the upstream gradient
    to the first input, and hands it to the second times minus how often that was taken off.
    """

@overload
def remainder(x: _Number, y: Value) -> Value: ...
@overload
def remainder(x: _Number, y: _Number) -> float: ...
@overload
def remainder(x: NDArray[Any], y: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def remainder(x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
@overload
def round(x: Value, /) -> Value:
    """``z = (-(floor(abs(x)) if abs(x) - floor(abs(x)) < 0.5 else floor(abs(x)) + 1 if abs(x) -
    floor(abs(x)) > 0.5 else floor(abs(x)) + (floor(abs(x)) - 2 * floor(0.5 *
    floor(abs(x))))) if x < 0 else floor(abs(x)) if abs(x) - floor(abs(x)) < 0.5 else
    floor(abs(x)) + 1 if abs(x) - floor(abs(x)) > 0.5 else floor(abs(x)) + (floor(abs(x)) - 2
    * floor(0.5 * floor(abs(x))))) if abs(x) < 4503599627370496 and x != 0 else x``.

    Slope: ``dz/dx = 0``. Backward, it is flat: it stops the upstream gradient, for its slope
    is zero wherever it has one.
    """

@overload
def round(x: _Number, /) -> float: ...
@overload
def round(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def rsqrt(x: Value, /) -> Value:
    """``z = 1 / sqrt(x)``.

    Slope: ``dz/dx = -(0.5 * (z / x))``. Backward, it multiplies the upstream gradient by the
    slope of the power.
    """

@overload
def rsqrt(x: _Number, /) -> float: ...
@overload
def rsqrt(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def sech2(x: Value, /) -> Value:
    """``z = 1 / (cosh(x) * cosh(x))``.

    Slope: ``dz/dx = -(2 * tanh(x) * z)``. Backward, it multiplies the upstream gradient by
    the slope of a hill: flat at its top and far out, steepest in between.
    """

@overload
def sech2(x: _Number, /) -> float: ...
@overload
def sech2(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def selu(x: Value, /) -> Value:
    """``z = 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * expm1(x))``.

    Slope: ``dz/dx = 1.0507009873554805 * (1 if x > 0 else 1.6732632423543772 * exp(x))``.
    Backward, it is a soft gate: it passes the upstream gradient on one side, stops it on the
    other, and changes smoothly between.
    """

@overload
def selu(x: _Number, /) -> float: ...
@overload
def selu(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def sigmoid(x: Value, /) -> Value:
    """``z = 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))``.

    Slope: ``dz/dx = z * (1 - z)``. Backward, it saturates: the slope is largest in the
    middle and fades to nothing at both ends.
    """

@overload
def sigmoid(x: _Number, /) -> float: ...
@overload
def sigmoid(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def sign(x: Value, /) -> Value:
    """``z = 1 if x > 0 else -1 if x < 0 else x``.

    Slope: ``dz/dx = 0``. Backward, it is flat: it stops the upstream gradient, for its slope
    is zero wherever it has one.
    """

@overload
def sign(x: _Number, /) -> float: ...
@overload
def sign(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def silu(x: Value, /) -> Value:
    """``z = x * sigmoid(x)``.

    Slope: ``dz/dx = sigmoid(x) + z * sigmoid(-x)``. Backward, it is a soft gate: it passes
    the upstream gradient on one side, stops it on the other, and changes smoothly between.
    """

@overload
def silu(x: _Number, /) -> float: ...
@overload
def silu(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def sin(x: Value, /) -> Value:
    """``z = sin(x)``.

    Slope: ``dz/dx = cos(x)``. Backward, it turns: the slope is the function a quarter period
    on.
    """

@overload
def sin(x: _Number, /) -> float: ...
@overload
def sin(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def sinc(x: Value, /) -> Value:
    """``z = sine_cardinal(x)``.

    Slope: ``dz/dx = sine_cardinal_slope(x)``. Backward, it multiplies the upstream gradient
    by the slope of the wave.
    """

@overload
def sinc(x: _Number, /) -> float: ...
@overload
def sinc(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def sinh(x: Value, /) -> Value:
    """``z = sinh(x)``.

    Slope: ``dz/dx = cosh(x)``. Backward, it multiplies the upstream gradient by its partner:
    sinh and cosh are each other's slope.
    """

@overload
def sinh(x: _Number, /) -> float: ...
@overload
def sinh(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def softplus(x: Value, /) -> Value:
    """``z = (0 if x <= 0 else x) + log1p(exp(-abs(x)))``.

    Slope: ``dz/dx = sigmoid(x)``. Backward, it is a soft gate: it passes the upstream
    gradient on one side, stops it on the other, and changes smoothly between.
    """

@overload
def softplus(x: _Number, /) -> float: ...
@overload
def softplus(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def softsign(x: Value, /) -> Value:
    """``z = x / (1 + abs(x))``.

    Slope: ``dz/dx = 1 / (1 + abs(x)) / (1 + abs(x))``. Backward, it saturates: the slope is
    largest in the middle and fades to nothing at both ends.
    """

@overload
def softsign(x: _Number, /) -> float: ...
@overload
def softsign(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def sqrt(x: Value, /) -> Value:
    """``z = sqrt(x)``.

    Slope: ``dz/dx = 0.5 / z``. Backward, it divides the upstream gradient by twice the root:
    near zero the slope grows without bound.
    """

@overload
def sqrt(x: _Number, /) -> float: ...
@overload
def sqrt(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def square(x: Value, /) -> Value:
    """``z = x * x``.

    Slope: ``dz/dx = 2 * x``. Backward, it multiplies the upstream gradient by the slope of
    the power.
    """

@overload
def square(x: _Number, /) -> float: ...
@overload
def square(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def sub(x: Value, y: Value | _Number) -> Value:
    """``z = x - y``.

    Slopes: ``dz/dx = 1``, ``dz/dy = -1``. Backward, it copies the upstream gradient to the
    first input, and with its sign flipped to the second.
    """

@overload
def sub(x: _Number, y: Value) -> Value: ...
@overload
def sub(x: _Number, y: _Number) -> float: ...
@overload
def sub(x: NDArray[Any], y: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def sub(x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
@overload
def tan(x: Value, /) -> Value:
    """``z = tan(x)``.

    Slope: ``dz/dx = 1 + z * z``. Backward, it multiplies the upstream gradient by one plus
    the square of its own result: it is nowhere flat.
    """

@overload
def tan(x: _Number, /) -> float: ...
@overload
def tan(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def tanh(x: Value, /) -> Value:
    """``z = tanh(x)``.

    Slope: ``dz/dx = 1 - z * z``. Backward, it saturates: the slope is largest in the middle
    and fades to nothing at both ends.
    """

@overload
def tanh(x: _Number, /) -> float: ...
@overload
def tanh(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def trigamma(x: Value, /) -> Value:
    """``z = psi1(x)``.

    Slope: ``dz/dx = not given``. Backward, it multiplies the upstream gradient by the next
    function of its family.
    """

@overload
def trigamma(x: _Number, /) -> float: ...
@overload
def trigamma(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def trunc(x: Value, /) -> Value:
    """``z = -floor(-x) if x < 0 else floor(x)``.

    Slope: ``dz/dx = 0``. Backward, it is flat: it stops the upstream gradient, for its slope
    is zero wherever it has one.
    """

@overload
def trunc(x: _Number, /) -> float: ...
@overload
def trunc(x: NDArray[Any], /) -> NDArray[Any]: ...
@overload
def where(condition: Value, x: Value | _Number, y: Value | _Number) -> Value:
    """``z = x if condition != 0 else y``.

    Slopes: ``dz/dcondition = 0``, ``dz/dx = 1 if condition != 0 else 0``, ``dz/dy = 0 if
    condition != 0 else 1``. Backward, it chooses: the input that was taken receives the
    whole upstream gradient, the others zero.
    """

@overload
def where(condition: _Number, x: Value, y: Value | _Number) -> Value: ...
@overload
def where(condition: _Number, x: _Number, y: Value) -> Value: ...
@overload
def where(condition: _Number, x: _Number, y: _Number) -> float: ...
@overload
def where(
    condition: NDArray[Any], x: Value | _Number | NDArray[Any], y: Value | _Number | NDArray[Any]
) -> NDArray[Any]: ...
@overload
def where(
    condition: Value | _Number, x: NDArray[Any], y: Value | _Number | NDArray[Any]
) -> NDArray[Any]: ...
@overload
def where(condition: Value | _Number, x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
@overload
def xlogy(x: Value, y: Value | _Number) -> Value:
    """``z = 0 if x == 0 and y == y else x * log(y)``.

    Slopes: ``dz/dx = 0 if x == 0 and y <= 0 else log(y)``, ``dz/dy = 0 if x == 0 and y == 0
    else x / y``. Backward, it hands the first input the upstream gradient times the
    logarithm of the second, and the second the upstream gradient times their ratio.
    """

@overload
def xlogy(x: _Number, y: Value) -> Value: ...
@overload
def xlogy(x: _Number, y: _Number) -> float: ...
@overload
def xlogy(x: NDArray[Any], y: Value | _Number | NDArray[Any]) -> NDArray[Any]: ...
@overload
def xlogy(x: Value | _Number, y: NDArray[Any]) -> NDArray[Any]: ...
