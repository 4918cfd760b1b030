"""Rows that multiply and add: products of matrices, einsum, convolutions.

Each is a function from shapes and arguments to a statement whose body is a product of references.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..expr import Expr
from ..index import (
    RESULT,
    Array,
    Index,
    Ref,
    Shape,
    Statement,
    Term,
    Test,
    as_index,
    letter,
    letters,
    size,
)
from .binding import Template, bind, free_letters, normal_axes

x, y, w, z = Array("x"), Array("y"), Array("w"), Array(RESULT)
i, j, k = letters("i j k")


def contraction(
    shapes: Mapping[str, Shape], walks: Mapping[str, Sequence[str]], to: Sequence[str]
) -> Statement:
    """A product of arrays, each walked by letters; those that are not kept are summed over."""
    lengths: dict[str, int] = {}
    for name, walk in walks.items():
        if len(walk) != len(shapes[name]):
            raise ValueError(f"{name} has {len(shapes[name])} axes and is walked by {len(walk)}")
        for one, length in zip(walk, shapes[name]):
            if lengths.setdefault(one, length) != length:
                if 1 not in (length, lengths[one]):
                    raise ValueError(f"{one} is {lengths[one]} long, and {length} in {name}")
                lengths[one] = max(length, lengths[one]) if 0 not in (length, lengths[one]) else 0
    body: Expr | None = None
    for name, walk in walks.items():
        ref = Array(name)[
            tuple(
                as_index(0) if n == 1 != lengths[one] else letter(one)
                for one, n in zip(walk, shapes[name])
            )
        ]
        body = ref if body is None else body * ref
    assert body is not None, "there is at least one operand"
    order = dict.fromkeys([*to, *(one for walk in walks.values() for one in walk)])
    term = Term(z[tuple(map(letter, to))], body, (), tuple((one, lengths[one]) for one in order))
    how = "+=" if len(order) > len(to) else "="
    return Statement((term,), tuple(lengths[one] for one in to), how)


def einsum(shapes: Mapping[str, Shape], subscripts: str) -> Statement:
    """Einstein's summation as in NumPy: ``ij,jk->ik``; what the arrow leaves out is summed over."""
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(shapes):
        raise ValueError(f"{subscripts!r} is for {len(parts)} operands, not {len(shapes)}")
    spread = {}
    for part, (name, shape) in zip(parts, shapes.items()):
        spread[name] = len(shape) - len(part.replace("...", "")) if "..." in part else 0
    named = [c for c in left if c not in ".,"]
    dots = free_letters(max(0, *spread.values()), named)
    if not arrow:
        once = sorted(c for c in set(named) if named.count(c) == 1)
        right = ("..." if "..." in left else "") + "".join(once)
    if unknown := set(right) - set(named) - {"."}:
        raise ValueError(f"{subscripts!r} keeps {sorted(unknown)}, which no operand has")
    if len(set(right.replace("...", ""))) < len(right.replace("...", "")):
        raise ValueError(f"{subscripts!r} keeps a letter twice")

    def walk(part: str, count: int) -> list[str]:
        before, dotted, after = part.partition("...")
        return [*before, *(dots[len(dots) - count :] if dotted else []), *after]

    walks = {name: walk(part, spread[name]) for part, name in zip(parts, shapes)}
    return contraction(shapes, walks, walk(right, len(dots)))


MATMUL = Template(Statement((Term(z[i, j], x[i, k] * y[k, j]),), (), "+="))
_BY_VECTOR = Template(Statement((Term(z[i], x[i, k] * y[k]),), (), "+="), apart=("y",))
_OF_VECTOR = Template(Statement((Term(z[j], x[k] * y[k, j]),), (), "+="), apart=("x",))
INNER = Template(Statement((Term(z[()], x[k] * y[k]),), (), "+="))


def matmul(shapes: Mapping[str, Shape]) -> Statement:
    """``z[i, j] += x[i, k] * y[k, j]`` over the last two axes; a vector has no i, or no j."""
    ranks = len(shapes["x"]), len(shapes["y"])
    if 0 in ranks:
        raise ValueError("matmul needs operands with axes; multiply by a number with *")
    template = (
        INNER if ranks == (1, 1)
        else _OF_VECTOR if ranks[0] == 1
        else _BY_VECTOR if ranks[1] == 1
        else MATMUL
    )  # fmt: skip
    return bind(template, shapes)


def tensordot(
    shapes: Mapping[str, Shape], axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Statement:
    """Some axes of x met with some of y, in the given order; the others side by side."""
    left, right = len(shapes["x"]), len(shapes["y"])
    if isinstance(axes, int):
        axes = (range(left - axes, left), range(axes))
    ours, theirs = (
        [normal_axes(axis, rank)[0] for axis in group]
        for group, rank in zip(axes, (left, right))
    )  # fmt: skip
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} axes of x meet {len(theirs)} of y")
    for a, b in zip(ours, theirs):
        if shapes["x"][a] != shapes["y"][b]:
            raise ValueError(f"axis {a} of x is {shapes['x'][a]} long, {b} of y {shapes['y'][b]}")
    names = free_letters(left + right)
    first, second = names[:left], names[left:]
    for a, b in zip(ours, theirs):
        second[b] = first[a]
    to = [one for n, one in enumerate(first) if n not in ours]
    to += [one for n, one in enumerate(second) if n not in theirs]
    return contraction(shapes, {"x": first, "y": second}, to)


def dot(shapes: Mapping[str, Shape]) -> Statement:
    """NumPy's dot: the last axis of x with the last but one of y; numbers multiply."""
    left, right = len(shapes["x"]), len(shapes["y"])
    if 0 in (left, right):
        return tensordot(shapes, 0)
    return tensordot(shapes, ([left - 1], [max(0, right - 2)]))


def outer(shapes: Mapping[str, Shape]) -> Statement:
    """``z[i, j] = x[i] * y[j]``: every pair."""
    return tensordot(shapes, 0)


def convolution(
    shapes: Mapping[str, Shape],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Statement:
    """``z[b, o, t] += x[b, c, t + s] * w[o, c, s]``, over as many axes as the window has."""
    rank = len(shapes["w"]) - 2
    if rank < 1 or len(shapes["x"]) != rank + 2:
        raise ValueError(
            f"x is (batch, channels, …) and w (out, channels, …) with as many axes, not "
            f"{shapes['x']} and {shapes['w']}"
        )
    steps, rims, gaps = (_each(name, given, rank) for name, given in (
        ("stride", stride), ("padding", padding), ("dilation", dilation)
    ))  # fmt: skip
    if min(steps) < 1 or min(gaps) < 1 or min(rims) < 0:
        raise ValueError("stride and dilation are at least 1, padding at least 0")
    if groups < 1 or shapes["w"][0] % groups or shapes["x"][1] != shapes["w"][1] * groups:
        raise ValueError(
            f"{shapes['x'][1]} channels of x, {shapes['w'][1]} of w and {shapes['w'][0]} results "
            f"do not make {groups} groups"
        )
    b, o, c = letters("b o c")
    across, within = [letter(name) for name in _AXES[:rank]], [letter(f"s{n}") for n in range(rank)]
    if rank == 1:
        within = [letter("s")]
    places: list[Index] = []
    tests: list[Test] = []
    lengths: dict[str, Index] = {}
    for axis in range(rank):
        place = across[axis] * steps[axis] + within[axis] * gaps[axis] - rims[axis]
        places.append(place)
        if rims[axis]:
            tests += [place >= 0, place < size("x", axis + 2)]
        room = shapes["x"][axis + 2] + 2 * rims[axis] - gaps[axis] * (shapes["w"][axis + 2] - 1)
        only = across[axis].letter
        assert only is not None
        lengths[only.name] = as_index((room - 1) // steps[axis] + 1 if room > 0 else 0)
    channel = c if groups == 1 else (o // (shapes["w"][0] // groups)) * shapes["w"][1] + c
    body = Ref("x", (b, channel, *places)) * Ref("w", (o, c, *within))
    term = Term(Ref(RESULT, (b, o, *across)), body, tuple(tests))
    return bind(Template(Statement((term,), (), "+="), lengths), shapes)


_AXES = ("t", "u", "v", "p", "q", "r")


def windows(
    shapes: Mapping[str, Shape], window: Sequence[int], stride: int | Sequence[int]
) -> Statement:
    """``z[t, s] = x[stride*t + s]``: every window over the last axes, its numbers behind them."""
    rank = len(window)
    steps = _each("stride", stride, rank)
    if len(shapes["x"]) < rank or min(window) < 1 or min(steps) < 1:
        raise ValueError(f"window {tuple(window)} with stride {steps} does not fit {shapes['x']}")
    across = [letter(name) for name in _AXES[:rank]]
    within = [letter(f"s{n}" if rank > 1 else "s") for n in range(rank)]
    lengths = {}
    for axis, (a, s) in enumerate(zip(across, within)):
        room = shapes["x"][len(shapes["x"]) - rank + axis] - window[axis]
        assert a.letter is not None
        assert s.letter is not None
        lengths[a.letter.name] = as_index(room // steps[axis] + 1 if room >= 0 else 0)
        lengths[s.letter.name] = as_index(window[axis])
    places = tuple(a * step + s for a, step, s in zip(across, steps, within))
    term = Term(Ref(RESULT, (*across, *within)), x[places])
    return bind(Template(Statement((term,), ()), lengths), shapes)


def _each(name: str, given: int | Sequence[int], rank: int) -> tuple[int, ...]:
    found = (given,) * rank if isinstance(given, int) else tuple(given)
    if len(found) != rank:
        raise ValueError(f"{name} {found} for {rank} axes")
    return found
