"""NumPy as the package uses it: loaded when something of it is first asked for.

Where NumPy is not installed (in a browser, say) ``vectors`` stands in: enough for values, their
backward pass and what is told of it. Arrays and compiled functions then name the cure.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["np"]

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numerics(ModuleType):
        """A module that becomes NumPy, name by name, as names are first used."""

        def __getattr__(self, name: str) -> Any:
            try:
                import numpy as found
            except ModuleNotFoundError as error:
                if error.name != "numpy":
                    raise
                from . import vectors as found
            thing = getattr(found, name)
            setattr(self, name, thing)
            return thing

    np = _Numerics("numpy")
