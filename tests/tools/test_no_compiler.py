"""Where no C compiler is found the package installs all the same, and says why it is slower."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow
pytest.importorskip("scikit_build_core", reason="scikit-build-core is in the extra 'test'")

# CMake looks into /usr/bin and its like whatever PATH says; this tells it, and the nested CMake
# that looks for a compiler, not to.
TOOLCHAIN = "set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)\n"

PROGRAM = """
import json
import retrograde as rg
from retrograde import value

x = rg.Value(3.0)
y = (x * x).relu() + rg.maximum(x, 1.0)
y.backward()
print(json.dumps([value.core_name, value.core_reason, y.data, x.grad]))
"""


@pytest.fixture
def scratch() -> ModuleType:
    spec = importlib.util.spec_from_file_location("scratch", ROOT / "tools" / "scratch.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def without_compiler(tmp_path: Path) -> dict[str, str]:
    """An environment in which CMake and Ninja are found, and no compiler is."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("cmake", "ninja"):
        beside = Path(sys.executable).parent / name
        found = str(beside) if beside.exists() else shutil.which(name)
        if found:
            (tools / name).symlink_to(found)
    toolchain = tmp_path / "toolchain.cmake"
    toolchain.write_text(TOOLCHAIN)
    forgotten = ("CC", "CXX", "CFLAGS", "CMAKE_PREFIX_PATH", "CMAKE_PROGRAM_PATH", "PYTHONPATH")
    kept = {name: text for name, text in os.environ.items() if name not in forgotten}
    return {**kept, "PATH": str(tools), "CMAKE_TOOLCHAIN_FILE": str(toolchain)}


def use(installed: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=installed,
        env={**os.environ, "PYTHONPATH": str(installed), "RETROGRADE_CORE": "", **environment},
        text=True,
        capture_output=True,
    )


def test_installs_and_runs_on_the_reference_where_there_is_no_compiler(
    scratch: ModuleType, without_compiler: dict[str, str], tmp_path: Path
) -> None:
    checkout, installed = scratch.copy_checkout(tmp_path / "checkout"), tmp_path / "installed"
    printed = scratch.build_wheel(checkout, installed, environment=without_compiler)
    assert "no C compiler was found" in printed
    assert not list(installed.glob("retrograde/_native.*.so"))

    done = use(installed)
    assert done.returncode == 0, done.stderr
    name, reason, data, grad = json.loads(done.stdout)
    assert name == "reference"
    assert reason == "no C compiler was found when it was installed"
    assert (data, grad) == (12.0, 7.0)

    asked = use(installed, RETROGRADE_CORE="native")
    assert asked.returncode == 1
    assert "no C compiler was found when it was installed" in asked.stderr
