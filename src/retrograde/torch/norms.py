"""The norms of many gradients at once."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ._private import find


def norms_of(grads: Sequence[torch.Tensor], order: float = 2.0) -> torch.Tensor:
    """The norms of some gradients as one tensor, not yet read; of order ``inf``, the largest
    number of each."""
    if any(g.layout is not torch.strided for g in grads):
        grads = [g.coalesce().values() if g.is_sparse else g.to_dense() for g in grads]
    with torch.no_grad():
        norms = find("foreach_norm")(list(grads), order)
        if len({norm.dtype for norm in norms}) > 1 or len({norm.device for norm in norms}) > 1:
            norms = [norm.float().cpu() for norm in norms]
        return torch.stack(norms)
