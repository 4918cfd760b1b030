"""The page of the rows on arrays lists every row."""

from __future__ import annotations

from retrograde.ops import OPS
from retrograde.ops.array import ARRAYS, CHOICES
from retrograde.ops.arrays.page import page


def test_the_page_of_rows_lists_every_row() -> None:
    text = page(ARRAYS, CHOICES)
    for name in ARRAYS:
        assert f"## {name}\n" in text or f"`{name}`" in text, name
    assert text.count("Kept for backward") == sum(
        hasattr(row, "bound") and name not in OPS for name, row in ARRAYS.items()
    )
