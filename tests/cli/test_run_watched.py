"""``retrograde run`` with a watcher: explained, profiled, examined."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import pytest

from .running import ENGINE, SCRIPTS, retrograde_run


@pytest.mark.bank
def test_the_last_pass_is_explained_with_the_scripts_own_names(run, rg):
    code, out, _ = run(str(SCRIPTS / "gpt.py"), "--replace", "Value", "--explain", "--json",
                       "--", "1")  # fmt: skip
    story = rg.explain.Story.from_json(json.loads(out)["explain"])
    assert code == 0
    names = {node.name for node in story.nodes if node.op == "leaf" and node.requires_grad}
    assert {
        "wte[5][0]",
        "wpe[1][3]",
        "head[4][11]",
        "layer0.wq[3][4]",
        "layer0.up[63][15]",
    } <= names
    assert not [name for name in names if re.match(r"v\d|params|p\b", name)]
    assert story.note.startswith("This is the only backward pass, at line 129")


def test_names_are_found_in_functions_and_objects_and_taken_away_again(run, script, rg):
    path = script(
        f"""
        from {rg.__name__} import Value

        class Unit:
            def __init__(self):
                self.w, self.b = [Value(1.5), Value(2.5)], Value(0.5, label="offset")

        def main():
            unit = Unit()
            kept.append(unit)
            for step in range(2):
                loss = unit.w[0] * 3 + unit.w[1] * unit.b
                loss.backward()

        kept = []
        import atexit
        main()
        """
    )
    code, out, _ = run(path, "--explain", "--json")
    nodes = {node["name"]: node["data"] for node in json.loads(out)["explain"]["nodes"]}
    assert code == 0
    assert nodes["unit.w[0]"] == 1.5
    assert nodes["unit.w[1]"] == 2.5
    assert nodes["offset"] == 0.5


def test_the_explanation_as_text_page_and_ledger(run, tmp_path):
    page = tmp_path / "story.html"
    path = str(SCRIPTS / "closures.py")
    code, out, _ = run(path, "--replace", "Value", "--explain", "--", "2")
    assert code == 0
    assert out.startswith("step 0 loss ")
    assert "GRADIENTS  how loss answers" in out
    assert max(map(len, out.splitlines())) <= 80
    code, out, _ = run(path, "--replace", "Value", "--ledger", "model.hidden[0].bias", "--", "2")
    assert "The gradient of model.hidden[0].bias in loss" in out
    code, out, err = run(path, "--replace", "Value", "--html", str(page), "--", "2")
    assert f"wrote {page}" in err
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_script_may_leave_its_folder(script, tmp_path):
    script(
        f"""
        from __future__ import annotations
        import os, warnings
        warnings.warn("once")
        {textwrap.indent(ENGINE, " " * 8).lstrip()}
        os.chdir("/")
        w = [Value(2.0)]
        loss = w[0] * 3
        loss.backward()
        """
    )
    done = retrograde_run(
        "theirs.py", "--replace", "Value", "--explain", "--profile", "--json", cwd=tmp_path
    )
    told = json.loads(done.stdout)
    assert [node["name"] for node in told["explain"]["nodes"]] == ["w[0]", "3", "loss"]
    assert told["profile"]["passes"] == 1
    assert done.stderr.count("UserWarning: once") == 1


def test_a_script_that_raises_is_explained_up_to_there(run, script, rg):
    path = script(
        f"from {rg.__name__} import Value\nx = Value(2.0)\ny = x * x\ny.backward()\n1 / 0\n"
    )
    code, out, err = run(path, "--explain")
    assert code == 1
    assert err.startswith("Traceback")
    assert "The script raised ZeroDivisionError at line 5" in " ".join(out.split())


def test_an_engine_of_its_own_is_named_with_the_option_that_replaces_it(run, script):
    code, _, err = run(script(f"{ENGINE}\n(Value(1.0) + 2).backward()\n"), "--explain")
    assert code == 1
    assert "it differentiates with its own class Value. Run it on ours: retrograde run " in err
    assert err.rstrip().endswith("--replace Value --explain.")
    path = script("def f():\n    from micrograd.engine import Value\n")
    assert "--shim micrograd" in run(path, "--explain")[2]
    assert "differentiates nothing" in run(script("x = 1\n"), "--explain")[2]


@pytest.mark.bank
def test_a_profile_says_where_time_and_values_come_from(run):
    arguments = (str(SCRIPTS / "gpt.py"), "--replace", "Value", "--profile")
    code, out, _ = run(*arguments, "--json", "--", "8")
    profile = json.loads(out)["profile"]
    assert (code, profile["passes"]) == (0, 8)
    assert 1 <= profile["counted"] <= 8
    parts = (profile["forward"] or 0) + profile["backward"] + (profile["other"] or 0)
    assert parts + profile["watching"] == pytest.approx(profile["whole"], rel=0.05)
    assert profile["backward"] > 0
    lines = {line["line"]: line for line in profile["lines"]}
    top = max(profile["lines"], key=lambda line: line["values"])
    assert (top["line"], top["text"][:22]) == (85, "return [sum(w * xi for")
    assert sum(line["values"] for line in lines.values()) == pytest.approx(profile["values"])
    assert sum(line["bytes"] for line in lines.values()) == pytest.approx(profile["bytes"])
    assert all(Path(line["file"]).name == "gpt.py" for line in profile["lines"] if line["values"])
    code, out, _ = run(*arguments, "--", "2")
    assert "\nThe profile of gpt.py" in out
    assert "2 backward passes: " in out
    assert "\n  by values\n" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_profile_counts_exactly(run, script, rg):
    path = script(
        f"""
        from {rg.__name__} import Value
        x = Value(2.0)
        y = x
        for _ in range(100):
            y = y * x
        y.backward()
        y.backward()
        """
    )
    code, out, _ = run(path, "--profile", "--json")
    told = json.loads(out)
    lines = {line["line"]: (line["values"], line["bytes"]) for line in told["profile"]["lines"]}
    assert (code, told["profile"]["values"]) == (0, 101)
    assert lines[5][0] == 100
    if rg.value.core_name == "native":
        assert (lines[5][1], lines[2][1]) == (8000, 80)


def test_a_profile_of_a_script_without_passes_says_so(run, script):
    code, out, _ = run(script("x = 1\n"), "--profile")
    assert code == 0
    assert "no backward pass ran to its end" in out


@pytest.mark.bank
def test_the_doctor_examines_it(run):
    arguments = (str(SCRIPTS / "gpt.py"), "--replace", "Value", "--doctor")
    code, out, _ = run(*arguments, "--json", "--", "2")
    (report,) = json.loads(out)["doctor"]
    assert (code, report["passes"]) == (0, 2)
    assert {"wte", "wpe", "head", "layer0.wq"} <= {group["name"] for group in report["groups"]}
    code, out, _ = run(*arguments, "--explain", "--profile", "--", "2")
    assert code == 0
    assert out.index("GRADIENTS") < out.index("The doctor on gpt.py") < out.index("The profile of")
