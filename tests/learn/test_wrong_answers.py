"""Generated wrong answers: none passes, and `check` and the test modules agree on every one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import retrograde
from retrograde.learn.exercises import exercises

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(retrograde.__file__).parents[1]


def judged(*arguments):
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "wrong_answers.py"), "--json", *arguments],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert [it for it in found if it["quarrel"]] == []
    assert done.returncode == 0, done.stderr
    return found


def test_orders_that_only_look_right_are_found():
    found = {it["what"]: it["right"] for it in judged("order", "--most", "1", "--jobs", "1")}
    assert not found["breadth first, reversed"]
    assert not found["shortest distance from the root"]
    assert not found["sorted by data"]
    assert found["longest distance from the root"]
    assert found["by the inputs that are left"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["add", "maximum", "value_relu", "backward", "training"])
def test_some_answers_to_some_exercises(name):
    assert len(judged(name, "--most", "6")) >= 6


@pytest.mark.slow
@pytest.mark.sweep
def test_thirty_wrong_answers_to_every_exercise():
    wrong = Counter(it["exercise"] for it in judged() if not it["right"])
    assert set(wrong) == {it.name for it in exercises()}
    assert min(wrong.values()) >= 30
