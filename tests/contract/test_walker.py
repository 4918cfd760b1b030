"""The walker where it is easily wrong unseen: hooks met by transforms, and lists given back."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("hooked", ["neither", "x", "y", "both"])
def test_a_result_is_closed_or_not_whoever_has_hooks(rg, hooked):
    """Leaves with hooks stand elsewhere in an ordering; here they are leaves like others."""
    core = rg.value.core
    x, y = rg.Value(3.0), rg.Value(2.0)
    for value, name in ((x, "x"), (y, "y")):
        if hooked in (name, "both"):
            value.register_hook(lambda total: total * 100.0)
    root = x * y + x
    assert core.is_closed((root,), (x, y), 0)
    assert not core.is_closed((root,), (x,), 0)
    assert not core.is_closed((root,), (y,), 0)
    assert core.is_closed((x * 2.0,), (x,), 0)
    assert core.gradients((root,), (1.0,), (x, y), 0) == [3.0, 3.0]
    assert core.gradients((root,), (1.0,), (x,), 0) is None


@pytest.mark.parametrize("hooked", [False, True])
def test_transforms_pass_by_hooks_on_what_they_capture(rg, hooked):
    w = rg.Value(5.0)
    if hooked:
        w.register_hook(lambda total: total * 100.0)
    slope = rg.grad(lambda x: x * x * w)(3.0)
    assert slope.data == 30.0
    assert rg.gradients(slope, w).data == 6.0
    primal, tangent = rg.jvp(lambda x: x * w, (3.0,), (1.0,))
    assert (primal.data, tangent.data) == (15.0, 5.0)


def test_inputs_that_are_not_reached_have_no_gradient(rg):
    x, y, z = rg.Value(1.0), rg.Value(2.0), rg.Value(3.0)
    root = x * y
    assert rg.value.core.gradients((root,), (1.0,), (z, y, x), 0) == [None, 1.0, 2.0]
    assert (x.grad, y.grad, z.grad) == (0.0, 0.0, 0.0)


def test_infinities_beside_closures_stop_a_pass_only_where_that_was_asked_for(rg):
    x = rg.Value(0.0)
    root = x.sqrt()
    out = rg.Value(2.0 * root.data, (root,), "twice")

    def twice():
        root.grad += 2.0 * out.grad

    out._backward = twice
    out.backward()
    assert x.grad == math.inf
    with rg.anomaly(), pytest.raises(rg.errors.AnomalyError):
        out.backward()
    assert x.grad == math.inf


# ---- lists are given back ------------------------------------------------------------------------


def resident():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def closed(rg, root, x):
    assert rg.value.core.is_closed((root,), (x,) * 20_000, 0)


def not_closed(rg, root, x):
    assert not rg.value.core.is_closed((root,), (), 0)


def pulled(rg, root, x):
    rg.value.core.gradients((root,), (1.0,), (x,) * 20_000, 0)


def not_pulled(rg, root, x):
    assert rg.value.core.gradients((root,), (1.0,), (), 0) is None


def ordered(rg, root, x):
    rg.value.core.order((root,))
    rg.value.core.order_since((root,), 0)


def backward(rg, root, x):
    root.backward()


def without_gradients(rg, root, x):
    x.requires_grad = False
    try:
        with pytest.raises(rg.errors.NoGradientError):
            root.backward()
    finally:
        x.requires_grad = True


def with_hooks(rg, root, x):
    handle = x.register_hook(lambda total: total)
    root.backward()
    handle.remove()


def watched(rg, root, x):
    with rg.anomaly():
        root.backward()


def refused(rg, root, x):
    handle = x.register_hook(lambda total: "no number")
    with pytest.raises(rg.errors.RetrogradeError):
        root.backward()
    handle.remove()


def through_a_closure(rg, root, x):
    out = rg.Value(root.data, (root,), "same")
    out._backward = lambda: setattr(root, "grad", root.grad + out.grad)
    out.backward()
    out._backward = lambda: None  # it refers to out, and out to it


def beside_a_closure(rg, root, x):
    """What is lent is looked up once for all the passes that a rule runs."""
    out, other = rg.Value(root.data, (root,), "same"), rg.Value(1.0) * 2.0

    def rule():
        for _ in range(5):
            other.backward()

    out._backward = rule
    out.backward()
    out._backward = lambda: None


def zeroed(rg, root, x):
    rg.zero_grad(root)


ACTS = (
    closed, not_closed, pulled, not_pulled, ordered, backward, without_gradients, with_hooks,
    watched, refused, through_a_closure, beside_a_closure, zeroed,
)  # fmt: skip


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
def test_what_a_walk_takes_it_gives_back(native, act):
    """Each walk over this graph takes 160 KB: two hundred that are kept would show."""
    x = native.Value(1.0)
    root = x
    for _ in range(10_000):
        root = root * 1.0 + x
    for _ in range(20):
        act(native, root, x)
    before = resident()
    for _ in range(200):
        act(native, root, x)
    assert resident() - before < 8 << 20


# ---- memory that runs out ------------------------------------------------------------------------


def test_without_memory_a_pass_says_so_and_changes_nothing(native):
    """Whatever allocation fails, those of the ordering among them: its lists grow on the way."""
    x = native.Value(2.0)
    root = native.sum([x * float(i) for i in range(600)])
    root.backward()
    expected, inject, failures = x.grad, native.value.core.inject_allocation_failure, 0
    for count in range(12):
        x.grad = 7.0
        inject(count)
        try:
            root.backward()
        except native.errors.GraphMemoryError:
            failures += 1
            assert x.grad == 7.0
        else:
            assert x.grad == 7.0 + expected
        finally:
            inject(-1)
    assert failures >= 4
    x.grad = 0.0
    root.backward()
    assert x.grad == expected


def test_without_memory_a_loan_is_not_forgotten(native):
    """A pass that cannot look whether its values are lent does not go ahead."""
    inject = native.value.core.inject_allocation_failure
    x = native.Value(2.0)
    other = x * 3.0
    out = native.Value(2.0, (x,), "same")
    seen = []

    def rule():
        for count in range(8):
            inject(count)
            try:
                other.backward()
            except (MemoryError, native.errors.PassInProgressError) as error:
                seen.append(type(error))
            finally:
                inject(-1)
        x.grad += out.grad

    out._backward = rule
    out.backward()
    assert x.grad == 1.0
    assert len(seen) == 8
    assert MemoryError in seen
    assert seen[-1] is native.errors.PassInProgressError


def test_one_step_of_a_wide_node_passes_by_its_numbers(rg):
    x, y = rg.Value(2.0), rg.Value(3.0)
    out = rg.dot([x, 2.0, 3.0, y], [4.0, y, 5.0, 6.0])
    out.grad = 1.0
    out._backward()
    assert (x.grad, y.grad) == (4.0, 8.0)
