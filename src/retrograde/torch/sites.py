"""Where PyTorch was called: the innermost frame that is neither PyTorch's nor ours."""

from __future__ import annotations

import os
import sys
from types import CodeType

import torch

from .._shared.sites import Site
from .._shared.sites import site_of as _site_of

Made = tuple[CodeType, int]
"""A place in the program: code and instruction; its line is worked out when it is asked for."""

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_PASSING = ("contextlib.py", "functools.py", "runpy.py", "threading.py")
_passed_over: dict[CodeType, bool] = {}
_known: dict[Made, Site | None] = {}


def _passes_over(code: CodeType) -> bool:
    file = code.co_filename
    found = file.startswith((_OURS, _TORCH)) or file.endswith(_PASSING)
    found = found or (file.startswith("<") and "ipython" not in file and file != "<stdin>")
    found = found and not file.startswith("<doctest")
    _passed_over[code] = found
    return found


def passes_over(code: CodeType) -> bool:
    """Whether code is PyTorch's, ours or the language's own, and not of the program."""
    over = _passed_over.get(code)
    return over if over is not None else _passes_over(code)


def calling(skip: int = 2) -> Made | None:
    """The place in the program that is calling now."""
    frame = sys._getframe(skip)
    known = _passed_over
    while frame is not None:
        code = frame.f_code
        over = known.get(code)
        if over is None:
            over = _passes_over(code)
        if not over:
            return code, frame.f_lasti
        frame = frame.f_back  # type: ignore[assignment]
    return None


def site_of(made: Made | None) -> Site | None:
    """The line of a place, worked out once."""
    if made is None:
        return None
    if made not in _known:
        _known[made] = _site_of(made)
    return _known[made]
