"""``scan``: a loop that says what it carries from round to round."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..errors import FunctionResultError


def scan(body: Callable[[Any, Any], Any], carry: Any, xs: Iterable[Any]) -> tuple[Any, list[Any]]:
    """``carry, y = body(carry, x)`` for each ``x`` of ``xs``: the last carry, and all ``y``.

    The same as a ``for`` loop, for those who want to say it. ``xs`` has a length that is known, so
    the loop ends; a compiled function records its rounds as one loop. For rounds that only count,
    pass ``range(n)``.

    >>> import retrograde as rg
    >>> def step(total, x):
    ...     total = total + x * x
    ...     return total, total
    >>> rg.scan(step, 0.0, [1.0, 2.0, 3.0])
    (14.0, [1.0, 5.0, 14.0])
    """
    made = []
    for number, x in enumerate(xs):
        result = body(carry, x)
        if not isinstance(result, tuple) or len(result) != 2:
            raise FunctionResultError.scan(getattr(body, "__name__", "body"), number, result)
        carry, y = result
        made.append(y)
    return carry, made
