"""A script's own engine class replaced by ours, where it stands, without moving a line.

The class statement stays and runs; only what it binds is another class. Whatever of the script's
class is not ours to the last rule stays the script's: ``_agreement.py`` finds that out by trying.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from ..errors import ReplaceError
from ..value import Value
from ._agreement import agrees
from ._renamed import differing, renamed

_BINDER = "__retrograde_class__"

_ALWAYS_OURS = frozenset(
    "__init__ __new__ __slots__ __dict__ __weakref__ __module__ __qualname__ __doc__ __hash__ "
    "__eq__ __ne__ __bool__ __annotations__ __annotate__ __annotate_func__ __annotations_cache__ "
    "__match_args__ __getattribute__ __getattr__ __setattr__ __delattr__ __init_subclass__ "
    "__class_getitem__ __reduce__ __reduce_ex__ __getstate__ __setstate__ __copy__ __deepcopy__ "
    "__sizeof__ __del__ __firstlineno__ __static_attributes__ __orig_bases__ __parameters__ "
    "__dataclass_fields__ __dataclass_params__ __abstractmethods__ __replace__ __array_ufunc__ "
    "data grad label backward _backward _children _prev _op _local_grads".split()
)
"""What a value is made of, and what docs/differences.md says about it: never the script's."""

_PRINTING = frozenset(("__repr__", "__str__", "__format__"))


@dataclass
class Replacement:
    """One class of the script that ours stands in for, and what of it stayed.

    ``added`` are methods and constants that ours lacks, ``kept`` those that give other results than
    ours or could not be compared; both are the script's own code, working on our values.
    ``lost`` are attributes of its objects that ours do not have, ``differing`` those that ours
    have too, but read differently.
    """

    name: str
    line: int = 0
    added: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    lost: frozenset[str] = frozenset()
    differing: list[str] = field(default_factory=list)
    _attributes: frozenset[str] = frozenset()
    _before: dict[str, Any] = field(default_factory=dict)

    def statement(self, source: bytes, path: str) -> tuple[ast.Module, ast.ClassDef]:
        """The syntax tree of a source, and the one statement in it that defines the class."""
        tree = ast.parse(source, path)
        found = [node for node in tree.body if _defines(node, self.name)]
        if len(found) == 1 and isinstance(found[0], ast.ClassDef):
            return tree, found[0]
        nodes = list(ast.walk(tree))
        raise ReplaceError.of(
            self.name,
            path,
            lines=[node.lineno for node in found],
            nested=[getattr(node, "lineno", 0) for node in nodes if _defines(node, self.name)],
            classes=[node.name for node in tree.body if isinstance(node, ast.ClassDef)],
            module=next((each for node in nodes for each in _imported(node, self.name)), ""),
        )

    def code(self, source: bytes, path: str, names: dict[str, Any]) -> CodeType:
        """A source compiled so that its class statement binds our class."""
        tree, statement = self.statement(source, path)
        self.line = statement.lineno
        self._attributes = frozenset(_attributes(statement))
        first = statement.decorator_list[0] if statement.decorator_list else statement
        binder = ast.Name(_BINDER, ast.Load())
        binder.lineno = binder.end_lineno = first.lineno
        binder.col_offset = binder.end_col_offset = first.col_offset
        statement.decorator_list.insert(0, binder)

        def bind(theirs: type) -> type:
            names.pop(_BINDER, None)
            self._settle(theirs, names)
            return Value

        names[_BINDER] = bind
        return compile(tree, path, "exec", dont_inherit=True)

    def _settle(self, theirs: type, names: dict[str, Any]) -> None:
        """Put on our class what of theirs has to stay."""
        members: dict[str, Any] = {}
        for owner in reversed(theirs.__mro__[:-1]):
            members.update(vars(owner))
        attributes = {*self._attributes, *getattr(theirs, "__dataclass_fields__", ())}
        own = attributes - set(dir(Value))
        before = names.get(self.name, _BINDER)
        names[self.name] = theirs  # its methods make values by this name
        try:
            held = renamed(theirs, own)
            self.differing = differing(theirs, attributes - own - _ALWAYS_OURS)
            called = {answer.ours: name for name, answer in held.items()}
            stays = {
                name: member
                for name, member in members.items()
                if name not in _ALWAYS_OURS
                and name not in own  # the default of an attribute: reading it would be wrong
                and not _is_slot(member)
                and (
                    name in _PRINTING
                    or not hasattr(Value, name)
                    or not agrees(
                        theirs, name, called.get("data", "data"), called.get("grad", "grad")
                    )
                )
            }
        finally:
            if before is _BINDER:
                del names[self.name]
            else:
                names[self.name] = before
        self.lost = frozenset(own - held.keys())
        answers = {name: answer.property for name, answer in held.items()}
        for name, member in {**answers, **stays}.items():
            if name not in _PRINTING and name not in held:
                (self.kept if hasattr(Value, name) else self.added).append(name)
            self._before[name] = vars(Value).get(name, _BINDER)
            setattr(Value, name, member)

    def undo(self) -> None:
        """Our class as it was."""
        for name, member in self._before.items():
            if member is _BINDER:
                delattr(Value, name)
            else:
                setattr(Value, name, member)
        self._before.clear()


@contextmanager
def replacing(name: str) -> Iterator[Replacement]:
    """A replacement for one run; our class is as it was afterwards."""
    replacement = Replacement(name)
    try:
        yield replacement
    finally:
        replacement.undo()


def _defines(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.ClassDef) and node.name == name


def _imported(node: ast.AST, name: str) -> Iterator[str]:
    """The module a statement imports a name from."""
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        if any(alias.name == name for alias in node.names):
            yield node.module


def _is_slot(member: Any) -> bool:
    return type(member).__name__ == "member_descriptor"


def _attributes(statement: ast.ClassDef) -> Iterator[str]:
    """The attributes that a class's methods set on ``self``.

    With them those that it sets on the class, as counters are, in methods that ours stand in for.
    """
    for method in statement.body:
        ours = isinstance(method, ast.FunctionDef) and method.name in _ALWAYS_OURS
        places = {"self", statement.name} if ours else {"self"}
        for node in ast.walk(method):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                if isinstance(node.value, ast.Name) and node.value.id in places:
                    yield node.attr
