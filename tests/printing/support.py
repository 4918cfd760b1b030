"""Printed files compiled with the system's compiler and called, beside the interpreter."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import retrograde as rg

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="no C compiler")
QUICK = ("-O1", "-march=native")


def build(source: str, folder: Path, compiler: str | None = None, flags=QUICK) -> ctypes.CDLL:
    """A file as a shared library."""
    compiler = compiler or COMPILERS[0]
    key = hashlib.sha256(f"{source}{compiler}{flags}".encode()).hexdigest()[:16]
    path, library = folder / f"{key}.c", folder / f"{key}.so"
    path.write_text(source)
    warnings = ("-std=c17", "-Wall", "-Wextra", "-Werror")
    done = subprocess.run(
        [compiler, *warnings, *flags, "-shared", "-fPIC", str(path), "-o", str(library)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:4000]
    return ctypes.CDLL(str(library))


def numbers(arguments, names):
    """Arguments by name as flat lists of parts: arrays of rows, or uniform numbers."""
    found = {}

    def walk(nest, name):
        if isinstance(nest, dict):
            for key, part in nest.items():
                walk(part, f"{name}_{key}")
        elif isinstance(nest, (list, tuple)) and any(isinstance(it, np.ndarray) for it in nest):
            for key, part in enumerate(nest):
                walk(part, f"{name}_{key}")
        elif hasattr(nest, "given"):  # rg.uniform
            found[name] = np.ascontiguousarray(nest.array).reshape(-1)
        else:
            found[name] = np.asarray(nest, dtype=np.float64)

    for name, nest in zip(names, arguments):
        walk(nest, name)
    return found


def called(library, file, which, rows, given, seeds=()):
    """Call a function of a file: its results by name, the status, and what it returned."""
    entry = next(each for each in file.entries if each.name == which)
    function = getattr(library, which)
    function.restype = ctypes.c_int64
    passed, kept = [ctypes.c_size_t(rows)], []
    pointer = ctypes.POINTER(ctypes.c_double)
    for parameter in entry.parameters:
        number = given[parameter.name]
        if parameter.bare:
            passed.append(ctypes.c_double(float(number)))
            continue
        array = np.ascontiguousarray(number, dtype=np.float64)
        kept.append(array)
        passed.append(array.ctypes.data_as(pointer))
    for array in seeds:
        array = np.ascontiguousarray(array, dtype=np.float64)
        kept.append(array)
        passed.append(array.ctypes.data_as(pointer))
    results = {}
    for result in entry.results:
        added = entry.summed and not result.rows
        shape = (1 if added else rows, result.count)
        results[result.name] = np.full(shape, -123.0)
        passed.append(results[result.name].ctypes.data_as(pointer))
    status = np.full(rows, 77, np.int32)
    passed.append(status.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)))
    lost = function(*passed)
    return results, status, lost


def same_bits(one, other) -> None:
    """Equal to the bit; a NaN equals any other."""
    one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    one, other = one.reshape(-1), other.reshape(-1)
    assert one.shape == other.shape
    differ = (one.view(np.int64) != other.view(np.int64)) & ~(np.isnan(one) & np.isnan(other))
    assert not differ.any(), (
        f"{differ.sum()} of {len(one)} differ, first at {np.flatnonzero(differ)[0]}: "
        f"{one[differ][0]!r} and {other[differ][0]!r}"
    )


def flat(nest, rows):
    """The numbers of gradients in their order, a column each."""
    if isinstance(nest, dict):
        return np.concatenate([flat(part, rows) for part in nest.values()], axis=1)
    if isinstance(nest, (list, tuple)):
        return np.concatenate([flat(part, rows) for part in nest], axis=1)
    return np.asarray(nest, dtype=np.float64).reshape(rows, -1)


def check(function, arguments, folder, wrt=None, hessian=False, compiler=None, flags=QUICK):
    """Value, gradients, sums and Hessian products of a printed function have the bits of calls."""
    compiled = (
        function if isinstance(function, rg.program.calling.Replayable) else rg.compile(function)
    )
    names = list(compiled._signature.parameters)
    value = compiled(*arguments)
    file = compiled.c_file(*arguments, wrt=wrt, hessian=hessian)
    library = build(file.source, folder, compiler, flags)
    given = numbers(arguments, names)
    given = {
        parameter.name: array
        for parameter, array in zip(file.entries[0].parameters, given.values())
    }
    arrays = [a for a in arguments if isinstance(a, np.ndarray)]
    rows = len(arrays[0]) if arrays else 1
    name = file.name
    results, status, lost = called(library, file, name, rows, given)
    assert lost == 0
    assert not status.any()
    for result, column in zip(results.values(), flat(value, rows).T):
        same_bits(result, column)
    if f"{name}_gradient" not in [each.name for each in file.entries]:
        return file, library
    wanted = wrt if wrt is not None else tuple(names)
    value, slopes = compiled.value_and_grad(*arguments, wrt=wanted)
    results, status, lost = called(library, file, f"{name}_gradient", rows, given)
    assert lost == 0
    same_bits(results.pop("value"), value)
    slopes = slopes if isinstance(wanted, tuple) else (slopes,)
    same_bits(np.concatenate([*results.values()], axis=1), flat(list(slopes), rows))
    value, slopes = compiled.value_and_grad(*arguments, wrt=wanted, reduce="sum")
    slopes = slopes if isinstance(wanted, tuple) else (slopes,)
    results, status, lost = called(library, file, f"{name}_gradient_sum", rows, given)
    assert lost == 0
    same_bits(results.pop("value"), value)
    found = np.concatenate([each.reshape(-1) for each in results.values()])
    same_bits(
        found, np.concatenate([np.asarray(part, float).reshape(-1) for part in leaves(slopes)])
    )
    if hessian:
        draw = np.random.default_rng(5)
        entry = next(each for each in file.entries if each.name == f"{name}_hvp")
        seeds = [draw.normal(size=(rows, each.count)) for each in entry.seeds]
        results, status, lost = called(library, file, f"{name}_hvp", rows, given, seeds)
        assert lost == 0
        vector = [seed[:, 0] if seed.shape[1] == 1 else seed for seed in seeds]
        expected = compiled.hvp(*arguments, vector=tuple(vector), wrt=wanted)
        same_bits(np.concatenate([*results.values()], axis=1), flat(list(expected), rows))
    return file, library


def leaves(nest):
    if isinstance(nest, dict):
        return [leaf for part in nest.values() for leaf in leaves(part)]
    if isinstance(nest, (list, tuple)):
        return [leaf for part in nest for leaf in leaves(part)]
    return [nest]
