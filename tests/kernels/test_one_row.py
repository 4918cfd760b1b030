"""A call with one row runs on kernels of its own, of one lane: the same bits as among many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograde.ops import OPS

from ..program.support import AWKWARD, same

ROWS = 40


@pytest.mark.parametrize("name", sorted(name for name in OPS if not OPS[name].absent))
def test_a_row_alone_has_the_bits_it_has_among_others(native: Any, name: str) -> None:
    function = getattr(native, name)
    draw = np.random.default_rng(len(name))
    usual = np.concatenate([draw.standard_normal(60) * 2, draw.uniform(-1e3, 1e3, 20), AWKWARD])
    rows = draw.choice(usual, (ROWS, OPS[name].arity))
    compiled = native.compile(lambda xs: function(*xs))
    values, gradients = compiled.value_and_grad(rows)
    for row in range(ROWS):
        value, gradient = compiled.value_and_grad(rows[row : row + 1])
        assert same(value[0], values[row])
        assert same(gradient[0], gradients[row])
