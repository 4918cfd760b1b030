"""Graphs with tensors handed to PyTorch or JAX, node by node.

A statement of the array law is carried out there as it reads: the numbers of all turns of its loops
gathered, the body by the engine's own functions, the amounts added up at their places. Their
gradient is their own; the places alone are worked out by us. Factorizations are the engine's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from .._shared.bound import Bound
from .._shared.loops import _Turns
from ..errors import CheckError
from ..ops import OPS, STRUCTURAL
from ..ops.arrays.bodies import Arithmetic
from ..ops.expr import Expr
from ..ops.index import Ref, Statement, Term
from ..ops.op import PRIMITIVES
from ..ops.spellings import OPERATORS
from ..tensor import Tensor
from ..value import core
from .engines import Engine, Jax, Torch

Arrays = Mapping[str, Any]


class ArrayEngine:
    """What carrying out statements takes of an engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        named = {
            name: engine._taking_numbers(name)
            for name in {*OPS, *PRIMITIVES}
            if not isinstance(engine._counterparts.get(name), Expr)
            and (name in OPERATORS or engine._counterpart(name))
        }
        self.arithmetic = Arithmetic({**named, "where": self.choice})

    def array(self, numbers: Any) -> Any:
        """An array as the engine's own."""
        raise NotImplementedError

    def choice(self, condition: Any, x: Any, y: Any) -> Any:
        """One or the other, number by number."""
        raise NotImplementedError

    def placed(self, amounts: Any, places: Any, size: int) -> Any:
        """Amounts added up at places of a flat array."""
        raise NotImplementedError

    def solved(self, name: str, arrays: Arrays) -> Any:
        """An implicit row by the engine's own function."""
        raise NotImplementedError

    def gradients(
        self, root: Callable[[list[Any]], Any], leaves: list[Any]
    ) -> tuple[float, list[Any]]:
        """The value of a function of arrays, and its gradients."""
        raise NotImplementedError

    # ---- rows ------------------------------------------------------------------------------------

    def row(self, bound: Bound, arrays: Arrays, wholes: Arrays, node: Any) -> Any:
        """A bound row on the engine's arrays."""
        if bound.statement is None:
            raise CheckError.untranslatable(node, self.engine.name)
        if bound.implicit is not None:
            return self.solved(bound.name, arrays)
        if bound.scalar is not None and len(bound.operands) == OPS[bound.scalar].arity:
            return self.arithmetic.function(bound.scalar)(*[arrays[n] for n in bound.operands])
        return self.statement(bound.statement, arrays, wholes)

    def statement(self, statement: Statement, arrays: Arrays, wholes: Arrays) -> Any:
        """A statement on the engine's arrays."""
        size = prod(statement.shape)
        total = None
        for term in statement.terms:
            if all(length for _, length in term.loops):
                part = self._term(term, statement, arrays, wholes, size)
                total = part if total is None else total + part
        if total is None:
            return self.array(np.full(statement.shape, 1.0 if statement.how == "*=" else 0.0))
        return total.reshape(statement.shape)

    def _term(
        self, term: Term, statement: Statement, arrays: Arrays, wholes: Arrays, size: int
    ) -> Any:
        turns = _Turns(term, wholes)
        holds = turns.holding()
        kept = None if holds is None else np.broadcast_to(holds, turns.box).reshape(-1)
        chosen = slice(None) if kept is None or statement.how == "*=" else np.flatnonzero(kept)

        def flat(ref: Ref, shape: Sequence[int]) -> Any:
            at: Any = np.zeros(turns.box, dtype=np.intp)
            for index, length in zip(ref.at, shape):
                at = at * length + np.clip(turns.whole(index), 0, max(0, length - 1))
            return np.array(np.broadcast_to(at, turns.box).reshape(-1)[chosen])

        found = term.refs
        numbers = [
            arrays[ref.array].reshape(-1)[flat(ref, tuple(arrays[ref.array].shape))]
            for ref in found
        ]  # fmt: skip
        places = flat(term.to, statement.shape)
        amounts = self.arithmetic.body(term.body, found)(*numbers)
        amounts = amounts + self.array(np.zeros(places.shape))  # a constant has no turns of its own
        if statement.how != "*=":
            return self.placed(amounts, places, size)
        if kept is not None:
            amounts = self.choice(self.array(kept.astype(float)), amounts, 1.0)
        order = np.argsort(places, kind="stable")
        return amounts[order].reshape(size, -1).prod(1)

    # ---- graphs ----------------------------------------------------------------------------------

    def replayed(self, root: Any, given: Mapping[int, Any]) -> Any:
        """The root on the engine's arrays, with those of some leaves given."""
        now: dict[int, Any] = {}
        for node in core.order((root,)):
            key = core.key(node)
            if key in given:
                now[key] = given[key]
            elif node.op == "leaf":
                now[key] = self.array(np.asarray(node.data))
            else:
                now[key] = self._node(node, now)
        return now[core.key(root)]

    def _node(self, node: Any, now: Mapping[int, Any]) -> Any:
        operands = [
            now[core.key(v)] if core.key(v) in now else self.array(np.asarray(v.data))
            for v in node.inputs
        ]
        row = core.array_row(node)
        if row is not None:
            bound, wholes = row
            return self.row(bound, dict(zip(bound.operands, operands)), wholes, node)
        if isinstance(node, Tensor) or node._rule is not None or core.recompute(node) is None:
            raise CheckError.untranslatable(node, self.engine.name)
        if node.op in STRUCTURAL:
            return self.engine.total(STRUCTURAL[node.op].terms(operands))
        return self.engine.function(node.op)(*operands)


class TorchArrays(ArrayEngine):
    """PyTorch."""

    engine: Torch

    def array(self, numbers: Any) -> Any:
        """An array as a tensor of PyTorch."""
        return self.engine._torch.tensor(np.array(numbers), dtype=self.engine._torch.float64)

    def choice(self, condition: Any, x: Any, y: Any) -> Any:
        """By torch.where."""
        torch = self.engine._torch
        x, y = (torch.as_tensor(it, dtype=torch.float64) for it in (x, y))
        return torch.where(condition.to(bool), x, y)

    def placed(self, amounts: Any, places: Any, size: int) -> Any:
        """By index_add."""
        torch = self.engine._torch
        empty = torch.zeros(size, dtype=torch.float64)
        return empty.index_add(0, torch.tensor(np.array(places)), amounts)

    def solved(self, name: str, arrays: Arrays) -> Any:
        """By torch.linalg."""
        linalg = self.engine._torch.linalg
        if name == "solve":
            return linalg.solve(arrays["a"], arrays["b"])
        if name == "cholesky":
            lower = arrays["x"].tril()
            return linalg.cholesky(lower + lower.tril(-1).transpose(-1, -2))
        _, left, right = linalg.lu(arrays["x"])
        return left.tril(-1) + right

    def gradients(
        self, root: Callable[[list[Any]], Any], leaves: list[Any]
    ) -> tuple[float, list[Any]]:
        """By torch.autograd."""
        torch = self.engine._torch
        with torch.enable_grad():
            given = [self.array(leaf).requires_grad_() for leaf in leaves]
            value = root(given)
            if not value.requires_grad:
                return float(value), [np.zeros(np.shape(leaf)) for leaf in leaves]
            found = torch.autograd.grad(value, given, allow_unused=True)
        return float(value.detach()), [
            np.zeros(np.shape(leaf)) if g is None else g.numpy() for g, leaf in zip(found, leaves)
        ]


class JaxArrays(ArrayEngine):
    """JAX."""

    engine: Jax

    def array(self, numbers: Any) -> Any:
        """An array of JAX."""
        return self.engine._jnp.asarray(numbers, dtype="float64")

    def choice(self, condition: Any, x: Any, y: Any) -> Any:
        """By jax.numpy.where."""
        return self.engine._jnp.where(self.engine._jnp.asarray(condition) != 0, x, y)

    def placed(self, amounts: Any, places: Any, size: int) -> Any:
        """By at[].add."""
        return self.engine._jnp.zeros(size, dtype="float64").at[places].add(amounts)

    def solved(self, name: str, arrays: Arrays) -> Any:
        """By jax.numpy.linalg."""
        jnp = self.engine._jnp
        if name == "solve":
            return jnp.linalg.solve(arrays["a"], arrays["b"])
        if name == "cholesky":
            lower = jnp.tril(arrays["x"])
            whole = lower + jnp.swapaxes(jnp.tril(lower, -1), -1, -2)
            return jnp.linalg.cholesky(whole, symmetrize_input=False)
        _, left, right = self.engine._jax.scipy.linalg.lu(arrays["x"])
        return jnp.tril(left, -1) + right

    def gradients(
        self, root: Callable[[list[Any]], Any], leaves: list[Any]
    ) -> tuple[float, list[Any]]:
        """By jax.value_and_grad."""
        with self.engine._in_float64():
            given = [self.array(leaf) for leaf in leaves]
            value, found = self.engine._jax.value_and_grad(root)(given)
            return float(value), [np.asarray(g) for g in found]


def array_engine(engine: Engine) -> ArrayEngine:
    """The engine for arrays."""
    return TorchArrays(engine) if isinstance(engine, Torch) else JaxArrays(engine)
