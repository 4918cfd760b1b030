"""The public names, as a committed list: nothing is added or lost without the list saying so.
The rows of the law are not in it: a row that is added needs no edit here.

``RETROGRADE_GOLDEN=1 python -m pytest tests/test_public_names.py`` writes the list anew.
"""

from __future__ import annotations

import importlib
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

from retrograde.ops import OPS

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).parent / "public_names.txt"
MODULES = ("", "errors", "explain", "models", "nn", "optim")


def ours(thing, rg):
    return (getattr(thing, "__module__", None) or "").partition(".")[0] == rg.__name__


def public(thing):
    return sorted(name for name in dir(thing) if not name.startswith("_") and name not in OPS)


def names_of(rg):
    """Every public name: of modules, and of the classes that can be reached by one."""
    found = []
    for module in MODULES:
        room = importlib.import_module(f"{rg.__name__}.{module}") if module else rg
        where = f"rg.{module}." if module else "rg."
        for name in public(room):
            thing = getattr(room, name)
            if inspect.ismodule(thing):
                if f"{rg.__name__}.{name}" == thing.__name__ and name in MODULES:
                    found.append(f"{where}{name}")
                continue  # other rooms are there once something has imported them
            found.append(f"{where}{name}")
            if inspect.isclass(thing) and ours(thing, rg):
                inherited = {n for base in thing.__mro__ if not ours(base, rg) for n in vars(base)}
                answers = [n for n in public(thing) if n not in inherited and hasattr(thing, n)]
                found += [f"{where}{name}.{n}" for n in answers]
    return found


def names_when_fresh(core):
    """In a process of its own: programs, and tests, may put names of theirs on our classes."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import retrograde; "
        "from tests.test_public_names import names_of; print(*names_of(retrograde))"
    )
    environment = {**os.environ, "RETROGRADE_CORE": core}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, check=True
    ).stdout.split()


@pytest.mark.bank
def test_the_public_names_are_those_of_the_list(rg):
    found = names_when_fresh(importlib.import_module(f"{rg.__name__}.value").core_name)
    if os.environ.get("RETROGRADE_GOLDEN"):
        LIST.write_text("\n".join(found) + "\n", encoding="utf-8")
    listed = LIST.read_text(encoding="utf-8").split()
    assert not set(listed) - set(found), "these public names are gone"
    assert not set(found) - set(listed), "these are new: add them to the list"
    assert found == listed


def test_a_star_import_brings_what_the_list_has(rg):
    brought = {}
    exec(f"from {rg.__name__} import *", brought)
    listed = {line[3:] for line in LIST.read_text(encoding="utf-8").split() if line.count(".") == 1}
    lazy = set(rg._WHEN_ASKED)  # without __all__ a star brings what is loaded
    assert listed - lazy <= set(brought)


def test_what_there_is_does_not_depend_on_what_was_used():
    code = (
        "import retrograde as rg; before = dir(rg); rg.max, rg.prod, rg.nn, rg.births; "
        "assert dir(rg) == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
