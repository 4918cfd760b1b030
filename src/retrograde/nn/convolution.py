"""Convolutions over tensors: a small window of weights moved along one or two axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .._tensors.functions import conv1d, conv2d
from ..errors import SettingError, ShapeError
from ..tensor import Tensor
from ..value import belongs_to_caller
from .init import Initialiser, Seed, checked_size, fan_in_uniform, filled_tensor, generator
from .module import Module


class _Convolution(Module):
    """What Conv1d and Conv2d have in common."""

    axes: ClassVar[int]

    def __init__(
        self,
        nin: int,
        nout: int,
        window: int | Sequence[int],
        stride: int = 1,
        padding: int = 0,
        bias: bool = True,
        init: Initialiser | None = None,
        seed: Seed = None,
    ) -> None:
        name, draw = type(self).__name__, generator(seed)
        nin = checked_size(f"the inputs of {name}", nin)
        nout = checked_size(f"the outputs of {name}", nout)
        self.window = _window(name, window, self.axes)
        self.stride = checked_size(f"the stride of {name}", stride)
        if not isinstance(padding, int) or padding < 0:
            raise SettingError.of(f"the padding of {name}", padding, "a whole number from 0 up")
        self.padding = padding
        shape = (nout, nin, *self.window)
        self.weight = filled_tensor(shape, init or fan_in_uniform(), draw)
        limits = fan_in_uniform()
        self.bias = None
        if bias:
            numbers = [limits(shape, draw) for _ in range(nout)]
            self.bias = Tensor(numbers)

    def __call__(self, x: Any) -> Any:
        """The outputs for a batch: shape (batch, inputs, …) gives (batch, outputs, …)."""
        shape: tuple[int, ...] = getattr(x, "shape", ())
        if not isinstance(self.weight, Tensor):
            raise ShapeError.needs_tensors(type(self).__name__)
        if len(shape) != self.axes + 2 or shape[1] != self.weight.shape[1]:
            raise ShapeError.images(type(self).__name__, self.weight.shape[1], self.axes, shape)
        convolve = conv1d if self.axes == 1 else conv2d
        out = convolve(x, self.weight, stride=self.stride, padding=self.padding)
        return out if self.bias is None else out + self.bias.reshape(-1, *(1,) * self.axes)

    def __repr__(self) -> str:
        nout, nin = self.weight.shape[:2]
        window = self.window[0] if len(set(self.window)) == 1 else self.window
        settings = [f"{nin}, {nout}, {window}"]
        settings += [f"stride={self.stride}"] * (self.stride != 1)
        settings += [f"padding={self.padding}"] * (self.padding != 0)
        settings += ["bias=False"] * (self.bias is None)
        return f"{type(self).__name__}({', '.join(settings)})"


class Conv1d(_Convolution):
    """A window along one axis: (batch, inputs, length) gives (batch, outputs, length').

    >>> import numpy as np
    >>> layer = Conv1d(2, 3, window=5, padding=2, seed=0)
    >>> layer(np.zeros((4, 2, 10))).shape
    (4, 3, 10)
    """

    axes: ClassVar[int] = 1


class Conv2d(_Convolution):
    """A window over two axes: (batch, inputs, height, width) gives (batch, outputs, …).

    >>> import numpy as np
    >>> layer = Conv2d(1, 8, window=3, stride=2, padding=1, seed=0)
    >>> layer
    Conv2d(1, 8, 3, stride=2, padding=1)
    >>> layer(np.zeros((4, 1, 8, 8))).shape
    (4, 8, 4, 4)
    """

    axes: ClassVar[int] = 2


def _window(name: str, window: int | Sequence[int], axes: int) -> tuple[int, ...]:
    sizes = tuple(window) if isinstance(window, Sequence) else (window,) * axes
    if len(sizes) != axes:
        raise SettingError.of(f"the window of {name}", window, f"a size, or {axes} of them")
    return tuple(checked_size(f"the window of {name}", size) for size in sizes)


belongs_to_caller(_Convolution.__call__)
