"""``retrograde doctor``: a script's passes examined, and what comes back to the shell."""

from __future__ import annotations

import json
import textwrap

import pytest

HEALTHY = """
import sys
from retrograde import Value

def main(steps):
    w, b = Value(0.5), Value(0.0)
    for _ in range(steps):
        w.grad = b.grad = 0.0
        loss = sum((w * x + b - 2.0 * x) ** 2 for x in (1.0, 2.0, 3.0)) * (1 / 3)
        loss.backward()
        w.data -= 0.01 * w.grad
        b.data -= 0.01 * b.grad
    print("loss", round(loss.data, 3))

main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
"""
STALE = HEALTHY.replace("w.grad = b.grad = 0.0", "pass")
NAN = """
import retrograde as rg
w = {"scale": rg.Value(0.0), "shift": rg.Value(1.0)}
loss = rg.sqrt(w["scale"]) + w["shift"] * 2.0
loss.backward()
"""
MODEL = """
from retrograde import Value

class Model:
    def __init__(self):
        self.used, self.unused = [Value(0.3), Value(0.4)], [Value(0.1)]
    def parameters(self):
        return self.used + self.unused
    def loss(self, x):
        return (self.used[0] * x + self.used[1].detach() - 1.0) ** 2

def train():
    model = Model()
    model.loss(2.0).backward()

train()
"""


@pytest.fixture
def script(tmp_path):
    def write(source):
        path = tmp_path / "train.py"
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        return str(path)

    return write


def test_a_healthy_script(shell, script):
    done = shell("doctor", script(HEALTHY), "5")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("loss ")
    assert "healthy: 2 parameters in 2 groups, 5 passes" in done.stdout


@pytest.mark.parametrize("core", ["native", "reference"])
def test_a_sick_script(shell, script, core):
    done = shell("doctor", script(STALE), RETROGRADE_CORE=core)
    assert done.returncode == 1
    assert "✗ Stale gradients: in 2 of 2 steps" in done.stdout
    assert "train.py:10,in" in done.stdout.replace("\n", "").replace(" ", "")
    assert max(map(len, done.stdout.splitlines())) <= 110


def test_births_are_shown_with_their_line(shell, script):
    done = shell("doctor", script(NAN))
    assert done.returncode == 1
    assert "sqrt on line 4 made the gradient of a leaf = 0.0 inf" in done.stdout.replace(
        "\n    ", " "
    )


BRANCH = """
import retrograde as rg
x = rg.Value(0.0, label="x")
y = rg.where(x > 0.0, rg.sqrt(x), 0.0)
y.backward()
"""


def test_a_nan_gradient_is_shown_as_nan(shell, script):
    done = shell("doctor", script(BRANCH))
    assert done.returncode == 1
    assert "1 alarm: 1 parameter in 1 group, 1 pass, " in done.stdout
    assert "add up to exactly zero" not in done.stdout
    assert "x          1       nan    nan       nan     1\n" in done.stdout
    assert "1 gradient is not finite; the result is finite." in done.stdout


@pytest.mark.parametrize("columns", ["80", "50"])
def test_folded_lines_keep_their_indent(shell, script, columns):
    done = shell("doctor", script(BRANCH), COLUMNS=columns)
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= int(columns)
    first = next(i for i, line in enumerate(lines) if line.startswith("  why: "))
    last = next(i for i, line in enumerate(lines) if line.startswith("  cure: "))
    assert last > first + 1
    assert all(line.startswith("    ") for line in lines[first + 1 : last])


def test_parameters_are_found_in_the_locals_of_functions(shell, script):
    done = shell("doctor", script(MODEL), "--json")
    assert done.returncode == 1, done.stderr
    (report,) = json.loads(done.stdout)["reports"]
    said = {(v["kind"], v["group"], v["severity"]) for v in report["verdicts"]}
    assert ("unreachable", "model.unused", "alarm") in said
    assert ("detached", "model.used", "note") in said
    (detached,) = [v for v in report["verdicts"] if v["kind"] == "detached"]
    assert detached["site"]["line"] == 10


def test_json_is_alone_on_standard_output(shell, script):
    done = shell("doctor", script(HEALTHY), "--json")
    data = json.loads(done.stdout)
    assert (data["healthy"], data["passes"], data["unexamined"]) == (True, 3, 0)
    assert "loss" in done.stderr


def test_the_page_is_written(shell, script, tmp_path):
    page = tmp_path / "report.html"
    done = shell("doctor", script(STALE), "--html", str(page))
    assert done.returncode == 1
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "wrote" in done.stderr


def test_thresholds_can_be_changed(shell, script):
    done = shell("doctor", script(HEALTHY), "--threshold", "steep=1e-9")
    assert done.returncode == 1
    assert "Exploding" in done.stdout
    for wrong in ("steep", "steep=x", "stoop=1"):
        done = shell("doctor", script(HEALTHY), "--threshold", wrong)
        assert done.returncode == 1
        assert done.stderr.startswith("retrograde: doctor:")


def test_a_script_that_fails_passes_its_failure_on(shell, script):
    done = shell("doctor", script(HEALTHY + "\nraise SystemExit(7)\n"))
    assert done.returncode == 7
    assert "healthy" in done.stdout
    done = shell("doctor", script("1 / 0"))
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr


def test_a_script_without_passes_says_so(shell, script):
    done = shell("doctor", script("print('nothing')"))
    assert done.returncode == 1
    assert "ran no backward pass" in done.stderr


def test_a_script_that_is_not_there(shell):
    done = shell("doctor", "nowhere.py")
    assert done.returncode == 1
    assert "cannot read the script nowhere.py" in done.stderr


def test_two_models_have_a_report_each(shell, script):
    source = HEALTHY.replace("main(int", "main(2)\nmain(int")
    done = shell("doctor", script(source))
    assert "train.py, model 1" in done.stdout
    assert "train.py, model 2" in done.stdout
