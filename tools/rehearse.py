"""Rehearse adding an op: edit one file, regenerate, build, and use the op on both cores.

    python tools/rehearse.py [--keep]

Works on a scratch copy of the checkout. Fails when the new op needs a change in any file but
``ops/scalar.py`` and the generated ones: then the design has slipped.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

import regenerate
import scratch

TABLE = "src/retrograde/ops/scalar.py"
END_OF_TABLE = ")  # fmt: skip\n\n\ndef _table("
ROWS = """\
    Op(
        "rehearsed_damp", x * exp(-(y * x)), (exp(-(y * x)) * (1 - y * x), -(x * z)),
        kind="custom", defaults=(0.5,),
        edges=(Edge((0.0, 0.5), 0.0, (1.0, 0.0), "passes through zero with slope one"),),
    ),
    Op("rehearsed_cube", x * x * x, (3 * (x * x),), kind="power"),
    Op("rehearsed_blend", x + y * (low - x), (1 - y, low - x, y), kind="custom",
       inputs=("x", "y", "low")),
"""

PROGRAM = """
import importlib.util
import math
import sys
import numpy as np
import retrograde as rg
from retrograde import Value
from retrograde.value import core_name

assert core_name == sys.argv[1], core_name
e = math.exp(-1.0)

# one input: method and function, values and numbers
x = Value(2.0)
y = x.rehearsed_cube() + rg.rehearsed_cube(x)
assert y.data == 16.0, y
y.backward()
assert x.grad == 24.0, x
assert rg.rehearsed_cube(3.0) == 27.0
assert y.inputs[0].op == "rehearsed_cube"

# two inputs with a default: left out, given, named
x, rate = Value(2.0), Value(0.5)
y = x.rehearsed_damp(rate)
y.backward()
assert abs(y.data - 2 * e) < 1e-15, y
assert abs(x.grad) < 1e-15, x
assert abs(rate.grad + 4 * e) < 1e-14, rate
assert x.rehearsed_damp().data == rg.rehearsed_damp(2.0) == rg.rehearsed_damp(x, y=0.5).data

# three inputs, one of them a number
a, b = Value(1.0), Value(5.0)
y = rg.rehearsed_blend(a, 0.25, b)
y.backward()
assert (y.data, a.grad, b.grad) == (2.0, 0.75, 0.25), (y, a, b)
assert "rehearsed_damp" in rg.ops

# compared with other engines, whether they have the op or not; and told as a page
def loss(x, y):
    return rg.rehearsed_damp(x, y) + rg.rehearsed_cube(x) * rg.rehearsed_blend(x, y, 0.5)

against = ["complex-step", "finite-differences"]
against += [name for name in ("torch", "jax") if importlib.util.find_spec(name)]
for engine in against:
    found = rg.compare(loss, (2.0, 0.5), against=engine)
    assert found.agrees, found
assert rg.gradcheck(loss, (2.0, 0.5))
from retrograde.explain.html import page_html
page = page_html(rg.story(loss(Value(2.0, label="x"), Value(0.5, label="y"))))
assert "law.rehearsed_damp = " in page

# replayed over rows, with gradients
if core_name == "native":
    damp = rg.compile(lambda x, y: rg.rehearsed_damp(x, y).rehearsed_cube())
    values, (slopes, _) = damp.value_and_grad(np.array([2.0, 1.0]), 0.5)
    assert abs(values[0] - 8 * e**3) < 1e-13, values
    assert abs(slopes[0]) < 1e-13, slopes
"""


def add_rows(checkout: Path) -> None:
    """Add the made-up rows at the end of the table."""
    table = checkout / TABLE
    text = table.read_text(encoding="utf-8")
    if text.count(END_OF_TABLE) != 1:
        raise SystemExit(f"{TABLE}: the end of the table was not found")
    table.write_text(text.replace(END_OF_TABLE, ROWS + END_OF_TABLE), encoding="utf-8")


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """The paths that differ between two sets of fingerprints."""
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def rehearse(folder: Path) -> None:
    """Go through the whole of it in an empty folder."""
    checkout, installed = scratch.copy_checkout(folder / "checkout"), folder / "installed"
    before = dict(scratch.fingerprints(checkout))
    add_rows(checkout)
    print(f"added three rows to {TABLE}")
    print(scratch.run([sys.executable, checkout / "tools" / "regenerate.py"]), end="")
    scratch.run([sys.executable, checkout / "tools" / "regenerate.py", "--check"])
    scratch.build_wheel(checkout, installed)
    print("built the wheel")

    touched = changed(before, dict(scratch.fingerprints(checkout)))
    allowed = {TABLE, *regenerate.generate(checkout)}
    if touched != allowed:
        raise SystemExit(
            f"an op should change {sorted(allowed)} and nothing else; it changed {sorted(touched)}"
        )
    print(f"changed besides the table: {', '.join(sorted(touched - {TABLE}))}")

    for core in ("native", "reference"):
        environment = {**os.environ, "PYTHONPATH": str(installed), "RETROGRADE_CORE": core}
        scratch.run([sys.executable, "-c", PROGRAM, core], cwd=folder, environment=environment)
        print(f"the {core} engine computes and differentiates them")


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", action="store_true", help="leave the scratch folder behind")
    keep = parser.parse_args().keep
    folder = Path(tempfile.mkdtemp(prefix="rehearsal-"))
    try:
        rehearse(folder)
    finally:
        if keep:
            print(f"left in {folder}")
        else:
            shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
