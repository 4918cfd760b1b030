"""Neuron, Layer and MLP as micrograd has them: the same names, call forms, order of random numbers.

A neuron is one node (a dot that begins with its bias, so its sum has micrograd's bits) and a relu.
With tensors (``Module.tensors``) it takes rows of inputs, and a layer's last axis is its neurons.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._tensors.doing import operand
from .._tensors.functions import stack
from .._values.lists import linear
from ..errors import SettingError, ShapeError
from ..tensor import Tensor
from ..value import Value, belongs_to_caller
from .init import Seed, checked_size, generator
from .module import Module


class Neuron(Module):
    """A weighted sum of its inputs and a bias, through relu unless ``nonlin`` is False.

    >>> neuron = Neuron(2, seed=1)
    >>> neuron
    ReLUNeuron(2)
    >>> [name for name, _ in neuron.named_parameters()]
    ['w[0]', 'w[1]', 'b']
    """

    def __init__(self, nin: int, nonlin: bool = True, seed: Seed = None) -> None:
        draw, nin = generator(seed), checked_size("the inputs of a neuron", nin)
        self.w = [Value(draw.uniform(-1, 1)) for _ in range(nin)]
        self.b = Value(0.0)
        self.nonlin = nonlin

    def __call__(self, x: Any) -> Any:
        """The neuron's value for a list of inputs; with tensors, one for each row of inputs."""
        if isinstance(self.w, Tensor):
            total = operand(x, "Neuron") @ self.w + self.b
        elif isinstance(x, Tensor):
            raise ShapeError.layer_of_values("Neuron", x.shape)
        else:
            (total,) = linear((self.w,), x, (self.b,))
        return total.relu() if self.nonlin else total

    def parameters(self) -> list[Any]:
        """The weights, then the bias."""
        return [self.w, self.b] if isinstance(self.w, Tensor) else [*self.w, self.b]

    def __repr__(self) -> str:
        return f"{'ReLU' if self.nonlin else 'Linear'}Neuron({len(self.w)})"


class Layer(Module):
    """Neurons side by side; a single one gives its result bare, not in a list.

    >>> Layer(2, 2)
    Layer of [ReLUNeuron(2), ReLUNeuron(2)]
    """

    def __init__(self, nin: int, nout: int, seed: Seed = None, **kwargs: Any) -> None:
        draw, nout = generator(seed), checked_size("the neurons of a layer", nout)
        self.neurons = [Neuron(nin, seed=draw, **kwargs) for _ in range(nout)]

    def __call__(self, x: Any) -> Any:
        """What the neurons give, each for the whole list."""
        out = [neuron(x) for neuron in self.neurons]
        if isinstance(self.neurons[0].w, Tensor):
            return stack(out, axis=-1)
        return out[0] if len(out) == 1 else out

    def parameters(self) -> list[Any]:
        """Those of the neurons, in order."""
        return [p for neuron in self.neurons for p in neuron.parameters()]

    def __repr__(self) -> str:
        return f"Layer of [{', '.join(map(str, self.neurons))}]"


class MLP(Module):
    """Layers in a row, relu after all but the last.

    >>> MLP(3, [2, 1])
    MLP of [Layer of [ReLUNeuron(3), ReLUNeuron(3)], Layer of [LinearNeuron(2)]]
    >>> len(MLP(2, [16, 16, 1]).parameters())
    337
    """

    def __init__(self, nin: int, nouts: Sequence[int], seed: Seed = None) -> None:
        if not hasattr(nouts, "__len__"):
            raise SettingError.of("the layers of an MLP", nouts, "a list of sizes, one a layer")
        draw, sizes, last = generator(seed), [nin, *nouts], len(nouts) - 1
        self.layers = [
            Layer(sizes[i], sizes[i + 1], seed=draw, nonlin=i != last) for i in range(len(nouts))
        ]

    def __call__(self, x: Any) -> Any:
        """What the last layer gives."""
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self) -> list[Any]:
        """Those of the layers, in order."""
        return [p for layer in self.layers for p in layer.parameters()]

    def __repr__(self) -> str:
        return f"MLP of [{', '.join(map(str, self.layers))}]"


belongs_to_caller(Neuron.__call__, Layer.__call__, MLP.__call__)
