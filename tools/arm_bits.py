"""Build the native core for ARM64, run it under qemu, and compare its bits with this machine's.

    python tools/arm_bits.py                  the fingerprints, and tests that ask for bits
    python tools/arm_bits.py PATHS...         these tests instead (pytest's arguments)

Needs qemu-aarch64 and a cross compiler (Debian: qemu-user, gcc-aarch64-linux-gnu), and Debian's
packages for arm64, of which a Python with its headers is unpacked into .cache/arm: nothing of this
machine is touched. Where they cannot be had it says so and exits 0; --strict makes that 1.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import debian
import scratch

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".cache" / "arm"
SYSTEM, SITE = HOME / "root", HOME / "site"

SUITE, VERSION = "bookworm", "3.11"
PACKAGES = (f"python{VERSION}", f"libpython{VERSION}-dev", "libstdc++6")
WHEELS = ("numpy", "rich", "pytest", "hypothesis", "mpmath")
PLATFORMS = ("manylinux2014", "manylinux_2_17", "manylinux_2_27", "manylinux_2_28")

TESTS = (
    "tests/kernels", "tests/program/test_bits.py", "tests/program/test_execution.py",
    "tests/program/test_fours.py", "tests/smoke", "tests/tensors/test_rows.py",
)  # fmt: skip
"""What asks the kernels for bits, and a short visit to every room."""

# Tests start no processes of their own here: the system would not know how to run them.
NO_PROCESSES = """
import subprocess
import pytest

def refused(*args, **more):
    pytest.skip("no process can be started under emulation")

def pytest_configure():
    subprocess.Popen = refused
    subprocess.run = refused
"""


def tool(name: str) -> str:
    """A build tool, from this environment or from the machine."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else shutil.which(name) or ""


def missing() -> list[str]:
    """What is needed and not there."""
    commands = ("qemu-aarch64", "aarch64-linux-gnu-gcc", "cmake", "ninja")
    found = [name for name in commands if not tool(name)]
    return found if (SYSTEM / "usr").exists() else found + debian.missing()


def unpack_wheels() -> None:
    """What the package and its tests need, for that Python."""
    wheels = HOME / "wheels"
    if not wheels.exists():
        platforms = [word for name in PLATFORMS for word in ("--platform", f"{name}_aarch64")]
        scratch.run(
            [sys.executable, "-m", "pip", "download", "-q", "-d", f"{wheels}.part", *platforms,
             "--only-binary=:all:", "--implementation", "cp", "--python-version", VERSION, *WHEELS]
        )  # fmt: skip
        Path(f"{wheels}.part").rename(wheels)
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(SITE)


def build() -> None:
    """The package with a native core for ARM, into the folder that it is imported from."""
    here = SYSTEM / "usr" / "include"
    options = {
        "CMAKE_MAKE_PROGRAM": tool("ninja"),
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_C_COMPILER": "aarch64-linux-gnu-gcc",
        "CMAKE_C_FLAGS": f"-idirafter {here}",
        "CMAKE_OBJDUMP": shutil.which("aarch64-linux-gnu-objdump") or "",
        "CMAKE_INSTALL_PREFIX": str(SITE),
        "Python_EXECUTABLE": sys.executable,
        "Python_INCLUDE_DIR": str(here / f"python{VERSION}"),
    }
    defined = [f"-D{name}={text}" for name, text in options.items() if text]
    folder = HOME / "build"
    scratch.run([tool("cmake"), "-S", ROOT, "-B", folder, "-G", "Ninja", *defined])
    scratch.run([tool("cmake"), "--build", folder])
    shutil.rmtree(SITE / "retrograde", ignore_errors=True)
    leave = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(ROOT / "src" / "retrograde", SITE / "retrograde", ignore=leave)
    scratch.run([tool("cmake"), "--install", folder])
    (made,) = (SITE / "retrograde").glob("_native.*.so")  # named after this machine's Python
    made.rename(made.with_name("_native.so"))
    (SITE / "no_processes.py").write_text(NO_PROCESSES, encoding="utf-8")


def on_arm(*arguments: str | Path) -> list[str]:
    """A command line of the Python for ARM."""
    python = SYSTEM / "usr" / "bin" / f"python{VERSION}"
    given = {
        "PYTHONPATH": SITE,
        "PYTHONHOME": SYSTEM / "usr",
        "RETROGRADE_CORE": "native",
    }
    settings = [word for name, text in given.items() for word in ("-E", f"{name}={text}")]
    return ["qemu-aarch64", "-L", str(SYSTEM), *settings, str(python), *map(str, arguments)]


def compare_bits() -> int:
    """The fingerprints of both processors, at every level; how many differ."""
    program = ROOT / "tools" / "fingerprints.py"
    wanted = scratch.run([sys.executable, program]).splitlines()
    differing = 0
    for level in ("neon", "base"):
        found = scratch.run(on_arm("-s", program, level)).splitlines()
        wrong = [line for line in wanted if line not in found]
        differing += len(wrong)
        print(f"ARM64, {level}: {len(wanted) - len(wrong)} of {len(wanted)} fingerprints are equal")
        for line in wrong:
            print(f"    differs: {line.partition('  ')[2]}")
    return differing


def run_tests(paths: Sequence[str]) -> int:
    """pytest under emulation; its status."""
    options = ("-q", "-rfE", "-p", "no:cacheprovider", "-p", "no_processes", "-m", "not slow")
    return subprocess.run(on_arm("-s", "-m", "pytest", *options, *paths), cwd=ROOT).returncode


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tests", nargs="*", help="tests to run there instead of the usual ones")
    parser.add_argument("--bits", action="store_true", help="compare the fingerprints alone")
    parser.add_argument("--strict", action="store_true", help="fail where it cannot be done here")
    options = parser.parse_args()
    if lacking := missing():
        print(f"skipped: ARM64 cannot be emulated here without {', '.join(lacking)}")
        return 1 if options.strict else 0
    try:
        debian.unpack(HOME, [SUITE], "arm64", PACKAGES)
        unpack_wheels()
    except SystemExit as error:
        print(f"skipped: what it takes could not be fetched: {error}")
        return 1 if options.strict else 0
    build()
    differing = 0 if options.tests else compare_bits()
    status = 0 if options.bits else run_tests(options.tests or TESTS)
    return 1 if differing or status else 0


if __name__ == "__main__":
    sys.exit(main())
