"""THE LAW: what each op computes, its partials, and its words. Imports nothing of ours."""

from .op import Edge as Edge
from .op import Op as Op
from .scalar import OPS as OPS
from .words import WORDS as WORDS

__all__ = ["OPS", "WORDS", "Edge", "Op"]
