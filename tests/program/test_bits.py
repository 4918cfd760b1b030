"""Bits: a row's results do not depend on the tile, the threads, the SIMD level or its neighbours;
sums over rows not on the first three.
"""

from __future__ import annotations

import platform
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .support import CASES, LEVELS, flat, kernels, numbers, same

pytestmark = pytest.mark.usefixtures("native")

ROWS = 3333


@pytest.fixture
def rg(native: Any) -> Any:
    return native


def results(compiled: Any, columns: dict[str, Any], **options: Any) -> list[Any]:
    """Everything a compiled function gives per row, as one array."""
    value, grads = compiled.value_and_grad(**columns, **options)
    return [np.array([value, *flat(grads)])]


def sums(compiled: Any, columns: dict[str, Any], **options: Any) -> list[Any]:
    """Everything it gives reduced over the rows."""
    found = []
    for reduce in ("sum", "mean"):
        value, grads = compiled.value_and_grad(**columns, reduce=reduce, **options)
        found += [value, *flat(grads)]
    return found


def same_all(one: list[Any], other: list[Any]) -> bool:
    return all(map(same, one, other))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("ask", [results, sums])
def test_tiles_threads_and_levels(rg: Any, name: str, ask: Any) -> None:
    """A level has tiles of its own width, so this is about both."""
    case = CASES[name]
    columns = case.columns(ROWS)
    function = case.make(rg)
    expected = ask(rg.compile(function), columns, threads=1)
    compiled = rg.compile(function)
    for level in LEVELS:
        with kernels(level):
            for threads in (1, 2, 3, 4):
                assert same_all(ask(compiled, columns, threads=threads), expected)


def test_the_levels_work_on_tiles_of_different_widths() -> None:
    from retrograde.value import core

    widths = {}
    for level in LEVELS:
        with kernels(level):
            widths[level] = core.tile_lanes()
    wide = [width for level, width in widths.items() if level != "v4_narrow"]
    assert len(set(wide)) == len(wide)
    assert widths.get("v4_narrow", 8) == 8


@pytest.mark.parametrize("name", CASES)
def test_neighbours_and_order(rg: Any, name: str) -> None:
    case = CASES[name]
    columns = case.columns(ROWS)
    compiled = rg.compile(case.make(rg))
    (expected,) = results(compiled, columns)
    chance = np.random.default_rng(0)
    for order in (
        np.arange(ROWS)[::-1], chance.permutation(ROWS), chance.integers(0, ROWS, 2000),
        np.arange(17), np.array([ROWS - 1]), np.repeat(5, 100),
    ):  # fmt: skip
        moved = {
            key: part[order] if isinstance(part, np.ndarray) else part
            for key, part in columns.items()
        }
        (got,) = results(compiled, moved)
        assert same(got, expected[:, order])


@pytest.mark.parametrize("name", CASES)
def test_alone_uniform_or_in_a_crowd(rg: Any, name: str) -> None:
    """What is uniform is computed once, by the same kernels."""
    case = CASES[name]
    columns = case.columns(9)
    compiled = rg.compile(case.make(rg))
    (expected,) = results(compiled, columns)
    for row in range(9):
        alone = {
            key: part[row].tolist() if isinstance(part, np.ndarray) else part
            for key, part in columns.items()
        }
        value, grads = compiled.value_and_grad(**alone)
        assert same(np.array([value, *flat(grads)]), expected[:, row])


def test_which_arguments_are_rows_does_not_matter(rg: Any) -> None:
    f = rg.compile(lambda x, y, z: rg.exp(x) * rg.sin(y) + x / z - rg.tanh(z) * y)
    x, y, z = 0.7, 1.9, -0.3
    expected = f.value_and_grad(x, y, z)
    for rows in range(8):
        given = [np.full(3, n) if rows >> place & 1 else n for place, n in enumerate((x, y, z))]
        value, grads = f.value_and_grad(*given)
        assert same(np.broadcast_to(value, 3), np.full(3, expected[0]))
        for got, wanted in zip(grads, expected[1]):
            assert same(np.broadcast_to(got, 3), np.full(3, wanted))


@pytest.mark.parametrize("name", ["log", "exp", "sin", "tanh", "erf", "log1p", "sqrt"])
def test_folded_constants_have_the_bits_of_the_executor(rg: Any, name: str) -> None:
    """log(3) in a program is log(3) of a row, whatever libm says."""
    function = getattr(rg, name)
    points = numbers(50, 0.1, 3.0)

    def of_constants(x: Any) -> Any:
        return [function(rg.Value(point)) + 0 * x for point in points.tolist()]

    by_rows = rg.compile(lambda x: function(x))(points)
    assert same(np.concatenate(rg.compile(of_constants)(np.zeros(1))), by_rows)


def test_the_same_call_again_gives_the_same_bits(rg: Any) -> None:
    case = CASES["network"]
    columns = case.columns(ROWS)
    compiled = rg.compile(case.make(rg))
    first = sums(compiled, columns)
    for _ in range(10):
        assert same_all(sums(compiled, columns), first)


def test_training_steps_have_the_same_bits_whatever_the_threads(rg: Any) -> None:
    def trained(threads: int, level: str) -> list[float]:
        ws = [rg.Value(0.1 * k) for k in range(4)]
        x, y = numbers(ROWS, seed=1), numbers(ROWS, seed=2)
        step = rg.compile(lambda x, y: (rg.dot(ws, [1.0, x, x * x, rg.exp(-x * x)]) - y) ** 2)
        with kernels(level):
            for _ in range(3):
                rg.zero_grad(ws)
                step.backward(x, y, reduce="mean", threads=threads, weights=abs(y))
                for w in ws:
                    w.data -= 0.01 * w.grad
        return [w.data for w in ws]

    expected = trained(1, "")
    for threads, level in [(2, "base"), (4, LEVELS[-1]), (3, "")]:
        assert trained(threads, level) == expected


def test_sums_of_many_chunks_and_parameters_have_the_same_bits(rg: Any) -> None:
    ws = [rg.Value(0.5 + 0.001 * k) for k in range(1500)]
    step = rg.compile(lambda x: rg.dot(ws, [x] * len(ws)))
    x = numbers(1024 * 230 + 5, seed=3)
    found = []
    for threads in (1, 4):
        rg.zero_grad(ws)
        found.append((step.backward(x, threads=threads), rg.grads(ws).tolist()))
    assert found[0] == found[1]
    assert np.allclose(found[0][1], x.sum())


def test_the_best_level_of_the_processor_is_there() -> None:
    on_arm = platform.machine().lower() in ("aarch64", "arm64")
    assert ("neon" in LEVELS) == on_arm
    if on_arm:
        return
    about = Path("/proc/cpuinfo")
    if not about.exists():
        pytest.skip("no /proc/cpuinfo: which SIMD levels there are cannot be told")
    found = re.search(r"^flags\s*: (.*)$", about.read_text(), re.MULTILINE)
    flags = set(found[1].split()) if found else set()
    assert ("v3" in LEVELS) == ({"avx2", "fma"} <= flags)
    assert ("v4" in LEVELS) == ({"avx512f", "avx512dq", "avx512vl", "avx512bw"} <= flags)


def test_an_unknown_level_is_refused(native: Any) -> None:
    from retrograde.value import core

    with pytest.raises(ValueError, match="no SIMD level 'v9'"):
        core.use_kernels("v9")
