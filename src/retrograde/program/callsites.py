"""Call sites: calls that were made before, gone through again with hardly any Python.

A call with numbers and arrays of floats, answered by the one trace there is, leaves a site behind:
kinds of arguments, plan, and how the results are put together. The next such call goes straight
there. Whatever is different (other kinds, a name that was rebound, a row that goes another way, a
recording, anomaly mode) is a miss, and the call takes the long way, which leaves another site.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._shared.threads import default_threads
from .._values.nests import Nest
from ..value import core_name, native_core
from .blocks import LEAST_BYTES, blocks
from .derived import REDUCED, STORED, Mode
from .rows import Argument
from .shapes import NUMBER, ONE_A_ROW, Rows
from .traces import Family

MOST_SITES = 8
"""Sites that are kept for one way of asking: one a kind of arguments."""

MISS = object()
"""What a site gives where the call is not the one it knows."""

Part = tuple[str, int | None]
"""What becomes of outputs: one alone, or ``width`` that are columns of one array; stored, or each
of them reduced."""

Finish = Callable[[Sequence[Any], int | None], Any]
"""Puts the parts of a result together, given how many rows there are."""

_NUMBER, _ONE_A_ROW = -2, -1  # as native/callsite.c has them


def _kind(argument: Argument) -> int | None:
    """The kind of an argument as a site knows it; None where it knows no such argument."""
    if argument.shape is NUMBER:
        return _NUMBER
    if argument.shape is ONE_A_ROW:
        return _ONE_A_ROW
    return argument.shape.width or None if isinstance(argument.shape, Rows) else None


class CallSite:
    """One call of one trace, ready to be made again."""

    __slots__ = ("_allocate", "_finish", "_parts", "_run", "_threads", "family", "kinds")

    def __init__(
        self,
        family: Family,
        kinds: list[int],
        run: Callable[..., Any],
        parts: Sequence[Part],
        finish: Finish,
        threads: int | None,
    ) -> None:
        self.family, self.kinds = family, kinds
        self._run, self._finish, self._threads = run, finish, threads
        self._parts = parts
        self._allocate = _allocator([width or 1 for what, width in parts if what == STORED])

    def __call__(self, args: tuple[Any, ...]) -> Any:
        """The result of the call, or ``MISS``."""
        traces = self.family.traces
        if len(traces) != 1:
            return MISS
        found = self._run(args, self._allocate, self._threads)
        if found is None:
            return MISS
        if type(found[0]) is float:  # no rows: numbers alone
            traces[0].rows += 1
            return self._finish(found, None)
        numbers, arrays, rows = found
        traces[0].rows += rows
        return self._finish(_items(self._parts, numbers, arrays), rows)


def _allocator(widths: list[int]) -> Callable[[int], list[Any]]:
    """What makes room for outputs: one block while that is small, else one for each part."""
    total = sum(widths)

    def allocate(rows: int) -> list[Any]:
        if 8 * total * rows < LEAST_BYTES:
            return [np.empty((total, rows))]
        return [blocks.take(width, rows) for width in widths]

    return allocate


def _items(parts: Sequence[Part], numbers: Any, arrays: Any) -> list[Any]:
    """The parts of a result: a number where it was reduced, else an array with a row a row."""
    sums, found = iter(numbers), []
    together = arrays[0] if arrays and len(arrays) == 1 else None
    place = 0  # among the columns of one block, or among the blocks
    for what, width in parts:
        if what == REDUCED:
            found.append(next(sums))
        elif together is not None:
            last = place + (width or 1)
            found.append(together[place] if width is None else together[place:last].T)
            place = last
        else:
            found.append(arrays[place][0] if width is None else arrays[place].T)
            place += 1
    return found


def results_of(outputs: Nest) -> Finish:
    """How the values of a call are put together."""
    if outputs.paths == [()]:
        return lambda items, rows: items[0]
    return lambda items, rows: outputs.filled(items)


def gradient_parts(
    chosen: Sequence[Argument], bare: bool, reduce: str | None
) -> tuple[list[Part], Finish]:
    """The parts that a value and its gradients are, and how they are put together."""
    parts: list[Part] = [(REDUCED if reduce else STORED, None)]
    for argument in chosen:
        what = REDUCED if reduce and argument.shape is NUMBER else STORED
        wide = isinstance(argument.shape, Rows)
        parts.append((what, argument.count if wide else None))

    def pair(items: Sequence[Any], rows: int | None) -> Any:
        return items[0], items[1] if bare else tuple(items[1:])

    def mean(items: Sequence[Any], rows: int | None) -> Any:
        return pair([item / (rows or 1) for item in items], rows)

    return parts, mean if reduce == "mean" else pair


class CallSites:
    """The sites of a function, by what is asked and how."""

    def __init__(self) -> None:
        self._known: dict[Any, list[CallSite]] = {}

    def find(self, asked: Any, args: tuple[Any, ...]) -> Any:
        """The result of a call, or ``MISS``; ``asked`` says what of it is wanted."""
        try:
            sites = self._known.get(asked, ())
        except TypeError:  # a list for wrt: the long way says what is wrong
            return MISS
        for site in sites:
            found = site(args)
            if found is not MISS:
                return found
        return MISS

    def forget(self) -> None:
        """Let go of all of them."""
        self._known = {}

    def drop(self, family: Family | None) -> None:
        """Let go of those of a family that has been replaced, or that has several traces now."""
        for asked, sites in list(self._known.items()):
            self._known[asked] = [site for site in sites if site.family is not family]

    def keep(
        self,
        asked: Any,
        family: Family,
        arguments: Sequence[Argument],
        mode: Mode,
        parts: Sequence[Part],
        finish: Finish,
        threads: int | None,
    ) -> None:
        """Remember a call that has just been made, if it is one that a site can make again."""
        kinds = [kind for kind in map(_kind, arguments) if kind is not None]
        if core_name != "native" or len(kinds) < len(arguments) or mode.whole or not parts:
            return
        if len(family.traces) != 1:
            self.drop(family)
            return
        sites = self._known.setdefault(asked, [])
        if any(site.family is family and site.kinds == kinds for site in sites):
            return  # it missed for another reason
        trace = family.traces[0]
        what = "".join(what * (width or 1) for what, width in parts)
        ready = trace.ready(mode, what, sum(argument.count for argument in arguments))
        if ready.stages is not None:
            return
        plan = ready.plan
        places = [n for pair in zip(plan.arguments, plan.argument_ids) for n in pair]
        native = native_core.CallSite(
            *(plan.steps, plan.uniform_steps, plan.extras, ready.columns, plan.uniforms),
            *(array("I", places), array("i", kinds)),
            *(plan.places, plan.slots, plan.stored, plan.reduced, plan.guards),
            *(ready.code, family.names, trace.captured),
            *(np.ndarray, np.float64, default_threads),
        )
        sites.insert(0, CallSite(family, kinds, native.run, parts, finish, threads))
        del sites[MOST_SITES:]
