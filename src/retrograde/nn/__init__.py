"""Modules for values: micrograd's Neuron, Layer and MLP, and what a small transformer needs.

Everything works on lists of values and is built on ``rg.dot`` and ``rg.sum``, so it can be
explained, checked and differentiated like any other program. Optimizers are in ``rg.optim``.
"""

from . import init as init
from .attention import Attention as Attention
from .attention import Past as Past
from .attention import attention as attention
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
