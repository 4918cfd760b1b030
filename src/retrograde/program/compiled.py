"""``rg.compile``: a function on values, recorded where its rows lead and replayed over them."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
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
    TraceBudgetWarning,
)
from ..tensor import in_graph
from ..value import Value, core
from .calling import Replayable
from .callsites import MISS, CallSites
from .choices import Choices, DoubtedError, Overseer, computes_alike, on_stage, recorded
from .conditions import Decisions
from .doubts import DoubtError
from .entered import Entered, watching
from .loaded import Loaded
from .misfits import name_row, retold
from .naming import named
from .program import Input
from .proving import OPERATIONS, agrees
from .record import ArraysRecorded, record
from .rewriting import Fork
from .routing import Recorder
from .rows import RESERVED, Argument, Bound
from .settling import ReboundError, RejoinError, add_settled, next_family
from .shaped.arguments import TENSOR, WHOLE_AXES, annotated
from .shaped.calls import Calls, key_of
from .shaped.text import families_text
from .shapes import plain
from .sides import Stage
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

    def __init__(
        self,
        function: Callable[..., Any],
        trace_budget: int | None = None,
    ) -> None:
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
        self._choices = Choices()
        self._by_traces: dict[Any, Family] = {}
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
        except RowsError:
            if not _has_tensors(args, kwargs):
                raise
        return self._called_on_tensors(args, kwargs, threads=threads, out=out)

    def _picks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether all arguments annotated as NumPy arrays are whole numbers: they pick places."""
        if not self._wanted:
            return False
        given = {**dict(zip(self._signature.parameters, args)), **kwargs}
        arrays = [given[name] for name in self._wanted if name in given]
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
            raise ProgramFileError.unsaveable(self._name, "it is a function on tensors")
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
            raise ProgramFileError.unsaveable(self._name, "it is a function on tensors")
        super().save(path)

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
            self._by_shape, self._by_traces = {}, {}
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

    def _family(self, bound: Bound, shapes: list[Argument], traced: bool = False) -> Family:
        """``traced`` asks for one in which no branch is a choice."""
        key = tuple((shape.name, shape.shape) for shape in shapes)
        with self._lock:
            known = self._by_shape
            if traced and self._choices.on:
                known = self._by_traces
            former = known.get(key)
            if former is not None and former.names.unchanged():
                return former
            self._sites.drop(former)
            forks = None if known is self._by_traces else self._choices.on
            family = next_family(former, self._budget, forks)
            with self._doubting(), self._on_row(bound, 0):
                record = partial(self._record, bound, shapes, bound.numbers, b"", forks)
                trace = add_settled(self._name, record, family)
                self._prove(trace, family, bound, shapes)
            family.keep(family.adopt(trace))
            family.settle()
            if bound.rows != 0:  # without rows the branches were decided by made-up numbers
                known[key] = family
            return family

    def _recorder(self, family: Family, bound: Bound, shapes: list[Argument]) -> Recorder:
        def another(row: int, path: bytes, left: Trace) -> Trace:
            numbers = bound.numbers_of(row) if bound.rows is not None else bound.numbers
            with self._lock, self._doubting(), self._on_row(bound, row):
                guard = len(path) - 1
                record = partial(self._record, bound, shapes, numbers, path, family.forks)
                trace = add_settled(self._name, record, family)
                if trace.path[: guard + 1] != path or trace.site(guard) != left.site(guard):
                    raise RecordingError.unsteady(self._name, left.site(guard))
                if trace.outputs.paths != left.outputs.paths:
                    raise FunctionResultError.branches(
                        self._name, left.outputs.places, trace.outputs.places
                    )
                self._rejoin(family, left, guard, trace)
                self._prove(trace, family, bound, shapes)
                if family.splits[left.site(guard)] + 1 == MANY_TRACES and not self._warned:
                    message = RecordingWarning.traces(self._name, MANY_TRACES, left.site(guard))
                    warnings.warn(RecordingWarning(message), stacklevel=_caller_level())
                if not family.has_room:
                    self._warn(family, left, guard)
                return family.adopt(trace)

        return another

    def _rejoin(self, family: Family, left: Trace, guard: int, trace: Trace) -> None:
        """Rows part at a guard: begin again with a choice there, where it can be one."""
        if family.forks is None or guard >= len(left.asked):
            return
        fork = self._choices.wanted(left.asked[guard])
        if fork is not None:
            if family.has_room:  # should it come to traces after all, these are what there is
                family.keep(family.adopt(trace))
                family.settle()
            self._choices.turn_on(fork)
            self._sort_families()
            raise RejoinError

    def _sort_families(self) -> None:
        """Families in which other branches were choices are let go. Those of traces alone are kept
        aside: the function is not recorded again for what they have."""
        for key, family in list(self._by_shape.items()):
            if family.forks != self._choices.on:
                self._sites.drop(family)
                del self._by_shape[key]
                if not family.forks:
                    family.forks = None
                    self._by_traces[key] = family
        if not self._choices.on:
            for key, family in self._by_traces.items():
                family.forks = frozenset()
                self._by_shape[key] = family
            self._by_traces = {}

    @contextmanager
    def _doubting(self) -> Iterator[None]:
        """Begin again without choices that there is doubt about."""
        try:
            yield
        except DoubtError as doubt:
            if not self._leave(doubt):
                raise
            raise RejoinError from doubt

    def _leave(self, doubt: DoubtError) -> bool:
        """Leave to traces what there is doubt about; False: nothing would be different."""
        with self._lock:
            if not self._choices.on:
                return False
            if not isinstance(doubt, DoubtedError):
                self._choices.turn_off(self._choices.on)
            elif doubt.is_all:
                self._choices.stop()
            elif doubt.forks - self._choices.off:
                self._choices.turn_off(doubt.forks)
            else:
                return False
            self._sort_families()
            return True

    @contextmanager
    def _on_row(self, bound: Bound, row: int) -> Iterator[None]:
        """What the function raises says on which row it did."""
        try:
            yield
        except (DoubtError, RejoinError, ReboundError, ArraysRecorded):
            raise
        except Exception as error:
            if bound.rows:
                name_row(error, self._name, row)
            raise

    def _prove(self, trace: Trace, family: Family, bound: Bound, shapes: list[Argument]) -> None:
        """Compare a trace with choices with the traces of some rows, bit for bit."""
        if not trace.has_choices:
            return

        def traced(numbers: Sequence[float]) -> Trace:
            return self._record(bound, shapes, numbers, b"")

        operations = agrees(trace, traced, bound, OPERATIONS - family.proved)
        family.proved += operations or 0
        if operations is None:
            assert family.forks is not None
            sites = [f"{fork.code.co_filename}:{fork.line}" for fork in family.forks]
            message = RecordingWarning.choices(self._name, sites)
            warnings.warn(RecordingWarning(message), stacklevel=_caller_level())
            raise DoubtedError(set(family.forks), "its traces have other bits")

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
        forks: frozenset[Fork] | None = frozenset(),
        entered: Entered | None = None,
    ) -> Trace:
        if forks:
            stage = Stage(forks, self._choices.off)
            found: Trace = recorded(
                stage, lambda: self._record_on(stage, bound, shapes, numbers, path, entered)
            )
            return found
        return self._record_on(None, bound, shapes, numbers, path, entered)

    def _record_on(
        self,
        stage: Stage | None,
        bound: Bound,
        shapes: list[Argument],
        numbers: Sequence[float],
        path: bytes,
        entered: Entered | None,
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

        decisions = Decisions(path, self._choices.allowed)
        chosen: list[Value] = []

        def called() -> Any:
            function: Any = self._function
            watcher: Any = entered
            if stage is not None:
                watcher = Overseer(entered, stage)
            try:
                with (
                    watching(watcher) if watcher else nullcontext(),
                    on_stage(stage, decisions) if stage else nullcontext(),
                ):
                    if stage is not None:
                        function = stage.called(function)
                    result = function(*call.args, **call.kwargs)
                    chosen.extend(stage.nodes if stage is not None else ())
                    return result
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
                    decisions,
                    chosen,
                )
        finally:
            core.swap_no_grad(depth)
        trace = Trace(program, captured, outputs[0], asked=decisions.asked)
        if stage is not None and stage.nodes:
            if core.begin_epoch() != since + 1:
                raise DoubtError("it differentiates inside")
            if not computes_alike(trace.program, stage.whole):
                raise DoubtedError(stage.numbers, "it computes with a plain number of a side")
        return trace


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
    if is_array(part):
        return bool(part.ndim >= WHOLE_AXES)
    if not isinstance(part, (list, tuple, dict)):
        return False
    found = flatten(part, is_array)[0]
    return any(is_array(leaf) and leaf.ndim >= WHOLE_AXES for leaf in found)


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
            except RowsError:
                if not _has_tensors(args, given):
                    raise
        settings = {key: it for key, it in given.items() if key in RESERVED}
        named = {key: it for key, it in given.items() if key not in RESERVED}
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
    goes its own way through ``if`` and ``while``. Branches whose sides only compute values and
    meet again share a recording; of others each way that is taken is recorded once.

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
