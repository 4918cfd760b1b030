"""What the tests of explanations share: the walkthroughs of every course, golden files, paths."""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def leaves(rg, **numbers):
    return [rg.Value(number, label=name) for name, number in numbers.items()]


def sum_times(rg):
    a, b, c = leaves(rg, a=2.0, b=3.0, c=-4.0)
    return (a + b) * c


def gate(rg):
    a, b, d = leaves(rg, a=2.0, b=-3.0, d=10.0)
    return rg.relu(a * b + d)


def product_and_sum(rg):
    a, b, c = leaves(rg, a=2.0, b=-3.0, c=10.0)
    root = a * b + c
    root.label = "L"
    return root


def twice(rg):
    (a,) = leaves(rg, a=3.0)
    return a + a


def two_routes(rg):
    a, b, c = leaves(rg, a=2.0, b=-3.0, c=10.0)
    return (a * b + c) * (a + b)


WALKTHROUGHS = {
    "sum_times": (sum_times, -20.0, {"a": -4.0, "b": -4.0, "c": 5.0}),
    "gate": (gate, 4.0, {"a": -3.0, "b": 2.0, "d": 1.0}),
    "product_and_sum": (product_and_sum, 4.0, {"a": -3.0, "b": 2.0, "c": 1.0}),
    "twice": (twice, 6.0, {"a": 2.0}),
    "two_routes": (two_routes, -4.0, {"a": 7.0, "b": 2.0, "c": -1.0}),
}
"""Each formula with its value and its gradients, worked out by hand."""


def agrees_with_golden(name: str, text: str) -> None:
    """Compare with a stored output; RETROGRADE_GOLDEN=1 stores what is there now."""
    path = GOLDEN / name
    if os.environ.get("RETROGRADE_GOLDEN"):
        path.write_text(text + "\n", encoding="utf-8")
    assert text + "\n" == path.read_text(encoding="utf-8"), f"{name} differs from its golden file"


def plain_story(rg, root, **options):
    """A story without places in the source: the same wherever the test stands."""
    import importlib

    reading = importlib.import_module(f"{rg.__name__}.explain.reading")
    return reading.read([root], [1.0], note=options.pop("note", ""), sites=False)


def routes(story, node):
    """Every route from the root to a node, one by one: (nodes, amount)."""
    found = []
    stack = [((story.root,), story.seed)]
    columns = story.columns
    while stack:
        path, amount = stack.pop()
        if path[-1] == node:
            found.append((path, amount))
            continue
        for operand, partial in zip(columns.inputs[path[-1]], columns.partials[path[-1]]):
            if columns.requires_grad[operand]:
                stack.append(((*path, operand), amount * partial))
    return found
