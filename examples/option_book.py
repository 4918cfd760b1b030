"""A book of ten million options with all greeks, from Parquet to Parquet; and on a local cluster.

The book is a file of contracts. Each row is priced by Black and Scholes with delta, vega, theta,
rho and gamma, batch by batch, so that memory does not grow with the book. Interrupt it and run it
again: it goes on where it stopped. With --workers the same file is made by the processes of a Dask
cluster, byte by byte the same, and the worth of the whole book is added up there.

Run it: python examples/option_book.py --rows 1000000 --workers 2
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import retrograde as rg

COLUMNS = {"spot": (50.0, 150.0), "strike": (50.0, 150.0), "vol": (0.1, 0.5), "years": (0.1, 2.0)}
RATE = 0.03
GREEKS = {"delta": "d_spot", "vega": "d_vol", "theta": "d_years", "rho": "d_rate",
          "gamma": "d2_spot_spot"}  # fmt: skip
"""What people call them, and the columns of results; theta is by time to expiry, so negative."""
GROUP = 1 << 20


@rg.compile
def price(spot: Any, strike: Any, vol: Any, years: Any, rate: Any) -> Any:
    """A European call."""
    spread = vol * rg.sqrt(years)
    up = (rg.log(spot / strike) + (rate + 0.5 * vol**2) * years) / spread
    paid = strike * rg.exp(-rate * years)
    return spot * rg.norm_cdf(up) - paid * rg.norm_cdf(up - spread)


def write_book(path: Path, rows: int) -> None:
    """A book of random contracts, written a row group at a time."""
    schema = pa.schema([("contract", pa.int64()), *[(name, pa.float64()) for name in COLUMNS]])
    rng = np.random.default_rng(1)
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, rows, GROUP):
            count = min(GROUP, rows - first)
            columns = {name: rng.uniform(*ends, count).round(4) for name, ends in COLUMNS.items()}
            table = pa.table({"contract": np.arange(first, first + count), **columns})
            writer.write_table(table, row_group_size=GROUP)


def totals(path: Path) -> dict[str, float]:
    """The greeks of the whole book, added up batch by batch."""
    names = ["value", *GREEKS.values()]
    found = dict.fromkeys(names, 0.0)
    for batch in pq.ParquetFile(path).iter_batches(columns=names):
        for name in names:
            found[name] += float(batch.column(name).to_numpy().sum())
    return found


def map_book(source: Path, out: Path, scheduler: Any = None) -> float:
    """All greeks of a book into a file; the seconds it took."""
    began = time.perf_counter()
    price.map_batches(
        source,
        out,
        wrt=("spot", "vol", "years", "rate"),
        hessian="spot",
        keep="contract",
        arguments={"rate": RATE},
        scheduler=scheduler,
    )
    return time.perf_counter() - began


def on_a_cluster(source: Path, out: Path, workers: int) -> tuple[float, tuple[float, float]]:
    """The same file by the processes of a cluster, and the book's worth and rho added up there."""
    import dask
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        took = map_book(source, out, client)
        book = dd.read_parquet(source, columns=list(COLUMNS))
        lazy = price.value_and_grad(book, rate=RATE, wrt="rate", reduce="sum")
        return took, dask.compute(*lazy)


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    """Make the book, map it, and print what it is worth."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000, help="contracts (10,000,000)")
    parser.add_argument("--folder", type=Path, default=Path(), help="where the files go (here)")
    parser.add_argument("--workers", type=int, default=0, help="processes of a cluster (none)")
    options = parser.parse_args(arguments)
    source, out = options.folder / "book.parquet", options.folder / "greeks.parquet"
    if not source.exists() or pq.ParquetFile(source).metadata.num_rows != options.rows:
        write_book(source, options.rows)
    took = map_book(source, out)
    print(f"{options.rows:,} contracts to {out} in {took:.1f} s")
    found = totals(out)
    print(f"  worth {found['value']:,.2f}")
    for greek, name in GREEKS.items():
        print(f"  {greek:6}{found[name]:18,.2f}")
    if options.workers:
        other = options.folder / "greeks-of-the-cluster.parquet"
        took, (worth, rho) = on_a_cluster(source, other, options.workers)
        same = other.read_bytes() == out.read_bytes()
        print(f"on {options.workers} workers in {took:.1f} s: "
              f"{'the same bytes' if same else 'other bytes'}")  # fmt: skip
        print(f"  worth {worth:,.2f}, rho {rho:,.2f}, added up there")
        found["same"] = float(same)
        found["worth"], found["rho"] = worth, rho
    return found


if __name__ == "__main__":
    main()
