"""Reading a story off the graph under a value.

No ``.grad`` is read for the story itself and none is written: the pass is worked out beside the
graph. Gradients the graph already holds are only compared with it, and the note says where they
differ.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Sequence
from types import CodeType
from typing import Any

from .._shared.operands import is_real_scalar
from .._shared.sites import site_of, span_of
from ..errors import NotAValueError, RecordingError, StoryError
from ..ops import OPS
from ..ops.sentences import shown
from ..value import Value, core
from .columns import Columns, Pulled
from .entries import Place
from .names import Variables, given_names
from .notes import note_of
from .spelling import symbol_of
from .story import Story

_NAMES = core.OP_NAMES
_LEAF = _NAMES.index("leaf")


def story(root: Value | Sequence[Value], seed: float | Sequence[float] = 1.0) -> Story:
    """The story of the backward pass from a value: every step, in order, in words.

    Nothing is changed: ``backward`` need not have run, and no ``.grad`` is touched. Several roots
    are explained as one pass from the sum of the roots, each weighted by its seed.

    >>> import retrograde as rg
    >>> a = rg.Value(3.0, label="a")
    >>> story = rg.story(a + a)
    >>> story.nodes[0].grad, len(story.backward[0].contributions)
    (2.0, 2)
    >>> story.backward[0].words
    'addition copies the upstream gradient, 1, to both inputs; a is both, so it receives it twice'
    """
    roots = (root,) if isinstance(root, Value) else root
    if not isinstance(roots, (list, tuple)):
        raise NotAValueError.of("story", root)
    for index, each in enumerate(roots):
        if not isinstance(each, Value):
            raise NotAValueError.at("story", index, each)
    if not roots:
        raise StoryError.no_roots()
    seeds: Any = (seed,) * len(roots) if is_real_scalar(seed) else seed
    return read(roots, [float(each) for each in seeds])


def read(
    roots: Sequence[Value],
    seeds: Sequence[float],
    data: Sequence[float] | None = None,
    note: str | None = None,
    sites: bool = True,
) -> Story:
    """The story of a pass from one or several roots.

    ``data`` holds the numbers of ``core.order(roots)`` at the time of the pass, where the graph may
    have been changed since; then what the graph holds now is not compared. A ``note`` given takes
    the place of that comparison too. Without ``sites`` places in the source are left out.
    """
    if len(roots) != len(seeds):
        raise StoryError.seeds(len(roots), len(seeds))
    for root in roots:
        if core.hides(root):
            raise RecordingError.explained("the story", root)
    reader = _Reader(core.order(tuple(roots)), data, sites)
    columns = reader.columns
    if len(roots) > 1:
        reader.add_roots(roots, seeds)
        seed = 1.0
    else:
        seed = seeds[0]
    pulled = Pulled(columns, seed, reader.closure)
    stale = reader.stale() if data is None else frozenset[int]()
    if data is None and note is None:
        note = note_of(columns, pulled, reader.values, stale)
    return Story(columns, pulled, seed, note or None, stale=stale, values=reader.values)


class _Reader:
    """Fills columns from values in order; a number stands just before the value that uses it."""

    def __init__(self, order: Sequence[Value], data: Sequence[float] | None, sites: bool) -> None:
        self.values: list[Value | None] = []
        self.columns = columns = Columns.empty()
        self._sites: dict[tuple[int, int], int] = {}
        self._codes: list[CodeType] = []  # keeps their ids theirs
        self._variables = Variables()
        self._called: dict[tuple[int, str], str | None] = {}
        ids: dict[int, int] = {}
        wanted: list[str | None] = []
        ops, inputs, partials = columns.ops, columns.inputs, columns.partials
        for place, value in enumerate(order):
            op, parts, numbers = core.parts(value)
            name = _NAMES[op] if op < len(_NAMES) else "custom"
            here: tuple[int, ...] = ()
            slopes: tuple[float, ...] = ()
            if op != _LEAF:
                known = [ids.get(id(part)) for part in parts]
                if None in known:
                    here, slopes = self._with_numbers(value, name, known, numbers, wanted)
                else:
                    here = tuple(known)  # type: ignore[arg-type]
                    slopes = numbers if op < len(_NAMES) else value.partials
            ids[id(value)] = len(ops)
            site, variable = self._site(value, name) if sites else (-1, None)
            self.values.append(value)
            ops.append(name)
            inputs.append(here)
            partials.append(slopes)
            columns.symbols.append(symbol_of(name) if name != "custom" else value._op or "custom")
            columns.labels.append(value.label or None)
            columns.data.append(core.peek(value) if data is None else data[place])
            columns.requires_grad.append(value.requires_grad)
            columns.places.append(site)
            wanted.append(value.label or variable)
        self._name(wanted)

    def _name(self, wanted: list[str | None]) -> None:
        columns = self.columns
        fixed = [op == "number" for op in columns.ops]
        columns.names[:] = given_names(wanted, fixed, columns.labels)
        columns.named[:] = [bool(name) for name in wanted]

    def _with_numbers(
        self,
        value: Value,
        op: str,
        known: Sequence[int | None],
        numbers: tuple[float, ...],
        wanted: list[str | None],
    ) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Inputs and partials of a value some of whose operands are numbers."""
        here = []
        for index, number in zip(known, numbers):
            if index is None:
                here.append(len(self.columns.ops))
                self._number(number)
                wanted.append(shown(number))
            else:
                here.append(index)
        whole = partials_of(op, [self.columns.data[i] for i in here], core.peek(value))
        slopes = [
            slope if index is None else number
            for index, number, slope in zip(known, numbers, whole)
        ]
        return tuple(here), tuple(slopes)

    def _number(self, number: float) -> None:
        columns = self.columns
        self.values.append(None)
        columns.ops.append("number")
        columns.symbols.append("")
        columns.labels.append(None)
        columns.data.append(number)
        columns.inputs.append(())
        columns.partials.append(())
        columns.requires_grad.append(False)
        columns.places.append(-1)

    def _site(self, value: Value, op: str) -> tuple[int, str | None]:
        """Where a value was made, as an index, and the variable it was assigned to there."""
        instruction = core.instruction_of(value)
        if instruction is None:
            return -1, None
        key = (id(instruction[0]), instruction[1])
        place = self._sites.get(key)
        if place is None:
            site = site_of(instruction)
            if site is None:
                return -1, None
            place = self._sites[key] = len(self.columns.sites)
            self._codes.append(instruction[0])
            text = linecache.getline(site.file, site.line).strip()
            self.columns.sites.append(Place(site.file, site.line, site.function, text or None))
        called = (place, op)
        if called not in self._called:
            file = self.columns.sites[place].file
            self._called[called] = self._variables.of(file, span_of(instruction), op)
        return place, self._called[called]

    def add_roots(self, roots: Sequence[Value], seeds: Sequence[float]) -> None:
        """Several roots as one: the dot product of the roots with their seeds."""
        ids = {id(value): index for index, value in enumerate(self.values) if value is not None}
        columns = self.columns
        first = len(columns.ops)
        for seed in seeds:
            self._number(seed)
            columns.names.append(shown(seed))
            columns.named.append(True)
        here = [ids[id(root)] for root in roots]
        numbers = [columns.data[i] for i in here]
        self._number(sum(number * seed for number, seed in zip(numbers, seeds)))
        columns.ops[-1] = columns.symbols[-1] = "dot"
        columns.inputs[-1] = (*here, *range(first, first + len(seeds)))
        columns.partials[-1] = (*seeds, *numbers)
        columns.requires_grad[-1] = True
        columns.names.append("roots")
        columns.named.append(True)

    def stale(self) -> frozenset[int]:
        """The values whose op no longer makes them out of their inputs."""
        found = []
        data, inputs, recompute = self.columns.data, self.columns.inputs, core.recompute
        for index, value in enumerate(self.values):
            if value is not None and inputs[index]:
                now = recompute(value)
                if now is not None and now != data[index]:
                    if not (math.isnan(now) and math.isnan(data[index])):
                        found.append(index)
        return frozenset(found)

    def closure(self, index: int, upstream: float) -> tuple[tuple[float, ...], list[float | None]]:
        """The partials and contributions of a value whose rule is a Python function.

        Such a rule adds into ``.grad``: the gradients are lent to it and put back.
        """
        value = self.values[index]
        assert value is not None
        inputs = [self.values[i] for i in self.columns.inputs[index]]
        found = _lent(value, inputs, upstream)
        if upstream != 0.0 and math.isfinite(upstream):
            slopes = [None if amount is None else amount / upstream for amount in found]
        else:
            slopes = _lent(value, inputs, 1.0)
        return tuple(0.0 if slope is None else slope for slope in slopes), found


def _lent(value: Value, inputs: Sequence[Value | None], upstream: float) -> list[float | None]:
    """What a value's own rule adds to each input; to one that stands there twice, only once."""
    distinct: dict[int, Value] = {id(each): each for each in inputs if each is not None}
    borrowed = [value, *distinct.values()]
    before = [each.grad for each in borrowed]
    try:
        for each in distinct.values():
            each.grad = 0.0
        value.grad = upstream
        value._backward()
        added = {key: each.grad for key, each in distinct.items()}
        return [added.pop(id(each), None) for each in inputs]
    finally:
        for each, grad in zip(borrowed, before):
            each.grad = grad


def partials_of(op: str, operands: Sequence[float], result: float) -> Sequence[float]:
    """All partials of an op at its operands: a core keeps none for numbers."""
    if op == "sum":
        return [1.0] * len(operands)
    if op == "dot":
        half = len(operands) // 2
        return [*operands[half:], *operands[:half]]
    return OPS[op].evaluate_partials(*operands, result)
