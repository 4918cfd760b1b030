"""The history of values: their graphs are surveyed, and what takes their place is adopted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Any

from .._shared.cores import Survey
from .._shared.numerics import np
from .._shared.sites import Site
from ..optim.optimizer import Optimizer
from ..passes.survey import SATURATE, SOFT, survey
from ..value import Value, core
from .absolute import absolute_adjoints
from .births import births_under
from .history import History, Rows, Seen
from .parameters import Parameters
from .thresholds import KINDS, Thresholds, limits_of
from .value_motion import ValueMotion
from .zeros import zero_of

NOISE = 1e-12
"""A gradient at most this part of its absolute adjoint is rounding."""

_BOUNDED = frozenset(
    name for code, name in enumerate(core.OP_NAMES) if KINDS[code] & 7 in (SATURATE, SOFT)
)


class ValueHistory(History):
    """The passes over values seen so far."""

    motion: ValueMotion

    def __init__(self, parameters: Parameters, thresholds: Thresholds) -> None:
        groups = len(parameters.group_names)
        motion = ValueMotion(parameters.values, parameters.group_of, groups, thresholds)
        super().__init__(parameters, thresholds, motion)
        self._limits = limits_of(thresholds)
        self._originals = dict(parameters.place)
        self._kept = parameters.values  # so that no other value can have their ids
        self._holdings: list[tuple[Optimizer, int, Any, bool]] = []

    def weights(self) -> Any:
        """The sizes of the parameters now."""
        return np.abs(self.motion.now()[0])

    # ---- one pass ----------------------------------------------------------------------------

    def observe(self, roots: tuple[Value, ...], seeds: tuple[float, ...]) -> tuple[Any, Any]:
        """Examine one pass; returns the gradients of the parameters and which were reached."""
        seen = self._seen(self._surveyed(roots, seeds), roots, seeds)
        self.take(seen)
        self._look_for_noise(roots, np.abs(seen.gradients))
        return seen.gradients, seen.reached

    def _surveyed(self, roots: tuple[Value, ...], seeds: tuple[float, ...]) -> Survey:
        """The survey of a pass, over those values that now stand for the parameters."""
        values = self.parameters.values
        seen = survey(roots, seeds, values, KINDS, self._limits)
        lost = self.reached & ~self.missing & ~np.frombuffer(seen["reached"], dtype=bool)
        if lost.any() and self.adopt(core.leaves_under(roots), lost):
            values = self.parameters.values
            seen = survey(roots, seeds, values, KINDS, self._limits)
        return seen

    def _seen(self, found: Survey, roots: tuple[Value, ...], seeds: tuple[float, ...]) -> Seen:
        values, place = self.parameters.values, self.parameters.place
        return Seen(
            gradients=np.frombuffer(found["gradients"]),
            reached=np.frombuffer(found["reached"], dtype=bool),
            depths=np.frombuffer(found["depths"], dtype=np.int32),
            loss=sum(root.data for root in roots),
            nodes=found["nodes"],
            edges=found["edges"],
            levels=(
                np.frombuffer(found["level"]),
                np.frombuffer(found["level_nodes"], dtype=np.int64),
            ),
            births=partial(births_under, roots, seeds),
            step=found["step"],
            units=[_rows(*unit) for unit in found["units"]],
            zeros=[
                (number, reasons, uses, partial(zero_of, values[number], reasons, place, *blamed))
                for number, reasons, uses, *blamed in found["zeros"]
            ],
            closures=found["closures"],
            odd_data=found["odd_data"],
            odd_gradients=found["odd_adjoints"],
        )

    def _look_for_noise(self, roots: tuple[Value, ...], sizes: Any) -> None:
        """Once, where gradients are faint: which of them are what cancellation has left."""
        faint = (sizes > 0.0) & (sizes < self.thresholds.faint * sizes.max(initial=0.0))
        if self.noise is None and faint.any():
            scale = absolute_adjoints(roots, self.parameters.values, self.nodes)
            self.noise = faint & (sizes <= NOISE * scale)

    def end(self, roots: tuple[Value, ...], seeds: tuple[float, ...], site: Site | None) -> None:
        """After a pass: examine it."""
        if self.rebuilding.is_first:
            self.rebuilding.learn(core.leaves_under(roots), self.parameters.place)
        gradients, reached = self.observe(roots, seeds)
        self.motion.passed(gradients, reached, (self.loss,), site)

    # ---- optimizers --------------------------------------------------------------------------

    def stepping(
        self, optimizer: Optimizer, site: Site | None, computes: bool, clock: int = 0
    ) -> None:
        """Before an optimizer steps; ``clock`` counts the passes of the program, where it runs
        others than are seen here."""
        mine, strangers = self._held_by(optimizer)
        if len(mine) or strangers:
            self.motion.holding(type(optimizer).__name__, mine)
            if not computes:
                self.motion.stepping(mine, strangers, self.passes, site, clock or self.passes)

    def _held_by(self, optimizer: Optimizer) -> tuple[Any, bool]:
        """The numbers of the parameters it holds, and whether it holds any whose place others
        have taken; a few optimizers are remembered."""
        count = sum(len(group["params"]) for group in optimizer.param_groups)
        for known, size, mine, strangers in self._holdings:
            if known is optimizer and size == count:
                return mine, strangers
        ids = [id(value) for value in optimizer.parameters()]
        place = self.parameters.place
        mine = np.array([place[i] for i in ids if i in place], dtype=np.intp)
        strangers = any(i in self._originals and i not in place for i in ids)
        self._holdings = [*self._holdings[-3:], (optimizer, count, mine, strangers)]
        return mine, strangers

    # ---- values that take the place of others ------------------------------------------------

    def adopt(self, leaves: Sequence[Value], lost: Any = None) -> bool:
        """Watch the values that took the place of lost parameters, where they are their next step;
        whether that was so."""
        lost = self.reached & ~self.missing if lost is None else lost
        place, after = self.parameters.place, self.motion.after
        found = self.rebuilding.successors(leaves, lost, place)
        if not found or after is None:
            return False
        step = self.rebuilding.is_step(found, *after)
        self.rebuilding.note(self.passes + 1, step)
        if step:
            values = tuple(found.get(n, value) for n, value in enumerate(self.parameters.values))
            places = {id(value): number for number, value in enumerate(values)}
            self.parameters = replace(self.parameters, values=values, place=places)
            self.motion.adopt(values, list(found), self.passes)
            self._holdings.clear()
        return step

    # ---- cuts --------------------------------------------------------------------------------

    def cut(self, value: Value, how: str, site: Site | None) -> None:
        """A value is about to lose its history: which parameters lie under it."""
        line = self.cuts.line(how, site, self.passes + 1)
        if line is None or line.under.all():
            return
        seen = survey((value,), (0.0,), self.parameters.values, KINDS, self._limits)
        line.under |= np.frombuffer(seen["reached"], dtype=bool)


def _rows(number: int, rows: int, shut: int, first: Value, data: float, adjoint: float) -> Rows:
    """A unit as the survey found it; what is shut or not finite is nobody's twin."""
    same = shut < rows and adjoint != 0.0 and isfinite(data + adjoint)
    op = first.op
    mark = (data, adjoint) if same else None
    return Rows(number, op, op in _BOUNDED, core.instruction_of(first), rows, shut, mark)
