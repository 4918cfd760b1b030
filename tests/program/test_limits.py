"""At the limits: a million rows, Ctrl-C, fork, several Python threads, the GIL."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from ..contract.support import HOME, output_of
from .support import CASES, flat, numbers, same


@pytest.fixture
def rg(native: Any) -> Any:
    """Threads, signals and memory are the native executor's."""
    return native


# ---- memory --------------------------------------------------------------------------------------

MEASURE = """
import numpy as np, retrograde as rg, resource, sys

def peak():
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

w = [rg.Value(0.1 * k) for k in range(20)]

@rg.compile
def f(x, y):
    for v in w:
        x = rg.tanh(x * v + y) + x
    return x

rows = 1_000_000
x, y = np.ones(rows), np.linspace(0.0, 1.0, rows)
f(x[:10], y[:10]), f.value_and_grad(x[:10], y[:10]), f.backward(x[:10], y[:10])
f.value_and_grad(x[:10], y[:10], reduce="sum")
before = peak()
f.backward(x, y, threads=2)
f.value_and_grad(x, y, wrt=(), reduce="sum", threads=2)
reduced = peak()
value, grads = f.value_and_grad(x, y, threads=2)
print(reduced - before, peak() - before)
"""


def test_a_million_rows_take_no_memory_beyond_inputs_and_results() -> None:
    reduced, stored = map(int, output_of(MEASURE, core="native").split())
    column = 8 * 1_000_000
    assert reduced < column  # 61 live numbers a row would be 488 MB
    assert stored < 3 * column + column


def test_a_recorded_function_of_many_operations_replays_in_bounded_slots(rg: Any) -> None:
    def f(x: Any) -> Any:
        for _ in range(3000):
            x = x * 0.999 + 0.001
        return x

    compiled = rg.compile(f)
    compiled(np.ones(2))
    (ready,) = compiled.traces[0].plans.values()
    assert ready.plan.slots <= 2


# ---- Ctrl-C --------------------------------------------------------------------------------------

LONG = """
import numpy as np, retrograde as rg, signal, sys, time

@rg.compile
def f(x):
    for _ in range(300):
        x = rg.tanh(x) * 1.01 + rg.sin(x)
    return x

w = rg.Value(1.0)
g = rg.compile(lambda x: f(x * w))
x = np.linspace(-1.0, 1.0, 2_000_000)
small = g(x[:5])
g.backward(x[:5])
grad = w.grad
print("ready", flush=True)
start = time.perf_counter()
try:
    {call}
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - start, flush=True)
assert w.grad == grad
assert (g(x[:5]) == small).all()
print("done", flush=True)
"""


@pytest.mark.parametrize(
    "call",
    ["g(x, threads=1)", "g.value_and_grad(x, threads=2)", "g.backward(x, threads=2)"],
)
def test_ctrl_c_stops_a_long_replay_and_leaves_nothing_half_written(call: str, rg: Any) -> None:
    child = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", LONG.format(call=call)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(HOME)},
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    sent = time.perf_counter()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    took = time.perf_counter() - sent
    assert child.returncode == 0, err
    assert out.startswith("interrupted"), out
    assert out.endswith("done\n")
    assert took < 3.0


def test_an_exception_from_a_signal_handler_comes_through(rg: Any) -> None:
    class Enough(Exception):
        pass

    def handler(*_: Any) -> None:
        raise Enough

    def f(x: Any) -> Any:
        for _ in range(300):
            x = rg.tanh(x) * 1.01 + rg.sin(x)
        return x

    compiled = rg.compile(f)
    x = numbers(1_000_000)
    compiled(x[:5])
    previous = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Enough):
            compiled(x)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
    assert same(compiled(x[:5]), compiled(x[:9])[:5])


# ---- fork ----------------------------------------------------------------------------------------

FORK = """
import os, sys
import numpy as np, retrograde as rg

w = rg.Value(2.0)
f = rg.compile(lambda x: rg.exp(w * x))
x = np.linspace(0.0, 1.0, 50_000)
values, grads = f.value_and_grad(x, threads=4)
child = os.fork()
if child == 0:
    again, slopes = f.value_and_grad(x, threads=4)
    fresh = rg.compile(lambda x: rg.exp(w * x))(x, threads=4)
    alike = (again == values).all() and (slopes == grads).all() and (fresh == values).all()
    os._exit(0 if alike else 1)
_, status = os.waitpid(child, 0)
assert (f(x, threads=4) == values).all()
print(os.waitstatus_to_exitcode(status))
"""


def test_replay_after_fork() -> None:
    assert output_of(FORK, core="native") == "0\n"


# ---- Python threads ------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [True, False])
def test_several_python_threads_at_once(rg: Any, shared: bool) -> None:
    """Recording and replaying, each with its own rows, the same function or its own."""
    case = CASES["network"]
    columns = case.columns(5000)
    one = rg.compile(case.make(rg))
    value, grads = one.value_and_grad(**columns)
    expected = np.array([value, *flat(grads)])
    common = rg.compile(case.make(rg))

    def work(worker: int) -> bool:
        compiled = common if shared else rg.compile(case.make(rg))
        for turn in range(4):
            first = (worker * 700 + turn * 131) % 4000
            window = slice(first, first + 1000)
            given = {k: v[window] if isinstance(v, np.ndarray) else v for k, v in columns.items()}
            value, grads = compiled.value_and_grad(**given, threads=2)
            if not same(np.array([value, *flat(grads)]), expected[:, window]):
                return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(12)))


def test_recording_in_one_thread_does_not_disturb_another(rg: Any) -> None:
    started, finish = threading.Event(), threading.Event()
    seen: list[Any] = []

    def slow(x: Any) -> Any:
        started.set()
        assert finish.wait(30)
        return x * 2 if x > 0 else -x

    worker = threading.Thread(target=lambda: seen.append(rg.compile(slow)(np.ones(3))))
    worker.start()
    assert started.wait(30)
    v = rg.Value(3.0)
    assert (v > 0) is True
    assert (v * 2).data == 6.0
    assert v.detach().requires_grad is False
    finish.set()
    worker.join()
    assert same(seen[0], np.full(3, 2.0))


def test_the_gil_is_released_while_replaying(rg: Any) -> None:
    def f(x: Any) -> Any:
        for _ in range(200):
            x = rg.sin(x) + x * 0.5
        return x

    compiled = rg.compile(f)
    x = numbers(1_000_000)
    compiled(x[:5])
    stop = threading.Event()
    ticks: list[float] = []

    def tick() -> None:
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    begin = time.perf_counter()
    compiled(x, threads=1)
    end = time.perf_counter()
    stop.set()
    ticker.join()
    during = [moment for moment in ticks if begin < moment < end]
    assert end - begin > 0.05, "too fast to tell"
    assert len(during) >= 10


@pytest.mark.parametrize("threads", [1, 2, 3, 64, 1000, 0, -1])
def test_any_number_of_threads(rg: Any, threads: int) -> None:
    x = numbers(20_000)
    f = rg.compile(lambda x: rg.tanh(x))
    assert same(f(x, threads=threads), f(x))
