"""What tensors without a module are called: by the variables of the frames that are running."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import torch

from .sites import _passed_over, _passes_over

MOST = 2048
"""How many things are looked at."""


def names_now(wanted: set[int], skip: int = 2) -> dict[int, str]:
    """The names of tensors, by id, that variables of the running functions lead to."""
    found: dict[int, str] = {}
    looked = 0
    frame = sys._getframe(skip)
    while frame is not None and len(found) < len(wanted) and looked < MOST:
        code = frame.f_code
        over = _passed_over.get(code)
        if not (over if over is not None else _passes_over(code)):
            for where in (frame.f_locals, frame.f_globals):
                for name, thing in list(where.items()):
                    for path, tensor in _tensors(name, thing):
                        looked += 1
                        if id(tensor) in wanted:
                            found.setdefault(id(tensor), path)
        frame = frame.f_back  # type: ignore[assignment]
    return found


def _tensors(name: str, thing: Any, depth: int = 2) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(thing, torch.Tensor):
        yield name, thing
    elif depth and isinstance(thing, dict) and len(thing) <= 256:
        for key, inner in list(thing.items()):
            yield from _tensors(f"{name}.{key}", inner, depth - 1)
    elif depth and isinstance(thing, (list, tuple)) and len(thing) <= 256:
        for place, inner in enumerate(thing):
            yield from _tensors(f"{name}.{place}", inner, depth - 1)
    elif depth == 2 and not isinstance(thing, (type, torch.nn.Module)):
        try:
            inside = vars(thing)
        except TypeError:
            return
        if len(inside) <= 64 and "__loader__" not in inside:
            for key, inner in list(inside.items()):
                yield from _tensors(f"{name}.{key}", inner, 0)
