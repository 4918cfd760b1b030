"""The ledger in graphs with tensors: of a tensor use by use or route by route, and of one number
product by product.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from .._shared.array_birth import at as written
from ..errors import StoryError
from ..passes.flat import Pass
from ..passes.tensors import places_of, read_names, summary_of, walked
from ..passes.values import read
from ..tensor import Tensor
from ..value import Value, core
from .array_ledger import ArrayLedger, Term, Use, ledger_of_terms
from .array_names import names_of
from .ledger import Ledger, Share
from .unfolded import products


class _Found(NamedTuple):
    """One use: the value that used the target, at which position, what it was handed and gave."""

    source: int
    position: int
    upstream: Any
    amount: Any


def tensor_ledger(
    root: Value,
    target: Any,
    index: tuple[int, ...] | None,
    through: Sequence[Any] | None,
    seed: float,
    most: int,
) -> ArrayLedger | Ledger:
    """Where the gradient of a tensor comes from; of one number of it, or of a value, by products."""
    graph = read((root,), sites=True)
    (place,) = places_of(graph, (target,))
    if place < 0:
        raise StoryError.not_in_story(target.label or "the tensor")
    names = names_of(graph)
    found, gradient = _uses(graph, place, seed)
    if through is not None:
        return _by_routes(graph, place, through, names, gradient, seed)
    if index is None and isinstance(target, Tensor):
        return _by_use(graph, place, names, found, gradient)
    return _of_one(graph, place, index or (), names, found, gradient, most)


def _uses(graph: Pass, place: int, seed: float) -> tuple[list[_Found], Any]:
    """Every use of a value with what it contributed, in the order of the pass, and their sum."""
    found: list[_Found] = []
    gradient: Any = None
    for turn in walked(graph, {len(graph) - 1: seed}):
        for edge, target, amount in turn.handed:
            if target == place:
                position = edge - int(graph.starts[turn.node])
                found.append(_Found(turn.node, position, turn.upstream, amount))
        if turn.node == place:
            gradient = turn.upstream
            break
    assert graph.values is not None
    shape = np.shape(graph.values[place].data)
    return found, np.zeros(shape) if gradient is None else np.asarray(gradient)


def _engines(graph: Pass, place: int, seed: float) -> Any:
    """The gradient as the engine's own pass makes it."""
    assert graph.values is not None
    values = graph.values
    found = core.gradients((values[-1],), (seed,), (values[place],), 0)
    return None if found is None else found[0]


def _by_use(
    graph: Pass, place: int, names: Sequence[str], found: Sequence[_Found], gradient: Any
) -> ArrayLedger:
    uses = [
        _use(graph.name(each.source), graph.site(each.source), "", each.amount, gradient)
        for each in found
    ]
    return _account(graph, place, names, [each.amount for each in found], uses, gradient)


def _account(
    graph: Pass,
    place: int,
    names: Sequence[str],
    parts: Sequence[Any],
    uses: Sequence[Use],
    gradient: Any,
    through: bool = False,
) -> ArrayLedger:
    total = np.zeros_like(gradient)
    for number, part in enumerate(parts):
        total = np.asarray(part) if not number else total + part
    gap = float(np.max(np.abs(total - gradient), initial=0.0))
    exact = bool(np.array_equal(total, gradient, equal_nan=True))
    shape = gradient.shape
    return ArrayLedger(
        names[place], shape, summary_of(gradient), tuple(uses), exact, gap, through
    )


def _use(op: str, site: Any, group: str, amount: Any, gradient: Any) -> Use:
    along, squares = float(np.vdot(amount, gradient)), float(np.vdot(gradient, gradient))
    size = summary_of(amount)
    lengths = size.norm * squares**0.5
    share = along / squares if squares else 0.0
    return Use(op, site, group, size, share, along / lengths if lengths else 0.0)


def _by_routes(
    graph: Pass,
    place: int,
    through: Sequence[Any],
    names: Sequence[str],
    gradient: Any,
    seed: float,
) -> ArrayLedger:
    """By linearity: one walk a chosen value, from its whole gradient, that stops at the others."""
    chosen = places_of(graph, through)
    for each, where in zip(through, chosen):
        if where < 0:
            raise StoryError.not_in_story(getattr(each, "label", None) or "a chosen value")
    stops = dict.fromkeys(where for where in chosen if where != place)
    root = len(graph) - 1
    totals = {t.node: t.upstream for t in walked(graph, {root: seed}) if t.node in stops}
    parts: dict[str, Any] = {}
    for where in stops:
        others = set(stops) - {where}
        if where in totals:
            parts[names[where]] = _arrived(graph, place, {where: totals[where]}, others, gradient)
    if root not in stops:
        parts["none of these"] = _arrived(graph, place, {root: seed}, set(stops), gradient)
    uses = [_use("", None, name, part, gradient) for name, part in parts.items()]
    return _account(graph, place, names, list(parts.values()), uses, gradient, through=True)


def _arrived(graph: Pass, place: int, seeds: Mapping[int, Any], stops: Any, like: Any) -> Any:
    for turn in walked(graph, seeds, stops):
        if turn.node == place:
            return np.asarray(turn.upstream)
    return np.zeros_like(like)


def _of_one(
    graph: Pass,
    place: int,
    index: tuple[int, ...],
    names: Sequence[str],
    found: Sequence[_Found],
    gradient: Any,
    most: int,
) -> Ledger:
    values = graph.values
    assert values is not None
    called = {core.key(value): name for value, name in zip(values, names)}
    terms: list[Term] = []
    shares = []
    for each in found:
        got = products(values[each.source], each.position, each.upstream, index, called)
        amount = fsum(it.amount for it in got)
        several = f"{names[each.source]}: " if len(found) > 1 else ""
        shares.append(Share(each.source, names[each.source], amount))
        terms += [Term(several + it.label, it.partial, it.upstream, it.amount) for it in got]
    name = names[place] + written(index)
    number = float(gradient[index])
    return ledger_of_terms(name, names[-1], number, terms, shares, "rounding", most)
