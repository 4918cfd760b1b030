"""Functions of ``__main__`` in other processes: by what was recorded, and by source."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SCRIPT = """
import pickle, subprocess, sys
import numpy as np
import retrograde as rg
from functools import partial

@rg.compile
def price(S, K):
    return S - K if S > K else 0.0 * S

class Book:
    def __init__(self, rate):
        self.rate = rate

    @rg.compile
    def worth(self, S):
        return S * self.rate

@rg.compile(static="n")
def power(x, n):
    return x if n == 1 else x * power(x, n - 1)

def plain(S, n):
    return S * n

X = np.array([1.0, 2.0])
{before}
WORKER = '''
import pickle, sys
import numpy as np
function, args = pickle.loads(sys.stdin.buffer.read())
value, gradient = function.value_and_grad(*args)
print(type(function).__name__, np.asarray(value).tolist())
'''
def ask(function, *args):
    done = subprocess.run([sys.executable, "-c", WORKER], input=pickle.dumps((function, args)),
                          capture_output=True)
    print(done.stdout.decode().strip() or done.stderr.decode()[-600:])
{asked}
"""


def run(tmp_path: Path, before: str, asked: str) -> list[str]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("{before}", before).replace("{asked}", asked))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_function_of_main_is_known_in_another_process(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    lines = run(
        tmp_path,
        "price(X, 0.5)",
        "ask(price, X, 0.5)\nask(price, X, 1.5)\nask(price, 3.0, 1.0)",
    )
    assert lines == [
        "Compiled [0.5, 1.5]",
        "Compiled [0.0, 0.5]",  # a branch that was recorded there
        "Compiled 2.0",  # and other shapes
    ]


def test_what_was_never_called_is_recorded_there(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    asked = (
        "ask(price, X, 0.5)\nask(Book(3.0).worth, X)\nask(power.variant(n=3), 2.0)\n"
        "ask(rg.compile(partial(plain, n=4)), X)\nask(rg.compile(lambda S: S + 1.0), X)"
    )
    assert run(tmp_path, "", asked) == [
        "Compiled [0.5, 1.5]",
        "Compiled [3.0, 6.0]",
        "Compiled 8.0",
        "Compiled [4.0, 8.0]",
        "Compiled [2.0, 3.0]",
    ]


def test_without_cloudpickle_what_was_recorded_travels(tmp_path: Path) -> None:
    before = "sys.modules['cloudpickle'] = None\nprice(X, 0.5)\nb = Book(3.0)\nb.worth(X)"
    lines = run(tmp_path, before, "ask(price, X, 0.5)\nask(b.worth, X)\nask(price, X, 5.0)")
    assert lines[:2] == ["Loaded [0.5, 1.5]", "Loaded [3.0, 6.0]"]
    assert "GuardError" in "".join(lines[2:])


def test_joblib_works_as_it_is(tmp_path: Path) -> None:
    pytest.importorskip("joblib")
    asked = (
        "from joblib import Parallel, delayed\n"
        "parts = Parallel(n_jobs=2)(delayed(price)(X + i, 0.5) for i in range(3))\n"
        "print(np.concatenate(parts).tolist())\n"
        "pairs = Parallel(n_jobs=2)(delayed(price.value_and_grad)(X, 1.5) for i in range(2))\n"
        "print(pairs[1][1][0].tolist())"
    )
    assert run(tmp_path, "", asked) == ["[0.5, 1.5, 1.5, 2.5, 2.5, 3.5]", "[0.0, 1.0]"]


def test_leaves_travel_by_their_data(rg: Any) -> None:
    weight = rg.Value(2.0)
    f = rg.compile(lambda x: weight * x)
    f(1.0)
    there = pickle.loads(pickle.dumps(f))
    weight.data = 5.0
    assert there(1.0) == 2.0
    assert list(there.parameters) == ["weight"]


def test_what_arrived_can_be_sent_on(rg: Any) -> None:
    pytest.importorskip("cloudpickle")
    f = rg.compile(lambda x: x * 2.0 if x > 0.0 else x, choices=False)
    f(1.0)
    there = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(f))))
    assert there(-3.0) == -3.0
    assert there.grad(np.array([1.0, -1.0])).tolist() == [2.0, 1.0]
    assert len(there.traces) >= 2
