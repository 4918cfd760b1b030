"""Print the law as type stubs: ``elementwise.pyi``, and the op methods of class ``Value``."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Final

from ..expr import Absent, Expr
from ..op import Op
from ..words import WORDS
from .python import python

MARK = "# Generated from src/retrograde/ops/scalar.py by tools/regenerate.py: do not edit."

WIDTH = 100
ANY_OPERAND = "Value | _Number"
ARRAY = "NDArray[Any]"


def module(ops: Iterable[Op]) -> str:
    """The whole of ``elementwise.pyi``."""
    rows = sorted(ops, key=lambda op: op.name)
    names = "\n".join(f'    "{op.name}",' for op in rows)
    imports = (
        "from typing import Any, overload\n\nfrom numpy.typing import NDArray\n\n"
        "from .._native import Value, _Number"
    )
    exports = f"__all__ = [  # noqa: RUF022  sorted as Python sorts\n{names}\n]"
    return f"{MARK}\n\n{imports}\n\n{exports}\n\n" + "\n".join(map(functions, rows)) + "\n"


def functions(op: Op) -> str:
    """A row as overloads: values give a value, numbers a float, arrays an array."""
    signatures = []
    for place in range(op.arity):  # a value there, numbers before it
        kinds = ["_Number"] * place + ["Value"] + [ANY_OPERAND] * (op.arity - place - 1)
        signatures.append(_signature(op, op.inputs, kinds, "Value", given=place + 1))
    signatures.append(_signature(op, op.inputs, ["_Number"] * op.arity, "float"))
    for place in range(op.arity):  # an array there, none before it
        kinds = [ANY_OPERAND] * place + [ARRAY]
        kinds += [f"{ANY_OPERAND} | {ARRAY}"] * (op.arity - place - 1)
        signatures.append(_signature(op, op.inputs, kinds, ARRAY, given=place + 1))
    first, *others = signatures
    blank = "\n\n@overload\n"
    return f"@overload\n{first}\n{_docstring(op)}{blank}" + "\n@overload\n".join(
        f"{other} ..." for other in others
    )


def methods(ops: Iterable[Op]) -> str:
    """The op methods of class ``Value``: the value itself is the first input."""
    blocks = []
    for op in sorted(ops, key=lambda op: op.name):
        kinds = ["", *[ANY_OPERAND] * (op.arity - 1)]
        signature = _signature(op, ("self", *op.inputs[1:]), kinds, "Value")
        blocks.append(textwrap.indent(f"{signature}\n{_docstring(op)}", "    "))
    return "\n\n".join(blocks) + "\n"


def _signature(
    op: Op, names: Sequence[str], kinds: Sequence[str], result: str, given: int = 1
) -> str:
    """One signature. The first ``given`` operands have to be given, whatever their defaults."""
    required = op.arity - len(op.defaults)
    parameters = []
    for place, (name, kind) in enumerate(zip(names, kinds)):
        optional = place >= max(required, given)
        default = f" = {op.defaults[place - required]!r}" if optional else ""
        parameters.append(f"{name}: {kind}{default}" if kind else name)
    if op.arity == 1 and kinds[0]:
        parameters.append("/")
    line = f"def {op.name}({', '.join(parameters)}) -> {result}:"
    if len(line) + len(" ...") <= WIDTH:
        return line
    body = textwrap.indent(", ".join(parameters), "    ")
    if len(body) > WIDTH:
        body = textwrap.indent(",\n".join(parameters) + ",", "    ")
    return f"def {op.name}(\n{body}\n) -> {result}:"


def _docstring(op: Op) -> str:
    """The formulas and the words, as the docstring of a stub."""
    slopes = ", ".join(
        f"``dz/d{name} = {plain(partial)}``" for name, partial in zip(op.inputs, op.shown)
    )
    plural = "Slopes" if op.arity > 1 else "Slope"
    prose = _filled(f"{plural}: {slopes}. Backward, it {WORDS[op.kind]}.")
    value = _filled(f"``z = {plain(op.value)}``.")
    text = f'"""{value}\n\n{prose}\n"""'
    return textwrap.indent(text, "    ")


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH - 11, break_long_words=False, break_on_hyphens=False)


class _AsTyped(ast.NodeTransformer):
    """Calls that Python has an operator for become it; ``x != x`` becomes ``isnan(x)``."""

    OPERATORS: Final = MappingProxyType({"div": ast.Div, "pow": ast.Pow})

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.OPERATORS:
            return ast.BinOp(node.args[0], self.OPERATORS[node.func.id](), node.args[1])
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        sides = {ast.dump(side) for side in (node.left, *node.comparators)}
        if isinstance(node.ops[0], ast.NotEq) and len(sides) == 1:
            return ast.Call(ast.Name("isnan"), [node.left], [])
        return node


def plain(node: Expr) -> str:
    """A formula as a person would type it in Python.

    >>> from retrograde.ops import OPS
    >>> plain(OPS["softplus"].value)
    '(0 if x <= 0 else x) + log1p(exp(-abs(x)))'
    """
    if isinstance(node, Absent):
        return "not given"
    tree = _AsTyped().visit(ast.parse(python(node), mode="eval"))
    return re.sub(r"\b(\d+)\.0\b", r"\1", ast.unparse(tree))
