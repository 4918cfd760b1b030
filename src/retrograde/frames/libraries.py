"""Libraries of frames, looked up among those that are loaded: none is imported for a look."""

from __future__ import annotations

import sys
from typing import Any


def loaded(name: str) -> Any:
    """A library; None where nobody has loaded it, or another thread is about to: nothing that was
    passed can be of its kinds then."""
    module = sys.modules.get(name)
    about_to = getattr(getattr(module, "__spec__", None), "_initializing", False)
    return None if about_to else module
