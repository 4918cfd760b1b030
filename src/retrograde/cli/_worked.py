"""Gradients worked out step by step, as data: what a demo shows and a class follows.

The core computes the value, the partials and the gradients; here they are only written down in
the order in which the forward and the backward pass visit them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

from .._values import elementwise, graph
from ..ops import OPS, WORDS
from ..value import Value

STEP = 1e-6
TOLERANCE = 1e-6

Formula = Callable[..., Any]


@dataclass(frozen=True)
class Example:
    """A formula, where to take it, and the names its interior values go by, in order."""

    expression: str
    point: str
    function: Formula
    inputs: tuple[tuple[str, float], ...]
    names: tuple[str, ...]


class ForwardStep(TypedDict):
    """One value and how it was computed: ``formula`` in names, ``numbers`` in numbers."""

    value: str
    op: str
    formula: str
    numbers: str
    data: float


class Contribution(TypedDict):
    """One ``+=`` into one input's gradient."""

    into: str
    partial: float
    upstream: float
    contribution: float
    before: float
    after: float
    adds_up: bool


class BackwardStep(TypedDict):
    """One value handing its gradient on to its inputs."""

    value: str
    op: str
    formula: str
    upstream: float
    words: str
    contributions: list[Contribution]


class Gradient(TypedDict):
    """The gradient of a leaf, and what finite differences say."""

    leaf: str
    gradient: float
    finite_difference: float
    difference: float
    agrees: bool


class Worked(TypedDict):
    """An example, start to finish."""

    expression: str
    point: str
    root: str
    inputs: dict[str, float]
    value: float
    seed: float
    forward: list[ForwardStep]
    backward: list[BackwardStep]
    step: float
    gradients: list[Gradient]


EXAMPLES = (
    Example(
        "relu(a * b + d)",
        "one path to each leaf: the chain rule",
        lambda a, b, d: elementwise.relu(a * b + d),
        (("a", 2.0), ("b", -3.0), ("d", 10.0)),
        ("p", "s", "f"),
    ),
    Example(
        "(a * b + c) * (a + b)",
        "a and b are used twice: paths add up",
        lambda a, b, c: (a * b + c) * (a + b),
        (("a", 2.0), ("b", -3.0), ("c", 10.0)),
        ("p", "s", "t", "g"),
    ),
)


def work_out(example: Example) -> Worked:
    """The forward steps, the backward steps and the checked gradients of an example."""
    leaves = [Value(number, label=name) for name, number in example.inputs]
    root = example.function(*leaves)
    made = [value for value in graph.order(root) if value.op != "leaf"]
    for value, name in zip(made, example.names, strict=True):
        value.label = name
    root.backward()
    return {
        "expression": example.expression,
        "point": example.point,
        "root": example.names[-1],
        "inputs": dict(example.inputs),
        "value": root.data,
        "seed": root.grad,
        "forward": [_forward_step(value) for value in made],
        "backward": _backward_steps(made),
        "step": STEP,
        "gradients": [_checked(example, index, leaf) for index, leaf in enumerate(leaves)],
    }


def _forward_step(value: Value) -> ForwardStep:
    return {
        "value": _name(value),
        "op": value.op,
        "formula": _spelled(value, [_name(operand) for operand in value.inputs]),
        "numbers": _spelled(value, [_in_place(operand, value) for operand in value.inputs]),
        "data": value.data,
    }


def _backward_steps(made: list[Value]) -> list[BackwardStep]:
    """The backward pass of the core, done again with each gradient before and after."""
    steps: list[BackwardStep] = []
    so_far: dict[str, float] = {}
    for value in reversed(made):
        contributions: list[Contribution] = []
        for operand, partial in zip(value.inputs, value.partials):
            name, contribution = _name(operand), partial * value.grad
            before = so_far.get(name, 0.0)
            adds_up = name in so_far
            so_far[name] = before + contribution
            contributions.append(
                {
                    "into": name,
                    "partial": partial,
                    "upstream": value.grad,
                    "contribution": contribution,
                    "before": before,
                    "after": so_far[name],
                    "adds_up": adds_up,
                }
            )
        steps.append(
            {
                "value": _name(value),
                "op": value.op,
                "formula": _spelled(value, [_name(operand) for operand in value.inputs]),
                "upstream": value.grad,
                "words": f"{value.op} {WORDS[OPS[value.op].kind]}",
                "contributions": contributions,
            }
        )
    return steps


def _checked(example: Example, index: int, leaf: Value) -> Gradient:
    """A leaf's gradient beside the central difference at its place."""
    above, below = ([number for _, number in example.inputs] for _ in range(2))
    above[index] += STEP
    below[index] -= STEP
    rise = example.function(*above) - example.function(*below)
    estimate = rise / (above[index] - below[index])
    difference = abs(leaf.grad - estimate)
    return {
        "leaf": _name(leaf),
        "gradient": leaf.grad,
        "finite_difference": estimate,
        "difference": difference,
        "agrees": difference <= TOLERANCE * max(1.0, abs(leaf.grad)),
    }


def _name(value: Value) -> str:
    return value.label or number(value.data)


def _spelled(value: Value, operands: list[str]) -> str:
    """An operation as one writes it: ``a * b``, ``relu(s)``."""
    if _is_infix(value):
        return f"{operands[0]} {OPS[value.op].symbol} {operands[1]}"
    return f"{value.op}({', '.join(operands)})"


def _is_infix(value: Value) -> bool:
    return OPS[value.op].symbol in ("+", "-", "*", "/")


def _in_place(operand: Value, value: Value) -> str:
    """A number inside a formula: in parentheses where two signs would meet."""
    after_sign = operand.data < 0 and operand is not value.inputs[0] and _is_infix(value)
    return f"({number(operand.data)})" if after_sign else number(operand.data)


def number(x: float) -> str:
    """A number as a person writes it: ``-3`` for -3.0."""
    return f"{x:.6g}"
