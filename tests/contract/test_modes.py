"""no_grad, detach, freeze and anomaly: what they do, in which thread, and what anomaly says."""

from __future__ import annotations

import math
import threading

import pytest

from .support import line_of

INF, NAN = float("inf"), float("nan")


def in_thread(function):
    """The result of a function run in a thread of its own."""
    results, errors = [], []

    def run():
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


# ---- no_grad ----------------------------------------------------------------------------------


def test_no_grad_computes_without_history(rg):
    x = rg.Value(3.0)
    with rg.no_grad():
        made = [
            x * 2, 2 - x, x**3, x.tanh(), rg.sum([x, x]), rg.dot([x], [x]), rg.clip(x, 0.0, 1.0),
            rg.Value(1.0, (x,), (1.0,)), rg.softmax([x, x])[0],
        ]  # fmt: skip
    for value in made:
        assert (value.op, value.inputs, value.requires_grad) == ("leaf", (), False)
    assert [value.data for value in made[:3]] == [6.0, -1.0, 27.0]
    assert (x * 2).requires_grad is True


def test_leaves_made_under_no_grad_take_gradients_as_asked(rg):
    with rg.no_grad():
        w, frozen = rg.Value(2.0), rg.Value(2.0, requires_grad=False)
    assert (w.requires_grad, frozen.requires_grad) == (True, False)
    (w * 3).backward()
    assert w.grad == 3.0


def test_results_of_no_grad_are_constants_later(rg):
    x = rg.Value(3.0)
    with rg.no_grad():
        y = x * x
    (x * y).backward()
    assert (x.grad, y.grad) == (9.0, 0.0)


def test_subclass_nodes_made_under_no_grad_have_no_history(rg):
    class Node(rg.Value):
        pass

    x = rg.Value(3.0)
    with rg.no_grad():
        node = Node(6.0, (x,), (2.0,))
    assert (node.op, node.inputs, node.requires_grad) == ("leaf", (), False)


def test_closure_style_functions_work_under_no_grad(rg):
    def double(value):
        out = rg.Value(2 * value.data, (value,), "double")

        def backward():
            value.grad += 2 * out.grad

        out._backward = backward
        return out

    x = rg.Value(3.0)
    with rg.no_grad():
        assert double(x).data == 6.0
    assert double(rg.Value(3.0, requires_grad=False)).requires_grad is False


def test_no_grad_nests(rg):
    x = rg.Value(3.0)
    with rg.no_grad():
        with rg.no_grad():
            assert rg.grad_enabled() is False
        assert rg.grad_enabled() is False
        assert (x * 2).requires_grad is False
    assert rg.grad_enabled() is True
    assert (x * 2).requires_grad is True


def test_no_grad_ends_with_an_exception(rg):
    x = rg.Value(3.0)
    with pytest.raises(ZeroDivisionError), rg.no_grad():
        1 / 0  # noqa: B018
    assert rg.grad_enabled()
    assert (x * 2).requires_grad is True


def test_no_grad_as_a_decorator(rg):
    x = rg.Value(3.0)

    @rg.no_grad()
    def evaluate():
        assert rg.grad_enabled() is False
        return x * 2

    for _ in range(2):
        assert evaluate().requires_grad is False
        assert rg.grad_enabled() is True


def test_backward_runs_under_no_grad(rg):
    x = rg.Value(3.0)
    y = x * x
    with rg.no_grad():
        y.backward()
        x.data -= 0.5 * x.grad
    assert (x.grad, x.data) == (6.0, 0.0)


def test_no_grad_holds_in_its_thread_only(rg):
    x = rg.Value(3.0)
    with rg.no_grad():
        assert in_thread(lambda: (rg.grad_enabled(), (x * 2).requires_grad)) == (True, True)
    entered, checked = threading.Event(), threading.Event()

    def hold():
        with rg.no_grad():
            entered.set()
            assert checked.wait(30)
            return (x * 2).requires_grad

    results = []
    thread = threading.Thread(target=lambda: results.append(hold()))
    thread.start()
    assert entered.wait(30)
    here = ((x * 2).requires_grad, rg.grad_enabled())
    checked.set()
    thread.join()
    assert here == (True, True)
    assert results == [False]


# ---- detach, freeze ---------------------------------------------------------------------------


def test_detach_is_the_number_alone(rg):
    x = rg.Value(3.0, label="x")
    y = x * x
    copy = y.detach()
    assert (copy.data, copy.op, copy.inputs, copy.requires_grad) == (9.0, "leaf", (), False)
    assert (copy.label, copy.grad) == ("", 0.0)
    copy.data = 5.0
    assert y.data == 9.0
    (x * y.detach()).backward()
    assert (x.grad, y.grad) == (9.0, 0.0)


def test_detach_of_a_leaf_leaves_it_alone(rg):
    x = rg.Value(3.0)
    copy = x.detach()
    assert copy is not x
    assert x.requires_grad is True


def test_freeze_and_unfreeze(rg):
    w, x = rg.Value(2.0), rg.Value(3.0)
    rg.freeze([w])
    assert (w.requires_grad, x.requires_grad) == (False, True)
    (w * x).backward()
    assert (w.grad, x.grad) == (0.0, 2.0)
    rg.unfreeze([w])
    (w * x).backward()
    assert (w.grad, x.grad) == (3.0, 4.0)
    rg.freeze(x)
    assert x.requires_grad is False


def test_requires_grad_off_is_refused_on_computed_values(rg):
    x = rg.Value(3.0)
    y = x * x  # the computed value
    with pytest.raises(rg.errors.LeafError) as caught:
        y.requires_grad = False
    text = str(caught.value)
    assert "the result of mul = 9.0 was computed" in text
    assert "value.detach()" in text
    assert f"{__file__}:{line_of(__file__, 'the computed value')}" in text
    assert isinstance(caught.value, RuntimeError)
    assert y.requires_grad is True
    y.requires_grad = True
    y.backward()
    assert x.grad == 6.0


def test_freeze_of_a_computed_value_changes_nothing(rg):
    w, x = rg.Value(2.0), rg.Value(3.0)
    y = w * x
    frozen = rg.Value(1.0, requires_grad=False)
    with pytest.raises(rg.errors.LeafError):
        rg.freeze([w, y, x])
    with pytest.raises(rg.errors.LeafError):
        rg.unfreeze([frozen, y])
    assert (w.requires_grad, x.requires_grad, frozen.requires_grad) == (True, True, False)


# ---- anomaly: the forward pass ----------------------------------------------------------------


def birth(rg, function):
    """The error that anomaly mode raises for what a function computes."""
    with pytest.raises(rg.errors.AnomalyError) as caught, rg.anomaly():
        function()
    assert isinstance(caught.value, ArithmeticError)
    return caught.value


def says(error, *parts, line=None):
    text = str(error)
    for part in parts:
        assert part in text, text
    if line is not None:
        assert f"at {__file__}:{line_of(__file__, line)}, in " in text, text


def test_without_anomaly_arithmetic_follows_ieee(rg):
    zero = rg.Value(0.0)
    assert zero.log().data == -INF
    assert (1 / zero).data == INF
    assert (-1 / zero).data == -INF
    assert math.isnan((zero / zero).data)
    assert math.isnan(rg.sqrt(rg.Value(-1.0)).data)
    assert rg.exp(rg.Value(1000.0)).data == INF


def test_a_birth_names_op_operand_label_line_and_cure(rg):
    def compute():
        p = rg.Value(0.0, label="p")
        q = p.log()  # log of p
        return q + 1

    error = birth(rg, compute)
    says(
        error, "log produced -inf in the forward pass", "operand 'p' = 0.0", "q = p.log()",
        "cure: keep the input above 0", "in compute", line="log of p",
    )  # fmt: skip
    assert (error.phase, error.value.op, error.value.data) == ("forward", "log", -INF)


def test_a_birth_shows_every_operand(rg):
    x, y = rg.Value(2.0, label="x"), rg.Value(0.0)
    says(birth(rg, lambda: x / y), "div produced inf", "'x' = 2.0", "a leaf = 0.0", "denominator")
    says(birth(rg, lambda: x / 0), "div produced inf", "'x' = 2.0", "the number = 0.0")
    says(birth(rg, lambda: 0 / y), "div produced nan", "the number = 0.0", "a leaf = 0.0")
    says(birth(rg, lambda: (x * 500) ** 900.5), "pow produced inf", "the result of mul = 1000.0")
    says(birth(rg, lambda: y**-1), "reciprocal produced inf", "a leaf = 0.0")


def test_births_in_sums_and_dots(rg):
    huge, x = rg.Value(1e308, label="huge"), rg.Value(2.0)

    def add():
        return rg.sum([huge, x, huge])  # sum of huge

    def multiply():
        return rg.dot([huge, x], [100.0, x])  # dot of huge

    says(birth(rg, add), "sum produced inf", "operand 'huge' = 1e+308", line="sum of huge")
    error = birth(rg, multiply)
    says(error, "dot produced inf", "'huge' = 1e+308", "the number = 100.0", line="dot of huge")
    assert error.value.op == "dot"
    says(birth(rg, lambda: rg.sum([x, NAN])), "sum passed on nan", "the number = nan")


def test_a_wide_birth_shows_the_first_operands(rg):
    terms = [rg.Value(1e308) for _ in range(20)]
    error = birth(rg, lambda: rg.sum(terms))
    says(error, "and 12 more operands")
    assert str(error).count("operand a leaf") == 8


def test_births_in_clip_and_where(rg):
    x = rg.Value(2.0, label="x")
    says(birth(rg, lambda: rg.clip(x, NAN, 1.0)), "clip passed on nan", "'x' = 2.0", "number = nan")
    says(birth(rg, lambda: rg.where(x, NAN, 1.0)), "where passed on nan", "number = nan")


@pytest.mark.parametrize("plain", [True, False], ids=["Value", "subclass"])
def test_births_in_constructed_nodes(rg, plain):
    make = rg.Value if plain else type("Node", (rg.Value,), {})
    x = rg.Value(2.0, label="x")

    def custom():
        return make(INF, (x,), (1.0,), label="mine")  # a custom node

    def closure():
        return make(NAN, (x,), "closed")  # a closure node

    says(birth(rg, custom), "custom 'mine' produced inf", "operand 'x' = 2.0", line="a custom node")
    says(birth(rg, closure), "closed produced nan", "operand 'x' = 2.0", line="a closure node")


@pytest.mark.parametrize("plain", [True, False], ids=["Value", "subclass"])
def test_a_nan_leaf_is_a_birth(rg, plain):
    make = rg.Value if plain else type("Leaf", (rg.Value,), {})

    def leaf():
        return make(NAN)  # a nan leaf

    says(birth(rg, leaf), "a leaf was made with nan", line="a nan leaf")


def test_births_under_no_grad_and_on_frozen_values(rg):
    zero = rg.Value(0.0)
    frozen = rg.Value(0.0, requires_grad=False, label="f")
    says(birth(rg, lambda: frozen.log()), "log produced -inf", "'f' = 0.0")
    with rg.no_grad():
        says(birth(rg, lambda: zero.log()), "log produced -inf", "a leaf = 0.0")


def test_a_nan_from_before_is_passed_on_and_said_so(rg):
    x = rg.Value(NAN, label="old")
    error = birth(rg, lambda: x + 1)
    says(error, "add passed on nan", "operand 'old' = nan", "before anomaly() saw it")


def test_given_infinities_pass(rg):
    with rg.anomaly():
        mask = rg.Value(-INF)
        assert (mask + 1).data == -INF
        assert mask.exp().data == 0.0
        assert rg.sum([mask, 1.0]).data == -INF
        assert (rg.Value(2.0) * INF).data == INF
        assert [share.data for share in rg.softmax([mask, rg.Value(0.0)])] == [0.0, 1.0]
        assert rg.logsumexp([mask, rg.Value(0.0)]).data == 0.0
        assert rg.maximum(mask, 3.0).data == 3.0
        assert rg.clip(rg.Value(5.0), -INF, INF).data == 5.0


def test_a_nan_made_of_infinities_is_a_birth(rg):
    up = rg.Value(INF)
    says(birth(rg, lambda: up - up), "sub produced nan", "a leaf = inf")
    says(birth(rg, lambda: up * 0), "mul produced nan", "the number = 0.0")
    says(birth(rg, lambda: rg.sum([up, -INF])), "sum produced nan")


def test_anomaly_ends_with_its_block(rg):
    zero = rg.Value(0.0)
    with rg.anomaly():
        with rg.anomaly():
            pass
        with pytest.raises(rg.errors.AnomalyError):
            zero.log()
    assert zero.log().data == -INF
    with pytest.raises(rg.errors.AnomalyError), rg.anomaly():
        zero.log()
    assert zero.log().data == -INF


def test_finite_arithmetic_is_the_same_under_anomaly(rg):
    def compute():
        x, w = rg.Value(0.7), rg.Value(-1.3)
        root = rg.softmax([x * w, x - w, w / x])[0].log() + rg.norm([x, w])
        root.backward()
        return [value.grad.hex() for value in rg.order(root)] + [root.data.hex()]

    plain = compute()
    with rg.anomaly():
        assert compute() == plain


# ---- anomaly: the backward pass ---------------------------------------------------------------


def test_a_birth_in_backward_names_op_target_numbers_and_line(rg):
    x = rg.Value(0.0, label="x")
    root = rg.sqrt(x)  # the root at zero
    error = birth(rg, root.backward)
    says(
        error, "sqrt made the gradient of 'x' = 0.0 non-finite in the backward pass",
        "0.0 + partial inf × upstream 1.0 = inf", "operand 'x' = 0.0",
        "cure: keep the input above 0", line="the root at zero",
    )  # fmt: skip
    assert (error.phase, error.value) == ("backward", root)
    assert error.value is root
    assert (x.grad, root.grad) == (0.0, 0.0)


def test_zero_times_infinity_in_backward(rg):
    x = rg.Value(0.0)
    with rg.anomaly():
        root = rg.sqrt(x) * 0.0
        says(birth(rg, root.backward), "partial inf × upstream 0.0 = nan", "sqrt made the gradient")
    assert x.grad == 0.0


def test_a_sum_of_contributions_that_overflows(rg):
    x = rg.Value(0.0, label="x")
    root = x * 1e308 + x * 1.5e308
    error = birth(rg, root.backward)
    says(error, "mul made the gradient of 'x' = 0.0", "1.5e+308 + partial 1e+308 × upstream 1.0")


def test_births_in_the_backward_of_wide_nodes(rg):
    x, y = rg.Value(0.0, label="x"), rg.Value(1.0)
    root = rg.dot([y, x], [y, 1e308]) * 100.0
    says(birth(rg, root.backward), "dot made the gradient of 'x'", "partial 1e+308 × upstream 100")
    node = rg.Value(1.0, (y, x), (1.0, INF))
    says(birth(rg, node.backward), "custom made the gradient of 'x'", "partial inf × upstream 1.0")


def test_births_in_the_backward_of_closures(rg):
    x = rg.Value(0.0, label="x")
    out = rg.Value(0.0, (x,), "broken")  # a broken closure

    def backward():
        x.grad += NAN * out.grad

    out._backward = backward
    says(birth(rg, (out * 2).backward), "broken made the gradient of 'x'", line="a broken closure")
    assert (x.grad, out.grad) == (0.0, 0.0)


def test_a_frozen_input_may_overflow(rg):
    w, x = rg.Value(0.0), rg.Value(1e308)
    rg.freeze(w)
    root = w * x * 100.0
    with rg.anomaly():
        root.backward()
    assert (w.grad, x.grad) == (0.0, 0.0)


@pytest.mark.parametrize("seed", [NAN, INF, -INF])
def test_a_seed_that_is_not_finite_is_a_birth(rg, seed):
    x = rg.Value(1.0)
    root = x * 2  # the seeded root
    error = birth(rg, lambda: root.backward(seed))
    says(error, f"backward was started with the seed {seed!r}", line="the seeded root")
    assert error.value is root
    assert x.grad == 0.0
    root.backward(seed)
    assert not math.isfinite(x.grad)


def test_backward_outside_anomaly_lets_infinities_through(rg):
    with rg.anomaly():
        x = rg.Value(0.0)
        root = rg.sqrt(x)
    root.backward()
    assert x.grad == INF


def test_anomaly_holds_in_its_thread_only(rg):
    zero = rg.Value(0.0)
    root = rg.sqrt(zero)
    with rg.anomaly():
        assert in_thread(lambda: zero.log().data) == -INF
        in_thread(root.backward)
        assert zero.grad == INF
    with pytest.raises(rg.errors.AnomalyError):
        in_thread(lambda: birth_here(rg, zero))
    assert zero.log().data == -INF


def birth_here(rg, zero):
    with rg.anomaly():
        return zero.log()
