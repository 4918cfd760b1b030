"""References are counted where the interpreter counts them, however; PyPy does not."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from retrograde._shared.references import references

IN_PLACE = """
import retrograde as rg

t = rg.Tensor([1.0, 2.0, 3.0])
t[0] = 5.0
assert t.data.tolist() == [5.0, 2.0, 3.0]
x = rg.Tensor([1.0, 1.0, 1.0])
y = x * 2.0
y[1] = 7.0
y.sum().backward()
assert x.grad.tolist() == [2.0, 0.0, 2.0]
shown = t.data
try:
    t[1] = 6.0
except rg.errors.AliasError:
    assert shown.tolist() == [5.0, 2.0, 3.0]
else:
    raise AssertionError("an array from .data was changed")
"""

AS_UNDER_PYPY = """
import sys

del sys.getrefcount
sys.getsizeof = lambda thing, *default: default[0] if default else sys.not_there

import numpy as np
import retrograde as rg
from retrograde import value

assert value.core_name == "reference"
a = rg.Value(3.0)
(a * a + rg.nn.MLP(1, [2, 1], seed=1)([a])).backward()
rg.memory(a * a)

box = {"scale": 2.0}

@rg.compile
def scaled(x):
    held = [x * box["scale"]]
    held.append(x)
    return held[0] * held[1]

rows = np.array([1.0, 2.0])
assert scaled(rows).tolist() == [2.0, 8.0]
assert scaled(rows).tolist() == [2.0, 8.0]
box["scale"] = 3.0
assert scaled(rows).tolist() == [3.0, 12.0]
t = rg.Tensor([1.0, 2.0])
try:
    t[0] = 5.0
except rg.errors.AliasError:
    assert t.data.tolist() == [1.0, 2.0]
else:
    raise AssertionError("numbers that something may hold were changed")
"""


def run(program: str, core: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "RETROGRADE_CORE": core},
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(sys, "getrefcount"), reason="this interpreter counts none")
def test_an_attribute_is_one_reference_and_every_other_one_more():
    holder = SimpleNamespace(thing=object())
    assert references(holder, "thing") == 1
    another = holder.thing
    assert references(holder, "thing") == 2
    del another
    assert references(holder, "thing") == 1


@pytest.mark.skipif(not hasattr(sys, "getrefcount"), reason="there nothing is written in place")
@pytest.mark.parametrize("core", ["", "reference"])
def test_what_nothing_else_holds_is_written_in_place(core: str):
    run(IN_PLACE, core)


def test_without_counts_nothing_is_written_in_place_and_all_else_works():
    run(AS_UNDER_PYPY, "reference")
