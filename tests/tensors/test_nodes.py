"""Nodes of tensors on both cores: every row, random graphs of values and tensors, failures."""

from __future__ import annotations

import gc
import random
import sys
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from retrograde.ops.array import ARRAYS
from retrograde.ops.arrays.row import Composed

STATED = sorted(name for name, row in ARRAYS.items() if not isinstance(row, Composed))


def operands_of(name: str, rng: Any) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
    """Numbers for a row's example, its whole numbers and its arguments."""
    row = ARRAYS[name]
    arguments, named = dict(row.example.arguments), getattr(row, "wholes", ())
    wholes = {
        key: rng.integers(0, 3, shape) for key, shape in row.example.shapes.items() if key in named
    }
    if name in ("index", "add_at"):
        arguments["key"] = (rng.integers(0, 3, (4,)),)
    if name == "put":
        wholes = {"w": np.array([-1, 2, -1, 0, 1])}
    if name == "put_at":
        wholes = {"n1": np.array(2)}
    arrays = []
    for shape in (shape for key, shape in row.example.shapes.items() if key not in wholes):
        array = rng.uniform(0.3, 0.9, shape)
        if name in ("cholesky", "solve", "lu") and len(arrays) == 0:
            array = array @ np.swapaxes(array, -1, -2) + 2.0 * np.eye(shape[-1])
        arrays.append(array)
    return arrays, wholes, arguments


def doing(rg: Any) -> Any:
    """The copy of the package's own way to carry rows out."""
    return import_module(f"{rg.__name__}._tensors.doing").do


def result_and_gradients(rg: Any, name: str) -> list[Any]:
    arrays, wholes, arguments = operands_of(name, np.random.default_rng(3))
    tensors = [rg.Tensor(array) for array in arrays]
    do = doing(rg)
    if name == "index":
        made = do.index(*tensors, arguments["key"])
    elif name == "add_at":
        made = do.add_at(tensors[0], arguments["key"], tensors[1])
    else:
        made = do(name, *tensors, **wholes, **arguments)
    weights = np.random.default_rng(4).standard_normal(np.shape(made.data))
    if np.ndim(made.data):
        made.backward(weights)
    else:
        made.backward(float(weights))
    return [made.data, *(tensor.grad for tensor in tensors)]


@pytest.mark.parametrize("name", STATED)
def test_every_row_is_the_same_on_both_cores(native: Any, reference: Any, name: str) -> None:
    try:
        wanted = result_and_gradients(reference, name)
    except reference.errors.NotDifferentiable:
        with pytest.raises(native.errors.NotDifferentiable):
            result_and_gradients(native, name)
        return
    for ours, theirs in zip(result_and_gradients(native, name), wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


# ---- random graphs ------------------------------------------------------------------------------

SHAPES = [(3,), (2, 3), (1, 3), (2, 1), (4, 2, 3), (0, 3)]
BINARY = ["add", "sub", "mul", "maximum", "atan2", "hypot"]
UNARY = ["exp", "tanh", "sin", "relu", "neg", "square", "sigmoid"]


def grown(rg: Any, seed: int, steps: int = 25) -> tuple[list[Any], list[Any]]:
    """Leaves and what a random program makes of them; the same on both cores."""
    choose = random.Random(seed)
    rng = np.random.default_rng(seed)
    do = doing(rg)
    leaves: list[Any] = [rg.Value(float(rng.standard_normal())) for _ in range(2)]
    leaves += [rg.Tensor(rng.standard_normal(shape)) for shape in choose.sample(SHAPES, 4)]
    made = list(leaves)
    for _ in range(steps):
        kind = choose.randrange(6)
        x, y = choose.choice(made), choose.choice(made)
        try:
            if kind == 0:
                new = do(choose.choice(UNARY), x) if np.ndim(x.data) else x.tanh()
            elif kind <= 2:
                new = do(choose.choice(BINARY), x, y)
            elif kind == 3 and np.ndim(x.data):
                new = x.sum(axis=choose.choice([None, 0, -1]), keepdims=choose.random() < 0.5)
            elif kind == 4 and np.ndim(x.data):
                new = choose.choice([x.T, x.reshape(-1), x[..., :1], x[::-1]])
            elif kind == 5 and np.ndim(x.data) > 1:
                new = x @ np.ones((x.shape[-1], 2))
            else:
                new = x * 0.5
        except rg.errors.RetrogradeError:
            continue
        if np.ndim(new.data) <= 4 and np.size(new.data) < 500:
            made.append(new)
    return leaves, made


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_of_values_and_tensors(native: Any, reference: Any, seed: int) -> None:
    found = []
    for rg in (native, reference):
        leaves, made = grown(rg, seed)
        roots = [it for it in made if it.requires_grad][-3:]
        for root in roots:
            root.backward(np.ones(root.shape) if root.ndim else 1.0)
        found.append([made[-1].data, *(leaf.grad for leaf in leaves)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)


def test_the_same_graph_gives_the_same_bits_again(native: Any) -> None:
    first, second = ([leaf.grad for leaf in _after(native, 7)] for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True)


def _after(rg: Any, seed: int) -> list[Any]:
    leaves, made = grown(rg, seed)
    made[-1].backward(np.ones(made[-1].shape) if made[-1].ndim else 1.0)
    return leaves


# ---- passes that fail ----------------------------------------------------------------------------


def mixed(rg: Any) -> tuple[list[Any], Any]:
    """Leaves of both kinds with gradients from before, and a root over them."""
    v, w = rg.Value(2.0), rg.Tensor([[1.0, -2.0], [0.5, 3.0]])
    t = rg.Tensor([0.3, 0.7])
    (v * v + (w * t).sum()).backward()
    root = ((w @ t * v).tanh().sum() + w[1, 0] * v).exp()
    return [v, w, t], root


def state(leaves: list[Any]) -> list[Any]:
    return [np.array(leaf.grad) for leaf in leaves]


def test_memory_that_runs_out_changes_nothing(native: Any) -> None:
    from retrograde.value import native_core

    leaves, root = mixed(native)
    before = state(leaves)
    failures = 0
    for count in range(60):
        native_core.inject_allocation_failure(count)
        try:
            root.backward()
        except MemoryError:
            failures += 1
            for old, new in zip(before, state(leaves), strict=True):
                assert np.array_equal(old, new)
            continue
        finally:
            native_core.inject_allocation_failure(-1)
        break
    assert failures > 3
    fresh, again = mixed(native)
    again.backward()
    for ours, wanted in zip(state(leaves), state(fresh), strict=True):
        np.testing.assert_array_equal(ours, wanted)


def test_making_nodes_without_memory_leaves_nothing_behind(native: Any) -> None:
    from retrograde.value import native_core

    x, v = native.Tensor(np.ones((2, 3))), native.Value(2.0)
    forms = [
        lambda: x * v, lambda: x @ np.ones((3, 2)), lambda: x.sum(), lambda: x[1],
        lambda: x[1, 2], lambda: x.T, lambda: x.reshape(6), lambda: x.max(axis=1),
        lambda: x.detach(), lambda: x + x[0],
    ]  # fmt: skip
    for form in forms:
        form()
        for count in range(12):
            native_core.inject_allocation_failure(count)
            try:
                form()
            except MemoryError:
                continue
            finally:
                native_core.inject_allocation_failure(-1)
        form()


def test_a_failing_hook_changes_nothing(rg: Any) -> None:
    leaves, root = mixed(rg)
    before = state(leaves)
    _v, w, _t = leaves

    def fail(total: Any) -> None:
        raise ValueError("no")

    with w.register_hook(fail), pytest.raises(ValueError, match="no"):
        root.backward()
    for old, new in zip(before, state(leaves), strict=True):
        assert np.array_equal(old, new)


def test_a_hook_may_go_backward_itself(rg: Any) -> None:
    x = rg.Tensor([1.0, 2.0])
    y = x * 3.0
    seen = []

    def again(total: Any) -> None:
        if not seen:
            seen.append(np.array(total))
            (y * 2.0).sum().backward()

    y.register_hook(again)
    y.sum().backward()
    assert x.grad.tolist() == [9.0, 9.0]
    assert seen[0].tolist() == [1.0, 1.0]


def test_hooks_replace_gradients_of_tensors(rg: Any) -> None:
    x = rg.Tensor([1.0, 2.0])
    y = x * 3.0
    y.register_hook(lambda total: total * 10.0)
    x.register_hook(lambda total: total + 1.0)
    y.sum().backward()
    assert x.grad.tolist() == [31.0, 31.0]


def test_closures_among_tensors(rg: Any) -> None:
    x = rg.Tensor([1.0, 2.0, 3.0])
    total = x.sum()
    out = rg.Value(total.data * 4.0, (total,), "four")

    def rule() -> None:
        total.grad += 4.0 * out.grad

    out._backward = rule
    (out * x).sum().backward()
    assert x.grad.tolist() == [24.0 + 24.0] * 3


def test_a_value_made_from_tensors_contributes_in_a_pass_only(native: Any) -> None:
    total = native.Tensor([1.0, 2.0]).sum()
    with pytest.raises(native.errors.ClosureStyleError, match="made from tensors"):
        total._backward()


def test_a_survey_of_values_refuses_tensors(native: Any) -> None:
    from retrograde.value import native_core

    x = native.Value(2.0)
    root = (native.Tensor([1.0, 2.0]) * x).sum()
    with pytest.raises(native.errors.TensorError, match="a survey looks at values"):
        native_core.survey((root,), (1.0,), (x,), bytes(256), bytes(2048))


# ---- data that is let go ------------------------------------------------------------------------


def test_data_that_nobody_reads_is_let_go_and_comes_back(native: Any) -> None:
    x = native.Tensor(np.arange(1e5))
    y = (x * 2.0 + 1.0) * 3.0  # none of these rules reads a result
    held = sys.getsizeof(y.inputs[0])
    assert held < 1000
    assert np.array_equal(y.inputs[0].data, x.data * 2.0 + 1.0)
    assert np.array_equal(y.inputs[0].inputs[0].data, x.data * 2.0)


def test_a_long_chain_is_made_walked_and_freed(native: Any) -> None:
    x = native.Tensor([1.0, 1.0])
    y = x
    for _ in range(10**6):
        y = y + x
    y.sum().backward()
    assert x.grad.tolist() == [10**6 + 1] * 2
    del y
    gc.collect()


def test_views_see_nothing_of_later_writes(rg: Any) -> None:
    x = rg.Tensor(np.arange(6.0).reshape(2, 3), requires_grad=False)
    rows, array = x.T, x.data
    _core(rg).write_tensor(x, np.zeros((2, 3)))
    assert rows.data.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert array.sum() == 15.0
    assert not x.data.any()


def _core(rg: Any) -> Any:
    return import_module(f"{rg.__name__}.value").core
