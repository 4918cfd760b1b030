"""The limit: the tuned C of `limits/`, built with the system's compiler and called through ctypes.

What lives here: building into the cache folder `.cache` (nothing is built twice), the calls, and a
measurement of the accuracy of the vector functions: `python benchmarks/replay_limits.py`. What
does not: the C itself, and timing.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from replay_workloads import Rows

HERE = Path(__file__).parent
SOURCES = HERE / "limits"
CACHE = HERE / ".cache"
NATIVE = ("-march=native",)
AVX2 = ("-mavx2", "-mfma")
FAST_MATH = ("-march=native", "-ffast-math")
MOST_ULPS = 2.0

Doubles = np.ndarray[Any, np.dtype[np.float64]]


class CannotBuildError(RuntimeError):
    """There is no compiler, or it refused."""


def tuned(rows: Rows, flags: Sequence[str] = NATIVE) -> Callable[..., None]:
    """The limit of a program: fills the arrays it is given, the value first."""
    return _bind(rows, getattr(library(rows.stem, tuple(flags)), f"limit_{rows.stem}"))


def plain(rows: Rows) -> Callable[..., None]:
    """The same program in C that is left to the compiler to vectorise."""
    return _bind(rows, getattr(library("plain", FAST_MATH), f"plain_{rows.stem}"))


def outputs_of(rows: Rows) -> list[Doubles]:
    """New arrays for the value and the gradients."""
    return [np.empty(rows.count) for _ in range(1 + len(rows.wrt))]


@cache
def library(stem: str, flags: tuple[str, ...]) -> ctypes.CDLL:
    """A file of `limits/`, compiled, or taken from the cache, and loaded."""
    key = hashlib.sha256()
    for part in (stem, *flags, *compiler(), _version(), _processor()):
        key.update(part.encode())
    for source in sorted(SOURCES.iterdir()):
        key.update(source.read_bytes())
    built = CACHE / f"{stem}-{key.hexdigest()[:16]}.so"
    if not built.exists():
        _build(stem, flags, built)
    return ctypes.CDLL(str(built))


def building_time(stem: str, flags: Sequence[str]) -> float:
    """Seconds that the compiler takes for a file of `limits/`, measured anew."""
    start = perf_counter()
    beside = CACHE / f"timed-{os.getpid()}.so"
    _build(stem, flags, beside)
    beside.unlink()
    return perf_counter() - start


def compile_shared(source: Path, flags: Sequence[str], to: Path) -> None:
    """Compile one C file to a shared library.

    In two steps, because a library that is *linked* with -ffast-math switches denormals off for
    the whole process when it is loaded.
    """
    unlinked, linked = (to.with_suffix(f".{os.getpid()}.{kind}") for kind in ("o", "so"))
    vector_library = ["-lmvec"] if "-ffast-math" in flags else []
    try:
        _run("-std=gnu17", "-O3", "-fPIC", *flags, "-c", str(source), "-o", str(unlinked))
        _run("-shared", str(unlinked), *vector_library, "-lm", "-o", str(linked))
        linked.replace(to)
    finally:
        unlinked.unlink(missing_ok=True)


@cache
def compiler() -> tuple[str, ...]:
    """The system's C compiler, or CannotBuildError."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        raise CannotBuildError(f"the limits are written for x86-64, this is {platform.machine()}")
    wanted = os.environ.get("CC", "").split()
    if wanted and not shutil.which(wanted[0]):
        raise CannotBuildError(f"the variable CC names {wanted[0]!r}, which was not found")
    found = wanted or [path for name in ("gcc", "clang", "cc") if (path := shutil.which(name))][:1]
    if not found:
        raise CannotBuildError("no C compiler was found (gcc, clang, cc, or the variable CC)")
    return tuple(found)


def _build(stem: str, flags: Sequence[str], to: Path) -> None:
    CACHE.mkdir(exist_ok=True)
    (CACHE / ".gitignore").write_text("*\n")
    compile_shared(SOURCES / f"{stem}.c", flags, to)


def _run(*arguments: str) -> None:
    done = subprocess.run([*compiler(), *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or ["no message"]
        raise CannotBuildError(f"{Path(compiler()[0]).name}: {lines[0].strip()}")


def _version() -> str:
    return subprocess.run([*compiler(), "--version"], capture_output=True, text=True).stdout


def _processor() -> str:
    """What the compiler's `native` means here."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith("flags")), platform.processor())


def _bind(rows: Rows, function: Any) -> Callable[..., None]:
    function.restype = None
    if rows.name == "black-scholes":
        inputs = _pointers(rows.arguments)
        return lambda outputs: function(ctypes.c_size_t(rows.count), inputs, _pointers(outputs))
    normals, *market = rows.arguments
    uniform = (ctypes.c_double * len(market))(*market)
    counts = [ctypes.c_size_t(count) for count in normals.shape]
    address = ctypes.c_void_p(normals.ctypes.data)
    return lambda outputs: function(*counts, address, uniform, _pointers(outputs))


def _pointers(arrays: Sequence[Doubles]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))


# ---- accuracy ------------------------------------------------------------------------------------


def worst_ulps(flags: Sequence[str], samples: int) -> list[tuple[str, float, float]]:
    """For each vector function, its largest error in ulps against mpmath, and where."""
    import mpmath

    mpmath.mp.prec = 140
    draw = np.random.default_rng(1)
    low, high, n = np.log(5e-324), np.log(1.7e308), samples // 16 * 8
    cases: list[tuple[str, Any, tuple[Doubles, ...]]] = [
        ("exp", mpmath.exp, (draw.uniform(-745, 709.7, n), draw.normal(0, 0.1, n))),
        ("log", mpmath.log, (np.exp(draw.uniform(low, high, n)), 1 + draw.normal(0, 0.2, n) ** 3)),
        ("norm_cdf", mpmath.ncdf, (draw.uniform(-38.4, 8, n), draw.normal(0, 1, n))),
    ]
    found = []
    for name, exact, inputs in cases:
        x = np.concatenate(inputs)
        y = _through(flags, name, x)
        errors = [_ulps(a, exact(mpmath.mpf(b))) for a, b in zip(y.tolist(), x.tolist())]
        worst = int(np.argmax(errors))
        found.append((name, errors[worst], float(x[worst])))
    return found


def _through(flags: Sequence[str], name: str, x: Doubles) -> Doubles:
    y = np.empty_like(x)
    function = getattr(library("functions", tuple(flags)), f"limit_{name}")
    function(ctypes.c_size_t(x.size), *(ctypes.c_void_p(array.ctypes.data) for array in (x, y)))
    return y


def _ulps(found: float, exact: Any) -> float:
    return float(abs(exact - found) / np.spacing(abs(float(exact))))


def main() -> int:
    """Print the accuracy of the vector functions; 1 when one is off."""
    bad = False
    for title, flags in (("this processor", NATIVE), ("AVX2", AVX2)):
        for name, ulps, where in worst_ulps(flags, 40_000):
            print(f"{title:15} {name:9} {ulps:5.2f} ulps at most, at {where!r}")
            bad |= not ulps <= MOST_ULPS
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
