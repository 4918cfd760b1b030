"""``rg.memory``: what a graph holds, in bytes, by op, source line and parameter group.

Node sizes are those of ARCHITECTURE.md: on the native core 80 bytes a node, 16 more an input of a
wide one. The forward pass alone is the same order of operations with every value dropped after its
last use: its peak is found by one walk along that order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from .._shared.numerics import np
from ..errors import NotAValueError
from ..passes.flat import LEAF, Pass
from ..passes.survey import CARRIES
from ..passes.values import read, sizes_of
from ..tensor import Tensor
from ..value import Value
from .parameters import Grouping, Parameters, parameters_of
from .thresholds import KINDS

ELSEWHERE = "(no parameter near)"


@dataclass(frozen=True)
class Part:
    """One op, line or group: how many nodes, and their bytes."""

    name: str
    nodes: int
    bytes: int


@dataclass(frozen=True)
class Memory:
    """What a graph holds. ``recorded`` is everything under the root, ``leaves`` the part
    of it that parameters and inputs are, ``forward_alone`` the most that the forward pass would
    hold at once if nothing were recorded. Of arrays it is what backward keeps beside the
    parameters, and ``forward_alone`` is 0: not known."""

    nodes: int
    recorded: int
    leaves: int
    forward_alone: int
    by_op: tuple[Part, ...]
    by_line: tuple[Part, ...]
    by_group: tuple[Part, ...]

    @property
    def factor(self) -> float:
        """How many times the memory of the forward pass alone."""
        return self.recorded / self.forward_alone if self.forward_alone else 0.0

    def as_dict(self) -> dict[str, Any]:
        """The counts as plain data, ready for JSON."""
        return asdict(self) | {"factor": self.factor}

    def text(self) -> str:
        """The counts as text."""
        lines = [
            f"{self.nodes:,} values recorded: {_size(self.recorded)}, {self.factor:.1f} times the "
            f"forward pass alone ({_size(self.forward_alone)} at most)",
        ]
        if not self.forward_alone:
            lines = [f"kept for backward: {_size(self.recorded)} by {self.nodes:,} nodes"]
        parts = (("by op", self.by_op), ("by line", self.by_line), ("by group", self.by_group))
        for title, found in parts:
            if not found:
                continue
            lines += ["", title]
            for part in found[:12]:
                share = 100 * part.bytes / self.recorded if self.recorded else 0.0
                counts = f"{_size(part.bytes):>10}  {share:4.0f} %  {part.nodes:>10,} nodes"
                lines.append(f"  {counts}  {part.name}")
            if len(found) > 12:
                lines.append(f"  … and {len(found) - 12} more")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()


def _size(count: int) -> str:
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count} B"


def memory(root: Any, parameters: Any = None, *, groups: Grouping | None = None) -> Memory:
    """Count the bytes that the graph under a root, or a list of roots, holds.

    >>> import retrograde as rg
    >>> x = rg.Value(3.0)
    >>> report = rg.memory(x * x + x)
    >>> report.nodes, sorted(part.name for part in report.by_op)
    (3, ['add', 'leaf', 'mul'])
    """
    roots = (root,) if isinstance(root, Value) else root
    if not isinstance(roots, (tuple, list)):
        raise NotAValueError.of("memory", root)
    graph = read(roots, sites=True)
    sizes = sizes_of(graph)
    owners = _owners(graph, parameters_of(parameters, groups)) if parameters is not None else []
    return Memory(
        nodes=len(graph),
        recorded=sum(sizes),
        leaves=sum(size for op, size in zip(graph.ops, sizes) if op == "leaf"),
        forward_alone=_forward_alone(graph, sizes),
        by_op=_parts([graph.own.get(i, op) for i, op in enumerate(graph.ops)], sizes),
        by_line=_parts(_lines(graph), sizes),
        by_group=_parts(owners, sizes) if owners else (),
    )


def memory_of(graph: Pass) -> Memory:
    """What backward keeps of a pass over arrays, each byte once: by op, line and module."""
    assert graph.arrays is not None
    saved: list[int] = graph.arrays.saved.tolist()
    keeping = [index for index, size in enumerate(saved) if size]
    sizes = [saved[index] for index in keeping]
    lines = list(_lines(graph))
    return Memory(
        nodes=len(graph),
        recorded=sum(sizes),
        leaves=0,
        forward_alone=0,
        by_op=_parts([graph.name(i) for i in keeping], sizes),
        by_line=_parts([lines[i] for i in keeping], sizes),
        by_group=_parts([graph.arrays.groups[i] or "(no module)" for i in keeping], sizes),
    )


def _lines(graph: Pass) -> Iterable[str]:
    assert graph.sites is not None
    names = [str(site) if site else "unknown" for site in graph.sites]
    return [names[place] if place >= 0 else "unknown" for place in graph.places.tolist()]


def _parts(names: Iterable[str], sizes: list[int]) -> tuple[Part, ...]:
    counts: dict[str, list[int]] = {}
    for name, size in zip(names, sizes):
        entry = counts.setdefault(name, [0, 0])
        entry[0] += 1
        entry[1] += size
    parts = [Part(name, nodes, total) for name, (nodes, total) in counts.items()]
    return tuple(sorted(parts, key=lambda part: -part.bytes))


def _forward_alone(graph: Pass, sizes: list[int]) -> int:
    """The peak of the same pass, each value freed after its last use; leaves stay."""
    plain = min(sizes, default=0)  # without history a value is as large as a leaf
    bytes_of = np.array([_alone(value, plain) for value in graph.values or ()], np.int64)
    count = len(graph)
    inner, is_value = graph.codes != LEAF, graph.inputs >= 0
    last = np.arange(count)
    np.maximum.at(last, graph.inputs[is_value], graph.owners[is_value])
    dying = inner & (last != np.arange(count))
    freed = np.bincount(last[dying], bytes_of[dying], minlength=count)
    alive = np.cumsum(np.where(inner, bytes_of, 0)) - (np.cumsum(freed) - freed)
    return int(alive.max(initial=0)) + int(bytes_of[~inner].sum())


def _alone(value: Any, plain: int) -> int:
    """What a value takes without history; a tensor has its numbers besides."""
    return plain + (8 * value.size if isinstance(value, Tensor) else 0)


def _owners(graph: Pass, parameters: Parameters) -> list[str]:
    """The group of the parameter nearest to each value, by sums and products."""
    assert graph.values is not None
    nobody = (1 << 30, -1)
    near: list[tuple[int, int]] = []
    names = []
    carries = [bool(KINDS[code] & CARRIES) for code in graph.codes.tolist()]
    for value, inputs, carry in zip(graph.values, graph.by_value(graph.inputs), carries):
        number = parameters.place.get(id(value))
        under = [near[i] for i in inputs if i >= 0]
        closest = (0, number) if number is not None else min(under, default=nobody)
        keeps = number is not None or (carry and closest[1] >= 0)
        near.append((closest[0] + 1, closest[1]) if keeps else nobody)
        owner = closest[1]
        names.append(
            parameters.group_names[parameters.group_of[owner]] if owner >= 0 else ELSEWHERE
        )
    return names
