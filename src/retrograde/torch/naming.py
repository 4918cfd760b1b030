"""What the variables of the running functions lead to: names of tensors, and models."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from .sites import passes_over

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


def attributes_of(models: Iterable[torch.nn.Module]) -> set[int]:
    """The tensors that are plain attributes of modules, by id: no parameters, no buffers."""
    return {
        id(thing)
        for model in models
        for module in model.modules()
        for thing in vars(module).values()
        if isinstance(thing, torch.Tensor)
    }


def models_by_name(skip: int = 2) -> dict[int, tuple[str, torch.nn.Module]]:
    """The models that variables of the running functions lead to, by id, with their names; parts
    of others among them too."""
    found: dict[int, tuple[str, torch.nn.Module]] = {}
    for path, model in _variables(skip + 1, torch.nn.Module):
        found.setdefault(id(model), (path.removeprefix("self."), model))
    return found


def _variables(skip: int, kind: type) -> Iterator[tuple[str, Any]]:
    """What variables of the running functions lead to, of a kind."""
    looked = 0
    frame = sys._getframe(skip)
    while frame is not None and looked < MOST:
        if not passes_over(frame.f_code):
            for where in (frame.f_locals, frame.f_globals):
                for name, thing in list(where.items()):
                    for path, inner in _inside(name, thing, kind):
                        looked += 1
                        yield path, inner
        frame = frame.f_back  # type: ignore[assignment]


def _inside(name: str, thing: Any, kind: type, depth: int = 2) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, kind):
        yield name, thing
    elif isinstance(thing, torch.nn.Module):
        yield from _unregistered(thing, kind)
    elif depth and isinstance(thing, dict) and len(thing) <= 256:
        for key, inner in list(thing.items()):
            yield from _inside(f"{name}.{key}", inner, kind, depth - 1)
    elif depth and isinstance(thing, (list, tuple)) and len(thing) <= 256:
        for place, inner in enumerate(thing):
            yield from _inside(f"{name}.{place}", inner, kind, depth - 1)
    elif depth == 2 and not isinstance(thing, type):
        try:
            inside = vars(thing)
        except TypeError:
            return
        if len(inside) <= 64 and "__loader__" not in inside:
            for key, inner in list(inside.items()):
                yield from _inside(f"{name}.{key}", inner, kind, 0)


def _unregistered(model: torch.nn.Module, kind: type) -> Iterator[tuple[str, Any]]:
    """What modules hold in plain lists, dicts and attributes, which they know nothing of; by its
    path."""
    for path, module in model.named_modules():
        for key, thing in list(vars(module).items()):
            if isinstance(thing, torch.Tensor) and kind is torch.Tensor:
                yield (f"{path}.{key}" if path else key), thing
            if key.startswith("_") or not isinstance(thing, (list, tuple, dict)):
                continue
            pairs = thing.items() if isinstance(thing, dict) else enumerate(thing)
            for place, part in list(pairs)[:256]:
                where = f"{path}.{key}.{place}" if path else f"{key}.{place}"
                if isinstance(part, torch.nn.Module):
                    inner = part.named_parameters() if kind is torch.Tensor else ()
                    yield from ((f"{where}.{name}", p) for name, p in inner)
                elif isinstance(part, kind):
                    yield where, part
