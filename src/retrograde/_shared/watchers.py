"""What ends a program that is watched, when what was asked for has been seen."""

from __future__ import annotations


class Enough(BaseException):
    """The pass that was asked for has been seen; nothing more needs to run."""
