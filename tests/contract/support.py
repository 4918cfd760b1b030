"""What several contract tests share: fresh interpreters, and lines found by a comment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import retrograde

HOME = Path(retrograde.__file__).parent.parent


def run_python(
    code: str, core: str = "", timeout: float = 60, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter, warnings as errors, on the core asked for."""
    settings = {**os.environ, "PYTHONPATH": str(HOME), "RETROGRADE_CORE": core, **environment}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=settings,
        check=False,
    )


def output_of(code: str, core: str = "", **environment: str) -> str:
    """What code prints in a fresh interpreter, which must end well."""
    done = run_python(code, core, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def line_of(file: str, mark: str) -> int:
    """The number of the one line of a file that ends with ``# mark``."""
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    found = [number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}")]
    assert len(found) == 1, f"{mark!r} marks {len(found)} lines"
    return found[0]


def core_of(rg: object) -> str:
    """Which core a copy of the package runs on."""
    return sys.modules[f"{rg.__name__}.value"].core_name  # type: ignore[attr-defined]
