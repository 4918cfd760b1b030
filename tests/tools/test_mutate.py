"""The tool that changes programs: every kind of change, survivors found, explained ones known."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools"


@pytest.fixture
def mutations(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(TOOLS))
    yield importlib.import_module("mutations")
    sys.modules.pop("mutations", None)


def changes(mutations: ModuleType, path: Path, source: str) -> list[str]:
    path.write_text(source, encoding="utf-8")
    return [mutant.change for mutant in mutations.mutants_of(path)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", ["a < b  ->  a <= b", "a < b  ->  a >= b"]),
        ("a and not b", ["a and (not b)  ->  a or not b", "not b  ->  b"]),
        ("a + 2", ["a + 2  ->  a - 2", "2  ->  4"]),
        ("-a if b else c", ["-a if b else c  ->  c if b else -a", "-a  ->  a"]),
        ("x = max(a, True)", ["max(a, True)  ->  min(a, True)", "True  ->  False"]),
        ("a.b = c", ["a.b = c  ->  left out"]),
        ("a = c", []),
        ("raise E", ["raise E  ->  left out"]),
        ("def f(x, y=0): return x", ["y=0  ->  ignored", "return x  ->  return None", "0  ->  1"]),
        ("'2 < 3'", []),
    ],
)
def test_changes_to_python(
    mutations: ModuleType, tmp_path: Path, source: str, expected: list[str]
) -> None:
    assert sorted(changes(mutations, tmp_path / "m.py", source)) == sorted(expected)


C = """\
#include <a-b.h> /* 1 < 2 */
#define STEP(X) (X + y) // 3
int f(int x) {
    const char *s = "x == 4";
    if (x > y && s) g(x);
    x += z;
}
"""


def test_changes_to_c(mutations: ModuleType, tmp_path: Path) -> None:
    found = changes(mutations, tmp_path / "m.c", C)
    assert sorted(found) == sorted([
        "+  ->  - (at 19)", ">  ->  >= (at 6)", ">  ->  <= (at 6)", "&&  ->  || (at 10)",
        "+=  ->  -= (at 2)", "+=  ->  = (at 2)", "if (  ->  if (0 && (at 0)",
        "if (  ->  if (1 || (at 0)", "g(x);  ->  ; (at 16)", "x += z;  ->  ; (at 0)",
    ])  # fmt: skip


MODULE = """\
def size(x, least=0.0):
    if x > least:
        return x
    return least
"""
TESTS = """\
from m import size

def test_it():
    assert size(3.0) == 3.0
    assert size(-1.0) == 0.0
    assert size(2.0, 5.0) == 5.0
"""


@pytest.mark.slow
def test_survivors_are_found_and_counted(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "test_m.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, TOOLS / "mutate.py", "m.py", "--tests", "test_m.py", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    (counts,) = told["files"].values()
    assert [it["change"] for it in told["survivors"]] == ["x > least  ->  x >= least"]
    assert (counts["killed"], counts["survived"], counts["explained"]) == (6, 1, 0)
    assert counts["share"] == pytest.approx(6 / 7)


APART = """\
import subprocess, sys

def test_it():
    code = "from m import size; print(size(3.0), size(-1.0), size(2.0, 5.0), size(4.0, 4.0))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "3.0 0.0 5.0 4.0\\n"
"""


@pytest.mark.slow
def test_mutants_reach_the_processes_that_tests_start(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "test_m.py").write_text(APART, encoding="utf-8")
    command = [sys.executable, TOOLS / "mutate.py", "m.py", "--tests", "test_m.py", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [it["change"] for it in told["survivors"]] == ["x > least  ->  x >= least"]


def test_tests_that_fail_as_they_are_are_no_measure(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "test_m.py").write_text("def test_it(): assert False\n", encoding="utf-8")
    command = [sys.executable, TOOLS / "mutate.py", "m.py", "--tests", "test_m.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the tests fail as they are" in done.stderr


def test_every_explained_mutant_has_its_reason() -> None:
    text = (TOOLS / "mutants.allow").read_text(encoding="utf-8")
    for paragraph in text.split("\n\n")[1:]:
        file, *rest = paragraph.strip().splitlines()
        assert (ROOT / file).is_file(), file
        keys = [line.split(":")[0].strip() for line in rest]
        assert keys[:2] == ["in", "line"], paragraph
        assert keys[-1] == "why", paragraph
        assert set(keys[2:-1]) == {"change"}, paragraph
