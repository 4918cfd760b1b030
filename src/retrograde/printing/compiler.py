"""The system's C compiler: which it is, what its `native` means here, and running it."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
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
        path = folder.absolute() / "program.c"
        path.write_text(source, encoding="utf-8")
        chosen = self.flags if flags is None else flags
        command = [*self.command, *chosen, str(path), "-o", str(to.absolute())]
        try:
            done = _run(command, PATIENCE, folder)
        except subprocess.TimeoutExpired:
            message = f"it was not done after {PATIENCE} seconds, and was stopped"
            raise PrintingError.compiler(self.words, message) from None
        except (OSError, subprocess.SubprocessError) as error:
            raise PrintingError.compiler(self.words, str(error)) from None
        if done.returncode != 0 or not to.is_file():
            raise PrintingError.compiler(self.words, done.stderr.strip() or "it made no file")


def _run(
    command: Sequence[str], patience: float, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a compiler; one that takes too long is stopped with all that it has started."""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, errors="replace", cwd=folder, start_new_session=True,
    ) as running:  # fmt: skip
        try:
            out, err = running.communicate(timeout=patience)
        except BaseException:
            _stop(running)
            raise
    return subprocess.CompletedProcess(command, running.returncode, out, err)


def _stop(running: subprocess.Popen[str]) -> None:
    """End a process of a session of its own, and what it has started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
    running.kill()


def _version(command: Sequence[str]) -> str | None:
    """What a compiler calls itself; None where it does not run."""
    try:
        done = _run([*command, "--version"], 20)
    except (OSError, subprocess.SubprocessError):
        return None
    lines = done.stdout.strip().splitlines()
    return lines[0].strip() if done.returncode == 0 and lines else None


def _split(wanted: str) -> list[str]:
    """The words of a command; none where its quotes do not match."""
    try:
        return shlex.split(wanted)
    except ValueError:
        return []


@cache
def _found(wanted: str, _path: str) -> Compiler | None:
    for name in [wanted] if wanted else NAMES:
        command = _split(name)
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
