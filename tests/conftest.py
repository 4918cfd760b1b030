"""The package on each of its two cores, in one process.

``rg`` runs a test once on each; ``native`` and ``reference`` serve tests that compare them. The
reference is a second copy of the package, named ``retrograde_reference``.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import retrograde
from retrograde import value

REFERENCE = "retrograde_reference"


def pytest_configure() -> None:
    """Ctrl-C is tested in processes that inherit it: in the background a shell may have it off."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _load_reference() -> ModuleType:
    """A copy of the package whose core is the reference, loaded once."""
    if REFERENCE in sys.modules:
        return sys.modules[REFERENCE]
    home = Path(retrograde.__file__).parent
    spec = importlib.util.spec_from_file_location(
        REFERENCE, home / "__init__.py", submodule_search_locations=[str(home)]
    )
    assert spec is not None
    assert spec.loader is not None
    copy = sys.modules[REFERENCE] = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "RETROGRADE_CORE", "reference")
        spec.loader.exec_module(copy)
    return copy


def _load_native() -> ModuleType:
    """The package itself; skips where it runs on the reference core."""
    if value.core_name != "native":
        pytest.skip(f"no native core: {value.core_reason}")
    return retrograde


@pytest.fixture(scope="session")
def native() -> Any:
    return _load_native()


@pytest.fixture(scope="session")
def reference() -> Any:
    return _load_reference()


@pytest.fixture(scope="session", params=["native", "reference"])
def rg(request: pytest.FixtureRequest) -> Any:
    """The package, once on each core."""
    return _load_native() if request.param == "native" else _load_reference()
