"""The closure style: ``out = Value(data, (x,), 'name')``, then ``out._backward = closure``."""

from __future__ import annotations

import gc
import math
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from ..contract.support import line_of
from ..derivatives.support import Watch, is_native


def tanh(rg, x, called=None):
    """The lecture's tanh."""
    t = math.tanh(x.data)
    out = rg.Value(t, (x,), "tanh")

    def backward():
        if called is not None:
            called.append((out, out.grad))
        x.grad += (1 - t**2) * out.grad

    out._backward = backward
    return out


def multiply(rg, x, y, called=None):
    out = rg.Value(x.data * y.data, (x, y), "*")

    def backward():
        if called is not None:
            called.append((out, out.grad))
        x.grad += y.data * out.grad
        y.grad += x.data * out.grad

    out._backward = backward
    return out


# ---- backward ----------------------------------------------------------------------------------


def test_closures_mix_with_our_ops(rg):
    a, b = rg.Value(0.4), rg.Value(-0.7)
    root = tanh(rg, a * b + 0.1) * 3.0 + multiply(rg, a, b).exp()
    root.backward()
    x, y = rg.Value(0.4), rg.Value(-0.7)
    expected = (x * y + 0.1).tanh() * 3.0 + (x * y).exp()
    expected.backward()
    assert root.data == pytest.approx(expected.data, rel=1e-15)
    assert [a.grad, b.grad] == pytest.approx([x.grad, y.grad], rel=1e-14)


def test_each_closure_is_called_once_with_its_gradient_complete(rg):
    called = []
    x = rg.Value(0.5)
    first = tanh(rg, x, called)
    second = multiply(rg, first, first, called)
    third = tanh(rg, first + second, called)
    (third + second * 2.0 + first).backward()
    assert [value for value, _ in called] == [third, second, first]
    assert [grad for _, grad in called] == [value.grad for value in (third, second, first)]
    slopes = rg.Value(0.5)
    t = slopes.tanh()
    ((t + t * t).tanh() + t * t * 2.0 + t).backward()
    assert x.grad == pytest.approx(slopes.grad, rel=1e-14)


def test_closures_run_from_the_root_down_in_a_fixed_order(rg):
    order = []
    x = rg.Value(0.1)
    layers = [x]
    for index in range(30):
        source = layers[-1] if index % 3 else layers[index // 2] + layers[-1]
        layers.append(tanh(rg, source, order))
    layers[-1].backward()
    first = [value for value, _ in order]
    position = {id(value): place for place, value in enumerate(first)}
    for value in first:
        for used in rg.order(value)[:-1]:
            if id(used) in position:
                assert position[id(used)] > position[id(value)]
    order.clear()
    layers[-1].backward()
    assert all(one is other for one, other in zip(first, (value for value, _ in order)))
    assert len(order) == len(first)


def test_the_seed_and_several_roots_reach_closures(rg):
    x = rg.Value(0.5)
    out = tanh(rg, x)
    out.backward(4.0)
    slope = 1 - math.tanh(0.5) ** 2
    assert x.grad == 4.0 * slope
    rg.backward([out, out * 2.0], [1.0, 10.0])
    assert x.grad == pytest.approx(25.0 * slope)


def test_a_closure_may_do_nothing(rg):
    x = rg.Value(0.5)
    out = rg.Value(1.0, (x,), "stop")
    out._backward = lambda: None
    (out * x).backward()
    assert x.grad == 1.0


def test_the_last_closure_assigned_counts(rg):
    x = rg.Value(0.5)
    out = rg.Value(1.0, (x,), "twice")
    out._backward = lambda: 1 / 0
    out._backward = lambda: setattr(x, "grad", x.grad + 2 * out.grad)
    out.backward()
    assert x.grad == 2.0


def test_data_is_read_when_backward_runs(rg):
    x, y = rg.Value(2.0), rg.Value(3.0)
    out = multiply(rg, x, y)
    y.data = 100.0
    out.backward()
    assert x.grad == 100.0


def test_a_second_pass_doubles_the_leaves(rg):
    x = rg.Value(0.5)
    out = tanh(rg, tanh(rg, x) * 2.0)
    out.backward()
    once, inner = x.grad, out.grad
    out.backward()
    assert x.grad == 2 * once
    assert out.grad == inner == 1.0


def test_calling_a_closure_by_hand_adds_once(rg):
    x = rg.Value(0.5)
    out = tanh(rg, x)
    out.grad = 10.0
    out._backward()
    assert x.grad == pytest.approx(10.0 * (1 - math.tanh(0.5) ** 2))


def test_names_and_inputs_read_as_given(rg):
    x, y = rg.Value(1.0), rg.Value(2.0)
    out = rg.Value(3.0, (x, y), "my op")
    assert (out._op, out.op) == ("my op", "my op")
    assert out._prev == {x, y}
    assert out._children == (x, y)
    assert out._local_grads == ()
    by_keyword = rg.Value(3.0, _children=(x,), _op="kept", label="named")
    assert (by_keyword._op, by_keyword.label, by_keyword._children) == ("kept", "named", (x,))


def test_without_gradients_the_closure_is_taken_and_forgotten(rg):
    x = rg.Value(0.5)
    with rg.no_grad():
        out = tanh(rg, x)
    assert (out.op, out.requires_grad, out._prev) == ("leaf", False, set())
    frozen = tanh(rg, rg.Value(0.5, requires_grad=False))
    assert frozen.op == "leaf"
    (out * frozen * x).backward()
    assert x.grad == math.tanh(0.5) ** 2


# ---- mistakes ----------------------------------------------------------------------------------


def test_a_missing_closure_is_named_with_its_line(rg):
    x = rg.Value(0.5)
    out = rg.Value(1.0, (x,), "forgot")  # the line without a rule
    root = out * 2.0
    watch = Watch(x, out, root)
    with pytest.raises(rg.errors.MissingBackwardError) as caught:
        root.backward()
    text = str(caught.value)
    assert text.startswith(
        "backward reached the result of forgot = 1.0, made as Value(data, inputs, 'forgot') "
        "without a rule. Assign out._backward = function, or give the partials: "
        "Value(data, inputs, partials).\n  at "
    )
    assert f"{__file__}:{line_of(__file__, 'the line without a rule')}," in text
    assert watch.changed() == []
    with pytest.raises(rg.errors.MissingBackwardError):
        out._backward()
    (x * 2.0).backward()
    assert x.grad == watch.watched[0][1] + 2.0


def test_only_the_closure_style_takes_a_closure(rg):
    x = rg.Value(0.5)
    for value in (x * 2.0, rg.Value(1.0, (x,), (2.0,)), rg.sum([x, x])):
        with pytest.raises(rg.errors.ClosureStyleError) as caught:
            value._backward = lambda: None
        assert str(caught.value).startswith(
            "_backward can be assigned only to a value made in the closure style, as in "
            "out = Value(data, (x,), 'name'); "
        )
        assert isinstance(caught.value, AttributeError)
        with pytest.raises(rg.errors.ClosureStyleError, match="the inputs can be assigned only"):
            value._prev = {x}


@pytest.mark.parametrize("thing", [None, 3.0, "text"])
def test_a_closure_must_be_callable(rg, thing):
    out = rg.Value(1.0, (rg.Value(0.5),), "name")
    with pytest.raises(rg.errors.ClosureStyleError, match=r"^_backward must be callable without"):
        out._backward = thing


def test_a_closure_that_wants_arguments_fails_and_restores(rg):
    x = rg.Value(0.5)
    out = rg.Value(1.0, (x,), "wants")
    out._backward = lambda upstream: None
    watch = Watch(x, out)
    with pytest.raises(TypeError, match="upstream"):
        out.backward()
    assert watch.changed() == []


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failing_closure_restores_every_gradient(rg, failure):
    x, w = rg.Value(0.5), rg.Value(2.0)
    inner = tanh(rg, x * w)
    broken = rg.Value(1.0, (inner,), "broken")

    def backward():
        inner.grad += 5.0
        w.grad += 7.0
        raise failure("in a closure")

    broken._backward = backward
    root = tanh(rg, broken * w) + inner
    watch = Watch(*rg.order(root))
    assert len(watch.watched) >= 7
    with pytest.raises(failure):
        root.backward()
    assert watch.changed() == []
    broken._backward = lambda: None
    root.backward()
    assert x.grad != watch.watched[0][1]


def test_a_cycle_is_named(rg):
    x = rg.Value(0.5)
    first = tanh(rg, x)
    second = tanh(rg, first)
    for change in ("_prev", "_children"):
        setattr(first, change, (x, second))
        watch = Watch(x, first, second)
        with pytest.raises(rg.errors.CycleError) as caught:
            second.backward()
        text = str(caught.value)
        assert (
            " depends on itself: its inputs were reassigned so that the graph has a cycle. " in text
        )
        assert watch.changed() == []
        setattr(first, change, (x,))
    second.backward()
    assert x.grad != 0.0
    loop = rg.Value(1.0, (x,), "loop")
    loop._backward = lambda: None
    loop._prev = {loop}
    with pytest.raises(rg.errors.CycleError):
        (loop * 2.0).backward()
    loop._prev = ()


def test_inputs_can_be_added_afterwards(rg):
    x, y = rg.Value(2.0), rg.Value(3.0)
    out = rg.Value(6.0, (x,), "late")
    out._prev = (x, y)

    def backward():
        x.grad += 3.0 * out.grad
        y.grad += 2.0 * out.grad

    out._backward = backward
    (out * 1.0).backward()
    assert (x.grad, y.grad) == (3.0, 2.0)


# ---- memory ------------------------------------------------------------------------------------


class Witness:
    """Something a closure holds, that can be watched being freed."""


def watched_tanh(rg, x, witnesses):
    out = tanh(rg, x)
    plain = out._backward
    witness = Witness()
    witnesses.append(weakref.ref(witness))
    out._backward = lambda: (plain(), witness)[0]
    return out


def alive(witnesses):
    return sum(witness() is not None for witness in witnesses)


def test_a_dropped_closure_graph_is_collected(rg):
    witnesses = []
    x = rg.Value(0.5)
    value = x
    for _ in range(100):
        value = watched_tanh(rg, value, witnesses)
    value.backward()
    gc.collect()
    assert alive(witnesses) == 100
    del value
    gc.collect()
    assert alive(witnesses) == 0
    assert x.grad != 0.0


def test_a_dropped_graph_of_closures_and_ops_is_collected(rg):
    """As programs are: their own tanh in the closure style, the rest our ops."""
    witnesses = []
    value = rg.Value(0.5)
    for _ in range(30):
        value = watched_tanh(rg, value * 1.1 + 0.1, witnesses)
    value.backward()
    del value
    gc.collect()
    gc.collect()
    assert alive(witnesses) == 0


def test_mixed_graphs_are_collected_in_the_end(rg):
    witnesses = []
    value = rg.Value(0.5)
    for _ in range(4):
        value = watched_tanh(rg, value * 1.1 + 0.1, witnesses)
    del value
    for _ in range(5):
        gc.collect()
    assert alive(witnesses) == 0


def test_closures_that_refer_to_nothing_above_need_no_collector(rg):
    x = rg.Value(0.5)
    out = rg.Value(1.0, (x,), "name")
    witness = Witness()
    gone = weakref.ref(witness)
    out._backward = lambda witness=witness: None
    del witness
    gc.disable()
    try:
        assert gone() is not None
        del out
        assert gone() is None
    finally:
        gc.enable()


def test_many_steps_leave_nothing_behind(rg):
    w = rg.Value(0.3)

    def steps(count):
        for _ in range(count):
            tanh(rg, tanh(rg, w)).backward()
        gc.collect()

    steps(10)
    before = len(gc.get_objects())
    steps(300)
    assert len(gc.get_objects()) - before < 50
    assert sys.getrefcount(w) < 10


def test_a_deep_chain_of_closures_is_freed(rg):
    depth = 20_000 if is_native(rg) else 2_000
    value = rg.Value(0.5)
    for _ in range(depth):
        value = tanh(rg, value)
    value.backward()
    del value
    gc.collect()


# ---- threads -----------------------------------------------------------------------------------


def test_closure_graphs_in_many_threads(rg):
    def work(index):
        results = []
        for n in range(40):
            x, y = rg.Value(0.1 * index), rg.Value(0.01 * n)
            called = []
            root = tanh(rg, multiply(rg, x, y, called) + x, called)
            root.backward()
            assert len(called) == 2
            results.append((root.data, x.grad, y.grad))
        return results

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(6) as pool:
            together = list(pool.map(work, range(6)))
    finally:
        sys.setswitchinterval(interval)
    assert together == [work(index) for index in range(6)]


def test_a_closure_graph_is_built_in_one_thread_and_run_in_another(rg):
    def build():
        x = rg.Value(0.5)
        return x, tanh(rg, tanh(rg, x) * 2.0)

    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        x, root = one.submit(build).result()
        other.submit(root.backward).result()
    slopes = rg.Value(0.5)
    (slopes.tanh() * 2.0).tanh().backward()
    assert x.grad == pytest.approx(slopes.grad, rel=1e-14)
