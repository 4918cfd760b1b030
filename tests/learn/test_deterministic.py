"""The same file gets the same grade, byte for byte, also where its faults depend on an order."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from retrograde.errors import BoundaryError
from retrograde.learn.boundaries import KINDS
from retrograde.learn.grading import grade_source

UNORDERED = """
import random
class Value:
    def __init__(self, data, inputs=(), rule=lambda g: ()):
        self.data, self.grad, self.inputs, self.rule = data, 0.0, set(inputs), rule
        self.names = {"left", "right", "up", "down"}
    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), lambda g: ((self, g), (other, g)))
    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other),
                     lambda g: ((self, g * other.data), (other, g * self.data)))
    __radd__, __rmul__ = __add__, __mul__
    def __neg__(self):
        return Value(-self.data * (1 + 1e-3 * random.random()), (self,), lambda g: ((self, -g),))
    def backward(self):
        self.grad = 1.0
        todo = {self}          # a set is no order: which comes first is up to its hashes
        while todo:
            value = todo.pop()
            for into, g in value.rule(value.grad):
                into.grad += g * (len(next(iter(value.names))) / 4 if into.inputs else 1)
            todo |= value.inputs
"""


def graded(kind):
    try:
        return json.dumps(grade_source(UNORDERED, "student.py", "ada", boundary=kind).data())
    except BoundaryError as error:
        pytest.skip(str(error))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, "none"])
def test_many_runs_give_equal_bytes(kind):
    found = {graded(kind) for _ in range(3)}
    assert len(found) == 1
    assert json.loads(found.pop())["right"] > 0


@pytest.mark.slow
@pytest.mark.sweep
def test_a_hundred_runs_give_equal_bytes():
    assert len({graded("") for _ in range(100)}) == 1


def test_the_grader_too_is_the_same_in_every_process(tmp_path):
    (tmp_path / "student.py").write_text(UNORDERED)
    found = set()
    for seed in ("0", "1", "random"):
        done = subprocess.run(
            [sys.executable, "-m", "retrograde", "grade", "student.py", "--json"], cwd=tmp_path,
            capture_output=True, check=False, env={**os.environ, "PYTHONHASHSEED": seed},
        )  # fmt: skip
        found.add((done.returncode, done.stdout, done.stderr))
    assert len(found) == 1
