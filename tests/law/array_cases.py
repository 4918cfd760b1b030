"""What the tests of the array law share: every row on arrays, with what PyTorch makes of them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest

from retrograde._shared.bound import bound
from retrograde.check.array_engines import TorchArrays
from retrograde.check.engines import Torch
from retrograde.ops import OPS
from retrograde.ops.array import ARRAYS
from retrograde.ops.arrays.bodies import Arithmetic
from retrograde.ops.arrays.oracle import Plain, choose, evaluate
from retrograde.ops.arrays.row import Composed
from retrograde.ops.expr import Expr
from retrograde.ops.op import PRIMITIVES
from retrograde.ops.spellings import OPERATORS, TORCH

from .array_tape import Tensor, Tensors

torch = pytest.importorskip("torch", reason="torch is an extra")
F = torch.nn.functional
do = Tensors()


class Oracle:
    """The loop oracle in NumPy's place."""

    def run(self, statement: Any, arrays: Mapping[str, Any]) -> Any:
        return back(evaluate(statement, {name: plain(it) for name, it in arrays.items()}))

    def choose(self, chosen: Any, array: Any) -> tuple[Any, ...]:
        return tuple(back(it).astype(int) for it in choose(chosen, plain(array)))


def plain(array: Any) -> Plain:
    array = np.asarray(array)
    return Plain(array.shape, [float(number) for number in array.flat])


def back(it: Plain) -> Any:
    return np.array(it.numbers, dtype=float).reshape(it.shape)


slowly = Tensors(Oracle())


@dataclass(frozen=True)
class Case:
    """A row on arrays, and the same by PyTorch."""

    row: str
    arrays: tuple[Any, ...]
    theirs: Callable[..., Any]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    ours: Callable[..., Any] | None = None
    second: bool = True
    tolerance: float = 1e-12

    def by(self, engine: Tensors, operands: Sequence[Tensor]) -> Tensor:
        if self.ours is not None:
            return self.ours(engine, *operands)
        return engine(self.row, *operands, **self.arguments)

    def by_all(self, engine: Tensors, *operands: Tensor) -> Tensor:
        return self.by(engine, operands)

    @property
    def name(self) -> str:
        shapes = "_".join("x".join(map(str, it.shape)) or "0" for it in self.arrays)
        said = ",".join(f"{key}={value}" for key, value in self.arguments.items())
        return f"{self.row}-{shapes}-{said}".replace("\n", "")[:60]


class Mismatch(AssertionError):
    """Ours is not theirs."""


def agree(what: str, ours: Any, theirs: Any, tolerance: float = 1e-12) -> None:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape:
        raise Mismatch(f"{what}: shape {ours.shape} against {theirs.shape}")
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    with np.errstate(invalid="ignore"):
        near = np.abs(ours - theirs) <= tolerance * (1.0 + np.abs(theirs))
    if not (same | near).all():
        raise Mismatch(f"{what}:\n{ours}\nagainst\n{theirs}")


def hold_to_torch(case: Case, engine: Tensors = do) -> None:
    """Value, gradient and second derivative against PyTorch's."""
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    ours = [Tensor(array) for array in case.arrays]
    theirs = [torch.tensor(array, requires_grad=True) for array in case.arrays]
    z, q = case.by(engine, ours), case.theirs(*theirs)
    agree("value", z.data, q.detach().numpy())
    if not q.requires_grad:
        return
    # something nonlinear on top, so that second derivatives say something
    weight = rng.standard_normal(z.shape)
    top = engine("mul", engine("tanh", engine("mul", z, 0.5)), Tensor(weight, requires_grad=False))
    first = engine.gradients(top, ours)
    total = (torch.tanh(q * 0.5) * torch.tensor(weight)).sum()
    expected = torch.autograd.grad(total, theirs, create_graph=case.second, allow_unused=True)
    expected = [torch.zeros_like(t) if g is None else g for g, t in zip(expected, theirs)]
    for number, (u, v) in enumerate(zip(first, expected)):
        agree(f"gradient of operand {number}", u.data, v.detach().numpy(), case.tolerance)
    if not case.second:
        return
    combined: Any = None
    their_sum: Any = 0.0
    for u, v in zip(first, expected):
        by = rng.standard_normal(u.shape)
        part = engine("sum", engine("mul", u, Tensor(by, requires_grad=False)))
        combined = part if combined is None else engine("add", combined, part)
        their_sum = their_sum + (v * torch.tensor(by)).sum()
    second = engine.gradients(combined, ours)
    if not their_sum.requires_grad:
        expected = [None] * len(theirs)
    else:
        expected = torch.autograd.grad(their_sum, theirs, allow_unused=True)
    for number, (u, v) in enumerate(zip(second, expected)):
        wanted = np.zeros(u.shape) if v is None else v.numpy()
        agree(f"second derivative along operand {number}", u.data, wanted, 1e-11)


RNG = np.random.default_rng(5)


def R(*shape: int) -> Any:
    return RNG.standard_normal(shape)


def whole(high: int, *shape: int) -> Any:
    return RNG.integers(0, high, shape)


def ti(array: Any) -> Any:
    return torch.tensor(np.asarray(array))


def regular(*batch: int, n: int = 3) -> Any:
    return R(*batch, n, n) + 3.0 * np.eye(n)


ELEMENTWISE_SHAPES = {1: ((2, 3),), 2: ((2, 1, 3), (4, 1)), 3: ((2, 3), (3,), (2, 1))}
NO_SECOND = {"erfcx", "log_ndtr", "ndtri", "digamma", "lgamma", "betaln", "sinc"}
"""PyTorch has no second derivative of these, or one with fewer digits; the scalar law's own tests
hold them to fifty digits at every order."""

FEWER_DIGITS = {"digamma": 1e-8}
"""PyTorch's trigamma has about nine digits."""


def arraywise() -> Arithmetic:
    """The law's functions on PyTorch's arrays: its own, and rows it has none for by their value."""
    engine = Torch()
    own = {
        name: engine._taking_numbers(name)
        for name in {*OPS, *PRIMITIVES}
        if not isinstance(TORCH.get(name), Expr)
        and (name in OPERATORS or engine._counterpart(name))
    }
    return Arithmetic({**own, "where": choice})


def choice(condition: Any, x: Any, y: Any) -> Any:
    return torch.where(condition.to(bool), double(x), double(y))


def double(thing: Any) -> Any:
    return torch.as_tensor(thing, dtype=torch.float64)


def elementwise_cases() -> list[Case]:
    functions = arraywise()
    cases = []
    for name, op in OPS.items():
        if op.absent:
            continue
        shapes = ELEMENTWISE_SHAPES[op.arity]
        arrays = tuple(
            RNG.uniform(low + 0.05, high - 0.05, shape)
            for (low, high), shape in zip(op.domain, shapes)
        )
        second, tolerance = name not in NO_SECOND, FEWER_DIGITS.get(name, 1e-12)
        cases.append(
            Case(name, arrays, functions.function(name), second=second, tolerance=tolerance)
        )
    return cases


N3, NA, NB = whole(3, 4), whole(5, 3, 4), whole(3, 2, 2)
TARGETS = whole(4, 5)
MASK = np.array([[True, False, True], [False, True, True]])
W1 = np.array([1, 3])


def with_zeros(shape: tuple[int, ...], axis: int, zeros: Sequence[int]) -> Any:
    """Factors, of which some along an axis are 0."""
    made = np.moveaxis(R(*shape), axis, 0)
    made[list(zeros)] = 0.0
    return np.moveaxis(made, 0, axis)


def lower(engine: Tensors, x: Tensor) -> Tensor:
    """Cholesky of something symmetric, so that PyTorch's symmetric gradient is the same."""
    turned = engine("transpose", x)
    return engine("cholesky", engine("add", engine("matmul", x, turned), np.eye(3)))


def put(key: Any) -> Callable[..., Any]:
    def theirs(x: Any, y: Any) -> Any:
        x = x.clone()
        x[key] = y
        return x

    return theirs


def added(key: Any) -> Callable[..., Any]:
    return lambda x, y: x.index_put(key, y, accumulate=True)


CASES = [
    # products
    Case("matmul", (R(3, 4), R(4, 5)), torch.matmul),
    Case("matmul", (R(4), R(4, 5)), torch.matmul),
    Case("matmul", (R(2, 3, 4), R(4)), torch.matmul),
    Case("matmul", (R(4), R(4)), torch.matmul),
    Case("matmul", (R(2, 1, 3, 4), R(3, 4, 2)), torch.matmul),
    Case("matmul", (R(4), R(2, 4, 3)), torch.matmul),
    Case("dot", (R(3, 4), R(2, 4, 5)), lambda x, y: torch.tensordot(x, y, ([1], [1]))),
    Case("dot", (R(), R(2, 3)), lambda x, y: x * y),
    Case("outer", (R(3), R(4)), torch.outer),
    Case("tensordot", (R(2, 3, 4), R(4, 3, 2)),
         lambda x, y: torch.tensordot(x, y, ([1, 2], [1, 0])),
         {"axes": ([1, 2], [1, 0])}),
    Case("tensordot", (R(2, 3, 4), R(3, 4, 2)), torch.tensordot, {"axes": 2}),
    *(
        Case("einsum", arrays, lambda *xs, by=by: torch.einsum(by, *xs), {"subscripts": by})
        for by, arrays in (
            ("thd,shd->hts", (R(3, 2, 4), R(5, 2, 4))),
            ("ii->i", (R(3, 3),)),
            ("ii", (R(3, 3),)),
            ("bi,oij,bj->bo", (R(2, 3), R(4, 3, 2), R(2, 2))),
            ("...ij,...jk->...ik", (R(2, 3, 4), R(4, 2))),
            ("ij,j", (R(2, 3), R(3))),
            ("ij->ji", (R(2, 3),)),
            ("ij,ij->", (R(2, 3), R(2, 3))),
        )
    ),
    # reductions
    *(
        Case(name, (R(2, 3, 4),), lambda x, f=f, axis=axis, keep=keep: f(x, axis, keep),
             {"axis": axis, "keepdims": keep})
        for name, f in (
            ("sum", torch.sum), ("mean", torch.mean), ("logsumexp", torch.logsumexp),
            ("max", torch.amax), ("min", torch.amin),
            ("var", lambda x, a, k: torch.var(x, a, correction=0, keepdim=k)),
            ("std", lambda x, a, k: torch.std(x, a, correction=0, keepdim=k)),
            ("norm", lambda x, a, k: torch.linalg.vector_norm(x, 2, a, k)),
        )
        for axis, keep in (((1,), False), ((0, -1), True), ((0, 1, 2), False))
    ),
    Case("var", (R(5, 2),), lambda x: torch.var(x, 0, correction=1), {"axis": 0, "ddof": 1}),
    Case("sum", (R(),), lambda x: x.sum()),
    Case("max", (R(3),), torch.max),
    Case("prod", (R(2, 3),), torch.prod),
    Case("prod", (R(2, 3, 2),), lambda x: x.prod(1, True), {"axis": 1, "keepdims": True}),
    Case("prod", (np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 5.0], [1.0, 2.0, 4.0]]),),
         lambda x: x.prod(1), {"axis": 1}),
    Case("prod_along", (R(4, 2),), lambda x: x.prod(0), {"axis": 0}),
    Case("cumsum", (R(2, 4, 2),), lambda x: x.cumsum(1), {"axis": 1}),
    Case("cumprod", (R(2, 4),), lambda x: x.cumprod(1), {"axis": 1}),
    Case("cumprod", (np.array([2.0, 0.0, 3.0, 0.0, 5.0]),), lambda x: x.cumprod(0), {"axis": 0}),
    Case("cumprod_along", (R(2, 4),), lambda x: x.cumprod(1), {"axis": 1}),
    *(
        Case(name, (with_zeros(shape, axis, zeros),), partial(getattr(torch, name), dim=axis),
             {"axis": axis})
        for name in ("prod", "cumprod")
        for shape, axis, zeros in (((19,), 0, ()), ((2, 9, 2), 1, (3,)), ((70,), 0, (0, 40, 69)))
    ),
    Case("sort", (R(4, 3),), lambda x: x.sort(0)[0], {"axis": 0}),
    Case("softmax", (R(3, 4),), lambda x: x.softmax(0), {"axis": 0}),
    Case("softmax", (R(3, 4) * 300.0,), lambda x: x.softmax(1), {"axis": 1}),
    Case("log_softmax", (R(3, 4),), lambda x: x.log_softmax(1), {"axis": 1}),
    Case("cross_entropy", (R(5, 4),), lambda x: F.cross_entropy(x, ti(TARGETS)), {"n": TARGETS}),
    # places
    Case("transpose", (R(2, 3, 4),), lambda x: x.permute(2, 0, 1), {"axes": (2, 0, 1)}),
    Case("transpose", (R(2, 3),), lambda x: x.T),
    Case("reshape", (R(2, 6),), lambda x: x.reshape(3, 4), {"shape": (3, 4)}),
    Case("reshape", (R(2, 3, 4),), lambda x: x.reshape(2, 12), {"shape": (2, -1)}),
    Case("reshape", (R(2, 12),), lambda x: x.reshape(2, 3, 1, 4), {"shape": (2, 3, 1, 4)}),
    Case("broadcast_to", (R(3, 1),), lambda x: x.expand(2, 3, 4), {"shape": (2, 3, 4)}),
    Case("concatenate", (R(2, 3), R(2, 1), R(2, 2)), lambda *xs: torch.cat(xs, 1), {"axis": 1}),
    Case("stack", (R(2, 3), R(2, 3)), lambda *xs: torch.stack(xs, 1), {"axis": 1}),
    Case("flip", (R(3, 4),), lambda x: x.flip(0, 1)),
    Case("roll", (R(3, 4),), lambda x: x.roll((1, -2), (0, 1)), {"shift": (1, -2), "axis": (0, 1)}),
    Case("roll_all", (R(3, 4),), lambda x: x.roll(5), {"shift": 5}),
    Case("pad", (R(2, 3),), lambda x: F.pad(x, (1, 2, 0, 1), value=0.5),
         {"widths": ((0, 1), (1, 2)), "value": 0.5}),
    Case("repeat", (R(2, 3),), lambda x: x.repeat_interleave(2, 1), {"count": 2, "axis": 1}),
    Case("tile", (R(2, 3),), lambda x: x.repeat(2, 1, 3), {"count": (2, 1, 3)}),
    Case("squeeze", (R(2, 1, 3),), lambda x: x.squeeze(1)),
    Case("expand_dims", (R(2, 3),), lambda x: x[:, None], {"axis": 1}),
    Case("tril", (R(2, 3, 4),), lambda x: x.tril(1), {"k": 1}),
    Case("triu", (R(3, 4),), lambda x: x.triu(-1), {"k": -1}),
    Case("diagonal", (R(2, 3, 4),), lambda x: x.diagonal(-1, 1, 2), {"k": -1}),
    Case("diagonal", (R(3, 4),), lambda x: x.diagonal(2), {"k": 2}),
    Case("diag_embed", (R(2, 3),), lambda x: torch.diag_embed(x, 1), {"k": 1}),
    Case("diag", (R(3),), torch.diag), Case("diag", (R(3, 4),), torch.diag),
    Case("trace", (R(3, 3),), torch.trace),
    *(
        Case("split", (R(6, 2),), lambda x, n=n: x.split(2)[n],
             ours=lambda e, x, n=n: e("split", x, sections=3)[n])
        for n in range(3)
    ),
    Case("split", (R(6, 2),), lambda x: x[1:4],
         ours=lambda e, x: e("split", x, sections=[1, 4])[1]),
    # picked
    Case("index", (R(4, 5, 3),), lambda x: x[1:, [4, 2, 0]],
         ours=lambda e, x: e.index(x, (slice(1, None), slice(None, None, -2)))),
    Case("index", (R(4, 5, 3),), lambda x: x[2, ..., None, -1],
         ours=lambda e, x: e.index(x, (2, Ellipsis, None, -1))),
    Case("index", (R(4, 5, 3),), lambda x: x[ti(N3)], ours=lambda e, x: e.index(x, N3)),
    Case("index", (R(4, 5, 3),), lambda x: x[ti(N3), :, ti(N3)],
         ours=lambda e, x: e.index(x, (N3, slice(None), N3))),
    Case("index", (R(2, 3, 2),), lambda x: x[ti(MASK)], ours=lambda e, x: e.index(x, MASK)),
    Case("add_at", (R(3, 2), R(4, 2)), added((ti(N3),)),
         ours=lambda e, x, y: e.add_at(x, N3, y)),
    Case("put", (R(5, 3), R(2, 3)), put(ti(W1)), ours=lambda e, x, y: e.put(x, W1, y)),
    Case("put", (R(5, 3), R()), put((slice(1, 4), 1)),
         ours=lambda e, x, y: e.put(x, (slice(1, 4), 1), y)),
    Case("put", (R(2, 3), R(4)), put(ti(MASK)), ours=lambda e, x, y: e.put(x, MASK, y)),
    Case("put_at", (R(5, 3), R(3)), put(2), {"count": 1, "n1": 2}),
    Case("put_at", (R(5), R()), put(4), {"count": 1, "n1": -1}),
    Case("take", (R(3, 4, 2),), lambda x: x[:, ti(NB)], {"n": NB, "axis": 1}),
    Case("gather", (R(3, 5),), lambda x: x.gather(1, ti(NA)), {"n": NA, "axis": 1}),
    Case("pick", (R(4, 3),), lambda x: x[torch.arange(4), ti(N3)], {"n": N3}),
    Case("embedding", (R(3, 2),), lambda x: F.embedding(ti(NB), x), {"n": NB}),
    # windows
    Case("conv1d", (R(2, 3, 9), R(4, 3, 3)), F.conv1d),
    Case("conv1d", (R(2, 4, 8), R(6, 2, 3)), lambda x, w: F.conv1d(x, w, None, 2, 1, 2, 2),
         {"stride": 2, "padding": 1, "dilation": 2, "groups": 2}),
    Case("conv2d", (R(2, 2, 5, 6), R(3, 2, 3, 2)), F.conv2d),
    Case("conv2d", (R(1, 2, 5, 4), R(3, 2, 3, 2)),
         lambda x, w: F.conv2d(x, w, None, (2, 1), (1, 0)),
         {"stride": (2, 1), "padding": (1, 0)}),
    Case("windows", (R(2, 7),), lambda x: x.unfold(1, 3, 2), {"window": (3,), "stride": 2}),
    Case("max_pool", (R(2, 2, 6),), lambda x: F.max_pool1d(x, 3, 2, 1),
         {"window": (3,), "stride": 2, "padding": 1}),
    Case("max_pool", (R(1, 2, 4, 6),), lambda x: F.max_pool2d(x, 2), {"window": (2, 2)}),
    Case("mean_pool", (R(1, 2, 4, 6),), lambda x: F.avg_pool2d(x, (2, 3), (2, 3), (1, 0)),
         {"window": (2, 3), "padding": (1, 0)}),
    # factorizations
    Case("solve", (regular(), R(3, 2)), torch.linalg.solve),
    Case("solve", (regular(2), R(2, 3, 2)), torch.linalg.solve),
    Case("inverse", (regular(),), torch.linalg.inv),
    Case("logabsdet", (regular(2),), lambda x: torch.linalg.slogdet(x)[1]),
    Case("logabsdet", (regular()[[1, 2, 0]],), lambda x: torch.linalg.slogdet(x)[1]),
    Case("logabsdet", (regular()[[1, 0, 2]],), lambda x: torch.linalg.slogdet(x)[0] * (
        torch.linalg.slogdet(x)[1]
    ), ours=lambda e, x: e("mul", *e.slogdet(x))),
    Case("logabsdet", (regular()[[1, 0, 2]],), torch.linalg.det, ours=lambda e, x: e.det(x)),
    Case("lu", (regular(),), lambda x: (lambda f: f[1].tril(-1) + f[2])(torch.linalg.lu(x))),
    Case("cholesky", (R(3, 3),), lambda x: torch.linalg.cholesky(x @ x.T + torch.eye(3)),
         ours=lower),
]  # fmt: skip


class ByStatement:
    """PyTorch in the place of our arrays: rows by their own statements, for want of a function of
    its own; as scalar rows without one are compared."""

    engine = TorchArrays(Torch())

    def __call__(self, name: str, *operands: Any, **arguments: Any) -> Any:
        row = ARRAYS[name]
        given = [torch.as_tensor(it, dtype=torch.float64) for it in operands]
        if isinstance(row, Composed):
            return row.make(self, *given, **arguments)
        made = bound(name, [tuple(it.shape) for it in given], {}, **arguments)
        assert not made.chosen, f"{name} looks for places: write a case for it"
        return self.engine.row(made, dict(zip(made.operands, given)), {}, None)

    def shape(self, operand: Any) -> Any:
        return tuple(operand.shape)

    def fill(self, shape: Any, number: float) -> Any:
        return torch.full(shape, number, dtype=torch.float64)

    def stop(self, operand: Any) -> Any:
        return operand.detach()


def own_cases(covered: set[str]) -> list[Case]:
    """Rows that nobody wrote a case for: their examples, compared by their own statements."""
    absent = {name for name, op in OPS.items() if op.absent}
    return [
        Case(
            name, tuple(R(*shape) for shape in row.example.shapes.values()),
            partial(ByStatement(), name, **row.example.arguments), row.example.arguments,
        )
        for name, row in ARRAYS.items()
        if name not in covered | absent
    ]  # fmt: skip


ALL = [*elementwise_cases(), *CASES]
ALL += own_cases({case.row for case in ALL})
COVERED = {case.row for case in ALL}
STATED = [name for name, row in ARRAYS.items() if hasattr(row, "bound")]
