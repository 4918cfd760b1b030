"""Derivatives beyond gradients of compiled functions, per row: Jacobians, Hessians, and these times
a vector."""

from __future__ import annotations

from typing import Any

from ..errors import CompileError
from .caller import numbers_of, whole_of
from .derived import Mode, jacobian_mode
from .directions import MANY_DIRECTIONS, fill, second_derivatives, sparse_matrices
from .results import Store, along_rows, entries, gradient_nest, second_nest
from .rows import take_argument
from .settling import whole
from .targets import Printable


class Differentiable(Printable):
    """A function whose first and second derivatives can be asked for as matrices."""

    @whole
    def jacobian(
        self, /, *args: Any, wrt: Any = None, threads: int | None = None, **kwargs: Any
    ) -> Any:
        """The gradients of every output, per row, in the outputs' nest.

        Of twice as many outputs as arguments, or more, they are found argument by argument.

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
        indices, outputs = numbers_of(chosen), family.traces[0].outputs
        mode = jacobian_mode(indices, len(outputs.items), whole_of(bound, wrt))
        if mode.is_second:
            family = self._family(bound, shapes, traced=True)
        self._watch(family, bound, shapes, indices, threads)
        store = Store(bound)
        store.fresh(len(indices) * len(outputs.items))
        self._stored(family, bound, shapes, mode, store, threads)
        source = iter(store.items())
        results = []
        for _ in outputs.items:
            nests = [gradient_nest(shape.shape, source, bound.rows) for shape in chosen]
            results.append(nests[0] if bare else tuple(nests))
        if bound.answers is not None:
            names = [argument.name for argument in chosen]
            return bound.answers.several(names, results, outputs, bare)
        return outputs.filled(results, along_rows(bound.rows))

    @whole
    def hessian(
        self,
        /,
        *args: Any,
        wrt: Any = None,
        sparse: bool = False,
        threads: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """All second derivatives, per row: the gradient of each first derivative in its place.

        For an argument of k numbers a row that is an array (rows, k, k). With ``sparse=True`` each
        row has a SciPy matrix over all numbers of ``wrt`` in their order, of those entries that
        the program can make other than 0: one matrix, or a list where there are rows.

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
        family = self._family(bound, shapes, traced=True)
        chosen, bare = self._chosen(shapes, wrt)
        self._check_single(family)
        mode = Mode("hessian", numbers_of(chosen), 0, whole_of(bound, wrt))
        self._watch(family, bound, shapes, mode.wrt, threads)
        by_lanes = sparse or len(mode.wrt) > MANY_DIRECTIONS
        store = Store(bound)
        if by_lanes:
            bound.on_host(self._name, "a Hessian of so many numbers")
            router = self._router(family, bound, shapes, lambda: mode, threads)
            found = second_derivatives(router, bound, mode.wrt, mode.whole)
            if sparse:
                matrices = sparse_matrices(found, len(mode.wrt), router.call.rows)
                return matrices[0] if bound.rows is None else matrices
        made, assembled = second_nest(store, chosen, bare)
        if by_lanes:
            fill(made, found)
        else:
            self._stored(family, bound, shapes, mode, store, threads)
        if bound.answers is not None:
            return bound.answers.second(chosen, assembled(), bare)
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
        family = self._family(bound, shapes, traced=True)
        chosen, bare = self._chosen(shapes, wrt)
        self._check_single(family)
        if bound.answers is not None and not bound.on_device:
            from ..frames.binding import as_arrays

            vector = as_arrays(self._name, "vector", vector, bound.answers)
        parts = [vector] if bare else entries(vector, len(chosen), self._name, "vector")
        directions = self._new_bound()
        directions.rows, directions.row_name = bound.rows, bound.row_name
        for number, (shape, part) in enumerate(zip(chosen, parts)):
            place = "vector" if bare else f"vector[{number}]"
            given = take_argument(directions, part, place)
            if given.count != shape.count or directions.rows != bound.rows:
                raise CompileError.call(
                    self._name, f"{place} must have the nest of {shape.name}: {shape.count} numbers"
                )
        directions.check_place(bound)
        seeds = directions.seed_columns(bound.on_device)
        mode = Mode("hvp", numbers_of(chosen), len(seeds), whole_of(bound, wrt))
        store = Store(bound)
        nests = [store.like(shape.shape, None, "") for shape in chosen]
        self._watch(family, bound, shapes, mode.wrt, threads)
        self._stored(family, bound, shapes, mode, store, threads, seeds)
        if bound.rows is None:
            source = iter(store.items())
            nests = [gradient_nest(shape.shape, source, None) for shape in chosen]
        found = nests[0] if bare else tuple(nests)
        if bound.answers is not None:
            return bound.answers.gradients([each.name for each in chosen], found, bare, "hvp_")
        return found
