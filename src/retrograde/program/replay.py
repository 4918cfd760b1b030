"""Running plans over rows: one call for any number of plans, each over rows of its own."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..value import Value, core
from .executor import executor
from .interpreter import CHUNK as CHUNK
from .loops import Rolled, expand
from .plan import Plan
from .program import ROW, Program

if TYPE_CHECKING:
    from .._shared.cores import PlanRows

_NO_INDEX = array("q")


@dataclass
class Ready:
    """A program laid out: its plan, and which of a call's columns it reads.

    The columns of a call are those of its arguments, then the seeds. ``code`` is where the executor
    keeps what it makes of the plan.
    """

    program: Program
    plan: Plan
    columns: array[int]
    code: list[Any] = field(default_factory=lambda: [None] * 4)
    loops: Rolled | None = None
    stages: Any = None
    """How it is run where it calls Python: see ``staged.py``."""
    arguments: int = 0
    """How many columns of a call are those of its arguments."""

    @property
    def rolled(self) -> Rolled:
        """The program, its loops as loops where they were found."""
        return self.loops or Rolled.of(self.program)

    @property
    def written(self) -> Program:
        """The program with its loops written out."""
        return self.program if self.loops is None else expand(self.loops)

    @classmethod
    def of(cls, program: Program, plan: Plan, arguments: int) -> Ready:
        """A program and its plan, with the columns numbered as in a call."""
        ready = cls.placed(program, plan, cls.positions(program, arguments))
        ready.arguments = arguments
        return ready

    @staticmethod
    def positions(program: Program, arguments: int) -> dict[int, int]:
        """The columns as a call numbers them: seeds come after the arguments, in their order."""
        position = {i: i for i, given in program.inputs.items() if given.kind == ROW}
        for i, given in program.inputs.items():
            if given.kind == "seed":
                position[i] = arguments + given.column
        return position

    @classmethod
    def placed(cls, program: Program, plan: Plan, position: dict[int, int]) -> Ready:
        """A program and its plan, with the column of every row input."""
        return cls(program, plan, array("I", [position[i] for i in plan.columns]))


@dataclass
class Part:
    """A plan over some rows of a call: all ``rows`` of them, or those in ``index``.

    After the run ``sums`` has a row a chunk, and ``failed`` the first failed guard of each row.
    """

    ready: Ready
    rows: int
    index: Any
    uniforms: Any
    sums: Any
    failed: Any
    numbers: Sequence[float] = ()
    captured: list[Value] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        ready: Ready,
        rows: int,
        numbers: Sequence[float],
        captured: list[Value],
        index: Any = None,
    ) -> Part:
        """``numbers`` are the arguments by id; captured leaves are read now."""
        plan = ready.plan
        uniforms = plan.uniforms.copy()
        if captured:
            core.read_data(captured, uniforms[: len(captured)])
        for place, argument in zip(plan.arguments, plan.argument_ids):
            uniforms[place] = numbers[argument]
        sums = np.zeros((max(-(-rows // CHUNK), 1), plan.reduced))
        failed = np.full(rows if plan.guards else 0, -1, dtype=np.int32)
        return cls(ready, rows, index, uniforms, sums, failed, numbers, captured)

    @property
    def any_failed(self) -> bool:
        """Whether a guard failed on any row."""
        return bool(len(self.failed)) and bool((self.failed >= 0).any())

    def native(self) -> PlanRows:
        """What the executor takes."""
        plan = self.ready.plan
        return (
            plan.steps,
            plan.uniform_steps,
            plan.extras,
            self.ready.columns,
            self.uniforms,
            plan.places,
            plan.slots,
            self.rows,
            _NO_INDEX if self.index is None else self.index,
            self.sums,
            self.failed,
            self.ready.code,
        )


def run(parts: Sequence[Part], inputs: Any, outputs: Any, threads: int) -> None:
    """Run parts together. ``inputs`` and ``outputs`` are arrays of (address, stride) in bytes."""
    plain = [part for part in parts if part.ready.stages is None]
    executor.run(plain, inputs, outputs, threads)
    if len(plain) < len(parts):
        for part in parts:
            if part.ready.stages is not None:
                part.ready.stages.run(part, inputs, outputs, threads)


def added(sums: Any) -> Any:
    """The chunks' sums added in their order."""
    if len(sums) == 1:
        return sums[0] + 0.0
    total = np.zeros(sums.shape[1])
    with np.errstate(all="ignore"):
        for chunk in sums:
            total += chunk
    return total
