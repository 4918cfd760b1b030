"""What is derived from a row besides numbers: words, LaTeX, what is saved, loop nests, and any one
number of a gradient unfolded into the products it is the sum of.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from retrograde.ops import OPS
from retrograde.ops.array import ARRAYS
from retrograde.ops.arrays.adjoint import adjoint, saves
from retrograde.ops.arrays.kernels import nests
from retrograde.ops.arrays.notation import latex, text
from retrograde.ops.arrays.oracle import evaluate
from retrograde.ops.arrays.row import Row
from retrograde.ops.arrays.unfolding import total, unfold
from retrograde.ops.arrays.words import sentences, words

from .array_cases import ALL, Case, plain, slowly
from .array_tape import Tensor, order

STATED = [row for row in ARRAYS.values() if isinstance(row, Row)]
every_row = pytest.mark.parametrize("row", ARRAYS.values(), ids=ARRAYS)
every_stated_row = pytest.mark.parametrize("row", STATED, ids=[row.name for row in STATED])

TEXTS = {
    "matmul": "z[i, j] += x[i, k] * y[k, j]",
    "cumsum": "z[i] += x[k] where k <= i",
    "take": "z[i...] = x[n[i...]]",
    "max": "z[] = x[m[]]",
    "prod_along": "z[] *= x[k]",
    "conv1d": "z[b, o, t] += x[b, c, t + s] * w[o, c, s]",
    "flip": "z[i, j] = x[i, 3 - j]",
    "mul": "z[i] = x[i] * y[i]",
}
BACK = {
    ("matmul", "x"): "z[i, k] += g[i, j] * y[k, j]",
    ("cumsum", "x"): "z[j, k] += g[j, i] where k <= i",
    ("take", "x"): "z[n[i1, i2], j] += g[i1, i2, j]",
    ("max", "x"): "z[i, m[i]] = g[i]",
    ("conv1d", "x"): "z[b, c, t + s] += g[b, o, t] * w[o, c, s]",
    ("conv1d", "w"): "z[o, c, s] += g[b, o, t] * x[b, c, t + s]",
    ("prod_along", "x"): "z[i, k] = g[i] * o[i, k]",
    ("exp", "x"): "z[i] = g[i] * r[i]",
    ("transpose", "x"): "z[i, j] = g[j, i]",
}
SAVED = {
    "matmul": ("x", "y"), "sum": (), "exp": ("z",), "tanh": ("x",), "add": (), "max": ("m",),
    "prod_along": ("x",), "take": ("n",), "conv1d": ("x", "w"), "reshape": (), "mul": ("x", "y"),
    "div": ("y", "z"), "sqrt": ("z",), "concatenate": (), "sort": ("m",),
}  # fmt: skip
KINDS = {
    "mul": ["map"], "matmul": ["contract"], "sum": ["reduce"], "prod_along": ["reduce"],
    "transpose": ["copy"], "take": ["gather"], "max": ["gather"], "add_at": ["copy", "scatter"],
    "conv2d": ["contract"], "cumsum": ["reduce"], "exp": ["map"],
}  # fmt: skip


def on_example(row: Row) -> Any:
    return row.state(row.example.shapes, **row.example.arguments)


@pytest.mark.parametrize("name", TEXTS)
def test_a_row_as_text(name: str) -> None:
    assert text(ARRAYS[name].shown()) == TEXTS[name]


@pytest.mark.parametrize(("name", "operand"), BACK)
def test_an_adjoint_as_text(name: str, operand: str) -> None:
    row = ARRAYS[name]
    back = adjoint(on_example(row), operand, row.example.shapes[operand])
    assert text(back.statement) == BACK[name, operand]


@pytest.mark.parametrize("name", SAVED)
def test_what_backward_needs(name: str) -> None:
    assert saves(on_example(ARRAYS[name])) == SAVED[name]


@pytest.mark.parametrize("name", KINDS)
def test_the_loop_nest_of_a_row(name: str) -> None:
    assert [nest.kind for nest in nests(on_example(ARRAYS[name]))] == KINDS[name]


@every_row
def test_every_row_has_words(row: Any) -> None:
    said = words(row, ARRAYS)
    assert said
    for sentence in said:
        assert re.match(
            r"(element by element|an operand|is made of|s is known|u solves|[a-z]\d?)", sentence
        )
        assert re.search(r"receive|gradient|slope|partial|known", sentence)


@every_stated_row
def test_words_name_every_array_a_slope_reads(row: Row) -> None:
    if row.name in OPS:
        return  # said by the kind of the scalar row
    forward = on_example(row)
    for operand in forward.reads:
        back = adjoint(forward, operand, row.example.shapes[operand])
        said = " ".join(sentences(forward, operand, row.example.shapes[operand]))
        for name in set(back.statement.reads) - {back.upstream} - {o for o, _ in back.others}:
            assert f"{name}[" in said, said


@every_stated_row
def test_every_row_and_its_adjoints_have_latex(row: Row) -> None:
    forward = on_example(row)
    printed = [latex(row.shown()), latex(forward)]
    for operand in forward.reads:
        if row.name in OPS and OPS[row.name].absent:
            continue
        back = adjoint(forward, operand, row.example.shapes[operand])
        printed.append(latex(back.statement))
    for line in printed:
        assert line.count("{") == line.count("}"), line
        assert not re.search(r"[^\x00-\x7f]", line), line
        assert "[" not in line, line


def test_latex_of_a_matrix_product_and_its_gradient() -> None:
    row = ARRAYS["matmul"]
    back = adjoint(on_example(row), "y", (4, 5)).statement
    bars = {"z": r"\bar{y}", "g": r"\bar{z}"}
    assert latex(row.shown()) == r"z_{i,j} = \sum_{k} x_{i,k}\,y_{k,j}"
    assert latex(back, lambda name: bars.get(name, name)) == (
        r"\bar{y}_{k,j} = \sum_{i} \bar{z}_{i,j}\,x_{i,k}"
    )


@pytest.mark.parametrize("case", ALL, ids=[case.name for case in ALL])
def test_any_number_of_a_gradient_unfolds_to_its_bits(case: Case) -> None:
    rng = np.random.default_rng(len(case.name))
    z = case.by(slowly, [Tensor(array) for array in case.arrays])
    for node in order(z):
        statement = node.statement
        if statement is None:
            continue
        arrays = {name: plain(it.data) for name, it in node.inputs.items()}
        arrays |= {name: plain(it) for name, it in node.wholes.items()}
        arrays["s"] = plain(node.data)
        for name, operand in node.inputs.items():
            back = adjoint(statement, name, operand.shape)
            there = {**arrays, back.own: plain(node.data)}
            there[back.upstream] = plain(rng.standard_normal(node.shape))
            for made, first in back.others:
                there[made] = evaluate(first, there)
            gradient = evaluate(back.statement, there)
            if not gradient.numbers:
                continue
            for _ in range(2):
                at = tuple(int(rng.integers(n)) for n in operand.shape)
                amounts = unfold(back.statement, there, at)
                assert total(amounts) == gradient[at] or gradient[at] != gradient[at]
                for amount in amounts:
                    product = amount.factors[0][1]
                    for _, factor in amount.factors[1:]:
                        product *= factor
                    assert product == amount.number or product != product


def test_an_unfolded_number_names_what_it_is_made_of() -> None:
    row = ARRAYS["conv1d"]
    forward = row.state({"x": (1, 1, 4), "w": (1, 1, 2)})
    back = adjoint(forward, "w", (1, 1, 2)).statement
    x, g = np.array([[[1.0, 2.0, 3.0, 4.0]]]), np.array([[[1.0, 10.0, 100.0]]])
    amounts = unfold(back, {"x": plain(x), "g": plain(g)}, (0, 0, 1))
    assert [str(amount) for amount in amounts] == [
        "2 = g[0, 0, 0] (1) * x[0, 0, 1] (2)",
        "30 = g[0, 0, 1] (10) * x[0, 0, 2] (3)",
        "400 = g[0, 0, 2] (100) * x[0, 0, 3] (4)",
    ]
    assert total(amounts) == 432.0
