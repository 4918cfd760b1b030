"""Which engine a script differentiates with, read from its text and that of its own modules."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from ..errors import ScriptError
from ._script import source_of, tree_of

MOST_FILES = 64
OTHERS = ("jax", "tensorflow", "keras", "autograd", "mxnet", "paddle", "tinygrad", "casadi", "mlx")
"""Engines that are neither ours nor PyTorch."""


def trees_of(path: str) -> Iterator[tuple[str, ast.Module]]:
    """The script, its name empty, and the modules of its own folder that it imports, by name."""
    folder = os.path.dirname(os.path.abspath(path))
    pending, seen = [("", path)], set[str]()
    while pending and len(seen) < MOST_FILES:
        module, file = pending.pop()
        if os.path.abspath(file) in seen:
            continue
        seen.add(os.path.abspath(file))
        tree = tree_of(source_of(file))
        if tree is None:
            continue
        yield module, tree
        for name in packages_in(tree, whole=True):
            base = os.path.join(folder, *name.split("."))
            pending += [(name, p) for p in (f"{base}.py", os.path.join(base, "__init__.py"))
                        if os.path.isfile(p)]  # fmt: skip


def packages_in(tree: ast.Module, whole: bool = False) -> set[str]:
    """The packages that a module imports; with ``whole`` their full names."""
    found = set()
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        found.update(names if whole else [name.partition(".")[0] for name in names])
    return found


def uses_torch(path: str) -> bool:
    """Whether a script imports PyTorch, itself or by a module of its own."""
    return any("torch" in packages_in(tree) for _, tree in trees_of(path))


def refuse_without_pass(path: str, gradients: int = 0, option: str = "--explain") -> None:
    """Raise for a script that ran no backward pass: what was found, and what to do. ``option`` is
    what ``retrograde run`` calls what was asked for."""
    if gradients:
        raise ScriptError.only_gradients(path, gradients)
    packages: set[str] = set()
    for module, tree in trees_of(path):
        packages |= packages_in(tree)
        _refuse_own_engine(path, module, tree, option)
    if "torch" in packages and "retrograde" not in packages:
        raise ScriptError.no_torch_pass(path)
    for other in OTHERS:
        if other in packages:
            raise ScriptError.unknown_engine(path, other)
    if "retrograde" not in packages:
        raise ScriptError.no_engine(path)
    raise ScriptError.no_pass(path)


def _refuse_own_engine(path: str, module: str, tree: ast.Module, option: str) -> None:
    """Name the command that puts ours in the place of a script's own engine."""
    for part in ast.walk(tree):
        if isinstance(part, ast.ImportFrom) and (part.module or "").startswith("micrograd"):
            command = f"retrograde run {path} --shim micrograd {option}"
            raise ScriptError.other_engine(path, "micrograd", command)
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        methods = [each.name for each in node.body if isinstance(each, ast.FunctionDef)]
        if not {"__add__", "__mul__"} & set(methods):
            continue
        name = f"{module}.{node.name}" if module else node.name
        if "backward" in methods:
            command = f"retrograde run {path} --replace {name} {option}"
            raise ScriptError.other_engine(path, f"its own class {name}", command)
        for method in methods:
            if "back" in method.lower() and not method.startswith("_"):
                raise ScriptError.other_backward(path, name, method, option)
