"""The printers: what they print, that it is valid, and that it means what the row says."""

from __future__ import annotations

import ast
import math
import random
import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from retrograde.check.printed import source as source_over_arrays
from retrograde.ops import OPS, Op
from retrograde.ops.emit.c import c, functions, header
from retrograde.ops.emit.javascript import javascript, row
from retrograde.ops.emit.kernels import header as kernels
from retrograde.ops.emit.kernels import lanes
from retrograde.ops.emit.python import python, source
from retrograde.ops.expr import Call, Num, Var, equal, fold, function, where
from retrograde.ops.op import RESULT

from .expressions import evaluate, float_call, same_bits

every_row = pytest.mark.parametrize("op", OPS.values(), ids=OPS)

C_TEXT = {
    "mul": ("(x * y)", ["y", "x"]),
    "div": ("(x / y)", ["(1.0 / y)", "(-(z / y))"]),
    "tan": ("tan(x)", ["(1.0 + (z * z))"]),
    "relu": ("((x <= 0.0) ? 0.0 : x)", ["((x <= 0.0) ? 0.0 : 1.0)"]),
    "abs": ("fabs(x)", ["rg_sign(x)"]),
    "asinh": ("asinh(x)", ["(1.0 / hypot(x, 1.0))"]),
    "maximum": (
        "(((x >= y) || (x != x)) ? x : y)",
        ["(((x >= y) || (x != x)) ? 1.0 : 0.0)", "(((x >= y) || (x != x)) ? 0.0 : 1.0)"],
    ),
}
PYTHON_TEXT = {
    "mul": ("(x * y)", ["y", "x"]),
    "div": ("div(x, y)", ["div(1.0, y)", "(-div(z, y))"]),
    "tan": ("tan(x)", ["(1.0 + (z * z))"]),
    "relu": ("(0.0 if (x <= 0.0) else x)", ["(0.0 if (x <= 0.0) else 1.0)"]),
    "abs": ("abs(x)", ["sign(x)"]),
    "maximum": (
        "(x if ((x >= y) or (x != x)) else y)",
        ["(1.0 if ((x >= y) or (x != x)) else 0.0)", "(0.0 if ((x >= y) or (x != x)) else 1.0)"],
    ),
}


@pytest.mark.parametrize("name", C_TEXT)
def test_a_row_as_c(name: str) -> None:
    value, partials = C_TEXT[name]
    assert c(OPS[name].value) == value
    assert [c(partial) for partial in OPS[name].partials] == partials


@pytest.mark.parametrize("name", PYTHON_TEXT)
def test_a_row_as_python(name: str) -> None:
    value, partials = PYTHON_TEXT[name]
    assert python(OPS[name].value) == value
    assert [python(partial) for partial in OPS[name].partials] == partials


def test_and_between_conditions() -> None:
    x, y = Var("x"), Var("y")
    both = where(equal(x, 0) & (y > 0), x, y)
    assert c(both) == "(((x == 0.0) && (y > 0.0)) ? x : y)"
    assert python(both) == "(x if ((x == 0.0) and (y > 0.0)) else y)"


def test_the_c_of_a_whole_row() -> None:
    assert functions(OPS["mul"]) == (
        "RG_RULE double rg_mul(double x, double y) { return (x * y); }\n"
        "RG_RULE double rg_mul_d0(double x, double y, double z) { return y; }\n"
        "RG_RULE double rg_mul_d1(double x, double y, double z) { return x; }"
    )


def test_a_tuned_row_is_a_function_of_its_name() -> None:
    assert "double rg_gelu(double x) { return rg_tuned_gelu(x); }" in functions(OPS["gelu"])
    assert source(OPS["gelu"]).startswith("def value(x):\n    return gelu(x)\n")
    assert row(OPS["gelu"]).startswith("law.gelu = { value: primitive.gelu,")
    assert "rgv_gelu(vd x) { return v_gelu(x); }" in kernels(OPS.values())


def test_the_python_of_a_whole_row() -> None:
    assert source(OPS["mul"]) == (
        "def value(x, y):\n    return (x * y)\n\ndef partials(x, y, z):\n    return (y, x,)\n"
    )


@pytest.mark.parametrize("printer", [c, javascript, python])
def test_what_is_no_expression_is_refused(printer: object) -> None:
    with pytest.raises(TypeError, match=r"no (C|JavaScript|Python) for str"):
        printer("x")  # type: ignore[operator]


@every_row
def test_printed_python_parses_and_reads_only_what_it_may(op: Op) -> None:
    for expression in (op.value, *op.partials):
        tree = ast.parse(python(expression), mode="eval")
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert names <= {*op.inputs, RESULT, "nan"} | op.calls
    ast.parse(source(op))


def test_the_header_is_c_that_a_strict_compiler_takes() -> None:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler on this machine")
    native = str(Path(__file__).parents[2] / "native")
    command = [
        compiler,
        "-std=c17",
        "-I",
        native,
        "-Wall",
        "-Werror",
        "-fsyntax-only",
        "-x",
        "c",
        "-",
    ]
    check = subprocess.run(command, input=header(OPS.values()), capture_output=True, text=True)
    assert check.returncode == 0, check.stderr


def test_the_header_names_every_row_once_in_the_order_of_the_table() -> None:
    text = header(OPS.values())
    for number, name in enumerate(OPS):
        assert text.count(f"RG_OP_{name} = {number},") == 1
        assert text.count(f"    X({name})") == 1
    assert f"RG_OP_COUNT = {len(OPS)}" in text


def test_the_header_refuses_a_row_of_four_inputs() -> None:
    four = tuple(map(Var, "abcd"))
    row = Op("four", function("add")(*four), (Num(1),) * 4, kind="copy", inputs=tuple("abcd"))
    with pytest.raises(ValueError, match="rows of one, two or three inputs"):
        header([row])


@every_row
def test_the_python_functions_are_the_expressions(op: Op) -> None:
    rng = random.Random(op.name)
    awkward = [0.0, -0.0, 1.0, -0.5, math.inf, -math.inf, math.nan, 1e308, 5e-324, -710.0]
    points = [*product(awkward, repeat=op.arity)]
    points += [tuple(rng.uniform(*bounds) for bounds in op.domain) for _ in range(50)]
    for point in points:
        variables = dict(zip(op.inputs, point))
        result = op.evaluate(*point)
        assert same_bits(result, float_call(op.name, *point)), point
        variables["z"] = result
        for got, partial in zip(op.evaluate_partials(*point, result), op.partials):
            assert same_bits(got, evaluate(partial, variables, float_call)), point


@pytest.mark.parametrize("printed", [c, javascript, python, lanes, source_over_arrays])
def test_a_deep_expression_is_printed_without_recursion(printed: Any) -> None:
    deep: Any = Var("x")
    for _ in range(5000):
        deep = -deep
    assert printed(deep).count("x") == 1


def test_a_part_that_stands_twice_is_turned_once() -> None:
    seen = []
    part = Var("x") * 2
    rules = {
        Var: lambda node, of: seen.append(node),
        Num: lambda node, of: seen.append(node),
        Call: lambda node, of: seen.append(node),
    }
    fold(part + part, rules, "list")
    assert [type(node).__name__ for node in seen] == ["Var", "Num", "Call", "Call"]


def test_a_node_without_a_rule_is_named() -> None:
    with pytest.raises(TypeError, match="no lanes for object"):
        lanes(object())  # type: ignore[arg-type]
