"""Sums of rows that come in pieces: the bits of one call, however they were cut and joined."""

from __future__ import annotations

import importlib
from itertools import pairwise
from typing import Any

import numpy as np
import pytest


@pytest.mark.parametrize("aligned", [True, False])
def test_cuts_and_joins_do_not_show(rg: Any, aligned: bool) -> None:
    blocks = importlib.import_module(f"{rg.__name__}.streams.blocks")
    rng = np.random.default_rng(5)
    f = rg.compile(lambda x, a: rg.exp(a * x) if x > 0.0 else a * x * x)
    for _ in range(40):
        rows = int(rng.integers(0, 4_000))
        x = rng.normal(size=rows) * 10.0 ** rng.integers(-8, 3, rows)
        wanted = f.value_and_grad(x, 0.3, wrt="a", reduce="sum")
        value, slope = f.value_and_grad(x, 0.3, wrt="a")
        places = np.arange(0, rows + 1, 1024 if aligned else 1)
        cuts = [0, *sorted(rng.choice(places, int(rng.integers(0, 9))).tolist()), rows]
        parts = [
            blocks.sums_of([value[first:last], slope[first:last]], first, last - first)
            for first, last in pairwise(cuts)
        ]
        while len(parts) > 1:
            at = int(rng.integers(0, len(parts) - 1))
            parts[at : at + 2] = [blocks.joined(parts[at : at + 2])]
        assert tuple(blocks.total(parts[0]).tolist()) == wanted
        assert parts[0].rows == rows
