"""The house: who may import whom, what importing costs, and that the examples we print are true."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import retrograde

PACKAGE = Path(retrograde.__file__).parent
ROOT = Path(__file__).resolve().parents[1]
NATIVE = ROOT / "native"
NOT_LISTED = ("README.md", "__init__.py", "__pycache__")

FLOORS = (
    ("ops",),
    ("errors", "_shared", "_text"),
    ("_core", "_native"),
    ("value", "tensor"),
    ("passes",),
    ("_values", "_tensors"),
    ("_derivatives", "frames"),
    ("program", "streams", "nn", "optim"),
    ("explain", "check", "diagnose", "models", "learn", "torch", "printing"),
    ("__init__",),
    ("cli",),
    ("__main__",),
)
"""The rooms from the ground up. A room may use its own floor and the floors below."""

UPWARD = {
    ("_shared", "_values"): "operands off the fast path: arrays, v[None]",
    ("_shared", "_tensors"): "sums and dots of tensors, v[None]",
    ("_shared", "value"): "whether v[None] is recorded",
    ("_core", "_values"): "v.reshape(1), NumPy's functions, copy and pickle of a value",
    ("_core", "value"): "the chosen core, for what both cores do alike",
    ("_core", "explain"): "value.explain() and what notebooks show of a value",
    ("frames", "program"): "results in the shapes of arguments",
    ("program", "explain"): "the story of one row of a compiled function",
    ("program", "diagnose"): "births over the rows of a compiled function",
    ("program", "printing"): "c_source and backends of compiled functions, as_jax",
    ("program", "torch"): "as_torch of a compiled function",
}
"""The only references upwards; all are inside functions, so nothing is imported that way early."""

FLOOR = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}


@cache
def rooms():
    """Every room with its files."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found.setdefault(parts[0], []).append(path)
    return found


def is_type_checking(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(path):
    """The rooms a file imports at run time, each with whether it does so inside a function."""
    here = ("retrograde", *path.relative_to(PACKAGE).with_suffix("").parts)

    def targets(node):
        if isinstance(node, ast.Import):
            names = [[*alias.name.split("."), "__init__"] for alias in node.names]
            return [name[1] for name in names if name[0] == "retrograde"]
        base = list(here[: -node.level]) if node.level else []
        base += node.module.split(".") if node.module else []
        if base[:1] != ["retrograde"]:
            return []
        names = base[1:2] or [alias.name for alias in node.names]
        return [name if name in rooms() else "__init__" for name in names]

    def walk(node, inside):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.Import, ast.ImportFrom)):
                for room in targets(child):
                    yield room, inside
            elif is_type_checking(child):
                for other in child.orelse:
                    yield from walk(other, inside)
            else:
                deeper = inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
                yield from walk(child, deeper)

    yield from walk(ast.parse(path.read_text(encoding="utf-8")), False)


def test_every_room_has_its_floor():
    homeless = set(rooms()) - set(FLOOR)
    assert not homeless, f"give {sorted(homeless)} a floor in this file and in DESIGN.md"
    assert {"ops", "_core", "value", "errors"} <= set(rooms())


def test_dependencies_point_downwards():
    wrong, met = [], set()
    for room, files in rooms().items():
        for path in files:
            for other, inside in imports(path):
                if other == room or FLOOR[other] <= FLOOR[room]:
                    continue
                met.add((room, other))
                if (room, other) not in UPWARD or not inside:
                    wrong.append(f"{path.relative_to(PACKAGE)} imports {other}")
    assert not wrong
    assert met == set(UPWARD), "UPWARD lists a reference that is no longer there"


def test_the_law_imports_nothing_of_ours():
    for path in rooms()["ops"]:
        assert {room for room, _ in imports(path)} <= {"ops"}, path


def test_this_test_sees_imports():
    seen = {room for path in rooms()["value"] for room, _ in imports(path)}
    assert {"_core", "errors"} <= seen
    assert "_native" not in seen  # for type checkers only


def test_the_native_core_calls_only_rooms_below_it():
    called = set()
    for path in (ROOT / "native").glob("*.c"):
        text = path.read_text(encoding="utf-8")
        called |= set(re.findall(r'(?:rg_call|lookup)\(\s*"retrograde\.(\w+)', text))
    assert {"errors", "_shared"} <= called
    called.remove("program")  # comparisons while recording, which only program/ makes happen
    assert all(FLOOR[room] < FLOOR["_native"] for room in called), called


def test_rooms_say_what_belongs_in_them():
    for files in rooms().values():
        for path in files:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            assert not tree.body or ast.get_docstring(tree), f"{path} has no docstring"


def folders():
    """The rooms that are folders."""
    return sorted(PACKAGE / room for room in rooms() if (PACKAGE / room).is_dir())


@pytest.mark.parametrize("room", [*folders(), NATIVE], ids=lambda room: room.name)
def test_every_room_lists_its_files(room):
    text = (room / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w.]+/?)`", "".join(re.findall(r"^\| (`.*?) \|", text, re.M))))
    own = {
        path.name + "/" * path.is_dir()
        for path in room.iterdir()
        if path.suffix not in (".pyc", ".pyi", ".so") and path.name not in NOT_LISTED
    }
    assert named == own


def test_the_map_lists_every_room():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    chart = text.split("```text\nsrc/retrograde/", 1)[1].split("```", 1)[0]
    named = {name.rstrip("/") for name in re.findall(r"[\w.]+/", chart)}
    assert {room.name for room in folders()} <= named


# ---- importing --------------------------------------------------------------------------------


def run(code, core="", **options):
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "RETROGRADE_CORE": core}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=600,
        env=environment,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("core", ["native", "reference"])
def test_importing_loads_numpy_and_the_standard_library_only(core):
    code = """
import sys, numpy
before = set(sys.modules)
import retrograde
after = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(after - set(sys.stdlib_module_names)))
"""
    assert run(code, core).split() == ["retrograde"]


def test_importing_one_core_leaves_the_other_alone():
    code = "import sys, retrograde; print('retrograde._core.fallback' in sys.modules)"
    assert run(code, "native").strip() == "False"
    code = "import sys, retrograde; print('retrograde._native' in sys.modules)"
    assert run(code, "reference").strip() == "False"


def test_only_the_torch_room_and_the_comparison_name_torch():
    naming = {
        str(path.relative_to(PACKAGE))
        for files in rooms().values()
        for path in files
        if re.search(r"^\s*(import|from) torch\b", path.read_text(encoding="utf-8"), re.M)
    }
    assert {name for name in naming if not name.startswith("torch/")} == {"check/engines.py"}


def test_importing_loads_no_torch():
    code = "import sys, retrograde, retrograde.cli; print('torch' in sys.modules)"
    assert run(code).strip() == "False"


def test_values_need_no_numpy():
    """It takes longer to load than all the rest: who computes with values alone does not pay."""
    code = (
        "import sys, retrograde as rg; x = rg.Value(2.0); (rg.sin(x) * x).backward(); "
        "print(value.core_name == 'native' and 'numpy' in sys.modules)"
    )
    assert run(f"from retrograde import value; {code}").strip() == "False"


EACH_FIRST = """
import os, pkgutil, sys
from importlib.util import find_spec

places = find_spec("retrograde").submodule_search_locations
rooms = {info.name for info in pkgutil.iter_modules(places)} - {"__main__", "_native"}
if find_spec("torch") is None:
    rooms.remove("torch")
for room in sorted(rooms):
    if child := os.fork():
        os.waitpid(child, 0)
        continue
    try:
        __import__(f"retrograde.{room}")
    except ImportError as error:
        print(room, error, flush=True)
    tensor = sys.modules.get("retrograde.tensor")
    given = ("tensor", "explain", "optim", "torch")  # they make none
    if tensor and room not in given and not hasattr(tensor.Tensor, "cumsum"):
        print(room, "knows tensors without their face", flush=True)
    os._exit(0)
"""


def test_any_room_can_be_the_first_that_is_imported():
    assert run(EACH_FIRST) == ""


# ---- examples ---------------------------------------------------------------------------------

DOCTESTS = """
import doctest, importlib.util, pkgutil, sys
import retrograde

names = [info.name for info in pkgutil.walk_packages(retrograde.__path__, "retrograde.")]
if retrograde.value.core_name != "native":
    names = [name for name in names if name != "retrograde._native"]
    names = [name for name in names if not name.startswith("retrograde.program")]  # native only
names = [name for name in names if name != "retrograde.__main__"]
if importlib.util.find_spec("torch") is None:
    names = [name for name in names if not name.startswith("retrograde.torch")]
failed = tried = 0
for module in [retrograde, *map(importlib.import_module, names)]:
    outcome = doctest.testmod(module)
    failed, tried = failed + outcome.failed, tried + outcome.attempted
print(failed, tried)
"""


@pytest.mark.parametrize("core", ["native", pytest.param("reference", marks=pytest.mark.slow)])
def test_examples_in_docstrings_are_true(core):
    printed = run(DOCTESTS, core)
    failed, tried = map(int, printed.splitlines()[-1].split())
    assert failed == 0, printed
    assert tried > 50


def python_blocks(path):
    return re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("core", ["native", "reference"])
def test_examples_in_the_readme_run(core, tmp_path):
    blocks = python_blocks(ROOT / "README.md")
    assert blocks
    run("\n".join(blocks), core, cwd=tmp_path)
