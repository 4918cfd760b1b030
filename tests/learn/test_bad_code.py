"""Learner code that misbehaves: a clear message, in time, nothing outside touched."""

from __future__ import annotations

import time

import pytest

from retrograde.learn.checking import check_sources
from retrograde.learn.exercises import exercise
from retrograde.learn.progress import read_source
from retrograde.learn.sandbox import Job, run

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
    "replaces a builtin": ("import builtins\nbuiltins.isinstance = None\n", "broke down", None),
    "an exception without words": (
        "class Mute(BaseException):\n    def __str__(self): raise self\nraise Mute\n", "Mute", 3,
    ),
    "prints past the fence": (
        "import os\nfor n in range(40): os.write(1, b'x' * 1_000_000)\n", "more than a file", 2,
    ),
    "starts a program": ("import os\nos.system('true')\n", "not allowed in an exercise", 2),
    "forks": ("import os\nos.fork()\n", "not allowed in an exercise", 2),
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


def test_nothing_outside_its_folder_is_touched(tmp_path):
    precious = tmp_path / "precious.txt"
    precious.write_text("mine")
    attempts = (
        f"open({str(precious)!r}, 'w')",
        f"import os; os.remove({str(precious)!r})",
        f"import os; os.rename({str(precious)!r}, 'x')",
        f"import shutil; shutil.rmtree({str(tmp_path)!r})",
        f"import pathlib; pathlib.Path({str(tmp_path / 'new')!r}).mkdir()",
        f"import os; os.open({str(tmp_path / 'new')!r}, os.O_CREAT | os.O_WRONLY)",
        f"import os; os.symlink({str(precious)!r}, {str(tmp_path / 'link')!r})",
        f"import sqlite3; sqlite3.connect({str(tmp_path / 'new.db')!r})",
        f"import os; os.open({str(tmp_path)!r}, os.O_RDONLY)",
    )
    found = run([Job(f"m{n}", text, IT.probe) for n, text in enumerate(attempts)])
    assert all("PermissionError" in it.problem for it in found), [it.problem for it in found]
    assert [it.name for it in tmp_path.iterdir()] == ["precious.txt"]
    assert precious.read_text() == "mine"


def test_writing_inside_its_own_folder_is_fine():
    found = check(f"open('notes.txt', 'w').write('mine')\n{IT.solution}")
    assert found.passed


def test_changing_what_judges_changes_nothing():
    source = """
import math, retrograde.learn.diagnosis as d, retrograde.learn.adapter as a
math.isclose = lambda *them, **how: True
d.same = d.all_same = a.agree = lambda *them: True
def backward(dy, x, y):
    return dy / 2, dy / 2
"""
    found = check(source)
    assert not found.passed
    assert found.diagnosis.found[0].name == "halves"


def test_memory_without_end_is_refused():
    found = check("x = bytearray(1 << 40)\n")
    assert "more memory than it may have" in found.ran.problem


def test_the_system_itself_refuses_what_no_hook_sees(tmp_path):
    """os.mkfifo raises no audit event; Landlock does not need one."""
    where = tmp_path / "pipe"
    (found,) = run([Job("m", f"import os; os.mkfifo({str(where)!r})", IT.probe)])
    if not found.problem:
        pytest.skip("this system has no Landlock")
    assert "PermissionError" in found.problem
    assert not where.exists()
