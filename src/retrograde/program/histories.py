"""What a trace asked and how it came to ask it: for comparing traces, however they are numbered.

Given the same answers so far, a function asks the same question next. So up to the guard where two
traces part, they have made the same things of the same inputs.
"""

from __future__ import annotations

from struct import pack
from typing import Any

from .program import CAPTURED, CONSTANT
from .traces import Trace


class History:
    """The instructions of a trace, told by what they read instead of by ids."""

    def __init__(self, trace: Trace) -> None:
        program = trace.program
        captured = iter(trace.captured)
        names: dict[int, Any] = {}
        for index, given in program.inputs.items():
            if given.kind == CONSTANT:
                names[index] = pack("d", given.number)
            else:
                names[index] = (
                    ("leaf", id(next(captured))) if given.kind == CAPTURED else -1 - index
                )
        self._told: list[Any] = []
        self._ends: dict[int, int] = dict.fromkeys(names, 0)
        for place, (op, results, args, site, _) in enumerate(program.instructions):
            self._told.append((op, site, [names[arg] for arg in args]))
            names[results[0]] = place
            self._ends[results[0]] = place + 1
        self._guards = [guard.condition for guard in program.guards]
        self._names = names

    def asked(self, guards: int) -> Any:
        """The conditions of the first guards, and all that was made up to the last of them."""
        conditions = self._guards[:guards]
        last = max(self._ends[condition] for condition in conditions)
        return [self._names[condition] for condition in conditions], self._told[:last]
