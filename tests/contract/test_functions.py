"""Functions of many values: their values, their gradients, and what they do at the edges."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

INF = float("inf")
COMPOSED = ["sum", "mean", "norm", "logsumexp"]


def plain(name, xs):
    """The function on numbers, by its definition."""
    if name == "sum":
        return math.fsum(xs)
    if name == "mean":
        return math.fsum(xs) / len(xs)
    if name == "norm":
        return math.sqrt(math.fsum(x * x for x in xs))
    return math.log(math.fsum(math.exp(x) for x in xs))


def points(seed, count):
    source = random.Random(seed)
    return [source.uniform(-2.0, 2.0) for _ in range(count)]


def slopes(function, xs, step=1e-5):
    """Finite differences."""
    result = []
    for i in range(len(xs)):
        up, down = [*xs], [*xs]
        up[i] += step
        down[i] -= step
        result.append((function(up) - function(down)) / (2 * step))
    return result


# ---- values and gradients ---------------------------------------------------------------------


@pytest.mark.parametrize("name", COMPOSED)
@pytest.mark.parametrize("count", [1, 2, 3, 10, 100])
def test_values_and_gradients(rg, name, count):
    xs = points(count, count)
    values = [rg.Value(x) for x in xs]
    result = getattr(rg, name)(values)
    assert isinstance(result, rg.Value)
    assert result.data == pytest.approx(plain(name, xs), rel=1e-13, abs=1e-13)
    result.backward()
    expected = slopes(lambda numbers: plain(name, numbers), xs)
    assert [v.grad for v in values] == pytest.approx(expected, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("count", [1, 2, 5, 50])
def test_dot_and_its_gradients(rg, count):
    left, right = points(1, count), points(2, count)
    lefts, rights = [rg.Value(x) for x in left], [rg.Value(x) for x in right]
    result = rg.dot(lefts, rights)
    assert result.data == pytest.approx(math.fsum(x * y for x, y in zip(left, right)), rel=1e-13)
    result.backward(2.0)
    assert [v.grad for v in lefts] == [2.0 * y for y in right]
    assert [v.grad for v in rights] == [2.0 * x for x in left]


@pytest.mark.parametrize("count", [1, 2, 5, 20])
def test_softmax_and_its_gradients(rg, count):
    xs = points(3, count)

    def share(numbers, index):
        return math.exp(numbers[index]) / math.fsum(math.exp(x) for x in numbers)

    for index in {0, count // 2, count - 1}:
        values = [rg.Value(x) for x in xs]
        shares = rg.softmax(values)
        assert [s.data for s in shares] == pytest.approx([share(xs, i) for i in range(count)])
        assert math.fsum(s.data for s in shares) == pytest.approx(1.0, rel=1e-15)
        shares[index].backward()
        expected = slopes(lambda numbers, index=index: share(numbers, index), xs)
        assert [v.grad for v in values] == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_sums_and_dots_add_in_index_order(rg):
    terms = [1e16, 1.0, -1e16, 1.0]
    assert rg.sum([rg.Value(x) for x in terms]).data == ((1e16 + 1.0) - 1e16) + 1.0
    assert rg.sum(terms) == 1.0
    ones = [1.0] * 4
    assert rg.dot([rg.Value(x) for x in terms], ones).data == 1.0
    # unfused: each product is rounded before it is added
    x = 1 + 2.0**-30
    assert rg.dot([rg.Value(-1.0), rg.Value(x)], [1.0, x]).data == -1.0 + x * x
    assert math.copysign(1.0, rg.sum([rg.Value(-0.0)]).data) == -1.0


@pytest.mark.parametrize("seed", range(5))
def test_sum_and_dot_equal_their_expansion_to_the_bit(rg, seed):
    xs, ys = points(seed, 20), points(seed + 100, 20)

    def gradients(compute):
        left, right = [rg.Value(x) for x in xs], [rg.Value(y) for y in ys]
        result = compute(left, right)
        result.backward(0.7)
        return [result.data.hex()] + [v.grad.hex() for v in left + right]

    def add_up(terms):
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    assert gradients(lambda left, right: rg.sum(left + right)) == gradients(
        lambda left, right: add_up(left + right)
    )
    assert gradients(rg.dot) == gradients(
        lambda left, right: add_up([x * y for x, y in zip(left, right)])
    )


def test_sum_and_dot_are_one_node(rg):
    values = [rg.Value(1.0) for _ in range(100)]
    assert len(rg.order(rg.sum(values))) == 101
    assert rg.sum(values).inputs == tuple(values)
    node = rg.dot(values, values[::-1])
    assert len(rg.order(node)) == 101
    assert (node.op, len(node.inputs), len(node.partials)) == ("dot", 200, 200)


def test_the_same_value_in_several_places(rg):
    x = rg.Value(3.0)
    rg.sum([x, x, x]).backward()
    assert x.grad == 3.0
    x.grad = 0.0
    rg.dot([x, x], [x, 2.0]).backward()
    assert x.grad == 8.0
    values = [rg.Value(3.0), rg.Value(4.0)]
    rg.dot(values, values).backward()
    assert [v.grad for v in values] == [6.0, 8.0]


# ---- numbers, generators, arrays --------------------------------------------------------------


@pytest.mark.parametrize("name", COMPOSED)
def test_numbers_give_numbers(rg, name):
    for numbers in ([1, 2.5, True], (np.float32(1.0), 2), np.array([1.0, 2.0]), range(1, 4)):
        result = getattr(rg, name)(numbers)
        assert type(result) is float
        assert result == pytest.approx(plain(name, [float(x) for x in numbers]))


def test_numbers_give_numbers_in_dot_and_softmax(rg):
    assert rg.dot([1, 2], (3.0, np.int8(4))) == 11.0
    assert type(rg.dot([1], [2])) is float
    shares = rg.softmax([0, 0.0, np.float32(0.0), 0])
    assert shares == [0.25] * 4
    assert all(type(share) is float for share in shares)


@pytest.mark.parametrize("name", [*COMPOSED, "softmax"])
def test_values_and_numbers_mix(rg, name):
    x = rg.Value(0.5)
    result = getattr(rg, name)([1.0, x, 2])
    by_numbers = getattr(rg, name)([1.0, 0.5, 2])
    if name == "softmax":
        result, by_numbers = result[1], by_numbers[1]
    assert result.data == pytest.approx(by_numbers, rel=1e-15)
    result.backward()
    assert x.grad != 0.0


@pytest.mark.parametrize("name", [*COMPOSED, "softmax"])
def test_any_iterable_will_do(rg, name):
    function, values = getattr(rg, name), [rg.Value(x) for x in points(5, 4)]
    expected = function(values)
    shapes = [tuple(values), iter(values), (v for v in values), np.array(values, dtype=object)]
    shapes.append(dict.fromkeys(values))
    for shape in shapes:
        result = function(shape)
        if name == "softmax":
            assert isinstance(result, np.ndarray if isinstance(shape, np.ndarray) else list)
            assert [v.data for v in result] == [v.data for v in expected]
        else:
            assert result.data == expected.data


def test_dot_takes_any_two_iterables(rg):
    values = [rg.Value(1.0), rg.Value(2.0)]
    for left in (values, tuple(values), iter(values), np.array(values, dtype=object)):
        assert rg.dot(left, (n for n in (10, 100))).data == 210.0
    assert rg.dot([3.0, 4.0], values).data == 11.0


# ---- edges ------------------------------------------------------------------------------------


def test_nothing(rg):
    assert rg.sum([]) == rg.sum(iter(())) == 0.0
    assert rg.dot([], []) == 0.0
    assert rg.norm([]) == 0.0
    for name in ("mean", "logsumexp", "softmax"):
        for empty in ([], (), iter(()), np.array([])):
            pattern = f"{name} of nothing has no value; give at least one item"
            with pytest.raises(rg.errors.ShapeError, match=pattern):
                getattr(rg, name)(empty)


@pytest.mark.parametrize("shift", [1000.0, -1000.0, 1e6, -1e300])
def test_large_terms_do_not_overflow(rg, shift):
    values = [rg.Value(shift), rg.Value(shift)]
    total = rg.logsumexp(values)
    assert total.data == pytest.approx(shift + math.log(2.0), rel=1e-15)
    total.backward()
    assert [v.grad for v in values] == [0.5, 0.5]
    rg.zero_grad(values)
    shares = rg.softmax(values)
    assert [s.data for s in shares] == [0.5, 0.5]
    shares[0].backward()
    assert [v.grad for v in values] == [0.25, -0.25]


def test_far_terms_vanish_cleanly(rg):
    values = [rg.Value(0.0), rg.Value(-1e5)]
    assert [s.data for s in rg.softmax(values)] == [1.0, 0.0]
    total = rg.logsumexp(values)
    assert total.data == 0.0
    total.backward()
    assert [v.grad for v in values] == [1.0, 0.0]


def test_terms_of_minus_infinity_are_masks(rg):
    x, y, mask = rg.Value(0.3), rg.Value(0.9), rg.Value(-INF)
    shares = rg.softmax([x, mask, y, -INF])
    without = rg.softmax([x, y])
    assert [s.data for s in shares] == [without[0].data, 0.0, without[1].data, 0.0]
    shares[0].backward()
    masked = (x.grad, y.grad)
    assert mask.grad == 0.0
    rg.zero_grad([x, y])
    without[0].backward()
    assert (x.grad, y.grad) == masked
    total = rg.logsumexp([x, mask, y])
    assert total.data == rg.logsumexp([x, y]).data
    total.backward()
    assert mask.grad == 0.0


def test_only_infinities(rg):
    assert rg.logsumexp([-INF, -INF]) == -INF
    assert rg.logsumexp([rg.Value(-INF)]).data == -INF
    assert rg.logsumexp([INF, 0.0]) == INF
    assert math.isnan(rg.softmax([-INF, -INF])[0])
    for function in (rg.logsumexp, rg.mean, rg.sum, rg.norm):
        assert math.isnan(function([0.0, float("nan"), 1.0]))
        assert math.isnan(function([float("nan"), 0.0, 1.0]))


def test_one_term(rg):
    x = rg.Value(3.0)
    assert rg.softmax([x])[0].data == 1.0
    assert rg.logsumexp([x]).data == 3.0
    assert rg.mean([x]).data == 3.0
    assert rg.norm([-3.0]) == 3.0


def test_the_norm_of_nothing_but_zeros_is_infinitely_steep(rg):
    values = [rg.Value(0.0), rg.Value(0.0)]
    length = rg.norm(values)
    assert length.data == 0.0
    length.backward()
    assert not any(math.isfinite(v.grad) for v in values)


# ---- refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["a", None, [1.0], 1j, object(), np.array([1.0])])
def test_items_that_are_no_numbers_are_named_by_place(rg, bad):
    x = rg.Value(1.0)
    kind = "None" if bad is None else type(bad).__name__
    for call in (
        lambda: rg.sum([x, 2.0, bad]),
        lambda: rg.dot([x, x, bad], [1.0, 1.0, 1.0]),
        lambda: rg.dot([1.0, 1.0, 1.0], [x, x, bad]),
        lambda: rg.norm([x, x, bad]),
    ):
        with pytest.raises(rg.errors.NumberError, match=f"item 2 is {kind}") as caught:
            call()
        assert "every item must be a value or a real number" in str(caught.value)


@pytest.mark.parametrize("bad", ["a", None, [1.0], 1j])
@pytest.mark.parametrize("name", ["mean", "logsumexp", "softmax"])
def test_items_of_composites_that_are_no_numbers_are_refused(rg, name, bad):
    with pytest.raises(TypeError):
        getattr(rg, name)([rg.Value(1.0), bad])


def test_lengths_of_a_dot_must_agree(rg):
    x = rg.Value(1.0)
    for left, right in (([x], [x, x]), ([], [x]), ([1.0, 2.0], [1.0])):
        text = f"dot: {len(left)} items on the left, {len(right)} on the right"
        with pytest.raises(rg.errors.ShapeError, match=text):
            rg.dot(left, right)


@pytest.mark.parametrize("name", [*COMPOSED, "softmax"])
def test_things_that_are_no_iterable_are_refused(rg, name):
    for thing in (3.0, None, rg.Value(1.0)):
        with pytest.raises(TypeError):
            getattr(rg, name)(thing)
    with pytest.raises(TypeError):
        rg.dot([1.0], 2.0)


def test_an_iterator_that_raises_passes_its_error_on(rg):
    def terms():
        yield rg.Value(1.0)
        raise LookupError("from the iterator")

    for name in [*COMPOSED, "softmax"]:
        with pytest.raises(LookupError, match="from the iterator"):
            getattr(rg, name)(terms())
    with pytest.raises(LookupError):
        rg.dot([1.0, 2.0], terms())
