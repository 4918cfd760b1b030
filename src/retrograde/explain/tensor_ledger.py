"""The ledger in graphs with tensors: of a tensor use by use or route by route, and of one number
product by product.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .._shared.array_birth import at as written
from .._shared.numerics import np
from ..errors import StoryError
from ..passes.flat import Pass
from ..passes.pictures import places_drawn
from ..passes.tensors import operands_of, places_of, summary_of, walked
from ..passes.values import read
from ..passes.written import whole
from ..tensor import Tensor
from ..value import Value, core
from .array_ledger import ArrayLedger, Use
from .array_names import names_of
from .ledger import Ledger, Share
from .term_ledger import Term, added, ledger_of_terms
from .unfolded import Made, products


class _Found(NamedTuple):
    """One use: the value that used the target, at which position, what it was handed and gave."""

    source: int
    position: int
    upstream: Any
    amount: Any


class Accounts:
    """The ledgers of one pass from its last value: uses are looked for once a tensor."""

    def __init__(self, graph: Pass, seed: float) -> None:
        self.graph, self.seed, self.names = graph, seed, names_of(graph)
        self._known: dict[int, tuple[list[_Found], Any]] = {}

    def uses(self, place: int) -> tuple[list[_Found], Any]:
        """Every use of a value with what it contributed, in the order of the pass, and their
        sum."""
        if place not in self._known:
            self._known[place] = self._looked_for(place)
        return self._known[place]

    def _looked_for(self, place: int) -> tuple[list[_Found], Any]:
        graph = self.graph
        assert graph.values is not None
        found: list[_Found] = []
        for turn in walked(graph, {len(graph) - 1: self.seed}):
            for edge, target, amount in turn.handed:
                if target == place:
                    position = edge - int(graph.starts[turn.node])
                    shape = np.shape(graph.values[place])
                    found.append(_Found(turn.node, position, turn.kept, whole(amount, shape)))
            if turn.node == place:
                return found, np.asarray(turn.upstream)
        return found, np.zeros(np.shape(graph.values[place]))

    def pictured(self, place: int, most: int) -> list[Ledger]:
        """The ledgers of those numbers of a gradient that its picture shows."""
        shape = self.uses(place)[1].shape
        return [self.of_one(place, at, most) for at in places_drawn(shape)]

    def of_one(self, place: int, index: tuple[int, ...], most: int) -> Ledger:
        """The products that one number of a gradient is the sum of."""
        values, names = self.graph.values, self.names
        assert values is not None
        found, gradient = self.uses(place)
        called = {core.key(value): name for value, name in zip(values, names)}
        terms: list[Term] = []
        shares: dict[int, list[float]] = {}
        sources = {each.source for each in found}
        for each in found:
            got = products(self._made(each.source), each.position, each.upstream, index, called)
            several = f"{names[each.source]}: " if len(sources) > 1 else ""
            shares.setdefault(each.source, []).extend(it.amount for it in got)
            terms += [it._replace(label=several + it.label) for it in got]
        name, number = names[place] + written(index), float(gradient[index])
        by_use = [Share(source, names[source], added(parts)) for source, parts in shares.items()]
        return ledger_of_terms(name, names[-1], number, terms, by_use, "rounding", most)

    def _made(self, place: int) -> Made:
        """A value with the numbers it was made of."""
        assert self.graph.values is not None
        node = self.graph.values[place]
        kept = operands_of(self.graph, place)
        if kept is None:
            return Made(node, [_numbers(v) for v in node.inputs], _numbers(node))
        assert self.graph.arrays is not None
        assert self.graph.arrays.numbers is not None
        return Made(node, kept, self.graph.arrays.numbers[place])


def _numbers(v: Any) -> Any:
    """The numbers of an operand; of what was written over none that are read."""
    return np.full(v.shape, np.nan) if core.is_written_over(v) else v.data


def tensor_ledger(
    root: Value,
    target: Any,
    index: int | tuple[int, ...] | None,
    through: Sequence[Any] | None,
    seed: float,
    most: int,
) -> ArrayLedger | Ledger:
    """Where the gradient of a tensor comes from; that of one number of it, or of a value, by
    products."""
    accounts = Accounts(read((root,), sites=True), seed)
    graph, names = accounts.graph, accounts.names
    place = _place(graph, names, target)
    found, gradient = accounts.uses(place)
    if through is not None:
        chosen = [_place(graph, names, each) for each in through]
        return _by_routes(graph, place, chosen, names, gradient, seed)
    if index is None and gradient.ndim:
        return _by_use(graph, place, names, found, gradient)
    return accounts.of_one(place, _checked(index, gradient.shape), most)


def _place(graph: Pass, names: Sequence[str], target: Any) -> int:
    """Where a value or tensor stands, given as such, by name or by number."""
    if isinstance(target, str):
        if target not in names:
            raise StoryError.no_name(target, list(names))
        return names.index(target)
    if isinstance(target, int):
        if not 0 <= target < len(graph):
            raise StoryError.no_id(target, len(graph) - 1)
        return target
    known = isinstance(target, (Value, Tensor))
    place = places_of(graph, (target,))[0] if known else -1
    if place < 0:
        raise StoryError.not_in(target, names[-1])
    return place


def _checked(index: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """An index of one number, counted from the front."""
    at = index if isinstance(index, tuple) else () if index is None else (index,)
    try:
        places = [operator.index(each) for each in at]
    except TypeError:
        raise StoryError.index(index, shape) from None
    if len(places) != len(shape) or any(not -n <= k < n for k, n in zip(places, shape)):
        raise StoryError.index(index, shape)
    return tuple(k % n for k, n in zip(places, shape))


def _by_use(
    graph: Pass, place: int, names: Sequence[str], found: Sequence[_Found], gradient: Any
) -> ArrayLedger:
    uses = [
        _use(graph.name(each.source), graph.site(each.source), "", each.amount, gradient)
        for each in found
    ]
    return _account(names[place], [each.amount for each in found], uses, gradient)


def _account(
    name: str, parts: Sequence[Any], uses: Sequence[Use], gradient: Any, through: bool = False
) -> ArrayLedger:
    total = np.zeros_like(gradient)
    for number, part in enumerate(parts):
        total = np.asarray(part) if not number else total + part
    with np.errstate(all="ignore"):
        gap = float(np.max(np.abs(total - gradient), initial=0.0))
    exact = bool(np.array_equal(total, gradient, equal_nan=True))
    size = summary_of(gradient)
    return ArrayLedger(name, gradient.shape, size, tuple(uses), exact, gap, through)


def _use(op: str, site: Any, group: str, amount: Any, gradient: Any) -> Use:
    along, squares = float(np.vdot(amount, gradient)), float(np.vdot(gradient, gradient))
    size = summary_of(amount)
    lengths = size.norm * squares**0.5
    share = along / squares if squares else 0.0
    return Use(op, site, group, size, share, along / lengths if lengths else 0.0)


def _by_routes(
    graph: Pass,
    place: int,
    chosen: Sequence[int],
    names: Sequence[str],
    gradient: Any,
    seed: float,
) -> ArrayLedger:
    """By linearity: one walk a chosen value, from its whole gradient, that stops at the others."""
    stops = dict.fromkeys(where for where in chosen if where != place)
    root = len(graph) - 1
    totals = {t.node: t.kept for t in walked(graph, {root: seed}) if t.node in stops}
    parts: dict[str, Any] = {}
    for where in stops:
        others = set(stops) - {where}
        if where in totals:
            parts[names[where]] = _arrived(graph, place, {where: totals[where]}, others, gradient)
    if root not in stops:
        parts["none of these"] = _arrived(graph, place, {root: seed}, set(stops), gradient)
    uses = [_use("", None, name, part, gradient) for name, part in parts.items()]
    return _account(names[place], list(parts.values()), uses, gradient, through=True)


def _arrived(graph: Pass, place: int, seeds: Mapping[int, Any], stops: Any, like: Any) -> Any:
    for turn in walked(graph, seeds, stops):
        if turn.node == place:
            return np.asarray(turn.upstream)
    return np.zeros_like(like)
