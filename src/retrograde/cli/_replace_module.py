"""A class replaced in a module that a script imports: ``engine.Value`` of its ``engine.py``.

The module is found as its import would find it and looked at before anything runs; while the
script runs, its import compiles it so that the class statement binds our class.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

from ..errors import ReplaceError
from ._replace import Replacement


class _Replaced(MetaPathFinder, Loader):
    """Finds one module, and fills it with what its source makes of our class."""

    def __init__(self, name: str, file: str, replacement: Replacement) -> None:
        self._name, self._file, self._replacement = name, file, replacement

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module itself; everything else is found as always."""
        if fullname != self._name:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and spec.origin == self._file:
            spec.loader = self
            return spec
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's source."""
        with open(self._file, "rb") as file:
            source = file.read()
        exec(self._replacement.code(source, self._file, vars(module)), vars(module))


@contextmanager
def replacing_in(module: str, replacement: Replacement, script: str) -> Iterator[None]:
    """Replace a class of a module that a script imports, for as long as it runs."""
    file = _file_of(module, script)
    with open(file, "rb") as source, suppress(SyntaxError):  # the import itself will say so
        replacement.statement(source.read(), file)
    finder = _Replaced(module, file, replacement)
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
