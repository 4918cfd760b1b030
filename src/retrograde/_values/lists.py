"""Lists of values at once: a row of the law over lists, and the dots of a matrix with a list.

The nodes are those one would make one by one; the native core makes them in one call.
"""

from __future__ import annotations

from ..value import core

each, largest, linear = core.each, core.largest, core.linear
