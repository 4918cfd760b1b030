"""Exceptions of graphs: leaves and closures, the backward pass, hooks, anomaly mode, copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .wording import RetrogradeError, describe, kind_of, with_place

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from typing_extensions import Self

    Value: TypeAlias = Any  # of either core


class LeafError(RetrogradeError, RuntimeError):
    """Something that only a leaf can have was asked of an interior value."""

    @classmethod
    def requires_grad(cls, value: Value) -> Self:
        return cls(
            with_place(
                "requires_grad can be switched off on leaves only; "
                f"{describe(value)} was computed. Write value.detach() for the same number "
                "without its history.",
                value,
            )
        )

    @classmethod
    def tensor_grad(cls, tensor: Value) -> Self:
        return cls(
            with_place(
                f"{describe(tensor)} was computed, and gradients of such tensors are let go as "
                "soon as they were used. Write t.retain_grad() before backward() to keep this one.",
                tensor,
            )
        )

    @classmethod
    def tensor_data(cls, tensor: Value) -> Self:
        return cls(
            with_place(
                f"data can be assigned to leaves only; {describe(tensor)} was computed. Write "
                "t = t.put(i, v), or change the leaves and compute it again.",
                tensor,
            )
        )


class PassInProgressError(RetrogradeError, RuntimeError):
    """A gradient was to change while an unfinished backward pass works on it."""

    @classmethod
    def here(cls, value: Value) -> Self:
        return cls(
            with_place(
                f"{describe(value)} is part of a backward pass that is still running: a _backward "
                "closure or a hook of that pass asked for this one. Its result would be lost. Call "
                "it after the outer backward() has returned.",
                value,
            )
        )

    @classmethod
    def elsewhere(cls, value: Value) -> Self:
        return cls(
            with_place(
                f"another thread runs a backward pass through {describe(value)} whose rules are "
                "Python closures, and they work on .grad itself: what this thread adds would be "
                "lost. Give each thread its own values, hold one lock around both passes, or write "
                "the rule with @rg.custom_op.",
                value,
            )
        )


class ClosureStyleError(RetrogradeError, AttributeError):
    """_backward or the inputs were assigned on a value not made in the closure style."""

    @classmethod
    def backward(cls, value: Value) -> Self:
        return cls(
            f"_backward can be assigned only to a value made in the closure style, as in "
            f"out = Value(data, (x,), 'name'); {describe(value)} already has its rule."
        )

    @classmethod
    def inputs(cls, value: Value) -> Self:
        return cls(
            f"the inputs can be assigned only on a value made in the closure style, as in "
            f"out = Value(data, (x,), 'name'), not on {describe(value)}."
        )

    @classmethod
    def array(cls, value: Value) -> Self:
        return cls(
            f"_backward() of {describe(value)}: it was made from tensors, whose gradients are not "
            "added one node at a time. Call backward() on it, or on what was made from it."
        )

    @classmethod
    def not_callable(cls, value: Value, got: object) -> Self:
        return cls(f"_backward must be callable without arguments, got {kind_of(got)}.")


class NoGradientError(RetrogradeError, RuntimeError):
    """backward was asked for where no leaf takes gradients."""

    @classmethod
    def of(cls, root: Value) -> Self:
        if root.op == "leaf":
            text = (
                f"backward: {describe(root)} has no history and requires_grad is False: it was "
                "made under no_grad(), detached, or computed from such values only. "
                "Make the leaves with Value(x) and compute outside no_grad()."
            )
        else:
            text = (
                f"backward: no leaf under {describe(root)} takes gradients. "
                "Set requires_grad = True on at least one of them."
            )
        return cls(with_place(text, root))


class MissingBackwardError(RetrogradeError, RuntimeError):
    """A closure-style value was reached whose _backward was never assigned."""

    @classmethod
    def of(cls, value: Value) -> Self:
        return cls(
            with_place(
                f"backward reached {describe(value)}, made as Value(data, inputs, '{value.op}') "
                "without a rule. Assign out._backward = function, or give the partials: "
                "Value(data, inputs, partials).",
                value,
            )
        )


class CycleError(RetrogradeError, RuntimeError):
    """A value is among its own inputs, directly or further down."""

    @classmethod
    def of(cls, value: Value) -> Self:
        return cls(
            with_place(
                f"{describe(value)} depends on itself: its inputs were reassigned so that the "
                "graph has a cycle. Give a value only inputs that were made before it.",
                value,
            )
        )


class GraphMemoryError(RetrogradeError, MemoryError):
    """The core could not get the memory it asked for."""

    @classmethod
    def of(cls, size: int) -> Self:
        return cls(
            f"out of memory: {size:,} bytes could not be had; nothing was changed. "
            "Drop graphs you no longer need (del root), or work in smaller pieces."
        )


class AnomalyError(RetrogradeError, ArithmeticError):
    """Under anomaly(): the birth of a NaN or an infinity.

    ``phase`` is "forward" or "backward", ``value`` the node it happened at, ``birth`` all that is
    known of it, as data. In a call of a compiled function there is no node, but a ``row``.
    """

    phase: str
    value: Any
    birth: Any
    row: int | None = None

    @classmethod
    def of(cls, birth: Any, value: Value = None) -> Self:
        error = cls(str(birth))
        error.phase, error.value, error.birth = birth.phase, value, birth
        return error

    @classmethod
    def in_row(cls, birth: Any, row: int | None) -> Self:
        error = cls(str(birth) if row is None else f"row {row}: {birth}")
        error.phase, error.value, error.birth, error.row = birth.phase, None, birth, row
        return error

    @classmethod
    def forward(cls, value: Value) -> Self:
        from .._shared import birth

        return cls.of(birth.forward(value), value)

    @classmethod
    def backward(
        cls,
        value: Value,
        index: int,
        partial: float,
        upstream: float,
        before: float,
        roots: Sequence[Value] = (),
    ) -> Self:
        from .._shared import birth

        born = birth.backward(value, index, partial, upstream, before, roots)
        return cls.of(born, value)

    @classmethod
    def forward_array(cls, node: Value) -> Self:
        from .._shared import array_birth

        return cls.of(array_birth.forward(node), node)

    @classmethod
    def backward_array(
        cls, node: Value, index: int, before: Any, amount: Any, roots: Sequence[Value] = ()
    ) -> Self:
        """``amount`` is what input ``index`` received on top of ``before``, None for nothing."""
        from .._shared import array_birth

        return cls.of(array_birth.backward(node, index, before, amount, roots), node)

    @classmethod
    def closure(cls, value: Value, index: int, total: float, roots: Sequence[Value] = ()) -> Self:
        from .._shared import birth

        target = value.inputs[index]
        return cls.of(birth.elsewhere(birth.BY_CLOSURE, value, total, target, roots), value)

    @classmethod
    def hook(cls, value: Value, total: float) -> Self:
        from .._shared import birth

        return cls.of(birth.elsewhere(birth.BY_HOOK, value, total), value)

    @classmethod
    def seed(cls, root: Value, seed: float) -> Self:
        from .._shared import birth

        return cls.of(birth.elsewhere(birth.BY_SEED, root, seed), root)


class HookError(RetrogradeError, TypeError):
    """A hook is not callable, or returned something that is neither None nor a number."""

    @classmethod
    def not_callable(cls, got: object) -> Self:
        return cls(f"register_hook takes a function of the gradient, got {kind_of(got)}.")

    @classmethod
    def shape(cls, tensor: Value, got: object) -> Self:
        said = f"an array of shape {got.shape}" if hasattr(got, "shape") else kind_of(got)
        return cls(
            with_place(
                f"a hook on {describe(tensor)} returned {said}; return an array of its shape to "
                "replace the gradient, or None to leave it.",
                tensor,
            )
        )

    @classmethod
    def returned(cls, value: Value, got: object) -> Self:
        return cls(
            with_place(
                f"a hook on {describe(value)} returned {kind_of(got)}; "
                "return a number to replace the gradient, or None to leave it.",
                value,
            )
        )


class CopyError(RetrogradeError, TypeError):
    """A graph holds something that cannot be copied or pickled."""

    @classmethod
    def closure(cls, value: Value, what: str) -> Self:
        return cls(
            with_place(
                f"{what}: {describe(value)} has its rule as a Python closure over other values, "
                "which cannot be taken along. Use Value(data, inputs, partials) or @rg.custom_op, "
                "or detach() first.",
                value,
            )
        )
