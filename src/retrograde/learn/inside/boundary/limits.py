"""How much learner code may take: memory, time of the processor, open files, nothing written."""

from __future__ import annotations

import resource
from typing import Final

FILES: Final = 32
"""Descriptors that may be open at once."""


def limit(memory: int, seconds: float) -> None:
    """Set every limit for good.

    The limit of bytes in a file is 0, and it holds for whatever is a file. That of processes is
    one more lock: the filter of calls refuses new ones by itself.
    """
    limit_some(memory, seconds)
    for what, most in (
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, FILES),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_MEMLOCK, 0),
    ):
        _limit(what, most)


def limit_some(memory: int, seconds: float) -> None:
    """The limits that code one trusts has too."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_CPU, int(seconds) + 5)
    _limit(resource.RLIMIT_AS, memory)


def _limit(what: int, most: int) -> None:
    hard = resource.getrlimit(what)[1]
    allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (allowed, allowed))
