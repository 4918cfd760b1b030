"""Sines of whole turns, cube roots, and what is left where smooth functions cancel.

``tools/minimax_special.py`` made the polynomials.
"""

from __future__ import annotations

import math

from ..expr import Expr, equal, function, where
from ..routine import BIGGEST, Steps, polynomial, product, routine, turned

exp, log, sin, cos = map(function, ("exp", "log", "sin", "cos"))

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
    tiny, huge = size < 1e-280, size > 1e280
    moved = let(where(tiny, size * 2.0**162, where(huge, size * 2.0**-162, size)))
    regular = (size > 0) & (size <= BIGGEST)
    a = let(where(regular, moved, 1))
    t = let(exp(log(a) / 3))
    square, square_low = product(let, t, t)
    cube, cube_low = product(let, square, t)
    root = let(t + ((a - cube) - (cube_low + square_low * t)) / (3 * square))
    scaled = let(where(tiny, root * 2.0**-54, where(huge, root * 2.0**54, root)))
    return where(regular, where(x < 0, -scaled, scaled), x)


@routine(latex=r"\left(e^{#1} - 1 - #1\,e^{#1}\right)")
def growth_gap(let: Steps, x: Expr) -> Expr:
    """e^x - 1 - x e^x; a polynomial near 0, where that cancels."""
    near = (x > -1) & (x < 1)
    inside = let(where(near, x, 0))
    outside = let(where(near, 1, where(x < -800, -800, x)))
    return where(
        near,
        -(inside * inside * polynomial(inside, BEND)),
        exp(outside) * (1 - outside) - 1,
    )


def _mish(let: Steps, x: Expr) -> tuple[Expr, Expr, Expr, Expr]:
    """tanh(softplus(x)) and its slope, over the product of the two numbers given back after them.

    On the left both are about e^x, which far out is denormal before x multiplies it: so it comes in
    two factors. On the right these are 1.
    """
    out = x < -600
    part = let(exp(where(x < 0, where(out, x + 300, x), -x)))
    e = let(where(out, 0, part))
    square = let(e * e)
    below = let(where(x < 0, square + (2 * e + 2), 1 + (2 * e + 2 * square)))
    gate = let(where(x < 0, e + 2, 1 + 2 * e) / below)
    bend = let(where(x < 0, 4, 4 * square) * (1 + e) / below / below)
    return gate, bend, let(where(x < 0, part, 1)), let(where(out, math.exp(-300.0), 1))


@routine(latex=r"#1\,\tanh(\operatorname{softplus}(#1))")
def gated_by_softplus(let: Steps, x: Expr) -> Expr:
    """x tanh(softplus(x))."""
    gate, _, first, second = _mish(let, x)
    return x * gate * first * second


@routine(latex=r"\frac{d}{d#1}\left(#1\,\tanh(\operatorname{softplus}(#1))\right)")
def gated_by_softplus_slope(let: Steps, x: Expr) -> Expr:
    """The slope of x tanh(softplus(x))."""
    gate, bend, first, second = _mish(let, x)
    return (gate + x * bend) * first * second
