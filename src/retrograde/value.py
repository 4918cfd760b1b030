"""The public Value: one shared face over the native core or the pure-Python one.

The environment variable ``RETROGRADE_CORE`` (``native`` or ``reference``) forces either.
``core`` is the one in use; what only the native one offers is asked of ``native_core``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, cast

from ._core import face
from ._shared import operands
from ._shared.cores import Core
from ._shared.native_core import NativeCore
from ._shared.threads import default_threads
from .errors import CoreError

_PACKAGE = __name__.rpartition(".")[0]


def _why_no_native() -> str:
    """Why there is no native module, as the build wrote it down."""
    try:
        reason = json.loads((Path(__file__).parent / "build.json").read_text())["reason"]
    except (OSError, ValueError, KeyError):
        reason = ""
    return reason or "the extension module is not in this installation"


def _choose() -> tuple[ModuleType, str, str]:
    """The core's module, its name, and why it was chosen."""
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


class _NoNativeCore:
    """Stands where the native core would: whatever is asked of it, it says that it is not there."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python's own questions, of inspect and the like
            raise AttributeError(name)
        raise CoreError.lacks(name, core_reason)


_module, core_name, core_reason = _choose()

if TYPE_CHECKING:
    from ._native import Value as Value
else:
    Value = _module.Value
    face.put_on(Value)

core = cast("Core[Value]", _module)
"""The core in use, by what both cores offer."""

native_core = cast("NativeCore[Value]", _module if core_name == "native" else _NoNativeCore())
"""The native core, with what only it offers; elsewhere every use of it raises ``CoreError``."""


def belongs_to_caller(*owners: ModuleType | type | Callable[..., Any]) -> None:
    """Have the values a module, a class or a function of ours makes show its caller's line.

    The reference core passes over the whole package by name; the native one keeps a table.
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
    native_core.skip_sites(codes)


belongs_to_caller(operands)
core.take_ufuncs({}, operands.over_numpy)
if core_name == "native":
    native_core.array_threads(default_threads())
