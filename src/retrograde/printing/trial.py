"""Rows made up on which what runs a plan is held to the interpreter, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import TakeError
from ..program.executor import executor
from ..program.program import CAPTURED, SEED
from ..program.replay import CHUNK, Part, Ready

TEST_ROWS = 37

Draw = Callable[[tuple[int, ...]], Any]
"""Makes up numbers."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A plan, and what it is given: columns, uniform numbers, captured ones."""

    ready: Ready
    rows: Any
    numbers: list[float]
    captured: Any

    def plain(self) -> list[Any]:
        """What the interpreter makes of them: outputs, sums, failed guards."""
        plain = Ready(self.ready.program, self.ready.plan, self.ready.columns)
        plain.loops, plain.arguments = self.ready.loops, self.ready.arguments
        return self.run(executor.run, plain)

    def run(self, run: Callable[..., None], ready: Ready | None = None) -> list[Any]:
        """What something else makes of them."""
        ready = ready or self.ready
        part = Part.of(ready, TEST_ROWS, self.numbers, [])
        part.uniforms[: len(self.captured)] = self.captured
        stored = np.zeros((TEST_ROWS, max(ready.plan.stored, 1)))
        run([part], _table(self.rows), _table(stored), 1)
        return [stored, part.sums, part.failed.astype(np.float64)]


def made_up(ready: Ready) -> Trial:
    """Rows for a plan: any numbers, large ones, or whole ones where some of them pick elements; the
    first of which not all leave the trace."""
    draw = np.random.default_rng(7)
    found: Trial | None = None
    for numbers in (_any(draw), _large(draw), _whole(draw), np.zeros):
        trial = _drawn(ready, numbers)
        try:
            stayed = (trial.plain()[-1] < 0.0).any()
        except TakeError:
            continue
        if stayed or not ready.program.guards:
            return trial
        found = found or trial
    return found or trial


def _any(draw: Any) -> Draw:
    def numbers(shape: tuple[int, ...]) -> Any:
        found = draw.uniform(0.25, 2.0, shape)
        if len(shape) > 1:
            found[TEST_ROWS // 2 :] *= draw.choice((-1.0, 1.0), found[TEST_ROWS // 2 :].shape)
        return found

    return numbers


def _large(draw: Any) -> Draw:
    return lambda shape: draw.uniform(-200.0, 200.0, shape)


def _whole(draw: Any) -> Draw:
    return lambda shape: draw.integers(0, 2, shape).astype(np.float64)


def _drawn(ready: Ready, numbers: Draw) -> Trial:
    assert TEST_ROWS <= CHUNK
    given, arguments = ready.program.inputs.values(), ready.arguments
    seeds = [arguments + each.column + 1 for each in given if each.kind == SEED]
    rows = numbers((TEST_ROWS, max([arguments, 1, *seeds])))
    captured = numbers((sum(each.kind == CAPTURED for each in given),))
    return Trial(ready, rows, numbers((arguments + 1,)).tolist(), captured)


def differences(one: list[Any], two: list[Any]) -> bool:
    """Whether two runs differ in any bit; nothing is asked of rows that left the trace, nor of sums
    over nothing but such rows."""
    left = one[-1] >= 0
    if left.size:
        one[0][left] = two[0][left] = 0.0
        if left.all():
            one[1][:] = two[1][:] = 0.0
    for a, b in zip(one, two):
        same = (a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))
        if not same.all():
            return True
    return False


def _table(block: Any) -> Any:
    """(address, stride) of the columns of an array of rows."""
    start, down = block.__array_interface__["data"][0], block.strides[0]
    return np.array([(start + 8 * i, down) for i in range(block.shape[1])], dtype=np.int64)
