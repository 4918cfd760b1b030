"""Methods that depend on more than their operands: a switch the program flips, a global.

Trying them once would tell nothing of the other position of the switch. Read from the syntax tree,
as is whether a class is given whole arrays.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ._script import tree_of

_ARRAYS = frozenset(
    "array asarray zeros ones full eye arange linspace zeros_like ones_like empty stack "
    "concatenate reshape outer meshgrid loadtxt tensor".split()
)
_DRAWS = frozenset(("rand", "randn", "standard_normal"))
_OF_ARRAYS = frozenset(
    "shape T reshape zeros_like ones_like dot matmul transpose ndim expand_dims squeeze axis "
    "broadcast_to sum_to einsum".split()
)


def changing_methods(name: str, statement: ast.ClassDef, sources: list[bytes]) -> set[str]:
    """The methods of a class that read what is changed outside of it."""
    own = {node.attr for node in ast.walk(statement) if _is_stored_on(node, {"self", "out"})}
    attributes: set[str] = set()
    globals_: set[str] = set()
    functions: dict[str, set[str]] = {}
    for source in sources:
        tree = tree_of(source)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                attributes.add(node.attr)
            elif isinstance(node, ast.Global):
                globals_ |= set(node.names)
            elif isinstance(node, ast.FunctionDef):
                functions.setdefault(node.name, set()).update(_read([node]))
    changing = (attributes - own) | globals_
    for _ in range(3):  # functions that read it, and those that call them
        reading = {each for each, read in functions.items() if read & changing}
        changing |= reading - _names(statement)
    return {
        each.name
        for each in statement.body
        if isinstance(each, ast.FunctionDef) and _read([each]) & changing
    }


def _names(statement: ast.ClassDef) -> set[str]:
    return {each.name for each in statement.body if isinstance(each, ast.FunctionDef)}


def _is_stored_on(node: ast.AST, places: set[str]) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id in places
    )


def _read(nodes: Iterable[ast.AST]) -> set[str]:
    """The names and attributes that are read below nodes."""
    found = set()
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                found.add(node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.add(node.id)
    return found


def gives_arrays(name: str, statement: ast.ClassDef, sources: list[bytes]) -> bool:
    """Whether a class computes on arrays, or is given one somewhere."""
    if _read([statement]) & _OF_ARRAYS or any(
        isinstance(node, ast.MatMult) for node in ast.walk(statement)
    ):
        return True
    for source in sources:
        tree = tree_of(source)
        nodes = list(ast.walk(tree)) if tree is not None else []
        arrays = {
            target.id
            for node in nodes
            if isinstance(node, ast.Assign) and _is_array(node.value, set())
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id == name and node.args and _is_array(node.args[0], arrays):
                    return True
    return False


def _is_array(node: ast.expr, names: set[str]) -> bool:
    if isinstance(node, (ast.List, ast.ListComp)):
        return True
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.BinOp):
        return _is_array(node.left, names) or _is_array(node.right, names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        sized = any(word.arg == "size" for word in node.keywords)
        many = node.func.attr in _DRAWS and bool(node.args)
        return sized or many or node.func.attr in _ARRAYS
    return False
