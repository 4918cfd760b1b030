"""Following a program's path: comparisons are recorded while it runs, so that the pages of its
stories know where it would have gone another way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .._values.compared import Comparison, comparing

_now: list[list[Comparison]] = []


@contextmanager
def following() -> Iterator[None]:
    """Record the comparisons of values inside the block, for the stories told in it.

    Moving a leaf on a page then says when the program would have taken another path.

    >>> import retrograde as rg
    >>> with rg.explain.following():
    ...     x = rg.Value(2.0, label="x")
    ...     y = x * x if x > 1 else -x
    ...     story = rg.story(y)
    >>> len(story.path.checks)
    1
    """
    with comparing() as log:
        _now.append(log)
        try:
            yield
        finally:
            _now.remove(log)


def followed() -> Sequence[Comparison] | None:
    """What the innermost block has recorded; None outside any."""
    return _now[-1] if _now else None
