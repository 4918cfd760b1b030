"""Exceptions of tensors: making them, shapes that do not fit, indices, numbers that others hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .wording import RetrogradeError, describe, kind_of, place, with_place

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from typing_extensions import Self

    Tensor: TypeAlias = Any  # of either core

Shape = tuple[int, ...]


class TensorError(RetrogradeError, TypeError):
    """A tensor cannot be made of this, or be used as something else."""

    @classmethod
    def axis(cls, got: object) -> Self:
        return cls(
            f"axis={got!r} is no axis: give a whole number, a tuple of them, or None for all axes."
        )

    @classmethod
    def lengths(cls, shape: object) -> Self:
        return cls(f"{shape!r} is no shape: give whole numbers, or one tuple of them.")

    @classmethod
    def masked(cls, what: str) -> Self:
        return cls(
            f"{what} must be an array of real numbers, got a masked array, whose mask would be "
            "lost. Write array.filled(number), or choose with rg.where(mask, 0.0, t)."
        )

    @classmethod
    def dtype(cls, what: str, array: Any) -> Self:
        kind = array.dtype.kind
        cure = "Give real numbers."
        if kind == "c":
            cure = "Tensors are real: compute with .real and .imag separately."
        elif kind == "O":
            if any(hasattr(item, "requires_grad") for item in array.flat):
                cure = "It holds values: write rg.stack(values) to make a tensor of them."
            else:
                cure = "Write array.astype(float) if all its items are numbers."
        elif kind in "US":
            cure = "Write array.astype(float) if the text is of numbers."
        elif kind == "f":
            cure = "Tensors are float64: write array.astype(np.float64)."
        return cls(f"{what} must be an array of real numbers, got dtype {array.dtype}. {cure}")

    @classmethod
    def of_graph(cls, what: str, got: Any) -> Self:
        if getattr(got, "ndim", 0):
            cure = "Write t.detach() for the same numbers as a leaf, or t.data for the array."
        else:
            cure = "Write rg.stack([v]) for a tensor of it, or v.data for the number."
        return cls(f"{what} must be an array of plain numbers, got {_kind(got)}. {cure}")

    @classmethod
    def ragged(cls, what: str, got: object) -> Self:
        return cls(
            f"{what} must be an array of real numbers, got {kind_of(got)}: its rows are not "
            "alike, or not all are numbers. Give lists of equal length, or rg.stack(values) of "
            "values."
        )

    @classmethod
    def no_axes(cls, got: object) -> Self:
        return cls(
            f"Tensor(data): {kind_of(got)} has no axes, and a number is a value. Write "
            "rg.Value(number), or rg.Tensor([number]) for a tensor of one."
        )

    @classmethod
    def shape(cls, what: str, wanted: Shape, got: Shape) -> Self:
        return cls(f"{what}: the tensor has shape {wanted}, the numbers {got}; make them agree.")

    @classmethod
    def seed(cls, root: Tensor) -> Self:
        return cls(
            with_place(
                f"backward of {describe(root)}: a gradient is of one number. Write "
                "t.sum().backward(), or give a seed of its shape, t.backward(np.ones(t.shape)).",
                root,
            )
        )

    @classmethod
    def surveyed(cls) -> Self:
        return cls(
            "a survey looks at values, and tensors are among these: rg.doctor reads such graphs "
            "number by number. Ask it of a graph of values, or look at t.grad and rg.births."
        )

    @classmethod
    def truth(cls, shape: Shape) -> Self:
        return cls(
            f"the truth of a tensor of shape {shape}: each of its numbers has its own. Write "
            "(t > 0).all() or .any() to decide by all of them, rg.where(t > 0, a, b) to choose "
            "number by number, or t.size to ask whether there are any."
        )

    @classmethod
    def conversion(cls, what: str, shape: Shape) -> Self:
        return cls(
            f"{what} of a tensor of shape {shape} would take numbers out of the graph and lose "
            "their gradient. Write t.data for the array, t[i] for one of its values, or t.sum()."
        )

    @classmethod
    def as_array(cls) -> Self:
        return cls(
            "np.array of a tensor would take its numbers out of the graph and lose their "
            "gradient. Write t.data for the array, rg.stack([t, u]) for np.array([t, u]), and "
            "rg.concatenate([t, u]) to put one behind the other."
        )

    @classmethod
    def operand(cls, op: str, got: object) -> Self:
        cure = "use tensors, values, numbers, or arrays and lists of numbers"
        if isinstance(got, str):
            cure = "convert it with float(...) first"
        elif got is None:
            cure = "a None here often comes from a function that forgot to return"
        elif getattr(getattr(got, "dtype", None), "kind", "") == "O":
            cure = "write rg.stack(values) to make a tensor of an array of values"
        elif hasattr(got, "filled"):
            cure = "write array.filled(number): the mask would be lost"
        elif isinstance(got, complex) or getattr(getattr(got, "dtype", None), "kind", "") == "c":
            cure = "tensors are real: compute with real and imaginary part separately"
        return cls(f"{op}: cannot compute with {kind_of(got)}; {cure}.")

    @classmethod
    def in_place(cls, what: str, cure: str) -> Self:
        return cls(f"{what} works in place on arrays, and tensors do not change. Write {cure}.")

    @classmethod
    def astype(cls, dtype: object) -> Self:
        return cls(f"t.astype({dtype!r}): tensors are float64. Write t.data.astype(...).")

    @classmethod
    def option(cls, name: str, option: str) -> Self:
        cures = {
            "out": "Tensors are never written in place: leave out= away and use the result.",
            "where": "Choose with rg.where(condition, a, b).",
            "dtype": "Tensors are float64 throughout.",
        }
        return cls(
            f"np.{name}(..., {option}=...) of tensors is not known here. "
            f"{cures.get(option, 'Leave it out.')}"
        )

    @classmethod
    def ufunc(cls, name: str, cure: str) -> Self:
        cure = cure or "Write it with rg functions; np.NAME works where there is an rg.NAME."
        return cls(f"np.{name} of tensors would lose the gradient: it has no rule here. {cure}")

    @classmethod
    def method(cls, name: str, method: str) -> Self:
        cures = {
            ("add", "reduce"): "Write t.sum(axis).",
            ("multiply", "reduce"): "Write t.prod(axis).",
            ("maximum", "reduce"): "Write t.max(axis).",
            ("minimum", "reduce"): "Write t.min(axis).",
            ("add", "accumulate"): "Write t.cumsum(axis).",
            ("multiply", "accumulate"): "Write t.cumprod(axis).",
            ("multiply", "outer"): "Write rg.outer(a, b).",
            ("add", "at"): "Write t = t.add_at(i, v).",
        }
        cure = cures.get((name, method), "Write it with rg functions, or with t[:, None].")
        return cls(f"np.{name}.{method} of tensors is not known here. {cure}")

    @classmethod
    def function(cls, name: str, cure: str = "") -> Self:
        cure = cure or (
            "Write it with rg functions and methods of the tensor, or np."
            f"{name}(t.data) where no gradient is wanted."
        )
        return cls(f"np.{name} of tensors is not known here: it has no rule. {cure}")

    @classmethod
    def data(cls, tensor: Any) -> Self:
        return cls(
            f"t.data = … of {describe(tensor)}: the numbers of a tensor are not replaced so. Write "
            f"rg.assign(t, array) for a leaf, or t[...] = numbers."
        )

    @classmethod
    def attribute(cls, name: str) -> str:
        """The text of an AttributeError."""
        return (
            f"a tensor has no '{name}'; t.data.{name} has it for plain numbers, without a gradient."
        )


class FitError(RetrogradeError, ValueError):
    """Shapes that do not fit together, or arguments that do not fit a shape."""

    @classmethod
    def of(cls, text: str, operands: Sequence[Any]) -> Self:
        """A refusal of the array law, with the operands and where each was made."""
        lines = [f"{text}."]
        for operand in operands:
            if not hasattr(operand, "requires_grad") or not getattr(operand, "ndim", 0):
                continue
            where = place(operand)
            lines.append(f"  {describe(operand)}" + (f", made{where[1:]}" if where else ""))
        return cls("\n".join(lines))


class TensorIndexError(RetrogradeError, IndexError):
    """An index that a tensor does not have."""

    @classmethod
    def of(cls, text: str, tensor: Tensor) -> Self:
        return cls(with_place(f"{text}, of {describe(tensor)}.", tensor))

    @classmethod
    def kind(cls, got: object) -> Self:
        cure = "Masks and indices are whole numbers, slices, and NumPy arrays of those or of bools."
        if hasattr(got, "requires_grad"):
            cure = "An index takes no gradient: write int(v.data), or t.data.astype(int)."
        return cls(f"t[{type(got).__name__}] is no index. {cure}")


class AliasError(RetrogradeError, RuntimeError):
    """``t[i] = v`` where something else still needs the numbers of t."""

    @classmethod
    def held(cls, tensor: Tensor) -> Self:
        return cls(
            with_place(
                f"t[i] = v would change numbers of {describe(tensor)} that something else holds: "
                "an array from .data, or a result that needs them for its gradient. Write "
                "t = t.put(i, v), which leaves them as they are.",
                tensor,
            )
        )

    @classmethod
    def argument(cls, function: str, tensor: Tensor) -> Self:
        return cls(
            f"{function}: the function assigned into its argument ({describe(tensor)}), so that "
            "the argument it was given is gone. Write t = t.put(i, v), or t = t.copy() before it."
        )

    @classmethod
    def gone(cls, tensor: Tensor) -> Self:
        return cls(
            with_place(
                f"the numbers of a tensor of shape {tensor.shape} were let go: t[i] = v has "
                "written others in their place. Write t = t.put(i, v) to keep both.",
                tensor,
            )
        )


def _kind(got: Any) -> str:
    shape = getattr(got, "shape", ())
    return f"a tensor of shape {shape}" if shape else kind_of(got)
