"""Functions in a file and the points to check them at: how `retrograde check` finds both."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from .._values.nests import take_apart
from ..errors import CheckError
from ..value import Value

_HOW = (
    "write --at 'x=1.0, y=2.0', or in the file point = (1.0, 2.0), "
    'points = {"name": (1.0, 2.0)}, or give every parameter a number as default'
)


@dataclass
class Found:
    """The functions to check, each with its point; and what was left out, with the reason."""

    file: str
    functions: list[tuple[str, Callable[..., Any], Any]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)


def functions_of(target: str, at: str | None) -> Found:
    """What a target names, with points."""
    path, _, name = target.rpartition(":") if ".py:" in target else (target, "", "")
    module = module_of(Path(path))
    found = Found(path)
    if name:
        function = getattr(module, name, None)
        if not callable(function):
            known = ", ".join(public_of(module)) or "none"
            raise CheckError(f"{path} has no function '{name}'; its functions: {known}.")
        found.functions.append((name, function, point_of(module, name, function, at, alone=True)))
        return found
    public = public_of(module)
    if not public:
        raise CheckError(f"{path} defines no public function to check.")
    if at is not None and len(public) > 1:
        raise CheckError(f"--at is about one function; write {path}:function.")
    for each, function in public.items():
        try:
            point = point_of(module, each, function, at, alone=len(public) == 1)
        except CheckError as unknown:
            found.skipped.append((each, str(unknown)))
            continue
        found.functions.append((each, function, point))
    if not found.functions:
        raise CheckError(f"no function of {path} has a point to be checked at; {_HOW}.")
    return found


def function_of(target: str) -> tuple[ModuleType, str, Callable[..., Any]]:
    """The one function that FILE.py:function names, with its module and name."""
    path, _, name = target.rpartition(":") if ".py:" in target else (target, "", "")
    module = module_of(Path(path))
    public = public_of(module)
    if not name and len(public) == 1:
        (name,) = public
    function = getattr(module, name, None) if name else None
    if not callable(function):
        known = ", ".join(public) or "none"
        missing = f"has no function '{name}'" if name else "has several functions"
        raise CheckError(f"{path} {missing}; write {path}:function. Its functions: {known}.")
    return module, name, function


def module_of(path: Path) -> ModuleType:
    """The file as a module; `if __name__ == "__main__"` parts do not run."""
    if not path.is_file():
        raise CheckError(f"there is no file {path}; write FILE.py or FILE.py:function.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise CheckError(f"{path} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
                 if frame.filename == str(path)]  # fmt: skip
        where = f":{lines[-1]}" if lines else ""
        raise CheckError(f"{path}{where} does not run: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent))
    return module


def public_of(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """The functions a module defines itself: plain, compiled, and custom ops."""
    return {
        name: thing
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and callable(thing)
        and not inspect.isclass(thing)
        and not isinstance(thing, Value)
        and getattr(thing, "__module__", None) == module.__name__
    }


def point_of(
    module: ModuleType, name: str, function: Callable[..., Any], at: str | None, alone: bool
) -> Any:
    """The point of a function: of --at, of the file, or of its defaults."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        signature = inspect.Signature()
    if at is not None:
        return _bound(name, signature, at)
    points = getattr(module, "points", None)
    if isinstance(points, dict) and name in points:
        return points[name]
    if alone and hasattr(module, "point"):
        return module.point
    if not signature.parameters and hasattr(module, "parameters"):
        return module.parameters
    defaults = [p.default for p in signature.parameters.values()]
    if defaults and all(_is_point(default) for default in defaults):
        return tuple(defaults)
    raise CheckError(f"at which point? {_HOW}.")


def _is_point(default: Any) -> bool:
    if default is inspect.Parameter.empty or isinstance(default, bool):
        return False
    try:
        return bool(take_apart(default, "default").items)
    except TypeError:
        return False


def _bound(name: str, signature: inspect.Signature, at: str) -> Any:
    """The arguments written after --at, in the order of the function's parameters."""
    try:
        call = ast.parse(f"_({at})", mode="eval").body
        assert isinstance(call, ast.Call)
        args = [ast.literal_eval(arg) for arg in call.args]
        named = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError, AssertionError):
        raise CheckError(
            f"--at {at!r} cannot be read; write it as in --at 'x=1.0, y=[2, 3]'."
        ) from None
    if not signature.parameters:
        return tuple(args)
    try:
        arguments = signature.bind(*args, **named)
    except TypeError as error:
        raise CheckError(f"--at does not fit {name}{signature}: {error}.") from None
    arguments.apply_defaults()
    if arguments.kwargs:
        raise CheckError(
            f"{name} takes {', '.join(arguments.kwargs)} by name only; wrap it in another."
        )
    return tuple(arguments.args)
