"""The page of a story over tensors: heat maps, and numbers of gradients unfolded by a click."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ..browser import Opened


@pytest.fixture
def network(native: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    W = native.Tensor(rng.normal(size=(4, 8)) * 0.5, label="W")
    V = native.Tensor(rng.normal(size=(8, 3)), label="V")
    h = np.tanh(rng.normal(size=(6, 4)) @ W)
    return native.cross_entropy(h @ V, [0, 1, 2, 0, 1, 2]), V


def test_a_click_on_a_cell_unfolds_it(
    native: Any, network: tuple[Any, Any], show: Callable[..., Opened]
) -> None:
    loss, V = network
    page = show(native.story(loss))
    page.box("V").click()
    gradient = page.page.locator("#array canvas").last
    assert "Click a cell" in page.text(".unfolded")
    box = gradient.bounding_box()
    gradient.click(position={"x": box["width"] * 2.5 / 3, "y": box["height"] * 1.5 / 8})
    told = page.text(".unfolded")
    account = native.ledger(loss, V, index=(1, 2))
    assert told.startswith("V[1, 2] is the sum of 6 products")
    assert account.entries[0].name in told
    gradient.focus()
    page.press("ArrowLeft")
    assert page.text(".unfolded").startswith("V[1, 1] is the sum of 6 products")
    page.press("ArrowDown")
    assert page.text(".unfolded").startswith("V[2, 1] is the sum of 6 products")


def test_what_is_said_of_arrays(
    native: Any, network: tuple[Any, Any], show: Callable[..., Opened]
) -> None:
    page = show(native.story(network[0]))
    page.box("W").click()
    told = page.text("#array")
    assert "shape 4×8" in told
    assert "gradient: norm" in told
    assert "These values are arrays" in page.text("#whatif-why")


def test_not_finite_numbers_are_drawn_and_unfolded(
    native: Any, show: Callable[..., Opened]
) -> None:
    x = native.Tensor([[1.0, 0.0], [4.0, -1.0]], label="x")
    with np.errstate(all="ignore"):
        page = show(native.story(native.sqrt(x).sum()))
    page.box("x").click()
    gradient = page.page.locator("#array canvas").last
    box = gradient.bounding_box()
    gradient.click(position={"x": box["width"] * 0.75, "y": box["height"] * 0.25})
    assert "∞" in page.text(".unfolded")


def test_large_arrays_are_not_unfolded(native: Any, show: Callable[..., Opened]) -> None:
    many = [native.Tensor(np.ones((40, 40)), label=f"w{i}") for i in range(6)]  # 400 cells each
    small = native.Tensor([1.0, 2.0], label="small")
    loss = native.sum([(w * w).sum() for w in many]) + small.sum()
    page = show(native.story(loss))
    page.box("small").click()
    assert "Click a cell" in page.text(".unfolded")
    page.box("w5").click()
    assert page.text(".unfolded") == ""
