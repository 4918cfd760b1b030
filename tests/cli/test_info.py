"""``retrograde info``: which core runs, and why."""

from __future__ import annotations

import importlib
import json
import platform
import subprocess
import sys
from importlib import metadata

import pytest

import retrograde

from .schema import misfits

ESCAPE = "\x1b"


@pytest.fixture
def info(cli):
    return importlib.import_module(f"{cli.__name__}.info")


@pytest.fixture
def value(rg):
    return importlib.import_module(f"{rg.__name__}.value")


def printed_json(cli, capsys):
    assert cli.main(["info", "--json"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return json.loads(shown.out)


def test_json_has_exactly_what_is_declared(cli, info, capsys):
    assert misfits(printed_json(cli, capsys), info.Info) == []


def test_the_schema_check_itself_finds_faults(info):
    found = info.gather()
    assert misfits({**found, "core": 3}, info.Info) == ["it.core: 3 should be str"]
    assert misfits({**found, "packages": [{}]}, info.Info)
    assert misfits({}, info.Info)


def test_it_names_the_core_and_the_reason(cli, value, capsys):
    found = printed_json(cli, capsys)
    assert found["retrograde"] == retrograde.__version__
    assert (found["core"], found["reason"]) == (value.core_name, value.core_reason)
    assert found["python"].endswith(platform.python_version())
    assert (found["simd"] is None) == (value.core_name == "reference")


def test_it_names_the_compiler(cli, capsys, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    assert printed_json(cli, capsys)["compiler"] is None
    assert cli.main(["info"]) == 0
    assert "compiler  none: backend='cc' is the interpreter" in capsys.readouterr().out


def test_packages_are_found_by_their_metadata(cli, capsys):
    packages = {package["name"]: package for package in printed_json(cli, capsys)["packages"]}
    assert packages["numpy"]["version"] == metadata.version("numpy")
    assert packages["rich"]["version"] == metadata.version("rich")
    assert {"torch", "jax", "scipy", "micrograd"} <= set(packages)
    assert all(package["purpose"] for package in packages.values())


def test_a_package_that_is_not_there_is_said_not_to_be(cli, info, capsys, monkeypatch):
    monkeypatch.setattr(info, "PACKAGES", {"no-such-package-anywhere": "nothing"})
    assert printed_json(cli, capsys)["packages"] == [
        {"name": "no-such-package-anywhere", "version": None, "purpose": "nothing"}
    ]
    assert cli.main(["info"]) == 0
    assert "no-such-package-anywhere  not installed  nothing" in capsys.readouterr().out


def test_the_text_says_the_same(cli, value, capsys):
    assert cli.main(["info"]) == 0
    printed = capsys.readouterr().out
    assert f"  core      {value.core_name}: {value.core_reason}" in printed
    assert ("The reference core is pure Python" in printed) == (value.core_name == "reference")
    assert ESCAPE not in printed


@pytest.mark.parametrize("columns", [30, 50, 80, 200])
def test_it_keeps_to_the_width(cli, value, terminal, monkeypatch, columns):
    monkeypatch.setattr(
        importlib.import_module(f"{cli.__name__}.info"), "core_reason", "a long reason " * 20
    )
    monkeypatch.setenv("NO_COLOR", "1")
    stream = terminal(columns)
    assert cli.main(["info"]) == 0
    assert all(len(line) <= columns for line in stream.getvalue().splitlines())


def test_it_does_not_import_what_it_looks_up(shell):
    code = "import sys, retrograde.cli as cli; cli.main(['info']); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize("core", ["reference", "native"])
def test_the_environment_variable_is_the_reason(shell, core):
    done = shell("info", "--json", RETROGRADE_CORE=core)
    if done.returncode and core == "native":
        pytest.skip("no native core here")
    found = json.loads(done.stdout)
    assert (found["core"], found["reason"]) == (core, f"RETROGRADE_CORE={core} asks for it")
