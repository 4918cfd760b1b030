"""``rg.torch.watch``: a program that knows nothing of it is watched, pass by pass.

Two doors are enough: where backward passes begin, and where optimizers step. Passes 1, 2, 4, 8, …
are examined: for them calls and modules are followed and every node is hooked. For all others
nothing is in place but the doors; the loss and the norms of gradients are read.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from math import isfinite
from typing import Any

import numpy as np
import torch
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from .._shared.sites import Site
from .._shared.watchers import Enough
from ..diagnose.array_seen import seen_of
from ..diagnose.judge import report_of
from ..diagnose.report import Report
from ..diagnose.thresholds import Thresholds
from ..errors import TorchProgramError
from ..explain.story import Story
from ..passes.arrays import Arrays, Cut
from ..passes.flat import Pass
from . import _private, board
from .alike import Alike
from .carried import carried_into
from .finding import births_caught, births_in, trouble
from .gates import gates_of
from .glances import Glances, mark
from .graph import Reading
from .kinds import LEAF
from .lines import Lines
from .logs import Log, log_to
from .modules import Modules
from .passing import doubling, no_collection, number_of_root, without_gradients
from .patients import Patients
from .pulling import Pulling
from .samples import sample
from .sites import calling, site_of
from .summaries import summary
from .traps import Trap, may_catch

FARTHEST = 4
"""How many passes before one that is examined lines are followed, where a graph serves several."""

_watching: list[Watch] = []


def watching_now() -> Watch | None:
    """The watch that is on."""
    return _watching[-1] if _watching else None


class Watch:
    """What is seen of a program inside ``rg.torch.watch``; see there."""

    def __init__(
        self,
        models: tuple[torch.nn.Module, ...],
        examine: Callable[[int], bool],
        thresholds: Thresholds,
        pictures: bool = False,
        log: Any = None,
        stop: int | None = None,
    ) -> None:
        self.modules = Modules(models)
        self.patients = Patients(self.modules, thresholds)
        self._glances = Glances(self.patients)
        self.lines = Lines(self.modules, sample if pictures else None)
        self.patients.read = self.lines.read
        self._examine, self._pictures, self._stop = examine, pictures, stop
        self._log: Log | None = log_to(log)
        self.passes = 0
        self.gradients = 0  # calls of torch.autograd.grad
        self.last: Pass | None = None
        self._reading: Reading | None = None
        self._ends = deque[int](maxlen=FARTHEST)  # how many nodes there were after each pass
        self._early = 0
        self._armed = self._aside = self._busy = self._sick = False
        self._compiled = False  # whether compiled code has run
        self._inside = 0  # the frame that runs some now
        self._left: tuple[bool, int, int] = False, 0, 0
        self._scaler: Any = None
        self._thread = threading.get_ident()
        self._stack, self._functions = ExitStack(), ExitStack()
        self._minds = False  # whether compiled code is told from other code
        self._site: Site | None = None
        self._norms: dict[str, float] = {}
        self._loss: Any = float("nan")
        self.looked: Callable[[Any, Pass | None], None] | None = None
        """Called with the root of a pass that is examined, before it runs and with it after."""
        self._lost: list[Any] = []
        self._alike, self._risky = Alike(), True

    # ---- in and out ---------------------------------------------------------------------------

    def __enter__(self) -> Watch:
        if _watching:
            raise TorchProgramError.watched_twice()
        self._minds = False
        with ExitStack() as stack:
            stack.enter_context(_private.engine_through(self._run))
            stack.enter_context(_private.before_backward(self._leave_mode))
            stack.enter_context(_private.before_compile(self._mind_compiler))
            stack.enter_context(_private.before_scaling(self._note_scaler))
            stack.callback(register_optimizer_step_pre_hook(self._stepping).remove)
            stack.callback(register_optimizer_step_post_hook(self._stepped).remove)
            _watching.append(self)
            stack.callback(_watching.remove, self)
            stack.callback(self._disarm)
            self._stack = stack.pop_all()
        self._arm()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.close()
        if self._log is not None:
            self._log.close()

    def _arm(self) -> None:
        """Before the forward pass: look closely, or not at all."""
        if _private.knows_compiling():
            self._mind_compiler()
        coming = range(self.passes + 1, self.passes + 2 + self._early)
        wanted = any(map(self._wants, coming)) and not self._inside
        self._aside = False
        if wanted:
            self._follow()
        else:
            self._disarm()
        self.lines.on = wanted
        if wanted:
            self.lines.forget()

    def _follow(self) -> None:
        """Calls and modules are followed."""
        self.modules.follow()
        self._functions.close()
        self._functions.enter_context(_private.functions_through(self.lines.applied))
        if not self._armed:
            _private.put_below(self.lines)
            self._armed = True

    def _wants(self, number: int) -> bool:
        chosen = self._examine is not doubling  # then passes are examined as the caller says
        new = self.patients.news and number == self.passes + 1 and not chosen
        return not self._sick and (new or bool(self._examine(number)))

    def _disarm(self) -> None:
        self.lines.on = False
        self._functions.close()
        if self._armed and _private.take_out(self.lines):
            self.modules.leave()
            self._armed = False

    def _leave_mode(self, *_: Any) -> None:
        """``backward()`` was called: the mode must not be at work inside it."""
        if self._armed and not self._busy and threading.get_ident() == self._thread:
            if _private.take_out(self.lines):
                self._armed = False  # modules are still followed: a checkpoint calls them again

    # ---- compiled code ------------------------------------------------------------------------

    def _mind_compiler(self, *_: Any) -> None:
        """From now on compiled code is told from other code when it runs."""
        if not self._minds:
            self._minds = True
            self._stack.enter_context(_private.compiled_through(self._pass_compiled))

    def _pass_compiled(self, runs: bool, frame: int) -> None:
        """Compiled code is entered, or left: it must find nothing in place, or it would be
        compiled anew. Its nodes are those of the line that called it."""
        if threading.get_ident() != self._thread:
            return
        if runs and not self._inside:
            self._inside, self._compiled = frame, True
            self._left = self.lines.on, self.passes, _private.made_so_far()
            self.lines.on = False
            self._functions.close()
            self.modules.pause()
            if self._armed and _private.take_out(self.lines):
                self._armed = False
        elif not runs and self._inside == frame:
            self._inside = 0
            followed, passes, first = self._left
            if self.passes != passes and not self._busy:
                self._arm()
            elif followed:
                self.lines.made_elsewhere(first, "compiled code", calling())
                self._follow()
                self.lines.on = True

    # ---- what the program does beside --------------------------------------------------------

    def _note_scaler(self, scaler: Any, *_: Any) -> None:
        self._scaler = scaler

    @property
    def norms(self) -> dict[str, float]:
        """The latest norm of every parameter's gradient, by name."""
        return self._glances.norms() if self._glances.waiting else self._norms

    @property
    def loss(self) -> float:
        """The loss of the latest pass."""
        return float(self._loss)

    # ---- what is asked ------------------------------------------------------------------------

    def report(self) -> Report:
        """The doctor's report on all passes so far; it may be asked for at any time."""
        self.patients.update()
        self._glances.flush()
        history = self.patients.history
        if history is None or not (history.passes or history.findings):
            raise TorchProgramError.no_pass()
        self.patients.cut(self._take_lost())
        self.patients.close()
        return report_of(history)

    def story(self) -> Story:
        """The story of the last pass that was examined."""
        from ..explain.array_story import told_arrays

        if self.last is None:
            raise TorchProgramError.no_pass()
        return told_arrays(self.last)

    @property
    def site(self) -> Site | None:
        """Where the last backward pass began."""
        return self._site

    def _take_lost(self) -> list[Any]:
        lost, self.lines.lost = self.lines.lost, []
        return lost

    def __repr__(self) -> str:
        return f"<a watch, having seen {self.passes} passes>"

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Nothing is noted inside the block: a look at a loss is no pass of the program."""
        busy, self._busy = self._busy, True
        try:
            yield
        finally:
            self._busy = busy

    # ---- optimizers ---------------------------------------------------------------------------

    def _stepping(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        closure = kwargs.get("closure") or (args[1] if len(args) > 1 else None)
        if closure is None:
            self.lines.on = False
            if self._armed and _private.take_out(self.lines):
                self._armed, self._aside = False, True  # until it has stepped
            if self._glances.waiting and self.patients.steps_as_usual(optimizer):
                self._glances.stepped(id(optimizer))
                return
        self.patients.update()
        self._glances.flush()
        self.patients.stepping(optimizer, site_of(calling()), closure is not None)

    def _stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._aside:
            self._aside = False
            _private.put_below(self.lines)
            self._armed = True
        self.lines.on = self._armed

    # ---- backward -----------------------------------------------------------------------------

    def _run(self, engine: Any, roots: Any, *arguments: Any, **options: Any) -> Any:
        if self._busy or threading.get_ident() != self._thread:
            return engine(roots, *arguments, **options)
        if not options.get("accumulate_grad"):
            self.gradients += 1
            if len(arguments) > 3:
                self.patients.asked.update(map(id, arguments[3] or ()))
            first = _private.made_so_far()
            on, self.lines.on = self.lines.on, False
            try:
                return engine(roots, *arguments, **options)
            finally:
                self.lines.on = on
                if on:
                    self.lines.made_elsewhere(first, "autograd.grad", calling())
        examined = self.lines.on
        self._busy, self.lines.on = True, False
        if self._armed and _private.take_out(self.lines):
            self._armed = False
        self.modules.leave()
        self._functions.close()
        try:
            result = self._watched(engine, roots, arguments, options, examined)
        finally:
            self._busy = False
        if self._stop is not None and self.passes >= self._stop:
            raise Enough
        self._arm()
        return result

    def _watched(
        self, engine: Any, roots: Any, arguments: Any, options: Any, examined: bool
    ) -> Any:
        self._site = site_of(calling(3))
        self.patients.update()
        self._lost = self._take_lost() if examined else []
        self.patients.cut(self._lost)
        closely = (examined or self._compiled) and self._wants(self.passes + 1)
        late = len(roots) == 1 and board.far(roots[0]) and not roots[0].is_complex()
        scale = self._scale()
        loss: Any = (
            roots[0].detach().sum() if late else sum(number_of_root(root) for root in roots) / scale
        )
        closely = closely or not (late or isfinite(loss) or self._sick)
        try:
            if closely:
                self._glances.flush()
                if self.patients.history is not None:
                    self.patients.history.begin()
                result, loss = self._look_closely(
                    engine, roots, arguments, options, loss, scale, examined
                )
            else:
                result = self._glance(engine, roots, arguments, options, loss, scale)
        except RuntimeError as error:
            self._explain(error, roots, examined)
            raise
        if examined and not closely:
            board.read()
            self._clear()
        self._ends.append(_private.made_so_far())
        self.passes += 1
        self._loss = loss
        if self._log is not None:
            self._log.write(self.passes, self.loss, self.norms)
        return result

    def _scale(self) -> float:
        return float(self._scaler.get_scale()) if self._scaler is not None else 1.0

    def _glance(
        self, engine: Any, roots: Any, arguments: Any, options: Any, loss: Any, scale: float
    ) -> Any:
        began = self._glances.begin()
        quiet = self._sick or self._scaler is not None or self._compiled or board.far(roots[0])
        quiet = quiet or not self._risky
        trap = None if quiet else Trap(roots)
        try:
            result = engine(roots, *arguments, **options)
        finally:
            if trap is not None:
                trap.remove()
        self._glances.add(began, loss, scale, self._site)
        if trap is not None and trap.caught:
            self._glances.flush()
            self._caught(trap, roots)
        elif self._glances.full:
            self._glances.flush()
        return result

    def _caught(self, trap: Trap, roots: Any) -> None:
        """A NaN was born in this pass, which nobody looked at closely; lines are those of the pass
        that was."""
        history = self.patients.history
        if history is None or history.not_finite.began[0] != history.passes:
            return  # it went nowhere
        names = self.patients.names_by_id()
        history.births = births_caught(trap, Reading(roots, names, None), self._reading)
        history.birth_pass, self._sick = history.passes, True

    def _look_closely(
        self, engine: Any, roots: Any, arguments: Any, options: Any, loss: Any, scale: float,
        lines: bool,
    ) -> tuple[Any, float]:  # fmt: skip
        with no_collection():
            return self._take_apart(engine, roots, arguments, options, loss, scale, lines)

    def _take_apart(
        self, engine: Any, roots: Any, arguments: Any, options: Any, loss: Any, scale: float,
        lines: bool,
    ) -> tuple[Any, float]:  # fmt: skip
        """The result of a backward pass, and its loss, which may be known only after it."""
        late = isinstance(loss, torch.Tensor)
        said = board.board_of(loss).send(loss.double()) if late else None
        reading = self._read(roots, lines)
        before = [mark(t) for t in self.patients.tensors]
        gates = gates_of(reading) if late or isfinite(loss) else None
        if self.looked is not None:
            self.looked(roots[0], None)
        pulling = Pulling(reading, sample if self._pictures else None)
        try:
            result = engine(roots, *arguments, **options)
        finally:
            pulling.remove()
        pulling.settle()
        graph = reading.whole()
        loss = float(said.numbers()) / scale if said is not None else loss
        assert graph.arrays is not None
        graph.arrays.gates = gates.counted() if gates is not None and isfinite(loss) else []
        seen_lines = self.lines if lines else None
        self._examined(graph, reading, pulling, before, loss, seen_lines)
        self._clear()
        self.last, self._reading = graph, reading
        if self.looked is not None:
            self.looked(roots[0], graph)
        reading.live.clear()  # the graph itself is not kept
        reading.place.clear()
        reading.samples.clear()
        return result, loss

    def _clear(self) -> None:
        self.lines.settle()
        board.clear()

    def _read(self, roots: Any, lines: bool) -> Reading:
        reading = Reading(roots, self.patients.names_by_id(), self.lines if lines else None)
        self.patients.meet(reading.variables.values())
        names = self.patients.names_by_id()
        for index, variable in reading.variables.items():
            if id(variable) in names:
                reading.names[index] = names[id(variable)]
        if lines:
            self._look_back(reading)
        else:
            if self._reading is not None:
                reading.borrow(self._reading)
            reading.look_at_saved()
        for root, index in zip(roots, reading.roots):
            if reading.values[index] is None:
                reading.values[index] = summary(root)
        reading.look_at_leaves()
        reading.weigh()
        return reading

    def _look_back(self, reading: Reading) -> None:
        """Nodes that were made before an earlier pass, as where two losses share a graph: from
        now on lines are followed that much sooner."""
        inner = (node for node, op in zip(reading.live, reading.ops) if op != LEAF)
        oldest = next(map(_private.number_of, inner), None)  # they stand in the order made
        if oldest is not None:
            self._early = max(self._early, sum(end > oldest for end in self._ends))

    def _examined(
        self, graph: Pass, reading: Reading, pulling: Pulling, before: Any, loss: float,
        lines: Lines | None,
    ) -> None:  # fmt: skip
        history, arrays = self.patients.history, graph.arrays
        if history is None or arrays is None:
            return
        numbers = self.patients.numbers_in(reading)
        arrays.cuts = [
            Cut(each.how, each.site, each.module, self._names_under(each.leaves))
            for each in self._lost
        ]
        scale = self._scale()
        tensors, count = self.patients.tensors, len(self.patients.tensors)
        seen = seen_of(
            graph, reading.roots, numbers, count, loss,
            lambda: births_in(graph, reading, pulling.oddities, lines), scale,
        )  # fmt: skip
        for number, (t, was) in enumerate(zip(tensors, [*before, *[None] * count])):
            if not seen.reached[number] and t.grad is not None and mark(t) != was:
                seen.reached[number] = True  # by a backward pass inside this one
                seen.gradients[number] = summary(t.grad).norm / scale
        history.weigh(self._weights(numbers, arrays))
        history.carried = carried_into(reading, self._ends[-1]) if self._ends else (False, None)
        self._alike.look(reading, numbers, tensors)
        self._risky = may_catch(reading.live)
        history.beside.alike = self._alike.suspects
        history.motion.measuring = True
        skipped = self._scaler is not None and isfinite(loss)
        if skipped and not np.isfinite(seen.gradients).all():
            seen = without_gradients(seen)  # the scaler skips this step, and lowers its scale
        history.examine(seen, self._site)
        self._sick = bool(history.not_finite.began[0])
        self._keep_norms(seen.gradients, seen.reached)

    def _weights(self, numbers: Mapping[int, int], arrays: Arrays) -> Any:
        """The norms of the parameters: those of the pass were looked at with it, others once."""
        found = np.full(len(self.patients.tensors), np.nan)
        for index, number in numbers.items():
            seen = arrays.values[index]
            found[number] = np.nan if seen is None else seen.norm
        if not self.patients.weighed:
            self.patients.weighed = True
            for number in np.flatnonzero(np.isnan(found)).tolist():
                found[number] = summary(self.patients.tensors[number]).norm
        return found

    def _names_under(self, leaves: frozenset[int]) -> tuple[str, ...]:
        place, names = self.patients.place, self.patients.names
        return tuple(names[n] for n in sorted(place[key] for key in leaves if key in place))

    def _keep_norms(self, gradients: Any, reached: Any) -> None:
        names = self.patients.names
        self._norms = {names[n]: float(gradients[n]) for n in np.flatnonzero(reached)}

    def _explain(self, error: RuntimeError, roots: Any, lines: bool) -> None:
        patients = self.patients
        patients.update()
        known = self.lines if lines else None
        found = trouble(error, roots, patients, known, self._lost, self._site)
        if patients.history is not None and found is not None:
            patients.history.findings.append(found)
