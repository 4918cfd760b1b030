"""Running a plan over rows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import GuardError
from ..value import Value, core
from .plan import Plan
from .program import Program

CHUNK = 1024
"""Rows whose reduction is one number; native/replay.h has the same."""


@dataclass
class Result:
    """What a run gives: one array a stored output, one number a reduced output."""

    stored: Any
    reduced: list[float]


def default_threads() -> int:
    """The cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def run(
    program: Program,
    plan: Plan,
    rows: int,
    columns: dict[int, tuple[int, int]],
    numbers: list[float],
    captured: list[Value],
    threads: int,
) -> Result:
    """Run a plan. ``columns`` and ``numbers`` are by id; nothing is returned on failure."""
    uniforms = plan.uniforms.copy()
    if captured:
        now = np.empty(len(captured))
        core.read_data(captured, now)
        uniforms[plan.captured] = now[:, None]
    for place, index in zip(plan.arguments, plan.argument_ids):
        uniforms[place] = numbers[index]
    chunks = max(-(-rows // CHUNK), 1)
    stored = np.empty((plan.stored, rows))
    address, width = stored.__array_interface__["data"][0], rows * 8
    sums = np.zeros((chunks, plan.reduced))
    failed = np.full(rows if plan.guards else 0, -1, dtype=np.int32)
    core.replay(
        plan.steps,
        plan.uniform_steps,
        plan.extras,
        uniforms,
        plan.slots,
        plan.block,
        rows,
        [columns[index] for index in plan.columns],
        [(address + place * width, 8) for place in range(plan.stored)],
        sums,
        failed,
        threads,
    )
    if plan.guards:
        _check_guards(program, failed)
    return Result(stored, _added(sums, rows))


def _added(sums: Any, rows: int) -> list[float]:
    """The chunks' sums added in their order."""
    total = [0.0] * sums.shape[1]
    if rows:
        for chunk in sums.tolist():
            total = [so_far + more for so_far, more in zip(total, chunk)]
    return total


def _check_guards(program: Program, failed: Any) -> None:
    rows = np.flatnonzero(failed >= 0)
    if not len(rows):
        return
    first = int(failed[rows].min())
    guard = program.guards[first]
    raise GuardError.of(rows, len(failed), program.site(guard.site), guard.outcome)
