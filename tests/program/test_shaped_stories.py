"""Stories and births of compiled functions on tensors: those of one row on tensors."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

X = np.array([[4.0, 1.0], [1.0, -1.0], [9.0, 4.0], [0.0, 1.0], [2.0, -3.0]])


def _roots(rg: ModuleType) -> Any:
    def f(x: Any, t: Any) -> Any:
        roots = rg.sqrt(x)
        return roots.sum() * t

    f.__annotations__ = {"x": rg.Tensor}
    return rg.compile(f)


def test_the_story_of_one_row(rg: ModuleType) -> None:
    f = _roots(rg)
    story = f.story(rg.rows(X), 2.0, row=2)
    assert story.forward[-1].words.endswith(": 10")
    assert f.story(X[0], 2.0).forward[-1].words.endswith(": 6")
    assert f.story(rg.rows(X), 2.0, row=-1) is not None
    with pytest.raises(rg.errors.CompileError, match="there is no row 5"):
        f.story(rg.rows(X), 2.0, row=5)


def test_births_over_rows(rg: ModuleType) -> None:
    found = _roots(rg).births(rg.rows(X), 2.0)
    assert found.sick.tolist() == [1, 3, 4]
    (forward,) = found.forward
    assert (forward.birth.op, forward.rows.tolist()) == ("sqrt", [1, 4])
    (backward,) = found.backward
    assert (backward.birth.op, backward.rows.tolist()) == ("sqrt", [3])
    assert "sqrt" in str(found)
    assert not _roots(rg).births(rg.rows(X[:1]), 2.0)
    assert _roots(rg).births(X[1], 2.0).sick.tolist() == [0]


def test_births_in_gradients_of_captured_leaves(rg: ModuleType) -> None:
    w = rg.Tensor([0.0, 1.0], label="w")

    def f(x: Any) -> Any:
        return (rg.sqrt(w) * x).sum()

    f.__annotations__ = {"x": rg.Tensor}
    found = rg.compile(f).births(rg.rows(np.abs(X)))
    assert found.backward
    assert found.backward[0].birth.op == "sqrt"
    assert np.array_equal(w.grad, np.zeros(2))
