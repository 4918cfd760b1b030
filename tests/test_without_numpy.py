"""Without NumPy the pure core, stories, pages and exercises work, and tell the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BLOCKED = """\
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "numpy":
            raise ModuleNotFoundError(f"No module named {name!r}", name="numpy")

if WITHOUT:
    sys.meta_path.insert(0, Blocked())
"""

PROGRAM = """\
import retrograde as rg
from retrograde.explain.html import page_html

a, b, c = (rg.Value(x, label=n) for n, x in (("a", 2.0), ("b", -3.0), ("c", 10.0)))
L = rg.dot([a, b, 1.5], [b, 2.0, c]) * (a + b) + rg.sum([a, c]) ** 2 - rg.relu(a * 0 + 1) / 3
L.backward()
story = rg.story(L)
print(story)
print(rg.ledger(L, a), rg.thermometer(L), rg.births(L), sep="\\n")
print(story.to_json())
print(page_html(story))
print(rg.grad(lambda q: q[0] * q[1] ** 2)([2.0, 3.0]), rg.value_and_grad(lambda x: x * x)(3.0))
model = rg.nn.MLP(2, [3, 1], seed=1)
loss = model([1.0, -2.0])
loss.backward()
print(rg.story(loss), [p.grad for p in model.parameters()])
rg.zero_grad(model)
"""


def run(program: str, *arguments: str, without: bool, folder: Path, core: str = "reference") -> str:
    """What a program prints, on the pure core unless told otherwise, with NumPy or without."""
    start = f"WITHOUT = {without}\n{BLOCKED}sys.path[:0] = [{str(folder)!r}]\n"
    command = [sys.executable, "-c", start + program, *arguments]
    environment = {**os.environ, "RETROGRADE_CORE": core, "COLUMNS": "80"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_values_tell_the_same_without_numpy(tmp_path: Path) -> None:
    with_it = run(PROGRAM, without=False, folder=tmp_path)
    assert run(PROGRAM, without=True, folder=tmp_path) == with_it
    assert "<!doctype html>" in with_it


@pytest.mark.parametrize(
    "arguments",
    [
        ["explain", "relu(x)*y", "x=0", "y=2"],
        ["explain", "script.py"],
        ["learn", "list"],
        ["learn", "check", "01", "--folder", "answers"],
    ],
    ids=" ".join,
)
def test_commands_say_the_same_without_numpy(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "script.py").write_text(
        "from retrograde import Value\nx = Value(2.0)\ny = x * x if x > 1 else -x\ny.backward()\n"
    )
    program = "from retrograde.cli import main\nmain(sys.argv[1:])\n"
    with_it = run(program, *arguments, without=False, folder=tmp_path)
    assert run(program, *arguments, without=True, folder=tmp_path) == with_it


@pytest.mark.parametrize(
    "use",
    ["rg.Tensor([1.0, 2.0])", "rg.data([rg.Value(1.0)])", "rg.Value(1.0)[None]"],
)
def test_arrays_name_the_cure(tmp_path: Path, use: str) -> None:
    program = f"""\
import retrograde as rg
try:
    {use}
except rg.errors.MissingPackageError as error:
    print(error)
"""
    assert "pip install numpy" in run(program, without=True, folder=tmp_path)


def test_numpy_is_not_loaded_until_it_is_used(native: object, tmp_path: Path) -> None:
    program = (
        "import retrograde as rg\n"
        "x = rg.Value(2.0)\n"
        "(x * rg.tanh(x)).backward()\n"
        "print('numpy' in sys.modules)\n"
        "rg.data([x])\n"
        "print('numpy' in sys.modules)\n"
    )
    printed = run(program, without=False, folder=tmp_path, core="native")
    assert printed.split() == ["False", "True"]
