"""Functions rewritten so that their branches can become choices.

The source of a function is parsed, the constructs that decide are replaced by calls to a *tag* that
stands among the constants of the code (``sides.py``), and the whole file is compiled anew, so that
names, cells and lines stay as they are. It must compile to the very code of the function first:
where the source is not there, or is another one by now, nothing is rewritten.
"""

from __future__ import annotations
import __future__

import ast
import linecache
from collections.abc import Sequence
from types import CodeType
from typing import Any

from .._shared.sites import span_of
from .branches import (
    EXTREMES,
    LACKED,
    TELLING,
    is_fit,
    is_repeatable_text,
    is_unlike,
    only_assigns,
    outer_names,
    stored,
    within,
)
from .definitions import Position, codes, compiled_as, is_in, node_of, where

_MARK = "\0retrograde"
_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag
_UNFIT_FLAGS = 0x20 | 0x80 | 0x200  # generators and coroutines


class Fork:
    """A place where a function decides. Those in the test of a branch go with it."""

    def __init__(self, code: CodeType, where: Position, names: Sequence[str], root: Fork | None):
        self.code, self.where, self.names = code, where, tuple(names)
        self.root: Fork = root or self

    @property
    def line(self) -> int:
        """The line it begins at."""
        return self.where[0]


class Rewritten:
    """A function's code that asks a tag; ``only_assigns`` says whether it does nothing else but
    assign its own names and return."""

    def __init__(self, original: CodeType, forks: list[Fork], only_assigns: bool) -> None:
        self.original, self.forks, self.only_assigns = original, forks, only_assigns
        self.code: CodeType = original

    def fork_at(self, offset: int) -> Fork | None:
        """The fork that an instruction of the original code decides for."""
        span = span_of((self.original, offset))
        if span is None:
            return None
        first, last, start, end = span
        found = None
        for fork in self.forks:
            a, b, c, d = fork.where
            inside = (a, c) <= (first, start) and (last, end) <= (b, d)
            if inside and (found is None or is_in(fork.where, found.where)):
                found = fork
        return found


_known: dict[CodeType, Rewritten | None] = {}
_MOST_KNOWN = 4096


def rewritten(code: CodeType, tag_of: Any) -> Rewritten | None:
    """The code that asks a tag, or None where there is no source for it."""
    if code not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        try:
            _known[code] = _rewrite(code, tag_of)
        except (SyntaxError, ValueError, RecursionError, OSError):
            _known[code] = None
    return _known[code]


def _rewrite(code: CodeType, tag_of: Any) -> Rewritten | None:
    if code.co_flags & _UNFIT_FLAGS:
        return None
    linecache.checkcache(code.co_filename)
    source = "".join(linecache.getlines(code.co_filename))
    if not source:
        return None
    flags = code.co_flags & _FUTURES
    tree = ast.parse(source, code.co_filename)
    if not any(each == code for each in codes(compiled_as(tree, code, flags))):
        return None
    node = node_of(tree, code)
    if node is None or not is_repeatable_text(node):
        return None
    rewriter = _Rewriter(code, node)
    rewriter.rewrite()
    ast.fix_missing_locations(tree)
    module = compiled_as(tree, code, flags)
    found = [
        each
        for each in codes(module)
        if (each.co_name, each.co_firstlineno) == (code.co_name, code.co_firstlineno)
        and _marks(each) == _marks(module)
    ]
    if not found or found[-1].co_freevars != code.co_freevars:
        return None
    made = Rewritten(code, rewriter.forks, rewriter.only_assigns)
    made.code = _tagged(found[-1], tag_of(made))
    return made


def _marks(code: CodeType) -> int:
    """How many pieces of a code object ask a tag: itself, and what it was written around."""
    return sum(_MARK in each.co_consts for each in codes(code))


def _tagged(code: CodeType, tag: Any) -> CodeType:
    """The code with the tag in the place of its mark."""
    consts = tuple(
        _tagged(each, tag) if isinstance(each, CodeType) else tag if each == _MARK else each
        for each in code.co_consts
    )
    return code.replace(co_consts=consts)


class _Rewriter(ast.NodeTransformer):
    """Rewrites one function in place."""

    def __init__(self, code: CodeType, function: Any) -> None:
        self.code, self.function = code, function
        self.forks: list[Fork] = []
        self.root: Fork | None = None
        self.outer = outer_names(function)
        body = function.body if isinstance(function.body, list) else []
        self.only_assigns = only_assigns(body, self.outer, returns=True) and (
            bool(body) or is_fit(function.body)
        )

    def rewrite(self) -> None:
        if isinstance(self.function, ast.Lambda):
            self.function.body = self.visit(self.function.body)
        else:
            self.function.body = self._block(self.function.body)

    def _block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for each in statements:
            found = self.visit(each)
            made += found if isinstance(found, list) else [found]
        return made

    # ---- what is put in ----------------------------------------------------------------------

    def _ask(self, method: str, near: ast.AST, *args: Any) -> Any:
        """``tag.method(*args)``, at the place of a node."""
        given = [each if isinstance(each, ast.expr) else ast.Constant(each) for each in args]
        asked = ast.Call(ast.Attribute(ast.Constant(_MARK), method, ast.Load()), given, [])
        return ast.copy_location(asked, near)

    def _fork(self, near: ast.AST, names: Sequence[str] = ()) -> tuple[Fork, int]:
        fork = Fork(self.code, where(near), names, self.root)
        self.forks.append(fork)
        return fork, len(self.forks) - 1

    def _tested(self, fork: Fork, test: Any) -> Any:
        """The test of a branch; what decides in it goes with the branch."""
        before, self.root = self.root, fork.root
        test = self.visit(test)
        self.root = before
        return test

    def _alone(self, node: Any) -> Any:
        """What has nothing to do with the test it may stand in."""
        before, self.root = self.root, None
        node = self._block(node) if isinstance(node, list) else self.visit(node)
        self.root = before
        return node

    # ---- statements --------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> Any:
        sides = [node.body, node.orelse]
        chosen = is_fit(node.test) and all(only_assigns(side, self.outer) for side in sides)
        if not chosen:
            node.test = self.visit(node.test)
            node.body, node.orelse = self._alone(node.body), self._alone(node.orelse)
            return node
        names = self._visible(node, sides)
        fork, number = self._fork(node.test, names)
        near = node.test
        opened = ast.Expr(self._ask("fork", near, self._tested(fork, node.test), number))
        body, orelse = self._alone(node.body), self._alone(node.orelse)
        back = self._assigned(names, "rewound", "before", near)
        return [
            ast.copy_location(opened, near),
            ast.copy_location(ast.If(self._ask("then", near), body or [ast.Pass()], []), near),
            ast.copy_location(ast.If(self._ask("other", near), back + orelse, []), near),
            *self._assigned(names, "joined", "after", near),
        ]

    def _assigned(
        self, names: Sequence[str], asked: str, values: str, near: ast.AST
    ) -> list[ast.stmt]:
        """``if tag.asked(): names = tag.values()``, names that mean nothing there deleted."""
        test = self._ask(asked, near)
        if not names:
            return [ast.copy_location(ast.Expr(test), near)]

        def name(each: str, context: ast.expr_context) -> ast.expr:
            return ast.copy_location(ast.Name(each, context), near)

        target = ast.Tuple([name(each, ast.Store()) for each in names], ast.Store())
        ast.copy_location(target, near)
        body: list[ast.stmt] = [ast.Assign([target], self._ask(values, near))]
        for each in names:
            unbound = self._ask("unbound", near, name(each, ast.Load()))
            body.append(ast.If(unbound, [ast.Delete([name(each, ast.Del())])], []))
        found = ast.If(test, [ast.copy_location(each, near) for each in body], [])
        return [ast.copy_location(found, near)]

    def _visible(self, node: ast.If | ast.While, sides: list[list[ast.stmt]]) -> list[str]:
        """The names assigned in a branch that somebody may read after it."""
        inside = {id(each) for side in sides for part in side for each in ast.walk(part)}
        elsewhere = {
            each.id
            for each in ast.walk(self.function)
            if isinstance(each, ast.Name)
            and isinstance(each.ctx, ast.Load)
            and id(each) not in inside
        }
        names = stored([each for side in sides for each in side])
        return [name for name in names if not is_unlike(name, sides, elsewhere)]

    def visit_While(self, node: ast.While) -> Any:
        leaves = any(isinstance(each, (ast.Break, ast.Continue)) for each in within(*node.body))
        chosen = (
            not node.orelse
            and not leaves
            and is_fit(node.test)
            and only_assigns(node.body, self.outer)
        )
        if not chosen:
            node.test = self.visit(node.test)
            node.body, node.orelse = self._alone(node.body), self._alone(node.orelse)
            return node
        near = node.test
        names = self._visible(node, [node.body])
        fork, number = self._fork(near, names)
        test = self._ask("turn", near, self._tested(fork, node.test), number)
        body = self._alone(node.body) + self._assigned(names, "turned", "after", near)
        loop = ast.copy_location(ast.While(test, body, []), node)
        return [ast.copy_location(ast.Expr(self._ask("loop", near, number)), near), loop]

    def visit_For(self, node: ast.For) -> Any:
        node.iter = self._gone_through(node.iter)
        node.target = self.visit(node.target)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    def _gone_through(self, node: Any) -> Any:
        """What a loop goes through, and whether it is made for it."""
        made = isinstance(node, ast.Call) and getattr(node.func, "id", "") in _MAKERS
        return self._ask("iterated", node, self.visit(node), made)

    def visit_Assign(self, node: ast.Assign) -> Any:
        value = self.visit(node.value)
        if any(isinstance(each, (ast.Tuple, ast.List)) for each in node.targets):
            value = self._ask("iterated", node.value, value, False)
        node.value = value
        node.targets = [
            each if isinstance(each, ast.Name) else self.visit(each) for each in node.targets
        ]
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        node.value = self.visit(node.value)
        if not isinstance(node.target, ast.Name):
            node.target = self.visit(node.target)
            return node
        name = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        asked = ast.Expr(self._ask("rebinds", node.target, name))
        return [ast.copy_location(asked, node.target), node]

    def _untouched(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _untouched  # noqa: N815

    # ---- expressions -------------------------------------------------------------------------

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        if not is_fit(node):
            return self.generic_visit(node)
        near = node.test
        fork, number = self._fork(near)
        test = self._ask("fork", near, self._tested(fork, node.test), number)
        one = ast.IfExp(self._ask("then", near), self._alone(node.body), ast.Constant(None))
        other = ast.IfExp(self._ask("other", near), self._alone(node.orelse), ast.Constant(None))
        return self._ask("pick", near, test, one, other)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        if not is_fit(node):
            return self.generic_visit(node)
        fork, number = self._fork(node)
        is_and = isinstance(node.op, ast.And)
        values = [self._tested(fork, each) for each in node.values]
        result = values.pop()
        while values:
            first = self._ask("fork", node, values.pop(), number)
            taken = self._ask("then" if is_and else "other", node)
            second = ast.IfExp(taken, result, ast.Constant(None))
            result = self._ask("both" if is_and else "either", node, first, second)
        return result

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Invert):
            node.operand = self._ask("unlike", node.operand, self.visit(node.operand))
            return node
        if not isinstance(node.op, ast.Not):
            return self.generic_visit(node)
        fork, number = self._fork(node)
        return self._ask("negated", node, self._tested(fork, node.operand), number)

    def visit_Compare(self, node: ast.Compare) -> Any:
        if any(isinstance(each, (ast.In, ast.NotIn)) for each in node.ops):
            node.left = self.visit(node.left)
            node.comparators = [self._gone_through(each) for each in node.comparators]
            return node
        plain = all(isinstance(each, (ast.Name, ast.Constant)) for each in node.comparators[1:])
        signs = [type(each).__name__ for each in node.ops]
        if len(node.ops) == 1 or not plain or not _ORDERS.issuperset(signs):
            return self.generic_visit(node)
        fork, number = self._fork(node)
        operands = [self._tested(fork, each) for each in [node.left, *node.comparators]]
        return self._ask("between", node, number, "".join(f"{each} " for each in signs), *operands)

    def visit_Call(self, node: ast.Call) -> Any:
        called = self.visit(node.func)
        if isinstance(node.func, ast.Name) and node.func.id in EXTREMES:
            _, number = self._fork(node)
            node.func = self._ask("extreme", node.func, called, number)
        else:
            node.func = self._ask("call", node.func, called)
        node.args = [
            self._ask("fresh", each, self.visit(each))
            if isinstance(each, ast.GeneratorExp)
            else self.visit(each)
            for each in node.args
        ]
        node.keywords = [self.visit(each) for each in node.keywords]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        node.slice = self.visit(node.slice)
        asked = "item" if isinstance(node.ctx, ast.Load) else "changed"
        node.value = self._ask(asked, node.value, self.visit(node.value))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        node.value = self.visit(node.value)
        if not isinstance(node.ctx, ast.Load):
            node.value = self._ask("changed", node.value, node.value)
        elif node.attr in TELLING or node.attr.startswith("__"):
            node.value = self._ask("looked_at", node.value, node.value)
        elif node.attr in LACKED:
            node.value = self._ask("unlike", node.value, node.value)
        return node

    def visit_Starred(self, node: ast.Starred) -> Any:
        if isinstance(node.ctx, ast.Load):
            node.value = self._gone_through(node.value)
        return node

    def _made(self, node: Any) -> Any:
        """A list, a set or a dict that is made here, so that it may be changed."""
        made = self.generic_visit(node)
        is_read = isinstance(getattr(node, "ctx", None), (ast.Load, type(None)))
        return self._ask("made", node, made) if is_read else made

    visit_List = visit_Set = visit_Dict = _made  # noqa: N815

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        if any(isinstance(each, ast.List) for each in (node.left, node.right)):
            return self._ask("made", node, self.generic_visit(node))
        return self.generic_visit(node)

    def _comprehension(self, node: Any) -> Any:
        first, *rest = node.generators
        first.iter = self._gone_through(first.iter)
        for each in rest:
            each.iter = self._gone_through(each.iter)
        for each in node.generators:
            each.ifs = [self.visit(test) for test in each.ifs]
        for part in ("elt", "key", "value"):
            if hasattr(node, part):
                setattr(node, part, self.visit(getattr(node, part)))
        return node if isinstance(node, ast.GeneratorExp) else self._ask("made", node, node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815


_MAKERS = frozenset(("zip", "enumerate", "reversed", "range"))
_ORDERS = frozenset(("Lt", "LtE", "Gt", "GtE", "Eq", "NotEq"))
