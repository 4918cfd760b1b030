"""Maps over files and on clusters, against their limits.

A map from Parquet to Parquet against the same call on arrays in memory and against the files alone:
the same columns read and the same results written by pyarrow, on the same disk. Two workers of Dask
against two processes by hand, what a task costs, and the memory of a map.

    python benchmarks/streams.py                    # some minutes
    python benchmarks/streams.py --quick            # fewer rows
    python benchmarks/streams.py --rows 100000000   # the memory of a long map; needs 10 GB of disk
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import retrograde as rg

COLUMNS = ("spot", "strike", "sigma", "tenor", "rate")
WRT = ("spot", "sigma", "tenor", "rate")
GROUP = 1 << 20
TASK_ROWS = 500_000
TASKS = 1_000


@rg.compile
def price(spot: Any, strike: Any, sigma: Any, tenor: Any, rate: Any) -> Any:
    """A European call, Black and Scholes."""
    spread = sigma * rg.sqrt(tenor)
    up = (rg.log(spot / strike) + (rate + 0.5 * sigma**2) * tenor) / spread
    paid = strike * rg.exp(-rate * tenor)
    return spot * rg.norm_cdf(up) - paid * rg.norm_cdf(up - spread)


def columns(rows: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    low, high = (50.0, 50.0, 0.1, 0.1, 0.0), (150.0, 150.0, 0.5, 2.0, 0.05)
    return {name: rng.uniform(a, b, rows) for name, a, b in zip(COLUMNS, low, high)}


def write_book(path: Path, rows: int) -> None:
    schema = pa.schema([(name, pa.float64()) for name in COLUMNS])
    with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:
        for first in range(0, rows, GROUP):
            table = pa.table(columns(min(GROUP, rows - first), first))
            writer.write_table(table, row_group_size=GROUP)


def seconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def files_alone(source: Path, out: Path, results: Any) -> None:
    """The columns read and the results written, as a map does, and nothing computed."""
    file = pq.ParquetFile(source, pre_buffer=False, buffer_size=1 << 20)
    with open(out, "wb") as sink:
        with pq.ParquetWriter(
            sink, results.schema, use_dictionary=False, compression="none"
        ) as writer:
            for batch in file.iter_batches(batch_size=1 << 18, use_threads=False):
                writer.write_table(results.slice(0, batch.num_rows), row_group_size=1 << 18)
        sink.flush()
        os.fsync(sink.fileno())


def maps(folder: Path, rows: int, rounds: int) -> None:
    source, out = folder / "book.parquet", folder / "greeks.parquet"
    write_book(source, rows)
    arrays = columns(rows)
    few = {name: array[: 1 << 18] for name, array in arrays.items()}
    results = price.value_and_grad(pa.table(few), wrt=WRT)
    results = results.cast(
        pa.schema([pa.field(it, pa.float64(), False) for it in results.schema.names])
    )
    timings: dict[str, list[float]] = {"memory": [], "files": [], "map": []}
    for _ in range(rounds):
        timings["memory"].append(seconds(lambda: price.value_and_grad(**arrays, wrt=WRT)))
        timings["files"].append(seconds(lambda: files_alone(source, out, results)))
        timings["map"].append(seconds(lambda: price.map_batches(source, out, wrt=WRT)))
    memory, files, mapped = (min(timings[name]) for name in ("memory", "files", "map"))
    limit = max(memory, files)
    print(f"map of {rows:,} rows, {rounds} rounds, the fastest of each")
    for name, found in (("in memory", memory), ("files alone", files), ("map", mapped)):
        print(f"  {name:12} {found:7.2f} s  {rows / found / 1e6:6.2f} million rows a second")
    print(f"  speed of the map: {limit / mapped:.2f} of the slower of both (goal 0.8)")


# ---- memory --------------------------------------------------------------------------------------


def peak_of(source: Path, out: Path) -> float:
    """Megabytes at most of a process that maps a file."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import resource, streams\n"
        f"streams.price.map_batches({str(source)!r}, {str(out)!r}, wrt=streams.WRT)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024.0


def memory(folder: Path, counts: list[int]) -> None:
    print("memory of a map, at most")
    for rows in counts:
        source, out = folder / "long.parquet", folder / "out.parquet"
        write_book(source, rows)
        began = time.perf_counter()
        peak = peak_of(source, out)
        took = time.perf_counter() - began
        print(f"  {rows:>12,} rows  {peak:7.0f} MB  {took:7.1f} s")
        os.unlink(source)
        os.unlink(out)


# ---- clusters ------------------------------------------------------------------------------------


@rg.compile
def priced(row: Any) -> Any:
    """The same of one argument with five columns."""
    return price(*[row[place] for place in range(5)])


def book_of(block: Any, block_info: Any = None) -> Any:
    """A chunk of a book, made where it is needed."""
    found = columns(TASK_ROWS, block_info[None]["chunk-location"][0])
    return np.stack([found[name] for name in COLUMNS], axis=1)


def added_up(number: int) -> float:
    """What is done with a chunk: value and gradients, in one thread."""
    table = book_of(None, {None: {"chunk-location": (number,)}})
    return float(priced.value_and_grad(table, reduce="sum", threads=1)[0])


def by_hand(chunks: tuple[int, int]) -> float:
    """What a process does by hand: some chunks, one after the other."""
    return sum(added_up(number) for number in range(*chunks))


def on_dask(block: Any, block_info: Any = None) -> Any:
    """The same in a task of Dask's that knows nothing of us: what Dask itself takes."""
    return np.array([added_up(block_info[None]["chunk-location"][0])])


def clusters(counts: list[int], rounds: int) -> None:
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    priced.value_and_grad(np.ones((3, 5)), reduce="sum")
    square = rg.compile(lambda x: x * x)
    square(np.ones(3))
    tiny = da.ones(4 * TASKS, chunks=4)

    def lazily(chunks: int) -> float:
        book = da.zeros(chunks, chunks=1).map_blocks(
            book_of, dtype=float, new_axis=1, chunks=(TASK_ROWS, 5)
        )
        return float(priced.value_and_grad(book, reduce="sum")[0].compute())

    def alone(chunks: int) -> float:
        numbers = da.zeros(chunks, chunks=1).map_blocks(on_dask, dtype=float)
        return float(numbers.sum(split_every=chunks).compute())

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        multiprocessing.get_context("spawn").Pool(2) as pool,
    ):
        lazily(2)
        alone(2)
        pool.map(by_hand, [(0, 1), (1, 2)], chunksize=1)
        print(f"two workers, chunks of {TASK_ROWS:,} rows, {rounds} rounds, the fastest of each")
        for chunks in counts:
            halves = [(0, chunks // 2), (chunks // 2, chunks)]
            hand: list[float] = []
            dask: list[float] = []
            limit: list[float] = []
            for _ in range(rounds):
                hand.append(seconds(partial(pool.map, by_hand, halves, 1)))
                dask.append(seconds(partial(lazily, chunks)))
                limit.append(seconds(partial(alone, chunks)))
            ours, theirs = min(hand) / min(dask), min(hand) / min(limit)
            print(f"  {chunks * TASK_ROWS:>12,} rows: by hand {min(hand):.2f} s, on Dask "
                  f"{min(dask):.2f} s: {ours:.2f} of its speed (goal 0.85); Dask with the work by "
                  f"hand in its tasks {theirs:.2f}")  # fmt: skip
        own: list[float] = []
        other: list[float] = []
        for _ in range(rounds):
            own.append(seconds(lambda: wait(square(tiny).persist())))
            other.append(seconds(lambda: wait(tiny.map_blocks(np.square).persist())))
    task, bare = (1e3 * min(took) / TASKS for took in (own, other))
    print(f"  a task of {TASKS:,}: {task:.2f} ms, of NumPy's square {bare:.2f} ms (goal: at most "
          "5 ms more)")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    parser.add_argument("--rows", type=int, default=0, help="rows of the longest map")
    parser.add_argument("--only", choices=("map", "memory", "clusters"), help="one of them")
    options = parser.parse_args()
    rows, rounds = (1_000_000, 2) if options.quick else (10_000_000, 3)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.only in (None, "map"):
            maps(folder, rows, rounds)
        if options.only in (None, "memory"):
            memory(folder, [rows // 10, options.rows or rows])
        if options.only in (None, "clusters"):
            clusters([6, 20] if options.quick else [20, 60, 200, 600], rounds)


if __name__ == "__main__":
    main()
