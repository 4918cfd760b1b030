"""A class replaced in a module that a script imports: ``engine.Value`` of its ``engine.py``.

The module is found as its import would find it and looked at before anything runs; while the
script runs, its import compiles it so that the class statement binds our class.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from ..errors import ReplaceError
from ._replace import Replacement
from ._script import tree_of


class _Loader(SourceFileLoader):
    """Loads a module as always, but for its code."""

    def __init__(self, name: str, file: str, replacement: Replacement) -> None:
        super().__init__(name, file)
        self._replacement = replacement
        self._module = ModuleType(name)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """An empty module; its names are needed before its code is made."""
        return self._module

    def get_code(self, fullname: str) -> CodeType:
        """The module compiled so that its class statement binds our class."""
        return self._replacement.code(self.get_data(self.path), self.path, vars(self._module))


class _Finder(MetaPathFinder):
    """Finds one module where it is; everything else is found as always."""

    def __init__(self, name: str, file: str, replacement: Replacement) -> None:
        self._name, self._file, self._replacement = name, file, replacement

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module, with our loader."""
        spec = PathFinder.find_spec(fullname, path) if fullname == self._name else None
        if spec is None or spec.origin != self._file:
            return None
        spec.loader = _Loader(fullname, self._file, self._replacement)
        return spec


@contextmanager
def replacing_in(module: str, replacement: Replacement, script: str) -> Iterator[None]:
    """Replace a class of a module that a script imports, for as long as it runs."""
    file = _file_of(module, script)
    with open(file, "rb") as text:
        source = text.read()
    if tree_of(source) is None:
        yield  # its import says what is wrong with it
        return
    replacement.statement(source, file)
    finder = _Finder(module, file, replacement)
    before = sys.modules.pop(module, None)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        sys.modules.pop(module, None)
        if before is not None:
            sys.modules[module] = before


def _file_of(module: str, script: str) -> str:
    """Where a module's source is, as the script would find it; nothing is imported for it."""
    places: Sequence[str] | None = [os.path.dirname(os.path.abspath(script)), *sys.path]
    spec: ModuleSpec | None = None
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        spec = None if places is None else PathFinder.find_spec(".".join(parts[:count]), places)
        if spec is None:
            break
        places = spec.submodule_search_locations
    if spec is None or spec.origin is None or not isinstance(spec.loader, SourceFileLoader):
        raise ReplaceError.module(module, script)
    return spec.origin
