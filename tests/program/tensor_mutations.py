"""Files of functions on tensors mutated at random: refused, or what they compute is what they say.

A case is a whole number: the same number is the same mutated file. A file that loads is called, and
its answers are held against its programs carried out by NumPy, row by row of the law.
"""

from __future__ import annotations

import random
import warnings
from functools import cache
from typing import Any

import numpy as np

import retrograde as rg
from retrograde.errors import GuardError, ProgramFileError, RetrogradeError
from retrograde.program.files import TENSORS, opened, packed, sealed, unpacked
from retrograde.program.loaded import LoadedTensors
from retrograde.program.shaped import interpreter, memory
from retrograde.program.shaped.arguments import INDICES, NUMBER, SETTING

from .mutations import RAW, _spliced
from .shaped_programs import Drawn

MOST = 1 << 24
"""Bytes that a mutated program may take here."""


def _strangers() -> list[Any]:
    """Functions that use what files have: guards, rows, nests, indices, systems, settings."""
    w = rg.Tensor(np.arange(6.0).reshape(3, 2) / 7.0, label="w")

    def rows(x: Any, t: Any, n: np.ndarray[Any, Any]) -> Any:
        h = rg.tanh(x @ w) * t
        if h.sum() > 0.0:
            h = h * h
        return {"a": rg.softmax(h).sum(), "b": [h[n], x[1:]]}

    def system(a: rg.Tensor, b: rg.Tensor, how: Any = None) -> Any:
        return (rg.solve(a, b) * rg.diag(rg.cholesky(a))).sum() if how else rg.sort(b)[-1]

    def writes(p: dict[str, rg.Tensor], k: Any) -> Any:
        return (p["x"].put((slice(None), 1), 3.0) @ p["y"]).max() * k

    def looks(m: rg.Tensor, k: Any) -> Any:
        best = np.take_along_axis(m, m.argmax(axis=1, keepdims=True), axis=1)
        return {"a": m[m[:, 0].argsort()] * best, "b": rg.det(m) * k}

    def slopes(m: rg.Tensor, k: Any) -> Any:
        first = rg.grad(lambda z: (rg.sort(z, axis=0) * rg.tanh(z)).sum() + rg.det(z))(m)
        return first @ rg.hvp(lambda z: (z[[0, 2, 0]] ** 3).sum() * k, m, first)

    x = np.random.default_rng(1).standard_normal((6, 3))
    n = np.array([1, 0, 1])
    one, two, three, four, five = map(rg.compile, (rows, system, writes, looks, slopes))
    one(rg.rows(x), 0.5, n)
    one(x[:, 0], 0.5, n) if False else one(rg.rows(x[:2]), 0.5, np.array([0]))
    two(np.eye(2) * 2.0, np.ones(2), "both")
    two(np.eye(2), np.ones(2))
    three({"x": x[:, :2], "y": np.ones(2)}, 2.0)
    four(x[:3], 1.0)
    four(rg.rows(x.reshape(2, 3, 3)), 0.0)
    five(x[:3], 1.0)
    return [one, two, three, four, five]


@cache
def originals() -> tuple[bytes, ...]:
    """Files of random functions, and of some written by hand."""
    found = []
    for seed in range(12):
        drawn = Drawn(rg, seed, 6)
        compiled = rg.compile(drawn.function())
        compiled(drawn.x, drawn.y, drawn.n, drawn.t)
        found.append(packed(compiled._stored_tensors()))
    found += [packed(it._stored_tensors()) for it in _strangers()]
    return tuple(found)


def mutated(case: int) -> tuple[str, bytes]:
    """The file of a case: of raw bytes, or of a body whose checksum was repaired."""
    chance = random.Random(case)
    data = chance.choice(originals())
    change = chance.choice([it for it in RAW if it is not _spliced])
    if chance.random() < 0.1:
        return f"raw {change.__name__}", change(chance, data)
    body = opened(data, "original")[0]
    if len(body) > 60 and chance.random() < 0.5:  # in front stand the names, in the back programs
        cut = chance.randrange(len(body) // 3, len(body) - 20)
        return f"body {change.__name__}", sealed(body[:cut] + change(chance, body[cut:]), TENSORS)
    return f"body {change.__name__}", sealed(change(chance, body), TENSORS)


def verdict(case: int, how: str, data: bytes) -> str:
    """What became of a file; whatever is wrong raises."""
    before, memory.limit = memory.limit, MOST
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return _verdict(case, data)
    finally:
        memory.limit = before


def _verdict(case: int, data: bytes) -> str:
    try:
        stored = unpacked(data, "mutated")
    except ProgramFileError:
        return "refused"
    if not hasattr(stored, "wanted"):
        return "of values"
    loaded = LoadedTensors(stored)  # type: ignore[arg-type]
    packed(stored)
    answered = 0
    for family in loaded._tensors.families.values():
        answered += _ask(random.Random(case), loaded, family)
    return "right" if answered else "nothing to ask"


def _ask(chance: random.Random, loaded: LoadedTensors, family: Any) -> int:
    taken = family.arguments
    if sum(np.size(leaf) for leaf in taken.leaves) > 10_000:
        return 0
    rng = np.random.default_rng(chance.randrange(2**30))
    leaves = []
    for kind, leaf, varies in zip(taken.kinds, taken.leaves, taken.varies):
        if kind == SETTING:
            leaves.append(leaf)
        elif kind == INDICES:
            numbers = rng.integers(-2, 2, leaf.shape)
            leaves.append(rg.rows(numbers) if varies else numbers)
        elif kind == NUMBER and not varies:
            leaves.append(float(rng.standard_normal()))
        else:
            numbers = rng.standard_normal(leaf.shape)
            leaves.append(rg.rows(numbers) if varies else rg.uniform(numbers))
    given = taken.filled(leaves)
    try:
        found = loaded(**given)
    except (RetrogradeError, GuardError, IndexError, np.linalg.LinAlgError, ValueError, TypeError):
        return 0
    trace = next(it for it in family.traces if it.calls)
    if taken.rows is not None or len(family.traces) > 1:
        return 1
    plain = [getattr(it, "given", it) for it in leaves]
    wanted = interpreter.run(
        trace.program, plain, [leaf.data for leaf in trace.captured], plain
    )[: len(trace.program.outputs)]  # fmt: skip
    places = trace.outputs.structure
    items = _items(found, places)
    for mine, other in zip(items, wanted):
        scale = 1e-9 * (1.0 + np.nanmax(np.abs(other), initial=0.0, where=np.isfinite(other)))
        np.testing.assert_allclose(mine, other, rtol=1e-8, atol=scale)
    return 1


def _items(nest: Any, structure: Any) -> list[Any]:
    found = []
    for path in structure.paths():
        part = nest
        for key in path:
            part = part[key]
        found.append(part)
    return found
