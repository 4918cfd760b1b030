"""``rg.compile``: a function on values, recorded where its rows lead and replayed over them."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial, update_wrapper, wraps
from threading import RLock
from types import FunctionType
from typing import Any, overload

from .._values.modes import unwatched
from .._values.nests import Nest, flatten, is_array, leaves, take_apart
from ..errors import (
    CompileError,
    FunctionResultError,
    ProgramFileError,
    RecordingError,
    RecordingWarning,
    RowsError,
    TensorError,
    TraceBudgetWarning,
)
from ..tensor import in_graph
from ..value import Value, core
from .calling import Replayable
from .callsites import MISS, CallSites
from .entered import Entered, watching
from .files import packed, write
from .loaded import Loaded, LoadedTensors
from .misfits import retold
from .naming import named
from .program import Input
from .record import ArraysRecorded, record
from .routing import Recorder
from .rows import RESERVED, Argument, Bound, PerRow
from .settling import add_settled, next_family
from .shaped.arguments import TENSOR, WHOLE_AXES, annotated
from .shaped.calls import Calls, key_of
from .shaped.text import families_text
from .shaped.writer import StoredTensors
from .shapes import plain
from .traces import Family, Trace, collector_paused, outline
from .writer import Stored

MANY_TRACES = 32
"""Traces that part at one line, from which on it is named."""


def _is_of_a_class(function: Any) -> bool:
    """Whether a function was defined in the body of a class."""
    place = getattr(function, "__qualname__", "").rpartition(".")[0]
    return bool(place) and not place.endswith("<locals>")


def _found_by_name(function: Any) -> Any:
    """What its module has under the function's name."""
    found: Any = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return found


class Compiled(Replayable):
    """A compiled function: call it on numbers and arrays. Made by :func:`compile`."""

    def __init__(self, function: Callable[..., Any], trace_budget: int | None = None) -> None:
        if not callable(function):
            raise CompileError.not_callable(function)
        if trace_budget is not None and (not isinstance(trace_budget, int) or trace_budget < 1):
            raise CompileError.budget(trace_budget)
        self._function = function
        self._name = getattr(function, "__name__", "the function")
        self._budget = trace_budget
        try:
            self._signature = inspect.signature(function)
        except ValueError as error:
            raise CompileError.call(
                self._name, f"{error}; wrap it in a function of yours"
            ) from None
        if next(iter(self._signature.parameters), None) == "self" and _is_of_a_class(function):
            raise CompileError.method(self._name)
        for parameter in self._signature.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise CompileError.variadic(self._name, parameter.name)
            if parameter.name in RESERVED:
                raise CompileError.reserved(self._name, parameter.name)
        self._wanted = annotated(function, self._signature)
        self._on_tensors = TENSOR in self._wanted.values()
        self._tensors = Calls(self._name, self._called, self._wanted)
        self._by_shape: dict[Any, Family] = {}
        self._sites = CallSites()
        self._lock = RLock()
        self._warned = False
        update_wrapper(self, function)

    def __call__(
        self, /, *args: Any, threads: int | None = None, out: Any = None, **kwargs: Any
    ) -> Any:
        """The function's value: a float for numbers, an array with one result a row for arrays.

        ``out`` are arrays to write the results into, in the nest of the results. On values, as in
        another recording, the function itself is called.
        """
        if self._on_tensors:
            return self._called_on_tensors(args, kwargs, threads=threads, out=out)
        given = args if not kwargs else self._ordered(args, kwargs)
        if given is not None and out is None:
            found = self._sites.find(("value", threads), given)
            if found is not MISS:
                return found
        if self._picks(args, kwargs):
            result = self._called_on_tensors(args, kwargs, threads=threads, out=out)
            self._on_tensors = True
            return result
        if core.in_recording() or _holds_nodes((args, kwargs)):
            return self._function(*args, **kwargs)
        try:
            return self._value(args, kwargs, threads, out)
        except ArraysRecorded:
            self._on_tensors = True
        except TensorError:
            pass  # a sequence has met a tensor: it becomes one
        except RowsError:
            if not _has_tensors(args, kwargs):
                raise
        result = self._called_on_tensors(args, kwargs, threads=threads, out=out)
        self._on_tensors = True
        return result

    def _picks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether all arguments annotated as NumPy arrays are whole numbers: they pick places."""
        if not self._wanted:
            return False
        given = {**dict(zip(self._signature.parameters, args)), **kwargs}
        arrays = [
            getattr(given[name], "array", given[name]) for name in self._wanted if name in given
        ]
        return bool(arrays) and all(is_array(it) and it.dtype.kind in "iu" for it in arrays)

    def _called_on_tensors(self, args: Any, kwargs: Any, **settings: Any) -> Any:
        key = None
        if not kwargs and settings["out"] is None and settings["threads"] is None:
            key = key_of("value", args)
            found = self._tensors.quick(key, args)
            if found is not None:
                return found
        if core.in_recording() or _holds_nodes((args, kwargs)):
            return self._function(*args, **kwargs)
        return self._tensors.value(self._named(args, kwargs), **settings, key=key)

    def _named(self, args: Any, kwargs: Any) -> dict[str, Any]:
        """Arguments by their names, in order; a default that was not given is the function's."""
        try:
            found = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise CompileError.call(self._name, str(error)) from None
        return found.arguments

    def _called(self, arguments: dict[str, Any]) -> Any:
        """The function itself, on arguments by their names."""
        call = self._signature.bind_partial()
        call.arguments.update(arguments)
        return self._function(*call.args, **call.kwargs)

    def __reduce__(self) -> Any:
        if not isinstance(self._function, FunctionType):
            return Compiled, (self._function, self._budget)
        found = _found_by_name(self._function)
        if found is self:
            return self._function.__qualname__  # decorated: found again by its name
        if found is self._function:
            return Compiled, (self._function, self._budget)
        if self._on_tensors:
            return LoadedTensors(self._stored_tensors()).__reduce__()
        return Loaded(self._stored_function()).__reduce__()  # a lambda, a function in a function

    def __copy__(self) -> Compiled:
        return Compiled(self._function, self._budget)

    def __deepcopy__(self, memo: dict[int, Any]) -> Compiled:
        return self.__copy__()

    def explain(self) -> str:
        """The plan: for each trace the program before and after the passes, slots and guards.

        Of a function on tensors: its instructions with their shapes, and the steps of each plan.
        """
        if not self._tensors.families:
            return super().explain()
        found = families_text(self._name, self._tensors.families.values())
        return f"{super().explain()}\n\n{found}" if self._by_shape else found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recorded traces to a program file, which :func:`retrograde.load` reads.

        The file has the traces, their guards and source lines, the names of the arguments and the
        captured leaves with their data; no Python. It is put in place whole or not at all.
        """
        if self._on_tensors:
            write(path, packed(self._stored_tensors()))
        else:
            super().save(path)

    def _stored_tensors(self) -> StoredTensors:
        """What was recorded on tensors."""
        families, leaves = self._tensors.settled()
        parameters = named(leaves, self._function)
        return StoredTensors(self._name, self._signature, self._wanted, parameters, families)

    def refresh(self) -> None:
        """Forget what was recorded: the next call records anew.

        For what cannot be seen to have changed: contents that are iterated over, ``.get``,
        properties of extension types, results that a helper keeps in a cache.

        >>> import retrograde as rg
        >>> rates = [1.0, 2.0]
        >>> total = rg.compile(lambda x: x * sum(rates))
        >>> total(10.0)
        30.0
        >>> rates.append(4.0)
        >>> total(10.0)
        30.0
        >>> total.refresh()
        >>> total(10.0)
        70.0
        """
        with self._lock:
            self._by_shape = {}
            self._sites.forget()
            self._tensors.forget()

    def __repr__(self) -> str:
        return f"<compiled {self._name}{self._signature}: {len(self.traces)} trace(s)>"

    def _stored_function(self) -> Stored:
        """What was recorded with the names that the function uses meaning what they do now."""
        families: dict[Any, Family] = {}
        leaves: dict[int, Value] = {}
        with self._lock:
            for key, family in self._by_shape.items():
                if not family.names.unchanged():
                    continue
                shapes = tuple(plain(shape) for _, shape in key)
                if shapes in families:
                    raise ProgramFileError.unsaveable(
                        self._name,
                        "it was called with tuples and with named tuples, which are all tuples in "
                        "a file",
                    )
                families[shapes] = family
                leaves.update((id(leaf), leaf) for leaf in family.captured)
        parameters = named(list(leaves.values()), self._function)
        return Stored(self._name, self._signature, parameters, list(families.items()))

    # ---- recording ---------------------------------------------------------------------------

    def _families(self) -> Sequence[Family]:
        return list(self._by_shape.values())

    def _family(self, bound: Bound, shapes: list[Argument]) -> Family:
        key = tuple((shape.name, shape.shape) for shape in shapes)
        with self._lock:
            former = self._by_shape.get(key)
            if former is not None and former.names.unchanged():
                return former
            self._sites.drop(former)
            family = next_family(former, self._budget)
            record = partial(self._record, bound, shapes, bound.numbers, b"")
            family.keep(family.adopt(add_settled(self._name, record, family)))
            family.settle()
            if bound.rows != 0:  # without rows the branches were decided by made-up numbers
                self._by_shape[key] = family
            return family

    def _recorder(self, family: Family, bound: Bound, shapes: list[Argument]) -> Recorder:
        def another(row: int, path: bytes, left: Trace) -> Trace:
            numbers = bound.numbers_of(row) if bound.rows is not None else bound.numbers
            with self._lock:
                record = partial(self._record, bound, shapes, numbers, path)
                trace = add_settled(self._name, record, family)
                guard = len(path) - 1
                if trace.path[: guard + 1] != path or trace.site(guard) != left.site(guard):
                    raise RecordingError.unsteady(self._name, left.site(guard))
                if trace.outputs.paths != left.outputs.paths:
                    raise FunctionResultError.branches(
                        self._name, left.outputs.places, trace.outputs.places
                    )
                if family.splits[left.site(guard)] + 1 == MANY_TRACES and not self._warned:
                    message = RecordingWarning.traces(self._name, MANY_TRACES, left.site(guard))
                    warnings.warn(RecordingWarning(message), stacklevel=_caller_level())
                if not family.has_room:
                    self._warn(family, left, guard)
                return family.adopt(trace)

        return another

    def _warn(self, family: Family, left: Trace, guard: int) -> None:
        """Once: the line that splits the rows into more traces than are kept."""
        if self._warned:
            return
        self._warned = True
        family.splits[left.site(guard)] += 1
        site, _ = family.splits.most_common(1)[0]
        message = TraceBudgetWarning.text(self._name, len(family.traces), site)
        warnings.warn(TraceBudgetWarning(message), stacklevel=_caller_level())

    def _record(
        self,
        bound: Bound,
        shapes: list[Argument],
        numbers: Sequence[float],
        path: bytes,
        entered: Entered | None = None,
    ) -> Trace:
        since = core.begin_epoch()
        values = []
        for name, number in zip(bound.names, numbers):
            value = core.argument(number)
            value.label = name
            values.append(value)
        inputs = [
            Input(kind, name, 0.0, *place)
            for kind, name, place in zip(bound.kinds, bound.names, bound.places)
        ]
        source = iter(values)
        arguments = {shape.name: shape.build(source) for shape in shapes}
        outputs: list[Nest] = []

        def flatten(result: Any, decided: bool) -> list[Any]:
            if result is None or not (decided or _holds_values(result)):
                raise FunctionResultError.of(self._name, result)
            found = take_apart(result, "the result", refusal)
            outputs.append(outline(found))  # nothing keeps the graph
            return found.items

        def refusal(place: str, part: object) -> Exception:
            return FunctionResultError.of(f"{self._name}, {place}", part)

        call = self._signature.bind_partial()
        call.arguments.update(arguments)

        function = self._function

        def called() -> Any:
            try:
                with watching(entered) if entered else nullcontext():
                    return function(*call.args, **call.kwargs)
            except (TypeError, ValueError) as error:
                clearer = retold(error, self._name, shapes)
                if clearer is None:
                    raise
                raise clearer from error

        depth = core.swap_no_grad(0)  # a later call may want gradients
        try:
            with collector_paused(), unwatched():
                program, captured = record(
                    called,
                    list(zip(values, inputs)),
                    flatten,
                    since,
                    path,
                )
        finally:
            core.swap_no_grad(depth)
        return Trace(program, captured, outputs[0])


def _caller_level() -> int:
    """How many frames up the first one is that is not ours."""
    level, frame = 2, sys._getframe(2)
    package = __name__.rpartition(".")[0].rpartition(".")[0]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(package):
        frame = frame.f_back
        level += 1
    return level


def _holds_values(nest: Any) -> bool:
    return any(isinstance(leaf, Value) for leaf in leaves(nest))


def _holds_nodes(nest: Any) -> bool:
    return any(in_graph(leaf) for leaf in leaves(nest))


def _has_tensors(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an array has so many axes that it is a tensor; settings are no arguments."""
    for part in args:
        if _is_or_holds_tensor(part):
            return True
    return any(key not in RESERVED and _is_or_holds_tensor(it) for key, it in kwargs.items())


def _is_or_holds_tensor(part: Any) -> bool:
    if isinstance(part, PerRow):
        part = part.array
    if is_array(part):
        return bool(part.ndim >= WHOLE_AXES)
    if not isinstance(part, (list, tuple, dict)):
        return False
    found = flatten(part, lambda it: is_array(it) or isinstance(it, PerRow))[0]
    return any(_is_or_holds_tensor(it) for it in found if is_array(it) or isinstance(it, PerRow))


def _also_on_tensors(name: str) -> Any:
    """A method of compiled functions that is also asked of functions on tensors."""
    method = getattr(Replayable, name)

    @wraps(method)
    def asked(self: Compiled, /, *args: Any, **given: Any) -> Any:
        on_tensors = self._on_tensors or self._picks(args, given)
        kept: dict[str, Any] = {}
        if on_tensors and name in _QUICK and given.keys() <= {"wrt"}:
            wrt = given.get("wrt")
            if wrt is None or isinstance(wrt, (str, tuple)):
                kept["key"] = key_of((name, wrt), args)
                found = self._tensors.quick(kept["key"], args)
                if found is not None:
                    return found
        if not on_tensors:
            try:
                return method(self, *args, **given)
            except ArraysRecorded:
                self._on_tensors = True
            except TensorError:
                on_tensors = True  # a sequence has met a tensor: it becomes one
            except RowsError:
                if not _has_tensors(args, given):
                    raise
        own = (*RESERVED, "row") if name == "story" else RESERVED
        settings = {key: it for key, it in given.items() if key in own}
        named = {key: it for key, it in given.items() if key not in own}
        result = getattr(self._tensors, name)(self._named(args, named), **settings, **kept)
        self._on_tensors = self._on_tensors or on_tensors
        return result

    return asked


_QUICK = frozenset(("value_and_grad", "backward"))
"""What is answered at once where it was asked before."""

for _name in ("value_and_grad", "grad", "backward", "jacobian", "hessian", "hvp", "story",
              "births"):  # fmt: skip
    setattr(Compiled, _name, _also_on_tensors(_name))


@overload
def compile(function: Callable[..., Any], *, trace_budget: int | None = None) -> Compiled: ...


@overload
def compile(*, trace_budget: int | None = None) -> Callable[[Callable[..., Any]], Compiled]: ...


def compile(function: Any = ..., *, trace_budget: int | None = None) -> Any:
    """Record a function on values and replay it over rows, with gradients.

    Axis 0 of an array is rows: a 1-D array gives one number a row, a 2-D array a sequence of
    numbers a row. Numbers, lists and ``rg.uniform(array)`` are the same for all rows. Every row
    goes its own way through ``if`` and ``while``; each way that is taken is recorded once.

    A parameter annotated ``rg.Tensor``, and every array of three and more axes, is one tensor
    instead, and one annotated ``np.ndarray`` whole numbers that pick places of tensors: such a
    function has no rows.

    ``trace_budget`` is how many ways are kept; by default 500, or more while they are short.

    >>> import numpy as np
    >>> import retrograde as rg
    >>> @rg.compile
    ... def f(x, a):
    ...     return rg.exp(-a * x) * x if x > 0 else -x
    >>> f(1.0, 0.0)
    1.0
    >>> f(np.array([0.0, 1.0, -2.0]), 0.0)
    array([-0.,  1.,  2.])
    >>> weight = rg.Tensor([1.0, 2.0])
    >>> @rg.compile
    ... def loss(x: rg.Tensor):
    ...     return rg.tanh(x @ weight).sum()
    >>> loss.grad(np.zeros((2, 2)))
    array([[1., 2.],
           [1., 2.]])
    """
    if function is ...:
        return lambda given: Compiled(given, trace_budget)
    return Compiled(function, trace_budget)
