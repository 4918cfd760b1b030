"""The story of a backward pass, as data: every value in the order it was computed, and every
contribution in the order backward adds it.

A :class:`Story` keeps columns of plain numbers and texts; ``nodes``, ``forward`` and ``backward``
show them as records made when asked for, so that a story of a million values costs little more
than its numbers. Nothing here knows of values or programs, only of a pass, and nothing is drawn
here.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import StoryError
from ..ops import kind_of
from ..ops.sentences import Operand, sentence, shown
from .awkward import BACKWARD, FORWARD, Born, Corners, births_of
from .columns import Columns, Pulled
from .entries import BackwardStep as BackwardStep
from .entries import Contribution as Contribution
from .entries import ForwardStep as ForwardStep
from .entries import Node as Node
from .entries import Place as Place
from .entries import Steps
from .spelling import expression, spell_whole, with_numbers

SCHEMA, VERSION = "retrograde.story", 1

if TYPE_CHECKING:
    from .paths import Path

Unfolding = Callable[[int, int], Sequence[Any]]
"""(value, most) -> the ledgers of the numbers of its gradient that its picture shows, with so many
entries each; not kept in files."""

LONGEST_SPELLING = 24
"""Characters up to which a value without a name is spelled out instead."""


class Story:
    """One forward and backward pass, step by step. Plain data; see ``docs/story.md``.

    >>> import retrograde as rg
    >>> a, b = rg.Value(2.0, label="a"), rg.Value(-3.0, label="b")
    >>> story = rg.story(a * b)
    >>> [step.words for step in story.forward]
    ['a = 2', 'b = -3', 'a * b = 2 × -3 = -6']
    >>> story.backward[0].words
    'multiplication swaps: a receives the upstream gradient times b (-3), b times a (2)'
    >>> [(story.nodes[it.to].name, it.amount) for it in story.backward[0].contributions]
    [('a', -3.0), ('b', 2.0)]
    """

    def __init__(
        self,
        columns: Columns,
        pulled: Pulled,
        seed: float,
        note: str | None = None,
        *,
        stale: frozenset[int] = frozenset(),
        values: Sequence[Any] = (),
        words: tuple[list[str], list[str]] | None = None,
        unfolding: Unfolding | None = None,
        path: Path | None = None,
    ) -> None:
        self.columns, self.pulled, self.seed, self.note = columns, pulled, seed, note
        self._stale, self._words = stale, words
        self.unfolding, self.path = unfolding, path
        self._values = values  # keeps the identities that ``find`` looks up alive
        self._shown = [i for i, op in enumerate(columns.ops) if op != "number"]

    # ---- what it shows ------------------------------------------------------------------------

    @property
    def root(self) -> int:
        """The id of the value the pass started from: the last."""
        return len(self.columns.ops) - 1

    @property
    def nodes(self) -> Steps[Node]:
        """Every value, inputs before uses."""
        return Steps(len(self.columns.ops), self._node)

    @property
    def forward(self) -> Steps[ForwardStep]:
        """The forward steps: leaves and computed values in order."""
        return Steps(len(self._shown), self._forward)

    @property
    def backward(self) -> Steps[BackwardStep]:
        """The backward steps, in the order backward takes them."""
        return Steps(len(self.pulled.order), self._backward)

    @property
    def leaves(self) -> list[int]:
        """The ids of the leaves that take gradients."""
        columns = self.columns
        return [i for i in self._shown if columns.ops[i] == "leaf" and columns.requires_grad[i]]

    @cached_property
    def spellings(self) -> list[str | None]:
        """Every value in full, as ``a*b + c``; None where that is too long."""
        c = self.columns
        return spell_whole(c.ops, c.symbols, c.names, c.named, c.inputs, LONGEST_SPELLING)

    def spelled(self, node: int) -> str:
        """A value's own name, else the expression in full where it is short, else its ``v3``."""
        columns = self.columns
        return columns.names[node] if columns.named[node] else self.spellings[node] or (
            columns.names[node]
        )  # fmt: skip

    @cached_property
    def births(self) -> tuple[Born, ...]:
        """Where a NaN or an infinity was born, the first places only."""
        return births_of(self)

    @cached_property
    def corners(self) -> Corners:
        """The kinks and jumps that values stand on, and the slopes to either side."""
        return Corners(self)

    def _born_at(self, phase: str, node: int) -> Born | None:
        """The birth at a value, where there is one."""
        found = (each for each in self.births if (each.phase, each.node) == (phase, node))
        return next(found, None)

    def forward_node(self, step: int) -> int:
        """The value of a forward step."""
        return self._shown[step]

    def find(self, which: Any) -> int:
        """The id of a value of the story, given as a value, a name, a label or an id."""
        if isinstance(which, bool) or not isinstance(which, (int, str)):
            found = self._identities.get(id(which))
            if found is None:
                raise StoryError.not_in(which, self.columns.names[self.root])
            return found
        if isinstance(which, int):
            if 0 <= which <= self.root:
                return which
            raise StoryError.no_id(which, self.root)
        for texts in (self.columns.names, self.columns.labels, self.spellings):
            if which in texts:
                return texts.index(which)
        spaceless = [text and text.replace(" ", "") for text in self.spellings]
        if which.replace(" ", "") in spaceless:
            return spaceless.index(which.replace(" ", ""))
        raise StoryError.no_name(which, [n for n, own in self._names_and_own if own])

    def _place_of(self, value: Any) -> int | None:
        """Where a value stands in the story; None for one that is no part of it."""
        return self._identities.get(id(value))

    @property
    def _names_and_own(self) -> Iterator[tuple[str, bool]]:
        return zip(self.columns.names, self.columns.named)

    @cached_property
    def _identities(self) -> dict[int, int]:
        return {id(value): i for i, value in enumerate(self._values) if value is not None}

    def contributions_to(self, node: int) -> list[tuple[int, Contribution]]:
        """The ledger's lines of a value: (the step they come from, the contribution), in order."""
        if node not in self._into:
            return []
        return [(self._step_of[at], self._contribution(at)) for at in self._into[node]]

    @cached_property
    def _into(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for at, to in enumerate(self.pulled.to):
            found.setdefault(to, []).append(at)
        return found

    @cached_property
    def _step_of(self) -> array[int]:
        """The step each contribution belongs to."""
        found = array("q")
        starts = self.pulled.starts
        for step in range(len(starts) - 1):
            found.extend([step] * (starts[step + 1] - starts[step]))
        return found

    # ---- entries ------------------------------------------------------------------------------

    def _names_of(self, node: int) -> list[str]:
        return [self.columns.names[i] for i in self.columns.inputs[node]]

    def expression(self, node: int) -> str:
        """How a value was computed, one level deep, by names; a leaf's is its number."""
        columns = self.columns
        if not columns.inputs[node]:
            return shown(columns.data[node])
        return expression(columns.ops[node], columns.symbols[node], self._names_of(node))

    def numbers(self, node: int) -> str:
        """The same in numbers: ``2 × -3``."""
        columns = self.columns
        numbers = [columns.data[i] for i in columns.inputs[node]]
        return with_numbers(columns.ops[node], columns.symbols[node], numbers)

    def is_stale(self, node: int) -> bool:
        """Whether the numbers under a value were changed after it was computed."""
        return node in self._stale

    def _node(self, index: int) -> Node:
        columns = self.columns
        place = columns.places[index]
        return Node(
            index,
            columns.ops[index],
            columns.symbols[index],
            columns.labels[index],
            columns.names[index],
            self.expression(index),
            columns.data[index],
            self.pulled.grads[index],
            columns.inputs[index],
            columns.partials[index],
            columns.requires_grad[index],
            columns.sites[place] if place >= 0 else None,
        )

    def _forward(self, step: int) -> ForwardStep:
        node = self._shown[step]
        if self._words is not None:
            return ForwardStep(node, self._words[0][step])
        return ForwardStep(node, self._forward_words(node))

    def _forward_words(self, node: int) -> str:
        columns, result = self.columns, shown(self.columns.data[node])
        if not columns.inputs[node]:
            frozen = "" if columns.requires_grad[node] else " (takes no gradient)"
            return f"{columns.names[node]} = {result}{frozen}"
        if node in self._stale:
            return (
                f"{self.expression(node)} was {result} when it was computed; "
                "what it was computed from has changed since"
            )
        born = self._born_at(FORWARD, node)
        made = f"{self.expression(node)} = {self.numbers(node)} = {result}"
        return f"{made}. {born.words()}" if born else made

    def _contribution(self, at: int) -> Contribution:
        pulled = self.pulled
        position = pulled.positions[at]
        node = pulled.order[self._step_of[at]]
        return Contribution(
            pulled.to[at],
            position,
            self.columns.partials[node][position],
            pulled.amounts[at],
            pulled.befores[at],
            pulled.afters[at],
        )

    def _backward(self, step: int) -> BackwardStep:
        node = self.pulled.order[step]
        upstream = self.pulled.grads[node]
        starts = self.pulled.starts
        return BackwardStep(
            node,
            upstream,
            self._words[1][step] if self._words is not None else self._backward_words(node),
            tuple(self._contribution(at) for at in range(starts[step], starts[step + 1])),
        )

    def _backward_words(self, node: int) -> str:
        columns = self.columns
        op = columns.ops[node]
        operands = [
            Operand(columns.names[i], columns.data[i], partial, columns.requires_grad[i])
            for i, partial in zip(columns.inputs[node], columns.partials[node])
        ]
        name = columns.symbols[node] if op == "custom" else op
        upstream = self.pulled.grads[node]
        said = sentence(name, kind_of(op), operands, columns.data[node], upstream)
        born = self._born_at(BACKWARD, node)
        return f"{said}. {born.brief()}" if born else said

    # ---- as plain data ------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The whole story as dicts, lists, numbers and texts, as ``docs/story.md`` describes.

        NaN and the infinities are the texts "NaN", "Infinity" and "-Infinity".
        """
        from .stored import plain

        return plain(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Story:
        """The story that ``to_json`` wrote; another schema or version is refused."""
        found = (plain.get("schema"), plain.get("version")) if isinstance(plain, dict) else None
        if found != (SCHEMA, VERSION):
            raise StoryError.version(found, (SCHEMA, VERSION))
        from .stored import restored

        return restored(plain)

    def __reduce__(self) -> Any:
        return Story.from_json, (self.to_json(),)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Story):
            return NotImplemented
        return self is other or self.to_json() == other.to_json()

    __hash__ = object.__hash__

    # ---- views --------------------------------------------------------------------------------

    def text(self, width: int = 80, color: bool = False) -> str:
        """The two-column waterfall as text."""
        if self.columns.arrays is not None:
            from .array_text import array_waterfall

            return array_waterfall(self, width, color)
        from .text import waterfall

        return waterfall(self, width, color)

    def __repr__(self) -> str:
        c = self.columns
        return (
            f"<story of {self.spelled(self.root)} = {shown(c.data[-1])}: {len(self._shown)} "
            f"values, {len(self.pulled.to)} contributions>"
        )

    def __str__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from .notebook import bundle

        return bundle(self)
