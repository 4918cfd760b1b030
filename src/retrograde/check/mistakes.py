"""What is likely wrong, in words: the mistakes people make in backward rules, recognised."""

from __future__ import annotations

from collections.abc import Sequence
from math import fabs, isfinite, isnan

from .tape import Step
from .verdicts import BAD, NOT_FINITE, Entry

_CLOSE = 2e-4


def close(left: float, right: float) -> bool:
    """Whether two numbers are the same as far as a diagnosis goes."""
    return fabs(left - right) <= _CLOSE * max(fabs(left), fabs(right))


def cause_of_step(
    step: Step, index: int, given: Sequence[float], expected: Sequence[float | None]
) -> str:
    """Why a step's partial is not the slope of what it computes."""
    mine, right = given[index], expected[index]
    if right is None or not isfinite(right):
        return "the partial is not the slope of the op's value"
    if isnan(mine):
        return "the partial is NaN"
    for other, theirs in enumerate(expected):
        if other != index and theirs is not None and mine != 0.0:
            if close(mine, theirs) and close(given[other], right) and not close(mine, right):
                return f"the partials of inputs {index} and {other} are swapped"
    if common := _ratio(mine, right):
        return common
    if close(mine, step.numbers[index]) and close(right, step.data):
        return "the partial is taken from the input where it should be the result"
    if close(mine, step.data):
        return "the partial is the op's own value"
    if close(mine, 1.0):
        return "the partial is 1: the op's own slope is missing"
    if right != 0.0 and close(mine * right, 1.0):
        return "the partial is upside down: 1 over the slope"
    if right != 0.0:
        return f"the partial is {mine / right:.6g} times the slope: a wrong factor or a lost term"
    return "the partial should be 0"


def _ratio(mine: float, right: float) -> str:
    """The plain mistakes: sign, factor 2, nothing at all, a factor near 1."""
    if mine == 0.0:
        return "the contribution is missing: the partial is 0"
    if right == 0.0:
        return ""
    ratio = mine / right
    if close(ratio, -1.0):
        return "the sign is wrong"
    if close(ratio, 2.0):
        return "a factor 2 too many"
    if close(ratio, 0.5):
        return "a factor 2 is missing"
    if 0.98 < ratio < 1.02:
        return f"a constant factor: {ratio:.6g} times the slope, off by {fabs(ratio - 1):.2g}"
    return ""


def causes_of_entries(
    entries: Sequence[Entry], contributions: dict[str, list[float]], outside: set[str]
) -> list[str]:
    """What the wrong entries have in common, where no single step is to blame.

    ``contributions`` are what arrived at an input, in order; ``outside`` names the inputs that the
    function depends on beside the graph.
    """
    wrong = [entry for entry in entries if entry.verdict in BAD]
    found: list[str] = []
    for entry in wrong:
        found.append(f"{entry.place}: {_cause_of_entry(entry, wrong, contributions, outside)}")
    sentences = {text.partition(": ")[2] for text in found}
    if len(found) > 1 and len(sentences) == 1:
        return [f"all {len(found)} wrong inputs: {sentences.pop()}"]
    return found


def _cause_of_entry(
    entry: Entry,
    wrong: Sequence[Entry],
    contributions: dict[str, list[float]],
    outside: set[str],
) -> str:
    mine, right = entry.gradient, entry.difference
    if entry.verdict == NOT_FINITE:
        return (
            f"{mine} was born in the backward pass; run backward inside rg.anomaly() to see where"
        )
    if entry.place in outside:
        return (
            "missing contribution: the function depends on it beside the graph too "
            "(.data, detach(), no_grad(), or a branch that changes right here)"
        )
    for other in wrong:
        if other is not entry and other.of == entry.of:
            if close(mine, other.difference) and close(other.gradient, right):
                return f"swapped with {other.place}: the partials are transposed"
    arrived = contributions.get(entry.place, [])
    if len(arrived) > 1 and close(mine, arrived[-1]):
        return "missing contribution: only the last one arrived, as where = stands for +="
    if mine == 0.0:
        return "missing contribution: no gradient arrives here"
    if common := _ratio(mine, right):
        return common
    missing = right - mine
    for contribution in arrived:
        if contribution != 0.0 and close(missing, contribution):
            return "a contribution is missing, one of those that should arrive here"
        if contribution != 0.0 and close(-missing, contribution):
            return "a contribution is counted twice"
    return f"{mine / right:.6g} times the slope" if right else "it should be 0"
