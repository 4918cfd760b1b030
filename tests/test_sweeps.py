"""Sweeps run where they are asked for by name, and nowhere else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent


@pytest.mark.parametrize(
    ("expression", "taken"), [("", False), ("not slow", False), ("sweep", True), ("slow", False)]
)
def test_only_an_expression_that_names_them_takes_sweeps(expression: str, taken: bool) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-m", expression]
    command += ["-p", "no:cacheprovider", str(HERE / "program" / "test_long_loops.py")]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    assert ("test_many_random_programs" in done.stdout) == taken, done.stdout + done.stderr
