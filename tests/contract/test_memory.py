"""Memory: it stays constant and comes back, depth costs no stack, running out changes nothing."""

from __future__ import annotations

import gc
import os
import sys
import threading
import weakref
from itertools import pairwise
from pathlib import Path

import pytest

from .support import core_of, output_of

MIB = 1 << 20


def resident():
    """Bytes of memory this process has resident."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def least_growth(act, rounds=4):
    """Bytes by which memory grows when something is done again: a leak grows every time, while
    what else the process does grows now and then.
    """
    found = []
    for _ in range(rounds):
        gc.collect()
        before = resident()
        act()
        gc.collect()
        found.append(resident() - before)
        if found[-1] <= 0:
            break
    return min(found)


class Collections:
    """Counts the runs of the cycle collector that this thread causes."""

    def __enter__(self):
        gc.collect()
        self.runs, self.thread = 0, threading.get_ident()
        gc.callbacks.append(self.count)
        return self

    def count(self, phase, info):
        if phase == "start" and threading.get_ident() == self.thread:
            self.runs += 1

    def __exit__(self, *exception):
        gc.callbacks.remove(self.count)


class Witness:
    """Something that can be watched being freed."""


# ---- constant memory --------------------------------------------------------------------------


def test_a_million_passes_take_no_memory_and_no_collector(native):
    x, w = native.Value(0.5), native.Value(-1.5)

    def passes(count):
        for _ in range(count):
            (x * w + 1.0).tanh().backward()

    passes(10_000)
    before = resident()
    with Collections() as collections:
        passes(1_000_000)
    assert collections.runs == 0
    assert resident() - before < MIB


def test_passes_of_every_kind_take_no_memory(rg):
    x, w = rg.Value(0.5), rg.Value(-1.5)

    def closure(value):
        out = rg.Value(value.data, (value,), "same")

        def backward():
            value.grad += out.grad

        out._backward = backward
        return out

    def passes(count):
        for _ in range(count):
            shares = rg.softmax([x, w, x * w])
            loss = rg.dot(shares, [1.0, 2.0, w]) + rg.clip(x, -1.0, w) + closure(x)
            loss = loss + rg.Value(1.0, (x, w), (0.5, 0.5), label="custom")
            with loss.register_hook(lambda total: total * 2):
                loss.backward()
            with rg.no_grad():
                rg.sum([x * 2, loss])
            for bad in ("a", None):
                with pytest.raises(rg.errors.RetrogradeError):
                    x + bad
            assert rg.order(loss)[-1] is loss
            assert len(loss.inputs) == len(loss._prev) == 2

    gc.collect()
    passes(100)
    gc.collect()
    objects = len(gc.get_objects())
    assert least_growth(lambda: passes(5_000 if core_of(rg) == "native" else 300)) < 2 * MIB
    assert len(gc.get_objects()) - objects < 100


def test_graphs_built_again_stay_together_and_take_no_memory(native):
    weights = [native.Value(0.1 * i) for i in range(50)]

    def build():
        values = [w * w for w in weights]
        for _ in range(40):
            values = [v.tanh() + w * values[0] for v, w in zip(values, weights)]
        return native.sum(values)

    for _ in range(40):
        build().backward()
    before = resident()
    root = build()
    places = [id(value) for value in native.value.core.order((root,)) if value.inputs]
    steps = [abs(b - a) for a, b in pairwise(places)]
    near = sum(step <= 64 * 1024 for step in steps)
    assert near > 0.8 * len(steps)
    assert resident() - before < 8 * MIB


def test_values_freed_between_kept_ones_take_no_memory(native):
    x = native.Value(1.0)
    values = [x * 2.0 for _ in range(400_000)]
    kept = values[::3]
    del values
    before = resident()
    more = [x * 3.0 for _ in range(200_000)]
    assert resident() - before < 4 * MIB
    assert {v.data for v in kept} == {2.0}
    assert {v.data for v in more} == {3.0}


def test_plain_values_are_unknown_to_the_collector(native):
    x = native.Value(1.0)
    for value in (x, x * x, native.sum([x, x]), native.Value(1.0, (x,), (1.0,))):
        assert not gc.is_tracked(value)
        assert gc.get_referents(value) == []
    assert gc.is_tracked(native.Value(1.0, (x,), "closure"))


def test_a_node_takes_at_most_eighty_bytes(native):
    x = native.Value(1.0)
    assert sys.getsizeof(x) <= 80
    assert sys.getsizeof(x * x) <= 80


def test_references_are_balanced(native):
    x, data = native.Value(0.5), 1234.5678
    graph = native.sum([x * data, native.clip(x, -1.0, data), x**3, native.dot([x], [x])])
    before = sys.getrefcount(x), sys.getrefcount(data)
    for _ in range(100):
        again = native.sum([x * data, native.clip(x, -1.0, data), x**3, native.dot([x], [x])])
        again.backward()
        again.inputs, again.partials, again._prev, again.site  # noqa: B018
        native.order(again)
        for bad in (lambda: x + "a", lambda: native.sum([x, "a"]), lambda: native.dot([x], [])):
            with pytest.raises(native.RetrogradeError):
                bad()
    del again
    assert (sys.getrefcount(x), sys.getrefcount(data)) == before
    assert graph.data == graph.data


# ---- what is dropped is freed -----------------------------------------------------------------


def test_closure_style_values_are_collected(rg):
    def build():
        x, witness = rg.Value(2.0), Witness()
        out = rg.Value(4.0, (x,), "double")

        def backward():
            x.grad += 2 * out.grad
            witness.seen = True

        out._backward = backward
        total = out * x + out
        total.backward()
        assert witness.seen
        return weakref.ref(witness)

    watched = [build() for _ in range(50)]
    gc.collect()
    assert [ref() for ref in watched] == [None] * 50


def test_closure_style_values_without_cycles_are_freed_at_once(rg):
    x, witness = rg.Value(2.0), Witness()
    out = rg.Value(4.0, (x,), "double")
    out._backward = lambda witness=witness: None
    ref = weakref.ref(witness)
    del witness
    assert ref() is not None
    gc.disable()
    try:
        del out
        assert ref() is None
    finally:
        gc.enable()


def test_long_chains_of_closure_style_values_are_collected(rg):
    def follow(value, witness):
        out = rg.Value(value.data, (value,), "same")

        def backward():
            value.grad += out.grad + 0 * bool(witness)

        out._backward = backward
        return out

    x, witness = rg.Value(1.0), Witness()
    value = x
    for _ in range(20_000):
        value = follow(value, witness)
    value.backward()
    assert x.grad == 1.0
    ref = weakref.ref(witness)
    del value, witness
    gc.collect()
    assert ref() is None


def test_closure_style_values_between_plain_ones_are_collected_together(rg):
    def follow(value, witness):
        out = rg.Value(value.data, (value,), "same")

        def backward():
            value.grad += out.grad + 0 * bool(witness)

        out._backward = backward
        return out

    x, witnesses = rg.Value(1.0), [Witness() for _ in range(10)]
    refs = [weakref.ref(witness) for witness in witnesses]
    value = x
    while witnesses:
        value = follow(value * 2.0, witnesses.pop())
    value.backward()
    assert x.grad == 2.0**10
    del value
    gc.collect()
    assert [ref() for ref in refs] == [None] * 10


def test_hooks_die_with_their_value(rg):
    x, witness = rg.Value(2.0), Witness()
    ref = weakref.ref(witness)
    y = x * 2
    y.register_hook(lambda total, witness=witness: None)
    del witness
    gc.collect()
    assert ref() is not None
    del y
    gc.collect()
    assert ref() is None


def test_hooks_are_freed_when_removed(rg):
    x, witness = rg.Value(2.0), Witness()
    ref = weakref.ref(witness)
    handle = x.register_hook(lambda total, witness=witness: None)
    del witness
    handle.remove()
    gc.collect()
    assert ref() is None


def test_subclass_instances_are_freed(rg):
    class Parameter(rg.Value):
        pass

    weight = Parameter(2.0)
    weight.note = Witness()
    refs = [weakref.ref(weight), weakref.ref(weight.note)]
    loss = weight * weight + 1
    loss.backward()
    del weight
    gc.collect()
    assert all(ref() is not None for ref in refs)
    del loss
    gc.collect()
    assert [ref() for ref in refs] == [None, None]


def test_subclass_instances_in_cycles_are_collected(rg):
    class Parameter(rg.Value):
        pass

    def build():
        x = Parameter(2.0)
        x.me = x
        out = Parameter(4.0, (x,), "double")

        def backward():
            x.grad += 2 * out.grad

        out._backward = backward
        out.backward()
        assert x.grad == 2.0
        return weakref.ref(x), weakref.ref(out)

    refs = [ref for _ in range(20) for ref in build()]
    gc.collect()
    assert [ref() for ref in refs] == [None] * 40


def test_the_classes_of_freed_instances_are_freed(rg):
    def build():
        class Parameter(rg.Value):
            pass

        for _ in range(10):
            loss = Parameter(2.0) * Parameter(3.0) + 1
            loss.backward()
        return weakref.ref(Parameter)

    ref = build()
    gc.collect()
    gc.collect()
    assert ref() is None


def test_errors_do_not_keep_graphs_alive(rg):
    class Parameter(rg.Value):
        pass

    weight = Parameter(2.0)
    ref = weakref.ref(weight)
    root = weight * 2
    root.register_hook(lambda total: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        root.backward()
    del weight, root
    gc.collect()
    assert ref() is None


def test_inputs_shared_by_many_values_outlive_any_of_them(rg):
    x = rg.Value(1.0)
    shared = x * 2
    uses = [shared * n for n in range(100)]
    del uses[::2]
    del shared
    total = rg.sum(uses)
    del uses
    total.backward()
    assert x.grad == 2.0 * sum(range(1, 100, 2))


# ---- depth and width --------------------------------------------------------------------------


@pytest.mark.slow
def test_ten_million_operations_in_one_chain(native):
    before = resident()
    x = native.Value(1.0)
    value = x
    for _ in range(10_000_000):
        value = value + x
    assert value.data == 10_000_001.0
    value.backward()
    assert x.grad == 10_000_001.0
    native.zero_grad(value)
    assert x.grad == 0.0
    assert resident() - before > 700 * MIB
    del value
    assert resident() - before < 100 * MIB
    (x * 2).backward()
    assert x.grad == 2.0


@pytest.mark.slow
def test_a_hundred_thousand_operations_in_one_chain(reference):
    x = reference.Value(1.0)
    value = x
    for _ in range(100_000):
        value = value + x
    value.backward()
    assert x.grad == 100_001.0
    value.zero_grad()
    assert x.grad == 0.0
    del value
    gc.collect()


def test_deep_chains_of_mixed_kinds_are_freed(native):
    class Parameter(native.Value):
        pass

    value = x = Parameter(1.0)
    for n in range(100_000):
        if n % 4 == 0:
            value = native.sum([value, 0.0])
        elif n % 4 == 1:
            value = Parameter(value.data, (value,), (1.0,))
        elif n % 4 == 2:
            value = native.clip(value, -10.0, 10.0)
        else:
            value = native.Value(value.data, (value,), (1.0,), label="deep")
    value.backward()
    assert x.grad == 1.0
    ref = weakref.ref(x)
    del x, value
    gc.collect()
    assert ref() is None


def test_a_dot_of_a_million(native):
    count = 1_000_000
    values = [native.Value(0.5) for _ in range(count)]
    total = native.dot(values, [2.0] * count)
    assert total.data == count
    total.backward()
    assert native.grads(values).sum() == 2.0 * count
    assert {values[0].grad, values[-1].grad} == {2.0}


# ---- running out ------------------------------------------------------------------------------


def storm(native, attempt, check=lambda: None):
    """Let one allocation after another fail until an attempt succeeds; count the failures."""
    inject = native.value.core.inject_allocation_failure
    failures = 0
    try:
        while True:
            inject(failures)
            try:
                return failures, attempt()
            except native.errors.GraphMemoryError as error:
                inject(-1)
                text = str(error)
            assert text.startswith("out of memory: ")
            assert "bytes could not be had; nothing was changed" in text
            assert "Drop graphs you no longer need" in text
            check()
            failures += 1
            assert failures < 1000
    finally:
        inject(-1)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda rg, x: rg.Value(2.0),
        lambda rg, x: x + x,
        lambda rg, x: x * 3.0,
        lambda rg, x: 3.0 - x,
        lambda rg, x: x.tanh(),
        lambda rg, x: x**-7,
        lambda rg, x: x.detach(),
        lambda rg, x: rg.clip(x, 0.0, 1.0),
        lambda rg, x: rg.sum([x, 1.0, x]),
        lambda rg, x: rg.sum([1.0, 2.0]),
        lambda rg, x: rg.dot([x, 1.0], [2.0, x]),
        lambda rg, x: rg.Value(1.0, (x, x), (1.0, 2.0)),
        lambda rg, x: rg.Value(1.0, (x, x), "closure"),
        lambda rg, x: (x * 2)._children,
        lambda rg, x: rg.softmax([x, x, 1.0]),
        lambda rg, x: rg.norm([x, x]),
    ],
)
def test_making_values_without_memory(native, attempt):
    x = native.Value(0.5)
    x.grad = 7.0
    references = sys.getrefcount(x)

    def unharmed():
        assert (x.data, x.grad, x.op) == (0.5, 7.0, "leaf")
        assert sys.getrefcount(x) == references

    failures, result = storm(native, lambda: attempt(native, x), unharmed)
    assert failures >= 1
    assert repr(result) == repr(attempt(native, x))


def test_labels_without_memory(native):
    count = 100_000  # more than any other test, so that the table of labels has to grow
    values = [native.Value(float(n)) for n in range(count)]

    def attempt():
        for n, value in enumerate(values):
            value.label = f"v{n}"

    def check():
        labels = [value.label for value in values]
        labelled = labels.index("")
        assert labels == [f"v{n}" for n in range(labelled)] + [""] * (count - labelled)
        for value in values:
            value.label = None

    failures, _ = storm(native, attempt, check)
    assert failures >= 1
    assert [value.label for value in values] == [f"v{n}" for n in range(count)]


def test_hooks_without_memory(native):
    values = [native.Value(float(n)) for n in range(10_000)]
    hooked = []

    def attempt():
        for value in values:
            if value._hooks is None:
                hooked.append(value.register_hook(lambda total: None))

    storm(native, attempt)
    assert len(hooked) == 10_000
    for handle in hooked:
        handle.remove()
    assert all(value._hooks is None for value in values)


def graph(native):
    """Wide and deep enough that every buffer of a pass has to grow."""
    leaves = [native.Value(0.25) for _ in range(600)]
    value = leaves[0]
    for leaf in leaves:
        value = value * 0.5 + leaf
    return leaves, native.sum([value, native.dot(leaves, leaves), *leaves])


@pytest.mark.parametrize("kind", ["plain", "hook", "hook on a leaf", "closure", "anomaly"])
def test_backward_without_memory(native, kind):
    leaves, root = graph(native)
    inner, seen = root.inputs[0], []
    if kind == "hook":
        inner.register_hook(seen.append)
    if kind == "hook on a leaf":
        leaves[0].register_hook(seen.append)
    if kind == "closure":
        out = native.Value(root.data, (root,), "same")

        def backward():
            root.grad += out.grad

        out._backward = backward
        root_of_all = out
    else:
        root_of_all = root * 1.0
    values = native.order(root_of_all)
    for n, value in enumerate(values):
        value.grad = n * 0.125
    before = [value.grad for value in values]

    def attempt():
        if kind == "anomaly":
            with native.anomaly():
                root_of_all.backward()
        else:
            root_of_all.backward()

    def unharmed():
        assert [value.grad for value in values] == before
        assert seen == []

    failures, _ = storm(native, attempt, unharmed)
    assert failures >= 4
    once = [value.grad for value in values]
    for value, grad in zip(values, before):
        value.grad = grad
    attempt()
    assert [value.grad for value in values] == once != before


def test_several_roots_without_memory(native):
    leaves, root = graph(native)
    roots = [root, root.inputs[0], leaves[3]]
    failures, _ = storm(
        native,
        lambda: native.backward(roots, [1.0, 2.0, 3.0]),
        lambda: [pytest.fail("changed") for leaf in leaves if leaf.grad != 0.0],
    )
    assert failures >= 4
    assert leaves[3].grad != 0.0


def test_ordering_and_zeroing_without_memory(native):
    leaves, root = graph(native)
    expected = [id(value) for value in native.order(root)]
    failures, values = storm(native, lambda: native.order(root))
    assert failures >= 3
    assert [id(value) for value in values] == expected
    for leaf in leaves:
        leaf.grad = 5.0

    def unharmed():
        assert [leaf.grad for leaf in leaves] == [5.0] * len(leaves)

    failures, _ = storm(native, root.zero_grad, unharmed)
    assert failures >= 3
    assert [leaf.grad for leaf in leaves] == [0.0] * len(leaves)


def test_reassigned_inputs_without_memory(native):
    x, y = native.Value(1.0), native.Value(2.0)
    out = native.Value(1.0, (x,), "closure")

    def attempt():
        out._children = (x, y, x)

    def unharmed():
        assert out.inputs == (x,)

    failures, _ = storm(native, attempt, unharmed)
    assert failures >= 1
    assert out.inputs == (x, y, x)


LONG = """
import retrograde as rg

x, w = rg.Value(2.0), rg.Value(3.0)
root = rg.trigamma(x)
for _ in range(20_000):
    root = root + w
x.requires_grad = False
root.backward()
print(x.grad, w.grad)
"""


def test_a_long_graph_with_an_op_that_has_no_slope_is_looked_through_to_its_end():
    assert output_of(LONG, "native").strip() == "0.0 20000.0"


# ---- Ctrl-C -----------------------------------------------------------------------------------

INTERRUPTED = """
import ctypes, signal
from functools import partial
from operator import methodcaller

import retrograde as rg

x = rg.Value(1.0)
value = x
for _ in range(300_000):
    value = value + x
value.backward(3.0)
value.grad, x.grad = 5.0, 7.0
middle = value.inputs[0]
middle.grad = 11.0
strike = partial(ctypes.PyDLL(None)["raise"], signal.SIGINT)

def under_ctrl_c(function):
    # the signal arrives and the function runs without a bytecode in between
    return list(map(methodcaller("__call__"), (strike, function)))

def gradients():
    return value.grad, middle.grad, x.grad
"""


def test_ctrl_c_while_ordering_changes_nothing():
    code = """
for function in (value.backward, lambda: None, value.zero_grad, partial(rg.order, value)):
    try:
        under_ctrl_c(function)
    except KeyboardInterrupt:
        print(*gradients())
value.backward()
print(*gradients())
"""
    printed = output_of(INTERRUPTED + code, "native").splitlines()
    assert printed == ["5.0 11.0 7.0"] * 4 + ["1.0 1.0 300008.0"]


def test_ctrl_c_is_seen_among_many_short_roots():
    code = """
starts = [rg.Value(1.0) for _ in range(100)]
ends = list(starts)
for _ in range(1000):
    ends = [value + x for value in ends]
core = rg.value.core
backward = partial(core.backward, tuple(ends), (1.0,) * len(ends))
for function in (backward, partial(core.order, tuple(ends))):
    try:
        under_ctrl_c(function)
    except KeyboardInterrupt:
        print(*gradients(), {start.grad for start in starts})
"""
    assert output_of(INTERRUPTED + code, "native").splitlines() == ["5.0 11.0 7.0 {0.0}"] * 2


def test_a_handler_that_does_not_raise_lets_the_pass_finish():
    code = """
hits = []
signal.signal(signal.SIGINT, lambda *_: hits.append(gradients()))
under_ctrl_c(value.backward)
print(hits, *gradients())
"""
    printed = output_of(INTERRUPTED + code, "native").strip()
    assert printed == "[(5.0, 11.0, 7.0)] 1.0 1.0 300008.0"


# ---- numbers that run code --------------------------------------------------------------------

EMPTYING = """
from fractions import Fraction
import retrograde as rg

class Emptying(Fraction):
    def __float__(self):
        items.clear()
        [rg.Value(9.0) for _ in range(1000)]
        return 1.0

for _ in range(20):
    items = [rg.Value(2.0) for _ in range(8)]
    number, ones = Emptying(1), [1.0] * 9
    try:
        result = USE
        if isinstance(result, rg.Value):
            result.backward()
            result.inputs
    except (rg.RetrogradeError, TypeError, ValueError, IndexError, RuntimeError):
        pass
print("unharmed")
"""


@pytest.mark.parametrize(
    "use",
    [
        "items.insert(4, number) or rg.sum(items)",
        "items.insert(4, number) or rg.dot(items, ones)",
        "items.insert(4, number) or rg.dot(ones, items)",
        "items.insert(4, number) or rg.data(items)",
        "rg.Value(1.0, items, [number] * 8)",
    ],
)
def test_a_list_emptied_while_it_is_read_does_no_harm(use):
    assert output_of(EMPTYING.replace("USE", use), "native").strip() == "unharmed"
