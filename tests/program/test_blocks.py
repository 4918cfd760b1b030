"""Memory of results is used again, and never while somebody holds it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograde.program import blocks as room

ROWS = 200_000


@pytest.fixture
def blocks() -> Any:
    room.blocks.forget()
    yield room.blocks
    room.blocks.forget()


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def test_a_block_that_nobody_holds_is_used_again(blocks: Any) -> None:
    first = blocks.take(2, ROWS)
    where = address(first)
    assert address(blocks.take(2, ROWS)) != where
    del first
    assert address(blocks.take(2, ROWS)) == where


@pytest.mark.parametrize(
    "hold",
    [
        lambda a: a,
        lambda a: a[1],
        lambda a: a[0, 5:9],
        lambda a: a.T,
        lambda a: a[1][::2][3:],
        lambda a: memoryview(a[0]),
        lambda a: a.view(np.int64),
        lambda a: list(a)[1],
        lambda a: np.asarray(memoryview(a[1])[5:]),
        lambda a: a.reshape(-1, 2).T[0],
    ],
)
def test_whatever_part_is_held_keeps_it(blocks: Any, hold: Any) -> None:
    first = blocks.take(2, ROWS)
    where, held = address(first), hold(first)
    del first
    assert address(blocks.take(2, ROWS)) != where
    del held


def test_what_is_kept_is_bounded(blocks: Any) -> None:
    held = [blocks.take(1, 2**14 * size) for size in range(1, 2 * room.MOST_BLOCKS)]
    assert len(blocks._kept) == room.MOST_BLOCKS
    held += [blocks.take(1, 2**20 * size) for size in (1, 2, 3, 4, 5, 6)]
    assert len(blocks._kept) <= room.MOST_BLOCKS
    assert blocks._bytes() <= room.MOST_BYTES
    huge = blocks.take(1, room.MOST_BYTES // 8 + 1)
    assert huge.flags.owndata
    del held


@pytest.mark.parametrize("count", [2**14, 2**14 + 1, 2**17 + 5])
def test_a_block_begins_at_a_cache_line(blocks: Any, count: int) -> None:
    assert address(blocks.take(1, count)) % 64 == 0


def test_a_call_with_many_results_finds_all_its_blocks_again(native: Any, blocks: Any) -> None:
    f = native.compile(lambda a, b, c, d, e, g: a * b + c * d + e * g)
    x = np.arange(float(ROWS))
    places = []
    for _ in range(2):
        value, gradients = f.value_and_grad(x, x, x, x, x, x)
        places.append({address(array) for array in (value, *gradients)})
        del value, gradients
    assert places[0] == places[1]


def test_results_stay_what_they_were(native: Any, blocks: Any) -> None:
    f = native.compile(lambda x: x * 2.0)
    x = np.arange(float(ROWS))
    first = f(x)
    kept = first.copy()
    for shift in range(3):
        f(x + shift)
    assert np.array_equal(first, kept)


def test_columns_of_one_block_come_without_a_copy(native: Any, blocks: Any) -> None:
    f = native.compile(lambda v: [v[0] * v[1], v[0] + v[1]])
    v = np.ones((ROWS, 2))
    first, second = f.jacobian(v)
    assert first.shape == (ROWS, 2)
    assert np.array_equal(first, v)
    assert first.base is second.base


@pytest.mark.parametrize("begin", [0, 1])
def test_results_that_go_past_the_caches_arrive(native: Any, begin: int) -> None:
    rows = 2**19 + 1000
    f = native.compile(lambda x: x * x + 1.0)
    x = np.random.default_rng(1).standard_normal(rows)
    out = np.empty(rows + begin)[begin:]  # at a cache line, or not
    for threads in (1, 2):
        out[:] = 0.0
        f(x, threads=threads, out=out)
        assert np.array_equal(out, x * x + 1.0)
