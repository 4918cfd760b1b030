"""Gradients lent to rules that are Python functions.

Such a rule reads ``out.grad`` and adds to ``x.grad``: what is there is put aside, and put back
whatever happens.
"""

from __future__ import annotations

from typing import Any


def after_rule(value: Any, upstream: float, before: float = 0.0) -> list[float | None]:
    """What a value's own rule leaves in the gradient of each input, if each held ``before``.

    An input that stands there twice has it at its first place, and None at the others.
    """
    inputs = value.inputs
    distinct = {id(each): each for each in inputs}
    borrowed = [value, *distinct.values()]
    kept = [each.grad for each in borrowed]
    try:
        for each in distinct.values():
            each.grad = before
        value.grad = upstream
        value._backward()
        left = {key: each.grad for key, each in distinct.items()}
        return [left.pop(id(each), None) for each in inputs]
    finally:
        for each, grad in zip(borrowed, kept):
            each.grad = grad
