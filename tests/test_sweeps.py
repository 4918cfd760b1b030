"""Sweeps and slow tests run where they are asked for by name, and nowhere else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent


@pytest.mark.parametrize(
    ("expression", "taken"),
    [("", ""), ("not slow", ""), ("slow", "slow"), ("sweep", "sweep"), ("slow or sweep", "both")],
)
def test_only_an_expression_that_names_them_takes_them(expression: str, taken: str) -> None:
    files = [HERE / "program" / "test_long_loops.py", HERE / "tools" / "test_rehearsal.py"]
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-m", expression]
    command += ["-p", "no:cacheprovider", *map(str, files)]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    printed = done.stdout + done.stderr
    assert ("test_many_random_programs" in done.stdout) == (taken in ("sweep", "both")), printed
    assert ("test_an_op_is_one_row" in done.stdout) == (taken in ("slow", "both")), printed
