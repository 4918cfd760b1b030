"""Sines of whole turns, cube roots, and what is left where smooth functions cancel.

``tools/minimax_special.py`` made the polynomials.
"""

from __future__ import annotations

import math

from ..expr import Expr, equal, function, where
from ..routine import BIGGEST, Steps, polynomial, product, routine, turned

exp, expm1, log, sin, cos, floor = map(function, ("exp", "expm1", "log", "sin", "cos", "floor"))

PI = math.pi

SINC = (
    -3.289868133696453, 3.2469697011333998, -1.144510944731456, 0.209182782507498,
    -0.023460809767408428, 0.0017811395176284051, -9.762520104261489e-05, 3.914128191786299e-06,
    1.4091685677416858e-07, -2.2661101758424778e-07,
)  # fmt: skip

BEND = (
    0.5, 0.3333333333333333, 0.125, 0.0333333333333338, 0.0069444444444444475,
    0.0011904761904722111, 0.00017361111111106515, 2.2045855395432458e-05, 2.480158730412935e-06,
    2.505210482565283e-07, 2.2964431998892602e-08, 1.927128334908737e-09, 1.4912067386735584e-10,
    1.0678764164804531e-11, 7.162067501946182e-13, 5.221003063740779e-14, 2.873351933568687e-15,
)  # fmt: skip


@routine(latex=r"\operatorname{sinc}")
def sine_cardinal(let: Steps, x: Expr) -> Expr:
    """sin(πx) / (πx), and 1 at 0; exactly 0 at the other whole numbers."""
    rest, sign = turned(let, x)
    return where(equal(x, 0), 1, sign * sin(PI * rest) / (PI * x))


@routine(latex=r"\operatorname{sinc}'")
def sine_cardinal_slope(let: Steps, x: Expr) -> Expr:
    """(cos(πx) - sinc(x)) / x; a polynomial near 0, where that cancels."""
    near = (x > -0.5) & (x < 0.5)
    inside, outside = let(where(near, x, 0)), let(where(near, 1, x))
    rest, sign = turned(let, outside)
    far = let(sign * (cos(PI * rest) - sin(PI * rest) / (PI * outside)) / outside)
    return where(near, inside * polynomial(inside * inside, SINC), far)


@routine(latex=r"\sqrt[3]{#1}")
def cube_root(let: Steps, x: Expr) -> Expr:
    """The cube root: by logarithms, then one step of Newton's with the cube's low part."""
    size = let(where(x < 0, -x, x))
    tiny = size < 1e-280
    lifted = let(where(tiny, size * 2.0**162, size))
    regular = (size > 0) & (size <= BIGGEST)
    a = let(where(regular, lifted, 1))
    t = let(exp(log(a) / 3))
    square, square_low = product(let, t, t)
    cube, cube_low = product(let, square, t)
    root = let(t + ((a - cube) - (cube_low + square_low * t)) / (3 * square))
    scaled = let(where(tiny, root * 2.0**-54, root))
    return where(regular, where(x < 0, -scaled, scaled), x)


@routine(latex=r"\left(e^{#1} - 1 - #1\,e^{#1}\right)")
def growth_gap(let: Steps, x: Expr) -> Expr:
    """e^x - 1 - x e^x; a polynomial near 0, where that cancels."""
    near = (x > -1) & (x < 1)
    inside, outside = let(where(near, x, 0)), let(where(near, 1, x))
    return where(
        near,
        -(inside * inside * polynomial(inside, BEND)),
        expm1(outside) - outside * exp(outside),
    )


def _mish(let: Steps, x: Expr) -> tuple[Expr, Expr, Expr]:
    """e^-|x|; tanh(softplus(x)) is one number over another."""
    e = let(exp(where(x < 0, x, -x)))
    square = let(e * e)
    above = let(where(x < 0, square + 2 * e, 1 + 2 * e))
    below = let(where(x < 0, square + (2 * e + 2), 1 + (2 * e + 2 * square)))
    return e, above, below


@routine(latex=r"\tanh(\operatorname{softplus}(#1))")
def mish_gate(let: Steps, x: Expr) -> Expr:
    """tanh(softplus(x))."""
    _, above, below = _mish(let, x)
    return above / below


@routine(latex=r"\tanh(\operatorname{softplus}(#1))'")
def mish_bend(let: Steps, x: Expr) -> Expr:
    """The slope of tanh(softplus(x))."""
    e, _, below = _mish(let, x)
    return where(x < 0, e, e * e) * 4 * (1 + e) / below / below
