"""Other engines: a graph handed to PyTorch or JAX, op by op, by their own functions.

Rows of the law have counterparts there, with a derivative rule of their own, so nothing of ours
takes part in their gradient. A row without one is its own value spelled in their functions, which
they differentiate. A custom op is tried by calling its function on their numbers. The packages are
imported when they are first asked for; everything runs in float64 on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..errors import CheckError, MissingPackageError
from .printed import compiled
from .tape import CUSTOM, DOT, LEAF, OPAQUE, SUM, Step, Tape

ENGINES = ("torch", "jax")


class Engine:
    """An engine to compare with: its name, its functions, and how it takes a gradient."""

    name = ""
    version = ""
    functions: dict[str, Callable[..., Any]]

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
        if step.kind == SUM:
            return self.total(operands)
        if step.kind == DOT:
            half = len(operands) // 2
            return self.total([x * y for x, y in zip(operands[:half], operands[half:])])
        if step.kind == OPAQUE:
            raise CheckError.untranslatable(step.node, self.name)
        if step.kind == CUSTOM:
            return self._custom(step, operands)
        return self.function(step.op)(*operands)

    def function(self, name: str) -> Callable[..., Any]:
        """A row on the engine's numbers: its counterpart, or else its value in their functions."""
        if name not in self.functions:
            choose = {"where": self.where, "real": lambda x: x}
            self.functions[name] = compiled(name, {**self.functions, **choose})
        return self.functions[name]

    def where(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """A choice between the engine's numbers or plain ones."""
        raise NotImplementedError

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
        functional = torch.nn.functional
        plain = "exp expm1 log log1p log2 log10 sqrt tanh sigmoid relu sin cos tan asin acos atan "
        plain += "atan2 sinh cosh asinh acosh atanh hypot sign abs floor maximum minimum erf erfc "
        plain += (
            "square reciprocal pow rsqrt exp2 logaddexp xlogy logit sinc ceil trunc round fmod "
        )
        plain += "remainder lgamma digamma erfinv"
        self.functions = {
            **{name: getattr(torch, name) for name in plain.split()},
            **_operators(),
            "leaky_relu": lambda x, slope: torch.where(x > 0, x, slope * x),
            "softplus": lambda x: torch.logaddexp(x, torch.zeros_like(x)),
            **{name: getattr(functional, name) for name in "mish relu6 selu hardswish".split()},
            **{name: getattr(torch.special, name) for name in "ndtri log_ndtr erfcx".split()},
            "logsigmoid": functional.logsigmoid,
            "softsign": functional.softsign,
            "cbrt": lambda x: torch.sign(x) * torch.pow(torch.abs(x), 1.0 / 3.0),
            "trigamma": lambda x: torch.polygamma(1, x),
            "betaln": lambda x, y: torch.lgamma(x) + torch.lgamma(y) - torch.lgamma(x + y),
            "silu": functional.silu,
            "gelu": functional.gelu,
            "norm_cdf": torch.special.ndtr,
            "clip": torch.clamp,
            "where": lambda condition, x, y: torch.where(condition != 0, x, y),
            "less": lambda x, y: (x < y).to(torch.float64),
            "less_equal": lambda x, y: (x <= y).to(torch.float64),
            "equal": lambda x, y: (x == y).to(torch.float64),
        }

    def scalar(self, number: float) -> Any:
        """A number as a tensor without axes."""
        return self._torch.tensor(number, dtype=self._torch.float64)

    def where(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """torch.where, in float64 also between plain numbers."""
        tensors = [x if self.is_own(x) else self.scalar(x) for x in (then, otherwise)]
        return self._torch.where(self._torch.as_tensor(condition), *tensors)

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
        from jax import nn
        from jax import numpy as jnp
        from jax.scipy import special

        self._jax: Any = jax
        self._jnp = jnp
        self.version = str(jax.__version__)
        plain = "exp expm1 log log1p log2 log10 sqrt tanh sin cos tan sinh cosh hypot sign abs "
        plain += "floor maximum minimum square reciprocal exp2 cbrt logaddexp sinc ceil trunc fmod "
        plain += "round remainder"
        arcs = "sin cos tan tan2 sinh cosh tanh"
        self.functions = {
            **{name: getattr(jnp, name) for name in plain.split()},
            **{f"a{name}": getattr(jnp, f"arc{name}") for name in arcs.split()},
            **_operators(),
            "pow": jnp.power,
            "sigmoid": nn.sigmoid,
            "relu": nn.relu,
            "leaky_relu": lambda x, slope: jnp.where(x > 0, x, slope * x),
            "softplus": nn.softplus,
            "silu": nn.silu,
            "gelu": lambda x: nn.gelu(x, approximate=False),
            **{name: getattr(nn, name) for name in "mish relu6 selu".split()},
            **{name: getattr(special, name) for name in "xlogy logit ndtri log_ndtr".split()},
            "betaln": special.betaln,
            "digamma": special.digamma,
            "erfinv": special.erfinv,
            "hardswish": nn.hard_swish,
            "lgamma": special.gammaln,
            "logsigmoid": nn.log_sigmoid,
            "rsqrt": jax.lax.rsqrt,
            "softsign": nn.soft_sign,
            "trigamma": lambda x: special.polygamma(1, x),
            "erf": special.erf,
            "erfc": special.erfc,
            "norm_cdf": special.ndtr,
            "clip": jnp.clip,
            "where": lambda condition, x, y: jnp.where(condition != 0, x, y),
            "less": lambda x, y: (x < y).astype(float),
            "less_equal": lambda x, y: (x <= y).astype(float),
            "equal": lambda x, y: (x == y).astype(float),
        }

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

    def where(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """jnp.where."""
        return self._jnp.where(condition, then, otherwise)

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


def _operators() -> dict[str, Callable[..., Any]]:
    return {
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "mul": lambda x, y: x * y,
        "div": lambda x, y: x / y,
        "neg": lambda x: -x,
    }


def engine(name: str) -> Engine:
    """An engine by name."""
    return Torch() if name == "torch" else Jax()
