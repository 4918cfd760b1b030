"""``backend="cc"`` on functions on tensors: their maps from compiled libraries, with the
interpreter's bits."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

import retrograde as rg
from retrograde import printing
from retrograde.errors import BackendWarning
from retrograde.printing import cc, maps
from retrograde.printing.compiler import Compiler, compiler

from ..program.shaped_programs import Drawn
from .support import needs_compiler, same_bits

pytestmark = needs_compiler

FLAGS = compiler().flags if compiler() else ()

SHAPES = [(3,), (64,), (1000,), (7, 5), (1, 33), (300, 8), (5, 64), (4, 3, 70), (40, 1, 2)]
"""Fewer numbers than a tile, tiles and a rest, several blocks, short and long lines."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, native):
    """A cache of its own for every test, on the native core; compiled without optimisation."""
    monkeypatch.setenv("RETROGRADE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cc.CC, "shared", None)
    slow = {"-O3": "-O0", "-march=native": "-DRG_ONE"}
    monkeypatch.setattr(Compiler, "flags", tuple(slow.get(it, it) for it in compiler().flags))
    return tmp_path / "cache"


def draws(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def built(monkeypatch):
    """A list that grows with every call of the compiler."""
    calls, build = [], Compiler.build
    monkeypatch.setattr(Compiler, "build", lambda *args: calls.append(1) or build(*args))
    return calls


def leaves(nest):
    if isinstance(nest, dict):
        nest = list(nest.values())
    if isinstance(nest, (tuple, list)):
        return [leaf for part in nest for leaf in leaves(part)]
    return [nest]


def used(function):
    """Whether everything that was asked for is compiled, and there was something."""
    assert function.wait(120)
    target = function._target
    return target.done == target.asked > 0 and not target.failed


def check(function, ask):
    """A call has the bits of the interpreter before and after it is compiled."""
    plain, fast = rg.compile(function), rg.compile(function, backend="cc")
    expected = leaves(ask(plain))
    for _ in range(2):
        for one, other in zip(leaves(ask(fast)), expected, strict=True):
            same_bits(one, other)
        assert used(fast)
    return fast


def curved(x: rg.Tensor, y: rg.Tensor, t):
    a = rg.tanh(x * t + y) / (1.0 + y * y)
    b = rg.exp(-a * a) - rg.maximum(x, 0.3)
    return (rg.log(1.0 + b * b) * a).sum()


def lines(x: rg.Tensor, g: rg.Tensor):
    """Sums, largest numbers, and what is spread again, along every axis."""
    found = (x * g + 0.5).sum()
    for axis in range(len(x.shape)):
        top = x.max(axis=axis, keepdims=True)
        powers = rg.exp(x - top)
        found = found + (powers / powers.sum(axis=axis, keepdims=True) * g).sum()
        found = found + ((x * x - g).sum(axis=axis) ** 2).sum()
    return found


@pytest.mark.parametrize("flags", [None, FLAGS], ids=["plain", "native"])
def test_values_and_gradients_of_all_shapes(monkeypatch, flags):
    if flags:
        monkeypatch.setattr(Compiler, "flags", flags)
    calls = built(monkeypatch)
    for shape in SHAPES:
        x, y = draws(*shape), draws(*shape, seed=1)
        check(curved, lambda it: (it(x, y, 0.7), it.value_and_grad(x, y, 0.7)))  # noqa: B023
    assert len(calls) <= 6  # other shapes, the same text: but for what is one number in one of them


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_and_largest_numbers_along_every_axis(shape):
    x = draws(*shape)
    for g in (draws(*shape, seed=1), draws(shape[-1], seed=2), draws(*shape[:-1], 1, seed=3)):
        check(lines, lambda it: (it(x, g), it.value_and_grad(x, g)))  # noqa: B023


def test_operands_in_other_orders():
    def turned(x: rg.Tensor, y: rg.Tensor):
        a = x.T * y + x.T[::-1] * rg.sin(y[:, ::-1])
        return (a * a[:, :1] + rg.tanh(a).T.T).sum(axis=0) * 0.5

    x, y = draws(40, 9), draws(9, 40, seed=1)
    check(turned, lambda it: it(x, y))

    def total(x: rg.Tensor, y: rg.Tensor):
        return turned(x, y).sum()

    check(total, lambda it: it.value_and_grad(x, y))


def test_captured_leaves_products_and_backward():
    w, b = rg.Tensor(draws(8, 16)), rg.Tensor(draws(16, seed=1))

    def loss(x: rg.Tensor):
        return (rg.tanh(x @ w + b) ** 2).mean()

    def ask(it):
        w.grad = b.grad = None
        it.backward(draws(50, 8))
        return np.array(w.grad), np.array(b.grad)

    check(loss, ask)
    check(loss, lambda it: it.hvp(draws(50, 8), vector=draws(50, 8, seed=2)))


def test_rows_of_arguments_and_branches():
    def picked(x: rg.Tensor, t):
        return (rg.exp(x * t) - x).sum() if t > 0.0 else (x * x * t + 1.0).sum()

    x, t = draws(30, 20), draws(30)
    check(picked, lambda it: it.value_and_grad(rg.rows(x), t))


@pytest.mark.parametrize("seed", range(12))
def test_random_functions(seed):
    drawn = Drawn(rg, seed)
    check(drawn.function(), lambda it: it.value_and_grad(drawn.x, drawn.y, drawn.n, drawn.t))


def test_numbers_of_every_kind():
    kinds = [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1e-310, 1e308, -1e308, 1.0, -1.0, 0.5]
    x, y = (it.reshape(-1) for it in np.meshgrid(kinds, kinds))

    def wild(x: rg.Tensor, y: rg.Tensor):
        return rg.where(x > y, x * y + 1.0, rg.sqrt(x) / y) - rg.exp(y) * rg.minimum(x, y)

    with np.errstate(all="ignore"):
        check(wild, lambda it: it(x, y))


def test_calls_of_many_threads_while_it_is_compiled():
    plain, fast = rg.compile(curved), rg.compile(curved, backend="cc")
    x, y = draws(300, 8), draws(300, 8, seed=1)
    expected = leaves(plain.value_and_grad(x, y, 0.7))
    wrong = []

    def calls():
        for _ in range(200):
            for one, other in zip(leaves(fast.value_and_grad(x, y, 0.7)), expected):
                wrong.extend([one] * (not np.array_equal(one, other)))

    threads = [threading.Thread(target=calls) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert used(fast)
    calls()
    assert not wrong


def test_a_library_with_other_bits_is_not_used(monkeypatch):
    source = cc.maps_source
    monkeypatch.setattr(
        cc, "maps_source", lambda bodies: source(bodies).replace("= rgv_tanh(", "= v_neg(")
    )

    def bent(x: rg.Tensor):
        return rg.tanh(x) * 2.0

    made, x = rg.compile(bent, backend="cc"), draws(100)
    expected = made(x)
    with pytest.warns(BackendWarning, match="other bits than the interpreter"):
        made.wait(60)
    same_bits(made(x), expected)
    assert made._target.failed == 1


def test_a_library_of_other_maps_is_not_used(monkeypatch):
    source = cc.maps_source
    monkeypatch.setattr(cc, "maps_source", lambda bodies: source([*bodies, *bodies]))
    made = rg.compile(curved, backend="cc")
    made(draws(50), draws(50, seed=1), 0.5)
    with pytest.warns(BackendWarning, match="of another version"):
        made.wait(60)


def test_without_a_compiler_the_interpreter_runs(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.warns(BackendWarning, match="no C compiler was found"):
        made = rg.compile(curved, backend="cc")
    x, y = draws(50), draws(50, seed=1)
    assert made(x, y, 0.5) == rg.compile(curved)(x, y, 0.5)
    assert made.wait()
    assert made._target.asked == 0


def test_pickles_compile_again():
    made = rg.compile(curved, backend="cc")
    again = pickle.loads(pickle.dumps(made))
    x, y = draws(50), draws(50, seed=1)
    assert again(x, y, 0.5) == made(x, y, 0.5)
    assert used(again)


def test_other_shapes_load_nothing_more(folder, monkeypatch):
    loaded, load = [], cc.Cache.load

    def note(cache, found):
        library = load(cache, found)
        if cache.folder == folder:  # an earlier test may still compile behind this one
            loaded.append(library)
        return library

    monkeypatch.setattr(cc.Cache, "load", note)
    made = rg.compile(curved, backend="cc")
    for count in range(40, 45):
        made(draws(count), draws(count, seed=1), 0.5)
    assert used(made)
    assert len(loaded) >= 5  # one a shape; a test before this one may load, too
    assert len(set(map(id, loaded))) == 1


def test_maps_that_are_alike_are_printed_once():
    def steps(x: rg.Tensor, w: rg.Tensor):
        for _ in range(6):
            x = rg.tanh(x @ w) * 0.5 + 0.25
        return x

    fast = check(steps, lambda it: it(draws(20, 4), draws(4, 4, seed=1)))
    (family,) = fast._tensors.families.values()
    bodies = family.traces[0].runs["value"].packed.bodies
    assert len(bodies) == 6
    assert cc.maps_source(bodies).count("_tiles(rg_count") == len(set(bodies)) < 6


def test_of_long_plans_the_rest_is_left_to_the_interpreter(monkeypatch):
    monkeypatch.setattr(maps, "MOST_ROWS", 8)
    x, y = draws(50), draws(50, seed=1)
    check(curved, lambda it: it.value_and_grad(x, y, 0.5))
    assert printing.maps is maps
