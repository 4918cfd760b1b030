"""Gradients between backward and step: clipped by value or norm, gathered over several passes."""

from __future__ import annotations

from math import inf, isnan
from numbers import Real
from typing import Any

from .._values import bulk
from ..errors import SettingError
from ..tensor import in_graph
from ..value import core
from .optimizer import Optimizer


def _values(params: Any) -> list[Any]:
    held = in_graph(params) or isinstance(params, (dict, list, tuple))
    if not held and not hasattr(params, "parameters"):
        params = list(params)
    return bulk.values_in(params, "clipping")


def clip_grad_value(params: Any, clip_value: float) -> None:
    """Clip every gradient into ``[-clip_value, clip_value]``; NaN stays NaN.

    >>> import retrograde as rg
    >>> x = rg.Value(1.0); x.grad = -7.0
    >>> rg.optim.clip_grad_value([x], 1.0); x.grad
    -1.0
    """
    if not isinstance(clip_value, Real) or not clip_value >= 0.0:
        raise SettingError.of("clip_value", clip_value, "a number from 0 up")
    core.clip_grad(_values(params), float(clip_value))


def clip_grad_norm(params: Any, max_norm: float, norm_type: float = 2.0) -> float:
    """Scale all gradients together so that their length is at most ``max_norm``.

    Returns the length before. As in PyTorch the factor is ``max_norm / (length + 1e-6)``, and
    a length that is not finite makes the gradients so.

    >>> import retrograde as rg
    >>> x, y = rg.Value(1.0), rg.Value(1.0); x.grad, y.grad = 3.0, 4.0
    >>> rg.optim.clip_grad_norm([x, y], 1.0)
    5.0
    >>> round(x.grad, 6), round(y.grad, 6)
    (0.6, 0.8)
    """
    if not isinstance(norm_type, Real) or not norm_type > 0.0:
        raise SettingError.of("norm_type", norm_type, "a number above 0, or inf")
    if not isinstance(max_norm, Real) or not max_norm >= 0.0:
        raise SettingError.of("max_norm", max_norm, "a number from 0 up")
    values = _values(params)
    length = core.grad_norm(values, float(norm_type))
    factor = max_norm / (length + 1e-6) if length != inf else 0.0
    if factor < 1.0 or isnan(factor):
        core.scale_grad(values, factor)
    return length


class Accumulator:
    """Steps of an optimizer once in ``every`` backward passes, on the mean of their gradients.

    >>> import retrograde as rg
    >>> x = rg.Value(0.0)
    >>> accumulator = rg.optim.Accumulator(rg.optim.SGD([x], lr=1.0), every=2)
    >>> for slope in (1.0, 3.0):
    ...     (x * slope).backward()
    ...     print(accumulator.step(), x.data)
    False 0.0
    True -2.0
    """

    def __init__(self, optimizer: Optimizer, every: int) -> None:
        if not isinstance(every, int) or every < 1:
            raise SettingError.of("every", every, "a whole number from 1 up")
        self.optimizer, self.every, self.pending = optimizer, every, 0

    def step(self) -> bool:
        """After a backward pass: whether this one was the last of its round and made a step."""
        self.pending += 1
        return self.pending >= self.every and self.flush()

    def flush(self) -> bool:
        """Step on what has been gathered, full round or not; False where there is nothing."""
        if not self.pending:
            return False
        if self.pending > 1:
            core.scale_grad(self.optimizer.parameters(), 1.0 / self.pending)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.pending = 0
        return True
