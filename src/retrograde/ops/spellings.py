"""What NumPy and ``math`` call the ops where it is not our name.

A name that is not here is the op's own: ``exp``, ``maximum``, ``hypot``.
"""

from __future__ import annotations

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
