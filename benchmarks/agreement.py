"""Before anything is timed: do all engines compute the same number and the same gradients?

The microgpt-style class is the yardstick because it is always there; a disagreement says only
that two engines differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engines import Engine, Microgpt
from workloads import Workload

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An engine whose root or gradients differ from the yardstick's on a workload."""

    engine: str
    workload: str
    error: float

    def __str__(self) -> str:
        return (
            f"{self.engine} disagrees on {self.workload}: "
            f"relative error {self.error:.1e}, {TOLERANCE:.0e} allowed"
        )


def disagreements(pairs: Iterable[tuple[Engine, Workload]]) -> list[Disagreement]:
    """Run each engine once on its workload and return those that differ from pure Python."""
    yardstick = Microgpt()
    yardstick.load()
    found = []
    for engine, workload in pairs:
        error = _error(engine, workload, yardstick)
        if not error <= TOLERANCE:  # written so that a NaN is a disagreement
            found.append(Disagreement(engine.title, workload.name, error))
    return found


def _error(engine: Engine, workload: Workload, yardstick: Engine) -> float:
    """The largest difference in the root and in the gradients, each relative to its scale."""
    data, gradients = _evaluate(engine, workload)
    expected_data, expected_gradients = _evaluate(yardstick, workload)
    error = abs(data - expected_data) / abs(expected_data)
    if engine.differentiates:
        scale = max(abs(gradient) for gradient in expected_gradients)
        differences = (abs(a - b) for a, b in zip(gradients, expected_gradients, strict=True))
        error += max(differences) / scale
    return error


def _evaluate(engine: Engine, workload: Workload) -> tuple[float, list[float]]:
    engine.begin()
    prepared = workload.prepare(engine)
    root = engine.forward(prepared.run)
    engine.backward(root)
    return engine.data(root), engine.gradients(prepared.leaves) if engine.differentiates else []
