"""``retrograde bench``: engines agree before they are timed, and the table says who ran."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from importlib import metadata
from importlib.util import find_spec

import numpy as np
import pytest

import retrograde.cli as cli
from retrograde._text import terminal as _terminal
from retrograde.cli import _bench_peers as peers
from retrograde.cli import _bench_programs as programs
from retrograde.cli import bench
from retrograde.printing.cuda import cupy_driver, driver

from .conftest import Terminal
from .schema import misfits

ESCAPE = "\x1b"
TINY = ("bench", "--quick", "--rows", "400")
EAGER = peers.PEERS[-1]


@pytest.fixture
def alone(native, monkeypatch):
    """No large peer is installed, and a turn is one call: what is left runs at once."""
    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(bench, "TURN_SECONDS", 0.0)


def printed_json(capsys, *options):
    assert cli.main([*TINY, "--json", *options]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return json.loads(shown.out)


def spoiled(change):
    """Eager values whose columns are changed on the way out."""

    def prepare(program, inputs, threads):
        ready = EAGER.prepare(program, inputs, threads)
        return replace(ready, columns=lambda result: change(ready.columns(result)))

    return peers.Engine("wrong", "on purpose", "retrograde", prepare)


# ---- the programs -----------------------------------------------------------------------------


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda program: program.key)
def test_inputs_are_the_same_numbers_every_time(program):
    first, second = program.inputs(5), program.inputs(5)
    assert list(first) == list(second)
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert set(program.sensitivities) <= set(first)


def test_the_call_price_of_the_documents():
    assert programs.call_price(100.0, 95.0, 0.03, 0.2, 1.0) == pytest.approx(12.179702, abs=1e-6)


def test_an_asian_call_on_a_path_that_stands_still():
    price = programs.asian_price([0.0] * 252, 100.0, 90.0, 0.02, 0.2, 1.0)
    assert price == pytest.approx(10.0 * np.exp(-0.02), rel=1e-14)  # r = sigma² / 2: no drift


# ---- the data ---------------------------------------------------------------------------------


def test_json_has_exactly_what_is_declared(alone, capsys):
    assert misfits(printed_json(capsys), bench.Bench) == []


def test_the_figures_fit_each_other(alone, capsys):
    measured = printed_json(capsys)
    assert (measured["threads"], measured["rounds"]) == (1, bench.QUICK_ROUNDS)
    assert [table["program"] for table in measured["programs"]] == ["black_scholes", "asian"]
    assert [table["rows"] for table in measured["programs"]] == [400, 40]
    for table in measured["programs"]:
        ours, *others = table["engines"]
        assert (ours["how"], ours["times_retrograde"], ours["difference"]) == ("rg.compile", 1, 0)
        assert [it["how"] for it in others] == ["value only", "eager"]
        for it in table["engines"]:
            assert 0 < it["best_ns_a_row"] <= it["ns_a_row"]
            assert it["times_retrograde"] == it["ns_a_row"] / ours["ns_a_row"]
            assert it["first_call_s"] > 0
            assert it["calls"] == measured["rounds"]
            assert it["difference"] <= table["largest_difference"] <= measured["tolerance"]


def test_absent_peers_are_named(alone, capsys):
    for table in printed_json(capsys)["programs"]:
        assert table["absent"] == [
            {"engine": "JAX", "reason": "not installed"},
            {"engine": "torch", "reason": "not installed"},
        ]


def test_numpy_names_scipy_where_it_needs_it(alone, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    calls, paths = printed_json(capsys)["programs"]
    assert {"engine": "NumPy", "reason": "scipy not installed"} in calls["absent"]
    assert "NumPy" in [it["engine"] for it in paths["engines"]]


def test_eager_values_take_a_few_rows(alone, capsys, monkeypatch):
    few = tuple(replace(program, eager_rows=2) for program in programs.PROGRAMS)
    monkeypatch.setattr(bench, "PROGRAMS", few)
    for table in printed_json(capsys)["programs"]:
        assert table["engines"][-1]["rows"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.sweep), 2])
def test_every_peer_that_is_installed_agrees(native, shell, threads):
    done = shell(*TINY, "--json", "--threads", str(threads))
    assert (done.returncode, done.stderr) == (0, "")
    for table in json.loads(done.stdout)["programs"]:
        versions = {it["engine"]: it["version"] for it in table["engines"]}
        used = {it["engine"]: it["threads"] for it in table["engines"]}
        for name, package in (("JAX", "jax"), ("torch", "torch")):
            if find_spec(package):
                assert (versions[name], used[name]) == (metadata.version(package), threads)
            else:
                assert {"engine": name, "reason": "not installed"} in table["absent"]


# ---- agreement --------------------------------------------------------------------------------


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("error", [1e-8, float("nan")])
def test_a_wrong_number_fails_the_command_and_nothing_is_timed(
    alone, capsys, monkeypatch, place, error
):
    def change(columns):
        columns[place][-1] += error * np.abs(columns[place]).max()
        return columns

    timed = []
    monkeypatch.setattr(bench, "_take_turns", lambda *arguments: timed.append(arguments))
    monkeypatch.setattr(bench, "PEERS", (spoiled(change),))
    assert cli.main(list(TINY)) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    calls, paths = shown.err.splitlines()
    apart = "nan" if error != error else r"\d\.\de-\d\d"
    assert re.fullmatch(
        r"retrograde: wrong \(on purpose\) disagrees with rg\.compile on the Black-Scholes call: "
        rf"{apart} apart relative to scale, 1e-09 allowed\. Nothing was timed\.",
        calls,
    )
    assert "on the Asian call, 252 steps: " in paths
    assert timed == []


def test_rounding_is_no_disagreement(alone, capsys, monkeypatch):
    def change(columns):
        return [column * (1 + 1e-12) for column in columns]

    monkeypatch.setattr(bench, "PEERS", (spoiled(change),))
    assert cli.main(list(TINY)) == 0
    assert "all agree to within 1e-12 of scale" in capsys.readouterr().out


# ---- the table --------------------------------------------------------------------------------


def test_the_text_shows_who_ran_and_who_did_not(alone, capsys):
    assert cli.main(list(TINY)) == 0
    printed = capsys.readouterr().out
    assert re.match(r"retrograde \S+ · .+ · 1 thread · medians of 5 rounds\n", printed)
    assert "  Black-Scholes call  400 rows, the value and 5 sensitivities of each\n" in printed
    assert "  Asian call, 252 steps  40 paths, the value and 5 sensitivities of each\n" in printed
    for unit in ("row", "path"):
        assert re.search(rf"^ +ns/{unit} +times retrograde +first call$", printed, re.MULTILINE)
    figures = r"[\d,.]+ +[\d,.]+ +\d+\.\d{3} s"
    for line in ("retrograde +rg.compile", r"NumPy \S+ +value only", "retrograde +eager.*"):
        assert len(re.findall(rf"^    {line} +{figures}$", printed, re.MULTILINE)) == 2
    for name in ("JAX", "torch"):
        assert len(re.findall(rf"^    {name} +not installed$", printed, re.MULTILINE)) == 2
    assert len(re.findall(r"^    all agree to within \de-\d\d of scale$", printed, re.M)) == 2


def test_backends_are_timed_when_asked_for(alone, capsys):
    for table in printed_json(capsys, "--backend", "cc")["programs"]:
        ours, compiled = table["engines"][:2]
        assert (ours["how"], compiled["how"]) == ("rg.compile", "backend cc")
        assert compiled["difference"] == 0.0


def test_a_backend_that_is_not_here_is_told(alone, capsys, monkeypatch):
    driver.driver.cache_clear()
    cupy_driver.cupy.cache_clear()
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert cli.main([*TINY, "--backend", "cuda"]) != 0
    assert "Install retrograde[cuda]" in capsys.readouterr().err


def test_engines_that_have_one_thread_are_told_apart(alone, capsys):
    assert cli.main([*TINY, "--threads", "2"]) == 0
    printed = capsys.readouterr().out
    assert " · 2 threads · " in printed
    assert "NumPy and eager values run on one thread" in printed
    for table in printed_json(capsys, "--threads", "2")["programs"]:
        assert [it["threads"] for it in table["engines"]] == [2, 1, 1]


def test_large_figures_stay_on_one_line_of_80_columns(alone, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.special", None)  # the longest thing to say

    def slow(entry, ours_ns):
        timing = measure(entry, ours_ns)
        return {
            **timing,
            "version": "2.13.10+cpu",
            "ns_a_row": 1_234_567.8,
            "times_retrograde": 12_345.6,
            "first_call_s": 123.4567,
        }

    measure = bench._timing
    monkeypatch.setattr(bench, "_timing", slow)
    assert cli.main(list(TINY)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.endswith("123.457 s") and "1,234,568" in line for line in lines) == 5


def test_a_pipe_gets_no_colour_no_trailing_spaces_no_bar_and_80_columns(alone, capsys, monkeypatch):
    monkeypatch.setattr(_terminal, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setenv("COLUMNS", "300")
    assert cli.main(list(TINY)) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert ESCAPE not in shown.out
    for line in shown.out.splitlines():
        assert len(line) <= 80
        assert line == line.rstrip()


@pytest.mark.parametrize("columns", [12, 30, 60, 80, 120])
def test_it_keeps_to_the_width_of_the_terminal(alone, terminal, monkeypatch, columns):
    monkeypatch.setenv("NO_COLOR", "1")
    stream = terminal(columns)
    assert cli.main(list(TINY)) == 0
    assert ESCAPE not in stream.getvalue()
    assert max(map(len, stream.getvalue().splitlines())) <= columns


def test_a_terminal_gets_colour_and_a_bar(alone, terminal, monkeypatch):
    monkeypatch.setattr(_terminal, "PATIENCE_SECONDS", 0.0)
    stream, errors = terminal(80), Terminal()
    monkeypatch.setattr(sys, "stderr", errors)
    assert cli.main(list(TINY)) == 0
    assert ESCAPE in stream.getvalue()
    assert "timing" in errors.getvalue()


def test_the_bar_ends_where_it_should(alone, monkeypatch):
    seen = []
    monkeypatch.setattr(
        bench.LateBar, "__call__", lambda self, done, total: seen.append((done, total))
    )
    assert cli.main(list(TINY)) == 0
    total = len(programs.PROGRAMS) * (1 + len(peers.PEERS)) * (1 + bench.QUICK_ROUNDS)
    assert seen[-1] == (total, total)
    assert seen == sorted(seen)


def test_ascii_can_show_it(native, shell):
    code = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    done = shell("bench", "--help", **code)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(title.isascii() for title in (program.title for program in programs.PROGRAMS))


# ---- exit codes -------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--rows", "--threads"])
@pytest.mark.parametrize("number", ["0", "-1", "2.5", "many"])
def test_misuse_is_one_message_and_exit_code_2(capsys, option, number):
    assert cli.main(["bench", f"{option}={number}"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == [
        f"retrograde: argument {option}: '{number}' is not a whole number of at least 1",
        "Try 'retrograde bench --help'.",
    ]


@pytest.mark.slow
def test_the_reference_core_is_measured_too(shell):
    done = shell(*TINY, RETROGRADE_CORE="reference")
    assert (done.returncode, done.stderr) == (0, "")
    assert "reference core · " in done.stdout


def test_the_size_is_not_in_the_help(capsys):
    assert cli.main(["bench", "--help"]) == 0
    printed = capsys.readouterr().out
    assert "--rows" not in printed
    assert all(option in printed for option in ("--quick", "--threads", "--json"))


def test_no_peer_is_imported_before_it_runs(native):
    code = (
        "import sys, retrograde.cli; "
        "print([name for name in ('jax', 'torch', 'scipy', 'rich') if name in sys.modules])"
    )
    source = os.path.dirname(os.path.dirname(native.__file__))
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert done.stdout == "[]\n"
