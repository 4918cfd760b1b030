"""The system's C compiler: which it is, what its `native` means here, and running it."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import PrintingError

NAMES = ("cc", "gcc", "clang")
PATIENCE = 120
"""Seconds that a compiler may take."""


@dataclass(frozen=True)
class Compiler:
    """A compiler: how it is called, and what it calls itself."""

    command: tuple[str, ...]
    version: str

    @property
    def words(self) -> str:
        """In one line."""
        return f"{self.version} ({' '.join(self.command)})"

    @property
    def flags(self) -> tuple[str, ...]:
        """For a shared library that runs on this processor only."""
        machine = platform.machine().lower()
        native = "-mcpu=native" if machine in ("aarch64", "arm64") else "-march=native"
        return ("-std=c17", "-O3", native, "-fPIC", "-shared", "-fvisibility=hidden",
                "-ffp-contract=off", "-fno-math-errno", "-w")  # fmt: skip

    def build(
        self, source: str, folder: Path, to: Path, flags: Sequence[str] | None = None
    ) -> None:
        """Compile a source to a shared library; ``folder`` is for what it writes on the way."""
        path = folder / "program.c"
        path.write_text(source, encoding="utf-8")
        chosen = self.flags if flags is None else flags
        command = [*self.command, *chosen, str(path), "-o", str(to)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=PATIENCE,
                stdin=subprocess.DEVNULL, cwd=folder, check=False,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            raise PrintingError.compiler(self.words, str(error)) from None
        if done.returncode != 0 or not to.is_file():
            raise PrintingError.compiler(self.words, done.stderr.strip() or "it made no file")


def _version(command: Sequence[str]) -> str | None:
    """What a compiler calls itself; None where it does not run."""
    try:
        done = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, errors="replace", timeout=20,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    lines = done.stdout.strip().splitlines()
    return lines[0].strip() if done.returncode == 0 and lines else None


@cache
def _found(wanted: str, _path: str) -> Compiler | None:
    for name in [wanted] if wanted else NAMES:
        command = shlex.split(name)
        if command and shutil.which(command[0]):
            version = _version(command)
            if version is not None:
                return Compiler(tuple(command), version)
    return None


def compiler() -> Compiler | None:
    """The compiler that the variable CC names, or else the first that is there."""
    return _found(os.environ.get("CC", "").strip(), os.environ.get("PATH", ""))


@cache
def processor() -> str:
    """What this processor can do, as text that differs where its code would."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    told = ("flags", "Features", "model name", "CPU implementer", "CPU part")
    found = dict.fromkeys(line for line in lines if line.startswith(told))
    return f"{platform.machine()} {hashlib.sha256(' '.join(found).encode()).hexdigest()}"
