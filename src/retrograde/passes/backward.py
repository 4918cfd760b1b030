"""The backward pass over a pass: gradients, and every contribution with the gradient it met.

The additions are the engine's, in its order, so that every number has the engine's bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .._shared.numerics import np
from ..value import core
from .flat import Floats, Pass


@dataclass(frozen=True, eq=False)
class Backward:
    """One backward pass: ``gradients`` by value; by edge the ``amounts`` contributed, and
    ``befores``, what the input's gradient held until then. Number operands get 0."""

    gradients: Floats
    amounts: Floats
    befores: Floats


def seeds_at(places: Sequence[int], seeds: Sequence[float]) -> dict[int, float]:
    """Seeds by value: those of a value that stands there twice are added."""
    found: dict[int, float] = {}
    for place, seed in zip(places, seeds):
        found[place] = found.get(place, 0.0) + seed
    return found


def pull(graph: Pass, seeds: Mapping[int, float], partials: Floats | None = None) -> Backward:
    """The backward pass from some values, each with its seed; no ``.grad`` is changed.

    ``partials`` take the place of those of the pass, by edge.
    """
    gradients = np.zeros(len(graph))
    for index, seed in seeds.items():
        gradients[index] += seed
    amounts, befores = np.zeros(len(graph.inputs)), np.zeros(len(graph.inputs))

    def rule(index: int, upstream: float) -> object:
        assert graph.rule is not None
        return graph.rule(graph, index, upstream)

    slopes = graph.numbers if partials is None else partials
    core.pull(graph.starts, graph.inputs, slopes, graph.ruled, rule, gradients, amounts, befores)
    return Backward(gradients, amounts, befores)
