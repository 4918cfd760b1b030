"""Where the numbers of native/kernels/vmath_erf.h and vmath_trig.h come from.

    python tools/minimax_erf.py             # every table
    python tools/minimax_erf.py erfc sin    # some

Each is printed as the headers spell it, lowest power first, with the largest weighted error it
leaves as a power of two. The fitting itself is tools/minimax.py's. Needs mpmath; nothing else
imports this.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence

import mpmath
from minimax import Task, fit, grid
from mpmath import mp, mpf

PI = +mp.pi
LN2 = mpmath.log(2)
SQRT2 = mpmath.sqrt(2)


def show(name: str, numbers: Sequence[float], error: mpf | None = None) -> None:
    """One table, as C."""
    note = "" if error is None else f" /* error 2^{float(mpmath.log(error, 2)):.1f} */"
    print(f"{name}[{len(numbers)}] = {{{note}")
    for number in numbers:
        print(f"    {number.hex()},")
    print("};")


def two_parts(name: str, value: mpf, parts: int, bits: int = 53) -> None:
    """A constant as a sum of doubles; all but the last with only `bits` bits."""
    numbers = []
    for i in range(parts):
        unit = mpf(2) ** (
            mpmath.floor(mpmath.log(abs(value), 2)) + 1 - (53 if i == parts - 1 else bits)
        )
        numbers.append(float(mpmath.nint(value / unit) * unit))
        value -= mpf(numbers[-1])
    show(name, numbers)


def tail(scale: mpf, middle: int, last: mpf, terms: int) -> Task:
    """(a + middle) * exp(x^2) * erfc(x) with x = a / scale, in t = (a - middle) / (a + middle).

    The map takes a = 0 to -1 and a = `last` to nearly 1; the factor takes out the 1/x of the tail,
    so that what is left varies little.
    """

    def function(t: mpf) -> mpf:
        a = middle * (1 + t) / (1 - t)
        x = a / scale
        return (a + middle) * mpmath.exp(x * x) * mpmath.erfc(x)

    return Task(
        function=function,
        weight=lambda t: 1 / function(t),
        low=mpf(-1),
        high=(last - middle) / (last + middle),
        terms=terms,
    )


def erfc() -> None:
    """The tails carry 2^-128, which vmath_erf.h takes back with the power of two of exp."""
    for name, task, factor in (
        ("rg_erfc_tail", tail(mpf(1), 4, mpf("27.3"), 23), mpf(1)),
        ("rg_norm_tail", tail(SQRT2, 4, mpf("38.6"), 23), mpf(1) / 2),
    ):
        numbers, error = fit(task)
        show(name, [float(c * factor * mpf(2) ** -128) for c in numbers], error)


def exp() -> None:
    """exp(-r) - 1 = -r + r^2 * p(r) for |r| <= ln2/32, and the table of 2^(i/16).

    The table's bits are less by i << 48, so that adding k << 48 with k = 16n + i makes
    2^(n + i/16); and it carries 2^128, which keeps the exponent in range down to the last denormal.
    """
    end = LN2 / 32 * mpf("1.001")
    task = Task(
        function=lambda r: (mpmath.expm1(-r) + r) / r**2,
        weight=lambda r: r**2 / mpmath.exp(-r),
        low=-end,
        high=end,
        terms=5,
    )
    show("rg_exp_poly", *fit(task))
    two_parts("rg_ln2_16", LN2 / 16, 2, bits=36)
    powers = [float(mpf(2) ** (mpf(i) / 16)) for i in range(16)]
    show("rg_exp_low", [float(mpf(2) ** (mpf(i) / 16) / p - 1) for i, p in enumerate(powers)])
    bits = [struct.unpack("<q", struct.pack("<d", power))[0] for power in powers]
    bits = [b - (i << 48) + (128 << 52) for i, b in enumerate(bits)]
    show("rg_exp_high", [struct.unpack("<d", struct.pack("<q", b))[0] for b in bits])


def piece(middle: mpf, half: mpf, terms: int) -> Task:
    """erf(middle + h) as a polynomial in h."""
    return Task(
        function=lambda h: mpmath.erf(middle + h),
        weight=lambda h: 1 / mpmath.erf(middle + h),
        low=-half,
        high=half,
        terms=terms,
    )


def erf() -> None:
    """Sixteen pieces around multiples of 49/128, a column each; a row is one power of all."""
    width = mpf(49) / 128
    half = width / 2 * mpf("1.0001")
    terms = 14
    # The piece around 0 is odd: h * (c1 + c3 h^2 + ...)
    task = Task(
        function=lambda z: mpmath.erf(mpmath.sqrt(z)) / mpmath.sqrt(z),
        weight=lambda z: mpf(1),
        low=mpf(0),
        high=half**2,
        terms=terms // 2,
    )
    rest, error = fit(task)
    columns, errors = [[c for number in rest for c in (0.0, number)]], [error]
    for i in range(1, 16):
        column, error = fit(piece(i * width, half, terms))
        columns.append(column)
        errors.append(error)
    print(f"rg_erf_table[{terms}][16] = {{ /* error 2^{float(mpmath.log(max(errors), 2)):.1f} */")
    for row in zip(*columns, strict=True):
        print("    {" + ",\n     ".join(c.hex() for c in row) + "},")
    print("};")


def odd(function: Callable[[mpf], mpf], end: mpf, terms: int) -> Task:
    """function(r) = r + r * z * p(z), z = r^2, for |r| <= end."""
    return Task(
        function=lambda z: (function(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z,
        weight=lambda z: z * mpmath.sqrt(z) / function(mpmath.sqrt(z)),
        low=mpf(0),
        high=end**2,
        terms=terms,
    )


def sin() -> None:
    """sin(r) = r + r*z*p(z) and cos(r) = 1 + z*(-1/2 + z*q(z)), z = r^2, for |r| <= pi/4.

    A little more, as the multiple of pi/2 taken away is not always the nearest.
    """
    end = PI / 4 * mpf("1.0001")
    show("rg_sin", *fit(odd(mpmath.sin, end, 6)))
    task = Task(
        function=lambda z: ((mpmath.cos(mpmath.sqrt(z)) - 1) / z + mpf(1) / 2) / z,
        weight=lambda z: z * z / mpmath.cos(mpmath.sqrt(z)),
        low=mpf(0),
        high=end**2,
        terms=6,
    )
    show("rg_cos", *fit(task))
    two_parts("rg_pi", PI, 3)


def tan() -> None:
    """tan(r) = r * (1 + z*p(z)) / (1 + z*q(z)), z = r^2, for |r| <= pi/4.

    q comes from interpolation at the Chebyshev points; once its coefficients are doubles, p is
    fitted for it.
    """
    end = (PI / 4 * mpf("1.0001")) ** 2
    terms = 3, 4
    points = grid(mpf(0), end, sum(terms))
    ratio = [mpmath.tan(mpmath.sqrt(z)) / mpmath.sqrt(z) for z in points]
    rows = [
        [*(z ** (i + 1) for i in range(terms[0])), *(-v * z ** (i + 1) for i in range(terms[1]))]
        for z, v in zip(points, ratio, strict=True)
    ]
    solution = mp.lu_solve(mp.matrix(rows), mp.matrix([v - 1 for v in ratio]))
    below = [float(c) for c in solution[terms[0] :]]

    def under(z: mpf) -> mpf:
        return 1 + sum(mpf(c) * z ** (i + 1) for i, c in enumerate(below))

    task = Task(
        function=lambda z: (under(z) * mpmath.tan(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z,
        weight=lambda z: z * mpmath.sqrt(z) / mpmath.tan(mpmath.sqrt(z)) / under(z),
        low=mpf(0),
        high=end,
        terms=terms[0],
    )
    show("rg_tan_above", *fit(task))
    show("rg_tan_below", below)


def atan() -> None:
    """atan between -1 and 1, asin between -1/2 and 1/2."""
    show("rg_atan", *fit(odd(mpmath.atan, mpf(1), 19)))
    show("rg_asin", *fit(odd(mpmath.asin, mpf(1) / 2, 12)))


def two_over_pi() -> None:
    """The bits of 2/pi in words of 32, for the exact reduction of huge angles."""
    words = 40
    with mp.workprec(32 * words + 64):
        bits = int(mpmath.floor(2 / +mp.pi * mpf(2) ** (32 * words)))
    print(f"rg_two_over_pi[{words}] = {{")
    for i in range(words):
        print(f"    0x{bits >> 32 * (words - 1 - i) & 0xFFFFFFFF:08x},")
    print("};")


TABLES: dict[str, Callable[[], None]] = {
    "erfc": erfc,
    "exp": exp,
    "erf": erf,
    "sin": sin,
    "tan": tan,
    "atan": atan,
    "two_over_pi": two_over_pi,
}


def main(names: Sequence[str]) -> None:
    """Print the named tables, or all of them."""
    for name in names or TABLES:
        TABLES[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
