"""Random functions on tensors, compiled: value and gradients are those of tensors."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from .shaped_programs import Drawn, gradients, replayed


def _agree(rg: ModuleType, seed: int) -> None:
    drawn = Drawn(rg, seed)
    wanted, found = gradients(drawn), replayed(drawn)
    for name, number in wanted.items():
        scale = 1e-11 * (1.0 + np.abs(number).max(initial=0.0))
        np.testing.assert_allclose(found[name], number, rtol=1e-10, atol=scale, err_msg=name)


@pytest.mark.parametrize("seed", range(60))
def test_a_random_function_replays_as_it_runs(rg: ModuleType, seed: int) -> None:
    _agree(rg, seed)


@pytest.mark.sweep
@pytest.mark.parametrize("block", range(20))
def test_many_random_functions_replay_as_they_run(rg: ModuleType, block: int) -> None:
    for seed in range(1000 + 50 * block, 1050 + 50 * block):
        _agree(rg, seed)
