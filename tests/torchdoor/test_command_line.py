"""`retrograde doctor`, `explain` and `memory` on PyTorch scripts, and on scripts of no engine."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")

from retrograde.cli import main

SCRIPT = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 16)
        self.b = nn.Linear(16, 3)

    def forward(self, x):
        h = torch.relu(self.a(x))
        return self.b(h)


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
x, y = torch.randn(32, 4), torch.randint(0, 3, (32,))
for step in range(6):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
print("done", step)
"""
SICK = SCRIPT.replace("torch.relu(self.a(x))", "torch.relu(self.a(x)).detach()")


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "train.py"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_a_healthy_script_ends_with_0(script, capsys):
    assert main(["doctor", script(SCRIPT)]) == 0
    printed = capsys.readouterr().out
    assert "done 5" in printed
    assert "healthy: 131 parameters in 2 groups, 6 passes" in printed


def test_an_alarm_ends_with_1_and_names_line_and_cure(script, capsys):
    assert main(["doctor", script(SICK)]) == 1
    printed = capsys.readouterr().out
    assert "'a': detached, detach() on line 15 cuts it off from the loss." in printed
    assert "cure:" in printed


def test_json_is_the_same_data(script, capsys):
    assert main(["doctor", script(SICK), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["passes"] == 6
    (alarm,) = told["reports"][0]["verdicts"]
    assert (alarm["kind"], alarm["site"]["line"]) == ("detached", 15)


def test_a_script_that_crashes_is_reported_up_to_there(script, capsys):
    text = SICK.replace("    optimizer.step()\n", "    optimizer.step()\n    1 / (step - 3)\n")
    assert main(["doctor", script(text)]) == 1
    seen = capsys.readouterr()
    assert "4 passes" in seen.out
    assert "detached" in seen.out
    assert "ZeroDivisionError" in seen.err
    assert "retrograde" not in seen.err.replace("retrograde:", "")


def test_ctrl_c_is_reported_up_to_there(script, capsys):
    text = SICK.replace(
        "    optimizer.step()\n",
        "    optimizer.step()\n    if step == 2: raise KeyboardInterrupt\n",
    )
    assert main(["doctor", script(text)]) == 130
    assert "3 passes" in capsys.readouterr().out


def test_a_step_is_explained_and_the_script_ends_there(script, capsys, tmp_path):
    page = tmp_path / "story.html"
    assert main(["explain", script(SCRIPT), "--step", "3", "--html", str(page)]) == 0
    assert "done" not in capsys.readouterr().out
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert main(["explain", script(SCRIPT), "--step", "3"]) == 0
    printed = capsys.readouterr().out
    assert "This is backward pass 3." in printed
    assert "relu → 32×16: norm" in printed


def test_a_step_that_is_not_there_is_refused(script, capsys):
    assert main(["explain", script(SCRIPT), "--step", "99"]) == 1
    assert "ran 6 backward passes; there is no pass 99" in capsys.readouterr().err


def test_a_line_can_be_chosen(script, capsys):
    assert main(["explain", script(SCRIPT), "--at", "25"]) == 0
    assert "It began at line 25." in capsys.readouterr().out
    assert main(["explain", script(SCRIPT), "--at", "3"]) == 1
    assert "they began at line 25" in capsys.readouterr().err


def test_a_gradient_is_itemised_by_name(script, capsys):
    assert main(["explain", script(SCRIPT), "--ledger", "b.weight"]) == 0
    assert "add up to it bit for bit" in capsys.readouterr().out
    assert main(["explain", script(SCRIPT), "--ledger", "b.wait"]) == 1
    assert "b.w" in capsys.readouterr().err


def test_memory_is_told_by_line_and_module(script, capsys):
    assert main(["memory", script(SCRIPT)]) == 0
    printed = capsys.readouterr().out
    assert "kept for backward: " in printed
    assert "train.py:15, in forward" in printed
    assert main(["memory", script(SCRIPT), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["recorded"] == sum(part["bytes"] for part in told["by_group"])


VALUES = (
    "from retrograde import Value\nx = Value(2.0)\nfor _ in range(3):\n    (x * x).backward()\n"
)


def test_memory_and_steps_work_on_values(script, capsys):
    assert main(["memory", script(VALUES)]) == 0
    assert "values recorded" in capsys.readouterr().out
    assert main(["explain", script(VALUES), "--step", "2"]) == 0
    assert "This is backward pass 2" in capsys.readouterr().out
    assert main(["explain", script(VALUES), "--step", "9"]) == 1
    assert "there is no pass 9" in capsys.readouterr().err


SILENT = [
    ("print(1)", "differentiates nothing: it imports neither retrograde nor PyTorch"),
    ("import torch", "imports PyTorch, and ran no backward pass"),
    (
        "import torch\nx = torch.ones(3, requires_grad=True)\ntorch.autograd.grad(x.sum(), x)",
        "called torch.autograd.grad 1 times, and loss.backward() never",
    ),
    ("try:\n    import jax\nexcept ImportError: pass", "it imports jax"),
    (
        "class Value:\n    def __add__(self, o): return self\n    def backward(self): pass",
        "it differentiates with its own class Value. Run it on ours: retrograde run ",
    ),
]


@pytest.mark.parametrize("command", ["doctor", "explain", "memory"])
@pytest.mark.parametrize(("text", "told"), SILENT, ids=[str(i) for i in range(len(SILENT))])
def test_a_script_of_no_engine_is_told_what_was_found(script, capsys, command, text, told):
    assert main([command, script(text)]) == 1
    assert told in capsys.readouterr().err


def test_run_sends_pytorch_programs_to_the_doctor(script, capsys):
    assert main(["run", script(SCRIPT), "--doctor"]) == 1
    assert "Write retrograde doctor" in capsys.readouterr().err
