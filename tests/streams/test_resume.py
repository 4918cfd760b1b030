"""Maps that break off, and go on to the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .books import HERE, book, price_of, written

KILLED = """
import sys, time
sys.path.insert(0, {here!r})
from books import price_of
import retrograde as rg
from retrograde.streams import journal
journal.SYNC_BYTES = 1
if {pause}:
    from retrograde.streams.work import Work
    results = Work.results
    def slow(self, table, row):
        if row > 1_000:
            time.sleep({pause})
        return results(self, table, row)
    Work.results = slow
price_of(rg).map_batches("in.parquet", {out!r}, batch_rows=500, wrt=("S", "T"), keep="desk",
                         arguments={{"r": 0.03}})
"""


def start(folder: Path, out: str, pause: float) -> Any:
    code = KILLED.format(here=str(HERE), out=out, pause=pause)
    return subprocess.Popen([sys.executable, "-c", code], cwd=folder)


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process as only POSIX does")
@pytest.mark.parametrize("out", ["out.parquet", pytest.param("out.arrow", marks=pytest.mark.slow)])
def test_a_killed_map_goes_on_to_the_same_bytes(tmp_path: Path, out: str) -> None:
    written(book(6_000), tmp_path / "in.parquet", row_group_size=800)
    whole = start(tmp_path, out, 0.0)
    assert whole.wait() == 0
    wanted = (tmp_path / out).read_bytes()
    os.unlink(tmp_path / out)
    counts = []
    for _ in range(2):
        killed = start(tmp_path, out, 0.15)
        before = len(counts) and counts[-1]
        while killed.poll() is None and lines(tmp_path / f"{out}.journal") <= before + 2:
            time.sleep(0.01)
        killed.send_signal(signal.SIGKILL)
        assert killed.wait() == -signal.SIGKILL
        assert not (tmp_path / out).exists()
        counts.append(lines(tmp_path / f"{out}.journal"))
    assert counts[1] > counts[0] > 1
    assert start(tmp_path, out, 0.0).wait() == 0
    assert (tmp_path / out).read_bytes() == wanted
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", out]


def lines(path: Path) -> int:
    return path.read_text().count("\n") if path.exists() else 0


class Stop(Exception):
    """Somebody's reason to stop."""


@pytest.fixture
def broken(rg: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A map that breaks off after some batches; its source and its target."""
    import importlib

    streams = f"{rg.__name__}.streams"
    monkeypatch.setattr(importlib.import_module(f"{streams}.journal"), "SYNC_BYTES", 1)
    work = importlib.import_module(f"{streams}.work").Work
    results = work.results

    def broken(
        kind: type[BaseException], out: str, function: Any = None, **asked: Any
    ) -> tuple[Path, Path]:
        def some(self: Any, table: Any, row: int) -> Any:
            if row >= 1_500:
                raise kind
            return results(self, table, row)

        rows = written(book(2_000), tmp_path / "in.parquet")
        with monkeypatch.context() as patch:
            patch.setattr(work, "results", some)
            with pytest.raises(kind):
                (function or price_of(rg)).map_batches(
                    rows, tmp_path / out, batch_rows=500, **asked
                )
        return rows, tmp_path / out

    return broken


ASKED: dict[str, Any] = {"wrt": ("S",), "arguments": {"r": 0.03}, "keep": ("id", "desk")}


@pytest.mark.parametrize("kind", [Stop, KeyboardInterrupt])
@pytest.mark.parametrize("out", ["out.parquet", "out.arrow"])
def test_an_interrupted_map_goes_on(rg: Any, broken: Any, kind: Any, out: str) -> None:
    rows, target = broken(kind, out, **ASKED)
    assert not target.exists()
    assert lines(target.with_name(f"{out}.journal")) >= 3
    assert price_of(rg).map_batches(rows, target, batch_rows=500, **ASKED) == 2_000
    fresh = target.with_name(f"fresh.{out}")
    price_of(rg).map_batches(rows, fresh, batch_rows=500, **ASKED)
    assert target.read_bytes() == fresh.read_bytes()
    assert len(list(target.parent.iterdir())) == 3


def test_what_was_cut_off_or_added_is_not_believed(rg: Any, broken: Any) -> None:
    rows, target = broken(Stop, "out.parquet", **ASKED)
    journal, partial = (target.with_name(f"out.parquet.{name}") for name in ("journal", "partial"))
    journal.write_text(journal.read_text() + '[500, 99999999, "half a li')
    with open(partial, "ab") as file:
        file.write(b"half a batch")
    assert price_of(rg).map_batches(rows, target, batch_rows=500, **ASKED) == 2_000
    fresh = target.with_name("fresh.parquet")
    price_of(rg).map_batches(rows, fresh, batch_rows=500, **ASKED)
    assert target.read_bytes() == fresh.read_bytes()


def test_a_map_of_something_else_is_not_gone_on_with(rg: Any, broken: Any) -> None:
    rows, target = broken(Stop, "out.parquet", **ASKED)

    def refused(function: Any = None, batch_rows: int = 500, **asked: Any) -> str:
        with pytest.raises(rg.errors.MapError) as caught:
            (function or price_of(rg)).map_batches(
                rows, target, batch_rows=batch_rows, **{**ASKED, **asked}
            )
        return str(caught.value)

    said = refused(wrt=("T",))
    assert "out.parquet.partial was left by another map" in said
    assert "its wrt was ['S'], and now it is ['T']" in said
    assert "--restart" in said
    assert "its batch_rows was 500" in refused(batch_rows=250)
    assert "its arguments was" in refused(arguments={"r": 0.02})
    other = rg.compile(lambda S, K, sigma, T, r: S * K * sigma * T * r)
    assert "its last batch, computed again, comes out with other numbers" in refused(other)
    written(book(2_000, seed=1), rows)
    assert "its files was" in refused()
    partial = target.with_name("out.parquet.partial")
    with open(partial, "r+b") as file:
        file.truncate(100)
    written(book(2_000), rows)
    assert price_of(rg).map_batches(rows, target, batch_rows=500, restart=True, **ASKED) == 2_000
    assert not partial.exists()


def test_an_argument_is_known_again_by_its_numbers(rg: Any, tmp_path: Path) -> None:
    import importlib

    _told = importlib.import_module(f"{rg.__name__}.streams.work")._told
    numbers = np.arange(3_000.0)
    other = np.where(numbers == 1_500.0, 0.0, numbers)

    def told(w: Any) -> dict[str, str]:
        return dict(_told("w", w))

    assert told(rg.uniform(numbers)) == told(rg.uniform(numbers.copy())) == told(numbers)
    assert told(numbers) != told(other)
    assert told(numbers) != told(numbers.astype(np.float32))
    assert told({"a": 1.0, "b": [2.0, object()]}) == {
        'w["a"]': "1.0", 'w["b"][0]': "2.0", 'w["b"][1]': "object"
    }  # fmt: skip
    assert told(0.03) == {"w": "0.03"}
    assert told(np.sum) == {"w": "sum"}


def test_a_map_with_an_array_among_its_arguments_goes_on(rg: Any, broken: Any) -> None:
    def asked() -> dict[str, Any]:
        return {**ASKED, "arguments": {"r": [0.01, 0.02], "w": rg.uniform(np.arange(3.0))}}

    def weighted(S: Any, K: Any, sigma: Any, T: Any, r: Any, w: Any) -> Any:
        return S * K * sigma * T * rg.sum(w) * rg.sum(r)

    rows, target = broken(Stop, "out.parquet", function=rg.compile(weighted), **asked())
    assert rg.compile(weighted).map_batches(rows, target, batch_rows=500, **asked()) == 2_000


def test_a_damaged_journal_is_named(rg: Any, broken: Any) -> None:
    rows, target = broken(Stop, "out.parquet", **ASKED)
    journal, partial = (target.with_name(f"out.parquet.{name}") for name in ("journal", "partial"))
    with open(partial, "r+b") as file:
        file.truncate(100)
    with pytest.raises(rg.errors.MapError, match=r"does not fit .* one of them was altered"):
        price_of(rg).map_batches(rows, target, batch_rows=500, **ASKED)
    journal.write_text("no journal\n")
    with pytest.raises(rg.errors.MapError, match=r"does not fit .* one of them was altered"):
        price_of(rg).map_batches(rows, target, batch_rows=500, **ASKED)


@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked there")
def test_two_maps_to_one_file(rg: Any, tmp_path: Path) -> None:
    import fcntl

    rows = written(book(10), tmp_path / "in.parquet")
    with open(tmp_path / "out.parquet.partial", "wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(rg.errors.MapError, match="Another process is writing"):
            price_of(rg).map_batches(rows, tmp_path / "out.parquet", **ASKED)
    assert price_of(rg).map_batches(rows, tmp_path / "out.parquet", **ASKED) == 10


def test_an_old_file_stays_until_the_new_one_is_whole(rg: Any, broken: Any, tmp_path: Path) -> None:
    (tmp_path / "out.parquet").write_text("old")
    rows, target = broken(Stop, "out.parquet", **ASKED)
    assert target.read_text() == "old"
    price_of(rg).map_batches(rows, target, batch_rows=500, **ASKED)
    assert target.read_bytes()[:4] == b"PAR1"
