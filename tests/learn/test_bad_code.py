"""Learner code that misbehaves: a clear message, in time, nothing outside touched."""

from __future__ import annotations

import time

import pytest

from retrograde.errors import BoundaryError
from retrograde.learn.boundaries import KINDS
from retrograde.learn.checking import check_source, check_sources
from retrograde.learn.exercises import exercise
from retrograde.learn.progress import read_source

IT = exercise("add")


def check(source, seconds=10.0):
    (found,) = check_sources([(IT, source)], seconds)
    return found


def test_an_endless_loop_is_stopped_and_its_line_named():
    began = time.monotonic()
    found = check("def backward(dy, x, y):\n    while True:\n        x += 1\n", 1.0)
    assert not found.passed
    assert "still running after 1 seconds" in found.ran.problem
    assert found.ran.line in (2, 3)
    assert time.monotonic() - began < 15


def test_an_endless_loop_that_prints_is_stopped_and_cut_short():
    found = check("print('hello')\nwhile True:\n    print('x' * 100)\n", 1.0)
    assert "still running" in found.ran.problem
    assert found.ran.printed.startswith("hello")
    assert len(found.ran.printed) <= 4_000


PROBLEMS = {
    "recursion while loading": ("def f():\n    return f()\nf()\n", "recurses without end", 2),
    "raises": ("x = 1\nraise ValueError('no')\n", "ValueError: no", 2),
    "syntax": ("def backward(dy, x, y)\n    return dy\n", "SyntaxError", 1),
    "indentation": ("def f():\nreturn 1\n", "IndentationError", 2),
    "nonsense import": ("import no_such_module_here\n", "No module named", 1),
    "exit": ("import sys\nsys.exit(0)\n", "ends the program", 2),
    "hard exit": ("import os\nos._exit(0)\n", "ended Python before it could answer", None),
    "null byte": ("x = 1\n\0", "null byte", None),
    "interrupts itself": ("raise BaseException('odd')\n", "BaseException: odd", 1),
    "acts like Ctrl-C": ("raise KeyboardInterrupt\n", "KeyboardInterrupt", 1),
    "asks for input": ("x = input()\n", "there is none here", 1),
    "replaces a builtin": (
        "import builtins\nbuiltins.getattr = builtins.type = None\nraise ValueError\n",
        "broke down", None,
    ),
    "an exception without words": (
        "class Mute(BaseException):\n    def __str__(self): raise self\nraise Mute\n", "Mute", 3,
    ),
    "starts a program": (
        "import subprocess\nsubprocess.run(['true'])\n", "it may not do that here", 2,
    ),
    "forks": ("import os\nos.fork()\n", "it may not do that here", 2),
    "writes": ("open('notes.txt', 'w')\n", "it may not do that here", 1),
    "a package": ("import torch\n", "only Python's own modules and NumPy", 1),
}  # fmt: skip


@pytest.mark.parametrize("what", PROBLEMS)
def test_a_problem_is_said_with_its_line(what):
    source, message, line = PROBLEMS[what]
    found = check(source)
    assert not found.passed
    assert message in found.ran.problem
    if line is not None:
        assert found.ran.line == line


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("", "the file has no function or class 'backward'"),
        ("backward = 3\n", "the file has no function or class 'backward'"),
        ("def backward(dy, x, y):\n    return backward(dy, x, y)\n", "RecursionError"),
        ("def backward(dy, x, y):\n    raise ValueError('no')\n", "ValueError: no"),
        ("def backward(dy):\n    return dy\n", "TypeError"),
        ("def backward(dy, x, y):\n    pass\n", "it returned nothing: is there a return?"),
        ("def backward(dy, x, y):\n    return 'abc'\n", "it returned text where 2 numbers"),
        ("def backward(dy, x, y):\n    return '1', '2'\n", "it returned text"),
        ("def backward(dy, x, y):\n    return dy\n", "a single number where 2 numbers"),
        ("def backward(dy, x, y):\n    return dy, dy, dy\n", "3 numbers in a row where 2"),
    ],
)
def test_a_function_that_fails_is_told_in_the_answers(source, told):
    found = check(source)
    assert not found.passed
    assert told in found.diagnosis.wrong[0].got


def test_a_crash_of_the_interpreter_is_survived():
    found = check("import faulthandler\nfaulthandler._sigsegv()\n")
    assert "crashed Python (signal 11)" in found.ran.problem
    assert found.ran.line == 2


def test_a_higher_recursion_limit_is_no_way_round_a_deep_graph():
    source = f"import sys\nsys.setrecursionlimit(10**6)\n{exercise('backward').solution}"
    (found,) = check_sources([(exercise("deep"), source)])
    assert [it.name for it in found.diagnosis.found] == ["recursion-limit"]


@pytest.mark.parametrize(
    "source",
    [
        "\ufeff{}",
        "# -*- coding: latin-1 -*-\n# caf\u00e9\n{}",
        "import sys\nsys.stdout.close()\n{}",
    ],
    ids=["BOM", "another encoding", "closed output"],
)
def test_right_answers_pass_however_the_file_is_written(tmp_path, source):
    text = source.format(IT.solution)
    encoding = "latin-1" if "latin-1" in text else "utf-8"
    (tmp_path / "ex.py").write_text(text, encoding=encoding)
    assert check(read_source(tmp_path / "ex.py")).passed


def test_what_is_printed_without_end_is_dropped():
    found = check(f"import os\nfor n in range(40): os.write(1, b'x' * 1_000_000)\n{IT.solution}")
    assert found.passed
    assert len(found.ran.printed) <= 4_000


def test_changing_what_asks_changes_nothing():
    source = """
import math, sys
for name, module in list(sys.modules.items()):
    if name.startswith("inside"):
        for each in dir(module):
            if not each.startswith("_"):
                setattr(module, each, lambda *them, **how: True)
math.isclose = lambda *them, **how: True
def backward(dy, x, y):
    return dy / 2, dy / 2
"""
    found = check(source)
    assert not found.passed


def test_memory_without_end_is_refused():
    found = check("x = bytearray(1 << 40)\n")
    assert "more memory than it may have" in found.ran.problem


@pytest.mark.parametrize("kind", [*KINDS, "none"])
def test_a_check_behind_each_boundary(kind):
    try:
        found = check_source(IT, IT.solution, boundary=kind)
    except BoundaryError as error:
        pytest.skip(str(error))
    assert found.passed
    assert found.data()["boundary"] == kind


def test_exercises_may_use_our_values_but_not_what_judges():
    it = exercise("neuron")
    assert check_source(it, it.solution).passed
    found = check_source(it, f"import retrograde.learn.rules\n{it.solution}")
    if found.ran.boundary == "none":
        pytest.skip("this system has no boundary")
    assert not found.passed
