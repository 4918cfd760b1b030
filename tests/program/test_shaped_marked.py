"""Calls whose arrays are marked, by ``rg.rows`` and ``rg.uniform``, are found again too."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

RNG = np.random.default_rng(5)
X, S, PLACES = RNG.normal(size=(6, 4)), RNG.normal(size=6), RNG.integers(0, 4, (6, 2))


def _function(rg: ModuleType) -> Any:
    def f(x: Any, s: Any, n: Any) -> Any:
        return (x * s).sum() * x[n].sum()

    f.__annotations__ = {"x": rg.Tensor, "n": np.ndarray}
    return f


def _one(x: Any, s: Any, n: Any) -> tuple[float, Any]:
    total = (x * s).sum()
    return total * x[n].sum(), s * x[n].sum() + total * np.bincount(n, minlength=4)


MARKS = ["x s n", "x", "x n", "s", "x s", "n", ""]


@pytest.mark.parametrize("marked", MARKS, ids=lambda it: it or "none")
def test_marked_calls_are_found_again_for_what_they_are(rg: ModuleType, marked: str) -> None:
    """The same arrays without marks, or with others, are other calls."""
    compiled = rg.compile(_function(rg))
    for marks in [it.split() for it in (*MARKS, marked, marked)]:
        chosen = [X, S if "s" in marks else 0.7, PLACES]
        rows = [name in marks for name in ("x", "s", "n")]
        rows_of = [
            it if has else it if np.ndim(it) == 0 else it[1] for it, has in zip(chosen, rows)
        ]
        given = [
            rg.rows(it) if has else rg.uniform(it) if np.ndim(it) and "x" in marks else it
            for it, has in zip(rows_of, rows)
        ]
        value, slope = compiled.value_and_grad(*given, wrt="x")
        if not any(rows):
            wanted, slopes = _one(*rows_of)
        else:
            each = [
                _one(*(it[k] if has else it for it, has in zip(rows_of, rows))) for k in range(6)
            ]
            wanted, slopes = [one for one, _ in each], [one for _, one in each]
        np.testing.assert_allclose(value, wanted, rtol=1e-12)
        np.testing.assert_allclose(slope, slopes, rtol=1e-12)
        assert np.array_equal(compiled(*given), value)


def test_a_marked_call_is_looked_up_without_python(native: ModuleType) -> None:
    rg = native

    def f(x: Any, s: Any) -> Any:
        return (x * s).sum()

    f.__annotations__ = {"x": rg.Tensor}
    compiled = rg.compile(f)
    for scale in (1.0, 2.0, 3.0):
        assert np.allclose(compiled(rg.rows(scale * X), S), scale * (X.T * S).sum(axis=0))
        slope = compiled.value_and_grad(rg.rows(scale * X), S, wrt="s")[1]
        assert np.allclose(slope, scale * X.sum(axis=1))
    assert len(compiled._tensors._sites) == 2
    with pytest.raises(rg.errors.RowsError, match="x has 6 rows but s has 5"):
        compiled(rg.rows(X), S[:5])
