"""Attention: each position of a sequence asks the others what they hold.

A sequence is a list of positions, a position a list of values; with tensors (``Module.tensors``) an
array whose last two axes are these, whatever stands before them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from typing import Any

from .._shared.numerics import np
from .._tensors.doing import operand
from .._values.elementwise import where
from .._values.functions import softmax
from .._values.lists import each, linear
from ..errors import SettingError, ShapeError
from ..tensor import Tensor
from ..value import Value, belongs_to_caller
from .init import Initialiser, Seed, generator
from .layers import Linear
from .module import Module


def attention(
    query: Sequence[Value | float],
    keys: Sequence[Sequence[Value | float]],
    values: Sequence[Sequence[Value | float]],
) -> list[Any]:
    """The values, mixed by how well each key answers the query: ``softmax(q · k / √d) · values``.

    >>> attention([0.0], [[1.0], [5.0]], [[10.0], [20.0]])
    [15.0]
    """
    if len(keys) != len(values) or not len(keys):
        raise ShapeError.attention(len(keys), len(values))
    return _mixed(
        each("mul", list(query), 1 / sqrt(len(query))), list(map(list, keys)), list(zip(*values))
    )


def _mixed(query: list[Any], keys: Sequence[Any], columns: Sequence[Any]) -> list[Any]:
    """One head: the query is scaled already, the values are given column by column."""
    return linear(columns, softmax(linear(keys, query, None)), None)


class Past:
    """What earlier positions left behind: the keys of each head, the values column by column."""

    def __init__(self, heads: int, width: int) -> None:
        self.width = width
        self.keys: list[list[list[Any]]] = [[] for _ in range(heads)]
        self.columns: list[list[Any]] = [[] for _ in range(heads * width)]

    def add(self, keys: list[Any], values: list[Any]) -> None:
        """One more position."""
        width = self.width
        for head, earlier in enumerate(self.keys):
            earlier.append(keys[head * width : (head + 1) * width])
        deque(map(list.append, self.columns, values), maxlen=0)


class Attention(Module):
    """Self-attention with several heads over a sequence; each position sees those before it.

    With ``causal=False`` every position sees all.

    >>> layer = Attention(4, heads=2, seed=0)
    >>> out = layer([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    >>> len(out), len(out[0])
    (2, 4)
    """

    def __init__(
        self,
        size: int,
        heads: int = 1,
        causal: bool = True,
        bias: bool = False,
        init: Initialiser | None = None,
        output_init: Initialiser | None = None,
        seed: Seed = None,
    ) -> None:
        if heads < 1 or size % heads:
            raise SettingError.of("the number of heads", heads, f"a divisor of the size, {size}")
        draw = generator(seed)
        self.heads, self.causal = heads, causal
        self.query = Linear(size, size, bias, init, draw)
        self.key = Linear(size, size, bias, init, draw)
        self.value = Linear(size, size, bias, init, draw)
        self.output = Linear(size, size, bias, output_init or init, draw)

    @property
    def width(self) -> int:
        """How many numbers a head works on."""
        return len(self.query.weight) // self.heads

    def past(self) -> Past:
        """Before the first position."""
        return Past(self.heads, self.width)

    def remember(self, x: Sequence[Value | float], past: Past) -> None:
        """Add a position to the past, to be asked from now on."""
        past.add(self.key(x), self.value(x))

    def ask(self, x: Sequence[Value | float], past: Past) -> Any:
        """What a position gets from the past."""
        width = self.width
        query = each("mul", self.query(x), 1 / sqrt(width))
        mixed: list[Any] = []
        for head, keys in enumerate(past.keys):
            here = slice(head * width, (head + 1) * width)
            mixed += _mixed(query[here], keys, past.columns[here])
        return self.output(mixed)

    def __call__(self, xs: Any) -> Any:
        """What every position gets from those it sees."""
        if isinstance(self.query.weight, Tensor):
            return self._all_at_once(operand(xs, "Attention"))
        if isinstance(xs, Tensor):
            raise ShapeError.layer_of_values("Attention", xs.shape)
        past = self.past()
        if not self.causal:
            for x in xs:
                self.remember(x, past)
            return [self.ask(x, past) for x in xs]
        out = []
        for x in xs:
            self.remember(x, past)
            out.append(self.ask(x, past))
        return out

    def _all_at_once(self, xs: Any) -> Any:
        """All positions of all sequences; the axis of heads stands before that of positions."""
        shape, width = xs.shape, self.width
        apart = (*shape[:-1], self.heads, width)
        query = self.query(xs).reshape(apart).swapaxes(-3, -2) * (1 / sqrt(width))
        key = self.key(xs).reshape(apart).swapaxes(-3, -2)
        value = self.value(xs).reshape(apart).swapaxes(-3, -2)
        scores = query @ key.swapaxes(-1, -2)
        if self.causal:
            scores = where(_seen(shape[-2]), scores, -np.inf)
        mixed = (scores.softmax(-1) @ value).swapaxes(-3, -2)
        return self.output(mixed.reshape(shape))

    def __repr__(self) -> str:
        mode = "" if self.causal else ", causal=False"
        return f"Attention({len(self.query.weight)}, heads={self.heads}{mode})"


@lru_cache(maxsize=64)
def _seen(positions: int) -> Any:
    """1 where a position sees another: itself and those before it."""
    return Tensor(np.tri(positions), requires_grad=False)


belongs_to_caller(attention, _mixed, Attention.remember, Attention.ask, Attention.__call__)
