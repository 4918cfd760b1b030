"""``t[i] = v`` in compiled functions: what is replayed is what runs on tensors."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

A = np.array([[2.0, 0.5, -1.0], [0.3, 1.0, 0.7]])


def _rows(rg: ModuleType, a: Any) -> Any:
    b = a * 1.0
    b[0] = b[1] * 2.0
    b[1, 1] = b.sum()
    return (b * a).sum()


def _filled(rg: ModuleType, a: Any) -> Any:
    b = rg.Tensor(np.zeros(6))
    for i in range(6):
        b[i] = a[i // 3, i % 3] * (i + 1.0) + (b[i - 1] if i else 0.0)
    return (b * b).sum()


def _slices(rg: ModuleType, a: Any) -> Any:
    b = rg.tanh(a)
    b[:, 1:] = a[:, :2] * 3.0
    b[b.shape[0] - 1] = 0.5
    return (b * a).sum()


def _lists(rg: ModuleType, a: Any) -> Any:
    b = a * 2.0
    b[[0, 1], [2, 0]] = a[1, :2] * np.array([1.0, 3.0])
    return (b * b).sum()


def _branch(rg: ModuleType, a: Any) -> Any:
    b = a * 2.0
    if a.sum() > 0.0:
        b[0] = a[1]
    else:
        b[1] = -a[0]
    return (b * b).sum()


CASES = [_rows, _filled, _slices, _lists, _branch]


def _eager(rg: ModuleType, case: Any, a: Any) -> tuple[float, Any]:
    x = rg.Tensor(a)
    result = case(rg, x)
    result.backward()
    return float(result.data), np.array(x.grad)


@pytest.mark.parametrize("case", CASES)
def test_writes_replay_as_they_run(rg: ModuleType, case: Any) -> None:
    def f(a: Any) -> Any:
        return case(rg, a)

    f.__annotations__ = {"a": rg.Tensor}
    compiled = rg.compile(f)
    rows = np.stack([A, -A, A[::-1], 0.1 * A])
    for a in rows:
        value, gradient = compiled.value_and_grad(a)
        wanted = _eager(rg, case, a)
        assert value == pytest.approx(wanted[0])
        assert np.allclose(gradient, wanted[1])
    values, gradients = compiled.value_and_grad(rg.rows(rows))
    assert np.allclose(values, [_eager(rg, case, a)[0] for a in rows])
    assert np.allclose(gradients, [_eager(rg, case, a)[1] for a in rows])


def test_an_argument_may_be_written_to(rg: ModuleType) -> None:
    def f(a: Any) -> Any:
        a[0] = 0.0
        return (a * a).sum()

    f.__annotations__ = {"a": rg.Tensor}
    given = A.copy()
    value, gradient = rg.compile(f).value_and_grad(given)
    assert np.array_equal(given, A)
    assert value == pytest.approx((A[1] ** 2).sum())
    assert np.allclose(gradient, [[0.0, 0.0, 0.0], 2.0 * A[1]])


def test_one_place_may_be_that_of_an_argument(rg: ModuleType) -> None:
    def f(a: Any, n: Any) -> Any:
        b = a * 2.0
        b[n[0]] = 7.0
        return (b * b).sum()

    f.__annotations__ = {"a": rg.Tensor, "n": np.ndarray}
    compiled = rg.compile(f)
    for place in (0, 1, -1):
        b = 2.0 * A
        b[place] = 7.0
        assert compiled(A, np.array([place])) == pytest.approx((b * b).sum())
    with pytest.raises(IndexError, match="out of bounds"):
        compiled(A, np.array([2]))


def test_a_tensor_from_outside_is_left_alone(rg: ModuleType) -> None:
    w = rg.Tensor(np.ones(3))

    def f(a: Any) -> Any:
        w[0] = a[0, 0]
        return w.sum()

    f.__annotations__ = {"a": rg.Tensor}
    with pytest.raises(rg.errors.RecordingError, match=r"from outside.*t\.put\(i, v\)"):
        rg.compile(f)(A)
    assert np.array_equal(w.data, np.ones(3))
