"""How far the vector functions of native/kernels may be from the exact result, in ulps.

Measured against 80-bit and mpmath references over the whole range: the worst case seen, and a
little more.
"""

from __future__ import annotations

ULPS: dict[str, float] = {
    "exp": 1.15,
    "expm1": 1.5,
    "log": 0.75,
    "log1p": 1.2,
    "log2": 0.75,
    "log10": 0.75,
    "pow": 0.85,
    "tanh": 1.9,
    "sinh": 1.35,
    "cosh": 1.2,
    "asinh": 1.1,
    "acosh": 2.0,
    "atanh": 2.2,
    "sigmoid": 1.6,
    "erf": 1.7,
    "erfc": 3.0,
    "norm_cdf": 2.8,
    "gauss": 1.0,
    "norm_pdf": 2.4,
    "gelu": 3.2,
    "silu": 2.4,
    "sech2": 3.0,
    "sin": 1.7,
    "cos": 1.7,
    "tan": 2.1,
    "asin": 1.4,
    "acos": 1.4,
    "atan": 1.6,
    "atan2": 1.9,
    "hypot": 1.1,
}
