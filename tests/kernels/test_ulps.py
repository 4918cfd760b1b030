"""The vector functions, through compiled one-op functions: how far from mpmath they are over their
whole range, what they do at the ends of it, and that every SIMD level gives the same bits.

NumPy's longest floats find the points that are furthest off; mpmath has the last word on those.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from retrograde.ops import OPS

from ..law.expressions import libm_calls
from ..program.support import LEVELS, kernels, same
from .ulps import ULPS

mp = mpmath.mp.clone()
mp.prec = 140

Long = np.longdouble
POINTS = 20_000
WORST = 200
TINY = 5e-324
HEADER = Path(__file__).parents[2] / "native" / "kernels" / "rows.gen.h"

ROWS = sorted(name for name, op in OPS.items() if libm_calls(op.value, op))
"""The rows of the law that call a vector function, themselves or through another row."""


# ---- what each row may be off by -----------------------------------------------------------------


@cache
def bodies() -> dict[str, str]:
    """The rows as the kernels spell them."""
    found = re.findall(r"^SIMD vd rgv_(\w+)\(.*?\) \{ return (.*); \}$", HEADER.read_text(), re.M)
    return dict(found)


def is_direct(name: str) -> bool:
    """Whether the row is a vector function itself, not composed of some."""
    return re.match(rf"v_{name}\(", bodies()[name]) is not None


def bound(name: str) -> float:
    """The ulps stated; where a row is composed, what those of its parts can add up to.

    Each part counts twice, for ulps are of unlike size across a power of two, and each rounding
    between them once.
    """
    if is_direct(name):
        return ULPS[name]
    parts = re.findall(r"\bv_(\w+)\(", bodies()[name]) + re.findall(
        r"\brgv_(\w+)\(", bodies()[name]
    )
    vector = [part for part in parts if part in ROWS]
    assert vector, f"{name} calls no vector function"
    return 2 * sum(bound(part) for part in vector) + len(parts)


def test_every_vector_function_states_its_ulps() -> None:
    assert set(bodies()) == set(OPS)
    direct = {name for name in ROWS if is_direct(name)}
    assert direct <= set(ULPS), f"no bound for {sorted(direct - set(ULPS))}"
    assert all(0.5 <= ulps <= 8.0 for ulps in ULPS.values())


# ---- references ----------------------------------------------------------------------------------


def sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def softplus(x: Any) -> Any:
    return mp.log1p(mp.exp(x)) if x < 0 else x + mp.log1p(mp.exp(-x))


def norm_cdf(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


EXACT: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(mp, name)
        for name in "exp expm1 log log1p tanh sin cos tan asin acos atan atan2 sinh cosh asinh "
        "acosh atanh erf erfc hypot".split()
    },
    "log2": lambda x: mp.log(x) / mp.ln2,
    "log10": lambda x: mp.log(x) / mp.ln10,
    "pow": mp.power,
    "sigmoid": sigmoid,
    "softplus": softplus,
    "silu": lambda x: x * sigmoid(x),
    "norm_cdf": norm_cdf,
    "gelu": lambda x: x * norm_cdf(x),
    "gauss": lambda x: mp.exp(-x * x),
    "norm_pdf": lambda x: mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi),
    "sech2": lambda x: mp.sech(x) ** 2,
}
"""By mpmath, one number at a time."""


LONG_PI_REST = Long(1.2246467991473532e-16)


def long_sigmoid(x: Any) -> Any:
    return np.where(x < 0, np.exp(x) / (1 + np.exp(x)), 1 / (1 + np.exp(-x)))


def long_gauss(x: Any) -> Any:
    """exp(-x²), the square kept in two parts: it reaches 1500, and its rounding would show."""
    high = (x * Long(2) ** 38 + x) - x * Long(2) ** 38  # 26 bits of it, so that squares are exact
    low = x - high
    square = x * x
    rest = ((high * high - square) + 2 * high * low) + low * low
    return np.exp(-square) * (1 - rest)


def long_erf(x: Any) -> Any:
    """By its series of positive terms; for |x| below 2."""
    term = total = x
    for n in range(1, 60):
        term = term * 2 * x * x / (2 * n + 1)
        total = total + term
    return 2 / np.sqrt(Long(np.pi) + LONG_PI_REST) * np.exp(-x * x) * total


def long_tail(x: Any, gauss: Any) -> Any:
    """erfc by its continued fraction; for x above 1.5."""
    fraction = x
    for n in range(240, 0, -1):
        fraction = x + Long(n) / 2 / fraction
    return gauss / fraction / np.sqrt(Long(np.pi) + LONG_PI_REST)


def long_erfc(x: Any) -> Any:
    far = np.maximum(abs(x), Long(1.5))
    tail = long_tail(far, long_gauss(far))
    near = 1 - long_erf(np.clip(x, -1.5, 1.5))
    return np.where(x > 1.5, tail, np.where(x < -1.5, 2 - tail, near))


def long_norm_cdf(x: Any) -> Any:
    root = np.sqrt(Long(2))
    far = np.maximum(abs(x), 1.5 * root)
    half = long_gauss(far / 2)  # exp(-x²/2) is the square of exp(-(x/2)²)
    tail = long_tail(far / root, half * half) / 2
    near = (1 + long_erf(np.clip(x / root, -1.5, 1.5))) / 2
    return np.where(x < -1.5 * root, tail, np.where(x > 1.5 * root, 1 - tail, near))


LONG: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(np, name)
        for name in "exp expm1 log log1p log2 log10 tanh sin cos tan asin acos atan atan2 sinh "
        "cosh asinh acosh atanh hypot pow".split()
    },
    "sigmoid": long_sigmoid,
    "softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-abs(x))),
    "silu": lambda x: x * long_sigmoid(x),
    "erf": lambda x: np.where(
        abs(x) > 1.5, np.sign(x) * (1 - long_erfc(abs(x))), long_erf(np.clip(x, -1.5, 1.5))
    ),
    "erfc": long_erfc,
    "norm_cdf": long_norm_cdf,
    "gelu": lambda x: x * long_norm_cdf(x),
    "gauss": long_gauss,
    "norm_pdf": lambda x: long_gauss(x / 2) ** 2 / np.sqrt(2 * (Long(np.pi) + LONG_PI_REST)),
    "sech2": lambda x: 4 * np.exp(-2 * abs(x)) / (1 + np.exp(-2 * abs(x))) ** 2,
}
"""By NumPy, many at once, with eleven bits to spare where the machine has them."""


# ---- points --------------------------------------------------------------------------------------


def spread(count: int, seed: int, low: int = 0, high: int = 0x7FEF_FFFF_FFFF_FFFF) -> Any:
    """Positive doubles whose bits are uniform: every exponent alike, denormals included."""
    whole = np.random.default_rng(seed).integers(low, high, count, dtype=np.int64, endpoint=True)
    return whole.view(np.float64)


def both(positive: Any) -> Any:
    """The numbers with signs in turn."""
    return positive * np.where(np.arange(len(positive)) % 2, -1.0, 1.0)


def around(centre: float, count: int, seed: int) -> Any:
    """Numbers close to one, at every distance down to an ulp."""
    chance = np.random.default_rng(seed)
    return centre + both(10.0 ** chance.uniform(-16.5, -1.0, count)) * max(1.0, abs(centre))


def uniform(low: float, high: float, count: int, seed: int) -> Any:
    return np.random.default_rng(seed).uniform(low, high, count)


def quarter_turns(count: int) -> Any:
    """The doubles nearest to multiples of π/2, where the reduction of an angle is hardest."""
    chance = np.random.default_rng(11)
    turns = [*range(1, count // 2), *(int(2 ** chance.uniform(1, 60)) for _ in range(count // 2))]
    with mp.workprec(300):
        return np.array([float(mp.pi / 2 * turn) for turn in turns])


WORST_ANGLES = np.array([
    6381956970095103.0 * 2.0**797, 5.31937264832654141671e255, 8.90029729e300, 1.7e308, 1e22, 1e5,
    33.0, 355.0, 1.5707963267948966, 3.141592653589793, 4.71238898038469, 0.7853981633974483,
])  # fmt: skip

UNIT = (("within", -1.0, 1.0), ("tiny",), ("at", 1.0), ("at", -1.0), ("at", 0.5), ("at", -0.5))
REACH: dict[str, tuple[tuple[Any, ...], ...]] = {
    "exp": (("within", -745.2, 709.8), ("within", -1.0, 1.0), ("within", -20.0, 20.0), ("tiny",),
            ("within", -745.2, -707.0), ("within", 709.0, 709.79)),
    "expm1": (("within", -40.0, 709.8), ("within", -1.0, 1.0), ("within", -0.1, 0.1), ("tiny",)),
    "log": (("positive",), ("at", 1.0), ("within", 0.3, 3.0), ("within", 0.0, 99.0), ("denormal",)),
    "log1p": (("positive",), ("tiny",), ("within", -1.0, 3.0), ("within", -0.1, 0.1), ("at", -1.0)),
    "tanh": (("within", -25.0, 25.0), ("within", -1.0, 1.0), ("tiny",), ("all",)),
    "sigmoid": (("within", -745.0, 40.0), ("within", -40.0, 40.0), ("within", -2, 2), ("tiny",)),
    "sin": (("within", -10.0, 10.0), ("within", -1e5, 1e5), ("all",), ("turns",), ("tiny",),
            ("at", 0.0)),
    "asin": UNIT,
    "atan": (("all",), ("within", -10.0, 10.0), ("tiny",), ("at", 1.0), ("within", -1.0, 1.0)),
    "sinh": (("within", -711.0, 711.0), ("within", -1.0, 1.0), ("within", -25.0, 25.0), ("tiny",),
             ("within", 708.0, 710.47)),
    "asinh": (("all",), ("within", -10.0, 10.0), ("within", -1.0, 1.0), ("tiny",)),
    "acosh": (("above one",), ("at", 1.0), ("within", 1.0, 10.0), ("within", 1.0, 1.1)),
    "atanh": UNIT,
    "erf": (("within", -7.0, 7.0), ("within", -1.0, 1.0), ("tiny",), ("at", 0.84375), ("at", 2.0)),
    "erfc": (("within", -7.0, 27.5), ("within", -1.0, 1.0), ("tiny",), ("within", 20.0, 27.3)),
    "norm_cdf": (("within", -38.6, 9.0), ("within", -3.0, 3.0), ("tiny",), ("within", -38.5, -30)),
    "norm_pdf": (("within", -38.6, 38.6), ("within", -3.0, 3.0), ("tiny",), ("within", 30, 38.6)),
    "gauss": (("within", -27.3, 27.3), ("within", -2.0, 2.0), ("tiny",), ("within", 20, 27.3)),
    "sech2": (("within", -373.0, 373.0), ("within", -2.0, 2.0), ("tiny",), ("within", -20, 20)),
}  # fmt: skip
LIKE = {
    "log2": "log", "log10": "log", "cos": "sin", "tan": "sin", "acos": "asin", "cosh": "sinh",
    "softplus": "sigmoid", "silu": "sigmoid", "gelu": "norm_cdf",
}  # fmt: skip


def piece(kind: tuple[Any, ...], count: int, seed: int) -> Any:
    """One of the words of REACH as numbers."""
    word, *numbers = kind
    if word == "within":
        return uniform(*numbers, count, seed)
    if word == "at":
        return around(*numbers, count, seed)
    if word == "turns":
        return np.concatenate([both(quarter_turns(count)), WORST_ANGLES, -WORST_ANGLES])
    bits = {
        "positive": (0, 0x7FEF_FFFF_FFFF_FFFF), "all": (0, 0x7FEF_FFFF_FFFF_FFFF),
        "tiny": (0, 0x3FB0_0000_0000_0000), "denormal": (0, 0x000F_FFFF_FFFF_FFFF),
        "above one": (0x3FF0_0000_0000_0000, 0x7FEF_FFFF_FFFF_FFFF),
    }[word]  # fmt: skip
    found = spread(count, seed, *bits)
    return both(found) if word in ("all", "tiny") else found


def unary_points(name: str) -> tuple[Any, ...]:
    kinds = REACH.get(LIKE.get(name, name), GENERAL)
    each = POINTS // len(kinds) * 3 // 2
    points = np.concatenate(
        [*(piece(k, each, seed) for seed, k in enumerate(kinds)), *special(name)]
    )
    if name in ("log", "log2", "log10"):
        points = abs(points)
    if name in ("asin", "acos", "atanh"):
        points = np.clip(points, -1.0, 1.0)
    if name == "atanh":
        points = points[abs(points) < 1.0]
    if name == "log1p":
        points = points[points > -1.0]
    if name == "acosh":
        points = np.maximum(points, 1.0)
    return (points,)


def pairs() -> tuple[Any, Any]:
    each = POINTS // 4 * 3 // 2
    close = both(spread(each, 5))
    return (
        np.concatenate([both(spread(each, 1)), uniform(-10, 10, each, 2), close, spread(each, 7)]),
        np.concatenate([
            both(spread(each, 3))[::-1], uniform(-10, 10, each, 4),
            close * uniform(0.5, 1.0, each, 6), np.ones(each),
        ]),
    )  # fmt: skip


def powers() -> tuple[Any, Any]:
    """Bases and exponents whose power is a double, mostly."""
    each = POINTS // 5 * 3 // 2
    wide = spread(each, 1)
    wide = np.where(wide == 1.0, 2.0, wide)
    near = around(1.0, each, 2)
    near = np.where(near == 1.0, 1.5, near)
    whole = np.random.default_rng(3).integers(-20, 21, each).astype(np.float64)
    everyday = uniform(0.0, 10.0, each, 4)
    target = uniform(-1080.0, 1030.0, each, 5)
    return (
        np.concatenate([wide, near, both(uniform(0.01, 50.0, each, 6)), everyday, wide[::-1]]),
        np.concatenate([
            target / np.log2(wide), target / np.log2(near), whole, uniform(-10, 10, each, 7),
            both(spread(each, 8, 0x3F00_0000_0000_0000, 0x3FE0_0000_0000_0000)) / 512,
        ]),
    )  # fmt: skip


MEASURED = sorted(name for name in ROWS if name in LONG)
"""The others have every digit measured by tests/law/test_digits.py, at fewer points."""

GENERAL = (("all",), ("within", -800.0, 800.0), ("within", -40.0, 40.0), ("within", -1.0, 1.0))


def points_of(name: str) -> tuple[Any, ...]:
    if name == "pow":
        columns = powers()
    elif OPS[name].arity == 2:
        columns = pairs()
    else:
        columns = unary_points(name)
    finite = np.logical_and.reduce([np.isfinite(column) for column in columns])
    columns = tuple(column[finite] for column in columns)
    assert len(columns[0]) >= POINTS
    return columns


# ---- errors --------------------------------------------------------------------------------------


def compiled(rg: Any, name: str) -> Any:
    function = getattr(rg, name)
    return rg.compile(lambda xs: function(*xs))


def ulps_by_numpy(name: str, columns: tuple[Any, ...], got: Any) -> Any:
    """How many ulps off each result is, by NumPy; infinity stands for 2^1024."""
    with np.errstate(all="ignore"):
        about = LONG[name](*[column.astype(Long) for column in columns])
        size = np.spacing(np.minimum(abs(about), sys.float_info.max).astype(np.float64))
        end = np.copysign(np.ldexp(Long(1), 1024), got)
        off = abs(np.where(np.isinf(got), end, got.astype(Long)) - about) / size
    return np.where(np.isinf(got) & (abs(about) >= abs(end)), 0.0, off.astype(np.float64))


def ulps_by_mpmath(name: str, point: tuple[float, ...], got: float) -> float:
    """The same by mpmath."""
    exact = EXACT[name](*map(mp.mpf, point))
    end = mp.ldexp(1, 1024)
    if math.isinf(got) and mp.sign(exact) * got > 0 and abs(exact) >= end:
        return 0.0
    result = mp.mpf(got) if math.isfinite(got) else mp.sign(mp.mpf(got)) * end
    size = math.ulp(min(abs(float(exact)), sys.float_info.max))
    return float(abs(result - exact) / size)


@pytest.mark.parametrize("name", MEASURED)
def test_within_the_stated_ulps_of_mpmath_over_the_whole_range(native: Any, name: str) -> None:
    columns = points_of(name)
    got = compiled(native, name)(np.stack(columns, axis=1))
    assert not np.isnan(got).any()
    off = ulps_by_numpy(name, columns, got)
    share = ulps_left(columns[0], got) if not is_direct(name) else np.ones(len(got))
    worst = np.argsort(-np.where(np.isnan(off), math.inf, off * share))[:WORST]
    for place in worst.tolist():
        point = tuple(column[place] for column in columns)
        found = ulps_by_mpmath(name, point, got[place])
        assert found * share[place] <= bound(name), (
            f"{name}{point} is {got[place]!r}, {found:.2f} ulps off"
        )
        if np.finfo(Long).nmant >= 63:
            assert abs(found - off[place]) < 0.1, f"the reference is off at {name}{point}"


def ulps_left(x: Any, got: Any) -> Any:
    """What an ulp counts for where a factor of x is denormal, and so has few bits to give."""
    with np.errstate(all="ignore"):
        size = np.spacing(np.minimum(abs(got), 1e300))
    return np.minimum(1.0, size / (np.maximum(abs(x), 1.0) * TINY))


@pytest.mark.parametrize("name", ROWS)
def test_the_same_bits_at_every_simd_level(native: Any, name: str) -> None:
    columns = [np.concatenate([c, s]) for c, s in zip(points_of(name), special(name))]
    rows = np.stack(columns, axis=1)
    function = compiled(native, name)
    results = []
    for level in LEVELS:
        with kernels(level):
            results.append(function(rows))
    for level, result in zip(LEVELS, results):
        different = np.flatnonzero(
            (result.view(np.int64) != results[0].view(np.int64))
            & ~(np.isnan(result) & np.isnan(results[0]))
        )
        assert not len(different), (
            f"{name}{tuple(rows[different[0]])}: {level} gives {result[different[0]].hex()}, "
            f"{LEVELS[0]} {results[0][different[0]].hex()}"
        )


# ---- the ends of the range -----------------------------------------------------------------------

ENDS = [
    0.0, TINY, 1e-320, 2.2250738585072009e-308, 2.2250738585072014e-308, 1e-300, 1e-17,
    2.0**-53, 1e-9, 0.5, 1.0 - 2.0**-53, 1.0, 1.0 + 2.0**-52, 2.0, 3.0, 6.0, 7.5, 20.0, 26.5, 27.3,
    38.0, 39.0, 709.0, 709.782712893384, 709.7827128933841, 710.4758600739439, 711.0, 744.4,
    745.1332191019411, 745.1332191019412, 746.0, 1e5, 2.0**31, 2.0**52, 2.0**53 + 2, 1e22, 1e300,
    sys.float_info.max, math.inf, math.nan,
]  # fmt: skip


def special(name: str) -> list[Any]:
    ends = np.array([*ENDS, *(-end for end in ENDS)])
    if OPS[name].arity == 1:
        return [ends]
    left, right = np.meshgrid(ends, ends)
    return [left.ravel(), right.ravel()]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ROWS)
def test_special_values_are_those_of_c(native: Any, name: str, level: str) -> None:
    """Zeros with their signs, infinities, NaNs; other numbers are among the points above."""
    columns = special(name)
    with kernels(level):
        got = compiled(native, name)(np.stack(columns, axis=1))
    function = getattr(native, name)
    points = list(zip(*[column.tolist() for column in columns]))
    expected = np.array([function(*point) for point in points])
    exactly = ~np.isfinite(expected) | (expected == 0.0)
    wrong = np.flatnonzero(exactly & ~np.array([same(g, e) for g, e in zip(got, expected)]))
    wrong = [place for place in wrong if not at_the_edge(got[place], expected[place])]
    assert not wrong, [f"{name}{points[p]}: {got[p]!r}, in C {expected[p]!r}" for p in wrong[:5]]


def at_the_edge(got: float, expected: float) -> bool:
    """Where rounding decides between the largest double and infinity, or the smallest and zero."""
    if math.isinf(expected):
        return abs(got) >= sys.float_info.max * (1 - 1e-15) and got * expected > 0
    return expected == 0.0 and 0.0 < abs(got) <= 2 * TINY and not math.isnan(got)
