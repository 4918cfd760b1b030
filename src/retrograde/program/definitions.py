"""Definitions in a source: the one that a code object was compiled from, and where it stands."""

from __future__ import annotations

import ast
import warnings
from types import CodeType
from typing import Any

from .._shared.sites import span_of

Position = tuple[int, int, int, int]
"""The first and the last line, and the columns in them."""


def node_of(tree: ast.Module, code: CodeType) -> Any:
    """The definition that a code object was compiled from."""
    found: list[Any] = []
    for node in ast.walk(tree):
        if code.co_name == "<lambda>":
            if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
                found.append(node)
        elif isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *[each.lineno for each in node.decorator_list]])
            if first == code.co_firstlineno:
                found.append(node)
    if len(found) > 1:  # lambdas in one line
        spans = [span_of((code, at)) for at in range(0, len(code.co_code), 2)]
        there = [span for span in spans if span is not None and span[3] > span[2]]
        found = [node for node in found if all(is_in(span, where(node.body)) for span in there)]
        found = [
            node
            for node in found
            if there and not any(is_in(where(each), where(node.body)) for each in found)
        ]
    return found[0] if len(found) == 1 else None


def where(node: Any) -> Position:
    """Where a node begins and ends."""
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def is_in(one: Position, other: Position) -> bool:
    """Whether one stands inside another, or is it."""
    return (other[0], other[2]) <= (one[0], one[2]) and (one[1], one[3]) <= (other[1], other[3])


def compiled_as(tree: ast.Module, code: CodeType, flags: int) -> CodeType:
    """A tree compiled as the file of a code object was: what the compiler says of it was said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made: CodeType = compile(tree, code.co_filename, "exec", flags, dont_inherit=True)
    return made


def codes(code: CodeType) -> list[CodeType]:
    """A code object and all in it, the outer ones first."""
    found = [code]
    for each in found:
        found.extend([part for part in each.co_consts if isinstance(part, CodeType)])
    return found
