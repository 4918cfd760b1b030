"""What a value without a label is called: the variable its line assigned it to, where that is
certain, else the function that returned it, else ``v1``, ``v2``, … in the order they were made.

Certain means: the instruction that made the value spans exactly the right-hand side of an
assignment to a name, and makes one value each time it runs, or several of which one is the result,
as ``loss = sum(...)`` does. Python 3.10 does not keep columns, so there variables are not found.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .._shared.sites import Span
from ..ops import OPS
from ..ops.array import ARRAYS

_LONGEST_SOURCE = 20_000
"""Lines past which a file is not parsed for its variables."""

_LONGEST_NAME = 32
_MODULES = ("rg", "retrograde")


def is_own(name: str) -> bool:
    """Whether a name was given or assigned: ``f()`` only says where a value came from.

    >>> is_own("loss"), is_own("loss#2"), is_own("criterion()"), is_own("criterion()#3")
    (True, True, False, False)
    """
    return not name.partition("#")[0].endswith("()")


class Target(NamedTuple):
    """Where a piece of source goes: the variable, or ``f()`` where it is what ``f`` returns."""

    name: str
    made: ast.AST


class Variables:
    """The variables that values were assigned to, found in their source; parsed once a file."""

    def __init__(self) -> None:
        self._targets: dict[str, dict[Span, Target]] = {}

    def of(self, file: str, span: Span | None, op: str) -> str | None:
        """The variable that a value was assigned to, given the piece of source that made it."""
        if span is None:
            return None
        found = self._targets_in(file).get(span)
        if found is None or not _makes_one(found.made, op):
            return None
        return found.name

    def of_call(self, file: str, span: Span | None) -> str | None:
        """The variable that the result of a call was assigned to, whatever it computed."""
        found = None if span is None else self._targets_in(file).get(span)
        return found.name if found is not None and isinstance(found.made, ast.Call) else None

    def _targets_in(self, file: str) -> dict[Span, Target]:
        if file not in self._targets:
            self._targets[file] = _targets(_tree(file))
        return self._targets[file]


def _tree(file: str) -> ast.AST | None:
    lines = linecache.getlines(file)
    if not lines or len(lines) > _LONGEST_SOURCE:
        return None
    try:
        return ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return None


def _targets(tree: ast.AST | None) -> dict[Span, Target]:
    """The spans assigned to a name or returned, with the name and what makes the value."""
    found: dict[Span, Target] = {}
    for inside, node in _with_functions(tree):
        if isinstance(node, ast.Return) and node.value is not None and inside:
            found[_span(node.value)] = Target(f"{inside}()", node.value)
        for target, made in _assignments(node):
            if name := _name(target):
                found[_span(made)] = Target(name, made)
    return found


def _span(node: ast.expr | ast.AugAssign) -> Span:
    return node.lineno, node.end_lineno or 0, node.col_offset, node.end_col_offset or 0


def _with_functions(tree: ast.AST | None) -> Iterator[tuple[str, ast.AST]]:
    """Every node of a tree, and the function it stands in: ``Neuron`` for its ``__call__``."""
    pending = [] if tree is None else [("", "", tree)]
    while pending:
        function, owner, node = pending.pop()
        yield function, node
        if isinstance(node, ast.ClassDef):
            owner = node.name
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            called = node.name in ("__call__", "forward")
            function = owner if called and owner else node.name
        elif isinstance(node, ast.Lambda):
            function = ""
        pending.extend((function, owner, inner) for inner in ast.iter_child_nodes(node))


def root_of_line(file: str, line: int) -> str:
    """What a line calls the value it runs backward from: ``loss`` for ``loss.backward()``; '' where
    it does not say.

    A helper's result has the name of the helper: ``criterion(p, y).backward()`` is ``criterion``.
    """
    found = []
    for _, node in _with_functions(_tree(file)):
        if not isinstance(node, ast.Call) or not node.lineno <= line <= (node.end_lineno or 0):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
            module = isinstance(node.func.value, ast.Name) and node.func.value.id in _MODULES
            found.append(node.args[0] if module and node.args else node.func.value)
        elif isinstance(node.func, ast.Name) and node.func.id == "backward" and node.args:
            found.append(node.args[0])
    return _spelled(found[0]) if len(found) == 1 else ""


def _spelled(expression: ast.expr) -> str:
    """An expression as a name, where it is one: ``loss``, ``self.loss``, ``losses[-1]``."""
    while isinstance(expression, ast.Call):
        expression = expression.func
    base = expression
    while isinstance(base, (ast.Attribute, ast.Subscript)):
        base = base.value
    if not isinstance(base, ast.Name):
        return ""
    parts = ast.unparse(expression).split(".")
    text = ".".join(parts[parts[0] in ("self", *_MODULES) and len(parts) > 1 :])
    return text if len(text) <= _LONGEST_NAME else ""


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
    if isinstance(node, ast.Assign):
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
    name, whichever variables are called the same; without one, the last value, if it is the root,
    else the first. The others are counted where they stand: the third ``x`` is ``x#3``.

    >>> given_names(["w", None, "w", "2", None], [False, False, False, True, False], [None] * 5)
    ['w', 'v1', 'w#2', '2', 'v2']
    >>> given_names(["x", "x", "x"], [False] * 3, [None] * 3)
    ['x#1', 'x#2', 'x']
    >>> given_names(["loss", "x", "loss", "x"], [False] * 4, [None, None, "loss", None])
    ['loss#1', 'x#1', 'loss', 'x']
    """
    reserved = {name for name, kept in zip(wanted, fixed) if name and not kept}
    owners: dict[str, int] = {}
    for place, label in enumerate(labels):
        if label:
            owners.setdefault(label, place)
    if wanted and not fixed[-1] and (root := wanted[-1]):
        owners.setdefault(root, len(wanted) - 1)
    counts: dict[str, int] = {}
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
        owner = owners.setdefault(name, place)
        name = _printable(name)
        counts[name] = counts.get(name, 0) + 1
        names.append(name if owner == place else f"{name}#{counts[name]}")
    return names


def _printable(name: str) -> str:
    return name if name.isprintable() else name.encode("unicode_escape").decode("ascii")
