"""Adding an op takes one row: rehearsed on a scratch copy, built, and used on both cores."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow
pytest.importorskip("scikit_build_core", reason="scikit-build-core is in the extra 'test'")


@pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="no C compiler here")
def test_an_op_is_one_row_and_its_generated_files() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "rehearse.py")],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, done.stdout
    for core in ("native", "reference"):
        assert f"the {core} engine computes and differentiates them" in done.stdout
        assert f"{core}: methods_and_functions, derivatives, gradient_check" in done.stdout
        assert f"{core}: functions, by_plain_loops, derivatives" in done.stdout
    assert "copies, replayed" in done.stdout
    assert "the tests of the array law hold for them" in done.stdout
