"""``map_batches``: a compiled function over files with more rows than memory holds.

One batch is read while another is computed and a third one written, so that at most four are held,
and what is encoded of them. Batches depend on the source alone: a map that was broken off goes on
to the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import Any

from ..errors import MapError, MissingPackageError, RetrogradeError
from .journal import Draft
from .sinks import Sink
from .sources import source_of
from .work import Names, Work

BATCH_ROWS = 1 << 18
"""Rows that are computed together, and the rows of a row group."""

Progress = Callable[[int, "int | None"], None]
"""Told how many rows are done, and how many there are where that is known."""


def mapped(
    function: Any,
    source: Any,
    out: str | os.PathLike[str],
    *,
    wrt: Names | None,
    hessian: Names,
    keep: Names,
    nulls: str,
    batch_rows: int,
    threads: int | None,
    arguments: Mapping[str, Any] | None,
    restart: bool,
    scheduler: Any,
    separator: str | None = None,
    progress: Progress | None = None,
) -> int:
    """Map a function over the rows of a source; see ``Compiled.map_batches``."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingPackageError.of("pyarrow", "map_batches") from None
    if not isinstance(batch_rows, int) or batch_rows < 1:
        raise MapError.batch_rows(batch_rows)
    path = os.fspath(out)
    rows = source_of(source, separator)
    target = os.path.realpath(path)
    for file in rows.files:
        if os.path.realpath(file.path) == target:
            raise MapError.itself(path)
    work = Work(function, rows, wrt, hessian, keep, nulls, threads, arguments or {})
    schema = work.schema()
    about = {**work.about(), "batch_rows": batch_rows, "columns": schema.names}
    draft = Draft(path, about, restart)
    try:
        draft.begin(schema)
        if scheduler is None:
            encoded = _computed(work, draft, batch_rows)
        else:
            from .spread import computed_on

            encoded = computed_on(scheduler, work, draft, batch_rows)
        with closing(encoded):
            _written(encoded, draft, progress, rows.rows)
        draft.finish()
    except BaseException as error:
        kept = draft.leave()
        if kept and isinstance(error, RetrogradeError):
            error.args = (f"{error} {MapError.kept(kept, draft.partial)}", *error.args[1:])
        raise
    return draft.rows


Batch = tuple[Callable[[Sink], str], int]
"""How a batch is put into the file, and its rows."""


def _computed(work: Work, draft: Draft, size: int) -> Generator[Batch, None, None]:
    """The batches that are still to be written."""
    done = len(draft.lines)
    first = max(done - 1, 0) * size  # the last one is computed again, and compared
    with ThreadPoolExecutor(1, "retrograde-read") as reader:
        tables = work.source.batches(size, first)
        ahead: Future[Any] = reader.submit(next, tables, None)
        row = first
        while True:
            table = ahead.result()
            if table is None:
                return
            ahead = reader.submit(next, tables, None)
            results = work.results(table, row)
            row += table.num_rows
            if done:
                _compare(draft, draft.sink.encoded(results))
                done = 0
                continue
            yield partial(_put, results), results.num_rows


def _put(results: Any, sink: Sink) -> str:
    return sink.write(results)


def _compare(draft: Draft, encoded: Any) -> None:
    """The last batch that is there has to be what comes out now."""
    if not draft.sink.holds(encoded):
        raise MapError.changed(draft.path, draft.partial)


def _written(
    batches: Iterator[Batch],
    draft: Draft,
    progress: Progress | None,
    total: int | None,
) -> None:
    """Write batches in a thread of their own, while the next ones are computed."""
    done = draft.rows

    def write(put: Callable[[Sink], str], rows: int) -> int:
        draft.append(put, rows)
        return rows

    with ThreadPoolExecutor(1, "retrograde-write") as writer:
        last: Future[int] | None = None
        for put, rows in batches:
            if last is not None:
                done += last.result()
                if progress is not None:
                    progress(done, total)
            last = writer.submit(write, put, rows)
        if last is not None:
            done += last.result()
    if progress is not None:
        progress(done, total)
