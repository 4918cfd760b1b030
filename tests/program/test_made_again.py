"""Arguments made again around values, and functions in other processes: nothing is lost."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

X = np.array([1.0, -2.0, 3.0])
RATE = 10.0


@dataclass
class Sided:
    a: Any

    def __post_init__(self) -> None:
        self.d = self.a * RATE if self.a > 0 else -self.a


def test_branches_of_a_dataclass_have_guards(rg: Any) -> None:
    given = Sided(1.0)
    given.a = X
    assert rg.compile(lambda p: p.d * 1.0)(given).tolist() == [10.0, 2.0, 30.0]


def test_what_a_dataclass_reads_is_watched(rg: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    f = rg.compile(lambda p: p.d * 1.0)
    assert f(Sided(5.0)) == 50.0
    monkeypatch.setattr(f"{__name__}.RATE", 3.0)
    assert f(Sided(5.0)) == 15.0


@dataclass
class Percent:
    rate: Any

    def __post_init__(self) -> None:
        self.rate = self.rate / 100.0


@dataclass(init=False)
class Own:
    a: Any

    def __init__(self, number: Any) -> None:
        self.a = number


class Doubled(namedtuple("Base", "x")):
    def __new__(cls, x: Any) -> Doubled:
        return super().__new__(cls, x * 2.0)


class Longer(list):  # type: ignore[type-arg]
    def __init__(self, items: Any) -> None:
        super().__init__([*items, 0.0])


@pytest.mark.parametrize(
    ("given", "function"),
    [
        (Percent(50.0), lambda p: p.rate * 1.0),
        (Own(2.0), lambda p: p.a * 1.0),
        (Doubled(3.0), lambda p: p.x * 1.0),
        (Longer([1.0]), lambda p: p[0] * 1.0),
    ],
    ids=lambda it: type(it).__name__,
)
def test_constructors_that_work_on_what_they_get_are_refused(
    rg: Any, given: Any, function: Any
) -> None:
    with pytest.raises(rg.errors.ArgumentError, match="its constructor would work on them twice"):
        rg.compile(function)(given)


class Alike:
    def __init__(self, number: float) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike)

    def __hash__(self) -> int:
        return 1


def test_equal_static_objects_may_differ(rg: Any) -> None:
    f = rg.compile(lambda x, how: x * how.number, static="how")
    assert (f(2.0, how=Alike(1.0)), f(2.0, how=Alike(5.0))) == (2.0, 10.0)


@dataclass
class A:
    x: Any
    more: float = field(default=1.0)

    def scaled(self) -> Any:
        return self.x * self.more


def test_what_reads_settings_far_away_does_not_take_recordings_along(native: Any) -> None:
    pytest.importorskip("cloudpickle", reason="install cloudpickle")
    near = native.compile(lambda x: x * 2.0)
    far = native.compile(
        lambda x: x * RATE
    )  # a global of a module, which others may have otherwise
    shaped = native.compile(lambda a: a.scaled() * 1.0)
    for compiled, given, kept in ((near, X, 1), (far, X, 0), (shaped, A(2.0), 0)):
        compiled(given)
        assert len(pickle.loads(pickle.dumps(compiled))._recordings.brought) == kept


FORKED = """
import os, sys
import numpy as np
import retrograde as rg
f = rg.compile(lambda x: x * x + 1.0, backend="cc")
f(np.ones(3))
f.wait()
child = os.fork()
if child == 0:
    f(np.ones(4))
    f.value_and_grad(np.ones(4))
    os._exit(0 if f.wait(60) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_compiles_for_itself(native: Any, tmp_path: Any) -> None:
    environment = {**os.environ, "RETROGRADE_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", FORKED], env=environment, timeout=100)
    assert done.returncode == 0


def test_traces_of_every_branch_are_compiled(
    native: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETROGRADE_CACHE", str(tmp_path))
    monkeypatch.setattr("retrograde.printing.cc.CC.shared", None)

    def forked(x: Any, y: Any) -> Any:
        if x > 0.0:
            return x * y if y > x else x - y
        return native.exp(x)

    draw = np.random.default_rng(1)
    x, y = draw.normal(size=50), draw.normal(size=50)
    plain, fast = native.compile(forked), native.compile(forked, backend="cc")
    fast.value_and_grad(x, y)
    assert fast.wait(100)
    if fast._target.compiler is None:
        pytest.skip("no compiler here")
    assert fast._target.failed == 0
    for one, other in zip(fast.grad(x, y), plain.grad(x, y)):
        assert one.tobytes() == other.tobytes()
