"""Rehearse adding ops: edit one file, regenerate, build, and use the ops on both cores.

    python tools/rehearse.py [--keep]

Works on a scratch copy of the checkout. Fails when a new op needs a change in any file but
``ops/scalar.py`` (an op on arrays: ``ops/array.py``) and the generated ones, or when anything that
asks the law (``rehearsed.py`` and ``rehearsed_arrays.py`` try all of it) cannot do with it: then
the design has slipped. The tests of the law are run on the new rows of arrays too.
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

PROGRAMS = [Path(__file__).with_name(name) for name in ("rehearsed.py", "rehearsed_arrays.py")]
TABLE, ARRAYS = "src/retrograde/ops/scalar.py", "src/retrograde/ops/array.py"
END_OF_TABLE = ")  # fmt: skip\n\n\ndef _table("
END_OF_STATED, END_OF_COMPOSED = (f")  # fmt: skip\n\n_{name}" for name in ("COMPOSED", "IMPLICIT"))
TESTS = (
    "tests/law/test_array_torch.py", "tests/law/test_array_words.py",
    "tests/law/test_array_wrong_rules.py", "tests/law/test_array_page.py",
    "tests/kernels/test_array_plans.py", "tests/tensors/test_rows.py",
    "tests/tensors/test_nodes.py", "tests/tensors/test_explained.py",
    "tests/program/test_shaped_rows.py",
)  # fmt: skip
"""The tests of array rows that take every row of the table."""
ROWS = """\
    Op(
        "rehearsed_damp", x * exp(-(y * x)), (exp(-(y * x)) * (1 - y * x), -(x * z)),
        kind="custom", defaults=(0.5,),
        edges=(Edge((0.0, 0.5), 0.0, (1.0, 0.0), "passes through zero with slope one"),),
    ),
    Op("rehearsed_cube", x * x * x, (3 * (x * x),), kind="power"),
    Op("rehearsed_blend", x + y * (low - x), (1 - y, low - x, y), kind="custom",
       inputs=("x", "y", "low")),
    Op(
        "rehearsed_ramp", where(x > 0, log(x) + rehearsed_cube(x), atan2(1, x)),
        (where(x > 0, 1 / x + 3 * (x * x), -(1 / (1 + x * x))),),
        kind="gate", domain=((0.2, 2.0),), noun="the ramp", latex=r"\\rho", hides_nan="",
        edges=(Edge((0.0,), math.pi / 2, (-1.0,), "0 counts as the lower side"),),
        cure="keep the input away from 0",
    ),
"""


STATED = """\
    Row("rehearsed_mix",
        lambda shapes: bind(
            adds(term(z[i, j], x[i, k] * Call("rehearsed_cube", (y[j, k],)), k <= j)), shapes),
        Example({"x": (3, 4), "y": (5, 4)}), ("x", "y"), why="a product with a cube and a mask"),
"""
COMPOSED = """\
    Composed("rehearsed_centre",
             lambda do, x, axis=-1: do("sub", x, do("mean", x, axis=axis, keepdims=True)),
             Example(MATRIX, {"axis": 0}), "what is left without the mean"),
"""


def add_array_rows(checkout: Path) -> None:
    """Add the made-up rows of arrays at the ends of their tables."""
    table = checkout / ARRAYS
    text = table.read_text(encoding="utf-8")
    for rows, end in ((STATED, END_OF_STATED), (COMPOSED, END_OF_COMPOSED)):
        if text.count(end) != 1:
            raise SystemExit(f"{ARRAYS}: the end of a table was not found")
        text = text.replace(end, rows + end)
    table.write_text(text, encoding="utf-8")


def add_rows(checkout: Path) -> None:
    """Add the made-up rows at the end of the table."""
    table = checkout / TABLE
    text = table.read_text(encoding="utf-8")
    if text.count(END_OF_TABLE) != 1:
        raise SystemExit(f"{TABLE}: the end of the table was not found")
    called = 'rehearsed_cube = function("rehearsed_cube")\n\n_ROWS: Final = ('
    text = text.replace("_ROWS: Final = (", called).replace(END_OF_TABLE, ROWS + END_OF_TABLE)
    table.write_text(text, encoding="utf-8")


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """The paths that differ between two sets of fingerprints."""
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def rehearse(folder: Path) -> None:
    """Go through the whole of it in an empty folder."""
    checkout, installed = scratch.copy_checkout(folder / "checkout"), folder / "installed"
    before = dict(scratch.fingerprints(checkout))
    add_rows(checkout)
    add_array_rows(checkout)
    print(f"added four rows to {TABLE} and two to {ARRAYS}")
    print(scratch.run([sys.executable, checkout / "tools" / "regenerate.py"]), end="")
    scratch.run([sys.executable, checkout / "tools" / "regenerate.py", "--check"])
    quickly = {**os.environ, "CMAKE_ARGS": scratch.QUICKLY}
    scratch.build_wheel(checkout, installed, environment=quickly)
    print("built the wheel")

    touched = changed(before, dict(scratch.fingerprints(checkout)))
    allowed = {TABLE, ARRAYS, *regenerate.generate(checkout)}
    if touched != allowed:
        raise SystemExit(
            f"an op should change {sorted(allowed)} and nothing else; it changed {sorted(touched)}"
        )
    print(f"changed besides the tables: {', '.join(sorted(touched - {TABLE, ARRAYS}))}")

    for core in ("native", "reference"):
        environment = {**os.environ, "PYTHONPATH": str(installed), "RETROGRADE_CORE": core}
        for program in PROGRAMS:
            printed = scratch.run(
                [sys.executable, program, core], cwd=folder, environment=environment
            )
            print(printed, end="")
        print(f"the {core} engine computes and differentiates them")

    environment = {**os.environ, "PYTHONPATH": str(installed), "RETROGRADE_CORE": ""}
    asked = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "rehearsed", *TESTS)
    printed = scratch.run([sys.executable, *asked], cwd=checkout, environment=environment)
    print(f"the tests of the array law hold for them: {printed.strip().splitlines()[-1]}")


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
