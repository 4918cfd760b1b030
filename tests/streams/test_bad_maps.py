"""Maps that cannot be done: what is said, and that nothing is left half-written."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from .books import HERE, book, price_of, written


@pytest.fixture
def out(tmp_path: Path) -> Any:
    """Where results go; nothing may be left there."""
    path = tmp_path / "results" / "out.parquet"
    path.parent.mkdir()
    yield path
    assert list(path.parent.iterdir()) == []


def refused(rg: Any, source: Any, out: Any, **asked: Any) -> str:
    asked = {"arguments": {"r": 0.03}, **asked}
    with pytest.raises(rg.errors.RetrogradeError) as caught:
        price_of(rg).map_batches(source, out, **asked)
    return str(caught.value)


def with_column(table: Any, name: str, column: Any) -> Any:
    return table.set_column(table.schema.names.index(name), name, column)


def test_nulls_name_the_file_and_the_row(rg: Any, tmp_path: Path, out: Path) -> None:
    good, bad = book(700), book(900)
    numbers = bad["sigma"].to_pylist()
    numbers[801] = None
    bad = with_column(bad, "sigma", pa.array(numbers))
    paths = [written(good, tmp_path / "a.parquet"), written(bad, tmp_path / "b.parquet")]
    said = refused(rg, paths, out, batch_rows=10_000)
    assert f"{paths[1]}: the column 'sigma' is null in row 801." in said
    assert "--nulls nan" in said
    other = tmp_path / "nan.parquet"
    price_of(rg).map_batches(paths, other, nulls="nan", wrt="S", arguments={"r": 0.03})
    assert pq.read_table(other)["value"].to_pandas().isna().to_numpy().nonzero()[0].tolist() == [
        1501
    ]
    assert "nulls='maybe'" in refused(rg, paths, out, nulls="maybe")


def test_columns_without_numbers(rg: Any, tmp_path: Path, out: Path) -> None:
    text = with_column(book(3), "S", pa.array(["1.0", "2", "x"]))
    path = written(text, tmp_path / "a.parquet")
    assert f"{path}: S holds text, not numbers" in refused(rg, path, out)
    days = with_column(book(2), "T", pa.array([1, 2], pa.date32()))
    assert "T holds times" in refused(rg, written(days, tmp_path / "d.parquet"), out)
    pa.csv.write_csv(text, tmp_path / "a.csv")
    said = refused(rg, tmp_path / "a.csv", out)
    assert "a.csv: the column 'S' holds 'x', which is no double. Parameters are read as" in said


def test_columns_of_csv_that_were_taken_for_one(rg: Any, tmp_path: Path, out: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("S;K;sigma;T\n1;2;3;4\n")
    said = refused(rg, path, out)
    assert "Where ';' stands between columns, say so: separator=';', on the command line" in said
    for bad in ("", ";;", '"', "\n", 3):
        assert "cannot stand between the columns" in refused(rg, path, out, separator=bad)


def test_damaged_pages_are_told_by_their_checksums(rg: Any, tmp_path: Path, out: Path) -> None:
    rows = written(book(3_000), tmp_path / "in.parquet", use_dictionary=False, compression="none",
                   write_page_checksum=True)  # fmt: skip
    good = tmp_path / "good.parquet"
    price_of(rg).map_batches(rows, good, keep=("S", "K", "sigma", "T"), arguments={"r": 0.03})
    for path in (rows, good):  # what maps write has checksums, too
        data = bytearray(path.read_bytes())
        number = book(3_000)["sigma"][1_234].as_py()
        data[data.index(struct.pack("<d", number)) + 2] ^= 1
        path.write_bytes(data)
        said = refused(rg, path, out, keep=("id",) if path is rows else ())
        assert f"{path} cannot be read: " in said
        assert "CRC checksum verification failed" in said


def test_lines_of_csv_that_do_not_fit(rg: Any, tmp_path: Path, out: Path) -> None:
    path = tmp_path / "a.csv"
    later = with_column(book(60_000), "id", pa.array(["7"] * 59_999 + ["x" * 50]))
    pa.csv.write_csv(later, path)
    said = refused(rg, path, out, keep="id")
    assert f"a.csv: the column 'id' holds '{'x' * 40}…', which is no int64." in said
    path.write_text("S,K,sigma,T\n1,1,1,1\n1,1,1\n")
    assert "a.csv cannot be read: CSV parse error: Expected 4 columns, got 3" in refused(
        rg, path, out
    )


def test_columns_of_one_name(rg: Any, tmp_path: Path, out: Path) -> None:
    table = pa.table([[1.0], [2.0], [0.1], [1.0], [3.0]], names=["S", "K", "sigma", "T", "S"])
    pa.csv.write_csv(table, tmp_path / "a.csv")
    with pa.ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as writer:
        writer.write_table(table)
    for path in (written(table, tmp_path / "a.parquet"), tmp_path / "a.csv", tmp_path / "a.arrow"):
        assert f"{path} has several columns 'S'. Rename all but one." in refused(rg, path, out)


def test_types_that_do_not_go_together(rg: Any, tmp_path: Path, out: Path) -> None:
    path = written(book(3), tmp_path / "a.parquet")
    other = with_column(book(3), "id", pa.array(["a", "b", "c"]))
    said = refused(rg, [path, written(other, tmp_path / "b.parquet")], out, keep="id")
    assert f"b.parquet: the column 'id' is string, and in {path} it is int64" in said
    large = with_column(book(3), "S", pa.array([2**53 + 1, 2, 3]))
    said = refused(rg, [path, written(large, tmp_path / "c.parquet")], out)
    assert "c.parquet: the column 'S' is int64" in said


def test_a_column_missing_in_the_second_file(rg: Any, tmp_path: Path, out: Path) -> None:
    renamed = book(3).rename_columns(["id", "S", "K", "desk", "Sigma", "T"])
    paths = [written(book(3), tmp_path / "a.parquet"), written(renamed, tmp_path / "b.parquet")]
    said = refused(rg, paths, out)
    assert f"{paths[1]} has no column 'sigma', which {paths[0]} has." in said
    assert "did you mean 'Sigma'" in said
    said = refused(rg, paths[1], out)
    assert f"{paths[1]} has no column 'sigma'" in said
    assert "--set sigma=…" in said
    assert "has no column 'book'" in refused(rg, paths[0], out, keep="book")
    with pytest.raises(rg.errors.MapError, match="'r' would be left to the default"):
        price_of(rg).map_batches(paths[0], out)
    assert "has a column of that name" in refused(rg, paths[0], out, arguments={"S": 1.0, "r": 0.0})
    assert "'r' is a Value, and files hold numbers" in refused(
        rg, paths[0], out, arguments={"r": [rg.Value(0.0)]}
    )
    assert "no parameter 'rate'" in refused(rg, paths[0], out, arguments={"rate": 1.0})
    assert "no column of" in refused(
        rg, written(pa.table({"a": [1.0]}), tmp_path / "n.parquet"), out,
        arguments={"S": 1.0, "K": 1.0, "sigma": 1.0, "T": 1.0, "r": 1.0},
    )  # fmt: skip


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("part", [0.0, 0.3, 0.95])
def test_files_that_are_cut_off(
    rg: Any, tmp_path: Path, out: Path, ending: str, part: float
) -> None:
    path = tmp_path / f"a.{ending}"
    if ending == "parquet":
        written(book(5_000), path)
    else:
        with pa.ipc.new_file(str(path), book(1).schema) as writer:
            writer.write_table(book(5_000), max_chunksize=500)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * part)])
    assert f"{path} cannot be read" in refused(rg, path, out)


def test_streams_whose_writer_died_between_batches(rg: Any, tmp_path: Path, out: Path) -> None:
    path = tmp_path / "a.arrow"
    with pa.ipc.new_stream(str(path), book(1).schema) as writer:
        writer.write_table(book(5_000), max_chunksize=500)
    data = path.read_bytes()
    price_of(rg).map_batches(path, tmp_path / "o.parquet", arguments={"r": 0.03})
    for left in (8, 16, 2_000):
        path.write_bytes(data[:-left])
        assert f"{path} cannot be read" in refused(rg, path, out)
    path.write_bytes(data[:-8])
    assert "cannot be read: the end of the stream is missing." in refused(rg, path, out)


def test_pages_that_are_damaged(rg: Any, tmp_path: Path, out: Path) -> None:
    path = written(book(5_000), tmp_path / "a.parquet", row_group_size=1_000)
    data = bytearray(path.read_bytes())
    start = pq.ParquetFile(path).metadata.row_group(3).column(1).data_page_offset
    data[start : start + 40] = bytes(40)
    path.write_bytes(data)
    assert f"{path} cannot be read" in refused(rg, path, out, batch_rows=100_000)


def test_sources_that_are_none(rg: Any, tmp_path: Path, out: Path) -> None:
    assert "no file" in refused(rg, tmp_path / "nowhere.parquet", out)
    (tmp_path / "empty").mkdir()
    assert "no Parquet, Arrow or CSV files" in refused(rg, tmp_path / "empty", out)
    assert "no Parquet, Arrow or CSV files" in refused(rg, [], out)
    (tmp_path / "a.txt").write_text("1")
    assert "does not say what it is" in refused(rg, tmp_path / "a.txt", out)
    assert "What is in memory is an argument" in refused(rg, book(3), out)
    assert "What is in memory is an argument" in refused(rg, book(3).to_pandas(), out)
    path = written(book(3), tmp_path / "empty" / "a.parquet")
    pa.csv.write_csv(book(3), tmp_path / "empty" / "b.csv")
    assert "several kinds: csv, parquet" in refused(rg, tmp_path / "empty", out)
    some = pa.dataset.dataset(path).filter(pa.dataset.field("S") > 100.0)
    assert "The dataset has a filter" in refused(rg, some, out)
    assert "batch_rows=0" in refused(rg, path, out, batch_rows=0)
    assert "batch_rows=2.5" in refused(rg, path, out, batch_rows=2.5)


def test_places_that_cannot_be_written(rg: Any, tmp_path: Path, out: Path) -> None:
    path = written(book(3), tmp_path / "a.parquet")
    assert "among the files that are read" in refused(rg, path, path)
    assert "Let it end with one of .parquet" in refused(rg, path, tmp_path / "out.csv")
    assert "cannot be written: No such file or directory" in refused(
        rg, path, tmp_path / "nowhere" / "out.parquet"
    )
    (tmp_path / "folder.parquet").mkdir()
    assert "it is a folder" in refused(rg, path, tmp_path / "folder.parquet")
    assert "a result has that name" in refused(
        rg, written(book(3).rename_columns(["value", "S", "K", "x", "sigma", "T"]), path), out,
        keep=("value", "x"),
    )  # fmt: skip
    assert "wrt names 'X'" in refused(rg, written(book(3), path), out, wrt="X")


FULL = """
import sys, resource, signal
sys.path.insert(0, {here!r})
from books import book, price_of, written
import retrograde as rg
from retrograde.streams import journal
journal.SYNC_BYTES = 1
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
if {limit}:
    resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
try:
    price_of(rg).map_batches("in.parquet", "out.parquet", batch_rows=1000, arguments={{"r": 0.03}})
except rg.errors.MapError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on files there")
def test_a_full_disk_keeps_what_is_whole(tmp_path: Path) -> None:
    """The system refuses to let a file grow: what is said, and that the map goes on later."""
    written(book(10_000), tmp_path / "in.parquet")

    def run(limit: int) -> str:
        code = FULL.format(here=str(HERE), limit=limit)
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert run(0) == ""
    whole = (tmp_path / "out.parquet").read_bytes()
    os.unlink(tmp_path / "out.parquet")
    said = run(200_000)
    assert "out.parquet cannot be written: File too large." in said
    assert "rows are safe in" in said
    assert not (tmp_path / "out.parquet").exists()
    assert run(0) == ""
    assert (tmp_path / "out.parquet").read_bytes() == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "out.parquet"]
