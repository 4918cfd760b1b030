"""How tensors print."""

from __future__ import annotations

from typing import Any

from .._shared.numerics import np


class Printing:
    """Put on the class of tensors; never instantiated."""

    def __repr__(self: Any) -> str:
        """Numbers as NumPy prints them, long ones cut in the middle.

        >>> import retrograde as rg
        >>> rg.Tensor([1.0, 2.0], label="w")
        Tensor([1., 2.], label='w')
        """
        data = self.data
        body = np.array2string(data, separator=", ", prefix="Tensor(")
        more = f", label={self.label!r}" if self.label else ""
        if (data.size == 0 and data.shape != (0,)) or data.size > np.get_printoptions()[
            "threshold"
        ]:
            more += f", shape={data.shape}"
        return f"Tensor({body}{more})"

    def __format__(self: Any, spec: str) -> str:
        if not spec:
            return str(self)
        body = np.array2string(
            self.data, separator=", ", formatter={"float_kind": lambda x: format(x, spec)}
        )
        return str(body)
