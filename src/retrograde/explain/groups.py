"""Big graphs in parts a person can read: values grouped by label, function or source line.

A group is plain data: a name, the values in it, and the parts it shows when it is opened, which are
values or smaller groups, never more than a screen holds. Parts that are alike stand together as
one, with their number. Nothing is drawn here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from .entries import Node

READABLE = 40
"""How many boxes a person can read in one drawing."""

FEW = 12
"""A group of this many values is shown as its values; this many parts need no collapsing."""

DEEPEST = 8
"""Parts of a label that make groups; what lies deeper lies together."""

WAYS = ("label", "function", "line")

Part = Union[int, "Group"]
Path = tuple[str, ...]


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
        """Its name, with the number of alike parts: ``layer* ×12``."""
        return f"{self.name} ×{self.repeats}" if self.repeats > 1 else self.name


def group(nodes: Sequence[Node], *, limit: int = READABLE, by: str | None = None) -> Group:
    """The values of a story in groups of at most ``limit`` parts.

    ``by`` is "label" (the prefix of a label, as in ``layer0.w[3][4]``; a value without one goes
    with what it is computed from), "function" or "line" of the source. Left out, it is the first
    of "label" and "line" that tells values apart. A small story is one group of values.
    """
    if by is not None and by not in WAYS:
        raise ValueError(f"by={by!r}: group by one of {', '.join(map(repr, WAYS))}")
    everything = tuple(range(len(nodes)))
    if len(everything) <= limit:
        return Group("everything", everything, everything)
    depths = _depths(nodes)
    paths = _paths(nodes, depths, by)
    return _Folding(nodes, depths, limit).fold(paths)


# ---- where a value belongs ----------------------------------------------------------------------


def _depths(nodes: Sequence[Node]) -> list[int]:
    """How many steps from the leaves each value lies, along its longest route."""
    depths = [0] * len(nodes)
    for node in nodes:
        depths[node.id] = max((depths[it] for it in node.inputs), default=-1) + 1
    return depths


def _paths(nodes: Sequence[Node], depths: Sequence[int], by: str | None) -> list[Path]:
    paths: list[Path] = []
    if by in (None, "label"):
        paths = _label_paths(nodes, depths)
        if by is None and len(set(paths)) < 3:
            paths = []
    if not paths:
        paths = [_line_path(node, by) for node in nodes]
    placed = [False] * len(nodes)
    for node in nodes:  # a number goes with its first use
        for it in node.inputs:
            if nodes[it].op == "number" and not placed[it]:
                paths[it], placed[it] = paths[node.id], True
    return paths


def _line_path(node: Node, by: str | None) -> Path:
    if node.site is None:
        return ()
    if by == "function":
        return (f"{node.site.function}()",)
    text = f": {node.site.text}" if node.site.text else ""
    return (f"{node.site.function}()", f"line {node.site.line}{text}")


def label_parts(label: str) -> Path:
    """A label as the groups it lies in, from the outside in, and last itself.

    >>> label_parts("layer0.w[3][4]")
    ('layer0', 'w', 'w[3]', 'w[3][4]')
    """
    parts: list[str] = []
    for piece in re.findall(r"\[[^\]]*\]?|[^.\[]+", label):
        parts.append(parts[-1] + piece if piece[0] == "[" and parts else piece)
    return tuple(parts) or (label,)


def _label_paths(nodes: Sequence[Node], depths: Sequence[int]) -> list[Path]:
    """By the prefix of the label; without one, with the latest module among its inputs."""
    modules: list[Path | None] = [None] * len(nodes)
    paths: list[Path] = [()] * len(nodes)
    for node in nodes:
        if node.label:
            paths[node.id] = label_parts(node.label)[:-1][:DEEPEST]
            modules[node.id] = _module(node.label)
    begins: dict[Path, int] = {}  # a module lies where its labelled values are first used
    for node in nodes:
        for it in node.inputs:
            module = modules[it]
            if module is not None:
                begins[module] = min(begins.get(module, depths[node.id]), depths[node.id])
    for node in nodes:
        if modules[node.id] is None and node.inputs:
            found = [module for it in node.inputs if (module := modules[it]) is not None]
            latest = max(found, key=lambda module: begins.get(module, 0), default=None)
            modules[node.id] = latest
            if latest is not None:
                line = f"line {node.site.line}" if node.site else node.symbol
                text = f": {node.site.text}" if node.site and node.site.text else ""
                paths[node.id] = (*latest, line + text)
    return paths


def _module(label: str) -> Path:
    """What owns a labelled value: the label up to its last dot, without indices."""
    names = [name for name in re.sub(r"\[[^\]]*\]?", "", label).split(".") if name]
    return tuple(names[:-1] or names)[:DEEPEST]


# ---- folding paths into groups ------------------------------------------------------------------


@dataclass
class _Branch:
    """A group while it is being gathered."""

    name: str
    branches: dict[str, _Branch] = field(default_factory=dict)
    values: list[int] = field(default_factory=list)
    folded: Group | None = None


class _Folding:
    """Turns gathered branches into groups, the innermost first."""

    def __init__(self, nodes: Sequence[Node], depths: Sequence[int], limit: int) -> None:
        self.nodes, self.depths, self.limit = nodes, depths, max(limit, 4)

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
        if len(inner) == 1 and not branch.values:
            name = inner[0].name
            joined = name if name.startswith(branch.name) else f"{branch.name} · {name}"
            return Group(joined, inner[0].members, inner[0].parts, inner[0].repeats)
        parts: list[Part] = [it if len(it.members) > 1 else it.members[0] for it in inner]
        pieces = self.pieces(branch.values) if len(branch.values) > FEW else [branch.values]
        if len(pieces) > 1:
            parts += [self.piece(piece) for piece in pieces]
        elif inner and len(branch.values) > FEW:
            parts.append(self.piece(branch.values))
        else:
            parts += branch.values
        if len(parts) > FEW and (inner or len(pieces) > 1):
            parts = self.collapse(parts)
        return Group(branch.name, tuple(members), tuple(self.pack(self.spliced(parts))))

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
                if it in leader:
                    leader[find(it)] = find(value)
        pieces: dict[int, list[int]] = {}
        for value in values:
            pieces.setdefault(find(value), []).append(value)
        return list(pieces.values())

    def piece(self, values: list[int]) -> Part:
        if len(values) == 1:
            return values[0]
        last = self.nodes[values[-1]]
        return Group(f"{last.symbol} {last.name}", tuple(values), tuple(self.pack(values)))

    def collapse(self, parts: Sequence[Part]) -> list[Part]:
        """Three or more parts of the same kind become one."""
        alike: dict[str, list[Part]] = {}
        for part in self.in_order(parts):
            alike.setdefault(self.kind_name(part), []).append(part)
        if len(alike) == 1:
            return list(parts)
        collapsed: list[Part] = []
        for name, same in alike.items():
            if len(same) < 3:
                collapsed.extend(same)
            else:
                collapsed.append(self.bundle(same, name))
        return collapsed

    def kind_name(self, part: Part) -> str:
        if isinstance(part, Group):
            return re.sub(r"\d+", "*", part.name)
        node = self.nodes[part]
        return re.sub(r"\d+", "*", node.label) if node.label else node.symbol

    def bundle(self, parts: Sequence[Part], name: str) -> Group:
        return Group(name, _members(parts), tuple(self.pack(list(parts))), len(parts))

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
        """From left to right: by how deep the values lie; values alone by when they were made."""
        parts = list(parts)
        if all(isinstance(part, int) for part in parts):
            return sorted(parts, key=lambda part: part if isinstance(part, int) else 0)

        def place(part: Part) -> tuple[float, int]:
            if isinstance(part, int):
                return float(self.depths[part]), part
            depth = sum(self.depths[value] for value in part.members) / len(part.members)
            return depth, part.members[0]

        return sorted(parts, key=place)


def _members(parts: Iterable[Part]) -> tuple[int, ...]:
    found: list[int] = []
    for part in parts:
        found.extend(part.members if isinstance(part, Group) else (part,))
    return tuple(sorted(found))
