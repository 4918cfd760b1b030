"""One row of a compiled function on tensors, computed again on tensors: its story, its births."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._values.nests import leaves
from ...errors import CompileError
from ...tensor import Tensor, in_graph
from ...value import Value
from .arguments import NUMBER, TENSOR, Taken

if TYPE_CHECKING:
    from ...diagnose.compiled_births import RowBirths
    from ...explain.story import Story

Call = Callable[[dict[str, Any]], Any]


def roots_of(call: Call, taken: Taken, row: int) -> list[Any]:
    """What the function returns on tensors for one row, as far as it is in a graph."""
    one = taken.row(row)
    made = []
    for kind, leaf, place in zip(one.kinds, one.leaves, one.places()):
        known = kind in (TENSOR, NUMBER)
        make = Tensor if kind == TENSOR else Value
        made.append(make(leaf, label=place) if known else leaf)
    return [it for it in leaves(call(one.filled(made))) if in_graph(it)]


def story_of(name: str, call: Call, taken: Taken, row: int) -> Story:
    """The story of one row."""
    from ...explain.reading import story

    count = 1 if taken.rows is None else taken.rows
    if not -count <= row < count:
        raise CompileError.call(name, f"there is no row {row}: there are {count}")
    roots = roots_of(call, taken, row % count)
    return story(roots[0] if len(roots) == 1 else roots)


def births_of(call: Call, taken: Taken, values: Any, gradients: Any, summed: bool) -> RowBirths:
    """The births of all rows. ``values`` and ``gradients`` are what they came to, each with rows in
    front where there are any; what was ``summed`` over rows is sick where it says so."""
    from ...diagnose.tensor_row_births import births_of_tensors

    count = 1 if taken.rows is None else taken.rows
    finite = np.ones(count, bool)
    for it in (*leaves(values), *leaves(gradients)):
        if it is not None:
            finite &= np.isfinite(np.asarray(it, float).reshape(count, -1)).all(axis=1)
    sick = np.flatnonzero(~finite)
    if summed and not len(sick):
        sick = np.arange(count)
    return births_of_tensors(count, sick, lambda row: roots_of(call, taken, row))
