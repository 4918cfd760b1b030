"""Small programs that tell engines apart: reuse, accumulation, large gradients, resets, training.

They are run on the script's own class and on ours in its place; the script gets ours only where
both gave the same numbers and printed the same.
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from ._agreement import Printed, close, plain_number

Program = Callable[[Any, str, str], Iterator[Any]]
"""Given a class and what it calls data and grad, yields values to look at, or numbers."""


def _polynomial(kind: Any, data: str, grad: str) -> Iterator[Any]:
    a, b, c = kind(2.0), kind(-3.0), kind(0.5)
    d = a * b
    e = d + c
    f = e * e + a
    f.backward()
    yield from (f, e, d, a, b, c)


def _sums(kind: Any, data: str, grad: str) -> Iterator[Any]:
    a, b = kind(2.0), kind(-0.5)
    c = a + b
    d = c + a
    d.backward()
    yield from (d, c, a, b)


def _products(kind: Any, data: str, grad: str) -> Iterator[Any]:
    a, b = kind(2.0), kind(-0.5)
    c = a * b
    d = c * a
    d.backward()
    yield from (d, c, a, b)


def _reuse(kind: Any, data: str, grad: str) -> Iterator[Any]:
    x = kind(1.1)
    y = x * x
    z = y * y + y * x
    w = z + z
    v = w * y
    v.backward()
    yield from (v, w, z, y, x)


def _accumulation(kind: Any, data: str, grad: str) -> Iterator[Any]:
    x, y = kind(1.5), kind(-0.5)
    (x * y).backward()
    yield from (x, y)
    (x * y + x).backward()
    yield from (x, y)
    setattr(x, grad, 7.0)
    (x * y).backward()
    yield from (x, y)
    setattr(x, grad, 0.0)
    (y * x).backward()
    yield from (x, y)


def _sizes(kind: Any, data: str, grad: str) -> Iterator[Any]:
    for size in (1e-9, 0.3, 40.0, 3e3, 1e7):
        x, y = kind(size), kind(-2.0 * size)
        z = (x * y) * (x + y) * y
        z.backward()
        yield from (z, x, y)


_WITH_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "x * 2": lambda x: x * 2, "2 * x": lambda x: 2 * x, "x + 1": lambda x: x + 1,
    "1 + x": lambda x: 1 + x, "x - 1": lambda x: x - 1, "1 - x": lambda x: 1 - x,
    "x / 2": lambda x: x / 2, "2 / x": lambda x: 2 / x, "x ** 2": lambda x: x**2,
    "x ** -1": lambda x: x**-1, "-x": lambda x: -x, "x ** 3 - 0.5": lambda x: x**3 - 0.5,
    "x ** 0.5": lambda x: x**0.5, "sum([x, 2x])": lambda x: sum([x, x * 2]),
    "x - x": lambda x: x - x * 3, "x / x": lambda x: x / (x * x),
}  # fmt: skip


def _with_number(made: Callable[[Any], Any]) -> Program:
    def program(kind: Any, data: str, grad: str) -> Iterator[Any]:
        x = kind(1.25)
        y = made(x)
        yield y
        z = y * x
        z.backward()
        yield from (z, y, x)

    return program


def _with_method(name: str, at: float, more: Callable[[Any], tuple[Any, ...]]) -> Program:
    def program(kind: Any, data: str, grad: str) -> Iterator[Any]:
        w, x = kind(at), kind(1.5)
        y = getattr(w * x, name)(*more(kind))
        if isinstance(y, kind):
            y = y * w + x
            y.backward()
            yield from (y, w, x)
        elif isinstance(y, (bool, int, float)):
            yield float(y)

    return program


_NOTHING: tuple[Callable[[Any], tuple[Any, ...]], ...] = (lambda kind: (),)
_SOMETHING = (*_NOTHING, lambda kind: (0.3,), lambda kind: (2,), lambda kind: (kind(0.7),))


def _rules(theirs: Any) -> Iterator[tuple[str, Any]]:
    """The methods of a class that take the value, and at most one thing more."""
    for name, method in sorted(inspect.getmembers(theirs, inspect.isroutine)):
        if name.startswith("_") or name in ("backward", "zero_grad"):
            continue
        try:
            count = len(inspect.signature(method).parameters)
            if count in (1, 2):
                yield name, _NOTHING if count == 1 else _SOMETHING
        except (TypeError, ValueError):
            continue


def _leaf(kind: Any, data: str, grad: str) -> Iterator[Any]:
    x = kind(2.5)
    yield str(x.backward())
    yield x


def _training(kind: Any, data: str, grad: str) -> Iterator[Any]:
    weights = [kind(0.1 * k - 0.2) for k in range(4)]
    for _ in range(4):
        loss = kind(0.0)
        for row in range(3):
            out = weights[3]
            for k in range(3):
                out = out + weights[k] * kind(0.3 * row + k)
            off = out + kind(-1.0 * row)
            loss = loss + off * off
        for weight in weights:
            setattr(weight, grad, 0.0)
        loss.backward()
        for weight in weights:
            setattr(weight, data, getattr(weight, data) - 0.01 * getattr(weight, grad))
        yield from (loss, *weights)


def _chain(kind: Any, data: str, grad: str) -> Iterator[Any]:
    x = y = kind(0.9)
    for _ in range(60):
        y = y * x + x
    y.backward()
    yield from (y, x)


def _zeroing(kind: Any, data: str, grad: str) -> Iterator[Any]:
    x = kind(3.0)
    y = x * x
    z = y + x
    z.backward()
    z.zero_grad()
    yield from (z, y, x)


def _comparing(kind: Any, data: str, grad: str) -> Iterator[Any]:
    a, b = kind(3.0), kind(3.0)
    zero = kind(0.0)
    yield from (float(a == b), float(a != b), float(a in [b]), float(bool(zero)), float(a == 3.0))
    yield float(len({id(a), id(b)}))


def _texts(kind: Any, data: str, grad: str) -> Iterator[Any]:
    x = kind(1.5)
    y = x * kind(2.0)
    y.backward()
    for value in (x, y):
        yield _rounded(repr(value))
        yield _rounded(str(value))


def _rounded(text: str) -> str:
    """Numbers in one spelling; places in memory are left out."""
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    return re.sub(r"-?\d+(\.\d+)?(e[-+]?\d+)?", lambda found: f"{float(found.group()):.9g}", text)


def _copying(kind: Any, data: str, grad: str) -> Iterator[Any]:
    x = kind(2.0)
    y = x * x + x
    twin, root = copy.deepcopy(x), copy.deepcopy(y)
    yield from (twin, root)
    root.backward()
    yield from (x, y, root)
    twins = copy.copy(x)
    twins.backward()
    yield from (x, twins)


def _twice(kind: Any, data: str, grad: str) -> Iterator[Any]:
    a = kind(3.0)
    b = a + a
    c = b * b
    c.backward()
    c.backward()
    yield from (a, b, c)
    d = c * a
    d.backward()
    yield from (a, b, c, d)


def _flagged(flag: str) -> Program:
    def program(kind: Any, data: str, grad: str) -> Iterator[Any]:
        frozen, x = kind(2.0, **{flag: False}), kind(3.0)
        y = frozen * x + frozen
        y.backward()
        yield from (x, frozen, y)

    return program


def _flags(theirs: Any) -> list[str]:
    """The arguments of its constructor that may keep gradients away."""
    try:
        return [name for name in inspect.signature(theirs).parameters if "grad" in name[-4:]]
    except (TypeError, ValueError):
        return []


_ALWAYS: tuple[Program, ...] = (
    _polynomial, _sums, _products, _reuse, _accumulation, _sizes, _leaf, _training, _chain,
    _zeroing, _comparing, _texts,
)  # fmt: skip


def programs_for(theirs: Any, copies: bool) -> dict[str, Program]:
    """The programs for a class, by name: with every rule that it has."""
    found = {program.__name__.strip("_"): program for program in _ALWAYS}
    found |= {name: _with_number(made) for name, made in _WITH_NUMBERS.items()}
    for name, ways in _rules(theirs):
        for at in (0.4, 3.0, -2.0):
            for place, more in enumerate(ways):
                found[f"{name} at {at}" + f", way {place}" * (place > 0)] = _with_method(
                    name, at, more
                )
    found |= {flag: _flagged(flag) for flag in _flags(theirs) if flag != "grad"}
    if copies:
        found["copying"] = _copying
    return found


def rehearsed(programs: dict[str, Program], kind: Any, data: str, grad: str) -> dict[str, Any]:
    """What every program showed: numbers and texts, and the exception that ended it."""
    return {name: _shown(each, kind, data, grad) for name, each in programs.items()}


def rehearsed_twice(kind: Any, data: str, grad: str) -> Any:
    """What a second backward pass over the same graph showed."""
    return _shown(_twice, kind, data, grad)


def _shown(program: Program, kind: Any, data: str, grad: str) -> Any:
    numbers: list[float] = []
    texts: list[str] = []
    failed = ""
    with Printed() as printed:
        try:
            for seen in program(kind, data, grad):
                if isinstance(seen, str):
                    texts.append(seen)
                elif isinstance(seen, float):
                    numbers.append(seen)
                else:
                    numbers.append(plain_number(getattr(seen, data)))
                    numbers.append(plain_number(getattr(seen, grad)))
        except Exception as error:
            failed = type(error).__name__
    return numbers, texts, failed, _rounded(printed.text())


def first_difference(theirs: dict[str, Any], ours: dict[str, Any]) -> str:
    """The name of the first program that did not show the same; empty where all did.

    What theirs cannot do is not asked of ours.
    """
    for name, shown in theirs.items():
        if not shown[2] and not same_show(shown, ours[name]):
            return name
    return ""


def same_show(one: Any, other: Any) -> bool:
    """Whether a program showed the same in both."""
    return close(one[0], other[0]) and list(one[1:]) == list(other[1:])
