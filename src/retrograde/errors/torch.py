"""Exceptions of looking at PyTorch programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .wording import RetrogradeError

if TYPE_CHECKING:
    from typing_extensions import Self

    from .._shared.sites import Site


class TorchFeatureError(RetrogradeError, ImportError):
    """A function of PyTorch that is not part of its public interface is missing or has changed."""

    @classmethod
    def of(cls, name: str, what: str, version: str) -> Self:
        return cls(
            f"PyTorch {version} has no {name}, which retrograde uses to {what}. retrograde is "
            "tested with PyTorch 2.11 to 2.13: install one of these, or a newer retrograde."
        )

    @classmethod
    def launch(cls, code: int, version: str) -> Self:
        return cls(
            f"PyTorch {version}: a launch to summarise tensors on a GPU ended with error {code} of "
            "the driver. The program itself may be well: run it without the watch, or watch it on "
            "the CPU."
        )


class TorchProgramError(RetrogradeError, ValueError):
    """A PyTorch program gave nothing to look at, or something that cannot be looked at."""

    @classmethod
    def not_a_tensor(cls, function: str, given: object) -> Self:
        return cls(
            f"rg.torch.{function} takes a tensor of PyTorch, not {type(given).__name__}. Give it "
            "the loss before backward() has freed its graph."
        )

    @classmethod
    def no_log(cls, given: object) -> Self:
        return cls(
            "rg.torch.watch(log=...) takes a path for a CSV file, or a writer with add_scalar, not "
            f"{type(given).__name__}."
        )

    @classmethod
    def no_history(cls, function: str, shape: Sequence[int], cut: str) -> Self:
        return cls(
            f"rg.torch.{function}: this tensor of shape {list(shape)} has no history: nothing in "
            f"it requires a gradient, or it was cut off. {cut}"
        )

    @classmethod
    def cut_at(cls, how: str, site: Site | None) -> str:
        return f"The last cut was {how} at {site}." if site else f"The last cut was {how}."

    @classmethod
    def cut_unknown(cls) -> str:
        return (
            "Look for .detach(), .data, .item(), numpy(), argmax or torch.no_grad() on the way; "
            "inside rg.torch.watch(model) the line is named."
        )

    @classmethod
    def not_a_number(cls, function: str, shape: Sequence[int]) -> Self:
        return cls(
            f"rg.torch.{function} starts from one number, a loss; this tensor has shape "
            f"{list(shape)}. Take its sum() or mean(), or one of its elements."
        )

    @classmethod
    def freed(cls, function: str) -> Self:
        return cls(
            f"rg.torch.{function}: the graph of this loss has been freed by backward(). Ask before "
            "backward(), or call backward(retain_graph=True)."
        )

    @classmethod
    def not_in_graph(cls, name: str) -> Self:
        return cls(
            f"the gradient of {name} has nothing to itemise: the loss does not depend on it. "
            "rg.torch.watch(model) says which line cut it off."
        )

    @classmethod
    def index(cls, index: object, shape: Sequence[int]) -> Self:
        return cls(
            f"index={index!r} is not one number of a tensor of shape {list(shape)}: give "
            f"{len(shape)} integers, one an axis."
        )

    @classmethod
    def complex_numbers(cls, function: str, dtype: str) -> Self:
        return cls(
            f"rg.torch.{function} itemises gradients of real numbers; this tensor is {dtype}. "
            "Itemise torch.view_as_real(tensor) instead."
        )

    @classmethod
    def no_module(cls, function: str, given: object) -> Self:
        return cls(
            f"rg.torch.{function} takes modules (torch.nn.Module), not {type(given).__name__}. "
            "Give it the model, several models, or nothing: models are found when they are called."
        )

    @classmethod
    def no_step(cls, given: object, site: Site | None) -> Self:
        return cls(
            "rg.torch.assert_healthy runs a training step, a function that is called without "
            f"arguments, and was given {given!r:.60}"
            + (f" on line {site.line}" if site is not None else "")
            + ". Write def step(): with zero_grad(), the loss, backward() and the optimizer's "
            "step() in it, and give it step, without calling it."
        )

    @classmethod
    def no_pass(cls) -> Self:
        return cls(
            "there is no backward pass to report on: nothing inside the block called backward()."
        )

    @classmethod
    def not_examined(cls, step: int, passes: int) -> Self:
        return cls(f"there is no backward pass {step} to tell: the program ran {passes}.")

    @classmethod
    def watched_twice(cls) -> Self:
        return cls(
            "a watch is on already: two of them would see each other. Give all models to one "
            "rg.torch.watch(first, second)."
        )


class UnhealthyError(RetrogradeError, AssertionError):
    """A training step that was asserted to be healthy has alarms."""

    @classmethod
    def of(cls, report: str) -> Self:
        return cls(f"the gradients are not healthy\n{report}")
