"""The pure core under Pyodide, in node: every row of the law on another C library, and who runs."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

LAUNCHER = """
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const [, , folder, archive, program] = process.argv;
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: `${folder}/` });
python.unpackArchive(new Uint8Array(readFileSync(archive)), "zip");
python.runPython(readFileSync(program, "utf8"));
"""

PROGRAM = """
import json
import retrograde as rg
from retrograde import value
from retrograde.cli.info import gather
from retrograde.ops import OPS

NUMBERS = (-3.7, -0.6, 0.3, 0.9, 1.0, 2.5, 27.3)
rows = {}
for op in OPS.values():
    for first in range(len(NUMBERS)):
        picked = [NUMBERS[(first + 3 * i) % len(NUMBERS)] for i in range(op.arity)]
        try:
            leaves = [rg.Value(x) for x in picked]
            made = getattr(rg, op.name)(*leaves)
            made.backward()
            found = [made.data] + [leaf.grad for leaf in leaves]
        except rg.RetrogradeError as error:
            found = type(error).__name__
        rows[f"{op.name} {picked}"] = found

x = rg.Value(1.0)
for i in range(3000):
    x = x * 1.0009 + 0.1 / (x + 1.0) - (x * x + 2.0).sqrt() * 1e-3
x.backward()
model = rg.nn.MLP(3, [4, 1], seed=7)
loss = (model([0.5, -1.0, 2.0]) - 1.0) ** 2
loss.backward()
print(json.dumps({
    "core": value.core_name,
    "reason": value.core_reason,
    "info": gather(),
    "rows": rows,
    "exact": [x.data.hex()],
    "network": [p.grad for p in model.parameters()],
}))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program says under Pyodide."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node here")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "tools")
        live = import_module("documentation.live")
        folder = live.pyodide_files()
        if folder is None:
            pytest.skip("npm cannot fetch pyodide here")
        home = tmp_path_factory.mktemp("pyodide")
        live.write_package(home / "package.zip")
    (home / "launch.mjs").write_text(LAUNCHER, encoding="utf-8")
    (home / "program.py").write_text(PROGRAM, encoding="utf-8")
    command = [node, home / "launch.mjs", folder, home / "package.zip", home / "program.py"]
    done = subprocess.run(command, text=True, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    """The same of the pure core here."""
    environment = {**os.environ, "RETROGRADE_CORE": "reference"}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, text=True, capture_output=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def ulps(a: float, b: float) -> float:
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    return abs(a - b) / math.ulp(max(abs(a), abs(b)))


@pytest.mark.slow
def test_info_says_which_core_runs_and_why(told: dict[str, Any]) -> None:
    info = told["info"]
    assert (told["core"], info["core"]) == ("reference", "reference")
    assert told["reason"]
    assert info["platform"] == "Emscripten wasm32"
    assert (info["boundary"], info["compiler"], info["threads"]) == ("none", None, 1)


@pytest.mark.slow
def test_every_row_of_the_law_is_the_one_of_this_machine(
    told: dict[str, Any], ours: dict[str, Any]
) -> None:
    assert set(told["rows"]) == set(ours["rows"])
    apart = {}
    for name, expected in ours["rows"].items():
        found = told["rows"][name]
        if isinstance(expected, str):
            assert found == expected, name
            continue
        worst = max(ulps(a, b) for a, b in zip(found, expected))
        if worst > 4:
            apart[name] = worst
    assert not apart


@pytest.mark.slow
def test_sums_products_and_roots_have_the_same_bits(
    told: dict[str, Any], ours: dict[str, Any]
) -> None:
    assert told["exact"] == ours["exact"]


@pytest.mark.slow
def test_a_network_has_the_same_gradients(told: dict[str, Any], ours: dict[str, Any]) -> None:
    assert told["network"] == pytest.approx(ours["network"], rel=1e-13)
