"""The table of the array law: one row per op. This is the only file to edit to add one.

A stated row is index notation over the scalar law; its gradient of any order follows from the one
adjoint rule (``arrays/adjoint.py``). A composed row is made of others, an implicit one is known by
an equation. Every row of the scalar law is a row here too, element by element.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from .arrays import composed as made
from .arrays import contractions, implicit, places
from .arrays.binding import Template, bind
from .arrays.places import At
from .arrays.row import AnyRow, Composed, Example, Implicit, Row, along, at_last, reducing
from .expr import Call, Expr, Num
from .index import (
    Array,
    Chosen,
    Index,
    Ref,
    Shape,
    Statement,
    Term,
    Test,
    Wholes,
    given,
    letter,
    letters,
    size,
)
from .op import Op
from .scalar import OPS

x, y, z, a, b, s = map(Array, "xyzabs")
n, m, p = map(Wholes, "nmp")
i, j, k = letters("i j k")
I, K = letter("i", many=True), letter("k", many=True)  # noqa: E741
offset = given("k")


def term(to: Ref, body: Expr, *where: Test) -> Term:
    """One line of a row."""
    return Term(to, body, where)


def adds(*terms: Term, **more: Any) -> Template:
    """``+=``: what meets in a place is added up."""
    return Template(Statement(terms, (), "+="), **more)


def multiplies(*terms: Term, **more: Any) -> Template:
    """``*=``: what meets in a place is multiplied."""
    return Template(Statement(terms, (), "*="), **more)


def sets(*terms: Term, **more: Any) -> Template:
    """``=``: every place is written once."""
    return Template(Statement(terms, ()), **more)


def picks(by: str, to: Ref, body: Ref, **more: Any) -> Template:
    """``=``, from a place that is found by looking."""
    chosen = Chosen(("m",), by, "x", ())
    return Template(Statement((Term(to, body),), (), "=", (chosen,)), **more)


TAKE = sets(term(z[I], x[n[I]]), apart=("n",))
GATHER = sets(term(z[i], x[n[i]]))
PICK = sets(term(z[()], x[n[()]]))
SUM = adds(term(z[()], x[K]))
PROD = multiplies(term(z[()], x[k]))
MAX, MIN = picks("argmax", z[()], x[m[()]]), picks("argmin", z[()], x[m[()]])
SORT = picks("argsort", z[i], x[m[i]], lengths={"i": size("x")})
CUMSUM = adds(term(z[i], x[k], k <= i), lengths={"i": size("x")})
CUMPROD = multiplies(term(z[i], x[k], k <= i), lengths={"i": size("x")})
TRIL = sets(term(z[i, j], x[i, j], j <= i + offset))
TRIU = sets(term(z[i, j], x[i, j], j >= i + offset))
SOLVE = adds(term(z[i, j], a[i, k] * s[k, j]), term(z[i, j], -b[i, j]))
CHOLESKY = adds(term(z[i, j], s[i, k] * s[j, k], k <= j, j <= i), term(z[i, j], -x[i, j], j <= i))
LU = adds(
    term(z[i, j], s[i, k] * s[k, j], k < i, k <= j),
    term(z[i, j], s[i, j], i <= j),
    term(z[i, j], -x[p[i], j]),
)
VECTOR, MATRIX, SQUARE = {"x": (4,)}, {"x": (3, 4)}, {"x": (3, 3)}


def stated(name: str, template: Template, bound: Any, example: Example, **more: Any) -> Row:
    """A row whose statement is the same on all shapes."""
    return Row(name, bound, example, template=template.statement, **more)


def _diagonal(shapes: Mapping[str, Shape], k: int = 0) -> Statement:
    """``z[i] = x[i, i + k]`` over the last two axes."""
    rows, columns = shapes["x"][-2:] if len(shapes["x"]) > 1 else (0, 0)
    length = Index() + max(0, min(rows + min(k, 0), columns - max(k, 0)))
    at = x[i - min(k, 0), i + max(k, 0)]
    return bind(sets(term(z[i], at), lengths={"i": length}), shapes)


def _diag_embed(shapes: Mapping[str, Shape], k: int = 0) -> Statement:
    """``z[i, i + k] = x[i]``."""
    side = size("x") + abs(k)
    to = z[i - min(k, 0), i + max(k, 0)]
    return bind(sets(term(to, x[i]), shape=(side, side)), shapes)


def _take(shapes: Mapping[str, Shape], axis: int = 0) -> Statement:
    return along(TAKE)(shapes, axis)


def _one_axis(shapes: Mapping[str, Shape], axis: int = -1, keepdims: bool = False) -> Statement:
    return reducing(PROD)(shapes, axis, keepdims)


def elementwise(op: Op) -> Row:
    """A row of the scalar law on arrays: ``z[i] = op(x[i], y[i])``, with broadcasting."""

    def bound(shapes: Mapping[str, Shape]) -> Statement:
        rest = dict(zip(op.inputs[op.arity - len(op.defaults) :], op.defaults))
        args = tuple(Array(name)[()] if name in shapes else Num(rest[name]) for name in op.inputs)
        return bind(Template(Statement((Term(z[()], Call(op.name, args)),), ())), shapes)

    example = Example(dict.fromkeys(op.inputs, (3,)))
    return Row(op.name, bound, example, op.inputs)


_STATED: Final = (
    # products
    stated("matmul", contractions.MATMUL, contractions.matmul,
           Example({"x": (3, 4), "y": (4, 5)}), operands=("x", "y")),
    Row("dot", contractions.dot, Example({"x": (3, 4), "y": (2, 4, 5)}), ("x", "y")),
    Row("outer", contractions.outer, Example({"x": (3,), "y": (4,)}), ("x", "y")),
    Row("tensordot", contractions.tensordot,
        Example({"x": (2, 3, 4), "y": (3, 4, 5)}, {"axes": 2}), ("x", "y")),
    Row("einsum", contractions.einsum,
        Example({"x1": (3, 2, 4), "x2": (5, 2, 4)}, {"subscripts": "thd,shd->hts"}), ()),
    # reductions and running totals
    stated("sum", SUM, reducing(SUM), Example(MATRIX, {"axis": 1})),
    stated("prod_along", PROD, _one_axis, Example(MATRIX, {"axis": 1}),
           why="over one axis; prod takes several one after the other, and eight at a time"),
    stated("max", MAX, reducing(MAX), Example(MATRIX, {"axis": 1}),
           why="a tie goes whole to the first, and NaN is the largest of all"),
    stated("min", MIN, reducing(MIN), Example(MATRIX, {"axis": 1}),
           why="a tie goes whole to the first, and NaN is the smallest of all"),
    stated("sort", SORT, along(SORT), Example(MATRIX, {"axis": 1}),
           why="equal numbers keep their order, NaN stands last"),
    stated("cumsum", CUMSUM, along(CUMSUM), Example(MATRIX, {"axis": 1})),
    stated("cumprod_along", CUMPROD, along(CUMPROD), Example(MATRIX, {"axis": 1}),
           why="in one node; cumprod takes eight at a time"),
    # places
    Row("transpose", places.transpose, Example(MATRIX)),
    Row("reshape", places.reshape, Example({"x": (3, 4)}, {"shape": (2, 6)})),
    Row("broadcast_to", places.broadcast_to, Example({"x": (3, 1)}, {"shape": (2, 3, 4)})),
    Row("concatenate", places.concatenate,
        Example({"x1": (2, 3), "x2": (4, 3)}, {"axis": 0}), ()),
    Row("stack", places.stack, Example({"x1": (3,), "x2": (3,)}, {"axis": 0}), ()),
    Row("flip", places.flip, Example(MATRIX, {"axis": 1})),
    Row("roll", places.roll, Example(VECTOR, {"shift": 1, "axis": 0})),
    Row("pad", places.pad, Example(VECTOR, {"widths": ((2, 1),), "value": 1.0})),
    Row("repeat", places.repeat, Example(VECTOR, {"count": 2, "axis": 0})),
    stated("tril", TRIL, at_last(TRIL, "k"), Example(SQUARE, {"k": 0})),
    stated("triu", TRIU, at_last(TRIU, "k"), Example(SQUARE, {"k": 0})),
    Row("diagonal", _diagonal, Example(MATRIX, {"k": 1})),
    Row("diag_embed", _diag_embed, Example(VECTOR, {"k": 0})),
    # picked by whole numbers
    Row("index", places.index,
        Example({"x": (5, 3, 4)}, {"key": (At("n", (6,)), slice(None), slice(1, 4, 2))}),
        wholes=("n",)),
    Row("add_at", places.add_at,
        Example({"x": (5, 3), "y": (4, 3)}, {"key": (At("n", (4,)),)}), ("x", "y"), ("n",)),
    Row("put", places.put, Example({"x": (5,), "y": (3,)}, {"selection": (3,)}),
        ("x", "y"), ("w",), why="the last to be written stays"),
    Row("put_at", places.put_at, Example({"x": (5, 3), "y": (3,)}, {"count": 1}), ("x", "y"),
        ("n1",), why="one place of the first axes replaced"),
    stated("take", TAKE, _take, Example({"x": (5, 3), "n": (2, 4)}, {"axis": 0}), wholes=("n",)),
    stated("gather", GATHER, along(GATHER),
           Example({"x": (3, 5), "n": (3, 2)}, {"axis": 1}), wholes=("n",)),
    stated("pick", PICK, at_last(PICK), Example({"x": (4, 3), "n": (4,)}), wholes=("n",)),
    # windows
    Row("conv1d", contractions.convolution, Example({"x": (2, 3, 9), "w": (4, 3, 3)}), ("x", "w")),
    Row("conv2d", contractions.convolution,
        Example({"x": (2, 2, 5, 6), "w": (3, 2, 3, 2)}, {"padding": 1, "stride": 2}), ("x", "w")),
    Row("windows", contractions.windows, Example({"x": (2, 7)}, {"window": (3,), "stride": 2})),
)  # fmt: skip

_COMPOSED: Final = (
    Composed("mean", made.mean, Example(MATRIX, {"axis": 1}), "a sum and a division"),
    Composed("var", made.var, Example(MATRIX, {"axis": 1}), "two passes, so that nothing cancels"),
    Composed("std", made.std, Example(MATRIX, {"axis": 1}),
             "the root of var; its gradient at 0 is 0"),
    Composed("norm", made.norm, Example(MATRIX, {"axis": 1}),
             "scaled against overflow; its gradient at 0 is 0"),
    Composed("prod", made.product, Example(MATRIX),
             "prod_along from the last axis on, by eights: its gradient is linear, and right at 0"),
    Composed("cumprod", made.running_product, Example({"x": (3, 12)}, {"axis": 1}),
             "cumprod_along by eights, carried on: its gradient is linear, and right at 0"),
    Composed("logsumexp", made.logsumexp, Example(MATRIX, {"axis": 1}),
             "with the largest taken out, so that nothing overflows"),
    Composed("softmax", made.softmax, Example(MATRIX, {"axis": 1}),
             "with the largest taken out, so that nothing overflows"),
    Composed("log_softmax", made.log_softmax, Example(MATRIX, {"axis": 1}),
             "by logsumexp, since a share of 0 would lose its logarithm"),
    Composed("cross_entropy", made.cross_entropy, Example({"x": (4, 3), "n": (4,)}),
             "log_softmax, pick and mean", wholes=("n",)),
    Composed("max_pool", made.max_pool, Example({"x": (2, 6)}, {"window": (2,)}),
             "the largest of each window: pad, windows, max"),
    Composed("mean_pool", made.mean_pool, Example({"x": (2, 6)}, {"window": (2,)}),
             "the mean of each window: pad, windows, mean"),
    Composed("embedding", made.embedding, Example({"x": (5, 3), "n": (4,)}), "take along axis 0",
             wholes=("n",)),
    Composed("split", made.split, Example({"x": (6,)}, {"sections": 3}), "several slices"),
    Composed("tile", made.tile, Example(VECTOR, {"count": (2,)}), "reshape, broadcast, reshape"),
    Composed("squeeze", made.squeeze, Example({"x": (3, 1)}), "a reshape"),
    Composed("expand_dims", made.expand_dims, Example(VECTOR, {"axis": 0}), "a reshape"),
    Composed("diag", made.diag, Example(VECTOR), "diag_embed of a vector, diagonal of a matrix"),
    Composed("trace", made.trace, Example(SQUARE),
             "the sum of the diagonal of the last two axes"),
    Composed("roll_all", made.roll_all, Example(MATRIX, {"shift": 1}), "roll of the flat array"),
    Composed("inverse", made.inverse, Example(SQUARE), "solve with the identity"),
    Composed("logabsdet", made.logabsdet, Example(SQUARE),
             "from the diagonal of lu: no product that overflows"),
)  # fmt: skip

_IMPLICIT: Final = (
    Implicit("solve", SOLVE, implicit.undo_solve, Example({"a": (3, 3), "b": (3, 2)}), ("a", "b"),
             "the matrix s with a s = b"),
    Implicit("cholesky", CHOLESKY, implicit.undo_cholesky, Example(SQUARE), ("x",),
             "the lower triangular s with s sᵀ = x; reads the lower half of x"),
    Implicit("lu", LU, implicit.undo_lu, Example(SQUARE), ("x",),
             "l below the diagonal (ones on it) and r on it and above, with l r = x[p]; p puts the "
             "largest of the rest first", wholes=("p",)),
)  # fmt: skip


def _table() -> Mapping[str, AnyRow]:
    rows: tuple[AnyRow, ...] = (*map(elementwise, OPS.values()), *_STATED, *_COMPOSED, *_IMPLICIT)
    table = {row.name: row for row in rows}
    if len(table) < len(rows):
        names = [row.name for row in rows]
        raise ValueError(f"two rows: {sorted({name for name in names if names.count(name) > 1})}")
    return MappingProxyType(table)


ARRAYS: Final[Mapping[str, AnyRow]] = _table()

CHOICES: Final = MappingProxyType(
    {
        "argmax": "where the largest stands, the first of several; NaN counts as the largest",
        "argmin": "where the smallest stands, the first of several; NaN counts as the smallest",
        "argsort": "the places in the order of their numbers, equal ones in their own; NaN last",
    }
)
"""Whole numbers that rows find by looking at data. They are flat: no gradient passes."""
