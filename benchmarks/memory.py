"""What a recorded operation weighs: growth of the resident memory of a fresh process.

`bytes_per_operation` starts this file as a script in a process of its own, where no memory freed
earlier can be used again and hide the growth.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from engines import Engine, all_engines
from workloads import Workload, chain, chain_of_pairs

GRAPHS = {"one": chain, "two": chain_of_pairs}
"""The inputs of each operation, in words, and the workload whose graph is weighed."""

WARM_UP_OPERATIONS = 1_000


def bytes_per_operation(engine: Engine, inputs: str, operations: int) -> float:
    """Bytes for each operation of a graph whose operations have `inputs` inputs."""
    command = [sys.executable, __file__, engine.key, inputs, str(operations)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return float(answer.stdout)


def _weigh(engine: Engine, workload: Workload, warm_up: Workload) -> float:
    reason = engine.available()
    if reason is not None:
        raise SystemExit(f"{engine.title} is absent: {reason}")
    engine.begin()
    kept = [_record(engine, warm_up)]
    before = _resident_bytes()
    kept.append(_record(engine, workload))
    return (_resident_bytes() - before) / workload.operations


def _record(engine: Engine, workload: Workload) -> object:
    prepared = workload.prepare(engine)
    return prepared.leaves, engine.forward(prepared.run)


def _resident_bytes() -> int:
    """Resident memory now, or where the system does not tell, its highest so far."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    import resource  # here because not every system has it

    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return highest if sys.platform == "darwin" else highest * 1024


def main() -> None:
    key, inputs, operations = sys.argv[1:]
    engine = next(engine for engine in all_engines() if engine.key == key)
    graph = GRAPHS[inputs]
    print(_weigh(engine, graph(int(operations)), graph(WARM_UP_OPERATIONS)))


if __name__ == "__main__":
    main()
