"""retrograde check: functions and points found, verdicts as exit codes, text, JSON and HTML."""

from __future__ import annotations

import json

import pytest

FILE = """
import retrograde as rg

def area(x=2.0, y=3.0):
    return x * y.exp()

@rg.custom_op
def cube(x):
    return x**3, (3.003 * x**2,)

def volume(x):
    return cube(x) * 2

def unknown(x, y):
    return x * y

def several(x):
    return [x, x]

w = rg.Value(2.0, label="w")
parameters = [w]

def loss():
    return (w - 1) ** 2

points = {"volume": 1.5}

if __name__ == "__main__":
    raise SystemExit("not to be run")
"""


@pytest.fixture
def file(tmp_path, rg):
    path = tmp_path / "functions.py"
    path.write_text(FILE.replace("import retrograde as rg", f"import {rg.__name__} as rg"))
    return str(path)


def test_a_right_function_exits_with_0(cli, file, capsys):
    assert cli.main(["check", f"{file}:area"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("area = 40.17107385: right\n")
    assert all(len(line) <= 80 for line in printed.splitlines())
    assert "\x1b" not in printed


def test_a_wrong_function_exits_with_1_and_names_the_line(cli, file, capsys):
    assert cli.main(["check", f"{file}:volume"]) == 1
    printed = capsys.readouterr().out
    assert "✗" in printed
    assert "functions.py:" in "".join(printed.split())  # a long path is folded
    assert "a constant factor: 1.001" in printed


def test_a_file_checks_what_has_a_point_and_says_what_has_not(cli, file, capsys):
    assert cli.main(["check", file]) == 1
    printed = capsys.readouterr().out
    for text in ("area = ", "volume = ", "loss = ", "unknown was not checked: at which point?"):
        assert text in printed


def test_at_gives_the_point(cli, file, capsys):
    assert cli.main(["check", f"{file}:unknown", "--at", "x=1.0, y=2"]) == 0
    assert cli.main(["check", f"{file}:unknown", "--at", "1.0, y=2"]) == 0
    assert cli.main(["check", f"{file}:area", "--at", "y=0.0"]) == 0
    assert "area = 2: right" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        (":unknown", [], "at which point? write --at"),
        (":nothing", [], "has no function 'nothing'; its functions: area"),
        (":area", ["--at", "x=("], "cannot be read"),
        (":area", ["--at", "q=1"], "--at does not fit area(x=2.0, y=3.0)"),
        ("", ["--at", "x=1"], "--at is about one function"),
        ("x.py", [], "there is no file"),
    ],
)
def test_misuse_exits_with_2_and_says_what_to_write(cli, file, capsys, target, options, message):
    assert cli.main(["check", file + target, *options]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err


def test_a_function_that_cannot_be_checked_exits_with_2(cli, file, capsys):
    assert cli.main(["check", f"{file}:several", "--at", "x=1"]) == 2
    assert "Check one output at" in capsys.readouterr().out


def test_a_file_that_does_not_run_is_named_with_its_line(cli, tmp_path, capsys):
    path = tmp_path / "broken.py"
    path.write_text("x = 1\nraise RuntimeError('no')\n")
    assert cli.main(["check", str(path)]) == 2
    assert "broken.py:2 does not run: RuntimeError: no" in capsys.readouterr().err


def test_json_is_the_report(cli, file, capsys):
    assert cli.main(["check", f"{file}:area", "--json", "--order", "2"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["right"] is True
    assert [entry["place"] for entry in data["functions"][0]["entries"]][:2] == ["x", "y"]
    assert len(data["functions"][0]["entries"]) == 6


def test_html_is_one_page_without_outside_parts(cli, file, tmp_path, capsys):
    page = tmp_path / "report.html"
    assert cli.main(["check", file, "--html", str(page)]) == 1
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "http" not in text
    assert "wrong rule" in text


def test_against_another_engine(cli, file, capsys):
    assert cli.main(["check", f"{file}:area", "--against", "complex-step"]) == 0
    assert "they agree" in capsys.readouterr().out
    assert cli.main(["check", f"{file}:volume", "--against", "finite-differences"]) == 1
    assert "they differ" in capsys.readouterr().out
