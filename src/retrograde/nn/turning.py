"""Parameters as values or as tensors: nests of leaves that become one tensor, and back."""

from __future__ import annotations

from typing import Any

from .._shared.numerics import np
from .._values import bulk
from .._values.nests import remade
from ..errors import ParameterError
from ..tensor import Tensor, in_graph
from ..value import Value

LIST = (list, tuple)


def is_leaf(thing: Any) -> bool:
    """Whether a thing is a value or a tensor made from nothing."""
    return in_graph(thing) and thing.op == "leaf"


def shape_of(nest: Any) -> tuple[int, ...] | None:
    """The shape of a rectangular nest of values that are leaves; None where it is anything else."""
    shape: list[int] = []
    level: list[Any] = [nest]
    while level and all(isinstance(item, LIST) for item in level):
        shape.append(len(level[0]))
        if any(len(item) != shape[-1] for item in level) or len(shape) > bulk.DEEPEST:
            return None
        level = [part for item in level for part in item]
    if not level or not all(isinstance(item, Value) and is_leaf(item) for item in level):
        return None
    return tuple(shape)


class Turning:
    """Turns the attributes of modules; what several of them share stays shared."""

    def __init__(self, to_tensors: bool) -> None:
        self._to_tensors = to_tensors
        self._turned: dict[int, tuple[Any, Any]] = {}  # with the nest: its address stays its own
        self._owners: dict[int, tuple[Any, str]] = {}  # by leaf: itself or its nest, and the name

    def __call__(self, name: str, part: Any) -> Any:
        """What stands in the place of an attribute, or of a part of one."""
        if id(part) in self._turned:
            return self._turned[id(part)][1]
        made = self._made(name, part)
        if made is not part:
            self._turned[id(part)] = (part, made)
        return made

    def _made(self, name: str, part: Any) -> Any:
        if self._to_tensors and isinstance(part, Value):
            self._own(name, part, part)
        if self._to_tensors and isinstance(part, LIST) and shape_of(part):
            return self._tensor(name, part)
        if not self._to_tensors and isinstance(part, Tensor) and is_leaf(part):
            return _values(part)
        if isinstance(part, LIST):
            inside = [self(f"{name}[{place}]", item) for place, item in enumerate(part)]
            same = all(new is old for new, old in zip(inside, part))
            return part if same else remade(type(part), inside)
        if isinstance(part, dict):
            inside = [self(f"{name}.{key}", item) for key, item in part.items()]
            same = all(new is old for new, old in zip(inside, part.values()))
            return part if same else dict(zip(part, inside))
        return part

    def _own(self, name: str, leaf: Any, owner: Any) -> None:
        """A leaf in two places could not be one number of two tensors."""
        before = self._owners.setdefault(id(leaf), (None, name))
        if before[0] is not None and not before[0] is owner is leaf:
            raise ParameterError.shared(leaf, before[1], name)
        self._owners[id(leaf)] = (owner, name)

    def _tensor(self, name: str, nest: Any) -> Any:
        leaves = bulk.values_in(nest, "tensors")
        for leaf in leaves:
            self._own(name, leaf, nest)
        kinds = {leaf.requires_grad for leaf in leaves}
        if len(kinds) > 1:
            raise ParameterError.half_frozen(name)
        made = Tensor(bulk.data(nest), requires_grad=kinds.pop())
        made.grad = bulk.grads(nest)
        return made


def _values(tensor: Any) -> Any:
    numbers, gradients = tensor.data, tensor.grad
    made = np.empty(tensor.shape, dtype=object)
    for place in np.ndindex(tensor.shape):
        value = made[place] = Value(float(numbers[place]), requires_grad=tensor.requires_grad)
        value.grad = float(gradients[place])
    return made.tolist()
