"""Where the polynomial coefficients of src/retrograde/ops/special come from.

    python tools/minimax_special.py             # all of them
    python tools/minimax_special.py log_gamma   # some

For each polynomial this prints the largest weighted error it leaves, as a power of two, and its
coefficients, lowest power first, as the modules spell them. Needs mpmath; nothing imports this.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import mpmath
from minimax import Real, Task, fit
from mpmath import mp, mpf

NINTH = mpf(1) / 9  # 1/x² at 3, where the series of Stirling take over


def inverse_root(w: mpf) -> mpf:
    """x where w = 1/x²."""
    return 1 / mpmath.sqrt(w)


def stirling(w: mpf) -> mpf:
    """x times what Stirling's formula leaves of ln Γ(x)."""
    x = inverse_root(w)
    rest = mpmath.loggamma(x) - (x - mpf("0.5")) * mpmath.log(x) + x - mpmath.log(2 * mp.pi) / 2
    return x * rest


def psi_rest(w: mpf) -> mpf:
    """ψ(x) = ln x - 1/(2x) - w * rest(w)."""
    x = inverse_root(w)
    return (mpmath.log(x) - 1 / (2 * x) - mpmath.psi(0, x)) / w


def psi1_rest(w: mpf) -> mpf:
    """ψ'(x) = 1/x + w/2 + w/x * rest(w)."""
    x = inverse_root(w)
    return (mpmath.psi(1, x) - 1 / x - w / 2) * x / w


def log_gamma(s: mpf) -> mpf:
    """ln Γ(1 + u) / (u (u - 1)) where u = s + 1/2."""
    u = s + mpf("0.5")
    return mpmath.loggamma(1 + u) / (u * (u - 1))


def erfcx(x: mpf) -> mpf:
    """e^(x²) erfc(x)."""
    if x < 60:
        return mpmath.exp(x * x) * mpmath.erfc(x)
    w, term, total = 1 / (2 * x * x), mpf(1), mpf(1)
    for k in range(1, 40):
        term *= -(2 * k - 1) * w
        total += term
    return total / (x * mpmath.sqrt(mp.pi))


def erfcx_fall(x: mpf) -> mpf:
    """Minus the slope of erfcx: 2/√π - 2x erfcx(x)."""
    if x < 60:
        return 2 / mpmath.sqrt(mp.pi) - 2 * x * erfcx(x)
    w, term, total = 1 / (2 * x * x), mpf(1), mpf(0)
    for k in range(1, 40):
        term *= -(2 * k - 1) * w
        total -= term
    return 2 / mpmath.sqrt(mp.pi) * total


def near(v: mpf) -> mpf:
    """x, up to 4, where v = x / (x + 4) - 1/4."""
    y = v + mpf("0.25")
    return 4 * y / (1 - y)


def far(u: mpf) -> mpf:
    """x, from 4 on, where u = 1 / (x + 4) - 1/16."""
    return 1 / (u + mpf(1) / 16) - 4


def tail(x: mpf) -> mpf:
    """(x + 4) erfcx(x)."""
    return (x + 4) * erfcx(x)


def fall(x: mpf) -> mpf:
    """-(x + 4)² erfcx'(x)."""
    return (x + 4) ** 2 * erfcx_fall(x)


def inverse_erf(w: mpf) -> mpf:
    """erfinv(x) / x where w = -ln(1 - x²)."""
    if w < mpf("1e-30"):
        return mpmath.sqrt(mp.pi) / 2
    # From how far x is from 1: for great w that is all there is.
    away = 1 - mpmath.sqrt(-mpmath.expm1(-w)) if w < 60 else None
    x = mpmath.sqrt(-mpmath.expm1(-w))
    if away is None:
        away = mpmath.exp(-w) / (1 + x)
    z = mpmath.erfinv(x) if w < 20 else mpmath.sqrt(w)
    for _ in range(12):  # Newton on ln erfc(z) = ln(1 - x)
        scaled = erfcx(z)
        value = mpmath.log(scaled) - z * z - mpmath.log(away)
        slope = -2 / (mpmath.sqrt(mp.pi) * scaled)
        z -= value / slope
        if abs(value) < mpf(2) ** -200:
            break
    return z / x


def sinc_fall(v: mpf) -> mpf:
    """sinc'(x) / x where v = x²."""
    x = mpmath.sqrt(v)
    return (mpmath.cospi(x) - mpmath.sinpi(x) / (mp.pi * x)) / v


def bend(u: mpf) -> mpf:
    """(u e^u - (e^u - 1)) / u²."""
    return (u * mpmath.exp(u) - mpmath.expm1(u)) / (u * u)


def on_roots(low: str, high: str, centre: str, terms: int) -> Task:
    """inverse_erf for √w from low to high, as a function of t = (√w - centre) / (√w + centre)."""
    c = mpf(centre)

    def root(t: mpf) -> mpf:
        return c * (1 + t) / (1 - t)

    def place(s: mpf) -> mpf:
        return (s - c) / (s + c)

    return Task(
        lambda t: inverse_erf(root(t) ** 2),
        lambda t: 1 / root(t),
        place(mpf(low)),
        place(mpf(high)),
        terms,
    )


def relative(function: Real, half: mpf, terms: int) -> Task:
    """A function with a small relative error on [-half, half]."""
    return Task(function, lambda x: 1 / function(x), -half, half, terms)


TINY = mpf(2) ** -60
SIXTEENTH = mpf(1) / 16 - TINY
TASKS = {
    "STIRLING": Task(stirling, lambda w: w, mpf("1e-4"), NINTH, 10),
    "PSI": Task(psi_rest, lambda w: mpf("0.1"), mpf("1e-5"), NINTH * mpf("1.05"), 15),
    "PSI1": Task(psi1_rest, lambda w: w, mpf("1e-4"), NINTH, 12),
    "LOG_GAMMA": Task(log_gamma, lambda s: mpf(2), mpf("-0.5"), mpf("0.5"), 22),
    "TAIL_NEAR": relative(lambda v: tail(near(v)), mpf("0.25"), 18),
    "TAIL_FAR": relative(lambda u: tail(far(u)), SIXTEENTH, 18),
    "FALL_NEAR": relative(lambda v: fall(near(v)), mpf("0.25"), 19),
    "FALL_FAR": relative(lambda u: fall(far(u)), SIXTEENTH, 19),
    "NEAR": Task(
        lambda u: inverse_erf(u + mpf("3.125")),
        lambda u: 1 / mpmath.sqrt(u + 4),
        mpf("-3.125"),
        mpf("3.125"),
        25,
    ),
    "ROOT_1": on_roots("2.5", "4.25", "3.25", 21),
    "ROOT_2": on_roots("4.25", "9", "6.25", 22),
    "ROOT_3": on_roots("9", "28", "16", 23),
    "SINC": Task(sinc_fall, lambda v: mpf("0.3"), TINY, mpf("0.25"), 10),
    "BEND": Task(bend, lambda u: mpf(2), mpf(-1), mpf(1), 17),
}


def main(names: Sequence[str]) -> None:
    """Print the named polynomials, or all of them."""
    for name in names or TASKS:
        coefficients, worst = fit(TASKS[name])
        print(f"{name} = (  # error 2^{float(mpmath.log(worst, 2)):.1f}")
        for c in coefficients:
            print(f"    {c!r},")
        print(")")


if __name__ == "__main__":
    main(sys.argv[1:])
