"""A script's own engine class replaced by ours, where it stands, without moving a line.

The class statement stays and runs; only what it binds is another class. Whatever of the script's
class is not ours to the last rule stays the script's: ``_plan.py`` finds that out by trying.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import CodeType
from typing import Any

from .._values.watch import core_backward, reporting, unwatched
from ..errors import ReplaceError
from ..value import Value, core
from ._apart import tried_apart
from ._construction import constructor_of
from ._facts import Facts, facts_of, sources_of
from ._plan import Plan, planned
from ._renamed import Answer, property_of

_BINDER = "__retrograde_class__"
_ABSENT = object()
_NAMES = ("__name__", "__qualname__", "__module__")
_PRINTING = ("__repr__", "__str__", "__format__")


@dataclass
class Replacement:
    """One class of the script that ours stands in for, and what of it stayed.

    ``added`` are methods and constants that ours lacks, ``kept`` those that give other results than
    ours or could not be compared; both are the script's own code, working on our values. ``own``
    says why the whole class stayed the script's.
    """

    name: str
    line: int = 0
    own: str = ""
    added: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    script: str = ""
    _undo: list[Any] = field(default_factory=list)

    def statement(self, source: bytes, path: str) -> tuple[ast.Module, ast.ClassDef]:
        """The syntax tree of a source, and the one statement in it that defines the class."""
        tree = ast.parse(source, path)
        found = [node for node in _top_level(tree) if _defines(node, self.name)]
        if found and isinstance(found[-1], ast.ClassDef):
            return tree, found[-1]  # of several, as in notebooks, the last is the finished one
        nodes = list(ast.walk(tree))
        raise ReplaceError.of(
            self.name,
            path,
            nested=[getattr(node, "lineno", 0) for node in nodes if _defines(node, self.name)],
            classes=[node.name for node in tree.body if isinstance(node, ast.ClassDef)],
            module=next((each for node in nodes for each in _imported(node, self.name)), ""),
        )

    def code(self, source: bytes, path: str, names: dict[str, Any]) -> CodeType:
        """A source compiled so that its class statement binds our class."""
        tree, statement = self.statement(source, path)
        self.line = statement.lineno
        facts = facts_of(self.name, statement, [source, *sources_of(self.script or path)])
        first = statement.decorator_list[0] if statement.decorator_list else statement
        binder = ast.Name(_BINDER, ast.Load())
        binder.lineno = binder.end_lineno = first.lineno
        binder.col_offset = binder.end_col_offset = first.col_offset
        statement.decorator_list.insert(0, binder)

        def bind(theirs: type) -> type:
            names.pop(_BINDER, None)
            return self._settle(theirs, names, facts)

        names[_BINDER] = bind
        return compile(tree, path, "exec", dont_inherit=True)

    def _settle(self, theirs: type, names: dict[str, Any], facts: Facts) -> type:
        """Put ours in the place of theirs, with what of theirs has to stay; or leave it alone."""
        before = names.get(self.name, _ABSENT)

        def apply(plan: Plan) -> Callable[[], None]:
            self._apply(plan, theirs)
            names[self.name] = Value
            return undo

        def undo() -> None:
            self.undo()
            names[self.name] = theirs

        def trial() -> Plan:
            with unwatched():
                return planned(theirs, names, facts, apply)

        names[self.name] = theirs  # its methods make values by this name
        try:
            plan = tried_apart(trial) or Plan(own="it could not be tried")
        finally:
            if before is _ABSENT:
                del names[self.name]
            else:
                names[self.name] = before
        self.own = plan.own
        if self.own:
            return theirs
        self.added, self.kept = plan.added, list(plan.kept)
        if plan.backward == "theirs":
            self.kept.append("backward")
        self._apply(plan, theirs)
        return Value

    def _apply(self, plan: Plan, theirs: type) -> None:
        """Our class with what of theirs has to stay."""
        members: dict[str, Any] = {}
        for owner in reversed(theirs.__mro__[:-1]):
            members.update(vars(owner))
        stays: dict[str, Any] = dict(plan.defaults)
        stays |= {name: property_of(Answer(*answer)) for name, answer in plan.answers.items()}
        stays |= {name: members[name] for name in (*plan.added, *plan.kept)}
        stays |= {name: members.get(name, getattr(object, name)) for name in _PRINTING}
        stays |= _identity(members)
        stays |= {name: getattr(theirs, name) for name in _NAMES}
        if theirs.__doc__ is not None:
            stays["__doc__"] = theirs.__doc__
        if plan.backward != "ours":
            stays["backward"] = _backward(plan.backward, members["backward"])
        if plan.roles is not None:
            construct, stays["__init__"] = constructor_of(plan.roles)
            core.set_constructor(construct)
            self._undo.append(lambda: core.set_constructor(None))
        for name, member in stays.items():
            self._put(name, member)
        if plan.lends:
            core.lend_attributes(True)
            self._undo.append(lambda: core.lend_attributes(False))

    def _put(self, name: str, member: Any) -> None:
        """Set an attribute of our class until the program ends."""
        if name in _NAMES:
            before = getattr(Value, name)
        elif name == "backward":
            before = core_backward()
        else:
            before = vars(Value).get(name, _ABSENT)

        def undo() -> None:
            if before is _ABSENT:
                delattr(Value, name)
            else:
                setattr(Value, name, before)

        self._undo.append(undo)
        setattr(Value, name, member)
        for kind in Value.__subclasses__() if name in _NAMES else ():
            if kind.__module__ == core.__name__:  # values with closures are of a type of their own
                self._undo.append(partial(setattr, kind, name, getattr(kind, name)))
                setattr(kind, name, member)

    def undo(self) -> None:
        """Our class as it was."""
        while self._undo:
            self._undo.pop()()


def _identity(members: dict[str, Any]) -> dict[str, Any]:
    """Equality, truth and hash as theirs has them: by identity, where it says nothing."""
    found: dict[str, Any] = {
        "__eq__": members.get("__eq__", object.__eq__),
        "__ne__": members.get("__ne__", object.__ne__),
    }
    if callable(members.get("__hash__")):
        found["__hash__"] = members["__hash__"]
    if "__bool__" in members:
        found["__bool__"] = members["__bool__"]
    elif "__len__" in members:
        found["__bool__"] = lambda self: len(self) != 0
    else:
        found["__bool__"] = lambda self: True
    return found


def _backward(which: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """The script's own backward; of "both", for graphs that a pass has been over before."""
    if which == "theirs":
        return reporting(method)
    ours = core_backward()

    def backward(self: Any) -> Any:
        again = self.grad or any(each.grad for each in self._children if each._op)
        return method(self) if again else ours(self)

    return reporting(backward)


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


def _top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements of a module, those in its blocks too, in their order."""
    waiting: list[ast.AST] = [*reversed(tree.body)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.expr)):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))
