"""Rows that only move numbers: which place of the result is which place of an operand.

Each is a function from shapes and arguments to a statement, because its letters depend on them.
None of them computes; their gradients move back the way the numbers came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import prod

from ..expr import Num
from ..index import (
    Array,
    Index,
    Ref,
    Shape,
    Statement,
    Term,
    Test,
    Wholes,
    as_index,
    differs,
    letter,
    letters_of,
)
from .binding import broadcast, free_letters, normal_axes

x, z = Array("x"), Array("z")


def moved(to: Sequence[Index], ref: Ref, lengths: Mapping[str, int], *where: Test) -> Term:
    """A term that copies one number."""
    order = [name for index in (*to, *ref.at) for name in letters_of(index)]
    loops = tuple((name, lengths[name]) for name in dict.fromkeys(order))
    return Term(z[tuple(to)], ref, tuple(where), loops)


def walked(shape: Shape, taken: Sequence[str] = ()) -> tuple[list[Index], dict[str, int]]:
    """One letter an axis, and how long each loop is."""
    names = free_letters(len(shape), taken)
    return [letter(name) for name in names], dict(zip(names, shape))


def transpose(shapes: Mapping[str, Shape], axes: Sequence[int] | None = None) -> Statement:
    """``z[j, i] = x[i, j]``: the axes in another order, reversed unless told."""
    shape = shapes["x"]
    rank = len(shape)
    order = tuple(range(rank))[::-1] if axes is None else tuple(axes)
    if normal_axes(order, rank) != tuple(range(rank)):
        raise ValueError(f"axes {order} do not name each of {rank} axes once")
    order = tuple(axis % rank for axis in order)
    at, lengths = walked(shape)
    to = [at[axis] for axis in order]
    return Statement((moved(to, x[tuple(at)], lengths),), tuple(shape[axis] for axis in order))


def broadcast_to(shapes: Mapping[str, Shape], shape: Sequence[int]) -> Statement:
    """``z[i, j] = x[0, j]``: numbers repeated along axes of length 1 and along new ones."""
    old, new = shapes["x"], tuple(shape)
    if len(new) < len(old) or broadcast(old, new) != new:
        raise ValueError(f"shape {old} does not spread to {new}")
    at, lengths = walked(new)
    last = at[len(new) - len(old) :]
    spread = [
        as_index(0) if one == 1 else place
        for one, place in zip(old, last)
    ]  # fmt: skip
    return Statement((moved(at, x[tuple(spread)], lengths),), new)


def reshape(shapes: Mapping[str, Shape], shape: Sequence[int]) -> Statement:
    """``z[j] = x[j // n, j % n]``: the same numbers in the same order, under other axes."""
    old, new = shapes["x"], _whole_shape(shapes["x"], tuple(shape))
    at, lengths = walked(new)
    if prod(new) == 0:  # nothing to move
        return Statement((), new)
    places: list[Index] = []
    for before, after in _groups(old, new):
        flat = as_index(0)
        for axis in after:
            flat = flat * new[axis] + (at[axis] if new[axis] != 1 else as_index(0))
        step = prod(old[axis] for axis in before)
        for number, axis in enumerate(before):
            step //= old[axis]
            place = flat // step
            places.append(as_index(0) if old[axis] == 1 else place if number == 0 else (
                place % old[axis]
            ))  # fmt: skip
    return Statement((moved(at, x[tuple(places)], lengths),), new)


def concatenate(shapes: Mapping[str, Shape], axis: int = 0) -> Statement:
    """``z[n + i] = y[i]``: one after the other along an axis, from where the last one ended."""
    first = next(iter(shapes.values()))
    (place,) = normal_axes(axis, len(first))
    terms, offset = [], 0
    for name, shape in shapes.items():
        if len(shape) != len(first) or any(
            a != b for n, (a, b) in enumerate(zip(shape, first)) if n != place
        ):
            raise ValueError(f"shapes {first} and {shape} differ in more than axis {place}")
        at, lengths = walked(shape)
        to = [it + offset if n == place else it for n, it in enumerate(at)]
        terms.append(moved(to, Array(name)[tuple(at)], lengths))
        offset += shape[place]
    result = tuple(offset if n == place else length for n, length in enumerate(first))
    return Statement(tuple(terms), result)


def stack(shapes: Mapping[str, Shape], axis: int = 0) -> Statement:
    """``z[1, i] = y[i]``: side by side along a new axis."""
    first = next(iter(shapes.values()))
    (place,) = normal_axes(axis, len(first) + 1)
    terms = []
    for number, (name, shape) in enumerate(shapes.items()):
        if shape != first:
            raise ValueError(f"shapes {first} and {shape} do not stack")
        at, lengths = walked(shape)
        to = [*at[:place], as_index(number), *at[place:]]
        terms.append(moved(to, Array(name)[tuple(at)], lengths))
    return Statement(tuple(terms), (*first[:place], len(shapes), *first[place:]))


def flip(shapes: Mapping[str, Shape], axis: int | Sequence[int] | None = None) -> Statement:
    """``z[i] = x[n - 1 - i]``: from the other end."""
    shape = shapes["x"]
    axes = normal_axes(axis, len(shape))
    at, lengths = walked(shape)
    turned = [
        shape[n] - 1 - it if n in axes else it
        for n, it in enumerate(at)
    ]  # fmt: skip
    return Statement((moved(at, x[tuple(turned)], lengths),), shape)


def roll(
    shapes: Mapping[str, Shape], shift: int | Sequence[int], axis: int | Sequence[int]
) -> Statement:
    """``z[i] = x[(i - shift) % n]``: what leaves at one end comes back at the other."""
    shape = shapes["x"]
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    shifts = (shift,) * len(axes) if isinstance(shift, int) else tuple(shift)
    if len(shifts) != len(axes):
        raise ValueError(f"{len(shifts)} shifts for {len(axes)} axes")
    at, lengths = walked(shape)
    places = list(at)
    for by, one in zip(shifts, axes):
        (n,) = normal_axes(one, len(shape))
        if shape[n]:
            places[n] = (places[n] - by) % shape[n]
    return Statement((moved(at, x[tuple(places)], lengths),), shape)


def pad(
    shapes: Mapping[str, Shape], widths: Sequence[tuple[int, int]], value: float = 0.0
) -> Statement:
    """``z[i + before] = x[i]``: more room on both ends of each axis, filled with a number."""
    shape = shapes["x"]
    if len(widths) != len(shape) or any(width < 0 for pair in widths for width in pair):
        raise ValueError(f"widths {widths}: state (before, after), not negative, for each axis")
    result = tuple(before + n + after for n, (before, after) in zip(shape, widths))
    at, lengths = walked(shape)
    to = [it + before for it, (before, _) in zip(at, widths)]
    terms = [moved(to, x[tuple(at)], lengths)]
    if value != 0.0:
        terms += _border(shape, widths, result, value)
    return Statement(tuple(terms), result)


def _border(
    shape: Shape, widths: Sequence[tuple[int, int]], result: Shape, value: float
) -> list[Term]:
    """The filled places, each once: outside along one axis, inside along those before it."""
    terms = []
    at, lengths = walked(result)
    loops = tuple(lengths.items())
    for axis, (before, _) in enumerate(widths):
        inside = [
            test
            for n in range(axis)
            for test in (at[n] >= widths[n][0], at[n] < widths[n][0] + shape[n])
        ]
        for test in (at[axis] < before, at[axis] >= before + shape[axis]):
            terms.append(Term(z[tuple(at)], Num(value), (*inside, test), loops))
    return terms


def repeat(shapes: Mapping[str, Shape], count: int, axis: int) -> Statement:
    """``z[count*i + c] = x[i]``: each number several times in a row."""
    shape = shapes["x"]
    (place,) = normal_axes(axis, len(shape))
    if count < 0:
        raise ValueError(f"numbers cannot be repeated {count} times")
    at, lengths = walked(shape, ("c",))
    to = [it * count + letter("c") if n == place else it for n, it in enumerate(at)]
    result = tuple(n * count if a == place else n for a, n in enumerate(shape))
    return Statement((moved(to, x[tuple(at)], {**lengths, "c": count}),), result)


Key = tuple[object, ...]
"""Basic and advanced indices as NumPy knows them; an array of whole numbers is ``At(name, shape)``,
and its numbers are not negative."""


class At(tuple[str, Shape]):
    """An array of whole numbers in a key: its name and shape."""

    def __new__(cls, name: str, shape: Shape) -> At:
        """Name the array."""
        return super().__new__(cls, (name, shape))

    def __getnewargs__(self) -> tuple[str, Shape]:
        """How pickle makes it again."""
        return self[0], self[1]


def is_one_place(entries: tuple[object, ...]) -> bool:
    """Whether a named key is whole numbers in front of whole axes."""
    return bool(entries) and all(isinstance(it, At) and it[1] == () for it in entries)


def located(shape: Shape, key: Key) -> tuple[list[Index], list[Index], dict[str, int], Shape]:
    """The places a key names: indices of the array, indices of the selection, loops, its shape."""
    named = sum(entry is not None and entry is not Ellipsis for entry in key)
    if named > len(shape):
        raise IndexError(f"{named} indices for an array of {len(shape)} axes")
    if sum(entry is Ellipsis for entry in key) > 1:
        raise IndexError("an index can have only one ellipsis ('...')")
    gap: Key = (slice(None),) * (len(shape) - named)
    at = next((n for n, entry in enumerate(key) if entry is Ellipsis), None)
    # the ellipsis stays as a mark: it lies between its neighbours even where it stands for no axis
    entries = (*key, *gap) if at is None else (*key[:at], Ellipsis, *gap, *key[at + 1 :])
    arrays = [entry for entry in entries if isinstance(entry, At)]
    spread = broadcast(*(entry[1] for entry in arrays))
    names = iter(free_letters(len(entries) + len(spread), [entry[0] for entry in arrays]))
    shared = [(letter(name), n) for n, name in zip(spread, names)]
    places: list[Index] = []
    selected: list[tuple[Index, int]] = []
    inserted: int | None = None
    apart, last = False, -2
    for number, entry in enumerate(entries):
        advanced = isinstance(entry, At) or (bool(arrays) and isinstance(entry, int))
        if advanced:  # several stand together where the first stood, in front if others lie between
            apart = apart or (last >= 0 and last != number - 1)
            last = number
            inserted = len(selected) if inserted is None else inserted
        if entry is Ellipsis:
            continue
        if entry is None:
            selected.append((as_index(0), 1))
            continue
        length = shape[len(places)]
        if isinstance(entry, At):
            places.append(Wholes(entry[0])[tuple(_spread(entry[1], shared))])
        elif isinstance(entry, slice):
            first, stop, step = entry.indices(length)
            it = letter(next(names))
            selected.append((it, len(range(first, stop, step))))
            places.append(it * step + first)
        elif isinstance(entry, int):
            if not -length <= entry < length:
                raise IndexError(
                    f"index {entry} is out of bounds for axis {len(places)} of length {length}"
                )
            places.append(as_index(entry % length))
        else:
            raise IndexError(f"{entry!r} is no index")
    where = 0 if apart else inserted or 0
    result = [*selected[:where], *(shared if arrays else []), *selected[where:]]
    lengths = {name: n for it, n in result for name in letters_of(it)}
    return places, [it for it, _ in result], lengths, tuple(n for _, n in result)


def index(shapes: Mapping[str, Shape], key: Key) -> Statement:
    """``z[i, j] = x[n[i], j]``: numbers picked by slices, whole numbers and arrays of them."""
    places, to, lengths, result = located(shapes["x"], key)
    return Statement((moved(to, x[tuple(places)], lengths),), result)


def add_at(shapes: Mapping[str, Shape], key: Key) -> Statement:
    """``z[i] += x[i]; z[n[k]] += y[k]``: numbers added to picked places, repeatedly to one."""
    places, at, lengths, selection = located(shapes["x"], key)
    own = _operand("y", shapes["y"], at, selection)
    whole, all_lengths = walked(shapes["x"])
    added = moved(places, own, lengths)
    kept = moved(whole, x[tuple(whole)], all_lengths)
    loops = tuple(lengths.items())
    return Statement((kept, replace(added, loops=loops)), shapes["x"], "+=")


def put(shapes: Mapping[str, Shape], selection: Shape, writer: str = "w") -> Statement:
    """``z[i] = y[w[i]] where w[i] >= 0, else x[i]``: picked places replaced.

    ``w`` says for each place which number of the selection was written there last, counted in its
    order, or -1.
    """
    shape = shapes["x"]
    at, lengths = walked(shape, (writer,))
    _check_spread(shapes["y"], selection)
    if 0 in selection:  # nothing is replaced
        return Statement((moved(at, x[tuple(at)], lengths),), shape)
    who = Wholes(writer)[tuple(at)]
    steps = [prod(selection[n + 1 :]) for n in range(len(selection))]
    counted = [
        (who // step) % n if place else who // step
        for place, (step, n) in enumerate(zip(steps, selection))
    ]
    own = _operand("y", shapes["y"], counted, selection)
    return Statement(
        (
            moved(at, x[tuple(at)], lengths, who < 0),
            replace(moved(at, own, lengths), where=(who >= 0,)),
        ),
        shape,
    )


def put_at(shapes: Mapping[str, Shape], count: int) -> Statement:
    """``z[i, j] = x[i, j] where i != n; z[n, j] = y[j]``: one place of the first axes replaced.

    What stays is said axis by axis: apart from the place along one, at it along those before.
    """
    shape = shapes["x"]
    at, lengths = walked(shape)
    here = [Wholes(f"n{axis + 1}")[()] for axis in range(count)]
    terms = [
        moved(place, x[tuple(place)], lengths, differs(at[axis], here[axis]))
        for axis in range(count)
        for place in [[*here[:axis], *at[axis:]]]
    ]
    rest = at[count:]
    own = _operand("y", shapes["y"], rest, shape[count:])
    names = [name for it in rest for name in letters_of(it)]
    written = Term(
        Ref(z.name, (*here, *rest)), own, (), tuple((name, lengths[name]) for name in names)
    )
    return Statement((*terms, written), shape)


def _operand(name: str, shape: Shape, at: Sequence[Index], selection: Shape) -> Ref:
    """An operand that spreads over a selection."""
    _check_spread(shape, selection)
    return Array(name)[tuple(_spread(shape, list(zip(at, selection))))]


def _check_spread(shape: Shape, selection: Shape) -> None:
    if len(shape) > len(selection) or broadcast(shape, selection) != selection:
        raise ValueError(f"shape {shape} does not spread to the selection's {selection}")


def _spread(shape: Shape, over: Sequence[tuple[Index, int]]) -> list[Index]:
    last = over[len(over) - len(shape) :]
    return [as_index(0) if n == 1 else it for n, (it, _) in zip(shape, last)]


def _whole_shape(old: Shape, new: Shape) -> Shape:
    """The new shape with its one unknown length worked out."""
    if new.count(-1) > 1 or any(n < -1 for n in new):
        raise ValueError(f"shape {new}: only one length may be left open, as -1")
    known = prod(n for n in new if n != -1)
    if -1 in new and known and prod(old) % known == 0:
        new = tuple(prod(old) // known if n == -1 else n for n in new)
    if -1 in new or prod(new) != prod(old):
        raise ValueError(f"{prod(old)} numbers of shape {old} do not fit shape {new}")
    return new


def _groups(old: Shape, new: Shape) -> list[tuple[list[int], list[int]]]:
    """Runs of axes that hold the same numbers, shortest first: (2, 6) and (2, 3, 2) are two."""
    groups: list[tuple[list[int], list[int]]] = []
    left, right = iter(range(len(old))), iter(range(len(new)))
    while True:
        before, after = list(islice(left, 1)), list(islice(right, 1))
        if not before and not after:
            return groups
        a, b = prod(old[n] for n in before), prod(new[n] for n in after)
        while a != b:
            if a < b:
                before.append(next(left))
                a *= old[before[-1]]
            else:
                after.append(next(right))
                b *= new[after[-1]]
        groups.append((before, after))
