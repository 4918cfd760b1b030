"""What a replay takes of memory beyond its inputs and outputs: the peak of a fresh process.

`extra_bytes` starts this file as a script in a process of its own. Only on Linux, whose kernel
tells the peak and lets it be set back.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from replay_peers import Retrograde
from replay_workloads import black_scholes_rows

WARM_UP_ROWS = 10_000
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True, slots=True)
class Extra:
    """Bytes beyond inputs and outputs, at their peak, for a number of rows."""

    rows: int
    bytes: int


def extra_bytes(rows: int) -> Extra | None:
    """What a replay of Black-Scholes over so many rows takes; None where it cannot be told."""
    if not CLEAR.exists():
        return None
    command = [sys.executable, __file__, str(rows)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Extra(rows, int(answer.stdout))


def _measure(count: int) -> int:
    engine = Retrograde()
    engine.load()
    engine.prepare(black_scholes_rows(WARM_UP_ROWS))()
    replay = engine.prepare(black_scholes_rows(count))
    CLEAR.write_text("5")  # the peak is now what is resident now
    before = _status("VmRSS")
    value, gradients = replay()
    outputs = sum(it.nbytes for it in (value, *gradients))
    return _status("VmHWM") - before - outputs


def _status(field: str) -> int:
    line = next(it for it in STATUS.read_text().splitlines() if it.startswith(field))
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    print(_measure(int(sys.argv[1])))
