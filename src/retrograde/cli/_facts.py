"""What a program's text says of a class in it: which attributes are read and written outside of the
class, what is caught, copied or looked into. Read from the syntax tree; nothing is run.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from ._script import tree_of
from ._switches import changing_methods, gives_arrays

_LOOKING = frozenset(("getattr", "hasattr", "attrgetter", "setattr", "delattr"))
_MOST_FILES = 50


@dataclass
class Facts:
    """What was found about one class.

    ``reads``, ``writes`` and ``empties`` are names of attributes outside of the class: loaded,
    stored, set to None. ``methods`` are the attributes that each method of the class loads, and
    ``stores`` those that its methods set on ``self``. ``positions`` is the most arguments that the
    class is called with by position, ``seeded`` whether a backward pass is given an argument,
    ``typed`` whether types are compared with the class. ``dependent`` are methods that read what
    the program changes elsewhere (a switch, a mode), ``arrays`` says that it is given whole arrays,
    ``checks`` that its constructor refuses some arguments itself.
    """

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    empties: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)
    methods: dict[str, set[str]] = field(default_factory=dict)
    stores: set[str] = field(default_factory=set)
    catches: set[str] = field(default_factory=set)
    dependent: set[str] = field(default_factory=set)
    arrays: bool = False
    checks: bool = False
    positions: int = 0
    typed: bool = False
    seeded: bool = False


def facts_of(name: str, statement: ast.ClassDef, sources: list[bytes]) -> Facts:
    """The facts about a class: of its statement, and of the sources of the program."""
    facts = Facts()
    for source in sources:
        tree = tree_of(source)
        if tree is not None:
            _outside(facts, name, tree)
        facts.typed |= any(_compares_type(node, name) for node in ast.walk(tree or statement))
    for method in statement.body:
        if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
            facts.methods[method.name] = set(_loaded(method))
            if method.name in ("__init__", "__post_init__"):
                facts.checks |= any(
                    isinstance(node, (ast.Raise, ast.Assert)) for node in ast.walk(method)
                )
    facts.dependent = changing_methods(statement, sources)
    facts.arrays = gives_arrays(name, statement, sources)
    facts.stores = {
        node.attr
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }
    return facts


def _outside(facts: Facts, name: str, tree: ast.Module) -> None:
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, of_another = waiting.pop()
        if isinstance(node, ast.ClassDef):
            if node.name == name:
                _inside_too(facts, name, node)
                continue
            of_another = True
        waiting.extend((child, of_another) for child in ast.iter_child_nodes(node))
        _look_at(facts, name, node, of_another)
    facts.reads |= set(_loaded(tree, but=name))


def _inside_too(facts: Facts, name: str, statement: ast.ClassDef) -> None:
    """Of the class itself: the names and modules it uses, and what it catches."""
    for node in ast.walk(statement):
        if isinstance(node, ast.ExceptHandler):
            facts.catches |= _caught(node)
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            facts.names.add("vars")
        if isinstance(node, ast.Name) and node.id != name:
            facts.names.add(node.id)


def _look_at(facts: Facts, name: str, node: ast.AST, of_another: bool) -> None:
    if isinstance(node, ast.Attribute):
        own = of_another and isinstance(node.value, ast.Name) and node.value.id == "self"
        if isinstance(node.ctx, ast.Store) and not own:
            facts.writes.add(node.attr)
        if node.attr == "__dict__":
            facts.names.add("vars")
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        facts.names.add(node.id)
    elif isinstance(node, ast.Assign):
        if isinstance(node.value, ast.Constant) and node.value.value is None:
            facts.empties |= {each.attr for each in node.targets if isinstance(each, ast.Attribute)}
    elif isinstance(node, ast.Import):
        facts.modules |= {alias.name.partition(".")[0] for alias in node.names}
    elif isinstance(node, ast.ImportFrom):
        facts.modules.add((node.module or "").partition(".")[0])
    elif isinstance(node, ast.ExceptHandler):
        facts.catches |= _caught(node)
    elif isinstance(node, ast.Call):
        _look_at_call(facts, name, node)


def _look_at_call(facts: Facts, name: str, call: ast.Call) -> None:
    called = call.func
    if isinstance(called, ast.Name) and called.id in ("setattr", "delattr"):
        facts.writes |= set(_texts(call)) or {"setattr"}
    if isinstance(called, ast.Attribute) and called.attr == "backward":
        facts.seeded |= bool(call.args or call.keywords)
    if isinstance(called, ast.Name) and called.id == name:
        starred = any(isinstance(each, ast.Starred) for each in call.args)
        facts.positions = max(facts.positions, 99 if starred else len(call.args))


def _compares_type(node: ast.AST, name: str) -> bool:
    """``type(x) is Value``, or ``==``: a value of a type of its own would not be one."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    return any(isinstance(side, ast.Name) and side.id == name for side in sides)


def _caught(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {"Exception"}
    return {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}


def _texts(call: ast.Call) -> Iterator[str]:
    for each in call.args:
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def _loaded(tree: ast.AST, but: str = "") -> Iterator[str]:
    """The attributes that are read below a node, also by name; one class left out."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ClassDef) and node.name == but:
            continue
        waiting.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield node.attr
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
            yield node.target.attr
        elif isinstance(node, ast.Call):
            called = node.func
            word = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            if word in _LOOKING:
                yield from _texts(node)


def sources_of(script: str) -> list[bytes]:
    """The script and the modules beside it that it imports, and that those import."""
    folder = os.path.dirname(os.path.abspath(script))
    waiting, seen = [os.path.abspath(script)], set()
    found: list[bytes] = []
    while waiting and len(found) < _MOST_FILES:
        path = waiting.pop()
        if path in seen or not os.path.isfile(path):
            continue
        seen.add(path)
        with open(path, "rb") as file:
            found.append(file.read())
        tree = tree_of(found[-1])
        for node in ast.walk(tree) if tree is not None else ():
            waiting += [
                os.path.join(place, *module.split(".")) + ending
                for module in _imports(node)
                for place in (folder, os.path.dirname(path))
                for ending in (".py", f"{os.sep}__init__.py")
            ]
    return found


def _imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = node.module or ""
        inside = [f"{base}.{alias.name}".lstrip(".") for alias in node.names]
        return [base, *inside] if base else inside
    return []
