"""``retrograde map``."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

MODEL = """
import retrograde as rg

@rg.compile
def price(S, sigma, rate=0.0):
    return S * sigma * (1.0 + rate) if S > 2.0 else S

def plain(S):
    return S * S

@rg.compile(static=("n", "kind"))
def power(S, n, kind="none"):
    return S**n if kind == "none" else S

number = 3
"""


@pytest.fixture
def run(rg: Any, tmp_path: Path, monkeypatch: Any, capsys: Any) -> Any:
    """Runs the command in a folder with a model and trades; what it says."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL.replace("retrograde", rg.__name__))
    table = pa.table({"S": [1.0, 2.0, 3.0], "sigma": [0.5, 0.25, 0.125], "id": [7, 8, 9]})
    pq.write_table(table, tmp_path / "trades.parquet")
    main = importlib.import_module(f"{rg.__name__}.cli").main

    def run(*arguments: str) -> tuple[int, str]:
        code = main(["map", *arguments])
        found = capsys.readouterr()
        return code, found.out + found.err

    return run


def test_it_writes_values_and_gradients(run: Any) -> None:
    code, said = run("model.py:price", "trades.parquet", "--wrt", "S,sigma", "--keep", "id",
                     "--set", "rate=1", "--out", "greeks.parquet")  # fmt: skip
    assert (code, said.split(" in ")[0]) == (0, "3 rows to greeks.parquet")
    assert pq.read_table("greeks.parquet").to_pydict() == {
        "id": [7, 8, 9], "value": [1.0, 2.0, 0.75], "d_S": [1.0, 1.0, 0.25],
        "d_sigma": [0.0, 0.0, 6.0],
    }  # fmt: skip


def test_columns_of_csv_apart_by_another_character(run: Any, tmp_path: Path) -> None:
    for mark, said in ((";", ";"), ("\t", "tab")):
        (tmp_path / "trades.csv").write_text(f"S{mark}id\n3{mark}7\n")
        asked = "model.py:plain", "trades.csv", "--separator", said, "--out", "o.parquet"
        assert run(*asked, "--restart")[0] == 0
        assert pq.read_table("o.parquet").to_pydict() == {"value": [9.0], "d_S": [6.0]}


def test_plain_functions_static_parameters_and_second_derivatives(run: Any) -> None:
    assert run("model.py:plain", "trades.parquet", "--hessian", "S", "--out", "o.arrow")[0] == 0
    found = pa.ipc.open_file("o.arrow").read_all().to_pydict()
    assert found == {"value": [1.0, 4.0, 9.0], "d_S": [2.0, 4.0, 6.0], "d2_S_S": [2.0] * 3}
    options = ("trades.parquet", "trades.parquet", "--out", "o.parquet", "--wrt", "S")
    assert run("model.py:power", *options, "--set", "n=3")[0] == 0
    assert pq.read_table("o.parquet")["value"].to_pylist() == [1.0, 8.0, 27.0] * 2
    assert run("model.py:power", *options, "--set", "n=3", "--set", "kind=flat")[0] == 0
    assert pq.read_table("o.parquet")["value"].to_pylist() == [1.0, 2.0, 3.0] * 2


def test_what_is_wrong_is_one_message(run: Any, tmp_path: Path) -> None:
    out = ("trades.parquet", "--out", "o.parquet")
    assert run("model.py:cost", *out) == (
        2, "retrograde: model.py has no function 'cost'; its functions: price, plain, power.\n"
    )  # fmt: skip
    assert "name one of its functions" in run("model.py", *out)[1]
    assert run("nowhere.py:price", *out)[0] == 2
    code, said = run("model.py:price", *out, "--wrt", "S")
    assert code == 1
    assert "'rate' would be left to the default" in said
    assert "--set rate=…" in said
    assert (
        "there is no file" in run("model.py:price", "no.parquet", "--out", "o.parquet")[1].lower()
    )
    assert run("model.py:price", *out, "--set", "rate")[0] == 1
    assert not list(tmp_path.glob("o.parquet*"))


def test_an_interrupted_one_says_how_to_go_on(rg: Any, run: Any, monkeypatch: Any) -> None:
    streams = importlib.import_module(f"{rg.__name__}.streams.journal")
    monkeypatch.setattr(streams, "SYNC_BYTES", 1)
    work = importlib.import_module(f"{rg.__name__}.streams.work").Work
    results = work.results

    def some(self: Any, table: Any, row: int) -> Any:
        if row == 2:
            raise KeyboardInterrupt
        return results(self, table, row)

    arguments = ("model.py:plain", "trades.parquet", "--out", "o.parquet", "--batch-rows", "1")
    with monkeypatch.context() as patch:
        patch.setattr(work, "results", some)
        code, said = run(*arguments)
    assert code == 130
    assert "the same command goes on" in said
    assert run(*arguments)[0] == 0
    assert pq.read_table("o.parquet")["value"].to_pylist() == [1.0, 4.0, 9.0]
