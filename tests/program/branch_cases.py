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
from .style_programs import PRELUDE, styled_source
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
    """The text of the function with a number: three in four are short and in strangers' styles."""
    if case % 16 == 3:
        text = source_of(case)
    elif case % 16 == 7:
        text = wild_source(case)
    else:
        return styled_source(case, 20 if case % 16 == 11 else 5)
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
    if case % 21 == 3:
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
    """Rows by themselves: value and gradients within a tolerance of the absolute adjoint."""
    for row in range(ROWS):
        leaves = [rg.Value(args[0][row]), rg.Value(args[1][row]), rg.Value(0.7)]
        zs = [rg.Value(z) for z in args[3][row]]
        try:
            root = function(*leaves, zs)
        except (ArithmeticError, ValueError, TypeError):
            continue  # where a plain number may do what a value does not
        numbers = [each[row] for each in got]
        if not isinstance(root, rg.Value):
            if not np.isclose(root, numbers[0], rtol=1e-13, equal_nan=True):
                raise Mismatch(f"row {row} is {numbers[0]}, eagerly {root}")
            continue
        rg.zero_grad([*leaves, *zs])
        root.backward()
        scales = absolute_adjoint(rg, root)
        size = sum(scale * abs(value.data) for scale, value in scales.values())
        expected = [root.data, *[leaf.grad for leaf in (*leaves, *zs)]]
        widths = [size, *[scales.get(id(leaf), (0.0,))[0] for leaf in (*leaves, *zs)]]
        flat = [*numbers[:4], *np.ravel(numbers[4:])]
        for number, wanted, scale in zip(flat, expected, widths, strict=True):
            if np.isfinite(scale) and np.isfinite(wanted):
                if abs(number - wanted) > TOLERANCE * scale:
                    raise Mismatch(f"row {row} is {number}, eagerly {wanted} ({scale})")
            elif np.isfinite(number) and np.isfinite(scale):
                raise Mismatch(f"row {row} is {number}, eagerly {wanted}")
