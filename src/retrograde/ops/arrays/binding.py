"""How a row is bound to shapes: which letters walk which axes.

A row names only the axes it is about, its core: ``cumsum`` is ``z[i] += x[k] where k <= i``. Every
other axis of an operand is carried along: it gets a letter of its own, the same in all operands
and in the result, aligned from the right and spread where its length is 1, as NumPy broadcasts. A
row of the scalar law has no core at all, so it works element by element. The core stands at the
last axes, or at those that ``axis`` names; a letter for ``many`` axes stands for all of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..index import (
    RESULT,
    Atom,
    Chosen,
    Given,
    Index,
    Read,
    Ref,
    Shape,
    Size,
    Statement,
    Term,
    Wholes,
    as_index,
    indices,
    letter,
    letters_of,
    map_term,
    rewritten,
)


@dataclass(frozen=True)
class Template:
    """A row before it is bound.

    ``lengths`` are those of loops that no axis tells, ``shape`` that of the result's core where its
    letters do not tell it, ``apart`` the arrays that carry nothing along.
    """

    statement: Statement
    lengths: Mapping[str, Index] = field(default_factory=dict)
    shape: tuple[Index, ...] | None = None
    apart: tuple[str, ...] = ()

    def refs(self) -> Iterator[Ref]:
        """Every reference, to arrays of whole numbers too; the result's first."""
        for term in self.statement.terms:
            yield term.to
            yield from term.refs
            for index in indices(term):
                for product, _ in index.parts:
                    for atom in product:
                        if isinstance(atom, Read):
                            yield Ref(atom.array, atom.at)


def normal_axes(axis: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Axes as numbers from 0 on, in order; None is all of them.

    >>> normal_axes((-1, 0), 3), normal_axes(None, 2)
    ((0, 2), (0, 1))
    """
    if axis is None:
        return tuple(range(rank))
    wanted = (axis,) if isinstance(axis, int) else tuple(axis)
    for one in wanted:
        if not -rank <= one < rank:
            raise ValueError(f"axis {one} is out of bounds for an array of {rank} axes")
    found = tuple(sorted(one % rank for one in wanted))
    if len(set(found)) < len(found):
        raise ValueError(f"axis {axis} names an axis twice")
    return found


def broadcast(*shapes: Shape) -> Shape:
    """The shape that shapes spread to, as in NumPy.

    >>> broadcast((3, 1), (4,))
    (3, 4)
    """
    rank = max(map(len, shapes), default=0)
    result = []
    for place in range(-rank, 0):
        sizes = {shape[place] for shape in shapes if -place <= len(shape)} - {1}
        if len(sizes) > 1:
            said = ", ".join(map(str, shapes))
            raise ValueError(f"shapes {said} do not broadcast: an axis is {sorted(sizes)} long")
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def bind(
    template: Template,
    shapes: Mapping[str, Shape],
    axes: Sequence[int] | None = None,
    keep: bool = False,
    numbers: Mapping[str, int] | None = None,
) -> Statement:
    """A template on arrays of these shapes.

    ``axes`` are the core's, counted from the end (-1 is the last); ``keep`` leaves an axis of
    length 1 where the result has none; ``numbers`` are the given ones.

    >>> from ..array import ARRAYS
    >>> from .notation import text
    >>> print(text(ARRAYS["cumsum"].state({"x": (2, 3, 4)}, axis=1)))
    z[j, i, l] += x[j, k, l] where k <= i
    """
    return _Binding(template, shapes, axes, keep, numbers or {}).statement()


class _Binding:
    def __init__(
        self,
        template: Template,
        shapes: Mapping[str, Shape],
        axes: Sequence[int] | None,
        keep: bool,
        numbers: Mapping[str, int],
    ) -> None:
        self.template, self.shapes, self.numbers, self.keep = template, shapes, numbers, keep
        self.axes = axes
        self.chosen = {name for it in template.statement.chosen for name in it.names}
        self.many = self._count_many()
        expanded = template.statement.terms
        self.terms = tuple(map_term(term, self._expanded, self._widened) for term in expanded)
        self.core: dict[str, int] = {}
        for term in self.terms:
            for ref in Template(Statement((term,), ())).refs():
                self.core.setdefault(ref.array, len(ref.at))
        self.used = {name for t in self.terms for i in indices(t) for name in letters_of(i)}
        self.used |= self.many.keys()
        self.carried = self._carried_letters()
        self.looked_at = {name: it.array for it in self._chosen() for name in it.names}

    # ---- letters that stand for many axes, and places that are chosen one an axis --------------

    def _count_many(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for ref in self.template.refs():
            for index in ref.at:
                only = index.letter
                if only is not None and only.many:
                    if ref.array in self.template.apart:
                        counts[only.name] = len(self.shapes[ref.array])
                    else:
                        counts.setdefault(only.name, len(self.axes or ()))
        return counts

    def _expanded(self, array: str, at: tuple[Index, ...]) -> tuple[Index, ...]:
        places: list[Index] = []
        for index in at:
            only = index.letter
            if only is not None and only.many:
                places += self._letters(only.name)
            elif (read := _lone_read(index)) is not None and read.array in self.chosen:
                names = chosen_names(read.array, 1 if self.axes is None else len(self.axes))
                inner = self._expanded(read.array, read.at)
                places += [Wholes(name)[inner] for name in names]
            else:
                places.append(self._widened(index))
        return tuple(places)

    def _letters(self, name: str) -> list[Index]:
        count = self.many[name]
        return [letter(name if count == 1 else f"{name}{n + 1}") for n in range(count)]

    def _widened(self, index: Index) -> Index:
        def change(atom: Atom) -> Index | None:
            if isinstance(atom, Read):
                return Wholes(atom.array)[self._expanded(atom.array, atom.at)]
            return None

        return rewritten(index, change)

    # ---- axes that are carried along ----------------------------------------------------------

    def _free(self, array: str) -> list[int]:
        """The axes of an array that are not its core's."""
        if array in self.template.apart:
            return []
        core = self._core_axes(array)
        return [axis for axis in range(len(self.shapes[array])) if axis not in core]

    def _core_axes(self, array: str) -> list[int]:
        rank, count = len(self.shapes[array]), self.core[array]
        if rank < count:
            raise ValueError(f"{array} has {rank} axes and needs at least {count}")
        if array in self.template.apart or self.axes is None or len(self.axes) != count:
            return list(range(rank - count, rank))
        return [rank + axis for axis in self.axes]

    def _carried_letters(self) -> list[tuple[str, int]]:
        free = [
            tuple(self.shapes[name][axis] for axis in self._free(name))
            for name in self.core
            if name in self.shapes
        ]
        sizes = broadcast(*free)
        names = (name for name in _alphabet() if name not in self.used)
        return [(next(names), length) for length in sizes]

    def _carried_at(self, array: str) -> list[Index]:
        free = self._free(array)
        places = self.carried[len(self.carried) - len(free) :]
        return [
            as_index(0) if self.shapes[array][axis] == 1 != length else letter(name)
            for axis, (name, length) in zip(free, places)
        ]

    # ---- putting it together ------------------------------------------------------------------

    def statement(self) -> Statement:
        lengths = self._lengths()
        terms = tuple(self._bound(term, lengths) for term in self.terms)
        how = self.template.statement.how
        return Statement(terms, self._shape(lengths), how, tuple(self._chosen()))

    def _chosen(self) -> Iterator[Chosen]:
        for it in self.template.statement.chosen:
            core = tuple(self._core_axes(it.array))
            yield Chosen(chosen_names(it.names[0], len(core)), it.by, it.array, core)

    def _settled(self, index: Index) -> Index:
        def change(atom: Atom) -> Index | None:
            if isinstance(atom, Size):
                return as_index(self.shapes[atom.array][self._core_axes(atom.array)[atom.axis]])
            if isinstance(atom, Given):
                return as_index(self.numbers[atom.name])
            return None

        return rewritten(index, change)

    def _lengths(self) -> dict[str, int]:
        found = {name: _whole(self._settled(it)) for name, it in self.template.lengths.items()}
        for term in self.terms:
            for ref in Template(Statement((term,), ())).refs():
                if ref.array not in self.shapes:
                    continue
                for index, axis in zip(ref.at, self._core_axes(ref.array)):
                    only = index.letter
                    if only is None or only.name in self.template.lengths:
                        continue
                    length = self.shapes[ref.array][axis]
                    if found.setdefault(only.name, length) != length:
                        raise ValueError(
                            f"axis {axis} of {ref.array} is {length} long, and {only.name} is "
                            f"{found[only.name]}"
                        )
        return found

    def _bound(self, term: Term, lengths: Mapping[str, int]) -> Term:
        def places(array: str, at: tuple[Index, ...]) -> tuple[Index, ...]:
            own = tuple(map(inner, at))
            if array == RESULT:
                return tuple(self._result(list(own)))
            if array in self.looked_at:
                free = [letter(name) for name, _ in self.carried]
                core = self._core_axes(self.looked_at[array]) if own else []
                return tuple(_merged(free, own, core))
            if array in self.template.apart:
                return own
            return tuple(_merged(self._carried_at(array), own, self._core_axes(array)))

        def inner(index: Index) -> Index:
            def change(atom: Atom) -> Index | None:
                if isinstance(atom, Read):
                    return Wholes(atom.array)[places(atom.array, atom.at)]
                return None

            return self._settled(rewritten(index, change))

        new = map_term(term, places, inner)
        order = [name for index in new.to.at for name in letters_of(index)]
        order += [name for index in indices(new) for name in letters_of(index)]
        known = {**lengths, **dict(self.carried)}
        return replace(new, loops=tuple((name, known[name]) for name in dict.fromkeys(order)))

    def _result(self, own: list[Index]) -> list[Index]:
        """The core of the result stands where the operands' stood."""
        free = [letter(name) for name, _ in self.carried]
        axes = sorted(self.axes) if self.axes is not None else []
        rank = len(free) + len(axes)
        if len(own) == len(axes):
            return _merged(free, own, [rank + axis for axis in axes])
        if not own and self.keep:
            return _merged(free, [as_index(0)] * len(axes), [rank + axis for axis in axes])
        first = rank + axes[0] if axes and own else len(free)
        return [*free[:first], *own, *free[first:]]

    def _shape(self, lengths: Mapping[str, int]) -> Shape:
        to = self.terms[0].to
        if self.template.shape is not None:
            own = [_whole(self._settled(it)) for it in self.template.shape]
        else:
            own = []
            for index in to.at:
                only = index.letter
                assert only is not None, "a row whose result's letters do not tell states its shape"
                own.append(lengths[only.name])
        marks = self._result([letter(f"core{n}") for n in range(len(own))])
        sizes = {**dict(self.carried), **{f"core{n}": length for n, length in enumerate(own)}}
        return tuple(1 if it.letter is None else sizes[it.letter.name] for it in marks)


def chosen_names(name: str, count: int) -> tuple[str, ...]:
    """What arrays of chosen places are called: ``m``, or ``m1``, ``m2``, … one an axis."""
    return (name,) if count == 1 else tuple(f"{name}{n + 1}" for n in range(count))


def _merged(free: Sequence[Index], own: Sequence[Index], axes: Sequence[int]) -> list[Index]:
    """Carried and own places in the order of the axes."""
    places = dict(zip(axes, own))
    rest = iter(free)
    return [places[axis] if axis in places else next(rest) for axis in range(len(free) + len(own))]


def _lone_read(index: Index) -> Read | None:
    if len(index.parts) == 1 and index.parts[0][1] == 1 and len(index.parts[0][0]) == 1:
        only = index.parts[0][0][0]
        return only if isinstance(only, Read) else None
    return None


def _whole(index: Index) -> int:
    number = index.number
    assert number is not None, "a length is known once the shapes are"
    return max(0, number)


def _alphabet() -> Iterator[str]:
    yield from "ijklpqabcdefhuv"
    number = 0
    while True:
        yield f"i{(number := number + 1)}"


def free_letters(count: int, taken: Sequence[str] = ()) -> list[str]:
    """So many letters that are not taken."""
    names = (name for name in _alphabet() if name not in taken)
    return [next(names) for _ in range(count)]
