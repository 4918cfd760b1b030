"""Threads: graphs built and walked at once, handed over, and modes that stay where they are."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Queue

import pytest

from .support import core_of

WORKERS = 8


@pytest.fixture(autouse=True)
def frequent_switches():
    """Have the interpreter change threads as often as it can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def at_once(count, function):
    """Results of function(0), … run in threads that all start together; errors are raised."""
    barrier = threading.Barrier(count)

    def run(index):
        barrier.wait(30)
        return function(index)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def rounds(rg, native, reference):
    return native if core_of(rg) == "native" else reference


def work(rg, index, repeats):
    """A computation with every kind of node; its gradients to the bit."""
    result = []
    for n in range(repeats):
        x, w = rg.Value(0.1 * index + 0.01 * n, label=f"x{index}"), rg.Value(-0.7)
        frozen = rg.Value(2.0, requires_grad=False)
        node = rg.Value(x.data, (x, w), (1.0, 0.5))
        closure = rg.Value(w.data, (w,), "same")

        def backward(w=w, closure=closure):
            w.grad += closure.grad

        closure._backward = backward
        loss = rg.dot(rg.softmax([x, w, node]), [frozen, 2.0, x * closure]) + (x - w).tanh()
        with loss.register_hook(lambda total: total * 2):
            loss.backward()
        result.append((x.label, loss.data.hex(), x.grad.hex(), w.grad.hex(), frozen.grad))
        loss.zero_grad()
        assert x.grad == w.grad == 0.0
    return result


def test_graphs_of_many_threads_equal_those_of_one(rg):
    repeats = rounds(rg, 200, 20)
    together = at_once(WORKERS, lambda index: work(rg, index, repeats))
    assert together == [work(rg, index, repeats) for index in range(WORKERS)]


def test_deep_graphs_are_built_walked_and_freed_at_once(rg):
    depth = rounds(rg, 50_000, 1_000)

    def chain(index):
        for _ in range(3):
            x = rg.Value(1.0)
            value = x
            for _ in range(depth):
                value = value + x
            value.backward()
            del value
        return x.grad

    assert at_once(4, chain) == [depth + 1.0] * 4


def test_leaves_shared_between_threads(rg):
    shared, repeats = rg.Value(2.0), rounds(rg, 2_000, 100)

    def use(index):
        values = [shared * float(index) for _ in range(repeats)]
        total = rg.sum(values)
        return total.data, len(total.inputs), {value.inputs[0] is shared for value in values}

    results = at_once(WORKERS, use)
    assert [size for _, size, _ in results] == [repeats] * WORKERS
    assert all(same == {True} for _, _, same in results)
    assert [total for total, _, _ in results] == [2.0 * n * repeats for n in range(WORKERS)]


def test_passes_of_one_thread_after_another_over_a_shared_leaf_add_up(rg):
    shared, repeats, lock = rg.Value(2.0), rounds(rg, 200, 50), threading.Lock()

    def use(index):
        for _ in range(repeats):
            root = shared * 3.0 + index
            with lock:
                root.backward()

    at_once(WORKERS, use)
    assert shared.grad == 3.0 * repeats * WORKERS


def test_native_passes_over_a_shared_leaf_do_not_get_lost(native):
    shared, repeats = native.Value(2.0), 2_000

    def use(index):
        for _ in range(repeats):
            (shared * 3.0 + index).backward()

    at_once(WORKERS, use)
    assert shared.grad == 3.0 * repeats * WORKERS


def test_graphs_are_handed_from_thread_to_thread(rg):
    stages, count = 4, rounds(rg, 300, 50)
    queues = [Queue() for _ in range(stages + 1)]

    def stage(index):
        for _ in range(count):
            leaf, value = queues[index].get(timeout=30)
            queues[index + 1].put((leaf, value * 2.0 + leaf))

    threads = [threading.Thread(target=stage, args=(index,)) for index in range(stages)]
    for thread in threads:
        thread.start()
    for n in range(count):
        leaf = rg.Value(float(n))
        queues[0].put((leaf, leaf * 1.0))
    for _ in range(count):
        leaf, value = queues[-1].get(timeout=30)
        value.backward()
        # v -> 2 v + x, four times, from v = x: 16 + 8 + 4 + 2 + 1
        assert (value.data, leaf.grad) == (31.0 * leaf.data, 31.0)
    for thread in threads:
        thread.join()


def test_graphs_dropped_in_another_thread_are_freed(rg):
    count = rounds(rg, 20_000, 500)
    graphs = Queue()

    def build(index):
        for n in range(count):
            x = rg.Value(float(n), label="dropped elsewhere")
            graphs.put(x * x + 1)

    def drop(index):
        for _ in range(count):
            graphs.get(timeout=30)

    at_once(4, lambda index: (build if index % 2 else drop)(index))
    assert graphs.empty()
    x = rg.Value(3.0, label="here")
    (x * x).backward()
    assert (x.grad, x.label) == (6.0, "here")


def test_modes_do_not_leak_between_threads(rg):
    x, zero, repeats = rg.Value(3.0), rg.Value(0.0), rounds(rg, 500, 50)

    def use(index):
        outcomes = set()
        for _ in range(repeats):
            if index % 4 == 0:
                with rg.no_grad():
                    outcomes.add(((x * 2).requires_grad, zero.log().data))
            elif index % 4 == 1:
                with rg.anomaly():
                    try:
                        zero.log()
                    except rg.errors.AnomalyError:
                        outcomes.add(((x * 2).requires_grad, "birth"))
            elif index % 4 == 2:
                with rg.no_grad(), rg.anomaly():
                    try:
                        zero.log()
                    except rg.errors.AnomalyError:
                        outcomes.add(((x * 2).requires_grad, "birth"))
            else:
                outcomes.add(((x * 2).requires_grad, zero.log().data))
        return outcomes

    minus = float("-inf")
    expected = [{(False, minus)}, {(True, "birth")}, {(False, "birth")}, {(True, minus)}]
    assert at_once(WORKERS, use) == expected * 2
    assert rg.grad_enabled()
    assert (x * 2).requires_grad


def test_a_thread_that_ends_inside_a_mode_takes_it_along(rg):
    thread = threading.Thread(target=rg.value.core.enter_no_grad)
    thread.start()
    thread.join()
    x = rg.Value(3.0)
    assert rg.grad_enabled()
    (x * 2).backward()
    assert x.grad == 2.0
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(rg.grad_enabled).result() is True


def test_a_mode_left_in_another_thread_does_not_stick_there(rg):
    mode = rg.no_grad()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(mode.__enter__).result()

        def leave():
            with suppress(RuntimeError):
                mode.__exit__(None, None, None)
            return rg.grad_enabled(), (rg.Value(3.0) * 2).requires_grad

        with ThreadPoolExecutor(1) as other:
            assert other.submit(leave).result() == (True, True)
        assert rg.grad_enabled()


def test_failures_in_one_thread_leave_the_others_alone(rg):
    repeats = rounds(rg, 300, 30)

    def use(index):
        x = rg.Value(2.0)
        root = x * x * 1.0
        if index % 2:
            root.inputs[0].register_hook(lambda total: 1 / 0)
        for n in range(1, repeats + 1):
            if index % 2:
                with pytest.raises(ZeroDivisionError):
                    root.backward()
                assert (x.grad, root.grad) == (0.0, 0.0)
            else:
                root.backward()
                assert x.grad == 4.0 * n
        return True

    assert all(at_once(WORKERS, use))
