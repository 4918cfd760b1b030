"""What tensors do on short ways is what the long ways make of it: bits, sites and errors."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

RNG = np.random.default_rng(5)


def drawn(*shape: int) -> Any:
    return RNG.standard_normal(shape)


def apart(rg: Any, array: Any) -> Any:
    """A tensor of these numbers that lies in no order, and its leaf."""
    leaf = rg.Tensor(np.asarray(array).T)
    return leaf.T, leaf


def gradients(rg: Any, make: Any, leaves: list[Any], upstream: Any) -> list[Any]:
    rg.zero_grad(leaves)
    (make() * upstream).sum().backward()
    return [np.array(leaf.grad) for leaf in leaves]


@st.composite
def spread_shapes(draw: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    kept = draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    other = [n if keep else 1 for n, keep in zip(shape, kept)]
    return tuple(shape), tuple(other[draw(st.integers(0, len(shape) - 1)) :])


@settings(max_examples=60, deadline=None)
@given(spread_shapes(), st.sampled_from(["add", "sub", "mul", "div", "maximum"]), st.booleans())
def test_operands_in_rows_make_the_bits_of_operands_that_lie_apart(
    rg: Any, shapes: Any, name: str, swapped: bool
) -> None:
    x, y = (np.abs(drawn(*shape)) + 0.5 for shape in shapes)
    row = getattr(rg, name)
    plain = [rg.Tensor(x), rg.Tensor(y)]
    (far, far_leaf), (other, other_leaf) = apart(rg, x), apart(rg, y)
    pairs = [plain, [far, other]]
    if swapped:
        pairs = [pair[::-1] for pair in pairs]
    near_result, far_result = (row(*pair) for pair in pairs)
    np.testing.assert_array_equal(near_result.data, far_result.data)
    upstream = drawn(*np.shape(near_result.data))
    near = gradients(rg, lambda: row(*pairs[0]), plain, upstream)
    again = gradients(rg, lambda: row(*pairs[1]), [far_leaf, other_leaf], upstream)
    for one, turned in zip(near, again):
        np.testing.assert_array_equal(one, turned.T)


@pytest.mark.parametrize("shape", [(300, 7), (40, 60), (9, 64), (9, 65), (1030, 1)])
@pytest.mark.parametrize("name", ["sub", "mul", "div"])
def test_many_rows_at_once_make_the_bits_of_each(
    rg: Any, name: str, shape: tuple[int, int]
) -> None:
    x, upstream = np.abs(drawn(*shape)) + 0.5, drawn(*shape)
    row = getattr(rg, name)
    for other in ((shape[0], 1), (shape[1],)):
        y = np.abs(drawn(*other)) + 0.5
        leaves = [rg.Tensor(x), rg.Tensor(y)]
        made = row(*leaves)
        (made * upstream).sum().backward()
        for at in (0, shape[0] // 2, shape[0] - 1):
            few = [rg.Tensor(x[at]), rg.Tensor(y[at] if len(other) == 2 else y)]
            one = row(*few)
            np.testing.assert_array_equal(one.data, made.data[at])
            (one * upstream[at]).sum().backward()
            np.testing.assert_array_equal(few[0].grad, leaves[0].grad[at])
            if len(other) == 2:
                np.testing.assert_array_equal(few[1].grad, leaves[1].grad[at])


PAST: dict[str, tuple[Any, tuple[int, ...], tuple[int, ...]]] = {
    "turned": (lambda see, x, w: x @ see(w.T), (5, 4), (3, 4)),
    "turned, on the left": (lambda see, x, w: see(w.T) @ x, (5, 4), (5, 3)),
    "axes in another order": (
        lambda see, x, w: see(x.transpose(1, 0, 2)) @ see(w.transpose(1, 2, 0)),
        (5, 2, 4),
        (3, 2, 4),
    ),
    "heads": (lambda see, x, w: x @ see(w.transpose(1, 0, 2)), (2, 5, 3), (3, 2, 4)),
    "used three times": (
        lambda see, x, w: x @ see(w.T) * 0.5 + (x @ see(w.T)).exp() + x @ see(w.T),
        (5, 4),
        (3, 4),
    ),
    "one view used twice": (
        lambda see, x, w: (lambda v: x @ v + (x @ v).exp())(see(w.T)),
        (5, 4),
        (3, 4),
    ),
    "of itself": (lambda see, x, w: x @ see(x.T) @ w, (5, 4), (5, 3)),
    "from the other end": (lambda see, x, w: x @ see(see(w[::-1]).T), (5, 4), (3, 4)),
    "the same for all": (lambda see, x, w: x @ see(w.transpose(0, 2, 1)), (2, 5, 4), (1, 3, 4)),
    "one column": (lambda see, x, w: x @ see(w.T), (5, 4), (1, 4)),
    "one row": (lambda see, x, w: x @ see(w.T), (1, 4), (3, 4)),
    "one term": (lambda see, x, w: x @ see(w.T), (5, 1), (3, 1)),
    "many terms": (lambda see, x, w: x @ see(w.T), (1500, 2), (3, 2)),
    "part of it": (lambda see, x, w: x @ see(see(w[:2]).T), (5, 4), (3, 4)),
    "nothing": (lambda see, x, w: x @ see(w.T), (0, 4), (3, 4)),
}
"""Products with views, and the shapes of what they are made of."""


@pytest.mark.parametrize("name", PAST)
def test_gradients_past_views_have_the_bits_of_those_through_them(rg: Any, name: str) -> None:
    program, *shapes = PAST[name]
    numbers = [drawn(*shape) for shape in shapes]
    found = []
    for way in (lambda view: view, lambda view: view.retain_grad() or view):
        leaves = [rg.Tensor(it) for it in numbers]
        made = program(way, *leaves)
        upstream = np.random.default_rng(1).standard_normal(made.shape)
        (made * upstream).sum().backward()
        found.append([leaf.grad for leaf in leaves])
    for past, through in zip(*found):
        np.testing.assert_array_equal(past, through)


def test_a_contribution_in_rows_is_added_to_what_came_before(rg: Any) -> None:
    x, scale, shift = (rg.Tensor(drawn(*shape)) for shape in ((6, 5), (6, 1), (5,)))
    both = x * scale + shift + scale * shift
    both.sum().backward()
    total = np.ones((6, 5))
    np.testing.assert_allclose(scale.grad, (total * (x.data + shift.data)).sum(1, keepdims=True))
    np.testing.assert_allclose(shift.grad, (total + scale.data).sum(0), rtol=1e-14)


def test_a_call_made_again_knows_its_arguments_by_value(rg: Any) -> None:
    for shape in ((3, 4), (4, 3), (3, 4)):
        t = rg.Tensor(drawn(*shape))
        for _ in range(3):
            assert t.sum(1).shape == shape[:1]
            assert t.sum(0).shape == shape[1:]
            assert t.sum(1, True).shape == (shape[0], 1)
            assert t.sum(axis=1, keepdims=True).shape == (shape[0], 1)
            assert t.sum(axis=0, keepdims=False).shape == shape[1:]
            assert t.sum(keepdims=True, axis=0).shape == (1, shape[1])
            assert t.sum((0, 1)).shape == ()
            assert t.reshape(2, -1).shape == (2, 6)
            assert t.reshape((6, 2)).shape == (6, 2)
            assert t.T.shape == shape[::-1]
    for length in range(300, 340):  # numbers that are new objects each time
        assert rg.Tensor(drawn(length)).reshape(length, 1).shape == (length, 1)
    axes = [0]
    t = rg.Tensor(drawn(2, 3))
    assert t.sum(axes).shape == (3,)
    axes[0] = 1
    assert t.sum(axes).shape == (2,)
    for wrong in (2, -3, "0"):
        for _ in range(2):
            with pytest.raises((IndexError, TypeError, ValueError)):
                t.sum(wrong)


@pytest.mark.parametrize("last", [[0.0, -0.0, -1.0], [-0.0, 0.0, -0.0], [np.inf, 1.0, np.inf]])
@pytest.mark.parametrize("turned", [False, True])
def test_a_softmax_is_shifted_as_its_rows_say(rg: Any, last: Any, turned: bool) -> None:
    odd = [[1.0, np.nan, 3.0], [-np.inf] * 3, [-np.inf, 5.0, 800.0], last]
    t = apart(rg, odd)[0] if turned else rg.Tensor(odd)
    largest = t.data.max(1, keepdims=True)
    shift = np.where(np.abs(largest) == np.inf, 0.0, largest)
    with np.errstate(invalid="ignore", over="ignore"):
        powers = rg.exp(t - rg.Tensor(shift, requires_grad=False))
        expected = powers / powers.sum(1, True)
    for _ in range(2):
        np.testing.assert_array_equal(t.softmax(-1).data, expected.data)


def test_rows_picked_and_moved_are_numpys(rg: Any) -> None:
    table = rg.Tensor(drawn(6, 4))
    picks = np.array([0, -1, 3, 3])
    for _ in range(2):
        table.grad = None
        (table[picks] * np.arange(16.0).reshape(4, 4)).sum().backward()
        wanted = np.zeros((6, 4))
        np.add.at(wanted, picks, np.arange(16.0).reshape(4, 4))
        np.testing.assert_array_equal(table.grad, wanted)
        for wrong in ([0, 6], [-7]):
            with pytest.raises(IndexError, match="out of bounds"):
                table[np.array(wrong)]
    assert table[np.array([], dtype=int)].shape == (0, 4)


@pytest.mark.parametrize("order", ["C", "F", "reversed", "strided"])
def test_arrays_beside_tensors_may_lie_in_any_way(rg: Any, order: str) -> None:
    array = drawn(3, 3)
    lain = {
        "C": array, "F": np.asfortranarray(array), "reversed": array[::-1, ::-1],
        "strided": np.repeat(np.repeat(array, 2, 0), 3, 1)[::2, ::3],
    }[order]  # fmt: skip
    t = rg.Tensor(drawn(3, 3))
    for made, wanted in (
        (lain * t, lain * t.data),
        (t - lain, t.data - lain),
        (lain @ t, rg.Tensor(np.ascontiguousarray(lain)).data @ t.data),
        (t / lain, t.data / lain),
    ):
        assert type(made) is rg.Tensor
        np.testing.assert_allclose(made.data, wanted, rtol=1e-12, atol=1e-13)
    before = (t * lain).data.copy()
    kept = t * lain
    lain[...] = 0.0  # a tensor never sees what happens to an array afterwards
    np.testing.assert_array_equal(kept.data, before)


@pytest.mark.parametrize("dtype", ["bool", "i4", "f4", ">f8"])
def test_arrays_of_other_real_dtypes_beside_tensors_convert(rg: Any, dtype: str) -> None:
    t, array = rg.Tensor(drawn(4)), np.array([0, 1, 2, 1]).astype(dtype)
    np.testing.assert_array_equal((array * t).data, array.astype(float) * t.data)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("array", [np.array([1j, 2]), np.array(["a", "b"]), np.array([None, 1])])
def test_arrays_of_no_real_numbers_are_refused_on_either_side(
    rg: Any, array: Any, left: bool
) -> None:
    t = rg.Tensor([1.0, 2.0])
    with pytest.raises(TypeError, match=r"real numbers|cannot compute"):
        _ = array * t if left else t * array


def test_an_operator_that_writes_into_an_array_is_refused(rg: Any) -> None:
    array = np.ones(2)
    with pytest.raises(TypeError):
        array *= rg.Tensor([1.0, 2.0])
    np.testing.assert_array_equal(array, 1.0)


def test_what_arrays_have_and_tensors_have_not_is_said(rg: Any) -> None:
    t = rg.Tensor([1.0])
    with pytest.raises(AttributeError, match=r"a tensor has no 'tobytes'; t\.data\.tobytes has it"):
        _ = t.tobytes
    with pytest.raises(AttributeError, match="no attribute 'sofmax'"):
        _ = t.sofmax
    assert not hasattr(t, "tobytes")
    assert not hasattr(rg.Tensor, "tobytes")
    assert getattr(t, "tobytes", None) is None


def test_nodes_made_inside_the_package_belong_to_the_callers_line(rg: Any) -> None:
    x = rg.Tensor(drawn(4, 3))
    line = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
    made = [rg.cross_entropy(x, [0, 1, 2, 0]), x.softmax(-1)]
    while made:
        node = made.pop()
        if node.op == "leaf":
            continue
        assert node.site is not None
        assert (node.site.file, node.site.line) == (__file__, line), node
        made.extend(node.inputs)


def test_zero_grad_of_a_list_refuses_what_keeps_no_gradient(rg: Any) -> None:
    x, v = rg.Tensor([1.0, 2.0]), rg.Value(3.0)
    inner = x * v
    inner.sum().backward()
    rg.zero_grad([x, v])
    np.testing.assert_array_equal(x.grad, 0.0)
    assert v.grad == 0.0
    with pytest.raises(Exception, match="retain_grad"):
        rg.zero_grad([x, inner])


@pytest.mark.parametrize("lines", [1, 2, 3, 7, 8, 9, 16, 17])
@pytest.mark.parametrize("n", [1, 2, 5, 8, 11, 16, 19])
def test_the_gradient_of_a_turned_matrix_is_turned_and_nothing_else_is_written(
    rg: Any, lines: int, n: int
) -> None:
    weights = [rg.Tensor(drawn(n, lines)) for _ in range(4)]
    seeds = [drawn(lines, n) for _ in weights]
    total = sum((w.T * seed).sum() for w, seed in zip(weights, seeds))
    for _ in range(3):
        rg.zero_grad(weights)
        total.backward()
        for w, seed in zip(weights, seeds):
            np.testing.assert_array_equal(w.grad, seed.T)


def test_arguments_made_anew_are_known_by_what_they_hold(rg: Any) -> None:
    t = rg.Tensor(drawn(600))
    for _ in range(3):
        for shape in ((2, 300), (300, 2), (600,), (2, 3, 100), (3, 2, 100)):
            for as_given in (tuple, list):
                assert t.reshape(as_given(shape)).shape == shape
    both = rg.Tensor(drawn(3, 4))
    for axes in ([0], [1], [0, 1], [1, 0], [0]):
        kept = tuple(n for axis, n in enumerate((3, 4)) if axis not in axes)
        assert both.sum(tuple(axes)).shape == kept
