"""The package on each of its two cores, in one process.

``rg`` runs a test once on each; ``native`` and ``reference`` serve tests that compare them. The
reference is a second copy of the package, named ``retrograde_reference``.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import retrograde
from retrograde import value

from .browser import running_browser

settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")  # nothing depends on the clock

HERE = Path(__file__).parent
TOOLS = HERE / "tools"
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
REFERENCE = "retrograde_reference"
CORES = ("rg", "core", "run", "cli")
"""The fixtures that choose a core."""
ABOVE = (
    "check",
    "cli",
    "compat",
    "derivatives",
    "examples",
    "explain",
    "learn",
    "models",
    "program",
)
"""Rooms whose code is the same whatever the core is, or nearly."""


def pytest_configure() -> None:
    """Ctrl-C is tested in processes that inherit it: in the background a shell may have it off."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _keep_bytecode()


def _keep_bytecode() -> None:
    """Where Python is told to write no bytecode, it does here all the same, beside the sources.

    Otherwise every worker, and every process that a test starts, compiles the package anew.
    """
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """``-m smoke`` is for the minute after an edit: nothing else is even read for it."""
    if config.option.markexpr != "smoke" or HERE not in collection_path.parents:
        return None
    return True if collection_path.relative_to(HERE).parts[0] != "smoke" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """All of it stays until the end: no collection of garbage needs to walk it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Every second worker reads from the end: what one of two has compiled the other loads."""
    report = yield
    if isinstance(collector, pytest.Directory) and WORKER[-1:] in set("13579"):
        report.result.reverse()
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is slow, and sweeps, run where ``-m`` or a node id names them and nowhere else."""
    if WORKER:  # all have them in one order, and none ends alone with the longest, which build
        items.sort(key=lambda item: (item.path.parent != TOOLS, str(item.path)))
    _shorten_banks(items)
    if any("::" in argument for argument in config.args):
        return
    asked = config.option.markexpr
    left_out = [
        item
        for item in items
        if (item.get_closest_marker("sweep") and "sweep" not in asked)
        or (item.get_closest_marker("slow") and "slow" not in asked and "sweep" not in asked)
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        unwanted = set(left_out)
        items[:] = [item for item in items if item not in unwanted]


def pytest_collection_finish() -> None:
    """What is there by now stays: no collection of garbage needs to walk it again."""
    gc.collect()
    gc.freeze()


def _shorten_banks(items: list[pytest.Item]) -> None:
    """Banks of cases: the reference meets a few or none, in a sweep all.

    What stands above the cores is the same on both, and what it asks a core for is held equal
    elsewhere. Every test of the rooms above meets the reference once at least, and each fourth of
    its cases. ``bank(native=n)`` takes each n-th case on the native core too, and the others where
    slow tests run.
    """
    met: Counter[tuple[str, bool]] = Counter()
    for item in items:
        call = getattr(item, "callspec", None)
        if call is None:
            continue
        on_reference = "reference" in map(call.params.get, CORES)
        bank = item.get_closest_marker("bank")
        if bank is None:
            if not on_reference or item.path.relative_to(HERE).parts[0] not in ABOVE:
                continue
            every = 4
        else:
            every = bank.kwargs.get("every", 0) if on_reference else bank.kwargs.get("native", 1)
        kind = item.nodeid.partition("[")[0], on_reference
        if not every or met[kind] % every:
            item.add_marker(pytest.mark.sweep if on_reference else pytest.mark.slow)
        met[kind] += 1


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


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium for all tests of a process: its driver allows no second one beside it."""
    with running_browser() as running:
        yield running
