"""Rubrics: what counts in a grade, how much, and what is refused."""

from __future__ import annotations

import csv
import io
import json

import pytest

from retrograde.cli import main
from retrograde.errors import LearnError
from retrograde.learn.exercises import exercise
from retrograde.learn.grading import CAPABILITIES, grade_source
from retrograde.learn.rubric import rubric_from

ADDS = exercise("value_add").solution
"""A class that can add, and nothing else."""


def test_only_what_the_rubric_names_counts():
    grade = grade_source(ADDS, "ada.py", "ada", rubric={"add": 3.0, "mul": 1.0})
    assert [it.name for it in grade.counting] == ["add", "mul"]
    assert (grade.right, grade.counted, grade.points, grade.of) == (1, 2, 3.0, 4.0)
    assert grade.score == 0.75
    assert not grade.whole


def test_a_weight_of_nothing_does_not_count():
    grade = grade_source(ADDS, "ada.py", "ada", rubric={"add": 1.0, "mul": 0.0})
    assert (grade.score, grade.whole) == (1.0, True)


def test_without_a_rubric_every_capability_is_a_point():
    grade = grade_source(ADDS, "ada.py", "ada")
    assert (grade.points, grade.of) == (grade.right, grade.counted)


def test_a_rubric_may_be_a_file_with_one_a_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ada.py").write_text(ADDS)
    (tmp_path / "rubric.txt").write_text("# first week\nadd: 2\nreuse  # one point\nmul = 0.5\n")
    assert main(["grade", "ada.py", "--seed", "ada", "--rubric", "rubric.txt", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["rubric"] == {"add": 2.0, "reuse": 1.0, "mul": 0.5}
    assert told["of"] == 3.5
    assert main(["grade", "ada.py", "--seed", "ada", "--rubric", "add=2, mul"]) == 1
    printed = capsys.readouterr().out
    assert "1 of 2 capabilities right (2 of 3 points, 67%)" in printed
    assert "diamond" not in printed
    assert main(["grade", "ada.py", "--rubric", "add=2, mul", "--csv"]) == 1
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["points"], row["of"]) == ("2.0", "3.0")


def test_a_file_that_cannot_be_graded_has_none_of_the_points():
    grade = grade_source("def (", "ada.py", rubric={"add": 2.0})
    assert (grade.points, grade.of, grade.score) == (0.0, 2.0, 0.0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ad=2", "there is no capability 'ad'; did you mean 'add'?"),
        ("add=two", "the weight in 'add=two' is no number from 0 up"),
        ("add=-1", "the weight in 'add=-1' is no number from 0 up"),
        ("add=1, add=2", "'add' is in it twice"),
        ("add=0", "it gives no points at all"),
        ("", "it gives no points at all"),
        ("add+mul", "'add+mul' is no NAME or NAME=WEIGHT"),
    ],
)
def test_a_rubric_that_cannot_be_used_says_why(text, told):
    with pytest.raises(LearnError) as error:
        rubric_from(text, CAPABILITIES)
    assert told in str(error.value)
    assert "add=2" in str(error.value) or "did you mean" in str(error.value)
