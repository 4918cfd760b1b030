"""Time eager values against their peers: `python benchmarks/engine.py`, see README.md.

This file chooses what to run and in which order. Programs live in workloads.py, peers in
engines.py, the clock in measure.py, promises in goals.py, tables in report.py.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agreement import disagreements
from engines import Engine, Floats, Microgpt, Retrograde, all_engines
from goals import Goal, goals
from measure import Effort, count_collections, steps_of, time_in_turns
from memory import bytes_per_operation
from progress import progress
from report import print_report
from results import Machine, Presence, Results, Weight
from workloads import Workload, chain, mlp, mlp_through_dot, weighted_sum

SECTIONS = ("mlp", "weighted-sum", "dot", "chain", "memory")

Pairs = list[tuple[Engine, Workload]]


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to measure."""

    effort: Effort
    chain_sizes: tuple[int, ...]
    longest_peer_chain: int
    weighed_operations: int


FULL = Plan(Effort(7, 100_000_000), (10**3, 10**4, 10**5, 10**6, 10**7), 10**6, 10**6)
QUICK = Plan(Effort(3, 20_000_000), (10**3, 10**4, 10**5, 10**6), 10**4, 10**5)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    options = _parse(arguments)
    engines = all_engines()
    presences = [
        Presence(engine.key, engine.title, engine.version(), engine.available())
        for engine in engines
    ]
    present = [engine for engine, it in zip(engines, presences, strict=True) if it.absent is None]
    machine = Machine(platform.python_version(), platform.platform(), os.cpu_count() or 1)
    results = Results(machine, options.quick, presences)
    plan = QUICK if options.quick else FULL
    pairs = _pairs(present, options.only, plan)

    found = disagreements(_smallest(pairs))
    if found:
        print(*found, sep="\n", file=sys.stderr)
        return 1

    # What the imports left behind is not the collector's business in what follows.
    gc.collect()
    gc.freeze()
    _measure(results, pairs, present, options.only, plan)
    judged = goals(results)
    if options.json:
        print(json.dumps(_as_json(results, judged), indent=2))
    else:
        print_report(results, judged)
    return int(options.strict and any(goal.met is False for goal in judged))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time eager values against their peers.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, shorter chains")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a goal is missed")
    parser.add_argument(
        "--only",
        type=_sections,
        default=SECTIONS,
        metavar="SECTION,...",
        help=f"some of {', '.join(SECTIONS)}",
    )
    return parser.parse_args(arguments)


def _sections(text: str) -> tuple[str, ...]:
    chosen = tuple(text.split(","))
    for name in chosen:
        if name not in SECTIONS:
            raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(SECTIONS)}")
    return chosen


def _pairs(present: list[Engine], only: Sequence[str], plan: Plan) -> dict[str, Pairs]:
    """Which engine runs which workload, for every timed section that was asked for."""
    pairs: dict[str, Pairs] = {}
    if "mlp" in only:
        whole_mlp = mlp()
        pairs["mlp"] = [(engine, whole_mlp) for engine in present]
    if "weighted-sum" in only:
        sum_of_products = weighted_sum()
        pairs["weighted_sum"] = [(engine, sum_of_products) for engine in present]
    if "dot" in only:
        pairs["dot"] = _dot_pairs(present)
    if "chain" in only:
        pairs["chain"] = [
            (engine, chain(size))
            for size in plan.chain_sizes
            for engine in present
            if size <= _longest_chain(engine, plan)
        ]
    return pairs


def _dot_pairs(present: list[Engine]) -> Pairs:
    """Engines whose dot is one node, against pure Python and floats scalar by scalar."""
    scalars, fused = mlp(), mlp_through_dot()
    pairs: Pairs = [(engine, fused) for engine in present if engine.fuses_dot]
    pairs += [(engine, scalars) for engine in present if isinstance(engine, Microgpt | Floats)]
    return pairs


def _longest_chain(engine: Engine, plan: Plan) -> int:
    if isinstance(engine, Floats) or type(engine) is Retrograde:
        return engine.longest_chain
    return min(engine.longest_chain, plan.longest_peer_chain)


def _smallest(pairs: dict[str, Pairs]) -> Iterator[tuple[Engine, Workload]]:
    """Each engine on each workload once, chains at their shortest."""
    seen = set()
    for engine, workload in (pair for section in pairs.values() for pair in section):
        if (engine.key, workload.name) not in seen:
            seen.add((engine.key, workload.name))
            yield engine, workload


def _measure(
    results: Results,
    pairs: dict[str, Pairs],
    present: list[Engine],
    only: Sequence[str],
    plan: Plan,
) -> None:
    """Fill in the sections of `results`."""
    with progress() as bar:
        for section, entries in pairs.items():
            advance = bar(section.replace("_", " "), steps_of(entries, plan.effort))
            setattr(results, section, time_in_turns(entries, plan.effort, advance))
        if "memory" in only:
            weighed = [engine for engine in present if engine.differentiates]
            advance = bar("memory", len(weighed))
            for engine in weighed:
                results.memory.append(_weigh(engine, plan))
                advance()


def _weigh(engine: Engine, plan: Plan) -> Weight:
    operations = min(plan.weighed_operations, engine.longest_chain)
    watched = min(plan.weighed_operations, _longest_chain(engine, plan))
    return Weight(
        engine=engine.key,
        operations=operations,
        one_input_bytes=bytes_per_operation(engine, "one", operations),
        two_input_bytes=bytes_per_operation(engine, "two", operations),
        collections=count_collections(engine, mlp()) + count_collections(engine, chain(watched)),
    )


def _as_json(results: Results, judged: Sequence[Goal]) -> dict[str, object]:
    verdicts = [{**dataclasses.asdict(goal), "verdict": goal.verdict} for goal in judged]
    return {**dataclasses.asdict(results), "goals": verdicts}


if __name__ == "__main__":
    sys.exit(main())
