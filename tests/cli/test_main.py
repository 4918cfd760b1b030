"""The command itself: help, version, exit codes, and what errors look like."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

import pytest

import retrograde

ESCAPE = "\x1b"


def module(cli, name):
    return importlib.import_module(f"{cli.__name__}.{name}")


def test_version(cli, capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"retrograde {retrograde.__version__}\n"


def test_help_names_every_command_and_fits_80_columns(cli, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main(["--help"]) == 0
    printed = capsys.readouterr().out
    for command in cli.COMMANDS:
        assert f"\n  {command}" in printed
        assert cli.main([command, "--help"]) == 0
        printed += capsys.readouterr().out
    assert all(len(line) <= 80 for line in printed.splitlines())


def test_without_a_command_it_shows_the_help_and_fails_as_misused(cli, capsys):
    assert cli.main([]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "commands:" in shown.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dmo"], "retrograde: there is no command 'dmo'; did you mean 'demo'?"),
        (
            ["xyz"],
            "retrograde: there is no command 'xyz'; choose from explain, run, check, map, memory, "
            "doctor, train, demo, learn, grade, build, info, bench.",
        ),
        (["info", "--wat"], "retrograde: unrecognized arguments: --wat"),
        (["demo", "--js"], "retrograde: unrecognized arguments: --js"),
    ],
)
def test_misuse_is_one_message_and_exit_code_2(cli, capsys, arguments, message):
    assert cli.main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == [message, "Try 'retrograde --help'."]


def test_a_choice_that_an_option_does_not_have_is_not_taken_for_a_command(cli, capsys):
    assert cli.main(["run", "x.py", "--shim", "y"]) == 2
    said, cure = capsys.readouterr().err.splitlines()
    assert said.startswith("retrograde: argument --shim: invalid choice: 'y' (choose from ")
    assert cure == "Try 'retrograde run --help'."


def test_an_error_of_the_package_is_one_message_and_exit_code_1(cli, rg, capsys, monkeypatch):
    def fail(options):
        raise rg.errors.ShapeError("the shapes do not agree; make them agree.")

    monkeypatch.setattr(module(cli, "info"), "run", fail)
    assert cli.main(["info"]) == 1
    shown = capsys.readouterr()
    assert shown.err == "retrograde: the shapes do not agree; make them agree.\n"
    assert shown.out == ""


def test_a_bug_is_not_hidden(cli, monkeypatch):
    def fail(options):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(module(cli, "info"), "run", fail)
    with pytest.raises(ZeroDivisionError):
        cli.main(["info"])


def test_interrupting_is_quiet_and_exits_with_130(cli, capsys, monkeypatch):
    def interrupt(options):
        raise KeyboardInterrupt

    monkeypatch.setattr(module(cli, "demo"), "run", interrupt)
    assert cli.main(["demo"]) == 130
    assert capsys.readouterr().err == "retrograde: interrupted\n"


def test_python_m_retrograde_is_the_command(shell):
    done = shell("info")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"retrograde {retrograde.__version__}\n")
    assert done.stderr == ""
    assert ESCAPE not in done.stdout
    assert shell("nonsense").returncode == 2


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_a_reader_that_leaves_early_gets_no_traceback():
    source = os.path.dirname(os.path.dirname(retrograde.__file__))
    done = subprocess.run(
        f"'{sys.executable}' -m retrograde demo --no-speed | true",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert done.stderr == ""


def test_rich_is_loaded_by_commands_only(shell):
    source = os.path.dirname(os.path.dirname(retrograde.__file__))
    code = (
        "import sys, retrograde.cli as c; c.main(['info', '--json']); print('rich' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert done.stdout.splitlines()[-1] == "False"
