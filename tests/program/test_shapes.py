"""The shapes of arguments, values and gradients, exactly as the contract of ``compile`` says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

X = np.array([1.0, 2.0, 3.0])
PAIRS = np.arange(6.0).reshape(3, 2)


def outline(nest: Any) -> Any:
    """A nest with shapes in place of arrays and types in place of numbers."""
    if isinstance(nest, dict):
        return {key: outline(part) for key, part in nest.items()}
    if isinstance(nest, (list, tuple)):
        return type(nest)(outline(part) for part in nest)
    if isinstance(nest, np.ndarray):
        assert nest.dtype == np.float64
        return nest.shape
    return type(nest)


def total(rg: Any) -> Any:
    def add(nest: Any) -> Any:
        if isinstance(nest, dict):
            return rg.sum([add(part) for part in nest.values()])
        if hasattr(nest, "__len__"):
            return rg.sum([add(part) for part in nest])
        return nest * nest

    return add


ARGUMENTS: dict[str, tuple[Any, Any, Any, Any]] = {
    # given: per row, reduced, and with no rows about
    "a number": (2.0, (3,), float, float),
    "a row": (X, (3,), (3,), None),
    "a sequence a row": (PAIRS, (3, 2), (3, 2), None),
    "one number a row in a sequence": (X[:, None], (3, 1), (3, 1), None),
    "no numbers a row": (np.empty((3, 0)), (3, 0), (3, 0), None),
    "a list": ([1.0, 2.0], [(3,), (3,)], [float, float], [float, float]),
    "a tuple": ((1.0, X), ((3,), (3,)), (float, (3,)), None),
    "a dict": (
        {"a": 1.0, "b": [X, PAIRS]}, {"a": (3,), "b": [(3,), (3, 2)]},
        {"a": float, "b": [(3,), (3, 2)]}, None),
    "nothing": ([], [], [], []),
    "nested lists": ([[1.0], [2.0, 3.0]], [[(3,)], [(3,), (3,)]], [[float], [float, float]],
                     [[float], [float, float]]),
}  # fmt: skip


@pytest.mark.parametrize("name", ARGUMENTS)
def test_gradients_have_the_shape_of_their_argument(rg: Any, name: str) -> None:
    given, per_row, reduced, alone = ARGUMENTS[name]
    add = total(rg)
    f = rg.compile(lambda nest, x: add([nest]) + x)
    value, gradient = f.value_and_grad(given, X, wrt="nest")
    assert outline(value) == (3,)
    assert outline(gradient) == per_row
    for reduce in ("sum", "mean"):
        value, gradient = f.value_and_grad(given, X, wrt="nest", reduce=reduce)
        assert outline(value) is float
        assert outline(gradient) == reduced
    if alone is not None:
        value, gradient = f.value_and_grad(given, 1.0, wrt="nest")
        assert outline(value) is float
        assert outline(gradient) == alone


@pytest.mark.parametrize("shape", [(), (2,), (2, 3), (0,), (2, 0), (1, 1), (2, 3, 2)])
def test_uniform_arrays(rg: Any, shape: tuple[int, ...]) -> None:
    add = total(rg)
    u = rg.uniform(np.ones(shape))
    f = rg.compile(lambda x, u: add([u]) * x + x)
    value, (by_x, by_u) = f.value_and_grad(X, u)
    assert (value.shape, by_x.shape, by_u.shape) == ((3,), (3,), (3, *shape))
    assert np.array_equal(by_u, np.broadcast_to(2 * X.reshape(3, *([1] * len(shape))), (3, *shape)))
    value, (by_x, by_u) = f.value_and_grad(X, u, reduce="sum")
    assert by_x.shape == (3,)
    assert outline(by_u) == (shape if shape else float)
    assert np.array_equal(by_u, np.full(shape, 12.0))
    value, (by_x, by_u) = f.value_and_grad(2.0, u)
    assert type(value) is type(by_x) is float
    assert outline(by_u) == (shape if shape else float)


def test_one_argument_comes_bare_and_several_as_a_tuple(rg: Any) -> None:
    one, two = rg.compile(lambda x: x * x), rg.compile(lambda x, y: x * y)
    assert outline(one.grad(X)) == (3,)
    assert outline(one.grad(2.0)) is float
    assert outline(two.grad(X, 2.0)) == ((3,), (3,))
    assert outline(two.grad(1.0, 2.0)) == (float, float)
    assert outline(two.grad(X, 2.0, reduce="sum")) == ((3,), float)


def test_wrt_by_name_is_bare_and_by_tuple_a_tuple(rg: Any) -> None:
    f = rg.compile(lambda x, y, z=1.0: x * y * z)
    assert outline(f.grad(X, 2.0, wrt="x")) == (3,)
    assert outline(f.grad(X, 2.0, wrt=("x",))) == ((3,),)
    assert outline(f.grad(X, 2.0, wrt=("z", "x"))) == ((3,), (3,))
    assert outline(f.grad(X, 2.0, wrt=())) == ()
    by_y, by_x = f.grad(X, 2.0, wrt=("y", "x"))
    assert by_y.tolist() == X.tolist()
    assert by_x.tolist() == [2.0, 2.0, 2.0]
    assert f.grad(X, y=2.0, z=X, wrt="z").tolist() == (2 * X).tolist()


def test_arguments_of_whole_numbers_are_differentiated_where_they_are_named(rg: Any) -> None:
    f = rg.compile(lambda x, i: x * i)
    whole = np.array([1, 2, 3])
    assert f.grad(X, whole, wrt="i").tolist() == X.tolist()
    assert outline(f.grad([X, 1.0][0], {"a": 1.0}["a"])) == ((3,), (3,))
    g = rg.compile(lambda p: p["x"] * p["i"])
    assert g.grad({"x": X, "i": whole}, wrt="p")["x"].tolist() == [1.0, 2.0, 3.0]


def test_results(rg: Any) -> None:
    f = rg.compile(lambda x: {"a": (x, [x, x]), "b": x})
    assert outline(f(X)) == {"a": ((3,), [(3,), (3,)]), "b": (3,)}
    assert outline(f(1.0)) == {"a": (float, [float, float]), "b": float}
    assert outline(f(X[:0])) == {"a": ((0,), [(0,), (0,)]), "b": (0,)}
    assert outline(f(X[:1])) == {"a": ((1,), [(1,), (1,)]), "b": (1,)}


def test_uniform_arguments_alone_give_numbers_but_one_row_gives_arrays(rg: Any) -> None:
    f = rg.compile(lambda x, y: x * y)
    assert outline(f(1.0, 2.0)) is float
    assert outline(f(X[:1], 2.0)) == (1,)
    assert outline(f([1.0][0], X[:1])) == (1,)


@pytest.mark.parametrize("form", ["pairs", "list of arrays", "tuple of arrays"])
def test_sequences_of_rows_in_any_form_give_the_same_numbers(rg: Any, form: str) -> None:
    f = rg.compile(lambda xs: xs[0] - xs[1] * 2)
    given = {
        "pairs": PAIRS, "list of arrays": [PAIRS[:, 0], PAIRS[:, 1]],
        "tuple of arrays": (PAIRS[:, 0], PAIRS[:, 1]),
    }[form]  # fmt: skip
    assert f(given).tolist() == (PAIRS[:, 0] - PAIRS[:, 1] * 2).tolist()
    gradient = f.grad(given)
    assert outline(gradient) == {
        "pairs": (3, 2), "list of arrays": [(3,), (3,)], "tuple of arrays": ((3,), (3,)),
    }[form]  # fmt: skip


def test_jacobians_nest_gradients_in_the_outputs(rg: Any) -> None:
    f = rg.compile(lambda x, us: {"a": x * us[0], "b": [x + us[1]]})
    assert outline(f.jacobian(X, [1.0, 2.0])) == {
        "a": ((3,), [(3,), (3,)]),
        "b": [((3,), [(3,), (3,)])],
    }
    assert outline(f.jacobian(X, rg.uniform([1.0, 2.0]), wrt="us")) == {"a": (3, 2), "b": [(3, 2)]}
