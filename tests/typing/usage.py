"""How a typed program uses the package. Only type checkers read this file; it is never run.

A line that must be refused carries ``type: ignore`` with the error expected: where the error does
not come, the strict check reports an unused ignore.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import retrograde as rg
from retrograde import Value

a = Value(2.0, label="a")
b = Value(3)
maybe: Value | float = a

# attributes
assert_type(a.data, float)
assert_type(a.grad, float)
assert_type(a.label, str)
assert_type(a.requires_grad, bool)
assert_type(a.op, str)
assert_type(a.inputs, tuple[Value, ...])
assert_type(a.partials, tuple[float, ...])
assert_type(a._prev, set[Value])
a.data = 1
a.data = np.float32(1.0)
a.grad = 0
a.label = None
a.data = "1"  # type: ignore[assignment]
a.op = "mul"  # type: ignore[misc]

# operators, with values, numbers and NumPy scalars on either side
assert_type(a + b, Value)
assert_type(a * 2, Value)
assert_type(2.0 - a, Value)
assert_type(1 / a, Value)
assert_type(a**2, Value)
assert_type(2**a, Value)
assert_type(a**b, Value)
assert_type(-a, Value)
assert_type(+a, Value)
assert_type(abs(a), Value)
assert_type(a * np.float64(2.0), Value)
assert_type(a < b, bool)
assert_type(a >= 1.0, bool)
assert_type(a == 2.0, bool)
assert_type(sum([a, b], start=Value(0.0)), Value)
assert_type(max(a, b), Value)

# arrays are taken element by element
array = np.ones(3)
assert_type(a + array, NDArray[Any])
assert_type(rg.exp(array), NDArray[Any])
assert_type(rg.maximum(a, array), NDArray[Any])

# what leaves the graph is refused
float(a)  # type: ignore[arg-type]
int(a)  # type: ignore[call-overload]
math.exp(a)  # type: ignore[arg-type]
round(a)  # type: ignore[call-overload]
a // 2  # type: ignore[operator]
a % 2  # type: ignore[operator]
a + "1"  # type: ignore[operator]

# ops as methods and as functions: values give a value, numbers a float
assert_type(a.exp(), Value)
assert_type(a.relu().tanh(), Value)
assert_type(a.maximum(b), Value)
assert_type(a.leaky_relu(), Value)
assert_type(a.leaky_relu(slope=0.1), Value)
assert_type(a.clip(-1.0, high=1.0), Value)
assert_type(rg.exp(a), Value)
assert_type(rg.exp(1.0), float)
assert_type(rg.exp(1), float)
assert_type(rg.exp(np.float32(1.0)), float)
assert_type(rg.exp(maybe), Value | float)
assert_type(rg.maximum(a, 0.0), Value)
assert_type(rg.maximum(0.0, a), Value)
assert_type(rg.maximum(0.0, 1.0), float)
assert_type(rg.leaky_relu(a), Value)
assert_type(rg.leaky_relu(1.0), float)
assert_type(rg.leaky_relu(1.0, a), Value)
assert_type(rg.where(1.0, a, 0.0), Value)
assert_type(rg.clip(0.5, 0.0, 1.0), float)
rg.exp("1")  # type: ignore[call-overload]
rg.exp(a, b)  # type: ignore[call-overload]
a.exp(1.0)  # type: ignore[call-arg]

# functions of many values
assert_type(rg.sum([a, b]), Value)
assert_type(rg.sum([1.0, 2.0]), float)
assert_type(rg.dot([a, b], [1.0, 2.0]), Value)
assert_type(rg.dot([1.0], [2.0]), float)

# graph, modes, nests
(a * b).backward()
a.backward(seed=2.0)
rg.backward([a * b, a + b], [1.0, 2.0])
assert_type(rg.order(a * b), list[Value])
assert_type(a.detach(), Value)
assert_type(a.item(), float)
with rg.no_grad():
    assert_type(rg.grad_enabled(), bool)
with a.register_hook(lambda total: total * 2) as handle:
    handle.remove()
rg.assign([a, b], [1.0, 2.0])
assert_type(rg.ops["mul"].linear, bool)

# checking
assert_type(rg.gradcheck(lambda x: x * x, 2.0).right, bool)
assert_type(rg.compare(lambda x: x * x, 2.0, against="complex-step").agrees, bool)
rg.assert_gradients(lambda x: x * x, 2.0)

# explanations
story = rg.story(a * b)
assert_type(story.nodes[0].grad, float)
assert_type(story.backward[0].contributions[0].amount, float)
assert_type(rg.ledger(a * b, a, through=[b, "v1"]).words(), str)
assert_type(rg.thermometer(story, [a]).readings[0].words, str)
assert_type(rg.explain.Story.from_json(story.to_json()), rg.explain.Story)
(a * b).explain(width=60)
rg.story("a")  # type: ignore[arg-type]

# compiled functions and files
compiled = rg.compile(lambda x: x * a)
assert_type(compiled.save("f.rgp"), None)
loaded = rg.load("f.rgp")
assert_type(loaded.parameters["a"], Value)
assert_type(loaded.backward(1.0), float)
loaded.set_parameters({"a": 1.0})
rg.load(3)  # type: ignore[arg-type]

# modules and optimizers
model = rg.nn.MLP(2, [4, 1], seed=1)
assert_type(model.parameters(), list[Any])  # values, or tensors
assert_type(rg.nn.Linear(2, 3)([a, 1.0]), Any)  # as what it is given
optimizer = rg.optim.Adam(model, lr=0.1, betas=(0.9, 0.99))
optimizer.step()
assert_type(rg.optim.clip_grad_norm(model.parameters(), 1.0), float)
rg.optim.SGD([a], lr="1")  # type: ignore[arg-type]
rg.nn.MLP("2", [1])  # type: ignore[arg-type]

# the closure style of the small teaching engines
out = Value(a.data * 2, (a,), "double")
out._backward = lambda: None
Value(a.data * 2, (a,), (2.0,))
Value(a.data * 2, _children=(a,), _op="double")
Value(data="1")  # type: ignore[arg-type]


class Named(Value):
    """Values may be subclassed; operators return plain values."""


assert_type(Named(1.0) + 1, Value)

# births, the doctor, memory
found = rg.births(a * b)
assert_type(found.forward[0].result, float)
report = rg.doctor(a * b, [a, b], vanishing=1e-9)
assert_type(report.healthy, bool)
assert_type(report.alarms[0].sentence, str)
with rg.doctor.watch({"a": a}, groups=lambda name: name[0]) as watched:
    assert_type(watched.passes, int)
assert_type(rg.memory(a * b, [a]).recorded, int)
rg.doctor(3.0, [a])  # type: ignore[arg-type]
