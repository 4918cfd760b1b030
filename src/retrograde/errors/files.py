"""Exceptions of program files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .wording import RetrogradeError

if TYPE_CHECKING:
    from typing_extensions import Self


class ProgramFileError(RetrogradeError, ValueError, OSError):
    """A program file cannot be written or read, or does not hold what it should.

    ``why`` is the bare cause.
    """

    why: str

    @classmethod
    def _of(cls, message: str, why: str) -> Self:
        error = cls(message)
        error.why = why
        return error

    @classmethod
    def _read(cls, file: str, why: str, cure: str) -> Self:
        return cls._of(f"{file}: {why}. {cure}", why)

    @classmethod
    def other(cls, file: str) -> Self:
        return cls._read(
            file, "this is not a program file", "Make one with save() of a compiled function."
        )

    @classmethod
    def version(cls, file: str, found: int, known: int) -> Self:
        newer = "a newer retrograde" if found > known else "an unknown retrograde"
        return cls._read(
            file,
            f"this program file is of version {found}, made by {newer}; this one reads version "
            f"{known} and those before",
            "Install the retrograde that wrote it, or save the function again with this one.",
        )

    @classmethod
    def cut(cls, file: str, has: int, needs: int) -> Self:
        return cls._read(
            file,
            f"the program file is cut off: {has} of {needs} bytes are here",
            "Copy it again, or save the function again.",
        )

    @classmethod
    def altered(cls, file: str) -> Self:
        return cls._read(
            file,
            "the program file was altered: its checksum does not fit what it holds",
            "Copy it again in binary mode, or save the function again.",
        )

    @classmethod
    def content(cls, file: str, offset: int, why: str) -> Self:
        return cls._of(
            f"{file}, byte {offset}: this is not what a program file holds: {why}. Save the "
            "function again.",
            why,
        )

    @classmethod
    def unread(cls, file: str, error: OSError) -> Self:
        why = f"the program file cannot be read: {error.strerror or error}"
        return cls._read(file, why, "Check the path.")

    @classmethod
    def unwritten(cls, file: str, folder: str, error: OSError) -> Self:
        why = f"the program file cannot be written: {error.strerror or error}"
        return cls._read(file, why, f"'{folder}' must be a folder that may be written to.")

    @classmethod
    def unsaveable(cls, function: str, why: str) -> Self:
        cure = "Change that before saving it."
        if "questions" in why:
            cure = (
                "It depends on something besides its arguments and captured leaves: pass that in."
            )
        return cls._of(f"{function} cannot be saved: {why}. {cure}", why)

    @classmethod
    def nothing(cls, function: str) -> Self:
        why = "nothing has been recorded yet"
        return cls._of(
            f"{function} cannot be saved or pickled: {why}, and its Python stays here. Call it "
            "first, on rows that take every branch it should know.",
            why,
        )
