"""What the values of a program are called: found by walking its variables and what they hold.

Lists, dicts and objects are followed to any depth, without recursion and each once; what names
parts better goes first (objects and dicts before lone variables, those before lists).
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import (
    BuiltinFunctionType,
    CodeType,
    FrameType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MethodType,
    ModuleType,
    TracebackType,
)
from typing import Any, TypeVar

from .._shared.numerics import np
from .._shared.sites import Site
from .._values.nests import dotted, entries
from .._values.sequences import ComputingSequence
from .._values.watch import WatchedPass, watching
from ..diagnose.discovery import variables_now
from ..optim.optimizer import Optimizer
from ..value import Value
from ._script import tree_of

Watcher = TypeVar("Watcher")

MOST_PARTS = 1_000_000
"""So many parts of variables are looked at; what lies nearest to a variable comes first."""

_NONE: Mapping[str, int] = MappingProxyType({})
_PLAIN = frozenset((int, float, bool, str, bytes, complex, type(None)))
_CLOSED = (
    str, bytes, bytearray, memoryview, type, ModuleType, FunctionType, MethodType, CodeType,
    BuiltinFunctionType, GeneratorType, FrameType, TracebackType, set, frozenset,
)  # fmt: skip


_ARGUMENT, _LOOP = 4, 5


def passing_names(source: bytes) -> dict[str, int]:
    """The names in a source that stand for one thing after the other, with how little they say:
    arguments, and names of loops, which say less. One that is also assigned to is neither.

    >>> passing_names(b"def f(x, q): return x + q\\nx, y = 1, 2\\nfor p in params: f(p, 2)")
    {'p': 5, 'q': 4}
    """
    found: dict[str, int] = {}
    assigned: set[str] = set()
    tree = tree_of(source)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            targets = ast.walk(node.target)
            found |= {it.id: _LOOP for it in targets if isinstance(it, ast.Name)}
        elif isinstance(node, ast.arg):
            found.setdefault(node.arg, _ARGUMENT)
        elif isinstance(node, ast.Assign):
            targets = (it for target in node.targets for it in ast.walk(target))
            stored = [it for it in targets if isinstance(it, ast.Name)]
            assigned |= {it.id for it in stored if isinstance(it.ctx, ast.Store)}
    return {name: rank for name, rank in found.items() if name not in assigned}


def labels_of(
    variables: Mapping[str, Any], passing: Mapping[str, int] = _NONE, most: int | None = None
) -> list[tuple[Value, str]]:
    """Every value that variables lead to, each once, with what to call it; ``most`` parts of them
    are looked at.

    A dict hands its keys on as names; ``passing`` variables name what nothing else does.

    >>> import retrograde as rg
    >>> table = {"wte": [[rg.Value(1.0), rg.Value(2.0)]], "b": rg.Value(3.0)}
    >>> params = [*table["wte"][0], table["b"], rg.Value(4.0)]
    >>> for value, label in labels_of({"params": params, "table": table}):
    ...     print(value.data, label)
    3.0 b
    1.0 wte[0][0]
    2.0 wte[0][1]
    4.0 params[3]
    """
    walk = _Walk(variables, MOST_PARTS if most is None else most)
    ranks: dict[int, list[tuple[str, Any]]] = {}
    for name, thing in variables.items():
        if not name.startswith("__") and type(thing) not in _PLAIN:
            rank = passing.get(name) or _rank(thing)
            ranks.setdefault(rank, []).append((name, thing))
    for rank in sorted(ranks):
        walk.through(ranks[rank])
    return walk.found


def _rank(thing: Any) -> int:
    if isinstance(thing, Optimizer):
        return _LOOP  # it holds the parameters of others
    if isinstance(thing, Value):
        return 2
    if isinstance(thing, Mapping):
        return 1
    return 3 if isinstance(thing, (list, tuple, deque, np.ndarray)) else 0


class _Walk:
    """One walk over variables: what was found, and what need not be entered again."""

    def __init__(self, variables: Mapping[str, Any], most: int) -> None:
        self.found: list[tuple[Value, str]] = []
        self._named: set[int] = set()
        self._entered: set[int] = set()
        self._held: list[Any] = []  # made on the way: their ids stay theirs
        self._left = most
        self._taken = set(variables)

    def through(self, variables: list[tuple[str, Any]]) -> None:
        """Everything these variables lead to, what is nearest first."""
        waiting: deque[tuple[str, Any]] = deque()
        for name, thing in variables:
            if isinstance(thing, Mapping):
                waiting.extend(self._entries(name, thing))
            else:
                waiting.append((name, thing))
        while waiting:
            path, thing = waiting.popleft()
            if isinstance(thing, Value):
                if id(thing) not in self._named:
                    self._named.add(id(thing))
                    self.found.append((thing, path))
            elif self._left > 0 and id(thing) not in self._entered:
                self._entered.add(id(thing))
                waiting.extend(self._inside(path, thing))

    def _entries(self, name: str, thing: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
        """A variable that is a dict: its keys are names of their own, where they are free."""
        if id(thing) in self._entered:
            return
        self._entered.add(id(thing))
        for key, part in list(thing.items()):
            self._left -= 1
            if type(part) in _PLAIN:
                continue
            if isinstance(key, str) and key and key not in self._taken:
                self._taken.add(key)
                yield key, part
            else:
                yield dotted(name, key), part

    def _inside(self, path: str, thing: Any) -> Iterator[tuple[str, Any]]:
        held = entries(list(thing) if isinstance(thing, deque) else thing)
        if held is None:
            closed = isinstance(thing, (*_CLOSED, np.ndarray))
            held = [] if closed else list(_attributes(thing))
        elif isinstance(thing, (np.ndarray, ComputingSequence)):
            self._held.append(held)
        self._left -= len(held)
        for key, part in held:
            if type(part) not in _PLAIN:
                yield dotted(path, key), part


def _attributes(thing: Any) -> Iterator[tuple[str, Any]]:
    """What an object holds, without running any of its code."""
    try:
        held = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        held = {}
    if isinstance(held, dict):
        yield from list(held.items())
    for kind in type(thing).__mro__:
        for name, member in vars(kind).items():
            if type(member).__name__ == "member_descriptor" and name != "__dict__":
                try:
                    yield name, member.__get__(thing)
                except AttributeError:
                    continue


@contextmanager
def labelled(names: Iterable[tuple[Value, str]]) -> Iterator[None]:
    """Label the values that have no label by these names, inside the block; the first one holds."""
    given: list[tuple[Value, str]] = []
    try:
        for value, name in names:
            if not value.label and name:
                given.append((value, value.label))
                value.label = name
        yield
    finally:
        for value, before in given:
            value.label = before


class Lent:
    """Labels lent to a program's values while something looks at a pass: once a line of passes."""

    def __init__(self, passing: Mapping[str, int]) -> None:
        self._passing = passing
        self._seen: set[Site | None] = set()
        self._labels = ExitStack()

    @contextmanager
    def around(self, watcher: AbstractContextManager[Watcher]) -> Iterator[Watcher]:
        """Watch, with the labels there as the watcher is told of a pass."""
        with (
            watching(begun=self._give),
            watcher as inside,
            watching(begun=self._take_back),
        ):
            yield inside

    def _give(self, this: WatchedPass) -> None:
        if this.site not in self._seen:
            self._seen.add(this.site)
            self._labels.enter_context(labelled(labels_of(variables_now(), self._passing)))

    def _take_back(self, this: WatchedPass) -> None:
        self._labels.close()
