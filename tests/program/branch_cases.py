"""Random functions with loops and branches, by number: each in several forms, with the same bits in
all of them, and held to eager values. ``tools/branch_programs.py`` runs as many as are asked for.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np

import retrograde as rg
from retrograde.program import recordings, rolling, traces

from ..test_random_programs import absolute_adjoint
from .choice_programs import HELPERS, function_of, source_of
from .hard_programs import PRELUDE, hard_source
from .style_programs import styled_source
from .support import TOLERANCE
from .wild_programs import wild_source

ROWS, LENGTH = 5, 4
AWKWARD = [(0.0, 0.0), (np.nan, 1.0), (1.0, np.nan), (0.5, 0.5), (-0.0, 1.0), (np.inf, -1.0)]
SHARED: dict[str, Any] = {}
"""What all functions call, compiled once: rewriting a function parses all of its file."""
FORMS = ("traces", "rolled", "long")


def shared() -> dict[str, Any]:
    """The helpers and classes that random functions use."""
    if not SHARED:
        leaves = {"w1": rg.Value(0.8, label="w1"), "w2": rg.Value(-0.4, label="w2")}
        source = HELPERS + PRELUDE + "\ndef f():\n    return globals()\n"
        SHARED.update(function_of(source, rg=rg, __name__=__name__, **leaves)())
    return SHARED


def source_for(case: int) -> str:
    """The text of the function with a number: most are short, half of them hard to rejoin."""
    if case % 2:
        text = hard_source(case, 10 if case % 16 == 9 else 4)
    elif case % 16 == 2:
        text = source_of(case)
    elif case % 16 == 6:
        text = wild_source(case)
    else:
        return styled_source(case, 20 if case % 16 == 10 else 5)
    return text[text.index("def f(x") :].replace("def f(x, y, a):", "def f(x, y, a, zs):")


def function_for(case: int) -> Callable[..., Any]:
    """The function with a number."""
    names = {name: thing for name, thing in shared().items() if name != "f"}
    made: Callable[..., Any] = function_of(source_for(case), **names)
    return made


def rows_for(case: int) -> tuple[Any, ...]:
    """Rows for it, some of them NaN, infinite, zero or equal."""
    draw = np.random.default_rng(case)
    x, y = draw.normal(size=ROWS) * 1.3, draw.normal(size=ROWS)
    zs = draw.normal(size=(ROWS, LENGTH))
    awkward = draw.permutation(AWKWARD)[:2]
    x[[1, 3]], y[[1, 3]] = awkward.T
    zs[3, 2], zs[4, 3] = draw.choice([np.nan, 0.0, 0.5]), zs[4, 2]
    return x, y, 0.7, zs


class Mismatch(AssertionError):
    """Two forms of a function, or a form and eager values, that differ."""


def same_bits(one: Any, other: Any) -> bool:
    """Whether answers are the same, bit for bit, any NaN like another."""
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same_bits, one, other))
    if isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    a, b = np.asarray(one, float), np.asarray(other, float)
    if a.shape != b.shape:
        return False
    return bool(((a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))).all())


def answers(function: Any, case: int, args: tuple[Any, ...], **settings: Any) -> tuple[Any, Any]:
    """What a compiled function answers to several questions, and the compiled function."""
    compiled = rg.compile(function, **settings)
    asks: list[Callable[[], Any]] = [lambda: _flat(compiled.value_and_grad(*args))]
    if case % 3 == 0:
        asks.append(lambda: _flat(compiled.value_and_grad(*args, wrt=("x", "a"), reduce="sum")))
    if case % 4 == 1:
        asks.append(lambda: _captured(compiled, args))
    if case % 5 == 2:
        other = (args[1][::-1].copy(), args[0][::-1].copy(), 0.3, args[3][::-1].copy())
        asks.append(lambda: _flat(compiled.value_and_grad(*other)))
    if case % 21 == 3 or case % 16 == 11:
        asks.append(lambda: _flat(compiled.hessian(*args[:3], args[3], wrt=("x", "a"))))
    return [_told(ask) for ask in asks], compiled


def _told(ask: Callable[[], Any]) -> Any:
    """An answer, or the kind of its exception."""
    try:
        return ask()
    except Exception as error:
        return type(error).__name__


def _flat(nest: Any) -> list[Any]:
    if isinstance(nest, (list, tuple)):
        return [part for each in nest for part in _flat(each)]
    return [np.array(nest)]


def _captured(compiled: Any, args: tuple[Any, ...]) -> Any:
    leaves = [shared()["w1"], shared()["w2"]]
    rg.zero_grad(leaves)
    try:
        compiled.backward(*args)
    except rg.errors.CompileError:  # none captured; what only decides in a side may be, with 0
        assert not any(leaf.grad for leaf in leaves)
    return [leaf.grad for leaf in leaves]


@contextmanager
def unrolled() -> Iterator[None]:
    """Loops are not found."""
    with patch.object(rolling.Roller, "_round", lambda self: False):
        yield


@contextmanager
def long() -> Iterator[None]:
    """Loops are kept as loops, however short the program is."""
    with patch.object(traces, "LONG_PROGRAM", 0):
        yield


@contextmanager
def unproved() -> Iterator[None]:
    """Choices are not compared with traces: they must have their bits without it."""
    with patch.object(recordings, "agrees", lambda *_: 0):
        yield


def hold(case: int) -> Counter[str]:
    """Hold the function with a number to its other forms; what was found out on the way.

    All are held to eager values in every row, one in three to traces, one in twelve to programs
    without loops and with loops kept; of one in eight choices are proved as users' are.
    """
    function, args = function_for(case), rows_for(case)
    found: Counter[str] = Counter(programs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with unproved() if case % 8 else nullcontext():
            chosen, compiled = answers(function, case, args, choices=True)
        found["traces"], found["with choices"] = (
            len(compiled.traces),
            any(trace.has_choices for trace in compiled.traces),
        )
        found["errors"] = isinstance(chosen[0], str)
        if case % 3 == 0 or found["errors"]:
            plain, traced = answers(function, case, args, choices=False)
            _compare("choices and traces", chosen, plain)
            found["to traces"], found["fewer"] = 1, len(compiled.traces) < len(traced.traces)
        if case % 12 == 5:
            found["to forms"] = 1
            for name, form in (("unrolled", unrolled), ("long", long)):
                with form():
                    other, _ = answers(function, case, args, choices=bool(case % 4))
                _compare(f"choices and {name}", chosen, other)
        if not found["errors"]:
            _hold_to_eager(function, args, chosen[0])
    return found


def _compare(what: str, one: list[Any], other: list[Any]) -> None:
    for number, (a, b) in enumerate(zip(one, other, strict=True)):
        if not same_bits(a, b):
            raise Mismatch(f"{what}: answer {number} is {a} and {b}")


def _hold_to_eager(function: Any, args: tuple[Any, ...], got: list[Any]) -> None:
    """Rows by themselves: value and gradients within a tolerance of the absolute adjoint, or of
    what they change by where the arguments do in their last bits."""
    for row in range(len(args[0])):
        numbers = [args[0][row], args[1][row], args[2], *args[3][row]]
        eager = _eagerly(function, numbers)
        if eager is None:
            continue
        found = [each[row] for each in got]
        flat = [*found[:4], *np.ravel(found[4:])] if len(eager[0]) > 1 else found[:1]
        for place, (number, wanted, scale) in enumerate(zip(flat, *eager, strict=True)):
            if np.isfinite(scale) and np.isfinite(wanted):
                off = abs(number - wanted) - TOLERANCE * scale
                if off > 0.0 and off > _unsteady(function, numbers, place, wanted):
                    raise Mismatch(f"row {row} is {number}, eagerly {wanted} ({scale})")
            elif np.isfinite(number) and np.isfinite(scale):
                raise Mismatch(f"row {row} is {number}, eagerly {wanted}")


def _eagerly(function: Any, numbers: list[float]) -> tuple[list[float], list[float]] | None:
    """Value and gradients on values, and the scale of each; None where a number does what no value
    does."""
    leaves = [rg.Value(number) for number in numbers]
    try:
        root = function(*leaves[:3], leaves[3:])
    except (ArithmeticError, ValueError, TypeError):
        return None
    if not isinstance(root, rg.Value):
        return [float(root)], [abs(root)]
    root.backward()
    scales = absolute_adjoint(rg, root)
    size = sum(scale * abs(value.data) for scale, value in scales.values())
    widths = [scales.get(id(leaf), (0.0,))[0] for leaf in leaves]
    return [root.data, *[leaf.grad for leaf in leaves]], [size, *widths]


def _unsteady(function: Any, numbers: list[float], place: int, wanted: float) -> float:
    """How far an answer moves where the arguments do by a few units in the last place: the slope
    of exp(exp(x)) is no better known than its argument."""
    moved = 0.0
    for seed in range(4):
        shifts = np.random.default_rng(seed).uniform(-1.0, 1.0, len(numbers)) * 1e-14
        other = _eagerly(function, (np.array(numbers) * (1.0 + shifts)).tolist())
        if other is not None and len(other[0]) > place and np.isfinite(other[0][place]):
            moved = max(moved, abs(other[0][place] - wanted))
    return moved
