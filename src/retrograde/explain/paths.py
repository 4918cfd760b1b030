"""Which path a program took through its own branches, as data: the comparisons of values that
decided it, so that a page can tell whether it would have gone another way.

Where the comparisons were not recorded, the source is looked through for what may have decided.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from .._shared.sites import site_of, span_of
from .._values.compared import MOST, Comparison
from ..ops import OPS, STRUCTURAL
from ..passes import values
from ..passes.flat import NUMBER_OPERAND, Pass
from ..passes.tensors import holds_tensors
from ..value import Value

if TYPE_CHECKING:
    from .story import Story

TURNED = (
    "{name} = {number} takes another path: {where}, {condition} was {was} and would be {now}. "
    "Nothing was moved: run the program again with {name} = {number}."
)
ANYWAY = (
    "Leaves move along the recorded path now. Where a condition would come out otherwise, these "
    "numbers are not what the program would compute."
)
UNRECORDED = (
    "{where} decides by {condition}, and whether that would come out otherwise was not recorded. "
    "retrograde explain script.py records it, and so does a block of "
    "retrograde.explain.following()."
)
BY_DATA = (
    "{where} decides by {condition}, a plain number, so nobody knows whether that would come out "
    "otherwise. Compare the value itself, without .data."
)
ASTRAY = (
    "A comparison of this run no longer follows from the numbers shown: data was changed in "
    "between, so the path cannot be followed."
)
TOO_MANY = "The program made more comparisons than are kept, so its path cannot be followed."
UNFOLLOWED = "{where} decides by an op written in Python or by a tensor: this page cannot run it."
SEVERAL = "{text} So do {count} other places."


@dataclass(frozen=True)
class Path:
    """The comparisons of a run: by place in ``graph``, or a number. ``whole`` is false where not
    all of them were kept."""

    graph: Pass | None
    checks: tuple[tuple[int | float, str, int | float, bool, Any], ...]
    whole: bool = True


def path_of(log: Sequence[Comparison]) -> Path:
    """The comparisons of a log with the graphs of what they compared, as they are now."""
    sides = [side for each in log for side in (each.left, each.right) if isinstance(side, Value)]
    if not sides:
        return Path(None, ())
    if len(log) > MOST or holds_tensors(sides):
        return Path(None, (), whole=False)
    graph = values.read(tuple({id(side): side for side in sides}.values()))
    place = graph.place_of

    def at(side: Any) -> int | float:
        return place[id(side)] if isinstance(side, Value) else float(side)

    known: dict[tuple[Any, ...], Any] = {}
    for each in log:
        check = (at(each.left), each.symbol, at(each.right), each.outcome)
        known.setdefault(tuple(map(repr, check)), (*check, each.made_at))
    return Path(graph, tuple(known.values()))


def paths_of(story: Story, count: int) -> dict[str, Any]:
    """What the page knows of the path: ``checks`` with their operands by value, ``extra`` values
    that only they need, and why the path is ``unknown``, if it is."""
    told = {
        "checks": [], "extra": [], "unknown": "",
        "turned": TURNED, "anyway": ANYWAY, "astray": ASTRAY,
    }  # fmt: skip
    if story.columns.arrays is not None:
        return told
    if story.path is None:
        return {**told, "unknown": _unrecorded(story)}
    if not story.path.whole:
        return {**told, "unknown": TOO_MANY}
    by_data = _said(BY_DATA, [it for it in conditions(story) if it.by_data])
    if by_data or story.path.graph is None:
        return {**told, "unknown": by_data}
    return {**told, **_checks(story, story.path, story.path.graph, count)}


def _checks(story: Story, path: Path, graph: Pass, count: int) -> dict[str, Any]:
    """The checks in terms of the story's values; values it lacks are told as ops of others."""
    here: list[Any] = []
    extra: list[list[Any]] = []
    assert graph.values is not None
    operands = graph.by_value(graph.inputs)
    numbers = graph.by_value(graph.numbers)
    lost: set[int] = set()
    moves: set[int] = set()
    for index, value in enumerate(graph.values):
        known = story._place_of(value)
        if known is not None:
            here.append(known)
            moves.add(index)
            continue
        inputs = operands[index]
        if not inputs:
            here.append([_plain(float(graph.data[index]))])
            continue
        op = graph.ops[index]
        moving = any(it in moves for it in inputs)
        if (op not in OPS and op not in STRUCTURAL) or any(it in lost for it in inputs):
            lost.add(index)
        if moving:
            moves.add(index)
        else:
            here.append([_plain(float(graph.data[index]))])
            continue
        given = [
            [_plain(number)] if it == NUMBER_OPERAND else here[it]
            for it, number in zip(inputs, numbers[index])
        ]
        here.append(count + len(extra))
        extra.append([op, given])
    checks = []
    for left, symbol, right, outcome, made_at in path.checks:
        sides = [side for side in (left, right) if isinstance(side, int) and side in moves]
        where, condition = _place(made_at)
        if any(side in lost for side in sides):
            return {"unknown": UNFOLLOWED.format(where=_capital(where))}
        if sides:
            both = [here[it] if isinstance(it, int) else [_plain(it)] for it in (left, right)]
            checks.append([both[0], symbol, both[1], int(outcome), where, condition])
    return {"checks": checks, "extra": extra}


def _plain(number: float) -> float | str:
    from .page_data import plain

    return plain(number)


def _place(made_at: Any) -> tuple[str, str]:
    """``line 7`` and ``h > 0.2``, as far as they are known."""
    site = site_of(made_at) if made_at is not None else None
    if site is None:
        return "a comparison", "what it compares"
    where = f"line {site.line}" if site.file.startswith("<") else (
        f"{PurePath(site.file).name} line {site.line}"
    )  # fmt: skip
    line = linecache.getline(site.file, site.line)
    span = span_of(made_at)
    if span is not None and span[0] == span[1]:
        piece = line.encode()[span[2] : span[3]].decode(errors="replace").strip()
        if piece:
            return where, piece
    return where, line.strip() or "a comparison"


# ---- looking through the source -----------------------------------------------------------------


@dataclass(frozen=True)
class Condition:
    """A place in the source that may decide by a value: ``by_data`` where it reads its number."""

    file: str
    line: int
    text: str
    by_data: bool


_PICKERS = {"max", "min", "sorted", "any", "all"}
_NEVER = {"isinstance", "issubclass", "hasattr", "callable", "len", "issubset"}
_NUMBERS = {"float", "int", "bool", "round"}


def conditions(story: Story) -> list[Condition]:
    """The conditions of the functions that made a story's values, and of those that call them."""
    found: list[Condition] = []
    by_file: dict[str, set[tuple[str, int]]] = {}
    for site in story.columns.sites:
        by_file.setdefault(site.file, set()).add((site.function, site.line))
    for file, places in by_file.items():
        found += _in_file(file, frozenset(places))
    return found


def _unrecorded(story: Story) -> str:
    return _said(UNRECORDED, conditions(story))


def _said(text: str, found: Sequence[Condition]) -> str:
    if not found:
        return ""
    first = found[0]
    where = _capital(f"{PurePath(first.file).name} line {first.line}"
                     if not first.file.startswith("<") else f"line {first.line}")  # fmt: skip
    said = text.format(where=where, condition=first.text)
    more = len({(it.file, it.line) for it in found}) - 1
    if more > 1:
        return SEVERAL.format(text=said, count=more)
    return f"{said} So does another place." if more else said


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


@lru_cache(maxsize=64)
def _in_file(file: str, places: frozenset[tuple[str, int]]) -> list[Condition]:
    source = "".join(linecache.getlines(file))
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    functions = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
    lines = {line for _, line in places}
    involved = [
        it for it in functions if any(it.lineno <= line <= (it.end_lineno or 0) for line in lines)
    ]
    names = {it.name for it in involved}
    while True:  # whoever calls them decides with them
        callers = [it for it in functions if it not in involved and _calls(it) & _called(names)]
        if not callers:
            break
        involved += callers
        names |= {it.name for it in callers}
    found: dict[tuple[int, str], Condition] = {}
    for scope in (tree, *involved):
        for test in _tests(scope):
            text = ast.get_source_segment(source, test) or "a condition"
            text = " ".join(text.split())
            found.setdefault(
                (test.lineno, text), Condition(file, test.lineno, text, _reads_data(test))
            )
    return sorted(found.values(), key=lambda it: it.line)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _called(names: set[str]) -> set[str]:
    """How functions of these names are called: ``__call__`` by anything, which is left out."""
    return {name for name in names if not name.startswith("__")}


def _calls(scope: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(scope):
        if isinstance(node, ast.Call):
            called = node.func
            found.add(called.id if isinstance(called, ast.Name) else getattr(called, "attr", ""))
    return found


def _tests(scope: ast.AST) -> Iterator[ast.expr]:
    """What decides in a function, functions inside it left out."""
    counters = {name for name, _ in _counters(scope)}
    pending = list(ast.iter_child_nodes(scope))
    while pending:
        node = pending.pop()
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            continue
        pending.extend(ast.iter_child_nodes(node))
        tests: list[ast.expr] = []
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            tests = [node.test]
        elif isinstance(node, ast.comprehension):
            tests = node.ifs
        elif isinstance(node, ast.Match):
            tests = [node.subject]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in _PICKERS:
            tests = [node]
        for test in tests:
            yield from (part for part in _parts(test) if _may_decide(part, counters))


def _counters(scope: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Names that only count: ``for i in range(...)``, ``for i, x in enumerate(...)``."""
    for node in ast.walk(scope):
        if isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.iter, ast.Call):
            how = getattr(node.iter.func, "id", "")
            target = node.target
            if how == "enumerate" and isinstance(target, ast.Tuple):
                target = target.elts[0]
            if how in ("range", "enumerate") and isinstance(target, ast.Name):
                yield target.id, node


def _parts(test: ast.expr) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp):
        for part in test.values:
            yield from _parts(part)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _parts(test.operand)
    else:
        yield test


def _may_decide(test: ast.expr, counters: set[str]) -> bool:
    """Whether a value may stand in a condition. A bare name is taken for a flag."""
    if isinstance(test, (ast.Constant, ast.Name)) or (
        isinstance(test, ast.Attribute) and test.attr != "data"
    ):
        return False
    if isinstance(test, ast.Call) and getattr(test.func, "id", "") in _NEVER:
        return False
    if isinstance(test, ast.Compare):
        sides = [test.left, *test.comparators]
        if all(isinstance(op, (ast.Is, ast.IsNot)) for op in test.ops):
            return False
        if any(
            isinstance(it, ast.Constant) and not isinstance(it.value, (int, float)) for it in sides
        ):
            return False
        if any(isinstance(it, ast.Call) and getattr(it.func, "id", "") in _NEVER for it in sides):
            return False
    names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    return bool(names - counters)


def _reads_data(test: ast.expr) -> bool:
    for node in ast.walk(test):
        if isinstance(node, ast.Attribute) and node.attr == "data":
            return True
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in _NUMBERS:
            return True
    return False
