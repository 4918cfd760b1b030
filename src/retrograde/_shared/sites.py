"""Where a value was made: file, line and function."""

from __future__ import annotations

import linecache
import sys
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

_PACKAGE = __name__.partition(".")[0]


class Site(NamedTuple):
    """A place in the user's source."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        if is_cell(self.file):  # its file has a name that means nothing, and is gone tomorrow
            inside = "" if self.function == "<module>" else f", in {self.function}"
            return f"line {self.line} of a notebook cell{inside}"
        return f"{self.file}:{self.line}, in {self.function}"


def is_cell(file: str) -> bool:
    """Whether code of this file name was typed into a notebook."""
    return "ipykernel_" in file


Span = tuple[int, int, int, int]
"""A piece of source: first line, last line, first column, last column."""


class StoredSite(Site):
    """A place read from a program file: its source need not be here, so the line comes along."""

    text: str

    @classmethod
    def of(cls, file: str, line: int, function: str, text: str) -> StoredSite:
        """The place with the text of its line, '' when unknown."""
        site = cls(file, line, function)
        site.text = text
        return site


def source_line(site: Site) -> str:
    """The line itself, '' when it cannot be read. Files that others name are not opened."""
    if isinstance(site, StoredSite):
        return site.text
    return linecache.getline(site.file, site.line).strip()


def calling_instruction(skip: int = 1) -> tuple[CodeType, int] | None:
    """The code and instruction of the innermost frame outside this package: the reference
    core's way to remember a place without working out its line yet. The caller may know
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


def site_of_error(error: BaseException) -> Site | None:
    """The innermost line of an exception's traceback that is not ours."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if not _is_ours(trace.tb_frame.f_globals.get("__name__", "")):
            code = trace.tb_frame.f_code
            found = Site(code.co_filename, trace.tb_lineno, code.co_name)
        trace = trace.tb_next
    return found


class _Places:
    """Where the instructions of a piece of code are in the source, worked out once for all of them.

    By half the offset: instructions have two bytes.
    """

    def __init__(self, code: CodeType) -> None:
        self.code = code  # kept, so that nothing else has its identity
        self.lines: dict[int, int] = {}
        for start, end, line in code.co_lines():
            if line is not None:
                self.lines.update(dict.fromkeys(range(start // 2, end // 2), line))
        self.spans: list[tuple[int | None, int | None, int | None, int | None]] = []
        if sys.version_info >= (3, 11):
            self.spans = list(code.co_positions())


_places: dict[int, _Places] = {}
_MOST_PLACES = 1024


def _places_in(code: CodeType) -> _Places:
    """By identity: code that is equal may stand in another file."""
    found = _places.get(id(code))
    if found is None:
        if len(_places) >= _MOST_PLACES:
            _places.clear()
        found = _places[id(code)] = _Places(code)
    return found


def site_of(instruction: tuple[CodeType, int] | None) -> Site | None:
    """Work out the line that an instruction belongs to."""
    if instruction is None:
        return None
    code, offset = instruction
    line = _places_in(code).lines.get(offset // 2, code.co_firstlineno)
    return Site(code.co_filename, line, code.co_name)


def span_of(instruction: tuple[CodeType, int] | None) -> Span | None:
    """The piece of source an instruction was compiled from; Python 3.10 does not keep it."""
    if instruction is None:
        return None
    code, offset = instruction
    spans = _places_in(code).spans
    if not 0 <= offset // 2 < len(spans):
        return None
    first, last, start, end = spans[offset // 2]
    if first is None or last is None or start is None or end is None:
        return None
    return first, last, start, end
