"""What PyTorch's ops are called, and how their rules behave, in the words of the law.

A kind is a key of ``ops/words.py``: judging and telling know kinds, and no op by name. An op that
is not here has a rule of its own, "custom".
"""

from __future__ import annotations

import re
from typing import Any, Final

LEAF: Final = "leaf"

_BY_KIND: Final = {
    "copy": """
        view unsafeview reshapealias t transpose permute expand squeeze unsqueeze slice select split
        add sub sum mean cat stack clone tocopy alias unbind index embedding asstrided chunk narrow
        repeat splitwithsizes contiguous constantpadnd flip roll diagonal indexselect gather
        unsafesplit copyslices viewasreal viewascomplex squeezemultiple nestedfromtensor unfold
        upsamplenearest2d avgpool2d adaptiveavgpool2d dropout nativedropout toevent embeddingbag
        reflectionpad2d replicationpad2d scatteradd indexadd indexput copy trace tril triu cumsum
        addcmul identity
    """,
    "swap": "mul addcdiv prod",
    "weigh": """
        mm addmm bmm baddbmm linear convolution dot mv addmv addbmm einsum bilinear
        mkldnnlinear mkldnnconvolution slowconv2d thnnconv2d
    """,
    "quotient": "div reciprocal",
    "gate": "relu leakyrelu threshold preluscalar prelu rrelu hardshrink softshrink",
    "window": "hardtanh clamp clampmin clampmax relu6 hardsigmoid",
    "soft-gate": "gelu silu elu celu selu softplus mish hardswish glu logsigmoid",
    "saturate": "tanh sigmoid erf softmax softsign atan",
    "itself": "exp expm1 exp2",
    "inverse": "log log1p log2 log10",
    "root": "sqrt rsqrt",
    "power": "pow square",
    "flip": "neg",
    "flat": "round floor sign ceil trunc heaviside argmax",
    "choose": """
        max min maximum minimum where maskedfill maxpool2dwithindices maxpool1d amax amin topk sort
        adaptivemaxpool2d maxpool2d median masked_select maskedselect fmax fmin
    """,
    "sign": "abs",
    "turn": "sin cos",
    "length": "linalgvectornorm norm hypot cdist euclideandist",
    "share": """
        nativelayernorm nativebatchnorm cudnnbatchnorm nativegroupnorm fusedrmsnorm logsoftmax
        logsumexp
    """,
}
KINDS: Final = {op: kind for kind, ops in _BY_KIND.items() for op in ops.split()}
NORMS: Final = frozenset(op for op in _BY_KIND["share"].split() if op.endswith("norm"))
_THIRD = "linear mkldnnlinear convolution mkldnnconvolution slowconv2d thnnconv2d bilinear".split()
ADDED: Final = dict.fromkeys("addmm addmv addbmm baddbmm".split(), 0) | dict.fromkeys(
    (*NORMS, *_THIRD), 2
)
"""By op: the place of the operand that is only added, as a bias is."""
VIEWS: Final = frozenset(
    "t transpose view permute alias expand tocopy unsqueeze squeeze unsafeview reshapealias".split()
)
"""Copies of a tensor in another shape or dtype: what uses them uses the tensor."""

_NUMBER = re.compile(r"Backward\d*$")
_ops: dict[type, str] = {}


def op_of(node: Any) -> str:
    """What an autograd node is called: ``AddmmBackward0`` is ``addmm``."""
    kind = type(node)
    found = _ops.get(kind)
    if found is None:
        name = node.name()
        if name.endswith("AccumulateGrad"):
            found = LEAF
        else:
            found = _NUMBER.sub("", name.rpartition("::")[2])
            found = found if is_custom(node) else found.lower()
        if not is_custom(node):
            _ops[kind] = found
    return found


def is_custom(node: Any) -> bool:
    """Whether a node's rule was written in Python, as a ``torch.autograd.Function``."""
    return hasattr(node, "_forward_cls")


def kind_of(op: str) -> str:
    """How the rule of an op behaves."""
    return "leaf" if op == LEAF else KINDS.get(op, "custom")
