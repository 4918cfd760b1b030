"""Exercises are known by name: one that is put between others renames nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files

import pytest

from retrograde.cli import learn, main
from retrograde.learn import exercises as module
from retrograde.learn import progress
from retrograde.learn.exercises import exercise, exercises
from retrograde.learn.progress import Folder


def test_the_order_lists_every_exercise_once():
    folder = files("retrograde.learn") / "exercises"
    names = (folder / "order.txt").read_text().split()
    assert sorted(names) == sorted(set(names))
    assert {f"{name}.md" for name in names} == {
        it.name for it in folder.iterdir() if it.name != "order.txt"
    }
    assert [it.name for it in exercises()] == names


@pytest.fixture
def inserted(monkeypatch):
    """Calling it puts a new exercise in front of all others."""

    def insert():
        before = exercises()
        fresh = replace(before[0], name="fresh", module="ex01_fresh")
        later = [
            replace(it, number=it.number + 1, module=f"ex{it.number + 1:02}_{it.name}")
            for it in before
        ]
        now = (fresh, *later)
        monkeypatch.setattr(module, "exercises", lambda: now)
        monkeypatch.setattr(progress, "exercises", lambda: now)
        monkeypatch.setattr(learn, "exercises", lambda: now)

    return insert


def test_a_folder_from_before_an_exercise_was_inserted_goes_on(tmp_path, inserted, capsys):
    old = Folder.start(str(tmp_path))
    add, mul = exercise("add"), exercise("mul")
    old.file(add).write_text(add.solution)
    old.mark(add, True)
    before = sorted(path.name for path in tmp_path.glob("*.py"))
    inserted()
    now = Folder.start(str(tmp_path))  # adds what is missing, and renames nothing
    assert now.done == ("add",)
    assert now.current.name == "fresh"
    assert now.file(exercise("mul")).name == mul.file
    added = {path.name for path in tmp_path.glob("*.py")} - set(before)
    assert added == {"ex01_fresh.py", "test_ex01_fresh.py"}
    assert now.source(exercise("add")) == add.solution
    assert main(["learn", "check", "add", "--folder", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == add.file
    now.reset(exercise("mul"))
    assert now.file(exercise("mul")).read_text() == exercise("mul").start
    assert f"from {mul.module} import" in (tmp_path / mul.test_file).read_text()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", add.test_file],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_a_file_of_any_number_says_which_exercise_it_is():
    it = exercise("maximum")
    for given in ("maximum", it.file, "ex99_maximum.py", f"folder/{it.test_file}", str(it.number)):
        assert exercise(given) is it


def test_progress_of_the_first_edition_is_read(tmp_path):
    state = {"version": 1, "done": ["add", "mul"], "hints": {"mul": 2}, "solutions": ["add"]}
    (tmp_path / progress.STATE).write_text(json.dumps(state))
    mine = Folder.find(str(tmp_path))
    assert mine.done == ("add", "mul")
    assert mine.hints_seen(exercise("mul")) == 2
    assert mine.saw_solution(exercise("add"))
