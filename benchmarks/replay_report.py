"""The tables of a run of replays. Only draws what replay_goals.py holds."""

from __future__ import annotations

from collections.abc import Sequence

from goals import Goal
from replay_goals import LIMIT, ReplayResults
from replay_measure import ReplayTiming
from report import NOTHING, goals_table, number, presence_table, print_tables
from rich.table import Table


def print_replay_report(results: ReplayResults, judged: Sequence[Goal]) -> None:
    """Print the whole run to standard output."""
    tables = [presence_table("peers", results.peers)]
    tables += [_replays(results, name) for name in results.titles if results.of(name)]
    if results.threads:
        tables.append(_threads(results))
    if results.recordings:
        tables.append(_recordings(results))
    if results.memory:
        tables.append(_memory(results))
    if results.failures:
        tables.append(_failures(results))
    tables.append(goals_table(judged))
    print_tables(results.machine, tables)


def _replays(results: ReplayResults, workload: str) -> Table:
    timings = results.of(workload)
    limit = timings.get(LIMIT)
    count = next(iter(timings.values())).rows
    clock = "; processor time" if results.processor_time else ""
    table = Table(title=f"{results.titles[workload]}; {count:,} rows, median (minimum){clock}")
    table.add_column("peer")
    for column in ("ns a row", "x tuned C", "first call, s", "calls", "cores", "error"):
        table.add_column(column, justify="right")
    for key, it in timings.items():
        table.add_row(
            results.title(key),
            _spread(it),
            _times(it, limit),
            f"{it.first_call:.2f}",
            str(it.calls),
            f"{it.cores:.2f}",
            f"{it.error:.0e}",
        )
    return table


def _threads(results: ReplayResults) -> Table:
    table = Table(title="retrograde with one and two threads; ns a row, median (minimum)")
    table.add_column("workload")
    for column in ("threads", "ns a row", "cores"):
        table.add_column(column, justify="right")
    for it in results.threads:
        threads = "2" if it.peer.endswith("-2") else "1"
        table.add_row(it.workload, threads, _spread(it), f"{it.cores:.2f}")
    return table


def _recordings(results: ReplayResults) -> Table:
    table = Table(title="recording, adjoint and passes, and a call on a few rows")
    for column in ("operations", "seconds", "us an operation"):
        table.add_column(column, justify="right")
    for it in results.recordings:
        cost = number(it.microseconds_an_operation)
        table.add_row(f"{it.operations:,}", f"{it.seconds:.3f}", cost)
    return table


def _memory(results: ReplayResults) -> Table:
    table = Table(title="memory beyond inputs and outputs, at its peak")
    for column in ("rows", "MB"):
        table.add_column(column, justify="right")
    for it in results.memory:
        table.add_row(f"{it.rows:,}", f"{it.bytes / 1e6:.1f}")
    return table


def _failures(results: ReplayResults) -> Table:
    table = Table(title="did not get through")
    for column in ("peer", "workload", "why"):
        table.add_column(column)
    for it in results.failures:
        table.add_row(results.title(it.peer), it.workload, it.reason)
    return table


def _spread(it: ReplayTiming) -> str:
    return f"{number(it.a_row.median)} ({number(it.a_row.minimum)})"


def _times(it: ReplayTiming, limit: ReplayTiming | None) -> str:
    if limit is None:
        return NOTHING
    median = it.a_row.median / limit.a_row.median
    return f"{median:.2f} ({it.a_row.minimum / limit.a_row.minimum:.2f})"
