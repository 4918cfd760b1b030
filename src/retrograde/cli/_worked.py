"""Gradients worked out step by step, as data: what a demo shows and a class follows.

The steps, their numbers and their words are those of the story of each example; here they stand
beside finite differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

from .._values import elementwise, graph
from ..explain.reading import story
from ..explain.story import Node, Story
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
    told = story(root)
    return {
        "expression": example.expression,
        "point": example.point,
        "root": example.names[-1],
        "inputs": dict(example.inputs),
        "value": told.nodes[told.root].data,
        "seed": told.seed,
        "forward": [_forward_step(told, it) for it in told.nodes if it.inputs],
        "backward": _backward_steps(told),
        "step": STEP,
        "gradients": [
            _checked(example, index, told.nodes[told.find(leaf)])
            for index, leaf in enumerate(leaves)
        ],
    }


def _forward_step(told: Story, node: Node) -> ForwardStep:
    return {
        "value": node.name,
        "op": node.op,
        "formula": node.expression,
        "numbers": told.numbers(node.id),
        "data": node.data,
    }


def _backward_steps(told: Story) -> list[BackwardStep]:
    """The backward steps of the story, by names."""
    steps: list[BackwardStep] = []
    nodes, met = told.nodes, set[int]()
    for step in told.backward:
        contributions: list[Contribution] = []
        for it in step.contributions:
            contributions.append(
                {
                    "into": nodes[it.to].name,
                    "partial": it.partial,
                    "upstream": step.upstream,
                    "contribution": it.amount,
                    "before": it.before,
                    "after": it.after,
                    "adds_up": it.to in met,
                }
            )
            met.add(it.to)
        node = nodes[step.node]
        steps.append(
            {
                "value": node.name,
                "op": node.op,
                "formula": node.expression,
                "upstream": step.upstream,
                "words": step.words,
                "contributions": contributions,
            }
        )
    return steps


def _checked(example: Example, index: int, leaf: Node) -> Gradient:
    """A leaf's gradient beside the central difference at its place."""
    above, below = ([number for _, number in example.inputs] for _ in range(2))
    above[index] += STEP
    below[index] -= STEP
    rise = example.function(*above) - example.function(*below)
    estimate = rise / (above[index] - below[index])
    difference = abs(leaf.grad - estimate)
    return {
        "leaf": leaf.name,
        "gradient": leaf.grad,
        "finite_difference": estimate,
        "difference": difference,
        "agrees": difference <= TOLERANCE * max(1.0, abs(leaf.grad)),
    }


def number(x: float) -> str:
    """A number as a person writes it: ``-3`` for -3.0."""
    return f"{x:.6g}"
