"""Functions on tensors in files: what is loaded computes what was saved, and nothing else loads."""

from __future__ import annotations

import pickle
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from retrograde.ops.array import ARRAYS

from .shaped_programs import Drawn
from .test_shaped_rows import _do, _given

X = np.random.default_rng(2).standard_normal((6, 3))


def _function(rg: ModuleType, w: Any) -> Any:
    def f(x: Any, t: Any = 2.0) -> Any:
        h = rg.tanh(x @ w) * t
        return (h * h).sum() if h.sum() > 0.0 else h.max()

    f.__annotations__ = {"x": rg.Tensor}
    return rg.compile(f)


def _again(rg: ModuleType, compiled: Any, folder: Path) -> Any:
    compiled.save(folder / "f.rgp")
    return rg.load(folder / "f.rgp")


@pytest.mark.parametrize("seed", range(12))
def test_a_random_function_has_the_same_bits_from_a_file(
    rg: ModuleType, seed: int, tmp_path: Path
) -> None:
    drawn = Drawn(rg, seed)
    compiled = rg.compile(drawn.function())
    given = (drawn.x, drawn.y, drawn.n, drawn.t)
    value, gradients = compiled.value_and_grad(*given)
    loaded = _again(rg, compiled, tmp_path)
    other, found = loaded.value_and_grad(*given)
    assert other == value == loaded(*given)
    for one, two in zip(gradients, found):
        assert np.array_equal(one, two)
    for name, leaf in (("w", drawn.w), ("v", drawn.v)):
        leaf.zero_grad()
        if name in loaded.parameters:
            loaded.parameters[name].zero_grad()
    assert compiled.backward(*given) == loaded.backward(*given)
    for name, leaf in (("w", drawn.w), ("v", drawn.v)):
        if name in loaded.parameters:
            assert np.array_equal(loaded.parameters[name].grad, leaf.grad)


@pytest.mark.parametrize("name", list(ARRAYS))
def test_every_row_of_the_law_goes_through_a_file(
    rg: ModuleType, name: str, tmp_path: Path
) -> None:
    do = _do(rg)
    operands, wholes, arguments = _given(name)
    if set(wholes) - set(ARRAYS[name].wholes) or name in ("put", "add_at", "put_at", "index"):
        pytest.skip("through the methods of tensors")

    def f(xs: list[rg.Tensor]) -> Any:  # type: ignore[name-defined]
        return do(name, *xs, **wholes, **arguments)

    f.__annotations__["xs"] = list[rg.Tensor]
    compiled = rg.compile(f)
    wanted = compiled(operands)
    found = _again(rg, compiled, tmp_path)(operands)
    parts = wanted if isinstance(wanted, list) else [wanted]
    others = found if isinstance(found, list) else [found]
    for one, two in zip(parts, others, strict=True):
        assert np.array_equal(one, two)


def test_places_go_through_a_file(rg: ModuleType, tmp_path: Path) -> None:
    def f(x: Any, n: Any) -> Any:
        a = x.put((slice(1, 3), [0, 2]), 5.0).put(0, 1.0)
        b = a.add_at([0, 0, 1], 2.0)
        return [b[n], b[..., ::-1], b[b.shape[0] - 1, 1], b[np.array([True, False, True, True])]]

    f.__annotations__ = {"x": rg.Tensor, "n": np.ndarray}
    compiled = rg.compile(f)
    x, n = np.arange(12.0).reshape(4, 3), np.array([3, -1])
    for one, two in zip(compiled(x, n), _again(rg, compiled, tmp_path)(x, n), strict=True):
        assert np.array_equal(one, two)


def test_what_was_not_recorded_is_refused(rg: ModuleType, tmp_path: Path) -> None:
    w = rg.Tensor(np.ones((3, 2)), label="w")
    compiled = _function(rg, w)
    compiled(np.ones(3))
    loaded = _again(rg, compiled, tmp_path)
    assert loaded(np.ones(3)) == compiled(np.ones(3))
    assert loaded.jacobian(np.ones(3), wrt="x").shape == (3,)
    with pytest.raises(rg.errors.GuardError, match="the condition was false"):
        loaded(-np.ones(3))
    with pytest.raises(rg.errors.CompileError, match=r"x: tensor of shape \(4, 3\)"):
        loaded(np.ones((4, 3)))
    with pytest.raises(rg.errors.GuardError, match="the condition was false"):
        _function_of_rows(rg, tmp_path)(rg.rows(-np.ones((2, 3))))
    assert "tanh" in loaded.explain()
    assert "on tensors" in repr(loaded)


def _function_of_rows(rg: ModuleType, folder: Path) -> Any:
    compiled = _function(rg, rg.Tensor(np.ones((3, 2))))
    compiled(rg.rows(np.ones((2, 3))))
    return _again(rg, compiled, folder)


def test_rows_through_a_file(rg: ModuleType, tmp_path: Path) -> None:
    w = rg.Tensor(np.linspace(-1.0, 1.0, 6).reshape(3, 2), label="w")
    compiled = _function(rg, w)
    wanted = compiled.value_and_grad(rg.rows(X), 0.5)
    loaded = _again(rg, compiled, tmp_path)
    found = loaded.value_and_grad(rg.rows(X), 0.5)
    assert np.array_equal(wanted[0], found[0])
    assert np.array_equal(wanted[1][0], found[1][0])
    assert np.array_equal(loaded(rg.rows(X[:2]), 0.5), compiled(rg.rows(X[:2]), 0.5))


def test_parameters_are_tensors(rg: ModuleType, tmp_path: Path) -> None:
    w = rg.Tensor(np.ones((3, 2)))
    compiled = _function(rg, w)
    compiled(np.ones(3))
    loaded = _again(rg, compiled, tmp_path)
    assert list(loaded.parameters) == ["w"]
    loaded.set_parameters({"w": 0.5 * np.ones((3, 2))})
    rg.assign(w, 0.5 * np.ones((3, 2)))
    assert loaded(np.ones(3)) == compiled(np.ones(3))
    with pytest.raises(rg.errors.CompileError, match="there is no parameter 'v'"):
        loaded.set_parameters({"v": 1.0})
    with pytest.raises(rg.errors.CompileError, match="shape"):
        loaded.set_parameters({"w": np.ones(3)})
    again = _again(rg, loaded, tmp_path)
    assert again(np.ones(3)) == compiled(np.ones(3))


def test_pickles(rg: ModuleType) -> None:
    if rg.__name__ != "retrograde":
        pytest.skip("pickles go by the name of the package")
    compiled = _function(rg, rg.Tensor(np.ones((3, 2))))
    compiled(np.ones(3))
    again = pickle.loads(pickle.dumps(compiled))
    assert again(np.ones(3)) == compiled(np.ones(3))


def test_nothing_recorded_is_nothing_to_save(rg: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(rg.errors.ProgramFileError, match="Call it first"):
        _function(rg, rg.Tensor(np.ones((3, 2)))).save(tmp_path / "f.rgp")


@pytest.mark.parametrize("block", range(4))
def test_mutated_files_are_refused_or_right(block: int) -> None:
    from . import tensor_mutations

    found = set()
    for case in range(150 * block, 150 * block + 150):
        how, data = tensor_mutations.mutated(case)
        found.add(tensor_mutations.verdict(case, how, data))
    assert found <= {"refused", "right", "nothing to ask", "of values"}
    assert "refused" in found
