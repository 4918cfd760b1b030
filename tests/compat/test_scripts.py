"""What drawing scripts and hand-written backward passes of those engines read from our graphs."""

from __future__ import annotations

import re

import pytest

from .engines import ClosureEngine, LocalGradEngine
from .programs import backward_by_closures, backward_by_local_grads, dot_source, trace


def expression(Value):
    """The lecture's neuron, with labels, sharing and numbers."""
    a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    c = Value(10.0, label="c")
    e = a * b
    e.label = "e"
    d = e + c
    d.label = "d"
    f = Value(-2.0, label="f")
    loss = d * f + d * 0.5
    loss.label = "L"
    return loss, {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f}


def test_a_traced_graph_has_the_nodes_and_edges_of_the_original(rg):
    ours, theirs = expression(rg.Value)[0], expression(ClosureEngine)[0]
    for root in (ours, theirs):
        root.backward()

    def read(root):
        nodes, edges = trace(root)
        described = {id(n): (n.label or "", round(n.data, 12), n._op) for n in nodes}
        return (
            sorted(described.values()),
            sorted((described[id(child)], described[id(value)]) for child, value in edges),
        )

    assert read(ours) == read(theirs)
    nodes, edges = trace(ours)
    assert len(nodes) == 10
    assert len(edges) == 10


def test_a_drawing_holds_together(rg):
    root, _ = expression(rg.Value)
    root.backward()
    text = dot_source(root)
    boxes = set(re.findall(r'^  "(\d+)" \[label="\{', text, re.M))
    assert len(boxes) == 10
    for source, target in re.findall(r'^  "(\d+)" -> "(\d+)\D', text, re.M):
        assert {source, target} <= boxes
    assert "{ L | data -6.0000 | grad 1.0000 }" in text
    assert "{ a | data 2.0000 | grad 4.5000 }" in text
    assert text.count('[label="*"]') == 3
    assert text.count('[label="+"]') == 2


def test_a_value_used_twice_is_one_node_and_one_edge(rg):
    x = rg.Value(3.0)
    nodes, edges = trace(x + x)
    assert len(nodes) == 2
    assert len(edges) == 1
    assert len((x + x)._children) == 2


@pytest.mark.parametrize(
    ("build", "symbol"),
    [
        (lambda a, b: a + b, "+"),
        (lambda a, b: a * b, "*"),
        (lambda a, b: a**2, "**2"),
        (lambda a, b: a**-1, "**-1"),
        (lambda a, b: a.relu(), "ReLU"),
        (lambda a, b: a.tanh(), "tanh"),
        (lambda a, b: a.exp(), "exp"),
        (lambda a, b: a.log(), "log"),
    ],
)
def test_symbols_are_those_of_the_original(rg, build, symbol):
    assert build(rg.Value(2.0), rg.Value(3.0))._op == symbol
    assert build(ClosureEngine(2.0), ClosureEngine(3.0))._op == symbol
    assert rg.Value(2.0)._op == ""


def test_a_backward_pass_by_closures_gives_our_gradients(rg):
    (ours, names), (ours_again, names_again) = expression(rg.Value), expression(rg.Value)
    order = backward_by_closures(ours)
    ours_again.backward()
    assert {n: v.grad for n, v in names.items()} == {n: v.grad for n, v in names_again.items()}
    theirs, their_names = expression(ClosureEngine)
    assert len(order) == len(backward_by_closures(theirs))
    assert {n: v.grad for n, v in names.items()} == {n: v.grad for n, v in their_names.items()}


def wide_expression(Value):
    a, b = Value(0.5), Value(1.5)
    c = (a * b + a).exp()
    d = (c - b) / (a + 2.0)
    root = d**2 + d.log() * a - b / 4 + (a - b).relu() + (b - 1) ** 3 * -a
    return root, (a, b)


def test_a_backward_pass_by_local_gradients_gives_our_gradients(rg):
    (ours, leaves), (again, leaves_again) = wide_expression(rg.Value), wide_expression(rg.Value)
    backward_by_local_grads(ours)
    again.backward()
    assert [v.grad for v in leaves] == pytest.approx([v.grad for v in leaves_again], rel=1e-15)
    theirs, their_leaves = wide_expression(LocalGradEngine)
    backward_by_local_grads(theirs)
    assert [v.grad for v in leaves] == pytest.approx([v.grad for v in their_leaves], rel=1e-12)


def test_local_gradients_stand_beside_their_children(rg):
    x, y = rg.Value(3.0), rg.Value(4.0)
    for value, children, local_grads in (
        (x * y, (3.0, 4.0), (4.0, 3.0)),
        (x + y, (3.0, 4.0), (1.0, 1.0)),
        (x * 5, (3.0, 5.0), (5.0, 3.0)),
        (x**2, (3.0,), (6.0,)),
        (rg.dot([x, y], [2.0, x]), (3.0, 4.0, 2.0, 3.0), (2.0, 3.0, 3.0, 4.0)),
    ):
        assert tuple(child.data for child in value._children) == children
        assert value._local_grads == local_grads
    assert (x._children, x._local_grads, x._prev) == ((), (), set())


def test_calling_backward_of_one_node_adds_its_contributions_once(rg):
    x, y = rg.Value(3.0), rg.Value(4.0)
    z = x * y
    z.grad = 10.0
    z._backward()
    assert (x.grad, y.grad) == (40.0, 30.0)
    z._backward()
    assert (x.grad, y.grad) == (80.0, 60.0)
    x._backward()
    assert (x.grad, y.grad) == (80.0, 60.0)


def test_values_print_as_in_the_original(rg):
    for number in (2.0, -0.5, 1e-9):
        ours, theirs = rg.Value(number), ClosureEngine(number)
        assert repr(ours) == repr(theirs)
    assert f"{rg.Value(1.23456):.2f}" == "1.23"
    assert str([rg.Value(1.0)]) == "[Value(data=1.0, grad=0.0)]"
