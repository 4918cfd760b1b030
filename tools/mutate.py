"""Change a program in small ways and see whether its tests notice: `python tools/mutate.py --help`.

Each change (a mutant) is one comparison, threshold, condition, operator or result that is made
wrong. Files are never written: pytest collects the tests once; then, for every mutant, a child
process runs the changed source in its module, and the tests after it. A mutant that no test fails
on survives: a test is missing, or the change makes no difference.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from itertools import chain, islice
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

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


def put_in_place(mutant: Mutant) -> None:
    """Run the changed source in its module, and give what it defines to whoever imported it."""
    target = os.path.realpath(mutant.path)
    code = compile(mutant.tree, target, "exec")
    modules = [module for module in list(sys.modules.values()) if isinstance(module, ModuleType)]
    for module in modules:
        if os.path.realpath(getattr(module, "__file__", None) or os.devnull) != target:
            continue
        before = dict(vars(module))
        exec(code, vars(module))
        anew = {
            id(old): vars(module)[name]
            for name, old in before.items()
            if getattr(old, "__module__", None) == module.__name__ and name in vars(module)
        }
        for other in modules:
            for name, thing in list(vars(other).items()):
                if id(thing) in anew:
                    setattr(other, name, anew[id(thing)])


class Trial:
    """A pytest plugin: the tests are collected once, then run in a child for every mutant."""

    def __init__(self, mutants: Iterable[Mutant], limit: float) -> None:
        self.mutants, self.limit = mutants, limit
        self.tried = self.alive = 0

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of pytest's own loop."""
        if not self._survives(session, None):
            raise pytest.UsageError("the tests fail as they are")
        for mutant in self.mutants:
            self.tried += 1
            if self._survives(session, mutant):
                self.alive += 1
                sys.__stdout__.write(f"{mutant}\n")  # type: ignore[union-attr]
                sys.__stdout__.flush()  # type: ignore[union-attr]
        return True

    def _survives(self, session: pytest.Session, mutant: Mutant | None) -> bool:
        """Whether every test passes in spite of the change; one that never ends is noticed."""
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            outcome = 1
            try:
                outcome = self._run(session, mutant)
            finally:
                os._exit(outcome)
        end = time.monotonic() + self.limit
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status) == 0
            time.sleep(0.01)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return False

    def _run(self, session: pytest.Session, mutant: Mutant | None) -> int:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        if mutant is not None:
            put_in_place(mutant)
        for item, following in zip(session.items, [*session.items[1:], None]):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                return 1
        return 0


def main() -> int:
    """Try the mutants of some files and print those that survive; 1 below the share wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="the files to change")
    parser.add_argument("--tests", required=True, help="pytest's arguments, in one string")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="only the K-th of N parts")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a mutant may take")
    parser.add_argument("--share", type=float, default=0.0, help="the least share to be killed")
    options = parser.parse_args()
    part, parts = (int(x) for x in options.part.split("/"))
    mutants = chain.from_iterable(mutants_of(path) for path in options.files)
    trial = Trial(islice(mutants, part - 1, None, parts), options.limit)
    with redirect_stdout(StringIO()) as said:
        outcome = pytest.main(
            [*options.tests.split(), "-q", "-p", "no:cacheprovider", "-p", "no:xdist"], [trial]
        )
    if outcome != pytest.ExitCode.OK:
        print(said.getvalue())
        return 2
    tried, alive = trial.tried, trial.alive
    share = 1.0 - alive / max(tried, 1)
    print(f"{tried} mutants, {tried - alive} killed: {100 * share:.1f} %")
    return int(share < options.share)


if __name__ == "__main__":
    sys.exit(main())
