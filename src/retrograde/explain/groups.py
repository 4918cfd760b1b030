"""Big graphs in parts a person can read: values grouped by module, function or source line.

A group is plain data: a name, the values in it, and the parts it shows when it is opened, which are
values or smaller groups, never more than a screen holds. Parts that are alike stand together as
one, with their number. What flows out of a group never flows back into it. Nothing is drawn here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Union

from .belonging import Path, depths_of, places_of
from .belonging import label_parts as label_parts
from .flowing import TURN, Flow, refined, turns_of

if TYPE_CHECKING:
    from .entries import Node

READABLE = 40
"""How many boxes a person can read in one drawing."""

FEW = 12
"""A group of this many values is shown as its values; this many parts need no collapsing."""

MOST_TRIED = 400
"""Parts up to which kinds of alike ones are put together one kind at a time."""

WAYS = ("label", "function", "line")

Part = Union[int, "Group"]

SAMPLES = "samples"
_MANY = {SAMPLES: SAMPLES, f"{TURN} *": f"{TURN}s", "leaf": "leaves"}
"""Alike parts that have a word of their own."""

_COUNTED = re.compile(r"v\d+")
"""The name of a value that has none."""


@dataclass(frozen=True)
class Group:
    """Some values under one name.

    ``members`` are the ids of all values in it, in forward order; ``parts`` what it shows when
    opened, from left to right; ``repeats`` how many alike parts it stands for, or 1.
    """

    name: str
    members: tuple[int, ...]
    parts: tuple[Part, ...]
    repeats: int = 1

    @property
    def title(self) -> str:
        """Its name, with the number of alike parts: ``layer* ×12``, ``×8 samples``."""
        if self.repeats == 1:
            return self.name
        many = _MANY.get(self.name)
        return f"×{self.repeats} {many}" if many else f"{self.name} ×{self.repeats}"


def group(nodes: Sequence[Node], *, limit: int = READABLE, by: str | None = None) -> Group:
    """The values of a story in groups of at most ``limit`` parts.

    ``by`` is "label" (the modules of the parameters, as in ``m.layers[0].w[3]``, and what is
    computed with them), "function" or "line" of the source. Left out, it is the first of "label"
    and "line" that tells values apart. A small story is one group of values.
    """
    if by is not None and by not in WAYS:
        raise ValueError(f"by={by!r}: group by one of {', '.join(map(repr, WAYS))}")
    everything = tuple(range(len(nodes)))
    if len(everything) <= limit:
        return Group("everything", everything, everything)
    paths = refined(nodes, places_of(nodes, by))
    return _Folding(nodes, limit).fold(paths)


@dataclass
class _Branch:
    """A group while it is being gathered."""

    name: str
    branches: dict[str, _Branch] = field(default_factory=dict)
    values: list[int] = field(default_factory=list)
    folded: Group | None = None


class _Folding:
    """Turns gathered branches into groups, the innermost first."""

    def __init__(self, nodes: Sequence[Node], limit: int) -> None:
        self.nodes, self.limit = nodes, max(limit, 4)
        self.depths = depths_of(nodes)
        self.flow = Flow([node.inputs for node in nodes], self.depths)

    def fold(self, paths: Sequence[Path]) -> Group:
        root = _Branch("everything")
        for value, path in enumerate(paths):
            branch = root
            for name in path:
                branch = branch.branches.setdefault(name, _Branch(name))
            branch.values.append(value)
        order, place = [root], 0
        while place < len(order):
            order.extend(order[place].branches.values())
            place += 1
        for branch in reversed(order):
            branch.folded = self.fold_branch(branch)
        assert root.folded is not None
        return root.folded

    def fold_branch(self, branch: _Branch) -> Group:
        inner = [it.folded for it in branch.branches.values() if it.folded is not None]
        members = sorted([*branch.values, *(value for it in inner for value in it.members)])
        if len(members) <= FEW:
            return Group(branch.name, tuple(members), tuple(members))
        if len(inner) == 1 and not branch.values and branch.name != "everything":
            name = inner[0].name
            joined = name if name.startswith(branch.name) else f"{branch.name} · {name}"
            return Group(joined, inner[0].members, inner[0].parts, inner[0].repeats)
        if not inner and (turns := self.turns(branch.values)):
            name = f"×{len(turns)} {TURN}s of {branch.name}"
            return Group(name, tuple(members), tuple(self.pack(turns)))
        parts: list[Part] = [it if len(it.members) > 1 else it.members[0] for it in inner]
        pieces = self.pieces(branch.values) if len(branch.values) > FEW else []
        apart = self.apart(pieces)
        if len(pieces) > 1 and self.flows([*parts, *apart]):
            parts += apart
        elif inner and len(branch.values) > FEW and self.flows([*parts, self.piece(branch.values)]):
            parts.append(self.piece(branch.values))
        else:
            parts += branch.values
        if len(parts) > (FEW if any(isinstance(it, Group) for it in parts) else self.limit):
            parts = self.collapse(parts)
        return Group(branch.name, tuple(members), tuple(self.pack(self.spliced(parts))))

    def flows(self, parts: Sequence[Part]) -> bool:
        """Whether nothing flows out of a part and back into it."""
        return self.flow.order([_members((part,)) for part in parts]) is not None

    def spliced(self, parts: list[Part]) -> list[Part]:
        """The parts of an only group in its place, where there is room for them."""
        groups = [part for part in parts if isinstance(part, Group)]
        if len(groups) != 1 or groups[0].repeats > 1:
            return parts
        if len(parts) - 1 + len(groups[0].parts) > self.limit:
            return parts
        return [part for part in parts if not isinstance(part, Group)] + list(groups[0].parts)

    def pieces(self, values: Sequence[int]) -> list[list[int]]:
        """The values that hang together: the turns of a loop, mostly."""
        leader = {value: value for value in values}

        def find(value: int) -> int:
            while leader[value] != value:
                leader[value] = leader[leader[value]]
                value = leader[value]
            return value

        for value in values:
            for it in self.nodes[value].inputs:
                if it in leader and self.nodes[it].inputs:
                    leader[find(it)] = find(value)
        numbers = [it for it in values if self.nodes[it].op == "number"]
        homes = {it: value for value in reversed(values) for it in self.nodes[value].inputs}
        for it in numbers:
            if it in homes:
                leader[it] = find(homes[it])
        pieces: dict[int, list[int]] = {}
        for value in values:
            pieces.setdefault(find(value), []).append(value)
        return list(pieces.values())

    def apart(self, pieces: Sequence[list[int]]) -> list[Part]:
        """Pieces as parts; those computed alike with the same parameters are samples."""
        alike: dict[tuple[str, ...], list[list[int]]] = {}
        for piece in pieces:
            kind = tuple(sorted(self.nodes[it].op for it in piece if self.nodes[it].inputs))
            alike.setdefault(kind, []).append(piece)
        found: list[Part] = []
        for kind, same in alike.items():
            if len(same) < 2 or not kind or not self.shared(same):
                found += [self.piece(piece) for piece in same]
                continue
            turns = [self.piece(each, f"sample {place}") for place, each in enumerate(same)]
            found.append(Group(SAMPLES, _members(turns), tuple(self.pack(turns)), len(turns)))
        return found

    def turns(self, values: Sequence[int]) -> list[Part]:
        """The turns of a loop on one line, where its values are too many to be read."""
        if len(values) <= self.limit or len(self.pieces(values)) > 1:
            return []
        inside: dict[int, list[int]] = {}
        for value, turn in turns_of(self.nodes, values, self.depths).items():
            inside.setdefault(turn, []).append(value)
        return [self.piece(sorted(inside[it]), f"{TURN} {it + 1}") for it in sorted(inside)]

    def shared(self, pieces: Sequence[list[int]]) -> bool:
        """Whether the pieces are computed with the same leaves."""
        leaves = [
            {it for value in piece for it in self.nodes[value].inputs
             if self.nodes[it].op == "leaf" and self.nodes[it].requires_grad}
            for piece in pieces
        ]  # fmt: skip
        return bool(set.intersection(*leaves))

    def piece(self, values: list[int], name: str = "") -> Part:
        if len(values) == 1:
            return values[0]
        last = self.nodes[values[-1]]
        if not name:
            name = f"{last.symbol} {last.name}" if _COUNTED.fullmatch(last.name) else last.name
        return Group(name, tuple(values), tuple(self.pack(values)))

    def collapse(self, parts: Sequence[Part]) -> list[Part]:
        """Three or more parts of the same kind become one, where nothing then flows in a circle."""
        alike: dict[str, list[Part]] = {}
        for part in self.in_order(parts):
            alike.setdefault(self.kind_name(part), []).append(part)
        chosen = [name for name, same in alike.items() if len(same) > 2]
        if len(alike) == 1 or not chosen:
            return list(parts)
        if not self.flows(self.collapsed(alike, chosen)):
            kept: list[str] = []
            for name in chosen if len(parts) <= MOST_TRIED else ():
                if self.flows(self.collapsed(alike, [*kept, name])):
                    kept.append(name)
            chosen = kept
        return self.collapsed(alike, chosen)

    def collapsed(self, alike: dict[str, list[Part]], chosen: Sequence[str]) -> list[Part]:
        found: list[Part] = []
        for name, same in alike.items():
            if name in chosen:
                found.append(Group(name, _members(same), tuple(self.pack(same)), len(same)))
            else:
                found.extend(same)
        return found

    def kind_name(self, part: Part) -> str:
        if isinstance(part, Group):
            return re.sub(r"\d+", "*", part.name)
        node = self.nodes[part]
        if node.op == "number":
            return "numbers"
        return re.sub(r"\d+", "*", node.label) if node.label else node.symbol or "leaf"

    def pack(self, parts: Sequence[Part]) -> list[Part]:
        """Runs of neighbours, where there are still more parts than can be read."""
        packed = self.in_order(parts)
        while len(packed) > self.limit:
            count = -(-len(packed) // self.limit)
            size = -(-len(packed) // count) if count <= self.limit else self.limit
            packed = [
                self.run(packed[first : first + size]) for first in range(0, len(packed), size)
            ]
        return packed

    def run(self, parts: Sequence[Part]) -> Part:
        if len(parts) == 1:
            return parts[0]
        names = [self.part_name(part) for part in parts if not self.is_number(part)] or ["numbers"]
        first, last = names[0], names[-1]
        name = f"{first.split(' … ')[0]} … {last.split(' … ')[-1]}"
        return Group(name, _members(parts), tuple(parts))

    def is_number(self, part: Part) -> bool:
        return isinstance(part, int) and self.nodes[part].op == "number"

    def part_name(self, part: Part) -> str:
        return part.name if isinstance(part, Group) else self.nodes[part].name

    def in_order(self, parts: Iterable[Part]) -> list[Part]:
        """From left to right, as data flows; values alone as they were made."""
        parts = list(parts)
        if all(isinstance(part, int) for part in parts):
            return sorted(parts, key=lambda part: part if isinstance(part, int) else 0)
        order = self.flow.order([_members((part,)) for part in parts])
        return parts if order is None else [parts[place] for place in order]


def _members(parts: Iterable[Part]) -> tuple[int, ...]:
    found: list[int] = []
    for part in parts:
        found.extend(part.members if isinstance(part, Group) else (part,))
    return tuple(sorted(found))
