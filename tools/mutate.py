"""Change a program in small ways and see whether its tests notice: `python tools/mutate.py --help`.

Each change (a mutant) is one comparison, threshold, condition, operator or result that is made
wrong. Files are never written: a child process imports the changed source in place of the file and
runs pytest. A mutant that no test fails on survives: a test is missing, or the change makes no
difference.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from io import StringIO
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType
from typing import Any

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
Spot = tuple[ast.AST, str, "int | None"]
"""A place in a tree: the node above, its field, and the index there where it is a list."""
CALLS = {"max": "min", "min": "max", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutant:
    """One change: where, in words, and the changed source as a tree."""

    path: Path
    line: int
    what: str
    tree: ast.Module

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


def variants(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The changed forms of one node, each with its description."""
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            for other in COMPARISONS.get(type(op), ()):
                changed = copy.deepcopy(node)
                changed.ops[place] = other()
                yield f"{ast.unparse(node)}  ->  {ast.unparse(changed)}", changed
    elif isinstance(node, ast.BoolOp):
        other_op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        changed_bool = ast.BoolOp(op=other_op, values=node.values)
        yield f"{ast.unparse(node)}  ->  {ast.unparse(changed_bool)}", changed_bool
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        changed_binary = ast.BinOp(left=node.left, op=OPERATORS[type(node.op)](), right=node.right)
        yield f"{ast.unparse(node)}  ->  {ast.unparse(changed_binary)}", changed_binary
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert)):
        yield f"{ast.unparse(node)}  ->  {ast.unparse(node.operand)}", node.operand
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield f"{node.value}  ->  {not node.value}", ast.Constant(not node.value)
        elif isinstance(node.value, (int, float)):
            scaled = 2 * node.value if node.value else 1
            yield f"{node.value}  ->  {scaled}", ast.Constant(scaled)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
        changed_call = copy.deepcopy(node)
        assert isinstance(changed_call.func, ast.Name)
        changed_call.func.id = CALLS[node.func.id]
        yield f"{ast.unparse(node)}  ->  {changed_call.func.id}(…)", changed_call
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
        changed_if = copy.deepcopy(node)
        changed_if.test = ast.UnaryOp(op=ast.Not(), operand=node.test)
        yield f"if {ast.unparse(node.test)}  ->  not so", changed_if
    elif isinstance(node, ast.Return) and node.value is not None:
        yield f"{ast.unparse(node)}  ->  return None", ast.Return(value=ast.Constant(None))
    elif isinstance(node, ast.Expr) and isinstance(
        node.value, (ast.Yield, ast.YieldFrom, ast.Call)
    ):
        yield f"{ast.unparse(node)[:60]}  ->  left out", ast.Pass()
    elif isinstance(node, (ast.AugAssign, ast.Continue, ast.Break)):
        yield f"{ast.unparse(node)}  ->  left out", ast.Pass()


def _changeable(tree: ast.AST) -> Iterator[Spot]:
    """Every place of a tree that may be changed."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        for name, field in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_comment"):
                continue
            items = field if isinstance(field, list) else [field]
            for index, child in enumerate(items):
                if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr):
                    continue
                yield node, name, index if isinstance(field, list) else None
                pending.append(child)


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of a file."""
    source = path.read_text(encoding="utf-8")
    for place, spot in enumerate(_changeable(ast.parse(source))):
        for count in range(len(list(variants(_at(spot))))):
            tree = ast.parse(source)  # a fresh one for each: they are changed in place
            here = next(islice(_changeable(tree), place, None))
            child = _at(here)
            what, changed = list(variants(child))[count]
            _put(here, ast.copy_location(changed, child))
            yield Mutant(path, getattr(child, "lineno", 0), what, ast.fix_missing_locations(tree))


def _at(spot: Spot) -> ast.AST:
    above, name, index = spot
    held: Any = getattr(above, name)
    found: ast.AST = held if index is None else held[index]
    return found


def _put(spot: Spot, node: ast.AST) -> None:
    above, name, index = spot
    if index is None:
        setattr(above, name, node)
    else:
        getattr(above, name)[index] = node


def _run(mutant: Mutant, arguments: list[str]) -> int:
    """In a child process: pytest's exit code with the changed source in place of the file."""
    target = os.path.realpath(mutant.path)
    code = compile(mutant.tree, target, "exec")
    plain = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        return code if os.path.realpath(self.path) == target else plain(self, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]
    import pytest

    return int(pytest.main([*arguments, "-x", "-q", "-p", "no:cacheprovider"]))


def survives(mutant: Mutant, arguments: list[str], limit: float) -> bool:
    """Whether every test passes in spite of the change; one that never ends is noticed."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        outcome = 1
        try:
            outcome = _run(mutant, arguments)
        finally:
            os._exit(outcome)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _warm_up() -> None:
    """Import pytest, its plugins and NumPy once, so that children have them already."""
    import numpy  # noqa: F401
    import pytest

    with TemporaryDirectory() as empty, redirect_stdout(StringIO()):
        pytest.main(["-q", "--noconftest", "-p", "no:cacheprovider", "--rootdir", empty, empty])


def main() -> int:
    """Try the mutants of some files and print those that survive; 1 below the share wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="the files to change")
    parser.add_argument("--tests", required=True, help="pytest's arguments, in one string")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="only the K-th of N parts")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds a mutant may take")
    parser.add_argument("--share", type=float, default=0.0, help="the least share to be killed")
    options = parser.parse_args()
    part, parts = (int(x) for x in options.part.split("/"))
    arguments = options.tests.split()
    _warm_up()
    tried = alive = 0
    for path in options.files:
        for place, mutant in enumerate(mutants_of(path)):
            if place % parts != part - 1:
                continue
            tried += 1
            if survives(mutant, arguments, options.limit):
                alive += 1
                print(mutant, flush=True)
    share = 1.0 - alive / max(tried, 1)
    print(f"{tried} mutants, {tried - alive} killed: {100 * share:.1f} %")
    return int(share < options.share)


if __name__ == "__main__":
    sys.exit(main())
