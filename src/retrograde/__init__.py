"""retrograde: the backward pass as real software."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import errors as errors
from ._values.elementwise import *  # noqa: F403  one function a row of the law
from ._values.functions import dot as dot
from ._values.functions import logsumexp as logsumexp
from ._values.functions import mean as mean
from ._values.functions import norm as norm
from ._values.functions import softmax as softmax
from ._values.functions import sum as sum
from ._values.graph import backward as backward
from ._values.graph import order as order
from ._values.modes import anomaly as anomaly
from ._values.modes import any_bits as any_bits
from ._values.modes import grad_enabled as grad_enabled
from ._values.modes import no_grad as no_grad
from ._values.scanning import scan as scan
from .errors import RetrogradeError as RetrogradeError
from .ops import OPS as _OPS
from .value import Value as Value

ops = _OPS

__version__ = "0.2.0.dev0"

_WHEN_ASKED = {
    "Tensor": "_tensors.face",
    "assert_gradients": "check.gradcheck",
    "assign": "_values.bulk",
    "avg_pool": "_tensors.functions",
    "births": "diagnose.births",
    "cholesky": "_tensors.equations",
    "columns": "frames.binding",
    "compare": "check.compare",
    "compile": "program",
    "concatenate": "_tensors.functions",
    "conv1d": "_tensors.functions",
    "conv2d": "_tensors.functions",
    "cross_entropy": "_tensors.functions",
    "cumsum": "_tensors.functions",
    "custom_op": "_values.custom",
    "data": "_values.bulk",
    "det": "_tensors.equations",
    "diag": "_tensors.functions",
    "doctor": "diagnose.doctor",
    "einsum": "_tensors.functions",
    "embedding": "_tensors.functions",
    "explain": "",
    "flip": "_tensors.functions",
    "freeze": "_values.bulk",
    "gather": "_tensors.functions",
    "grad": "_derivatives.derivatives",
    "gradcheck": "check.gradcheck",
    "gradients": "_derivatives.derivatives",
    "grads": "_values.bulk",
    "hessian": "_derivatives.derivatives",
    "hvp": "_derivatives.derivatives",
    "inverse": "_tensors.equations",
    "jacobian": "_derivatives.derivatives",
    "jvp": "_derivatives.derivatives",
    "least_squares": "_derivatives.optimize",
    "ledger": "explain",
    "load": "program",
    "log_softmax": "_tensors.functions",
    "matmul": "_tensors.functions",
    "max_pool": "_tensors.functions",
    "memory": "diagnose.memory",
    "minimize": "_derivatives.optimize",
    "nn": "",
    "optim": "",
    "outer": "_tensors.functions",
    "pad": "_tensors.functions",
    "roll": "_tensors.functions",
    "rows": "program",
    "root": "_derivatives.optimize",
    "root_scalar": "_derivatives.optimize",
    "scatter": "_tensors.functions",
    "slogdet": "_tensors.equations",
    "solve": "_tensors.equations",
    "sort": "_tensors.functions",
    "split": "_tensors.functions",
    "stack": "_tensors.functions",
    "story": "explain",
    "take": "_values.take",
    "tensordot": "_tensors.functions",
    "thermometer": "explain",
    "torch": "",
    "tril": "_tensors.functions",
    "triu": "_tensors.functions",
    "unfreeze": "_values.bulk",
    "uniform": "program",
    "value_and_grad": "_derivatives.derivatives",
    "vjp": "_derivatives.derivatives",
    "zero_grad": "_values.bulk",
}
"""Public names that are loaded when first asked for, and the room they are in."""

if _TYPE_CHECKING:
    from . import explain as explain
    from . import nn as nn
    from . import optim as optim
    from . import torch as torch
    from ._derivatives.derivatives import grad as grad
    from ._derivatives.derivatives import gradients as gradients
    from ._derivatives.derivatives import hessian as hessian
    from ._derivatives.derivatives import hvp as hvp
    from ._derivatives.derivatives import jacobian as jacobian
    from ._derivatives.derivatives import jvp as jvp
    from ._derivatives.derivatives import value_and_grad as value_and_grad
    from ._derivatives.derivatives import vjp as vjp
    from ._derivatives.optimize import least_squares as least_squares
    from ._derivatives.optimize import minimize as minimize
    from ._derivatives.optimize import root as root
    from ._derivatives.optimize import root_scalar as root_scalar
    from ._tensors.equations import cholesky as cholesky
    from ._tensors.equations import det as det
    from ._tensors.equations import inverse as inverse
    from ._tensors.equations import slogdet as slogdet
    from ._tensors.equations import solve as solve
    from ._tensors.functions import avg_pool as avg_pool
    from ._tensors.functions import concatenate as concatenate
    from ._tensors.functions import conv1d as conv1d
    from ._tensors.functions import conv2d as conv2d
    from ._tensors.functions import cross_entropy as cross_entropy
    from ._tensors.functions import cumsum as cumsum
    from ._tensors.functions import diag as diag
    from ._tensors.functions import einsum as einsum
    from ._tensors.functions import embedding as embedding
    from ._tensors.functions import flip as flip
    from ._tensors.functions import gather as gather
    from ._tensors.functions import log_softmax as log_softmax
    from ._tensors.functions import matmul as matmul
    from ._tensors.functions import max_pool as max_pool
    from ._tensors.functions import outer as outer
    from ._tensors.functions import pad as pad
    from ._tensors.functions import roll as roll
    from ._tensors.functions import scatter as scatter
    from ._tensors.functions import sort as sort
    from ._tensors.functions import split as split
    from ._tensors.functions import stack as stack
    from ._tensors.functions import tensordot as tensordot
    from ._tensors.functions import tril as tril
    from ._tensors.functions import triu as triu
    from ._values.bulk import assign as assign
    from ._values.bulk import data as data
    from ._values.bulk import freeze as freeze
    from ._values.bulk import grads as grads
    from ._values.bulk import unfreeze as unfreeze
    from ._values.bulk import zero_grad as zero_grad
    from ._values.custom import custom_op as custom_op
    from ._values.take import take as take
    from .check.compare import compare as compare
    from .check.gradcheck import assert_gradients as assert_gradients
    from .check.gradcheck import gradcheck as gradcheck
    from .diagnose.births import births as births
    from .diagnose.doctor import doctor as doctor
    from .diagnose.memory import memory as memory
    from .explain import ledger as ledger
    from .explain import story as story
    from .explain import thermometer as thermometer
    from .frames.binding import columns as columns
    from .program import compile as compile
    from .program import load as load
    from .program import rows as rows
    from .program import uniform as uniform
    from .tensor import Tensor as Tensor
else:

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in _WHEN_ASKED:
            function = import_module(f"{__name__}._tensors.rows").function_of(name)
            if function is None:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
            globals()[name] = function
            return function

        room = import_module(f"{__name__}.{_WHEN_ASKED[name] or name}")
        found = globals()[name] = getattr(room, name) if _WHEN_ASKED[name] else room
        return found

    def __dir__() -> list[str]:
        from importlib.util import find_spec

        absent = set() if find_spec("torch") else {"torch"}
        return sorted(_NAMES - absent)

    # what there is does not depend on what was used: rows and rooms come into globals() when asked
    _NAMES = {*globals(), *_WHEN_ASKED}

    # import * takes what has no other owner: the name torch is that of the library
    __all__ = sorted(_name for _name in _NAMES - {"torch"} if not _name.startswith("_"))
