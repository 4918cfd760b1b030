"""Summaries of tensors: on the CPU one pass over memory, on a GPU a row of a board, read later."""

from __future__ import annotations

import torch

from ..passes.summary import EMPTY, KINDS, Summary
from ..value import core_name
from . import board
from ._private import is_wrapped

_BY_ADDRESS = {getattr(torch, name): name for name in KINDS}
_PLAIN = (torch.Tensor, torch.nn.Parameter)
Look = Summary | board.Pending
"""A summary, or one that is on its way."""


def is_plain(t: torch.Tensor) -> bool:
    """Whether a tensor has numbers to read: none has inside vmap, on the meta device, or faked."""
    return type(t) in _PLAIN and t.device.type != "meta" and not is_wrapped(t)


def is_dense(t: torch.Tensor) -> bool:
    """Whether the numbers lie side by side in memory, in whatever order."""
    if t.is_contiguous():
        return True
    size = 1
    for stride, extent in sorted(zip(t.stride(), t.shape)):
        if extent == 1:
            continue
        if stride != size:
            return False
        size *= extent
    return size == t.numel()


def summary(t: torch.Tensor) -> Summary:
    """The summary of a tensor now; for one on a GPU the device is waited for."""
    t = t.detach()
    if t.is_sparse:
        t = t.coalesce().values()
    elif t.layout is not torch.strided:
        t = t.to_dense()
    if t.is_complex():
        t = torch.view_as_real(t.resolve_conj())
    count = t.numel()
    if count == 0:
        return EMPTY
    kind = _BY_ADDRESS.get(t.dtype)
    if kind is not None and core_name == "native" and t.is_cpu and not t.is_neg():
        if not is_dense(t):
            t = t.contiguous()  # a copy and a pass are less than five passes
        return Summary.at(t.data_ptr(), kind, count)
    return _by_torch(t, count)


def _by_torch(t: torch.Tensor, count: int) -> Summary:
    x = t.double()
    finite = x.isfinite()
    nans = int(x.isnan().sum())
    usual = int(finite.sum())
    whole = torch.where(finite, x, 0.0)
    known = x[~x.isnan()]
    return Summary(
        count,
        float(whole.norm()),
        float(whole.sum()) / usual if usual else 0.0,
        float(known.min()) if known.numel() else float("inf"),
        float(known.max()) if known.numel() else float("-inf"),
        int((x == 0.0).sum()),
        nans,
        count - usual - nans,
        -1 if usual == count else int(finite.flatten().int().argmin()),
    )


def look(t: torch.Tensor) -> Look:
    """A summary: on the CPU at once, on a GPU without waiting for it, from :func:`board.go` on."""
    if board.far(t):
        kind, home = board.kind_of(t), board.board_of(t)
        if kind is not None and home.used < board.ROWS:
            return home.put(t if is_dense(t) else t.contiguous(), kind)
    return summary(t)


def settled(seen: Look | None) -> Summary | None:
    """What was on its way, after the board has been read."""
    return seen.settled() if isinstance(seen, board.Pending) else seen
