"""NumPy's way of carrying out statements against plain loops, and shapes against NumPy itself, on
random programs: empty axes, axes of length 1, broadcasting both ways, up to eight axes.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograde.ops.array import ARRAYS

from .array_cases import ALL, Case, F, agree, do, slowly, ti
from .array_tape import Tensor

few = settings(max_examples=25, deadline=None, derandomize=True)
lengths = st.integers(0, 3)


def numbers(draw: Any, shape: tuple[int, ...]) -> Any:
    seed = draw(st.integers(0, 2**16))
    return np.random.default_rng(seed).standard_normal(shape)


@st.composite
def shapes(draw: Any, low: int = 0, high: int = 8, most: int = 200) -> tuple[int, ...]:
    shape: list[int] = []
    for _ in range(draw(st.integers(low, high))):
        room = most // max(1, math.prod(shape))
        shape.append(draw(st.integers(0, max(1, min(3, room)))))
    return tuple(shape)


@st.composite
def spread_pairs(draw: Any) -> tuple[Any, Any]:
    """Two shapes that broadcast, each with axes of length 1 or missing."""
    whole = draw(shapes(most=120))

    def narrowed() -> tuple[int, ...]:
        start = draw(st.integers(0, len(whole)))
        return tuple(1 if draw(st.booleans()) else n for n in whole[start:])

    return numbers(draw, narrowed()), numbers(draw, narrowed())


def both(name: str, *arrays: Any, call: Any = None, **arguments: Any) -> Any:
    """A row by NumPy and by the oracle: value and gradients have to agree. Gives the value."""
    results = []
    for engine in (do, slowly):
        operands = [Tensor(array) for array in arrays]
        z = call(engine, *operands) if call else engine(name, *operands, **arguments)
        weight = np.cos(np.arange(z.data.size, dtype=float)).reshape(z.shape)
        top = engine("mul", z, Tensor(weight, requires_grad=False))
        results.append((z.data, *(g.data for g in engine.gradients(top, operands))))
    for number, (fast, slow) in enumerate(zip(*results)):
        agree(f"{name}: {'value' if number == 0 else f'gradient {number - 1}'}", fast, slow)
    return results[0][0]


@pytest.mark.parametrize("case", ALL, ids=[case.name for case in ALL])
def test_every_row_is_what_plain_loops_make(case: Case) -> None:
    both(case.row, *case.arrays, call=case.by_all)


@few
@given(spread_pairs(), st.sampled_from(["add", "mul", "div", "maximum", "hypot"]))
def test_element_by_element_with_broadcasting(pair: Any, name: str) -> None:
    x, y = pair
    theirs = {"div": np.divide, "mul": np.multiply}.get(name) or getattr(np, name)
    with np.errstate(all="ignore"):
        agree(name, both(name, x, y), theirs(x, y))


@few
@given(st.data(), shapes(), st.sampled_from(["sum", "prod", "mean", "max", "min"]), st.booleans())
def test_reductions_over_any_axes(data: Any, shape: Any, name: str, keep: bool) -> None:
    x = numbers(data.draw, shape)
    axes = data.draw(st.none() | st.sets(st.integers(0, max(0, len(shape) - 1))).map(tuple))
    if axes is not None and not shape:
        axes = ()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the mean of nothing
            theirs = getattr(np, name)(x, axis=axes, keepdims=keep)
    except ValueError:
        with pytest.raises(ValueError, match="of no numbers"):
            do(name, Tensor(x), axis=axes, keepdims=keep)
        return
    agree(name, both(name, x, axis=axes, keepdims=keep), theirs)


@few
@given(st.data(), shapes(1), st.sampled_from(["cumsum", "cumprod", "sort", "flip"]))
def test_along_any_axis(data: Any, shape: Any, name: str) -> None:
    x = numbers(data.draw, shape)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    agree(name, both(name, x, axis=axis), getattr(np, name)(x, axis=axis))


@few
@given(st.data(), st.integers(1, 2), st.integers(1, 2), shapes(0, 3, 12))
def test_matrix_products_of_any_ranks(data: Any, left: int, right: int, batch: Any) -> None:
    n, k, m = (data.draw(lengths) for _ in range(3))
    front = batch if left == 2 else ()
    back = tuple(1 if data.draw(st.booleans()) else b for b in batch) if right == 2 else ()
    x = numbers(data.draw, (*front, *((n, k) if left == 2 else (k,))))
    y = numbers(data.draw, (*back, *((k, m) if right == 2 else (k,))))
    agree("matmul", both("matmul", x, y), np.matmul(x, y))


@few
@given(st.data(), st.integers(1, 3))
def test_einsum_of_random_subscripts(data: Any, count: int) -> None:
    size = {c: data.draw(st.integers(0, 3)) for c in "abcd"}
    parts = [data.draw(st.text("abcd", min_size=0, max_size=3)) for _ in range(count)]
    used = sorted(set("".join(parts)))
    out = "".join(data.draw(st.permutations(used)))[: data.draw(st.integers(0, len(used)))]
    said = ",".join(parts) + (f"->{out}" if data.draw(st.booleans()) else "")
    arrays = [numbers(data.draw, tuple(size[c] for c in part)) for part in parts]
    agree(said, both("einsum", *arrays, subscripts=said), np.einsum(said, *arrays))


@few
@given(st.data(), shapes(0, 8, 60))
def test_reshape_transpose_and_broadcast_to(data: Any, shape: Any) -> None:
    x = numbers(data.draw, shape)
    order = tuple(data.draw(st.permutations(range(len(shape)))))
    turned = both("transpose", x, axes=order)
    agree("transpose", turned, x.transpose(order))
    factors = [*shape, 1]
    new = tuple(data.draw(st.permutations(factors)))
    agree("reshape", both("reshape", x, shape=new), x.reshape(new))
    if x.size:
        agree("flat", both("reshape", x, shape=(-1,)), x.reshape(-1))
        pair = (2, x.size // 2) if x.size % 2 == 0 else (1, x.size)
        agree("pair", both("reshape", x, shape=pair), x.reshape(pair))
    wide = (2, *(3 if n == 1 else n for n in shape))
    agree("broadcast_to", both("broadcast_to", x, shape=wide), np.broadcast_to(x, wide))


@few
@given(st.data(), shapes(1, 4, 30), st.integers(1, 3))
def test_joining_and_moving(data: Any, shape: Any, count: int) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    arrays = []
    for _ in range(count):
        one = list(shape)
        one[axis] = data.draw(lengths)
        arrays.append(numbers(data.draw, tuple(one)))
    agree("concatenate", both("concatenate", *arrays, axis=axis), np.concatenate(arrays, axis))
    x = numbers(data.draw, shape)
    agree("stack", both("stack", x, x + 1, axis=axis), np.stack([x, x + 1], axis))
    shift = data.draw(st.integers(-5, 5))
    agree("roll", both("roll", x, shift=shift, axis=axis), np.roll(x, shift, axis))
    widths = [(data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))) for _ in shape]
    for value in (0.0, 2.5):
        padded = np.pad(x, widths, constant_values=value)
        agree("pad", both("pad", x, widths=widths, value=value), padded)
    agree("repeat", both("repeat", x, count=count, axis=axis), np.repeat(x, count, axis))
    reps = tuple(data.draw(st.lists(st.integers(0, 2), max_size=len(shape) + 1)))
    agree("tile", both("tile", x, count=reps), np.tile(x, reps))


@few
@given(st.data(), shapes(2, 4, 40), st.integers(-3, 3))
def test_triangles_and_diagonals(data: Any, shape: Any, k: int) -> None:
    x = numbers(data.draw, shape)
    agree("tril", both("tril", x, k=k), np.tril(x, k))
    agree("triu", both("triu", x, k=k), np.triu(x, k))
    if abs(k) <= min(shape[-2:]):
        wanted = np.diagonal(x, k, -2, -1)
        agree("diagonal", both("diagonal", x, k=k), wanted)


@st.composite
def keys(draw: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """A random key of NumPy's: slices, whole numbers, arrays of them, masks, None, an ellipsis."""
    entries: list[Any] = []
    left = list(shape[: draw(st.integers(0, len(shape)))])
    together = draw(st.sampled_from([(), (2,), (3,), (2, 1)]))
    while left:
        kinds = ["slice", "int", "array", "mask", "none"]
        kind = draw(st.sampled_from(kinds))
        n = left[0]
        if kind == "none":
            if len(entries) < 8:
                entries.append(None)
            else:
                left.pop(0)
                entries.append(slice(None))
            continue
        left.pop(0)
        bounds = st.none() | st.integers(-4, 4)
        if kind == "slice" or n == 0:
            step = draw(st.sampled_from([None, 1, 2, -1, -2]))
            entries.append(slice(draw(bounds), draw(bounds), step))
        elif kind == "int":
            entries.append(draw(st.integers(-n, n - 1)))
        elif kind == "mask" and not any(isinstance(e, np.ndarray) for e in entries):
            entries.append(np.array([draw(st.booleans()) for _ in range(n)]))
            together = (int(entries[-1].sum()),)
        else:
            count = math.prod(together)
            picked = [draw(st.integers(-n, n - 1)) for _ in range(count)]
            entries.append(np.array(picked, dtype=int).reshape(together))
    if draw(st.booleans()):
        entries.insert(draw(st.integers(0, len(entries))), Ellipsis)
    return tuple(entries)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.data(), shapes(1, 4, 40))
def test_indexing_is_numpys(data: Any, shape: Any) -> None:
    x = numbers(data.draw, shape)
    key = data.draw(keys(shape))
    try:
        theirs = x[key]
    except IndexError:
        with pytest.raises((IndexError, ValueError)):
            do.index(Tensor(x), key)
        return
    agree("index", both("index", x, call=lambda e, t: e.index(t, key)), theirs)
    y = numbers(data.draw, theirs.shape)
    put = x.copy()
    put[key] = y
    agree("put", both("put", x, y, call=lambda e, t, u: e.put(t, key, u)), put)
    added = x.copy()
    np.add.at(added, key, y)
    agree("add_at", both("add_at", x, y, call=lambda e, t, u: e.add_at(t, key, u)), added)


@few
@given(st.data(), st.integers(1, 2), st.integers(1, 3), st.integers(0, 2), st.integers(1, 2))
def test_convolutions_of_any_stride_padding_and_dilation(
    data: Any, rank: int, stride: int, padding: int, dilation: int
) -> None:
    window = tuple(data.draw(st.integers(1, 3)) for _ in range(rank))
    room = tuple(
        data.draw(st.integers(max(1, dilation * (w - 1) + 1 - 2 * padding), 7)) for w in window
    )
    x, w = numbers(data.draw, (2, 2, *room)), numbers(data.draw, (2, 2, *window))
    theirs = getattr(F, f"conv{rank}d")
    wanted = theirs(ti(x), ti(w), None, stride, padding, dilation).numpy()
    more = {"stride": stride, "padding": padding, "dilation": dilation}
    agree("conv", both(f"conv{rank}d", x, w, **more), wanted)


@few
@given(st.data(), shapes(1, 4), st.sampled_from(["argmax", "argmin", "argsort"]))
def test_choices_are_numpys(data: Any, shape: Any, name: str) -> None:
    x = np.round(numbers(data.draw, shape), 0)  # with ties
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    more = {"kind": "stable"} if name == "argsort" else {}
    try:
        theirs = getattr(np, name)(x, axis=axis, **more)
    except ValueError:
        for engine in (do, slowly):
            with pytest.raises(ValueError, match="of no numbers"):
                engine.choice(name, Tensor(x), axis)
        return
    for engine in (do, slowly):
        agree(name, engine.choice(name, Tensor(x), axis), theirs)


def test_every_stated_row_is_tried() -> None:
    tried = {case.row for case in ALL}
    assert {name for name, row in ARRAYS.items() if hasattr(row, "bound")} - tried <= {"trigamma"}
