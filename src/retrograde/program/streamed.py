"""Compiled functions over files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any


class OverFiles:
    """What compiled and loaded functions do with files."""

    def map_batches(
        self,
        source: Any,
        out: str | os.PathLike[str],
        /,
        *,
        wrt: str | Sequence[str] | None = None,
        hessian: str | Sequence[str] = (),
        keep: str | Sequence[str] = (),
        nulls: str = "error",
        arguments: Mapping[str, Any] | None = None,
        batch_rows: int = 1 << 18,
        threads: int | None = None,
        restart: bool = False,
        scheduler: Any = None,
        separator: str | None = None,
    ) -> int:
        """Write the values and gradients of all rows of some files to a file; how many rows.

        ``source`` is a Parquet, Arrow IPC or CSV file, a list of them, a folder, or a dataset of
        pyarrow's; columns are parameters by their names, and ``arguments`` are those that are no
        columns. ``out`` is a Parquet or Arrow IPC file with the columns ``value``, ``d_S`` for each
        name in ``wrt`` (all by default, ``()`` for none), ``d2_S_S`` for those in ``hessian``, and
        before them the columns of the source that are named by ``keep``.

        Rows are read, computed and written in batches of ``batch_rows``, so that memory does not
        grow with their number. ``out`` is put in place when it is whole. A map that was broken off
        goes on where it stopped when it is called again, and gives the same bytes; ``restart``
        begins anew. ``scheduler`` is a Dask client, or the address of a scheduler, whose workers
        see the same files. ``separator`` stands between the columns of CSV files: a comma, in files
        that end with .tsv a tab.

        >>> import tempfile
        >>> import numpy as np
        >>> import pyarrow as pa, pyarrow.parquet as pq
        >>> import retrograde as rg
        >>> area = rg.compile(lambda a, b: a * b)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rows, out = f"{folder}/rows.parquet", f"{folder}/out.parquet"
        ...     pq.write_table(pa.table({"a": [1.0, 2.0], "b": [3.0, 4.0], "id": [7, 8]}), rows)
        ...     count = area.map_batches(rows, out, wrt="a", keep="id")
        ...     count, pq.read_table(out).to_pydict()
        (2, {'id': [7, 8], 'value': [3.0, 8.0], 'd_a': [3.0, 4.0]})
        """
        from ..streams.mapping import mapped

        return mapped(
            self,
            source,
            out,
            wrt=wrt,
            hessian=hessian,
            keep=keep,
            nulls=nulls,
            batch_rows=batch_rows,
            threads=threads,
            arguments=arguments,
            restart=restart,
            scheduler=scheduler,
            separator=separator,
        )
