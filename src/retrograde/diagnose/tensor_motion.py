"""How tensors have moved between passes: all their numbers compared with what they were.

Kept are two copies of every parameter, its numbers and its gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._shared.numerics import np
from ..passes.tensors import summary_of
from .motion import Change, Motion, Step
from .thresholds import Thresholds


class TensorMotion(Motion):
    """The steps of parameters among which are tensors; a value is an array of one number."""

    def __init__(
        self, parameters: Sequence[Any], group_of: Any, groups: int, thresholds: Thresholds
    ) -> None:
        super().__init__(len(parameters), group_of, groups, thresholds)
        self._parameters = parameters
        self._after: list[tuple[Any, Any]] | None = None

    def _now(self) -> list[tuple[Any, Any]]:
        # a tensor's own arrays are never written to: new numbers are a new array
        return [(np.array(p.data, ndmin=1), np.array(p.grad, ndmin=1)) for p in self._parameters]

    def keep(self) -> None:
        """Remember every number and every gradient."""
        self._after = self._now()

    def have_gradients(self, mine: Any) -> bool:
        """Whether any of these has a gradient now that is not 0."""
        return any(np.any(self._parameters[n].grad) for n in mine.tolist())

    def change(self) -> Change | None:
        """What has happened to the numbers since they were last looked at."""
        if self._after is None:
            return None
        kept, self._after = self._after, self._now()
        count = len(kept)
        moved, pulled, reset = (np.zeros(count, dtype=bool) for _ in range(3))
        sums, size = np.zeros((4, count)), 0
        for number, ((before, gradient), (data, grad)) in enumerate(zip(kept, self._after)):
            moved[number] = not np.array_equal(data, before, equal_nan=True)
            pulled[number], reset[number] = np.any(gradient), not np.any(grad)
            if moved[number]:
                with np.errstate(all="ignore"):
                    update = data - before
                    parts = (update * update, gradient**2, before * before, update * gradient)
                    sums[:, number] = [float(part.sum()) for part in parts]
                size += data.size
        if not moved.any():
            return Change(moved, pulled, reset)
        return Change(moved, pulled, reset, Step(*(self.by_group(each) for each in sums)), size)


def norms_of(parameters: Sequence[Any]) -> Any:
    """The norm of each parameter; NaN where a number is not finite."""
    return np.array([norm_of(p.data) for p in parameters])


def norm_of(numbers: Any) -> float:
    """The norm of an array, or the size of a number; NaN where it is not finite."""
    seen = summary_of(numbers)
    return float("nan") if seen.odd else seen.norm
