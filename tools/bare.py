"""Run a script of this checkout where nothing is installed: the native core is built first.

    python tools/bare.py benchmarks/torch_watch.py --device cuda --json FILE

Needs CMake, a C compiler, Python's headers and NumPy, and installs nothing: the core is put beside
the sources, and the script finds it there. Its exit code is that of the script.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src"


def environment() -> dict[str, str]:
    """The sources of the checkout before whatever is installed."""
    path = os.pathsep.join(filter(None, (str(SOURCES), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}


def is_built() -> bool:
    """Whether this Python finds the native core."""
    code = "from retrograde.value import core_name; assert core_name == 'native'"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True)
    return done.returncode == 0


def build() -> None:
    """Build the native core and put it beside the sources."""
    with tempfile.TemporaryDirectory() as name:
        configure = [
            "cmake", "-S", str(ROOT), "-B", name, "-DCMAKE_BUILD_TYPE=Release",
            f"-DPython_EXECUTABLE={sys.executable}",
        ]  # fmt: skip
        configure += ["-G", "Ninja"] if shutil.which("ninja") else []
        jobs = str(os.cpu_count() or 2)
        for command in (configure, ["cmake", "--build", name, "--parallel", jobs]):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        made = next(Path(name).glob(f"_native*{sysconfig.get_config_var('EXT_SUFFIX')}"))
        shutil.copy(made, SOURCES / "retrograde" / made.name)


def main(arguments: list[str]) -> int:
    """Build where that is needed, then run."""
    if not arguments:
        print(__doc__)
        return 2
    if not is_built():
        print("building the native core", flush=True)
        build()
    return subprocess.run([sys.executable, *arguments], env=environment()).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
