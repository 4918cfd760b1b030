"""Derivatives of any order: ops and random programs to the third, and every way to get there."""

from __future__ import annotations

import random
from functools import partial
from itertools import combinations_with_replacement, product

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from mpmath import MPContext

from retrograde.ops import OPS
from retrograde.ops.op import PRIMITIVES

from ..law.exact_special import exact_special
from ..law.expressions import ORDERS, SMOOTH, distance_to_kink, evaluate
from ..test_random_programs import engine_step, few_digits, programs, torch_step
from ..test_random_programs import run as run_program
from .support import close, steady

mp = MPContext()
mp.dps = 40

MP_FUNCTIONS = {
    "add": mp.fadd, "sub": mp.fsub, "mul": mp.fmul, "div": mp.fdiv, "neg": mp.fneg,
    "pow": mp.power, "abs": mp.fabs, "log2": lambda x: mp.log(x, 2),
    **exact_special(mp, mp.exp, mp.expm1),
}  # fmt: skip


# ---- every op, to third order ------------------------------------------------------------------


def mp_call(name, *args):
    """A function the law names, in forty digits, from the expression of its value alone."""
    if name in PRIMITIVES:
        return (MP_FUNCTIONS.get(name) or getattr(mp, name))(*args)
    row = OPS[name]
    return evaluate(row.value, dict(zip(row.inputs, args)), mp_call, mp.mpf)


def points(op, count):
    """Seeded points of an op's domain, away from its kinks."""
    rng = random.Random(f"third order of {op.name}")
    found = []
    while len(found) < count:
        point = tuple(rng.uniform(*bounds) for bounds in op.domain)
        if distance_to_kink(op, point) > 0.05:
            found.append(point)
    return found


def nested_gradient(rg, function, along):
    for index in along:
        function = rg.grad(function, wrt=index)
    return function


@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_every_op_to_third_order(rg, op):
    function = getattr(rg, op.name)
    for point in points(op, 3):
        for order in range(1, int(min(3, ORDERS[op.name])) + 1):
            for along in combinations_with_replacement(range(op.arity), order):
                times = tuple(along.count(index) for index in range(op.arity))
                expected = mp.diff(partial(mp_call, op.name), tuple(map(mp.mpf, point)), times)
                got = nested_gradient(rg, function, along)(*point)
                assert type(got) is float
                assert close(got, expected, 1e-10), (op.name, point, along, got, expected)


@pytest.mark.parametrize("op", [OPS[name] for name in SMOOTH], ids=SMOOTH)
def test_every_op_has_a_symmetric_hessian_equal_to_its_products(rg, op):
    function = getattr(rg, op.name)
    (point,) = points(op, 1)
    full = rg.hessian(lambda v: function(*v))(list(point))
    for index in range(op.arity):
        unit = [float(index == other) for other in range(op.arity)]
        assert rg.hvp(lambda v: function(*v), list(point), unit) == pytest.approx(
            full[index], 1e-13
        )
        assert [row[index] for row in full] == pytest.approx(full[index], rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("exponent", [2, -1, 3, 5, 8, -3, 0, 1, 9, 0.5, -2.5])
def test_powers_in_every_spelling_to_third_order(rg, exponent):
    for order in (1, 2, 3):
        got = nested_gradient(rg, lambda x: x**exponent, (0,) * order)(1.3)
        assert close(got, mp.diff(lambda x: x**exponent, mp.mpf(1.3), order), 1e-12)


@pytest.mark.parametrize("name", ["sum", "dot", "mean", "norm", "logsumexp", "softmax"])
def test_functions_of_many_values_to_third_order(rg, name):
    def edition(engine, v):
        if name == "dot":
            return engine["dot"](v[:2], v[1:]) ** 2
        result = engine[name](v)
        return result[0] * 3 if name == "softmax" else result**2

    def mp_softmax(v):
        powers = [mp.exp(x) for x in v]
        return [power / mp.fsum(powers) for power in powers]

    ours = {key: getattr(rg, key) for key in ("sum", "dot", "mean", "norm", "logsumexp", "softmax")}
    theirs = {
        "sum": mp.fsum,
        "dot": lambda a, b: mp.fsum(x * y for x, y in zip(a, b)),
        "mean": lambda v: mp.fsum(v) / len(v),
        "norm": lambda v: mp.sqrt(mp.fsum(x * x for x in v)),
        "logsumexp": lambda v: mp.log(mp.fsum(mp.exp(x) for x in v)),
        "softmax": mp_softmax,
    }
    point = (0.7, -0.4, 1.1)
    for along in [(0,), (1, 1), (0, 2), (1, 2), (0, 1, 2), (2, 2, 0), (1, 1, 1)]:
        times = tuple(along.count(index) for index in range(3))
        expected = mp.diff(lambda *v: edition(theirs, list(v)), tuple(map(mp.mpf, point)), times)
        got = nested_gradient(rg, lambda *v: edition(ours, list(v)), along)(*point)
        assert close(got, expected, 1e-11)


# ---- every way to a derivative -----------------------------------------------------------------


def ways(rg):
    """Every transform as an operator on functions of one number: f to f′."""
    return {
        "grad": rg.grad,
        "value_and_grad": lambda f: lambda x: rg.value_and_grad(f)(x)[1],
        "jacobian": rg.jacobian,
        "nested jacobian": lambda f: lambda x: rg.jacobian(lambda v: [f(v[0])])([x])[0][0],
        "vjp": lambda f: lambda x: rg.vjp(f, x)[1](1.0),
        "jvp": lambda f: lambda x: rg.jvp(f, (x,), (1.0,))[1],
        "gradients": lambda f: lambda x: gradient_by_values(rg, f, x),
    }


def gradient_by_values(rg, function, x):
    argument = x if isinstance(x, rg.Value) else rg.Value(x)
    result = rg.gradients(function(argument), argument)
    return result if isinstance(x, rg.Value) else result.data


def twice(rg):
    return {
        "hessian": rg.hessian,
        "hvp": lambda f: lambda x: rg.hvp(f, x, 1.0),
        "grad of grad": lambda f: rg.grad(rg.grad(f)),
    }


def curve(functions, x):
    return functions.exp(functions.sin(x * 2)) * x + functions.tanh(x) / (1 + x * x)


CURVE_POINT = 0.4


WAYS = (
    "grad", "value_and_grad", "jacobian", "nested jacobian", "vjp", "jvp", "gradients",
)  # fmt: skip


@pytest.mark.parametrize("innermost", WAYS)
def test_any_three_transforms_make_the_third_derivative(rg, innermost):
    operators = ways(rg)
    assert tuple(operators) == WAYS
    for middle, outermost in product(WAYS, repeat=2):
        function = operators[innermost](partial(curve, rg))
        got = operators[outermost](operators[middle](function))(CURVE_POINT)
        assert type(got) is float
        assert close(got, THIRD, 1e-12), (outermost, middle, innermost)


THIRD = mpmath.diff(partial(curve, mpmath), CURVE_POINT, 3)


def test_any_two_transforms_make_the_second_derivative(rg):
    expected = mp.diff(partial(curve, mp), mp.mpf(CURVE_POINT), 2)
    for outer, inner in product(ways(rg).items(), repeat=2):
        got = outer[1](inner[1](partial(curve, rg)))(CURVE_POINT)
        assert close(got, expected, 1e-12), (outer[0], inner[0])
    for name, operator in twice(rg).items():
        assert close(operator(partial(curve, rg))(CURVE_POINT), expected, 1e-12), name


def test_second_order_transforms_compose_with_first_order_ones(rg):
    third = mp.diff(partial(curve, mp), mp.mpf(CURVE_POINT), 3)
    fourth = mp.diff(partial(curve, mp), mp.mpf(CURVE_POINT), 4)
    for second in twice(rg).values():
        for first in ways(rg).values():
            assert close(first(second(partial(curve, rg)))(CURVE_POINT), third, 1e-11)
            assert close(second(first(partial(curve, rg)))(CURVE_POINT), third, 1e-11)
        for other in twice(rg).values():
            assert close(other(second(partial(curve, rg)))(CURVE_POINT), fourth, 1e-11)


def test_the_sixth_derivative(rg):
    function = partial(curve, rg)
    for _ in range(6):
        function = rg.grad(function)
    mp_function = partial(curve, mp)
    assert close(function(CURVE_POINT), mp.diff(mp_function, mp.mpf(CURVE_POINT), 6), 1e-10)


def test_results_are_differentiable_by_backward_too(rg):
    x = rg.Value(CURVE_POINT)
    second = rg.gradients(rg.gradients(curve(rg, x), x), x)
    second.backward()
    assert close(second.data, mp.diff(partial(curve, mp), mp.mpf(CURVE_POINT), 2))
    assert close(x.grad, THIRD, 1e-12)


def test_gradients_with_respect_to_interior_values(rg):
    x = rg.Value(0.7)
    h = x.sin()
    y = h * h * x
    by_h, by_x = rg.gradients(y, [h, x])
    assert close(by_h.data, 2 * mp.sin(0.7) * 0.7)
    assert close(by_x.data, mp.diff(lambda t: mp.sin(t) ** 2 * t, 0.7))
    assert rg.gradients(h, h).data == 1.0
    assert rg.gradients(x, h).data == 0.0


def test_gradients_take_a_seed_that_may_be_a_value(rg):
    x, seed = rg.Value(3.0), rg.Value(10.0)
    assert rg.gradients(x * x, x, 2).data == 12.0
    gradient = rg.gradients(x * x, x, seed)
    assert gradient.data == 60.0
    assert rg.gradients(gradient, seed).data == 6.0
    assert rg.gradients(gradient, x).data == 20.0
    through = rg.gradients(x, x, seed)
    assert through is not seed
    assert through.data == 10.0


def test_hessians_and_products_agree_on_a_mixed_function(rg):
    def function(v):
        return rg.logsumexp([v[0] * v[1], rg.sin(v[2]), v[1] ** 3]) + rg.norm(v)

    point, vector = [0.3, -0.8, 1.2], [0.5, 2.0, -1.0]
    full = rg.hessian(function)(point)
    expected = [sum(h * t for h, t in zip(row, vector)) for row in full]
    assert rg.hvp(function, point, vector) == pytest.approx(expected, rel=1e-12)
    forward = rg.jvp(rg.grad(function), (point,), (vector,))[1]
    assert forward == pytest.approx(expected, rel=1e-12)
    assert rg.jacobian(rg.grad(function))(point) == [pytest.approx(row, rel=1e-12) for row in full]


# ---- random programs, against PyTorch ----------------------------------------------------------


@pytest.fixture(scope="session")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed (extra: torch)")


def along_a_line(leaves, directions, t):
    return [leaf + direction * t for leaf, direction in zip(leaves, directions)]


DIRECTIONS = (1.0, -0.5, 0.25, 0.75)


@steady(max_examples=70)
@given(program=st.sampled_from(SMOOTH).flatmap(programs))
def test_random_programs_to_third_order_equal_pytorch(native, torch, program):
    assume(not few_digits(program))

    def ours(t):
        leaves = along_a_line(program.leaves, DIRECTIONS, t)
        return run_program(program, leaves, partial(engine_step, native))[-1]

    t = torch.zeros((), dtype=torch.float64, requires_grad=True)
    leaves = along_a_line(program.leaves, DIRECTIONS, t)
    theirs = [run_program(program, leaves, partial(torch_step, torch))[-1]]
    for _ in range(3):
        zero = torch.zeros((), dtype=torch.float64)
        following = zero
        if theirs[-1].requires_grad:
            (found,) = torch.autograd.grad(theirs[-1], t, create_graph=True, allow_unused=True)
            following = zero if found is None else found
        theirs.append(following)
    expected = [float(tensor.detach()) for tensor in theirs]
    function, got = ours, [native.value_and_grad(ours)(0.0)[0]]
    for _ in range(3):
        function = native.grad(function)
        got.append(function(0.0))
    scale = max(1.0, *map(abs, expected))
    for one, other in zip(got, expected):
        assert abs(one - other) <= 1e-9 * scale


@steady(max_examples=60)
@given(program=st.sampled_from(SMOOTH).flatmap(programs))
def test_the_cores_agree_on_hessians_of_random_programs(native, reference, program):
    def hessian(rg):
        def function(v):
            return run_program(program, v, partial(engine_step, rg))[-1]

        return rg.hessian(function)(list(program.leaves))

    got, expected = hessian(native), hessian(reference)
    scale = max([1.0, *(abs(item) for row in expected for item in row)])
    for one, other in zip(got, expected):
        assert one == pytest.approx(other, rel=0, abs=1e-12 * scale)
