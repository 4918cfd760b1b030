"""What every call of a compiled or loaded function goes through: binding, checks, running."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from .._shared.threads import threads_for
from ..errors import CompileError, FunctionResultError, RecordingError, RowsError
from ..value import core
from .callsites import CallSites, Finish, Part
from .derived import REDUCED, STORED, Mode
from .doubts import DoubtError
from .machines import ON_CPU, Machine
from .program import ROW
from .results import Store
from .routing import Call, Recorder, Router
from .rows import Argument, Bound, take_argument
from .settling import LazyArguments
from .traces import Family, Taking, Trace
from .writer import Stored


def _is_setting(default: Any) -> bool:
    """Whether a default is no number that rows could have: the function is left to use it."""
    return default is None or isinstance(default, str)


class Caller:
    """A function that has traces for some arguments, or can record them."""

    _name: str
    _signature: inspect.Signature
    _sites: CallSites
    _on_tensors = False
    _fixed: tuple[str, ...] = ()
    """Parameters that have their values already."""

    @property
    def _whole(self) -> Collection[str]:
        """Parameters whose arrays are not rows: tensors, by their annotations."""
        return ()

    def _family(self, bound: Bound, shapes: list[Argument], traced: bool = False) -> Family:
        """The traces for these arguments: at least one."""
        raise NotImplementedError

    def _recorder(self, family: Family, bound: Bound, shapes: list[Argument]) -> Recorder | None:
        """How to record another trace."""
        raise NotImplementedError

    def _record(
        self, bound: Bound, shapes: list[Argument], numbers: Sequence[float], path: bytes
    ) -> Trace | None:
        """Record the trace of some numbers; None where nothing can be recorded."""
        raise NotImplementedError

    def _leave(self, doubt: DoubtError) -> bool:
        """Do without choices that there is doubt about; whether there are any."""
        return False

    def _families(self) -> Sequence[Family]:
        raise NotImplementedError

    def _stored_function(self) -> Stored:
        """What a program file holds of it."""
        raise NotImplementedError

    def _machine(self, bound: Bound) -> Machine:
        """What runs the rows of a call."""
        return ON_CPU

    def _new_bound(self) -> Bound:
        """What takes the arguments of a call apart."""
        return Bound()

    # ---- one call ----------------------------------------------------------------------------

    def _bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Bound, list[Argument]]:
        if core.in_recording():
            raise RecordingError.replayed(self._name)
        if len(args) == 1 and type(args[0]) is dict and self._first in args[0]:
            return self._bind_frames(args, kwargs, None)
        named: Iterable[tuple[str, Any]]
        try:
            if not kwargs and len(args) == self._in_order:
                named = zip(self._signature.parameters, args)
            else:
                arguments = self._signature.bind(*args, **kwargs)
                given = set(arguments.arguments)
                arguments.apply_defaults()
                named = [
                    (name, nest)
                    for name, nest in arguments.arguments.items()
                    if name in given or not _is_setting(nest)
                ]
            bound = self._new_bound()
            return bound, [take_argument(bound, nest, name) for name, nest in named]
        except (TypeError, RowsError) as error:
            return self._bind_frames(args, kwargs, error)

    def _bind_frames(
        self, args: Sequence[Any], kwargs: dict[str, Any], error: Exception | None
    ) -> tuple[Bound, list[Argument]]:
        """Bind arguments with frames among them; where there are none, say what is wrong."""
        from ..frames.binding import taken
        from ..frames.lazies import any_lazy

        if any_lazy(args, kwargs):
            raise LazyArguments
        tables = not isinstance(error, RowsError)
        found = taken(self._name, self._signature, args, kwargs, tables, self._fixed)
        if found is not None:
            bound, shapes = self._bind(found.args, found.kwargs)
            bound.answers = found.answers
            return bound, shapes
        if isinstance(error, TypeError):
            raise CompileError.call(self._name, str(error)) from None
        assert error is not None
        raise error

    def _unframed(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Sequence[Any], dict[str, Any]]:
        """The arguments with arrays in the place of frames, for those who look at single rows."""
        from ..frames.binding import taken

        table = len(args) == 1 and type(args[0]) is dict and self._first in args[0]
        found = taken(self._name, self._signature, args, kwargs, table, self._fixed)
        return (args, kwargs) if found is None else (found.args, found.kwargs)

    @cached_property
    def _first(self) -> str:
        """The name of the first parameter."""
        return next(iter(self._signature.parameters), "")

    @cached_property
    def _in_order(self) -> int:
        """How many arguments given by their order alone are all of them; -1: no number is."""
        kinds = [parameter.kind for parameter in self._signature.parameters.values()]
        return -1 if inspect.Parameter.KEYWORD_ONLY in kinds else len(kinds)

    @cached_property
    def _order(self) -> tuple[str, ...] | None:
        """The names of the arguments, where each can be given by its order and by its name."""
        parameters = self._signature.parameters.values()
        if any(each.kind is not each.POSITIONAL_OR_KEYWORD for each in parameters):
            return None
        return tuple(self._signature.parameters)

    def _ordered(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
        """The arguments by their order, some of them given by name; None where that is not all."""
        names = self._order
        if names is None or len(args) + len(kwargs) != len(names):
            return None
        try:
            return (*args, *[kwargs[name] for name in names[len(args) :]])
        except KeyError:
            return None

    def _router(
        self,
        family: Family,
        bound: Bound,
        shapes: list[Argument],
        mode: Callable[[], Mode],
        threads: int | None,
        seeds: Sequence[tuple[int, int]] = (),
    ) -> Router:
        if threads is not None and not isinstance(threads, Integral):
            raise CompileError.threads(self._name, threads)
        columns = [(0, 0) if column is None else column for column in bound.columns]
        call = Call(
            rows=bound.count,
            numbers=bound.numbers,
            inputs=np.array([*columns, *seeds], dtype=np.int64).reshape(-1, 2),
            threads=threads_for(threads),
            arguments=len(columns),
            machine=self._machine(bound),
        )
        return Router(family, call, mode, self._recorder(family, bound, shapes))

    def _stored(
        self,
        family: Family,
        bound: Bound,
        shapes: list[Argument],
        mode: Mode,
        store: Store,
        threads: int | None,
        seeds: Sequence[tuple[int, int]] = (),
    ) -> None:
        """Run a mode whose outputs are all stored per row."""
        router = self._router(family, bound, shapes, lambda: mode, threads, seeds)
        router.store(len(store.columns), store.table())

    def _keep(
        self,
        asked: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        bound: Bound,
        family: Family,
        shapes: list[Argument],
        mode: Mode,
        parts: Sequence[Part],
        finish: Finish,
    ) -> None:
        """Leave a site for calls like the one just made; what is asked ends with its threads."""
        given = args if not kwargs else self._ordered(args, kwargs)
        if given is not None and len(given) == len(shapes) and bound.devices is None:
            threads = None if asked[-1] is None else threads_for(asked[-1])
            self._sites.keep(asked, family, shapes, mode, parts, finish, threads)

    def _watch(
        self,
        family: Family,
        bound: Bound,
        shapes: list[Argument],
        wrt: Sequence[int] | None,
        threads: int | None,
        seeds: Sequence[tuple[int, int]] = (),
    ) -> None:
        """Under anomaly(): raise at the first row in which a NaN or an infinity is born."""
        if core.in_anomaly():
            bound.on_host(self._name, "rg.anomaly()")
            from ..diagnose.anomalies import check_rows

            family = self._family(bound, shapes, traced=True)
            check_rows(self, family, bound, shapes, wrt, threads, seeds)

    def _check_mean(self, reduce: str, bound: Bound) -> None:
        if reduce == "mean" and bound.rows == 0:
            raise RowsError.no_mean(self._name, bound.row_name)

    def _check_single(self, family: Family) -> None:
        outputs = family.traces[0].outputs
        if len(outputs.items) != 1:
            raise FunctionResultError.several(self._name, outputs.places)

    def _chosen(self, shapes: list[Argument], wrt: Any) -> tuple[list[Argument], bool]:
        """The arguments to differentiate, and whether the gradient comes bare."""
        by_name = {shape.name: shape for shape in shapes}
        if wrt is None:
            return shapes, len(shapes) == 1
        names = wrt if isinstance(wrt, tuple) else (wrt,)
        for name in names:
            if not isinstance(name, str) or name not in by_name:
                raise CompileError.call(
                    self._name, f"wrt names '{name}'; its arguments are {', '.join(by_name)}"
                )
        return [by_name[name] for name in names], not isinstance(wrt, tuple)

    def _weights(self, bound: Bound, weights: Any) -> list[tuple[int, int]]:
        """The column of seeds that weights are."""
        if weights is None:
            return []
        found = None if bound.devices is None else bound.devices.taken(weights)
        if bound.on_device or found is not None:
            return self._device_weights(bound, weights, found)
        if bound.answers is not None:
            from ..frames.binding import as_arrays

            weights = as_arrays(self._name, "weights", weights, bound.answers)
        rows = bound.count
        column = np.atleast_1d(np.asarray(weights))
        if column.dtype.kind not in "biuf":
            raise CompileError.call(self._name, f"weights are {column.dtype}, not numbers")
        column = np.ascontiguousarray(column, dtype=np.float64)
        if column.shape != (rows,):
            raise CompileError.call(
                self._name, f"weights has shape {column.shape}, but there are {rows} rows"
            )
        bound.keep.append(column)
        return [(column.__array_interface__["data"][0], 8)]

    def _device_weights(self, bound: Bound, weights: Any, found: Any) -> list[tuple[int, int]]:
        """The column of seeds that weights on a device are."""
        if found is None or not bound.on_device:
            raise RowsError.two_places("weights", bound.row_name, found is not None)
        assert bound.devices is not None
        if found.shape != (bound.count,):
            raise CompileError.call(
                self._name, f"weights has shape {found.shape}, but there are {bound.count} rows"
            )
        column = bound.devices.doubles(found)
        bound.keep += [weights, column]
        return [(bound.devices.address(column), column.strides[0])]


class TakingNow:
    """The captured leaves that take gradients; more may turn up while rows are led."""

    def __init__(self, family: Family, seeds: int) -> None:
        self._family, self._seeds, self._seen = family, seeds, -1
        self.now: Taking

    def mode(self) -> Mode:
        """What is asked of every trace."""
        if self._seen != len(self._family.captured):
            self._seen = len(self._family.captured)
            self.now = self._family.taking(self._seeds)
        return self.now.mode


def numbers_of(shapes: Sequence[Argument]) -> tuple[int, ...]:
    """The ids of all numbers of some arguments."""
    return tuple(i for shape in shapes for i in range(shape.first, shape.first + shape.count))


def whole_of(bound: Bound, wrt: Any) -> tuple[int, ...]:
    """The ids of integers that are differentiated because everything is, not because of a name."""
    return tuple(bound.whole) if wrt is None else ()


def reduced(router: Router, bound: Bound, mode: Mode, mean: bool) -> list[Any]:
    """The value and the gradients: those of uniform numbers reduced, those of rows stored."""
    each = [STORED if bound.kinds[i] == ROW else REDUCED for i in mode.wrt]
    kinds = REDUCED + "".join(each)
    store = Store(bound)
    store.fresh(kinds.count(STORED))
    sums = iter(router.reduce(kinds, store.table()).tolist())
    columns = iter(store.items())
    items = [next(columns if kind == STORED else sums) for kind in kinds]
    return [item / store.rows if mean else item for item in items]
