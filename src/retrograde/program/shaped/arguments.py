"""Arguments of functions on tensors: what an annotation makes of what is given.

``x: rg.Tensor`` is an array that arrives as a tensor, ``n: np.ndarray`` whole numbers that pick
places, a plain number arrives as a value, and arrays of three and more axes as tensors. Arrays of
one and two axes that nothing is said about have an entry a row, and so has ``rg.rows(array)``.
Lists, tuples and dicts hold any of these.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args, get_type_hints

import numpy as np

from ..._shared.operands import is_real_scalar
from ..._tensors.indices import Indices
from ..._values.nests import Structure, flatten
from ...errors import CompileError, RowsError
from ...tensor import Tensor
from ...value import core
from ..rows import PerRow, Uniform

TENSOR, NUMBER, INDICES, SETTING = "tensor", "number", "indices", "setting"
"""What a leaf of an argument is."""

WHOLE_AXES = 3
"""From so many axes on an array is a tensor, whatever the annotation."""


def annotated(function: Callable[..., Any], signature: inspect.Signature) -> dict[str, str]:
    """The parameters whose annotations say that they are tensors or whole numbers."""
    try:
        hints = get_type_hints(function)
    except Exception:  # names that only a type checker knows
        hints = {name: each.annotation for name, each in signature.parameters.items()}
    found = {}
    for name in signature.parameters:
        kind = _kind(hints.get(name))
        if kind:
            found[name] = kind
    return found


def _kind(hint: Any) -> str:
    """What an annotation, or one inside it, asks for."""
    if isinstance(hint, str):
        last = hint.rpartition(".")[2]
        return TENSOR if last == "Tensor" else INDICES if last in ("ndarray", "NDArray") else ""
    if hint is Tensor:
        return TENSOR
    if getattr(hint, "__origin__", hint) is np.ndarray:
        return INDICES
    inner = [_kind(part) for part in get_args(hint)]
    return TENSOR if TENSOR in inner else INDICES if INDICES in inner else ""


@dataclass
class Taken:
    """The arguments of one call, taken apart: leaves in order, and a key for calls alike.

    ``rows`` is how many rows there are, if any; ``varies`` says of each leaf whether it has an
    entry a row.
    """

    names: tuple[str, ...]
    structures: list[Structure] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    leaves: list[Any] = field(default_factory=list)
    varies: list[bool] = field(default_factory=list)
    rows: int | None = None

    @property
    def key(self) -> object:
        """Equal for calls that one recording serves: the number of rows is none of it."""
        leaves = tuple(
            (kind, varies, leaf if kind == SETTING else np.shape(leaf)[varies:])
            for kind, varies, leaf in zip(self.kinds, self.varies, self.leaves)
        )
        return (self.names, tuple(map(_plain, self.structures)), leaves)

    def leaves_of(self, argument: int) -> range:
        """The numbers of an argument's leaves."""
        first = sum(self.counts[:argument])
        return range(first, first + self.counts[argument])

    def places(self) -> list[str]:
        """The leaves as one would write them."""
        return [
            place for name, structure in zip(self.names, self.structures)
            for place in structure.places(name)
        ]  # fmt: skip

    def outline(self) -> Taken:
        """The same without numbers: arrays of their shapes that take no memory, and one row."""
        leaves = [
            leaf if kind == SETTING
            else np.broadcast_to(0.0, (1, *leaf.shape[1:]) if varies else np.shape(leaf))
            for kind, leaf, varies in zip(self.kinds, self.leaves, self.varies)
        ]  # fmt: skip
        return replace(self, leaves=leaves, rows=None if self.rows is None else 1)

    def row(self, number: int) -> Taken:
        """The arguments of one row; where there are no rows, any numbers."""
        if self.rows is None:
            return self
        leaves = [
            (_entry(kind, leaf, number) if varies else leaf)
            for kind, leaf, varies in zip(self.kinds, self.leaves, self.varies)
        ]
        return replace(self, leaves=leaves, varies=[False] * len(leaves), rows=None)

    def recorded(self) -> tuple[dict[str, Any], list[Any]]:
        """The arguments as a recording sees them, and what stands for each leaf."""
        made = [
            core.argument(leaf) if kind in (TENSOR, NUMBER)
            else Indices(number, leaf) if kind == INDICES else leaf
            for number, (kind, leaf) in enumerate(zip(self.kinds, self.leaves))
        ]  # fmt: skip
        return self.filled(made), made

    def filled(self, leaves: list[Any]) -> dict[str, Any]:
        """The arguments around other leaves."""
        source = iter(leaves)
        return {n: it.unflatten(source) for n, it in zip(self.names, self.structures)}

    def nested(
        self, chosen: Sequence[int], bare: bool, numbers: Sequence[int], found: Sequence[Any]
    ) -> Any:
        """What was found for some leaves, in the nests of the chosen arguments; a float where there
        are no axes."""
        parts: list[Any] = [None] * len(self.leaves)
        for number, it in zip(numbers, found):
            parts[number] = plain_of(it)
        nests = self.filled(parts)
        made = [nests[self.names[argument]] for argument in chosen]
        return made[0] if bare else tuple(made)

    def along(self, function: str, chosen: Sequence[int], bare: bool, vector: Any) -> list[Any]:
        """The leaves of a vector, which has the nests and shapes of the chosen arguments."""
        names = [self.names[argument] for argument in chosen]
        parts = (vector,) if bare else tuple(vector)
        if len(parts) != len(names):
            raise CompileError.call(function, f"vector has {len(parts)} parts, not {len(names)}")
        found = take(function, dict(zip(names, parts)), dict.fromkeys(names, TENSOR)).leaves
        shapes = [np.shape(self.leaves[n]) for argument in chosen for n in self.leaves_of(argument)]
        if [np.shape(it) for it in found] != shapes:
            raise CompileError.call(function, "vector must have the shapes of the arguments")
        return found


def plain_of(found: Any) -> Any:
    """A float where there are no axes."""
    return found if np.ndim(found) else float(found)


def _entry(kind: str, leaf: Any, number: int) -> Any:
    """What one row has of a leaf."""
    if not len(leaf):
        unknown = 0 if kind == INDICES else 1.0
        leaf = np.full((1, *leaf.shape[1:]), unknown, leaf.dtype)
    return float(leaf[number]) if kind == NUMBER else leaf[number]


def _plain(structure: Structure) -> object:
    return tuple(None if branch is None else repr(branch) for branch in structure.order)


def take(function: str, given: Mapping[str, Any], wanted: Mapping[str, str]) -> Taken:
    """The arguments of a call; ``wanted`` are the annotations."""
    taken = Taken(tuple(given))
    first = ""
    unsaid = []
    for name, nest in given.items():
        kind = wanted.get(name, "")
        found, structure = (
            ([nest], _ONE) if isinstance(nest, np.ndarray) or is_real_scalar(nest)
            else flatten(nest, _is_leaf(kind, nest))
        )  # fmt: skip
        for index, leaf in enumerate(found):
            place = name if len(found) == 1 else structure.places(name)[index]
            kind_found, array, varies = _leaf(function, place, leaf, kind)
            if varies:
                if taken.rows is not None and taken.rows != len(array):
                    raise RowsError.mismatch(first, taken.rows, place, len(array))
                first, taken.rows = first or place, len(array)
            elif not kind and isinstance(leaf, np.ndarray) and leaf.ndim >= WHOLE_AXES:
                unsaid.append((place, leaf.shape))
            taken.kinds.append(kind_found)
            taken.leaves.append(array)
            taken.varies.append(varies)
        taken.structures.append(structure)
        taken.counts.append(len(found))
    if unsaid and taken.rows is not None:
        raise RowsError.undecided(function, *unsaid[0])
    return taken


_ONE = Structure((None,))


def _is_leaf(kind: str, nest: Any) -> Callable[[Any], bool]:
    """What is not taken apart further: arrays, and lists of numbers that are asked for as one."""

    def is_leaf(part: Any) -> bool:
        if isinstance(part, (np.ndarray, PerRow, Uniform)) or is_real_scalar(part):
            return True
        return bool(kind) and isinstance(part, (list, tuple)) and _is_regular(part)

    return is_leaf


def _is_regular(part: Any) -> bool:
    """Whether a list is an array written out."""
    try:
        array = np.asarray(part)
    except ValueError:  # ragged
        return False
    return array.ndim > 0 and array.dtype.kind in "biuf" and not _holds_arrays(part)


def _holds_arrays(part: Any) -> bool:
    return any(isinstance(item, np.ndarray) for item in part)


def _leaf(function: str, place: str, leaf: Any, kind: str) -> tuple[str, Any, bool]:
    """What a leaf is, its numbers, and whether it has an entry a row."""
    if leaf is None or isinstance(leaf, str):
        return SETTING, leaf, False
    if is_real_scalar(leaf) and kind != INDICES:
        return NUMBER, float(leaf), False
    said = isinstance(leaf, (PerRow, Uniform))
    array = leaf.array if isinstance(leaf, PerRow) else leaf.given if said else leaf
    if not isinstance(array, np.ndarray):
        try:
            array = np.asarray(leaf)
        except ValueError:
            raise RowsError.kind(place, leaf) from None
    if array.dtype.kind not in "biuf" or hasattr(array, "mask"):
        raise RowsError.kind(place, leaf)
    varies = isinstance(leaf, PerRow) if said or kind else 0 < array.ndim < WHOLE_AXES
    if kind == INDICES:
        if array.dtype.kind not in "iu":
            raise CompileError.indices(function, place, str(array.dtype))
        if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
            raise CompileError.indices(function, place, "uint64 past 2**63 - 1")
        return INDICES, np.ascontiguousarray(array, dtype=np.int64), varies
    if array.ndim == 0:
        return NUMBER, float(array), False
    numbers = np.ascontiguousarray(array, dtype=np.float64)
    return NUMBER if varies and array.ndim == 1 else TENSOR, numbers, varies
