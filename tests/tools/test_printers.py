"""Formulas as people read them: LaTeX, and the plain text of the stubs."""

from __future__ import annotations

import pytest

from retrograde.ops import OPS
from retrograde.ops.emit.docs import page
from retrograde.ops.emit.latex import latex, partials, value
from retrograde.ops.emit.stubs import plain
from retrograde.ops.expr import Expr, Num, Var, equal, function, unequal, where
from retrograde.ops.scalar import HALF, LN2

x, y, z = Var("x"), Var("y"), Var("z")
exp, log, sqrt, hypot, power = map(function, ("exp", "log", "sqrt", "hypot", "pow"))


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (x + y - z, "x + y - z"),
        (x - (y + z), "x - (y + z)"),
        (x + (y + z), "x + y + z"),
        (x + (-y), "x + (-y)"),
        (-(x + y), "-(x + y)"),
        (0 - (-x), "0 - (-x)"),
        (function("neg")(-x), "-(-x)"),
        (-(x * y), r"-x\,y"),
        ((x + y) * z, r"(x + y)\,z"),
        (x * (-y), r"x\,(-y)"),
        (2 * x, "2x"),
        (2 * (x + 1), "2 (x + 1)"),
        (x * 2, r"x \cdot 2"),
        (x * x, "x^2"),
        ((x + 1) * (x + 1), "(x + 1)^2"),
        (x / y, r"\frac{x}{y}"),
        ((x / y) * (x / y), r"\left(\frac{x}{y}\right)^2"),
        (x / y / y, r"\frac{x}{y^2}"),
        (HALF / z, r"\frac{1}{2z}"),
        (1 / (x * LN2), r"\frac{1}{x\,\ln 2}"),
        (log(x) * y, r"(\ln x)\,y"),
        (y * log(x), r"y\,\ln x"),
        (log(x + 1), r"\ln(x + 1)"),
        (log(x / y), r"\ln\left(\frac{x}{y}\right)"),
        (power(x + 1, y - 1), "(x + 1)^{y - 1}"),
        (power(exp(x), 2), "(e^{x})^{2}"),
        (exp(-x), "e^{-x}"),
        (sqrt(x + y), r"\sqrt{x + y}"),
        (hypot(x, 1), r"\sqrt{x^2 + 1}"),
        (1 / (hypot(x, y) * hypot(x, y)), r"\frac{1}{x^2 + y^2}"),
        (Var("slope") * x, r"\mathrm{slope}\,x"),
        (Num(float("-inf")) + x, r"-\infty + x"),
        (function("two_words")(x), r"\operatorname{two\_words}(x)"),
        (where((x >= y) | unequal(x, x), x, y), r"\max(x, y)"),
        (where((x > y) | unequal(y, y), y, x), r"\min(x, y)"),
        (
            where(equal(x, 0) & (y > 0), 0, where(x < 0, -1, 1)),
            r"\begin{cases} 0 & x = 0 \text{ and } y > 0 \\ -1 & x < 0 \\ "
            r"1 & \text{otherwise} \end{cases}",
        ),
    ],
)
def test_latex_has_no_more_parentheses_than_needed(formula: Expr, expected: str) -> None:
    assert latex(formula) == expected


@pytest.mark.parametrize("name", OPS)
def test_every_row_has_balanced_latex(name: str) -> None:
    for text in (value(OPS[name]), *partials(OPS[name])):
        assert text.count("{") == text.count("}")
        assert text.count("(") == text.count(")")
        assert text.count(r"\left") == text.count(r"\right")
        assert text.count(r"\begin") == text.count(r"\end")
        assert "|" not in text, "a bar would end the cell of a Markdown table"


@pytest.mark.parametrize("name", OPS)
def test_the_page_has_every_op_and_every_edge(name: str) -> None:
    lines = page(OPS.values()).splitlines()
    assert sum(line.startswith(f"| `{name}` | $") for line in lines) == 1
    assert sum(line.startswith(f"| `{name}(") for line in lines) == len(OPS[name].edges)


def test_the_cells_of_every_table_line_up() -> None:
    tables = page(OPS.values()).replace(r"\|", "").split("\n\n")
    widths = [{line.count("|") for line in table.splitlines()} for table in tables]
    assert [width for table, width in zip(tables, widths) if table.startswith("|")] == [
        {6},
        {6},
        {5},
        {3},
        {3},
    ]


def test_formulas_of_the_stubs_read_like_python() -> None:
    assert plain(OPS["div"].partials[1]) == "-(z / y)"
    slope = where(equal(y, 0), 0, y * power(x, y - 1))
    assert plain(slope) == "0 if y == 0 else y * x ** (y - 1)"
    assert plain(OPS["minimum"].value) == "x if x <= y or isnan(x) else y"
