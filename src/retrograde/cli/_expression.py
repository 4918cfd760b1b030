"""Expressions on the command line: a small grammar, read by Python's own parser and evaluated on
values here. Nothing is ever passed to ``eval``.

Numbers, names, ``pi``, ``+ - * / **``, functions of the law, ``sum`` and ``dot`` of lists of
numbers, methods such as ``x.tanh()``, and assignments separated by semicolons.
"""

from __future__ import annotations

import ast
import keyword
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from .._values import elementwise
from .._values.functions import dot, logsumexp, mean, norm
from .._values.functions import sum as sum_of
from ..errors import ExpressionError, RetrogradeError
from ..ops import OPS, STRUCTURAL
from ..ops.spellings import TYPED
from ..ops.structural import DOT, SUM
from ..value import Value
from ._suggestions import meant

LONGEST = 10_000
"""Characters past which an expression is refused: it belongs in a script."""

_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_BY_SYMBOL = {op.symbol: name for name, op in OPS.items()}
_BINARY = {kind: _BY_SYMBOL[sign] for kind, sign in _SIGNS.items()}
_LISTS: dict[str, Callable[..., Any]] = {
    SUM.name: sum_of, DOT.name: dot, "mean": mean, "norm": norm, "logsumexp": logsumexp,
}  # fmt: skip
_MODULES = ("rg", "math", "np")
FUNCTIONS = sorted([*OPS, *_LISTS, *TYPED])
CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau}
"""Constants by their names in Python's module ``math``; ``pi`` alone also without it."""


def numbers_given(texts: Sequence[str]) -> dict[str, float]:
    """``["a=2", "b=1/3"]`` as numbers.

    >>> numbers_given(["a=2", "rate=-0.5e-3", "third=1/3"])
    {'a': 2.0, 'rate': -0.0005, 'third': 0.3333333333333333}
    """
    found: dict[str, float] = {}
    for text in texts:
        name, equals, number = text.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier() or keyword.iskeyword(name):
            raise ExpressionError.assignment(text)
        if name in found:
            raise ExpressionError.twice(name)
        found[name] = _number(text, number)
    return found


def _number(text: str, number: str) -> float:
    """A number as it is typed: ``2``, ``-1e-3``, ``1/3``, ``sqrt(2)``, ``pi/4``."""
    try:
        return float(number)
    except ValueError:
        pass
    try:
        ((name, expression),) = _parsed(number)
        result = _Evaluator(number, dict(CONSTANTS)).of(expression)
    except (ValueError, ArithmeticError):
        raise ExpressionError.assignment(text) from None
    if name or not isinstance(result, float):
        raise ExpressionError.assignment(text)
    return result


def evaluate(text: str, numbers: dict[str, float]) -> Value:
    """The value of an expression, its names labelled.

    >>> evaluate("relu(a*b + d)", {"a": 2.0, "b": -3.0, "d": 10.0}).data
    4.0
    """
    try:
        return _evaluated(text, numbers)
    except ExpressionError as error:
        suggestion = _suggestion(text, numbers)
        if not suggestion:
            raise
        problem = error
    raise ExpressionError.suggested(text, suggestion) from problem


def _suggestion(text: str, numbers: dict[str, float]) -> str:
    """What was probably meant by an expression that failed, if that can be evaluated; else ''."""
    text = text.strip()
    names = {*numbers, *(name for name in re.findall(r"(\w+)\s*=", text))}
    suggestion = meant(text, names, {*FUNCTIONS, *_MODULES}) if len(text) <= LONGEST else text
    if suggestion == text:
        return ""
    try:
        _evaluated(suggestion, numbers)
    except (RetrogradeError, ArithmeticError):
        return ""
    return suggestion


def _evaluated(text: str, numbers: dict[str, float]) -> Value:
    statements = _parsed(text)
    assigned = {name for name, _ in statements if name}
    used = {name for _, expression in statements for name in _names_used(expression)}
    missing = sorted(used - set(numbers) - assigned - {"pi"})
    if missing:
        raise ExpressionError.unknown(missing, list(numbers))
    for given in numbers:
        if given not in used:
            raise ExpressionError.unused(given, sorted(used - assigned))
    scope: dict[str, Any] = {name: Value(x, label=name) for name, x in numbers.items()}
    scope.setdefault("pi", math.pi)
    result: Any = None
    for name, expression in statements:
        result = _Evaluator(text, scope).of(expression)
        if name:
            if isinstance(result, Value) and not result.label:
                result.label = name
            scope[name] = result
    if not isinstance(result, Value):
        raise ExpressionError.constant(text)
    return result


def _names_used(expression: ast.expr) -> set[str]:
    """The names that stand for numbers, not for functions or modules."""
    names, callees = [], set()
    for node in ast.walk(expression):
        if isinstance(node, ast.Name):
            names.append(node)
        elif isinstance(node, ast.Call):
            callees.add(node.func)
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in _MODULES:
            callees.add(node.value)
    return {name.id for name in names if name not in callees}


def _parsed(text: str) -> list[tuple[str | None, ast.expr]]:
    """The statements: the name each assigns, if any, and its expression."""
    if len(text) > LONGEST:
        raise ExpressionError.syntax("", f"it is longer than {LONGEST:,} characters", None)
    try:
        tree = ast.parse(text.strip())
    except SyntaxError as error:
        why = error.msg or "its syntax"
        raise ExpressionError.syntax(text.strip(), why, error.offset) from None
    except (ValueError, MemoryError, RecursionError):
        raise ExpressionError.syntax("", "it is nested too deeply, or holds a null", None) from None
    statements: list[tuple[str | None, ast.expr]] = []
    for node in tree.body:
        if isinstance(node, ast.Expr):
            statements.append((None, node.value))
        elif (
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
        ):
            statements.append((node.targets[0].id, node.value))
        else:
            raise _refused(text, node)
    if not statements:
        raise ExpressionError.syntax("", "it is empty", None)
    return statements


def _refused(text: str, node: ast.AST) -> ExpressionError:
    part = ast.get_source_segment(text.strip(), node) or type(node).__name__
    return ExpressionError.part(text, part)


class _Evaluator:
    """Evaluates one expression with an explicit stack, so that depth does not matter."""

    def __init__(self, text: str, scope: dict[str, Any]) -> None:
        self.text, self.scope = text, scope

    def of(self, expression: ast.expr) -> Any:
        done: dict[ast.expr, Any] = {}
        stack = [expression]
        while stack:
            node = stack[-1]
            waiting = [part for part in self._parts(node) if part not in done]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            done[node] = self._value(node, [done[part] for part in self._parts(node)])
        return done[expression]

    def _parts(self, node: ast.expr) -> list[ast.expr]:
        """The operands of a node; what is not in the grammar is refused."""
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return [node.left, node.right]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            return [node.operand]
        if isinstance(node, (ast.List, ast.Tuple)):
            return list(node.elts)
        if isinstance(node, ast.Call) and not node.keywords:
            return [*([] if self._bare(node.func) else [self._receiver(node)]), *node.args]
        if isinstance(node, ast.Name) or _is_number(node) or self._constant(node) is not None:
            return []
        raise _refused(self.text, node)

    def _bare(self, called: ast.expr) -> bool:
        """``exp`` or ``rg.exp``, not the method ``x.exp``."""
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            return called.value.id in _MODULES and called.value.id not in self.scope
        return isinstance(called, ast.Name)

    def _constant(self, node: ast.expr) -> float | None:
        """``math.pi`` as a number."""
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
            return None
        ours = node.value.id in _MODULES and node.value.id not in self.scope
        return CONSTANTS.get(node.attr) if ours else None

    def _receiver(self, node: ast.Call) -> ast.expr:
        if not isinstance(node.func, ast.Attribute):
            raise _refused(self.text, node)
        return node.func.value

    def _value(self, node: ast.expr, operands: list[Any]) -> Any:
        if isinstance(node, ast.Constant):
            return float(node.value)  # type: ignore[arg-type]
        if isinstance(node, ast.Name):
            if node.id not in self.scope:
                raise ExpressionError.unknown([node.id], list(self.scope))
            return self.scope[node.id]
        if isinstance(node, ast.Attribute):
            return self._constant(node)
        if isinstance(node, (ast.List, ast.Tuple)) and list not in map(type, operands):
            return operands
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            return _call(name or getattr(node.func, "id", ""), operands)
        for operand in operands:
            if isinstance(operand, list):
                raise _refused(self.text, node)
        if isinstance(node, ast.UnaryOp):
            return operands[0] if isinstance(node.op, ast.UAdd) else elementwise.neg(operands[0])
        assert isinstance(node, ast.BinOp)
        if isinstance(node.op, ast.Pow) and any(isinstance(v, Value) for v in operands):
            return operands[0] ** operands[1]
        return getattr(elementwise, _BINARY[type(node.op)])(*operands)


def _is_number(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, (int, float))
        and not isinstance(node.value, bool)
        and (isinstance(node.value, float) or abs(node.value) < 2**1000)
        and not math.isnan(float(node.value))
    )


def _call(name: str, operands: list[Any]) -> Any:
    """A function of the law, or one of lists, on operands."""
    typed, name = name, TYPED.get(name, name)
    if typed in ("max", "min") and len(operands) > 2:  # as many as Python's own
        *operands, last = operands
        operands = [_call(typed, operands), last]
    if name in _LISTS:
        function, lists = _LISTS[name], STRUCTURAL[name].sides if name in STRUCTURAL else 1
        if not all(isinstance(operand, list) for operand in operands) and lists == 1:
            operands = [operands]  # sum(a, b) as sum([a, b])
        if len(operands) != lists or not all(isinstance(each, list) for each in operands):
            how = "write [a, b] for a list" if lists == 1 else "write two lists, dot([a], [x])"
            raise ExpressionError.operands(name, how)
    elif name in OPS:
        function = getattr(elementwise, name)
        if any(isinstance(operand, list) for operand in operands):
            raise ExpressionError.operands(name, "it takes numbers, not lists")
    else:
        raise ExpressionError.function(name, FUNCTIONS)
    try:
        return function(*operands)
    except RetrogradeError:
        raise
    except TypeError as error:
        raise ExpressionError.operands(name, str(error)) from None
