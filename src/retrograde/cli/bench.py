"""Time rg.compile against the peers that are installed, once all of them agree.

Two programs in plain Python on values, each with five sensitivities: a Black-Scholes call over
rows, and an Asian call over paths of 252 steps. Engines take turns, so that a busy moment falls on
all of them, and each figure is the median of its calls.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from .. import __version__
from .._text.console import Row, print_line, print_rows
from .._text.terminal import LateBar, console
from ..value import core_name
from ._bench_peers import COMPILED, PEERS, Engine, Ready, compiled_by
from ._bench_programs import PROGRAMS, Array, Inputs, Program
from .info import simd_level

if TYPE_CHECKING:
    from rich.console import Console

TOLERANCE = 1e-9
BACKENDS = ("cc", "cuda")
ROUNDS, QUICK_ROUNDS = 15, 5
TURN_SECONDS = 0.05
MOST_CALLS_A_TURN = 20

QUIET, STRONG, GOOD = "dim", "bold", "bold green"
INDENT = 2
_ONE_THREAD = "NumPy and eager values run on one thread, whatever --threads says."


class Timing(TypedDict):
    """One engine on one program: medians and the best, and the first call, which compiles.

    ``difference`` is how far its values and gradients are from those of rg.compile, relative to
    the largest number of each.
    """

    engine: str
    how: str
    version: str
    threads: int
    rows: int
    calls: int
    ns_a_row: float
    best_ns_a_row: float
    times_retrograde: float
    first_call_s: float
    difference: float


class Absent(TypedDict):
    """An engine that cannot run here."""

    engine: str
    reason: str


class Table(TypedDict):
    """One program on every engine."""

    program: str
    title: str
    unit: str
    rows: int
    sensitivities: list[str]
    engines: list[Timing]
    absent: list[Absent]
    largest_difference: float


class Bench(TypedDict):
    """What was run, and how long it took."""

    retrograde: str
    core: str
    simd: str | None
    threads: int
    rounds: int
    tolerance: float
    programs: list[Table]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--quick", action="store_true", help="fewer rows and fewer rounds")
    parser.add_argument("--rows", type=_count, metavar="N", help=argparse.SUPPRESS)
    parser.add_argument(
        "--backend",
        action="append",
        choices=BACKENDS,
        default=[],
        help="also time rg.compile with this backend: cc or cuda; may be repeated",
    )
    parser.add_argument(
        "--threads",
        type=_count,
        default=1,
        metavar="N",
        help="threads for each engine that can use them; 1 unless told",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least 1")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Run the command: 1 where an engine disagrees with rg.compile; nothing is timed then."""
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    with LateBar("timing") as bar:
        engines = (COMPILED, *map(compiled_by, dict.fromkeys(options.backend)), *PEERS)
        steps = _Steps(bar, len(PROGRAMS) * len(engines) * (1 + rounds))
        contests = [
            _prepared(program, engines, _rows_of(program, options), options.threads, steps)
            for program in PROGRAMS
        ]
        wrong = [text for contest in contests for text in _disagreements(contest)]
        if not wrong:
            for contest in contests:
                _take_turns(contest, rounds, steps)
    if wrong:
        print("\n".join(f"retrograde: {text}" for text in wrong), file=sys.stderr)
        return 1
    measured: Bench = {
        "retrograde": __version__,
        "core": core_name,
        "simd": simd_level(),
        "threads": options.threads,
        "rounds": rounds,
        "tolerance": TOLERANCE,
        "programs": [_table(contest) for contest in contests],
    }
    if options.json:
        print(json.dumps(measured, indent=2))
    else:
        _show(measured)
    return 0


def _rows_of(program: Program, options: argparse.Namespace) -> int:
    if options.rows is not None:
        return max(1, int(options.rows) // program.share)
    return program.quick_rows if options.quick else program.rows


# ---- measuring --------------------------------------------------------------------------------


@dataclass
class _Steps:
    """Counts what is done, for the bar."""

    report: Callable[[int, int], None]
    total: int
    done: int = 0

    def advance(self, steps: int = 1) -> None:
        self.done += steps
        self.report(self.done, self.total)


@dataclass
class _Entry:
    """An engine on a program, its results of the first call, and its times since."""

    engine: Engine
    ready: Ready
    columns: list[Array]
    first_call_s: float
    difference: float = 0.0
    seconds: list[float] = field(default_factory=list)


@dataclass
class _Contest:
    """All engines on one program; the first is rg.compile, which the others are held against."""

    program: Program
    rows: int
    entries: list[_Entry] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)


def _prepared(
    program: Program, engines: Sequence[Engine], rows: int, threads: int, steps: _Steps
) -> _Contest:
    """Call every engine on the program once, and compare what it finds."""
    contest = _Contest(program, rows)
    inputs = program.inputs(rows)
    for engine in engines:
        try:
            entry = _entered(engine, program, inputs, threads)
        except ModuleNotFoundError as error:
            contest.absent.append({"engine": engine.name, "reason": _reason(engine, error)})
        else:
            contest.entries.append(entry)
            entry.difference = _difference(entry.columns, contest.entries[0].columns)
        steps.advance()
    return contest


def _entered(engine: Engine, program: Program, inputs: Inputs, threads: int) -> _Entry:
    ready = engine.prepare(program, inputs, threads)
    first, result = _timed(ready.call)
    return _Entry(engine, ready, ready.columns(result), first)


def _reason(engine: Engine, error: ModuleNotFoundError) -> str:
    missing = (error.name or engine.package).partition(".")[0]
    return "not installed" if missing == engine.package else f"{missing} not installed"


def _difference(found: Sequence[Array], expected: Sequence[Array]) -> float:
    """The largest difference in any column, relative to the largest number of that column."""
    apart = []
    for column, reference in zip(found, expected):
        same_rows = reference[: len(column)]
        scale = np.abs(same_rows).max() or 1.0
        apart.append(np.abs(column - same_rows).max() / scale)
    return float(np.max(apart))  # of which NaN is the largest


def _disagreements(contest: _Contest) -> list[str]:
    return [
        f"{entry.engine.name} ({entry.engine.how}) disagrees with rg.compile on the "
        f"{contest.program.title}: {entry.difference:.1e} apart relative to scale, "
        f"{TOLERANCE:.0e} allowed. Nothing was timed."
        for entry in contest.entries
        if not entry.difference <= TOLERANCE  # written so that a NaN is a disagreement
    ]


def _take_turns(contest: _Contest, rounds: int, steps: _Steps) -> None:
    calls = [_calls_a_turn(entry) for entry in contest.entries]
    for _ in range(rounds):
        for entry, count in zip(contest.entries, calls):
            entry.seconds += [_timed(entry.ready.call)[0] for _ in range(count)]
            steps.advance()
        steps.advance(len(contest.absent))


def _calls_a_turn(entry: _Entry) -> int:
    """One call off the record, which tells how many fit into a turn."""
    seconds, _ = _timed(entry.ready.call)
    return max(1, min(MOST_CALLS_A_TURN, int(TURN_SECONDS / seconds)))


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = perf_counter()
    result = call()
    return perf_counter() - start, result


def _table(contest: _Contest) -> Table:
    program, ours = contest.program, contest.entries[0]
    return {
        "program": program.key,
        "title": program.title,
        "unit": program.unit,
        "rows": contest.rows,
        "sensitivities": list(program.sensitivities),
        "engines": [_timing(entry, _ns_a_row(ours)) for entry in contest.entries],
        "absent": contest.absent,
        "largest_difference": max(entry.difference for entry in contest.entries),
    }


def _timing(entry: _Entry, ours_ns: float) -> Timing:
    return {
        "engine": entry.engine.name,
        "how": entry.engine.how,
        "version": _version(entry.engine.package),
        "threads": entry.ready.threads,
        "rows": entry.ready.rows,
        "calls": len(entry.seconds),
        "ns_a_row": _ns_a_row(entry),
        "best_ns_a_row": 1e9 * min(entry.seconds) / entry.ready.rows,
        "times_retrograde": _ns_a_row(entry) / ours_ns,
        "first_call_s": entry.first_call_s,
        "difference": entry.difference,
    }


def _ns_a_row(entry: _Entry) -> float:
    return 1e9 * statistics.median(entry.seconds) / entry.ready.rows


def _version(package: str) -> str:
    # retrograde may run from a checkout, where nothing has installed its metadata.
    return __version__ if package == "retrograde" else metadata.version(package)


# ---- showing ----------------------------------------------------------------------------------


def _show(measured: Bench) -> None:
    page = console()
    threads = f"{measured['threads']} thread{'s' if measured['threads'] > 1 else ''}"
    kernels = measured["simd"] or "reference core"
    facts = f"{kernels} · {threads} · medians of {measured['rounds']} rounds"
    print_line(page, ("retrograde", STRONG), (f" {measured['retrograde']} · {facts}", QUIET))
    for table in measured["programs"]:
        page.print()
        _show_table(page, table)
    if measured["threads"] > 1:
        page.print()
        print_line(page, (_ONE_THREAD, QUIET), indent=INDENT)


def _show_table(page: Console, table: Table) -> None:
    unit, wanted = table["unit"], len(table["sensitivities"])
    size = f"{table['rows']:,} {unit}s, the value and {wanted} sensitivities of each"
    print_line(page, (table["title"], STRONG), (f"  {size}", QUIET), indent=INDENT)
    titles = ("", "", f"  ns/{unit}", "  times retrograde", "  first call")
    rows: list[Row] = [
        tuple((title, QUIET) for title in titles),
        *(_timing_row(it, table) for it in table["engines"]),
        *(
            ((it["engine"], QUIET), (it["reason"], QUIET), ("", ""), ("", ""), ("", ""))
            for it in table["absent"]
        ),
    ]
    print_rows(page, rows, "llrrr", 2 * INDENT)
    apart = f"all agree to within {table['largest_difference']:.0e} of scale"
    print_line(page, (apart, QUIET), indent=2 * INDENT)


def _timing_row(it: Timing, table: Table) -> Row:
    style = GOOD if it["how"] == COMPILED.how else ""
    few = "" if it["rows"] == table["rows"] else f", {it['rows']} {table['unit']}s"
    # The first line has said which retrograde this is; builds such as 2.13.0+cpu are in the data.
    version = "" if it["engine"] == "retrograde" else it["version"].partition("+")[0]
    return (
        (f"{it['engine']} {version} ", style),
        (f"{it['how']}{few}", style),
        (_figure(it["ns_a_row"]), style),
        (_figure(it["times_retrograde"]), style),
        (f"{it['first_call_s']:.3f} s", style),
    )


def _figure(number: float) -> str:
    return f"{number:.1f}" if number < 100 else f"{number:,.0f}"
