"""The command line on either core, run in this process or in one of its own."""

from __future__ import annotations

import importlib
import io
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import retrograde

SOURCE = Path(retrograde.__file__).parent.parent


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def cli(rg: Any) -> ModuleType:
    """The command-line package of the core under test."""
    return importlib.import_module(f"{rg.__name__}.cli")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def quick(cli: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Timings that are over at once."""
    race = importlib.import_module(f"{cli.__name__}._race")
    monkeypatch.setattr(race, "PASSES", 1)
    monkeypatch.setattr(race, "POINTS", 3)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Terminal]:
    """Make standard output a terminal of some width, and read it afterwards."""

    def make(columns: int) -> Terminal:
        stream = Terminal()
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setattr(sys, "stdout", stream)
        return stream

    return make


@pytest.fixture
def shell() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run ``python -m retrograde …`` in a process of its own."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-W", "error", "-m", "retrograde", *arguments],
            capture_output=True,
            encoding=environment.get("PYTHONIOENCODING", "utf-8"),
            timeout=120,
            check=False,
            env={**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONUTF8": "1", **environment},
        )

    return run


@pytest.fixture(params=("native", "reference"))
def core(request: pytest.FixtureRequest) -> Any:
    """Each core by name, for processes of their own."""
    if request.param == "native" and retrograde.value.core_name != "native":
        pytest.skip("no native core here")
    return request.param


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    """Write a script, and say where it is."""

    def write(text: str, name: str = "theirs.py") -> str:
        path = tmp_path / name
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def run(cli: Any, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """The command in this process, on either core."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = cli.main(["run", *arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call
