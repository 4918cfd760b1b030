"""Calls of compiled functions on tensors: recorded for the shapes they come with, and replayed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from threading import RLock
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..._shared import hooks
from ...errors import CompileError, FunctionResultError, RecordingError, RecordingWarning
from ...tensor import Tensor
from ...value import core
from .arguments import INDICES, NUMBER, SETTING, TENSOR, Taken, take
from .runs import ARGUMENT, CAPTURED, Run, of_gradients, of_products, of_values
from .traces import Family, Trace, recorded

MANY_SHAPES = 16
"""Recordings for other shapes from which on a function says so."""

ATTEMPTS = 5
"""How often a call is begun until nothing that it reads is rebound on the way."""

MOST_SITES = 256
"""Calls made before that are kept."""

Call = Callable[[dict[str, Any]], Any]


class Site(NamedTuple):
    """A call made before: its run, and how its results are handed out."""

    family: Family
    trace: Trace
    run: Run
    takers: tuple[int, ...] | None
    finish: Callable[[Any], Any]


def _kind_of(thing: Any) -> Any:
    """What of an argument a site goes by; None where it takes the long way."""
    if type(thing) is np.ndarray:
        return (thing.shape, thing.dtype.char) if thing.flags.c_contiguous else None
    return float if type(thing) is float else None


def key_of(asked: Any, args: tuple[Any, ...]) -> Any:
    """By what a call is found again: what is asked for, of which shapes; None where it is not."""
    key = (asked, *map(_kind_of, args))
    return None if None in key else key


class Calls:
    """What a function on tensors answers; ``wanted`` are the annotations of its parameters."""

    def __init__(self, name: str, call: Call, wanted: dict[str, str]) -> None:
        self.name, self._call, self._wanted = name, call, wanted
        self.families: dict[Any, Family] = {}
        self._lock = RLock()
        self._warned = False
        self._sites: dict[Any, Site] = {}

    def forget(self) -> None:
        """Forget what was recorded."""
        with self._lock:
            self.families.clear()
            self._sites.clear()

    # ---- calls made before ---------------------------------------------------------------------

    def quick(self, key: Any, args: tuple[Any, ...]) -> Any:
        """The answer to a call made before, by its :func:`key_of`; None where it takes the long
        way."""
        site = self._sites.get(key)
        if site is None:
            return None
        if not site.family.names.unchanged() or core.in_recording() or core.in_anomaly():
            return None
        found = site.run(list(args), site.trace.captured, site.takers)
        handed_out = site.takers is not None and type(found) is not float  # a hook is to see it
        if type(found) is bytes or found is None or handed_out:
            return None
        site.trace.calls += 1
        return site.finish(found)

    def _leave(
        self, key: Any, family: Family, trace: Trace, run: Run, taken: Taken,
        takers: tuple[int, ...] | None, finish: Callable[[Any], Any],
    ) -> None:  # fmt: skip
        """Leave a site for calls like this one, each of whose arguments is one leaf."""
        plain = run.packed is not None and len(key or ()) == len(taken.leaves) + 1
        if not plain or any(each.order != (None,) for each in taken.structures):
            return
        kinds = {TENSOR: "d", INDICES: "l"}
        for part, kind in zip(key[1:], taken.kinds):
            if kind == NUMBER if part is float else kinds.get(kind) == part[1]:
                continue
            return
        if len(self._sites) >= MOST_SITES:
            self._sites.clear()
        self._sites[key] = Site(family, trace, run, takers, finish)

    # ---- what can be asked ---------------------------------------------------------------------

    def value(
        self, given: dict[str, Any], threads: Any = None, out: Any = None, key: Any = None
    ) -> Any:
        """The results, in their nest; ``key`` is that of a site to leave."""
        self._refuse(out=out)
        self._check_threads(threads)
        taken = take(self.name, given, self._wanted)
        self._watch(taken, ())
        family, trace, run, found = self._led(taken, of_values)
        self._leave(key, family, trace, run, taken, None, trace.outputs.filled)
        return trace.outputs.filled(found)

    def grad(self, given: dict[str, Any], **settings: Any) -> Any:
        """The gradients alone."""
        return self.value_and_grad(given, **settings)[1]

    def value_and_grad(
        self,
        given: dict[str, Any],
        wrt: Any = None,
        reduce: str | None = None,
        weights: Any = None,
        threads: Any = None,
        out: Any = None,
        key: Any = None,
    ) -> tuple[Any, Any]:
        """The value and its gradients by arguments. There are no rows, so there is nothing to
        reduce."""
        self._refuse(weights=weights, out=out)
        self._check_threads(threads)
        if reduce not in (None, "sum", "mean"):
            raise CompileError.call(self.name, f"reduce={reduce!r} is none of None, 'sum', 'mean'")
        taken = take(self.name, given, self._wanted)
        chosen, bare = self._chosen(taken, wrt)
        numbers = [
            number for argument in chosen
            for number in taken.leaves_of(argument)
            if taken.kinds[number] in (TENSOR, NUMBER)
        ]  # fmt: skip

        def gradients(trace: Trace) -> Run:
            self._check_single(trace)
            return of_gradients(trace, ARGUMENT, numbers)

        outline = replace(taken, leaves=[None] * len(taken.leaves))  # it outlives the call

        def finish(found: Any) -> tuple[Any, Any]:
            if bare and len(numbers) == 1 and outline.structures[chosen[0]].order == (None,):
                return found[0], found[1]
            parts: list[Any] = list(outline.leaves)
            for number, gradient in zip(numbers, found[1:]):
                parts[number] = gradient
            nests = outline.filled(parts)
            made = [nests[outline.names[argument]] for argument in chosen]
            return found[0], made[0] if bare else tuple(made)

        self._watch(taken, numbers)
        family, trace, run, found = self._led(taken, gradients)
        self._leave(key, family, trace, run, taken, None, finish)
        return finish(found)

    def backward(
        self,
        given: dict[str, Any],
        reduce: str = "sum",
        weights: Any = None,
        threads: Any = None,
        key: Any = None,
    ) -> float:
        """Add the gradients into the captured parameters; the value."""
        self._refuse(weights=weights)
        self._check_threads(threads)
        if reduce not in ("sum", "mean"):
            raise CompileError.call(self.name, f"reduce={reduce!r} is neither 'sum' nor 'mean'")
        taken = take(self.name, given, self._wanted)

        def gradients(trace: Trace) -> Run:
            self._check_single(trace)
            if not _taking(trace):
                raise CompileError.call(
                    self.name, "no captured parameter takes gradients; use value_and_grad instead"
                )
            return of_gradients(trace, CAPTURED, _taking(trace))

        self._watch(taken, (0,))
        family, trace, run, found = self._led(taken, gradients, settles=True)
        if isinstance(found, float):  # the gradients are where they belong
            self._leave(key, family, trace, run, taken, _taking(trace), float)
            return found
        numbers = _taking(trace)
        leaves = [trace.captured[number] for number in numbers]
        totals = [_after_hooks(leaf, total) for leaf, total in zip(leaves, found[1:])]
        for leaf, total in zip(leaves, totals):
            leaf.grad = leaf.grad + total
        return float(found[0])

    def _not_yet(self, what: str, cure: str) -> NoReturn:
        raise CompileError.of_tensors(self.name, what, cure)

    def jacobian(self, given: dict[str, Any], **settings: Any) -> NoReturn:
        """Not there yet."""
        self._not_yet("jacobian", "Write rg.jacobian(f.__wrapped__).")

    def hessian(
        self, given: dict[str, Any], wrt: Any = None, sparse: bool = False, threads: Any = None
    ) -> Any:
        """All second derivatives, a product with every unit vector: for arguments x and y the array
        of x is of their shapes one behind the other."""
        self._refuse(sparse=sparse or None)
        self._check_threads(threads)
        taken = take(self.name, given, self._wanted)
        chosen, bare = self._chosen(taken, wrt)
        if any(taken.structures[argument].order != (None,) for argument in chosen):
            self._not_yet("hessian by nests", "Name arguments that are one array each in wrt=.")
        numbers = [number for argument in chosen for number in taken.leaves_of(argument)]
        shapes = [np.shape(taken.leaves[number]) for number in numbers]

        def products(trace: Trace) -> Run:
            self._check_single(trace)
            return of_products(trace, numbers)

        blocks = [[np.empty((*own, *other)) for other in shapes] for own in shapes]
        for place, shape in enumerate(shapes):
            for index in np.ndindex(shape):
                along: list[Any] = [np.zeros(each) if each else 0.0 for each in shapes]
                if shape:
                    along[place][index] = 1.0
                else:
                    along[place] = 1.0
                found = self._led(taken, products, leaves=[*taken.leaves, *along])[3]
                for block, part in zip(blocks[place], found[1:]):
                    block[index] = part
        nests = [tuple(map(_plain, row)) for row in blocks]
        return nests[0][0] if bare else tuple(nests)

    def hvp(self, given: dict[str, Any], vector: Any, wrt: Any = None, threads: Any = None) -> Any:
        """The Hessian times a vector, in the nest of the gradients."""
        self._check_threads(threads)
        taken = take(self.name, given, self._wanted)
        chosen, bare = self._chosen(taken, wrt)
        numbers = [number for argument in chosen for number in taken.leaves_of(argument)]
        outline = replace(taken, leaves=[None] * len(taken.leaves))
        names = [taken.names[argument] for argument in chosen]
        parts = (vector,) if bare else tuple(vector)
        if len(parts) != len(names):
            raise CompileError.call(self.name, f"vector has {len(parts)} parts, not {len(names)}")
        along = take(self.name, dict(zip(names, parts)), dict.fromkeys(names, TENSOR))
        shapes = [np.shape(taken.leaves[number]) for number in numbers]
        if [np.shape(it) for it in along.leaves] != shapes:
            raise CompileError.call(self.name, "vector must have the shapes of the arguments")

        def products(trace: Trace) -> Run:
            self._check_single(trace)
            return of_products(trace, numbers)

        found = self._led(taken, products, leaves=[*taken.leaves, *along.leaves])[3]
        made: list[Any] = list(outline.leaves)
        for number, product in zip(numbers, found[1:]):
            made[number] = product
        nests = outline.filled(made)
        return nests[names[0]] if bare else tuple(nests[name] for name in names)

    def story(self, given: dict[str, Any], **settings: Any) -> NoReturn:
        """Not there yet."""
        self._not_yet("story", "Call f.__wrapped__ on tensors and tell the story of its result.")

    def births(self, given: dict[str, Any], **settings: Any) -> NoReturn:
        """Not there yet."""
        self._not_yet("births", "Write with rg.anomaly(): f(...), which names the line.")

    def _refuse(self, **settings: Any) -> None:
        for name, it in settings.items():
            if it is not None:
                self._not_yet(f"{name}=", "Leave it out.")

    # ---- leading a call to its trace -----------------------------------------------------------

    def _led(
        self,
        taken: Taken,
        wanted: Callable[[Trace], Run],
        settles: bool = False,
        leaves: list[Any] | None = None,
    ) -> tuple[Family, Trace, Run, Any]:
        """The family and the trace that a call leads to, its run and what that gave."""
        if core.in_recording():
            raise RecordingError.replayed(self.name)
        family = self._family(taken)
        trace = family.traces[-1]
        begun = 1
        while True:
            takers = _taking(trace) if settles else None
            run = wanted(trace)
            found = run(taken.leaves if leaves is None else leaves, trace.captured, takers)
            if not isinstance(found, bytes):
                trace.calls += 1
                return family, trace, run, found
            wrong = next(n for n, it in enumerate(trace.path) if it != found[n])
            path = trace.path[:wrong] + found[wrong : wrong + 1]
            other = family.fitting(path)
            if other is None:
                other = self._another(family, taken, path)
            if other is None:  # something that it reads was rebound on the way: begin again
                if (begun := begun + 1) > ATTEMPTS:
                    raise RecordingError.restless(self.name, [])
                family = self._family(taken)
                other = family.traces[-1]
            trace = other

    def _family(self, taken: Taken) -> Family:
        key = taken.key
        with self._lock:
            family = self.families.get(key)
            if family is not None and family.names.unchanged():
                return family
            family = Family()
            self._another(family, taken, b"")
            self.families[key] = family
            if len(self.families) == MANY_SHAPES and not self._warned:
                self._warned = True
                message = RecordingWarning.shapes(self.name, MANY_SHAPES)
                warnings.warn(RecordingWarning(message), stacklevel=6)
            return family

    def _another(self, family: Family, taken: Taken, path: bytes) -> Trace | None:
        """One more trace; None where names mean something else than in the others."""
        with self._lock:
            trace, names = recorded(self.name, self._call, taken, path)
            if family.names is not None and names.differing(family.names):
                return None
            if trace.path[: len(path)] != path:
                site = trace.program.guards[min(len(path), len(trace.path)) - 1].site
                raise RecordingError.unsteady(self.name, site)
            if family.traces and trace.outputs.paths != family.traces[0].outputs.paths:
                raise FunctionResultError.branches(
                    self.name, family.traces[0].outputs.places, trace.outputs.places
                )
            if family.names is None:
                family.names = names
            else:
                family.names.absorb(names)
            family.traces.append(trace)
            return trace

    # ---- checks --------------------------------------------------------------------------------

    def _check_threads(self, threads: Any) -> None:
        """One thread carries out a plan, however many there may be."""
        if threads is not None and not isinstance(threads, Integral):
            raise CompileError.threads(self.name, threads)

    def _chosen(self, taken: Taken, wrt: Any) -> tuple[list[int], bool]:
        """The arguments to differentiate, and whether the gradient comes bare."""
        free = [
            argument for argument in range(len(taken.names))
            if not {INDICES, SETTING} & set(self._kinds(taken, argument))
        ]  # fmt: skip
        if wrt is None:
            return free, len(free) == 1
        names = wrt if isinstance(wrt, tuple) else (wrt,)
        for name in names:
            if name not in taken.names:
                raise CompileError.call(
                    self.name, f"wrt names '{name}'; its arguments are {', '.join(taken.names)}"
                )
            if taken.names.index(name) not in free:
                raise CompileError.call(
                    self.name, f"wrt names '{name}', whole numbers, which have no gradient"
                )
        return [taken.names.index(name) for name in names], not isinstance(wrt, tuple)

    def _kinds(self, taken: Taken, argument: int) -> Sequence[str]:
        return [taken.kinds[number] for number in taken.leaves_of(argument)]

    def _check_single(self, trace: Trace) -> None:
        program = trace.program
        if len(program.outputs) != 1:
            raise FunctionResultError.several(self.name, trace.outputs.places)
        shape = program.shapes[program.outputs[0]]
        if shape != ():
            raise FunctionResultError.array(self.name, shape)

    def _watch(self, taken: Taken, numbers: Sequence[int]) -> None:
        """Under anomaly() the function itself is called, and raises at the line of a birth."""
        if not core.in_anomaly():
            return
        made = [
            Tensor(leaf) if kind == TENSOR else leaf
            for kind, leaf in zip(taken.kinds, taken.leaves)
        ]
        result = self._call(taken.filled(made))
        if numbers and hasattr(result, "backward"):
            result.backward()


def _plain(array: Any) -> Any:
    return array if array.ndim else float(array)


def _taking(trace: Trace) -> tuple[int, ...]:
    return tuple(n for n, leaf in enumerate(trace.captured) if leaf.requires_grad)


def _after_hooks(leaf: Any, total: Any) -> Any:
    if not leaf._hooks:
        return total if leaf.shape else float(total)
    if leaf.shape:
        return np.array(hooks.run_on_array(leaf, np.array(total)))
    return hooks.run(leaf, float(total))
