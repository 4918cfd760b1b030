"""What compiled and loaded functions have in common: calls over rows, and their gradients."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._shared import hooks
from ..errors import CompileError
from ..value import core
from .caller import TakingNow, numbers_of, reduced, whole_of
from .callsites import MISS, gradient_parts, results_of
from .derived import REDUCED, STORED, VALUE, Mode
from .files import packed, write
from .matrices import Differentiable
from .results import Store, along_rows, entries, flat, gradient_nest, has_arrays
from .rows import Argument, Bound
from .settling import whole
from .streamed import OverFiles
from .text import family_text
from .traces import Family, Trace

if TYPE_CHECKING:
    from ..diagnose.compiled_births import RowBirths
    from ..explain.story import Story


class Replayable(Differentiable, OverFiles):
    """A function that replays over rows."""

    # ---- what can be asked -------------------------------------------------------------------

    def __call__(
        self, /, *args: Any, threads: int | None = None, out: Any = None, **kwargs: Any
    ) -> Any:
        """The function's value: a float for numbers, an array with one result a row for arrays.

        ``out`` are arrays to write the results into, in the nest of the results.
        """
        given = args if not kwargs else self._ordered(args, kwargs)
        if given is not None and out is None:
            found = self._sites.find(("value", threads), given)
            if found is not MISS:
                return found
        return self._value(args, kwargs, threads, out)

    @whole
    def _value(self, args: Any, kwargs: Any, threads: int | None, out: Any) -> Any:
        bound, shapes = self._bind(args, kwargs)
        family = self._family(bound, shapes)
        outputs = family.traces[0].outputs
        store = Store(bound)
        parts = flat(out, outputs, self._name)
        for place, part in zip(outputs.places, parts):
            store.into(part, None, place.replace("the result", "out", 1))
        self._watch(family, bound, shapes, None, threads)
        self._stored(family, bound, shapes, VALUE, store, threads)
        if out is None and not has_arrays(outputs):
            finish = results_of(outputs)
            parts = [(STORED, None)] * len(outputs.items)
            self._keep(
                ("value", threads), args, kwargs, bound, family, shapes, VALUE, parts, finish
            )
        found = outputs.filled(store.items(), along_rows(bound.rows))
        if bound.answers is not None and out is None:
            return bound.answers.value(found)
        return found

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
        given = args if not kwargs else self._ordered(args, kwargs)
        if given is not None and weights is None and out is None:
            found = self._sites.find(("gradient", wrt, reduce, threads), given)
            if found is not MISS:
                return found  # type: ignore[no-any-return]
        pair: tuple[Any, Any] = self._value_and_grad(
            args, kwargs, wrt, reduce, weights, threads, out
        )
        return pair

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
        alone: bool = False,
    ) -> Any:
        """The value and its gradients, or these ``alone``."""
        bound, shapes = self._bind(args, kwargs)
        family = self._family(bound, shapes)
        chosen, bare = self._chosen(shapes, wrt)
        self._check_single(family)
        if reduce not in (None, "sum", "mean"):
            raise CompileError.call(self._name, f"reduce={reduce!r} is none of None, 'sum', 'mean'")
        seeds = self._weights(bound, weights)
        mode = Mode("gradient", numbers_of(chosen), len(seeds), whole_of(bound, wrt))
        if reduce and out is not None:
            raise CompileError.call(self._name, "out= does not go with reduce=")
        self._watch(family, bound, shapes, mode.wrt, threads, seeds)
        if reduce:
            self._check_mean(reduce, bound)
            router = self._router(family, bound, shapes, lambda: mode, threads, seeds)
            items = reduced(router, bound, mode, reduce == "mean")
            value, source = items[0], iter(items[1:])
            nests = [gradient_nest(each.shape, source, bound.rows, reduce) for each in chosen]
        else:
            place = "out" if alone else "out[1]"
            value, nests = self._per_row(
                family, bound, shapes, mode, threads, seeds, chosen, bare, out, place
            )
        if weights is None and out is None:
            asked = ("gradient", wrt, reduce, threads)
            parts, finish = gradient_parts(chosen, bare, reduce)
            self._keep(asked, args, kwargs, bound, family, shapes, mode, parts, finish)
        found = nests[0] if bare else tuple(nests)
        if bound.answers is None or out is not None:
            return found if alone else (value, found)
        if alone and not reduce:
            return bound.answers.gradients([each.name for each in chosen], found, bare)
        pair = bound.answers.pair(value, chosen, found, bare)
        return pair[1] if alone else pair

    def _per_row(
        self,
        family: Family,
        bound: Bound,
        shapes: list[Argument],
        mode: Mode,
        threads: int | None,
        seeds: Sequence[tuple[int, int]],
        chosen: Sequence[Argument],
        bare: bool,
        out: Any,
        gradient_place: str,
    ) -> tuple[Any, list[Any]]:
        """The value and the gradients of every row."""
        value_out, gradient_out = entries(out, 2, self._name)
        outs = (
            [gradient_out]
            if bare
            else entries(gradient_out, len(chosen), self._name, gradient_place)
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
        return value, nests

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
        given = args if not kwargs else self._ordered(args, kwargs)
        if given is not None and weights is None and out is None:
            found = self._sites.find(("gradient", wrt, reduce, threads), given)
            if found is not MISS:
                return found[1]
        pair = None if out is None else (None, out)
        return self._value_and_grad(args, kwargs, wrt, reduce, weights, threads, pair, alone=True)

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
        taking = TakingNow(family, len(seeds))
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
        from ..explain.reading import told
        from .row_pass import row_pass

        return told(row_pass(self, args, kwargs, row), 1.0)

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
