"""Exceptions of values: making them, computing with them, leaving the graph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..ops.spellings import ELSEWHERE
from .wording import RetrogradeError, kind_of

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Self

    Value: TypeAlias = Any  # of either core


class NumberError(RetrogradeError, TypeError):
    """Something that is not a real number stands where one is needed."""

    @classmethod
    def of(cls, what: str, got: object) -> Self:
        cure = "Write float(...) around it if it holds a number."
        if got is None:
            cure = "None is no number: did a function forget to return?"
        elif type(got).__name__ == "Value" or hasattr(got, "requires_grad"):
            cure = "Write .data for the number inside it."
        elif isinstance(got, complex) or getattr(getattr(got, "dtype", None), "kind", "") == "c":
            cure = "Values are real: take .real, .imag or abs() of it first."
        elif isinstance(got, (list, tuple)):
            cure = "Make one value per element, as in [Value(x) for x in numbers]."
        return cls(f"{what} must be a real number, got {kind_of(got)}. {cure}")

    @classmethod
    def at(cls, function: str, index: int, got: object) -> Self:
        return cls(
            f"{function}: item {index} is {kind_of(got)}; "
            "every item must be a value or a real number."
        )

    @classmethod
    def wholes(cls, function: str, got: object) -> Self:
        return cls(
            f"{function}: places are whole numbers, got {kind_of(got)}. Give an array of ints; "
            "for masks write t[mask]."
        )

    @classmethod
    def too_large(cls) -> Self:
        return cls("this int is too large for a float64 (past about 1.8e308): scale it first.")


class NotAValueError(RetrogradeError, TypeError):
    """A value was needed and something else was given."""

    @classmethod
    def at(cls, where: str, index: int, got: object) -> Self:
        return cls(
            f"{where}: item {index} is {kind_of(got)}, not a Value. "
            "Wrap a number as Value(number, requires_grad=False)."
        )

    @classmethod
    def of(cls, where: str, got: object) -> Self:
        return cls(f"{where} takes values, or lists and dicts of them, got {kind_of(got)}.")


class OperandError(RetrogradeError, TypeError):
    """An operator or function was given something it cannot compute with."""

    @classmethod
    def of(cls, op: str, got: object) -> Self:
        cure = "use a value or a real number"
        if isinstance(got, str):
            cure = "convert it with float(...) first"
        elif got is None:
            cure = "a None here often comes from a function that forgot to return"
        elif isinstance(got, complex):
            cure = "values are real: compute with its real and imaginary part separately"
        elif isinstance(got, (list, tuple)):
            cure = "loop over it, or make it a NumPy array to have it done element by element"
        return cls(f"{op}: cannot compute with {kind_of(got)}; {cure}.")

    @classmethod
    def truth(cls, symbol: str, got: object) -> Self:
        return cls(
            f"{symbol}: cannot join a condition with {kind_of(got)}; {symbol} takes conditions: "
            "compare it, as in x != 0."
        )

    @classmethod
    def matmul(cls) -> Self:
        return cls("@: a number or a value has no axis; write * to multiply by it.")

    @classmethod
    def index(cls) -> Self:
        return cls(
            "'Value' object is not subscriptable: a value is one number. v[None] is a sequence of "
            "it alone."
        )


class LabelError(RetrogradeError, TypeError):
    """A label is a string; None stands for an empty one."""

    @classmethod
    def of(cls, got: object) -> Self:
        return cls(f"a label is a string or None, got {kind_of(got)}. Write str(...) around it.")


class ShapeError(RetrogradeError, ValueError):
    """Lengths or shapes do not agree."""

    @classmethod
    def axis(cls, function: str) -> Self:
        return cls(
            f"{function}: only tensors have axes to name. Make one, rg.stack(values) or "
            "rg.Tensor(numbers), or leave axis and keepdims out."
        )

    @classmethod
    def deep(cls, deepest: int) -> Self:
        return cls(f"a nest has more than {deepest} levels: a list in it may hold itself.")

    @classmethod
    def dot(cls, left: int, right: int) -> Self:
        return cls(f"dot: {left} items on the left, {right} on the right; give as many of each.")

    @classmethod
    def lists(cls, op: str, left: int, right: int) -> Self:
        return cls(f"{op}: a list of {left} and a list of {right}; make them as long.")

    @classmethod
    def take(cls, place: str, first: object, number: int, other: object) -> Self:
        def kind(item: object) -> str:
            length = f" of {len(item)}" if hasattr(item, "__len__") else ""
            return f"{type(item).__name__}{length}"

        if number == 0:
            return cls(
                f"take: {place} 0 is {kind(first)}; in a compiled function items are values, "
                "numbers, and lists, tuples, dicts and arrays of those."
            )
        return cls(
            f"take: {place} 0 is {kind(first)}, {place} {number} is {kind(other)}; in a compiled "
            "function a row may choose any of them, so make them all of one shape."
        )

    @classmethod
    def sequences(cls, op: str, shapes: list[tuple[int, ...]]) -> Self:
        if all(len(shape) == 1 for shape in shapes):
            lengths = " and ".join(str(shape[0]) for shape in shapes)
            said = f"sequences of {lengths} numbers"
        else:
            said = "sequences of shapes " + " and ".join(map(str, shapes))
        return cls(
            f"{op}: {said} do not fit: they compute item by item, so give as many of each. "
            "To put one behind the other write [*a, *b]; to add to a list, items.extend(q)."
        )

    @classmethod
    def product(cls, left: tuple[int, ...], right: tuple[int, ...]) -> Self:
        return cls(
            f"@: shapes {left} and {right}; the last axis of the left must be as long as the "
            "first of the right."
        )

    @classmethod
    def linear(cls, row: int, width: int, given: int) -> Self:
        found = "is not a list" if width < 0 else f"has {width} weights"
        return cls(
            f"linear: row {row} {found}, but {given} inputs were given; "
            "give as many inputs as a row has weights."
        )

    @classmethod
    def biases(cls, rows: int, biases: int) -> Self:
        return cls(f"linear: {rows} rows but {biases} biases; give one for each row, or None.")

    @classmethod
    def layer(cls, layer: str, size: int, given: int) -> Self:
        return cls(f"{layer}: made for {size} numbers, got {given}; give {size}.")

    @classmethod
    def target_shapes(cls, loss: str, ours: tuple[int, ...], theirs: tuple[int, ...]) -> Self:
        return cls(
            f"{loss}: predictions of shape {ours}, targets of shape {theirs}; give targets of the "
            "predictions' shape, targets.reshape(predictions.shape)."
        )

    @classmethod
    def layer_axes(cls, layer: str, size: int, shape: tuple[int, ...]) -> Self:
        return cls(
            f"{layer}: made for {size} numbers along the last axis, got shape {shape}; "
            f"give a shape that ends in {size}."
        )

    @classmethod
    def images(cls, layer: str, inputs: int, axes: int, shape: tuple[int, ...]) -> Self:
        wanted = f"(batch, {inputs}, {'length' if axes == 1 else 'height, width'})"
        return cls(
            f"{layer}: made for arrays of shape {wanted}, got {shape or 'no array'}; "
            f"give it x.reshape{wanted}."
        )

    @classmethod
    def features(cls, layer: str, features: int, shape: tuple[int, ...]) -> Self:
        return cls(
            f"{layer}: made for {features} features along axis 1, got shape {shape}; "
            f"give it (batch, {features}) or (batch, {features}, …)."
        )

    @classmethod
    def one_sample(cls, layer: str, shape: tuple[int, ...]) -> Self:
        return cls(
            f"{layer}: shape {shape} has one number per feature, which has no variance. Give it a "
            "larger batch, or call eval() to use the means kept in training."
        )

    @classmethod
    def needs_tensors(cls, layer: str) -> Self:
        return cls(f"{layer} works on tensors only; call tensors() again after values().")

    @classmethod
    def layer_of_values(cls, layer: str, shape: tuple[int, ...]) -> Self:
        return cls(
            f"{layer}: its parameters are values, and it was given a tensor of shape {shape}. Call "
            "model.tensors() once, before the optimizer is made, or give it a list of values."
        )

    @classmethod
    def attention(cls, keys: int, values: int) -> Self:
        return cls(
            f"attention: {keys} keys and {values} values; give at least one, and as many of each."
        )

    @classmethod
    def targets(cls, loss: str, predictions: int, targets: int) -> Self:
        return cls(f"{loss}: {predictions} predictions but {targets} targets; give one for each.")

    @classmethod
    def partials(cls, inputs: int, partials: int) -> Self:
        return cls(
            f"Value(): {inputs} children but {partials} local gradients; give one for each child."
        )

    @classmethod
    def seeds(cls, roots: int, seeds: int) -> Self:
        return cls(f"backward: {roots} roots but {seeds} seeds; give one seed for each root.")

    @classmethod
    def nest(cls, where: tuple[int, ...], got: object) -> Self:
        spot = "".join(f"[{index}]" for index in where)
        return cls(
            f"the nest does not fit at {spot or 'its top'}: {kind_of(got)}. "
            "Every list must be as long as its siblings and hold values at the bottom."
        )

    @classmethod
    def empty(cls, function: str) -> Self:
        return cls(f"{function} of nothing has no value; give at least one item.")

    @classmethod
    def keys(cls, nest: Any, numbers: Any) -> Self:
        given = sorted(map(str, numbers)) if hasattr(numbers, "keys") else kind_of(numbers)
        return cls(f"assign: the values have keys {sorted(map(str, nest))}, the numbers {given}.")

    @classmethod
    def parts(cls, count: int, numbers: object) -> Self:
        return cls(
            f"assign: {count} parts of a nest, and {kind_of(numbers)} for them; give as many."
        )

    @classmethod
    def assign(cls, nest: tuple[int, ...], array: tuple[int, ...]) -> Self:
        return cls(f"assign: the values have shape {nest}, the numbers {array}; make them agree.")


class GraphExitError(RetrogradeError, TypeError):
    """A number would have left the graph without anyone noticing."""

    @classmethod
    def of(cls, what: str, cure: str) -> Self:
        return cls(f"{what} would take the number out of the graph and lose its gradient. {cure}")

    @classmethod
    def conversion(cls, what: str, line: str, ops: frozenset[str], recording: bool = False) -> Self:
        """For float(v), int(v): what to write in place of what the line does.

        While recording .data is no way out: it would be the number of one row.
        """
        plain = "" if recording else ", or v.data for the plain number"
        called, name = _called(line)
        if _ITEM_ASSIGNED.search(line):
            return cls.of(
                "assigning a value to an element of an array of floats",
                "Make it an array of objects, np.zeros(n, dtype=object), or collect the values in "
                "a list and write np.array(values) in the end.",
            )
        if name in ops:
            return cls.of(called, f"Write v.{name}() or rg.{name}(v){plain}.")
        if re.search(r"dtype\s*=\s*(np\.)?float|astype\(", line):
            return cls.of(
                "an array of floats made of values",
                "Leave out the dtype: np.array(values) is an array of the values themselves.",
            )
        if recording:
            return cls.of(
                what,
                "Compute with the value itself, by ops that keep the graph: rg.exp(v) for "
                "math.exp(v), rg.floor(v) for int(v), and so on.",
            )
        return cls.of(
            what,
            "Write v.data for the plain number, or an op that keeps the graph: "
            "v.exp() or rg.exp(v) for math.exp(v), and so on.",
        )

    @classmethod
    def whole_number(cls, line: str, recording: bool) -> Self:
        """For range(v), items[v]: a value where Python needs an int."""
        if re.search(r"\b(range|arange|zeros|ones|linspace)\s*\(", line):
            cure = "Write int(n.data): a count takes no gradient."
            if recording:
                cure = (
                    "How often a loop turns may differ from row to row: write i = 0 and "
                    "while i < n, which each row decides for itself, or close over a plain int."
                )
            return cls.of("range(n) of a value, or any count that is one,", cure)
        cure = "Write rg.take(items, i) for items[i]"
        cure += "." if recording else ", or int(v.data) for the plain number."
        return cls.of("a value as a whole number", cure)


_ITEM_ASSIGNED = re.compile(r"(?:^|;)\s*[\w.]+(\[[^=]*\])+\s*([-+*/@]|\*\*)?=(?!=)")


def _called(line: str) -> tuple[str, str]:
    """The first function of math or NumPy that a line calls, and our name for it; '' for none."""
    called = re.search(r"\b(?:math|np|numpy|cmath)\s*\.\s*(\w+)\s*\(", line)
    if called is None:
        return "", ""
    return f"{called[0]}...)", ELSEWHERE.get(called[1], called[1])


class CustomOpError(RetrogradeError, TypeError):
    """A custom op was defined or used in a way that cannot give a gradient."""

    @classmethod
    def of(cls, op: str, problem: str, where: object) -> Self:
        return cls(f"custom op '{op}': {problem}" + (f"\n  at {where}" if where else ""))


class CustomDomainError(CustomOpError, ValueError):
    """A custom op was used where its function has no real number."""
