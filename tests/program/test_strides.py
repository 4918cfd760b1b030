"""Arrays as they lie in memory: any strides, any layout, read without copying."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrograde.program.rows import Bound, take_argument

from .support import LEVELS, kernels, numbers, same

ROWS = 1500


def column(make: Callable[[Any], Any]) -> Any:
    return make(numbers(4 * ROWS))


PACKED = np.dtype([("flag", "i1"), ("x", "f8"), ("y", "f8")])

ONE_AXIS: dict[str, Any] = {
    "plain": column(lambda a: a[:ROWS]),
    "every other": column(lambda a: a[: 2 * ROWS : 2]),
    "backwards": column(lambda a: a[ROWS - 1 :: -1]),
    "every third backwards": column(lambda a: a[: 3 * ROWS][::-3]),
    "one number over and over": np.broadcast_to(np.float64(1.25), (ROWS,)),
    "a column of rows": column(lambda a: a.reshape(ROWS, 4)[:, 2]),
    "a row of columns": column(lambda a: a.reshape(4, ROWS)[1]),
    "from the middle": column(lambda a: a[ROWS // 2 : ROWS // 2 + ROWS]),
    "a field of records": column(lambda a: np.zeros(ROWS, PACKED)["x"] + a[:ROWS]),
    "unaligned": np.frombuffer(b"\0" * 3 + numbers(ROWS).tobytes(), np.float64, ROWS, 3),
}
records = np.zeros(ROWS, PACKED)
records["x"], records["y"] = numbers(ROWS, seed=1), numbers(ROWS, seed=2)
ONE_AXIS["a packed field"] = records["y"]

TWO_AXES: dict[str, Any] = {
    "plain": column(lambda a: a[: 3 * ROWS].reshape(ROWS, 3)),
    "columns together": column(lambda a: np.asfortranarray(a[: 3 * ROWS].reshape(ROWS, 3))),
    "transposed": column(lambda a: a[: 3 * ROWS].reshape(3, ROWS).T),
    "every other row": column(lambda a: a.reshape(2 * ROWS, 2)[::2]),
    "rows backwards": column(lambda a: a.reshape(ROWS, 4)[::-1]),
    "columns backwards": column(lambda a: a.reshape(ROWS, 4)[:, ::-1]),
    "some columns": column(lambda a: a.reshape(ROWS, 4)[:, 1:3]),
    "one row over and over": np.broadcast_to(numbers(4), (ROWS, 4)),
    "one column over and over": np.broadcast_to(numbers(ROWS)[:, None], (ROWS, 4)),
    "a sliding window": np.lib.stride_tricks.sliding_window_view(numbers(ROWS + 3), 4),
}


@pytest.mark.parametrize("name", ONE_AXIS)
def test_one_axis(rg: Any, name: str) -> None:
    x = ONE_AXIS[name]
    plain = np.ascontiguousarray(x)
    f = rg.compile(lambda x, y: x * y - x)
    values, (by_x, by_y) = f.value_and_grad(x, plain)
    assert x.shape == (ROWS,)
    assert same(values, plain * plain - plain)
    assert same(by_x, plain - 1.0)
    assert same(by_y, plain)
    assert same(f(x, 2.0), f(plain, 2.0))


@pytest.mark.parametrize("name", TWO_AXES)
def test_two_axes(rg: Any, name: str) -> None:
    xs = TWO_AXES[name]
    plain = np.ascontiguousarray(xs)
    f = rg.compile(lambda xs: rg.dot(xs, xs) * xs[0])
    values, grads = f.value_and_grad(xs)
    again, slopes = f.value_and_grad(plain)
    assert same(values, again)
    assert same(grads, slopes)
    squares = np.zeros(ROWS)
    for item in plain.T:
        squares = squares + item * item
    assert same(values, squares * plain[:, 0])


def layouts(rows: int, width: int) -> dict[str, Any]:
    """Arrays of one width in every layout."""
    big = numbers(4 * (rows + 1) * (width + 1), seed=width)
    plain = big[: rows * width].reshape(rows, width)
    return {
        "plain": plain,
        "columns together": np.asfortranarray(plain),
        "rows backwards": plain[::-1],
        "columns backwards": plain[:, ::-1],
        "every other row": big[: 2 * rows * width].reshape(2 * rows, width)[::2],
        "every other column": big[: 2 * rows * width].reshape(rows, 2 * width)[:, ::2],
        "inner columns": big[: rows * (width + 2)].reshape(rows, width + 2)[:, 1:-1],
        "one row over and over": np.broadcast_to(big[:width], (rows, width)),
        "sliding": np.lib.stride_tricks.sliding_window_view(big[: rows + width - 1], width),
        "unaligned": np.frombuffer(b"\0" * 5 + big.tobytes(), np.float64, rows * width, 5).reshape(
            rows, width
        ),
    }


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("width", [7, 8, 9, 15, 16, 17, 24, 33])
def test_wide_rows_in_every_layout_and_some_columns_unused(
    native: Any, width: int, level: str
) -> None:
    skipped = width - 2
    f = native.compile(lambda xs: [x * 2.0 for j, x in enumerate(xs) if j != skipped])
    g = native.compile(lambda xs: [x * 2.0 for x in reversed(xs)])
    with kernels(level):
        for rows in (1, 3, 8, 9, 100):
            for xs in layouts(rows, width).values():
                kept = np.delete(xs, skipped, axis=1)
                assert same(np.stack(f(xs), axis=1), kept * 2.0)
                assert same(np.stack(g(xs), axis=1), xs[:, ::-1] * 2.0)


def test_one_recording_serves_every_layout(rg: Any) -> None:
    f = rg.compile(lambda xs: rg.dot(xs, [float(k) for k in range(16)]))
    weights = np.arange(16.0)
    for xs in layouts(50, 16).values():
        assert np.allclose(f(xs), xs @ weights, rtol=1e-12, atol=1e-12)
    assert len(f.traces) == 1


@pytest.mark.parametrize("name", [*ONE_AXIS, *TWO_AXES])
def test_float64_is_read_where_it_lies(name: str) -> None:
    array = ONE_AXIS.get(name, TWO_AXES.get(name))
    bound = Bound()
    take_argument(bound, array, "x")
    start = array.__array_interface__["data"][0]
    columns = [place for place in bound.columns if place is not None]
    assert len(columns) == (1 if array.ndim == 1 else array.shape[1])
    for j, (address, stride) in enumerate(columns):
        assert stride == array.strides[0]
        assert address == start + (j * array.strides[1] if array.ndim == 2 else 0)


@pytest.mark.parametrize(
    "dtype", ["f4", "f2", "g", ">f8", "i1", "u1", "i2", "i4", "u4", "i8", "u8", ">i4", "?"]
)
@pytest.mark.parametrize("axes", [1, 2])
def test_other_types_are_converted(rg: Any, dtype: str, axes: int) -> None:
    x = (np.arange(24) % 3).astype(dtype).reshape(12, 2)[::-1]
    x = x[:, 0] if axes == 1 else x
    f = rg.compile(lambda x: x * 0.5 if axes == 1 else x[0] * x[1] * 0.5)
    plain = x.astype(np.float64)
    assert same(f(x), plain * 0.5 if axes == 1 else plain[:, 0] * plain[:, 1] * 0.5)


def test_a_subclass_of_array_is_an_array(rg: Any) -> None:
    class Mine(np.ndarray):
        pass

    x = numbers(10).view(Mine)
    got = rg.compile(lambda x: x * 2)(x)
    assert type(got) is np.ndarray
    assert same(got, np.asarray(x) * 2)


def test_a_mapped_file_is_read_in_place(rg: Any, tmp_path: Any) -> None:
    path = tmp_path / "rows.f8"
    numbers(ROWS).tofile(path)
    x = np.memmap(path, dtype=np.float64, mode="r")
    assert same(rg.compile(lambda x: x * x)(x), numbers(ROWS) ** 2)
    del x
