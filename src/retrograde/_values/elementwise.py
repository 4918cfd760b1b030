"""The ops as functions of values or numbers: ``exp(x)``, ``maximum(x, y)``, ``clip(x, low, high)``.

One function a row of the law, provided by the core in use; ``elementwise.pyi`` has their
signatures and is generated. Values give a value, numbers a float, arrays an array.
"""

from __future__ import annotations

from ..ops import OPS
from ..value import core

globals().update({name: getattr(core, name) for name in OPS})

__all__ = sorted(OPS)
