"""The bytes of a program file, taken one thing after another: numbers, counts, text.

What the bytes cannot hold is refused with its place, before anything is allocated for it.
"""

from __future__ import annotations

from struct import unpack_from

from ..errors import ProgramFileError


class Scanner:
    """Bytes, where in their file they begin, and how far they have been read."""

    def __init__(self, body: bytes, file: str, offset: int) -> None:
        self.body = body
        self.file = file
        self.offset = offset
        self.at = 0

    def refuse(self, why: str, at: int | None = None) -> ProgramFileError:
        """What is raised of a place in the file."""
        place = self.offset + (self.at if at is None else at)
        return ProgramFileError.content(self.file, place, why)

    def byte(self, what: str, most: int = 255) -> int:
        """One byte, at most so large."""
        if self.at >= len(self.body):
            raise self.refuse(f"the file ends where {what} should be")
        found = self.body[self.at]
        if found > most:
            raise self.refuse(f"{what} is {found}, and {most} is the most it can be")
        self.at += 1
        return found

    def count(self, what: str) -> int:
        """A whole number below 2**32, seven bits a byte, as short as can be."""
        if self.at < len(self.body):
            found = self.body[self.at]
            if found < 128:  # nearly all of them
                self.at += 1
                return found
        found = shift = 0
        began = self.at
        while True:
            part = self.byte(what)
            found |= (part & 127) << shift
            shift += 7
            if part < 128:
                break
            if shift >= 35:
                raise self.refuse(f"{what} is past 2**32", began)
        if found >= 2**32 or (part == 0 and shift > 7):
            raise self.refuse(f"{what} is past 2**32, or not as short as can be", began)
        return found

    def several(self, what: str, least: int = 0) -> int:
        """How many things follow, each of at least one byte."""
        began = self.at
        found = self.count(f"the number of {what}")
        if found < least:
            raise self.refuse(f"there are no {what}", began)
        if found > len(self.body) - self.at:
            raise self.refuse(f"{found} {what} are more than the file has bytes for", began)
        return found

    def number(self, what: str) -> float:
        """A float64."""
        if len(self.body) - self.at < 8:
            raise self.refuse(f"the file ends inside {what}")
        found: float = unpack_from("<d", self.body, self.at)[0]
        self.at += 8
        return found

    def text(self, what: str) -> str:
        """Text in UTF-8."""
        length = self.several(f"bytes of {what}")
        try:
            found = str(self.body[self.at : self.at + length], "utf-8")
        except UnicodeDecodeError:
            raise self.refuse(f"{what} is not UTF-8") from None
        self.at += length
        return found

    def shown(self, what: str) -> str:
        """Text that is for people to read: it must not move their cursor."""
        began = self.at
        found = self.text(what)
        if not found.isprintable():
            raise self.refuse(f"{what} has characters that cannot be printed", began)
        return found
