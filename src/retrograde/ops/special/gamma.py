"""The gamma function's logarithm and its derivatives, and the same of the beta function.

From 3 on each is Stirling's series with a fitted remainder in 1/x²; below, values are led there by
the recurrence, or across by the reflection. ``tools/minimax_special.py`` made the polynomials.
"""

from __future__ import annotations

import math

from ..expr import Condition, Expr, Num, equal, function, where
from ..routine import BIGGEST, Steps, polynomial, product, routine, turned

log, log1p, sin, tan, sqrt, floor, abs_ = map(
    function, ("log", "log1p", "sin", "tan", "sqrt", "floor", "abs")
)

PI = math.pi
HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)

STIRLING = (
    0.08333333333332846, -0.002777777775518135, 0.0007936504289200681, -0.0005952086221883123,
    0.0008403563803617168, -0.001875393513527176, 0.005549213550518392, -0.017024921983356506,
    0.040346591282143685, -0.04928960129055561,
)  # fmt: skip

PSI = (
    0.08333333333333333, -0.008333333333326249, 0.0039682539650225555, -0.004166665973607018,
    0.0075756724560946615, -0.021086112703501383, 0.08297320781752321, -0.42924285590009237,
    2.642664545171597, -16.95485413884146, 99.01502284249092, -468.4619946159348,
    1610.7033569988114, -3495.9518061097615, 3553.211879486964,
)  # fmt: skip
PSI1 = (
    0.1666666666666252, -0.033333333306163074, 0.02380951756819962, -0.0333326071470089,
    0.07570725765292617, -0.2508362260021231, 1.0950391341617933, -5.4453072434249945,
    25.738157938878427, -96.73059516862504, 239.60250064676632, -282.86801373165054,
)  # fmt: skip

LOG_GAMMA = (
    0.4831289505409809, -0.14595989591430608, 0.06291140107456945, -0.03130848750100996,
    0.016797098630837354, -0.009425622448624275, 0.005446457856416762, -0.003212074068929319,
    0.0019229159364923141, -0.0011644147016826286, 0.0007115239910037748, -0.0004379914234919181,
    0.00027127335730736993, -0.00016893212907292385, 0.0001055642726690397, -6.606407454823539e-05,
    4.236348642975285e-05, -2.7455523487610547e-05, 1.436660890419623e-05, -7.891074746941363e-06,
    1.1240614588729303e-05, -8.122659178311168e-06,
)  # fmt: skip


def undefined_where(condition: Condition) -> Expr:
    """A term to add: 0, and NaN where the condition holds."""
    return sqrt(where(condition, -1, 0))


@routine(latex=r"\mu")
def stirling_rest(let: Steps, x: Expr) -> Expr:
    """What Stirling's formula leaves of ln Γ(x): for x from 3 on."""
    w = let(1 / x / x)
    return polynomial(w, STIRLING) / x


@routine(latex=r"\ln\lvert\Gamma(#1)\rvert")
def log_gamma(let: Steps, x: Expr) -> Expr:
    """ln |Γ(x)|.

    On [1, 2] a polynomial that has the zeros at 1 and 2 as factors; from -3 to 3 the recurrence
    leads there. Around -2.6 what is left is small, so the product in it keeps its low part.
    """
    a = let(abs_(x))
    # the argument of the polynomial: u = x + n - 1 between 0 and 1, and u - 1
    u = let(
        where(x >= 2, x - 2, where(x >= 1, x - 1, where(x >= 0, x, where(x > -1, x + 1,
              where(x > -2, x + 2, x + 3)))))
    )  # fmt: skip
    below = let(where((x < 0) & (x > -1), x, u - 1))
    unit = let(u * below * polynomial(u - 0.5, LOG_GAMMA))
    # -3 < x < 0: the product of x up to x + n - 1
    near = let(where((x < 0) & (x > -3), x, -0.5))
    first, first_low = product(let, near, let(near + 1))
    second = let(where(near < -1, near + 2, 1))
    both, both_low = product(let, first, second)
    both_slip = let(both_low + first_low * second)
    third = let(where(near < -2, near + 3, 1))
    whole, whole_low = product(let, both, third)
    slip = let((whole_low + both_slip * third) / where(equal(whole, 0), 1, whole))
    # from 3 on, and by reflection below -3
    far = let(where(a < 3, 3, a))
    stirling = let((far - 0.5) * (log(far) - 1) + ((HALF_LOG_2PI - 0.5) + stirling_rest(far)))
    turn = let(far - floor(far))
    sine = let(sin(PI * where(turn > 0.5, 1 - turn, turn)))
    argument = let(
        where(x >= 3, 1, where(x >= 2, x - 1, where(x >= 1, 1, where(x >= 0, x,
              where(x > -3, abs_(whole), far * (sine / PI))))))
    )  # fmt: skip
    factor = let(log(argument))
    base = let(where(x >= 3, stirling, where(x > -3, unit, -stirling)))
    led = where(
        x >= 2, base + factor, where((x < 0) & (x > -3), (base - factor) - slip, base - factor)
    )
    return where(x < -BIGGEST, a, led)


@routine(latex=r"\psi")
def psi(let: Steps, x: Expr) -> Expr:
    """The derivative of ln Γ."""
    right = let(where(x < 0, 1 - x, x))
    moved = let(where(right < 3, right + 3, right))
    w = let(1 / moved / moved)
    far = let(log(moved) - (0.5 / moved + w * polynomial(w, PSI)))
    shifts = let(where(right < 3, 1 / right + (1 / (right + 1) + 1 / (right + 2)), 0))
    # reflection: ψ(x) = ψ(1 - x) - π / tan(πx); at whole x a pole without a sign: NaN
    turn, _ = turned(let, x)
    reflected = let(PI / tan(PI * turn))
    outcome = where(x < 0, (far - shifts) - reflected, far - shifts)
    return outcome + undefined_where((x < 0) & equal(turn, 0))


@routine(latex=r"\psi'")
def psi1(let: Steps, x: Expr) -> Expr:
    """The derivative of ψ."""
    right = let(where(x < 0, 1 - x, x))
    moved = let(where(right < 3, right + 3, right))
    w = let(1 / moved / moved)
    far = let(1 / moved + (w * 0.5 + w / moved * polynomial(w, PSI1)))
    second, third = let(1 / (right + 1)), let(1 / (right + 2))
    shifts = let(where(right < 3, 1 / right / right + (second * second + third * third), 0))
    turn, _ = turned(let, x)
    sine = let(sin(PI * turn) / PI)
    return where(x < 0, 1 / sine / sine - (far + shifts), far + shifts)


@routine(latex=r"\ln\mathrm{B}")
def log_beta(let: Steps, x: Expr, y: Expr) -> Expr:
    """ln B(x, y) for positive x and y; NaN where either is negative.

    Where the larger is big, ln Γ of it and of the sum are about the same: their difference is
    worked out by itself.
    """
    a, b = let(where(x < y, x, y)), let(where(x < y, y, x))
    small = let(log_gamma(a))
    both_small = let((small + log_gamma(b)) - log_gamma(a + b))
    big = let(where(b >= 3, b, 3))
    ratio = let(log1p(a / big))
    rest = let(stirling_rest(big) - stirling_rest(big + a))
    one_small = let(small + ((a - a * log(big + a)) - (big - 0.5) * ratio + rest))
    lesser = let(where(a >= 3, a, 3))
    both_big = let(
        (HALF_LOG_2PI - 0.5 * log(big) + (rest + stirling_rest(lesser)))
        - (lesser - 0.5) * log1p(big / lesser)
        - big * ratio
    )
    outcome = where(a >= 3, both_big, where(b >= 3, one_small, both_small))
    return outcome + undefined_where(a < 0)


@routine(latex=r"\psi(#1) - \psi(#1 + #2)")
def psi_drop(let: Steps, x: Expr, y: Expr) -> Expr:
    """ψ(x) - ψ(x + y) for positive x and y, with all its digits however close the two are."""
    bad = (x < 0) | (y < 0)
    x, y = let(where(bad, 1, x)), let(where(bad, 1, y))
    a = let(where(x < 3, x + 3, x))
    b = let(a + y)
    v, w = let(1 / a / a), let(1 / b / b)
    # p(v) - p(w) = (v - w) q(v, w), both by Horner's rule side by side
    at_w, quotient = Num(0.0), Num(0.0)  # type: Expr, Expr
    for coefficient in (*PSI[::-1], 0.0):
        quotient = let(quotient * v + at_w)
        at_w = let(at_w * w + coefficient)
    apart = let(y / a / b * (1 / a + 1 / b))
    far = let(log1p(y / a) + (0.5 * (y / a / b) + apart * quotient))
    near = let(y / (x + y) / x + (y / ((x + 1) + y) / (x + 1) + y / ((x + 2) + y) / (x + 2)))
    return undefined_where(bad) - where(x < 3, far + near, far)
