"""Exercises that are functions on values: order, zeroing, detaching, a neuron, a loss, training.

Each task has a right namespace and faulty ones. What is asked of them, and of a learner's, is in
``inside/tasks.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from .faults import engine, inputs_first
from .inside.tasks import values_under

Namespace = Mapping[str, Any]


class _Right(engine()):  # type: ignore[misc]
    """The right engine with the names the exercises use."""

    @property
    def inputs(self) -> Any:
        return self._inputs

    @inputs.setter
    def inputs(self, inputs: Any) -> None:
        self._inputs = inputs


def _subjects(**variants: Callable[..., Any]) -> Callable[[], dict[str, Namespace]]:
    """Namespaces that differ in one function; ``right`` is the one without a fault."""

    def subjects() -> dict[str, Namespace]:
        name = variants["right"].__name__.strip("_")
        return {
            "" if fault == "right" else fault.replace("__", ":").replace("_", "-"): {
                "Value": _Right, name: function,
            }
            for fault, function in variants.items()
        }  # fmt: skip

    return subjects


# ---- order ----


def _order(root: Any) -> list[Any]:
    return list(inputs_first(root))


def _preorder(root: Any) -> list[Any]:
    listed, stack = [], [root]
    seen: set[int] = set()
    while stack:
        value = stack.pop()
        if id(value) not in seen:
            seen.add(id(value))
            listed.append(value)
            stack.extend(reversed(value.inputs))
    return listed


def _every_use(root: Any) -> list[Any]:
    listed, stack = [], [root]
    while stack:
        value = stack.pop()
        listed.append(value)
        stack.extend(value.inputs)
    return listed[::-1]


def _first_inputs(root: Any) -> list[Any]:
    listed = [root]
    while listed[-1].inputs:
        listed.append(listed[-1].inputs[0])
    return listed[::-1]


# ---- zeroing ----


def _zero_with(fault: str) -> Callable[[Any], None]:
    def zero_grad(root: Any) -> None:
        for value in values_under(root).values():
            if fault == "leaves" and value.inputs:
                continue
            if fault == "root" and value is not root:
                continue
            if fault == "data":
                value.data = 0.0
            if fault != "data only":
                value.grad = 0.0
            else:
                value.data = 0.0

    return zero_grad


# ---- detaching ----


def _detach(value: Any) -> Any:
    return type(value)(value.data)


def _detach_keeping(value: Any) -> Any:
    return type(value)(value.data, value._inputs, value._partials)


def _detach_in_place(value: Any) -> Any:
    value._inputs = value._partials = ()
    return value


# ---- a neuron, a loss, training ----


def _neuron_with(fault: str) -> Callable[..., Any]:
    def neuron(weights: list[Any], bias: Any, xs: list[float]) -> Any:
        total = weights[0] * xs[0]
        for weight, x in zip(weights[1:], xs[1:]):
            total = total + weight * x
        if fault != "bias":
            total = total + bias
        return total if fault == "activation" else total.tanh()

    return neuron


def _loss_with(fault: str) -> Callable[..., Any]:
    def loss(predictions: list[Any], targets: list[float]) -> Any:
        total: Any = None
        for prediction, target in zip(predictions, targets):
            error = prediction - target
            term = error if fault == "square" else error * error
            total = term if total is None else total + term
        return total if fault == "mean" else total * (1 / len(targets))

    return loss


def _train_with(fault: str) -> Callable[..., Any]:
    def train(xs: list[float], ys: list[float], steps: int, rate: float) -> tuple[float, float]:
        w = b = grad_w = grad_b = 0.0
        sign = 1.0 if fault == "climbs" else -1.0
        count = 1 if fault == "sum" else len(xs)
        for _ in range(steps):
            errors = [w * x + b - y for x, y in zip(xs, ys)]
            if fault != "zero":
                grad_w = grad_b = 0.0
            grad_w += sum(2 * error * x for error, x in zip(errors, xs)) / count
            grad_b += sum(2 * error for error in errors) / count
            used = 1.0 if fault == "rate" else rate
            w, b = w + sign * used * grad_w, b + sign * used * grad_b
            if fault == "one":
                b = 0.0
        return w, b

    return train


TASKS: Final[dict[str, Callable[[], dict[str, Namespace]]]] = {
    "order": _subjects(
        right=_order,
        visits_too_early=_preorder,
        order_not_reversed=lambda root: inputs_first(root)[::-1],
        duplicates=_every_use,
        unreached=_first_inputs,
    ),
    "zero": _subjects(
        right=_zero_with(""), leaves_only=_zero_with("leaves"), root_only=_zero_with("root"),
        zeroes_data=_zero_with("data"), zeroes_data__only=_zero_with("data only"),
    ),
    "detach": _subjects(
        right=_detach, keeps_inputs=_detach_keeping, changes_original=_detach_in_place,
        keeps_inputs__same=lambda value: value,
    ),
    "neuron": _subjects(
        right=_neuron_with(""), no_bias=_neuron_with("bias"),
        no_activation=_neuron_with("activation"),
    ),
    "loss": _subjects(
        right=_loss_with(""), sum_not_mean=_loss_with("mean"), no_square=_loss_with("square"),
    ),
    "train": _subjects(
        right=_train_with(""), climbs=_train_with("climbs"), never_zeroes=_train_with("zero"),
        no_rate=_train_with("rate"), sum_not_mean=_train_with("sum"), no_bias=_train_with("one"),
    ),
}  # fmt: skip
"""Every task: who answers it."""
