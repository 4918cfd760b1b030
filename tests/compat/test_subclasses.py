"""Methods added from outside, and classes derived from ``Value``."""

from __future__ import annotations

import gc
import math
import weakref

import pytest

from ..derivatives.support import close


@pytest.fixture
def added(rg):
    """Names put on the class, taken away again afterwards."""
    names = []

    def add(name, function):
        names.append(name)
        setattr(rg.Value, name, function)

    yield add
    for name in names:
        delattr(rg.Value, name)


# ---- methods from outside ----------------------------------------------------------------------


def test_a_method_can_be_added_to_the_class(rg, added):
    added(
        "gelu2",
        lambda self: 0.5 * self * (1 + (self * 0.79788456 * (1 + 0.044715 * self**2)).tanh()),
    )
    x = rg.Value(0.7)
    y = x.gelu2()
    y.backward()
    assert close(y.data, 0.7 * 0.5 * (1 + math.erf(0.7 / 2**0.5)), 1e-3)
    assert close(rg.grad(lambda t: t.gelu2())(0.7), x.grad)
    assert isinstance(rg.grad(rg.grad(rg.Value.gelu2))(0.7), float)
    assert (x * 2.0).gelu2().data > 0.0


def test_a_closure_style_method_can_be_added(rg, added):
    def sine(self):
        out = rg.Value(math.sin(self.data), (self,), "sin2")

        def backward():
            self.grad += math.cos(self.data) * out.grad

        out._backward = backward
        return out

    added("sin2", sine)
    x = rg.Value(0.3)
    (x.sin2() * x.sin2()).backward()
    assert close(x.grad, 2 * math.sin(0.3) * math.cos(0.3))


def test_properties_class_attributes_and_special_methods_can_be_added(rg, added):
    added("is_large", property(lambda self: abs(self.data) > 100))
    added("unit", "m/s")
    added("__matmul__", lambda self, other: self * other)
    x = rg.Value(1000.0)
    assert x.is_large
    assert not rg.Value(1.0).is_large
    assert x.unit == "m/s"
    assert (x @ rg.Value(2.0)).data == 2000.0


def test_methods_can_be_replaced_and_put_back(rg):
    original = rg.Value.relu
    try:
        rg.Value.relu = lambda self: self * 100.0
        assert rg.Value(-1.0).relu().data == -100.0
    finally:
        rg.Value.relu = original
    assert rg.Value(-1.0).relu().data == 0.0


# ---- subclasses --------------------------------------------------------------------------------


def parameter_class(rg):
    class Parameter(rg.Value):
        """A leaf with a name, a learning rate and a history."""

        def __init__(self, data, name, rate=0.1):
            super().__init__(data, label=name)
            self.rate = rate
            self.history = []

        def step(self):
            self.history.append(self.data)
            self.data -= self.rate * self.grad
            self.grad = 0.0

        @property
        def doubled(self):
            return self * 2.0

    return Parameter


def test_a_subclass_has_attributes_methods_and_its_own_constructor(rg):
    Parameter = parameter_class(rg)
    w = Parameter(3.0, "w", rate=0.5)
    assert (w.data, w.label, w.rate, w.grad, w.op) == (3.0, "w", 0.5, 0.0, "leaf")
    for _ in range(3):
        (w * w).backward()
        w.step()
    assert w.history == [3.0, 0.0, 0.0]
    assert isinstance(w, rg.Value)
    w.anything = {"goes": True}
    assert vars(w)["anything"] == {"goes": True}
    with pytest.raises(TypeError):
        Parameter(3.0)


def test_operators_on_a_subclass_give_plain_values(rg):
    Parameter = parameter_class(rg)
    w = Parameter(3.0, "w")
    for value in (w * 2.0, 2.0 * w, w + w, -w, w**2, w.exp(), rg.sum([w, w]), w.doubled):
        assert type(value) is rg.Value
    assert (w * w)._children[0] is w
    assert (+w) is w
    assert type(w.detach()) is rg.Value


def test_gradients_flow_through_subclasses_like_any_value(rg):
    Parameter = parameter_class(rg)
    w, b = Parameter(3.0, "w"), Parameter(1.0, "b")
    rg.dot([w, b], [b, w]).backward()
    assert (w.grad, b.grad) == (2.0, 6.0)
    slope = rg.grad(lambda x: x * w * w)(2.0)
    slope.backward()
    assert w.grad == 2.0 + 6.0
    assert [g.data for g in rg.gradients(w * w * b, [w, b])] == [6.0, 9.0]
    assert rg.grad(lambda v: v * v)(w).data == 6.0


def test_subclass_instances_take_weak_references(rg):
    Parameter = parameter_class(rg)
    w = Parameter(3.0, "w")
    called = []
    reference = weakref.ref(w, called.append)
    table = weakref.WeakKeyDictionary({w: "w"})
    used = w * 2.0
    assert reference() is w
    assert table[w] == "w"
    del w
    gc.collect()
    assert reference() is not None
    used.backward()
    assert reference().grad == 2.0
    del used
    gc.collect()
    assert reference() is None
    assert len(called) == 1
    assert len(table) == 0


def test_a_cycle_through_an_attribute_is_collected(rg):
    class Node(rg.Value):
        pass

    a, b = Node(1.0), Node(2.0)
    a.other, b.other = b, a
    reference = weakref.ref(a)
    del a, b
    gc.collect()
    assert reference() is None


def test_inner_nodes_of_a_subclass(rg):
    class Traced(rg.Value):
        made = 0

        def __init__(self, data, children=(), local_grads=(), **named):
            super().__init__(data, children, local_grads, **named)
            type(self).made += 1
            self.note = f"number {type(self).made}"

    x = rg.Value(3.0)
    node = Traced(9.0, (x,), (6.0,), _op="square")
    (node * 2.0).backward()
    assert x.grad == 12.0
    assert (node.note, node.op, node._local_grads) == ("number 1", "square", (6.0,))


def test_a_subclass_in_the_closure_style(rg):
    class Value2(rg.Value):
        """A micrograd-style class built on ours: its own operators, its own closures."""

        def tanh(self):
            t = math.tanh(self.data)
            out = Value2(t, (self,), "tanh")

            def backward():
                self.grad += (1 - t * t) * out.grad

            out._backward = backward
            return out

        def __mul__(self, other):
            other = other if isinstance(other, rg.Value) else Value2(other)
            out = Value2(self.data * other.data, (self, other), "*")

            def backward():
                self.grad += other.data * out.grad
                other.grad += self.data * out.grad

            out._backward = backward
            return out

    a, b = Value2(0.5), Value2(-0.3)
    root = (a * b * 4.0).tanh() * a
    assert type(root) is Value2
    assert root._prev == {a, root._children[0]}
    root.note = "kept"
    root.backward()
    x, y = rg.Value(0.5), rg.Value(-0.3)
    ((x * y * 4.0).tanh() * x).backward()
    assert [a.grad, b.grad] == pytest.approx([x.grad, y.grad], rel=1e-14)
    mixed = (a + b).tanh()
    assert type(mixed) is rg.Value
    (a * mixed).backward()
    gone = weakref.ref(root)
    del root, mixed
    for _ in range(3):
        gc.collect()
    assert gone() is None


def test_modes_apply_to_nodes_of_a_subclass(rg):
    class Own(rg.Value):
        pass

    x = rg.Value(3.0)
    with rg.no_grad():
        silent = Own(9.0, (x,), (6.0,))
    assert (silent.op, silent.requires_grad, silent.inputs) == ("leaf", False, ())
    frozen = Own(9.0, (rg.Value(3.0, requires_grad=False),), (6.0,))
    assert (frozen.op, frozen.requires_grad) == ("leaf", False)
    with rg.anomaly(), pytest.raises(rg.errors.AnomalyError):
        Own(math.nan, (x,), (6.0,))


def test_a_subclass_may_change_how_it_prints_and_compares(rg):
    class Named(rg.Value):
        def __repr__(self):
            return f"<{self.label}>"

        def __eq__(self, other):
            return self is other

        def __ne__(self, other):
            return self is not other

        __hash__ = rg.Value.__hash__

    a, b = Named(1.0, label="a"), Named(1.0, label="b")
    assert repr(a) == "<a>"
    assert a != b
    assert [a, b].index(b) == 1
    (a * b).backward()
    assert a.grad == 1.0


def test_slots_in_a_subclass(rg):
    class Slim(rg.Value):
        __slots__ = ("rate",)

    w = Slim(3.0)
    w.rate = 0.5
    (w * w).backward()
    assert (w.grad, w.rate) == (6.0, 0.5)
    with pytest.raises(AttributeError):
        w.other = 1


def test_a_deeper_hierarchy_and_mixins(rg):
    class Mixin:
        def twice(self):
            return self * 2.0

    class Base(rg.Value):
        kind = "base"

    class Derived(Mixin, Base):
        kind = "derived"

    v = Derived(3.0)
    assert (v.kind, v.twice().data) == ("derived", 6.0)
    assert [c.__name__ for c in type(v).__mro__[:3]] == ["Derived", "Mixin", "Base"]
