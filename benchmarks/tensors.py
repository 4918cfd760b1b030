"""Time the kernels of tensors against NumPy and PyTorch: `python benchmarks/tensors.py`.

All run on one thread, on arrays that exist already; turns are taken round by round, by the clock of
the thread, and the best is shown. Goals: matrix products at most 1.2 times OpenBLAS, a matrix times
a vector at most twice, convolutions with both their gradients at most PyTorch.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from time import thread_time
from typing import Any, NamedTuple

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is loaded

import numpy as np  # noqa: E402

from retrograde import _native  # noqa: E402
from retrograde.ops.array import ARRAYS  # noqa: E402
from retrograde.ops.arrays.adjoint import adjoint  # noqa: E402
from retrograde.ops.arrays.plans import plan  # noqa: E402
from retrograde.ops.arrays.row import Row  # noqa: E402
from retrograde.ops.index import Statement  # noqa: E402

ROUNDS, TURN = 15, 0.004
"""How often each takes its turn, and how many seconds a turn is."""

RNG = np.random.default_rng(0)
OPS = {name: at for at, name in enumerate(_native.OP_NAMES)}
Call = Callable[[], object]


class Line(NamedTuple):
    """One comparison: the call, seconds of both, and the ratio that is the goal, if any."""

    what: str
    ours: float
    theirs: float
    goal: float | None


def main() -> int:
    """Measure, print, and return 1 where a goal is missed."""
    _native.array_threads(1)
    missed = 0
    sections = {
        "maps, NumPy": maps,
        "products, NumPy's BLAS": products,
        "windows, PyTorch": windows,
    }
    for title, section in sections.items():
        print(f"{title:<44} {'ours':>12} {'theirs':>12} {'ratio':>7}   microseconds")
        for line in section():
            ratio = line.ours / line.theirs
            wrong = line.goal is not None and ratio > line.goal
            missed += wrong
            said = f"  goal {line.goal}" + (" MISSED" if wrong else "") if line.goal else ""
            print(
                f"  {line.what:<42} {1e6 * line.ours:12.3f} {1e6 * line.theirs:12.3f} "
                f"{ratio:7.2f}{said}"
            )
    return 1 if missed else 0


def maps() -> Iterator[Line]:
    """Rows of the scalar law over contiguous arrays."""
    for n in (10, 10_000, 1_000_000):
        x, y, out = RNG.uniform(0.1, 2.0, n), RNG.uniform(0.1, 2.0, n), np.empty(n)
        binary = {"add": np.add, "mul": np.multiply, "div": np.divide, "pow": np.power}
        unary = {"exp": np.exp, "log": np.log, "tanh": np.tanh, "sin": np.sin, "sqrt": np.sqrt}
        for name, theirs in (*binary.items(), *unary.items()):
            operands = (x, y) if name in binary else (x,)
            yield _line(
                f"{name} of {n:,}",
                partial(_native.array_map, OPS[name], out, operands),
                partial(theirs, *operands, out=out),
            )


def products() -> Iterator[Line]:
    """Square matrices, and such a matrix times a vector."""
    for n in (8, 16, 32, 64, 128, 256, 512):
        a, b, c = RNG.standard_normal((n, n)), RNG.standard_normal((n, n)), np.empty((n, n))
        x, to = RNG.standard_normal(n), np.empty(n)
        column, to_column = x.reshape(n, 1), to.reshape(n, 1)
        yield _line(
            f"{n} x {n} times {n} x {n}",
            partial(_native.array_product, a, b, c, False),
            partial(np.matmul, a, b, out=c),
            1.2,
        )
        yield _line(
            f"{n} x {n} times a vector",
            partial(_native.array_product, a, column, to_column, False),
            partial(np.matmul, a, x, out=to),
            2.0,
        )


def windows() -> Iterator[Line]:
    """Convolutions forward and backward, as the layers of a small network of digits have them."""
    try:
        import torch
    except ImportError:
        print("  torch is absent")
        return
    torch.set_num_threads(1)
    row = ARRAYS["conv2d"]
    assert isinstance(row, Row)
    for x, w, padding in (
        ((64, 1, 8, 8), (8, 1, 3, 3), 1),
        ((64, 8, 8, 8), (16, 8, 3, 3), 1),
        ((64, 8, 8, 8), (16, 8, 3, 3), 0),
        ((8, 16, 32, 32), (32, 16, 3, 3), 1),
    ):
        arrays = {"x": RNG.standard_normal(x), "w": RNG.standard_normal(w)}
        forward = row.state({"x": x, "w": w}, padding=padding)
        steps = [_ready(forward, arrays)]
        for name, array in arrays.items():
            back = adjoint(forward, name, array.shape)
            upstream = {back.upstream: np.ones(forward.shape)}
            steps.append(_ready(back.statement, {**arrays, **upstream}))
        theirs = [torch.tensor(array, requires_grad=True) for array in arrays.values()]

        ones = torch.ones(forward.shape, dtype=torch.float64)

        def by_torch(theirs: Any = theirs, ones: Any = ones, padding: int = padding) -> object:
            x, w = theirs
            made = torch.nn.functional.conv2d(x, w, padding=padding)
            return torch.autograd.grad(made, theirs, ones)

        said = f"conv2d {x} by {w}, padding {padding}"
        yield _line(said, partial(_each, steps), by_torch, 1.0)


def _each(steps: list[Call]) -> None:
    for step in steps:
        step()


def _ready(statement: Statement, arrays: Mapping[str, Any]) -> Call:
    """A statement as a call that carries it out."""
    made = plan(statement, {name: arrays[name].shape for name in statement.reads})
    ready, out = _native.array_plan(made.words, made.numbers), np.empty(made.shape)
    given = tuple(arrays[name] for name in made.arrays)
    return lambda: _native.array_run(ready, out, given, (), False)


def _line(what: str, ours: Call, theirs: Call, goal: float | None = None) -> Line:
    calls = {"ours": ours, "theirs": theirs}
    counts, best = {}, dict.fromkeys(calls, float("inf"))
    for name, call in calls.items():
        call()
        counts[name] = max(1, int(TURN / max(_seconds(call, 3), 1e-8)))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            best[name] = min(best[name], _seconds(call, counts[name]))
    return Line(what, best["ours"], best["theirs"], goal)


def _seconds(call: Call, count: int) -> float:
    begin = thread_time()
    for _ in range(count):
        call()
    return (thread_time() - begin) / count


if __name__ == "__main__":
    sys.exit(main())
