"""Methods that depend on more than their operands: a switch the program flips, a global.

Trying them once would tell nothing of the other position of the switch. Read from the syntax tree,
as is whether a class is given whole arrays.
"""

from __future__ import annotations

import ast

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


def changing_methods(statement: ast.ClassDef, sources: list[bytes]) -> set[str]:
    """The methods of a class that read what is changed outside of it.

    >>> source = b'''
    ... class Mode:
    ...     on = True
    ... def is_on():
    ...     return Mode.on
    ... class Value:
    ...     def __add__(self, other):
    ...         return Value(self.data + other.data)
    ...     def __mul__(self, other):
    ...         return Value(self.data * other.data, is_on())
    ... Mode.on = False
    ... '''
    >>> changing_methods(ast.parse(source).body[2], [source])
    {'__mul__'}
    """
    inside = set(ast.walk(statement))
    own = {node.attr for node in inside if isinstance(node, ast.Attribute) and _is_stored(node)}
    attributes: set[str] = set()
    names: set[str] = set()
    functions: dict[str, tuple[set[str], set[str]]] = {}
    for source in sources:
        tree = tree_of(source)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Attribute) and _is_stored(node):
                attributes.add(node.attr)
            elif isinstance(node, ast.Global):
                names |= set(node.names)
        for function in tree.body if tree is not None else ():
            if isinstance(function, ast.FunctionDef):
                functions[function.name] = _read(function)
    attributes -= own - _set_on_classes(statement)
    for _ in range(3):  # functions that read it, and those that call them
        names |= {each for each, read in functions.items() if _meet(read, attributes, names)}
    return {
        each.name
        for each in statement.body
        if isinstance(each, ast.FunctionDef) and _meet(_read(each), attributes, names)
    }


def _is_stored(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)


def _set_on_classes(statement: ast.ClassDef) -> set[str]:
    """What a class sets on itself: counters and switches, not attributes of its objects."""
    places = {statement.name, "cls"}
    return {
        node.attr
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute)
        and _is_stored(node)
        and isinstance(node.value, ast.Name)
        and node.value.id in places
    }


def _meet(read: tuple[set[str], set[str]], attributes: set[str], names: set[str]) -> bool:
    return bool(read[0] & attributes or read[1] & names)


def _read(top: ast.AST) -> tuple[set[str], set[str]]:
    """The attributes and the names that are read below a node."""
    attributes, names = set(), set()
    for node in ast.walk(top):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            attributes.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(node.id)
    return attributes, names


def gives_arrays(name: str, statement: ast.ClassDef, sources: list[bytes]) -> bool:
    """Whether a class computes on arrays, or is given one somewhere."""
    if _read(statement)[0] & _OF_ARRAYS or any(
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
