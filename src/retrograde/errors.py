"""Every exception of the package: what happened, where, and what to write instead.

Both engines build their exceptions here, so they say the same. Each class has classmethods that
turn the facts into the text; all derive from :class:`RetrogradeError` and from the built-in
exception a caller would expect.
"""

from __future__ import annotations

import linecache
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from typing_extensions import Self

    Value: TypeAlias = Any  # of either engine


def _closest(name: str, names: list[str]) -> str:
    """The name that was probably meant, as a question; '' where none is close."""
    from difflib import get_close_matches

    close = get_close_matches(name, names, n=1)
    return f"did you mean '{close[0]}'?" if close else ""


def _kind(thing: object) -> str:
    """A type with a glimpse of the thing: ``str ('abc')``."""
    try:
        glimpse = repr(thing)
    except Exception:
        glimpse = "no repr"
    if len(glimpse) > 40:
        glimpse = glimpse[:37] + "..."
    return "None" if thing is None else f"{type(thing).__name__} ({glimpse})"


def describe(value: Value) -> str:
    """A value in words: its label or op, its number, and where it was made."""
    name = f"'{value.label}'" if value.label else f"the result of {value.op}"
    if not value.label and value.op == "leaf":
        name = "a leaf" if value.requires_grad else "the number"
    return f"{name} = {_shown(value)}"


def _shown(value: Value) -> str:
    """The number of a value; while recording it may not be read."""
    try:
        return repr(value.data)
    except RecordingError:
        return "a number of the row recorded"


def place(value: Value) -> str:
    """Where a value was made, with the line itself when it can be read: '' when unknown."""
    site = value.site
    if site is None:
        return ""
    text = linecache.getline(site.file, site.line).strip()
    return f"  at {site}" + (f"\n      {text}" if text else "")


def _with_place(message: str, value: Value) -> str:
    where = place(value)
    return f"{message}\n{where}" if where else message


class RetrogradeError(Exception):
    """The base of every exception this package raises on purpose."""


class NumberError(RetrogradeError, TypeError):
    """Something that is not a real number stands where one is needed."""

    @classmethod
    def of(cls, what: str, got: object) -> Self:
        cure = "Write float(...) around it if it holds a number."
        if type(got).__name__ == "Value" or hasattr(got, "requires_grad"):
            cure = "Write .data for the number inside it."
        elif isinstance(got, complex) or getattr(getattr(got, "dtype", None), "kind", "") == "c":
            cure = "Values are real: take .real, .imag or abs() of it first."
        elif isinstance(got, (list, tuple)):
            cure = "Make one value an element, as in [Value(x) for x in numbers]."
        return cls(f"{what} must be a real number, got {_kind(got)}. {cure}")

    @classmethod
    def at(cls, function: str, index: int, got: object) -> Self:
        return cls(
            f"{function}: item {index} is {_kind(got)}; "
            "every item must be a value or a real number."
        )

    @classmethod
    def too_large(cls) -> Self:
        return cls("this int is too large for a float64 (past about 1.8e308): scale it first.")


class NotAValueError(RetrogradeError, TypeError):
    """A value was needed and something else was given."""

    @classmethod
    def at(cls, where: str, index: int, got: object) -> Self:
        return cls(
            f"{where}: item {index} is {_kind(got)}, not a Value. "
            "Wrap a number as Value(number, requires_grad=False)."
        )

    @classmethod
    def of(cls, where: str, got: object) -> Self:
        return cls(f"{where} takes values, or lists and dicts of them, got {_kind(got)}.")


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
        return cls(f"{op}: cannot compute with {_kind(got)}; {cure}.")


class LabelError(RetrogradeError, TypeError):
    """A label is a string or None."""

    @classmethod
    def of(cls, got: object) -> Self:
        return cls(f"a label is a string or None, got {_kind(got)}. Write str(...) around it.")


class ShapeError(RetrogradeError, ValueError):
    """Lengths or shapes do not agree."""

    @classmethod
    def dot(cls, left: int, right: int) -> Self:
        return cls(f"dot: {left} items on the left, {right} on the right; give as many of each.")

    @classmethod
    def lists(cls, op: str, left: int, right: int) -> Self:
        return cls(f"{op}: a list of {left} and a list of {right}; make them as long.")

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
            f"the nest does not fit at {spot or 'its top'}: {_kind(got)}. "
            "Every list must be as long as its siblings and hold values at the bottom."
        )

    @classmethod
    def empty(cls, function: str) -> Self:
        return cls(f"{function} of nothing has no value; give at least one item.")

    @classmethod
    def keys(cls, nest: Any, numbers: Any) -> Self:
        given = sorted(map(str, numbers)) if hasattr(numbers, "keys") else _kind(numbers)
        return cls(f"assign: the values have keys {sorted(map(str, nest))}, the numbers {given}.")

    @classmethod
    def assign(cls, nest: tuple[int, ...], array: tuple[int, ...]) -> Self:
        return cls(f"assign: the values have shape {nest}, the numbers {array}; make them agree.")


class LeafError(RetrogradeError, RuntimeError):
    """Something that only a leaf can have was asked of an interior value."""

    @classmethod
    def requires_grad(cls, value: Value) -> Self:
        return cls(
            _with_place(
                "requires_grad can be switched off on leaves only; "
                f"{describe(value)} was computed. Write value.detach() for the same number "
                "without its history.",
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
    def not_callable(cls, value: Value, got: object) -> Self:
        return cls(f"_backward must be callable without arguments, got {_kind(got)}.")


class GraphExitError(RetrogradeError, TypeError):
    """A number would have left the graph without anyone noticing."""

    @classmethod
    def of(cls, what: str, cure: str) -> Self:
        return cls(f"{what} would take the number out of the graph and lose its gradient. {cure}")

    @classmethod
    def conversion(cls, what: str, line: str, ops: frozenset[str]) -> Self:
        """For float(v), int(v): when the line calls a math function, name its counterpart."""
        called = re.search(r"\b(?:math|np|numpy|cmath)\s*\.\s*(\w+)\s*\(", line)
        if called:
            name = {"fabs": "abs", "arctan": "atan", "arcsin": "asin", "arccos": "acos"}.get(
                called[1], called[1]
            )
            if name in ops:
                return cls.of(
                    f"{called[0]}...)",
                    f"Write v.{name}() or rg.{name}(v), or v.data for the plain number.",
                )
        return cls.of(
            what,
            "Write v.data for the plain number, or an op that keeps the graph: "
            "v.exp() or rg.exp(v) for math.exp(v), and so on.",
        )


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
        return cls(_with_place(text, root))


class MissingBackwardError(RetrogradeError, RuntimeError):
    """A closure-style value was reached whose _backward was never assigned."""

    @classmethod
    def of(cls, value: Value) -> Self:
        return cls(
            _with_place(
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
            _with_place(
                f"{describe(value)} depends on itself: its inputs were reassigned so that the "
                "graph has a cycle. Give a value only inputs that were made before it.",
                value,
            )
        )


class GraphMemoryError(RetrogradeError, MemoryError):
    """The engine could not get the memory it asked for."""

    @classmethod
    def of(cls, size: int) -> Self:
        return cls(
            f"out of memory: {size:,} bytes could not be had; nothing was changed. "
            "Drop graphs you no longer need (del root), or work in smaller pieces."
        )


class AnomalyError(RetrogradeError, ArithmeticError):
    """Under anomaly(): the birth of a NaN or an infinity.

    ``phase`` is "forward" or "backward", ``value`` the node it happened at, ``birth`` all that is
    known of it, as data.
    """

    phase: str
    value: Any
    birth: Any

    @classmethod
    def of(cls, birth: Any, value: Value = None) -> Self:
        error = cls(str(birth))
        error.phase, error.value, error.birth = birth.phase, value, birth
        return error

    @classmethod
    def forward(cls, value: Value) -> Self:
        from . import birth

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
        from . import birth

        born = birth.backward(value, index, partial, upstream, before, roots)
        return cls.of(born, value)

    @classmethod
    def closure(cls, value: Value, index: int, total: float, roots: Sequence[Value] = ()) -> Self:
        from . import birth

        target = value.inputs[index]
        return cls.of(birth.elsewhere(birth.BY_CLOSURE, value, total, target, roots), value)

    @classmethod
    def hook(cls, value: Value, total: float) -> Self:
        from . import birth

        return cls.of(birth.elsewhere(birth.BY_HOOK, value, total), value)

    @classmethod
    def seed(cls, root: Value, seed: float) -> Self:
        from . import birth

        return cls.of(birth.elsewhere(birth.BY_SEED, root, seed), root)


class DoctorError(RetrogradeError, ValueError):
    """The doctor, births or memory were asked for something that cannot be examined."""

    @classmethod
    def threshold(cls, name: str, got: object) -> Self:
        return cls(f"doctor: {name} is a threshold, a number of at least 0, got {_kind(got)}.")

    @classmethod
    def unknown(cls, name: str, known: list[str]) -> Self:
        return cls(f"doctor: there is no threshold '{name}'; there are {', '.join(known)}.")

    @classmethod
    def empty(cls, what: str) -> Self:
        return cls(
            f"{what}: no parameters were given. Pass a list, a dict, or a module: something with "
            "parameters()."
        )

    @classmethod
    def unwatched(cls) -> Self:
        return cls(
            "doctor.watch: no backward pass was seen. Call loss.backward() inside the block; what "
            "rg.grad and compiled functions compute is not watched."
        )


class HookError(RetrogradeError, TypeError):
    """A hook is not callable, or returned something that is neither None nor a number."""

    @classmethod
    def not_callable(cls, got: object) -> Self:
        return cls(f"register_hook takes a function of the gradient, got {_kind(got)}.")

    @classmethod
    def returned(cls, value: Value, got: object) -> Self:
        return cls(
            _with_place(
                f"a hook on {describe(value)} returned {_kind(got)}; "
                "return a number to replace the gradient, or None to leave it.",
                value,
            )
        )


class CoreError(RetrogradeError, ImportError):
    """The engine asked for by RETROGRADE_CORE cannot run here."""

    @classmethod
    def unknown(cls, asked: str) -> Self:
        return cls(f"RETROGRADE_CORE={asked!r} is not a core: use 'native' or 'reference'.")

    @classmethod
    def compile(cls, why: str) -> Self:
        return cls(f"rg.compile needs the native core; the reference core runs here: {why}.")

    @classmethod
    def absent(cls, why: str) -> Self:
        return cls(f"RETROGRADE_CORE=native, but the native core is not available: {why}.")


class NotTwiceDifferentiable(RetrogradeError, RuntimeError):
    """A derivative of a derivative was asked for through a node that has only numbers."""

    @classmethod
    def of(cls, value: Value) -> Self:
        return cls(
            _with_place(
                f"{describe(value)} has its partials as numbers only, so derivatives through it "
                "cannot be differentiated again. Give its rule in terms of ops: "
                "@rg.custom_op with partials or a vjp written with rg functions.",
                value,
            )
        )


class StaleGraph(RetrogradeError, RuntimeError):
    """Data was changed after the forward pass, so the recorded history no longer holds."""

    @classmethod
    def of(cls, value: Value, now: float) -> Self:
        return cls(
            _with_place(
                f"{describe(value)} was recorded, but its inputs were changed since: {value.op} of "
                f"them is now {now!r}. Run the forward pass again before taking derivatives.",
                value,
            )
        )


class FunctionResultError(RetrogradeError, TypeError):
    """A function to be differentiated returned something that has no gradient."""

    @classmethod
    def of(cls, function: str, got: object) -> Self:
        cure = "Return one value."
        if got is None:
            cure = "Did it forget its return?"
        elif isinstance(got, (int, float)) or hasattr(got, "dtype"):
            cure = (
                "A plain number has left the graph (.data, float()); compute with ops instead, or "
                "for a constant that is meant return Value(number, requires_grad=False)."
            )
        elif isinstance(got, (list, tuple, dict)):
            cure = "For several outputs use jacobian or vjp; for extra outputs has_aux=True."
        return cls(f"{function}: the function returned {_kind(got)}, not a value. {cure}")

    @classmethod
    def branches(cls, function: str, places: list[str], others: list[str]) -> Self:
        return cls(
            f"{function} returns {', '.join(places)} on one branch and {', '.join(others)} on "
            "another: every branch must return numbers in the same nest."
        )

    @classmethod
    def aux(cls, function: str, got: object) -> Self:
        return cls(
            f"{function}: with has_aux=True the function returns (value, extra), got {_kind(got)}."
        )


class ArgumentError(RetrogradeError, TypeError):
    """An argument to be differentiated is missing, unknown, or holds no numbers."""

    @classmethod
    def item(cls, where: str, got: object) -> Self:
        return cls(
            f"{where} is {_kind(got)}; arguments to differentiate are numbers, values, or lists, "
            "tuples, dicts and float arrays of them. Choose others with wrt=."
        )

    @classmethod
    def missing(cls, function: str, wanted: object, given: list[str]) -> Self:
        return cls(
            f"{function}: wrt={wanted!r} names no argument of this call; given: "
            f"{', '.join(given) or 'none'}."
        )

    @classmethod
    def structure(cls, what: str, where: str, expected: object, got: object) -> Self:
        return cls(f"{what} at {where}: expected {expected}, got {_kind(got)}.")


class UnusedInputError(RetrogradeError, ValueError):
    """With unused="raise": the result does not depend on an input."""

    @classmethod
    def of(cls, where: list[str]) -> Self:
        return cls(
            f"the result does not depend on {', '.join(where)}: the gradient there is zero. "
            "It was detached, overwritten, or never used; pass unused='zero' if that is meant."
        )


class CustomOpError(RetrogradeError, TypeError):
    """A custom op was defined or used in a way that cannot give a gradient."""

    @classmethod
    def of(cls, op: str, problem: str, where: object) -> Self:
        return cls(f"custom op '{op}': {problem}" + (f"\n  at {where}" if where else ""))


class CopyError(RetrogradeError, TypeError):
    """A graph holds something that cannot be copied or pickled."""

    @classmethod
    def closure(cls, value: Value, what: str) -> Self:
        return cls(
            _with_place(
                f"{what}: {describe(value)} has its rule as a Python closure over other values, "
                "which cannot be taken along. Use Value(data, inputs, partials) or @rg.custom_op, "
                "or detach() first.",
                value,
            )
        )


class MissingPackageError(RetrogradeError, ImportError):
    """An optional package is needed and absent."""

    @classmethod
    def of(cls, package: str, what: str) -> Self:
        return cls(f"{what} needs {package}, which is not installed: pip install {package}.")

    @classmethod
    def extra(cls, package: str, what: str) -> Self:
        return cls(
            f"{what} needs {package}, which is not installed: pip install 'retrograde[{package}]'."
        )


class ProgramError(RetrogradeError, RuntimeError):
    """A program is not well formed: a fault of the package, or of whoever built it by hand."""

    @classmethod
    def of(cls, after: str, why: str) -> Self:
        return cls(f"the program is not well formed after {after}: {why}.")


class RecordingError(RetrogradeError, RuntimeError):
    """While recording: something that may change from row to row would be baked in."""

    @classmethod
    def _here(cls, message: str, value: Value) -> Self:
        from .sites import calling_instruction, site_of

        where = site_of(calling_instruction())
        text = linecache.getline(where.file, where.line).strip() if where else ""
        return cls(
            message + (f"\n  at {where}" if where else "") + (f"\n      {text}" if text else "")
        )

    @classmethod
    def data(cls, value: Value) -> Self:
        return cls._here(
            f".data of {_named(value)} was read while recording: the number of one row would be "
            "baked in for all. Compute with the value itself; compare it directly (if x > 0), and "
            "use rg functions in place of math.",
            value,
        )

    @classmethod
    def captured_data(cls, value: Value) -> Self:
        return cls._here(
            f".data of {_named(value)} was read while recording: the function captures it, and a "
            "replay reads its number afresh, but this one would be baked in. Compute with the "
            "value itself, or with detach() of it where no gradient is wanted.",
            value,
        )

    @classmethod
    def assignment(cls, value: Value) -> Self:
        return cls._here(
            f".data of {_named(value)} was assigned while recording: a replay would not repeat it. "
            "Compute a new value instead.",
            value,
        )

    @classmethod
    def backward(cls, value: Value) -> Self:
        return cls._here(
            f"backward() of {_named(value)} was called while recording: its gradients would be "
            "those of one row. Use rg.grad inside, or value_and_grad of the compiled function.",
            value,
        )

    @classmethod
    def custom(cls, value: Value) -> Self:
        return cls(
            _with_place(
                f"'{value.op}' has its rule in Python or as numbers only, so it cannot be "
                "replayed. Write it with rg functions, or compute it outside and pass the result "
                "in.",
                value,
            )
        )

    @classmethod
    def leaked_argument(cls, value: Value) -> Self:
        return cls(
            f"the function uses {_named(value)}, an argument of another recording that was kept: "
            "its number belongs to one row of that call. Pass it in as an argument."
        )

    @classmethod
    def unsteady(cls, function: str, site: Any) -> Self:
        return cls(
            f"{function} decided otherwise when it was run again for another row, though every "
            "answer so far was the same: it depends on something besides its arguments (random "
            "numbers, the clock, state that it changes). Pass that in as an argument."
            + (f"\n  at {site}" if site else "")
        )

    @classmethod
    def captured_interior(cls, value: Value) -> Self:
        return cls(
            _with_place(
                f"the function uses {_named(value)}, which was computed outside: a replay cannot "
                "compute it again. Pass it in as an argument, or detach() it outside.",
                value,
            )
        )


def _named(value: Value) -> str:
    """A value in words without its number, which may not be read while recording."""
    return f"'{value.label}'" if value.label else f"a result of {value.op}"


class TakeError(RetrogradeError, IndexError):
    """An index given to take is not a whole number inside the list."""

    @classmethod
    def of(cls, index: float, count: int) -> Self:
        return cls(
            f"take: index {index!r} in a list of {count}; it must be a whole number from 0 to "
            f"{count - 1}."
        )

    @classmethod
    def rows(cls) -> Self:
        return cls(
            "take: at least one row has an index that is not a whole number inside the list; "
            "check the column of indices before the call."
        )


class GuardError(RetrogradeError, RuntimeError):
    """Some rows of a loaded function take a branch that none of its traces recorded.

    ``rows`` are their numbers, ``site`` the line where the first of them leaves.
    """

    rows: Any
    site: Any

    @classmethod
    def of(cls, rows: Any, total: int, site: Any, outcome: bool) -> Self:
        from .sites import source_line

        listed = ", ".join(str(int(row)) for row in rows[:8]) + (", …" if len(rows) > 8 else "")
        text = source_line(site) if site else ""
        error = cls(
            f"{len(rows)} of {total} rows take a branch that no trace here has recorded, rows "
            f"{listed}: the first of them leaves where the condition was "
            f"{'true' if outcome else 'false'}."
            + (f"\n  at {site}" if site else "")
            + (f"\n      {text}" if text else "")
            + "\n  cure: a loaded function replays what was recorded and cannot record. Call the "
            "compiled function on such rows before saving it, or leave them out."
        )
        error.rows, error.site = rows, site
        return error


class RowsError(RetrogradeError, ValueError):
    """Arguments of a compiled function whose rows do not fit."""

    @classmethod
    def mismatch(cls, first: str, rows: int, second: str, others: int) -> Self:
        return cls(
            f"{first} has {rows} rows but {second} has {others}: row counts must agree, nothing is "
            "stretched. Use rg.uniform(array) for an array that is the same for all rows."
        )

    @classmethod
    def kind(cls, name: str, got: object) -> Self:
        return cls(
            f"{name} is {_kind(got)}: arguments of a compiled function are numbers, float arrays "
            "of one or two axes, and lists, tuples and dicts of those."
        )

    @classmethod
    def axes(cls, name: str, axes: int) -> Self:
        return cls(
            f"{name} has {axes} axes: axis 0 is rows, and at most one more holds a sequence of "
            "numbers for each row. Pass several arrays, or a list of them."
        )

    @classmethod
    def out(cls, place: str, problem: str) -> Self:
        return cls(f"{place}: {problem}. Results are written there; None stands for a new array.")


class CompileError(RetrogradeError, TypeError):
    """A function cannot be compiled, or a compiled one is called wrongly."""

    @classmethod
    def reserved(cls, function: str, name: str) -> Self:
        return cls(
            f"{function} has a parameter named '{name}', which the methods of compiled functions "
            "use themselves. Rename it."
        )

    @classmethod
    def variadic(cls, function: str, name: str) -> Self:
        return cls(
            f"{function} takes *{name}: a compiled function has named parameters. Pass a list "
            "instead."
        )

    @classmethod
    def budget(cls, got: object) -> Self:
        return cls(f"trace_budget is how many traces are kept, at least 1; got {got!r}.")

    @classmethod
    def not_callable(cls, got: object) -> Self:
        return cls(f"compile takes a function, got {_kind(got)}.")

    @classmethod
    def not_recorded(cls, function: str, given: str, known: list[str]) -> Self:
        listed = "".join(f"\n  {one}" for one in known[:8]) + ("\n  …" if len(known) > 8 else "")
        return cls(
            f"{function} was not recorded for such arguments, and a loaded function cannot record. "
            f"Given:\n  {given}\nrecorded:{listed}\n  cure: call the compiled function on such "
            "arguments before saving it."
        )

    @classmethod
    def call(cls, function: str, problem: str) -> Self:
        return cls(f"{function}: {problem}.")


class ProgramFileError(RetrogradeError, ValueError, OSError):
    """A program file cannot be written or read, or does not hold what it should.

    ``why`` is the bare cause.
    """

    why: str

    @classmethod
    def _of(cls, message: str, why: str) -> Self:
        error = cls(message)
        error.why = why
        return error

    @classmethod
    def _read(cls, file: str, why: str, cure: str) -> Self:
        return cls._of(f"{file}: {why}. {cure}", why)

    @classmethod
    def other(cls, file: str) -> Self:
        return cls._read(
            file, "this is not a program file", "Make one with save() of a compiled function."
        )

    @classmethod
    def version(cls, file: str, found: int, known: int) -> Self:
        newer = "a newer retrograde" if found > known else "an unknown retrograde"
        return cls._read(
            file,
            f"this program file is of version {found}, made by {newer}; this one reads version "
            f"{known}",
            "Install the retrograde that wrote it, or save the function again with this one.",
        )

    @classmethod
    def cut(cls, file: str, has: int, needs: int) -> Self:
        return cls._read(
            file,
            f"the program file is cut off: {has} of {needs} bytes are here",
            "Copy it again, or save the function again.",
        )

    @classmethod
    def altered(cls, file: str) -> Self:
        return cls._read(
            file,
            "the program file was altered: its checksum does not fit what it holds",
            "Copy it again in binary mode, or save the function again.",
        )

    @classmethod
    def content(cls, file: str, offset: int, why: str) -> Self:
        return cls._of(
            f"{file}, byte {offset}: this is not what a program file holds: {why}. Save the "
            "function again.",
            why,
        )

    @classmethod
    def unread(cls, file: str, error: OSError) -> Self:
        why = f"the program file cannot be read: {error.strerror or error}"
        return cls._read(file, why, "Check the path.")

    @classmethod
    def unwritten(cls, file: str, folder: str, error: OSError) -> Self:
        why = f"the program file cannot be written: {error.strerror or error}"
        return cls._read(file, why, f"'{folder}' must be a folder that may be written to.")

    @classmethod
    def unsaveable(cls, function: str, why: str) -> Self:
        cure = "Change that before saving it."
        if "questions" in why:
            cure = (
                "It depends on something besides its arguments and captured leaves: pass that in."
            )
        return cls._of(f"{function} cannot be saved: {why}. {cure}", why)

    @classmethod
    def nothing(cls, function: str) -> Self:
        why = "nothing has been recorded yet"
        return cls._of(
            f"{function} cannot be saved or pickled: {why}, and its Python stays here. Call it "
            "first, on rows that take every branch it should know.",
            why,
        )


class TraceBudgetWarning(UserWarning):
    """A compiled function takes more ways through its branches than it keeps traces."""

    @staticmethod
    def text(function: str, traces: int, site: Any) -> str:
        text = linecache.getline(site.file, site.line).strip() if site else ""
        return (
            f"{function} takes more ways through its branches than the {traces} traces it keeps: "
            "results are right, but the others are recorded again at every call. Most rows part "
            f"at {site}" + (f": {text}" if text else "") + ". Use rg.where, rg.maximum or rg.clip "
            "there, or raise trace_budget."
        )


class CheckError(RetrogradeError, ValueError):
    """Something that cannot be checked: no function, no point, or no single number to check."""

    @classmethod
    def not_callable(cls, caller: str, got: object) -> Self:
        return cls(f"{caller} takes a function of values and a point, got {_kind(got)} first.")

    @classmethod
    def item(cls, caller: str, where: str, got: object) -> Self:
        return cls(
            f"{caller}: {where} is {_kind(got)}; a point is a number, or a list, dict or array of "
            "numbers. Fix other arguments first, as in lambda x: f(x, other)."
        )

    @classmethod
    def arguments(cls, caller: str, function: Any, required: int, point: object) -> Self:
        name = getattr(function, "__name__", "the function")
        return cls(
            f"{caller}: {name} needs {required} arguments, the point {_kind(point)} is one. "
            "Give them as a tuple, as in (1.0, 2.0)."
        )

    @classmethod
    def interior(cls, caller: str, value: Value) -> Self:
        return cls(
            _with_place(
                f"{caller}: {describe(value)} was computed, so it cannot be moved by itself. "
                "Give the leaves it was computed from.",
                value,
            )
        )

    @classmethod
    def nothing(cls, caller: str) -> Self:
        return cls(f"{caller}: the point holds no number; give at least one, as in 1.0 or [1.0].")

    @classmethod
    def several(cls, caller: str, got: object) -> Self:
        return cls(
            f"{caller}: the function returned {_kind(got)}; a gradient belongs to one number. "
            "Check one output at a time, as in lambda x: f(x)[0]."
        )

    @classmethod
    def not_finite(cls, caller: str, name: str, value: float) -> Self:
        return cls(
            f"{caller}: {name} is {value} at this point, so there is no gradient to check. "
            "Choose a point inside the domain; rg.anomaly() says where it is born."
        )

    @classmethod
    def against(cls, caller: str, got: object, known: list[str]) -> Self:
        return cls(f"{caller}: against={got!r} is unknown; write one of {', '.join(known)}.")

    @classmethod
    def untranslatable(cls, value: Value, engine: str) -> Self:
        return cls(
            _with_place(
                f"compare: '{value.op}' has its own rule and no counterpart in {engine}. Compare "
                "against='finite-differences', or write its function with operators alone, so "
                f"that it also runs on {engine}'s numbers.",
                value,
            )
        )

    @classmethod
    def too_many_rows(cls, caller: str, most: int) -> Self:
        return cls(f"{caller}: a compiled function over more than {most} rows; give fewer.")


class GradcheckError(RetrogradeError, AssertionError):
    """A gradient is wrong: the worst entry, where it is made, and what is likely the matter.

    ``report`` holds everything that was found.
    """

    report: Any = None

    @classmethod
    def of(cls, text: str, report: object) -> Self:
        error = cls(text)
        error.report = report
        return error


class StoryError(RetrogradeError, ValueError):
    """A story cannot be told, or does not hold what was asked of it."""

    @classmethod
    def no_roots(cls) -> Self:
        return cls("story of nothing: give at least one root.")

    @classmethod
    def seeds(cls, roots: int, seeds: int) -> Self:
        return cls(f"story: {roots} roots but {seeds} seeds; give one seed for each root.")

    @classmethod
    def not_in(cls, got: object, root: str) -> Self:
        if not hasattr(got, "requires_grad"):
            return cls(f"a value of a story is a Value, a name or an id, got {_kind(got)}.")
        return cls(
            _with_place(
                f"{describe(got)} is not under {root}: no step of the story reads it, so its "
                "gradient there is 0. Give a value that the root was computed from.",
                got,
            )
        )

    @classmethod
    def no_id(cls, got: int, last: int) -> Self:
        return cls(f"the story has no value {got}: its values are 0 to {last}.")

    @classmethod
    def no_name(cls, got: str, names: list[str]) -> Self:
        known = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        cure = _closest(got, names) or f"its names are {known}."
        return cls(f"the story has no value named '{got}'; {cure}")

    @classmethod
    def routes(cls, got: int, most: int) -> Self:
        return cls(f"ledger: strongest={got} routes were asked for; ask for 0 to {most}.")

    @classmethod
    def version(cls, found: object, expected: tuple[str, int]) -> Self:
        return cls(
            f"this is no story of version {expected[1]}: schema and version are {found}, not "
            f"{expected}. Write it again with this version of the package."
        )

    @classmethod
    def damaged(cls, why: str) -> Self:
        return cls(f"this story does not hold together: {why}. Write it again with to_json().")


class ScriptError(RetrogradeError, OSError):
    """A script cannot be run, or showed nothing to explain."""

    @classmethod
    def unreadable(cls, path: str, error: OSError) -> Self:
        return cls(f"cannot read the script {path}: {error.strerror}.")

    @classmethod
    def no_pass(cls, path: str) -> Self:
        return cls(
            f"{path} ran no backward pass on retrograde's values: nothing called v.backward() or "
            "rg.backward(). Call it, and import Value from retrograde; of a compiled function, "
            "compiled.story(...) explains a row."
        )

    @classmethod
    def other_engine(cls, path: str, option: str) -> Self:
        return cls(
            f"{path} ran no backward pass on retrograde's values: it has an engine of its own. "
            f"Put ours in its place with {option}."
        )

    @classmethod
    def no_pass_at(cls, path: str, line: int, lines: list[int]) -> Self:
        seen = ", ".join(map(str, lines[:8])) + (", …" if len(lines) > 8 else "")
        return cls(
            f"no backward pass began at line {line} of {path}; "
            + (f"they began at line {seen}." if lines else "the script ran none.")
        )


class ReplaceError(RetrogradeError, ValueError):
    """A class that is to be replaced in a script is not there, or not once."""

    @classmethod
    def of(
        cls,
        name: str,
        path: str,
        lines: list[int],
        nested: list[int],
        classes: list[str],
        module: str,
    ) -> Self:
        if lines:
            listed = " and ".join(map(str, lines))
            return cls(
                f"{path} defines class {name} more than once, at lines {listed}, so it is not "
                "clear which one to replace. Leave one of them."
            )
        if nested:
            return cls(
                f"class {name} of {path} stands inside a function or a block, at line "
                f"{nested[0]}; only a class at the top level can be replaced. Move it there."
            )
        if module.partition(".")[0] == "micrograd":
            cure = f"it imports {name} from {module}: write --shim micrograd."
        elif module:
            cure = f"it imports {name} from {module}: write --replace {module}.{name}."
        else:
            cure = _closest(name, classes) or (
                f"its classes are {', '.join(classes[:8])}; write --replace with one of them."
                if classes
                else "it defines no class."
            )
        return cls(f"{path} has no class {name} to replace; {cure}")

    @classmethod
    def module(cls, module: str, script: str) -> Self:
        return cls(
            f"--replace: there is no source of a module {module} where {script} would import it "
            "from. Write --replace MODULE.CLASS as the script's import has it, or --replace CLASS "
            "for a class of the script itself."
        )


class ExpressionError(RetrogradeError, ValueError):
    """An expression on the command line cannot be understood."""

    @classmethod
    def syntax(cls, text: str, why: str, column: int | None) -> Self:
        mark = f"\n  {text}\n  {' ' * (column - 1)}^" if column and "\n" not in text else ""
        return cls(f"the expression cannot be read: {why}.{mark}")

    @classmethod
    def part(cls, text: str, part: str, names: str) -> Self:
        return cls(
            f"an expression may hold numbers, names, + - * / ** and functions; '{part}' in "
            f"'{text}' is none of these. Functions: {names}."
        )

    @classmethod
    def function(cls, name: str, names: list[str]) -> Self:
        cure = _closest(name, names) or f"choose from {', '.join(names)}."
        return cls(f"there is no function '{name}'; {cure}")

    @classmethod
    def operands(cls, name: str, problem: str) -> Self:
        return cls(f"{name}: {problem}.")

    @classmethod
    def unknown(cls, names: list[str], given: list[str]) -> Self:
        listed = " and ".join(f"'{name}'" for name in names)
        numbers = " ".join(f"{name}=1.5" for name in names)
        have = f" (given: {', '.join(given)})" if given else ""
        verb = "has no number" if len(names) == 1 else "have no numbers"
        return cls(f"{listed} {verb}{have}. Add {numbers} after the expression.")

    @classmethod
    def unused(cls, name: str, names: list[str]) -> Self:
        known = ", ".join(names) or "none"
        return cls(f"'{name}' is given but not used: the names in the expression are {known}.")

    @classmethod
    def assignment(cls, text: str) -> Self:
        return cls(f"'{text}' is no NAME=NUMBER, as in a=2 or rate=-0.5.")

    @classmethod
    def constant(cls, text: str) -> Self:
        return cls(f"'{text}' holds no name, so there is no gradient: write x for a number, x=3.")

    @classmethod
    def options(cls, option: str) -> Self:
        return cls(
            f"there is no option '{option}'; retrograde explain --help lists them. What is meant "
            "for the script follows --, as in retrograde explain train.py -- --steps 10."
        )

    @classmethod
    def only_scripts(cls, option: str) -> Self:
        return cls(f"{option} is for scripts: it names one of their lines.")


class OutputError(RetrogradeError, OSError):
    """A file cannot be written."""

    @classmethod
    def of(cls, path: str, error: OSError) -> Self:
        return cls(
            f"cannot write {path}: {error.strerror or error}. Nothing was left there; choose "
            "another place."
        )


class SettingError(RetrogradeError, ValueError):
    """A setting of a layer, an optimizer or a training run is out of its range."""

    @classmethod
    def of(cls, what: str, got: object, allowed: str) -> Self:
        return cls(f"{what} must be {allowed}, got {_kind(got)}.")


class ParameterError(RetrogradeError, ValueError):
    """Something an optimizer cannot move was given to it."""

    @classmethod
    def none(cls) -> Self:
        return cls("an optimizer was given no parameters; pass module.parameters() or a list.")

    @classmethod
    def interior(cls, value: Value) -> Self:
        return cls(
            _with_place(
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
        return cls(f"{path} cannot be read: {why}. Give the path of a text file.")


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
            f"{path} is not a whole checkpoint: {why}. "
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
            f"{path} was trained on other documents ({trained}) than those given ({given}). "
            "Give the same file, unchanged, or begin anew without --resume."
        )

    @classmethod
    def other(cls, path: object, name: str, here: object, there: object) -> Self:
        return cls(
            f"{path} was begun with {name} {there}, not {here}: going on needs the same. "
            f"Leave --{name} out, or begin anew without --resume."
        )


class LearnError(RetrogradeError, ValueError):
    """An exercise, a folder of exercises or a student's file cannot be used."""

    @classmethod
    def unknown(cls, name: str, names: list[str]) -> Self:
        cure = _closest(name, names) or "retrograde learn list shows them all."
        return cls(f"there is no exercise '{name}'; {cure}")

    @classmethod
    def no_folder(cls, folder: str) -> Self:
        return cls(
            f"{folder} is no folder of exercises. Write retrograde learn start {folder} to make it "
            "one, or go to yours (or name it with --folder)."
        )

    @classmethod
    def unwritable(cls, folder: str, error: OSError) -> Self:
        return cls(
            f"cannot write in {folder}: {error.strerror or error}. Choose another folder, as in "
            "retrograde learn start ~/learn."
        )

    @classmethod
    def missing(cls, file: str, name: str) -> Self:
        return cls(f"{file} is not there. retrograde learn reset {name} brings it back.")

    @classmethod
    def unread(cls, file: str, why: str) -> Self:
        return cls(f"cannot read {file}: {why}. Give a text file of Python.")

    @classmethod
    def progress(cls, file: str) -> Self:
        return cls(
            f"{file} is damaged, so what was done is not known. Delete it; your exercises stay as "
            "they are, and retrograde learn check finds out again what is right."
        )

    @classmethod
    def no_hint(cls, name: str) -> Self:
        return cls(f"'{name}' has no more hints; retrograde learn solution {name} shows one way.")

    @classmethod
    def no_figure(cls, name: str, names: list[str]) -> Self:
        cure = _closest(name, names) or f"choose from {', '.join(names)}."
        return cls(f"there is no exhibit '{name}'; {cure}")

    @classmethod
    def no_action(cls, name: str, names: list[str]) -> Self:
        cure = _closest(name, names) or f"choose from {', '.join(names)}."
        return cls(f"retrograde learn cannot '{name}'; {cure}")

    @classmethod
    def seconds(cls, got: float) -> Self:
        return cls(f"a time limit is a number of seconds above 0, got {got:g}.")

    @classmethod
    def too_many(cls, what: str) -> Self:
        return cls(f"{what}; retrograde grade --help shows how.")

    @classmethod
    def count(cls, got: int, most: int) -> Self:
        return cls(f"a number of cards from 1 to {most} can be printed, got {got}.")
