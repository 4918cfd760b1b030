"""Small changes to a source file, Python or C, each of which should make a test fail.

A change is one comparison, condition, operator, constant, argument, statement or result made wrong.
Python is changed as a tree, C as tokens. What is done with the changed sources is in `mutate.py`.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
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
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
CALLS = {"max": "min", "min": "max", "any": "all", "all": "any"}
Spot = tuple[ast.AST, str, "int | None"]
"""A place in a tree: the node above, its field, and the index there where it is a list."""


@dataclass(frozen=True)
class Mutant:
    """One change: where, the line as it stands, the change in words, and the changed source."""

    path: Path
    line: int
    function: str
    text: str
    change: str
    source: ast.Module | str = field(repr=False)

    @property
    def is_c(self) -> bool:
        """Whether it has to be compiled and linked."""
        return isinstance(self.source, str)

    @property
    def code(self) -> CodeType:
        """What its module runs, in Python."""
        assert isinstance(self.source, ast.Module)
        return compile(self.source, str(self.path.resolve()), "exec")

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}\n    {self.change}"


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of a file."""
    source = path.read_text(encoding="utf-8")
    return _of_c(path, source) if path.suffix == ".c" else _of_python(path, source)


def unchanged(path: Path) -> Mutant:
    """The file as it is, put in place like a mutant: every test has to pass on it."""
    source = path.read_text(encoding="utf-8")
    return Mutant(
        path, 0, "", "", "unchanged", source if path.suffix == ".c" else ast.parse(source)
    )


# ---- Python --------------------------------------------------------------------------------------


def _of_python(path: Path, source: str) -> Iterator[Mutant]:
    lines, functions = source.splitlines(), _functions(ast.parse(source))
    for place, spot in enumerate(_changeable(ast.parse(source))):
        for count in range(len(list(variants(_at(spot))))):
            tree = ast.parse(source)  # a fresh one for each: they are changed in place
            here = next(islice(_changeable(tree), place, None))
            child = _at(here)
            what, changed = list(variants(child))[count]
            _put(here, ast.copy_location(changed, child))
            line: int = getattr(child, "lineno", 1)
            fixed = ast.fix_missing_locations(tree)
            inside = functions.get(line, "")
            yield Mutant(path, line, inside, lines[line - 1].strip(), what, fixed)


def _functions(tree: ast.Module) -> dict[int, str]:
    """The innermost function that a line stands in."""
    found: dict[int, str] = {}
    for node in ast.walk(tree):  # outer ones first
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.update(dict.fromkeys(range(node.lineno, (node.end_lineno or 0) + 1), node.name))
    return found


def variants(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The changed forms of one node, each with its description."""
    if isinstance(node, ast.expr):
        for changed in _expressions(node):
            yield f"{ast.unparse(node)}  ->  {ast.unparse(changed)}", changed
    elif isinstance(node, (ast.If, ast.While)):
        changed_if = copy.deepcopy(node)
        changed_if.test = ast.UnaryOp(op=ast.Not(), operand=node.test)
        yield f"if {ast.unparse(node.test)}  ->  if not", changed_if
    elif isinstance(node, ast.Return) and node.value is not None:
        yield f"{ast.unparse(node)}  ->  return None", ast.Return(value=ast.Constant(None))
    elif isinstance(node, ast.FunctionDef):
        yield from _ignored_arguments(node)
    elif _can_be_left_out(node):
        yield f"{ast.unparse(node).splitlines()[0][:60]}  ->  left out", ast.Pass()


def _expressions(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            for other in COMPARISONS.get(type(op), ()):
                changed = copy.deepcopy(node)
                changed.ops[place] = other()
                yield changed
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(
            op=ast.Or() if isinstance(node.op, ast.And) else ast.And(), values=node.values
        )
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield ast.BinOp(left=node.left, op=OPERATORS[type(node.op)](), right=node.right)
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
        yield node.operand
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield ast.Constant(not node.value)
        elif isinstance(node.value, (int, float)):
            yield ast.Constant(2 * node.value if node.value else 1)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
        called = copy.deepcopy(node)
        assert isinstance(called.func, ast.Name)
        called.func.id = CALLS[node.func.id]
        yield called
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(test=node.test, body=node.orelse, orelse=node.body)


def _ignored_arguments(node: ast.FunctionDef) -> Iterator[tuple[str, ast.AST]]:
    """A function that takes an argument with a default, and goes on with the default."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults),
        *((a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None),
    ]
    for argument, default in pairs:
        changed = copy.deepcopy(node)
        target = ast.Name(argument.arg, ast.Store())
        changed.body.insert(0, ast.Assign([target], copy.deepcopy(default), lineno=node.lineno))
        yield f"{argument.arg}={ast.unparse(default)}  ->  ignored", changed


def _can_be_left_out(node: ast.AST) -> bool:
    """Whether a statement does something that a program may go on without."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, (ast.Yield, ast.YieldFrom, ast.Call))
    if isinstance(node, ast.Assign):
        return all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
    return isinstance(node, (ast.AugAssign, ast.Continue, ast.Break, ast.Raise, ast.Delete))


def _changeable(tree: ast.AST) -> Iterator[Spot]:
    """Every place of a tree that may be changed."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        for name, held in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_comment"):
                continue
            items = held if isinstance(held, list) else [held]
            for index, child in enumerate(items):
                if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr):
                    continue
                yield node, name, index if isinstance(held, list) else None
                pending.append(child)


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


# ---- C -------------------------------------------------------------------------------------------

SKIPPED = re.compile(
    r"/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])+'|"
    r'"(?:\\.|[^"\\\n])*"|'
    r"^[ \t]*#[ \t]*(?:define \w+(?:\([^)]*\))?|(?!define)(?:\\.|[^\n\\])*)",
    re.DOTALL | re.MULTILINE,
)
"""Comments, texts and the preprocessor's lines; of a macro only its head."""

HEAD = re.compile(r"^[a-zA-Z][^;=\n]*?(\w+)\(", re.MULTILINE)
"""Where a function or a macro begins."""

BINARY = r"(?<=[\w)\]] )(?:{}) (?=[\w(!&*~-])"
"""An operator with a space on both sides, as the formatter writes those of two operands."""

C_CHANGES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (BINARY.format("<"), ("<= ", ">= ")),
    (BINARY.format("<="), ("< ", "> ")),
    (BINARY.format(">"), (">= ", "<= ")),
    (BINARY.format(">="), ("> ", "< ")),
    (BINARY.format("=="), ("!= ",)),
    (BINARY.format("!="), ("== ",)),
    (BINARY.format("&&"), ("|| ",)),
    (BINARY.format(r"\|\|"), ("&& ",)),
    (BINARY.format(r"\+"), ("- ",)),
    (BINARY.format("-"), ("+ ",)),
    (BINARY.format(r"\+="), ("-= ", "= ")),
    (BINARY.format("-="), ("+= ",)),
    (BINARY.format("&"), ("| ",)),
    (BINARY.format(r"\|"), ("& ",)),
    (BINARY.format(r"\|="), ("&= ",)),
    (BINARY.format("&="), ("|= ",)),
    (r"(?<=\()!(?=[\w(])|(?<= )!(?=[\w(])", ("",)),
    (r"\bif \(", ("if (0 && ", "if (1 || ")),
    (r"(?<![\w.])0\b(?![.\w])", ("1",)),
    (r"(?<![\w.])[1-9]\d*\b(?![.\w])", ("0",)),
    (r"\bcontinue;|\bbreak;", (";",)),
    # a statement: a call, a step, an assignment to something that is already there
    (r"(?m:^[ \t]+|(?<=[;{)] ))\*?[a-z_]\w*(?:->\w+|\.\w+|\[[^\]\n]*\])*"
     r"(?:\+\+|--|\([^;{}]*\)| [-+&|]?= [^;{}]*);", (";",)),
)  # fmt: skip


def _of_c(path: Path, source: str) -> Iterator[Mutant]:
    hidden = SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)
    lines = source.splitlines()
    for pattern, replacements in C_CHANGES:
        for found in re.finditer(pattern, hidden):
            start = found.end() - len(found[0].lstrip())
            line = source.count("\n", 0, start)
            # two operators of a line are told apart by where they stand in it
            column = start - source.index(lines[line].strip(), source.rfind("\n", 0, start) + 1)
            old = " ".join(source[start : found.end()].split())
            for new in replacements:
                changed = source[:start] + new + source[found.end() :]
                what = f"{old}  ->  {new.strip() or 'left out'} (at {column})"
                inside = HEAD.findall(source, 0, start)[-1:]
                yield Mutant(path, line + 1, "".join(inside), lines[line].strip(), what, changed)
