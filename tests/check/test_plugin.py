"""The pytest plugin: the marker checks gradients, passes strict markers, and stays light."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import retrograde

SOURCE = Path(retrograde.__file__).parent.parent

TESTS = """
import pytest, retrograde as rg

@rg.custom_op
def cube(x):
    return x**3, (3.003 * x**2,)

@pytest.mark.gradients(x=1.0, y=[2.0, 3.0])
def test_right(x, y):
    return x * y[0].exp() + y[1]

@pytest.mark.gradients(x=1.0)
def test_wrong(x):
    return cube(x)

@pytest.mark.gradients("x", order=2)
@pytest.mark.parametrize("x", [1.0, 2.0])
def test_parametrized(x, tmp_path):
    return x * x

class TestInside:
    @pytest.mark.gradients(x=1.0)
    def test_method(self, x):
        return x.tanh()
"""


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "retrograde_pytest", "-p", "no:cacheprovider",
         "--strict-markers", "-q", *arguments],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip


def test_marked_tests_check_gradients(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    done = run(tmp_path)
    assert "1 failed, 4 passed" in done.stdout, done.stdout
    assert "the gradient of test_wrong[1.0] at x = 1 is 3.003" in done.stdout
    assert "a constant factor: 1.001" in done.stdout


def test_the_engine_is_not_imported_for_other_tests(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import sys\ndef test_it():\n    assert 'retrograde' not in sys.modules\n"
    )
    done = run(tmp_path)
    assert "1 passed" in done.stdout, done.stdout
    assert "@pytest.mark.gradients" in run(tmp_path, "--markers").stdout
