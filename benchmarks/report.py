"""The tables of a run, drawn with rich: colours on a terminal, plain text in a pipe.

Only draws what results.py and goals.py hold; nothing is computed here but units.
"""

from __future__ import annotations

from collections.abc import Sequence

from goals import Goal
from measure import Timing
from results import Machine, Presence, Results
from rich import box
from rich.console import Console
from rich.table import Table

NOTHING = "-"
STYLES = {"met": "green", "missed": "red", "not measured": "dim"}
PIPE_WIDTH = 110


def print_report(results: Results, judged: Sequence[Goal]) -> None:
    """Print the whole run to standard output."""
    tables = [presence_table("engines", results.engines)]
    if results.mlp:
        tables.append(_timings(f"mlp: {_operations(results.mlp)}", results, results.mlp))
    if results.weighted_sum:
        title = f"weighted sum: {_operations(results.weighted_sum)}"
        tables.append(_timings(title, results, results.weighted_sum))
    if results.dot:
        title = "mlp through dot, by the operations of the scalar mlp"
        tables.append(_timings(title, results, results.dot))
    if results.chain:
        tables.append(_chain(results))
    if results.memory:
        tables.append(_memory(results))
    tables.append(goals_table(judged))
    print_tables(results.machine, tables)


def print_tables(machine: Machine, tables: Sequence[Table]) -> None:
    """Print where the numbers come from, and the tables, to standard output."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPE_WIDTH)
    console.print(f"Python {machine.python}, {machine.platform}, {machine.cores} cores")
    for table in tables:
        table.box = box.SIMPLE_HEAD if console.is_terminal else box.ASCII2
        table.title_justify = "left"
        console.print()
        console.print(table)


def presence_table(title: str, presences: Sequence[Presence]) -> Table:
    """Who was asked to take part, and who is absent and why."""
    table = Table(title=title)
    table.add_column(title.removesuffix("s"))
    table.add_column("version")
    table.add_column("here")
    for presence in presences:
        here = "present" if presence.absent is None else f"absent: {presence.absent}"
        table.add_row(presence.title, presence.version or NOTHING, here)
    return table


def _timings(title: str, results: Results, timings: Sequence[Timing]) -> Table:
    table = Table(title=f"{title}; ns an operation, median (minimum)")
    table.add_column("engine")
    for column in ("forward", "backward", "whole pass", "ms a pass", "passes"):
        table.add_column(column, justify="right")
    several = len({timing.workload for timing in timings}) > 1
    for timing in timings:
        spreads = (timing.forward, timing.backward, timing.whole)
        cells = [
            NOTHING if spread is None else f"{number(spread.median)} ({number(spread.minimum)})"
            for spread in spreads
        ]
        milliseconds = timing.whole.median * timing.operations / 1e6
        name = results.title(timing.engine) + (f", {timing.workload}" if several else "")
        table.add_row(name, *cells, f"{milliseconds:,.3f}", str(timing.passes))
    return table


def _chain(results: Results) -> Table:
    sizes = sorted({timing.operations for timing in results.chain})
    table = Table(title="chain: build, backward and free; ns a node, median (minimum)")
    table.add_column("engine")
    for size in sizes:
        table.add_column(f"{size:,}", justify="right")
    cells = {(t.engine, t.operations): t.whole for t in results.chain}
    for engine in dict.fromkeys(timing.engine for timing in results.chain):
        row = [cells.get((engine, size)) for size in sizes]
        table.add_row(
            results.title(engine),
            *(f"{number(it.median)} ({number(it.minimum)})" if it else NOTHING for it in row),
        )
    return table


def _memory(results: Results) -> Table:
    table = Table(title="memory: resident bytes an operation, and runs of the cycle collector")
    table.add_column("engine")
    for column in ("operations", "one input", "two inputs", "collector runs"):
        table.add_column(column, justify="right")
    for weight in results.memory:
        table.add_row(
            results.title(weight.engine),
            f"{weight.operations:,}",
            number(weight.one_input_bytes),
            number(weight.two_input_bytes),
            str(weight.collections),
        )
    return table


def goals_table(judged: Sequence[Goal]) -> Table:
    """Every goal with its verdict."""
    table = Table(title="goals, on the median; beside it the same of the minima")
    table.add_column("goal")
    for column in ("bound", "median", "minimum"):
        table.add_column(column, justify="right")
    table.add_column("verdict")
    for goal in judged:
        sign = ">=" if goal.at_least else "<="
        table.add_row(
            goal.title,
            f"{sign} {goal.bound:g} {goal.unit}".rstrip(),
            NOTHING if goal.measured is None else f"{goal.measured:,.2f}",
            NOTHING if goal.best is None else f"{goal.best:,.2f}",
            f"[{STYLES[goal.verdict]}]{goal.verdict}[/]",
        )
    return table


def _operations(timings: Sequence[Timing]) -> str:
    return f"{timings[0].operations:,} operations"


def number(value: float) -> str:
    """A few digits, as many as are worth reading."""
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"
