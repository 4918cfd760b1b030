"""Exceptions of exercises and grading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .wording import RetrogradeError, closest

if TYPE_CHECKING:
    from typing_extensions import Self


class LearnError(RetrogradeError, ValueError):
    """An exercise, a folder of exercises or a student's file cannot be used."""

    @classmethod
    def unknown(cls, name: str, names: list[str]) -> Self:
        cure = closest(name, names) or "retrograde learn list shows them all."
        return cls(f"there is no exercise '{name}'; {cure}")

    @classmethod
    def no_folder(cls, folder: str) -> Self:
        return cls(
            f"{folder} is no folder of exercises. Write retrograde learn start {folder} to make it "
            "one, or go to yours (or name it with --folder)."
        )

    @classmethod
    def unwritable(cls, folder: str, error: OSError) -> Self:
        return cls(
            f"cannot write in {folder}: {error.strerror or error}. Choose another folder, as in "
            "retrograde learn start ~/learn."
        )

    @classmethod
    def missing(cls, file: str, name: str) -> Self:
        return cls(f"{file} is not there. retrograde learn reset {name} brings it back.")

    @classmethod
    def unread(cls, file: str, why: str) -> Self:
        return cls(f"cannot read {file}: {why}. Give a text file of Python, or a folder of them.")

    @classmethod
    def progress(cls, file: str) -> Self:
        return cls(
            f"{file} is damaged, so what was done is not known. Delete it; your exercises stay as "
            "they are, and retrograde learn check --all finds out again what is right."
        )

    @classmethod
    def no_hint(cls, name: str) -> Self:
        return cls(f"'{name}' has no more hints; retrograde learn solution {name} shows one way.")

    @classmethod
    def no_figure(cls, name: str, names: list[str]) -> Self:
        cure = closest(name, names) or f"choose from {', '.join(names)}."
        return cls(f"there is no exhibit '{name}'; {cure}")

    @classmethod
    def no_action(cls, name: str, names: list[str]) -> Self:
        cure = closest(name, names) or f"choose from {', '.join(names)}."
        return cls(f"retrograde learn cannot '{name}'; {cure}")

    @classmethod
    def no_capability(cls, name: str, names: list[str]) -> Self:
        cure = closest(name, names) or f"choose from {', '.join(names)}."
        return cls(f"there is no capability '{name}'; {cure}")

    @classmethod
    def rubric(cls, problem: str) -> Self:
        return cls(
            f"the rubric cannot be used: {problem}. Write capabilities with their weights, as in "
            "add=2, mul=2, relu=1, or give a file with one per line."
        )

    @classmethod
    def seconds(cls, got: float) -> Self:
        return cls(f"a time limit is a number of seconds above 0, got {got:g}.")

    @classmethod
    def too_many(cls, what: str) -> Self:
        return cls(f"{what}; retrograde grade --help shows how.")

    @classmethod
    def count(cls, got: int, most: int) -> Self:
        return cls(f"a number of cards from 1 to {most} can be printed, got {got}.")


class BoundaryError(LearnError):
    """The system has nothing that keeps a stranger's code away from its user."""

    @classmethod
    def none_here(cls, why: str) -> Self:
        return cls(
            f"nothing here keeps a student's code away from your files ({why}). retrograde grade "
            "--container prints the command that grades in a container; --trust runs the code as "
            "your own, for files you have read."
        )
