"""What was probably meant by an expression that cannot be read: ``x^2``, ``2x``, ``|x|``, ``x²``.

Text goes in, text comes out. Whether the result can be read is for the caller to find out.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

_CHARACTERS: Final = {
    "^": "**", "²": "**2", "³": "**3", "×": "*", "·": "*", "⋅": "*", "÷": "/",
    "−": "-", "–": "-", "√": "sqrt", "π": "pi",
}  # fmt: skip
_BARS: Final = re.compile(r"\|([^|]+)\|")
_ROOT: Final = re.compile(r"sqrt\s*(\w+)")
_CALL: Final = re.compile(r"\b(\w+)[ \t]+([^\W\d]\w*|\d[\w.]*)(?!\s*\()")
_TOKEN: Final = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[^\W\d]\w*)|(?P<other>\S)|\s+"
)


def meant(text: str, names: Collection[str], functions: Collection[str]) -> str:
    """The expression with its signs spelled as Python spells them and its products written out.

    >>> meant("2x^2 + 3(x - y)", {"x", "y"}, ())
    '2*x**2 + 3*(x - y)'
    >>> meant("|xy|", {"x", "y"}, ())
    'abs(x*y)'
    >>> meant("2sin x + cos(x)", {"x"}, {"sin", "cos"})
    '2*sin(x) + cos(x)'
    """
    roots = "√" in text
    for sign, python in _CHARACTERS.items():
        text = text.replace(sign, python)
    if roots:
        text = _ROOT.sub(r"sqrt(\1)", text)
    text = _with_products(_BARS.sub(r"abs(\1)", text), names, functions)

    def called(found: re.Match[str]) -> str:
        name, operand = found.groups()
        ours = name in functions and name not in names and operand not in functions
        return f"{name}({operand})" if ours else found[0]

    return _CALL.sub(called, text)


def _with_products(text: str, names: Collection[str], functions: Collection[str]) -> str:
    """A ``*`` between two operands that stand side by side."""
    parts, ends, calls, space = [], False, False, ""
    for token in _TOKEN.finditer(text):
        part = token[0]
        if part.isspace():
            space = part
            continue
        name = token["name"] is not None
        known = part in names or part in functions
        if name and not known and len(part) > 1 and all(letter in names for letter in part):
            part = "*".join(part)
        begins = name or token["number"] is not None or (part == "(" and not calls)
        parts += ["*" if ends and begins else space, part]
        calls = name and part not in names
        ends = token["number"] is not None or part == ")" or (name and part not in functions)
        space = ""
    return "".join(parts)
