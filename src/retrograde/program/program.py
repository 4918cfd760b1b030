"""The program: inputs, instructions, guards and outputs, as plain data.

Every number has an id, defined once: by an input, or as a result of one instruction, before it is
used. Nothing here computes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from .._shared.sites import Site, Span
from ..ops import OPS, STRUCTURAL

if TYPE_CHECKING:
    from .customs import Function

ROW, UNIFORM, CAPTURED, CONSTANT, SEED = "row", "uniform", "captured", "constant", "seed"
KINDS = (ROW, UNIFORM, CAPTURED, CONSTANT, SEED)

CHOICE = "choice"
"""The instruction that picks the number of a row's own side of a branch."""

ANY = -1
"""As many operands as there are."""


@dataclass(frozen=True)
class Parameter:
    """Something an instruction carries that is no number of the program: a shape, an axis."""

    name: str
    fits: Callable[[Any], bool]
    words: str


def _is_count(thing: Any) -> bool:
    return type(thing) is int and thing >= 0


def _is_shape(thing: Any) -> bool:
    return type(thing) is tuple and all(map(_is_count, thing))


SHAPE = Parameter("shape", _is_shape, "a tuple of lengths")
AXIS = Parameter("axis", _is_count, "the number of an axis")
TRIPS = Parameter("trips", _is_count, "a whole number of rounds")


@dataclass(frozen=True)
class Kind:
    """What the instructions of one name look like.

    ``least`` is how many operands there are where there may be any number. ``several`` says that
    it may have several results, ``recorded`` that a recording makes it, so that files hold it; the
    others come with gradients.
    """

    operands: int
    least: int = 1
    pairs: bool = False
    several: bool = False
    recorded: bool = True
    parameters: tuple[Parameter, ...] = ()


INSTRUCTIONS: dict[str, Kind] = {name: Kind(op.arity) for name, op in OPS.items()} | {
    "fma": Kind(3, recorded=False),  # x * y + z, rounded once
    **{name: Kind(ANY, least=row.least, pairs=row.sides == 2) for name, row in STRUCTURAL.items()},
    # pairs of index and upstream; one result an element
    "scatter": Kind(ANY, pairs=True, several=True, recorded=False),
    "stop": Kind(1),  # the same number, no gradient
    CHOICE: Kind(3),  # where the first is 1 the second itself, else the third
}
"""What an instruction may be: one row a name. The checker holds programs to it."""


class Input(NamedTuple):
    """A number the program does not compute: ``name`` says which, ``number`` a constant's value.

    Rows of an array of two axes also know the array and their column in it. A constant with a
    column is one of a table: a loop reads another one in each round. So nothing is made of its
    number before a run: what is done must be the same in all rounds.
    """

    kind: str
    name: str = ""
    number: float = 0.0
    array: str = ""
    column: int = -1

    @property
    def is_known(self) -> bool:
        """Whether its number is known, and the same however often it is read."""
        return self.kind == CONSTANT and self.column < 0


class Instruction(NamedTuple):
    """``results = op(args)``; ``site`` is an index into the program's sites, or -1.

    ``parameters`` are those that the row of its kind lists, in that order.
    """

    op: str
    results: tuple[int, ...]
    args: tuple[int, ...]
    site: int = -1
    parameters: tuple[Any, ...] = ()


class Guard(NamedTuple):
    """A condition that decided what the program did next: it must come out the same again."""

    condition: int
    outcome: bool
    site: int = -1


@dataclass
class Program:
    """A recorded computation.

    For telling its story it also knows which piece of source each site is (``spans``), what
    numbers are called (``labels``), and which constants the function made as values: whether
    those take gradients, and their sites (``made``). ``functions`` are custom ops, by the name of
    their instructions.
    """

    inputs: dict[int, Input] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    count: int = 0
    spans: list[Span | None] = field(default_factory=list)
    labels: dict[int, str] = field(default_factory=dict)
    made: dict[int, tuple[bool, int]] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)

    def site(self, index: int) -> Site | None:
        """The place an instruction or guard came from."""
        return self.sites[index] if index >= 0 else None

    def replaced(self, **changes: object) -> Program:
        """A copy with some parts changed."""
        parts = {
            "inputs": self.inputs,
            "instructions": self.instructions,
            "guards": self.guards,
            "outputs": self.outputs,
            "sites": self.sites,
            "count": self.count,
            "spans": self.spans,
            "labels": self.labels,
            "made": self.made,
            "functions": self.functions,
        }
        return Program(**{**parts, **changes})  # type: ignore[arg-type]
