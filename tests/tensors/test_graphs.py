"""Values and tensors in one graph, on both cores: one order, one backward pass, modes and hooks."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

M = np.array([[1.0, -2.0, 0.5], [3.0, 4.0, -1.0]])


def loss(rg: Any, x: Any, v: Any) -> Any:
    """Values, tensors, and values again."""
    return rg.log(1.0 + (np.tanh(x * v) @ x.T).sum() ** 2) * v


def test_a_mixed_graph_is_walked_once_in_order(rg: Any) -> None:
    x, v = rg.Tensor(M, label="x"), rg.Value(0.5, label="v")
    root = loss(rg, x, v)
    nodes = rg.order(root)
    assert [n.label or n.op for n in nodes[:3]] == ["x", "v", "mul"]
    assert {type(n).__name__ for n in nodes} == {"Tensor", "Value"}
    root.backward()
    first = x.grad.copy(), v.grad
    root.backward()
    assert np.array_equal(x.grad, 2 * first[0])
    assert v.grad == 2 * first[1]
    rg.assert_gradients(lambda x, v: loss(rg, x, v), (M, 0.5))


def test_leaves_have_gradients_and_others_keep_them_on_request(rg: Any) -> None:
    x = rg.Tensor(M)
    assert x.grad.shape == M.shape
    assert not x.grad.any()
    y = x * 2.0
    z = y * y
    with pytest.raises(rg.errors.LeafError, match=r"retain_grad\(\) before backward"):
        y.grad  # noqa: B018
    y.retain_grad()
    z.sum().backward()
    assert np.array_equal(y.grad, 4 * M)
    z.sum().backward()
    assert np.array_equal(y.grad, 4 * M)  # an interior gradient is this pass's alone
    assert np.array_equal(x.grad, 16 * M)
    x.grad = M
    assert np.array_equal(x.grad, M)
    x.grad = None
    assert not x.grad.any()
    with pytest.raises(rg.errors.TensorError, match="make them agree"):
        x.grad = np.zeros(3)


def test_data_and_grad_cannot_be_written(rg: Any) -> None:
    x = rg.Tensor(M)
    x.sum().backward()
    for array in (x.data, x.grad, (x * 2).data):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 7.0
    source = M.copy()
    y = rg.Tensor(source)
    source[0, 0] = 99.0
    assert y.data[0, 0] == M[0, 0]


def test_seeds(rg: Any) -> None:
    x = rg.Tensor(M)
    (x * x).backward(np.ones(M.shape))
    assert np.array_equal(x.grad, 2 * M)
    x.grad = None
    (x[:1, :1] * 3.0).backward()
    assert x.grad[0, 0] == 3.0
    x.grad = None
    rg.backward([x * 1.0, x.sum()], [M, 2.0])
    assert np.array_equal(x.grad, M + 2.0)
    with pytest.raises(rg.errors.TensorError, match=r"t\.sum\(\)\.backward\(\)"):
        (x * 2).backward()
    with pytest.raises(rg.errors.TensorError, match="the seed"):
        (x * 2).backward(np.ones(3))
    x.grad = None
    x.backward(M)
    assert np.array_equal(x.grad, M)


def test_a_leaf_receives_its_own_seed(rg: Any) -> None:
    x, v = rg.Tensor(M), rg.Value(2.0)
    x.backward(M)
    assert np.array_equal(x.grad, M)
    rg.backward([v, x], [3.0, M])
    assert np.array_equal(x.grad, 2 * M)
    assert v.grad == 3.0


def test_modes(rg: Any) -> None:
    x = rg.Tensor(M)
    with rg.no_grad():
        y = np.exp(x) @ x.T
        s = x.sum()
    assert (y.requires_grad, y.op, y.inputs) == (False, "leaf", ())
    assert (s.requires_grad, s.op) == (False, "leaf")
    with pytest.raises(rg.errors.NoGradientError):
        y.sum().backward()
    rg.freeze([x])
    assert (x * 2).op == "leaf"
    rg.unfreeze([x])
    d = (x * 2).detach()
    assert not d.requires_grad
    total = (d * x).sum()
    total.backward()
    assert np.array_equal(x.grad, 2 * M)
    w = rg.Tensor(M, requires_grad=False)
    (w * x).sum().backward()
    assert not w.grad.any()
    with pytest.raises(rg.errors.LeafError):
        (x * 2).requires_grad = False


def test_hooks_see_arrays_and_may_replace_them(rg: Any) -> None:
    x = rg.Tensor(M)
    y = x * 3.0
    seen = []
    handle = y.register_hook(lambda g: seen.append(g.copy()))
    double = x.register_hook(lambda g: 2 * g)
    y.sum().backward()
    assert np.array_equal(seen[0], np.ones(M.shape))
    assert np.array_equal(x.grad, np.full(M.shape, 6.0))
    handle.remove()
    double.remove()
    y.sum().backward()
    assert len(seen) == 1
    for wrong in (np.zeros(3), "text", 1.0):
        x.grad = None
        handle = y.register_hook(lambda g, wrong=wrong: wrong)
        with pytest.raises(rg.errors.HookError, match="an array of its shape"):
            y.sum().backward()
        handle.remove()
        assert not x.grad.any()


def test_a_failure_leaves_every_gradient_as_it_was(rg: Any) -> None:
    x, v = rg.Tensor(M), rg.Value(2.0)
    root = (np.exp(x) * v).sum() * v
    root.backward()
    kept = x.grad.copy(), v.grad

    def fail(total: Any) -> None:
        raise RuntimeError("no")

    with v.register_hook(fail), pytest.raises(RuntimeError, match="no"):
        root.backward()
    with x.register_hook(fail), pytest.raises(RuntimeError, match="no"):
        root.backward()
    assert np.array_equal(x.grad, kept[0])
    assert v.grad == kept[1]


def test_anomaly_names_the_index_and_the_line(rg: Any) -> None:
    x = rg.Tensor([[1.0, 0.0], [2.0, 3.0]], label="x")
    with rg.anomaly():
        with pytest.raises(rg.errors.AnomalyError) as caught:
            np.log(x)
        text = str(caught.value)
        assert "log produced -inf at [0, 1] in the forward pass" in text
        assert "'x' of shape (2, 2), at [0, 1] = 0.0" in text
        assert "test_graphs.py" in text
        with pytest.raises(rg.errors.AnomalyError, match=r"a leaf was made with nan at \[1\]"):
            rg.Tensor([1.0, np.nan])
        root = np.sqrt(x).sum()
        with pytest.raises(rg.errors.AnomalyError) as caught:
            root.backward()
        text = str(caught.value)
        assert "sqrt made the gradient of 'x' of shape (2, 2) non-finite at [0, 1]" in text
        assert "its slope here is infinite" in text
        assert not x.grad.any()
        masked = rg.where(np.array([True, False]), x, -np.inf)  # an infinity that is meant
        np.exp(masked)


def test_changed_data_is_noticed_before_anything_happens(rg: Any) -> None:
    x, v = rg.Tensor(M, label="x"), rg.Value(3.0)
    square, linear = (x * x).sum(), (x * v).sum()
    before = rg.gradients(square, x)
    rg.assign(x, M + 1.0)
    assert np.array_equal(x.data, M + 1.0)
    with pytest.raises(rg.errors.StaleGraph, match="computed from 'x' of shape"):
        (square + x.sum()).backward()
    assert not x.grad.any()
    linear_in_x = (x * 2.0).sum()
    rg.assign(x, M)
    linear_in_x.backward()  # reads nothing that was changed
    assert np.array_equal(x.grad, np.full(M.shape, 2.0))
    with pytest.raises(rg.errors.StaleGraph):
        rg.gradients(linear, v)
    assert np.array_equal(before.data, 2 * M)


def test_functional_transforms_touch_no_grad(rg: Any) -> None:
    w = rg.Tensor(M)
    w.sum().backward()
    kept = w.grad.copy()
    found = rg.grad(lambda q: (np.sin(q) * w).sum())(M)
    assert isinstance(found, rg.Tensor)  # it depends on w
    assert found.data == pytest.approx(np.cos(M) * M)
    again = rg.gradients(found.sum(), w)
    assert again.data == pytest.approx(np.cos(M))
    assert np.array_equal(w.grad, kept)


def test_closures_and_customs_of_values_stand_beside_tensors(rg: Any) -> None:
    x, v = rg.Tensor(M), rg.Value(2.0)
    s = (x * v).sum()
    out = rg.Value(s.data**2, (s,), "squared")

    def backward() -> None:
        s.grad += 2 * s.data * out.grad

    out._backward = backward
    (out + x.mean()).backward()
    assert x.grad == pytest.approx(2 * s.data * 2.0 + 1 / 6)
    assert v.grad == pytest.approx(2 * s.data * M.sum())


def test_copies_and_pickles_keep_sharing_and_gradients(rg: Any) -> None:
    x, v = rg.Tensor(M, label="x"), rg.Value(0.5, label="v")
    root = loss(rg, x, v) + rg.stack([v, v * 2]).max() + x[0, 1]
    root.backward()
    for copied in (copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))):
        y, w, again = copied([x, v, root])
        assert (again.data, y.label, w.grad) == (root.data, "x", v.grad)
        assert np.array_equal(y.grad, x.grad)
        y.grad, w.grad = None, 0.0
        again.backward()
        assert y.grad == pytest.approx(x.grad, rel=1e-13)
        assert w.grad == pytest.approx(v.grad, rel=1e-13)
    shallow = copy.copy(x * 2)
    shallow.sum().backward()
    assert x.grad[0, 0] != y.grad[0, 0]


def test_deep_graphs_need_no_stack(rg: Any) -> None:
    x = rg.Tensor(np.ones(2))
    z = x
    for _ in range(3_000):
        z = z + x
    z.sum().backward()
    assert x.grad.tolist() == [3001.0, 3001.0]
    pickle.loads(pickle.dumps(z))
    copy.deepcopy(z)
    del z


def test_many_parts_make_one_tensor(rg: Any) -> None:
    values = [rg.Value(float(n)) for n in range(1100)]
    made = rg.stack(values)
    assert made.data.tolist() == [float(n) for n in range(1100)]
    (made * made).sum().backward()
    assert [v.grad for v in values[::500]] == [0.0, 1000.0, 2000.0]
    rows = rg.concatenate([rg.Tensor(np.full((2, 3), float(n))) for n in range(70)], axis=1)
    assert rows.shape == (2, 210)
    assert rows.data[1, -1] == 69.0
    assert rg.stack([rg.Tensor(np.ones(2))] * 40, axis=1).shape == (2, 40)


def test_sites_are_the_callers_lines(rg: Any) -> None:
    x = rg.Tensor(M)
    made = [x * 2, 2 - x, x @ x.T, np.exp(x), x.sum(), x[0], x.T, rg.stack([x, x]), x**3,
            rg.softmax(x), rg.cross_entropy(x, [0, 1]), np.concatenate([x, x])]  # fmt: skip
    for node in made:
        assert "test_sites_are_the_callers_lines" in str(node.site), node.op


def test_assignment_in_place(rg: Any) -> None:
    v = rg.Value(2.0)
    x = rg.Tensor(np.zeros(4))
    x[0] = v
    for i in range(3):
        x[i + 1] = x[i] * v
    assert x.data.tolist() == [2.0, 4.0, 8.0, 16.0]
    x.sum().backward()
    assert v.grad == pytest.approx(1 + 4 + 12 + 32)
    m = rg.Tensor(np.zeros((2, 3)), requires_grad=False)
    m[:, 1] = v
    m[1] = [1.0, 2.0, 3.0]
    assert m.data.tolist() == [[0.0, 2.0, 0.0], [1.0, 2.0, 3.0]]
    u = x
    u[0] = 5.0
    assert x.data[0] == 5.0  # u is x, as everywhere in Python


def test_assignment_is_refused_where_others_hold_the_numbers(rg: Any) -> None:
    x = rg.Tensor([1.0, 2.0])
    square = x * x
    with pytest.raises(rg.errors.AliasError, match=r"Write t = t\.put\(i, v\)"):
        x[0] = 3.0
    assert x.data.tolist() == [1.0, 2.0]
    square.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    del square
    array = x.data
    with pytest.raises(rg.errors.AliasError):
        x[0] = 3.0
    assert array.tolist() == [1.0, 2.0]
    y = x.copy()
    y[0] = 3.0
    assert x.data.tolist() == [1.0, 2.0]
    with pytest.raises(rg.errors.AliasError, match="assigned into its argument"):
        rg.grad(lambda q: (q.__setitem__(0, 1.0), q.sum())[1])(np.ones(2))


def test_custom_ops(rg: Any) -> None:
    @rg.custom_op
    def cube(x: Any) -> Any:
        return x**3

    @cube.vjp
    def _(upstream: Any, x: Any) -> Any:
        return upstream * 3 * x**2

    @rg.custom_op
    def times(x: Any, y: Any) -> Any:
        return x * y, (y, x)

    x = rg.Tensor(M)
    (cube(x) * 2).sum().backward()
    assert x.grad == pytest.approx(6 * M**2)
    assert rg.hessian(lambda q: cube(q).sum())(np.array([1.0, 2.0])).tolist() == [[6, 0], [0, 12]]
    assert rg.jvp(cube, (np.array([1.0, 2.0]),), (np.ones(2),))[1].tolist() == [3.0, 12.0]
    a, b = rg.Tensor(np.ones((2, 1))), rg.Tensor([1.0, 2.0, 3.0])
    times(a, b).sum().backward()
    assert a.grad.tolist() == [[6.0], [6.0]]
    assert b.grad.tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(rg.errors.NotTwiceDifferentiable):
        rg.hessian(lambda q: times(q, q).sum())(np.ones(2))

    @rg.custom_op
    def wrong(x: Any) -> Any:
        return x * 2

    @wrong.vjp
    def _(upstream: Any, x: Any) -> Any:
        return np.zeros(7)

    with pytest.raises(rg.errors.CustomOpError, match=r"shape \(7,\) for an operand"):
        wrong(rg.Tensor(M)).sum().backward()


def test_nests_of_tensors(rg: Any) -> None:
    w, b, s = rg.Tensor(M), rg.Tensor([1.0, 2.0]), rg.Value(3.0)
    ((w @ np.ones(3) + b) * s).sum().backward()
    assert [part.shape for part in rg.data([w, b])] == [(2, 3), (2,)]
    assert rg.grads({"b": b, "s": s})["b"].tolist() == [3.0, 3.0]
    rg.assign({"w": w, "rest": [b, s]}, {"w": 2 * M, "rest": [[5.0, 6.0], 7.0]})
    assert (b.data.tolist(), s.data) == ([5.0, 6.0], 7.0)
    for wrong in ([np.zeros(2), [5.0, 6.0]], [M], [M, "text"]):
        with pytest.raises((rg.errors.ShapeError, rg.errors.TensorError)):
            rg.assign([w, b], wrong)
    assert np.array_equal(w.data, 2 * M)
    rg.zero_grad([w, b, s])
    assert not w.grad.any()
    assert s.grad == 0.0
    (w * w).sum().zero_grad()


def test_births_name_the_first_bad_index(rg: Any) -> None:
    x = rg.Tensor([[1.0, 0.0], [2.0, 3.0]], label="x")
    found = rg.births((np.log(x) * 0.5).sum())
    assert [(each.op, each.index, each.result) for each in found.forward] == [
        ("log", (0, 1), -np.inf)
    ]
    assert (found.values, found.roots_are_finite) == (3, False)
    slopes = rg.births(np.sqrt(x).sum() * 2.0)
    assert not slopes.forward
    (birth,) = slopes.backward
    assert (birth.op, birth.index, birth.partial) == ("sqrt", (0, 1), np.inf)
    assert "rg.sqrt(x + 1e-12)" in str(birth)
    assert "route to the root: sum" in str(birth)
    assert not rg.births((x * x).sum())
    with pytest.raises(rg.errors.AnomalyError, match=r"-inf at \[0, 1\]"):
        rg.births(np.log(x).sum(), raising=True)
    assert not x.grad.any()
