"""The array law at awkward points: ties, NaN, infinities, nothing at all, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from retrograde.ops.array import ARRAYS

from .array_cases import do, slowly
from .array_tape import Tensor, Tensors

inf, nan = math.inf, math.nan
both_ways = pytest.mark.parametrize("engine", [do, slowly], ids=["numpy", "loops"])


def gradient(engine: Tensors, z: Tensor, x: Tensor, seed: Any = None) -> list[float]:
    up = None if seed is None else Tensor(seed)
    return engine.gradients(z, [x], up)[0].data.tolist()


@both_ways
def test_a_tie_goes_whole_to_the_first(engine: Tensors) -> None:
    x = Tensor([2.0, 5.0, 5.0, 1.0, 1.0])
    assert gradient(engine, engine("max", x), x) == [0, 1, 0, 0, 0]
    assert gradient(engine, engine("min", x), x) == [0, 0, 0, 1, 0]
    pooled = engine("max_pool", x, window=(5,))
    assert gradient(engine, pooled, x) == [0, 1, 0, 0, 0]
    order = engine("sort", x)
    assert gradient(engine, order, x, [1.0, 2.0, 3.0, 4.0, 5.0]) == [3, 4, 5, 1, 2]


@both_ways
def test_nan_is_the_largest_and_the_smallest(engine: Tensors) -> None:
    x = Tensor([2.0, nan, 5.0])
    for name in ("max", "min"):
        z = engine(name, x)
        assert math.isnan(z.data)
        assert gradient(engine, z, x) == [0, 1, 0]


@both_ways
def test_zero_times_infinity_is_not_skipped(engine: Tensors) -> None:
    x, y = Tensor([[0.0, 1.0]]), Tensor([[inf], [1.0]])
    assert math.isnan(engine("matmul", x, y).data.item())
    z = engine("mul", x, 0.0)
    assert all(map(math.isnan, gradient(engine, z, x, [[inf, inf]])[0]))
    z = engine("floor", x)
    assert all(map(math.isnan, gradient(engine, z, x, [[inf, inf]])[0]))


@both_ways
def test_what_a_condition_leaves_out_is_not_multiplied(engine: Tensors) -> None:
    x, w = Tensor([[[1.0, 2.0]]]), Tensor([[[inf, 1.0, 1.0]]])
    z = engine("conv1d", x, w, padding=1)
    assert z.data.tolist() == [[[3.0, inf]]]
    running = engine("cumsum", Tensor([1.0, inf, 2.0]))
    assert running.data.tolist() == [1.0, inf, inf]
    assert engine("tril", Tensor([[1.0, inf], [nan, 2.0]]), k=0).data[0].tolist() == [1.0, 0.0]


@both_ways
def test_nothing_adds_up_to_zero_and_multiplies_to_one(engine: Tensors) -> None:
    x = Tensor(np.zeros((0, 2)))
    assert engine("sum", x, axis=0).data.tolist() == [0.0, 0.0]
    assert engine("prod", x, axis=0).data.tolist() == [1.0, 1.0]
    assert engine("matmul", Tensor(np.zeros((2, 0))), x).data.tolist() == [[0.0, 0.0]] * 2
    with pytest.raises(ValueError, match="argmax of no numbers: nothing to choose from"):
        engine("max", x, axis=0)


@both_ways
def test_the_gradient_of_a_product_with_zeros_in_it(engine: Tensors) -> None:
    x = Tensor([2.0, 0.0, 3.0])
    assert gradient(engine, engine("prod", x), x) == [0, 6, 0]
    x = Tensor([0.0, 0.0, 3.0])
    assert gradient(engine, engine("prod", x), x) == [0, 0, 0]


@both_ways
def test_signs_of_zeros_stay_where_nothing_is_added(engine: Tensors) -> None:
    x = Tensor([0.0, -0.0])
    twice = [engine(name, engine(name, x)) for name in ("neg", "flip")]
    once = [engine("reshape", x, shape=(1, 2)), engine("index", x, key=(slice(None),))]
    for z in (*twice, *once):
        assert np.signbit(z.data).ravel().tolist() == [False, True]


@both_ways
def test_softmax_and_its_kin_do_not_overflow(engine: Tensors) -> None:
    x = Tensor([1000.0, 0.0, -1000.0])
    assert engine("softmax", x).data.tolist() == [1.0, 0.0, 0.0]
    assert engine("logsumexp", x).data == 1000.0
    assert engine("log_softmax", x).data.tolist() == [0.0, -1000.0, -2000.0]
    z = engine("cross_entropy", Tensor([[1000.0, 0.0]]), n=[1])
    assert z.data == 1000.0
    nothing = Tensor([-inf, -inf])
    assert engine("logsumexp", nothing).data == -inf
    assert engine("logsumexp", Tensor([-inf, 1.0])).data == 1.0


@both_ways
def test_a_length_neither_overflows_nor_has_a_slope_at_nothing(engine: Tensors) -> None:
    assert engine("norm", Tensor([3e200, 4e200])).data == pytest.approx(5e200)
    assert engine("norm", Tensor([3e-200, 4e-200])).data == pytest.approx(5e-200)
    x = Tensor([0.0, 0.0])
    z = engine("norm", x)
    assert z.data == 0.0
    assert gradient(engine, z, x) == [0, 0]
    assert engine("norm", Tensor([inf, 1.0])).data == inf
    rows = Tensor([[3.0, 3.0], [1.0, 2.0]])
    spread = engine("std", rows, axis=1)
    assert spread.data.tolist() == [0.0, 0.5]
    assert gradient(engine, spread, rows, [1.0, 1.0]) == [[0, 0], [-0.5, 0.5]]
    assert math.isnan(engine("std", Tensor([nan, 1.0])).data)


def test_a_slope_that_the_law_does_not_state_is_refused() -> None:
    x = Tensor([1.0, 2.0])
    z = do("trigamma", x)
    with pytest.raises(ValueError, match="the law states no slope of trigamma along x"):
        do.gradients(z, [x])


REFUSED = {
    "matmul: axis 0 of y is 3 long, and k is 4": lambda: do("matmul", T(2, 4), T(3, 5)),
    "add: shapes (3,), (4,) do not broadcast": lambda: do("add", T(3), T(4)),
    "reshape: 6 numbers of shape (2, 3) do not fit shape (4, 2)": lambda: do(
        "reshape", T(2, 3), shape=(4, 2)
    ),
    "sum: axis 2 is out of bounds for an array of 2 axes": lambda: do("sum", T(2, 3), axis=2),
    "sum: axis (0, 0) names an axis twice": lambda: do("sum", T(2, 3), axis=(0, 0)),
    "concatenate: shapes (2, 3) and (2, 4) differ in more than axis 0": lambda: do(
        "concatenate", T(2, 3), T(2, 4), axis=0
    ),
    "einsum: 'ij,jk' is for 2 operands, not 1": lambda: do("einsum", T(2, 3), subscripts="ij,jk"),
    "conv1d: 3 channels of x, 2 of w and 4 results do not make 1 groups": lambda: do(
        "conv1d", T(1, 3, 5), T(4, 2, 3)
    ),
    "index 3 is out of bounds for axis 0 of length 3": lambda: do("take", T(3, 2), n=[0, 3]),
    "index: 3 indices for an array of 2 axes": lambda: do.index(T(2, 2), (0, 0, 0)),
    "index: index 2 is out of bounds for axis 0 of length 2": lambda: do.index(T(2), 2),
    "a mask of shape (3,) does not fit axes (2,)": lambda: do.index(T(2), np.array([True] * 3)),
    "lu: the matrix is singular": lambda: do("logabsdet", Tensor(np.zeros((2, 2)))),
    "solve: needs operands of at least two axes": lambda: do("solve", T(2, 2), T(2)),
}


def T(*shape: int) -> Tensor:
    return Tensor(np.ones(shape))


@pytest.mark.parametrize("said", REFUSED)
def test_what_does_not_fit_is_refused_with_a_reason(said: str) -> None:
    with pytest.raises((ValueError, IndexError)) as error:
        REFUSED[said]()
    assert said in str(error.value)


def test_implicit_rows_solve_their_equations() -> None:
    rng = np.random.default_rng(2)
    a = rng.standard_normal((2, 3, 3)) + 3 * np.eye(3)
    made = {
        "solve": do("solve", Tensor(a), Tensor(rng.standard_normal((2, 3, 2)))),
        "cholesky": do("cholesky", Tensor(a @ a.swapaxes(-1, -2))),
        "lu": do("lu", Tensor(a[:, [1, 2, 0]])),
    }
    for name, node in made.items():
        arrays = {**{k: it.data for k, it in node.inputs.items()}, "s": node.data, **node.wholes}
        residual = slowly._evaluator.run(node.statement, arrays)
        assert np.abs(residual).max() < 1e-13, name
        # u, made of rows, solves the adjoint system: the rule on the equation, along s, gives s'
        row = ARRAYS[name]
        up = Tensor(rng.standard_normal(node.shape) * (np.tri(3) if name == "cholesky" else 1.0))
        u = row.undo(do, up, node, node.inputs)
        gradient = slowly._contribution(
            Tensor(node.data, name, node.statement, {**node.inputs, "s": node}, node.wholes),
            "s", node, u,
        )  # fmt: skip
        wanted = up.data
        assert np.abs(gradient.data - wanted).max() < 1e-12, name
