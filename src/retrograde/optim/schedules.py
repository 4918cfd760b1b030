"""Learning-rate schedules: the rate of each group as a function of how many steps were taken.

Names and formulas are PyTorch's. Each is a closed formula of the step, so a schedule can be put at
any step, and no rounding gathers; of two on one optimizer, the last to step decides (join them with
:class:`SequentialLR`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from math import cos, pi
from typing import Any

from ..errors import SettingError, StateError
from .optimizer import Optimizer


class Schedule:
    """The base: subclasses say the rate ``at`` a step for a group that began with ``base``.

    >>> import retrograde as rg
    >>> optimizer = rg.optim.SGD([rg.Value(1.0)], lr=1.0)
    >>> schedule = rg.optim.ExponentialLR(optimizer, gamma=0.5)
    >>> optimizer.step(); schedule.step(); optimizer.param_groups[0]["lr"]
    0.5
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer, self.last_step = optimizer, 0
        self.base_lrs = [float(group["lr"]) for group in optimizer.param_groups]
        self._apply()

    def at(self, step: int, base: float) -> float:
        """The rate after so many steps."""
        raise NotImplementedError

    def step(self) -> None:
        """One more step was taken: set the rate of every group."""
        self.last_step += 1
        self._apply()

    def get_last_lr(self) -> list[float]:
        """The rates now, one a group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def _apply(self) -> None:
        for index, group in enumerate(self.optimizer.param_groups):
            group["lr"] = self._rate(index, self.last_step)

    def _rate(self, index: int, step: int) -> float:
        return self.at(step, self.base_lrs[index])

    def state_dict(self) -> dict[str, Any]:
        """Where the schedule stands."""
        return {"last_step": self.last_step, "base_lrs": list(self.base_lrs)}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Stand where a saved one stood."""
        if len(saved["base_lrs"]) != len(self.base_lrs):
            raise StateError.optimizer(
                type(self).__name__, f"it has {len(saved['base_lrs'])} groups"
            )
        self.last_step, self.base_lrs = int(saved["last_step"]), list(saved["base_lrs"])
        self._apply()


class LambdaLR(Schedule):
    """The first rate times any function of the step; or one function a group."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
    ) -> None:
        count = len(optimizer.param_groups)
        self.factors = [lr_lambda] * count if callable(lr_lambda) else list(lr_lambda)
        if len(self.factors) != count:
            raise SettingError.of("lr_lambda", self.factors, f"{count} functions, one a group")
        super().__init__(optimizer)

    def _rate(self, index: int, step: int) -> float:
        return self.base_lrs[index] * self.factors[index](step)


class StepLR(Schedule):
    """Times ``gamma`` every ``step_size`` steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        if step_size < 1:
            raise SettingError.of("step_size", step_size, "a whole number from 1 up")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer)

    def at(self, step: int, base: float) -> float:
        """The rate after so many steps."""
        return float(base * self.gamma ** (step // self.step_size))


class MultiStepLR(Schedule):
    """Times ``gamma`` at each of the ``milestones``."""

    def __init__(self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1) -> None:
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer)

    def at(self, step: int, base: float) -> float:
        """The rate after so many steps."""
        return float(base * self.gamma ** bisect_right(self.milestones, step))


class ExponentialLR(Schedule):
    """Times ``gamma`` every step."""

    def __init__(self, optimizer: Optimizer, gamma: float) -> None:
        self.gamma = gamma
        super().__init__(optimizer)

    def at(self, step: int, base: float) -> float:
        """The rate after so many steps."""
        return float(base * self.gamma**step)


class LinearLR(Schedule):
    """In a straight line from one factor to another over ``total_iters`` steps, then constant."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
    ) -> None:
        if total_iters < 1:
            raise SettingError.of("total_iters", total_iters, "a whole number from 1 up")
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer)

    def at(self, step: int, base: float) -> float:
        """The rate after so many steps."""
        done = min(step, self.total_iters) / self.total_iters
        return base * (self.start_factor + (self.end_factor - self.start_factor) * done)


class CosineAnnealingLR(Schedule):
    """Down half a cosine to ``eta_min`` at ``T_max`` steps (and up again after it)."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0) -> None:  # noqa: N803
        if T_max < 1:
            raise SettingError.of("T_max", T_max, "a whole number from 1 up")
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer)

    def at(self, step: int, base: float) -> float:
        """The rate after so many steps."""
        return self.eta_min + (base - self.eta_min) * (1 + cos(pi * step / self.T_max)) / 2


class SequentialLR(Schedule):
    """One schedule after another; each begins anew at its milestone: a warm-up, then a decay."""

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[Schedule], milestones: Sequence[int]
    ) -> None:
        if len(milestones) != len(schedulers) - 1:
            allowed = f"{len(schedulers) - 1} steps, one between each two schedules"
            raise SettingError.of("milestones", milestones, allowed)
        self.schedulers, self.milestones = list(schedulers), list(milestones)
        for group, base in zip(optimizer.param_groups, self.schedulers[0].base_lrs):
            group["lr"] = base  # what the rate was before the schedules were made
        super().__init__(optimizer)
        for schedule in self.schedulers:
            schedule.base_lrs = list(self.base_lrs)
        self._apply()

    def _rate(self, index: int, step: int) -> float:
        turn = bisect_right(self.milestones, step)
        began = self.milestones[turn - 1] if turn else 0
        return self.schedulers[turn]._rate(index, step - began)
