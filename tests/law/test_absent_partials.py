"""A row may leave a partial unstated: values work everywhere, and a gradient through it raises
before anything changes, naming the op and its line.
"""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

from retrograde.ops import OPS


def refusal(rg: Any) -> Any:
    return pytest.raises(rg.errors.NotDifferentiable, match="the slope of trigamma is not known")


def test_forward_works_and_the_partial_is_nan(rg: Any) -> None:
    x = rg.Value(2.0)
    y = rg.trigamma(x)
    assert y.data == rg.trigamma(2.0) == x.trigamma().data
    assert math.isnan(y.partials[0])
    assert OPS["trigamma"].absent == ("x",)
    assert not OPS["trigamma"].linear


def test_backward_raises_before_anything_changes(rg: Any) -> None:
    x, w = rg.Value(2.0), rg.Value(3.0)
    (x * w).backward()
    before = (x.grad, w.grad)
    root = w * rg.trigamma(x * 1.5) + x
    with refusal(rg) as caught:
        root.backward()
    assert (x.grad, w.grad, root.grad) == (*before, 0.0)
    assert "test_absent_partials.py:" in str(caught.value)
    with refusal(rg):
        rg.backward([root, w])
    assert (x.grad, w.grad) == before


def test_nothing_is_asked_of_an_input_that_takes_no_gradient(rg: Any) -> None:
    x, w = rg.Value(2.0), rg.Value(3.0)
    (w * rg.trigamma(x.detach())).backward()
    assert w.grad == rg.trigamma(2.0)
    root = w * rg.trigamma(x)
    x.requires_grad = False
    root.backward()
    assert (x.grad, w.grad) == (0.0, 2.0 * rg.trigamma(2.0))
    x.requires_grad = True
    with refusal(rg):
        root.backward()


def test_functions_raise_only_where_the_gradient_needs_it(rg: Any) -> None:
    def weighted(x: Any, w: Any) -> Any:
        return w * rg.trigamma(x)

    assert rg.grad(weighted, wrt=1)(2.0, 3.0) == rg.trigamma(2.0)
    for ask in (
        lambda: rg.grad(weighted)(2.0, 3.0),
        lambda: rg.jvp(weighted, (2.0, 3.0), (1.0, 0.0)),
        lambda: rg.hessian(rg.digamma)(2.0),
        lambda: rg.grad(rg.grad(rg.grad(rg.lgamma)))(2.0),
    ):
        with refusal(rg):
            ask()
    assert rg.grad(rg.grad(rg.lgamma))(2.0) == pytest.approx(math.pi**2 / 6 - 1)


def test_a_compiled_function_raises_when_the_gradient_is_asked_for(native: Any) -> None:
    compiled = native.compile(lambda x, w: w * native.trigamma(x))
    rows = np.array([2.0, 3.0])
    assert compiled(rows, 2.0)[0] == pytest.approx(2 * (math.pi**2 / 6 - 1))
    assert compiled.grad(rows, 2.0, wrt="w")[0] == pytest.approx(math.pi**2 / 6 - 1)
    with refusal(native) as caught:
        compiled.grad(rows, 2.0, wrt="x")
    assert "test_absent_partials.py:" in str(caught.value)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))])
def test_copies_raise_too(rg: Any, again: Any) -> None:
    with refusal(rg):
        again(rg.trigamma(rg.Value(2.0))).backward()


def test_a_value_of_ones_own_may_have_the_name(rg: Any) -> None:
    x = rg.Value(2.0)
    rg.Value(5.0, (x,), (7.0,), _op="trigamma").backward()
    assert x.grad == 7.0
