"""The columns of a pass over arrays: what a reader knows of them beside the graph itself.

They are filled while the program runs, since an engine of arrays keeps neither values nor gradients
of what it computes on the way. Nothing here knows which engine that was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from .._shared.numerics import np
from .._shared.sites import Site
from .summary import Summary


@dataclass(frozen=True)
class Cut:
    """A line where history was lost: how (``detach()``, ``.item()``, …), where, in which group,
    and the parameters under what lost it, by name."""

    how: str
    site: Site | None
    group: str = ""
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Event:
    """Something that happened beside the graph: a write in place, a call that gave NaN, a rule of
    the program's own. ``kind`` is one word, ``words`` the sentence."""

    kind: str
    words: str
    site: Site | None = None
    group: str = ""


@dataclass
class Gate:
    """The units of one activation in one pass: in how many rows each was shut.

    ``owner`` is the parameter that makes the units, by its place in the pass (-1: none near);
    ``marks`` are two numbers a unit, of its results and of its gradients: units with the same
    marks do the same work."""

    node: int
    op: str
    site: Site | None
    saturates: bool
    rows: int
    shut: Any
    owner: int = -1
    marks: Any = None


@dataclass
class Arrays:
    """By value: ``shapes``, ``dtypes``, ``kinds`` (of the rule, as in ``ops/words.py``),
    ``values`` and ``grads`` (summaries, None where nobody looked), ``groups`` (the module it was
    made in), ``calls`` (what the program called there) and ``saved`` (bytes kept for backward that
    no other value keeps). By edge: ``amounts``, the contribution along it, and ``shares``, its part
    along the gradient it goes into, ⟨c, g⟩ / ⟨g, g⟩: those into one value add up to 1.

    ``added`` are the edges of operands that are only added to what else an op computes, as a bias
    is: a zero among them stops no gradient. ``order`` is the order in which backward ran;
    ``parameters`` has names by value. ``numbers`` are the arrays themselves by value, where a
    reader keeps them. ``pictures`` are small samples of values and gradients, for drawings."""

    shapes: Sequence[tuple[int, ...]]
    dtypes: Sequence[str]
    kinds: Sequence[str]
    values: list[Summary | None]
    grads: list[Summary | None]
    amounts: dict[int, Summary]
    groups: Sequence[str]
    calls: Sequence[str]
    saved: Any
    order: list[int] = field(default_factory=list)
    shares: dict[int, float] = field(default_factory=dict)
    parameters: Mapping[int, str] = field(default_factory=dict)
    cuts: list[Cut] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    gates: list[Gate] = field(default_factory=list)
    pictures: Mapping[int, tuple[Any, Any]] = field(default_factory=dict)
    numbers: Sequence[Any] | None = None
    added: Set[int] = frozenset()

    def amount(self, edge: int, target: int) -> Summary | None:
        """What went along an edge: its own summary, or the gradient of a value with one use."""
        return self.amounts.get(edge, self.grads[target])


def share(contribution: Any, gradient: Any) -> float:
    """The part of a gradient that a contribution is, along it: ⟨c, g⟩ / ⟨g, g⟩.

    >>> share(np.array([3.0, 0.0]), np.array([3.0, 4.0]))
    0.36
    """
    squares = float(np.vdot(gradient, gradient))
    return float(np.vdot(contribution, gradient)) / squares if squares else 0.0
