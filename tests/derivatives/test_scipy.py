"""SciPy's minimisers and root finders with derivatives wired in, against gradients by hand."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from .support import is_native

optimize = pytest.importorskip("scipy.optimize", reason="SciPy is not installed")

START = [-1.2, 1.0]


def rosenbrock(v):
    return (1 - v[0]) ** 2 + 100 * (v[1] - v[0] ** 2) ** 2


def rosenbrock_slope(v):
    x, y = v
    return np.array([-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)])


def rosenbrock_hessian(v):
    x, y = v
    return np.array([[2 - 400 * (y - 3 * x * x), -400 * x], [-400 * x, 200.0]])


def counted(function):
    """A function, and the list of what it was called with."""
    calls = []

    def call(*args):
        calls.append(args)
        return function(*args)

    return call, calls


# ---- minimize ----------------------------------------------------------------------------------

BY_HAND = {
    None: {"jac": rosenbrock_slope},
    "BFGS": {"jac": rosenbrock_slope},
    "CG": {"jac": rosenbrock_slope},
    "L-BFGS-B": {"jac": rosenbrock_slope},
    "SLSQP": {"jac": rosenbrock_slope},
    "TNC": {"jac": rosenbrock_slope},
    "Newton-CG": {"jac": rosenbrock_slope, "hessp": lambda x, p: rosenbrock_hessian(x) @ p},
    "trust-ncg": {"jac": rosenbrock_slope, "hessp": lambda x, p: rosenbrock_hessian(x) @ p},
    "trust-krylov": {"jac": rosenbrock_slope, "hessp": lambda x, p: rosenbrock_hessian(x) @ p},
    "trust-exact": {"jac": rosenbrock_slope, "hess": rosenbrock_hessian},
    "dogleg": {"jac": rosenbrock_slope, "hess": rosenbrock_hessian},
    "Nelder-Mead": {},
    "Powell": {},
}


@pytest.mark.parametrize("method", BY_HAND, ids=str)
def test_every_method_finds_what_it_finds_with_gradients_by_hand(rg, method):
    start = [-1.0, 0.5] if method == "dogleg" else START
    options = {"TNC": {"maxfun": 2000}, "CG": {"maxiter": 2000}}.get(method)
    expected = optimize.minimize(
        rosenbrock, start, method=method, options=options, **BY_HAND[method]
    )
    found = rg.minimize(rosenbrock, start, method=method, options=options)
    assert found.success
    assert expected.success
    assert type(found) is type(expected)
    sensitive = method == "TNC"  # its steps magnify the last bits
    assert found.x == pytest.approx(expected.x, abs=1e-3 if sensitive else 1e-6)
    assert found.x == pytest.approx([1.0, 1.0], abs=2e-3)
    assert found.nfev <= expected.nfev * 1.5 + 5
    assert sensitive or abs(found.nit - expected.nit) <= 3


@pytest.mark.parametrize("method", ["BFGS", "bfgs", "Bfgs"])
def test_the_name_of_a_method_may_be_written_as_scipy_takes_it(rg, method):
    assert rg.minimize(rosenbrock, START, method=method).success
    assert rg.minimize(rosenbrock, START, method="trust-NCG").success


def test_the_function_is_called_once_for_value_and_gradient(rg):
    function, calls = counted(rosenbrock)
    found = rg.minimize(function, START, method="BFGS")
    assert found.nfev == found.njev
    assert len(calls) == found.nfev
    assert all(isinstance(item, rg.Value) for (v,) in calls for item in v)


def test_methods_without_gradients_compute_none(rg):
    function, calls = counted(rosenbrock)
    found = rg.minimize(function, START, method="Nelder-Mead", tol=1e-8)
    assert found.x == pytest.approx([1.0, 1.0], abs=1e-6)
    assert len(calls) == found.nfev
    assert all(isinstance(item, rg.Value) for (v,) in calls for item in v)


def test_functions_may_use_methods_of_values_everywhere(rg):
    """Methods without gradients, residuals and equations were once given plain floats."""

    def function(v):
        return (v[0].exp() - 2.0) ** 2 + v[1].cosh()

    for method in ("BFGS", "Nelder-Mead", "Powell", "trust-exact"):
        found = rg.minimize(function, [0.5, 0.5], method=method, tol=1e-10)
        assert found.x == pytest.approx([math.log(2.0), 0.0], abs=1e-4)
    assert rg.least_squares(lambda v: [v[0].exp() - 2.0], [0.5]).x[0] == pytest.approx(math.log(2))
    assert rg.root(lambda v: [v[0].exp() - 2.0], [0.5]).x[0] == pytest.approx(math.log(2))
    assert rg.root_scalar(lambda x: x.exp() - 2.0, x0=0.5).root == pytest.approx(math.log(2))
    bracketed = rg.root_scalar(lambda x: x.exp() - 2.0, bracket=(0.0, 1.0))
    assert bracketed.root == pytest.approx(math.log(2))


def test_functions_may_use_parameters_from_outside(rg):
    """Results were once values then, which SciPy cannot add up."""
    w = rg.Value(3.0)
    for method in ("BFGS", "Nelder-Mead", "trust-ncg", "trust-exact", "L-BFGS-B"):
        found = rg.minimize(lambda v: (v[0] - w) ** 2 + w * w, [0.0], method=method)
        assert found.x[0] == pytest.approx(3.0, abs=1e-4)
    assert rg.least_squares(lambda v: [v[0] - w], [0.0]).x[0] == pytest.approx(3.0)
    assert rg.root(lambda v: [v[0] * w - 6.0], [0.0]).x[0] == pytest.approx(2.0)
    for method in ("newton", "halley"):
        result = rg.root_scalar(lambda x: x * x * w - 12.0, method=method, x0=1.0)
        assert result.root == pytest.approx(2.0)
    assert w.grad == 0.0


def test_bounds(rg):
    bounds = [(-2.0, 0.5), (-1.0, 3.0)]
    for method in ("L-BFGS-B", "TNC", "SLSQP", None):
        expected = optimize.minimize(
            rosenbrock, START, method=method, jac=rosenbrock_slope, bounds=bounds
        )
        found = rg.minimize(rosenbrock, START, method=method, bounds=bounds)
        assert found.x == pytest.approx(expected.x, abs=1e-6)
        assert found.x[0] == pytest.approx(0.5, abs=1e-6)


def test_constraints_get_their_jacobians(rg):
    constraints = [
        {"type": "ineq", "fun": lambda v: [1.5 - v[0] * v[0] - v[1] * v[1], v[0] + 2.0]},
        {"type": "eq", "fun": lambda v, total: v[0] + v[1] - total, "args": (1.0,)},
    ]
    by_hand = [
        {
            "type": "ineq",
            "fun": lambda v: np.array([1.5 - v @ v, v[0] + 2.0]),
            "jac": lambda v: np.array([-2 * v, [1.0, 0.0]]),
        },
        {
            "type": "eq",
            "fun": lambda v: np.array([v[0] + v[1] - 1.0]),
            "jac": lambda v: np.array([[1.0, 1.0]]),
        },
    ]
    expected = optimize.minimize(
        rosenbrock, START, method="SLSQP", jac=rosenbrock_slope, constraints=by_hand
    )
    found = rg.minimize(rosenbrock, START, method="SLSQP", constraints=constraints)
    assert found.success
    assert found.x == pytest.approx(expected.x, abs=1e-7)
    assert found.nfev == expected.nfev
    assert "jac" not in constraints[0]
    alone = rg.minimize(
        lambda v: v[0] ** 2 + v[1] ** 2, [1.0, 0.0],
        constraints={"type": "eq", "fun": lambda v: rg.exp(v[0]) + v[1] - 3.0},
    )  # fmt: skip
    assert math.exp(alone.x[0]) + alone.x[1] == pytest.approx(3.0)
    linear = optimize.LinearConstraint([[1.0, 1.0]], 1.0, 1.0)
    found = rg.minimize(lambda v: v[0] ** 2 + v[1] ** 2, [2.0, 0.0], constraints=linear)
    assert found.x == pytest.approx([0.5, 0.5])


def test_a_constraint_with_its_own_jacobian_is_left_alone(rg):
    jacobian, calls = counted(lambda v: np.array([1.0, 1.0]))
    constraint = {"type": "eq", "fun": lambda v: v[0] + v[1] - 1.0, "jac": jacobian}
    found = rg.minimize(lambda v: v[0] ** 2 + v[1] ** 2, [2.0, 0.0], constraints=constraint)
    assert found.x == pytest.approx([0.5, 0.5])
    assert calls


def test_trust_constr_with_products(rg):
    found = rg.minimize(rosenbrock, START, method="trust-constr", options={"maxiter": 300})
    assert found.x == pytest.approx([1.0, 1.0], abs=1e-5)


def test_arguments_options_and_callbacks_are_passed_on(rg):
    def shifted(v, centre, scale):
        assert isinstance(scale, dict)
        return scale["k"] * ((v[0] - centre) ** 2 + (v[1] + centre) ** 2)

    points = []
    for method in ("BFGS", "Newton-CG", "trust-exact", "Nelder-Mead"):
        points.clear()
        found = rg.minimize(
            shifted, [0.0, 0.0], (2.0, {"k": 3.0}), method, tol=1e-9,
            callback=lambda x: points.append(np.array(x)),
        )  # fmt: skip
        assert found.x == pytest.approx([2.0, -2.0], abs=1e-5)
        assert len(points) >= 1
    stopped = rg.minimize(rosenbrock, START, method="BFGS", options={"maxiter": 3})
    assert stopped.nit == 3
    assert not stopped.success


def test_own_derivatives_take_the_place_of_ours(rg):
    slope, slope_calls = counted(rosenbrock_slope)
    found = rg.minimize(rosenbrock, START, method="BFGS", jac=slope)
    assert found.x == pytest.approx([1.0, 1.0], abs=1e-4)
    assert len(slope_calls) == found.njev
    hessian, hessian_calls = counted(rosenbrock_hessian)
    rg.minimize(rosenbrock, START, method="trust-exact", hess=hessian)
    rg.minimize(rosenbrock, START, method="Newton-CG", hess=hessian)
    assert len(hessian_calls) > 5
    rough = rg.minimize(rosenbrock, START, method="BFGS", jac="2-point")
    assert rough.nfev > found.nfev


def test_a_method_may_be_a_function(rg):
    def method(fun, x0, args, **options):
        return optimize.OptimizeResult(x=x0, fun=fun(x0), jac=options["jac"](x0), success=True)

    found = rg.minimize(rosenbrock, START, method=method)
    assert found.fun == pytest.approx(rosenbrock(START))
    assert found.jac == pytest.approx(rosenbrock_slope(START))


@pytest.mark.parametrize("start", [np.array(START), tuple(START), [-1, 1]])
def test_the_start_may_be_any_sequence(rg, start):
    assert rg.minimize(rosenbrock, start).x == pytest.approx([1.0, 1.0], abs=1e-4)


def test_one_unknown_may_start_as_a_number(rg):
    assert rg.minimize(lambda v: (v[0] - 2.0) ** 2, 0.0).x == pytest.approx([2.0])


def test_a_function_that_returns_no_value_is_refused(rg):
    with pytest.raises(rg.errors.FunctionResultError, match="Did it forget its return"):
        rg.minimize(lambda v: None, [0.0])


def test_a_larger_problem(rg):
    """Logistic regression with ten weights: the gradient vanishes where it ends."""
    rows = [
        ([math.sin(1.0 + i * j) for j in range(10)], float(i % 3 == 0))
        for i in range(40 if is_native(rg) else 8)
    ]

    def loss(weights):
        total = 0.01 * rg.dot(weights, weights)
        for features, target in rows:
            score = rg.dot(weights, features)
            total = total + rg.softplus(score) - target * score
        return total

    for method in ("L-BFGS-B", "trust-ncg") if is_native(rg) else ("L-BFGS-B",):
        found = rg.minimize(loss, [0.0] * 10, method=method, tol=1e-9)
        assert max(map(abs, rg.grad(loss)(found.x.tolist()))) < 1e-4


# ---- least squares -----------------------------------------------------------------------------

TIMES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0]
DECAY = [2.5 * math.exp(-1.3 * t) + 0.5 + 0.01 * math.sin(7 * t) for t in TIMES]


def decay_jacobian(v):
    return np.array([[math.exp(-v[1] * t), -v[0] * t * math.exp(-v[1] * t), 1.0] for t in TIMES])


@pytest.mark.parametrize("method", ["trf", "lm", "dogbox"])
def test_least_squares_equals_a_jacobian_by_hand(rg, method):
    def residuals(v):
        return [v[0] * rg.exp(-v[1] * t) + v[2] - y for t, y in zip(TIMES, DECAY)]

    def by_hand(v):
        return np.array([v[0] * math.exp(-v[1] * t) + v[2] - y for t, y in zip(TIMES, DECAY)])

    expected = optimize.least_squares(by_hand, [1.0, 1.0, 0.0], jac=decay_jacobian, method=method)
    found = rg.least_squares(residuals, [1.0, 1.0, 0.0], method=method)
    assert found.x == pytest.approx(expected.x, rel=1e-8)
    assert found.cost == pytest.approx(expected.cost)
    assert found.nfev <= expected.nfev + 1
    assert found.jac == pytest.approx(decay_jacobian(found.x))


def test_least_squares_passes_on_what_it_is_given(rg):
    def residuals(v, scale, *, shift):
        return [scale * (v[0] - shift), v[0] * v[1] - 6.0]

    found = rg.least_squares(
        residuals, [1.0, 1.0], args=(2.0,), kwargs={"shift": 3.0}, bounds=([0, 0], [10, 10])
    )
    assert found.x == pytest.approx([3.0, 2.0])
    one = rg.least_squares(lambda v: v[0] - 3.0, [0.0], loss="soft_l1")
    assert one.x == pytest.approx([3.0])
    rough = rg.least_squares(lambda v: [v[0] - 3.0], [0.0], jac="3-point")
    assert rough.x == pytest.approx([3.0])


# ---- roots -------------------------------------------------------------------------------------


def circle_and_line(rg):
    return lambda v: [v[0] ** 2 + v[1] ** 2 - 4.0, v[0] - rg.sin(v[1])]


@pytest.mark.parametrize("method", ["hybr", "lm"])
def test_systems_equal_a_jacobian_by_hand(rg, method):
    def by_hand(v):
        return [v[0] ** 2 + v[1] ** 2 - 4.0, v[0] - math.sin(v[1])]

    def jacobian(v):
        return np.array([[2 * v[0], 2 * v[1]], [1.0, -math.cos(v[1])]])

    expected = optimize.root(by_hand, [1.0, 1.0], jac=jacobian, method=method)
    found = rg.root(circle_and_line(rg), [1.0, 1.0], method=method)
    assert found.success
    assert found.x == pytest.approx(expected.x, rel=1e-10)
    assert found.nfev == expected.nfev


@pytest.mark.parametrize("method", ["broyden1", "krylov", "df-sane", "anderson"])
def test_systems_by_methods_that_use_no_jacobian(rg, method):
    """One that is not used was once passed, and SciPy warned."""
    found = rg.root(circle_and_line(rg), [1.0, 1.7], method=method)
    assert np.abs(found.fun).max() < 1e-4


def test_systems_pass_on_arguments_and_tolerance(rg):
    found = rg.root(lambda v, a: [v[0] ** 2 - a], [1.0], args=(2.0,), tol=1e-12)
    assert found.x == pytest.approx([math.sqrt(2.0)], rel=1e-14)
    single = rg.root(lambda v: v[0] ** 3 - 8.0, [1.0])
    assert single.x == pytest.approx([2.0])


@pytest.mark.parametrize("method", ["newton", "halley", None])
def test_one_equation_equals_derivatives_by_hand(rg, method):
    options = {"fprime": lambda x: math.exp(x) + 1.0}
    if method == "halley":
        options["fprime2"] = math.exp
    expected = optimize.root_scalar(
        lambda x: math.exp(x) + x - 3.0, method=method or "newton", x0=2.0, **options
    )
    found = rg.root_scalar(lambda x: rg.exp(x) + x - 3.0, method=method, x0=2.0)
    assert found.converged
    assert found.root == pytest.approx(expected.root, rel=1e-12)
    assert found.iterations == expected.iterations
    assert found.function_calls == expected.function_calls


@pytest.mark.parametrize("method", ["brentq", "bisect", "ridder", "toms748", None])
def test_one_equation_in_a_bracket(rg, method):
    function, calls = counted(lambda x: rg.exp(x) + x - 3.0)
    found = rg.root_scalar(function, method=method, bracket=(0.0, 2.0))
    expected = optimize.root_scalar(
        lambda x: math.exp(x) + x - 3.0, method=method, bracket=(0.0, 2.0)
    )
    assert found.root == pytest.approx(expected.root, rel=1e-11)
    assert len(calls) == found.function_calls == expected.function_calls


def test_one_equation_with_arguments_and_a_second_start(rg):
    assert rg.root_scalar(lambda x, a: x * x - a, (9.0,), x0=1.0).root == pytest.approx(3.0)
    secant = rg.root_scalar(lambda x: x * x - 9.0, method="secant", x0=1.0, x1=2.0)
    assert secant.root == pytest.approx(3.0)


def test_a_linear_equation_by_halleys_method(rg):
    """Its second derivative is a constant zero."""
    found = rg.root_scalar(lambda x: 2.0 * x - 6.0, method="halley", x0=1.0)
    assert found.root == pytest.approx(3.0)


# ---- without SciPy -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["minimize", "least_squares", "root", "root_scalar"])
def test_without_scipy_the_error_says_what_to_install(rg, name, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(rg.errors.MissingPackageError) as caught:
        getattr(rg, name)(lambda x: x, [1.0])
    assert str(caught.value) == (
        "rg.minimize and its kin needs scipy, which is not installed: pip install scipy."
    )
    assert isinstance(caught.value, ImportError)
