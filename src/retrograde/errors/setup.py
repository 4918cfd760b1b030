"""Exceptions of an installation: the core that was asked for, packages that are absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .wording import RetrogradeError

if TYPE_CHECKING:
    from typing_extensions import Self


class CoreError(RetrogradeError, ImportError):
    """The core, or the threads, that the environment asks for cannot be had here."""

    @classmethod
    def unknown(cls, asked: str) -> Self:
        return cls(f"RETROGRADE_CORE={asked!r} is not a core: use 'native' or 'reference'.")

    @classmethod
    def lacks(cls, name: str, why: str) -> Self:
        return cls(f"'{name}' needs the native core; the reference core runs here: {why}.")

    @classmethod
    def absent(cls, why: str) -> Self:
        return cls(f"RETROGRADE_CORE=native, but the native core is not available: {why}.")

    @classmethod
    def threads(cls, asked: str) -> Self:
        return cls(
            f"RETROGRADE_THREADS={asked!r} is not a number of threads: "
            "use a whole number from 1 on."
        )


class MissingPackageError(RetrogradeError, ImportError):
    """An optional package is needed and absent."""

    @classmethod
    def of(cls, package: str, what: str) -> Self:
        return cls(f"{what} needs {package}, which is not installed: pip install {package}.")

    @classmethod
    def extra(cls, package: str, what: str) -> Self:
        return cls(
            f"{what} needs {package}, which is not installed: pip install {package}, or in a "
            f"checkout of retrograde pip install '.[{package}]', the version it is tested with."
        )
