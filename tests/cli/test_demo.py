"""``retrograde demo``: the steps add up, and they are shown well."""

from __future__ import annotations

import importlib
import json
import math
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrograde
from retrograde.cli._worked import EXAMPLES, Example, work_out

from .conftest import Terminal
from .schema import misfits

ESCAPE = "\x1b"


def module(cli, name):
    return importlib.import_module(f"{cli.__name__}.{name}")


def printed_json(cli, capsys, *options):
    assert cli.main(["demo", "--json", *options]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return json.loads(shown.out)


# ---- the data ---------------------------------------------------------------------------------


def test_json_has_exactly_what_is_declared(cli, capsys, quick):
    assert misfits(printed_json(cli, capsys), module(cli, "demo").Demo) == []
    assert printed_json(cli, capsys, "--no-speed")["speed"] is None


def test_the_examples_of_the_readme(cli, capsys):
    first, second = printed_json(cli, capsys, "--no-speed")["examples"]
    assert (first["expression"], first["value"]) == ("relu(a * b + d)", 4.0)
    assert [step["op"] for step in first["forward"]] == ["mul", "add", "relu"]
    assert [step["op"] for step in first["backward"]] == ["relu", "add", "mul"]
    assert {it["leaf"]: it["gradient"] for it in first["gradients"]} == {"a": -3, "b": 2, "d": 1}
    assert (second["expression"], second["value"]) == ("(a * b + c) * (a + b)", -4.0)
    assert {it["leaf"]: it["gradient"] for it in second["gradients"]} == {"a": 7, "b": 2, "c": -1}


def test_contributions_of_several_paths_are_marked(cli, capsys):
    first, second = printed_json(cli, capsys, "--no-speed")["examples"]

    def met(worked):
        steps = worked["backward"]
        return [it for step in steps for it in step["contributions"] if it["adds_up"]]

    assert met(first) == []
    assert [(it["into"], it["before"], it["after"]) for it in met(second)] == [
        ("a", 4.0, 7.0),
        ("b", 4.0, 2.0),
    ]


def test_every_step_has_its_sentence_from_the_law(cli, capsys):
    first, _ = printed_json(cli, capsys, "--no-speed")["examples"]
    assert [step["words"] for step in first["backward"]] == [
        "relu is a gate, open here since s = 4 is above 0: the upstream gradient, 1, passes "
        "unchanged",
        "addition copies the upstream gradient, 1, to both inputs",
        "multiplication swaps: a receives the upstream gradient times b (-3), b times a (2)",
    ]


def assert_adds_up(worked):
    """Each contribution is partial × upstream, and the running gradients end where they should."""
    gradients = {worked["root"]: worked["seed"]}
    for step in worked["backward"]:
        assert step["upstream"] == gradients[step["value"]]
        for it in step["contributions"]:
            assert it["contribution"] == it["partial"] * it["upstream"]
            assert it["before"] == gradients.get(it["into"], 0.0)
            assert it["adds_up"] == (it["into"] in gradients)
            assert it["after"] == it["before"] + it["contribution"]
            gradients[it["into"]] = it["after"]
    for gradient in worked["gradients"]:
        assert gradients[gradient["leaf"]] == gradient["gradient"]
        assert gradient["agrees"]


def test_the_steps_add_up_to_the_gradients_of_the_engine(cli):
    worked = module(cli, "_worked")
    for example in worked.EXAMPLES:
        assert_adds_up(worked.work_out(example))


numbers = st.floats(-3, 3).filter(lambda x: abs(x) > 1e-3)


@given(numbers, numbers, numbers)
def test_the_steps_add_up_anywhere(a, b, c):
    example = EXAMPLES[1]
    moved = Example(
        example.expression,
        example.point,
        example.function,
        (("a", a), ("b", b), ("c", c)),
        example.names,
    )
    assert_adds_up(work_out(moved))


def test_negative_numbers_are_written_so_that_signs_do_not_meet(cli, capsys):
    _, second = printed_json(cli, capsys, "--no-speed")["examples"]
    assert [step["numbers"] for step in second["forward"]] == [
        "2 × -3",
        "-6 + 10",
        "2 + (-3)",
        "4 × -1",
    ]


def test_the_race_compares_gradients_and_counts_operations(cli, quick):
    race = module(cli, "_race").race()
    assert race["largest_difference"] <= 1e-12
    assert race["parameters"] == 2 * 16 + 16 + 16 * 16 + 16 + 16 + 1
    assert [timing["engine"] for timing in race["engines"]] == ["plain Python", "retrograde"]
    plain, ours = race["engines"]
    assert race["times_faster"] == plain["whole_ms"] / ours["whole_ms"]
    for timing in race["engines"]:
        assert 0 < timing["forward_ms"] + timing["backward_ms"] <= timing["whole_ms"]


def test_plain_python_counts_each_operation_once(cli):
    plain = module(cli, "_plain")
    x = plain.PlainValue(3.0)
    y = x * x
    root = (y + y + 1.0).relu()
    root.backward()
    assert (plain.count_operations(root), root.data, x.grad) == (4, 19.0, 12.0)


# ---- the page ---------------------------------------------------------------------------------


def test_the_text_shows_forward_backward_gradients_and_speed(cli, capsys, quick):
    assert cli.main(["demo"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"retrograde {retrograde.__version__} · ")
    assert "── 1  f = relu(a * b + d) · one path to each leaf: the chain rule ──" in printed
    assert "    f = relu(s)  = relu(4)  = 4\n" in printed
    assert "    p = a * b    a.grad +=      -3 ×        1 =           -3       0 → -3\n" in printed
    assert "      multiplication swaps: a receives the upstream gradient times b (-3)" in printed
    assert "a.grad and b.grad already held a gradient: this is why it is += and not =" in printed
    assert re.search(r"^    df/da = -3 +-\d\.\d{10}  .*✓$", printed, re.MULTILINE)
    assert re.search(r"^    retrograde +\d+\.\d +\d+\.\d +\d+\.\d  [█▏]", printed, re.MULTILINE)
    assert re.search(r"gradients to\s+(the\s+last\s+bit|within\s+\de-\d+)", printed)


def test_a_pipe_gets_no_colour_no_trailing_spaces_and_80_columns(cli, capsys, quick, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    assert cli.main(["demo"]) == 0
    printed = capsys.readouterr().out
    assert ESCAPE not in printed
    for line in printed.splitlines():
        assert len(line) <= 80
        assert line == line.rstrip()


def test_a_process_of_its_own_prints_plain_text(shell):
    done = shell("demo")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert ESCAPE not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_terminal_gets_colour(cli, terminal):
    stream = terminal(80)
    assert cli.main(["demo", "--no-speed"]) == 0
    assert ESCAPE in stream.getvalue()


def test_no_color_is_honoured(cli, terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    stream = terminal(80)
    assert cli.main(["demo", "--no-speed"]) == 0
    assert ESCAPE not in stream.getvalue()


@pytest.mark.bank(every=8)
@pytest.mark.parametrize("columns", [12, 30, 45, 60, 72, 80, 120, 500])
def test_it_keeps_to_the_width_of_the_terminal(cli, terminal, quick, monkeypatch, columns):
    monkeypatch.setenv("NO_COLOR", "1")
    stream = terminal(columns)
    assert cli.main(["demo"]) == 0
    assert max(map(len, stream.getvalue().splitlines())) <= min(columns, 96)


def test_titles_over_the_columns_go_where_there_is_no_room(cli, terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    stream = terminal(50)
    assert cli.main(["demo", "--no-speed"]) == 0
    printed = stream.getvalue()
    assert "contribution" not in printed
    assert "    p = a * b    a.grad += -3 × 1 = -3  0 → -3\n" in printed


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_encoding_can_show_it(shell, encoding):
    done = shell("demo", "--no-speed", PYTHONUTF8="0", PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert "?" not in done.stdout


def test_a_gradient_that_is_wrong_fails_the_command(cli, capsys, monkeypatch):
    monkeypatch.setattr(module(cli, "_worked"), "TOLERANCE", -1.0)
    assert cli.main(["demo", "--no-speed"]) == 1
    shown = capsys.readouterr()
    assert "✗ wrong" in shown.out
    assert shown.err == (
        "retrograde: df/da, df/db, df/dd, dg/da, dg/db, dg/dc disagree with finite differences\n"
    )


# ---- the bar ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("patience", "shown"), [(0.0, True), (math.inf, False)])
def test_a_bar_shows_on_a_terminal_when_it_takes_long(cli, monkeypatch, patience, shown):
    terminal = importlib.import_module(f"{cli.__name__.rpartition('.')[0]}._text.terminal")
    monkeypatch.setattr(terminal, "PATIENCE_SECONDS", patience)
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with terminal.LateBar("timing") as bar:
        for done in range(1, 4):
            bar(done, 3)
    assert ("timing" in stream.getvalue()) == shown


def test_no_bar_in_a_pipe(cli, monkeypatch, capsys):
    terminal = importlib.import_module(f"{cli.__name__.rpartition('.')[0]}._text.terminal")
    monkeypatch.setattr(terminal, "PATIENCE_SECONDS", 0.0)
    with terminal.LateBar("timing") as bar:
        bar(1, 3)
    assert capsys.readouterr().err == ""
