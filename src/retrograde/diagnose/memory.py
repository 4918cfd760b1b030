"""``rg.memory``: what a graph holds, in bytes, by op, source line and parameter group.

Node sizes are those of ARCHITECTURE.md: on the native core 80 bytes a node, 16 more an input of a
wide one. The forward pass alone is the same order of operations with every value dropped after its
last use: its peak is found by one walk along that order.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from .._core.surveying import CARRIES
from .._shared.sites import site_of
from ..errors import NotAValueError
from ..value import Value, core, core_name
from .parameters import Grouping, Parameters, parameters_of
from .thresholds import KINDS

FLOAT = sys.getsizeof(0.0)
ELSEWHERE = "(no parameter near)"
_CODE = {name: code for code, name in enumerate(core.OP_NAMES)}


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
    hold at once if nothing were recorded."""

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
    values = core.order(tuple(roots))
    sizes = [bytes_of(value) for value in values]
    leaves = sum(size for value, size in zip(values, sizes) if value.op == "leaf")
    owners = _owners(values, parameters_of(parameters, groups)) if parameters is not None else []
    return Memory(
        nodes=len(values),
        recorded=sum(sizes),
        leaves=leaves,
        forward_alone=_forward_alone(values, sizes),
        by_op=_parts((value.op for value in values), sizes),
        by_line=_parts(_lines(values), sizes),
        by_group=_parts(owners, sizes) if owners else (),
    )


def bytes_of(value: Value) -> int:
    """One node with what it alone holds."""
    own = sys.getsizeof(value)
    if core_name == "native":
        return own
    inputs = core.parts(value)[1]
    numbers = sum(v is None for v in inputs)  # each a node of its own on this core
    return (
        own
        + FLOAT * (2 + len(value.partials))
        + 2 * sys.getsizeof((None,) * len(inputs))
        + numbers * (own + 2 * FLOAT)
    )


def _lines(values: list[Value]) -> Iterable[str]:
    known: dict[Any, str] = {}
    for value in values:
        made = core.instruction_of(value)
        if made not in known:
            site = site_of(made)
            known[made] = str(site) if site else "unknown"
        yield known[made]


def _parts(names: Iterable[str], sizes: list[int]) -> tuple[Part, ...]:
    counts: dict[str, list[int]] = {}
    for name, size in zip(names, sizes):
        entry = counts.setdefault(name, [0, 0])
        entry[0] += 1
        entry[1] += size
    parts = [Part(name, nodes, total) for name, (nodes, total) in counts.items()]
    return tuple(sorted(parts, key=lambda part: -part.bytes))


def _forward_alone(values: list[Value], sizes: list[int]) -> int:
    """The peak of the same pass, each value freed after its last use; leaves stay."""
    plain = min(sizes, default=0)  # without history a value is as large as a leaf
    place = {id(value): index for index, value in enumerate(values)}
    last = list(range(len(values)))
    for index, value in enumerate(values):
        for v in core.parts(value)[1]:
            if v is not None:
                last[place[id(v)]] = index
    dying = [0] * (len(values) + 1)
    for index, value in enumerate(values):
        if value.op != "leaf" and last[index] != index:
            dying[last[index]] += 1
    alive = peak = 0
    for index, value in enumerate(values):
        alive += value.op != "leaf"
        peak = max(peak, alive)
        alive -= dying[index]
    leaves = sum(value.op == "leaf" for value in values)
    return (leaves + peak) * plain


def _owners(values: list[Value], parameters: Parameters) -> list[str]:
    """The group of the parameter nearest to each value, by sums and products."""
    nobody = (1 << 30, -1)
    near: dict[int, tuple[int, int]] = {}
    names = []
    for value in values:
        number = parameters.place.get(id(value))
        under = [near[id(v)] for v in core.parts(value)[1] if v is not None]
        closest = (0, number) if number is not None else min(under, default=nobody)
        carries = KINDS[_CODE.get(value.op, 255)] & CARRIES
        keeps = number is not None or (carries and closest[1] >= 0)
        near[id(value)] = (closest[0] + 1, closest[1]) if keeps else nobody
        owner = closest[1]
        names.append(
            parameters.group_names[parameters.group_of[owner]] if owner >= 0 else ELSEWHERE
        )
    return names
