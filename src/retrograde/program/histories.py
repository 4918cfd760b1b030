"""What a trace asked and how it came to ask it: for comparing traces, however they are numbered.

Given the same answers so far, a function asks the same question next. So up to the guard where two
traces part, they have made what they ask about in the same way of the same inputs. What else they
made there is in a trace only where its own side used it.
"""

from __future__ import annotations

from struct import pack
from typing import Any

from .program import CAPTURED, CONSTANT
from .traces import Trace


class History:
    """The instructions of a trace, told by what they read instead of by ids."""

    def __init__(self, trace: Trace) -> None:
        self._program = program = trace.program
        captured = iter(trace.captured)
        self._given: dict[int, Any] = {}
        for index, given in program.inputs.items():
            if given.kind == CONSTANT:
                self._given[index] = pack("d", given.number)
            else:
                self._given[index] = (
                    ("leaf", id(next(captured))) if given.kind == CAPTURED else -1 - index
                )

    def asked(self, guards: int) -> Any:
        """The conditions of the first guards, and all that they were made of."""
        program = self._program
        conditions = [guard.condition for guard in program.guards[:guards]]
        needed = set(conditions)
        made = []
        for instruction in reversed(program.instructions):
            if not needed.isdisjoint(instruction.results):
                needed.update(instruction.args)
                made.append(instruction)
        names, told = dict(self._given), []
        for place, (op, results, args, site, _) in enumerate(reversed(made)):
            told.append((op, program.site(site), [names[arg] for arg in args]))
            names.update((result, (place, number)) for number, result in enumerate(results))
        return [names[condition] for condition in conditions], told
