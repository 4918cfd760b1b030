"""Loops that write, ``x[i + 1] = f(x[i])``: derivatives of both orders, stories and ledgers, in
time that grows as the loop does."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest


def chain(rg, first, n):
    x = rg.Tensor(np.zeros(n), requires_grad=False)
    x[0] = first
    for i in range(n - 1):
        x[i + 1] = (x[i] * 0.9).sin() if i % 2 else x[i] * 1.1 + first
    return x


def loss_of(rg, n):
    return lambda first: (chain(rg, first, n) ** 2).sum()


def plainly(rg, n):
    """The same on values."""

    def loss(first):
        x = first
        total = x * x
        for i in range(n - 1):
            x = (x * 0.9).sin() if i % 2 else x * 1.1 + first
            total = total + x * x
        return total

    return loss


def by_label(story):
    return {node.label: node.grad for node in story.nodes if node.label}


def test_both_derivatives_are_those_of_values(rg):
    loss, plain = loss_of(rg, 12), plainly(rg, 12)
    for order in (rg.grad, lambda f: rg.grad(rg.grad(f))):
        np.testing.assert_allclose(order(loss)(0.7), order(plain)(0.7), rtol=1e-13)


def test_the_story_tells_the_gradients_of_the_pass(rg):
    first = rg.Value(0.7, label="first")
    loss = loss_of(rg, 12)(first)
    story = rg.story(loss)
    loss.backward()
    assert by_label(story)["first"] == pytest.approx(abs(first.grad), rel=1e-14)
    assert sum(step.words.count("receives") > 0 for step in story.backward) == len(story.backward)
    assert "put_at" in story.text()


def test_the_ledger_adds_up_to_the_bits_of_the_gradient(rg):
    first = rg.Value(0.7, label="first")
    loss = loss_of(rg, 12)(first)
    ledger = rg.ledger(loss, first)
    loss.backward()
    assert ledger.gradient == first.grad
    assert ledger.routes == 7  # once written, and once in every other step


def test_ledgers_of_tensors_that_were_written_over(rg):
    start = rg.Tensor([1.0, 2.0, 3.0], label="start")
    x = start * 1.0
    total = x.sum() + x.max() * 10.0  # neither rule reads the numbers
    x[1] = x[0] * x[2]
    x[0] = 5.0
    loss = total + (x * x).sum()
    ledger = rg.ledger(loss, start, index=0)
    story = rg.story(loss)
    loss.backward()
    assert start.grad.tolist() == [1.0 + 2 * 3.0 * 3.0, 1.0, 1.0 + 10.0 + 2 * 3.0 + 2 * 3.0]
    assert ledger.gradient == start.grad[0]
    assert by_label(story)["start"] == pytest.approx(np.linalg.norm(start.grad))


def test_a_leaf_that_was_written_over_stands_in_its_ledger(rg):
    x = rg.Tensor([1.0, 2.0, 3.0], label="x")
    x[0] = 4.0
    x[1] = x[0] * 2.0
    loss = (x * x).sum()
    place = [v.op for v in rg.order(loss)].index("leaf")
    found = rg.ledger(loss, place)
    assert found.exact
    assert found.gradient.norm == 6.0  # 2 * 3 in the only place that was left alone


def test_rows_of_a_matrix_and_other_shapes(rg):
    def loss(w):
        x = rg.Tensor(np.zeros((4, 3)), requires_grad=False)
        x[0] = w
        for i in range(3):
            x[i + 1] = rg.exp(x[i] * 0.5) * w[i]
        x[:, 1] = 0.5
        return (x * x).sum()

    w = rg.Tensor([0.3, -0.2, 0.9], label="w")
    root = loss(w)
    story = rg.story(root)
    root.backward()
    assert by_label(story)["w"] == pytest.approx(np.linalg.norm(w.grad))
    assert rg.ledger(root, w).exact
    assert rg.gradcheck(loss, w.data)
    step = 1e-6
    slopes = [(rg.grad(loss)(w.data + e) - rg.grad(loss)(w.data - e)) / (2 * step)
              for e in step * np.eye(3)]  # fmt: skip
    np.testing.assert_allclose(rg.hessian(loss)(w.data), slopes, rtol=1e-6, atol=1e-8)


ROWS = {
    "one row": lambda rg, x: np.sin(x[0]).sum(),
    "two rows": lambda rg, x: np.sin(x[0]).sum() + np.cos(x[1]).sum(),
    "a row twice": lambda rg, x: np.sin(x[0]).sum() * np.cos(x[0]).sum(),
    "a row and the whole": lambda rg, x: np.sin(x[-1] * x).sum(),
    "a row put": lambda rg, x: np.sin(x.put(1, x[0] * 3.0)).sum(),
    "a row in rows": lambda rg, x: np.sin(x.put(slice(0, 2), x[2])).sum(),
    "rows of three axes": lambda rg, x: (x[None].put((0, 1), x[0] * x[1]) ** 3).sum(),
    "its own rows": lambda rg, x: sum(np.sin(row @ row) for row in x),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_second_derivatives_of_rows_that_are_read_and_written(rg, name):
    at = np.array([[0.3, -0.2], [0.9, 0.4], [-0.5, 0.7]])
    along = np.array([[1.0, 0.5], [0.25, -1.0], [0.75, 2.0]])
    slope = rg.grad(lambda x: ROWS[name](rg, x))
    step = 1e-6
    expected = (slope(at + step * along) - slope(at - step * along)) / (2 * step)
    x = rg.Tensor(at)
    (first,) = rg.gradients(ROWS[name](rg, x), [x])
    (second,) = rg.gradients((first * along).sum(), [x])
    np.testing.assert_allclose(second.data, expected, rtol=1e-7, atol=1e-8)
    nested = rg.grad(lambda x: (slope(x) * along).sum())(at)
    np.testing.assert_allclose(nested, second.data, rtol=1e-13, atol=1e-14)


def test_nothing_is_differentiated_where_a_place_has_no_numbers(rg):
    for at in (0, (1, -1)):
        slope = rg.grad(lambda x: np.sin(x[at]).sum() + rg.Value(1.0))(np.zeros((2, 3, 0)))  # noqa: B023
        assert slope.data.shape == (2, 3, 0)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_copies_of_such_loops_have_the_gradients(rg, copied):
    first, start = rg.Value(0.7), rg.Tensor(np.ones(3))
    x = start * 2.0
    row = x.sum()  # reads numbers that are then written over
    x[0] = first
    for i in range(2):
        x[i + 1] = (x[i] * first).sin()
    loop = chain(rg, first, 12)
    loss = (x * x).sum() + (loop**2).sum() + row
    again, *leaves = copied((loss, first, start))
    loss.backward()
    again.backward()
    assert again.data == loss.data
    assert leaves[0].grad == first.grad
    np.testing.assert_array_equal(leaves[1].grad, start.grad)
    told, copies = rg.story(loss), rg.story(again)
    assert [node.op for node in copies.nodes] == [node.op for node in told.nodes]
    assert not rg.births(again).forward


def test_a_copy_of_what_was_written_over_has_no_numbers(rg):
    x = rg.Tensor(np.ones(3))
    x[0] = rg.Value(2.0)
    (before, _), (copied, _) = x.inputs, copy.deepcopy(x).inputs
    for gone in (before, copied, pickle.loads(pickle.dumps(x)).inputs[0]):
        with pytest.raises(rg.errors.AliasError, match="were let go"):
            gone.data  # noqa: B018


def test_births_in_such_loops_are_found_where_they_are_made(rg):
    first = rg.Value(0.7, label="first")
    found = rg.births(loss_of(rg, 12)(first))
    assert not found.forward
    assert not found.backward
    x = rg.Tensor(np.ones(5), requires_grad=False)
    x[0] = first
    x[1] = (x[0] - 0.7).log()  # -inf
    x[2] = x[0] * 2.0
    assert [each.op for each in rg.births((x * x).sum()).forward] == ["log"]
    x = rg.Tensor(np.ones(5), requires_grad=False)
    x[0] = first
    x[2] = (x[0] - 0.7).sqrt()  # an infinite slope
    x[1] = x[0] * 2.0
    found = rg.births(x.sum())
    assert not found.forward
    assert [each.op for each in found.backward] == ["sqrt"]


def test_what_a_hessian_writes_is_told(rg):
    x = rg.Tensor([0.5, 2.0, 3.0], label="x")
    curvature = rg.hessian(lambda z: z[0] * z[1] * z[2] + z[0] ** 3)
    total = curvature(x).sum()
    assert total.data == 2 * (0.5 + 2.0 + 3.0) + 6 * 0.5
    assert by_label(rg.story(total))["x"] == pytest.approx(np.linalg.norm([8.0, 2.0, 2.0]))
    assert rg.ledger(total, x, index=0).gradient == 8.0
    assert not rg.births(total).forward
    told = rg.story(rg.compile(lambda x: curvature(x).sum())(x))
    assert by_label(told)["x"] == pytest.approx(np.linalg.norm([8.0, 2.0, 2.0]))


def test_numbers_that_were_written_are_there_when_nobody_held_them(rg):
    x = rg.Tensor([1.0, 2.0])
    x[0] = 5.0
    total = x.sum()
    del x
    assert total.inputs[0].data.tolist() == [5.0, 2.0]


def test_tensors_made_of_a_leaf_that_was_written_over(rg):
    x = rg.Tensor([1.0, 2.0, 3.0], label="x")
    doubled = x * 2.0
    total = doubled.sum()
    del doubled  # whose numbers came from those that go now
    x[0] = 5.0
    loss = total + (x * x).sum()
    for root in (loss, copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert rg.story(root).text()
        assert not rg.births(root).forward
        place = [v.op for v in rg.order(root)].index("leaf")
        assert rg.ledger(root, place).exact
        norm = rg.ledger(root, place).gradient.norm
        assert norm == pytest.approx(np.linalg.norm([2.0, 2.0 + 4.0, 2.0 + 6.0]))


VIEWS = {
    "a row": lambda x: x[0],
    "rows": lambda x: x[0:2],
    "every other row": lambda x: x[::2],
    "a column": lambda x: x[:, 0],
    "turned": lambda x: x.T,
    "another shape": lambda x: x.reshape(-1),
    "detached": lambda x: x.detach(),
}  # fmt: skip


@pytest.mark.parametrize("taken", VIEWS.values(), ids=VIEWS)
def test_views_keep_what_they_had(rg, taken):
    at = np.arange(6.0).reshape(3, 2)
    start = rg.Tensor(at)
    x = start * 2.0
    view, had = taken(x), np.array(taken(x).data)
    squares = (view * view).sum()
    x[0] = 100.0
    x[1, 0] = 50.0
    assert view.data.tolist() == had.tolist()
    assert x.data.tolist() == [[100.0, 100.0], [50.0, 6.0], [8.0, 10.0]]
    expected = rg.grad(lambda s: (taken(s * 2.0) ** 2).sum() + s.sum() * 0.0)(at)
    (squares + x.sum()).backward()
    untouched = np.array([[0.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    np.testing.assert_allclose(start.grad, expected + untouched, rtol=1e-14)


def recurrence(rg, w, n):
    h = rg.Tensor(np.ones((n, 2)), requires_grad=False)
    for i in range(n - 1):
        h[i + 1] = np.tanh(h[i] @ w) * h[i]
    return (h * h).sum()


def test_rows_whose_numbers_a_gradient_needs(rg):
    def apart(w):
        h = rg.Tensor(np.ones(2), requires_grad=False)
        total = (h * h).sum()
        for _ in range(4):
            h = np.tanh(h @ w) * h
            total = total + (h * h).sum()
        return total

    w = np.array([[0.3, -0.7], [0.9, 0.4]])
    for order in (rg.grad, rg.hessian):
        np.testing.assert_allclose(
            order(lambda w: recurrence(rg, w, 5))(w), order(apart)(w), rtol=1e-12, atol=1e-14
        )
    z = rg.Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]) * 1.0
    z[1] = z[0] * z[2]
    assert z.data.tolist() == [[1.0, 2.0], [5.0, 12.0], [5.0, 6.0]]


def test_a_write_under_no_grad_takes_no_gradient(rg):
    start = rg.Tensor([1.0, 2.0], label="start")
    x = start * 2.0
    total = x.sum()
    with rg.no_grad():
        x[0] = 5.0
    assert x.data.tolist() == [5.0, 4.0]
    assert (x.op, x.requires_grad, x.inputs) == ("leaf", False, ())
    assert rg.story(total).text()
    total.backward()
    assert start.grad.tolist() == [2.0, 2.0]
    with rg.no_grad():
        start[0] = 7.0
    assert start.requires_grad
    assert start.data.tolist() == [7.0, 2.0]


@pytest.mark.parametrize("shape", [(4, 3), (3,), (1,), (1, 3), (4, 1), (1, 1)])
def test_tensors_written_to_rows_are_spread(rg, shape):
    at = np.arange(np.prod(shape), dtype=float).reshape(shape[::-1])
    values = rg.Tensor(at, label="values")
    x = rg.Tensor(np.ones((2, 4, 3))) * 2.0
    x[1] = values.T  # whose numbers lie in another order
    expected = np.full((2, 4, 3), 2.0)
    expected[1] = at.T
    assert x.data.tolist() == expected.tolist()
    loss = (x * x).sum()
    loss.backward()
    np.testing.assert_allclose(values.grad, 2 * at * (12 / at.size))
    assert by_label(rg.story(loss))["values"] == pytest.approx(np.linalg.norm(values.grad))
    with pytest.raises(rg.errors.FitError):
        x[0] = rg.Tensor(np.ones((2, 3)))
    with pytest.raises(rg.errors.FitError):
        x[0] = rg.Tensor(np.ones((1, 4, 3)))


@pytest.mark.sweep
def test_a_hundred_thousand_writes(rg):
    n = 100_000
    first = rg.Value(0.7, label="first")
    loss = loss_of(rg, n)(first)
    loss.backward()
    assert by_label(rg.story(loss))["first"] == pytest.approx(abs(first.grad), rel=1e-12)
    assert rg.ledger(loss, first).gradient == first.grad
    second = rg.grad(rg.grad(loss_of(rg, n)))(0.7)
    assert second == pytest.approx(rg.grad(rg.grad(plainly(rg, n)))(0.7), rel=1e-9)


def test_what_is_written_to_keeps_its_label(rg):
    leaf, made = rg.Tensor(np.zeros(3), label="leaf"), rg.Tensor(np.zeros((2, 3))) * 2.0
    made.label = "made"
    leaf[0] = rg.Value(1.0)
    leaf[1:] = rg.Tensor([2.0, 3.0])
    assert leaf.label == "leaf"
    made[0] = leaf
    made[1, 2] = 4.0
    assert made.label == "made"
    assert (made + 0.0).label == ""
