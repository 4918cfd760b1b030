"""Compile and link the native core for every system and processor it is meant for.

    python tools/compile_matrix.py                      every target that a compiler here can make
    python tools/compile_matrix.py aarch64-macos gcc    only these
    python tools/compile_matrix.py --list               what there is
    python tools/compile_matrix.py --json FILE          write what came of it as well

Targets with a processor and a system are made by ``zig cc`` (pip install ziglang), which is clang
with the headers of every system; the others by compilers of this machine. Each goes through the
project's own CMakeLists.txt. Python's headers are those of the running interpreter, with
``tools/headers/pyconfig.h`` for systems other than this one. What comes out is a whole module
with nothing left to be found but Python's own functions; it is not run. Exits 1 when any fails.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache" / "matrix"
HEADERS = Path(__file__).parent / "headers"

AT_ONCE = 2
"""Targets; much of what zig does at first, for each system, takes one processor."""

OPTIMIZE = "-O1;-foptimize-sibling-calls"
"""Enough for what a compiler only finds out when it optimises, without the time of -O3."""

NO_BUNDLES = """\
for part; do
    shift
    [ "$part" = -bundle ] && part=-dynamiclib
    set -- "$@" "$part"
done
"""
"""The linker of zig makes no bundles for macOS; a library shows the same."""

EXPORTED = re.compile(r"PyAPI_(?:FUNC|DATA)\s*\([^)]*\)\s*\**\s*(\w+)|#define \w+\s+(_Py\w+_SizeT)")
"""What a header says is exported, or a name that stands for such a one."""


class Target(NamedTuple):
    """What to compile for; ``compiler`` is a command, or "zig"."""

    name: str
    system: str
    processor: str
    compiler: str
    level: str
    flags: tuple[str, ...] = ()

    @property
    def is_here(self) -> bool:
        """Whether this interpreter's own pyconfig.h is the right one."""
        return self.name in ("gcc", "clang")


def _zig(processor: str, system: str, library: str = "") -> Target:
    name = "-".join(filter(None, (processor, system, library)))
    called = {"windows": "Windows", "macos": "Darwin", "linux": "Linux"}[system]
    level = "rg_kernels_neon" if processor == "aarch64" else "rg_kernels_v4"
    return Target(name, called, processor, "zig", level)


TARGETS = (
    _zig("x86_64", "windows", "gnu"),
    _zig("aarch64", "windows", "gnu"),
    _zig("x86_64", "macos"),
    _zig("aarch64", "macos"),
    _zig("x86_64", "linux", "gnu.2.17"),
    _zig("aarch64", "linux", "gnu.2.17"),
    _zig("x86_64", "linux", "musl"),
    _zig("aarch64", "linux", "musl"),
    Target("mingw", "Windows", "x86_64", "x86_64-w64-mingw32-gcc", "rg_kernels_v4"),
    Target("gcc-aarch64", "Linux", "aarch64", "aarch64-linux-gnu-gcc", "rg_kernels_neon"),
    Target("gcc", "Linux", "", "gcc", ""),
    Target("clang", "Linux", "", "clang", ""),
)


class Outcome(NamedTuple):
    """What came of a target: "compiled", "FAILED" or "skipped", and why."""

    target: str
    verdict: str
    detail: str
    seconds: float


def missing(target: Target) -> str:
    """Why a target cannot be made here; empty where it can."""
    if target.compiler == "zig":
        return "" if find_spec("ziglang") else "pip install ziglang"
    return "" if shutil.which(target.compiler) else f"there is no {target.compiler}"


def tool(name: str) -> str:
    """A build tool, from this environment or from the machine."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        raise SystemExit(f"{name} is needed: pip install {name}")
    return found


def zig_program() -> str:
    """Where zig is: called once a file, and Python need not start for that."""
    found = find_spec("ziglang")
    assert found is not None
    assert found.origin is not None
    return str(Path(found.origin).with_name("zig"))


def write_command(path: Path, *command: str) -> Path:
    """A file that CMake can call as a compiler."""
    quoted = " ".join(f"'{part}'" for part in command)
    path.write_text(f'#!/bin/sh\n{NO_BUNDLES}exec {quoted} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return path


def tools_of(target: Target, folder: Path) -> dict[str, str]:
    """CMake's names for the compiler and its companions."""
    if target.compiler != "zig":
        prefix = target.compiler.rpartition("gcc")[0]
        found = {"CMAKE_C_COMPILER": target.compiler}
        for name in ("ar", "ranlib", "objdump", "windres") if prefix else ():
            if path := shutil.which(prefix + name):
                found[f"CMAKE_{'RC_COMPILER' if name == 'windres' else name.upper()}"] = path
        return found
    zig = (zig_program(),)
    # Checks of sanitizers, which it would add to what is not optimised, bring a library along.
    compiler = write_command(
        folder / "cc", *zig, "cc", "-target", target.name, "-fno-sanitize=undefined"
    )
    return {
        "CMAKE_C_COMPILER": str(compiler),
        "CMAKE_AR": str(write_command(folder / "ar", *zig, "ar")),
        "CMAKE_RANLIB": str(write_command(folder / "ranlib", *zig, "ranlib")),
        "CMAKE_RC_COMPILER": str(write_command(folder / "rc", *zig, "rc")),
    }


def headers_of(target: Target, folder: Path) -> Path:
    """Python's headers, with a pyconfig.h for the target."""
    here = Path(sysconfig.get_path("include"))
    if target.is_here:
        return here
    copy = folder / "include"
    shutil.copytree(here, copy, dirs_exist_ok=True)
    shutil.copy(HEADERS / "pyconfig.h", copy / "pyconfig.h")
    return copy


def import_library(headers: Path, folder: Path, target: Target) -> Path:
    """What links on Windows in Python's place: all that its headers say is exported."""
    names = set()
    for path in headers.rglob("*.h"):
        text = path.read_text(encoding="utf-8", errors="replace")
        names |= {name or renamed for name, renamed in EXPORTED.findall(text)}
    version = f"{sys.version_info.major}{sys.version_info.minor}"
    definition, library = folder / "python.def", folder / f"libpython{version}.a"
    listed = "\n".join(sorted(names))
    definition.write_text(f"LIBRARY python{version}.dll\nEXPORTS\n{listed}\n", encoding="utf-8")
    if target.compiler == "zig":
        machine = {"x86_64": "i386:x86-64", "aarch64": "arm64"}[target.processor]
        command = [zig_program(), "dlltool", "-m", machine]
    else:
        command = [target.compiler.replace("gcc", "dlltool")]
    subprocess.run([*command, "-d", definition, "-l", library], check=True)
    return library


def definitions(target: Target, folder: Path) -> Mapping[str, str]:
    """What CMake is told."""
    headers = headers_of(target, folder)
    found = {
        **tools_of(target, folder),
        "CMAKE_MAKE_PROGRAM": tool("ninja"),
        "CMAKE_BUILD_TYPE": "None",
        "RETROGRADE_OPTIMIZE": OPTIMIZE,
        "Python_EXECUTABLE": sys.executable,
        "Python_INCLUDE_DIR": str(headers),
        "CMAKE_C_FLAGS": " ".join(("-Werror=incompatible-pointer-types", *target.flags)),
    }
    if not target.is_here:
        found |= {
            "CMAKE_SYSTEM_NAME": target.system,
            "CMAKE_SYSTEM_PROCESSOR": target.processor,
        }
    if target.system == "Windows":
        found["Python_LIBRARY"] = str(import_library(headers, folder, target))
        # CMake links what this interpreter is linked to; there it is nothing.
        for name in ("libdl.a", "libutil.a"):
            (folder / name).write_bytes(b"!<arch>\n")
        found["CMAKE_MODULE_LINKER_FLAGS"] = f"-L{folder}"
    if target.system == "Linux" and target.compiler != "zig":  # where the default may be stricter
        found["CMAKE_MODULE_LINKER_FLAGS"] = "-Wl,--unresolved-symbols=ignore-all"
    if target.system == "Darwin":
        found["CMAKE_MODULE_LINKER_FLAGS"] = "-Wl,-undefined,dynamic_lookup"
        found["CMAKE_INSTALL_NAME_TOOL"] = str(write_command(folder / "rename", "true"))
    return found


def compile_for(target: Target) -> Outcome:
    """Configure and build in a folder of its own."""
    begun = time.perf_counter()

    def finished(verdict: str, detail: str) -> Outcome:
        return Outcome(target.name, verdict, detail, time.perf_counter() - begun)

    if why := missing(target):
        return finished("skipped", why)
    folder = CACHE / target.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    options = [f"-D{name}={text}" for name, text in definitions(target, folder).items()]
    jobs = str(os.cpu_count() or 1)
    for step in (
        [tool("cmake"), "-S", str(ROOT), "-B", str(folder / "build"), "-G", "Ninja", *options],
        [tool("cmake"), "--build", str(folder / "build"), "--parallel", jobs],
    ):
        done = subprocess.run(
            step, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment()
        )
        if done.returncode:
            print(done.stdout[-8000:])
            return finished("FAILED", f"exit status {done.returncode}")
    made = [*(folder / "build").glob("_native*")]
    made = [path for path in made if path.suffix in (".so", ".pyd", ".dll", ".dylib")]
    if len(made) != 1:
        return finished("FAILED", "no module came of it")
    module = made[0].read_bytes()
    if target.level and target.level[len("rg_kernels_") :].encode() + b"\0" not in module:
        return finished("FAILED", f"without {target.level}")
    return finished("compiled", f"{made[0].name}, {len(module) >> 10} KiB")


def environment() -> dict[str, str]:
    """Where zig keeps what it has made of its own libraries: with the rest, for the next time."""
    return os.environ | {
        "ZIG_GLOBAL_CACHE_DIR": str(CACHE / "zig"),
        "ZIG_LOCAL_CACHE_DIR": str(CACHE / "zig"),
    }


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("targets", nargs="*", help="names, as --list shows them; all without any")
    parser.add_argument("--list", action="store_true", help="say which there are, and stop")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what came of it there")
    options = parser.parse_args()
    known = {target.name: target for target in TARGETS}
    if unknown := set(options.targets) - set(known):
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    chosen = [known[name] for name in options.targets] or list(TARGETS)
    if options.list:
        for target in chosen:
            print(f"{target.name:24} {missing(target) or 'can be made here'}")
        return 0
    outcomes = []
    with ThreadPoolExecutor(AT_ONCE) as several:
        for found in several.map(compile_for, chosen):
            outcomes.append(found)
            print(
                f"{found.target:24} {found.verdict:9} {found.seconds:5.0f} s  {found.detail}",
                flush=True,
            )
    if options.json:
        listed = [outcome._asdict() for outcome in outcomes]
        options.json.write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")
    return 1 if any(outcome.verdict == "FAILED" for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
