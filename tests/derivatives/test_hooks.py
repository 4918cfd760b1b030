"""Hooks: they see the total a pass brings to a value, may replace it, and can be taken away."""

from __future__ import annotations

import copy
import gc
import pickle
import signal
import sys
import threading
import weakref
from fractions import Fraction

import numpy as np
import pytest

from .support import Watch, is_native


def test_a_hook_sees_the_total_of_all_uses_once(rg):
    seen = []
    x = rg.Value(3.0)
    y = x * x
    y.register_hook(seen.append)
    (y * 2.0 + y * y + y).backward()
    assert seen == [2.0 + 2 * 9.0 + 1.0]
    assert y.grad == seen[0]
    assert x.grad == seen[0] * 6.0


def test_a_hook_replaces_the_total_for_everything_below(rg):
    x = rg.Value(3.0)
    y = x * 2.0
    z = y * y
    y.register_hook(lambda total: total / 4.0)
    z.backward()
    assert y.grad == 3.0
    assert x.grad == 6.0
    assert z.grad == 1.0


@pytest.mark.parametrize("where", ["leaf", "interior", "root"])
def test_leaf_interior_and_root(rg, where):
    x = rg.Value(3.0)
    y = x * 2.0
    z = y * 5.0
    seen = []
    {"leaf": x, "interior": y, "root": z}[where].register_hook(
        lambda total: seen.append(total) or total * 10.0
    )
    z.backward(2.0)
    assert seen == [{"leaf": 20.0, "interior": 10.0, "root": 2.0}[where]]
    assert x.grad == 200.0
    assert y.grad == {"leaf": 10.0, "interior": 100.0, "root": 100.0}[where]
    assert z.grad == {"leaf": 2.0, "interior": 2.0, "root": 20.0}[where]


def test_a_hook_on_a_leaf_sees_each_pass_alone(rg):
    seen = []
    x = rg.Value(3.0)
    x.grad = 100.0
    x.register_hook(lambda total: seen.append(total) or total * 2)
    y = x * x
    y.backward()
    assert x.grad == 112.0
    y.backward()
    assert seen == [6.0, 6.0]
    assert x.grad == 124.0


def test_a_root_that_is_a_leaf(rg):
    x = rg.Value(3.0)
    x.register_hook(lambda total: total * 7.0)
    x.backward()
    x.backward(2.0)
    assert x.grad == 21.0


def test_hooks_run_in_the_order_they_were_registered(rg):
    order = []
    x = rg.Value(3.0)
    for name, factor in (("first", 2.0), ("second", None), ("third", 5.0)):

        def hook(total, name=name, factor=factor):
            order.append((name, total))
            return None if factor is None else total * factor

        x.register_hook(hook)
    (x * 1.0).backward()
    assert order == [("first", 1.0), ("second", 2.0), ("third", 2.0)]
    assert x.grad == 10.0


def test_hooks_on_several_values_run_from_the_root_down(rg):
    order = []
    a, b = rg.Value(2.0, label="a"), rg.Value(3.0, label="b")
    product = a * b
    product.label = "product"
    root = product + a
    root.label = "root"
    for value in (a, b, product, root):
        value.register_hook(lambda total, name=value.label: order.append(name))
    root.backward()
    assert order == ["root", "product", "b", "a"]


def test_one_hook_on_many_values(rg):
    seen = []
    values = [rg.Value(float(index)) for index in range(5)]
    for value in values:
        value.register_hook(seen.append)
    rg.dot(values, [1.0, 2.0, 3.0, 4.0, 5.0]).backward()
    assert sorted(seen) == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_several_roots_are_one_pass(rg):
    seen = []
    x = rg.Value(3.0)
    x.register_hook(seen.append)
    rg.backward([x * 2.0, x * x], [1.0, 10.0])
    assert seen == [62.0]


def test_a_hook_off_the_way_is_not_called(rg):
    x, y = rg.Value(3.0), rg.Value(4.0)
    y.register_hook(lambda total: 1 / 0)
    (x * x).backward()
    aside = x * y
    aside.register_hook(lambda total: 1 / 0)
    (x * 2.0).backward()
    assert x.grad == 8.0


def test_a_hook_on_a_frozen_leaf_sees_but_keeps_nothing(rg):
    seen = []
    x, frozen = rg.Value(3.0), rg.Value(4.0, requires_grad=False)
    frozen.register_hook(seen.append)
    (x * frozen).backward()
    assert seen == [3.0]
    assert frozen.grad == 0.0


# ---- taking away -------------------------------------------------------------------------------


def test_removed_hooks_are_gone_and_removal_may_be_repeated(rg):
    x = rg.Value(3.0)
    first = x.register_hook(lambda total: total * 2)
    second = x.register_hook(lambda total: total * 5)
    y = x * 1.0
    y.backward()
    first.remove()
    first.remove()
    y.backward()
    second.remove()
    y.backward()
    assert x.grad == 10.0 + 5.0 + 1.0


def test_the_same_function_twice_is_two_hooks(rg):
    x = rg.Value(3.0)
    double = lambda total: total * 2  # noqa: E731
    handles = [x.register_hook(double), x.register_hook(double)]
    (x * 1.0).backward()
    assert x.grad == 4.0
    handles[0].remove()
    (x * 1.0).backward()
    assert x.grad == 6.0


def test_a_handle_is_a_context_manager(rg):
    x = rg.Value(3.0)
    with x.register_hook(lambda total: total * 2) as handle:
        (x * 1.0).backward()
    handle.remove()
    (x * 1.0).backward()
    assert x.grad == 3.0
    with pytest.raises(ZeroDivisionError), x.register_hook(lambda total: 1 / 0):
        (x * 1.0).backward()
    (x * 1.0).backward()
    assert x.grad == 4.0


def test_a_hook_may_remove_itself_and_others(rg):
    seen = []
    x = rg.Value(3.0)
    handles = []

    def once(total):
        seen.append(total)
        for handle in handles:
            handle.remove()
        return total * 10

    handles.append(x.register_hook(once))
    handles.append(x.register_hook(lambda total: total + 1.0))
    y = x * 1.0
    y.backward()
    first = x.grad
    assert first in (10.0, 11.0)
    y.backward()
    assert seen == [1.0]
    assert x.grad == first + 1.0


def test_a_hook_may_register_another_for_the_next_pass(rg):
    x = rg.Value(3.0)
    seen = []
    first = x.register_hook(lambda total: first.remove() or x.register_hook(seen.append))
    with pytest.raises(rg.errors.HookError):
        (x * 1.0).backward()
    assert x.grad == 0.0
    (x * 1.0).backward()
    assert seen == [1.0]


# ---- what a hook may return --------------------------------------------------------------------


@pytest.mark.parametrize(
    "replacement", [2, True, np.float64(2.5), np.int8(3), np.array(4.0), Fraction(1, 2), 0.0]
)
def test_any_real_number_replaces_the_total(rg, replacement):
    x = rg.Value(3.0)
    x.register_hook(lambda total: replacement)
    (x * 2.0).backward()
    assert x.grad == float(replacement)
    assert type(x.grad) is float


@pytest.mark.parametrize("returned", ["text", [1.0], 1j, "value", np.ones(2)], ids=str)
def test_a_wrong_return_names_the_value_and_its_line(rg, returned):
    x = rg.Value(3.0, label="speed")
    thing = rg.Value(1.0) if isinstance(returned, str) and returned == "value" else returned
    y = x * 2.0
    x.register_hook(lambda total: thing)
    watch = Watch(x, y)
    with pytest.raises(rg.errors.HookError) as caught:
        y.backward()
    text = str(caught.value)
    assert text.startswith(f"a hook on 'speed' = 3.0 returned {type(thing).__name__} (")
    assert "; return a number to replace the gradient, or None to leave it.\n  at " in text
    assert 'x = rg.Value(3.0, label="speed")' in text
    assert isinstance(caught.value, TypeError)
    assert watch.changed() == []


@pytest.mark.parametrize("hook", [None, 3.0, "print"])
def test_a_hook_must_be_callable(rg, hook):
    x = rg.Value(3.0)
    with pytest.raises(
        rg.errors.HookError, match=r"^register_hook takes a function of the gradient"
    ):
        x.register_hook(hook)
    (x * 1.0).backward()
    assert x.grad == 1.0


# ---- failures ----------------------------------------------------------------------------------


def graph(rg):
    """A graph with several leaves, shared parts and a closure; and its values."""
    a, b, c = rg.Value(1.0), rg.Value(2.0), rg.Value(3.0, requires_grad=False)
    shared = a * b
    out = rg.Value(shared.data, (shared,), "same")

    def backward():
        shared.grad += out.grad

    out._backward = backward
    root = rg.sum([out * c, shared.tanh(), a + 1.0])
    return root, rg.order(root)


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_a_failure_anywhere_restores_every_gradient(rg, failure):
    count = len(graph(rg)[1])
    assert count > 8
    reached = 0
    for index in range(count):
        root, values = graph(rg)
        calls = []

        def fails(total, calls=calls):
            calls.append(total)
            raise failure("in a hook")

        values[index].register_hook(lambda total: total * 2)
        values[index].register_hook(fails)
        watch = Watch(*values)
        try:
            root.backward()
        except failure:
            reached += 1
            assert len(calls) == 1
            assert watch.changed() == []
        else:
            assert calls == []
    assert reached >= 7


def test_after_a_failure_a_pass_is_as_if_nothing_had_been(rg):
    root, values = graph(rg)
    handle = values[0].register_hook(lambda total: 1 / 0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            root.backward()
    handle.remove()
    root.backward()
    again, others = graph(rg)
    again.backward()
    assert [value.grad for value in values] == [value.grad for value in others]


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals need the main thread"
)
def test_ctrl_c_in_a_hook_restores_every_gradient(rg):
    root, values = graph(rg)
    passed = []

    def interrupted(total):
        signal.raise_signal(signal.SIGINT)
        for _ in range(1000):
            pass
        passed.append(total)

    values[2].register_hook(interrupted)
    watch = Watch(*values)
    with pytest.raises(KeyboardInterrupt):
        root.backward()
    assert passed == []
    assert watch.changed() == []


def test_a_failure_in_the_middle_of_several_roots(rg):
    x = rg.Value(2.0)
    roots = [x * 2.0, x * x, x + 1.0]
    x.register_hook(lambda total: 1 / 0)
    watch = Watch(x, *roots)
    with pytest.raises(ZeroDivisionError):
        rg.backward(roots, [1.0, 2.0, 3.0])
    assert watch.changed() == []


def test_a_hook_may_run_a_pass_of_its_own(rg):
    other = rg.Value(5.0)
    x = rg.Value(3.0)
    x.register_hook(lambda total: (other * total).backward())
    (x * 2.0).backward()
    assert (x.grad, other.grad) == (2.0, 2.0)


def test_a_hook_may_take_derivatives(rg):
    x = rg.Value(3.0)
    x.register_hook(lambda total: rg.grad(lambda t: t**3)(total))
    (x * 2.0).backward()
    assert x.grad == 12.0


# ---- copies and memory -------------------------------------------------------------------------


def test_copies_and_pickles_drop_hooks(rg):
    x = rg.Value(3.0)
    y = x * 2.0
    for value in (x, y):
        value.register_hook(lambda total: 1 / 0)
    for made in (copy.copy(y), copy.deepcopy(y), pickle.loads(pickle.dumps(y))):
        assert made._hooks is None
    clone = copy.deepcopy(y)
    clone.backward()
    assert clone.inputs[0].grad == 2.0
    assert copy.copy(x)._hooks is None
    with pytest.raises(ZeroDivisionError):
        y.backward()


class Witness:
    """A hook that can be watched being freed."""

    def __call__(self, total):
        return None


@pytest.mark.parametrize("kind", ["leaf", "interior", "closure", "subclass"])
def test_a_hook_dies_with_its_value(rg, kind):
    class Own(rg.Value):
        pass

    x = rg.Value(3.0)
    value = {
        "leaf": lambda: rg.Value(3.0),
        "interior": lambda: x * 2.0,
        "closure": lambda: rg.Value(1.0, (x,), "name"),
        "subclass": lambda: Own(3.0),
    }[kind]()
    hook = Witness()
    gone = weakref.ref(hook)
    value.register_hook(hook)
    del hook
    assert gone() is not None
    del value
    if not is_native(rg) or kind in ("closure", "subclass"):
        gc.collect()
    assert gone() is None


def test_a_handle_keeps_its_value_until_it_is_removed(rg):
    class Own(rg.Value):
        pass

    value = Own(3.0)
    gone = weakref.ref(value)
    handle = value.register_hook(Witness())
    del value
    gc.collect()
    assert gone() is not None
    handle.remove()
    gc.collect()
    assert gone() is None


def test_a_removed_hook_is_let_go_of(rg):
    x = rg.Value(3.0)
    hook = Witness()
    gone = weakref.ref(hook)
    handle = x.register_hook(hook)
    del hook
    handle.remove()
    gc.collect()
    assert gone() is None
    assert x._hooks is None


def test_a_hook_that_refers_to_its_value_is_freed_by_its_context(rg):
    """The cycle that no collector sees, and the way to break it."""

    class Own(rg.Value):
        pass

    for _ in range(3):
        value = Own(3.0)
        gone = weakref.ref(value)
        with value.register_hook(lambda total, value=value: total * value.data):
            (value * 1.0).backward()
        assert value.grad == 3.0
        del value
        gc.collect()
        assert gone() is None


def test_hooks_on_many_values_come_and_go(rg):
    """The table beside the nodes grows, shrinks and keeps labels apart from hooks."""
    count = 3_000 if is_native(rg) else 300
    values = [rg.Value(float(index), label=f"v{index}") for index in range(count)]
    handles = [value.register_hook(lambda total, i=i: total * i) for i, value in enumerate(values)]
    for handle in handles[::2]:
        handle.remove()
    rg.sum(values).backward()
    for index, value in enumerate(values):
        assert value.grad == (1.0 if index % 2 == 0 else index)
        assert value.label == f"v{index}"
    del values[1::3], handles
    rg.sum(values).backward()
    for value in values:
        index = int(value.data)
        assert value.grad == (2.0 if index % 2 == 0 else 2.0 * index)


def test_failing_passes_leak_nothing(rg):
    root, values = graph(rg)
    values[0].register_hook(lambda total: 1 / 0)
    counts = [sys.getrefcount(value) for value in values]
    for _ in range(50):
        with pytest.raises(ZeroDivisionError):
            root.backward()
    gc.collect()
    assert [sys.getrefcount(value) for value in values] == counts
