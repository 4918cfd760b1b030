"""THE LAW: what each op computes, its partials, and its words. Imports nothing of ours."""

from .op import Edge as Edge
from .op import Op as Op
from .scalar import OPS as OPS
from .structural import STRUCTURAL as STRUCTURAL
from .structural import Structural as Structural
from .words import WORDS as WORDS

__all__ = ["OPS", "STRUCTURAL", "WORDS", "Edge", "Op", "Structural", "kind_of"]


def kind_of(op: str) -> str:
    """How the rule of an op behaves, a key of ``WORDS``; of one the law does not have, custom.

    >>> kind_of("mul"), kind_of("dot"), kind_of("leaf"), kind_of("my own")
    ('swap', 'weigh', 'leaf', 'custom')
    """
    row = OPS.get(op) or STRUCTURAL.get(op)
    return row.kind if row else "leaf" if op in ("leaf", "number") else "custom"
