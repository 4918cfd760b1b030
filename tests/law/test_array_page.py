"""The page of the array law: its examples are true, and the page of rows lists every row."""

from __future__ import annotations

import doctest
from pathlib import Path

from retrograde.ops import OPS
from retrograde.ops.array import ARRAYS, CHOICES
from retrograde.ops.arrays.page import page

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_examples_on_the_page_are_true() -> None:
    outcome = doctest.testfile(str(DOCS / "array-law.md"), module_relative=False)
    assert outcome.failed == 0
    assert outcome.attempted > 20


def test_the_page_of_rows_lists_every_row() -> None:
    text = page(ARRAYS, CHOICES)
    for name in ARRAYS:
        assert f"## {name}\n" in text or f"`{name}`" in text, name
    assert text.count("Kept for backward") == sum(
        hasattr(row, "bound") and name not in OPS for name, row in ARRAYS.items()
    )
