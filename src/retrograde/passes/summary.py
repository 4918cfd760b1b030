"""What is known of the numbers of an array: a summary. A single number is the array of one.

Arrays are read where they lie, natively by their address or by NumPy; whoever has them elsewhere
fills a :class:`Summary` itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite, isinf, isnan, sqrt
from typing import Any, Final

from .._shared.numerics import np
from ..value import core_name, native_core

KINDS: Final = {"float32": 0, "bfloat16": 1, "float16": 2, "float64": 3}
"""The kinds of number that are read by address, as the native core counts them."""


@dataclass(frozen=True)
class Summary:
    """How many numbers there are and what they are like. ``norm`` and ``mean`` are of the finite
    ones, ``low`` and ``high`` keep infinities; ``first`` is the flat index of the first that is
    not finite, or -1.

    >>> print(Summary.of([3.0, 0.0, -4.0]))
    norm 5, mean -0.333, -4 … 3, 33 % zero
    >>> Summary.number(2.0).norm
    2.0
    """

    count: int
    norm: float
    mean: float
    low: float
    high: float
    zeros: int
    nans: int = 0
    infs: int = 0
    first: int = -1

    @classmethod
    def number(cls, x: float) -> Summary:
        """One number."""
        odd = not isfinite(x)
        size = 0.0 if odd else x
        return cls(1, abs(size), size, x, x, int(x == 0.0), int(isnan(x)), int(isinf(x)), odd - 1)

    @classmethod
    def of(cls, numbers: Any) -> Summary:
        """Numbers that NumPy can read."""
        array = np.ascontiguousarray(numbers, np.float64)
        if core_name == "native" and array.size:
            return cls.at(array.ctypes.data, "float64", array.size)
        return cls._by_numpy(array.ravel())

    @classmethod
    def at(cls, address: int, kind: str, count: int) -> Summary:
        """Numbers that lie side by side in memory; only where the native core is."""
        total, squares, low, high, zeros, nans, infs, first = native_core.summarise(
            address, KINDS[kind], count
        )
        finite = count - nans - infs
        return cls(
            count, sqrt(squares), total / finite if finite else 0.0, low, high, zeros, nans, infs,
            first,
        )  # fmt: skip

    @classmethod
    def _by_numpy(cls, array: Any) -> Summary:
        if not array.size:
            return EMPTY
        finite = np.isfinite(array)
        usual = array[finite]
        nans = int(np.isnan(array).sum())
        known = array[~np.isnan(array)]
        return cls(
            array.size,
            float(np.sqrt(np.sum(usual * usual))),
            float(usual.mean()) if usual.size else 0.0,
            float(known.min()) if known.size else float("inf"),
            float(known.max()) if known.size else float("-inf"),
            int((array == 0.0).sum()),
            nans,
            array.size - usual.size - nans,
            -1 if finite.all() else int(np.argmin(finite)),
        )

    @property
    def odd(self) -> int:
        """How many numbers are not finite."""
        return self.nans + self.infs

    @property
    def rms(self) -> float:
        """The root mean square."""
        return self.norm / sqrt(self.count) if self.count else 0.0

    @property
    def is_zero(self) -> bool:
        """Whether every number is 0."""
        return self.zeros == self.count

    def as_dict(self) -> dict[str, Any]:
        """The summary as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        if self.count == 1:
            return f"{self.low:.4g}" if not self.nans else "nan"
        if not self.count:
            return "empty"
        text = f"norm {self.norm:.3g}, mean {self.mean:.3g}, {self.low:.3g} … {self.high:.3g}"
        if self.zeros:
            text += f", {100 * self.zeros / self.count:.0f} % zero"
        for count, what in ((self.nans, "NaN"), (self.infs, "infinite")):
            if count:
                text += f", {count:,} {what}" if count < self.count else f", all {what}"
        return text


EMPTY: Final = Summary(0, 0.0, 0.0, float("inf"), float("-inf"), 0)


def joined(parts: Sequence[Summary]) -> Summary:
    """The summary of several arrays as one.

    >>> joined([Summary.number(3.0), Summary.number(-4.0)]).norm
    5.0
    """
    if len(parts) == 1:
        return parts[0]
    count = sum(part.count for part in parts)
    if not count:
        return EMPTY
    first, before = -1, 0
    for part in parts:
        if first < 0 <= part.first:
            first = before + part.first
        before += part.count
    odd = sum(part.odd for part in parts)
    total = sum(part.mean * (part.count - part.odd) for part in parts)
    return Summary(
        count,
        sqrt(sum(part.norm**2 for part in parts)),
        total / (count - odd) if count > odd else 0.0,
        min(part.low for part in parts),
        max(part.high for part in parts),
        sum(part.zeros for part in parts),
        sum(part.nans for part in parts),
        sum(part.infs for part in parts),
        first,
    )


def place_of(flat: int, shape: Sequence[int]) -> tuple[int, ...]:
    """A flat index as one index an axis.

    >>> place_of(7, (2, 5))
    (1, 2)
    """
    found: list[int] = []
    for extent in reversed(shape):
        flat, index = divmod(flat, extent)
        found.append(index)
    return tuple(reversed(found))


def shape_text(shape: Sequence[int]) -> str:
    """A shape as people write it.

    >>> shape_text((32, 10)), shape_text(())
    ('32×10', 'one number')
    """
    return "×".join(map(str, shape)) or "one number"
