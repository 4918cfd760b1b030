"""Where a value was made: file, line and function."""

from __future__ import annotations

import sys
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

_PACKAGE = __name__.rpartition(".")[0]


class Site(NamedTuple):
    """A place in the user's source."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}, in {self.function}"


def calling_instruction(skip: int = 1) -> tuple[CodeType, int] | None:
    """The code and instruction of the innermost frame outside this package: the reference
    engine's way to remember a place without working out its line yet. The caller may know
    that more frames than its own can be passed over."""
    frame = sys._getframe(skip)
    while frame is not None:
        if not _is_ours(frame.f_globals.get("__name__", "")):
            return frame.f_code, frame.f_lasti
        frame = frame.f_back  # type: ignore[assignment]
    return None


@lru_cache(maxsize=1024)  # asked for every frame of every value made
def _is_ours(module: str) -> bool:
    return module == _PACKAGE or module.startswith(_PACKAGE + ".")


def site_of(instruction: tuple[CodeType, int] | None) -> Site | None:
    """Work out the line that an instruction belongs to."""
    if instruction is None:
        return None
    code, offset = instruction
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= offset < end and number is not None:
            line = number
            break
    return Site(code.co_filename, line, code.co_name)
