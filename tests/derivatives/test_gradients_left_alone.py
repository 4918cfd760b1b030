"""Functional transforms neither read nor write any ``.grad``, whatever happens."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from .support import Watch


def scene(rg):
    """Parameters, frozen values and interior values of a graph, all watched; and that graph."""
    w, b = rg.Value(1.5), rg.Value(-0.5)
    frozen = rg.Value(2.0, requires_grad=False)
    feature = (w * 3.0 + b).tanh()
    root = feature * frozen + w
    values = rg.order(root)
    assert {id(w), id(b), id(feature), id(frozen)} <= {id(value) for value in values}
    return Watch(*values), w, b, frozen, feature, root


TRANSFORMS = {
    "grad": lambda rg, f: rg.grad(f)(0.7),
    "value_and_grad": lambda rg, f: rg.value_and_grad(f)(0.7),
    "jacobian": lambda rg, f: rg.jacobian(lambda x: [f(x), x])(0.7),
    "hessian": lambda rg, f: rg.hessian(f)(0.7),
    "hvp": lambda rg, f: rg.hvp(f, 0.7, 2.0),
    "vjp": lambda rg, f: rg.vjp(f, 0.7)[1](2.0),
    "jvp": lambda rg, f: rg.jvp(f, (0.7,), (2.0,)),
    "third": lambda rg, f: rg.grad(rg.grad(rg.grad(f)))(0.7),
    "gradients": lambda rg, f: gradients_of(rg, f),
}


def gradients_of(rg, function):
    x = Watch().add(rg.Value(0.7))
    first = rg.gradients(function(x), x)
    second = rg.gradients(first, x)
    assert x.grad == 1000.0
    return second


every_transform = pytest.mark.parametrize("name", TRANSFORMS)


@every_transform
@pytest.mark.parametrize("captured", ["nothing", "frozen", "parameters"])
def test_no_gradient_is_touched(rg, name, captured):
    watch, w, _b, frozen, feature, root = scene(rg)
    tied = {"nothing": (2.0, 3.0), "frozen": (frozen, 3.0), "parameters": (feature, w)}[captured]

    def function(x):
        y = watch.add(x * tied[0])
        z = watch.add(y.sin() * x + tied[1])
        return watch.add(z * z)

    TRANSFORMS[name](rg, function)
    assert watch.changed() == []
    assert len(watch.watched) > len(rg.order(root))


@every_transform
def test_no_gradient_is_touched_when_the_function_fails(rg, name):
    watch, w, _b, frozen, feature, _root = scene(rg)

    def function(x):
        y = watch.add(x * feature * frozen)
        watch.add(y * w)
        raise ZeroDivisionError("in the middle")

    with pytest.raises(ZeroDivisionError):
        TRANSFORMS[name](rg, function)
    assert watch.changed() == []


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_no_gradient_is_touched_when_a_rule_fails(rg, failure):
    """A rule that runs while gradients are on their way, as numbers and as values."""
    watch, w, _b, frozen, _feature, _root = scene(rg)

    @rg.custom_op
    def broken(x):
        return x

    @broken.vjp
    def _(upstream, x):
        raise failure("in the rule")

    for tied in (2.0, frozen, w):

        def function(x, tied=tied):
            y = watch.add(x * tied)
            return watch.add(watch.add(broken(y)) * x)

        for name in ("grad", "vjp", "hessian", "hvp", "jacobian"):
            with pytest.raises(failure):
                TRANSFORMS[name](rg, function)
        assert watch.changed() == []


def test_no_gradient_is_touched_when_the_graph_is_stale(rg):
    watch, w, b, _frozen, _feature, root = scene(rg)
    w.data = 7.0
    with pytest.raises(rg.errors.StaleGraph):
        rg.gradients(root, [w, b])
    assert watch.changed() == []


def test_closures_add_into_gradients_that_are_put_back(rg):
    watch, *_ = scene(rg)
    during = []

    def twice(x):
        out = rg.Value(2 * x.data, (x,), "twice")

        def backward():
            during.append(out.grad)
            x.grad += 2 * out.grad

        out._backward = backward
        return out

    def function(x):
        y = watch.add(twice(x))
        return watch.add(y * y)

    assert rg.grad(function)(3.0) == 24.0
    assert during == [12.0]
    assert watch.changed() == []


def test_gradients_set_in_the_function_are_kept_but_not_used(rg):
    kept = []

    def function(x):
        y = x * x
        x.grad, y.grad = 5.0, 7.0
        kept.extend((x, y))
        return y * 2.0

    assert rg.grad(function)(3.0) == 12.0
    assert [value.grad for value in kept] == [5.0, 7.0]


def test_a_backward_inside_the_function_is_its_own_affair(rg):
    w = rg.Value(2.0)

    def function(x):
        (w * w).backward()
        y = x * x
        y.backward()
        assert x.grad == 2 * x.data
        return y

    assert rg.grad(function)(3.0) == 6.0
    assert w.grad == 4.0


def test_results_start_without_a_gradient(rg):
    watch, w, b, *_, root = scene(rg)
    for gradient in rg.gradients(root, [w, b]):
        assert gradient.grad == 0.0
    slope = rg.grad(lambda x: x * x * w)(2.0)
    assert slope.grad == 0.0
    assert watch.changed() == []


def test_a_frozen_value_shared_by_threads_keeps_its_gradient(rg):
    """Where the core is Python, other threads see every moment of a pull-back."""
    frozen = rg.Value(5.0, requires_grad=False)
    watch = Watch(frozen)
    interval = sys.getswitchinterval()
    barrier = threading.Barrier(6)

    def work(index):
        barrier.wait(30)
        for _ in range(200):
            assert rg.grad(lambda t: t * frozen + frozen)(2.0) == 5.0
            assert watch.changed() == []

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(work, range(6)))
    finally:
        sys.setswitchinterval(interval)
    assert watch.changed() == []
