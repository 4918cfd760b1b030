"""A script that trains with PyTorch, watched as it runs: for the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..diagnose.memory import Memory, memory_of
from ..diagnose.report import Report
from ..diagnose.thresholds import Thresholds
from ..errors import TorchProgramError
from ..explain.array_ledger import ArrayLedger
from ..explain.array_story import told_arrays
from ..explain.story import Story
from ..passes.flat import Pass
from .ledger import by_use
from .passing import doubling
from .public import _places
from .watching import Watch


class Scripted:
    """A watch for a script. ``step`` is the pass that is wanted, after which the script ends;
    ``at`` the line it begins at, ``ledger`` the parameter whose gradient is to be itemised."""

    def __init__(
        self,
        thresholds: Thresholds | None = None,
        step: int | None = None,
        at: int | None = None,
        ledger: str | None = None,
        pictures: bool = False,
    ) -> None:
        examine: Callable[[int], bool] = doubling
        if step is not None:
            examine = lambda number: number == step  # noqa: E731
        elif at is not None or ledger is not None:
            examine = lambda number: True  # noqa: E731
        self._step, self._at, self._name = step, at, ledger
        self.watch = Watch((), examine, thresholds or Thresholds(), pictures, stop=step)
        self.watch.looked = self._looked
        self.account: ArrayLedger | None = None
        self.names: list[str] = []
        self._told: Pass | None = None
        self._number = 0
        self.lines: list[int] = []

    def _looked(self, root: torch.Tensor, graph: Pass | None) -> None:
        """A pass that is examined, before it runs and after."""
        site = self.watch.site
        if site is not None and site.line not in self.lines:
            self.lines.append(site.line)
        if self._at is not None and (site is None or site.line != self._at):
            return
        if graph is not None:
            self._told, self._number = graph, self.watch.passes + 1
        elif self._name is not None:
            patients = self.watch.patients
            self.names = list(patients.names)
            if self._name in patients.names:
                tensor = patients.tensors[patients.names.index(self._name)]
                self.account = by_use(root, tensor, self._name, _places(root))

    @property
    def passes(self) -> int:
        """How many backward passes there were."""
        return self.watch.passes

    @property
    def gradients(self) -> int:
        """How often ``torch.autograd.grad`` was called."""
        return self.watch.gradients

    def report(self) -> Report | None:
        """The doctor's report; None where nothing was seen."""
        try:
            return self.watch.report()
        except TorchProgramError:
            return None

    def story(self, ended: str = "") -> Story | None:
        """The story of the pass that was wanted, or of the last that was examined."""
        if self._told is None:
            return None
        which = f"This is backward pass {self._number}"
        which += f" of {self.passes}." if self._step is None else "."
        site = self.watch.site
        where = f" It began at line {site.line}." if site is not None and self._at else ""
        return told_arrays(self._told, " ".join(filter(None, (ended, which + where))))

    def memory(self) -> Memory | None:
        """What backward keeps in that pass."""
        return None if self._told is None else memory_of(self._told)

    def __enter__(self) -> Scripted:
        self.watch.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.watch.__exit__(*exception)
