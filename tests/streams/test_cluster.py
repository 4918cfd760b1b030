"""Compiled functions on a real cluster of processes: the same bits, whoever computes and whoever
dies. Slow: each test starts workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .books import HERE, book, price_of, written

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of Dask's own, while workers come and go
]
ROWS = 40_000


@pytest.fixture(scope="module")
def notes(tmp_path_factory: Any) -> Any:
    """Where processes note that they record; the module of the functions is on their path."""
    folder = tmp_path_factory.mktemp("notes")
    paths = f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    before = {name: os.environ.get(name) for name in ("PYTHONPATH", "RETROGRADE_TEST_NOTES")}
    os.environ.update(PYTHONPATH=paths, RETROGRADE_TEST_NOTES=str(folder))
    sys.path.insert(0, str(HERE))
    yield folder
    sys.path.remove(str(HERE))
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


@pytest.fixture(scope="module")
def client(notes: Any) -> Any:
    """Two processes of one thread each."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def columns() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.uniform(0.5, 1.5, ROWS), rng.uniform(0.5, 1.5, ROWS)


def main_function() -> Any:
    """A function that no worker can import."""
    import retrograde as rg

    def f(S: Any, K: Any, a: Any) -> Any:
        return rg.exp(-a * S / K) * S if S > K else S * S * a

    return rg.compile(f)


def settled(condition: Any) -> bool:
    """Whether something comes true in a while."""
    until = time.monotonic() + 10.0
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)
    return bool(condition())


@pytest.mark.parametrize("chunks", [1_000, 1_024, 7_777])
def test_sums_have_the_same_bits(client: Any, chunks: int) -> None:
    f, (S, K) = main_function(), columns()
    value, (by_s, by_a) = f.value_and_grad(S, K, 0.3, wrt=("S", "a"), reduce="sum")
    lazy = f.value_and_grad(
        da.from_array(S, chunks=chunks), da.from_array(K, chunks=chunks), 0.3,
        wrt=("S", "a"), reduce="sum",
    )  # fmt: skip
    found, (rows, slope) = dask.compute(lazy)[0]
    assert (found, slope) == (value, by_a)
    assert rows.tobytes() == by_s.tobytes()


def test_calls_that_are_a_task_of_their_own(client: Any, monkeypatch: Any) -> None:
    from retrograde.streams import lazy as lazily

    monkeypatch.setattr(lazily, "_MOST_REPEATED", -1)
    f, (S, K) = main_function(), columns()
    lazy = f.value_and_grad(da.from_array(S, chunks=7_777), K, 0.3, wrt=("S", "a"), reduce="sum")
    value, (by_s, by_a) = f.value_and_grad(S, K, 0.3, wrt=("S", "a"), reduce="sum")
    found, (rows, slope) = dask.compute(lazy)[0]
    assert (found, slope) == (value, by_a)
    assert rows.tobytes() == by_s.tobytes()


def test_frames_stay_lazy_and_come_out_the_same(client: Any) -> None:
    import pandas as pd

    f, (S, K) = main_function(), columns()
    frame = pd.DataFrame({"S": S, "K": K})
    for parts in (3, 11):
        lazy = f.value_and_grad(dd.from_pandas(frame, npartitions=parts), a=0.3, wrt=("S",))
        wanted = f.value_and_grad(frame, a=0.3, wrt=("S",))
        pd.testing.assert_frame_equal(lazy.compute(), wanted, check_exact=True)
        lazy = f.value_and_grad(
            dd.from_pandas(frame, npartitions=parts), a=0.3, wrt="a", reduce="sum"
        )
        assert dask.compute(*lazy) == f.value_and_grad(frame, a=0.3, wrt="a", reduce="sum")


def recorded(notes: Path, others_than: int) -> list[str]:
    found = []
    for path in notes.iterdir():
        if path.stem != str(others_than):
            found += path.read_text().split()
    return found


def test_workers_record_what_nobody_knew_and_it_comes_back(client: Any, notes: Path) -> None:
    import cluster_model

    price, (S, K) = cluster_model.price, columns()
    high, low = S > K, S <= K
    price(S[high][:3], K[high][:3], 0.3)
    assert len(price.traces) == 1
    known = da.from_array(S[high], chunks=2_000), da.from_array(K[high], chunks=2_000)
    assert price(*known, 0.3).compute().tobytes() == price(S[high], K[high], 0.3).tobytes()
    assert recorded(notes, os.getpid()) == []
    lazy = price(da.from_array(S, chunks=2_000), da.from_array(K, chunks=2_000), 0.3)
    found = lazy.compute()
    there = recorded(notes, os.getpid())
    assert set(there) == {"low"}
    assert settled(lambda: len(price.traces) == 2)
    before = len(there)
    again = price(da.from_array(S[low], chunks=2_000), da.from_array(K[low], chunks=2_000), 0.3)
    assert again.compute().tobytes() == found[low].tobytes()
    assert len(recorded(notes, os.getpid())) == before
    assert found.tobytes() == price(S, K, 0.3).tobytes()


def test_captured_leaves_go_along(client: Any) -> None:
    import retrograde as rg

    weight = rg.Value(2.0)
    f = rg.compile(lambda x: weight * x if x > 1.0 else x * x)
    S, _ = columns()
    lazy = da.from_array(S, chunks=5_000)
    first = f(lazy).compute()
    assert first.tobytes() == f(S).tobytes()
    weight.data = 5.0
    assert f(lazy).compute().tobytes() == f(S).tobytes() != first.tobytes()


def test_a_module_that_workers_do_not_have(client: Any, tmp_path: Path) -> None:
    import importlib.util

    import retrograde as rg

    (tmp_path / "secret_model.py").write_text(
        "import retrograde as rg\n\n@rg.compile\ndef price(x):\n    return x * x\n"
    )
    spec = importlib.util.spec_from_file_location("secret_model", tmp_path / "secret_model.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["secret_model"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lazy = module.price(da.ones(10, chunks=5))
    with pytest.raises(rg.errors.LazyError, match=r"no module 'secret_model'.*upload_file"):
        lazy.compute()
    client.upload_file(str(tmp_path / "secret_model.py"))
    assert module.price(da.ones(10, chunks=5)).compute().tolist() == [1.0] * 10
    del sys.modules["secret_model"]


def test_threads_are_not_oversubscribed(client: Any) -> None:
    """A task is one thread's work."""
    from retrograde.streams.tasks import Part

    f, (S, K) = main_function(), columns()
    lazy = f(da.from_array(S, chunks=20_000), K, 0.3)
    for given, wanted in (({}, 1), ({"threads": 2}, 2)):
        lazy = f(da.from_array(S, chunks=20_000), K, 0.3, **given)
        functions = [getattr(task, "func", None) for task in dict(lazy.dask).values()]
        calls = [it.args[0] for it in functions if isinstance(it, partial)]
        assert [type(call) for call in calls] == [Part, Part]
        assert {call.filled([None] * len(call.places))["threads"] for call in calls} == {wanted}


def test_a_worker_that_is_killed_in_the_middle(notes: Any) -> None:
    import retrograde as rg

    def slow(x: Any) -> Any:
        time.sleep(0.05)
        return x

    f, (S, K) = main_function(), columns()
    wanted = f.value_and_grad(S, K, 0.3, wrt=("S", "a"), reduce="sum")
    del rg
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        lazy_s = da.from_array(S, chunks=500).map_blocks(slow, dtype=float, meta=np.empty(0))
        lazy = f.value_and_grad(
            lazy_s, da.from_array(K, chunks=500), 0.3, wrt=("S", "a"), reduce="sum"
        )
        future = client.compute(lazy[0]), client.compute(lazy[1][0]), client.compute(lazy[1][1])
        time.sleep(1.0)
        pids = client.run(os.getpid)
        assert not all(each.done() for each in future)
        os.kill(next(iter(pids.values())), signal.SIGKILL)
        value, rows, slope = client.gather(list(future))
        assert set(client.run(os.getpid).values()) != set(pids.values())
    assert (value, slope) == (wanted[0], wanted[1][1])
    assert rows.tobytes() == wanted[1][0].tobytes()


def test_spilled_results_are_the_same(notes: Any, tmp_path: Path) -> None:
    f, (S, K) = main_function(), columns()
    S, K = np.tile(S, 50), np.tile(K, 50)
    wanted = f.value_and_grad(S, K, 0.3, wrt="a", reduce="sum")
    with (
        dask.config.set({"distributed.worker.memory.target": 0.01}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None,
            memory_limit="800MB", local_directory=str(tmp_path),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        S, K = (da.from_array(it, chunks=100_000) for it in (S, K))
        kept = f.value_and_grad(S, K, 0.3, wrt="S")[1].persist()
        distributed.wait(kept)
        spilled = client.run(lambda dask_worker: len(dask_worker.data.slow))
        assert sum(spilled.values()) > 0
        found = dask.compute(*f.value_and_grad(S, K, 0.3, wrt="a", reduce="sum"))
    assert found == wanted


def test_maps_on_a_cluster_write_the_same_bytes(client: Any, tmp_path: Path) -> None:
    import retrograde as rg

    written(book(30_000), tmp_path / "in.parquet", row_group_size=7_000)
    asked: dict[str, Any] = {
        "wrt": ("S", "sigma"), "keep": ("id", "desk"), "arguments": {"r": 0.03}, "batch_rows": 1_000
    }  # fmt: skip
    rows, price = tmp_path / "in.parquet", price_of(rg)
    price.map_batches(rows, tmp_path / "here.parquet", **asked)
    wanted = (tmp_path / "here.parquet").read_bytes()
    address = client.scheduler.address
    for name, scheduler in (("client", client), ("address", address)):
        out = tmp_path / f"{name}.parquet"
        assert price_of(rg).map_batches(rows, out, scheduler=scheduler, **asked) == 30_000
        assert out.read_bytes() == wanted
    import pyarrow.csv

    pyarrow.csv.write_csv(book(30_000), tmp_path / "in.csv")
    price.map_batches(tmp_path / "in.csv", tmp_path / "csv.parquet", scheduler=client, **asked)
    price.map_batches(tmp_path / "in.csv", tmp_path / "csv2.parquet", **asked)
    assert (tmp_path / "csv.parquet").read_bytes() == (tmp_path / "csv2.parquet").read_bytes()
    model = tmp_path / "model.py"
    model.write_text("import retrograde as rg\n\n@rg.compile\ndef area(S, K):\n    return S * K\n")
    done = subprocess.run(
        [sys.executable, "-m", "retrograde", "map", "model.py:area", "in.parquet", "--out",
         "out.arrow", "--scheduler", address],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("30,000 rows to out.arrow")


def test_a_map_survives_a_worker_and_goes_on_elsewhere(notes: Any, tmp_path: Path) -> None:
    import retrograde as rg
    from retrograde.streams import journal, spread

    written(book(200_000), tmp_path / "in.parquet", row_group_size=10_000)
    asked: dict[str, Any] = {"arguments": {"r": 0.03}, "batch_rows": 1_000, "keep": ("id", "desk")}
    price_of(rg).map_batches(tmp_path / "in.parquet", tmp_path / "here.parquet", **asked)
    before = spread.TASK_ROWS, journal.SYNC_BYTES
    spread.TASK_ROWS, journal.SYNC_BYTES = 5_000, 1
    try:
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            pid = next(iter(client.run(os.getpid).values()))
            out = tmp_path / "out.parquet"

            def kill() -> None:
                """Kill a worker once some batches are written."""
                journal = tmp_path / "out.parquet.journal"
                while not journal.exists() or journal.read_text().count("\n") < 5:
                    time.sleep(0.01)
                os.kill(pid, signal.SIGKILL)
                killed.append(out.exists())

            killed: list[bool] = []
            killer = threading.Thread(target=kill, daemon=True)
            killer.start()
            price_of(rg).map_batches(tmp_path / "in.parquet", out, scheduler=client, **asked)
            killer.join(5.0)
            assert killed == [False]
    finally:
        spread.TASK_ROWS, journal.SYNC_BYTES = before
    assert out.read_bytes() == (tmp_path / "here.parquet").read_bytes()


def test_a_scheduler_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import retrograde as rg
    from retrograde.streams import spread

    monkeypatch.setattr(spread, "PATIENCE", "0.5s")
    rows, out = written(book(10), tmp_path / "in.parquet"), tmp_path / "out.parquet"
    asked: dict[str, Any] = {"arguments": {"r": 0.03}, "keep": ("id", "desk")}
    for address in ("tcp://127.0.0.1:9", "nowhere"):
        with pytest.raises(rg.errors.MapError, match=f"no Dask scheduler at {address}"):
            price_of(rg).map_batches(rows, out, scheduler=address, **asked)
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_a_scheduler_that_is_lost_on_the_way(tmp_path: Path) -> None:
    import retrograde as rg
    from retrograde.streams import journal, spread

    rows, out = written(book(100_000), tmp_path / "in.parquet"), tmp_path / "out.parquet"
    asked: dict[str, Any] = {"arguments": {"r": 0.03}, "batch_rows": 1_000, "keep": ("id", "desk")}
    before = spread.TASK_ROWS, journal.SYNC_BYTES
    spread.TASK_ROWS, journal.SYNC_BYTES = 2_000, 1
    try:
        with distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster:

            def stop() -> None:
                """Close the cluster once some batches are written."""
                path = tmp_path / "out.parquet.journal"
                while not path.exists() or path.read_text().count("\n") < 5:
                    time.sleep(0.01)
                cluster.close()

            stopper = threading.Thread(target=stop, daemon=True)
            stopper.start()
            with pytest.raises(rg.errors.MapError, match="scheduler was lost on the way") as caught:
                price_of(rg).map_batches(rows, out, scheduler=cluster.scheduler_address, **asked)
            stopper.join(20.0)
    finally:
        spread.TASK_ROWS, journal.SYNC_BYTES = before
    assert "rows are safe in" in str(caught.value)
    assert price_of(rg).map_batches(rows, out, **asked) == 100_000


def test_a_cluster_without_what_it_needs() -> None:
    from retrograde.errors import MapError
    from retrograde.streams import spread

    said = "sent: No module named 'retrograde'. Install the packages"
    with pytest.raises(MapError, match=said), spread._reached():
        raise RuntimeError("of the graph") from ImportError("No module named 'retrograde'")
    with pytest.raises(RuntimeError, match="of its own"), spread._reached():
        raise RuntimeError("of its own")
