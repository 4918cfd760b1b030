"""retrograde: the backward pass as real software."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import errors as errors
from . import nn as nn
from . import optim as optim
from . import protocols as _protocols  # noqa: F401  NumPy's functions find values through it
from .bulk import assign as assign
from .bulk import data as data
from .bulk import freeze as freeze
from .bulk import grads as grads
from .bulk import unfreeze as unfreeze
from .bulk import zero_grad as zero_grad
from .custom import custom_op as custom_op
from .derivatives import grad as grad
from .derivatives import gradients as gradients
from .derivatives import hessian as hessian
from .derivatives import hvp as hvp
from .derivatives import jacobian as jacobian
from .derivatives import jvp as jvp
from .derivatives import value_and_grad as value_and_grad
from .derivatives import vjp as vjp
from .elementwise import *  # noqa: F403  one function a row of the law
from .errors import RetrogradeError as RetrogradeError
from .functions import dot as dot
from .functions import logsumexp as logsumexp
from .functions import mean as mean
from .functions import norm as norm
from .functions import softmax as softmax
from .functions import sum as sum
from .graph import backward as backward
from .graph import order as order
from .modes import anomaly as anomaly
from .modes import grad_enabled as grad_enabled
from .modes import no_grad as no_grad
from .ops import OPS as _OPS
from .optimize import least_squares as least_squares
from .optimize import minimize as minimize
from .optimize import root as root
from .optimize import root_scalar as root_scalar
from .program import compile as compile
from .program import load as load
from .program import uniform as uniform
from .take import take as take
from .value import Value as Value

ops = _OPS

__version__ = "0.2.0.dev0"

_WHEN_ASKED = {
    "assert_gradients": "check.gradcheck",
    "births": "check.births",
    "compare": "check.compare",
    "doctor": "check.doctor",
    "explain": "",
    "gradcheck": "check.gradcheck",
    "ledger": "explain",
    "memory": "check.memory",
    "story": "explain",
    "thermometer": "explain",
}
"""Public names that are loaded when first asked for, and the room they are in."""

if _TYPE_CHECKING:
    from . import explain as explain
    from .check.births import births as births
    from .check.compare import compare as compare
    from .check.doctor import doctor as doctor
    from .check.gradcheck import assert_gradients as assert_gradients
    from .check.gradcheck import gradcheck as gradcheck
    from .check.memory import memory as memory
    from .explain import ledger as ledger
    from .explain import story as story
    from .explain import thermometer as thermometer
else:

    def __getattr__(name: str) -> object:
        if name not in _WHEN_ASKED:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        room = import_module(f"{__name__}.{_WHEN_ASKED[name] or name}")
        found = globals()[name] = getattr(room, name) if _WHEN_ASKED[name] else room
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *_WHEN_ASKED})
