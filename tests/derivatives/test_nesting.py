"""A derivative inside another: what the inner one sees, what it returns, and what it costs."""

from __future__ import annotations

import gc
import math
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mpmath
import pytest

from .support import close, core_of, is_native

# ---- no derivative is taken for another --------------------------------------------------------


def test_an_inner_argument_is_not_taken_for_the_outer_one(rg):
    grad = rg.grad
    assert grad(lambda x: x * grad(lambda y: x + y)(1.0))(5.0) == 1.0
    assert grad(lambda x: x * grad(lambda y: x * y)(1.0))(5.0) == 10.0
    assert grad(lambda x: x * grad(lambda y: y)(2.0))(5.0) == 1.0
    assert grad(lambda x: grad(lambda y: x * y * y)(3.0))(5.0) == 6.0
    assert grad(lambda x: grad(lambda y: x + y)(1.0))(5.0) == 0.0


def test_an_inner_argument_may_be_the_outer_one(rg):
    grad = rg.grad
    assert grad(lambda x: grad(lambda y: y**3)(x))(2.0) == 12.0
    assert grad(lambda x: grad(lambda y: y**3 * x)(x))(2.0) == 36.0
    assert grad(lambda x: grad(lambda x: x**3)(x) * x)(2.0) == 36.0


def test_three_levels_close_over_each_other(rg):
    grad = rg.grad

    def function(x):
        return grad(lambda y: grad(lambda z: x**2 * y**3 * z**4)(y) * x)(x)

    # by z at z = y: 4 x² y⁶; by y of x·that at y = x: 24 x³ x⁵; by x: 192 x⁷
    assert function(1.5) == pytest.approx(24 * 1.5**8, rel=1e-14)
    assert grad(function)(1.5) == pytest.approx(192 * 1.5**7, rel=1e-14)
    assert grad(grad(function))(1.5) == pytest.approx(7 * 192 * 1.5**6, rel=1e-13)


@pytest.mark.parametrize("levels", range(1, 6))
def test_levels_keep_apart_in_a_product_of_all(rg, levels):
    """d/dx₁ … d/dxₙ of (x₁ … xₙ)² is 2ⁿ x₁ … xₙ."""

    def nested(values):
        if len(values) == levels:
            product = 1.0
            for value in values:
                product = product * value
            return product**2
        return rg.grad(lambda x: nested([*values, x]))(1.0 + len(values))

    expected = 2**levels * math.prod(1.0 + index for index in range(levels))
    assert nested([]) == pytest.approx(expected, rel=1e-13)


def test_an_inner_value_that_is_kept_is_a_constant_afterwards(rg):
    kept = []

    def outer(x):
        rg.grad(lambda y: kept.append(y) or y * x)(3.0)
        return x * kept[-1]

    assert rg.grad(outer)(2.0) == 3.0


def test_a_vjp_made_outside_can_be_pulled_inside(rg):
    w = rg.Value(5.0)
    value, pull = rg.vjp(lambda x: x * x * w, 3.0)
    assert value.data == 45.0
    assert rg.grad(lambda seed: pull(seed) * seed)(2.0).data == 2 * 30.0 * 2.0
    pull(1.0).backward()
    assert w.grad == 6.0


def test_a_vjp_is_differentiable_in_point_and_seed(rg):
    def outer(x, seed):
        _, pull = rg.vjp(lambda v: v**3, x)
        return pull(seed)

    assert rg.grad(outer, wrt=(0, 1))(2.0, 7.0) == (84.0, 12.0)


def test_a_jvp_is_differentiable_in_point_and_tangent(rg):
    def outer(x, tangent):
        return rg.jvp(lambda v: v**3, (x,), (tangent,))[1]

    assert rg.grad(outer, wrt=(0, 1))(2.0, 7.0) == (84.0, 12.0)


# ---- numbers and values ------------------------------------------------------------------------


def test_a_closed_derivative_is_a_plain_float(rg):
    frozen = rg.Value(4.0, requires_grad=False)
    assert type(rg.grad(lambda x: x * x)(3.0)) is float
    assert type(rg.grad(lambda x: x * x * frozen)(3.0)) is float
    assert type(rg.grad(lambda x: rg.grad(lambda y: x * y * y)(x))(3.0)) is float
    value, gradient = rg.value_and_grad(lambda x: x.detach() * x)(3.0)
    assert (type(value), type(gradient)) == (float, float)
    assert all(type(item) is float for item in rg.jvp(lambda x: x * x, (3.0,), (1.0,)))


def test_mixed_third_derivatives_are_floats_too(rg):
    """The fresh argument of the middle derivative was once taken for a value from outside."""
    d_x = rg.grad(lambda x, y: rg.atan2(y, x), wrt=0)
    result = rg.grad(rg.grad(d_x, wrt=0), wrt=1)(1.2, 0.7)
    assert type(result) is float
    expected = mpmath.diff(lambda x, y: mpmath.atan2(y, x), (1.2, 0.7), (2, 1))
    assert close(result, expected, 1e-10)


def test_a_derivative_that_is_constant_can_be_differentiated_again(rg):
    """An inner derivative that is a plain number was once refused as a function's result."""
    grad = rg.grad
    assert grad(grad(lambda x: 2 * x))(1.0) == 0.0
    assert grad(grad(grad(lambda x: x * x)))(3.0) == 0.0
    assert rg.hessian(rg.grad(lambda x: 5 * x))(1.0) == 0.0
    assert grad(lambda x: grad(lambda y: y * y)(3.0))(1.0) == 0.0
    assert rg.jacobian(rg.grad(lambda v: v[0] + 3 * v[1]))([1.0, 2.0]) == [[0.0, 0.0], [0.0, 0.0]]
    with pytest.raises(rg.errors.FunctionResultError, match="returned float"):
        grad(lambda x: 3.0)(1.0)


def test_a_derivative_through_a_parameter_is_a_value_that_backward_can_use(rg):
    w = rg.Value(3.0)
    slope = rg.grad(lambda x: w * w * x)(2.0)
    assert isinstance(slope, rg.Value)
    assert slope.data == 9.0
    slope.backward()
    assert w.grad == 6.0


def network(functions, weights, x):
    """u(x) of a small network with two hidden units."""
    (a1, b1, c1), (a2, b2, c2), d = weights
    return c1 * functions.tanh(a1 * x + b1) + c2 * functions.tanh(a2 * x + b2) + d


WEIGHTS = ((0.6, -0.2, 0.9), (-1.1, 0.3, 0.4), 0.1)
PLACES = [-1.0, -0.3, 0.4, 1.1]


def test_training_a_network_on_a_differential_equation(rg):
    """The loss of u″ + u = 0 with u, u′ and u″ from the network, differentiated by its weights."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra: torch)")
    weights = tuple(
        tuple(rg.Value(w) for w in unit) if isinstance(unit, tuple) else rg.Value(unit)
        for unit in WEIGHTS
    )
    flat = [*weights[0], *weights[1], weights[2]]

    def u(x):
        return network(rg, weights, x)

    residuals = [rg.grad(rg.grad(u))(x) + u(x) for x in PLACES] + [rg.grad(u)(0.0) - 1.0]
    loss = rg.sum([residual**2 for residual in residuals])
    loss.backward()

    tensors = [torch.tensor(w.data, dtype=torch.float64, requires_grad=True) for w in flat]
    theirs = (tuple(tensors[:3]), tuple(tensors[3:6]), tensors[6])

    def derivatives(x):
        point = torch.tensor(x, dtype=torch.float64, requires_grad=True)
        value = network(torch, theirs, point)
        (first,) = torch.autograd.grad(value, point, create_graph=True)
        (second,) = torch.autograd.grad(first, point, create_graph=True)
        return value, first, second

    total = (derivatives(0.0)[1] - 1.0) ** 2
    for x in PLACES:
        value, _, second = derivatives(x)
        total = total + (second + value) ** 2
    total.backward()
    assert close(loss.data, total.item())
    for ours, tensor in zip(flat, tensors):
        expected = 0.0 if tensor.grad is None else tensor.grad.item()
        assert close(ours.grad, expected)


def test_only_what_depends_on_the_parameter_comes_back_as_a_value(rg):
    w = rg.Value(2.0)
    gradient = rg.grad(lambda v: v[0] ** 2 + w * v[1])([3.0, 4.0])
    assert gradient[0] == 6.0
    assert type(gradient[0]) is float
    assert isinstance(gradient[1], rg.Value)


def test_a_captured_interior_value_leads_back_to_its_leaves(rg):
    w = rg.Value(2.0)
    feature = (w * w).exp()
    slope = rg.grad(lambda x: feature * x * x)(3.0)
    slope.backward()
    assert close(w.grad, 6.0 * 4.0 * math.exp(4.0))


# ---- loops that depend on data -----------------------------------------------------------------


def newton_root(rg, equation, start):
    """Newton's method with as many steps as it takes, and two more."""
    x, left = start, None
    while left != 0:
        value, slope = rg.value_and_grad(equation)(x)
        step = value / slope
        x = x - step
        if left is not None:
            left -= 1
        elif abs(step) < 1e-9:
            left = 2
    return x


def test_newtons_method_inside_an_outer_derivative(rg):
    """The root of x³ = a is a^(1/3): an inner gradient at every step, an outer one through all."""

    def cube_root(a):
        return newton_root(rg, lambda x: x**3 - a, 1.0 + 0.1 * a)

    value, slope = rg.value_and_grad(cube_root)(5.0)
    assert close(value, 5.0 ** (1 / 3))
    assert close(slope, 5.0 ** (-2 / 3) / 3)
    assert close(rg.grad(rg.grad(cube_root))(5.0), -2 / 9 * 5.0 ** (-5 / 3), 1e-11)


def test_the_number_of_steps_follows_the_data(rg):
    lengths = []

    def function(x):
        steps = 0
        while x > 1.0:
            x = rg.grad(lambda y: y * y / 8)(x) * rg.grad(lambda z: z)(1.0)
            steps += 1
        lengths.append(steps)
        return x

    assert rg.grad(function)(3.0) == 0.25**1
    assert rg.grad(function)(10.0) == 0.25**2
    assert rg.grad(function)(0.5) == 1.0
    assert lengths == [1, 2, 0]


def test_descent_inside_an_outer_derivative(rg):
    """Twenty steps of descent on (y − a)²/2 end at a·(1 − 2⁻²⁰), exactly."""

    def descended(a):
        y = 0.0
        for _ in range(20):
            y = y - 0.5 * rg.grad(lambda t: (t - a) ** 2 / 2)(y)
        return y

    assert rg.value_and_grad(descended)(3.0) == (3.0 * (1 - 2.0**-20), 1 - 2.0**-20)


# ---- modes -------------------------------------------------------------------------------------


def test_derivatives_work_inside_no_grad(rg):
    w = rg.Value(3.0)
    with rg.no_grad():
        assert rg.grad(lambda x: x**3)(2.0) == 12.0
        assert rg.hessian(lambda x: x**3)(2.0) == 12.0
        assert rg.hvp(lambda x: x**3, 2.0, 1.0) == 12.0
        assert rg.jvp(lambda x: x**3, (2.0,), (1.0,)) == (8.0, 12.0)
        _, pull = rg.vjp(lambda x: x**3, 2.0)
        assert pull(1.0) == 12.0
        assert rg.grad(rg.grad(lambda x: x**3))(2.0) == 12.0
        slope = rg.grad(lambda x: x * w)(2.0)
        assert not rg.grad_enabled()
        assert not (w * 2).requires_grad
    assert slope.requires_grad
    slope.backward()
    assert w.grad == 1.0


def test_no_grad_inside_a_function_stops_the_derivative_there(rg):
    def function(x):
        with rg.no_grad():
            factor = x * x
        return factor * x

    assert rg.grad(function)(3.0) == 9.0
    assert rg.grad(function, unused="raise")(3.0) == 9.0
    assert rg.grad_enabled()


def test_an_exception_leaves_the_mode_as_it_was(rg):
    def fails(x):
        raise KeyboardInterrupt

    with rg.no_grad():
        for transform in (rg.grad, rg.jacobian, rg.hessian, rg.value_and_grad):
            with pytest.raises(KeyboardInterrupt):
                transform(fails)(1.0)
        assert not rg.grad_enabled()
    assert rg.grad_enabled()


def test_hooks_are_for_backward_only(rg):
    seen = []
    w = rg.Value(2.0)
    w.register_hook(seen.append)

    def function(x):
        y = x * w
        y.register_hook(seen.append)
        return y * y

    gradient = rg.grad(function)(3.0)
    assert gradient.data == 24.0
    assert rg.gradients(w * w, w).data == 4.0
    assert rg.grad(lambda x: x * rg.Value(2.0, requires_grad=False))(3.0) == 2.0
    assert seen == []
    gradient.backward()
    assert seen
    assert w.grad == 24.0


# ---- what it costs -----------------------------------------------------------------------------


class Spy:
    """Counts the nodes that the walks of a core enter."""

    def __init__(self, rg, monkeypatch):
        core = core_of(rg)
        self.entered = 0
        order_since = core.order_since

        def counted(name, roots_and_epoch):
            original = getattr(core, name)

            def call(*args):
                self.entered += len(order_since(*roots_and_epoch(args)))
                return original(*args)

            monkeypatch.setattr(core, name, call)

        counted("order_since", lambda args: args)
        counted("is_closed", lambda args: (args[0], args[2]))
        counted("gradients", lambda args: (args[0], args[3]))


def nodes_entered(rg, length, inner_calls):
    with pytest.MonkeyPatch.context() as patch:
        spy = Spy(rg, patch)
        entered = []

        def outer(x):
            chain = x
            for _ in range(length):
                chain = chain * 1.0
            total = chain
            before = spy.entered
            for _ in range(inner_calls):
                total = total + rg.grad(lambda y: y * y * chain)(2.0)
            entered.append(spy.entered - before)
            return total

        assert rg.grad(outer)(3.0) == 1.0 + 4.0 * inner_calls
    return entered[0]


def test_an_inner_derivative_does_not_walk_the_outer_graph(rg):
    lengths = (10, 100_000) if is_native(rg) else (10, 3_000)
    short, long = (nodes_entered(rg, length, 200) for length in lengths)
    assert short == long
    assert short < 200 * 40


def test_an_inner_derivative_does_not_walk_what_was_made_before(rg):
    w = rg.Value(3.0)
    chain = w
    for _ in range(20_000):
        chain = chain * 1.0
    with pytest.MonkeyPatch.context() as patch:
        spy = Spy(rg, patch)
        slope = rg.grad(lambda x: x * x * chain)(2.0)
        assert slope.data == 12.0
    assert spy.entered < 40


def test_the_nodes_of_a_derivative_grow_with_the_function_alone(rg):
    def made(length):
        x = rg.Value(1.0)
        y = x
        for _ in range(length):
            y = (y * 1.5).sin()
        return len(rg.order(rg.gradients(y, x)))

    small, large = made(50), made(500)
    assert large < 11 * small


def test_deep_functions_are_differentiated_without_recursion(rg):
    depth = 200_000 if is_native(rg) else 5_000

    def chain(x):
        y = x
        for _ in range(depth):
            y = y + 1.0
        return y * y

    assert rg.grad(chain)(1.0) == 2.0 * (depth + 1.0)
    shallower = depth // 10

    def product(x):
        y = x
        for _ in range(shallower):
            y = y * 1.0
        return y * y

    assert rg.grad(rg.grad(product))(1.0) == 2.0


# ---- epochs ------------------------------------------------------------------------------------


def test_seventy_thousand_derivatives_in_a_row(native):
    w = native.Value(3.0)
    feature = w * 2.0
    derivative = native.grad(lambda x: x * x * 0.5)
    assert all(derivative(float(number % 7)) == number % 7 for number in range(70_000))
    slope = native.grad(lambda x: feature * x)(2.0)
    slope.backward()
    assert (slope.data, w.grad) == (6.0, 2.0)


@pytest.mark.parametrize("epochs", [1, 65_534, 65_535, 65_536, 65_537, 131_072, 200_000])
def test_the_age_of_a_value_never_changes_a_result(rg, epochs):
    begin_epoch = core_of(rg).begin_epoch
    w = rg.Value(3.0)
    feature = w * 2.0

    def pass_time():
        for _ in range(epochs):
            begin_epoch()

    def outer(x):
        inside = x * x * feature
        pass_time()
        inner = rg.grad(lambda y: y * inside * feature)(5.0)
        return inner * x

    pass_time()
    slope = rg.grad(outer)(2.0)  # (x·feature)² x, so 3 x² feature²
    assert slope.data == 3 * 2.0**2 * 6.0**2
    slope.backward()
    assert w.grad == 3 * 2.0**2 * 2 * 6.0 * 2.0
    assert type(rg.grad(lambda x: x * x)(3.0)) is float
    assert rg.grad(rg.grad(lambda x: x**3))(2.0) == 12.0


# ---- threads -----------------------------------------------------------------------------------


def test_a_function_may_use_threads(rg):
    def function(v):
        with ThreadPoolExecutor(4) as pool:
            return rg.sum(list(pool.map(lambda x: (x * x).sin(), v)))

    point = [0.1 * index for index in range(20)]
    expected = [2 * x * math.cos(x * x) for x in point]
    assert rg.grad(function)(point) == pytest.approx(expected, rel=1e-13, abs=1e-15)


def test_derivatives_in_many_threads_at_once(rg):
    w = rg.Value(2.0)
    frozen = rg.Value(5.0, requires_grad=False)
    feature = w * 3.0
    barrier = threading.Barrier(6)

    def work(index):
        barrier.wait(30)
        results = []
        for n in range(60 if is_native(rg) else 15):
            x = 0.5 + 0.1 * index + 0.01 * n
            second = rg.grad(rg.grad(lambda t: rg.sin(t) * frozen))(x)
            open_one = rg.grad(lambda t: t * t * feature)(x)
            results.append((second, open_one.data, rg.hvp(lambda t: t**4, x, 1.0)))
        return results

    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(work, range(6)))
    for index, results in enumerate(together):
        for n, (second, open_one, product) in enumerate(results):
            x = 0.5 + 0.1 * index + 0.01 * n
            assert close(second, -5.0 * math.sin(x))
            assert close(open_one, 12.0 * x)
            assert close(product, 12.0 * x * x)
    assert (w.grad, frozen.grad) == (0.0, 0.0)


# ---- what is left behind -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "transform",
    [
        lambda rg, f: rg.grad(f)(2.0),
        lambda rg, f: rg.value_and_grad(f)(2.0),
        lambda rg, f: rg.jacobian(lambda v: [f(v[0]), v[0]])([2.0]),
        lambda rg, f: rg.hessian(f)(2.0),
        lambda rg, f: rg.hvp(f, 2.0, 1.0),
        lambda rg, f: rg.jvp(f, (2.0,), (1.0,)),
        lambda rg, f: rg.vjp(f, 2.0)[1](1.0),
        lambda rg, f: rg.grad(rg.grad(rg.grad(f)))(2.0),
    ],
    ids=["grad", "value_and_grad", "jacobian", "hessian", "hvp", "jvp", "vjp", "third"],
)
def test_a_dropped_result_frees_everything_it_was_made_of(rg, transform):
    w = rg.Value(3.0)
    frozen = rg.Value(4.0, requires_grad=False)
    feature = w * 2.0
    captured = (w, frozen, feature)

    def function(x):
        return (x * feature).sin() * frozen + x * x * w

    def fails(x):
        y = function(x)
        raise ZeroDivisionError(str(y.data))

    counts = [sys.getrefcount(value) for value in captured]
    for _ in range(5):
        transform(rg, function)
        with pytest.raises(ZeroDivisionError):
            transform(rg, fails)
    gc.collect()
    assert [sys.getrefcount(value) for value in captured] == counts


def test_many_small_derivatives_take_no_memory(native):
    derivative = native.grad(lambda v: v[0] * v[1] + v[0].exp())

    def pages():
        return int(Path("/proc/self/statm").read_text().split()[1])

    for _ in range(2_000):
        derivative([0.1, 0.2])
    gc.collect()
    before = pages()
    for _ in range(20_000):
        derivative([0.1, 0.2])
    gc.collect()
    assert pages() - before < 256
