"""The book of options: small, and on a cluster."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ..models.support import ROOT, example


def test_the_book_of_options(tmp_path: Path, capsys: Any) -> None:
    book = example("option_book")
    found = book.main(["--rows", "3000", "--folder", str(tmp_path)])
    said = capsys.readouterr().out
    assert "3,000 contracts to" in said
    greeks = pq.read_table(tmp_path / "greeks.parquet")
    assert greeks.schema.names == ["contract", "value", *book.GREEKS.values()]
    table = pq.read_table(tmp_path / "book.parquet")
    value, rho = book.price.value_and_grad(
        table.select(list(book.COLUMNS)), rate=book.RATE, wrt="rate", reduce="sum"
    )
    assert found["value"] == pytest.approx(value)
    assert found["d_rate"] == pytest.approx(rho)


@pytest.mark.slow
def test_the_book_on_a_cluster(tmp_path: Path) -> None:
    """As a script: its function is one of __main__."""
    pytest.importorskip("distributed")
    done = subprocess.run(
        [sys.executable, ROOT / "examples/option_book.py", "--rows", "3000", "--workers", "2"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "the same bytes" in done.stdout
    book = example("option_book")
    table = pq.read_table(tmp_path / "book.parquet").select(list(book.COLUMNS))
    worth, rho = book.price.value_and_grad(table, rate=book.RATE, wrt="rate", reduce="sum")
    assert f"worth {worth:,.2f}, rho {rho:,.2f}, added up there" in done.stdout
