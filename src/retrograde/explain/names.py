"""What a value without a label is called: the variable its line assigned it to, where that is
certain, else ``v1``, ``v2``, … in the order they were made.

Certain means: the instruction that made the value spans exactly the right-hand side of an
assignment to a name, and makes one value each time it runs. Python 3.10 does not keep columns, so
there variables are not found.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Sequence

from .._shared.sites import Span
from ..ops import OPS
from ..ops.array import ARRAYS

_LONGEST_SOURCE = 20_000
"""Lines past which a file is not parsed for its variables."""


class Variables:
    """The variables that values were assigned to, found in their source; parsed once a file."""

    def __init__(self) -> None:
        self._targets: dict[str, dict[Span, tuple[str, ast.AST]]] = {}

    def of(self, file: str, span: Span | None, op: str) -> str | None:
        """The variable that a value was assigned to, given the piece of source that made it."""
        if span is None:
            return None
        found = self._targets_in(file).get(span)
        if found is None or not _makes_one(found[1], op):
            return None
        return found[0]

    def _targets_in(self, file: str) -> dict[Span, tuple[str, ast.AST]]:
        if file not in self._targets:
            self._targets[file] = _targets(linecache.getlines(file))
        return self._targets[file]


def _targets(lines: Sequence[str]) -> dict[Span, tuple[str, ast.AST]]:
    """The spans assigned to a name, with the name and what makes the value."""
    if not lines or len(lines) > _LONGEST_SOURCE:
        return {}
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[Span, tuple[str, ast.AST]] = {}
    for node in ast.walk(tree):
        for target, made in _assignments(node):
            if name := _name(target):
                end_line, end_column = made.end_lineno or 0, made.end_col_offset or 0
                found[(made.lineno, end_line, made.col_offset, end_column)] = name, made
    return found


def _name(target: ast.expr) -> str:
    """``x``, or ``w`` for ``self.w``; nothing for what has no one name."""
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        return target.attr
    return ""


def _assignments(node: ast.AST) -> Iterable[tuple[ast.expr, ast.expr | ast.AugAssign]]:
    """What a statement assigns to, each with what makes its value.

    ``x += y`` is made by the statement itself.
    """
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            if len(target.elts) == len(value.elts):
                yield from zip(target.elts, value.elts)
        else:
            yield target, value
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.AugAssign):
        yield node.target, node


def _makes_one(made: ast.AST, op: str) -> bool:
    """Whether its own instruction makes one value each time, and this op is it."""
    if isinstance(made, (ast.BinOp, ast.AugAssign)):
        if not isinstance(made.op, ast.Pow):
            return True
        if op not in OPS or "**" not in OPS[op].symbol:
            return False  # one of the products that a power is made of
        exponent, power = (
            made.right if isinstance(made, ast.BinOp) else made.value,
            OPS[op].exponent,
        )
        return power[:1] != "-" or ast.unparse(exponent) in (power, f"{power}.0")
    if isinstance(made, ast.UnaryOp):
        return True
    if isinstance(made, ast.Call):
        called = made.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        return name == op or (op == "leaf" and name not in ARRAYS)  # a row makes leaves on its way
    return False


def given_names(
    wanted: Sequence[str | None], fixed: Sequence[bool], labels: Sequence[str | None]
) -> list[str]:
    """A name for every value: the wanted one, ``w#2`` where it is taken, ``v1`` … without one.

    Where ``fixed``, the name is kept as it is (numbers). The first value with a label has the plain
    name, whichever variables are called the same.

    >>> given_names(["w", None, "w", "2"], [False, False, False, True], [None] * 4)
    ['w', 'v1', 'w#2', '2']
    >>> given_names(["loss", "loss"], [False, False], [None, "loss"])
    ['loss#2', 'loss']
    """
    reserved = {name for name, kept in zip(wanted, fixed) if name and not kept}
    owners: dict[str, int] = {}
    for place, label in enumerate(labels):
        if label:
            owners.setdefault(label, place)
    counts: dict[str, int] = dict.fromkeys(map(_printable, owners), 1)
    names = []
    unnamed = 0
    for place, (name, kept) in enumerate(zip(wanted, fixed)):
        if kept and name is not None:
            names.append(name)
            continue
        if not name:
            unnamed += 1
            while f"v{unnamed}" in reserved:
                unnamed += 1
            names.append(f"v{unnamed}")
            continue
        owned = owners.get(name) == place
        name = _printable(name)
        if owned:
            names.append(name)
            continue
        seen = counts[name] = counts.get(name, 0) + 1
        names.append(name if seen == 1 else f"{name}#{seen}")
    return names


def _printable(name: str) -> str:
    return name if name.isprintable() else name.encode("unicode_escape").decode("ascii")
