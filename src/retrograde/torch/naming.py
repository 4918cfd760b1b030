"""What the variables of the running functions lead to: names of tensors, and models."""

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
    for path, tensor in _variables(skip + 1, torch.Tensor):
        if id(tensor) in wanted:
            found.setdefault(id(tensor), path)
            if len(found) == len(wanted):
                break
    return found


def models_now(wanted: set[int], skip: int = 2) -> list[torch.nn.Module]:
    """The models that variables of the running functions lead to and that hold some tensors,
    given by id: for programs whose calls nobody follows."""
    return [
        model
        for _, model in _variables(skip + 1, torch.nn.Module)
        if any(id(p) in wanted for p in model.parameters())
    ]


def _variables(skip: int, kind: type) -> Iterator[tuple[str, Any]]:
    """What variables of the running functions lead to, of a kind."""
    looked = 0
    frame = sys._getframe(skip)
    while frame is not None and looked < MOST:
        code = frame.f_code
        over = _passed_over.get(code)
        if not (over if over is not None else _passes_over(code)):
            for where in (frame.f_locals, frame.f_globals):
                for name, thing in list(where.items()):
                    for path, inner in _inside(name, thing, kind):
                        looked += 1
                        yield path, inner
        frame = frame.f_back  # type: ignore[assignment]


def _inside(name: str, thing: Any, kind: type, depth: int = 2) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, kind):
        yield name, thing
    elif depth and isinstance(thing, dict) and len(thing) <= 256:
        for key, inner in list(thing.items()):
            yield from _inside(f"{name}.{key}", inner, kind, depth - 1)
    elif depth and isinstance(thing, (list, tuple)) and len(thing) <= 256:
        for place, inner in enumerate(thing):
            yield from _inside(f"{name}.{place}", inner, kind, depth - 1)
    elif depth == 2 and not isinstance(thing, (type, torch.nn.Module)):
        try:
            inside = vars(thing)
        except TypeError:
            return
        if len(inside) <= 64 and "__loader__" not in inside:
            for key, inner in list(inside.items()):
                yield from _inside(f"{name}.{key}", inner, kind, 0)
