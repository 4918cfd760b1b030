"""The story of a script: it is run, its backward passes are watched, and one of them is told.

Numbers of the pass are kept when it is done, since optimizers change leaves right after.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

from .._values.compared import Comparison, comparing
from .._values.watch import WatchedPass, watching
from ..diagnose.discovery import variables_now
from ..errors import RetrogradeError, ScriptError
from ..explain.names import root_of_line
from ..explain.paths import Path, path_of
from ..explain.reading import read, read_tensors
from ..explain.story import Story
from ..passes import values
from ..passes.tensors import holds_tensors, leaf_numbers
from ..value import Value, core
from ._engines import refuse_without_pass
from ._labels import labelled, labels_of, passing_names
from ._script import Outcome, run_script, source_of

PASSES_COMPARED = 3
"""Backward passes of which the comparisons before them are kept."""

PARTS_LOOKED_AT, PARTS_OF_A_LEAF = 10_000, 4
"""Parts of variables that are looked at for names while a script runs, and so many for a leaf."""


class LastPass:
    """The backward pass to tell, as far as the script has come.

    Given the ``passing`` names of the script, values are called what its variables call them.
    """

    def __init__(
        self,
        path: str,
        at: int | None,
        passing: Mapping[str, int] | None = None,
        step: int | None = None,
    ) -> None:
        self.path, self.at, self.passing, self.step = path, at, passing, step
        self.begun_passes = 0
        self._place = os.path.abspath(path)
        self.variables: dict[str, Any] = {}
        self.named: list[tuple[Value, str]] = []
        self._known: dict[int, Value] = {}
        self.count = 0
        self.lines: list[int] = []
        self.chosen: WatchedPass | None = None
        self.data: list[float] = []
        self.leaves: dict[int, Any] | None = None
        self.finished = True
        self.compared: list[Comparison] = []
        self.earlier: list[int] = []  # comparisons kept after each of the last passes
        self.taken: Path | None = None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the backward passes of the script inside the block."""
        with comparing() as self.compared, watching(self.done, begun=self.begun):
            yield

    def begun(self, this: WatchedPass) -> None:
        self.begun_passes += 1
        if self._wanted(this):
            self._keep(this, finished=False)

    def done(self, this: WatchedPass) -> None:
        line = this.site.line if this.site and this.site.file == self._place else None
        if line is not None and line not in self.lines:
            self.lines.append(line)
        if self._wanted(this):
            self.count += 1
            self.finished = True
        self._forget()

    def _forget(self) -> None:
        """Let go of the comparisons of passes long over: their graphs would fill the memory."""
        self.earlier.append(len(self.compared))
        if len(self.earlier) > PASSES_COMPARED:
            gone = self.earlier.pop(0)
            del self.compared[:gone]
            self.earlier = [count - gone for count in self.earlier]

    def _wanted(self, this: WatchedPass) -> bool:
        if self.step is not None and self.begun_passes != self.step:
            return False
        if self.at is None:
            return True
        return this.site is not None and (this.site.file, this.site.line) == (self._place, self.at)

    def _keep(self, this: WatchedPass, finished: bool) -> None:
        try:
            numbers = values.read(this.roots).data
            self.leaves = leaf_numbers(this.roots) if holds_tensors(this.roots) else None
        except RetrogradeError:
            return  # a cycle: backward itself says so
        self.chosen, self.data, self.finished = this, numbers.tolist(), finished
        self.taken = path_of(self.compared)
        if self.passing is not None:
            self.variables = variables_now()
            self._name_leaves(this.roots, self.passing)

    def _name_leaves(self, roots: tuple[Value, ...], passing: Mapping[str, int]) -> None:
        """Call leaves what the program calls them now: by its end, others may stand in their
        places. They are named again where a pass has new ones."""
        leaves = core.leaves_under(roots)
        if any(id(leaf) not in self._known for leaf in leaves):
            most = max(PARTS_LOOKED_AT, PARTS_OF_A_LEAF * len(leaves))
            lasting = {it: part for it, part in self.variables.items() if it not in passing}
            found = labels_of(lasting, most=most)
            self.named = [each for each in found if each[0].op == "leaf"]
            self._known = {id(leaf): leaf for leaf in leaves}
            self._known |= {id(leaf): leaf for leaf, _ in self.named}

    def where(self) -> str:
        assert self.chosen is not None
        site = self.chosen.site
        if site is None:
            return ""
        return f"at line {site.line} of {PurePath(site.file).name}"

    def story(self, outcome: Outcome) -> Story | None:
        """What a script that ended so is told as: None where it had computed nothing."""
        if self.passing is None:
            return self._story(outcome)
        names = {**outcome.names}
        for frame in reversed(outcome.frames):
            names |= {**frame, **names}
        found = labels_of({**names, **self.variables}, self.passing)
        with labelled([*self.named, *found, *self._root()]):
            return self._story(outcome)

    def _root(self) -> list[tuple[Value, str]]:
        """What the line that began the pass calls its root."""
        chosen = self.chosen
        if chosen is None or chosen.site is None or len(chosen.roots) != 1:
            return []
        return [(chosen.roots[0], root_of_line(chosen.site.file, chosen.site.line))]

    def _story(self, outcome: Outcome) -> Story | None:
        if self.chosen is not None:
            seeds = [float(seed) for seed in self.chosen.seeds]
            note = " ".join(filter(None, (ended(outcome), _which(self))))
            if self.leaves is not None:
                return read_tensors(self.chosen.roots, seeds, self.leaves, note or None)
            return read(self.chosen.roots, seeds, self.data, note, path=self.taken)
        if outcome.error is None:
            if self.at is not None:
                raise ScriptError.no_pass_at(self.path, self.at, self.lines)
            if self.step is not None and self.begun_passes:
                raise ScriptError.no_step(self.path, self.step, self.begun_passes)
            refuse_without_pass(self.path)
        root = _computed_last(outcome)
        if root is None:
            return None
        note = f"{ended(outcome)} No backward pass had run: this is what it had computed by then."
        if holds_tensors((root,)):
            return read_tensors([root], [1.0], note=note)
        return read([root], [1.0], note=note, path=path_of(self.compared))


def story_of_script(
    path: str, arguments: Sequence[str], at: int | None, quiet: bool, step: int | None = None
) -> tuple[Story | None, int]:
    """Run a script and tell its last backward pass, or the last begun at a line; its exit code.

    A script that raises is told as far as it came: None where it had computed nothing.
    """
    seen = LastPass(path, at, passing_names(source_of(path)), step)
    with seen.watching():
        outcome = run_script(path, arguments, quiet=quiet)
    return seen.story(outcome), outcome.code


def ended(outcome: Outcome) -> str:
    """How far a story goes, where its script raised."""
    if outcome.error is None:
        return ""
    where = f" at line {outcome.line}" if outcome.line else ""
    return f"The script raised {type(outcome.error).__name__}{where}; this is its story until then."


def _which(seen: LastPass) -> str:
    if not seen.finished:
        return f"The backward pass {seen.where()} did not finish."
    if seen.step is not None:
        return f"This is backward pass {seen.step}, {seen.where()}."
    passes = "the only backward pass" if seen.count == 1 else (
        f"the last of {seen.count:,} backward passes"
    )  # fmt: skip
    return f"This is {passes}{' there' if seen.at else ''}, {seen.where()}."


def _computed_last(outcome: Outcome) -> Value | None:
    """The largest computation among the names of the functions that were running."""
    for names in (*outcome.frames, outcome.names):
        found = [thing for thing in _flat(names.values()) if isinstance(thing, Value)]
        sizes = [(len(core.order((value,))), value) for value in found if value.op != "leaf"]
        if sizes:
            return max(sizes, key=lambda sized: sized[0])[1]
    return None


def _flat(things: Any) -> list[Any]:
    """Names' values, and the items of short lists among them."""
    found: list[Any] = []
    for thing in things:
        if isinstance(thing, (list, tuple)) and len(thing) <= 64:
            found.extend(thing)
        else:
            found.append(thing)
    return found
