"""Modules: micrograd's Neuron, Layer and MLP, what a small transformer needs, and convolutions.

The parameters are values, and layers work on lists of them; ``module.tensors()`` makes them
tensors, and the same layers take batches of arrays. Either way they are built on public ops, so
they can be explained, checked and differentiated like any other program. Optimizers are in
``rg.optim``.
"""

from . import init as init
from .attention import Attention as Attention
from .attention import Past as Past
from .attention import attention as attention
from .batches import BatchNorm as BatchNorm
from .batches import Dropout as Dropout
from .convolution import Conv1d as Conv1d
from .convolution import Conv2d as Conv2d
from .layers import Embedding as Embedding
from .layers import LayerNorm as LayerNorm
from .layers import Linear as Linear
from .layers import RMSNorm as RMSNorm
from .losses import cross_entropy as cross_entropy
from .losses import hinge as hinge
from .losses import mse as mse
from .module import Module as Module
from .perceptron import MLP as MLP
from .perceptron import Layer as Layer
from .perceptron import Neuron as Neuron
