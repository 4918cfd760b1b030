"""Books of options, files of them, and a function that prices them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent


def price_of(rg: Any) -> Any:
    """A compiled function that goes two ways."""

    @rg.compile
    def price(S: Any, K: Any, sigma: Any, T: Any, r: Any = 0.03) -> Any:
        spread = sigma * rg.sqrt(T)
        up = (rg.log(S / K) + (r + 0.5 * sigma**2) * T) / spread
        if S > 2.0 * K:
            return S - K * rg.exp(-r * T)
        return S * below(up) - K * rg.exp(-r * T) * below(up - spread)

    def below(x: Any) -> Any:
        return 0.5 * (1.0 + rg.erf(x / 2.0**0.5))

    return price


def book(rows: int, seed: int = 0) -> Any:
    """Options as an Arrow table."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": np.arange(rows),
            "S": rng.uniform(50.0, 150.0, rows),
            "K": rng.uniform(50.0, 150.0, rows),
            "desk": pa.array(rng.choice(["rates", "fx"], rows)),
            "sigma": rng.uniform(0.1, 0.5, rows),
            "T": rng.uniform(0.1, 2.0, rows),
        }
    )


def written(table: Any, path: Any, **settings: Any) -> Any:
    """A table in a Parquet file."""
    pq.write_table(table, path, **settings)
    return path


def greeks(rg: Any, table: Any, wrt: Any = ("S", "sigma")) -> Any:
    """What comes of a table in memory."""
    numbers = table.select(["S", "K", "sigma", "T"])
    return price_of(rg).value_and_grad(numbers, wrt=wrt, r=0.03)
