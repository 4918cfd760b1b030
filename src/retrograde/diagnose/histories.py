"""Which history parameters have: one number an entry, or one array."""

from __future__ import annotations

from .parameters import Parameters
from .tensor_history import TensorHistory
from .thresholds import Thresholds
from .value_history import ValueHistory

AnyHistory = ValueHistory | TensorHistory


def history_of(parameters: Parameters, thresholds: Thresholds) -> AnyHistory:
    """A history for these parameters, with no pass in it yet."""
    kind = ValueHistory if parameters.sizes is None else TensorHistory
    return kind(parameters, thresholds)
