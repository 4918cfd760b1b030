"""How values have moved between passes: every number compared with what it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._shared.numerics import np
from ..value import Value, core
from .motion import Change, Motion, Step
from .thresholds import Thresholds


class ValueMotion(Motion):
    """The steps of parameters that are values."""

    def __init__(
        self, values: Sequence[Value], group_of: Any, groups: int, thresholds: Thresholds
    ) -> None:
        super().__init__(len(values), group_of, groups, thresholds)
        self.values = list(values)
        self._after: tuple[Any, Any] | None = None

    def now(self) -> tuple[Any, Any]:
        """The parameters and their gradients as they are."""
        data, grads = np.empty(len(self.values)), np.empty(len(self.values))
        core.read_data(self.values, data)
        core.read_grad(self.values, grads)
        return data, grads

    @property
    def after(self) -> tuple[Any, Any] | None:
        """Parameters and gradients after the last pass, or when last looked at."""
        return self._after

    def keep(self) -> None:
        """Remember every number and every gradient."""
        self._after = self.now()

    def have_gradients(self, mine: Any) -> bool:
        """Whether any of these values has a gradient now that is not 0."""
        return bool((self.now()[1][mine] != 0.0).any())

    def adopt(self, values: Sequence[Value], anew: Any, number: int) -> None:
        """Other values stand for the parameters, those at ``anew`` since pass ``number``; their
        gradients were 0 when they were made."""
        self.values = list(values)
        assert self._after is not None
        grads = self._after[1].copy()
        grads[anew] = 0.0
        self.take(number, self._change(self.now()[0], grads))

    def change(self) -> Change | None:
        """What has happened to the numbers since they were last looked at."""
        return None if self._after is None else self._change(*self.now())

    def _change(self, data: Any, grads: Any) -> Change:
        assert self._after is not None
        before, gradient = self._after
        moved = (data != before) & ~(np.isnan(data) & np.isnan(before))
        self._after = data, grads
        pulled = gradient != 0.0
        if not moved.any():
            return Change(moved, pulled, grads == 0.0)
        with np.errstate(all="ignore"):
            update = np.where(moved, data - before, 0.0)
            gradient, weight = np.where(moved, gradient, 0.0), np.where(moved, before, 0.0)
            step = Step(*(self.by_group(x) for x in (
                update * update, gradient * gradient, weight * weight, update * gradient,
            )))  # fmt: skip
        return Change(moved, pulled, grads == 0.0, step, int(moved.sum()))
