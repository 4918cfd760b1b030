"""The package as type checkers see it: the stubs fit the module, and typed programs check."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import retrograde
from retrograde import value

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(retrograde.__file__).parent.parent

pytest.importorskip("mypy", reason="mypy is in the extra 'test'")
pytestmark = pytest.mark.slow


def run(folder: Path, *command: str) -> str:
    """Run a checker on the package under test; its report when it finds fault."""
    environment = dict(os.environ)
    if HOME.name != "site-packages":  # mypy finds installed packages by itself
        environment["MYPYPATH"] = environment["PYTHONPATH"] = str(HOME)
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return "" if done.returncode == 0 else done.stdout


def test_a_typed_program_checks_strictly(tmp_path: Path) -> None:
    usage = Path(__file__).parent / "usage.py"
    assert run(tmp_path, "mypy", "--strict", "--config-file=", str(usage)) == ""


@pytest.mark.skipif(value.core_name != "native", reason=f"no native core: {value.core_reason}")
def test_the_stubs_fit_the_module(tmp_path: Path) -> None:
    modules = ("retrograde._native", "retrograde.elementwise")
    allowed = ROOT / "tools" / "stubtest.allow"
    assert run(tmp_path, "mypy.stubtest", *modules, "--allowlist", str(allowed)) == ""
