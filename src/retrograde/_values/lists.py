"""Lists of values at once: a row of the law over lists, and the dots of a matrix with a list.

The nodes are those one would make one by one; the native engine makes them in one call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..value import core

if TYPE_CHECKING:
    from .._native import each as each
    from .._native import largest as largest
    from .._native import linear as linear
else:
    each, largest, linear = core.each, core.largest, core.linear
