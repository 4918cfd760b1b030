"""Time the doctor and anomaly mode against the passes they look at: `python benchmarks/doctor.py`.

Goals: the doctor at most twice a plain backward pass, anomaly mode at most twice the eager pass.
The network is the MLP of workloads.py; turns are taken round by round, and the best is shown.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from time import thread_time
from types import SimpleNamespace

from workloads import mlp

import retrograde as rg

ROUNDS = 100


def main() -> int:
    """Measure, print, and return 1 where a goal is missed."""
    workload = mlp()
    prepared = workload.prepare(SimpleNamespace(make=rg.Value, relu=rg.Value.relu, dot=rg.dot))
    root, parameters = prepared.run(), prepared.leaves

    def in_anomaly() -> None:
        with rg.anomaly():
            prepared.run().backward()

    def watched() -> None:
        for _ in range(10):
            root.backward()

    with rg.doctor.watch(parameters) as _:
        observed = _best({"ten watched passes": watched}, ROUNDS // 10)
    times = _best(
        {
            "forward": prepared.run,
            "backward": root.backward,
            "doctor": lambda: rg.doctor(root, parameters),
            "forward and backward": lambda: prepared.run().backward(),
            "the same under anomaly()": in_anomaly,
            "births, nothing found": lambda: rg.births(root),
        },
        ROUNDS,
    )
    times["a watched pass"] = observed["ten watched passes"] / 10
    print(f"MLP of {workload.operations:,} operations, {len(parameters)} parameters; milliseconds")
    for name, seconds in times.items():
        print(f"  {name:<26} {1e3 * seconds:8.3f}")
    goals = {
        "doctor / backward": (times["doctor"] / times["backward"], 2.0),
        "watched pass / backward, less the pass": (
            times["a watched pass"] / times["backward"] - 1.0, 2.0,
        ),
        "anomaly / eager pass": (
            times["the same under anomaly()"] / times["forward and backward"], 2.0,
        ),
    }  # fmt: skip
    for name, (ratio, most) in goals.items():
        print(f"  {name}: {ratio:.2f} of at most {most:g}: {'met' if ratio <= most else 'MISSED'}")
    return int(any(ratio > most for ratio, most in goals.values()))


def _best(things: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Seconds of this thread for each, in turns: the best of the rounds."""
    taken: dict[str, list[float]] = {name: [] for name in things}
    for run in things.values():
        run()
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        for name, run in things.items():
            began = thread_time()
            run()
            taken[name].append(thread_time() - began)
    return {name: min(all_of) for name, all_of in taken.items()}


if __name__ == "__main__":
    sys.exit(main())
