"""Text of strangers made fit to be shown: on a terminal, in JSON, in the cell of a table."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

LONGEST: Final = 500
_KEPT: Final = {"L", "M", "N", "P", "S"}
"""Letters, marks, numbers, punctuation and signs are shown as they are, and so is a space."""

_FORMULA: Final = re.compile(r'(^|;)([\s"]*)(?=[-=+@\uff0d\uff1d\uff0b\uff20])')
"""Where a formula would begin: a cell, or a part of it where cells end at semicolons."""


def plain(text: str, longest: int = LONGEST, lines: bool = False) -> str:
    r"""Text in which control characters, surrogates and invisible ones are written as escapes.

    >>> plain("a\x1b[2Jb\udc80\u202e")
    'a\\x1b[2Jb\\udc80\\u202e'
    """
    shown = "".join(it if _is_shown(it, lines) else _escape(it) for it in text[:longest])
    return shown if len(shown) <= longest >= len(text) else f"{shown[:longest]} …"


def _is_shown(sign: str, lines: bool) -> bool:
    return sign == " " or (lines and sign == "\n") or unicodedata.category(sign)[0] in _KEPT


def _escape(sign: str) -> str:
    return sign.encode("unicode_escape", "surrogatepass").decode("ascii")


def cell(text: str) -> str:
    """Text for a table: a program that calculates takes no cell for a formula.

    >>> cell("=1+1"), cell("no; @sum"), cell("ada.py")
    ("'=1+1", "no; '@sum", 'ada.py')
    """
    return _FORMULA.sub(r"\1\2'", text)
