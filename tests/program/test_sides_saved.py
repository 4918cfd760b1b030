"""Functions that make something before a branch which only one side uses: their traces have it or
have it not, and are saved, pickled and loaded all the same."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest


def one_side(rg: Any) -> Any:
    def f(x: Any, y: Any) -> Any:
        early = rg.log(x * x + 1.0)
        return x - y if x > 2.0 * y else x * early

    return f


def each_side(rg: Any) -> Any:
    def f(x: Any, y: Any) -> Any:
        a, b, c = rg.sin(x), rg.cos(y), rg.exp(-x * y)
        if a > b:
            return a * c if x > y else a
        return b if x > y else c * y

    return f


def in_a_loop(rg: Any) -> Any:
    def f(x: Any, y: Any) -> Any:
        total, unused = x, rg.exp(y)
        for number in range(4):
            unused = unused * 0.5 + number
            total = total * 0.5 + y
            if total > 1.0:
                return total
        return total + unused

    return f


@pytest.mark.parametrize("make", [one_side, each_side, in_a_loop])
def test_what_one_side_uses(rg: Any, tmp_path: Path, make: Any) -> None:
    f = rg.compile(make(rg), choices=False)
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=200), rng.normal(size=200)
    value, gradients = f.value_and_grad(x, y)
    assert len(f.traces) > 1
    f.save(tmp_path / "f.rgp")
    for other in (
        rg.load(tmp_path / "f.rgp"),
        pickle.loads(pickle.dumps(rg.load(tmp_path / "f.rgp"))),
    ):
        again, found = other.value_and_grad(x, y)
        assert again.tobytes() == value.tobytes()
        assert [part.tobytes() for part in found] == [part.tobytes() for part in gradients]
