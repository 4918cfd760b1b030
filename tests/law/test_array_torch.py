"""Every row of the array law against PyTorch: value, first and second derivative, in float64."""

from __future__ import annotations

import pytest

from retrograde.ops import OPS
from retrograde.ops.array import ARRAYS

from .array_cases import ALL, COVERED, Case, hold_to_torch


@pytest.mark.parametrize("case", ALL, ids=[case.name for case in ALL])
def test_a_row_is_what_torch_computes_at_two_orders(case: Case) -> None:
    hold_to_torch(case)


def test_every_row_is_compared() -> None:
    absent = {name for name, op in OPS.items() if op.absent}
    assert ARRAYS.keys() - absent == COVERED
