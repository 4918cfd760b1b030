"""The methods: SGD, Adam, AdamW, RMSprop. Formulas and defaults are PyTorch's."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import SettingError
from ..value import core
from .optimizer import Group, Optimizer, State, check_setting


class SGD(Optimizer):
    """Gradient descent, with momentum and Nesterov's momentum.

    >>> import retrograde as rg
    >>> x = rg.Value(1.0)
    >>> optimizer = rg.optim.SGD([x], lr=0.1, momentum=0.9, nesterov=True)
    >>> (x * x).backward(); optimizer.step(); round(x.data, 6)
    0.62
    """

    arrays: ClassVar[tuple[str, ...]] = ("steps", "velocity")

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
            },
        )

    def check(self, group: Group) -> None:
        """Nesterov's momentum needs momentum, undampened."""
        super().check(group)
        if group["nesterov"] and not (group["momentum"] > 0.0 and group["dampening"] == 0.0):
            allowed = "above 0, and dampening 0, where nesterov is True"
            raise SettingError.of("momentum", group["momentum"], allowed)

    def move(self, group: Group, state: State) -> None:
        """Move the parameters of one group."""
        core.sgd(
            group["params"],
            state["steps"],
            state["velocity"],
            group["lr"],
            group["momentum"],
            group["dampening"],
            group["weight_decay"],
            group["nesterov"],
        )


class Adam(Optimizer):
    """Adam; ``weight_decay`` adds to the gradient, as in the first paper (see :class:`AdamW`).

    >>> import retrograde as rg
    >>> x = rg.Value(1.0)
    >>> optimizer = rg.optim.Adam([x], lr=0.1)
    >>> (x * x).backward(); optimizer.step(); round(x.data, 6)
    0.9
    """

    arrays: ClassVar[tuple[str, ...]] = ("steps", "mean", "square")
    decoupled: ClassVar[bool] = False

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(
            params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        )

    def check(self, group: Group) -> None:
        """Both betas lie below 1."""
        super().check(group)
        if not isinstance(group["betas"], (list, tuple)) or len(group["betas"]) != 2:
            raise SettingError.of("betas", group["betas"], "two numbers")
        for beta in group["betas"]:
            check_setting("each of betas", beta, "beta")

    def move(self, group: Group, state: State) -> None:
        """Move the parameters of one group."""
        beta1, beta2 = group["betas"]
        core.adam(
            group["params"],
            state["steps"],
            state["mean"],
            state["square"],
            group["lr"],
            beta1,
            beta2,
            group["eps"],
            group["weight_decay"],
            self.decoupled,
        )


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters directly."""

    decoupled: ClassVar[bool] = True

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay)


class RMSprop(Optimizer):
    """Gradients divided by the root of their recent mean square."""

    arrays: ClassVar[tuple[str, ...]] = ("steps", "square", "mean", "velocity")

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "alpha": alpha,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "centered": centered,
            },
        )

    def move(self, group: Group, state: State) -> None:
        """Move the parameters of one group."""
        core.rmsprop(
            group["params"],
            state["steps"],
            state["square"],
            state["mean"],
            state["velocity"],
            group["lr"],
            group["alpha"],
            group["eps"],
            group["weight_decay"],
            group["momentum"],
            group["centered"],
        )
