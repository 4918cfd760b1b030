"""Other people's programs give the same under ``retrograde run``: ours in their styles."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

import retrograde

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "outside"
PROGRAMS = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("helpers_"))
CORES = ("native", "reference")

_spec = importlib.util.spec_from_file_location("outside", ROOT / "tools" / "outside.py")
assert _spec is not None
assert _spec.loader is not None
outside = importlib.util.module_from_spec(_spec)
sys.modules["outside"] = outside
_spec.loader.exec_module(outside)


@pytest.fixture(params=CORES)
def core(request):
    if request.param == "native" and retrograde.value.core_name != "native":
        pytest.skip("no native core here")
    return request.param


OURS = "slots_attention lecture_trains more_arguments keyed_by_value subclasses var_other_names"
HOW = {
    **dict.fromkeys(OURS.split(), "ours"),
    "registry_of_nodes": "own: making a value does more than that",
    "counts_on_class": "own: ",
    "no_grad_context": "own: its constructor depends on what the program changes elsewhere",
    "arrays_in_plain_values": "own: it is given arrays",
    "recursive_wrong_on_reuse": "ours but for backward",
    "resets_in_backward": "ours but for backward",
    "clamped_rules": "ours but for exp, log, sqrt",
}
"""What is announced: plain programs run on ours alone, and what stays is named."""


@pytest.mark.slow
@pytest.mark.bank(every=4)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_gives_the_same_and_is_told_how(core, path):
    result = outside.compared(path, core, 120.0)
    assert (result.verdict, result.reason) == ("same", "")
    how = HOW.get(path.stem, "")
    assert result.ours == how if how == "ours" else result.ours.startswith(how)


def test_every_program_that_is_told_about_is_there():
    assert HOW.keys() <= {path.stem for path in PROGRAMS}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("loss 0.5", "loss 0.5000000000001", True),
        ("loss 0.5", "loss 0.50001", False),
        ("Value(data=3)", "Value(data=3.0)", True),
        ("[np.float64(2.5)]", "[2.5]", True),
        ("took 1.2 s", "took 0.3 s", True),
        ("<V object at 0x7f01>", "<V object at 0x6e02>", True),
        ("a 1", "b 1", False),
        ("nan", "1.0", False),
    ],
)
def test_lines_are_compared_by_their_numbers(one, other, same):
    assert outside.same_line(one, other) is same


def tool(*arguments):
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "outside.py"), *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )


ENGINE = (FOLDER / "eq_and_hash.py").read_text().partition("\na, b = ")[0]


def test_the_exit_code_can_be_trusted(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(ENGINE + "\nprint((Value(2.0) * 3).data)\n")
    done = tool(tmp_path, "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["counts"]) == (0, {"same": 1})
    assert told["programs"][0]["replaced"] == "Value"
    program.write_text(ENGINE + "\nprint(hasattr(Value, 'erfc'))\n")
    done = tool(tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (
        1, "0 same, 1 different, 0 failed, 0 skipped",
    )  # fmt: skip
    program.write_text("print(1)\n")
    assert tool(tmp_path).returncode == 2
    program.write_text(ENGINE + "\nimport os\nprint(os.urandom(8).hex())\n")
    assert "gives something else each time" in tool(tmp_path).stdout


def test_trials_leave_nothing_behind(tmp_path):
    """A registry, a counter, a file, random numbers: as if nothing had been tried."""
    program = tmp_path / "program.py"
    program.write_text(
        ENGINE.replace("import math", "import math, random\nrandom.seed(1)\nmade = []")
        .replace("out = Value(self.data * other.data", "made.append(random.random())\n"
                 "        print('mul')\n        out = Value(self.data * other.data")
        + "\nx = Value(3.0)\ny = x * x + x\ny.backward()\nprint(len(made), made, x.grad)\n"
    )  # fmt: skip
    result = outside.compared(program, "", 60.0)
    assert (result.verdict, result.reason) == ("same", "")
    assert result.ours.startswith("ours but for __mul__")


def test_what_cannot_be_explained_says_why(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(ENGINE + "\nprint(vars(Value(2.0))['data'])\n(Value(1.0) * 2).backward()\n")
    done = subprocess.run(
        [sys.executable, "-m", "retrograde", "run", str(program), "--replace", "Value",
         "--explain"], capture_output=True, encoding="utf-8", check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "2.0\n")
    assert "its Value stayed its own, because the program uses vars" in done.stderr


def test_a_backward_that_stays_is_explained_too(tmp_path):
    program = tmp_path / "program.py"
    engine = ENGINE.replace(
        "        self.grad = 1.0\n", "        self.grad = 1.0\n        print('b')\n"
    )
    program.write_text(engine + "\nx = Value(3.0)\ny = x * 2\ny.backward()\nprint(x.grad)\n")
    done = subprocess.run(
        [sys.executable, "-m", "retrograde", "run", str(program), "--replace", "Value",
         "--explain"], capture_output=True, encoding="utf-8", check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("b\n2.0\n")
    assert "the only backward pass" in done.stdout
    assert "Value is ours but for backward" in done.stderr
