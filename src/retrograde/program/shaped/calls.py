"""Calls of compiled functions on tensors: recorded for the shapes they come with, and replayed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np
from numpy import ndarray

from ..._shared import hooks
from ..._values.graph import order
from ...errors import CompileError, FunctionResultError
from ...tensor import Tensor
from ...value import core, native_core
from ..rows import PerRow, Uniform
from .arguments import INDICES, NUMBER, SETTING, TENSOR, Taken, take
from .leading import MOST_SITES, Call, Lasting, Leading, taking
from .row_answers import Leave, RowAnswers
from .row_calls import Part
from .row_stories import births_of, story_of
from .runs import ARGUMENT, CAPTURED, REFUSED, Run, of_gradients, of_products, of_values
from .traces import Family, Trace
from .unit_answers import UnitAnswers

if TYPE_CHECKING:
    from ...diagnose.compiled_births import RowBirths
    from ...explain.story import Story
    from ..machines import Target


MOST_ARGUMENTS, MOST_AXES = 16, 8
"""Of a call that is found again, as ``native/shaped_sites.c`` has them."""

_KINDS: Final = {TENSOR: "f8", NUMBER: "f8", INDICES: "i8"}
"""The numbers that a plan takes as they lie, in this machine's byte order."""


def _kind_of(thing: Any) -> Any:
    """What of an argument a site goes by; None where it takes the long way."""
    if type(thing) is ndarray:
        plain = thing.flags.c_contiguous and thing.dtype.isnative
        return (thing.shape, thing.dtype.str[1:]) if plain else None
    return float if type(thing) is float else None


_MARKS: Final = {PerRow: "array", Uniform: "given"}
"""What says that an array has rows, or has none, and where it keeps the array."""


def _unmarked(asked: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """A call on the arrays themselves; what is asked for says how they were marked."""
    marks = tuple(_MARKS.get(type(it)) for it in args)
    bare = tuple(getattr(it, mark) if mark else it for it, mark in zip(args, marks))
    return (asked, marks), bare


def _is_marked(args: tuple[Any, ...]) -> bool:
    return not _MARKS.keys().isdisjoint(map(type, args))


def key_of(asked: Any, args: tuple[Any, ...]) -> Any:
    """By what a call is found again: what is asked for, of which shapes; None where it is not."""
    if _is_marked(args):
        asked, args = _unmarked(asked, args)
    key = (asked, *map(_kind_of, args))
    return None if None in key[1:] else key


def _takes(part: tuple[tuple[int, ...], str], kind: str) -> bool:
    """Whether a site hands on an array of this shape as an argument of this kind."""
    shape, numbers = part
    return 0 < len(shape) <= MOST_AXES and _KINDS.get(kind) == numbers


class Calls(Leading):
    """What a function on tensors answers; ``wanted`` are the annotations of its parameters."""

    def __init__(
        self, name: str, call: Call, wanted: dict[str, str], target: Target | None = None
    ) -> None:
        super().__init__(name, call, target)
        self._wanted = wanted
        self._by_units = UnitAnswers(self._parts)
        self._over_rows = RowAnswers(name, self._family, self._one_more, self._until_settled)

    # ---- calls made before ---------------------------------------------------------------------

    def again(self, asked: Any, args: tuple[Any, ...]) -> Any:
        """The answer to a call made before; None where it takes the long way."""
        if not self._sites:
            return None
        found = native_core.shaped_again(self._sites, asked, args)
        if found is not None or not _is_marked(args):
            return found
        return native_core.shaped_again(self._sites, *_unmarked(asked, args))

    def _leave(
        self, key: Any, family: Family, trace: Trace, run: Run, taken: Taken,
        takers: tuple[int, ...] | None, finish: Callable[[Any], Any] | None,
    ) -> None:  # fmt: skip
        """Leave a site for calls like this one, each of whose arguments is one leaf."""
        if run.packed is None or not 0 < len(key or ()) <= MOST_ARGUMENTS + 1:
            return
        if len(key) != len(taken.leaves) + 1:
            return
        if any(each.order != (None,) for each in taken.structures):
            return
        for part, kind in zip(key[1:], taken.kinds):
            if kind == NUMBER if part is float else _takes(part, kind):
                continue
            return
        names = None if isinstance(family.names, Lasting) else family.names
        site = native_core.ShapedSite(
            key, run.packed.capsule, trace.captured, takers, names, trace, finish, REFUSED
        )
        others = [it for it in self._sites if it.key != key]
        self._sites[:] = [site, *others[: MOST_SITES - 1]]

    def _leaving(self, key: Any, taken: Taken) -> Leave:
        """Leaves a site for calls over rows like this one."""

        def leave(family: Family, trace: Trace, run: Run, finish: Callable[[Any], Any]) -> None:
            self._leave(key, family, trace, run, taken, None, finish)

        return leave

    # ---- what can be asked ---------------------------------------------------------------------

    def value(
        self, given: dict[str, Any], threads: Any = None, out: Any = None, key: Any = None
    ) -> Any:
        """The results, in their nest; ``key`` is that of a site to leave."""
        self._refuse(out=out)
        self._check_threads(threads)
        taken = take(self.name, given, self._wanted)
        self._watch(taken, ())
        if taken.rows is not None:
            return self._over_rows.value(taken, threads, self._leaving(key, taken))
        family, trace, run, found = self._led(taken, of_values)
        finish = None if trace.outputs.paths == [()] else trace.outputs.filled
        self._leave(key, family, trace, run, taken, None, finish)
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
        """The value and its gradients by arguments. Without rows there is nothing to reduce."""
        self._refuse(out=out)
        self._check_threads(threads)
        if reduce not in (None, "sum", "mean"):
            raise CompileError.call(self.name, f"reduce={reduce!r} is none of None, 'sum', 'mean'")
        taken = take(self.name, given, self._wanted)
        chosen, bare = self._chosen(taken, wrt)
        if taken.rows is not None:
            self._watch(taken, (0,))
            return self._over_rows.value_and_grad(
                taken,
                chosen,
                bare,
                reduce,
                weights,
                threads,
                self._check_single,
                self._leaving(key, taken),
            )
        self._refuse(weights=weights)
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
            return found[0], outline.nested(chosen, bare, numbers, found[1:])

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
        self._check_threads(threads)
        if reduce not in ("sum", "mean"):
            raise CompileError.call(self.name, f"reduce={reduce!r} is neither 'sum' nor 'mean'")
        taken = take(self.name, given, self._wanted)
        self._watch(taken, (0,))
        if taken.rows is not None:
            value, found = self._over_rows.backward(
                taken, reduce, weights, threads, self._check_single, taking
            )
            if not found and taken.rows:
                self._nothing_captured()
            _add_up([leaf for leaf, _ in found], [total for _, total in found])
            return value
        self._refuse(weights=weights)

        def gradients(trace: Trace) -> Run:
            self._check_single(trace)
            if not taking(trace):
                self._nothing_captured()
            return of_gradients(trace, CAPTURED, taking(trace))

        family, trace, run, found = self._led(taken, gradients, settles=True)
        if isinstance(found, float):  # the gradients are where they belong
            self._leave(key, family, trace, run, taken, taking(trace), None)
            return found
        numbers = taking(trace)
        _add_up([trace.captured[number] for number in numbers], found[1:])
        return float(found[0])

    def _nothing_captured(self) -> NoReturn:
        raise CompileError.call(
            self.name, "no captured parameter takes gradients; use value_and_grad instead"
        )

    def _not_yet(self, what: str, cure: str) -> NoReturn:
        raise CompileError.of_tensors(self.name, what, cure)

    def jacobian(self, given: dict[str, Any], wrt: Any = None, threads: Any = None) -> Any:
        """The gradients of every output, in the outputs' nest: rows, the axes of the output, then
        those of the argument."""
        self._check_threads(threads)
        taken = take(self.name, given, self._wanted)
        chosen, bare = self._chosen(taken, wrt)
        self._watch(taken, (0,))
        return self._by_units.jacobian(taken, chosen, bare)

    def hessian(
        self, given: dict[str, Any], wrt: Any = None, sparse: bool = False, threads: Any = None
    ) -> Any:
        """All second derivatives: for arguments x and y the array of x is of their shapes one
        behind the other, with rows in front where there are any."""
        self._refuse(sparse=sparse or None)
        self._check_threads(threads)
        taken = take(self.name, given, self._wanted)
        chosen, bare = self._chosen(taken, wrt)
        if any(taken.structures[argument].order != (None,) for argument in chosen):
            self._not_yet("hessian by nests", "Name arguments that are one array each in wrt=.")
        self._watch(taken, (0,))
        return self._by_units.hessian(taken, chosen, bare, self._check_single)

    def hvp(self, given: dict[str, Any], vector: Any, wrt: Any = None, threads: Any = None) -> Any:
        """The Hessian times a vector, in the nest of the gradients."""
        self._check_threads(threads)
        taken = take(self.name, given, self._wanted)
        chosen, bare = self._chosen(taken, wrt)
        if taken.rows is not None:
            check = self._check_single
            return self._over_rows.hvp(taken, chosen, bare, vector, threads, check)
        numbers = [number for argument in chosen for number in taken.leaves_of(argument)]
        along = taken.along(self.name, chosen, bare, vector)

        def products(trace: Trace) -> Run:
            self._check_single(trace)
            return of_products(trace, numbers)

        found = self._led(taken, products, leaves=[*taken.leaves, *along])[3]
        return taken.nested(chosen, bare, numbers, found[1:])

    def story(self, given: dict[str, Any], row: int = 0) -> Story:
        """The story of one row, as the function tells it on tensors."""
        return story_of(self.name, self._call, take(self.name, given, self._wanted), row)

    def births(self, given: dict[str, Any], threads: Any = None) -> RowBirths:
        """Which rows make a NaN or an infinity, in a value or a gradient, and at which line."""
        taken = take(self.name, given, self._wanted)
        free = tuple(taken.names[argument] for argument in self._chosen(taken, None)[0])
        _, parts = self._parts(taken)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            values = self.value(given, threads)
            single = all(_is_single(part.trace) for part in parts)
            ask = self.grad if single else self.jacobian
            gradients = ask(given, wrt=free, threads=threads) if free else ()
            summed = single and any(taking(part.trace) for part in parts)
            totals = self._totals(taken, threads) if summed else []
        return births_of(
            self._call, taken, values, gradients, not all(np.isfinite(it).all() for it in totals)
        )

    def _totals(self, taken: Taken, threads: Any) -> list[Any]:
        """The gradients of captured leaves, added up nowhere."""
        if taken.rows is not None:
            check = self._check_single
            _, found = self._over_rows.backward(taken, "sum", None, threads, check, taking)
            return [total for _, total in found]
        return list(self._led(taken, lambda it: of_gradients(it, CAPTURED, taking(it)))[3][1:])

    def _refuse(self, **settings: Any) -> None:
        for name, it in settings.items():
            if it is not None:
                self._not_yet(f"{name}=", "Leave it out.")

    def _parts(self, taken: Taken) -> tuple[Family, list[Part]]:
        """The traces that a call leads to: one, or those of its rows."""
        if taken.rows is not None:
            return self._over_rows.parts(taken)
        family, trace, _, _ = self._led(taken, of_values)
        return family, [Part(trace, None, 0)]

    # ---- checks --------------------------------------------------------------------------------

    def _check_threads(self, threads: Any) -> None:
        """Rows go to as many threads; one row, a Jacobian or a Hessian takes one all the same."""
        if threads is not None and not (isinstance(threads, Integral) and int(threads) > 0):
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
        for number in range(1 if taken.rows is None else taken.rows):
            row = taken.row(number)
            made = [
                Tensor(leaf) if kind == TENSOR else leaf
                for kind, leaf in zip(row.kinds, row.leaves)
            ]
            result = self._call(row.filled(made))
            if numbers and hasattr(result, "backward"):
                _look_backward(result)


def _look_backward(result: Any) -> None:
    """A backward pass for what it raises: no hook sees it, gradients stay as they were."""
    kept = [(leaf, leaf.grad, leaf._hooks) for leaf in order(result) if leaf.op == "leaf"]
    try:
        for leaf, _, _ in kept:
            leaf._hooks = None
        result.backward()
    finally:
        for leaf, grad, its_hooks in kept:
            leaf.grad, leaf._hooks = grad, its_hooks


def _is_single(trace: Trace) -> bool:
    program = trace.program
    return len(program.outputs) == 1 and program.shapes[program.outputs[0]] == ()


def _add_up(leaves: Sequence[Any], found: Sequence[Any]) -> None:
    """Add gradients to leaves, once all hooks have seen them."""
    totals = [_after_hooks(leaf, total) for leaf, total in zip(leaves, found)]
    for leaf, total in zip(leaves, totals):
        leaf.grad = leaf.grad + total


def _after_hooks(leaf: Any, total: Any) -> Any:
    if not leaf._hooks:
        return total if leaf.shape else float(total)
    if leaf.shape:
        return np.array(hooks.run_on_array(leaf, np.array(total)))
    return hooks.run(leaf, float(total))
