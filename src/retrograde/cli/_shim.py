"""Imports of another engine answered with ours, for as long as a script runs.

The names of ``micrograd.engine`` and ``micrograd.nn`` are ours inside the block, whether or not
micrograd is installed; afterwards ``sys.modules`` and ``sys.meta_path`` are as they were.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..value import Value

SHIMS = ("micrograd",)

_PACKAGE = __name__.partition(".")[0]


class _Micrograd(MetaPathFinder, Loader):
    """Finds and fills the three modules that micrograd has."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "micrograd":
            return ModuleSpec(fullname, self, origin=f"{_PACKAGE} in its place", is_package=True)
        if fullname in ("micrograd.engine", "micrograd.nn"):
            return ModuleSpec(fullname, self, origin=f"{_PACKAGE} in its place")
        return None

    def exec_module(self, module: ModuleType) -> None:
        names: dict[str, Any] = {}
        if module.__name__ == "micrograd.engine":
            names = {"Value": Value}
        elif module.__name__ == "micrograd.nn":
            from .. import nn

            names = {name: getattr(nn, name) for name in ("Module", "Neuron", "Layer", "MLP")}
            names |= {"Value": Value, "random": random}
        vars(module).update(names)


@contextmanager
def shimmed(name: str) -> Iterator[None]:
    """Answer imports of one of ``SHIMS`` with ours.

    >>> with shimmed("micrograd"):
    ...     from micrograd.engine import Value as theirs
    >>> import retrograde as rg
    >>> theirs is rg.Value
    True
    """
    finder = _Micrograd()
    before = _taken(name)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        _taken(name)
        sys.modules.update(before)


def _taken(name: str) -> dict[str, ModuleType]:
    """The modules of a package, taken out of ``sys.modules``."""
    found = [each for each in sys.modules if each == name or each.startswith(f"{name}.")]
    return {each: sys.modules.pop(each) for each in found}
