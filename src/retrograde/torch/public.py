"""What ``rg.torch`` offers: functions of a loss, and a watch around a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..diagnose.thresholds import Thresholds
from ..errors import TorchProgramError
from .watching import Watch, doubling


def watch(
    *models: torch.nn.Module,
    examine: Callable[[int], bool] = doubling,
    pictures: bool = False,
    log: Any = None,
    **thresholds: float,
) -> Watch:
    """Watch every backward pass inside the block; the program stays as it is, bit for bit.

    Models are given, or found when they are called. ``examine`` says of a pass, by its number from
    1 on, whether everything is looked at; by default passes 1, 2, 4, 8, …. ``log`` is a path for a
    CSV file of the norms, or anything with ``add_scalar``, as TensorBoard's writer. Thresholds are
    those of the doctor.

    >>> import torch, retrograde as rg
    >>> model = torch.nn.Linear(3, 1)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    >>> with rg.torch.watch(model) as w:
    ...     for _ in range(3):
    ...         optimizer.zero_grad()
    ...         model(torch.ones(4, 3)).pow(2).mean().backward()
    ...         optimizer.step()
    >>> w.report().healthy, sorted(w.norms)
    (True, ['bias', 'weight'])
    """
    for each in models:
        if not isinstance(each, torch.nn.Module):
            raise TorchProgramError.no_module(each)
    return Watch(models, examine, Thresholds.chosen(thresholds), pictures, log)
