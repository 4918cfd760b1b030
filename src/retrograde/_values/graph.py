"""The graph as a whole: the backward pass from several roots, and the order it walks."""

from __future__ import annotations

from collections.abc import Iterable

from ..value import Value, core


def backward(roots: Iterable[Value], seeds: Iterable[float] | None = None) -> None:
    """Run one backward pass from several roots, each with its seed (1 unless given).

    >>> import retrograde as rg
    >>> x = rg.Value(3.0)
    >>> rg.backward([x * 2, x * x], [1.0, 10.0])
    >>> x.grad
    62.0
    """
    roots = (roots,) if isinstance(roots, Value) else tuple(roots)
    core.backward(roots, (1.0,) * len(roots) if seeds is None else tuple(seeds))


def order(*roots: Value) -> list[Value]:
    """Everything under the roots, leaves included, each value after its inputs.

    The backward pass walks this list from its end.

    >>> import retrograde as rg
    >>> a, b = rg.Value(2.0, label="a"), rg.Value(3.0, label="b")
    >>> [value.label or value.op for value in rg.order(a * b + a)]
    ['a', 'b', 'mul', 'add']
    """
    return core.order(roots)
