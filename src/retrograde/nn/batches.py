"""Layers that behave otherwise in training: BatchNorm and Dropout."""

from __future__ import annotations

from typing import Any, ClassVar

from .._shared.numerics import np
from .._tensors.doing import operand
from ..errors import SettingError, ShapeError
from ..tensor import Tensor
from ..value import belongs_to_caller
from .init import Seed, checked_size, filled_tensor, generator, ones, zeros
from .module import Module


class BatchNorm(Module):
    """Each feature (axis 1) centred and scaled by its mean and variance over the batch.

    In training these are the batch's, and running means of them are kept; after ``eval()`` the kept
    ones serve. Shapes are (batch, features) or (batch, features, …), as in PyTorch.

    >>> import numpy as np
    >>> layer = BatchNorm(2, eps=0.0)
    >>> layer(np.array([[1.0, 10.0], [3.0, 30.0]])).data.tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    >>> layer.running_mean.tolist()
    [0.2, 2.0]
    """

    buffers: ClassVar[tuple[str, ...]] = ("running_mean", "running_var")

    def __init__(
        self, features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True
    ) -> None:
        self.features = checked_size("the features of BatchNorm", features)
        self.eps, self.momentum = eps, momentum
        self.weight = filled_tensor((self.features,), ones()) if affine else None
        self.bias = filled_tensor((self.features,), zeros()) if affine else None
        self.running_mean, self.running_var = np.zeros(self.features), np.ones(self.features)

    def __call__(self, x: Any) -> Any:
        """The batch, each feature centred and scaled."""
        given = operand(x, "BatchNorm")
        shape: tuple[int, ...] = getattr(given, "shape", ())
        if len(shape) < 2 or shape[1] != self.features:
            raise ShapeError.features("BatchNorm", self.features, shape)
        if isinstance(self.weight, list):
            raise ShapeError.needs_tensors("BatchNorm")
        if not isinstance(given, Tensor):
            given = Tensor(given, requires_grad=False)
        along = (-1, *(1,) * (len(shape) - 2))
        if self.training:
            out = self._by_the_batch(given, shape)
        else:
            scale = (self.running_var + self.eps) ** -0.5
            out = (given - self.running_mean.reshape(along)) * scale.reshape(along)
        if self.weight is None or self.bias is None:
            return out
        return out * self.weight.reshape(along) + self.bias.reshape(along)

    def _by_the_batch(self, x: Any, shape: tuple[int, ...]) -> Any:
        axes = (0, *range(2, len(shape)))
        count = x.size // self.features
        if count < 2:
            raise ShapeError.one_sample("BatchNorm", shape)
        centred = x - x.mean(axes, True)
        variance = centred.square().mean(axes, True)
        mean = x.data.mean(axes)
        spread = variance.data.reshape(-1) * (count / (count - 1))
        self.running_mean = self.running_mean + self.momentum * (mean - self.running_mean)
        self.running_var = self.running_var + self.momentum * (spread - self.running_var)
        return centred * (variance + self.eps) ** -0.5

    def __repr__(self) -> str:
        return f"BatchNorm({self.features}{'' if self.weight is not None else ', affine=False'})"


class Dropout(Module):
    """In training, each number set to 0 with a probability, and the others scaled up to make up.

    >>> import numpy as np
    >>> layer = Dropout(0.5, seed=0)
    >>> sorted(set(layer(np.ones(100)).tolist()))
    [0.0, 2.0]
    >>> layer.eval()(np.ones(3)).tolist()
    [1.0, 1.0, 1.0]
    """

    def __init__(self, p: float = 0.5, seed: Seed = None) -> None:
        if not 0.0 <= p < 1.0:
            raise SettingError.of(
                "the probability of Dropout", p, "a number from 0 up to but not 1"
            )
        self.p = p
        self._draw = np.random.default_rng(generator(seed).getrandbits(64))

    def __call__(self, x: Any) -> Any:
        """What is left of a tensor or an array."""
        given = operand(x, "Dropout")
        if not self.training or self.p == 0.0:
            return given
        kept = self._draw.random(np.shape(getattr(given, "data", given))) >= self.p
        return given * (kept / (1.0 - self.p))

    def __repr__(self) -> str:
        return f"Dropout({self.p})"


belongs_to_caller(BatchNorm.__call__, BatchNorm._by_the_batch, Dropout.__call__)
