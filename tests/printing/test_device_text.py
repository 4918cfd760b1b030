"""The text of GPU kernels run as C on the CPU: the interpreter's bits, without a GPU."""

from __future__ import annotations

import ctypes
import math
import warnings

import numpy as np
import pytest

import retrograde as rg
from retrograde.ops import OPS
from retrograde.printing import kernels
from retrograde.printing.device_text import device_source, emulated, sums_source
from retrograde.printing.library import given_places
from retrograde.program.executor import executor
from retrograde.program.replay import CHUNK, Part

from ..law.expressions import DIFFERENTIABLE
from ..program.loop_programs import random_function, rows_for
from .support import build, needs_compiler, same_bits
from .test_c_source import AWKWARD, asian, draws, forked

pytestmark = needs_compiler
PLAIN = ("-O1", "-Wno-unknown-pragmas")


@pytest.fixture(autouse=True)
def _native(native):
    """Plans are the native core's."""


def table(columns):
    """(address, stride) of columns."""
    places = [(each.__array_interface__["data"][0], each.strides[0]) for each in columns]
    return np.array([*places, (0, 0)], dtype=np.int64)


def run_as_c(ready, columns, numbers, captured, folder, flags=PLAIN):
    """What the kernels of a plan make of some columns: outputs, and the guards that failed."""
    kernels = device_source(ready, "it")
    packed = all(each.strides[0] == 8 for each in columns)
    library = build(emulated(kernels.text), folder, flags=(*flags, f"-DRG_PACKED={int(packed)}"))
    program, rows = kernels.program, len(columns[0])
    part = Part.of(ready, rows, numbers, captured)
    given = np.array([part.uniforms[place] for place in given_places(ready)] + [0.0])
    inputs = table(columns)
    arrays = [(*inputs[first], inputs[first + 1, 0] - inputs[first, 0] if width > 1 else 8)
              for first, width in program.arrays]  # fmt: skip
    out = np.full((program.outputs + 1, rows), -5.0)
    columns_of_outputs = table(list(out))[: program.outputs]
    mine = [inputs[program.columns], columns_of_outputs, np.array(arrays, dtype=np.int64)]
    places = np.concatenate([each.reshape(-1) for each in mine]).astype(np.int64)
    failed, left = np.zeros(rows, np.int32), np.zeros(2, np.int32)
    uniforms, tape = np.zeros(program.uniforms), np.zeros((program.tape, rows))
    address, count = ctypes.c_void_p, ctypes.c_int64
    library.rg_symbol.restype = address
    library.rg_launch_once(address(given.ctypes.data), address(uniforms.ctypes.data))
    ctypes.memmove(library.rg_symbol(0), places.ctypes.data, places.nbytes)
    ctypes.memmove(library.rg_symbol(1), uniforms.ctypes.data, uniforms.nbytes)
    library.rg_launch_rows(
        count(rows), count(0), address(0), address(tape.ctypes.data), count(rows),
        address(failed.ctypes.data), address(left.ctypes.data),
    )  # fmt: skip
    assert left.tolist() == [(failed >= 0).any(), (failed == -2).any()]
    return out[:-1], failed, library


def expected(ready, columns, numbers, captured):
    rows = len(columns[0])
    part = Part.of(ready, rows, numbers, captured)
    out = np.zeros((len(ready.plan.outputs) + 1, rows))
    executor.run([part], table(columns), table(list(out)), 1)
    return out[:-1], part.failed


def columns_of(arguments):
    """The columns of a call by their numbers, and the numbers that are the same for all rows."""
    columns, numbers = [], []
    rows = next(len(a) for a in arguments if isinstance(a, np.ndarray))
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            mine = [argument] if argument.ndim == 1 else list(argument.T)
            columns += mine
            numbers += [0.0] * len(mine)
        else:
            columns.append(np.zeros(rows))
            numbers.append(float(argument))
    return columns, numbers


def check(function, arguments, folder, ask=None, flags=PLAIN):
    """Every plan of some calls as kernels."""
    compiled = rg.compile(function)
    (ask or (lambda it: (it(*arguments), it.value_and_grad(*arguments))))(compiled)
    columns, numbers = columns_of(arguments)
    tried = 0
    for trace in compiled.traces:
        for ready in trace.plans.values():
            if ready.plan.reduced or not ready.plan.stored:
                continue
            given = (ready, columns, numbers, trace.captured)
            out, failed, library = run_as_c(*given, folder, flags)
            wanted, guards = expected(*given)
            good = failed < 0
            if len(guards):
                assert failed.tolist() == guards.tolist()
            same_bits(out[:, good], wanted[:, good])
            tried += 1
    assert tried
    return library


def test_a_loop_and_sums_over_rows(tmp_path):
    check(asian, (draws(300, 21), 100.0, 100.0, 0.03, 0.2, 1.0), tmp_path)
    library = build(emulated(sums_source()), tmp_path, flags=PLAIN)
    columns = draws(3, 2500)
    sums, lanes = np.zeros((3, 3)), np.zeros(72)
    address, count = ctypes.c_void_p, ctypes.c_int64
    library.rg_launch_sums(
        count(2500), address(columns.ctypes.data), count(2500), count(3),
        address(lanes.ctypes.data), address(sums.ctypes.data),
    )  # fmt: skip
    adding = rg.compile(lambda x, a: x * a)
    for place, column in enumerate(columns):
        total = adding.value_and_grad(column, 1.0, wrt="a", reduce="sum")[0]
        assert sums[:, place].sum() == pytest.approx(total)
        first = adding.value_and_grad(column[:CHUNK], 1.0, wrt="a", reduce="sum")[0]
        assert sums[0, place] == first


def test_branches_and_nan_rows(tmp_path):
    x = np.array([1.0, -1.0, 3.0, math.nan, -0.0, math.inf])
    check(forked, (x, np.array([2.0, 0.0, math.nan, 1.0, 1.0, -1.0])), tmp_path)


def test_takes(tmp_path):
    weights = [rg.Value(0.1 * i) for i in range(5)]

    def function(i, x, y):
        return rg.take(weights, i) * rg.take([x, y, x * y], rg.where(x > 0.0, 2.0, 0.0))

    i = np.random.default_rng(0).integers(0, 5, 40).astype(float)
    check(function, (i, draws(40), draws(40, seed=1)), tmp_path)


@pytest.mark.parametrize("seed", [1, 8])
def test_random_loops(tmp_path, seed):
    function, _ = random_function(rg, seed)
    check(function, rows_for(seed, count=30), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(10, 60), 267])
def test_more_random_loops(tmp_path, seed):
    function, _ = random_function(rg, seed)
    check(function, rows_for(seed, count=30), tmp_path)


@pytest.mark.slow
def test_every_op_of_the_law_and_its_partials(tmp_path):
    awkward = np.array(AWKWARD)
    x, y = (each.reshape(-1) for each in np.meshgrid(awkward, awkward))

    def function(x, y, z):
        return [getattr(rg, name)(*(x, y, z)[: OPS[name].arity])
                for name in sorted(DIFFERENTIABLE) if hasattr(rg, name)]  # fmt: skip

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = (x, y, np.roll(y, 5))
        check(function, given, tmp_path, lambda it: it.jacobian(*given))


DIVIDE = """
#include <math.h>
#include <stdint.h>
#include <string.h>
#define RG_EMULATED
#define RG_DEVICE static inline
#define CALLED static __attribute__((noinline))
#define RG_FMA fma
%s
void divide(int64_t n, const double *x, const double *y, double *over, double *one) {
    for (int64_t i = 0; i < n; i++) {
        double inverse = rg_inverse(y[i]);
        over[i] = rg_over(x[i], y[i], inverse);
        one[i] = rg_one_over(y[i], inverse);
    }
}
"""
GUESSES = ("1.0 / x", "1.0 / x * (1 - 0x1p-20)", "1.0 / x * (1 + 0x1p-20)")


def hard_divisions():
    """Quotients beside the middle between two doubles, and divisors whose inverse is."""
    draw = np.random.default_rng(11)
    cases = []
    for y in (draw.integers(1 << 52, 1 << 53, 4000) | 1).tolist() + [
        (1 << 53) - k for k in range(1, 2000, 2)
    ]:
        for k in (-5, -3, -1, 1, 3, 5):
            for bits in (53, 54):
                x = k * pow(1 << bits, -1, y) % y
                if 1 << 52 <= x < 1 << 53:
                    cases.append((float(x), float(y)))
    x, y = np.array(cases).T
    ones = np.nextafter(2.0 ** np.arange(-1020, 1020), 0)
    scale = 2.0 ** draw.integers(-440, 440, len(x)).astype(float)
    return np.concatenate([x, x * scale, ones, ones]), np.concatenate([y, y, ones, ones[::-1]])


@pytest.mark.parametrize("guess", GUESSES)
def test_divisions_by_an_inverse_have_the_bits_of_divisions(tmp_path, guess):
    text = kernels.text("division.h").replace("return 1.0 / x;", f"return {guess};")
    assert guess in text
    library = build(DIVIDE % text, tmp_path, flags=("-O1", "-march=native", "-ffp-contract=off"))
    draw = np.random.default_rng(3)
    some = draw.normal(0, 1, 100_000) * 2.0 ** draw.integers(-700, 700, 100_000).astype(float)
    special = np.array(AWKWARD)
    x, y = hard_divisions()
    x = np.concatenate([x, some, some, np.repeat(special, len(special))])
    near = draw.uniform(1, 2, len(some))
    y = np.concatenate([y, some[::-1], near, np.tile(special, len(special))])
    over, one = np.zeros(len(x)), np.zeros(len(x))
    address = ctypes.c_void_p
    library.divide(ctypes.c_int64(len(x)), *(address(a.ctypes.data) for a in (x, y, over, one)))
    with np.errstate(all="ignore"):
        same_bits(over, x / y)
        same_bits(one, 1 / y)
