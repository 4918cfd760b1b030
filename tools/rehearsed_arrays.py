"""What rows of the array law added by the rehearsal must work in, on one core.

    python tools/rehearsed_arrays.py native|reference

Run by ``rehearse.py`` against a build with the rows it adds. Each function is one consumer.
"""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from math import fsum
from typing import Any

import numpy as np

from retrograde.ops.array import ARRAYS, CHOICES
from retrograde.ops.arrays.oracle import Plain, evaluate
from retrograde.value import core_name

rg: Any = import_module("retrograde")  # stubs know nothing of what is rehearsed
NAMES = ("rehearsed_mix", "rehearsed_centre")
RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((3, 4)), RNG.standard_normal((5, 4))


def by_numpy(x: Any, y: Any) -> Any:
    """The stated row in NumPy's words."""
    return np.einsum("ik,jk,jk->ij", x, y**3, np.tril(np.ones((5, 4))))


def loss(x: Any, y: Any) -> Any:
    """Both rows."""
    return (rg.tanh(rg.rehearsed_mix(x, y)) * rg.rehearsed_centre(x @ y.T, axis=0)).sum()


def built() -> tuple[Any, Any, Any]:
    """The loss as a graph, with its leaves."""
    x, y = rg.Tensor(X, label="x"), rg.Tensor(Y, label="y")
    return loss(x, y), x, y


def functions() -> None:
    """On tensors, on arrays, with rows in front; with a line of the caller."""
    x, y = rg.Tensor(X), rg.Tensor(Y)
    made = rg.rehearsed_mix(x, y)
    assert np.allclose(made.data, by_numpy(X, Y), rtol=1e-13)
    assert np.allclose(rg.rehearsed_mix(X, Y), by_numpy(X, Y), rtol=1e-13)
    assert made.op == NAMES[0]
    assert made.site.function == "functions"
    many = rg.rehearsed_mix(np.stack([X, 2 * X]), y).data
    assert np.allclose(many, [by_numpy(X, Y), by_numpy(2 * X, Y)], rtol=1e-13)
    assert np.allclose(rg.rehearsed_centre(x).data, X - X.mean(-1, keepdims=True), rtol=1e-13)
    assert NAMES[0] in rg.rehearsed_mix.__doc__


def by_plain_loops() -> None:
    """The oracle."""
    statement = ARRAYS[NAMES[0]].state({"x": X.shape, "y": Y.shape})  # type: ignore[union-attr]
    arrays = {"x": Plain(X.shape, X.ravel().tolist()), "y": Plain(Y.shape, Y.ravel().tolist())}
    assert np.allclose(evaluate(statement, arrays).numbers, by_numpy(X, Y).ravel(), rtol=1e-13)


def derivatives() -> None:
    """Of both orders, from either side."""
    assert rg.gradcheck(loss, (X, Y))
    vector = RNG.standard_normal(X.shape)
    found, step = rg.hvp(lambda x: loss(x, Y), X, vector), 1e-6
    ahead, behind = (rg.grad(loss)(X + s * vector, Y) for s in (step, -step))
    assert np.allclose(found, (ahead - behind) / (2 * step), rtol=1e-5, atol=1e-6)
    _, slope = rg.jvp(lambda x: loss(x, Y), (X,), (vector,))
    assert np.isclose(slope, np.vdot(rg.grad(loss)(X, Y), vector), rtol=1e-10)


def other_engines() -> None:
    """PyTorch and JAX, which have neither, and slopes of the function."""
    against = ["finite-differences", *(name for name in ("torch", "jax") if find_spec(name))]
    for engine in against:
        found = rg.compare(loss, (X, Y), against=engine)
        assert found.agrees, found


def words_and_formulas() -> None:
    """Sentences, LaTeX, the page of rows."""
    from retrograde.ops.arrays.notation import latex, text
    from retrograde.ops.arrays.page import page
    from retrograde.ops.arrays.words import words

    everything = page(ARRAYS, CHOICES)
    for name in NAMES:
        assert name in everything
        assert all(words(ARRAYS[name], ARRAYS))
    statement = ARRAYS[NAMES[0]].state({"x": X.shape, "y": Y.shape})  # type: ignore[union-attr]
    assert "rehearsed_cube" in text(statement)
    assert "rehearsed" in latex(statement)


def story_and_page() -> None:
    """The story in text and on its page."""
    from retrograde.explain.html import page_html

    story = rg.story(built()[0])
    assert NAMES[0] in story.text()
    assert NAMES[0] in page_html(story)
    assert any("rehearsed_mix" in step.words or "added up" in step.words for step in story.backward)


def unfolding() -> None:
    """Any number of any gradient as the products it is the sum of."""
    root, x, y = built()
    root.backward()
    for leaf, at in ((x, (1, 2)), (y, (4, 0))):
        ledger = rg.ledger(root, leaf, index=at, most=10**6)
        assert ledger.gradient == leaf.grad[at]
        assert fsum(entry.amount for entry in ledger.entries) == ledger.gradient
        assert rg.ledger(root, leaf).exact


def births_and_memory() -> None:
    """Where an infinity was born, what holds the memory."""
    made = rg.rehearsed_mix(rg.Tensor(X * 1e300), rg.Tensor(Y * 1e100)).sum()
    assert NAMES[0] in str(rg.births(made))
    assert str(rg.memory(built()[0]))


def copies() -> None:
    """Copied and pickled, with gradients that still flow."""
    root, x, _ = built()
    twins = copy.deepcopy(root), pickle.loads(pickle.dumps(root))
    root.backward()
    for twin in twins:
        twin.backward()
        (leaf,) = [v for v in rg.order(twin) if v.label == "x"]
        assert twin.data == root.data
        assert leaf.grad.tobytes() == x.grad.tobytes()


def replayed() -> None:
    """Compiled, on arrays and with gradients."""
    compiled = rg.compile(loss)
    root, x, y = built()
    assert np.isclose(float(compiled(x, y).data), root.data, rtol=1e-13)


CONSUMERS: tuple[Callable[[], None], ...] = (
    functions, by_plain_loops, derivatives, other_engines, words_and_formulas, story_and_page,
    unfolding, births_and_memory, copies, replayed,
)  # fmt: skip


def main() -> None:
    """Try all of them."""
    assert core_name == sys.argv[1], core_name
    for consumer in CONSUMERS:
        try:
            consumer()
        except Exception as error:
            raise SystemExit(f"{consumer.__name__}: {type(error).__name__}: {error}") from error
    print(f"{core_name}: {', '.join(consumer.__name__ for consumer in CONSUMERS)}")


if __name__ == "__main__":
    main()
