"""Optimizer: groups of parameters, each with its settings and its arrays of state.

Parameters are values or tensors; the arrays of state have one item a number, so a state is the same
whether a module holds the one or the other.

A group is a dict with the parameters under ``params`` and the settings under their names, as in
PyTorch; a setting may be changed between steps. Here are the checks and the saving; the methods
themselves are in ``methods.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from numbers import Real
from typing import Any, ClassVar

from .._shared.numerics import np
from .._values import bulk
from ..errors import ParameterError, SettingError, StateError
from ..tensor import Tensor, in_graph
from ..value import core

Group = dict[str, Any]
State = dict[str, Any]

RANGES: dict[str, tuple[Callable[[float], bool], str]] = {
    "lr": (lambda x: x >= 0.0, "a number from 0 up"),
    "eps": (lambda x: x >= 0.0, "a number from 0 up"),
    "weight_decay": (lambda x: x >= 0.0, "a number from 0 up"),
    "momentum": (lambda x: x >= 0.0, "a number from 0 up"),
    "dampening": (lambda x: True, "a number"),
    "tolerance_grad": (lambda x: x >= 0.0, "a number from 0 up"),
    "tolerance_change": (lambda x: x >= 0.0, "a number from 0 up"),
    "alpha": (lambda x: 0.0 <= x < 1.0, "a number from 0 up to but not 1"),
    "beta": (lambda x: 0.0 <= x < 1.0, "a number from 0 up to but not 1"),
}


def check_setting(name: str, number: Any, kind: str | None = None) -> None:
    """Refuse a setting out of its range."""
    fits, allowed = RANGES[kind or name]
    if isinstance(number, bool) or not isinstance(number, Real):
        raise SettingError.of(name, number, allowed)
    if not isfinite(number) or not fits(float(number)):
        raise SettingError.of(name, number, allowed)


def numbers_in(params: Sequence[Any]) -> int:
    """How many numbers values and tensors hold together."""
    return sum(leaf.size if isinstance(leaf, Tensor) else 1 for leaf in params)


class Optimizer:
    """The base of the optimizers.

    ``params`` is a module, a nest of leaves, or a list of groups.

    >>> import retrograde as rg
    >>> x = rg.Value(3.0)
    >>> optimizer = rg.optim.SGD([x], lr=0.1)
    >>> (x * x).backward(); optimizer.step(); round(x.data, 6)
    2.4
    """

    arrays: ClassVar[tuple[str, ...]] = ("steps",)

    def __init__(self, params: Any, defaults: Mapping[str, Any]) -> None:
        self.defaults = dict(defaults)
        self.param_groups: list[Group] = []
        self.state: list[State] = []
        groups = [params]
        if isinstance(params, (list, tuple)) and params and isinstance(params[0], Mapping):
            groups = list(params)
        for group in groups:
            self.add_param_group(group if isinstance(group, Mapping) else {"params": group})

    def add_param_group(self, group: Mapping[str, Any]) -> None:
        """One more group of parameters; settings it does not name are the optimizer's own."""
        unknown = set(group) - set(self.defaults) - {"params"}
        if unknown or "params" not in group:
            allowed = f"'params' and some of {', '.join(self.defaults)}"
            raise SettingError.of("the keys of a group", sorted(group), allowed)
        given = group["params"]
        if not in_graph(given) and not isinstance(given, (list, tuple, Mapping, np.ndarray)):
            given = given if hasattr(given, "parameters") else list(given)
        params = bulk.values_in(given, type(self).__name__)
        if not params:
            raise ParameterError.none()
        taken = {id(p) for known in self.param_groups for p in known["params"]}
        for value in params:
            if value.op != "leaf":
                raise ParameterError.interior(value)
            if id(value) in taken:
                raise ParameterError.twice(value)
            taken.add(id(value))
        complete: Group = {**self.defaults, **group, "params": params}
        self.check(complete)
        self.param_groups.append(complete)
        self.state.append({name: np.zeros(numbers_in(params)) for name in self.arrays})

    def check(self, group: Group) -> None:
        """Refuse settings out of their range."""
        for name in group:
            if name in RANGES:
                check_setting(name, group[name])

    def parameters(self) -> list[Any]:
        """The parameters of all groups."""
        return [value for group in self.param_groups for value in group["params"]]

    def zero_grad(self) -> None:
        """Set the gradients of all parameters to zero."""
        for group in self.param_groups:
            core.zero(group["params"])

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter once; with a closure, call it first and return its loss."""
        loss = closure() if closure is not None else None
        for group, state in zip(self.param_groups, self.state):
            self.move(group, state)
        return loss

    def move(self, group: Group, state: State) -> None:
        """Move the parameters of one group."""
        raise NotImplementedError

    # saving and loading

    def state_dict(self) -> dict[str, Any]:
        """Settings and state as plain data and arrays; the parameters themselves are not in it."""
        return {
            "optimizer": type(self).__name__,
            "groups": [
                {name: setting for name, setting in group.items() if name != "params"}
                for group in self.param_groups
            ],
            "state": [{n: array.copy() for n, array in state.items()} for state in self.state],
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Take over settings and state; nothing is changed where anything does not fit."""
        name = type(self).__name__
        groups, states = saved.get("groups"), saved.get("state")
        if saved.get("optimizer") != name:
            raise StateError.optimizer(name, f"it is of {saved.get('optimizer')}")
        if not isinstance(groups, Sequence) or not isinstance(states, Sequence):
            raise StateError.optimizer(name, "it has no groups or no state")
        if not len(groups) == len(states) == len(self.param_groups):
            raise StateError.optimizer(name, f"it has {len(groups)} groups")
        arrays: list[State] = []
        for here, group, state in zip(self.param_groups, groups, states):
            count = numbers_in(here["params"])
            if set(state) != set(self.arrays):
                raise StateError.optimizer(name, f"its arrays are {', '.join(sorted(state))}")
            arrays.append({key: np.array(state[key], dtype=np.float64) for key in self.arrays})
            if any(array.shape != (count,) for array in arrays[-1].values()):
                raise StateError.optimizer(name, f"a group has {count} parameters here")
            for key, array in arrays[-1].items():
                if not np.isfinite(array).all():
                    raise StateError.optimizer(name, f"'{key}' holds a number that is not finite")
                if key in ("steps", "square") and (array < 0.0).any():
                    raise StateError.optimizer(name, f"'{key}' holds a number below 0")
            self.check({**here, **group})
        for here, group in zip(self.param_groups, groups):
            here.update({key: setting for key, setting in group.items() if key != "params"})
        self.state = arrays

    def __repr__(self) -> str:
        lines = []
        for index, group in enumerate(self.param_groups):
            shown = ", ".join(f"{k}={v}" for k, v in group.items() if k != "params")
            count = numbers_in(group["params"])
            lines.append(f"  group {index}: {count} parameters, {shown}")
        return "\n".join([f"{type(self).__name__}(", *lines, ")"])
