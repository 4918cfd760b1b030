"""Which module is running: a path such as ``blocks.3.attn``, and the names of parameters."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)

from .naming import models_by_name

MOST_STEPS = 64
"""How many steps the way from data to a module may have."""


class Modules:
    """Follows module calls by PyTorch's own global hooks. A module that is called while none is
    running is a model of the program; its parameters are what there is to train."""

    def __init__(self, models: tuple[torch.nn.Module, ...]) -> None:
        self.models: list[torch.nn.Module] = []
        self._names: dict[int, str] = {}
        self._stack: list[str] = []
        self._handles: list[Any] = []
        self._given = bool(models)
        self._called: dict[int, str] = {}
        self.fed: set[int] = set()
        """The leaves that take gradients and were given to modules, by id: data."""
        for model in models:
            self.add(model)

    def add(self, model: torch.nn.Module) -> None:
        """Another model: the names of its modules."""
        model = _uncompiled(model)
        if any(model is known for known in self.models):
            return
        if any(model is part for known in self.models for part in known.modules()):
            return
        for place, known in enumerate(self.models):
            if any(known is part for part in model.modules()) and not self._given:
                del self.models[place]  # it was called alone first: it is a part of this one
                self._names.clear()
                break
        self.models.append(model)
        self._called[id(model)] = self._variable_of(model)
        for each in self.models:
            prefix = self._prefix(each)
            for name, module in each.named_modules():
                path = (prefix + name).rstrip(".")
                self._names.setdefault(id(module), path or type(module).__name__)

    def _variable_of(self, model: torch.nn.Module) -> str:
        """The variable that leads to a model, where that tells it from others; of the first model
        only where its own names say nothing and there are others beside it."""
        known = models_by_name(3)
        name, _ = known.get(id(model), ("", None))
        if len(self.models) == 1:
            own = {id(part) for part in model.modules()}
            beside = any(
                id(other) not in own
                and all(part is not model for part in other.modules())
                and any(True for _ in other.parameters())
                for _, other in known.values()
            )
            speaks = any(not part.isdigit() for part, _ in model.named_children())
            return "" if speaks or not beside else name
        taken = {
            self._prefix(each) + part
            for each in self.models[:-1]
            for part, _ in (*each.named_children(), *each.named_parameters())
        }
        used = {self._prefix(each).rstrip(".") for each in self.models[:-1]}
        return "" if name in taken | used else name

    def _prefix(self, model: torch.nn.Module) -> str:
        """What tells the parts of a model from those of others: its variable or its class; the
        first one needs neither where its parts have names."""
        place = next(i for i, known in enumerate(self.models) if known is model)
        called = self._called.get(id(model), "")
        if called or place == 0:
            return f"{called}." if called else ""
        name = type(model).__name__
        alike = sum(
            type(known).__name__ == name and not self._called.get(id(known))
            for known in self.models[1:place]
        )
        alike += place > 0 and type(self.models[0]).__name__ == name
        return f"{name}{alike + 1}." if alike else f"{name}."

    def parameters(self) -> dict[str, torch.nn.Parameter]:
        """Every parameter of every model, once, by name."""
        found: dict[str, torch.nn.Parameter] = {}
        seen: set[int] = set()
        for model in self.models:
            prefix = self._prefix(model)
            for name, parameter in model.named_parameters():
                if id(parameter) not in seen:
                    seen.add(id(parameter))
                    found[prefix + name] = parameter
        return found

    def tied(self) -> dict[int, list[str]]:
        """The parameters that stand in several places, with all of their names."""
        found: dict[int, list[str]] = {}
        for model in self.models:
            prefix = self._prefix(model)
            for name, parameter in model.named_parameters(remove_duplicate=False):
                found.setdefault(id(parameter), []).append(prefix + name)
        return {key: names for key, names in found.items() if len(names) > 1}

    def here(self) -> str:
        """The module that is running."""
        return self._stack[-1] if self._stack else ""

    def _enter(self, module: torch.nn.Module, inputs: Any) -> None:
        module = _uncompiled(module)
        if not self._stack and id(module) not in self._names:
            if any(True for _ in module.parameters()):
                self.add(module if self._given else _whole(module))
        for each in inputs:
            for t in each if isinstance(each, (tuple, list)) else (each,):
                if isinstance(t, torch.Tensor) and t.requires_grad and not self._stack:
                    self.fed |= _leaves_behind(t)
        self._stack.append(self._names.get(id(module)) or type(module).__name__)

    def _leave(self, module: torch.nn.Module, inputs: Any, output: Any) -> None:
        if self._stack:
            self._stack.pop()

    def follow(self) -> None:
        """Begin to follow calls."""
        if not self._handles:
            self._handles = [
                register_module_forward_pre_hook(self._enter),
                register_module_forward_hook(self._leave, always_call=True),
            ]

    def pause(self) -> None:
        """Follow them no longer, until they are followed again from the same place."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def leave(self) -> None:
        """Follow them no longer."""
        self.pause()
        self._stack.clear()


def _leaves_behind(t: torch.Tensor) -> set[int]:
    """The ids of the leaves that an input is, or is computed from: data, if no parameter is among
    them. A single number is none, and nothing is said past a few steps."""
    if t.grad_fn is None:
        return {id(t)}
    found: set[int] = set()
    seen: set[Any] = {t.grad_fn}
    pending: list[Any] = [t.grad_fn]
    while pending:
        node = pending.pop()
        variable = getattr(node, "variable", None)
        if isinstance(variable, torch.nn.Parameter) or len(seen) > MOST_STEPS:
            return set()
        if variable is not None and variable.numel() > 1:
            found.add(id(variable))
        below = {each for each, _ in node.next_functions if each is not None} - seen
        seen |= below
        pending += below
    return found


def _uncompiled(module: torch.nn.Module) -> torch.nn.Module:
    """The model itself, of one that ``torch.compile`` has wrapped."""
    if type(module).__name__ != "OptimizedModule":
        return module
    inner = module._modules.get("_orig_mod")
    return module if inner is None else inner


def _whole(module: torch.nn.Module) -> torch.nn.Module:
    """The largest model in a variable that a module is part of: a program may call only parts."""
    found, most = module, 1
    for _, model in models_by_name(3).values():
        parts = list(model.modules())
        if len(parts) > most and any(part is module for part in parts):
            found, most = model, len(parts)
    return found
