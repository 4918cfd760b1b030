"""Functions of two numbers with branches, as people write them: none was written for retrograde."""

from __future__ import annotations

from importlib import import_module
from typing import Any

FILES = (
    "pricing",
    "control",
    "solving",
    "expressions",
    "objects",
    "ladders",
    "simulating",
    "telling",
)


def programs() -> dict[str, Any]:
    """By name: the functions that take two numbers."""
    found: dict[str, Any] = {}
    for file in FILES:
        module = import_module(f"{__name__}.{file}")
        for name, function in vars(module).items():
            code = getattr(function, "__code__", None)
            if code is None or function.__module__ != module.__name__ or name in HELPERS:
                continue
            if code.co_varnames[:2] in TAKEN and code.co_argcount == 2:
                found[name] = function
    return found


TAKEN = {("x", "y"), ("s", "v"), ("s", "r"), ("income", "other"), ("target", "gain"), ("x", "v"),
         ("a", "start"), ("a", "b")}  # fmt: skip
HELPERS = ("recursive", "cached")
