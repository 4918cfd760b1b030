"""Random functions with loops and branches give the same in all their forms, and what eager values
give. ``tools/branch_programs.py`` runs more of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from retrograde.program import choosing

from .branch_cases import Mismatch, hold, source_for

pytestmark = pytest.mark.usefixtures("native")  # the reference keeps to traces


def test_the_forms_of_random_functions_agree() -> None:
    found: Counter[str] = Counter()
    for case in range(48):
        found += hold(case)
    assert found["with choices"] > 10
    assert found["errors"] <= 1


def test_a_number_is_always_the_same_function() -> None:
    assert source_for(12) == source_for(12) != source_for(13)


def test_what_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choices that share what they hand on to are not told apart."""
    move = choosing._ByRows._move

    def moved(self: Any, *given: Any) -> None:
        move(self, *given)
        self.conflicts.clear()

    monkeypatch.setattr(choosing._ByRows, "_move", moved)
    with pytest.raises(Mismatch):
        sum(map(hold, range(60)), Counter())


@pytest.mark.sweep
@pytest.mark.parametrize("block", range(100))
def test_the_forms_of_many_random_functions_agree(block: int) -> None:
    for case in range(1000 * block, 1000 * (block + 1)):
        hold(case)
