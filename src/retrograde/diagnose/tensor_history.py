"""The history of parameters among which are tensors: passes are examined or glanced at.

Examining a pass reads all of it; a glance is one more backward pass for the parameters alone.
"""

from __future__ import annotations

from functools import partial
from math import isfinite
from typing import Any

from .._shared.numerics import np
from .._shared.sites import Site
from ..optim.optimizer import Optimizer
from ..passes.tensors import places_of, read_arrays
from ..value import Value, core
from .array_history import ArrayHistory
from .array_seen import seen_of
from .births import births_under
from .parameters import Parameters
from .tensor_gates import gates_of
from .tensor_motion import TensorMotion, norm_of, norms_of
from .thresholds import Thresholds

FIRST, EVERY = 16, 32
"""How many passes are examined from the beginning on, and which of the later ones."""


class TensorHistory(ArrayHistory):
    """The passes over tensors seen so far; one entry a parameter, whatever its shape."""

    by_hand = "rg.assign(p, p.data - lr * p.grad)"

    def __init__(self, parameters: Parameters, thresholds: Thresholds) -> None:
        groups = len(parameters.group_names)
        motion = TensorMotion(parameters.values, parameters.group_of, groups, thresholds)
        super().__init__(parameters, thresholds, motion)
        self.weigh(norms_of(parameters.values))

    def observe(self, roots: tuple[Any, ...], seeds: tuple[Any, ...]) -> None:
        """Examine one pass."""
        self._look(roots, seeds, None)

    def end(self, roots: tuple[Any, ...], seeds: tuple[Any, ...], site: Site | None) -> None:
        """After a pass: examine it, or glance at it; one that is the first not to be finite is
        always examined."""
        number = self.passes + 1
        if number <= FIRST or number % EVERY == 0 or not self._glance(roots, seeds, site):
            self._look(roots, seeds, site)

    def _glance(self, roots: tuple[Any, ...], seeds: tuple[Any, ...], site: Site | None) -> bool:
        """Take in the gradients alone; False where that is not enough."""
        found = core.gradients(roots, seeds, self.parameters.values, 0)
        if found is None:
            return False
        reached = np.array([each is not None for each in found])
        sizes = [0.0 if g is None else norm_of(g) for g in found]
        loss, gradients = _loss(roots), np.array(sizes)
        finite = bool(np.isfinite(gradients).all()) and isfinite(loss)
        if not finite and not self.not_finite.began[0]:
            return False
        self.pass_by(gradients, reached, (loss,), site)
        return True

    def _look(self, roots: tuple[Any, ...], seeds: tuple[Any, ...], site: Site | None) -> None:
        graph = read_arrays(roots, seeds)
        assert graph.arrays is not None
        place = self.parameters.place
        numbers = {
            index: place[id(value)]
            for index, value in enumerate(graph.values or ())
            if id(value) in place
        }
        named = {index: self.parameters.names[number] for index, number in numbers.items()}
        graph.arrays.parameters = named
        graph.arrays.gates = gates_of(graph, self.thresholds)
        self.weigh(norms_of(self.parameters.values))
        seen = seen_of(
            graph,
            places_of(graph, roots),
            numbers,
            len(self.parameters),
            _loss(roots),
            partial(births_under, roots, seeds),
        )
        self.examine(seen, site)

    # ---- optimizers and cuts -------------------------------------------------------------------

    def stepping(
        self, optimizer: Optimizer, site: Site | None, computes: bool, clock: int = 0
    ) -> None:
        """Before an optimizer steps; ``clock`` counts the passes of the program."""
        place = self.parameters.place
        held = [place[key] for key in map(id, optimizer.parameters()) if key in place]
        mine = np.array(held, dtype=np.intp)
        if len(mine):
            self.motion.holding(type(optimizer).__name__, mine)
            if not computes:
                self.motion.stepping(mine, False, self.passes, site, clock or self.passes)

    def cut(self, value: Any, how: str, site: Site | None) -> None:
        """A value is about to lose its history: which parameters lie under it."""
        place = self.parameters.place
        found = [place[id(leaf)] for leaf in core.leaves_under((value,)) if id(leaf) in place]
        if found:
            self.cuts.note(found, how, site, self.passes + 1)

    def adopt(self, leaves: list[Value]) -> bool:
        """Tensors made anew stand for nobody: a step writes into those that are there."""
        return False


def _loss(roots: tuple[Any, ...]) -> float:
    return float(sum(np.sum(root.data) for root in roots))
