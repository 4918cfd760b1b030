"""``rg.compile``: a function on values, recorded once and replayed over rows."""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import update_wrapper
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CompileError, CoreError, FunctionResultError
from ..nests import Nest, take_apart
from ..value import Value, core, core_name, core_reason
from .adjoint import adjoint, with_input
from .passes import improved
from .plan import Plan, laid_out
from .program import ROW, SEED, Input, Program
from .record import record
from .replay import Result, default_threads, run
from .rows import Bound, Shape, gradient_nest, take_argument
from .text import listing, plan_text, summary

if TYPE_CHECKING:
    from ..explain.story import Story

RESERVED = ("wrt", "reduce", "threads", "dtype", "out", "weights")


@dataclass
class Trace:
    """One recorded path through the function: its program and what was made of it."""

    program: Program
    captured: list[Value]
    outputs: Nest
    bindings: list[Any]
    plans: dict[Any, tuple[Program, Plan]] = field(default_factory=dict)


def _bindings(function: Callable[..., Any]) -> list[Any]:
    """What the function's free names mean now: closure cells, and the globals it names."""
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    names: set[str] = set()
    pending: list[CodeType] = [code]
    while pending:
        current = pending.pop()
        names.update(current.co_names)
        pending.extend(part for part in current.co_consts if isinstance(part, CodeType))
    scope = function.__globals__
    found = [scope.get(name) for name in sorted(names)]
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:
            found.append(None)
    return found


@contextmanager
def collector_paused() -> Iterator[None]:
    """Programs are many small tuples and no cycles: the cycle collector would walk them in vain."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Compiled:
    """A compiled function: call it on numbers and arrays. Made by :func:`compile`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise CompileError.not_callable(function)
        if core_name != "native":
            raise CoreError.compile(core_reason)
        self._function = function
        self._name = getattr(function, "__name__", "the function")
        try:
            self._signature = inspect.signature(function)
        except ValueError as error:
            raise CompileError.call(
                self._name, f"{error}; wrap it in a function of yours"
            ) from None
        for parameter in self._signature.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise CompileError.variadic(self._name, parameter.name)
            if parameter.name in RESERVED:
                raise CompileError.reserved(self._name, parameter.name)
        self._traces: dict[Any, Trace] = {}
        update_wrapper(self, function)

    def __call__(self, *args: Any, threads: int | None = None, **kwargs: Any) -> Any:
        """The function's value: a float for numbers, an array with one result a row for arrays."""
        if core.in_recording() or _holds_values((args, kwargs)):
            return self._function(*args, **kwargs)
        bound, shapes = self._bind(args, kwargs)
        trace = self._trace(bound, shapes)
        outputs = [("store", index) for index in range(len(trace.outputs.items))]
        result = self._run(trace, "value", outputs, bound, threads)
        return trace.outputs.filled([self._item(row, bound) for row in result.stored])

    def value_and_grad(
        self,
        *args: Any,
        wrt: Any = None,
        reduce: str | None = None,
        weights: Any = None,
        threads: int | None = None,
        **kwargs: Any,
    ) -> tuple[Any, Any]:
        """The value and its gradients.

        ``wrt`` names one argument (its gradient comes bare) or a tuple of them; all by default.
        Gradients are per row, also for uniform arguments, unless ``reduce`` is "sum" or "mean":
        then value and uniform gradients are reduced over the rows. ``weights`` seeds each row.

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
        bound, shapes = self._bind(args, kwargs)
        trace = self._trace(bound, shapes)
        chosen, bare = self._chosen(shapes, wrt)
        if len(trace.outputs.items) != 1:
            raise FunctionResultError.of(self._name, list(trace.outputs.items))
        if reduce not in (None, "sum", "mean"):
            raise CompileError.call(self._name, f"reduce={reduce!r} is none of None, 'sum', 'mean'")
        rows = 1 if bound.rows is None else bound.rows
        weight_column = self._weights(bound, weights, rows)
        what = "reduce" if reduce else "store"
        outputs = [(what, 0)]
        indices = [i for shape in chosen for i in range(shape.first, shape.first + shape.count)]
        for place, index in enumerate(indices):
            per_row = not reduce or bound.kinds[index] == ROW
            outputs.append(("store" if per_row else "reduce", 1 + place))
        mode = ("grad", tuple(indices), weights is not None)
        result = self._run(trace, mode, outputs, bound, threads, weight_column)
        scale = 1.0 / rows if reduce == "mean" and rows else 1.0
        stored, reduced = iter(result.stored), iter(result.reduced)
        items = [
            self._item(next(stored) if kind == "store" else next(reduced), bound, scale)
            for kind, _ in outputs
        ]
        source = iter(items[1:])
        gradients = [gradient_nest(shape.key, source, bound.rows, reduce) for shape in chosen]
        return items[0], gradients[0] if bare else tuple(gradients)

    def grad(self, *args: Any, **options: Any) -> Any:
        """The gradients alone; see :meth:`value_and_grad`."""
        return self.value_and_grad(*args, **options)[1]

    def jacobian(
        self, *args: Any, wrt: Any = None, threads: int | None = None, **kwargs: Any
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
        trace = self._trace(bound, shapes)
        chosen, bare = self._chosen(shapes, wrt)
        indices = tuple(i for s in chosen for i in range(s.first, s.first + s.count))
        results = []
        for output in range(len(trace.outputs.items)):
            outputs = [("store", 1 + place) for place in range(len(indices))]
            result = self._run(trace, ("jacobian", output, indices), outputs, bound, threads)
            source = iter([self._item(row, bound) for row in result.stored])
            gradients = [gradient_nest(shape.key, source, bound.rows) for shape in chosen]
            results.append(gradients[0] if bare else tuple(gradients))
        return trace.outputs.filled(results)

    def backward(
        self,
        *args: Any,
        reduce: str = "sum",
        weights: Any = None,
        threads: int | None = None,
        **kwargs: Any,
    ) -> float:
        """Add the gradients, reduced over the rows, into the captured parameters' ``.grad``.

        Returns the reduced value.

        >>> import numpy as np
        >>> import retrograde as rg
        >>> w = rg.Value(2.0)
        >>> step = rg.compile(lambda x: (w * x - 1.0) ** 2)
        >>> step.backward(np.array([1.0, 2.0])), w.grad
        (10.0, 14.0)
        """
        bound, shapes = self._bind(args, kwargs)
        trace = self._trace(bound, shapes)
        if len(trace.outputs.items) != 1:
            raise FunctionResultError.of(self._name, list(trace.outputs.items))
        if reduce not in ("sum", "mean"):
            raise CompileError.call(self._name, f"reduce={reduce!r} is neither 'sum' nor 'mean'")
        rows = 1 if bound.rows is None else bound.rows
        weight_column = self._weights(bound, weights, rows)
        taking = [leaf for leaf in trace.captured if leaf.requires_grad]
        if not taking:
            raise CompileError.call(
                self._name, "no captured parameter takes gradients; use value_and_grad instead"
            )
        outputs = [("reduce", place) for place in range(1 + len(taking))]
        mode = ("backward", tuple(map(id, taking)), weights is not None)
        result = self._run(trace, mode, outputs, bound, threads, weight_column)
        scale = 1.0 / rows if reduce == "mean" and rows else 1.0
        value, *gradients = result.reduced
        core.add_grad(taking, np.array(gradients) * scale)
        return value * scale

    def story(self, *args: Any, row: int = 0, **kwargs: Any) -> Story:
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
        from ..explain.rows import story_of_row

        return story_of_row(self, args, kwargs, row)

    def explain(self) -> str:
        """The plan: for each trace the program before and after the passes, slots and guards."""
        lines = [f"{self._name}: {len(self._traces)} trace(s)"]
        for number, trace in enumerate(self._traces.values()):
            lines += [f"trace {number}, as recorded: {summary(trace.program)}"]
            lines += [listing(trace.program, 60)]
            for (mode, _), (program, plan) in trace.plans.items():
                name = mode if isinstance(mode, str) else mode[0]
                lines += [f"{name}, after the passes: {summary(program)}", plan_text(plan)]
        return "\n".join(lines)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """The recorded paths."""
        return tuple(self._traces.values())

    def __reduce__(self) -> Any:
        module = sys.modules.get(self._function.__module__)
        if getattr(module, self._function.__qualname__, None) is self:
            return self._function.__qualname__  # decorated: found again by its name
        return Compiled, (self._function,)

    def __repr__(self) -> str:
        return f"<compiled {self._name}{self._signature}: {len(self._traces)} trace(s)>"

    # ---- calls -------------------------------------------------------------------------------

    def _bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Bound, list[Shape]]:
        try:
            arguments = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise CompileError.call(self._name, str(error)) from None
        arguments.apply_defaults()
        bound = Bound()
        shapes = [take_argument(bound, nest, name) for name, nest in arguments.arguments.items()]
        return bound, shapes

    def _chosen(self, shapes: list[Shape], wrt: Any) -> tuple[list[Shape], bool]:
        """The arguments to differentiate, and whether the gradient comes bare."""
        by_name = {shape.name: shape for shape in shapes}
        if wrt is None:
            chosen = [shape for shape in shapes if shape.differentiable]
            return chosen, len(chosen) == 1
        names = wrt if isinstance(wrt, tuple) else (wrt,)
        for name in names:
            if not isinstance(name, str) or name not in by_name:
                raise CompileError.call(
                    self._name, f"wrt names '{name}'; its arguments are {', '.join(by_name)}"
                )
        return [by_name[name] for name in names], not isinstance(wrt, tuple)

    def _weights(self, bound: Bound, weights: Any, rows: int) -> tuple[int, int] | None:
        if weights is None:
            return None
        column = np.atleast_1d(np.asarray(weights))
        if column.dtype.kind not in "biuf":
            raise CompileError.call(self._name, f"weights are {column.dtype}, not numbers")
        column = np.ascontiguousarray(column, dtype=np.float64)
        if column.shape != (rows,):
            raise CompileError.call(
                self._name, f"weights has shape {column.shape}, but there are {rows} rows"
            )
        bound.keep.append(column)
        return column.__array_interface__["data"][0], 8

    def _item(self, item: Any, bound: Bound, scale: float = 1.0) -> Any:
        if scale != 1.0:
            item = item * scale
        if isinstance(item, np.ndarray) and bound.rows is None:
            return float(item[0])
        return item

    def _trace(self, bound: Bound, shapes: list[Shape]) -> Trace:
        key = tuple((shape.name, shape.key) for shape in shapes)
        bindings = _bindings(self._function)
        trace = self._traces.get(key)
        if trace is not None and len(trace.bindings) == len(bindings):
            if all(then is now for then, now in zip(trace.bindings, bindings)):
                return trace
        with collector_paused():
            trace = self._record(bound, shapes, bindings)
        if bound.rows != 0:  # without rows the branches were decided by made-up numbers
            self._traces[key] = trace
        return trace

    def _record(self, bound: Bound, shapes: list[Shape], bindings: list[Any]) -> Trace:
        since = core.begin_epoch()
        values = []
        for name, number in zip(bound.names, bound.numbers):
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

        def flatten(result: Any) -> list[Any]:
            if result is None or not _holds_values(result):
                raise FunctionResultError.of(self._name, result)
            outputs.append(take_apart(result, "the result", refusal))
            return outputs[0].items

        def refusal(place: str, part: object) -> Exception:
            return FunctionResultError.of(f"{self._name}, {place}", part)

        call = self._signature.bind_partial()
        call.arguments.update(arguments)
        depth = core.swap_no_grad(0)  # a later call may want gradients
        try:
            program, captured, _ = record(
                lambda: self._function(*call.args, **call.kwargs),
                list(zip(values, inputs)),
                flatten,
                since,
            )
        finally:
            core.swap_no_grad(depth)
        outline = replace(outputs[0], items=[None] * len(outputs[0].items))
        return Trace(program, captured, outline, bindings)

    def _run(
        self,
        trace: Trace,
        mode: Any,
        outputs: list[tuple[str, int]],
        bound: Bound,
        threads: int | None,
        weights: tuple[int, int] | None = None,
    ) -> Result:
        key = (mode, tuple(outputs))
        if key not in trace.plans:
            with collector_paused():
                trace.plans[key] = self._planned(trace, mode, outputs)
        program, plan = trace.plans[key]
        columns = {i: c for i, c in enumerate(bound.columns) if c is not None}
        if weights is not None:
            columns[next(i for i, g in program.inputs.items() if g.kind == SEED)] = weights
        rows = 1 if bound.rows is None else bound.rows
        return run(
            program,
            plan,
            rows,
            columns,
            bound.numbers,
            trace.captured,
            default_threads() if threads is None else max(int(threads), 1),
        )

    def _planned(
        self, trace: Trace, mode: Any, outputs: list[tuple[str, int]]
    ) -> tuple[Program, Plan]:
        """The program a mode runs, and its plan."""
        program = trace.program
        if mode != "value":
            program = _with_gradients(trace, mode)
        program = improved(program)
        placed = [(what, program.outputs[index]) for what, index in outputs]
        return program, laid_out(program, placed)


def _with_gradients(trace: Trace, mode: Any) -> Program:
    program = trace.program
    weighted = mode[0] != "jacobian" and mode[2]
    seed_input = Input(SEED, "weights") if weighted else Input("constant", "", 1.0)
    program, seed = with_input(program, seed_input)
    if mode[0] == "backward":
        captured = [i for i, g in program.inputs.items() if g.kind == "captured"]
        taking = set(mode[1])
        wrt = [i for i, leaf in zip(captured, trace.captured) if id(leaf) in taking]
        output = 0
    elif mode[0] == "jacobian":
        output, wrt = mode[1], list(mode[2])
    else:
        output, wrt = 0, list(mode[1])
    seeds = [(program.outputs[output], seed)]
    return adjoint(program.replaced(outputs=[program.outputs[output]]), wrt, seeds)


def _holds_values(nest: Any) -> bool:
    if isinstance(nest, Value):
        return True
    if isinstance(nest, dict):
        return any(_holds_values(part) for part in nest.values())
    if isinstance(nest, (list, tuple)):
        return any(_holds_values(part) for part in nest)
    return False


def compile(function: Callable[..., Any]) -> Compiled:
    """Record a function on values once and replay it over rows, with gradients.

    Axis 0 of an array is rows: a 1-D array gives one number a row, a 2-D array a sequence of
    numbers a row. Numbers, lists and ``rg.uniform(array)`` are the same for all rows.

    >>> import numpy as np
    >>> import retrograde as rg
    >>> @rg.compile
    ... def f(x, a):
    ...     return rg.exp(-a * x) * x
    >>> f(1.0, 0.0)
    1.0
    >>> f(np.array([0.0, 1.0, 2.0]), 0.0)
    array([0., 1., 2.])
    """
    return Compiled(function)
