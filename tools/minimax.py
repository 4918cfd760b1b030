"""Where the polynomial coefficients of native/kernels/vmath_exp.h come from.

    python tools/minimax.py            # all of them
    python tools/minimax.py exp log    # some

For each polynomial this prints its coefficients, lowest power first, as the header spells them, and
the largest weighted error they leave, as a power of two; then the table or the constants that go
with it. Needs mpmath; nothing else imports this.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mpmath
from mpmath import mp, mpf

Real = Callable[[mpf], mpf]

mp.prec = 240  # plenty for the linear systems; the functions lose digits to cancellation near zero


@dataclass(frozen=True)
class Task:
    """Approximate `function` on [low, high] by `terms` coefficients, making error * weight small.

    A weight that turns the polynomial's own error into the relative error of what is finally
    returned spends the accuracy where it shows.
    """

    function: Real
    weight: Real
    low: mpf
    high: mpf
    terms: int


def grid(low: mpf, high: mpf, count: int) -> list[mpf]:
    """Chebyshev points, an even number of them so that zero in the middle is never one."""
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * mpmath.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]


def remez(
    values: Sequence[mpf], weights: Sequence[mpf], xs: Sequence[mpf], terms: int
) -> list[mpf]:
    """The best polynomial for the tabled function, by Remez's exchange."""
    count = len(xs)
    powers = [[x**i for i in range(terms)] for x in xs]
    chosen = [round((i + 0.5) * count / (terms + 1)) for i in range(terms + 1)]
    for _ in range(40):
        rows = [[*powers[k], (-1) ** i / weights[k]] for i, k in enumerate(chosen)]
        *c, level = mp.lu_solve(mp.matrix(rows), mp.matrix([values[k] for k in chosen]))
        errors = [
            w * (v - mpmath.fdot(c, p)) for w, v, p in zip(weights, values, powers, strict=True)
        ]
        chosen = alternation(errors, terms + 1)
        if len(chosen) <= terms or max(map(abs, errors)) <= abs(level) * mpf("1.001"):
            break
    return list(c)


def alternation(errors: Sequence[mpf], count: int) -> list[int]:
    """Where the error peaks with alternating signs: the highest `count` neighbouring peaks."""
    peaks: list[int] = []
    for k, error in enumerate(errors):
        if peaks and (error > 0) == (errors[peaks[-1]] > 0):
            if abs(error) > abs(errors[peaks[-1]]):
                peaks[-1] = k
        else:
            peaks.append(k)
    while len(peaks) > count:
        peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
    return peaks


def fit(task: Task) -> tuple[list[float], mpf]:
    """Coefficients as doubles: each is rounded in turn, lowest first, and the rest adjusted."""
    xs = grid(task.low, task.high, 30 * task.terms)
    values = [task.function(x) for x in xs]
    weights = [abs(task.weight(x)) for x in xs]
    left = remez(values, weights, xs, task.terms)
    fixed: list[float] = []
    while left:
        fixed.append(float(left[0]))
        slip, power = left.pop(0) - mpf(fixed[-1]), len(fixed)
        if left:  # spread the slip over the powers above, by least squares
            some = range(0, len(xs), 10)
            rows = [[weights[k] * xs[k] ** (power + i) for i in range(len(left))] for k in some]
            slips = [weights[k] * slip * xs[k] ** (power - 1) for k in some]
            change = mp.lu_solve(mp.matrix(rows), mp.matrix(slips))
            left = [c + d for c, d in zip(left, change, strict=True)]
    errors = (
        w * abs(v - mpmath.polyval(fixed[::-1], x))
        for x, v, w in zip(xs, values, weights, strict=True)
    )
    return fixed, max(errors)


def atanh_rest(z: mpf) -> mpf:
    """What follows 2s in log((1+s)/(1-s)) = 2s + s * z * rest(z), where z = s^2."""
    s = mpmath.sqrt(z)
    return (2 * mpmath.atanh(s) / s - 2) / z


def cosh_rest(z: mpf) -> mpf:
    """What follows 1 in cosh(r) = 1 + z * rest(z), where z = r^2."""
    return (mpmath.cosh(mpmath.sqrt(z)) - 1) / z


def sinh_rest(z: mpf) -> mpf:
    """What follows r in sinh(r) = r + r * z * rest(z), where z = r^2."""
    r = mpmath.sqrt(z)
    return (mpmath.sinh(r) / r - 1) / z


LN2_32ND = mpmath.log(2) / 32 * mpf("1.0001")
HALF_LN2 = 16 * LN2_32ND
TASKS = {
    # exp(r) = 1 + r + r^2 * p(r), for the |r| that rounding to sixteenths leaves
    "exp": Task(
        function=lambda r: (mpmath.expm1(r) - r) / r**2,
        weight=lambda r: r**2,
        low=-LN2_32ND,
        high=LN2_32ND,
        terms=5,
    ),
    # the same, relatively accurate near zero
    "expm1": Task(
        function=lambda r: (mpmath.expm1(r) - r) / r**2,
        weight=lambda r: r,
        low=-LN2_32ND,
        high=LN2_32ND,
        terms=6,
    ),
    # for |r| <= ln(2)/2, what rounding to a whole leaves
    "cosh": Task(function=cosh_rest, weight=lambda z: z, low=mpf(0), high=HALF_LN2**2, terms=6),
    "sinh": Task(function=sinh_rest, weight=lambda z: z, low=mpf(0), high=HALF_LN2**2, terms=5),
    # log(1+r) = r + r^2 * p(r), for the r that log_table leaves
    "log": Task(
        function=lambda r: (mpmath.log1p(r) - r) / r**2,
        weight=lambda r: r,
        low=mpf("-0.0372"),
        high=mpf("0.0625"),
        terms=9,
    ),
    # for the |s| that v_atanh leaves
    "atanh": Task(
        function=atanh_rest, weight=lambda z: z / 2, low=mpf(0), high=mpf("0.0608"), terms=8
    ),
    # log(1+r) = r - r^2/2 + r^3 * p(r), with a relative error far below a double's
    "pow": Task(
        function=lambda r: (mpmath.log1p(r) - r + r**2 / 2) / r**3,
        weight=lambda r: r**2,
        low=-mpf(1) / 64,
        high=mpf(1) / 64,
        terms=8,
    ),
}


def two_parts(value: mpf, bits: int | None = None) -> tuple[float, float]:
    """The value as a sum: first a double, or a multiple of 2^-bits, and then the rest."""
    first = mpf(float(value)) if bits is None else mpmath.nint(value * 2**bits) / 2**bits
    return float(first), float(value - first)


def short_inverses(count: int) -> list[mpf]:
    """For each of `count` intervals of m in [3/4, 3/2), a c near 1/m.

    c has so few bits that m * c - 1 is a double without rounding, and is the c that keeps it
    smallest. The intervals are those of the leading bits of m's mantissa: from 1 up, then below 1.
    """
    inverses = []
    for j in range(count):
        above = j < count // 2
        low, high = ((1 + mpf(i) / count) / (1 if above else 2) for i in (j, j + 1))
        step = 52 if above else 53  # m is a multiple of 2^-step
        fitting = []
        for bits in range(10):
            near = int(2**bits * 2 / (low + high))
            for c in (mpf(near) / 2**bits, mpf(near + 1) / 2**bits):
                most = max(abs(low * c - 1), abs(high * c - 1))
                if most <= mpf(2) ** (53 - step - bits):
                    fitting.append((most, c))
        # next to 1, c is 1: the logarithm's leading part vanishes there
        inverses.append(mpf(1) if j in (0, count - 1) else min(fitting)[1])
    return inverses


def exp_table() -> list[list[float]]:
    """2^(j/16) and what rounding takes from it."""
    return [list(row) for row in zip(*(two_parts(mpf(2) ** (mpf(j) / 16)) for j in range(16)))]


def log_table() -> list[list[float]]:
    """c, and -log(c) in two parts: natural, to base 2, to base 10.

    First parts are multiples of 2^-42, so adding a multiple of such a log(2) to them is exact.
    """
    inverses = short_inverses(16)
    table = [[float(c) for c in inverses]]
    for base in (mp.e, 2, 10):
        parts = (two_parts(-mpmath.log(c) / mpmath.log(base), 42) for c in inverses)
        table += [list(row) for row in zip(*parts)]
    return table


def pow_table() -> list[list[float]]:
    """Rows of c, and -log(c) in two parts as above."""
    return [[float(c), *two_parts(-mpmath.log(c), 42)] for c in short_inverses(64)]


def constants() -> list[list[float]]:
    """ln(2), log10(2) with a short first part; log2(e), log10(e); all in two parts."""
    two, ten = mpmath.log(2), mpmath.log(10)
    parts = (two_parts(two, 42), two_parts(two / ten, 42), two_parts(1 / two), two_parts(1 / ten))
    return [list(pair) for pair in parts]


TABLES = {"exp": exp_table, "log": log_table, "pow": pow_table, "constants": constants}


def main(names: Sequence[str]) -> None:
    """Print the named polynomials and tables, or all of them."""
    for name in names or dict.fromkeys([*TASKS, *TABLES]):
        print(f"{name}:")
        if name in TASKS:
            coefficients, worst = fit(TASKS[name])
            print(f"    error 2^{float(mpmath.log(worst, 2)):.1f}")
            for c in coefficients:
                print(f"    {c.hex()},")
        for row in TABLES[name]() if name in TABLES else ():
            print("    {" + ", ".join(c.hex() for c in row) + "},")


if __name__ == "__main__":
    main(sys.argv[1:])
