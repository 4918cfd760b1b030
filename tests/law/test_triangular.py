"""Triangular systems are solved panel by panel, with the answers of any other system."""

from __future__ import annotations

import numpy as np
import pytest

from retrograde._shared.factors import PANEL, solve


@pytest.mark.parametrize("size", [2 * PANEL, 2 * PANEL + 1, 100])
@pytest.mark.parametrize("columns", [0, 1, 5])
@pytest.mark.parametrize("upwards", [False, True])
def test_panels_solve_the_whole(size: int, columns: int, upwards: bool) -> None:
    rng = np.random.default_rng(size)
    a = np.tril(rng.standard_normal((size, size))) + 3.0 * np.eye(size)
    a = a.T if upwards else a
    b = rng.standard_normal((size, columns))
    found = solve(a, b)
    assert found.shape == b.shape
    assert np.abs(a @ found - b).max(initial=0.0) < 1e-10 * max(1.0, np.abs(found).max(initial=0.0))


def test_a_zero_on_the_diagonal_is_singular() -> None:
    a = np.tril(np.ones((80, 80)))
    a[40, 40] = 0.0
    with pytest.raises(np.linalg.LinAlgError):
        solve(a, np.ones((80, 1)))


def test_a_nan_is_no_triangle() -> None:
    a = np.tril(np.ones((80, 80)))
    a[0, 79] = np.nan
    assert np.isnan(solve(a, np.ones((80, 1)))).any()
