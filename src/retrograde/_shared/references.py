"""How many references there are to a thing, as far as the interpreter counts them."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

_count = getattr(sys, "getrefcount", None)  # PyPy has none


def _counted(holder: Any, name: str) -> int:
    """With those that are there only because it is being counted: versions of Python differ."""
    return int(_count(getattr(holder, name))) if _count else 0


_OWN = _counted(SimpleNamespace(thing=object()), "thing") - 1


def references(holder: Any, name: str) -> int | None:
    """References to what an attribute holds, the attribute's own among them; None where the
    interpreter does not count.

    >>> references(SimpleNamespace(thing=object()), "thing")
    1
    """
    return _counted(holder, name) - _OWN if _count else None
