"""The package always installs: natively, or in pure Python with a reason and a tag of its own."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
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


def use(
    installed: Path, program: str = PROGRAM, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=installed,
        env={**os.environ, "PYTHONPATH": str(installed), "RETROGRADE_CORE": "", **environment},
        text=True,
        capture_output=True,
    )


def only_wheel(installed: Path) -> str:
    (wheel,) = (installed.parent / f"{installed.name}-wheels").glob("*.whl")
    return wheel.name


def is_pure(installed: Path, reason: str) -> None:
    """The wheel holds no native core, fits every Python, and says why."""
    assert not list(installed.glob("retrograde/_native.*.so"))
    assert only_wheel(installed).endswith("-py3-none-any.whl")
    done = use(installed)
    assert done.returncode == 0, done.stderr
    name, why, data, grad = json.loads(done.stdout)
    assert (name, data, grad) == ("reference", 12.0, 7.0)
    assert reason in why
    asked = use(installed, RETROGRADE_CORE="native")
    assert asked.returncode == 1
    assert reason in asked.stderr


def test_without_a_compiler_it_is_pure_python(
    scratch: ModuleType, without_compiler: dict[str, str], tmp_path: Path
) -> None:
    checkout, installed = scratch.copy_checkout(tmp_path / "checkout"), tmp_path / "installed"
    printed = scratch.build_wheel(checkout, installed, environment=without_compiler)
    assert "no C compiler was found" in printed
    is_pure(installed, "no C compiler was found when it was installed")


AS_IF = """
import sys
import zipfile
from scikit_build_core.settings import skbuild_overrides

setattr(skbuild_overrides, *{pretence!r}[:1], lambda: {pretence!r}[1])
from scikit_build_core.build import build_wheel

build_wheel(sys.argv[1])
"""


def test_without_the_lock_of_the_interpreter_it_is_pure_python(
    scratch: ModuleType, tmp_path: Path
) -> None:
    checkout, installed = scratch.copy_checkout(tmp_path / "checkout"), tmp_path / "installed"
    wheels = tmp_path / "installed-wheels"
    program = AS_IF.format(pretence=("get_abi_flags", "t"))
    subprocess.run([sys.executable, "-c", program, wheels], cwd=checkout, check=True)
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    (installed / "sitecustomize.py").write_text(scratch.COMES_FIRST)
    is_pure(installed, "Python without its lock runs the pure-Python core")


LONG = """
import numpy as np
import retrograde as rg
from retrograde import value

assert value.core_name == "native", value.core_reason

@rg.compile
def f(x, y):
    for i in range(20_000):
        x = (x * 0.5 + y).tanh() if i % 3 else rg.maximum(x - y, 0.1) * 1.01
    return x if x > y else x * y

rows = np.linspace(-1.0, 1.0, 1_037)
found, (dx, dy) = f.value_and_grad(rows, rows[::-1].copy())
print(rg.data([float(found.sum()), float(dx.sum()), float(dy.sum())]).tobytes().hex())
"""


def test_a_build_that_fails_is_pure_python_and_one_that_is_mended_native(
    scratch: ModuleType, tmp_path: Path
) -> None:
    """One checkout throughout: each build compiles only what was changed since the one before."""
    checkout = scratch.copy_checkout(tmp_path / "checkout")

    def build(name: str, flags: str) -> tuple[Path, str]:
        environment = {**os.environ, "CMAKE_ARGS": flags}
        printed = scratch.build_wheel(checkout, tmp_path / name, environment=environment)
        return tmp_path / name, printed

    walker = checkout / "native" / "walk.c"
    kept = walker.read_text()
    walker.write_text("this is not C;\n")
    installed, _ = build("does-not-compile", scratch.QUICKLY)
    is_pure(installed, "the native core did not compile when it was installed")

    walker.write_text(kept)
    installed, _ = build("mended", scratch.QUICKLY)
    assert "none-any" not in only_wheel(installed)
    name, _, data, grad = json.loads(use(installed).stdout)
    assert (name, data, grad) == ("native", 12.0, 7.0)
    jumped = use(installed, LONG)
    assert jumped.returncode == 0, jumped.stderr

    installed, _ = build("loop", f"{scratch.QUICKLY} -DRETROGRADE_LOOP=ON")
    looped = use(installed, LONG)
    assert looped.returncode == 0, looped.stderr
    assert looped.stdout == jumped.stdout, "the loop has not the bits of the jumps"

    cmake = (checkout / "CMakeLists.txt").read_text()
    assert "must_jump FAIL_REGEX" in cmake
    cmake = cmake.replace("must_jump FAIL_REGEX", "never FAIL_REGEX")
    (checkout / "CMakeLists.txt").write_text(cmake)
    machine = checkout / "native" / "kernels" / "machine.h"
    machine.write_text(machine.read_text().replace("__has_attribute(musttail)", "0"))
    kernels = checkout / "native" / "kernels" / "kernels.c"
    calls = '#pragma GCC optimize("no-optimize-sibling-calls")\n'
    kernels.write_text(calls + kernels.read_text())
    flags = "-DRETROGRADE_LOOP=OFF -DCMAKE_C_FLAGS=-flto"  # as distributions build: no machine code
    installed, printed = build("handlers-that-call", f"{scratch.QUICKLY} {flags}")
    assert "handlers call the next one" in printed
    is_pure(installed, "did not compile")
