"""Maps over files: what comes out, whatever the files, their pieces and the batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from .books import book, greeks, price_of, written

ROWS = 2_500
ASKED: dict[str, Any] = {"wrt": ("S", "sigma"), "keep": ("id", "desk"), "arguments": {"r": 0.03}}


def assert_same(rg: Any, out: Path, table: Any) -> None:
    found = pq.read_table(out) if out.suffix == ".parquet" else pa.ipc.open_file(out).read_all()
    wanted = greeks(rg, table)
    assert found.schema.names == ["id", "desk", "value", "d_S", "d_sigma"]
    assert found["id"].to_pylist() == table["id"].to_pylist()
    assert found["desk"].to_pylist() == table["desk"].to_pylist()
    for name in wanted.schema.names:
        assert found[name].to_numpy().tobytes() == wanted[name].to_numpy().tobytes()


@pytest.mark.parametrize("group", [100, 1024, 10_000])
@pytest.mark.parametrize("size", [7 * 64, 1024, 5_000])
def test_the_bits_are_those_of_a_call_in_memory(
    rg: Any, tmp_path: Path, group: int, size: int
) -> None:
    rows, out = (
        written(book(ROWS), tmp_path / "in.parquet", row_group_size=group),
        tmp_path / "out.parquet",
    )
    assert price_of(rg).map_batches(rows, out, batch_rows=size, **ASKED) == ROWS
    assert_same(rg, out, book(ROWS))
    about = pq.ParquetFile(out).metadata
    assert about.num_row_groups == -(-ROWS // size)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "out.parquet"]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "csv.gz", "stream.arrow"])
@pytest.mark.parametrize("out", ["out.parquet", "out.arrow", "out.feather"])
def test_files_of_each_kind(rg: Any, tmp_path: Path, ending: str, out: str) -> None:
    table, path = book(600), tmp_path / f"in.{ending}"
    if ending == "parquet":
        written(table, path)
    elif ending.startswith("csv"):
        with pa.output_stream(str(path), compression="detect") as sink:
            pyarrow.csv.write_csv(table, sink)
    else:
        make = pa.ipc.new_stream if "stream" in ending else pa.ipc.new_file
        with make(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=250)
    assert price_of(rg).map_batches(path, tmp_path / out, batch_rows=256, **ASKED) == 600
    assert_same(rg, tmp_path / out, table)


def test_columns_apart_by_other_characters(rg: Any, tmp_path: Path) -> None:
    table = book(50)
    for ending, mark in (("csv", ";"), ("csv", "|"), ("tsv", "\t"), ("tsv.gz", "\t")):
        path, out = tmp_path / f"in.{ending}", tmp_path / "out.parquet"
        with pa.output_stream(path, compression="detect") as sink:
            pyarrow.csv.write_csv(table, sink, pyarrow.csv.WriteOptions(delimiter=mark))
        asked = ASKED if ending != "csv" else {**ASKED, "separator": mark}
        price_of(rg).map_batches(path, out, restart=True, **asked)
        assert_same(rg, out, table)
    pyarrow.csv.write_csv(table, tmp_path / "in.csv", pyarrow.csv.WriteOptions(delimiter=";"))
    parsing = pyarrow.csv.ParseOptions(delimiter=";")
    kind = pyarrow.dataset.CsvFileFormat(parse_options=parsing)
    files = pyarrow.dataset.dataset(tmp_path / "in.csv", format=kind)
    price_of(rg).map_batches(files, tmp_path / "other.parquet", **ASKED)
    assert_same(rg, tmp_path / "other.parquet", table)


def test_several_files_a_folder_and_a_dataset(rg: Any, tmp_path: Path) -> None:
    parts = [book(rows, seed) for seed, rows in enumerate((300, 1, 700, 0, 24))]
    folder = tmp_path / "book"
    folder.mkdir()
    paths = [
        written(part, folder / f"{number}.parquet", row_group_size=128)
        for number, part in enumerate(parts)
    ]
    (folder / "_SUCCESS").write_text("")
    dataset = pa.dataset.dataset(folder, format="parquet")
    outs = []
    for number, source in enumerate(
        (paths, folder, str(folder), dataset, pq.ParquetDataset(folder))
    ):
        outs.append(tmp_path / f"out{number}.parquet")
        assert price_of(rg).map_batches(source, outs[-1], batch_rows=256, **ASKED) == 1025
    assert_same(rg, outs[0], pa.concat_tables(parts))
    assert len({out.read_bytes() for out in outs}) == 1


def test_columns_that_folders_name(rg: Any, tmp_path: Path) -> None:
    for desk, n in (("fx", 1), ("rates", 2)):
        (tmp_path / f"book/desk={desk}/n={n}").mkdir(parents=True)
        written(book(5, n).drop(["desk"]), tmp_path / f"book/desk={desk}/n={n}/a.parquet")
    scaled = rg.compile(lambda S, n: S * n)
    count = scaled.map_batches(tmp_path / "book", tmp_path / "out.parquet", wrt="S", keep="desk")
    found = pq.read_table(tmp_path / "out.parquet")
    assert count == 10
    assert found["desk"].to_pylist() == ["fx"] * 5 + ["rates"] * 5
    assert found["d_S"].to_pylist() == [1.0] * 5 + [2.0] * 5


def test_what_can_be_asked(rg: Any, tmp_path: Path) -> None:
    rows, out = written(book(40), tmp_path / "in.parquet"), tmp_path / "out.parquet"
    price, numbers = price_of(rg), book(40).select(["S", "K", "sigma", "T"])
    names = lambda: pq.read_table(out).schema.names  # noqa: E731
    price.map_batches(rows, out, keep=["id", "desk"])
    assert names() == ["id", "desk", "value", "d_S", "d_K", "d_sigma", "d_T", "d_r"]
    price.map_batches(rows, out, wrt=(), arguments={"r": 0.03})
    assert names() == ["value"]
    price.map_batches(rows, out, wrt="S", hessian=("S", "T"), arguments={"r": 0.01})
    assert names() == ["value", "d_S", "d2_S_S", "d2_S_T", "d2_T_S", "d2_T_T"]
    wanted = price.hessian(numbers, wrt="S", r=0.01)
    assert pq.read_table(out)["d2_S_S"].to_numpy().tolist() == wanted["d2_S_S"].to_numpy().tolist()
    both = rg.compile(lambda S, K: {"sum": S + K, "product": S * K})
    both.map_batches(rows, out, wrt=("S",))
    assert names() == ["sum", "product", "sum_d_S", "product_d_S"]
    power = rg.compile(lambda S, n: S**n, static="n")
    power.map_batches(rows, out, wrt="S", arguments={"n": 3})
    wanted = 3.0 * book(40)["S"].to_numpy() ** 2
    assert pq.read_table(out)["d_S"].to_numpy() == pytest.approx(wanted)


def test_no_rows_at_all(rg: Any, tmp_path: Path) -> None:
    rows = written(book(0), tmp_path / "in.parquet")
    for name in ("out.parquet", "out.arrow"):
        assert price_of(rg).map_batches(rows, tmp_path / name, **ASKED) == 0
        assert_same(rg, tmp_path / name, book(0))


def test_types_that_can_be_one(rg: Any, tmp_path: Path) -> None:
    whole = pa.table(
        {"x": pa.array([1, 2], pa.int32()), "k": pa.array(["a", "b"]).dictionary_encode()}
    )
    wide = pa.table({"x": pa.array([3.0, 4.0], pa.float32()), "k": pa.array(["c", "d"])})
    first, second = written(wide, tmp_path / "a.parquet"), written(whole, tmp_path / "b.parquet")
    square = rg.compile(lambda x: x * x)
    for out in ("out.parquet", "out.arrow"):
        square.map_batches([first, second], tmp_path / out, keep="k", batch_rows=3)
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.to_pydict() == {
        "k": ["c", "d", "a", "b"], "value": [9.0, 16.0, 1.0, 4.0], "d_x": [6.0, 8.0, 2.0, 4.0]
    }  # fmt: skip
    assert pa.ipc.open_file(tmp_path / "out.arrow").read_all().to_pydict() == found.to_pydict()


@pytest.mark.parametrize(
    ("one", "other"),
    [("float", "double"), ("int8", "int64"), ("int64", "double"), ("bool", "int16"),
     ("null", "double"), ("uint8", "float")],
)  # fmt: skip
def test_no_digit_is_lost_where_files_have_other_types(
    rg: Any, tmp_path: Path, one: str, other: str
) -> None:
    narrow = pa.nulls(1) if one == "null" else pa.array([1]).cast(one)
    wide = pa.array([1.1 if other in ("float", "double") else 1000]).cast(other)
    paths = [
        written(pa.table({"x": column}), tmp_path / f"{number}.parquet")
        for number, column in enumerate((narrow, wide))
    ]
    square = rg.compile(lambda x: x * x)
    rows = [np.nan if one == "null" else 1.0, float(wide[0].as_py())]
    for order in (1, -1):
        square.map_batches(paths[::order], tmp_path / "out.parquet", nulls="nan")
        found = pq.read_table(tmp_path / "out.parquet")["value"].to_numpy()
        np.testing.assert_array_equal(found, square(np.array(rows[::order])))


def test_other_readers_read_it(rg: Any, tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    rows, out = written(book(ROWS), tmp_path / "in.parquet"), tmp_path / "out.parquet"
    price_of(rg).map_batches(rows, out, batch_rows=100, **ASKED)
    found = polars.read_parquet(out)
    assert found["d_S"].to_numpy().tolist() == greeks(rg, book(ROWS))["d_S"].to_numpy().tolist()
    picked = pq.ParquetFile(out).read_row_group(17, columns=["id", "value"])
    assert picked["id"].to_pylist() == list(range(1700, 1800))
    few = pa.dataset.dataset(out).to_table(filter=pa.dataset.field("id") == 2_001)
    assert few.num_rows == 1
    low = pq.ParquetFile(out).metadata.row_group(3).column(0).statistics
    assert (low.min, low.max) == (300, 399)


def test_loaded_functions_map_too(rg: Any, tmp_path: Path) -> None:
    rows, out = written(book(50), tmp_path / "in.parquet"), tmp_path / "out.parquet"
    price = price_of(rg)
    price.value_and_grad(book(2_000).select(["S", "K", "sigma", "T"]), r=0.03)
    price.save(tmp_path / "price.rgp")
    rg.load(tmp_path / "price.rgp").map_batches(rows, out, **ASKED)
    assert_same(rg, out, book(50))
    assert np.isfinite(pq.read_table(out)["d_S"].to_numpy()).all()
