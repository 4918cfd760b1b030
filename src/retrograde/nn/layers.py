"""Layers on lists of values or on tensors: Linear, Embedding, RMSNorm, LayerNorm.

A layer whose parameters are tensors (``Module.tensors``) works along the last axis of what it is
given, whatever stands before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._tensors.doing import operand
from .._tensors.functions import embedding
from .._values.functions import dot
from .._values.functions import sum as sum_
from .._values.lists import each, linear
from .._values.take import take
from ..errors import ShapeError
from ..tensor import Tensor
from ..value import Value, belongs_to_caller
from .init import (
    Initialiser,
    Seed,
    checked_size,
    fan_in_uniform,
    filled,
    generator,
    normal,
    ones,
    zeros,
)
from .module import Module


class Linear(Module):
    """``weight · x + bias``: one node an output.

    >>> layer = Linear(3, 2, seed=0)
    >>> layer
    Linear(3, 2)
    >>> len(layer([1.0, 2.0, 3.0]))
    2
    """

    def __init__(
        self,
        nin: int,
        nout: int,
        bias: bool = True,
        init: Initialiser | None = None,
        seed: Seed = None,
    ) -> None:
        draw = generator(seed)
        nin = checked_size("the inputs of Linear", nin)
        nout = checked_size("the outputs of Linear", nout)
        self.weight = filled((nout, nin), init or fan_in_uniform(), draw)
        self.bias = None
        if bias:
            limits = fan_in_uniform()
            self.bias = [Value(limits((nin,), draw)) for _ in range(nout)]

    def __call__(self, x: Any) -> Any:
        """The outputs for a list of inputs; with tensors, for each row of inputs."""
        if not isinstance(self.weight, Tensor):
            _refuse_tensor("Linear", x)
            return linear(self.weight, x, self.bias)
        given = _rows("Linear", self.weight.shape[1], x)
        out = given @ self.weight.T
        return out if self.bias is None else out + self.bias

    def __repr__(self) -> str:
        bias = "" if self.bias is not None else ", bias=False"
        return f"Linear({len(self.weight[0])}, {len(self.weight)}{bias})"


class Embedding(Module):
    """A row of numbers for each of ``count`` things, chosen by index.

    >>> table = Embedding(10, 4, seed=0)
    >>> table(3) is table.weight[3]
    True

    An index may be a value: in a compiled function the choice is made row by row.
    """

    def __init__(
        self, count: int, size: int, init: Initialiser | None = None, seed: Seed = None
    ) -> None:
        count = checked_size("the count of Embedding", count)
        size = checked_size("the size of Embedding", size)
        self.weight = filled((count, size), init or normal(), seed)

    def __call__(self, index: Any) -> Any:
        """The row of an index, the values themselves; with tensors, a row for each index."""
        if isinstance(self.weight, Tensor):
            return embedding(self.weight, index)
        if type(index) is int and 0 <= index < len(self.weight):
            row: list[Any] = self.weight[index]
            return row
        chosen: list[Any] = take(self.weight, index)
        return chosen

    def __repr__(self) -> str:
        return f"Embedding({len(self.weight)}, {len(self.weight[0])})"


class RMSNorm(Module):
    """``x / sqrt(mean(x²) + eps)``, times a learnt scale unless ``affine`` is False.

    >>> RMSNorm(2, eps=0.0, affine=False)([3.0, 3.0])
    [1.0, 1.0]
    """

    def __init__(self, size: int, eps: float = 1e-5, affine: bool = True) -> None:
        self.size, self.eps = checked_size("the size of RMSNorm", size), eps
        self.weight = filled((self.size,), ones()) if affine else None

    def __call__(self, x: Any) -> Any:
        """The list, scaled; of a tensor each row."""
        if isinstance(x, Tensor) or isinstance(self.weight, Tensor):
            given = _rows("RMSNorm", self.size, x, self.weight)
            out = given * ((given * given).mean(-1, True) + self.eps).rsqrt()
            return out if self.weight is None else out * self.weight
        _check_size("RMSNorm", self.size, x)
        scale = (dot(x, x) / self.size + self.eps) ** -0.5
        scaled = each("mul", list(x), scale)
        return scaled if self.weight is None else each("mul", scaled, self.weight)

    def __repr__(self) -> str:
        return f"RMSNorm({self.size}{'' if self.weight is not None else ', affine=False'})"


class LayerNorm(Module):
    """``(x - mean) / sqrt(variance + eps)``, scaled and shifted unless ``affine`` is False.

    >>> LayerNorm(2, eps=0.0, affine=False)([1.0, 3.0])
    [-1.0, 1.0]
    """

    def __init__(self, size: int, eps: float = 1e-5, affine: bool = True) -> None:
        self.size, self.eps = checked_size("the size of LayerNorm", size), eps
        self.weight = filled((self.size,), ones()) if affine else None
        self.bias = filled((self.size,), zeros()) if affine else None

    def __call__(self, x: Any) -> Any:
        """The list, centred and scaled; of a tensor each row."""
        if isinstance(x, Tensor) or isinstance(self.weight, Tensor):
            given = _rows("LayerNorm", self.size, x, self.weight)
            centred = given - given.mean(-1, True)
            out = centred * ((centred * centred).mean(-1, True) + self.eps).rsqrt()
            return out if self.weight is None else out * self.weight + self.bias
        _check_size("LayerNorm", self.size, x)
        centred = each("sub", list(x), sum_(x) / self.size)
        scale = (dot(centred, centred) / self.size + self.eps) ** -0.5
        scaled = each("mul", centred, scale)
        if self.weight is None:
            return scaled
        return each("add", each("mul", scaled, self.weight), self.bias)

    def __repr__(self) -> str:
        return f"LayerNorm({self.size}{'' if self.weight is not None else ', affine=False'})"


def _rows(layer: str, size: int, x: Any, weight: Any = None) -> Any:
    """What a layer is given, as a tensor whose last axis has the layer's size."""
    if type(x) is Tensor and x.shape[-1] == size and type(weight) is not list:
        return x
    if isinstance(weight, list):
        _refuse_tensor(layer, x)
    given = operand(x, layer)
    if not getattr(given, "shape", ()) or given.shape[-1] != size:
        raise ShapeError.layer_axes(layer, size, getattr(given, "shape", ()))
    return given if isinstance(given, Tensor) else Tensor(given, requires_grad=False)


def _refuse_tensor(layer: str, x: Any) -> None:
    if isinstance(x, Tensor):
        raise ShapeError.layer_of_values(layer, x.shape)


def _check_size(layer: str, size: int, x: Sequence[Any]) -> None:
    if len(x) != size:
        raise ShapeError.layer(layer, size, len(x))


belongs_to_caller(Linear.__call__, Embedding.__call__, RMSNorm.__call__, LayerNorm.__call__)
