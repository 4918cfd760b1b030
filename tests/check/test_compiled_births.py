"""Births over the rows of a compiled function, against the same rows computed one by one."""

from __future__ import annotations

import json

import numpy as np
import pytest


def groups(found):
    return [
        (group.phase, group.birth.op, group.rows.tolist())
        for group in (*found.forward, *found.backward)
    ]


def line_of(function, mark):
    import inspect

    lines, first = inspect.getsourcelines(function)
    return next(first + i for i, line in enumerate(lines) if mark in line)


def test_healthy_rows_have_no_births(native):
    f = native.compile(lambda x: x * x)
    found = f.births(np.arange(5.0))
    assert not found
    assert str(found) == "Every value and every gradient of 5 rows is finite."


def test_rows_lines_and_phases(native):
    def price(x, a):
        root = native.where(x > 0.0, native.sqrt(x), 0.0)  # the root
        return root + native.log(a)  # the logarithm

    f = native.compile(price)
    x = np.array([1.0, 0.0, 4.0, 1.0, 0.0])
    a = np.array([1.0, 2.0, -1.0, 0.0, 3.0])
    found = f.births(x, a)
    assert found.sick.tolist() == [1, 2, 3, 4]
    by_line = {
        (group.phase, group.birth.site.line): group.rows.tolist()
        for group in (*found.forward, *found.backward)
    }
    assert by_line == {
        ("forward", line_of(price, "# the logarithm")): [2, 3],
        ("backward", line_of(price, "# the root")): [1, 4],
    }
    (backward,) = found.backward
    assert backward.birth.cause == "0 × inf"
    assert "operand 'x' = 0.0" in str(found)


def test_every_row_finds_its_own_trace(native):
    def f(x):
        if x > 10.0:
            return native.log(x - 20.0)
        if x < -10.0:
            return native.exp(-100.0 * x)
        return native.sqrt(x * x)

    x = np.array([1.0, 15.0, -12.0, 0.0, 30.0, -11.0, 20.0])
    found = native.compile(f).births(x)
    assert sorted(groups(found)) == [
        ("backward", "sqrt", [3]), ("forward", "exp", [2, 5]), ("forward", "log", [1, 6]),
    ]  # fmt: skip


def test_given_nans_are_named_by_argument(native):
    f = native.compile(lambda x, y: x * y)
    found = f.births(np.array([1.0, np.nan, 2.0]), np.array([1.0, 1.0, np.nan]))
    assert [(g.birth.label, g.rows.tolist()) for g in found.forward] == [("x", [1]), ("y", [2])]


def test_captured_parameters_are_differentiated_too(native):
    w = native.Value(0.0, label="w")
    f = native.compile(lambda x: x + native.sqrt(w) * 0.0)
    found = f.births(np.array([1.0, 2.0]))
    assert groups(found) == [("backward", "sqrt", [0, 1])]


def test_sequences_uniforms_strides_and_several_results(native):
    @native.compile
    def f(v, a):
        return {"log": native.log(v[0]), "rest": native.div(a, v[1])}

    v = np.array([[1.0, 2.0], [-1.0, 2.0], [1.0, 0.0]])
    found = f.births(v[::-1], 2.0)
    assert groups(found) == [("forward", "div", [0]), ("forward", "log", [1])]


def test_a_single_number_is_one_row(native):
    f = native.compile(lambda x: native.log(x))
    found = f.births(0.0)
    assert found.rows == 1
    assert groups(found) == [("forward", "log", [0])]


def test_no_rows(native):
    f = native.compile(lambda x: native.log(x))
    found = f.births(np.zeros(0))
    assert not found
    assert found.rows == 0


def test_the_same_rows_whatever_the_batch(native, monkeypatch):
    import importlib

    module = importlib.import_module("retrograde.diagnose.compiled_births")
    f = native.compile(lambda x: native.log(x) * native.sqrt(x + 1.0))
    x = np.random.default_rng(3).normal(size=5000)
    whole = f.births(x)
    monkeypatch.setattr(module, "MOST_ROWS", 77)
    monkeypatch.setattr(module, "BATCH_BYTES", 4096)
    pieces = f.births(x)
    assert groups(whole) == groups(pieces)
    assert whole.sick.tolist() == pieces.sick.tolist()


@pytest.mark.parametrize("seed", range(30))
def test_rows_agree_with_values_one_by_one(native, seed):
    source = np.random.default_rng(seed)
    ops = source.choice(["log", "sqrt", "exp", "reciprocal", "tanh", "square"], size=4)

    def f(x, y):
        z = x * y - 0.3
        for op in ops:
            z = getattr(native, op)(z) if op != "reciprocal" else 1.0 / z
            z = z + x
        return native.where(z > 0.0, z, x)

    x, y = source.normal(size=40).round(1), source.normal(size=40).round(1) * 3
    found = native.compile(f).births(x, y)
    expected = []
    for row, (a, b) in enumerate(zip(x, y)):
        u, v = native.Value(a), native.Value(b)
        root = f(u, v)
        root.backward()
        if not np.isfinite([root.data, u.grad, v.grad]).all():
            expected.append(row)
    assert found.sick.tolist() == expected
    placed = {row for g in (*found.forward, *found.backward) for row in g.rows.tolist()}
    assert placed == set(expected)


def test_data_is_json(native):
    f = native.compile(lambda x: native.log(x))
    data = json.loads(json.dumps(f.births(np.array([0.0, 1.0])).as_dict(), allow_nan=False))
    assert data["sick"] == [0]
    assert data["forward"][0]["birth"]["op"] == "log"


def test_wrong_calls_are_refused_as_calls_are(native):
    f = native.compile(lambda x: native.log(x))
    with pytest.raises(native.errors.CompileError):
        f.births(1.0, 2.0)
    with pytest.raises(native.errors.RowsError):
        f.births("x")
