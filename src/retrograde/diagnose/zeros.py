"""Which kind of zero: why a gradient that could be anything is exactly zero.

The survey says what stopped every path to a parameter, as a set of reasons and one example of a
shut gate and of a product with a zero. Here that becomes a kind, and words that name the line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._shared.sites import Site
from ..ops import OPS, kind_of
from ..passes.survey import ALIVE, BY_FACTOR, BY_FLAT, BY_GATE, BY_SATURATION, BY_UNDERFLOW
from ..value import Value

UNREACHABLE, DETACHED, FROZEN = "unreachable", "detached", "frozen"
UNTRAINED = "not trained"
DEAD_GATE, ZERO_FACTOR, FLAT, SATURATED_GATE = "dead gate", "zero factor", "flat", "saturated gate"
CANCELLED, UNDERFLOW = "cancelled", "underflow"


@dataclass(frozen=True)
class Zero:
    """Why one parameter's gradient is zero: the kind, the op and line to blame, and in words what
    was zero. ``learning`` is the parameter that is the zero factor, or -1; ``minimum`` says that
    the slope is zero because a square or its like is at its minimum; ``source`` is the line that
    computed the zero factor."""

    kind: str
    words: str = ""
    op: str = ""
    site: Site | None = None
    learning: int = -1
    minimum: bool = False
    source: Site | None = None


def zero_of(
    parameter: Value,
    reasons: int,
    place: dict[int, int],
    gate: Value | None,
    factor: Value | None,
    slope: Value | None,
) -> Zero:
    """What the reasons of the survey amount to, for one parameter; ``place`` has the parameters'
    numbers by id.

    Where paths are stopped in different ways, a gate is the least of reasons: that it is shut for
    some rows is usual, so what stops the other rows is what matters.
    """
    if reasons & ALIVE:
        return Zero(CANCELLED, "contributions arrive, and add up to exactly zero")
    if reasons & BY_FLAT and slope is not None and not reasons & BY_SATURATION:
        return _at(FLAT, slope, "has slope 0 everywhere")
    if reasons & BY_FACTOR and factor is not None:
        return _zero_factor(factor, parameter, place)
    if reasons & BY_UNDERFLOW:
        return Zero(UNDERFLOW, "it is smaller than the smallest number, about 5e-324")
    if reasons & (BY_SATURATION | BY_FLAT):
        return _at(SATURATED_GATE, slope, "is so far out that its slope rounds to 0")
    if reasons & BY_GATE:
        return _at(DEAD_GATE, gate, _shut(gate))
    return Zero(ZERO_FACTOR, "the pass was started with a seed of 0")


def _shut(gate: Value | None) -> str:
    if gate is None or _is_gate(gate):
        return "is off"
    return "does not take that operand"


def _is_gate(node: Any) -> bool:
    return node.op in OPS and OPS[node.op].kind in ("gate", "window")


def _at(kind: str, node: Value | None, what: str) -> Zero:
    if node is None:
        return Zero(kind, what)
    return Zero(kind, f"the {_name(node)} {what}", node.op, node.site)


def _name(node: Any) -> str:
    """An op with its label and line."""
    label = f" '{node.label}'" if node.label else ""
    return f"{node.op}{label}" + (f" on line {node.site.line}" if node.site else "")


def _zero_factor(node: Value, parameter: Value, place: dict[int, int]) -> Zero:
    """The product whose other factor is zero, and what that factor is.

    A dot has many zero partials. The one that matters lies on a path to the parameter: at the
    parameter itself, or else at what was computed, not at another leaf.
    """
    inputs, partials = node.inputs, node.partials
    if not partials:
        words = f"the _backward of {_name(node)} adds nothing"
        return Zero(ZERO_FACTOR, words, node.op, node.site)
    zeros = [i for i, partial in enumerate(partials) if partial == 0.0] or [0]
    direct = [i for i in zeros if inputs[i] is parameter]
    index = (direct or [i for i in zeros if inputs[i].op != "leaf"] or zeros)[0]
    other = _other(node, inputs, index)
    if other is None or other is inputs[index]:
        minimum = other is not None or (node.op in OPS and OPS[node.op].least_at_zero)
        words = f"the slope of the {_name(node)} is 0 here"
        return Zero(ZERO_FACTOR, words, node.op, node.site, minimum=minimum)
    words = f"the {_name(node)} multiplies by {_what(other)}"
    source = None if other.op == "leaf" else other.site
    return Zero(ZERO_FACTOR, words, node.op, node.site, place.get(id(other), -1), source=source)


def _other(node: Value, inputs: tuple[Value, ...], index: int) -> Value | None:
    """The factor that an input is multiplied by: its partner, or what it divides."""
    kind = kind_of(node.op)
    if kind in ("swap", "weigh"):  # lefts, then rights
        return inputs[(index + len(inputs) // 2) % len(inputs)]
    return inputs[0] if kind == "quotient" and index == 1 else None


def _what(zero: Any) -> str:
    if zero.label:
        return f"'{zero.label}' = 0"
    if zero.op == "leaf":
        return "a leaf that is 0" if zero.requires_grad else "the number 0"
    if _is_gate(zero):
        return f"0, which the {_name(zero)} gives because it is off"
    return f"0, the result of the {_name(zero)}"
