"""Reading a story off the graph under a value.

No ``.grad`` is read for the story itself and none is written: the pass is worked out beside the
graph. Gradients the graph already holds are only compared with it, and the note says where they
differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._shared.numerics import np
from .._shared.operands import is_real_scalar
from ..errors import NotAValueError, RecordingError, StoryError
from ..ops.structural import DOT
from ..passes import values
from ..passes.backward import pull
from ..passes.flat import CODES, NUMBER, Pass
from ..passes.numbers import with_numbers
from ..passes.tensors import holds_tensors, read_arrays
from ..value import Value, core
from .array_story import told_arrays
from .columns import columns_of, steps_of
from .following import followed
from .notes import note_of
from .paths import Path, path_of
from .story import Story
from .tensor_ledger import Accounts


def story(root: Value | Sequence[Value], seed: float | Sequence[float] = 1.0) -> Story:
    """The story of the backward pass from a value: every step, in order, in words.

    Nothing is changed: ``backward`` need not have run, and no ``.grad`` is touched. Several roots
    are explained as one pass from the sum of the roots, each weighted by its seed.

    >>> import retrograde as rg
    >>> a = rg.Value(3.0, label="a")
    >>> story = rg.story(a + a)
    >>> story.nodes[0].grad, len(story.backward[0].contributions)
    (2.0, 2)
    >>> story.backward[0].words
    'addition copies the upstream gradient, 1, to both inputs; a is both, so it receives it twice'
    """
    roots = (root,) if isinstance(root, Value) else root
    if not isinstance(roots, (list, tuple)):
        raise NotAValueError.of("story", root)
    for index, each in enumerate(roots):
        if not isinstance(each, Value):
            raise NotAValueError.at("story", index, each)
    if not roots:
        raise StoryError.no_roots()
    seeds: Any = (seed,) * len(roots) if is_real_scalar(seed) else seed
    if holds_tensors(roots):
        return read_tensors(roots, [float(each) for each in seeds])
    return read(roots, [float(each) for each in seeds])


def read_tensors(
    roots: Sequence[Value],
    seeds: Sequence[float],
    leaves: Mapping[int, Any] | None = None,
    note: str | None = None,
) -> Story:
    """The story of a pass over tensors; ``leaves`` are their numbers at the time of the pass, by
    ``core.key``, where they may have been changed since."""
    if len(roots) != 1:
        raise StoryError.tensors(len(roots))
    graph = read_arrays(roots, seeds, leaves=leaves, pictures=True)
    return told_arrays(graph, note, unfolding=Accounts(graph, seeds[0]).pictured)


def read(
    roots: Sequence[Value],
    seeds: Sequence[float],
    data: Sequence[float] | None = None,
    note: str | None = None,
    sites: bool = True,
    path: Path | None = None,
) -> Story:
    """The story of a pass from one or several roots.

    ``data`` holds the numbers of ``core.order(roots)`` at the time of the pass, where the graph may
    have been changed since; then what the graph holds now is not compared. A ``note`` given takes
    the place of that comparison too. Without ``sites`` places in the source are left out. The
    ``path`` is that of the program, where its comparisons were recorded.
    """
    if len(roots) != len(seeds):
        raise StoryError.seeds(len(roots), len(seeds))
    for root in roots:
        if core.hides(root):
            raise RecordingError.explained("the story", root)
    graph = values.read(roots, sites=sites)
    log = followed()
    if path is None and log is not None:
        path = path_of(log)
    if data is not None:
        graph = replace(graph, data=np.array(data, np.float64))
    if len(roots) == 1:
        return told(graph, seeds[0], compared=data is None, note=note, path=path)
    joined = _joined(with_numbers(graph), roots, seeds)
    return told(joined, 1.0, compared=data is None, note=note, name="roots", path=path)


def told(
    graph: Pass,
    seed: float,
    *,
    compared: bool = False,
    note: str | None = None,
    name: str | None = None,
    path: Path | None = None,
) -> Story:
    """The story of a pass from its last value, which may be given a ``name``.

    Where it is ``compared``, the note says how what the graph holds differs from what is told.
    """
    graph = with_numbers(graph)
    pulled = pull(graph, {len(graph) - 1: seed})
    columns, steps = columns_of(graph, pulled), steps_of(graph, pulled)
    if name is not None:
        columns.names[-1], columns.named[-1] = name, True
    stale = _stale(graph) if compared else frozenset[int]()
    if compared and note is None:
        note = note_of(graph, columns, steps, stale)
    return Story(
        columns, steps, seed, note or None, stale=stale, values=graph.values or (), path=path
    )


def _joined(graph: Pass, roots: Sequence[Value], seeds: Sequence[float]) -> Pass:
    """Several roots as one: the dot product of the roots with their seeds."""
    here, first, count = graph.of(roots), len(graph), len(roots)
    numbers = graph.data[here].tolist()
    total = sum(number * seed for number, seed in zip(numbers, seeds))
    assert graph.values is not None
    assert graph.grads is not None
    assert graph.hooked is not None
    none, zeros = [None] * (count + 1), np.zeros(count + 1)
    edges = graph.starts[-1]
    return replace(
        graph,
        codes=np.append(graph.codes, np.array([*[NUMBER] * count, CODES[DOT.name]], np.uint8)),
        data=np.append(graph.data, [*seeds, total]),
        takes=np.append(graph.takes, [*[False] * count, True]),
        starts=np.append(graph.starts, [*[edges] * count, edges + 2 * count]),
        inputs=np.append(graph.inputs, [*here, *range(first, first + count)]),
        numbers=np.append(graph.numbers, [*seeds, *numbers]),
        places=np.append(graph.places, np.full(count + 1, -1, np.int32)),
        ruled=np.append(graph.ruled, zeros != 0.0),
        values=[*graph.values, *none],
        grads=np.append(graph.grads, zeros),
        hooked=np.append(graph.hooked, zeros != 0.0),
    )


def _stale(graph: Pass) -> frozenset[int]:
    """The values whose op no longer makes them out of their inputs."""
    found = []
    for index, value in enumerate(graph.values or ()):
        now = None if value is None else core.recompute(value)
        if now is not None and now != graph.data[index] and graph.widths[index]:
            if not (math.isnan(now) and math.isnan(graph.data[index])):
                found.append(index)
    return frozenset(found)
