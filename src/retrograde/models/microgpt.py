"""microgpt: a small GPT on values or tensors, of any size, built from ``rg.nn``.

Embeddings of token and position, blocks of attention and a perceptron with a squared relu, each
around a residual, and a linear head: no biases, no learnt scales. On values it walks a document
position by position, so learning and sampling run the same code; on tensors
(``model.tensors()``) all positions of all documents are one array.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np

from .._values.elementwise import relu, square
from .._values.functions import mean, softmax
from .._values.lists import each
from .._values.modes import no_grad
from ..errors import SettingError, TrainingError
from ..nn import Attention, Embedding, Linear, Module, Past, RMSNorm, cross_entropy
from ..nn.init import Seed, generator, normal, zeros
from ..tensor import Tensor
from ..value import Value, belongs_to_caller

SPREAD = 0.02


@dataclass(frozen=True)
class Shape:
    """The size of a model; ``vocabulary`` counts the edge of documents too.

    >>> Shape(vocabulary=27).parameters
    4192
    """

    vocabulary: int
    embedding: int = 16
    heads: int = 4
    layers: int = 1
    context: int = 16

    def __post_init__(self) -> None:
        for name, size in asdict(self).items():
            least = 2 if name == "vocabulary" else 1
            if not isinstance(size, int) or size < least:
                raise SettingError.of(f"the size '{name}'", size, f"a whole number from {least} up")
        if self.embedding % self.heads:
            allowed = f"a divisor of the embedding, {self.embedding}"
            raise SettingError.of("the number of heads", self.heads, allowed)

    @property
    def parameters(self) -> int:
        """How many parameters such a model has."""
        block = 12 * self.embedding**2
        return self.embedding * (2 * self.vocabulary + self.context) + self.layers * block


class Block(Module):
    """Attention, then a perceptron, each added to what came in."""

    def __init__(self, shape: Shape, draw: random.Random) -> None:
        size, begin = shape.embedding, normal(SPREAD)
        self.norm = RMSNorm(size, affine=False)
        self.attention = Attention(size, shape.heads, init=begin, output_init=zeros(), seed=draw)
        self.up = Linear(size, 4 * size, bias=False, init=begin, seed=draw)
        self.down = Linear(4 * size, size, bias=False, init=zeros(), seed=draw)

    def __call__(self, x: list[Any], past: Past) -> list[Any]:
        """The next position, after those of the past; it joins them."""
        here = self.norm(x)
        self.attention.remember(here, past)
        x = each("add", self.attention.ask(here, past), x)
        hidden = each("square", each("relu", self.up(self.norm(x))))
        return each("add", self.down(hidden), x)

    def at_once(self, x: Any) -> Any:
        """All positions of all documents, on tensors."""
        x = self.attention(self.norm(x)) + x
        return self.down(square(relu(self.up(self.norm(x))))) + x


class GPT(Module):
    """The model: what may come next after the tokens so far.

    >>> model = GPT(Shape(vocabulary=3, embedding=4, heads=2, context=4), seed=1)
    >>> round(model.loss([2, 0, 1, 2]).data, 1)  # nothing learnt yet: about log(3)
    1.1
    """

    def __init__(self, shape: Shape, seed: Seed = None) -> None:
        draw, size, begin = generator(seed), shape.embedding, normal(SPREAD)
        self._shape = shape
        self.token = Embedding(shape.vocabulary, size, begin, draw)
        self.position = Embedding(shape.context, size, begin, draw)
        self.norm = RMSNorm(size, affine=False)
        self.blocks = [Block(shape, draw) for _ in range(shape.layers)]
        self.head = Linear(size, shape.vocabulary, bias=False, init=begin, seed=draw)

    @property
    def shape(self) -> Shape:
        """How large it is."""
        return self._shape

    def pasts(self) -> list[Past]:
        """Before the first token: an empty past for every block."""
        return [block.attention.past() for block in self.blocks]

    def __call__(self, token: Any, position: int, pasts: Sequence[Past]) -> Any:
        """The logits of the next token, after this one at its position; it joins the pasts."""
        x = self.norm(each("add", self.token(token), self.position(position)))
        for block, past in zip(self.blocks, pasts):
            x = block(x, past)
        return self.head(x)

    @property
    def on_tensors(self) -> bool:
        """Whether its parameters are tensors."""
        return isinstance(self.head.weight, Tensor)

    def at_once(self, tokens: Any) -> Any:
        """The logits after every token of documents of one length, on tensors."""
        positions = self.position(_counted(np.shape(tokens)[-1]))
        x = self.norm(self.token(tokens) + positions)
        for block in self.blocks:
            x = block.at_once(x)
        return self.head(x)

    def loss_of(self, documents: Any) -> Any:
        """The mean loss of documents of one length, rows of whole numbers, on tensors."""
        rows = documents if hasattr(documents, "shape") else np.asarray(documents)
        seen = rows[:, : self._shape.context + 1]
        return cross_entropy(self.at_once(seen[:, :-1]), seen[:, 1:])

    def loss(self, tokens: Sequence[Any]) -> Any:
        """The mean surprise at each token of a document but the first, as far as context goes."""
        if self.on_tensors:
            return self.loss_of([tokens])
        count = min(len(tokens) - 1, self._shape.context)
        pasts, losses = self.pasts(), []
        for position in range(count):
            logits = self(tokens[position], position, pasts)
            losses.append(cross_entropy(logits, tokens[position + 1]))
        return mean(losses)

    def sample(
        self, edge: int, draw: random.Random, temperature: float = 1.0, start: Sequence[int] = ()
    ) -> list[int]:
        """Tokens after a start, until the edge or the end of the context.

        Low temperatures keep to what is likely; 0 takes the likeliest each time.
        """
        self.check_sample(temperature, start)
        tokens, pasts = [edge, *start], self.pasts()
        with no_grad():
            for position in range(self._shape.context):
                logits = self._after(tokens, position, pasts)
                if position < len(tokens) - 1:
                    continue
                token = _drawn(logits, temperature, draw)
                if token == edge:
                    break
                tokens.append(token)
        return tokens[1:]

    def _after(self, tokens: list[int], position: int, pasts: Sequence[Past]) -> list[float]:
        """The logits after a position."""
        if self.on_tensors:
            logits: list[float] = self.at_once([tokens[: position + 1]]).data[0, -1].tolist()
            return logits
        return [_number(logit) for logit in self(tokens[position], position, pasts)]

    def check_sample(self, temperature: float, start: Sequence[int]) -> None:
        """Refuse what :meth:`sample` cannot do."""
        if not temperature >= 0.0 or temperature == float("inf"):
            raise SettingError.of("the temperature", temperature, "a number from 0 up")
        if len(start) >= self._shape.context:
            allowed = f"shorter than the context, {self._shape.context}"
            raise SettingError.of("the length of the start", len(start), allowed)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}={size}" for name, size in asdict(self._shape).items())
        return f"GPT({sizes})"


@lru_cache(maxsize=64)
def _counted(positions: int) -> Any:
    """The numbers of positions, from 0 on."""
    return np.arange(positions)


def _number(logit: Any) -> float:
    return float(logit.data if isinstance(logit, Value) else logit)


def _drawn(logits: list[float], temperature: float, draw: random.Random) -> int:
    """A token, as likely as its share."""
    if not all(map(isfinite, logits)):
        raise TrainingError.scores()
    if temperature == 0.0:
        return max(range(len(logits)), key=logits.__getitem__)
    shares = softmax([logit / temperature for logit in logits])
    return draw.choices(range(len(shares)), weights=shares)[0]


belongs_to_caller(
    Block.__call__, Block.at_once, GPT.__call__, GPT.at_once, GPT.loss, GPT.loss_of, GPT.sample
)
