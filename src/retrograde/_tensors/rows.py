"""Every row of the array law as a function, ``rg.NAME``: what a new row is called by, and what rows
that need no manners of their own are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from ..ops.array import ARRAYS
from ..ops.arrays.words import words
from ..value import belongs_to_caller
from .doing import do


@cache
def function_of(name: str) -> Callable[..., Any] | None:
    """The function of a row; None where there is no such row.

    >>> import retrograde as rg
    >>> rg.windows(rg.Tensor([1.0, 2.0, 3.0]), window=(2,), stride=1).data
    array([[1., 2.],
           [2., 3.]])
    >>> function_of("nothing") is None
    True
    """
    row = ARRAYS.get(name)
    if row is None:
        return None

    def function(*operands: Any, **arguments: Any) -> Any:
        return do(name, *operands, **arguments)

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__.partition(".")[0]  # where a pickle finds it
    said = getattr(row, "why", "") or "; ".join(words(row, ARRAYS))
    function.__doc__ = f"The row {name} of the array law: {said}."
    belongs_to_caller(function)
    return function


belongs_to_caller(sys.modules[__name__])
