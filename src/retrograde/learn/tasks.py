"""Exercises that are functions on values: order, zeroing, detaching, a neuron, a loss, training.

Each task asks a learner's namespace for numbers, and has a right namespace and faulty ones. The
values of the task come from the namespace itself: the file holds a small class to work with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from .faults import engine, inputs_first
from .programs import Answer

Namespace = Mapping[str, Any]
Ask = Callable[[Namespace], list[Answer]]


class AbsentError(Exception):
    """A name the task needs is not in the file."""


def _get(namespace: Namespace, name: str) -> Any:
    if not callable(namespace.get(name)):
        raise AbsentError(name)
    return namespace[name]


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


def _graphs(kind: Any) -> list[tuple[str, Any]]:
    a, b = kind(2.0), kind(3.0)
    u = a + a
    v = a * b
    w = v + a
    return [
        ("a + b", a + b),
        ("u = a + a; u + u", u + u),
        ("v = a*b; w = v + a; w * v", w * v),
        ("(a*b + b) * (a + b)", (v + b) * (a + b)),
    ]


def _under(root: Any) -> dict[int, Any]:
    found, stack = {id(root): root}, [root]
    while stack:
        for value in stack.pop().inputs:
            if id(value) not in found:
                found[id(value)] = value
                stack.append(value)
    return found


def _ask_order(namespace: Namespace) -> list[Answer]:
    kind, order = _get(namespace, "Value"), _get(namespace, "order")
    found = []
    for text, root in _graphs(kind):
        listed = list(order(root))
        place = {id(value): at for at, value in enumerate(listed)}
        early = late = 0
        for value in listed:
            for it in value.inputs:
                early += place.get(id(it), -1) > place[id(value)]
                late += place.get(id(it), -1) < place[id(value)]
        facts = {
            "values listed": len(listed),
            "different values": len(place),
            "values missing": len(set(_under(root)) - set(place)),
            "some value stands before its inputs": early > 0,
            "some value stands after its inputs": late > 0,
            "the root is last": bool(listed) and listed[-1] is root,
        }
        found += [Answer(f"order({text}): {fact}", float(it)) for fact, it in facts.items()]
    return found


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


def _ask_zero(namespace: Namespace) -> list[Answer]:
    kind, zero = _get(namespace, "Value"), _get(namespace, "zero_grad")
    a, b = kind(2.0), kind(-3.0)
    u = a * b
    root = u * u + a
    root.backward()
    zero(root)
    left = {"a": a, "b": b, "u = a*b": u, "the root": root}
    found = [Answer(f"{name}: gradient after zero_grad", it.grad) for name, it in left.items()]
    return found + [Answer(f"{name}: data after zero_grad", it.data) for name, it in left.items()]


def _zero_with(fault: str) -> Callable[[Any], None]:
    def zero_grad(root: Any) -> None:
        for value in _under(root).values():
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


def _ask_detach(namespace: Namespace) -> list[Answer]:
    kind, detach = _get(namespace, "Value"), _get(namespace, "detach")
    a = kind(3.0)
    square = a * a
    apart = detach(square)
    (apart * a).backward()
    found = [
        Answer("detach(a*a): data", apart.data),
        Answer("detach(a*a): number of inputs", float(len(apart.inputs))),
        Answer("(detach(a*a) * a).backward(): a.grad", a.grad),
        Answer("a*a afterwards: number of inputs", float(len(square.inputs))),
    ]
    other = kind(3.0)
    square = other * other
    detach(square)
    square.backward()
    return [*found, Answer("detach(a*a), then (a*a).backward(): a.grad", other.grad)]


def _detach(value: Any) -> Any:
    return type(value)(value.data)


def _detach_keeping(value: Any) -> Any:
    return type(value)(value.data, value._inputs, value._partials)


def _detach_in_place(value: Any) -> Any:
    value._inputs = value._partials = ()
    return value


# ---- a neuron, a loss, training ----


def _ask_neuron(namespace: Namespace) -> list[Answer]:
    kind, neuron = _get(namespace, "Value"), _get(namespace, "neuron")
    found = []
    for ws, b, xs in (((0.5, -1.2), 0.3, (1.5, 0.4)), ((-0.8, 0.6), -0.2, (0.7, 1.1))):
        weights, bias = [kind(w) for w in ws], kind(b)
        out = neuron(weights, bias, list(xs))
        out.backward()
        label = f"neuron({list(ws)}, {b}, {list(xs)})"
        found += [Answer(f"{label}: data", out.data), Answer(f"{label}: bias.grad", bias.grad)]
        found += [Answer(f"{label}: w{at}.grad", w.grad) for at, w in enumerate(weights)]
    return found


def _neuron_with(fault: str) -> Callable[..., Any]:
    def neuron(weights: list[Any], bias: Any, xs: list[float]) -> Any:
        total = weights[0] * xs[0]
        for weight, x in zip(weights[1:], xs[1:]):
            total = total + weight * x
        if fault != "bias":
            total = total + bias
        return total if fault == "activation" else total.tanh()

    return neuron


def _ask_loss(namespace: Namespace) -> list[Answer]:
    kind, loss = _get(namespace, "Value"), _get(namespace, "loss")
    found = []
    for given, wanted in (((1.5, -0.5, 2.0), (1.0, 1.0, 1.0)), ((0.2, 0.4), (1.0, -1.0))):
        made = [kind(number) for number in given]
        out = loss(made, list(wanted))
        out.backward()
        label = f"loss({list(given)}, {list(wanted)})"
        found.append(Answer(f"{label}: data", out.data))
        found += [Answer(f"{label}: prediction {at}.grad", it.grad) for at, it in enumerate(made)]
    return found


def _loss_with(fault: str) -> Callable[..., Any]:
    def loss(predictions: list[Any], targets: list[float]) -> Any:
        total: Any = None
        for prediction, target in zip(predictions, targets):
            error = prediction - target
            term = error if fault == "square" else error * error
            total = term if total is None else total + term
        return total if fault == "mean" else total * (1 / len(targets))

    return loss


XS: Final = (-1.0, 0.0, 1.0, 2.0)
YS: Final = (-2.9, -1.1, 1.2, 2.8)


def _ask_train(namespace: Namespace) -> list[Answer]:
    train = _get(namespace, "train")
    found = []
    for steps in (1, 2, 60):
        w, b = train(list(XS), list(YS), steps, 0.05)
        found += [
            Answer(f"train(xs, ys, steps={steps}, rate=0.05): w", float(getattr(w, "data", w))),
            Answer(f"train(xs, ys, steps={steps}, rate=0.05): b", float(getattr(b, "data", b))),
        ]
    return found


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


TASKS: Final[dict[str, tuple[Ask, Callable[[], dict[str, Namespace]]]]] = {
    "order": (_ask_order, _subjects(
        right=_order,
        visits_too_early=_preorder,
        order_not_reversed=lambda root: inputs_first(root)[::-1],
        duplicates=_every_use,
        unreached=_first_inputs,
    )),
    "zero": (_ask_zero, _subjects(
        right=_zero_with(""), leaves_only=_zero_with("leaves"), root_only=_zero_with("root"),
        zeroes_data=_zero_with("data"), zeroes_data__only=_zero_with("data only"),
    )),
    "detach": (_ask_detach, _subjects(
        right=_detach, keeps_inputs=_detach_keeping, changes_original=_detach_in_place,
        keeps_inputs__same=lambda value: value,
    )),
    "neuron": (_ask_neuron, _subjects(
        right=_neuron_with(""), no_bias=_neuron_with("bias"),
        no_activation=_neuron_with("activation"),
    )),
    "loss": (_ask_loss, _subjects(
        right=_loss_with(""), sum_not_mean=_loss_with("mean"), no_square=_loss_with("square"),
    )),
    "train": (_ask_train, _subjects(
        right=_train_with(""), climbs=_train_with("climbs"), never_zeroes=_train_with("zero"),
        no_rate=_train_with("rate"), sum_not_mean=_train_with("sum"), no_bias=_train_with("one"),
    )),
}  # fmt: skip
"""Every task: how it asks, and who answers."""
