"""Printed files compile and have the bits of the interpreter, whatever the program."""

from __future__ import annotations

import ctypes
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

import retrograde as rg
from retrograde.errors import CompileError, PrintingError
from retrograde.ops import OPS
from retrograde.printing import programs
from retrograde.printing.cfile import c_file
from retrograde.printing.entries import Entry, Result
from retrograde.printing.functions import Function
from retrograde.printing.parameters import parameters_of
from retrograde.program.derived import STORED, Mode
from retrograde.program.program import Guard

from ..law.expressions import DIFFERENTIABLE
from ..program.choice_programs import Writer, function_of
from ..program.loop_programs import random_function, rows_for
from .support import COMPILERS, build, called, check, needs_compiler, same_bits

pytestmark = needs_compiler
PLAIN = ("-O0", "-DRG_ONE")


def draws(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def asian(Z, S0, K, r, sigma, T):
    dt = T / len(Z)
    drift, volatility = (r - 0.5 * sigma**2) * dt, sigma * rg.sqrt(dt)
    price, total = S0, 0.0
    for z in Z:
        price = price * rg.exp(drift + volatility * z)
        total = total + price
    return rg.exp(-r * T) * rg.maximum(total / len(Z) - K, 0.0)


# ---- bits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_loop_over_columns(tmp_path, compiler):
    arguments = (draws(1030, 40), 100.0, 100.0, 0.03, 0.2, 1.0)
    file, _ = check(asian, arguments, tmp_path, ("S0", "sigma", "K"), compiler=compiler)
    assert "for (int k" in file.source  # forty steps are printed once
    assert "rg_fetch(ahead0, a0, k0, k0);" in file.source  # and fetch the next tile's


def test_columns_that_a_guard_reads_are_laid_out_first():
    made = rg.compile(asian)
    made(draws(9, 40), 100.0, 100.0, 0.03, 0.2, 1.0)
    rolled = made.traces[0].rolled
    loops = programs.printed(rolled, "it", 6).text
    assert "rg_eight(xs0" in loops
    asked = next(i for i, given in rolled.frame.inputs.items() if given.column == 9)
    guarded = replace(rolled, frame=replace(rolled.frame, guards=[Guard(asked, True)]))
    text = programs.printed(guarded, "it", 6).text
    assert "rg_eight(xs0" not in text
    assert text.index("rg_columns(xs0, a0, row, 0, 39)") < text.index("GUARD(0, 1, XS(0, 8, 0), 0)")


def test_at_default_flags_and_with_vectors(tmp_path):
    arguments = (draws(19, 11), 100.0, 100.0, 0.03, 0.2, 1.0)
    for flags in ((), ("-O2", "-march=native")):
        check(asian, arguments, tmp_path, ("S0",), flags=flags)


def _each(names):
    def function(x, y, z):
        return [
            getattr(rg, name)(*(x, y, z)[: OPS[name].arity])
            if hasattr(rg, name)
            else _by_hand(name, x, y)
            for name in names
        ]

    return function


def _by_hand(name, x, y):
    by_hand = {
        "add": lambda: x + y, "sub": lambda: x - y, "mul": lambda: x * y, "div": lambda: x / y,
        "neg": lambda: -x, "pow": lambda: x**y, "abs": lambda: abs(x),
        "less": lambda: rg.where(x < y, 1.0, 0.0),
        "less_equal": lambda: rg.where(x <= y, 1.0, 0.0),
        "equal": lambda: rg.where(x == y, 1.0, 0.0),
    }  # fmt: skip
    return by_hand.get(name, lambda: x)()


AWKWARD = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 1e-300, -1e-300, 5e-324, 1e300, -1e300),
    *(math.inf, -math.inf, math.nan, 710.0, -746.0, 1e16, -1e16, 3.0, 0.999, 37.5),
)


def test_every_op_of_the_law_and_its_partials(tmp_path):
    awkward = np.array(AWKWARD)
    x, y = (each.reshape(-1) for each in np.meshgrid(awkward, awkward))
    x, y = np.concatenate([x, draws(67)]), np.concatenate([y, draws(67, seed=1)])
    z = np.roll(y, 5)
    compiled = rg.compile(_each(sorted(DIFFERENTIABLE)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(_each(sorted(OPS)), (x, y, z), tmp_path)
        slopes = compiled.jacobian(x, y, z)
    family = compiled._families()[0]
    count = 3 * len(family.traces[0].outputs.items)
    function = Function(family, Mode("jacobian", (0, 1, 2)), STORED * count, 3, "all_j", 1)
    shapes = compiled._kinds()[0][0]
    parameters = [each for mine in parameters_of(shapes).values() for each in mine]
    results = [Result(f"r{i}", 1) for i in range(count)]
    entry = Entry("all", "", function, parameters, results)
    file = c_file("all", "all", [entry], 3, {}, 1)
    given = {"x": x, "y": y, "z": z}
    found, _, lost = called(build(file.source, tmp_path, flags=PLAIN), file, "all", len(x), given)
    assert lost == 0
    for result, column in zip(found.values(), [part for each in slopes for part in each]):
        same_bits(result, column)


@pytest.mark.parametrize("seed", [0, 17])
def test_random_loops(tmp_path, seed):
    function, _ = random_function(rg, seed)
    check(function, rows_for(seed, count=37), tmp_path, flags=PLAIN)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 80))
def test_more_random_loops(tmp_path, seed):
    function, _ = random_function(rg, seed)
    check(
        function,
        rows_for(seed, count=37),
        tmp_path,
        flags=PLAIN,
        compiler=COMPILERS[seed % len(COMPILERS)],
    )


@pytest.mark.parametrize("seed", [5])
def test_random_branches(tmp_path, seed):
    _check_branches(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30, 90))
def test_more_random_branches(tmp_path, seed):
    _check_branches(tmp_path, seed)


def _check_branches(tmp_path, seed):
    function = function_of(Writer(seed).source(), rg=rg, w1=rg.Value(0.5), w2=rg.Value(1.5))
    arguments = (draws(133, seed=seed), draws(133, seed=seed + 1), 0.7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(rg.compile(function, choices=seed % 2 == 0), arguments, tmp_path, flags=PLAIN)


def test_takes_of_rows_and_of_numbers_for_all(tmp_path):
    table = [rg.Value(0.1 * i) for i in range(7)]

    def function(i, j, x, y):
        near = rg.take(table, i)
        mine = rg.take([x, y, x * y, x - y], j)
        return near * mine + rg.take([x, mine], rg.where(x > 0.0, 1.0, 0.0))

    rng = np.random.default_rng(3)
    arguments = (rng.integers(0, 7, 50), rng.integers(0, 4, 50), draws(50), draws(50, seed=2))
    check(rg.compile(function), arguments, tmp_path, ("x", "y"), flags=PLAIN)


def test_an_index_out_of_range_is_a_status_of_its_row(tmp_path):
    compiled = rg.compile(lambda i, x: rg.take([x, x * 2.0, x * 3.0], i))
    arguments = (np.array([0, 1, 2, 1]), np.array([1.0, 2.0, 3.0, 4.0]))
    file, library = check(compiled, arguments, tmp_path, "x", flags=PLAIN)
    given = {"i": np.array([0.0, 3.0, 1.5, 2.0]), "x": arguments[1]}
    found, status, lost = called(library, file, file.name, 4, given)
    assert lost == 2
    assert status.tolist() == [0, -1, -1, 0]
    same_bits(found["value"], [1.0, math.nan, math.nan, 12.0])


def test_hessian_products(tmp_path):
    def function(v, a):
        return rg.exp(v[0] * a) * v[1] ** 2 + rg.sin(v[2] * v[0])

    check(function, (draws(21, 3), draws(21, seed=1)), tmp_path, hessian=True, flags=PLAIN)


def test_nests_uniform_arrays_and_no_rows_at_all(tmp_path):
    def function(p, w, m):
        return p["rate"] * w[0] + w[1] * rg.exp(-p["time"]) + rg.dot(m[0], m[1])

    grid = rg.uniform(np.array([[1.0, 2.0], [0.5, 0.25]]))
    compiled = rg.compile(function)
    arguments = ({"rate": draws(9), "time": 0.5}, [2.0, 3.0], grid)
    source = compiled.c_source(*arguments)
    assert "const double *p_rate" in source
    assert "double p_time" in source
    file = compiled.c_file(*arguments)
    library = build(file.source, tmp_path, flags=PLAIN)
    given = {"p_rate": arguments[0]["rate"], "p_time": 0.5, "w": [2.0, 3.0], "m": grid.array}
    found, _, lost = called(library, file, f"{file.name}_gradient", 9, given)
    value, (p, w, m) = compiled.value_and_grad(*arguments)
    assert lost == 0
    same_bits(found["value"], value)
    same_bits(found["d_p_rate"], p["rate"])
    same_bits(found["d_w"], np.stack(w, axis=1))
    same_bits(found["d_m"], m)
    check(lambda x, y: rg.tanh(x) * y, (0.3, 0.7), tmp_path, flags=PLAIN)


def test_arrays_in_any_order_and_rows_that_are_sums(tmp_path):
    def function(z, w):
        return rg.dot(z, w) + rg.sum(z) * z[3]

    w = [0.1 * i for i in range(12)]
    check(function, (draws(2100, 12), w), tmp_path, flags=("-O1",))


@pytest.mark.parametrize(
    ("function", "parameters", "names"),
    [
        ("exp", ("x",), ("exp_", "x")),
        ("main", ("main",), ("main_", "main")),
        ("status", ("status", "value"), ("status_", "status__", "value_")),
        ("f", ("d_x", "x"), ("f", "d_x", "x_")),
        ("f", ("x", "v_x", "f"), ("f", "x", "v_x_", "f_")),
        ("été", ("σ", "Δt", "ñ"), ("ete", "sigma", "Deltat", "n")),
        ("X", ("i", "lost"), ("X_", "i", "lost")),
        ("rg_call", ("NULL", "linux", "errno"), ("rg_call_", "NULL_", "linux_", "errno_")),
    ],
)
def test_names_that_c_has_already(tmp_path, function, parameters, names):
    space = {}
    text = f"def {function}({', '.join(parameters)}):\n    return {' * '.join(parameters)}\n"
    exec(text, space)
    given = [draws(9, seed=i) for i in range(len(parameters))]
    file, _ = check(rg.compile(space[function]), given, tmp_path, hessian=True, flags=PLAIN)
    assert (file.name, *[each.name for each in file.entries[0].parameters]) == names
    program = f"#include <math.h>\n#include <errno.h>\n#include <complex.h>\n{file.header}"
    build(program + f"double my(double x) {{ return exp(x) + sizeof {file.name}_one; }}", tmp_path,
          flags=("-O0", "-Wno-pointer-arith"))  # fmt: skip


def test_names_of_leaves_and_keys_stay_in_comments(tmp_path):
    w = rg.Value(2.0, label="*/ #error out /*\n#error below")
    compiled = rg.compile(lambda p: p["*/ #error key"] * w)
    file = compiled.c_file({"*/ #error key": draws(3)})
    build(file.source, tmp_path, flags=PLAIN)


# ---- rows that no path serves --------------------------------------------------------------------


def forked(x, y):
    if x > 0.0:
        if y > x:
            return x * y
        return x - y
    return rg.exp(x)


def test_rows_that_no_recorded_path_serves(tmp_path):
    compiled = rg.compile(forked)
    x, y = np.array([1.0, -1.0]), np.array([2.0, 0.0])
    file, library = check(compiled, (x, y), tmp_path, flags=PLAIN)
    more = np.array([3.0, -2.0, 5.0, math.nan]), np.array([4.0, 1.0, 1.0, 0.0])
    given = dict(zip("xy", more))
    found, status, lost = called(library, file, "forked_gradient", 4, given)
    assert lost == 1
    assert (status != 0).tolist() == [False, False, True, False]
    value, slopes = compiled.value_and_grad(*(each[[0, 1, 3]] for each in more))
    kept = [0, 1, 3]
    same_bits(found["value"][kept], value)
    same_bits(found["d_x"][kept], slopes[0])
    assert np.isnan(found["d_y"][2, 0])
    sums, _, lost = called(library, file, "forked_gradient_sum", 4, given)
    assert lost == 1
    assert np.isnan(sums["value"]).all()
    text = library.forked_status
    text.restype = ctypes.c_char_p
    assert b"test_c_source.py, line" in text(int(status[2]))
    assert b"done" in text(0)


def test_guards_in_loops_and_many_traces(tmp_path):
    def barrier(Z, s, top):
        for z in Z:
            s = s * rg.exp(0.2 * z)
            if s > top:
                return s * 0.0 + 1.0
        return s - 1.0

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(barrier, (draws(60, 5), 1.0, 1.3), tmp_path, flags=PLAIN)


def test_captured_leaves_are_parameters(tmp_path):
    w = rg.Value(2.0, label="w")
    compiled = rg.compile(lambda x: rg.tanh(w * x))
    file, library = check(compiled, (draws(5),), tmp_path, flags=PLAIN)
    assert "[0] w" in file.header
    (ctypes.c_double * 1).in_dll(library, f"{file.name}_parameters")[0] = 3.0
    found, _, _ = called(library, file, file.name, 5, {"x": draws(5)})
    w.data = 3.0
    same_bits(found["value"], compiled(draws(5)))


def test_a_loaded_function(tmp_path):
    compiled = rg.compile(forked)
    compiled(np.array([1.0, -1.0, 2.0]), np.array([2.0, 0.0, 1.0]))
    compiled.save(tmp_path / "f.rgp")
    loaded = rg.load(tmp_path / "f.rgp")
    assert loaded.c_source() == compiled.c_source()
    check(loaded, (np.array([1.0, -1.0]), np.array([2.0, 0.0])), tmp_path, flags=PLAIN)


# ---- what is refused -----------------------------------------------------------------------------


def test_what_cannot_be_printed_says_why():
    compiled = rg.compile(lambda x: x * 2.0)
    with pytest.raises(PrintingError, match=r"nothing of .* is recorded yet"):
        compiled.c_source()
    compiled(1.0)
    compiled(np.array([1.0]))
    with pytest.raises(PrintingError, match=r"several kinds of arguments: .*a number.*rows"):
        compiled.c_source()
    with pytest.raises(CompileError, match="wrt names 'q'"):
        compiled.c_source(1.0, wrt="q")
    several = rg.compile(lambda x: [x, x * x])
    with pytest.raises(CompileError, match="several results"):
        several.c_source(1.0, wrt="x")
    assert "value_1" in several.c_source(1.0)


def test_long_straight_programs_are_refused_and_long_loops_are_not(monkeypatch):
    monkeypatch.setattr(programs, "MOST_OPERANDS", 400)
    order = [int(i) for i in np.random.default_rng(0).integers(0, 3, 300)]

    def tangled(x):
        kept = [x, x + 1.0, x * 2.0]
        for i in order:
            kept[i] = kept[(i + 1) % 3] * 0.5 + kept[(i * i + 1) % 3]
        return kept[0]

    with pytest.raises(PrintingError, match=r"tangled has \d+ operations and, printed, \d+"):
        rg.compile(tangled).c_source(1.0)

    def turning(x):
        for _ in range(2000):
            x = rg.sin(x) + 0.1
        return x

    assert len(rg.compile(turning).c_source(1.0).splitlines()) < 2000


def test_calls_of_python_and_tensors_are_refused():
    compiled = rg.compile(lambda x: rg.Tensor([1.0, 2.0]).sum() * x)
    with pytest.raises(PrintingError, match="tensors"):
        compiled.c_source(1.0)
