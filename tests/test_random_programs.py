"""Random programs over all ops, on the native core, the reference, and PyTorch.

A program is plain data: leaves, and steps that refer to earlier values by their place. It is drawn
together with its numbers, so that every step stays inside its op's domain and off its kinks.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import retrograde
from retrograde.check.engines import Torch
from retrograde.ops import OPS

from .law.expressions import (
    DIFFERENTIABLE,
    SMOOTH,
    distance_to_kink,
    is_exact,
    same_bits,
)

EXACT_ROWS = sorted(name for name, op in OPS.items() if is_exact(op))
OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "neg": operator.neg, "pow": operator.pow, "abs": abs,
}  # fmt: skip
WIDE = ("sum", "dot", "mean", "norm", "logsumexp")
EXACT_WIDE = ("sum", "dot", "mean", "norm")
AWKWARD = [0.0, -0.0, 1.0, -1.0, 0.5, math.inf, -math.inf, math.nan, 5e-324, 1e308, -1e308, 1e16]

steady = partial(
    settings,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@dataclass(frozen=True)
class Place:
    """Where an operand stands among the values made so far."""

    index: int


Operand = Place | float


@dataclass(frozen=True)
class Step:
    """One op on earlier values and numbers. ``spelling`` is how a user would write it."""

    name: str
    operands: tuple[Operand, ...]
    spelling: str = "function"


@dataclass(frozen=True)
class Program:
    """The root is the sum of every value no step uses, so that nothing is left out."""

    leaves: tuple[float, ...]
    steps: tuple[Step, ...]

    def ends(self) -> list[Place]:
        used = {operand for step in self.steps for operand in step.operands}
        places = map(Place, range(len(self.leaves) + len(self.steps)))
        return [place for place in places if place not in used]


def engine_step(rg: Any, step: Step, operands: Sequence[Any]) -> Any:
    """A step on values or numbers of an engine."""
    if step.spelling == "vector" and isinstance(operands[0], rg.Value):
        return vector_step(rg, step, operands)
    if step.name == "dot":
        half = len(operands) // 2
        return rg.dot(operands[:half], operands[half:])
    if step.name == "take":
        return rg.take(operands[:-1], operands[-1])
    if step.name in WIDE:
        return getattr(rg, step.name)(operands)
    if step.spelling == "operator":
        return OPERATORS[step.name](*operands)
    if step.spelling == "method" and isinstance(operands[0], rg.Value):
        return getattr(operands[0], step.name)(*operands[1:])
    return getattr(rg, step.name)(*operands)


def vector_step(rg: Any, step: Step, operands: Sequence[Any]) -> Any:
    """The same step as sequences that compute make it: the operands are two items of a vector."""
    first = import_module(f"{rg.__name__}._values.sequences").sequence([operands[0]], (1,))
    if step.name in WIDE:
        q = np.concatenate([first, operands[1:]]) if len(operands) > 1 else first
        if step.name == "dot":
            return q[: len(q) // 2] @ q[len(q) // 2 :]
        return (
            getattr(q, step.name)() if step.name in ("sum", "mean") else getattr(rg, step.name)(q)
        )
    vectors = [np.concatenate([first, first]), *operands[1:]]
    function = OPERATORS.get(step.name) or getattr(rg, step.name)
    return function(*vectors)[1]


def run(
    program: Program, leaves: Sequence[Any], take: Callable[[Step, Sequence[Any]], Any]
) -> list[Any]:
    """Every value of a program, the root last; ``take`` makes one step."""
    values = list(leaves)
    for step in (*program.steps, Step("sum", tuple(program.ends()))):
        values.append(
            take(step, [values[v.index] if isinstance(v, Place) else v for v in step.operands])
        )
    return values


@dataclass
class Draft:
    """A program in the making, with the numbers its values have."""

    draw: Callable[..., Any]
    leaves: tuple[float, ...]

    def __post_init__(self) -> None:
        self.steps: list[Step] = []
        self.numbers = list(self.leaves)

    def add(self, name: str, *operands: Operand, spelling: str = "function") -> Place:
        step = Step(name, operands, spelling)
        numbers = [self.numbers[v.index] if isinstance(v, Place) else v for v in operands]
        self.steps.append(step)
        self.numbers.append(engine_step(retrograde, step, numbers))
        return Place(len(self.numbers) - 1)

    def value_within(self, low: float, high: float) -> Place:
        """An earlier value, brought between the bounds where it lies outside."""
        place = Place(self.draw(st.integers(0, len(self.numbers) - 1)))
        if low <= self.numbers[place.index] <= high:
            return place
        bell = self.add("div", high - low, self.add("add", 1.0, self.add("square", place)))
        return self.add("add", bell, low, spelling="operator")

    def operands_within(self, bounds: Sequence[tuple[float, float]]) -> tuple[Operand, ...]:
        """Values and numbers, at least one of them a value."""
        sure = self.draw(st.integers(0, len(bounds) - 1))
        return tuple(
            self.value_within(*pair)
            if index == sure or self.draw(st.integers(0, 3))
            else self.draw(st.floats(*pair))
            for index, pair in enumerate(bounds)
        )

    def add_row(self, name: str) -> None:
        """A step by a row; left out where it would stand on a kink."""
        operands = self.operands_within(OPS[name].domain)
        point = tuple(self.numbers[v.index] if isinstance(v, Place) else v for v in operands)
        if distance_to_kink(OPS[name], point) < 1e-3:
            return
        spellings = ["function", "method", "vector"] + ["operator"] * (name in OPERATORS)
        self.add(name, *operands, spelling=self.draw(st.sampled_from(spellings)))

    def add_power(self, exponents: Sequence[float]) -> None:
        exponent = self.draw(st.sampled_from(exponents))
        self.add("pow", self.value_within(0.5, 1.5), float(exponent), spelling="operator")

    def add_choice(self) -> None:
        flag = self.draw(st.sampled_from([0.0, 1.0]))
        self.add("where", flag, self.value_within(-3.0, 3.0), self.value_within(-3.0, 3.0))

    def add_take(self) -> None:
        items = [self.value_within(-3.0, 3.0) for _ in range(self.draw(st.integers(1, 3)))]
        self.add("take", *items, float(self.draw(st.integers(0, len(items) - 1))))

    def add_wide(self, name: str) -> None:
        length = self.draw(st.integers(1, 5)) * (2 if name == "dot" else 1)
        low = 0.3 if name == "norm" else -3.0
        spelling = self.draw(st.sampled_from(["function", "vector"]))
        self.add(name, *self.operands_within([(low, 3.0)] * length), spelling=spelling)


@st.composite
def programs(draw: Callable[..., Any], row: str, exact: bool = False) -> Program:
    """A program with a given row in it, of all ops or only of those IEEE 754 defines to the bit."""
    leaves = draw(st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=4))
    draft = Draft(draw, tuple(leaves))
    rows = EXACT_ROWS if exact else SMOOTH
    wide = EXACT_WIDE if exact else WIDE
    whole = [2, -1, *range(3, 9), *range(-8, -1)]
    exponents = whole if exact else [*whole, 0, 1, 9, 0.5, -2.5]
    kinds = ["row", "row", "power", "choice", "take", "wide"]
    whats = draw(st.lists(st.sampled_from(kinds), max_size=10))
    for what in draw(st.permutations(["this", *whats])):
        if what == "this":
            draft.add_row(row)
        elif what == "row":
            draft.add_row(draw(st.sampled_from(rows)))
        elif what == "power":
            draft.add_power(exponents)
        elif what == "choice":
            draft.add_choice()
        elif what == "take":
            draft.add_take()
        else:
            draft.add_wide(draw(st.sampled_from(wide)))
    return Program(draft.leaves, tuple(draft.steps))


@st.composite
def wild_programs(draw: Callable[..., Any]) -> Program:
    """A program of exact ops on awkward numbers, wherever they lead."""
    number = st.one_of(st.sampled_from(AWKWARD), st.floats())
    leaves = draw(st.lists(number, min_size=1, max_size=4))
    steps: list[Step] = []
    for _ in range(draw(st.integers(1, 12))):
        place = st.builds(Place, st.integers(0, len(leaves) + len(steps) - 1))
        name = draw(st.sampled_from([*EXACT_ROWS, "sum", "dot", "take"]))
        if name == "take":
            items = draw(st.lists(place, min_size=1, max_size=3))
            steps.append(Step(name, (*items, float(draw(st.integers(0, len(items) - 1))))))
            continue
        count = OPS[name].arity if name in OPS else 2 * draw(st.integers(1, 3))
        rest = draw(st.tuples(*[st.one_of(place, place, number)] * (count - 1)))
        steps.append(Step(name, (draw(place), *rest)))
    return Program(tuple(leaves), tuple(steps))


@dataclass
class Outcome:
    """What a program gave on one engine: every value's number, and the leaves' gradients."""

    numbers: list[float]
    grads: list[float]
    leaf_scales: list[float]
    root_scale: float


def outcome(rg: Any, program: Program) -> Outcome:
    leaves = [rg.Value(number) for number in program.leaves]
    values = run(program, leaves, partial(engine_step, rg))
    values[-1].backward()
    scales = absolute_adjoint(rg, values[-1])
    return Outcome(
        numbers=[value.data for value in values],
        grads=[leaf.grad for leaf in leaves],
        leaf_scales=[scales[id(leaf)][0] if id(leaf) in scales else 0.0 for leaf in leaves],
        root_scale=sum(scale * abs(value.data) for scale, value in scales.values()),
    )


def absolute_adjoint(rg: Any, root: Any) -> dict[int, tuple[float, Any]]:
    """The backward pass on |partials|: by identity, each value under the root and its scale."""
    values = rg.order(root)
    scales = {id(value): 0.0 for value in values}
    scales[id(root)] = 1.0
    for value in reversed(values):
        for source, slope in zip(value.inputs, value.partials):
            if id(source) in scales:
                scales[id(source)] += abs(slope) * scales[id(value)]
    return {id(value): (scales[id(value)], value) for value in values}


def assert_bits_agree(one: Outcome, other: Outcome) -> None:
    assert len(one.numbers) == len(other.numbers)
    assert all(map(same_bits, one.numbers, other.numbers))
    assert all(map(same_bits, one.grads, other.grads))


def assert_close(root: float, grads: Sequence[float], expected: Outcome, tolerance: float) -> None:
    """Within a tolerance of the absolute adjoint, the scale of a gradient's rounding error."""
    assert abs(root - expected.numbers[-1]) <= tolerance * expected.root_scale
    for got, wanted, scale in zip(grads, expected.grads, expected.leaf_scales, strict=True):
        assert abs(got - wanted) <= tolerance * scale


@pytest.mark.parametrize("row", DIFFERENTIABLE)
@steady(max_examples=15)
@given(data=st.data())
def test_the_engines_agree_on_any_program(
    native: Any, reference: Any, row: str, data: st.DataObject
) -> None:
    program = data.draw(programs(row))
    got, expected = outcome(native, program), outcome(reference, program)
    assert_close(got.numbers[-1], got.grads, expected, 1e-13)


@pytest.mark.parametrize("row", EXACT_ROWS)
@steady(max_examples=25)
@given(data=st.data())
def test_the_engines_agree_to_the_bit_on_exact_programs(
    native: Any, reference: Any, row: str, data: st.DataObject
) -> None:
    program = data.draw(programs(row, exact=True))
    assert_bits_agree(outcome(native, program), outcome(reference, program))


@steady(max_examples=400)
@given(program=wild_programs())
def test_the_engines_agree_to_the_bit_beyond_every_domain(
    native: Any, reference: Any, program: Program
) -> None:
    assert_bits_agree(outcome(native, program), outcome(reference, program))


@steady(max_examples=100)
@given(program=st.sampled_from(DIFFERENTIABLE).flatmap(programs))
def test_a_second_backward_doubles_every_leaf_gradient(rg: Any, program: Program) -> None:
    leaves = [rg.Value(number) for number in program.leaves]
    root = run(program, leaves, partial(engine_step, rg))[-1]
    root.backward()
    once = [leaf.grad for leaf in leaves]
    root.backward()
    assert [leaf.grad for leaf in leaves] == [2 * grad for grad in once]


@pytest.fixture(scope="session")
def torch() -> Any:
    return pytest.importorskip("torch", reason="PyTorch is not installed (extra: torch)")


FEW_DIGITS = frozenset({"digamma", "sinc"})
"""Rows whose slope PyTorch has with fewer digits: its trigamma has ten, its sinc cancels near 0."""


def few_digits(program: Program) -> bool:
    return any(step.name in FEW_DIGITS for step in program.steps)


@cache
def engine() -> Torch:
    """PyTorch's own edition of the ops; the rows it lacks are read from their expressions."""
    return Torch()


def torch_step(torch: Any, step: Step, operands: Sequence[Any]) -> Any:
    """A step on float64 tensors."""
    tensors = [torch.as_tensor(operand, dtype=torch.float64) for operand in operands]
    if step.name == "dot":
        half = len(tensors) // 2
        return torch.dot(torch.stack(tensors[:half]), torch.stack(tensors[half:]))
    if step.name == "take":
        return tensors[int(operands[-1])]
    if step.name == "norm":
        return torch.linalg.vector_norm(torch.stack(tensors))
    if step.name == "logsumexp":
        return torch.logsumexp(torch.stack(tensors), 0)
    if step.name in WIDE:
        return getattr(torch, step.name)(torch.stack(tensors))
    return engine().function(step.name)(*tensors)


@pytest.mark.bank(every=4)
@pytest.mark.parametrize(
    "row",
    # PyTorch's trigamma has ten digits, and its slope of sinc loses them near 0
    [row for row in DIFFERENTIABLE if row not in ("digamma", "sinc")],
)
@steady(max_examples=15)
@given(data=st.data())
def test_pytorch_agrees_on_any_program(rg: Any, torch: Any, row: str, data: st.DataObject) -> None:
    program = data.draw(programs(row))
    assume(not few_digits(program))
    leaves = [torch.tensor(n, dtype=torch.float64, requires_grad=True) for n in program.leaves]
    root = run(program, leaves, partial(torch_step, torch))[-1]
    if root.requires_grad:  # it does not where only the condition of a `where` is a value
        root.backward()
    grads = [0.0 if leaf.grad is None else leaf.grad.item() for leaf in leaves]
    assert_close(root.item(), grads, outcome(rg, program), 1e-12)


class Kept:
    """Where the helpers of a compiled program find their numbers."""

    second = third = fourth = 1.0


def second() -> Any:
    return Kept.second


HELPERS: tuple[Callable[[], Any], ...] = (second, lambda: Kept.third, lambda: Kept.fourth)


@pytest.mark.parametrize("row", EXACT_ROWS)
@steady(max_examples=4)
@given(data=st.data())
def test_compiled_it_sees_what_helpers_read_and_shows_no_number(
    native: Any, row: str, data: st.DataObject
) -> None:
    """All leaves but the first are read by helpers and change between calls; steps are printed."""
    program = data.draw(programs(row, exact=True))
    shown: list[str] = []

    def step(step: Step, operands: Sequence[Any]) -> Any:
        value = engine_step(native, step, operands)
        shown.append(re.sub(r"<\w+#", "<#", f"{value!s} {value:.17g}"))  # names may have digits
        return value

    def function(x: Any) -> Any:
        leaves = [x, *(helper() for helper in HELPERS[: len(program.leaves) - 1])]
        return run(program, [x * 0.0 + leaf for leaf in leaves[:-1]] + leaves[-1:], step)[-1] + x

    compiled = native.compile(function)
    for turn in range(3):
        numbers = [number / (turn + 1) for number in program.leaves]
        for name, number in zip(("second", "third", "fourth"), numbers[1:]):
            setattr(Kept, name, number if turn < 2 else native.Value(number))
        shown.clear()
        found = compiled(numbers[0])
        assert not any(character.isdigit() for text in shown for character in text if "#" in text)
        assert same_bits(found, function(native.Value(numbers[0])).data)
