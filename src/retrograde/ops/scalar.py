"""The table: one row per op. This is the only file to edit to add an op.

``x`` and ``y`` are the inputs, ``z`` the result. After an edit run
``python tools/regenerate.py``; tests, docs and both cores follow by themselves.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from .expr import Absent, Num, Var, equal, function, unequal, where
from .op import Edge, Op, result
from .special.gamma import log_beta, log_gamma, psi, psi1, psi_drop
from .special.normal import inverse_erf, normal_quantile, scaled_erfc, scaled_erfc_slope
from .special.waves import (
    cube_root,
    gated_by_softplus,
    gated_by_softplus_slope,
    growth_gap,
    sine_cardinal,
    sine_cardinal_slope,
)

inf, nan = math.inf, math.nan

x, y, z = Var("x"), Var("y"), result()
low, high, slope, condition = Var("low"), Var("high"), Var("slope"), Var("condition")
alpha = Var("alpha")

exp, expm1, log, log1p, log2, log10 = map(
    function, ("exp", "expm1", "log", "log1p", "log2", "log10")
)
sqrt, pow_, abs_, floor, hypot = map(function, ("sqrt", "pow", "abs", "floor", "hypot"))
sin, cos, tan, asin, acos, atan, atan2 = map(
    function, ("sin", "cos", "tan", "asin", "acos", "atan", "atan2")
)
sinh, cosh, tanh, asinh, acosh, atanh = map(
    function, ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")
)
erf, erfc = map(function, ("erf", "erfc"))
sigmoid, norm_cdf, sign, sech2, gauss, norm_pdf = map(
    function, ("sigmoid", "norm_cdf", "sign", "sech2", "gauss", "norm_pdf")
)
fmod, round_, erfcx = map(function, ("fmod", "round", "erfcx"))
digamma, trigamma = map(function, ("digamma", "trigamma"))

HALF = Num(0.5, r"\tfrac12")
LN2 = Num(math.log(2.0), r"\ln 2", log(2))
LN10 = Num(math.log(10.0), r"\ln 10", log(10))
LOG2_E = Num(1.0 / math.log(2.0), r"\log_2 e", 1 / log(2))
LOG10_E = Num(1.0 / math.log(10.0), r"\log_{10} e", 1 / log(10))
PI = Num(math.pi, r"\pi", 4 * atan(1))
SQRT_HALF = Num(math.sqrt(0.5), r"\sqrt{\tfrac12}", sqrt(HALF))
TWO_OVER_SQRT_PI = Num(2.0 / math.sqrt(math.pi), r"\tfrac{2}{\sqrt\pi}", 2 / sqrt(PI))
ONE_OVER_SQRT_2PI = Num(1.0 / math.sqrt(2.0 * math.pi), r"\tfrac{1}{\sqrt{2\pi}}", 1 / sqrt(2 * PI))

SQRT_HALF_PI = Num(math.sqrt(0.5 * math.pi), r"\sqrt{\tfrac\pi2}", sqrt(HALF * PI))
SQRT_2_OVER_PI = Num(math.sqrt(2.0 / math.pi), r"\sqrt{\tfrac2\pi}", sqrt(2 / PI))
HALF_SQRT_PI = Num(0.5 * math.sqrt(math.pi), r"\tfrac{\sqrt\pi}{2}", HALF * sqrt(PI))
SELU_ALPHA = Num(1.6732632423543772848170429916717, r"\alpha")
SELU_SCALE = Num(1.0507009873554804934193349852946, r"\lambda")

COMPARED = "a comparison with NaN is false, whatever it decides"

POSITIVE = ((0.1, 4.0),)
UNIT = ((-0.9, 0.9),)

x_is_nan, y_is_nan = unequal(x, x), unequal(y, y)
smallest, largest = Num(sys.float_info.min), Num(sys.float_info.max)

# Powers. d/dx of x**y is y * x**(y - 1). By the result, which is at hand, that is y * z / x, in the
# order in which nothing overflows or underflows on the way; where z itself does, by another power,
# if z is too small of half the exponent. The divisor is never 0, not even where it is not used.
z_is_normal, z_is_small = (abs_(z) >= smallest) & (abs_(z) <= largest), abs_(z) < smallest
base = where(equal(x, 0), 1, x)
by_result = where((abs_(z) < 1) | (abs_(y) < 1), y * z / base, y * (z / base))
lower = pow_(where(z_is_small, abs_(x), x), where(z_is_small, HALF * (y - 1), y - 1))
y_is_even = equal(2 * floor(HALF * y), y)
by_power = where(z_is_small, where((x < 0) & y_is_even, -y, y) * lower * lower, y * lower)
slope_of_base = where(z_is_normal, by_result, by_power)
# d/dy in two halves where x**y is too small or too large, and its product with log(x) need not be.
half_power = pow_(x, HALF * y)
slope_of_exponent = where(z_is_normal, z * log(x), half_power * log(x) * half_power)

# 1 / (1 + x²) times s / s with s = 2**-60, which is exact: x² overflows only where the slope is 0.
shrunk = x * 2.0**-30
# Lengths that neither overflow nor underflow.
fitting = where(z > 1, HALF, 2.0**600)
fitting_length = hypot(fitting * x, fitting * y)
z_fits = (z >= 2.0**-900) & (z <= largest)
not_too_long = where((abs_(x) > 1) | (abs_(y) > 1), HALF, 1)
length = hypot(not_too_long * x, not_too_long * y)
half_bell = gauss(HALF * x)

raised = where((x < low) | unequal(low, low), low, x)
lowered = (raised > high) | unequal(high, high)
whole, apart = floor(abs_(x)), abs_(x) - floor(abs_(x))
to_even = whole + (whole - 2 * floor(HALF * whole))
rounded = where(apart < HALF, whole, where(apart > HALF, whole + 1, to_even))
rounds = (abs_(x) < 2.0**52) & unequal(x, 0)
folded = fmod(x, y)
crossed = ((folded < 0) & (y > 0)) | ((folded > 0) & (y < 0))
under = (x <= low) | unequal(low, low)
over = (x >= high) | unequal(high, high)
left, right = where(x < 0, x, 0), where(x < 0, 0, x)
tail = where(x < HALF, x, 1 - x)
edge = where(x < 0, 1 + x, 1 - x)

_ROWS: Final = (
    # arithmetic
    Op(
        "add", x + y, (Num(1), Num(1)), kind="copy", symbol="+", noun="addition",
        inputs=("x", "y"),
    ),
    Op(
        "sub", x - y, (Num(1), Num(-1)), kind="copy-flip", symbol="-", noun="subtraction",
        inputs=("x", "y"),
    ),
    Op(
        "mul", x * y, (y, x), kind="swap", symbol="*", noun="multiplication",
        edges=(Edge((0.0, inf), nan, (inf, 0.0), "0 × inf is NaN: zeros are never skipped"),),
    ),
    Op(
        "div", x / y, (1 / y, -(z / y)), kind="quotient", symbol="/", noun="division",
        domain=((-3.0, 3.0), (0.3, 4.0)),
        edges=(
            Edge((1.0, 0.0), inf, (inf, -inf), "division by zero follows IEEE 754"),
            Edge((0.0, 0.0), nan, (inf, nan), "0/0 has no value"),
        ),
        cure="keep the denominator away from 0, as in x / (y + 1e-12)",
    ),
    Op("neg", -x, (Num(-1),), kind="flip", spelled="-x", noun="negation", inputs=("x",)),
    Op(
        "pow", pow_(x, y),
        (
            where(equal(x, 0) & equal(y, 0), 0, slope_of_base),
            where(equal(x, 0) & (y > 0), 0, slope_of_exponent),
        ),
        kind="power", symbol="**", noun="the power",
        shown=(
            where(equal(x, 0) & equal(y, 0), 0, y * pow_(x, y - 1)),
            where(equal(x, 0) & (y > 0), 0, z * log(x)),
        ),
        domain=((0.2, 3.0), (-2.5, 2.5)),
        edges=(
            Edge((0.0, 2.5), 0.0, (0.0, 0.0), "0**p stays 0 for every p > 0, so d/dp is 0"),
            Edge((0.0, 0.0), 1.0, (0.0, -inf), "x**0 is 1 everywhere, so d/dx is 0"),
            Edge((-2.0, 3.0), -8.0, (12.0, nan), "below 0 only whole powers are real: d/dp is NaN"),
            Edge((0.0, 0.5), 0.0, (inf, 0.0), "a root is infinitely steep at 0"),
        ),
        cure="keep the base positive, or write a whole-number power as x**2, x**3, …",
    ),
    Op("square", x * x, (2 * x,), kind="power", symbol="**2", noun="the square"),
    Op(
        "reciprocal", 1 / x, (-(z * z),), kind="power", symbol="**-1", noun="the reciprocal",
        domain=((0.3, 4.0),),
        edges=(Edge((0.0,), inf, (-inf,), "division by zero follows IEEE 754"),),
        cure="keep the input away from 0, as in 1 / (x + 1e-12)",
    ),
    # exponentials, logarithms, roots
    Op(
        "exp", exp(x), (z,), kind="itself",
        edges=(
            Edge((-inf,), 0.0, (0.0,), "the limit"),
            Edge((1000.0,), inf, (inf,), "past 709.78 the result overflows"),
        ),
        cure="keep the input below 709, for instance by subtracting the largest one first "
        "(rg.softmax and rg.logsumexp do)",
    ),
    Op(
        "expm1", expm1(x), (exp(x),), kind="growth",
        cure="keep the input below 709",
    ),
    Op(
        "log", log(x), (1 / x,), kind="inverse", domain=POSITIVE,
        edges=(
            Edge((0.0,), -inf, (inf,), "the limit; an infinity, not an error"),
            Edge((-1.0,), nan, (-1.0,), "no real logarithm below 0"),
        ),
        cure="keep the input above 0, as in rg.log(x + 1e-12) or rg.log(rg.clip(x, 1e-12, 1.0))",
    ),
    Op(
        "log1p", log1p(x), (1 / (1 + x),), kind="inverse", domain=((-0.8, 4.0),),
        edges=(Edge((-1.0,), -inf, (inf,), "the limit"),),
        cure="keep the input above -1",
    ),
    Op(
        "exp2", pow_(2, x), (LN2 * z,), kind="power",
        edges=(Edge((-inf,), 0.0, (0.0,), "the limit"),
               Edge((2000.0,), inf, (inf,), "past 1024 the result overflows")),
        cure="keep the input below 1024",
    ),
    Op(
        "log2", log2(x), (LOG2_E / x,), kind="inverse", domain=POSITIVE,
        shown=(1 / (x * LN2),),
        edges=(Edge((0.0,), -inf, (inf,), "the limit"),),
        cure="keep the input above 0",
    ),
    Op(
        "log10", log10(x), (LOG10_E / x,), kind="inverse", domain=POSITIVE,
        shown=(1 / (x * LN10),),
        edges=(Edge((0.0,), -inf, (inf,), "the limit"),),
        cure="keep the input above 0",
    ),
    Op(
        "sqrt", sqrt(x), (HALF / z,), kind="root", domain=POSITIVE,
        edges=(
            Edge((0.0,), 0.0, (inf,), "infinitely steep at 0: a zero upstream makes NaN here"),
            Edge((-1.0,), nan, (nan,), "no real root below 0"),
        ),
        cure="keep the input above 0, as in rg.sqrt(x + 1e-12)",
    ),
    Op(
        "rsqrt", 1 / sqrt(x), (-(HALF * (z / x)),), kind="power", domain=POSITIVE,
        edges=(
            Edge((0.0,), inf, (-inf,), "the limit; an infinity, not an error"),
            Edge((-1.0,), nan, (nan,), "no real root below 0"),
        ),
        cure="keep the input above 0, as in rg.rsqrt(x + 1e-12)",
    ),
    Op(
        "cbrt", cube_root(x), (1 / (3 * (z * z)),), kind="power", domain=((0.2, 3.0),),
        edges=(
            Edge((0.0,), 0.0, (inf,), "infinitely steep at 0: a zero upstream makes NaN here"),
            Edge((-8.0,), -2.0, (1.0 / 12.0,), "real below 0 too, unlike x ** (1/3)"),
        ),
        cure="keep the input away from 0",
    ),
    Op(
        "xlogy", where(equal(x, 0) & equal(y, y), 0, x * log(y)),
        (where(equal(x, 0) & (y <= 0), 0, log(y)), where(equal(x, 0) & equal(y, 0), 0, x / y)),
        kind="entropy", domain=((-3.0, 3.0), (0.1, 4.0)),
        edges=(
            Edge((0.0, 0.0), 0.0, (0.0, 0.0), "0 log 0 is 0 and flat (PyTorch: NaN along y)"),
            Edge((0.0, -1.0), 0.0, (0.0, 0.0), "0 times anything, as in PyTorch"),
            Edge((0.0, nan), nan, (nan, nan), "NaN stays NaN"),
            Edge((1.0, 0.0), -inf, (-inf, inf), "the limit"),
        ),
        cure="keep the second input above 0",
    ),
    Op(
        "logit", log(x / (1 - x)), (1 / x / (1 - x),), kind="quantile", domain=((0.05, 0.95),),
        edges=(
            Edge((0.0,), -inf, (inf,), "the limit"),
            Edge((1.0,), inf, (inf,), "the limit"),
            Edge((2.0,), nan, (-0.5,), "there are odds between 0 and 1 only"),
        ),
        cure="keep the input between 0 and 1, as in rg.logit(rg.clip(x, 1e-9, 1 - 1e-9))",
    ),
    # hyperbolic functions and activations
    Op(
        "sech2", 1 / (cosh(x) * cosh(x)), (-(2 * tanh(x) * z),), kind="hill", tuned=True,
        latex=r"\operatorname{sech}^2 #1",
        edges=(Edge((inf,), 0.0, (0.0,), "the limit"),),
    ),
    Op(
        "tanh", tanh(x), (sech2(x),), kind="saturate", shown=(1 - z * z,),
        edges=(Edge((inf,), 1.0, (0.0,), "fully saturated"),),
    ),
    Op(
        "sigmoid", where(x >= 0, 1 / (1 + exp(-x)), exp(x) / (1 + exp(x))),
        (z * sigmoid(-x),),
        kind="saturate", shown=(z * (1 - z),), vectored=True, latex=r"\sigma",
        edges=(
            Edge((-1000.0,), 0.0, (0.0,), "no overflow on either side"),
            Edge((1000.0,), 1.0, (0.0,), "no overflow on either side"),
        ),
    ),
    Op(
        "relu", where(x <= 0, 0, x), (where(x <= 0, 0, 1),), kind="gate", symbol="ReLU",
        edges=(
            Edge((0.0,), 0.0, (0.0,), "relu'(0) = 0, as in PyTorch and JAX"),
            Edge((nan,), nan, (1.0,), "NaN stays NaN"),
        ),
    ),
    Op(
        "leaky_relu", where(x <= 0, slope * x, x),
        (where(x <= 0, slope, 1), where(x <= 0, x, 0)),
        kind="gate", inputs=("x", "slope"), defaults=(0.01,),
        edges=(Edge((0.0, 0.01), 0.0, (0.01, 0.0), "0 counts as the closed side, as in PyTorch"),),
    ),
    Op(
        "softplus", where(x <= 0, 0, x) + log1p(exp(-abs_(x))), (sigmoid(x),),
        kind="soft-gate",
        edges=(
            Edge((1000.0,), 1000.0, (1.0,), "no overflow"),
            Edge((-1000.0,), 0.0, (0.0,), "no overflow"),
        ),
    ),
    Op(
        "silu", x * sigmoid(x), (sigmoid(x) + z * sigmoid(-x),), kind="soft-gate", tuned=True,
        ulps=6.0,
        edges=(Edge((-inf,), nan, (nan,), "-inf × 0 is NaN"),),
    ),
    Op(
        "logsigmoid", where(x < 0, x, 0) - log1p(exp(-abs_(x))), (sigmoid(-x),), kind="fade",
        edges=(
            Edge((1000.0,), 0.0, (0.0,), "no overflow"),
            Edge((-1000.0,), -1000.0, (1.0,), "no overflow"),
        ),
    ),
    Op(
        "logaddexp",
        where(equal(x, y), x + LN2, where(x > y, x, y) + log1p(exp(-abs_(x - y)))),
        (sigmoid(x - y), sigmoid(y - x)), kind="share",
        edges=(
            Edge((-inf, -inf), -inf, (nan, nan), "no share of nothing, as in PyTorch and JAX"),
            Edge((inf, inf), inf, (nan, nan), "inf - inf, as in PyTorch (JAX: 1 and 1)"),
            Edge((-inf, 1.0), 1.0, (0.0, 1.0), "adding nothing"),
            Edge((1000.0, 0.0), 1000.0, (1.0, 0.0), "no overflow"),
        ),
    ),
    Op(
        "elu", where(x > 0, x, alpha * expm1(x)),
        (where(x > 0, 1, alpha * exp(x)), where(x > 0, 0, expm1(x))),
        kind="soft-gate", inputs=("x", "alpha"), defaults=(1.0,),
        edges=(Edge((0.0, 1.0), 0.0, (1.0, 0.0), "0 counts as the lower side, as in PyTorch"),
               Edge((-inf, 1.0), -1.0, (0.0, -1.0), "the limit")),
    ),
    Op(
        "celu", where((x > 0) | (abs_(x / alpha) < 1e-290), x, alpha * expm1(x / alpha)),
        (where(x > 0, 1, exp(x / alpha)), where(x > 0, 0, growth_gap(x / alpha))),
        kind="soft-gate", inputs=("x", "alpha"), defaults=(1.0,),
        domain=((-3.0, 3.0), (0.3, 3.0)),
        edges=(Edge((0.0, 1.0), 0.0, (1.0, 0.0), "0 counts as the lower side, as in PyTorch"),),
    ),
    Op(
        "selu", SELU_SCALE * where(x > 0, x, SELU_ALPHA * expm1(x)),
        (SELU_SCALE * where(x > 0, 1, SELU_ALPHA * exp(x)),), kind="soft-gate",
        edges=(Edge((0.0,), 0.0, (SELU_SCALE.value * SELU_ALPHA.value,),
                    "0 counts as the lower side, as in PyTorch and JAX"),),
    ),
    Op(
        "mish", gated_by_softplus(x), (gated_by_softplus_slope(x),), kind="soft-gate",
        edges=(Edge((-inf,), nan, (nan,), "-inf × 0 is NaN"),),
    ),
    Op(
        "softsign", x / (1 + abs_(x)), (1 / (1 + abs_(x)) / (1 + abs_(x)),), kind="saturate",
        edges=(Edge((inf,), nan, (0.0,), "inf/inf is NaN, as in PyTorch and JAX"),),
    ),
    Op(
        "relu6", where(x <= 0, 0, where(x >= 6, 6, x)), (where((x <= 0) | (x >= 6), 0, 1),),
        kind="window", symbol="ReLU6", domain=((-3.0, 9.0),),
        edges=(
            Edge((0.0,), 0.0, (0.0,), "the bounds belong to the outside, as in PyTorch and JAX"),
            Edge((6.0,), 6.0, (0.0,), "the bounds belong to the outside, as in PyTorch and JAX"),
            Edge((nan,), nan, (1.0,), "NaN stays NaN"),
        ),
    ),
    Op(
        "hardtanh", where(over, high, where(under, low, x)),
        (where(under | over, 0, 1), where(over, 0, where(under, 1, 0)), where(over, 1, 0)),
        kind="window", inputs=("x", "low", "high"), defaults=(-1.0, 1.0),
        domain=((-3.0, 3.0), (-1.5, -1.0), (1.0, 1.5)),
        edges=(
            Edge((1.0, -1.0, 1.0), 1.0, (0.0, 0.0, 1.0),
                 "the bounds belong to the outside, as in PyTorch (JAX: to the inside)"),
            Edge((-1.0, -1.0, 1.0), -1.0, (0.0, 1.0, 0.0),
                 "the bounds belong to the outside, as in PyTorch (JAX: to the inside)"),
            Edge((nan, -1.0, 1.0), nan, (1.0, 0.0, 0.0), "NaN stays NaN"),
        ),
    ),
    Op(
        "hardswish", where(x <= -3, 0, where(x >= 3, x, x * (x + 3) / 6)),
        (where(x <= -3, 0, where(x >= 3, 1, x / 3 + HALF)),), kind="soft-gate",
        domain=((-5.0, 5.0),),
        edges=(
            Edge((-3.0,), 0.0, (0.0,), "the flat side has the kink, as in PyTorch and JAX"),
            Edge((3.0,), 3.0, (1.0,), "the open side has the kink, as in PyTorch and JAX"),
            Edge((-inf,), 0.0, (0.0,), "the limit (PyTorch and JAX: NaN)"),
        ),
    ),
    # trigonometry
    Op(
        "sin", sin(x), (cos(x),), kind="turn",
        edges=(Edge((inf,), nan, (nan,), "no limit at infinity"),),
    ),
    Op("cos", cos(x), (-sin(x),), kind="turn"),
    Op("tan", tan(x), (1 + z * z,), kind="steepen", domain=((-1.2, 1.2),)),
    Op(
        "asin", asin(x), (1 / sqrt((1 - x) * (1 + x)),), kind="arc", domain=UNIT,
        edges=(Edge((1.0,), math.pi / 2, (inf,), "vertical at both ends"),),
        cure="keep the input between -1 and 1, as in rg.clip(x, -1.0, 1.0)",
    ),
    Op(
        "acos", acos(x), (-(1 / sqrt((1 - x) * (1 + x))),), kind="arc", domain=UNIT,
        edges=(Edge((1.0,), 0.0, (-inf,), "vertical at both ends"),),
        cure="keep the input between -1 and 1, as in rg.clip(x, -1.0, 1.0)",
    ),
    Op(
        "atan", atan(x), (2.0**-60 / (2.0**-60 + shrunk * shrunk),), kind="arc",
        shown=(1 / (1 + x * x),),
    ),
    Op(
        "atan2", atan2(y, x),
        (
            not_too_long * (not_too_long * x / length / length),
            -(not_too_long * (not_too_long * y / length / length)),
        ),
        kind="angle", inputs=("y", "x"),
        shown=(x / hypot(x, y) / hypot(x, y), -(y / hypot(x, y) / hypot(x, y))),
        domain=((0.3, 3.0), (-3.0, 3.0)),
        edges=(Edge((0.0, 0.0), 0.0, (nan, nan), "the angle of nothing has no slope"),),
    ),
    Op("sinh", sinh(x), (cosh(x),), kind="partner"),
    Op("cosh", cosh(x), (sinh(x),), kind="partner"),
    Op("asinh", asinh(x), (1 / hypot(x, 1),), kind="arc"),
    Op(
        "acosh", acosh(x), (1 / (sqrt(x - 1) * sqrt(x + 1)),), kind="arc",
        domain=((1.2, 4.0),),
        edges=(Edge((1.0,), 0.0, (inf,), "vertical at 1"),),
        cure="keep the input above 1",
    ),
    Op(
        "atanh", atanh(x), (1 / ((1 - x) * (1 + x)),), kind="arc", domain=UNIT,
        edges=(Edge((1.0,), inf, (inf,), "the limit"),),
        cure="keep the input between -1 and 1",
    ),
    Op(
        "hypot", hypot(x, y),
        (
            where(equal(z, 0), 0, where(z_fits, x / z, fitting * x / fitting_length)),
            where(equal(z, 0), 0, where(z_fits, y / z, fitting * y / fitting_length)),
        ),
        kind="length",
        shown=(where(equal(z, 0), 0, x / z), where(equal(z, 0), 0, y / z)),
        domain=((0.3, 3.0), (0.3, 3.0)),
        edges=(Edge((0.0, 0.0), 0.0, (0.0, 0.0), "the middle of the slopes around it, as |x|"),),
    ),
    Op(
        "sinc", sine_cardinal(x), (sine_cardinal_slope(x),), kind="wave",
        edges=(
            Edge((0.0,), 1.0, (0.0,), "sin(πx) / (πx), as in NumPy and PyTorch; its limit at 0"),
            Edge((inf,), nan, (nan,), "as sin"),
        ),
    ),
    # kinks and choices
    Op(
        "sign", where(x > 0, 1, where(x < 0, -1, x)), (Num(0),), kind="flat",
        edges=(Edge((0.0,), 0.0, (0.0,), "sign(0) = 0"), Edge((nan,), nan, (0.0,), "NaN stays")),
    ),
    Op(
        "abs", abs_(x), (sign(x),), kind="sign", spelled="abs(x)",
        edges=(
            Edge((0.0,), 0.0, (0.0,), "|x|'(0) = 0: the middle of -1 and 1"),
            Edge((nan,), nan, (nan,), "NaN stays NaN"),
        ),
    ),
    Op(
        "floor", floor(x), (Num(0),), kind="flat",
        edges=(Edge((2.0,), 2.0, (0.0,), "a step has slope 0, also where it steps"),),
    ),
    Op(
        "ceil", -floor(-x), (Num(0),), kind="flat",
        edges=(Edge((2.0,), 2.0, (0.0,), "a step has slope 0, also where it steps"),),
    ),
    Op(
        "trunc", where(x < 0, -floor(-x), floor(x)), (Num(0),), kind="flat",
        edges=(Edge((-1.5,), -1.0, (0.0,), "towards 0"),),
    ),
    Op(
        "round", where(rounds, where(x < 0, -rounded, rounded), x), (Num(0),),
        kind="flat",
        edges=(
            Edge((2.5,), 2.0, (0.0,), "a half goes to the even neighbour, as in Python"),
            Edge((3.5,), 4.0, (0.0,), "a half goes to the even neighbour, as in Python"),
        ),
    ),
    Op(
        "fmod", fmod(x, y), (Num(1), -round_((x - z) / y)), kind="fold",
        domain=((-3.0, 3.0), (0.7, 2.0)),
        edges=(
            Edge((-5.0, 3.0), -2.0, (1.0, 1.0), "the sign of the first input, as in C"),
            Edge((6.0, 3.0), 0.0, (1.0, -2.0), "where it jumps the slope is that of the right"),
            Edge((5.0, inf), 5.0, (1.0, 0.0), "nothing is taken off"),
            Edge((5.0, 0.0), nan, (1.0, nan), "no remainder by 0 (PyTorch and JAX: -inf along y)"),
        ),
        cure="keep the second input away from 0",
    ),
    Op(
        "remainder", where(crossed, folded + y, folded),
        (Num(1), where(crossed, 1, 0) - round_((x - folded) / y)), kind="fold",
        domain=((-3.0, 3.0), (0.7, 2.0)),
        edges=(
            Edge((-5.0, 3.0), 1.0, (1.0, 2.0), "the sign of the second input, as % in Python"),
            Edge((-5.0, inf), inf, (1.0, 1.0), "as % in Python"),
            Edge((5.0, 0.0), nan, (1.0, nan), "no remainder by 0 (PyTorch and JAX: -inf along y)"),
        ),
        cure="keep the second input away from 0",
    ),
    Op(
        "maximum", where((x >= y) | x_is_nan, x, y),
        (where((x >= y) | x_is_nan, 1, 0), where((x >= y) | x_is_nan, 0, 1)),
        kind="choose",
        edges=(
            Edge((1.0, 1.0), 1.0, (1.0, 0.0), "a tie goes whole to the first (PyTorch: halves)"),
            Edge((nan, 1.0), nan, (1.0, 0.0), "NaN if either is"),
            Edge((1.0, nan), nan, (0.0, 1.0), "NaN if either is"),
        ),
    ),
    Op(
        "minimum", where((x <= y) | x_is_nan, x, y),
        (where((x <= y) | x_is_nan, 1, 0), where((x <= y) | x_is_nan, 0, 1)),
        kind="choose",
        edges=(
            Edge((1.0, 1.0), 1.0, (1.0, 0.0), "a tie goes whole to the first (PyTorch: halves)"),
            Edge((nan, 1.0), nan, (1.0, 0.0), "NaN if either is"),
            Edge((1.0, nan), nan, (0.0, 1.0), "NaN if either is"),
        ),
    ),
    Op(
        "clip", where(lowered, high, raised),
        (
            where((x < low) | (x > high) | unequal(low, low) | unequal(high, high), 0, 1),
            where(lowered, 0, where((x < low) | unequal(low, low), 1, 0)),
            where(lowered, 1, 0),
        ),
        kind="choose", inputs=("x", "low", "high"),
        domain=((-3.0, 3.0), (-1.5, -1.0), (1.0, 1.5)),
        edges=(
            Edge((1.0, -1.0, 1.0), 1.0, (1.0, 0.0, 0.0), "the bounds belong to the inside"),
            Edge((0.0, 2.0, 1.0), 1.0, (0.0, 0.0, 1.0), "the upper bound wins when bounds cross"),
            Edge((nan, -1.0, 1.0), nan, (1.0, 0.0, 0.0), "NaN stays NaN"),
            Edge((0.0, nan, 1.0), nan, (0.0, 1.0, 0.0), "a NaN bound makes NaN"),
        ),
    ),
    Op(
        "where", where(unequal(condition, 0), x, y),
        (Num(0), where(unequal(condition, 0), 1, 0), where(unequal(condition, 0), 0, 1)),
        kind="choose", inputs=("condition", "x", "y"),
        hides_nan="the arm with the NaN was not chosen, or the condition itself was NaN",
        domain=((-1.0, 1.0), (-3.0, 3.0), (-3.0, 3.0)),
        edges=(
            Edge((0.0, 1.0, 2.0), 2.0, (0.0, 0.0, 1.0), "0 is false, everything else is true"),
            Edge((1.0, 1.0, 2.0), 1.0, (0.0, 1.0, 0.0), "0 is false, everything else is true"),
        ),
    ),
    # comparisons as numbers: 1 where they hold, 0 where not
    Op(
        "less", where(x < y, 1, 0), (Num(0), Num(0)), kind="flat", symbol="<",
        noun="the comparison", hides_nan=COMPARED,
        edges=(Edge((1.0, 1.0), 0.0, (0.0, 0.0), "strictly less"),
               Edge((nan, 1.0), 0.0, (0.0, 0.0), "no comparison with NaN holds")),
    ),
    Op(
        "less_equal", where(x <= y, 1, 0), (Num(0), Num(0)), kind="flat", symbol="<=",
        noun="the comparison", hides_nan=COMPARED,
        edges=(Edge((nan, 1.0), 0.0, (0.0, 0.0), "no comparison with NaN holds"),),
    ),
    Op(
        "equal", where(equal(x, y), 1, 0), (Num(0), Num(0)), kind="flat", symbol="==",
        noun="the comparison", hides_nan=COMPARED,
        edges=(Edge((nan, nan), 0.0, (0.0, 0.0), "NaN equals nothing"),),
    ),
    # bell curves and what lies under them; where a bell is denormal, its slope has no more digits
    Op(
        "gauss", exp(-(x * x)), (-(2 * (x * z)),), kind="hill", tuned=True, ulps=32.0,
        latex="e^{-#1^2}",
        edges=(Edge((inf,), 0.0, (nan,), "inf × 0 is NaN"),),
    ),
    Op(
        "norm_pdf", ONE_OVER_SQRT_2PI * exp(-(HALF * (x * x))), (-(x * z),), kind="hill",
        tuned=True, ulps=24.0, latex=r"\varphi",
        edges=(Edge((inf,), 0.0, (nan,), "inf × 0 is NaN"),),
    ),
    Op(
        "erf", erf(x), (TWO_OVER_SQRT_PI * gauss(x),), kind="bell",
        shown=(TWO_OVER_SQRT_PI * exp(-(x * x)),),
    ),
    Op(
        "erfc", erfc(x), (-(TWO_OVER_SQRT_PI * gauss(x)),), kind="bell",
        shown=(-(TWO_OVER_SQRT_PI * exp(-(x * x))),),
    ),
    Op("norm_cdf", HALF * erfc(-(x * SQRT_HALF)), (norm_pdf(x),), kind="bell", tuned=True,
       latex=r"\Phi"),
    Op(
        "gelu", x * norm_cdf(x), (norm_cdf(x) + ONE_OVER_SQRT_2PI * x * half_bell * half_bell,),
        kind="soft-gate", shown=(norm_cdf(x) + x * norm_pdf(x),), tuned=True, ulps=8.0,
        edges=(Edge((-inf,), nan, (nan,), "-inf × 0 is NaN"),),
    ),
    Op(
        "erfcx", scaled_erfc(x), (scaled_erfc_slope(x),), kind="fade",
        edges=(
            Edge((inf,), 0.0, (0.0,), "the limit (PyTorch: a NaN slope)"),
            Edge((-30.0,), inf, (-inf,), "below -26.6 the result overflows"),
        ),
        cure="keep the input above -26",
    ),
    Op(
        "log_ndtr",
        where(
            x < 0,
            log(HALF * erfcx(-(x * SQRT_HALF))) - HALF * (x * x),
            log1p(-(HALF * erfc(x * SQRT_HALF))),
        ),
        (where(
            x < 0,
            SQRT_2_OVER_PI / erfcx(-(left * SQRT_HALF)),
            norm_pdf(right) / norm_cdf(right),
        ),),
        kind="fade", shown=(norm_pdf(x) / norm_cdf(x),),
        edges=(Edge((inf,), 0.0, (0.0,), "the limit"),
               Edge((-inf,), -inf, (inf,), "the limit (PyTorch and JAX: a NaN slope)")),
    ),
    Op(
        "erfinv", inverse_erf(x),
        (where(
            equal(edge, 0), 1 / edge, HALF_SQRT_PI * erfcx(where(x < 0, -z, z)) / edge
        ),),
        kind="quantile", domain=UNIT, shown=(HALF_SQRT_PI * exp(z * z),),
        edges=(
            Edge((1.0,), inf, (inf,), "the limit"),
            Edge((-1.0,), -inf, (inf,), "the limit"),
            Edge((2.0,), nan, (nan,), "erf stays between -1 and 1"),
        ),
        cure="keep the input between -1 and 1",
    ),
    Op(
        "ndtri", normal_quantile(x),
        (where(
            equal(tail, 0),
            1 / tail,
            SQRT_HALF_PI * erfcx(where(x < HALF, -z, z) * SQRT_HALF) / tail,
        ),),
        kind="quantile", domain=((0.05, 0.95),), shown=(1 / norm_pdf(z),),
        edges=(
            Edge((0.0,), -inf, (inf,), "the limit, as in PyTorch"),
            Edge((1.0,), inf, (inf,), "the limit, as in PyTorch"),
            Edge((2.0,), nan, (nan,), "a probability is between 0 and 1"),
        ),
        cure="keep the input between 0 and 1",
    ),
    # the gamma function
    Op(
        "trigamma", psi1(x), (Absent(),), kind="ladder", domain=POSITIVE,
        edges=(Edge((0.0,), inf, (nan,), "a pole"), Edge((inf,), 0.0, (nan,), "the limit")),
    ),
    Op(
        "digamma", psi(x), (trigamma(x),), kind="ladder", domain=POSITIVE,
        edges=(
            Edge((0.0,), -inf, (inf,), "a pole, from the right, as in PyTorch"),
            Edge((-1.0,), nan, (inf,), "a pole without a sign"),
        ),
        cure="keep the input above 0",
    ),
    Op(
        "lgamma", log_gamma(x), (digamma(x),), kind="ladder", domain=POSITIVE,
        edges=(
            Edge((0.0,), inf, (-inf,), "a pole"),
            Edge((-1.0,), inf, (nan,), "a pole without a side"),
            Edge((-inf,), inf, (nan,), "as in C"),
        ),
        cure="keep the input above 0",
    ),
    Op(
        "betaln", log_beta(x, y), (psi_drop(x, y), psi_drop(y, x)), kind="ladder",
        domain=((0.1, 4.0), (0.1, 4.0)),
        edges=(
            Edge((0.0, 1.0), inf, (-inf, 0.0), "a pole"),
            Edge((-0.5, 2.0), nan, (nan, nan), "for positive inputs (JAX: ln of the absolute)"),
        ),
        cure="keep both inputs above 0",
    ),
)  # fmt: skip


def _table(rows: tuple[Op, ...]) -> Mapping[str, Op]:
    """Index the rows by name; a row may call primitives and rows above it."""
    from .op import PRIMITIVES

    table: dict[str, Op] = {}
    for row in rows:
        if row.name in table:
            raise ValueError(f"op {row.name!r} has two rows")
        table[row.name] = row
        if unknown := row.calls - PRIMITIVES - table.keys():
            raise ValueError(
                f"op {row.name!r} calls {sorted(unknown)}, which stand in no row above"
            )
    return MappingProxyType(table)


OPS: Final[Mapping[str, Op]] = _table(_ROWS)
