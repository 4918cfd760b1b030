"""Build the native core with AddressSanitizer and UBSan, and run its tests under them.

    python tools/sanitize.py [pytest arguments]

The build is kept in .cache/sanitize. Free lists are off, so that every use of a freed node is
seen. Tests marked slow, those of the tools, and those that need PyTorch or JAX are left out: the
latter libraries were not built for this. Exits with pytest's status.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import scratch

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".cache" / "sanitize"
SITE = HOME / "site"

# Python runs this at its start: tests that ask for these libraries skip.
WITHOUT_PEERS = """
sys.modules.update(dict.fromkeys(("torch", "jax", "jaxlib")))
"""

# What runs native code, on the native core only. Freed memory is kept in quarantine for a while,
# so tests that measure the process are left out.
NATIVE_TESTS = (
    "-n", "2", "-k", "not reference and not take_no_memory and not gives_back",
    "tests/contract", "tests/program", "tests/compat", "tests/derivatives", "tests/tensors",
)  # fmt: skip
LEFT_OUT = ("tests/tools", "tests/docs", "tests/notebooks")

CHECK = """
import retrograde
from retrograde import value

assert value.core_name == "native", value.core_reason
assert retrograde.__file__.startswith({site!r}), retrograde.__file__
"""


def tool(name: str) -> str:
    """A build tool, from this environment or from the machine."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        raise SystemExit(f"{name} is needed: pip install {name}")
    return found


def build() -> None:
    """Configure, build and install into the folder that the tests import from."""
    configure: list[str | Path] = [
        tool("cmake"), "-S", ROOT, "-B", HOME / "build", "-G", "Ninja",
        f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", "-DCMAKE_BUILD_TYPE=Debug",
        "-DRETROGRADE_SANITIZE=ON", f"-DPython_EXECUTABLE={sys.executable}",
        f"-DCMAKE_INSTALL_PREFIX={SITE}",
    ]  # fmt: skip
    shutil.rmtree(SITE, ignore_errors=True)
    subprocess.run(configure, check=True)
    subprocess.run([tool("cmake"), "--build", HOME / "build"], check=True)
    leave = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(ROOT / "src" / "retrograde", SITE / "retrograde", ignore=leave)
    subprocess.run([tool("cmake"), "--install", HOME / "build"], check=True)
    (SITE / "sitecustomize.py").write_text(scratch.COMES_FIRST + WITHOUT_PEERS, encoding="utf-8")


def runtimes() -> str:
    """The sanitizers' libraries, which have to be loaded before anything else."""
    compiler = os.environ.get("CC", "cc").split()
    found = []
    for name in ("libasan.so", "libubsan.so"):
        asked = subprocess.run(
            [*compiler, f"-print-file-name={name}"], text=True, capture_output=True, check=True
        )
        path = Path(asked.stdout.strip())
        if path.is_absolute():
            found.append(str(path.resolve()))
    if not found:
        raise SystemExit("this compiler comes without libasan (on Debian: apt install libasan8)")
    return " ".join(found)


def environment() -> dict[str, str]:
    """Python under the sanitizers: every allocation its own, so that overruns are seen."""
    return {
        **os.environ,
        "LD_PRELOAD": runtimes(),
        # Each allocation notes who asked for it; a few callers say enough.
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1"
        ":malloc_context_size=8",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(SITE),
        "RETROGRADE_CORE": "",
    }


def main(arguments: list[str]) -> int:
    """Run from the command line."""
    build()
    surroundings = environment()
    check = [sys.executable, "-c", CHECK.format(site=str(SITE))]
    subprocess.run(check, env=surroundings, cwd=HOME, check=True)
    ignored = [f"--ignore={path}" for path in LEFT_OUT]
    options = ["-q", "-rfE", "-m", "not slow", "-p", "no:cacheprovider", *ignored]
    command = [sys.executable, "-m", "pytest", *options, *(arguments or NATIVE_TESTS)]
    return subprocess.run(command, env=surroundings, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
