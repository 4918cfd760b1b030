"""Exceptions of modules, optimizers and models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .wording import RetrogradeError, describe, kind_of, with_place

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Self

    Value: TypeAlias = Any  # of either core


def _plain(text: str) -> str:
    """Words of a file, which may be anybody's: what a terminal would obey is shown as escapes."""
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")


class SettingError(RetrogradeError, ValueError):
    """A setting of a layer, an optimizer or a training run is out of its range."""

    @classmethod
    def of(cls, what: str, got: object, allowed: str) -> Self:
        return cls(f"{what} must be {allowed}, got {kind_of(got)}.")


class ParameterError(RetrogradeError, ValueError):
    """Something an optimizer cannot move was given to it."""

    @classmethod
    def none(cls) -> Self:
        return cls("an optimizer was given no parameters; pass module.parameters() or a list.")

    @classmethod
    def interior(cls, value: Value) -> Self:
        return cls(
            with_place(
                f"{describe(value)} was computed, so moving it would have no effect on what it "
                "was computed from. Give the optimizer leaves.",
                value,
            )
        )

    @classmethod
    def twice(cls, value: Value) -> Self:
        return cls(
            f"{describe(value)} is among the parameters twice and would be moved twice a step. "
            "Give each parameter once, in one group."
        )

    @classmethod
    def shared(cls, value: Value, first: str, second: str) -> Self:
        return cls(
            f"{describe(value)} stands in '{first}' and in '{second}', and cannot be a number of "
            "two tensors. Share whole lists, self.head = self.embedding.weight, or keep the values."
        )

    @classmethod
    def half_frozen(cls, name: str) -> Self:
        return cls(
            f"some values of '{name}' take gradients and some do not; a tensor does or does not as "
            "a whole. Freeze all of them or none, or keep the values."
        )


class StateError(RetrogradeError, ValueError):
    """A saved state does not fit what it is loaded into; nothing was changed."""

    @classmethod
    def names(cls, module: str, missing: list[str], unexpected: list[str]) -> Self:
        parts = [
            f"{what} {', '.join(names[:5])}" + (f" and {len(names) - 5} more" * (len(names) > 5))
            for what, names in (("it lacks", missing), ("it alone has", unexpected))
            if names
        ]
        return cls(
            f"the state does not fit {module}: {'; '.join(parts)}. "
            "Make the module as it was when saved, or pass strict=False to load what fits."
        )

    @classmethod
    def shape(cls, name: str, here: tuple[int, ...], there: tuple[int, ...]) -> Self:
        return cls(
            f"the state does not fit: {name} has shape {here} here and {there} in the state. "
            "Make it of the same size as when it was saved."
        )

    @classmethod
    def numbers(cls, name: str, got: object) -> Self:
        return cls(
            f"the state does not fit: {name} must be an array of real numbers, got {kind_of(got)}. "
            "Give what state_dict() gave."
        )

    @classmethod
    def optimizer(cls, name: str, problem: str) -> Self:
        return cls(
            f"the state does not fit this {name}: {problem}. "
            "Make it of the same kind, with the same parameters and groups, as when it was saved."
        )


class TokenError(RetrogradeError, ValueError):
    """A text has characters the model was not trained on."""

    @classmethod
    def unknown(cls, unknown: list[str], known: str) -> Self:
        return cls(
            f"the model does not know {', '.join(map(repr, unknown[:8]))}"
            f"{' and more' * (len(unknown) > 8)}: it was trained on {known[:80]!r}"
            f"{' and more' * (len(known) > 80)}. Use those characters."
        )


class CorpusError(RetrogradeError, ValueError):
    """A file cannot serve as documents to learn from."""

    @classmethod
    def empty(cls, path: str) -> Self:
        return cls(f"{path} has no documents: give a text file with one on each line.")

    @classmethod
    def encoding(cls, path: str, at: int) -> Self:
        return cls(f"{path} is not UTF-8 text: byte {at} does not fit. Convert it first.")

    @classmethod
    def unreadable(cls, path: str, why: str) -> Self:
        return cls(f"{_plain(path)} cannot be read: {why}. Give the path of a text file.")


class TrainingError(RetrogradeError, ArithmeticError):
    """Training came apart: a loss or a parameter is not finite any more."""

    @classmethod
    def diverged(cls, step: int, what: str, rate: float) -> Self:
        return cls(
            f"training came apart: after {step} step{'s' * (step != 1)} {what}. "
            f"Use a learning rate below {rate:g}; checkpoints written before are as they were."
        )

    @classmethod
    def scores(cls) -> Self:
        return cls(
            "the model's scores are not finite, so nothing can be drawn from them. "
            "Train it anew with a lower learning rate, or sample from an earlier checkpoint."
        )


class CheckpointError(RetrogradeError, RuntimeError):
    """A checkpoint cannot be written, read, or gone on from."""

    @classmethod
    def write(cls, path: object, error: OSError, survives: bool) -> Self:
        rest = "The previous one is as it was." if survives else "There was none before it."
        return cls(
            f"{path} could not be written: {error.strerror or error}. {rest} "
            "Make room, or write elsewhere with --out."
        )

    @classmethod
    def missing(cls, path: object) -> Self:
        return cls(f"there is no checkpoint at {path}. Begin one without --resume.")

    @classmethod
    def damaged(cls, path: object, why: str) -> Self:
        return cls(
            f"{path} is not a whole checkpoint: {_plain(why).rstrip('.')}. "
            "Resume from another one, or begin anew without --resume."
        )

    @classmethod
    def exists(cls, path: object) -> Self:
        return cls(
            f"{path} exists already. Go on with it by --resume, write elsewhere with --out, or "
            "write over it with --force."
        )

    @classmethod
    def corpus(cls, path: object, trained: str, given: str) -> Self:
        return cls(
            f"{path} was trained on other documents ({_plain(trained)}) than those given "
            f"({given}). Give the same file, unchanged, or begin anew without --resume."
        )

    @classmethod
    def past(cls, path: object, done: int, steps: int) -> Self:
        return cls(
            f"{path} has taken {done} steps already, so {steps} cannot be its last. "
            "Leave --steps out, or give a larger number."
        )

    @classmethod
    def other(cls, path: object, name: str, here: object, there: object) -> Self:
        return cls(
            f"{path} was begun with {name} {there}, not {here}: going on needs the same. "
            f"Leave --{name} out, or begin anew without --resume."
        )
