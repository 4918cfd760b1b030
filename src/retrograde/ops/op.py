"""The Op row: what one operation computes, its partials, and everything derived from them.

A row is frozen and validates itself when it is built, so a table that imports is well formed.
Its functions on plain numbers are printed from the row when first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from numbers import Real

from .emit.python import compile_row
from .expr import Absent, Expr, Num, Var, Where, calls, variables
from .special import ROUTINES
from .words import WORDS

PRIMITIVES = frozenset(
    "add sub mul div neg pow sqrt exp expm1 log log1p log2 log10 tanh sin cos tan asin acos atan "
    "atan2 sinh cosh asinh acosh atanh hypot abs floor erf erfc fmod".split()
).union(ROUTINES)
"""What a row may call without its being an op further up: arithmetic, libm and routines."""

RESULT = "z"

ULPS = 4.0
"""How far a row's value and partials may be off, unless it says otherwise.

In every core and at every point, in units of the last place of max(|f|, |x·f′|) for each input x,
where f is the value or the partial: no more than what rounding the inputs may bring about.
"""


@dataclass(frozen=True)
class Edge:
    """What an op gives at an awkward point, and why it is so.

    ``at`` are the inputs; ``value`` the result; ``partials`` one number an input.
    """

    at: tuple[float, ...]
    value: float
    partials: tuple[float, ...]
    why: str


@dataclass(frozen=True, eq=False)
class Op:
    """One row of the law.

    >>> from retrograde.ops import OPS
    >>> OPS["mul"].forward(3.0, 4.0)
    12.0
    >>> OPS["mul"].backward(1.0, 3.0, 4.0)
    (4.0, 3.0)
    >>> OPS["tanh"].saves, OPS["mul"].saves, OPS["add"].linear
    (('x',), ('x', 'y'), True)

    ``partials`` are in the form that keeps its digits, ``shown`` in that in which a person writes
    them; in exact arithmetic they are the same. A ``tuned`` row's value is computed as a whole, by
    a function of its name in each core; the expression says what it is. A ``vectored`` one's is so
    over lanes only, where that is faster than term by term.

    How it is called: ``symbol`` on a node, ``spelled`` where Python has another way to write it
    than the symbol shows, ``noun`` in a sentence, ``latex`` in the formulas of others (a name, or
    a formula of its inputs ``#1``, ``#2``). ``hides_nan`` says why a NaN may not come through.
    """

    name: str
    value: Expr
    partials: tuple[Expr, ...]
    kind: str
    symbol: str = ""
    inputs: tuple[str, ...] = ()
    defaults: tuple[float, ...] = ()
    domain: tuple[tuple[float, float], ...] = ()
    edges: tuple[Edge, ...] = field(default=(), repr=False)
    cure: str = ""
    ulps: float = ULPS
    shown: tuple[Expr, ...] = ()
    tuned: bool = False
    vectored: bool = False
    spelled: str = ""
    noun: str = ""
    latex: str = ""
    hides_nan: str = ""

    def __post_init__(self) -> None:
        if not self.inputs:
            found = variables(self.value).union(*(variables(p) for p in self.partials)) - {RESULT}
            object.__setattr__(self, "inputs", tuple(sorted(found)))
        if not self.shown:
            object.__setattr__(self, "shown", self.partials)
        if not self.symbol:
            object.__setattr__(self, "symbol", self.name)
        if not self.noun:
            object.__setattr__(self, "noun", self.name)
        if not self.domain:
            object.__setattr__(self, "domain", ((-3.0, 3.0),) * len(self.inputs))
        self._validate()

    def _validate(self) -> None:
        def refuse(why: str) -> None:
            raise ValueError(f"op {self.name!r}: {why}")

        if not self.name.isidentifier():
            refuse("its name is not an identifier")
        if len(self.partials) != len(self.inputs):
            refuse(
                f"{len(self.inputs)} inputs {self.inputs} but {len(self.partials)} partials; "
                "state one partial an input"
            )
        if RESULT in self.inputs or RESULT in variables(self.value):
            refuse("z is the result: only partials may read it")
        known = set(self.inputs) | {RESULT}
        for expression in (self.value, *self.partials, *self.shown):
            if unknown := variables(expression) - known:
                refuse(f"reads {sorted(unknown)}, which are not among its inputs {self.inputs}")
        if self.kind not in WORDS:
            refuse(f"kind {self.kind!r} has no sentence in words.py; kinds: {sorted(WORDS)}")
        if len(self.defaults) >= len(self.inputs):
            refuse("defaults fill trailing inputs only; the first input always has to be given")
        if len(self.domain) != len(self.inputs):
            refuse("domain needs one (low, high) an input")
        if len(self.shown) != len(self.partials):
            refuse("shown states the partials in a plainer form, one for each of them")
        if not 0.5 <= self.ulps < float("inf"):
            refuse(f"ulps={self.ulps}: state by how many units in the last place it may be off")
        for edge in self.edges:
            if len(edge.at) != self.arity or len(edge.partials) != self.arity:
                refuse(f"edge at {edge.at} does not fit {self.arity} inputs")

    @property
    def arity(self) -> int:
        """How many inputs it takes."""
        return len(self.inputs)

    @cached_property
    def saves(self) -> tuple[str, ...]:
        """Which of its inputs and result its partials read."""
        read = frozenset[str]().union(*(variables(partial) for partial in self.partials))
        return tuple(name for name in (*self.inputs, RESULT) if name in read)

    @property
    def linear(self) -> bool:
        """Whether every partial is a constant."""
        return not self.saves and not self.absent

    @cached_property
    def absent(self) -> tuple[str, ...]:
        """The inputs along which the law states no partial: a backward pass there raises."""
        return tuple(
            name for name, partial in zip(self.inputs, self.partials) if isinstance(partial, Absent)
        )

    @property
    def prefix(self) -> str:
        """The sign Python writes before its one input: ``-`` for neg."""
        sign = self.spelled.removesuffix(self.inputs[0])
        return "" if self.arity > 1 or sign[:1].isalpha() else sign

    @property
    def exponent(self) -> str:
        """Of a power of its one input: which one, as ``**2`` names it."""
        return self.symbol.removeprefix("**") if self.arity == 1 and "**" in self.symbol else ""

    @property
    def is_truth(self) -> bool:
        """Whether its result is 1 where something holds and 0 elsewhere."""
        value = self.value
        return isinstance(value, Where) and {value.then, value.otherwise} == {Num(0), Num(1)}

    @cached_property
    def keeps_truth(self) -> bool:
        """Whether it makes 0 or 1 of inputs that are 0 or 1."""
        return all(
            self.evaluate(*inputs) in (0.0, 1.0)
            for inputs in product((0.0, 1.0), repeat=self.arity)
        )

    @cached_property
    def least_at_zero(self) -> bool:
        """Whether it has a minimum at 0 and slope 0 there: a loss made of it may simply be there.

        >>> from retrograde.ops import OPS
        >>> [name for name, op in OPS.items() if op.least_at_zero]
        ['square', 'cosh', 'hypot', 'abs']
        """
        origin = (0.0,) * self.arity
        least = self.evaluate(*origin)
        around = [
            self.evaluate(*origin[:place], step, *origin[place + 1 :])
            for place in range(self.arity)
            for step in (-0.5, 0.5)
        ]
        if not all(value > least for value in around):
            return False
        return not any(self.evaluate_partials(*origin, least))

    @cached_property
    def calls(self) -> frozenset[str]:
        """The functions its value and partials call."""
        return calls(self.value).union(*(calls(partial) for partial in self.partials))

    @cached_property
    def _functions(self) -> tuple[Callable[..., float], Callable[..., tuple[float, ...]]]:
        return compile_row(self)

    @property
    def evaluate(self) -> Callable[..., float]:
        """The value as a Python function of floats, unchecked: what the reference core runs."""
        return self._functions[0]

    @property
    def evaluate_partials(self) -> Callable[..., tuple[float, ...]]:
        """The partials as a Python function of the inputs and the result, unchecked."""
        return self._functions[1]

    def forward(self, *inputs: float) -> float:
        """The op's value on plain numbers.

        >>> from retrograde.ops import OPS
        >>> OPS["relu"].forward(-2.0)
        0.0
        """
        return self.evaluate(*self._numbers("forward", inputs))

    def backward(self, dy: float, *inputs: float) -> float | tuple[float, ...]:
        """The local rule on plain numbers: upstream gradient in, contributions out.

        One input gives a float; several give a tuple, one contribution an input.

        >>> from retrograde.ops import OPS
        >>> OPS["relu"].backward(5.0, 3.0)
        5.0
        >>> OPS["sub"].backward(5.0, 1.0, 2.0)
        (5.0, -5.0)
        """
        numbers = self._numbers("backward", inputs)
        if not isinstance(dy, Real):
            raise TypeError(f"ops[{self.name!r}].backward: dy is {type(dy).__name__}, not a number")
        if self.absent:
            raise ValueError(
                f"ops[{self.name!r}].backward: the law states no slope of {self.name} along "
                f"{', '.join(self.absent)}"
            )
        partials = self.evaluate_partials(*numbers, self.evaluate(*numbers))
        contributions = tuple(partial * float(dy) for partial in partials)
        return contributions[0] if self.arity == 1 else contributions

    def _numbers(self, call: str, given: tuple[float, ...]) -> tuple[float, ...]:
        missing = self.arity - len(given)
        if 0 < missing <= len(self.defaults):
            given = (*given, *self.defaults[-missing:])
        if len(given) != self.arity:
            raise TypeError(
                f"ops[{self.name!r}].{call} takes {self.arity} input(s) "
                f"({', '.join(self.inputs)}), got {len(given)}"
            )
        for name, number in zip(self.inputs, given):
            if not isinstance(number, Real):
                raise TypeError(
                    f"ops[{self.name!r}].{call}: {name} is {type(number).__name__}, not a number"
                )
        return tuple(float(number) for number in given)


def result() -> Var:
    """The variable that stands for an op's own result in its partials."""
    return Var(RESULT)
