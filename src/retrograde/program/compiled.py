"""``rg.compile``: a function on values, recorded where its rows lead and replayed over them."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import update_wrapper
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, overload

from .._values.modes import ArraysRecorded
from .._values.nests import is_array
from ..errors import (
    CompileError,
    FrameError,
    PrintingError,
    ProgramFileError,
    RowsError,
    TensorError,
)
from ..value import Value, core
from .calling import Replayable
from .callsites import MISS, CallSites
from .doubts import DoubtError
from .either import also_on_tensors, has_tensors, holds_nodes
from .files import packed, write
from .fixing import fixed_names, without_partials
from .loaded import Loaded, LoadedTensors
from .naming import named
from .objects import PerObject, is_method
from .recordings import Recordings
from .routing import Recorder
from .rows import RESERVED, Argument, Bound
from .shaped.arguments import TENSOR, annotated
from .shaped.calls import Calls, key_of
from .shaped.text import families_text
from .shaped.writer import StoredTensors
from .shapes import Shape, fixed_in, plain
from .subject import Subject
from .targets import target_of
from .traces import Family, Trace
from .travelling import (
    found_by_name,
    found_elsewhere,
    from_source,
    in_source,
    source_of,
    travelling,
)
from .writer import Stored

if TYPE_CHECKING:
    from .statics import Specialized


class Compiled(Replayable, PerObject):
    """A compiled function: call it on numbers and arrays. Made by :func:`compile`."""

    def __init__(
        self,
        function: Callable[..., Any],
        trace_budget: int | None = None,
        choices: bool = True,
        backend: str | None = None,
        checkpoint: bool = False,
    ) -> None:
        if not callable(function):
            raise CompileError.not_callable(function)
        if trace_budget is not None and (not isinstance(trace_budget, int) or trace_budget < 1):
            raise CompileError.budget(trace_budget)
        self._function = function
        self._settings = trace_budget, choices, backend, checkpoint
        try:
            function = without_partials(function)
            self._name = getattr(function, "__name__", "the function")
            self._signature = inspect.signature(function)
            self._fixed = fixed_names(function)
        except ValueError as error:
            raise CompileError.call(
                getattr(function, "__name__", "the function"),
                f"{error}; wrap it in a function of yours",
            ) from None
        self._method = is_method(function, self._signature)
        for parameter in self._signature.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise CompileError.variadic(self._name, parameter.name)
            if parameter.name in RESERVED:
                raise CompileError.reserved(self._name, parameter.name)
        self._wanted = annotated(function, self._signature)
        self._calls = function
        self._on_tensors = TENSOR in self._wanted.values()
        self._target = target_of(backend, self._name)
        self._tensors = Calls(self._name, self._called, self._wanted, self._target)
        self._sites = CallSites()
        subject = Subject(function, self._name, self._signature)
        self._recordings = Recordings(
            subject,
            trace_budget,
            choices,
            self._sites,
            self._target,
            checkpoint and backend != "cuda",
        )
        update_wrapper(self, self._function)

    @property
    def _whole(self) -> Collection[str]:
        return self._wanted

    def _made_for(self, function: Any) -> Compiled:
        return Compiled(function, *self._settings)

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
        if core.in_recording() or holds_nodes((args, kwargs)):
            return self._itself(args, kwargs)
        try:
            return self._value(args, kwargs, threads, out)
        except ArraysRecorded:
            self._on_tensors = True
        except TensorError:
            pass  # a sequence has met a tensor: it becomes one
        except RowsError:
            if not has_tensors(args, kwargs):
                raise
        result = self._called_on_tensors(args, kwargs, threads=threads, out=out)
        self._on_tensors = True
        return result

    def _itself(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The function itself, as on values; it knows nothing of frames."""
        try:
            return self._calls(*args, **kwargs)
        except TypeError:
            from ..frames.binding import is_frame

            if len(args) == 1 and is_frame(args[0]):
                raise FrameError.values(self._name) from None
            raise

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
            found = self._tensors.again("value", args)
            if found is not None:
                return found
            key = key_of("value", args)
        if core.in_recording() or holds_nodes((args, kwargs)):
            return self._calls(*args, **kwargs)
        return self._tensors.value(self._named(args, kwargs), **settings, key=key)

    def _named(self, args: Any, kwargs: Any) -> dict[str, Any]:
        """Arguments by their names, in order; a default that was not given is the function's."""
        try:
            found = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            from ..frames.tables import table_of

            if len(args) == 1 and table_of(args[0]) is not None:
                raise FrameError.tensors(self._name) from None
            raise CompileError.call(self._name, str(error)) from None
        return found.arguments

    def _called(self, arguments: dict[str, Any]) -> Any:
        """The function itself, on arguments by their names."""
        call = self._signature.bind_partial()
        call.arguments.update(arguments)
        return self._calls(*call.args, **call.kwargs)

    def __reduce__(self) -> Any:
        again = Compiled, (self._function, *self._settings)
        if in_source():
            return again
        if isinstance(self._function, MethodType) and found_elsewhere(self._function):
            instance = self._function.__self__
            if isinstance(getattr(type(instance), self._name, None), PerObject):
                return getattr, (instance, self._name)
        if found_elsewhere(self._function):
            # decorated, it is found again by its name
            named = isinstance(self._function, FunctionType) and found_by_name(self._function)
            return self._function.__qualname__ if named is self else again
        if self._on_tensors:
            return LoadedTensors(self._stored_tensors()).__reduce__()
        source = source_of(again)
        if self.traces and (source is None or self._recordings.can_be_stored):
            stored = self._stored_function()
            if stored.parameters or source is None or self._recordings.travels:
                return travelling(stored, source)
        if source is not None:
            return from_source, (source,)
        found = getattr(self._function, "__module__", "") == "__main__"
        if found and found_by_name(self._function) is self:
            return self._function.__qualname__  # a process that was forked finds it
        return Loaded(self._stored_function()).__reduce__()  # says to call it first

    def __copy__(self) -> Compiled:
        return Compiled(self._function, *self._settings)

    def __deepcopy__(self, memo: dict[int, Any]) -> Compiled:
        return self.__copy__()

    def explain(self) -> str:
        """The plan: for each trace the program before and after the passes, slots and guards.

        Of a function on tensors: its instructions with their shapes, and the steps of each plan.
        """
        if not self._tensors.families:
            return super().explain()
        found = families_text(self._name, self._tensors.families.values())
        return f"{super().explain()}\n\n{found}" if self._recordings.by_shape else found

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
        for family in families:
            structures = family.arguments.structures if family.arguments else ()
            self._check_fixed(name for it in structures for each in it.fixed for name, _, _ in each)
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
        self._recordings.forget()
        self._tensors.forget()

    def __repr__(self) -> str:
        return f"<compiled {self._name}{self._signature}: {len(self.traces)} trace(s)>"

    def _stored_function(self) -> Stored:
        """What was recorded with the names that the function uses meaning what they do now."""
        families: dict[Any, Family] = {}
        leaves: dict[int, Value] = {}
        with self._recordings.lock:
            families.update(self._recordings.brought)
            for key, family in self._recordings.by_shape.items():
                if not family.names.unchanged():
                    continue
                shapes = tuple(plain(shape) for _, shape in key)
                self._check_fixed(each for _, shape in key for each in fixed_in(shape))
                if shapes in families:
                    raise ProgramFileError.unsaveable(
                        self._name,
                        "it was called with tuples and with named tuples, or with dicts and with "
                        "dataclasses, which are all tuples, or all dicts, in a file",
                    )
                families[shapes] = family
            for family in families.values():
                leaves.update((id(leaf), leaf) for leaf in family.captured)
        parameters = named(list(leaves.values()), self._function)
        return Stored(self._name, self._signature, parameters, list(families.items()))

    def _check_fixed(self, names: Iterable[str]) -> None:
        """Refuse to store what was recorded for fields of dataclasses that are no numbers."""
        for name in names:
            raise ProgramFileError.unsaveable(
                self._name,
                f"it was called with a dataclass whose field {name!r} is no number, and what was "
                "recorded is for that alone",
            )

    def _bind_frames(
        self, args: Sequence[Any], kwargs: dict[str, Any], error: Exception | None
    ) -> tuple[Bound, list[Argument]]:
        if self._method:
            raise CompileError.method(self._name)
        return super()._bind_frames(args, kwargs, error)

    def _kinds(self) -> list[tuple[list[tuple[str, Shape]], Family, Family | None]]:
        if self._on_tensors:
            raise PrintingError.shaped(self._name)
        return self._recordings.kinds()

    # ---- recording ---------------------------------------------------------------------------

    def _families(self) -> Sequence[Family]:
        return [*self._recordings.by_shape.values(), *self._recordings.brought.values()]

    def bring(self, stored: Stored) -> Compiled:
        """Begin with what was recorded of the function in another process."""
        self._recordings.bring(stored.families)
        return self

    def _family(self, bound: Bound, shapes: list[Argument], traced: bool = False) -> Family:
        return self._recordings.family(bound, shapes, traced)

    def _recorder(self, family: Family, bound: Bound, shapes: list[Argument]) -> Recorder:
        return self._recordings.recorder(family, bound, shapes)

    def _record(
        self, bound: Bound, shapes: list[Argument], numbers: Sequence[float], path: bytes
    ) -> Trace:
        return self._recordings.record(bound, shapes, numbers, path)

    def _leave(self, doubt: DoubtError) -> bool:
        return self._recordings.leave(doubt)


for _name in ("value_and_grad", "grad", "backward", "jacobian", "hessian", "hvp", "story",
              "births"):  # fmt: skip
    setattr(Compiled, _name, also_on_tensors(_name))


@overload
def compile(
    function: Callable[..., Any],
    *,
    trace_budget: int | None = None,
    choices: bool = True,
    backend: str | None = None,
    checkpoint: bool = False,
) -> Compiled: ...


@overload
def compile(
    *,
    trace_budget: int | None = None,
    choices: bool = True,
    backend: str | None = None,
    checkpoint: bool = False,
) -> Callable[[Callable[..., Any]], Compiled]: ...


@overload
def compile(
    function: Callable[..., Any],
    *,
    trace_budget: int | None = None,
    choices: bool = True,
    backend: str | None = None,
    checkpoint: bool = False,
    static: str | Sequence[str],
) -> Specialized: ...


@overload
def compile(
    *,
    trace_budget: int | None = None,
    choices: bool = True,
    backend: str | None = None,
    checkpoint: bool = False,
    static: str | Sequence[str],
) -> Callable[[Callable[..., Any]], Specialized]: ...


def compile(
    function: Any = ...,
    *,
    trace_budget: int | None = None,
    choices: bool = True,
    static: str | Sequence[str] = (),
    backend: str | None = None,
    checkpoint: bool = False,
) -> Any:
    """Record a function on values and replay it over rows, with gradients.

    Axis 0 of an array is rows: a 1-D array gives one number a row, a 2-D array a sequence of
    numbers a row. Numbers, lists and ``rg.uniform(array)`` are the same for all rows. Every row
    goes its own way through ``if`` and ``while``. Branches whose sides only compute values and meet
    again share a recording; of others each way that is taken is recorded once.

    A parameter annotated ``rg.Tensor``, and every array of three and more axes, is one tensor
    instead, and one annotated ``np.ndarray`` whole numbers that pick places of tensors: such a
    function has no rows.

    ``trace_budget`` is how many ways are kept; by default 500, or more while they are short.
    ``choices=False`` records each way through all branches by itself.
    ``static`` names parameters that the function gets as they are, and is recorded for: a number of
    steps, a flag, a name. In a class it makes a method that is compiled for each object.
    ``backend="cc"`` has the system's C compiler compile what is replayed, in the background of the
    first calls, with the same bits.
    ``checkpoint=True`` keeps less of long loops for their gradients, the root of their length, and
    computes the rest again: the same bits with less memory, in up to half as much time more.

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
    settings = trace_budget, choices, backend, checkpoint
    if static:
        from .statics import Specialized

        names = (static,) if isinstance(static, str) else tuple(static)
        if function is ...:
            return lambda given: Specialized(given, names, *settings)
        return Specialized(function, names, *settings)
    if function is ...:
        return lambda given: Compiled(given, *settings)
    return Compiled(function, *settings)
