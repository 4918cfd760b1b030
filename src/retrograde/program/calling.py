"""What compiled and loaded functions have in common: calls over rows, and their derivatives."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from .._shared import hooks
from .._values.nests import Nest
from ..errors import CompileError, FunctionResultError, RecordingError, RowsError
from ..value import core
from .derived import REDUCED, STORED, VALUE, Mode
from .files import packed, write
from .program import ROW
from .replay import default_threads
from .results import Store, along_rows, gradient_nest, second_nest
from .routing import Call, Recorder, Router
from .rows import Argument, Bound, take_argument
from .settling import whole
from .text import family_text
from .traces import Family, Taking, Trace
from .writer import Stored

if TYPE_CHECKING:
    from ..diagnose.compiled_births import RowBirths
    from ..explain.story import Story


class Replayable:
    """A function that replays over rows."""

    _name: str
    _signature: inspect.Signature

    def _family(self, bound: Bound, shapes: list[Argument]) -> Family:
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

    def _families(self) -> Sequence[Family]:
        raise NotImplementedError

    def _stored_function(self) -> Stored:
        """What a program file holds of it."""
        raise NotImplementedError

    # ---- what can be asked -------------------------------------------------------------------

    @whole
    def __call__(
        self, /, *args: Any, threads: int | None = None, out: Any = None, **kwargs: Any
    ) -> Any:
        """The function's value: a float for numbers, an array with one result a row for arrays.

        ``out`` are arrays to write the results into, in the nest of the results.
        """
        bound, shapes = self._bind(args, kwargs)
        family = self._family(bound, shapes)
        outputs = family.traces[0].outputs
        store = Store(bound)
        parts = _flat(out, outputs, self._name)
        for place, part in zip(outputs.places, parts):
            store.into(part, None, place.replace("the result", "out", 1))
        self._watch(family, bound, shapes, None, threads)
        self._stored(family, bound, shapes, VALUE, store, threads)
        return outputs.filled(store.items(), along_rows(bound.rows))

    def value_and_grad(
        self,
        /,
        *args: Any,
        wrt: Any = None,
        reduce: str | None = None,
        weights: Any = None,
        threads: int | None = None,
        out: Any = None,
        **kwargs: Any,
    ) -> tuple[Any, Any]:
        """The value and its gradients.

        ``wrt`` names one argument (its gradient comes bare) or a tuple of them; all by default. An
        array of integers that is only an index of ``take`` has the gradient 0. Gradients are per
        row, also for uniform arguments, unless ``reduce`` is "sum" or "mean": then value and
        uniform gradients are reduced over the rows. ``weights`` seeds each row.
        ``out`` is a pair like the result, of arrays to write into; None stands for a new one.

        >>> import numpy as np
        >>> import retrograde as rg
        >>> @rg.compile
        ... def f(x, a):
        ...     return a * x**2
        >>> f.value_and_grad(np.array([1.0, 2.0]), 3.0)
        (array([ 3., 12.]), (array([ 6., 12.]), array([1., 4.])))
        >>> f.value_and_grad(np.array([1.0, 2.0]), 3.0, wrt="a", reduce="sum")
        (15.0, 5.0)
        """
        return self._value_and_grad(args, kwargs, wrt, reduce, weights, threads, out, "out[1]")

    @whole
    def _value_and_grad(
        self,
        args: Any,
        kwargs: Any,
        wrt: Any,
        reduce: str | None,
        weights: Any,
        threads: int | None,
        out: Any,
        gradient_place: str,
    ) -> tuple[Any, Any]:
        """``gradient_place`` is what the caller calls the gradients' part of ``out``."""
        bound, shapes = self._bind(args, kwargs)
        family = self._family(bound, shapes)
        chosen, bare = self._chosen(shapes, wrt)
        self._check_single(family)
        if reduce not in (None, "sum", "mean"):
            raise CompileError.call(self._name, f"reduce={reduce!r} is none of None, 'sum', 'mean'")
        seeds = self._weights(bound, weights)
        mode = Mode("gradient", _numbers(chosen), len(seeds), _whole(bound, wrt))
        if reduce and out is not None:
            raise CompileError.call(self._name, "out= does not go with reduce=")
        self._watch(family, bound, shapes, mode.wrt, threads, seeds)
        if reduce:
            self._check_mean(reduce, bound)
            router = self._router(family, bound, shapes, lambda: mode, threads, seeds)
            items = _reduced(router, bound, mode, reduce == "mean")
            value, source = items[0], iter(items[1:])
            nests = [gradient_nest(shape.shape, source, bound.rows, reduce) for shape in chosen]
            return value, nests[0] if bare else tuple(nests)
        value_out, gradient_out = _entries(out, 2, self._name)
        outs = (
            [gradient_out]
            if bare
            else _entries(gradient_out, len(chosen), self._name, gradient_place)
        )
        store = Store(bound)
        value = store.into(value_out, None, "out[0]")
        nests = [
            store.like(
                shape.shape, given, gradient_place if bare else f"{gradient_place}[{number}]"
            )
            for number, (shape, given) in enumerate(zip(chosen, outs))
        ]
        self._stored(family, bound, shapes, mode, store, threads, seeds)
        if bound.rows is None:
            value, *rest = store.items()
            source = iter(rest)
            nests = [gradient_nest(shape.shape, source, None) for shape in chosen]
        return value, nests[0] if bare else tuple(nests)

    def grad(
        self,
        /,
        *args: Any,
        wrt: Any = None,
        reduce: str | None = None,
        weights: Any = None,
        threads: int | None = None,
        out: Any = None,
        **kwargs: Any,
    ) -> Any:
        """The gradients alone; see :meth:`value_and_grad`. ``out`` is like the gradients."""
        pair = None if out is None else (None, out)
        return self._value_and_grad(args, kwargs, wrt, reduce, weights, threads, pair, "out")[1]

    @whole
    def jacobian(
        self, /, *args: Any, wrt: Any = None, threads: int | None = None, **kwargs: Any
    ) -> Any:
        """The gradients of every output, per row, in the outputs' nest.

        >>> import numpy as np
        >>> import retrograde as rg
        >>> @rg.compile
        ... def both(x, y):
        ...     return [x * y, x + y]
        >>> both.jacobian(np.array([2.0, 3.0]), 5.0, wrt="x")
        [array([5., 5.]), array([1., 1.])]
        """
        bound, shapes = self._bind(args, kwargs)
        family = self._family(bound, shapes)
        chosen, bare = self._chosen(shapes, wrt)
        indices, outputs = _numbers(chosen), family.traces[0].outputs
        self._watch(family, bound, shapes, indices, threads)
        store = Store(bound)
        store.fresh(len(indices) * len(outputs.items))
        self._stored(
            family, bound, shapes, Mode("jacobian", indices, 0, _whole(bound, wrt)), store, threads
        )
        source = iter(store.items())
        results = []
        for _ in outputs.items:
            nests = [gradient_nest(shape.shape, source, bound.rows) for shape in chosen]
            results.append(nests[0] if bare else tuple(nests))
        return outputs.filled(results, along_rows(bound.rows))

    @whole
    def hessian(
        self, /, *args: Any, wrt: Any = None, threads: int | None = None, **kwargs: Any
    ) -> Any:
        """All second derivatives, per row: the gradient of each first derivative in its place.

        For an argument of k numbers a row that is an array (rows, k, k).

        >>> import numpy as np
        >>> import retrograde as rg
        >>> @rg.compile
        ... def f(v):
        ...     return v[0] ** 2 * v[1]
        >>> f.hessian(np.array([[3.0, 2.0]]))
        array([[[4., 6.],
                [6., 0.]]])
        """
        bound, shapes = self._bind(args, kwargs)
        family = self._family(bound, shapes)
        chosen, bare = self._chosen(shapes, wrt)
        self._check_single(family)
        store = Store(bound)
        assembled = second_nest(store, chosen, bare)
        mode = Mode("hessian", _numbers(chosen), 0, _whole(bound, wrt))
        self._watch(family, bound, shapes, mode.wrt, threads)
        self._stored(family, bound, shapes, mode, store, threads)
        return assembled()

    @whole
    def hvp(
        self,
        /,
        *args: Any,
        vector: Any,
        wrt: Any = None,
        threads: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """The Hessian times ``vector``, per row, without forming it.

        ``vector`` has the nest of the gradients: arrays with one entry a row, or numbers.

        >>> import numpy as np
        >>> import retrograde as rg
        >>> @rg.compile
        ... def f(v):
        ...     return v[0] ** 2 * v[1]
        >>> f.hvp(np.array([[3.0, 2.0]]), vector=np.array([[1.0, 0.0]]))
        array([[4., 6.]])
        """
        bound, shapes = self._bind(args, kwargs)
        family = self._family(bound, shapes)
        chosen, bare = self._chosen(shapes, wrt)
        self._check_single(family)
        parts = [vector] if bare else _entries(vector, len(chosen), self._name, "vector")
        directions = Bound(rows=bound.rows, row_name=bound.row_name)
        for number, (shape, part) in enumerate(zip(chosen, parts)):
            place = "vector" if bare else f"vector[{number}]"
            given = take_argument(directions, part, place)
            if given.count != shape.count or directions.rows != bound.rows:
                raise CompileError.call(
                    self._name, f"{place} must have the nest of {shape.name}: {shape.count} numbers"
                )
        seeds = directions.seed_columns()
        mode = Mode("hvp", _numbers(chosen), len(seeds), _whole(bound, wrt))
        store = Store(bound)
        nests = [store.like(shape.shape, None, "") for shape in chosen]
        self._watch(family, bound, shapes, mode.wrt, threads)
        self._stored(family, bound, shapes, mode, store, threads, seeds)
        if bound.rows is None:
            source = iter(store.items())
            nests = [gradient_nest(shape.shape, source, None) for shape in chosen]
        return nests[0] if bare else tuple(nests)

    @whole
    def backward(
        self,
        /,
        *args: Any,
        reduce: str = "sum",
        weights: Any = None,
        threads: int | None = None,
        **kwargs: Any,
    ) -> float:
        """Add the gradients, reduced over the rows, into the captured parameters' ``.grad``.

        Hooks of the parameters see the reduced gradient first. Returns the reduced value.

        >>> import numpy as np
        >>> import retrograde as rg
        >>> w = rg.Value(2.0)
        >>> step = rg.compile(lambda x: (w * x - 1.0) ** 2)
        >>> step.backward(np.array([1.0, 2.0])), w.grad
        (10.0, 14.0)
        """
        bound, shapes = self._bind(args, kwargs)
        family = self._family(bound, shapes)
        self._check_single(family)
        if reduce not in ("sum", "mean"):
            raise CompileError.call(self._name, f"reduce={reduce!r} is neither 'sum' nor 'mean'")
        self._check_mean(reduce, bound)
        seeds = self._weights(bound, weights)
        self._watch(family, bound, shapes, (), threads, seeds)
        taking = _Taking(family, len(seeds))
        store = Store(bound)
        router = self._router(family, bound, shapes, taking.mode, threads, seeds)
        sums = router.reduce(REDUCED * (1 + len(taking.mode().wrt)), store.table())
        leaves, hooked = taking.now.leaves, taking.now.hooked
        if not leaves:
            raise CompileError.call(
                self._name, "no captured parameter takes gradients; use value_and_grad instead"
            )
        over = store.rows if reduce == "mean" else 1
        totals = sums[1:] / over
        for place in hooked:
            totals[place] = hooks.run(leaves[place], float(totals[place]))
        core.add_grad(leaves, totals)
        return float(sums[0]) / over

    @whole
    def story(self, /, *args: Any, row: int = 0, **kwargs: Any) -> Story:
        """The story of one row: its steps in words, with the numbers that replay computes.

        Arguments are those of a call; ``row`` chooses among the rows of arrays. Steps and words are
        those of ``rg.story`` of the function called on values.

        >>> import numpy as np
        >>> import retrograde as rg
        >>> f = rg.compile(lambda x, w: (w * x).relu())
        >>> story = f.story(np.array([1.0, -2.0]), 3.0, row=1)
        >>> [step.words for step in story.forward]
        ['w = 3', 'x = -2', 'w * x = 3 × -2 = -6', 'relu(v1) = relu(-6) = 0']
        >>> story.backward[0].words
        'relu is a gate, closed here since v1 = -6 is not above 0: nothing passes'
        """
        from ..explain.row_story import story_of_row

        return story_of_row(self, args, kwargs, row)

    @whole
    def births(self, /, *args: Any, threads: int | None = None, **kwargs: Any) -> RowBirths:
        """Which rows make a NaN or an infinity, in the value or in a gradient, and at which line.

        Arguments are those of a call. Gradients are those of all arguments and captured parameters.

        >>> import numpy as np
        >>> import retrograde as rg
        >>> f = rg.compile(lambda x: rg.where(x > 0.0, rg.sqrt(x), 0.0) + rg.log(x + 2.0))
        >>> found = f.births(np.array([1.0, 0.0, -2.0, 4.0]))
        >>> found.sick, [(g.birth.op, g.rows.tolist()) for g in found.forward]
        (array([1, 2]), [('sqrt', [2])])
        >>> [(g.birth.op, g.birth.cause, g.rows.tolist()) for g in found.backward]
        [('sqrt', '0 × inf', [1])]
        """
        from ..diagnose.compiled_births import births_of_rows

        return births_of_rows(self, args, kwargs, threads)

    def explain(self) -> str:
        """The plan: for each trace the program before and after the passes, slots and guards."""
        return family_text(self._name, self._families())

    @property
    def traces(self) -> tuple[Trace, ...]:
        """The recorded paths."""
        return tuple(trace for family in self._families() for trace in family.traces)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recorded traces to a program file, which :func:`retrograde.load` reads.

        The file has the traces, their guards and source lines, the names of the arguments and the
        captured leaves with their data; no Python. It is put in place whole or not at all.
        """
        write(path, packed(self._stored_function()))

    # ---- one call ----------------------------------------------------------------------------

    def _bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Bound, list[Argument]]:
        if core.in_recording():
            raise RecordingError.replayed(self._name)
        named: Iterable[tuple[str, Any]]
        if not kwargs and len(args) == self._in_order:
            named = zip(self._signature.parameters, args)
        else:
            try:
                arguments = self._signature.bind(*args, **kwargs)
            except TypeError as error:
                raise CompileError.call(self._name, str(error)) from None
            arguments.apply_defaults()
            named = arguments.arguments.items()
        bound = Bound()
        shapes = [take_argument(bound, nest, name) for name, nest in named]
        return bound, shapes

    @cached_property
    def _in_order(self) -> int:
        """How many arguments given by their order alone are all of them; -1: no number is."""
        kinds = [parameter.kind for parameter in self._signature.parameters.values()]
        return -1 if inspect.Parameter.KEYWORD_ONLY in kinds else len(kinds)

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
            raise CompileError.call(
                self._name, f"threads={threads!r} is no whole number; None is all cores"
            )
        columns = [(0, 0) if column is None else column for column in bound.columns]
        call = Call(
            rows=1 if bound.rows is None else bound.rows,
            numbers=bound.numbers,
            inputs=np.array([*columns, *seeds], dtype=np.int64).reshape(-1, 2),
            threads=default_threads() if threads is None else max(int(threads), 1),
            arguments=len(columns),
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
            from ..diagnose.anomalies import check_rows

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
        rows = 1 if bound.rows is None else bound.rows
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


_COLUMNS = object()
"""In a nest: here stands an array."""


class _Taking:
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


def _numbers(shapes: Sequence[Argument]) -> tuple[int, ...]:
    """The ids of all numbers of some arguments."""
    return tuple(i for shape in shapes for i in range(shape.first, shape.first + shape.count))


def _whole(bound: Bound, wrt: Any) -> tuple[int, ...]:
    """The ids of integers that are differentiated because everything is, not because of a name."""
    return tuple(bound.whole) if wrt is None else ()


def _reduced(router: Router, bound: Bound, mode: Mode, mean: bool) -> list[Any]:
    """The value and the gradients: those of uniform numbers reduced, those of rows stored."""
    each = [STORED if bound.kinds[i] == ROW else REDUCED for i in mode.wrt]
    kinds = REDUCED + "".join(each)
    store = Store(bound)
    store.fresh(kinds.count(STORED))
    sums = iter(router.reduce(kinds, store.table()).tolist())
    columns = iter(store.items())
    items = [next(columns if kind == STORED else sums) for kind in kinds]
    return [item / store.rows if mean else item for item in items]


def _entries(nest: Any, count: int, function: str, name: str = "out") -> Sequence[Any]:
    """The entries of a tuple or list that goes with several results; None stands for them all."""
    if nest is None:
        return [None] * count
    if not isinstance(nest, (list, tuple)) or len(nest) != count:
        raise CompileError.call(function, f"{name} must be a tuple of {count} entries here")
    return nest


def _flat(out: Any, outputs: Nest, function: str) -> list[Any]:
    """The arrays in a nest of results, each found by its path; an array has them as columns."""
    marks = outputs.filled(outputs.paths, lambda items, shape: _COLUMNS)
    if len(outputs.items) == 1 and marks is not _COLUMNS:
        return [out]
    found = []
    for path, place in zip(outputs.paths, outputs.places):
        part, mark = out, marks
        try:
            for depth, key in enumerate(path):
                if part is None:
                    break
                if mark is _COLUMNS:
                    columns = (slice(None), *path[depth:])
                    part = part[columns]
                    break
                part, mark = part[key], mark[key]
        except (LookupError, TypeError):
            where = place.replace("the result", "out", 1)
            raise CompileError.call(
                function, f"out must be a nest like the result: no {where}"
            ) from None
        found.append(part)
    return found
