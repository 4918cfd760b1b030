"""retrograde learn and retrograde grade as a learner and a teacher would use them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import retrograde
from retrograde.cli import main
from retrograde.learn import faults
from retrograde.learn.exercises import exercise, exercises
from retrograde.learn.progress import STATE, Folder

SOURCE = Path(retrograde.__file__).parents[1]
RIGHT = Path(faults.__file__).read_text() + "\nValue = FaultyValue\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def mine(here, capsys):
    assert main(["learn", "start", "mine"]) == 0
    capsys.readouterr()
    return here / "mine"


def solve(folder, name, text=None):
    it = exercise(name)
    (folder / it.file).write_text(it.solution if text is None else text)


def learn(*words):
    return main(["learn", *words, "--folder", "mine"])


def test_next_makes_the_folder_and_shows_the_first_exercise(here, capsys):
    assert main(["learn", "next"]) == 0
    printed = capsys.readouterr().out
    assert "Addition" in printed
    assert "retrograde-exercises/ex01_add.py" in printed
    assert all(len(line) <= 80 for line in printed.splitlines())
    assert (here / "retrograde-exercises" / "test_ex01_add.py").exists()
    assert main(["learn", "check"]) == 1  # found from beside it


def test_a_right_answer_moves_on_and_is_remembered(mine, capsys):
    solve(mine, "add")
    assert learn("check") == 0
    assert "next: 2 Subtraction" in capsys.readouterr().out
    assert json.loads((mine / STATE).read_text())["done"] == ["add"]
    assert learn("next") == 0
    assert "Subtraction" in capsys.readouterr().out


def test_a_wrong_answer_is_named_within_80_columns(mine, capsys):
    solve(mine, "add", exercise("add").wrong[0][1])
    assert learn("check", "add") == 1
    printed = capsys.readouterr().out
    assert "thinks that addition splits the gradient" in printed
    assert "smallest example" in printed
    assert all(len(line) <= 80 for line in printed.splitlines())


def test_check_as_data(mine, capsys):
    solve(mine, "mul", exercise("mul").wrong[0][1])
    assert learn("check", "4", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert told["exercise"] == "mul"
    assert [it["name"] for it in told["misconceptions"]] == ["not-swapped"]


def test_everything_at_once(mine, capsys):
    for it in exercises():
        solve(mine, it.name)
    assert learn("check", "--all") == 0
    assert f"{len(exercises())} of {len(exercises())} right" in capsys.readouterr().out
    assert learn("next") == 0
    assert "All exercises are done" in capsys.readouterr().out


def test_one_that_hangs_does_not_spoil_the_others(mine, capsys, monkeypatch):
    chosen = exercises()[:2]
    monkeypatch.setattr("retrograde.cli.learn.exercises", lambda: chosen)
    solve(mine, "add", "while True: pass\n")
    solve(mine, "sub")
    assert learn("check", "--all", "--json", "--seconds", "1") == 1
    told = json.loads(capsys.readouterr().out)
    assert [it["passed"] for it in told] == [False, True]
    assert "still running" in told[0]["problem"]


def test_editing_the_tests_changes_nothing(mine, capsys):
    (mine / exercise("add").test_file).write_text("def test_nothing(): pass\n")
    (mine / "conftest.py").write_text("raise SystemExit\n")
    assert learn("check", "add") == 1
    solve(mine, "add")
    assert learn("check", "add") == 0


def test_any_exercise_can_be_shown_and_chosen(mine, capsys):
    assert learn("next", "relu") == 0
    assert "ex12_relu.py" in capsys.readouterr().out
    solve(mine, "relu")
    assert learn("check") == 0  # the one that was chosen
    assert "relu: right" in capsys.readouterr().out
    assert learn("next") == 0
    assert "Addition" in capsys.readouterr().out
    solve(mine, "mul", "mine = 1\n")
    assert learn("show", "mul") == 0
    assert "mine = 1" in capsys.readouterr().out
    assert learn("show", "mul", "--json") == 0
    assert json.loads(capsys.readouterr().out)["source"] == "mine = 1\n"
    assert learn("show", "mull") == 2
    assert "did you mean 'mul'" in capsys.readouterr().err


def test_an_exercise_can_be_shown_where_there_is_no_folder(here, capsys):
    assert main(["learn", "show", "tanh"]) == 0
    printed = capsys.readouterr().out
    assert "squeezes every number between -1 and 1" in printed
    assert "def backward(dy: float, x: float) -> float:" in printed
    assert not list(here.iterdir())
    assert main(["learn", "show"]) == 2


def test_a_folder_of_an_earlier_version_goes_on(mine, capsys):
    (mine / STATE).write_text('{"version": 1, "done": ["add"], "hints": {}, "solutions": []}')
    assert learn("next") == 0
    assert "Subtraction" in capsys.readouterr().out


@pytest.mark.parametrize("it", exercises(), ids=lambda it: it.name)
def test_the_task_in_the_file_is_the_one_on_the_screen(it):
    head = "".join(line for line in it.start.splitlines(True) if line.startswith("#"))
    in_the_file = " ".join(head.replace("#", " ").split())
    assert in_the_file == " ".join(f"{it.number} {it.title} {it.about}".replace("#", " ").split())
    assert all(len(line) <= 100 for line in it.start.splitlines())


def test_hints_grow_and_the_solution_is_shown_when_asked(mine, capsys):
    learn("hint")
    first = capsys.readouterr().out
    learn("hint")
    second = capsys.readouterr().out
    assert "hint 1 of 3" in first
    assert "hint 2 of 3" in second
    assert learn("solution", "add") == 0
    assert capsys.readouterr().out == exercise("add").solution
    assert Folder(mine).saw_solution(exercise("add"))


def test_reset_brings_the_file_back_and_keeps_mine(mine, capsys):
    solve(mine, "add", "mine = 1\n")
    assert learn("reset", "add") == 0
    assert (mine / "ex01_add.py").read_text() == exercise("add").start
    assert (mine / "ex01_add.py.old").read_text() == "mine = 1\n"


def test_starting_again_overwrites_nothing(mine, capsys):
    solve(mine, "add", "mine = 1\n")
    assert main(["learn", "start", "mine"]) == 0
    assert (mine / "ex01_add.py").read_text() == "mine = 1\n"


def test_list_shows_what_is_done(mine, capsys):
    solve(mine, "add")
    learn("check")
    capsys.readouterr()
    assert learn("list") == 0
    printed = capsys.readouterr().out
    assert "✓  1 add" in printed
    assert f"1 of {len(exercises())} done" in printed
    assert learn("list", "--json") == 0
    assert [it["done"] for it in json.loads(capsys.readouterr().out)][:2] == [True, False]


MISUSE = {
    "unknown exercise": (["check", "ad", "--folder", "mine"], "did you mean 'add'?"),
    "no folder": (["check", "--folder", "nowhere"], "is no folder of exercises"),
    "unknown action": (["chek"], "did you mean 'check'?"),
    "no time": (["check", "--seconds", "0", "--folder", "mine"], "above 0"),
}


@pytest.mark.parametrize("what", MISUSE)
def test_misuse_is_one_message_and_exit_code_2(mine, capsys, what):
    words, message = MISUSE[what]
    assert main(["learn", *words]) == 2
    told = capsys.readouterr()
    assert message in told.err
    assert told.out == ""


def test_a_deleted_file_and_damaged_progress_are_told(mine, capsys):
    (mine / "ex01_add.py").unlink()
    assert learn("check", "add") == 2
    assert "retrograde learn reset add brings it back" in capsys.readouterr().err
    (mine / STATE).write_text("{")
    assert learn("list") == 2
    assert "is damaged" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_that_cannot_be_written(here, capsys):
    (here / "file").write_text("")
    assert main(["learn", "start", "file/inside"]) == 2
    assert "cannot write in file/inside" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_watch_checks_on_save_and_ctrl_c_ends_it(mine):
    process = subprocess.Popen(
        [sys.executable, "-m", "retrograde", "learn", "watch", "add", "--folder", str(mine),
         "--json"],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    try:
        assert json.loads(process.stdout.readline())["passed"] is False
        solve(mine, "add")
        assert json.loads(process.stdout.readline())["passed"] is True
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


# ---- grade ----


def test_grade_as_text_and_as_data(here, capsys):
    (here / "student.py").write_text(RIGHT + "print('hello')\n")
    assert main(["grade", "student.py"]) == 0
    assert "22 of 22 capabilities right (100%)" in capsys.readouterr().out
    (here / "student.py").write_text(exercise("backward").solution)
    assert main(["grade", "student.py", "--json", "--seed", "ada"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert {"recursion-limit", "interior-leak"} <= {it["name"] for it in told["misconceptions"]}
    assert 0 < told["score"] < 1


def test_a_class_is_graded_and_one_bad_file_does_not_stop_it(here, capsys):
    folder = here / "class"
    folder.mkdir()
    (folder / "ada.py").write_text(RIGHT)
    (folder / "bob.py").write_text(exercise("deep").solution)
    (folder / "eve.py").write_bytes(b"\xff\xfe")
    assert main(["grade", "class"]) == 1
    printed = capsys.readouterr().out
    assert "1 of 3 files are right" in printed
    assert all(len(line) <= 80 for line in printed.splitlines())
    assert main(["grade", "class/ada.py", "nofile.py", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [(it["seed"], it["score"]) for it in told] == [("ada", 1.0), ("nofile", 0.0)]
    assert main(["grade", "class/ada.py", "--csv"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "file,seed,score,right,counted,misconceptions,problem,points,of",
        "class/ada.py,,1.0,22,22,,,22.0,22.0",
    ]  # fmt: skip


def test_a_verdict_stands_where_it_cannot_be_remembered(mine, capsys, monkeypatch):
    def refuse(path, state):
        raise OSError(28, "No space left on device")

    solve(mine, "add")
    monkeypatch.setattr("retrograde.learn.progress.write_whole", refuse)
    assert learn("check", "add") == 0
    told = capsys.readouterr()
    assert "add: right" in told.out
    assert "No space left on device" in told.err


def test_progress_that_was_deleted_begins_anew(mine, capsys):
    (mine / STATE).unlink()
    assert learn("list") == 0
    assert f"0 of {len(exercises())} done" in capsys.readouterr().out


def test_cards_and_exhibits(here, capsys):
    assert main(["grade", "cards", "--student", "ada", "--count", "2"]) == 0
    assert capsys.readouterr().out.count("fold here") == 2
    assert main(["grade", "cards", "--seed", "ada", "--svg", "cards"]) == 0
    assert len(list((here / "cards").iterdir())) == 9
    assert (
        main(["grade", "exhibit", "waterfall", "y = a*b + a", "a=2", "b=3", "--svg", "w.svg"]) == 0
    )
    assert (here / "w.svg").read_text().startswith("<svg")
    capsys.readouterr()
    assert main(["grade", "exhibit", "mul"]) == 0
    assert "swaps" in capsys.readouterr().out
    assert main(["grade", "exhibit", "rules", "--svg", "rules"]) == 0
    assert (here / "rules" / "rule-tanh.svg").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nofile.py"], "cannot read nofile.py"),
        (["exhibit", "nonsense"], "there is no exhibit 'nonsense'"),
        (["exhibit"], "there is no exhibit"),
        (["exhibit", "graph", "a*", "a=2"], "cannot be read"),
        (["cards", "--count", "0"], "from 1 to 100"),
        (["cards", "extra"], "--help"),
        (["exhibit", "rules"], "--svg FOLDER"),
    ],
)
def test_misuse_of_grade(here, capsys, words, message):
    assert main(["grade", *words]) == 2
    assert message in capsys.readouterr().err
