"""Which branches of a function may become choices: what its source does on the two sides.

A side qualifies where it does nothing but assign local names. What it calls is looked at when it
is run (``sides.py``).
"""

from __future__ import annotations

import ast
import builtins
import dis
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from types import CodeType

from ..value import Value
from .reads import CONSTANTS

Scope = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)

_ASKING = frozenset(
    "isinstance issubclass type id hasattr getattr callable locals globals vars eval exec".split()
)
"""Names of builtins that tell a number from a value, or see more than the names of a function."""

TELLING = frozenset("data grad inputs label ndim op partials requires_grad shape site size".split())
"""Attributes of a value that a plain number does not have, or that tell how the value was made."""

LACKED = frozenset(vars(Value)) - frozenset(dir(float)) - TELLING
"""Attributes that a value has and a plain number lacks."""

_UNFIT = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


def within(*nodes: ast.AST) -> Iterator[ast.AST]:
    """Everything in some nodes but what is in functions and classes defined there."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, Scope):
            pending.extend(ast.iter_child_nodes(node))


def stored(nodes: Iterable[ast.AST]) -> list[str]:
    """The local names that some nodes assign, in the order of the source."""
    names: dict[str, None] = {}
    for node in nodes:
        hidden = {
            id(target)
            for each in within(node)
            if isinstance(each, ast.comprehension)
            for target in within(each.target)
        }
        found = [
            each
            for each in within(node)
            if isinstance(each, ast.Name)
            and isinstance(each.ctx, (ast.Store, ast.Del))
            and id(each) not in hidden
        ]
        found.sort(key=lambda each: (each.lineno, each.col_offset))
        names.update(dict.fromkeys(each.id for each in found))
    return list(names)


def loaded(*nodes: ast.AST) -> set[str]:
    """The names that are read, those of functions defined there included."""
    return {
        each.id
        for node in nodes
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }


def outer_names(function: ast.AST) -> set[str]:
    """The names that a function declares to be somebody else's."""
    return {
        name
        for node in within(*ast.iter_child_nodes(function))
        if isinstance(node, (ast.Global, ast.Nonlocal))
        for name in node.names
    }


def only_assigns(statements: Sequence[ast.stmt], outer: set[str], returns: bool = False) -> bool:
    """Whether statements do nothing but assign local names, and go on behind their last."""
    return all(_is_plain(each, outer, returns, 0) for each in statements) and not (
        outer & set(stored(statements))
    )


def _is_plain(node: ast.stmt, outer: set[str], returns: bool, loops: int) -> bool:
    def all_plain(statements: Sequence[ast.stmt], deeper: int = 0) -> bool:
        return all(_is_plain(each, outer, returns, loops + deeper) for each in statements)

    if isinstance(node, (ast.If, ast.For)):
        parts = [node.test] if isinstance(node, ast.If) else [node.target, node.iter]
        if isinstance(node, ast.For) and not _is_names(node.target):
            return False
        fit = all(_is_fit(each) for each in parts)
        return fit and all_plain(node.body, isinstance(node, ast.For)) and all_plain(node.orelse)
    if isinstance(node, (ast.Break, ast.Continue)):
        return loops > 0
    if isinstance(node, ast.Return):
        return returns and (node.value is None or _is_fit(node.value))
    if isinstance(node, ast.Assign):
        return _is_fit(node.value) and all(map(_is_names, node.targets))
    if isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        value = node.value
        return isinstance(node.target, ast.Name) and value is not None and _is_fit(value)
    if isinstance(node, ast.Assert):
        return _is_fit(node.test)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass)


def _is_names(target: ast.AST) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(map(_is_names, target.elts))
    return isinstance(target, ast.Name)


def _is_fit(expression: ast.AST) -> bool:
    return not any(isinstance(each, _UNFIT) for each in within(expression))


def is_fit(*expressions: ast.AST) -> bool:
    """Whether expressions assign nothing and wait for nobody."""
    return all(map(_is_fit, expressions))


def is_repeatable_text(function: ast.AST) -> bool:
    """Whether a function assigns no names but its own, and enters only what it makes itself: else
    it may come to something else the second time."""
    for node in within(*ast.iter_child_nodes(function)):
        if isinstance(node, ast.ClassDef):
            return False
        if isinstance(node, ast.With) and not all(
            isinstance(item.context_expr, ast.Call) for item in node.items
        ):
            return False
    body = getattr(function, "body", None)
    return not outer_names(function) & set(stored(body if isinstance(body, list) else []))


def is_unlike(name: str, sides: Sequence[Sequence[ast.stmt]], elsewhere: set[str]) -> bool:
    """Whether nobody can see what a name means after the sides of a branch: each side that reads
    it has assigned it before, and nothing else reads it."""
    if name in elsewhere:
        return False
    return all(_assigned_first(name, side) for side in sides)


def _assigned_first(name: str, statements: Sequence[ast.stmt]) -> bool:
    for number, node in enumerate(statements):
        if name not in loaded(node) and name not in stored([node]):
            continue
        if isinstance(node, ast.Assign):
            return name not in loaded(node.value) and name in stored([node])
        later = loaded(*statements[number + 1 :])
        if isinstance(node, ast.If) and name not in loaded(node.test) and name not in later:
            return _assigned_first(name, node.body) and _assigned_first(name, node.orelse)
        if isinstance(node, ast.For) and name not in loaded(node.iter) and name not in later:
            return name in stored([node.target]) or _assigned_first(name, node.body)
        return False
    return True


@lru_cache(maxsize=4096)
def asks_for_kinds(code: CodeType) -> bool:
    """Whether a function may tell a chosen value from a number, or from another value that is the
    same: by its type, by identity, or by looking it up."""
    before = None
    for each in dis.get_instructions(code):
        name = each.opname
        if name == "IS_OP" and not (
            before is not None and before.opname in CONSTANTS and before.argval is None
        ):
            return True
        if name == "CONTAINS_OP" or name.startswith("MATCH_"):
            return True
        if name in ("LOAD_GLOBAL", "LOAD_NAME") and each.argval in _ASKING:
            return True
        before = each
    return any(asks_for_kinds(each) for each in code.co_consts if isinstance(each, CodeType))


EXTREMES = {"min": builtins.min, "max": builtins.max}
