"""Functions that workers of a cluster run, and how often each process recorded them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import retrograde as rg


def noted(what: str) -> None:
    """Note that a process runs the function itself: it records."""
    folder = os.environ.get("RETROGRADE_TEST_NOTES", "")
    if folder:
        with open(Path(folder) / f"{os.getpid()}.txt", "a", encoding="utf-8") as file:
            file.write(what + "\n")


@rg.compile
def price(S: Any, K: Any, a: Any) -> Any:
    """A function that goes two ways."""
    noted("high" if S > K else "low")
    if S > K:
        return rg.exp(-a * S / K) * S
    return S * S * a
