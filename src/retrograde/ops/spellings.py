"""What other libraries call the ops: NumPy and ``math`` in code, PyTorch and JAX in comparisons.

Only what differs needs an entry. NumPy's name for an op that is not here is the op's own. A row
that PyTorch or JAX has no function for needs none either: it is compared by its own value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from .expr import Expr, Var, function

ELSEWHERE = {
    "absolute": "abs",
    "fabs": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "divide": "div",
    "multiply": "mul",
    "negative": "neg",
    "power": "pow",
    "subtract": "sub",
    "true_divide": "div",
}
"""Our names by theirs."""

TYPED = {
    "max": "maximum", "min": "minimum", "ReLU": "relu", "ln": "log", "arcsin": "asin",
    "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "arcsinh": "asinh",
    "arccosh": "acosh", "arctanh": "atanh",
}  # fmt: skip
"""Our names by what people type in an expression."""

OPERATORS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        "add": operator.add,
        "sub": operator.sub,
        "mul": operator.mul,
        "div": operator.truediv,
        "neg": operator.neg,
    }
)
"""Rows that are an operator of Python on the numbers of every library."""


def _within(module: str, names: str) -> dict[str, str]:
    return {name: f"{module}{name}" for name in names.split()}


x, y = Var("x"), Var("y")
abs_, lgamma, logaddexp, pow_, sign = map(function, ("abs", "lgamma", "logaddexp", "pow", "sign"))

TORCH: Final[Mapping[str, str | Expr]] = MappingProxyType(
    {
        **_within(
            "",
            "exp expm1 log log1p log2 log10 sqrt tanh sigmoid relu sin cos tan asin acos atan "
            "atan2 sinh cosh asinh acosh atanh hypot sign abs floor maximum minimum erf erfc "
            "square reciprocal pow rsqrt exp2 logaddexp xlogy logit sinc ceil trunc round fmod "
            "remainder lgamma digamma erfinv",
        ),
        **_within("special.", "ndtri log_ndtr erfcx"),
        **_within("nn.functional.", "mish relu6 selu hardswish logsigmoid softsign silu gelu"),
        "norm_cdf": "special.ndtr",
        "clip": "clamp",
        "softplus": logaddexp(x, 0),  # its own turns into x past 20
        "cbrt": sign(x) * pow_(abs_(x), 1.0 / 3.0),
        "betaln": lgamma(x) + lgamma(y) - lgamma(x + y),
    }
)
"""PyTorch's function of an op, or what it is in PyTorch's functions."""

JAX: Final[Mapping[str, str | Expr]] = MappingProxyType(
    {
        **_within(
            "numpy.",
            "exp expm1 log log1p log2 log10 sqrt tanh sin cos tan sinh cosh hypot sign abs "
            "floor maximum minimum square reciprocal exp2 cbrt logaddexp sinc ceil trunc fmod "
            "round remainder clip",
        ),
        **{f"a{name}": f"numpy.arc{name}" for name in "sin cos tan tan2 sinh cosh tanh".split()},
        **_within("nn.", "sigmoid relu softplus silu mish relu6 selu"),
        **_within("scipy.special.", "xlogy logit ndtri log_ndtr betaln digamma erfinv erf erfc"),
        "pow": "numpy.power",
        "hardswish": "nn.hard_swish",
        "lgamma": "scipy.special.gammaln",
        "logsigmoid": "nn.log_sigmoid",
        "norm_cdf": "scipy.special.ndtr",
        "rsqrt": "lax.rsqrt",
        "softsign": "nn.soft_sign",
    }
)
"""JAX's function of an op."""
