"""Values spelled as one writes them: ``a * b`` in names, ``2 × -3`` in numbers, ``a*b + c`` whole.

Only text is made here, from ops, names and numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ops import OPS, STRUCTURAL
from ..ops.sentences import shown

SHOWN_TERMS = 6
"""Operands of a long sum that are written out."""

_INFIX = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 4, "<": 0, "<=": 0, "==": 0}
"""Operators and how tightly they bind."""

_ATOM, _SIGN = 5, 3
_SIGNS = {"*": "×", "/": "÷"}


def symbol_of(op: str) -> str:
    """How an op is written on a node: ``*``, ``ReLU``, ``sum``; nothing for leaves and numbers."""
    if op in OPS:
        return OPS[op].symbol
    return "" if op in ("leaf", "number") else op


def expression(op: str, symbol: str, operands: Sequence[str]) -> str:
    """One operation on operands that stand for themselves.

    >>> expression("mul", "*", ["a", "b"]), expression("relu", "ReLU", ["v1"])
    ('a * b', 'relu(v1)')
    >>> expression("square", "**2", ["a"]), expression("neg", "neg", ["a"])
    ('a ** 2', '-a')
    >>> expression("dot", "dot", ["a", "b", "x", "y"])
    'dot([a, b], [x, y])'
    """
    if symbol in _INFIX and len(operands) == 2:
        left, right = operands
        return f"{left} {symbol} {_after_sign(symbol, right)}"
    row = OPS.get(op)
    if row is not None and row.exponent:
        return f"{operands[0]} ** {row.exponent}"
    if row is not None and row.prefix:
        return f"{row.prefix}{_after_sign(row.prefix, operands[0])}"
    if op in STRUCTURAL and STRUCTURAL[op].sides > 1:
        lists = (f"[{_listed(side)}]" for side in STRUCTURAL[op].lists(operands))
        return f"{op}({', '.join(lists)})"
    return f"{symbol if op == 'custom' else op}({_listed(operands)})"


def with_numbers(op: str, symbol: str, numbers: Sequence[float]) -> str:
    """One operation on numbers, as in a calculation by hand.

    >>> with_numbers("mul", "*", [2.0, -3.0]), with_numbers("sub", "-", [1.0, -3.0])
    ('2 × -3', '1 - (-3)')
    >>> with_numbers("sum", "sum", [1.0, 2.0, 3.0])
    '1 + 2 + 3'
    >>> with_numbers("dot", "dot", [1.0, 2.0, 3.0, 4.0])
    '1×3 + 2×4'
    """
    texts = [shown(number) for number in numbers]
    row = STRUCTURAL.get(op)
    if row is not None and row.sides <= len(texts) <= SHOWN_TERMS:
        terms = ["×".join(factors) for factors in zip(*row.lists(texts))]
        return " + ".join([terms[0], *(_after_sign("+", term) for term in terms[1:])])
    if symbol in _SIGNS and len(texts) == 2:
        return f"{texts[0]} {_SIGNS[symbol]} {texts[1]}"
    if op in OPS and "**" in symbol and texts[0].startswith("-"):
        texts[0] = f"({texts[0]})"
    return expression(op, symbol, texts)


def _after_sign(symbol: str, operand: str) -> str:
    """An operand in parentheses where two signs would meet."""
    return f"({operand})" if operand.startswith("-") and symbol in ("+", "-") else operand


def _listed(items: Sequence[str]) -> str:
    if len(items) <= SHOWN_TERMS:
        return ", ".join(items)
    return f"{', '.join(items[: SHOWN_TERMS - 2])}, … {len(items)} in all"


def spell_whole(
    ops: Sequence[str],
    symbols: Sequence[str],
    names: Sequence[str],
    named: Sequence[bool],
    inputs: Sequence[Sequence[int]],
    longest: int,
) -> list[str | None]:
    """Every value in full, down to what has a name: ``a*b + c``; None where that is too long.

    Inputs stand before their uses, so one walk does it, and no text grows past ``longest``.
    """
    texts: list[str | None] = []
    binding: list[int] = []
    for index, op in enumerate(ops):
        if named[index] or not inputs[index]:
            texts.append(names[index])
            binding.append(_SIGN if names[index].startswith("-") else _ATOM)
            continue
        parts = [texts[i] for i in inputs[index]]
        total = sum(longest + 1 if part is None else len(part) for part in parts)
        if total > longest:
            texts.append(None)
            binding.append(_ATOM)
            continue
        spelled = [part or "" for part in parts]
        text, strength = _joined(op, symbols[index], spelled, [binding[i] for i in inputs[index]])
        texts.append(text if len(text) <= longest else None)
        binding.append(strength)
    return texts


def _joined(op: str, symbol: str, parts: list[str], binding: list[int]) -> tuple[str, int]:
    """One operation on texts, with the parentheses it needs and how tightly it binds."""
    if symbol in _INFIX and len(parts) == 2:
        strength = _INFIX[symbol]
        left, right = parts
        if binding[0] < strength or (symbol == "**" and binding[0] < _ATOM):
            left = f"({left})"
        if binding[1] <= strength:
            right = f"({right})"
        gap = "" if strength >= 2 else " "
        return f"{left}{gap}{symbol}{gap}{_after_sign(symbol, right)}", strength
    row = OPS.get(op)
    if row is not None and row.exponent:
        base = parts[0] if binding[0] == _ATOM else f"({parts[0]})"
        return f"{base}{symbol}", _INFIX["**"]
    if row is not None and row.prefix:
        return f"{row.prefix}{parts[0] if binding[0] > _SIGN else f'({parts[0]})'}", _SIGN
    return expression(op, symbol, parts), _ATOM
