"""The text of a value while a function is recorded: a placeholder in the place of its number.

The number belongs to one row, so that text made of it would bake that row in. A placeholder can be
printed, logged and joined to other text; what would decide something by it, or read a number from
it, raises. No two values have the same, and it holds no digits but those of a label.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from threading import local
from typing import Any, NoReturn

from ..errors import RecordingError


class _Shown(local):
    """The values that were shown in the recording of this thread, each with its letters.

    ``reveal`` is called first, where a value may stand for a number.
    """

    def __init__(self) -> None:
        self.letters: dict[int, tuple[Any, str]] = {}
        self.reveal: Callable[[], None] | None = None


_shown = _Shown()
_numbers = count(1)


def _letters(number: int) -> str:
    """A number as letters: a, b, … z, aa, ab, …

    >>> [_letters(number) for number in (1, 26, 27, 703)]
    ['a', 'z', 'aa', 'aaa']
    """
    found = ""
    while number:
        number, letter = divmod(number - 1, 26)
        found = chr(ord("a") + letter) + found
    return found


def _refuse(what: str) -> Callable[..., NoReturn]:
    def refused(self: Hidden, *others: object) -> NoReturn:
        raise RecordingError.text(str(self), what)

    return refused


class Hidden(str):
    """A placeholder: text that may be shown and joined, and decides nothing."""

    __slots__ = ()
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse("compared")
    __hash__ = _refuse("looked up in a dict or set")
    __contains__ = startswith = endswith = _refuse("searched")
    __float__ = __int__ = _refuse("read as a number")


def placeholder(value: Any) -> str:
    """What stands for the number of a value while recording; the same each time for one value."""
    if _shown.reveal is not None:
        _shown.reveal()
    known = _shown.letters.get(id(value))
    if known is None:  # the value is kept, so that no other one takes its id
        known = _shown.letters[id(value)] = value, _letters(next(_numbers))
    return f"<{value.label or value.op}#{known[1]}: no number while recording>"


def forget() -> None:
    """The recording is over."""
    _shown.letters.clear()


def tell_of_text(reveal: Callable[[], None] | None) -> None:
    """Have a function called before the text of a value is made in this thread."""
    _shown.reveal = reveal
