"""The public Value: one shared face over the native engine or the reference.

The environment variable ``RETROGRADE_CORE`` (``native`` or ``reference``) forces either.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from ._core import face
from ._shared import operands
from .errors import CoreError

_PACKAGE = __name__.rpartition(".")[0]


def _why_no_native() -> str:
    """Why there is no native module, as the build wrote it down."""
    try:
        reason = json.loads((Path(__file__).parent / "build.json").read_text())["reason"]
    except (OSError, ValueError, KeyError):
        reason = ""
    return reason or "the extension module is not in this installation"


def _choose() -> tuple[Any, str, str]:
    """The engine's module, its name, and why it was chosen."""
    asked = os.environ.get("RETROGRADE_CORE", "")
    if asked not in ("", "native", "reference"):
        raise CoreError.unknown(asked)
    if asked == "reference":
        return (
            import_module(f"{_PACKAGE}._core.fallback"),
            "reference",
            "RETROGRADE_CORE=reference asks for it",
        )
    try:
        native = import_module(f"{_PACKAGE}._native")
    except ImportError as error:
        why = _why_no_native() if isinstance(error, ModuleNotFoundError) else str(error)
        if asked == "native":
            raise CoreError.absent(why) from error
        return import_module(f"{_PACKAGE}._core.fallback"), "reference", why
    why = "RETROGRADE_CORE=native asks for it" if asked else "it is built for this interpreter"
    return native, "native", why


core, core_name, core_reason = _choose()

if TYPE_CHECKING:
    from ._native import Value as Value
else:
    Value = core.Value
    face.put_on(Value)


def belongs_to_caller(*owners: ModuleType | type | Callable[..., Any]) -> None:
    """Have the values a module, a class or a function of ours makes show its caller's line.

    The reference engine passes over the whole package by name; the native one keeps a table.
    """
    if core_name != "native":
        return
    codes: list[CodeType] = []
    pending = []
    for owner in owners:
        functions = [owner] if isinstance(owner, FunctionType) else vars(owner).values()
        pending += [f.__code__ for f in functions if isinstance(f, FunctionType)]
    while pending:
        code = pending.pop()
        codes.append(code)
        pending.extend(part for part in code.co_consts if isinstance(part, CodeType))
    core.skip_sites(codes)


belongs_to_caller(operands)
