"""What the tools share: a scratch copy of the checkout, and wheels built from it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

LEFT_BEHIND = (
    ".git", ".cache", ".venv*", "build", "dist", "__pycache__", "*.pyc", "*.so", "*.egg-info",
    ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis",
)  # fmt: skip
"""What a clean checkout does not hold."""

COMES_FIRST = """\
import sys

sys.meta_path[:] = [
    finder for finder in sys.meta_path if "editable" not in type(finder).__module__
]
"""
"""A ``sitecustomize`` that lets PYTHONPATH go before an editable install of the package."""


QUICKLY = "-DRETROGRADE_LEVELS=OFF -DRETROGRADE_OPTIMIZE=-O1;-foptimize-sibling-calls"
"""For CMake: one SIMD level, hardly optimised, in a third of the time: where speed is no matter."""


def copy_checkout(target: Path, root: Path = ROOT) -> Path:
    """Copy the checkout as a fresh clone would have it."""
    shutil.copytree(root, target, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
    return target


def fingerprints(folder: Path) -> Mapping[str, str]:
    """A hash of every file that a clean checkout holds, by its path."""
    leave = shutil.ignore_patterns(*LEFT_BEHIND)
    found = {}
    for place, folders, files in os.walk(folder):
        left = leave(place, [*folders, *files])
        folders[:] = [name for name in folders if name not in left]
        for name in set(files) - left:
            path = Path(place) / name
            found[path.relative_to(folder).as_posix()] = sha256(path.read_bytes()).hexdigest()
    return found


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run a command and return what it printed; where it fails, show that and stop."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=None if environment is None else dict(environment),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode != 0:
        shown = " ".join(str(part) for part in command)
        raise SystemExit(f"{done.stdout}\nfailed with {done.returncode}: {shown}")
    return done.stdout


def build_wheel(
    checkout: Path,
    target: Path,
    *,
    environment: Mapping[str, str] | None = None,
    python: str = sys.executable,
) -> str:
    """Build a wheel with the build tools at hand, unpack it into ``target``; the build's output.

    Nothing is fetched: pip is told to use the scikit-build-core of this environment.
    """
    wheels = target.parent / f"{target.name}-wheels"
    quiet = ("--disable-pip-version-check", "--no-input", "--no-build-isolation", "--no-deps")
    printed = run(
        [python, "-m", "pip", "wheel", "-v", *quiet, "--no-index", "-w", wheels, checkout],
        environment=environment,
    )
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    (target / "sitecustomize.py").write_text(COMES_FIRST, encoding="utf-8")
    return printed
