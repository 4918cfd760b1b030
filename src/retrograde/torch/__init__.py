"""``rg.torch``: the story, the ledger and the doctor for PyTorch programs as they are.

The only room that imports PyTorch, and only when it is asked for.
"""

from __future__ import annotations

from ..errors import MissingPackageError

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise MissingPackageError.extra("torch", "rg.torch") from None

from .public import assert_healthy as assert_healthy
from .public import births as births
from .public import ledger as ledger
from .public import memory as memory
from .public import story as story
from .public import watch as watch
