"""The face of tensors, put on the class of whichever core is in use when the package is imported.

Nothing here is hot: a native core answers its hot operators itself, before these are asked.
"""

from __future__ import annotations

from typing import Any

from .._shared.numerics import np
from ..ops import OPS
from ..ops.array import ARRAYS
from ..tensor import Tensor
from ..value import core_name, native_core
from . import methods
from .copying import Copying
from .methods import Methods
from .operators import Operators, operated
from .printing import Printing

_OF_PYTHON = ("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__slots__")


_OF_CORE = frozenset(getattr(Tensor, "_native_names", ()))


def put_on(tensor_class: Any, part: type) -> None:
    """Give the class what a part of the face has; what the core has itself stays."""
    for name, attribute in vars(part).items():
        if name not in _OF_PYTHON and name not in _OF_CORE:
            setattr(tensor_class, name, attribute)


for _name in OPS:
    if not hasattr(Methods, _name) and _name not in _OF_CORE:
        setattr(Tensor, _name, methods.op_method(_name))
for _part in (Methods, Operators, Printing, Copying):
    put_on(Tensor, _part)
Tensor.clip = methods.clip  # type: ignore[method-assign]

from .protocols import Protocols  # noqa: E402  its table asks for methods

put_on(Tensor, Protocols)
for _name in dir(np.ndarray):
    if not _name.startswith("_") and not hasattr(Tensor, _name):
        setattr(Tensor, _name, methods.Absent(_name))
if core_name == "native":
    from .tracing import traced

    native_core.take_tensors(operated, Methods, Protocols.__array_ufunc__)
    native_core.take_compositions(
        traced, {name: row.wholes for name, row in ARRAYS.items() if row.wholes}, np.asarray
    )
