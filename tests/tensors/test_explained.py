"""Stories and ledgers of graphs with tensors: on both cores, every row of the law, to the bits."""

from __future__ import annotations

import zlib
from math import fsum
from typing import Any

import numpy as np
import pytest

from ..law.array_cases import ALL, Case
from .test_rows import Face, leaf

MOST_PLACES = 2


def bits(number: float) -> bytes:
    return np.float64(number).tobytes()


def loss_of(rg: Any, case: Case) -> tuple[Any, list[Any]]:
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    ours = [leaf(rg, array) for array in case.arrays]
    z = case.by(Face(rg), ours)
    weight = rng.standard_normal(z.shape)
    top = rg.sum(rg.tanh(z * 0.5) * weight) if z.ndim else rg.tanh(z * 0.5) * float(weight)
    return top, ours


@pytest.mark.bank(every=6, native=2)
@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_the_products_of_any_number_add_up_to_its_bits(rg: Any, case: Case) -> None:
    top, ours = loss_of(rg, case)
    if not top.requires_grad:
        return
    top.backward()
    rng = np.random.default_rng(5)
    for x in ours:
        if x.ndim == 0 or x.size == 0:
            continue
        by_use = rg.ledger(top, x) if reached(rg, top, x) else None
        if by_use is None:
            continue
        assert by_use.exact
        for flat in rng.choice(x.size, min(MOST_PLACES, x.size), replace=False).tolist():
            at = tuple(int(n) for n in np.unravel_index(flat, x.shape))
            account = rg.ledger(top, x, index=at, most=10**9)
            assert bits(account.gradient) == bits(x.grad[at])
            parts = [entry.amount for entry in account.entries]
            assert bits(fsum(parts) + 0.0) == bits(account.gradient + 0.0)
            rounding = [e.amount for e in account.entries if e.name == "rounding"]
            added = fsum(map(abs, parts))
            assert all(abs(r) <= 1e-14 * added for r in rounding), "rounding explains too much"


def reached(rg: Any, top: Any, x: Any) -> bool:
    return any(v is x for v in rg.order(top))


@pytest.mark.bank(every=6, native=2)
@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_stories_of_rows_have_the_engines_gradients(rg: Any, case: Case) -> None:
    top, ours = loss_of(rg, case)
    if not top.requires_grad:
        return
    top.backward()
    story = rg.story(top)
    assert all(step.words for step in story.backward)
    for x in ours:
        if reached(rg, top, x):
            norm = np.linalg.norm(np.ravel(x.grad))
            assert story.pulled.grads[story.find(x)] == pytest.approx(norm, rel=1e-12, abs=1e-300)
    assert type(story).from_json(story.to_json()) == story
    assert "BACKWARD" in story.text(80)


def network(rg: Any) -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, 4))
    W = rg.Tensor(rng.normal(size=(4, 8)) * 0.5, label="W")
    b = rg.Tensor(np.zeros(8), label="b")
    V = rg.Tensor(rng.normal(size=(8, 3)), label="V")
    scale = rg.Value(0.7, label="scale")
    h = np.tanh(X @ W * scale + b)
    loss = rg.cross_entropy(h @ V, [0, 1, 2, 0, 1, 2]) + 0.01 * (W * W).sum()
    return loss, {"W": W, "b": b, "V": V, "scale": scale, "h": h}


def test_a_number_is_itemised_by_sample(rg: Any) -> None:
    loss, parts = network(rg)
    account = rg.ledger(loss, parts["V"], index=(1, 2))
    assert account.routes == 6
    assert {entry.name for entry in account.entries} <= {
        *(f"h[{row}, 1]" for row in range(6)), "rounding",
    }  # fmt: skip
    for entry in account.entries:
        assert entry.amount == pytest.approx(entry.partial * entry.upstream, rel=1e-15)
    assert account.name == "V[1, 2]"
    few = rg.ledger(loss, parts["V"], index=(1, 2), most=2)
    assert [entry.name for entry in few.entries][2] == "4 weaker ones"
    assert "from h[" in account.text()


def test_a_value_under_tensors_is_itemised_by_product(rg: Any) -> None:
    loss, parts = network(rg)
    account = rg.ledger(loss, parts["scale"])
    loss.backward()
    assert account.gradient == parts["scale"].grad
    assert account.routes == 48
    assert fsum(entry.amount for entry in account.entries) == account.gradient


def test_routes_through_chosen_tensors_add_up(rg: Any) -> None:
    loss, parts = network(rg)
    account = rg.ledger(loss, parts["W"], through=[parts["h"]])
    assert {use.group for use in account.uses} == {"h", "none of these"}
    assert sum(use.share for use in account.uses) == pytest.approx(1.0)
    assert rg.ledger(loss, "W", through=["h"]) == account


def test_explaining_changes_nothing(rg: Any) -> None:
    loss, parts = network(rg)
    loss.backward()
    before = {name: np.array(v.grad) for name, v in parts.items() if name != "h"}
    with rg.no_grad():
        rg.story(loss)
        rg.ledger(loss, parts["W"])
        rg.ledger(loss, parts["W"], index=(0, 0))
        rg.memory(loss)
        rg.thermometer(loss)
    after = {name: np.array(v.grad) for name, v in parts.items() if name != "h"}
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_what_is_not_finite_is_told(rg: Any) -> None:
    x = rg.Tensor([1.0, 0.0, -1.0], label="x")
    with np.errstate(all="ignore"):
        loss = (rg.sqrt(x) * 2.0).sum()
        account = rg.ledger(loss, x, index=1)
        assert account.gradient == float("inf")
        assert np.isnan(rg.ledger(loss, x, index=2).gradient)
        story = rg.story(loss)
    assert "infinite" in story.text() or "NaN" in story.text()


def test_a_custom_op_is_taken_apart_row_by_row(rg: Any) -> None:
    op = rg.custom_op(np.cumsum)
    op.vjp(lambda g, a: np.cumsum(g[::-1])[::-1])
    x = rg.Tensor([1.0, 2.0, 3.0], label="x")
    loss = (op(x) * np.array([1.0, 10.0, 100.0])).sum()
    account = rg.ledger(loss, x, index=1)
    assert account.gradient == 110.0
    assert sorted(entry.amount for entry in account.entries if entry.amount) == [10.0, 100.0]


def test_sentences_name_the_programs_own_arrays(rg: Any) -> None:
    loss, _ = network(rg)
    words = " ".join(step.words for step in rg.story(loss).backward)
    assert (
        "V[k, j] receives the upstream gradient at [i, j] times h[i, k], added up over i" in words
    )


class TestRefusals:
    @pytest.mark.parametrize("index", [(4, 0), (0,), (0, 0, 0), 1.5, "x", (0, -9)])
    def test_an_index_that_is_no_place(self, rg: Any, index: Any) -> None:
        loss, parts = network(rg)
        with pytest.raises(rg.errors.StoryError, match=r"no place in shape \(4, 8\).*\(3, 7\)"):
            rg.ledger(loss, parts["W"], index=index)

    def test_an_index_of_a_number(self, rg: Any) -> None:
        a = rg.Value(1.0)
        with pytest.raises(rg.errors.StoryError, match="leave the index out"):
            rg.ledger(a * a, a, index=0)
        loss, parts = network(rg)
        with pytest.raises(rg.errors.StoryError, match="leave the index out"):
            rg.ledger(loss, parts["scale"], index=0)

    def test_a_stranger(self, rg: Any) -> None:
        loss, _ = network(rg)
        with pytest.raises(rg.errors.StoryError, match="no step of the story reads it"):
            rg.ledger(loss, rg.Tensor([1.0]))
        with pytest.raises(rg.errors.StoryError, match="has no value named 'Q'"):
            rg.ledger(loss, "Q")
        with pytest.raises(rg.errors.StoryError, match="is a Value, a name or an id"):
            rg.ledger(loss, 1.5)

    def test_several_roots(self, rg: Any) -> None:
        x = rg.Tensor([1.0, 2.0])
        with pytest.raises(rg.errors.StoryError, match="explain one of them, or their sum"):
            rg.story([x.sum(), (x * x).sum()])

    def test_a_leaf_that_was_changed_since(self, rg: Any) -> None:
        x = rg.Tensor([1.0, 2.0], label="x")
        loss = (x * x).sum()
        rg.assign(x, np.array([5.0, 6.0]))
        with pytest.raises(rg.errors.StaleGraph):
            rg.story(loss)
