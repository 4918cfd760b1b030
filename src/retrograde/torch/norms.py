"""The norms of many gradients at once."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from . import board
from ._private import find
from .summaries import is_dense


def norms_of(grads: Sequence[torch.Tensor]) -> torch.Tensor | board.Norms:
    """The norms of some gradients, not yet read; of those on one GPU by the board's kernel."""
    if all(map(board.far, grads)) and len({g.device for g in grads}) == 1:
        kinds = [board.kind_of(g) for g in grads]
        if None not in kinds:
            dense = [g if is_dense(g) else g.contiguous() for g in grads]
            return board.board_of(dense[0]).norms(list(zip(dense, kinds)))  # type: ignore[arg-type]
    return stacked(grads)


def stacked(grads: Sequence[torch.Tensor], order: float = 2.0) -> torch.Tensor:
    """The same as one tensor; of order ``inf``, the largest number of each."""
    if any(g.layout is not torch.strided for g in grads):
        grads = [g.coalesce().values() if g.is_sparse else g.to_dense() for g in grads]
    with torch.no_grad():
        norms = find("foreach_norm")(list(grads), order)
        if len({norm.dtype for norm in norms}) > 1 or len({norm.device for norm in norms}) > 1:
            norms = [norm.float().cpu() for norm in norms]
        return torch.stack(norms)
