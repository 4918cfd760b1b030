"""Arrays that come from outside: made float64, or refused with the reason.

Both cores and the rooms above take data, seeds and operands in through here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import TensorError
from .numerics import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def floats(thing: Any, what: str) -> NDArray[np.float64]:
    """A thing as a float64 array, without a copy where it is one already.

    >>> floats([1, 2], "data")
    array([1., 2.])
    """
    if type(thing) is np.ndarray and thing.dtype == np.float64:
        return thing
    if hasattr(thing, "requires_grad"):
        raise TensorError.of_graph(what, thing)
    if isinstance(thing, np.ma.MaskedArray) and np.ma.is_masked(thing):
        raise TensorError.masked(what)
    try:
        array = np.asarray(thing)
    except ValueError:
        raise TensorError.ragged(what, thing) from None
    if array.size == 0 and array.dtype == object:
        raise TensorError.dtype(what, array)
    if array.dtype.kind not in "biuf":
        raise TensorError.dtype(what, array)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        raise TensorError.dtype(what, array)
    return np.asarray(array, dtype=np.float64)
