"""Answers made of a solution: small changes to its tree, one or two, and other algorithms."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator
from functools import cache

from mutations import variants

from retrograde.learn.exercises import Exercise

from .algorithms import ALGORITHMS

Spot = tuple[int, int]
"""A node of a tree, and which of its forms."""

_OTHERWISE = ("-it", "2 * it", "it / 2", "it * it", "it + 1", "abs(it)", "1.0", "0.0")
"""What stands in the place of an argument."""

KEPT = ("Value", "range", "len", "zip", "isinstance")
"""Names that are not swapped for others."""


def answers(it: Exercise, most: int) -> dict[str, str]:
    """About ``most`` answers by what was changed; the same ones each time."""
    found = {f"listed: {name} {place}": text for place, (name, text) in enumerate(it.wrong)}
    for what, (piece, other) in ALGORITHMS.get(it.name, {}).items():
        if piece not in it.solution:
            raise ValueError(f"{it.name}: {piece!r} is not in the solution")
        found[what] = it.solution.replace(piece, other)
    chance = random.Random(f"answers {it.name}")
    given = _functions_of(it.beginning)
    spots = _spots(it.solution, given)
    chance.shuffle(spots)
    seen = {ast.unparse(ast.parse(it.solution))}
    for spot in spots:
        if len(found) >= most:
            break
        what, text = _changed(it.solution, spot)
        if text not in seen:
            seen.add(text)
            found[_unlike(what, found)] = text
    for _ in range(20 * most):
        if len(found) >= most:
            break
        first, text = _changed(it.solution, chance.choice(spots))
        more = _spots(text, given)
        if not more:
            continue
        second, text = _changed(text, chance.choice(more))
        if text not in seen:
            seen.add(text)
            found[_unlike(f"{first}; {second}", found)] = text
    return found


def _unlike(what: str, found: dict[str, str]) -> str:
    """A description that no other answer has."""
    return what if what not in found else f"{what} ({len(found)})"


def _spots(source: str, given: set[str]) -> list[Spot]:
    """Every small change that can be made to a source, but for functions that were given."""
    tree = ast.parse(source)
    left_out = {
        id(part)
        for it in ast.walk(tree)
        if isinstance(it, ast.FunctionDef) and ast.unparse(it) in given
        for part in ast.walk(it)
    }
    return [
        (place, number)
        for place, node in enumerate(_nodes(tree))
        if id(node) not in left_out
        for number in range(len(list(_forms(node, source))))
    ]


def _functions_of(source: str) -> set[str]:
    """The functions of a source, as text."""
    found = (it for it in ast.walk(ast.parse(source)) if isinstance(it, ast.FunctionDef))
    return {ast.unparse(it) for it in found}


def _changed(source: str, spot: Spot) -> tuple[str, str]:
    """What one change is, and the source with it."""
    place, number = spot
    tree = ast.parse(source)
    node = _nodes(tree)[place]
    what, other = list(_forms(node, source))[number]
    line = getattr(node, "lineno", 0)
    return f"line {line}: {what}", ast.unparse(_replaced(tree, node, other))


def _nodes(tree: ast.AST) -> list[ast.AST]:
    """What runs: annotations do not."""
    kinds = [each for node in ast.walk(tree)
             for each in (getattr(node, "returns", None), getattr(node, "annotation", None))
             if isinstance(each, ast.AST)]  # fmt: skip
    left_out = {id(part) for each in kinds for part in ast.walk(each)}
    return [node for node in ast.walk(tree) if id(node) not in left_out]


def _replaced(tree: ast.Module, node: ast.AST, other: ast.AST) -> ast.Module:
    class Replacer(ast.NodeTransformer):
        def visit(self, each: ast.AST) -> ast.AST:
            return other if each is node else super().generic_visit(each)

    changed = Replacer().visit(tree)
    assert isinstance(changed, ast.Module)
    return ast.fix_missing_locations(changed)


def _forms(node: ast.AST, source: str) -> Iterator[tuple[str, ast.AST]]:
    yield from variants(node)
    if isinstance(node, ast.expr):
        for other in _expressions(node, source):
            yield f"{ast.unparse(node)}  ->  {ast.unparse(other)}", other
    elif isinstance(node, ast.AugAssign):
        plain = ast.Assign(targets=[node.target], value=node.value, lineno=node.lineno)
        yield f"{ast.unparse(node)}  ->  {ast.unparse(plain)}", plain
        opposite = copy.copy(node)
        opposite.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield f"{ast.unparse(node)}  ->  {ast.unparse(opposite)}", opposite
    elif isinstance(node, ast.For):
        turned = copy.copy(node)
        turned.iter = _call("reversed", _call("list", node.iter))
        yield f"for … in {ast.unparse(node.iter)}  ->  from the end", turned
        shorter = copy.copy(node)
        shorter.iter = ast.Subscript(
            _call("list", node.iter), ast.Slice(lower=ast.Constant(1)), ast.Load()
        )
        yield f"for … in {ast.unparse(node.iter)}  ->  without the first", shorter


def _expressions(node: ast.expr, source: str) -> Iterator[ast.expr]:
    if isinstance(getattr(node, "ctx", ast.Load()), ast.Store):
        return
    if isinstance(node, ast.BinOp):
        yield node.left  # a term or a factor left out
        yield node.right
        yield ast.BinOp(node.right, node.op, node.left)
        yield ast.UnaryOp(ast.USub(), node)
        if isinstance(node.op, (ast.Mult, ast.Div)):
            yield ast.BinOp(node.left, ast.Add(), node.right)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            yield ast.BinOp(node.left, ast.Mult(), node.right)
        if isinstance(node.op, ast.Pow):
            yield ast.BinOp(node.left, ast.Mult(), node.right)
    elif isinstance(node, ast.Tuple) and len(node.elts) > 1:
        yield ast.Tuple(node.elts[::-1], ast.Load())
        for place in range(len(node.elts)):
            yield ast.Tuple(
                [ast.Constant(0.0) if at == place else it for at, it in enumerate(node.elts)],
                ast.Load(),
            )
            yield ast.Tuple(
                [ast.UnaryOp(ast.USub(), it) if at == place else it
                 for at, it in enumerate(node.elts)],
                ast.Load(),
            )  # fmt: skip
    elif isinstance(node, ast.Attribute) and node.attr in ("data", "grad"):
        yield ast.Attribute(node.value, "grad" if node.attr == "data" else "data", node.ctx)
    elif isinstance(node, ast.Name) and node.id not in KEPT:
        names = _arguments_beside(node, source)
        for name in names:
            if name != node.id:
                yield ast.Name(name, ast.Load())
                yield ast.BinOp(node, ast.Mult(), ast.Name(name, ast.Load()))
        if names:
            for text in _OTHERWISE:
                yield ast.parse(text.replace("it", node.id), mode="eval").body
    elif isinstance(node, ast.Call) and len(node.args) == 1:
        yield node.args[0]  # the function left out
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
        yield ast.UnaryOp(ast.USub(), node)


def _arguments_beside(node: ast.Name, source: str) -> list[str]:
    """All arguments of the function that a name stands in, where it is one of them."""
    for first, last, names in _functions(source):
        if first < node.lineno <= last and node.id in names:
            return names
    return []


@cache
def _functions(source: str) -> list[tuple[int, int, list[str]]]:
    """The lines of each function, and its arguments."""
    return [
        (it.lineno, it.end_lineno or 0, [argument.arg for argument in it.args.args])
        for it in ast.walk(ast.parse(source))
        if isinstance(it, ast.FunctionDef)
    ]


def _call(name: str, argument: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [argument], [])
