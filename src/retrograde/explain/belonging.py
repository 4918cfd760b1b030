"""Where a value belongs: the module whose parameters it is computed with, else the function or the
line that made it. A place is a path of names from the outside in; comprehensions have no place of
their own. Nothing is folded here.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..ops import kind_of

if TYPE_CHECKING:
    from .entries import Node, Place

DEEPEST = 8
"""Parts of a label that make groups; what lies deeper lies together."""

MANY = 12
"""Parameters of one list past which they are a group of their own."""

Path = tuple[str, ...]
Owners = dict[int, Path]
Held = tuple[Path, str]

_SEGMENT = re.compile(r"[^.\[]+(?:\[[^\]]*\]?)*|(?:\[[^\]]*\]?)+")
_ADDED = ("copy", "copy-flip")
"""Kinds of op that only add."""


def label_parts(label: str) -> Path:
    """A label as the modules it lies in, from the outside in, and last itself.

    >>> label_parts("m.layers[0].neurons[2].w[1]"), label_parts("layers.0.w[3]")
    (('m', 'layers[0]', 'neurons[2]', 'w[1]'), ('layers.0', 'w[3]'))
    >>> label_parts("weights[0][1][2]")
    ('weights[0]', '[1]', '[2]')
    """
    parts: list[str] = []
    for piece in _SEGMENT.findall(label):
        if piece.isdigit() and parts:
            parts[-1] += f".{piece}"
        else:
            parts.append(piece)
    if len(parts) == 1 and parts[0].count("[") > 1:  # a list of lists: its rows are the modules
        base, *indices = parts[0].replace("[", "\0[").split("\0")
        parts = [base + indices[0], *indices[1:]]
    return tuple(parts) or (label,)


def places_of(nodes: Sequence[Node], by: str | None) -> list[Path]:
    """The path of every value but numbers.

    ``by`` is "label", "function" or "line"; left out, labels where they tell values apart, else
    functions and lines.
    """
    paths = _by_module(nodes) if by in (None, "label") else []
    if not paths or (by is None and len(set(paths)) < 3):
        enclosing = Enclosing()
        paths = [_by_source(node, enclosing, by) for node in nodes]
    return paths


def depths_of(nodes: Sequence[Node]) -> list[int]:
    """How many steps from the leaves each value lies, along its longest route."""
    depths = [0] * len(nodes)
    for node in nodes:
        depths[node.id] = max((depths[it] for it in node.inputs), default=-1) + 1
    return depths


# ---- functions and lines ------------------------------------------------------------------------


class Enclosing:
    """The function a line stands in, as a person says it: never a comprehension."""

    def __init__(self) -> None:
        self._spans: dict[str, list[tuple[int, int, str]]] = {}

    def function(self, place: Place) -> str:
        """``Neuron`` for a line of its ``__call__``, ``criterion``; '' outside of functions."""
        if place.file not in self._spans:
            self._spans[place.file] = _functions(place.file)
        inside = [each for each in self._spans[place.file] if each[0] <= place.line <= each[1]]
        if inside:
            return max(inside)[2]
        return "" if place.function.startswith("<") else place.function


def _functions(file: str) -> list[tuple[int, int, str]]:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return []
    found = []
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending:
        owner, node = pending.pop()
        if isinstance(node, ast.ClassDef):
            owner = node.name
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            called = owner and node.name in ("__call__", "forward")
            name = owner if called else node.name
            found.append((node.lineno, node.end_lineno or node.lineno, name))
        pending.extend((owner, inner) for inner in ast.iter_child_nodes(node))
    return found


def _by_source(node: Node, enclosing: Enclosing, by: str | None) -> Path:
    if node.site is None:
        return ()
    function = enclosing.function(node.site)
    path: Path = (f"{function}()",) if function else ()
    if by == "function":
        return path or ("the script",)
    return (*path, _line(node.site))


def _line(place: Place) -> str:
    return place.text or f"line {place.line}"


# ---- modules ------------------------------------------------------------------------------------


def _by_module(nodes: Sequence[Node]) -> list[Path]:
    """By the modules of the parameters; nothing where no parameter is in one."""
    owners = _owners(nodes)
    if not owners:
        return []
    enclosing = Enclosing()
    depths = depths_of(nodes)
    modules = _modules(nodes, owners, depths, enclosing)
    paths: list[Path] = []
    root_function = _function(nodes[-1], enclosing)
    lists = Counter((owners[it], _base(nodes[it])) for it in owners)
    for node in nodes:
        module = modules[node.id]
        if node.id in owners and lists[owners[node.id], _base(node)] > MANY:
            paths.append((*owners[node.id], _base(node)))
        elif module is not None:
            paths.append(module)
        elif not node.inputs:
            paths.append(label_parts(node.label)[:-1][:1] if node.label else ())
        else:
            function = _function(node, enclosing)
            own = node.site is not None and function and function != root_function
            named = f"{function}()" if own else _line(node.site) if node.site else ""
            paths.append((named,) if named else ())
    return paths


def _base(node: Node) -> str:
    """The list a parameter stands in: ``w`` for ``layer.w[3]``, ``w[0]`` for ``w[0][3]``."""
    label = node.label or ""
    return label_parts(label)[-1].partition("[")[0] or label.rpartition("[")[0]


def _function(node: Node, enclosing: Enclosing) -> str:
    return enclosing.function(node.site) if node.site is not None else ""


def _owners(nodes: Sequence[Node]) -> Owners:
    """By leaf that takes gradients: the module it is a parameter of, by its label."""
    held = {
        node.id: _held(node.label)
        for node in nodes
        if node.op == "leaf" and node.requires_grad and node.label
    }
    owners: Owners = {}
    depths: dict[int, int] = {}  # of the layer that the module lies in
    layered = _layered(held.values())
    for index, (module, place) in held.items():
        base, *rows = _layer(place, layered.get(module, 0))
        in_a_layer = rows and module in layered
        path = (*module, base, *rows[:-1])[:DEEPEST] if in_a_layer else module[:DEEPEST]
        if path:
            owners[index], depths[index] = path, len(module) + 1 if in_a_layer else 1
    dotted = [index for index in owners if held[index][0]]
    if len({owners[it][0] for it in dotted}) == 1 and all(
        len(owners[it]) > 1 and owners[it][0].isidentifier() for it in dotted
    ):  # one model: its layers are the outermost groups
        for it in dotted:
            model, layer, *inner = owners[it]
            owners[it], depths[it] = (f"{model}.{layer}", *inner), max(depths[it] - 1, 1)
    layers = {path: path[: depths[index]] for index, path in owners.items()}
    return _with_biases(nodes, owners, layers)


def _held(label: str) -> Held:
    """The object that holds a parameter, and what it is called in there."""
    path = label_parts(label)
    if len(path) > 1 and path[1].startswith("["):
        return (), "".join(path)
    return path[:-1], path[-1]


def _layered(held: Iterable[Held]) -> dict[Path, int]:
    """The objects whose lists are layers, with how deep they nest: those that hold several
    matrices, as ``net.w[0][1]`` and ``net.v[0][1]``; lists in no object are always layers."""
    deepest: dict[Path, int] = {}
    places: dict[Path, list[str]] = {}
    for module, place in held:
        places.setdefault(module, []).append(place)
        deepest[module] = max(deepest.get(module, 0), place.count("["))
    matrices = {
        module: {_layer(place, deepest[module])[0] for place in inside if place.count("[") > 1}
        for module, inside in places.items()
    }
    return {it: deepest[it] for it in places if not it or len(matrices[it]) > 1}


def _layer(place: str, deepest: int) -> list[str]:
    """A place in a list as its layer and its rows: ``w``, ``[0]``, ``[1]`` for ``w[0][1]``.

    Beside lists three deep the first index counts layers: ``biases[0]`` beside ``weights[0]``.
    """
    base, *indices = place.replace("[", "\0[").split("\0")
    return [base + indices[0], *indices[1:]] if deepest > 2 and indices[1:] else [base, *indices]


def _with_biases(nodes: Sequence[Node], owners: Owners, layers: dict[Path, Path]) -> Owners:
    """What is only ever added to what one layer computes belongs to that layer: ``biases[0]``
    beside ``weights[0]``. ``layers`` says of every module which one it lies in."""
    tops: dict[Path, set[Path]] = {}
    beside: dict[int, set[Path]] = {}
    made: dict[int, Path] = {}
    for node in nodes:
        found = [owners[it] for it in node.inputs if it in owners]
        inherited = [made[it] for it in node.inputs if it in made]
        if found and kind_of(node.op) not in _ADDED:
            made[node.id] = found[0]
        elif inherited:
            made[node.id] = inherited[0]
        for it in node.inputs:
            if it in owners:
                others = {made[other] for other in node.inputs if other in made}
                beside.setdefault(it, set()).update(
                    others if kind_of(node.op) in _ADDED else {owners[it]}
                )
    for index, places in beside.items():
        tops.setdefault(layers[owners[index]], set()).update(layers[place] for place in places)
    moved: dict[Path, Path] = {}
    for top, places in tops.items():
        if len(places) == 1 and top not in places:
            (place,) = places
            if place[:-1] == top[:-1]:
                moved[top] = place
    names: dict[Path, list[str]] = {}
    for top, place in moved.items():
        names.setdefault(place, []).append(top[-1])
    joined = {top: ", ".join([top[-1], *sorted(more)]) for top, more in names.items()}
    result: Owners = {}
    for index, path in owners.items():
        if layers[path] in moved:
            there = beside[index]
            path = next(iter(there)) if len(there) == 1 else moved[layers[path]]
        layer = layers.get(path, path)
        result[index] = (*layer[:-1], joined.get(layer, layer[-1]), *path[len(layer) :])
    return result


def _modules(
    nodes: Sequence[Node], owners: Owners, depths: Sequence[int], enclosing: Enclosing
) -> list[Path | None]:
    """The module of each value: of the parameters it is computed with, else of its inputs, as long
    as the next module is still to come or it is made where other values of modules are."""
    direct = {
        node.id: found
        for node in nodes
        if (found := [owners[it] for it in node.inputs if it in owners])
    }
    begins: dict[Path, int] = {}
    for index, found in direct.items():
        for path in found:
            begins[path] = min(begins.get(path, depths[index]), depths[index])
    latest = partial(max, key=lambda path: begins.get(path, 0))
    leads = [False] * len(nodes)  # to a module that is still to come
    for node in reversed(nodes):
        if leads[node.id] or node.id in direct:
            for it in node.inputs:
                leads[it] = True
    where = _Places(nodes, enclosing)
    modules: list[Path | None] = [None] * len(nodes)
    for index, path in owners.items():
        modules[index] = path
    for node in nodes:
        if node.id in direct:
            modules[node.id] = latest(direct[node.id])
            where.add(node, modules[node.id])
        elif node.inputs:
            found = [its for it in node.inputs if (its := modules[it]) is not None]
            if found:
                modules[node.id] = _common(found, latest)
            if leads[node.id]:
                where.add(node, modules[node.id])
    for node in nodes:  # where the last module ends is said by the source alone
        if node.inputs and node.id not in direct and not leads[node.id]:
            if any(modules[it] is None and nodes[it].inputs for it in node.inputs) or not (
                where.holds(node, modules[node.id])
            ):
                modules[node.id] = None
    return modules


def _common(found: Sequence[Path], latest: Callable[[Sequence[Path]], Path]) -> Path:
    """The innermost module that holds all; of modules apart, the latest."""
    first, *rest = found
    size = len(first)
    for path in rest:
        same = [one == other for one, other in zip(first, path)]
        size = min(size, same.index(False) if False in same else len(same))
    return first[:size] or latest(found)


class _Places:
    """Lines and functions in which modules compute."""

    def __init__(self, nodes: Sequence[Node], enclosing: Enclosing) -> None:
        self._enclosing = enclosing
        self._root = self._function(nodes[-1])
        self._lines: set[tuple[str, int]] = set()
        self._functions: set[tuple[str, str]] = set()

    def _function(self, node: Node) -> tuple[str, str]:
        if node.site is None:
            return "", ""
        return node.site.file, self._enclosing.function(node.site)

    def add(self, node: Node, module: Path | None) -> None:
        """A value that a module computes for certain."""
        if module is None or node.site is None:
            return
        self._lines.add((node.site.file, node.site.line))
        function = self._function(node)
        if function[1] and function != self._root:
            self._functions.add(function)

    def holds(self, node: Node, module: Path | None) -> bool:
        """Whether a value is made where modules compute."""
        if module is None or node.site is None:
            return module is not None
        line = (node.site.file, node.site.line)
        return line in self._lines or self._function(node) in self._functions
