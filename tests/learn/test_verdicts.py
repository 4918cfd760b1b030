"""Whose fault it is and where: ops that are absent, ops that are wrong, and the lines of faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrograde.learn import faults
from retrograde.learn.grading import grade_source

RIGHT = Path(faults.__file__).read_text() + "\nValue = FaultyValue\n"
ENGINE = """import math
from math import exp, tanh

class Value:
    def __init__(self, data, inputs=()):
        self.data, self.grad, self.inputs = data, 0.0, inputs

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    __radd__, __rmul__ = __add__, __mul__

    def sigmoid(self):
        s = 1 / (1 + math.exp(-self.data))
        return Value(s, ((self, s * (1 - s)),))

    def log(self):
        raise NotImplementedError

    def backward(self):
        order, seen, stack = [], set(), [(self, False)]
        while stack:
            value, done = stack.pop()
            if done:
                order.append(value)
            elif id(value) not in seen:
                seen.add(id(value))
                stack.append((value, True))
                stack.extend((it, False) for it, _ in value.inputs)
        for value in order:
            if value.inputs:
                value.grad = 0.0
        self.grad = 1.0
        for value in reversed(order):
            for it, partial in value.inputs:
                it.grad += partial * value.grad
"""


def verdicts(source, seed="ada"):
    grade = grade_source(source, "student.py", seed)
    assert grade.problem == ""
    return grade, {it.name: it for it in grade.capabilities}


def line_with(text, source=ENGINE):
    return next(n for n, line in enumerate(source.splitlines(), 1) if text in line)


def test_what_a_class_lacks_is_told_from_what_it_gets_wrong():
    grade, found = verdicts(ENGINE)
    assert (grade.score, grade.misconceptions) == (1.0, ())
    for op in ("sub", "neg", "exp", "tanh", "log", "relu"):  # exp and tanh are math's own
        assert found[op].verdict == "absent", op
    for op in ("add", "mul", "sigmoid", "numbers"):
        assert found[op].verdict == "right", op


def test_what_a_class_inherits_from_float_is_not_its_own():
    source = ENGINE.replace("class Value:", "class Value(float):").replace(
        "    def __init__", "    def __new__(cls, data, inputs=()):\n"
        "        return float.__new__(cls, data)\n\n    def __init__",
    )  # fmt: skip
    _, found = verdicts(source)
    assert found["sub"].verdict == found["div"].verdict == "absent"
    assert found["mul"].verdict == "right"


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong", ["s", "(1 - s)", "s * (1 + s)", "self.data * (1 - self.data)", "s * s", "0.25", "0.0"]
)
@pytest.mark.parametrize("seed", ["ada", "bob", ""])
def test_a_wrong_sigmoid_cannot_pass(wrong, seed):
    grade, found = verdicts(ENGINE.replace("s * (1 - s)", wrong), seed)
    assert found["sigmoid"].verdict == "wrong"
    assert found["sigmoid"].line == line_with("def sigmoid")
    assert not grade.whole


@pytest.mark.slow
@pytest.mark.parametrize("op", ["sigmoid", "sin", "cos", "sqrt", "exp", "tanh", "log"])
def test_no_function_is_right_with_a_wrong_slope(op):
    source = f"""{RIGHT}
kept = FaultyValue.{op}
def wrong(self):
    out = kept(self)
    out._partials = (out._partials[0] * 1.01,)
    return out
FaultyValue.{op} = wrong
"""
    _, found = verdicts(source)
    assert [it.name for it in found.values() if it.verdict == "wrong"] == [op]


@pytest.mark.parametrize(
    ("right", "wrong", "name", "place"),
    [
        ("(self, other.data), (other, self.data)", "(self, self.data), (other, other.data)",
         "not-swapped", "def __mul__"),
        ("(self, 1.0), (other, 1.0)", "(self, 0.5), (other, 0.5)", "halves", "def __add__"),
        ("it.grad += partial", "it.grad = partial", "overwrites", "it.grad = partial"),
        ("reversed(order)", "[self]", "one-step", "def backward"),
        ("s * (1 - s)", "self.data * (1 - self.data)", "from-input", "def sigmoid"),
        ("self.grad = 1.0", "pass", "no-seed", "def backward"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("seed", ["ada", "bob"])
def test_the_fault_named_is_the_students_with_its_line(right, wrong, name, place, seed):
    source = ENGINE.replace(right, wrong)
    grade, _ = verdicts(source, seed)
    assert [it.name for it in grade.misconceptions] == [name]
    assert grade.misconceptions[0].line == line_with(place, source)
