"""Other engines: a graph handed to PyTorch or JAX, op by op, by their own functions.

Most rows of the law have counterparts there (``ops/spellings.py``), with a derivative rule of their
own, so nothing of ours takes part in their gradient. A row without one is its own value spelled in
their functions, which they differentiate: of its choices only the arm taken. A custom op is tried
by calling its function on their numbers. The packages are imported when they are first asked for;
everything runs in float64 on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

from ..errors import CheckError, MissingPackageError
from ..ops import OPS, STRUCTURAL
from ..ops.emit.python import python, routines
from ..ops.expr import Expr, calls
from ..ops.op import PRIMITIVES
from ..ops.special import ROUTINES
from ..ops.spellings import JAX, OPERATORS, TORCH
from .tape import CUSTOM, LEAF, OPAQUE, WIDE, Step, Tape

ENGINES = ("torch", "jax")


class Engine:
    """An engine to compare with: its name, its functions, and how it takes a gradient."""

    name = ""
    version = ""

    def __init__(self, counterparts: Mapping[str, str | Expr]) -> None:
        self._counterparts = counterparts
        self._functions: dict[str, Callable[..., Any]] = dict(OPERATORS)

    def scalar(self, number: float) -> Any:
        """A number as the engine's own."""
        raise NotImplementedError

    def is_own(self, thing: object) -> bool:
        """Whether a thing is one of the engine's numbers."""
        raise NotImplementedError

    def gradients(self, tape: Tape, places: Sequence[int]) -> tuple[float, list[float]]:
        """The root's value, and its gradients with respect to the values at some places."""
        raise NotImplementedError

    def total(self, terms: list[Any]) -> Any:
        """The sum of its numbers."""
        raise NotImplementedError

    def step(self, step: Step, operands: list[Any]) -> Any:
        """One step on the engine's numbers."""
        if step.kind == WIDE:
            return self.total(STRUCTURAL[step.op].terms(operands))
        if step.kind == OPAQUE:
            raise CheckError.untranslatable(step.node, self.name)
        if step.kind == CUSTOM:
            return self._custom(step, operands)
        return self.function(step.op)(*operands)

    def function(self, name: str) -> Callable[..., Any]:
        """A row on the engine's numbers: its counterpart, or else its value in their functions."""
        if name not in self._functions:
            self._functions[name] = self._counterpart(name) or self.spelled_out(name)
        return self._functions[name]

    def _counterpart(self, name: str) -> Callable[..., Any] | None:
        """What the engine has for a row, if it has it in this version."""
        found = self._counterparts.get(name)
        if isinstance(found, Expr):
            return self._compiled(OPS[name].inputs, found)
        module, _, attribute = f"{self.name}.{found}".rpartition(".")
        function: Callable[..., Any] | None = getattr(import_module(module), attribute, None)
        return function

    def spelled_out(self, name: str) -> Callable[..., Any]:
        """A row's own value in the engine's functions."""
        return self._compiled(OPS[name].inputs, OPS[name].value)

    def _compiled(self, inputs: Sequence[str], value: Expr) -> Callable[..., Any]:
        called = calls(value)
        scope = {each: self._taking_numbers(each) for each in called - ROUTINES.keys()}
        if called & ROUTINES.keys():
            scope |= {each: self._taking_numbers(each) for each in PRIMITIVES - ROUTINES.keys()}
            scope |= routines(called, scope)
        function = eval(f"lambda {', '.join(inputs)}: {python(value)}", scope)

        def own(*operands: Any) -> Any:
            result = function(*operands)
            return result if self.is_own(result) else self.scalar(result)

        return own

    def _taking_numbers(self, name: str) -> Callable[..., Any]:
        """The function of a name, for constants in a formula too."""

        def call(*operands: Any) -> Any:
            return self.function(name)(*[x if self.is_own(x) else self.scalar(x) for x in operands])

        return call

    def _custom(self, step: Step, operands: list[Any]) -> Any:
        """A custom op's own function, where it is written so that it runs on any numbers."""
        function = step.node._rule._function  # type: ignore[union-attr]
        try:
            outcome = function(*operands)
        except Exception as error:  # whatever math.exp and the like say to a foreign number
            raise CheckError.untranslatable(step.node, self.name) from error
        outcome = outcome[0] if isinstance(outcome, tuple) else outcome
        if not self.is_own(outcome):
            raise CheckError.untranslatable(step.node, self.name)
        return outcome

    def replay(self, tape: Tape, moves: dict[int, Any]) -> list[Any]:
        """Every step on the engine's numbers; leaves at ``moves`` are replaced, computed values
        there are moved."""
        now: list[Any] = []
        for place, step in enumerate(tape.steps):
            if step.kind == LEAF:
                now.append(moves[place] if place in moves else self.scalar(step.data))
                continue
            operands = [
                now[i] if i >= 0 else self.scalar(number)
                for i, number in zip(step.inputs, step.numbers)
            ]
            result = self.step(step, operands)
            now.append(result + moves[place] if place in moves else result)
        return now

    def partials(self, step: Step) -> tuple[float, ...]:
        """The engine's own partials of one step, by itself."""
        leaves = [Step(step.node, LEAF, "leaf", (), (), (), number) for number in step.numbers]
        places = tuple(range(len(leaves)))
        alone = Step(step.node, step.kind, step.op, places, step.numbers, step.partials, step.data)
        return tuple(self.gradients(Tape([*leaves, alone], {}), places)[1])


class Torch(Engine):
    """PyTorch."""

    name = "torch"

    def __init__(self) -> None:
        try:
            import torch
        except ImportError as error:
            raise MissingPackageError.extra("torch", "against='torch'") from error
        self._torch = torch
        self.version = str(torch.__version__)
        super().__init__(TORCH)

    def scalar(self, number: float) -> Any:
        """A number as a tensor without axes."""
        return self._torch.tensor(number, dtype=self._torch.float64)

    def is_own(self, thing: object) -> bool:
        """Whether a thing is a tensor."""
        return isinstance(thing, self._torch.Tensor)

    def total(self, terms: list[Any]) -> Any:
        """The sum of tensors."""
        return self._torch.stack(terms).sum()

    def gradients(self, tape: Tape, places: Sequence[int]) -> tuple[float, list[float]]:
        """By torch.autograd."""
        moves = {}
        with self._torch.enable_grad():
            for place in places:
                step = tape.steps[place]
                start = step.data if step.kind == LEAF else 0.0
                moves[place] = self.scalar(start).requires_grad_()
            root = self.replay(tape, moves)[-1]
            if not root.requires_grad:
                return float(root), [0.0] * len(places)
            found = self._torch.autograd.grad(
                root, [moves[place] for place in places], allow_unused=True
            )
        return float(root.detach()), [0.0 if g is None else float(g) for g in found]


class Jax(Engine):
    """JAX, in float64 whatever its configuration says, without compiling."""

    name = "jax"

    def __init__(self) -> None:
        try:
            import jax
        except ImportError as error:
            raise MissingPackageError.extra("jax", "against='jax'") from error
        from jax import numpy as jnp

        self._jax: Any = jax
        self._jnp = jnp
        self.version = str(jax.__version__)
        super().__init__(JAX)

    def _in_float64(self) -> AbstractContextManager[Any]:
        if self._jax.config.jax_enable_x64:
            return nullcontext()
        newer = hasattr(self._jax, "enable_x64")
        switch = self._jax.enable_x64 if newer else self._jax.experimental.enable_x64
        context: AbstractContextManager[Any] = switch(True)
        return context

    def scalar(self, number: float) -> Any:
        """A number as an array without axes."""
        return self._jnp.asarray(number, dtype="float64")

    def is_own(self, thing: object) -> bool:
        """Whether a thing is an array of JAX."""
        return isinstance(thing, self._jax.Array)

    def total(self, terms: list[Any]) -> Any:
        """The sum of arrays."""
        return self._jnp.stack(terms).sum()

    def gradients(self, tape: Tape, places: Sequence[int]) -> tuple[float, list[float]]:
        """By jax.value_and_grad."""
        with self._in_float64():
            starts = [
                self.scalar(step.data if step.kind == LEAF else 0.0)
                for step in (tape.steps[place] for place in places)
            ]

            def root(given: list[Any]) -> Any:
                return self.replay(tape, dict(zip(places, given)))[-1]

            value, found = self._jax.value_and_grad(root)(starts)
            return float(value), [float(g) for g in found]


def engine(name: str) -> Engine:
    """An engine by name."""
    return Torch() if name == "torch" else Jax()
