"""The speed of a small network on retrograde and in pure Python, measured on the spot, as data.

Both run the same program on the same numbers and must agree on every gradient. They take turns, so
that a busy moment falls on both; the cycle collector stays as the interpreter has it.
"""

from __future__ import annotations

import gc
import math
import random
import statistics
from collections.abc import Callable
from itertools import pairwise
from time import perf_counter
from typing import Any, TypedDict

from ..value import Value
from ._plain import PlainValue, count_operations

WIDTHS = (2, 16, 16, 1)
POINTS = 100
PASSES = 5

Number = Any  # a value of retrograde, or of the pure-Python class
Neuron = tuple[list[Number], Number]
Layers = list[list[Neuron]]


class Timing(TypedDict):
    """The medians of one engine, in milliseconds. The whole pass includes freeing the graph."""

    engine: str
    forward_ms: float
    backward_ms: float
    whole_ms: float


class Race(TypedDict):
    """What was run, how long it took, and how far the gradients are apart."""

    widths: list[int]
    points: int
    parameters: int
    operations: int
    passes: int
    engines: list[Timing]
    times_faster: float
    largest_difference: float


def race(report: Callable[[int, int], None] = lambda done, total: None) -> Race:
    """Time one pass, forward and backward, in pure Python and on retrograde, in turns."""
    engines: dict[str, Callable[[float], Number]] = {
        "plain Python": PlainValue,
        "retrograde": Value,
    }
    seconds: dict[str, list[tuple[float, float, float]]] = {name: [] for name in engines}
    gradients: dict[str, list[float]] = {}
    for turn in range(PASSES):
        for place, (name, make) in enumerate(engines.items()):
            times, gradients[name] = _timed_pass(make)
            seconds[name].append(times)
            report(turn * len(engines) + place + 1, PASSES * len(engines))
    timings = [_medians(name, times) for name, times in seconds.items()]
    plain, ours = gradients.values()
    return {
        "widths": list(WIDTHS),
        "points": POINTS,
        "parameters": len(ours),
        "operations": count_operations(_loss(_layers(PlainValue))),
        "passes": PASSES,
        "engines": timings,
        "times_faster": timings[0]["whole_ms"] / timings[1]["whole_ms"],
        "largest_difference": max(abs(p - o) for p, o in zip(plain, ours)),
    }


def _timed_pass(
    make: Callable[[float], Number],
) -> tuple[tuple[float, float, float], list[float]]:
    """Seconds of forward, backward and the whole pass, and the gradients it found."""
    layers = _layers(make)
    gc.collect()  # what an earlier pass left behind is not this one's to clean up
    start = perf_counter()
    root = _loss(layers)
    built = perf_counter()
    root.backward()
    differentiated = perf_counter()
    del root
    freed = perf_counter()
    times = (built - start, differentiated - built, freed - start)
    return times, [p.grad for layer in layers for ws, b in layer for p in (*ws, b)]


def _medians(engine: str, times: list[tuple[float, float, float]]) -> Timing:
    forward, backward, whole = (1e3 * statistics.median(column) for column in zip(*times))
    return {"engine": engine, "forward_ms": forward, "backward_ms": backward, "whole_ms": whole}


def _layers(make: Callable[[float], Number]) -> Layers:
    source = random.Random(1)
    return [
        [
            ([make(source.uniform(-1, 1)) for _ in range(inputs)], make(source.uniform(-1, 1)))
            for _ in range(outputs)
        ]
        for inputs, outputs in pairwise(WIDTHS)
    ]


def _loss(layers: Layers) -> Number:
    """The program that is timed: the mean of max(0, 1 - label × score) on two circles."""
    *hidden, [(output_ws, output_b)] = layers
    total = 0.0
    for index in range(POINTS):
        angle, inside = 2.399963 * index, index % 2
        radius, label = (0.5, 1.0) if inside else (1.0, -1.0)
        xs = [radius * math.cos(angle), radius * math.sin(angle)]
        for layer in hidden:
            xs = [sum((w * x for w, x in zip(ws, xs)), b).relu() for ws, b in layer]
        score = sum((w * x for w, x in zip(output_ws, xs)), output_b)
        total = total + (score * -label + 1.0).relu()
    return total * (1.0 / POINTS)
