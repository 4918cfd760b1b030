"""Which tensors are watched: the parameters of models, and leaves that no module holds; and the
history that remembers them. More of them may turn up while a program runs.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
import torch

from .._shared.sites import Site
from ..diagnose.array_history import ArrayHistory, Severed, Stranger
from ..diagnose.parameters import Parameters
from ..diagnose.thresholds import Thresholds
from .graph import Reading
from .lines import Lost
from .modules import Modules
from .motion import TensorMotion, is_live
from .naming import attributes_of, models_now, names_now
from .summaries import summary

MOST_UNKNOWN = 64
"""How many cuts over tensors that nobody knows are kept."""


class Patients:
    """The tensors that are watched, by number, and their history."""

    def __init__(self, modules: Modules, thresholds: Thresholds) -> None:
        self.modules, self.thresholds = modules, thresholds
        self.tensors: list[torch.Tensor] = []
        self.names: list[str] = []
        self.place: dict[int, int] = {}
        self._models = -1
        self.history: ArrayHistory | None = None
        self.motion: TensorMotion | None = None
        self.weighed = False
        """Whether the norms of those that no pass reaches are known."""
        self._met: set[int] = set()  # leaves that some pass has used
        self._held: dict[int, tuple[str, list[torch.Tensor], Site | None]] = {}
        self.news = False
        """Whether an optimizer moves tensors that nobody knows: the next pass is looked at."""
        self._cuts: list[Lost] = []
        self.asked: set[int] = set()
        """What ``torch.autograd.grad`` was asked for gradients of, by id."""
        self.read: set[int] = set()
        """Whose ``.grad`` the program has read or written, by id, as far as calls were followed."""
        self._once: dict[int, weakref.ref[torch.Tensor]] = {}
        self._once_at = 0
        self._unknown: list[tuple[Lost, int]] = []
        """Cuts over what nobody knows, and their pass; not where programs print, copy or update."""

    # ---- who they are -------------------------------------------------------------------------

    def update(self) -> None:
        """Take in models that were called since."""
        if len(self.modules.models) != self._models:
            self._models = len(self.modules.models)
            self._add(self.modules.parameters().items())

    def meet(self, leaves: Iterable[torch.Tensor]) -> None:
        """The leaves of a pass: those that no module holds are parameters where there is no
        model, where they are parameters by their type, or where an optimizer holds them."""
        found = {id(t): t for t in leaves}
        self._met.update(found)
        self.news = False
        self._take(found, self._stay(found))

    def _take(self, leaves: Mapping[int, torch.Tensor], staying: Set[int] = frozenset()) -> None:
        strangers = {key: t for key, t in leaves.items() if key not in self.place}
        if any(isinstance(t, torch.nn.Parameter) for t in strangers.values()):
            for model in models_now(set(strangers), 4):
                self.modules.add(model)
            self.update()
            strangers = {key: t for key, t in strangers.items() if key not in self.place}
        known = self._held_by_id().keys() | staying
        taken = {
            key: t
            for key, t in strangers.items()
            if not self.modules.models or isinstance(t, torch.nn.Parameter) or key in known
        }
        if taken:
            called = names_now(set(taken), 4)
            self._add((called.get(key, f"tensor {_shape(t)}"), t) for key, t in taken.items())

    def _stay(self, leaves: Mapping[int, torch.Tensor]) -> set[int]:
        """Of some leaves, those that come in pass after pass and that the program has forgotten:
        plain attributes of a module, never registered, and tensors whose ``.grad`` fills up while
        nobody reads it. Data changes or goes into a module, or its gradients are asked for."""
        passes = 0 if self.history is None else self.history.passes
        followed, self._once_at = passes == self._once_at + 1, passes
        if not self.modules.models:
            return set()
        held = attributes_of(self.modules.models)
        used = self.asked | self.read | self.modules.fed
        once = {
            key: t
            for key, t in leaves.items()
            if key not in self.place and key not in self.asked and (key in held or key not in used)
        }
        found = {
            key
            for key, t in once.items()
            if (ref := self._once.get(key)) is not None
            and ref() is t
            and (key in held or (followed and t.grad is not None))
        }
        self._once = {key: weakref.ref(t) for key, t in once.items()}
        return found

    def _held_by_id(self) -> dict[int, torch.Tensor]:
        return {id(p): p for _, tensors, _ in self._held.values() for p in tensors}

    def _add(self, found: Iterable[tuple[str, torch.Tensor]]) -> None:
        known = {name: number for number, name in enumerate(self.names)}
        grown = False
        for name, tensor in found:
            if id(tensor) in self.place:
                continue
            number = known.get(name)
            if number is not None and tuple(self.tensors[number].shape) == tuple(tensor.shape):
                self.place.pop(id(self.tensors[number]), None)
                self.tensors[number] = tensor  # made anew under its old name
                self.place[id(tensor)] = number
                continue
            self.place[id(tensor)] = len(self.tensors)
            self.tensors.append(tensor)
            self.names.append(name if number is None else f"{name} ({len(self.names)})")
            grown = True
        if grown:
            self._grow()

    def _grow(self) -> None:
        groups: dict[str, int] = {}
        group_of = np.array(
            [groups.setdefault(group_name(name), len(groups)) for name in self.names], np.intp
        )
        parameters = Parameters(
            tuple(self.tensors), tuple(self.names), tuple(groups), group_of,
            sizes=np.array([t.numel() for t in self.tensors], np.int64),
        )  # fmt: skip
        motion = TensorMotion(self.tensors, group_of, len(groups), self.thresholds)
        self.motion = motion
        history = ArrayHistory(parameters, self.thresholds, motion)
        history.clipping = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
        if self.history is not None:
            history.inherit(self.history)
        self.history = history
        self.weighed = False

    def names_by_id(self) -> dict[int, str]:
        """The names of all of them, by id."""
        return {id(t): name for t, name in zip(self.tensors, self.names)}

    def numbers_in(self, reading: Reading) -> dict[int, int]:
        """By place in a pass: the number of the parameter."""
        place = self.place
        return {
            index: place[id(variable)]
            for index, variable in reading.variables.items()
            if id(variable) in place
        }

    # ---- cuts ---------------------------------------------------------------------------------

    def cut(self, lost: Iterable[Lost]) -> None:
        """Lines that cut parameters off, before the end of the next pass. What an optimizer holds
        and no pass has reached becomes known by them."""
        if self.history is None:
            self._cuts += lost
            return
        lost = list(lost)
        held = self._held_by_id()
        pending = [*self._cuts, *lost]
        self._take({key: held[key] for each in pending for key in each.leaves if key in held})
        self._note_first()
        for each in lost:
            self._note(each, self.history.passes + 1)

    def _note_first(self) -> None:
        """The cuts before the first pass, when there was no history yet."""
        first, self._cuts = self._cuts, []
        for each in first:
            self._note(each, 1)

    def _note(self, each: Lost, number: int) -> None:
        """A line that cut, before the end of a pass."""
        assert self.history is not None
        numbers = [self.place[key] for key in each.leaves if key in self.place]
        if numbers:
            self.history.cuts.note(numbers, each.how, each.site, number, each.strength)
        tells = each.strength or (each.of_leaf and each.how == "detach()")
        room = tells and len(self._unknown) < MOST_UNKNOWN
        if room and len(numbers) < len(each.leaves):
            self._unknown.append((each, number))
        inside = bool(each.module) and each.how in ("detach()", ".data")
        if each.of_leaf and inside and len(numbers) == 1:
            alone = [self.names[numbers[0]], each.module]
            names = self.modules.tied().get(next(iter(each.leaves)), alone)
            self.history.beside.severed.setdefault(
                (numbers[0], each.site),
                Severed(tuple(names), each.how, each.site, numbers[0], number),
            )

    def _adopt(self, held: Iterable[torch.Tensor]) -> None:
        """What an optimizer holds and a line has cut off becomes known when it steps first: it has
        been without a gradient since the pass of that cut."""
        unmet = {id(p): p for p in held if id(p) not in self.place and id(p) not in self._met}
        since: dict[int, int] = {}
        for each, number in self._unknown:
            for key in each.leaves & unmet.keys():
                since.setdefault(key, number)
        if not since:
            return
        self._take({key: unmet[key] for key in since})
        assert self.history is not None
        for key, number in since.items():
            self.history.missed(self.place[key], number)
        for each, number in self._unknown:
            numbers = [self.place[key] for key in each.leaves & since.keys()]
            if numbers:
                self.history.cuts.note(numbers, each.how, each.site, number, each.strength)

    # ---- optimizers ---------------------------------------------------------------------------

    def stepping(self, optimizer: Any, site: Site | None, computes: bool) -> None:
        """Before an optimizer steps."""
        held = [p for group in optimizer.param_groups for p in group["params"]]
        if id(optimizer) not in self._held:
            self.news = any(_moves(p) and id(p) not in self.place for p in held)
        self._held[id(optimizer)] = (type(optimizer).__name__, held, site)
        if self.history is None:
            return
        self._note_first()
        if self._unknown:
            self._adopt(held)
        mine = np.array([self.place[id(p)] for p in held if id(p) in self.place], np.intp)
        if len(mine):
            self.history.motion.holding(type(optimizer).__name__, mine)
            if not computes:
                passes = self.history.passes
                self.history.motion.stepping(mine, False, passes, site, passes)

    def steps_as_usual(self, optimizer: Any) -> bool:
        """Whether an optimizer that is known steps on gradients that are there."""
        known = self._held.get(id(optimizer))
        groups = optimizer.param_groups
        if known is None or len(groups[-1]["params"]) == 0:
            return False
        return len(known[1]) == sum(len(group["params"]) for group in groups) and any(
            p.grad is not None for p in known[1][:4]
        )

    def step_again(self, optimizer: int, many: int) -> None:
        """A known optimizer has stepped as usual, after passes that nobody looked at closely."""
        name, held, site = self._held[optimizer]
        if self.history is None:
            return
        mine = np.array([self.place[id(p)] for p in held if id(p) in self.place], np.intp)
        if len(mine):
            motion, passes = self.history.motion, self.history.passes
            motion.holding(name, mine)
            motion.optimizer_steps += many - 1
            motion.stepping(mine, False, passes, site, passes, wiped=False)

    def writer_of(self, t: torch.Tensor) -> tuple[str, Site | None] | None:
        """The optimizer that moves what lies in the memory of a tensor, and where it steps."""
        place = t.untyped_storage().data_ptr()
        for name, held, site in self._held.values():
            if any(p.untyped_storage().data_ptr() == place for p in held):
                return name, site
        return None

    def close(self) -> None:
        """Before a report: what optimizers hold and nothing uses."""
        if self.history is None:
            return
        self.history.close()
        if self.history.births:
            self.history.beside.spoiled = any(bool(summary(t).odd) for t in self.tensors)
        found = []
        for name, held, site in self._held.values():
            unknown = [p for p in held if id(p) not in self.place and id(p) not in self._met]
            lost = [p for p in unknown if not _moves(p)]
            if lost:
                found.append(Stranger(name, len(lost), tuple(lost[0].shape), site))
        self.history.beside.strangers = found


def group_name(name: str) -> str:
    """The module a parameter belongs to; of a tensor alone, itself."""
    return name.rpartition(".")[0] or name


def _moves(t: torch.Tensor) -> bool:
    """Whether a gradient arrived that is not zero."""
    return t.grad is not None and is_live(t.grad)


def _shape(t: torch.Tensor) -> str:
    return "×".join(map(str, t.shape)) or "()"
