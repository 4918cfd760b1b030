"""Every exercise: its solution passes, its start does not, its wrong answers are named."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

import retrograde
from retrograde.learn.checking import check_source, check_sources
from retrograde.learn.diagnosis import all_same, diagnose, gives, right_answers
from retrograde.learn.exercises import exercise, exercises
from retrograde.learn.faults import CONFUSABLE, FAULTS, STYLES, engine, misconception_of
from retrograde.learn.misconceptions import MISCONCEPTIONS
from retrograde.learn.probes import probe
from retrograde.learn.rules import RULES
from retrograde.ops import OPS

ALL = exercises()


def test_there_are_at_least_thirty_in_order_with_hints_and_wrong_answers():
    assert len(ALL) >= 30
    assert [it.number for it in ALL] == list(range(1, len(ALL) + 1))
    assert len({it.name for it in ALL}) == len(ALL)
    for it in ALL:
        assert len(it.hints) >= 2, it.name
        assert len(it.wrong) >= 2, it.name
        assert {name for name, _ in it.wrong} <= set(MISCONCEPTIONS), it.name


def test_the_first_is_a_function_of_one_op():
    assert "def backward(dy: float, x: float) -> float:" in exercise("exp").start
    assert "def backward(dy: float, a: float, b: float)" in exercise("add").start


@pytest.mark.parametrize("it", ALL, ids=lambda it: it.name)
def test_the_solution_passes(it):
    found = check_source(it, it.solution, 120.0)
    assert found.passed, found.data()


@pytest.mark.parametrize("it", ALL, ids=lambda it: it.name)
def test_the_start_does_not_pass(it):
    assert not check_source(it, it.start, 120.0).passed


@pytest.mark.parametrize(
    ("it", "place"),
    [
        pytest.param(it, place, id=f"{it.name}-{name}")
        for it in ALL
        for place, (name, _) in enumerate(it.wrong)
    ],
)
def test_a_wrong_answer_is_named(it, place):
    found = check_source(it, it.wrong[place][1], 120.0)
    assert not found.passed
    assert found.diagnosis is not None, found.ran.problem
    assert [each.name for each in found.diagnosis.found] == [it.wrong[place][0]]
    (named,) = found.diagnosis.found
    assert named.words == MISCONCEPTIONS[named.name].words
    assert "this gives" in named.example or "RecursionError" in named.example


@pytest.mark.slow
def test_the_tests_beside_the_exercises_agree(tmp_path):
    """pytest in place: every solution passes its module, no start and no wrong answer does."""
    folders = {"solution": lambda it: it.solution, "start": lambda it: it.start}
    most = max(len(it.wrong) for it in ALL)
    for place in range(most):
        folders[f"wrong{place}"] = lambda it, at=place: it.wrong[min(at, len(it.wrong) - 1)][1]
    for folder, source in folders.items():
        (tmp_path / folder).mkdir()
        for it in ALL:
            name = f"{folder}_{it.module}"
            (tmp_path / folder / f"{name}.py").write_text(source(it))
            test = it.test.replace(it.module, name)
            (tmp_path / folder / f"test_{name}.py").write_text(test)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no", "-rA",
         "-o", "addopts=", str(tmp_path)],
        capture_output=True, text=True, cwd=tmp_path, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(retrograde.__file__).parents[1])},
    )  # fmt: skip
    outcomes = {}
    for outcome, module in re.findall(
        r"^(PASSED|FAILED|ERROR) \S*?test_(\w+)\.py", done.stdout, re.M
    ):
        outcomes.setdefault(module, set()).add(outcome)
    assert len(outcomes) == len(folders) * len(ALL), done.stdout[-2000:]
    passed = {module for module, seen in outcomes.items() if seen == {"PASSED"}}
    assert passed == {f"solution_{it.module}" for it in ALL}


@pytest.mark.parametrize("name", sorted(set(RULES) & set(OPS)))
def test_rules_are_those_of_the_law(name):
    rule = RULES[name]
    for dy, *inputs in rule.points("law"):
        if name == "pow":
            expected = OPS[name].backward(dy, *inputs)[0]
        else:
            expected = OPS[name].backward(dy, *inputs)
        assert rule.right(dy, *inputs) == pytest.approx(expected)


WHOLE = "engine add sub mul div pow neg exp log tanh relu sigmoid numbers twice deep"


def counting(answers):
    return [it for it in answers if it.counts]


def test_the_right_engine_is_right_in_every_style_and_every_fault_shows():
    right = right_answers(WHOLE)
    assert all_same(right, probe(WHOLE).ask({"Value": retrograde.Value}))
    for style in STYLES:
        assert gives(WHOLE, {"Value": engine(*style)}, counting(right))
    for fault in FAULTS:
        assert not gives(WHOLE, {"Value": engine(fault)}, counting(right)), fault


@pytest.mark.slow
def test_no_two_misconceptions_of_a_probe_look_the_same():
    """But for pairs that further questions tell apart."""
    for text in {it.probe for it in ALL}:
        known = {
            fault: counting(probe(text).ask(it)) for fault, it in probe(text).subjects().items()
        }
        shown = {f: a for f, a in known.items() if f and not all_same(a, known[""])}
        for (one, mine), (other, theirs) in combinations(shown.items(), 2):
            pair = {misconception_of(one), misconception_of(other)}
            if len(pair) == 2 and pair not in [set(it) for it in CONFUSABLE.items()]:
                assert not all_same(mine, theirs), (text, one, other)


def test_two_faults_at_once_are_both_named():
    answers = probe("engine add mul").ask({"Value": engine("overwrites", "not-swapped")})
    found = diagnose("engine add mul", answers).found
    assert {it.name for it in found} == {"overwrites", "not-swapped"}


def test_answers_of_no_known_fault_are_not_given_a_name():
    wrong = {"backward": lambda dy, x, y: (dy * 1.1, dy)}
    found = diagnose("rule add", probe("rule add").ask(wrong))
    assert not found.passed
    assert found.found == ()
    assert found.wrong[0].label.startswith("backward(")


def mended(name, right, wrong):
    """The verdict on a solution in which one piece was changed."""
    it = exercise(name)
    assert right in it.solution
    (found,) = check_sources([(it, it.solution.replace(right, wrong))])
    return found


PROVEN = {
    "no push": ("value_add", "out._backward = push", "pass", ["nothing-arrives"]),
    "no seed": (
        "seed", "    root.grad = 1.0\n    for", "    for", ["no-seed"],
    ),
    "own gradient": ("seed", "partial * value.grad", "partial * it.grad", ["own-gradient"]),
    "visits the root alone": ("seed", "            visit(it)", "            pass", ["one-step"]),
    "forward": ("seed", "reversed(order(root))", "order(root)", ["order-not-reversed"]),
    "power under a quotient": (
        "value_pow", "n * self.data ** (n - 1)", "self.data ** (n - 1)", ["power-factor-lost"],
    ),
    "= in a difference": (
        "value_sub", "            self.grad += out.grad\n            other.grad += -out",
        "            self.grad = out.grad\n            other.grad += -out", ["overwrites"],
    ),
    "= in a gate": ("value_relu", "self.grad += (self", "self.grad = (self", ["overwrites"]),
    "border of a gate": ("value_relu", "self.data > 0", "self.data >= 0", ["edge"]),
    "border of relu": ("relu", "x > 0", "x >= 0", ["edge"]),
    "border of max": ("maximum", ">=", ">", ["edge"]),
    "gate inverted": ("relu", "x > 0", "x < 0", ["gate-inverted"]),
    "one input": ("add", "return dy, dy", "return dy, 0.0", ["one-input"]),
    "no square": ("tanh", "y**2", "y", ["square-forgotten"]),
    "no inverse": ("log", "dy / x", "dy * x", ["inverse-lost"]),
    "unchanged": ("exp", "dy * math.exp(x)", "dy", ["passes-unchanged"]),
    "one input forgotten": (
        "value_sub", "- other.data, (self, other)", "- other.data, (self, self)", [],
    ),
    "attached to the input": ("value_add", "out._backward = push", "self._backward = push", []),
}  # fmt: skip


@pytest.mark.parametrize("what", PROVEN)
def test_what_is_named_is_what_the_code_does(what):
    name, right, wrong, expected = PROVEN[what]
    found = mended(name, right, wrong)
    assert not found.passed
    assert [it.name for it in found.diagnosis.found] == expected
