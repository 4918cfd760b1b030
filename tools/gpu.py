"""Run ``benchmarks/gpu.py`` on a bare machine with a GPU: build the native core first, if need be.

    python tools/gpu.py --out FOLDER [options of benchmarks/gpu.py]

Needs CMake, a C compiler, Python's headers, NumPy and CuPy, and installs nothing: the core is built
beside the checkout's sources and found there. FOLDER gets ``gpu.json`` and ``gpu.log``; the log is
printed too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "retrograde"


def built() -> bool:
    """Whether this Python finds the native core."""
    code = "from retrograde.value import core_name; assert core_name == 'native'"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), check=False)
    return done.returncode == 0


def environment() -> dict[str, str]:
    """The sources of the checkout before whatever is installed."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"}


def build() -> None:
    """Build the native core and put it beside the package's sources."""
    with tempfile.TemporaryDirectory() as name:
        configure = [
            "cmake", "-S", str(ROOT), "-B", name, "-DCMAKE_BUILD_TYPE=Release",
            "-DRETROGRADE_OPTIMIZE=-O2", f"-DPython_EXECUTABLE={sys.executable}",
        ]  # fmt: skip
        if shutil.which("ninja"):
            configure += ["-G", "Ninja"]
        subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(
            ["cmake", "--build", name, "--parallel", str(os.cpu_count() or 2)],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        made = next(Path(name).glob(f"_native*{sysconfig.get_config_var('EXT_SUFFIX')}"))
        shutil.copy(made, PACKAGE / made.name)


def main() -> int:
    """Build, then run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    options, others = parser.parse_known_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if not built():
        print("building the native core", flush=True)
        build()
    command = [sys.executable, str(ROOT / "benchmarks" / "gpu.py"), *others]
    command += ["--json", str(options.out / "gpu.json")]
    with (options.out / "gpu.log").open("w", encoding="utf-8") as log:
        running = subprocess.Popen(
            command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert running.stdout is not None
        for line in running.stdout:
            log.write(line)
            log.flush()
            print(line, end="", flush=True)
    return running.wait()


if __name__ == "__main__":
    sys.exit(main())
