"""What a call made before must not be taken for, and what stands behind a branch not taken."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from .support import MOST_CALLS, python_calls

X = np.array([[1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [4.0, 5.0, 6.0]])


def on_tensors(rg: ModuleType, function: Any, **annotations: Any) -> Any:
    function.__annotations__ = {"x": rg.Tensor, **annotations}
    return rg.compile(function)


STEADY: dict[str, Callable[..., Any]] = {
    "a value": lambda rg, f: f(X[0]),
    "gradients": lambda rg, f: f.value_and_grad(X[0]),
    "backward": lambda rg, f: f.backward(X[0]),
}


@pytest.mark.parametrize("how", STEADY)
def test_a_steady_call_takes_few_python_calls(native: ModuleType, how: str) -> None:
    w = native.Tensor(np.ones(3))
    compiled = on_tensors(native, lambda x: (x * w).sum())
    for _ in range(2):
        STEADY[how](native, compiled)
    assert python_calls(lambda: STEADY[how](native, compiled)) <= MOST_CALLS


def test_a_steady_call_over_rows_takes_few_python_calls(native: ModuleType) -> None:
    w = native.Tensor(np.ones(3))
    compiled = native.compile(lambda x: native.logsumexp(x * w))
    for _ in range(2):
        compiled(X)
    assert python_calls(lambda: compiled(X)) <= MOST_CALLS


@pytest.mark.parametrize("kind", [">f8", "<f4", "i8", ">i4"])
def test_another_byte_order_is_another_kind_of_argument(rg: ModuleType, kind: str) -> None:
    compiled = on_tensors(rg, lambda x: (x * x).sum())
    for array in (X[0], X[0].astype(kind), X[0]):
        assert compiled(array) == 14.0
        value, gradient = compiled.value_and_grad(array)
        assert value == 14.0
        assert gradient.tolist() == [2.0, 4.0, 6.0]
    over_rows = on_tensors(rg, lambda x: (x * x).sum())
    for array in (X, X.astype(kind)):
        assert over_rows(rg.rows(array)).tolist() == [14.0, 14.0, 77.0]


def test_places_of_another_byte_order(rg: ModuleType) -> None:
    compiled = on_tensors(rg, lambda x, n: x[n].sum(), n=np.ndarray)
    for kind in ("<i8", ">i8", "u2"):
        assert compiled(X[0], np.array([0, 2]).astype(kind)) == 4.0
    with pytest.raises(rg.errors.CompileError, match="uint64 past"):
        compiled(X[0], np.array([2**64 - 1], dtype=np.uint64))


def test_under_anomaly_gradients_arrive_once(rg: ModuleType) -> None:
    w = rg.Tensor(np.ones(3))
    compiled = on_tensors(rg, lambda x: (x * w).sum())
    seen = []
    hook = w.register_hook(lambda total: seen.append(total.tolist()))
    with rg.anomaly():
        compiled.value_and_grad(X[0])
        assert w.grad.tolist() == [0.0, 0.0, 0.0]
        compiled.backward(X[0])
        assert w.grad.tolist() == [1.0, 2.0, 3.0]
        assert seen == [[1.0, 2.0, 3.0]]
        hook.remove()
        w.grad = np.zeros(3)
        compiled.backward(rg.rows(X))
        assert w.grad.tolist() == [4.0, 5.0, 6.0]


def test_branches_over_rows_return_the_same_shapes(rg: ModuleType) -> None:
    for one, other in (((3,), "()"), ((1,), "()")):

        def choose(x: Any, one: Any = one) -> Any:
            return x[: one[0]] * 2.0 if x.sum() > 0.0 else x.sum()

        compiled = on_tensors(rg, lambda x, choose=choose: choose(x))
        with pytest.raises(rg.errors.FunctionResultError, match="over rows every branch") as caught:
            compiled(rg.rows(X))
        assert f"shapes ({one[0]},) on one branch and {other} on another" in str(caught.value)
        assert compiled(X[1]) == -6.0, "one row may"


def test_a_branch_guards_what_stands_behind_it(rg: ModuleType) -> None:
    def picked(x: Any, n: Any) -> Any:
        return x[n].sum() if x.sum() > 0.0 else x.sum()

    places = np.array([[0, 1], [999, 999], [2, 2]])
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        compiled = on_tensors(rg, picked, n=np.ndarray)
        for row in order:
            assert compiled(X[row], places[row]) == [3.0, -6.0, 12.0][row]
        again = on_tensors(rg, picked, n=np.ndarray)
        found = again(rg.rows(X[order]), rg.rows(places[order]))
        assert found.tolist() == [[3.0, -6.0, 12.0][row] for row in order]
    with pytest.raises(IndexError):
        compiled(X[0], places[1])


def test_a_branch_guards_a_system(rg: ModuleType) -> None:
    for name in ("solve", "cholesky"):

        def solved(x: Any, name: str = name) -> Any:
            if x[0, 0] > 0.0:
                return (rg.solve(x, np.ones(2)) if name == "solve" else rg.cholesky(x)).sum()
            return x.sum()

        compiled = on_tensors(rg, lambda x, solved=solved: solved(x))
        assert compiled(np.eye(2)) == 2.0
        assert compiled(-np.ones((2, 2))) == -4.0
        assert compiled.value_and_grad(-np.ones((2, 2)))[1].tolist() == [[1.0, 1.0], [1.0, 1.0]]
        with pytest.raises(rg.errors.FitError, match=name):
            compiled(np.ones((2, 2)) if name == "solve" else -X[1:, :2] * [[1.0], [-1.0]])


def test_what_a_row_raises_says_which_row(rg: ModuleType) -> None:
    def f(x: Any) -> Any:
        if x.sum() < 0.0:
            raise ValueError("too low")
        return x.sum()

    compiled = on_tensors(rg, f)
    with pytest.raises(ValueError, match="too low") as caught:
        compiled(rg.rows(X))
    (note,) = caught.value.__notes__
    assert "on row 1" in note


def test_threads_are_counted_from_one(rg: ModuleType) -> None:
    compiled = on_tensors(rg, lambda x: x.sum())
    for threads in (0, -3, 1.5):
        with pytest.raises(rg.errors.CompileError, match="threads"):
            compiled(X[0], threads=threads)


def test_functions_of_rows_of_the_law_are_found_again(native: ModuleType) -> None:
    for name in ("prod", "max", "windows"):
        function = getattr(native, name)
        assert getattr(native, name) is function
        assert pickle.loads(pickle.dumps(function)) is function
