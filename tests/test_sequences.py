"""Sequences that compute: what a function sees of an array, on both cores and by NumPy's rules."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from .test_random_programs import steady

A, B = np.array([3.0, -4.0, 0.5]), np.array([2.0, 0.25, -1.0])
LIST = [1.0, 2.0, 3.0]
M = np.array([[1.0, 2.0, 0.5], [3.0, -4.0, 0.25]])


def of(rg: Any, array: Any) -> Any:
    """A sequence of fresh leaves, as a compiled function is given it."""
    array = np.asarray(array)
    make = import_module(f"{rg.__name__}._values.sequences").sequence
    return make([rg.Value(float(number)) for number in array.flat], array.shape)


def total_of(rg: Any, thing: Any) -> Any:
    """The sum of whatever a form gives."""
    if isinstance(thing, rg.Tensor):
        return rg.sum(thing)
    return rg.sum(list(np.ravel(np.asarray(thing))))


def data(thing: Any) -> Any:
    """Its numbers, in an array."""
    if hasattr(thing, "data") and not isinstance(thing, np.ndarray):
        return thing.data
    found = np.asarray(thing)
    return np.array([getattr(v, "data", v) for v in found.flat], dtype=float).reshape(found.shape)


FORMS: dict[str, Any] = {
    "a number": lambda q, w: q * 2 + 1,
    "a number on the left": lambda q, w: 2 - q / 3,
    "a reciprocal": lambda q, w: 1 / w,
    "each other": lambda q, w: (q + w) * (q - w) / w,
    "powers": lambda q, w: q**2 + q**3 + 2.0**w + abs(q) ** 0.5,
    "signs": lambda q, w: -q + +w + abs(q),
    "an array": lambda q, w: q * np.array([1.0, 2.0, 3.0]) + np.array([1.0, 2.0, 3.0]) * w,
    "a list": lambda q, w: q + LIST - (1.0, 2.0, 3.0),
    "a list on the left": lambda q, w: LIST + q,
    "NumPy scalars": lambda q, w: np.float64(2) * q + np.float32(0.5),
    "an item": lambda q, w: q[0] * w + w * q[-1],
    "a slice": lambda q, w: q[1:] - q[:-1] * w[::2],
    "the other way round": lambda q, w: q[::-1] * w,
    "a product": lambda q, w: q @ w,
    "a product with an array": lambda q, w: q @ np.array([1.0, 2.0, 3.0]) + [1, 2, 3] @ w,
    "a matrix": lambda q, w: np.stack([q, w]) @ q,
    "a vector before a matrix": lambda q, w: q @ np.stack([q, w]).T,
    "two matrices": lambda q, w: np.stack([q, w]) @ np.stack([q, w]).T,
    "an array before": lambda q, w: np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]]) @ q,
    "outer": lambda q, w: q[:, None] * w[None, :] + np.outer(q, w),
    "sums": lambda q, w: q.sum() + sum(w) + np.sum(q * w) + q.mean() * np.mean(w),
    "sums along axes": lambda q, w: np.stack([q, w]).sum(axis=0) + np.stack([q, w]).mean(0),
    "functions": lambda q, w: np.exp(q) + np.tanh(w) + np.arctan2(q, w) + np.maximum(q, w),
    "methods": lambda q, w: (q * 1.0).clip(-1.0, 1.0) + abs(w) * 0.5,
    "squares": lambda q, w: np.square(q) + np.sqrt(np.abs(w)) + np.power(q, 2),
    "choices": lambda q, w: np.where(q > w, q, w) + np.clip(q, -1.0, 1.0),
    "masks": lambda q, w: q[q > 0].sum() + w[np.array([True, False, True])],
    "concatenated": lambda q, w: np.concatenate([q, w, [1.0]]),
    "cumulated": lambda q, w: np.cumsum(q) + np.cumprod(w),
    "loops": lambda q, w: sum(a * b for a, b in zip(q, w)) + sum(i * a for i, a in enumerate(q)),
    "unpacked": lambda q, w: q[0] * [*q, *w][4] + (lambda a, b, c: a - b * c)(*q),
    "rebound": lambda q, w: rebound(q, w),
    "the largest": lambda q, w: max(q) + min(w) + q.max() - np.min(w) + sorted(q)[1],
    "reshaped": lambda q, w: q.reshape(3, 1) + w.reshape(1, -1) * np.reshape(q, (1, 3)),
    "copied": lambda q, w: np.copy(q) * w + q.copy(),
    "isfinite": lambda q, w: np.where(np.isfinite(q), q, w),
}


def rebound(q: Any, w: Any) -> Any:
    """``+=`` gives a new sequence and leaves the old one."""
    total = q * 1.0
    kept = total
    for _ in range(3):
        total = total + w
        total *= 2
    if isinstance(total, np.ndarray):
        return total + q  # in NumPy *= would have changed ``kept`` as well
    return total + kept


@pytest.mark.parametrize("name", FORMS)
def test_sequences_compute_as_arrays_of_numbers_do(rg: Any, name: str) -> None:
    got = FORMS[name](of(rg, A), of(rg, B))
    expected = FORMS[name](A.copy(), B.copy())
    assert np.shape(expected) == np.shape(got)
    assert data(got) == pytest.approx(np.asarray(expected), rel=1e-14)


@pytest.mark.parametrize("name", FORMS)
def test_values_and_gradients_are_those_of_an_array_of_values(rg: Any, name: str) -> None:
    form = FORMS[name]

    def total(q: Any, w: Any) -> Any:
        return total_of(rg, form(q, w))

    value, slopes = rg.value_and_grad(total, wrt=(0, 1))(A, B)
    q, w = (np.array([rg.Value(x) for x in numbers], dtype=object) for numbers in (A, B))
    if name in ("functions", "isfinite", "choices"):  # NumPy's loops over objects lack these
        return
    root = total(q, w)
    root.backward()
    assert value == pytest.approx(root.data, rel=1e-14)
    for slope, leaves in zip(slopes, (q, w)):
        assert slope.tolist() == pytest.approx([v.grad for v in leaves], rel=1e-13)


@pytest.mark.parametrize("name", FORMS)
def test_compiled_functions_agree_with_the_eager_ones(native: Any, name: str) -> None:
    rg, form = native, FORMS[name]
    rows = np.array([[3.0, -4.0, 0.5], [1.0, 2.0, -3.0], [-0.5, 0.25, 4.0]])
    got = rg.compile(form)(rows, rg.uniform(B))
    expected = [np.asarray(form(row.copy(), B.copy())) for row in rows]
    assert got.shape == (3, *expected[0].shape)
    assert got == pytest.approx(np.array(expected), rel=1e-13)

    def total(q: Any, w: Any) -> Any:
        return total_of(rg, form(q, w))

    slopes = rg.compile(total).grad(rows, rg.uniform(B))
    for row, mine, theirs in zip(rows, *slopes):
        q, w = rg.grad(total, wrt=(0, 1))(row, B)
        assert mine == pytest.approx(q, rel=1e-13)
        assert theirs == pytest.approx(w, rel=1e-13)


@pytest.mark.parametrize("shape", [(2, 3), (1, 1), (2, 2, 2), (0,), (3, 0)])
def test_uniform_arrays_of_any_shape(native: Any, shape: tuple[int, ...]) -> None:
    rg, array = native, np.arange(float(math.prod(shape))).reshape(shape) + 1.0
    x = np.array([1.0, 2.0])
    f = rg.compile(lambda x, u: (u * x + u).sum() + x)
    assert f(x, rg.uniform(array)) == pytest.approx([array.sum() * (k + 1) + k for k in x])
    assert f.grad(x, rg.uniform(array), wrt="u", reduce="sum").shape == shape
    if array.size:
        assert rg.compile(lambda u: u * 2)(rg.uniform(array)).tolist() == (array * 2).tolist()


def test_the_case_that_concatenated(native: Any) -> None:
    rg, point = native, np.array([[3.0, 4.0]])
    assert rg.compile(lambda q: rg.norm(q * 2))(point).tolist() == [10.0]
    assert rg.compile(lambda q, w: rg.sum(q + w))(point, point).tolist() == [14.0]
    found = rg.minimize(lambda q: rg.sum((q * 2 - [2.0, 6.0]) ** 2), [0.0, 0.0])
    assert found.x == pytest.approx([1.0, 3.0], abs=1e-6)


METHODS = ["BFGS", "newton-cg", "trust-exact", "nelder-mead", "SLSQP", "trust-constr"]


@pytest.mark.parametrize("method", METHODS)
def test_scipy_is_given_functions_of_tensors(rg: Any, method: str) -> None:
    target, seen = np.array([1.0, -2.0]), set()

    def loss(q: Any) -> Any:
        seen.add(type(q).__name__)
        return ((q - target) ** 2).sum() + (q @ q) * 0.0

    assert rg.minimize(loss, [0.0, 0.0], method=method).x == pytest.approx(target, abs=1e-3)
    assert seen == {"Tensor"}
    limit = {"type": "ineq", "fun": lambda q: 1.0 - q * q}
    found = rg.minimize(loss, [0.0, 0.0], method="SLSQP", constraints=limit)
    assert found.x == pytest.approx([1.0, -1.0], abs=1e-5)
    assert rg.least_squares(lambda q: q * 2 - target, [0.0, 0.0]).x == pytest.approx(target / 2)
    assert rg.root(lambda q: q**3 - [1.0, 8.0], [1.5, 1.5]).x == pytest.approx([1.0, 2.0])


def test_every_transform_gives_arrays_for_arrays(rg: Any) -> None:
    def cubes(q: Any) -> Any:
        return (q**3).sum() + q[0] * q[1]

    second = np.array([[18.0, 1.0], [1.0, 12.0]])
    point = np.array([3.0, 2.0])
    assert rg.grad(cubes)(point).tolist() == [29.0, 15.0]
    assert rg.hessian(cubes)(point).tolist() == second.tolist()
    assert rg.jacobian(rg.grad(cubes))(point).tolist() == second.tolist()
    assert rg.hvp(cubes, point, np.array([1.0, 1.0])).tolist() == [19.0, 13.0]
    assert rg.jacobian(lambda q: q * q)(point).tolist() == [[6.0, 0.0], [0.0, 4.0]]
    value, tangent = rg.jvp(lambda q: q * q, (point,), (np.array([1.0, 0.0]),))
    assert (value.tolist(), tangent.tolist()) == ([9.0, 4.0], [6.0, 0.0])
    value, pull = rg.vjp(lambda q: q * 2, point)
    assert (value.tolist(), pull(np.ones(2)).tolist()) == ([6.0, 4.0], [2.0, 2.0])
    w = rg.Value(2.0)
    outer = rg.grad(lambda q: (q * w).sum())(point)
    assert isinstance(outer, rg.Tensor)
    assert outer.data.tolist() == [2.0, 2.0]


def test_transforms_inside_a_recording_keep_the_sequence(native: Any) -> None:
    rg, rows = native, np.array([[1.0, 2.0], [3.0, 4.0]])
    force = rg.compile(lambda q: -2 * rg.grad(lambda p: (p**3).sum())(q))
    assert force(rows).tolist() == (-6 * rows**2).tolist()
    second = rg.compile(lambda q: rg.hessian(lambda p: (p**3).sum())(q) @ q)
    assert second(rows).tolist() == (6 * rows**2).tolist()


def test_results_in_arrays_have_rows_first(native: Any, tmp_path: Any) -> None:
    rg, rows = native, np.arange(6.0).reshape(3, 2)
    f = rg.compile(lambda q, s: {"q": q * s, "both": [q.sum(), np.array([s, s * s])]})
    got = f(rows, 2.0)
    assert got["q"].tolist() == (rows * 2).tolist()
    assert got["both"][1].tolist() == [[2.0, 4.0]] * 3
    jacobian = f.jacobian(rows, 2.0)
    assert jacobian["q"][0].shape == (3, 2, 2)
    assert jacobian["q"][1].tolist() == rows.tolist()
    out = {"q": np.empty((3, 2)), "both": [None, np.empty((3, 2))]}
    again = f(rows, 2.0, out=out)
    assert again["q"] is out["q"]
    assert out["q"].tolist() == got["q"].tolist()
    f.save(tmp_path / "f.rgp")
    loaded = rg.load(tmp_path / "f.rgp")(rows, 2.0)
    assert loaded["q"].tolist() == got["q"].tolist()
    assert loaded["both"][1].tolist() == got["both"][1].tolist()
    assert rg.compile(lambda q: q[:1] * 2)(rows).shape == (3, 1)
    assert f(rows[:0], 2.0)["q"].shape == (0, 2)


def test_stories_births_checks_and_values_see_sequences(native: Any) -> None:
    rg, rows = native, np.array([[3.0, 4.0], [0.0, 0.0]])
    f = rg.compile(lambda q: rg.norm(q * 2))
    assert [step.words for step in f.story(rows).forward][-1].endswith("= 10")
    assert f.births(rows).sick.tolist() == [1]
    rg.assert_gradients(f, rows[:1])
    rg.assert_gradients(lambda q: (q * 2 + q) @ q, np.array([1.0, 2.0]))
    values = [rg.Value(3.0), rg.Value(4.0)]
    assert f(np.array(values)).data == 10.0
    assert f.traces


def test_conditions_of_sequences_are_data_or_guards(native: Any) -> None:
    rg, rows = native, np.array([[1.0, -2.0], [-1.0, 2.0], [3.0, 4.0]])
    pick = rg.compile(lambda q: rg.where((q > 0) & ~(q > 3), q, 0.0))
    assert pick(rows).tolist() == [[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]
    assert len(pick.traces) == 1
    split = rg.compile(lambda q: q.sum() if all(q > 0) else q[0])
    assert split(rows).tolist() == [1.0, -1.0, 7.0]
    assert len(split.traces) >= 2
    assert rg.compile(lambda q: q[q > 0].sum())(rows).tolist() == [1.0, 2.0, 7.0]
    assert rg.compile(lambda q: 1.0 * q[0] if 4.0 in q else q[1])(rows).tolist() == [-2.0, 2.0, 3.0]
    assert rg.compile(lambda q, s: q * (s > q))(rows, 2.0).tolist() == [[1, -2], [-1, 0], [0, 0]]


def test_comparisons_are_bools_eagerly(rg: Any) -> None:
    q, v = of(rg, A), rg.Value(1.0)
    for found in (q > 0, v < q, np.greater(q, 0), q == v, np.array([0.0, 0.0, 0.0]) < q):
        assert isinstance(found, np.ndarray)
        assert found.dtype == bool
    assert (q > 0).tolist() == [True, False, True]
    assert (q == None).tolist() == [False] * 3  # noqa: E711


def test_a_sequence_is_read_as_one(rg: Any) -> None:
    q, m = of(rg, A), of(rg, M)
    assert (len(q), q.shape, q.ndim, q.size) == (3, (3,), 1, 3)
    assert (len(m), m.shape, m.T.shape, m[1].shape, m[:, 0].shape) == (
        2,
        (2, 3),
        (3, 2),
        (3,),
        (2,),
    )
    assert q[-1] is q[2]
    assert [v.data for v in reversed(q)] == A[::-1].tolist()
    assert [row.shape for row in m] == [(3,), (3,)]
    assert m[1, 2].data == 0.25
    assert 0.5 in q
    assert 7.0 not in q
    assert isinstance(q.tolist(), list)
    with pytest.raises(IndexError):
        q[3]
    assert rg.dot(q, q).data == A @ A
    assert [v.data for v in q.tanh()] == pytest.approx(np.tanh(A))
    assert [v.data for v in rg.softmax(q)] == pytest.approx(np.exp(A) / np.exp(A).sum())
    assert (rg.softmax(q) * 2).shape == (3,)
    assert (rg.softmax(A) * 2).shape == (3,)
    assert rg.data(q).tolist() == A.tolist()
    assert rg.take(m, 1).shape == (3,)
    assert [v.data for v in copy.deepcopy(q)] == A.tolist()
    assert [v.data for v in pickle.loads(pickle.dumps(q))] == A.tolist()


REFUSED: dict[str, tuple[Any, str, str]] = {
    "lengths": (lambda q: q + q[:2], "ShapeError", "add: sequences of 3 and 2 numbers do not fit"),
    "a longer list": (lambda q: q * [1.0] * 1 + [1.0, 2.0], "ShapeError", "write [*a, *b]"),
    "an empty list": (lambda q: LIST[:0] + q, "ShapeError", "items.extend(q)"),
    "shapes": (lambda q: q @ [1.0, 2.0], "ShapeError", "@: shapes (3,) and (2,)"),
    "a number": (lambda q: q @ 2.0, "OperandError", "write * to multiply by it"),
    "truth": (lambda q: bool(q), "SequenceError", "Write all(q > 0) or any(q > 0)"),
    "assignment": (lambda q: operator.setitem(q, 0, 1), "SequenceError", "q = np.array(q) before"),
    "a value as index": (lambda q: q[q[0]], "SequenceError", "write rg.take(q, i)"),
    "text": (lambda q: q + "a", "SequenceError", "use values, numbers, or as many of them"),
    "float": (lambda q: float(q), "GraphExitError", "would take the number out of the graph"),
    "math": (lambda q: math.exp(q), "GraphExitError", "rg.exp(v)"),
    "//": (lambda q: q // 2, "GraphExitError", "rg.floor(a / b)"),
    "np.interp": (lambda q: np.interp(q, [0, 1], [0, 1]), "NumpyError", "np.array(q) is an array"),
    "np.rint": (lambda q: np.rint(q), "NumpyError", "Write rg.round(v)"),
    "reduce": (lambda q: np.add.reduce(q), "NumpyError", "Write rg.sum(values)"),
    "out": (lambda q: np.exp(q, out=np.zeros(3)), "NumpyError", "never written in place"),
    "where": (lambda q: np.exp(q, where=[True] * 3), "NumpyError", "rg.where(condition, a, b)"),
    "into floats": (lambda q: np.array(q, dtype=float), "GraphExitError", "Leave out the dtype"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_sequences_do_not_do_names_the_cure(rg: Any, name: str) -> None:
    act, kind, text = REFUSED[name]
    with pytest.raises(getattr(rg.errors, kind)) as caught:
        act(of(rg, A))
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [("append", "write list(q)"), ("std", "np.array(q) is an array of its values")],
)
def test_attributes_of_lists_and_arrays_are_named(rg: Any, name: str, text: str) -> None:
    with pytest.raises(AttributeError, match=name) as caught:
        getattr(of(rg, A), name)
    assert text in str(caught.value)


def test_lists_and_tuples_stay_what_they_are(native: Any) -> None:
    seen = []
    native.compile(lambda a, b: (seen.append((type(a), type(b))), a[0] * b[0])[1])([1.0], (2.0,))
    native.grad(lambda a: (seen.append(type(a)), a[0] * 2)[1])([1.0])
    assert seen == [(list, tuple), list]


def test_values_show_the_line_of_the_function(rg: Any) -> None:
    q = of(rg, A)
    made = [q * 2, 1 - q, -q, np.exp(q), rg.exp(q), q[0] * q]  # this line
    products = [q @ q, q.sum(), np.sum(q), q.max()]  # and this
    for value in [v for vector in made for v in vector] + products:
        assert "test_values_show_the_line" in str(value.site)


# ---- random programs on vectors ------------------------------------------------------------------

UNARY = ["exp", "tanh", "sin", "square", "abs", "negative", "arctan"]
BINARY = ["add", "subtract", "multiply", "maximum", "minimum", "hypot"]


@st.composite
def vector_programs(draw: Any) -> list[tuple[Any, ...]]:
    """Steps on the vectors made so far, by place; the first two are the arguments."""
    steps: list[tuple[Any, ...]] = []
    for count in range(2, 2 + draw(st.integers(1, 8))):
        place = st.integers(0, count - 1)
        kind = draw(st.sampled_from(["unary", "binary", "number", "item", "dot", "where", "turn"]))
        name = draw(st.sampled_from(UNARY if kind == "unary" else BINARY))
        number = draw(st.sampled_from([2.0, -0.5, np.float64(1.5), 3]))
        steps.append((kind, name, draw(place), draw(place), number, draw(st.integers(0, 2))))
    return steps


def run_vectors(steps: list[tuple[Any, ...]], *arguments: Any) -> Any:
    """The sum of all vectors; in NumPy's names, for numbers, values and recordings alike."""
    made = list(arguments)
    for kind, name, one, other, number, at in steps:
        x, y = np.tanh(made[one]), made[other]
        if kind == "unary":
            made.append(getattr(np, name)(x))
        elif kind == "binary":
            made.append(getattr(np, name)(x, np.tanh(y)))
        elif kind == "number":
            made.append(number * x + x / number - (x + number) ** 2)
        elif kind == "item":
            made.append(x * y[at] + y[::-1])
        elif kind == "dot":
            made.append(x * (x @ y) / 8 - np.sum(y))
        elif kind == "where":
            made.append(np.where(x > y, x, -y))
        else:
            made.append(np.concatenate([y[at:], x[:at]]))
    return np.sum(np.concatenate(made))


@steady(max_examples=60)
@given(steps=vector_programs())
def test_random_programs_on_vectors(native: Any, reference: Any, steps: Any) -> None:
    rows = np.array([[0.3, -1.2, 0.7], [2.0, 0.1, -0.4]])
    expected = [run_vectors(steps, row, B) for row in rows]

    def f(q: Any, w: Any) -> Any:
        return run_vectors(steps, q, w)

    values, grads = native.compile(f).value_and_grad(rows, native.uniform(B))
    assert values == pytest.approx(expected, rel=1e-12, abs=1e-12)
    for at, row in enumerate(rows):
        for rg in (native, reference):
            value, slopes = rg.value_and_grad(f, wrt=(0, 1))(row, B)
            assert value == pytest.approx(expected[at], rel=1e-12, abs=1e-12)
            for mine, theirs in zip(grads, slopes):
                assert mine[at] == pytest.approx(theirs, rel=1e-10, abs=1e-10)
