"""Passes that meet: a hook or a rule that runs another backward, threads on shared values.

Each gradient is that of the passes one after the other, or there is an error and nothing changed.
"""

from __future__ import annotations

import itertools
import linecache
import random
import sys
import threading
import time
from operator import add, mul, sub

import numpy as np
import pytest


@pytest.fixture
def frequent_switches():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def closure(rg, x, factor):
    """factor * x, its rule a Python closure as in micrograd."""
    out = rg.Value(x.data * factor, (x,), "scaled")

    def backward():
        x.grad += factor * out.grad

    out._backward = backward
    return out


# ---- hooks ---------------------------------------------------------------------------------------


def test_a_hook_may_run_a_pass_over_shared_values(rg):
    x = rg.Value(3.0)
    shared = x * 2.0
    other = shared * 5.0
    shared.register_hook(lambda total: other.backward() if total == 1.0 else None)
    (shared + x).backward()
    assert x.grad == (2.0 + 1.0) + 10.0


def test_a_hook_may_run_the_same_pass_again(rg):
    x = rg.Value(3.0)
    y = x * x
    root = y + x
    depth = []

    def again(total):
        if len(depth) < 3:
            depth.append(total)
            root.backward()

    y.register_hook(again)
    root.backward()
    assert x.grad == 4 * 7.0
    assert y.grad == 1.0


def test_random_graphs_with_passes_inside_hooks_add_up(rg):
    draw = random.Random(7)
    for _ in range(60):
        leaves = [rg.Value(draw.uniform(-2.0, 2.0)) for _ in range(3)]
        values = list(leaves)
        for _ in range(12):
            a, b = draw.choice(values), draw.choice(values)
            values.append(draw.choice([add, mul, sub])(a, 2.0 * b))
        roots = draw.sample(values[3:], 3)
        alone = []
        for root in roots:
            root.backward()
            alone.append([leaf.grad for leaf in leaves])
            rg.zero_grad(leaves)
        ran = []

        def inner(total, roots=roots, ran=ran):
            if not ran:
                ran.append(True)
                roots[1].backward()
                roots[2].backward()

        with roots[0].register_hook(inner):
            roots[0].backward()
        assert ran
        for leaf, *terms in zip(leaves, *alone):
            assert leaf.grad == pytest.approx(sum(terms), rel=1e-13, abs=1e-13)
        rg.zero_grad(leaves)


def test_a_hook_sees_gradients_as_they_were_before_its_pass(rg):
    x = rg.Value(3.0)
    x.grad = 100.0
    seen = []
    y = x * 2.0
    y.register_hook(lambda total: seen.append((x.grad, y.grad)))
    y.backward()
    assert seen == [(100.0, 0.0)]
    assert (x.grad, y.grad) == (102.0, 1.0)


def test_a_pass_that_fails_keeps_what_its_hook_added(rg):
    x = rg.Value(3.0)
    y = x * 2.0

    def fail(total):
        (x * 7.0).backward()
        x.grad += 1.0
        raise ZeroDivisionError

    with y.register_hook(fail), pytest.raises(ZeroDivisionError):
        y.backward()
    assert (x.grad, y.grad) == (8.0, 0.0)


class Interrupted(BaseException):
    """What Ctrl-C does, at a line of choice."""


def interrupted(run, place):
    """Run a function and interrupt it at the line of the core with this number; False at its end.

    Not at a ``with``: its line comes up again before a lock is let go, where no signal is heard.
    """
    lines = itertools.count()

    def trace(frame, event, argument):
        if not frame.f_code.co_filename.endswith(("lending.py", "reference.py", "arrays.py")):
            return None
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        if event == "line" and not line.startswith("with ") and next(lines) == place:
            raise Interrupted
        return trace

    sys.settrace(trace)
    try:
        run()
    except Interrupted:
        return True
    finally:
        sys.settrace(None)
    return False


@pytest.mark.parametrize("kind", ["Value", "Tensor"])
def test_an_interrupt_leaves_all_gradients_or_none(rg, kind):
    """Wherever the pass is; the native core cannot be interrupted while it settles."""
    for place in itertools.count():
        leaves = [rg.Tensor([3.0]) if kind == "Tensor" else rg.Value(3.0) for _ in range(3)]
        root = (leaves[0] * 2.0 + leaves[1] * 2.0 + leaves[2] * 2.0).sum()
        more = interrupted(root.backward, place)
        found = {0.0 if leaf.grad is None else float(np.sum(leaf.grad)) for leaf in leaves}
        assert found in ({0.0}, {2.0}), place
        if not more:
            break
    assert found == {2.0}
    other = rg.Value(1.0)
    assert in_another_thread((other * 2.0).backward) is None  # no lock is left held
    assert other.grad == 2.0


# ---- closures ------------------------------------------------------------------------------------


def test_a_pass_over_values_lent_to_a_closure_is_refused(rg):
    x = rg.Value(3.0, label="x")
    x.grad = 5.0
    out = rg.Value(6.0, (x,), "twice")
    problems = []

    def backward():
        x.grad += 2.0 * out.grad
        try:
            (x * 7.0).backward()
        except RuntimeError as error:
            problems.append(error)

    out._backward = backward
    (out * 1.0).backward()
    assert x.grad == 7.0
    [problem] = problems
    assert type(problem).__name__ == "PassInProgressError"
    assert "x" in str(problem)
    assert "is part of a backward pass that is still running" in str(problem)
    assert "Call it after the outer backward() has returned" in str(problem)


def test_a_pass_over_tensors_above_a_closure_is_refused_in_words(rg):
    x, t = rg.Value(3.0), rg.Tensor([1.0, 2.0])
    out = rg.Value(6.0, (x,), "twice")
    root = (t * out).sum()
    problems = []

    def backward():
        x.grad += 2.0 * out.grad
        try:
            root.backward()
        except RuntimeError as error:
            problems.append(error)

    out._backward = backward
    root.backward()
    assert x.grad == 6.0
    assert list(t.grad) == [6.0, 6.0]
    [problem] = problems
    assert type(problem).__name__ == "PassInProgressError"
    assert "is part of a backward pass that is still running" in str(problem)


@pytest.mark.parametrize(
    "change",
    [
        lambda rg, x: rg.zero_grad([x]),
        lambda rg, x: (x * 2.0).zero_grad(),
        lambda rg, x: rg.optim.clip_grad_norm([x], 0.1),
        lambda rg, x: (closure(rg, x, 2.0) * 2.0).backward(),
    ],
    ids=["zero_grad", "zero_grad of a root", "clipping", "another pass"],
)
def test_gradients_lent_to_a_closure_are_not_changed_under_it(rg, change):
    x = rg.Value(3.0)
    out = rg.Value(6.0, (x,), "twice")

    def backward():
        x.grad += 2.0 * out.grad
        change(rg, x)

    out._backward = backward
    x.grad = 1.0
    with pytest.raises(RuntimeError, match="still running"):
        out.backward()
    assert (x.grad, out.grad) == (1.0, 0.0)
    out._backward = lambda: None
    out.backward()


def test_a_derivative_inside_a_closure_is_right_and_changes_nothing(rg):
    x = rg.Value(3.0)
    out = rg.Value(9.0, (x,), "square")
    out._backward = lambda: setattr(x, "grad", x.grad + rg.grad(lambda v: v * v)(x.data) * out.grad)
    x.grad = 1.0
    (out * 2.0).backward()
    assert x.grad == 13.0


def test_passes_beside_a_closure_that_share_nothing_go_ahead(rg):
    x, other = rg.Value(3.0), rg.Value(4.0)
    out = rg.Value(6.0, (x,), "twice")

    def backward():
        x.grad += 2.0 * out.grad
        (other * 7.0).backward()

    out._backward = backward
    out.backward()
    assert (x.grad, other.grad) == (2.0, 7.0)


def test_what_takes_no_gradient_is_left_alone_beside_closures(rg):
    x, fixed = rg.Value(3.0), rg.Value(5.0, requires_grad=False)
    below = fixed * 2.0
    fixed.grad, below.grad = 7.0, 8.0
    closure(rg, x * fixed * below, 2.0).backward()
    assert (x.grad, fixed.grad, below.grad) == (100.0, 7.0, 8.0)


# ---- threads -------------------------------------------------------------------------------------


def in_another_thread(function):
    """Run a function in a thread and wait for it; its error is returned."""
    found = []

    def run():
        try:
            function()
        except RuntimeError as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    return found[0] if found else None


def test_what_another_thread_adds_during_a_hook_stays(rg):
    x = rg.Value(3.0)
    y = x * 2.0
    y.register_hook(lambda total: in_another_thread(lambda: (x * 7.0).backward()) and None)
    y.backward()
    assert x.grad == 9.0


def test_what_another_thread_adds_before_a_hook_fails_stays(rg):
    x = rg.Value(3.0)
    y = x * 2.0

    def fail(total):
        in_another_thread(lambda: (x * 7.0).backward())
        raise ZeroDivisionError

    with y.register_hook(fail), pytest.raises(ZeroDivisionError):
        y.backward()
    assert x.grad == 7.0


def test_another_thread_is_refused_what_is_lent_to_a_closure(rg):
    x = rg.Value(3.0, label="x")
    out = rg.Value(6.0, (x,), "twice")
    found = []

    def backward():
        x.grad += 2.0 * out.grad
        found.append(in_another_thread(lambda: (x * 7.0).backward()))
        found.append(in_another_thread(lambda: setattr(x, "grad", 100.0)))
        found.append(in_another_thread(lambda: closure(rg, x, 1.0).backward()))
        above = closure(rg, rg.Value(1.0), 1.0) + x  # whose rule touches nothing that is lent
        core = rg.value.core
        asked = (above,), (1.0,), tuple(core.leaves_under((above,))), 0
        found.append(in_another_thread(lambda: core.gradients(*asked)))

    out._backward = backward
    out.backward()
    assert x.grad == 2.0
    for error in found:
        assert type(error).__name__ == "PassInProgressError"
        assert "another thread runs a backward pass" in str(error)
        assert "hold one lock around both passes" in str(error)


def test_many_threads_whose_hooks_sleep_lose_nothing(rg, frequent_switches):
    x = rg.Value(3.0)
    shared = x * 2.0
    repeats, workers = 20, 6

    def work(index):
        for turn in range(repeats):
            root = shared * 1.0 + x
            with root.register_hook(lambda total: time.sleep(1e-4)):
                if turn % 5 == index % 5:
                    failing = root._children[0].register_hook(lambda total: 1 / 0)
                    with failing, pytest.raises(ZeroDivisionError):
                        root.backward()
                else:
                    root.backward()

    threads = [threading.Thread(target=work, args=(index,)) for index in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad == 3.0 * workers * (repeats - repeats // 5)


def test_threads_with_closures_are_right_or_refused(rg, frequent_switches):
    x = rg.Value(3.0)
    passed, refused = [], []

    def work():
        for _ in range(50):
            root = closure(rg, closure(rg, x, 2.0), 3.0)
            try:
                root.backward()
                passed.append(6.0)
            except RuntimeError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) + len(refused) == 200
    assert all("another thread" in text for text in refused)
    assert x.grad == sum(passed)
