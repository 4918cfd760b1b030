"""The reader for values: the graph under roots as a :class:`.Pass`, in one call of the core."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .._shared.numerics import np
from .._shared.sites import site_of, span_of
from ..value import Value, core, core_name
from .flat import CUSTOM, Pass
from .handing import contributions

_TAKES, _HOOKED, _RULED = 1, 2, 4
_FLOAT = sys.getsizeof(0.0, 0)  # PyPy does not say how large an object is: 0


def read(
    roots: Sequence[Value],
    since: int = 0,
    sites: bool = False,
    log: list[Value] | None = None,
) -> Pass:
    """Everything under the roots, each value after its inputs; the backward pass walks it from its
    end. Nothing is changed.

    Values made before the epoch ``since`` count as leaves. With ``sites`` the places where values
    were made are worked out. With the ``log`` of a recording they stand in the order in which they
    were made.

    >>> import retrograde as rg
    >>> a = rg.Value(3.0, label="a")
    >>> graph = read((a * 2.0 + a,))
    >>> graph.ops, graph.data.tolist(), graph.inputs.tolist(), graph.labels
    (['leaf', 'mul', 'add'], [3.0, 6.0, 9.0], [0, -1, 1, 0], {0: 'a'})
    """
    values, ops, flags, data, grads, starts, inputs, numbers, places, made, labels = core.read(
        tuple(roots), since, *([] if log is None else [log])
    )
    codes = np.minimum(np.frombuffer(ops, np.uint8), np.uint8(CUSTOM))
    marks = np.frombuffer(flags, np.uint8)
    own = np.flatnonzero(codes == CUSTOM).tolist()
    return Pass(
        codes=codes,
        data=np.frombuffer(data),
        takes=(marks & _TAKES) != 0,
        starts=np.frombuffer(starts, np.int64),
        inputs=np.frombuffer(inputs, np.int64),
        numbers=np.frombuffer(numbers),
        places=np.frombuffer(places, np.int32),
        labels=labels,
        own={index: _name(values[index]) for index in own},
        ruled=(marks & _RULED) != 0,
        rule=contributions,
        values=values,
        grads=np.frombuffer(grads),
        hooked=(marks & _HOOKED) != 0,
        instructions=made,
        sites=[site_of(each) for each in made] if sites else None,
        spans=[span_of(each) for each in made] if sites else None,
    )


def _name(value: Any) -> str:
    return value._op or "custom"


def sizes_of(graph: Pass) -> list[int]:
    """The bytes of each node with what it alone holds; under PyPy those of numbers alone."""
    assert graph.values is not None
    own = [sys.getsizeof(value, 0) for value in graph.values]
    if core_name == "native":
        return own
    # floats and tuples are objects of their own on this core, and each number is a node
    numbers = np.bincount(graph.owners[graph.inputs < 0], minlength=len(graph)).tolist()
    widths = graph.widths.tolist()
    slopes = np.where(graph.ruled, 0, graph.widths).tolist()
    tuples = [2 * sys.getsizeof((None,) * width, 0) for width in range(max(widths, default=0) + 1)]
    return [
        size + _FLOAT * (2 + held) + tuples[width] + count * (size + 2 * _FLOAT) + _numbers(value)
        for size, held, width, count, value in zip(own, slopes, widths, numbers, graph.values)
    ]


def _numbers(value: Any) -> int:
    """The bytes of a tensor's numbers, which are no part of the object on this core."""
    return 0 if isinstance(value, Value) else 8 * int(value.size)
