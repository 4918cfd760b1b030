"""What exercises ask of functions on values: order, zeroing, detaching, a neuron, a loss, training.

Each asks a learner's namespace for numbers. The values come from the namespace itself: the file
holds a small class to work with.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Final

Namespace = Mapping[str, Any]
Numbers = list[tuple[str, Any]]
"""What was asked, in words, and the number that came."""


class AbsentError(Exception):
    """A name the task needs is not in the file."""


def _get(namespace: Namespace, name: str) -> Any:
    if not callable(namespace.get(name)):
        raise AbsentError(name)
    return namespace[name]


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
        ("v = a*b; v + v*a", v + v * a),
        ("v = a*b; v*a + v", v * a + v),
        ("u = a + a; v = a*b; (u*v + a) * u", (u * v + a) * u),
        *((f"graph {number}", _drawn(kind, number)) for number in range(1, 5)),
    ]


def _drawn(kind: Any, number: int) -> Any:
    """A graph whose values are used early and late, over routes of different length."""
    chance = random.Random(f"order {number}")
    made = [kind(-2.0), kind(0.5), kind(3.0)]
    for _ in range(9):
        one, other = chance.choice(made[-3:]), chance.choice(made)
        made.append(one + other if chance.random() < 0.5 else one * other)
    return made[-1] + made[-2]


def values_under(root: Any) -> dict[int, Any]:
    """Everything a value was made from, itself included, by identity."""
    found, stack = {id(root): root}, [root]
    while stack:
        for value in stack.pop().inputs:
            if id(value) not in found:
                found[id(value)] = value
                stack.append(value)
    return found


def _ask_order(namespace: Namespace) -> Numbers:
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
            "values missing": len(set(values_under(root)) - set(place)),
            "some value stands before its inputs": early > 0,
            "some value stands after its inputs": late > 0,
            "the root is last": bool(listed) and listed[-1] is root,
        }
        found += [(f"order({text}): {fact}", float(it)) for fact, it in facts.items()]
    return found


def _ask_zero(namespace: Namespace) -> Numbers:
    kind, zero = _get(namespace, "Value"), _get(namespace, "zero_grad")
    a, b = kind(2.0), kind(-3.0)
    u = a * b
    root = u * u + a
    root.backward()
    zero(root)
    left = {"a": a, "b": b, "u = a*b": u, "the root": root}
    found = [(f"{name}: gradient after zero_grad", it.grad) for name, it in left.items()]
    return found + [(f"{name}: data after zero_grad", it.data) for name, it in left.items()]


def _ask_detach(namespace: Namespace) -> Numbers:
    kind, detach = _get(namespace, "Value"), _get(namespace, "detach")
    a = kind(3.0)
    square = a * a
    apart = detach(square)
    (apart * a).backward()
    found = [
        ("detach(a*a): data", apart.data),
        ("detach(a*a): number of inputs", float(len(apart.inputs))),
        ("(detach(a*a) * a).backward(): a.grad", a.grad),
        ("a*a afterwards: number of inputs", float(len(square.inputs))),
    ]
    other = kind(3.0)
    square = other * other
    detach(square)
    square.backward()
    return [*found, ("detach(a*a), then (a*a).backward(): a.grad", other.grad)]


def _ask_neuron(namespace: Namespace) -> Numbers:
    kind, neuron = _get(namespace, "Value"), _get(namespace, "neuron")
    found = []
    for ws, b, xs in (((0.5, -1.2), 0.3, (1.5, 0.4)), ((-0.8, 0.6), -0.2, (0.7, 1.1))):
        weights, bias = [kind(w) for w in ws], kind(b)
        out = neuron(weights, bias, list(xs))
        out.backward()
        label = f"neuron({list(ws)}, {b}, {list(xs)})"
        found += [(f"{label}: data", out.data), (f"{label}: bias.grad", bias.grad)]
        found += [(f"{label}: w{at}.grad", w.grad) for at, w in enumerate(weights)]
    return found


def _ask_loss(namespace: Namespace) -> Numbers:
    kind, loss = _get(namespace, "Value"), _get(namespace, "loss")
    found = []
    for given, wanted in (((1.5, -0.5, 2.0), (1.0, 1.0, 1.0)), ((0.2, 0.4), (1.0, -1.0))):
        made = [kind(number) for number in given]
        out = loss(made, list(wanted))
        out.backward()
        label = f"loss({list(given)}, {list(wanted)})"
        found.append((f"{label}: data", out.data))
        found += [(f"{label}: prediction {at}.grad", it.grad) for at, it in enumerate(made)]
    return found


XS: Final = (-1.0, 0.0, 1.0, 2.0)
YS: Final = (-2.9, -1.1, 1.2, 2.8)


def _ask_train(namespace: Namespace) -> Numbers:
    train = _get(namespace, "train")
    found = []
    for steps in (1, 2, 60):
        w, b = train(list(XS), list(YS), steps, 0.05)
        found += [
            (f"train(xs, ys, steps={steps}, rate=0.05): w", float(getattr(w, "data", w))),
            (f"train(xs, ys, steps={steps}, rate=0.05): b", float(getattr(b, "data", b))),
        ]
    return found


ASKS: Final[dict[str, Callable[[Namespace], Numbers]]] = {
    "order": _ask_order, "zero": _ask_zero, "detach": _ask_detach,
    "neuron": _ask_neuron, "loss": _ask_loss, "train": _ask_train,
}  # fmt: skip
"""Every task."""
