"""What a core is: the functions that both offer; ``native_core.py`` has those that only one has.

``value.py`` hands out the chosen core under these types, so a type checker sees every call into it.
The block at the end of ``native_core.py`` holds the native stub and the pure-Python module to them,
and a test holds both at run time. The ops, one function a row of the law, are in
``_values/elementwise.pyi``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import CellType, CodeType, FrameType
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .bound import Bound

    Floats = NDArray[np.float64]
    Number = float | np.floating[Any] | np.integer[Any]
    PlanRows = tuple[Any, Any, Any, Any, Any, int, int, int, Any, Any, Any, list[Any]]
    """A plan with its rows, as ``native/replay.c`` reads it: see ``program/replay.py``."""

V = TypeVar("V")
"""The core's own class of values."""


class Survey(TypedDict):
    """What the doctor asks of a graph: see ``passes/survey.py``. Lists of numbers are packed."""

    gradients: bytes
    reached: bytes
    depths: bytes
    units: list[tuple[int, int, int, Any, float, float]]
    closures: list[Any]
    zeros: list[tuple[Any, ...]]
    level: bytes
    level_nodes: bytes
    step: int
    nodes: int
    edges: int
    odd_data: int
    odd_adjoints: int


class Core(Protocol[V]):
    """What the native and the pure-Python core both offer."""

    @property
    def __name__(self) -> str:
        """The name of the module."""

    @property
    def Value(self) -> type[V]:  # noqa: N802  the class itself
        """The class of values."""

    @property
    def OP_NAMES(self) -> tuple[str, ...]:  # noqa: N802  a constant
        """The ops by the numbers that ``parts`` gives; past the end are custom ops."""

    # tensors: arrays in the same graph; "thing" is a value or a tensor

    @property
    def Tensor(self) -> type[Any]:  # noqa: N802  the class itself
        """The class of tensors: a handle of a node."""

    def array(self, bound: Bound, operands: tuple[Any, ...], wholes: dict[str, Any], /) -> Any:
        """One node of a bound row of the array law; a value where its shape is ().

        Operands are values, tensors, numbers and float64 arrays; the last two take no gradient.
        ``wholes`` are what ``bound.counted`` made of the given whole numbers."""

    def array_row(self, thing: Any, /) -> tuple[Bound, dict[str, Any]] | None:
        """The bound row that made a thing, and all its whole numbers; None for anything else.

        ``thing.inputs`` are the operands in the row's order, arrays and numbers among them as
        leaves that take no gradient."""

    def array_node(
        self, bound: Bound, data: Any, operands: tuple[Any, ...], wholes: dict[str, Any], /
    ) -> Any:
        """A node of a bound row from its parts: nothing is computed, no mode is asked."""

    def key(self, thing: Any, /) -> int:
        """Who a node is: the same number for every handle of it, as long as it lives."""

    def is_written_over(self, thing: Any, /) -> bool:
        """Whether ``t[i] = v`` has taken over the numbers of a tensor's node."""

    def mark_written_over(self, tensor: Any, /) -> None:
        """Let the numbers of a copy go, as those of a node that ``t[i] = v`` has written on."""

    def stale_input(self, thing: Any, /) -> Any:
        """The input of an array row whose numbers were changed since; None where none was."""

    def write_tensor(self, tensor: Any, array: Floats, /) -> None:
        """Give a leaf other numbers of its shape, and a new version."""

    def put(self, tensor: Any, bound: Bound, operand: Any, wholes: dict[str, Any], /) -> None:
        """``tensor[key] = operand``: the handle becomes that of a node of the row ``put``.

        In place where nothing else holds the numbers of the tensor; else ``AliasError``."""

    # many values at once

    def sum(self, terms: Iterable[Any], /) -> Any:
        """The sum of values or numbers as one node, in index order."""

    def dot(self, left: Iterable[Any], right: Iterable[Any], /) -> Any:
        """The sum of products as one node, in index order."""

    def each(self, op: str, /, *operands: Any) -> list[Any]:
        """A row of the law on every item of lists; a value or number serves for all."""

    def largest(self, terms: Iterable[Any], function: str, /) -> float:
        """The largest number of a list, or 0 where that is not finite."""

    def linear(
        self, rows: Iterable[Any], xs: Iterable[Any], biases: Iterable[Any] | None, /
    ) -> list[Any]:
        """The dot of every row with a list, on top of its bias: one node a row."""

    # walks over a graph

    def backward(self, roots: tuple[V, ...], seeds: tuple[Number, ...], /) -> None:
        """Run the backward pass from several roots; ``watch.py`` wraps it while someone watches."""

    def order(self, roots: tuple[V, ...], /) -> list[V]:
        """Everything under the roots, inputs before uses."""

    def order_since(self, roots: tuple[V, ...], epoch: int, /) -> list[V]:
        """The inner nodes made since an epoch, in order."""

    def begin_epoch(self) -> int:
        """Start a new epoch and return its number."""

    def is_closed(self, roots: tuple[V, ...], inputs: tuple[V, ...], epoch: int, /) -> bool:
        """Whether values depend on nothing but the inputs."""

    def gradients(
        self,
        roots: tuple[V, ...],
        seeds: tuple[Number, ...],
        inputs: tuple[V, ...],
        epoch: int,
        /,
    ) -> list[float | None] | None:
        """Gradients as numbers, touching no .grad; None where values are not closed."""

    def leaves_under(self, roots: tuple[V, ...], /) -> list[V]:
        """The leaves under the roots that take gradients."""

    def zero_under(self, roots: tuple[V, ...], /) -> None:
        """Zero the gradient of everything under the roots."""

    def read(
        self, roots: tuple[V, ...], epoch: int, log: list[V] | None = None, /
    ) -> tuple[
        list[V],
        bytes,
        bytes,
        bytes,
        bytes,
        bytes,
        bytes,
        bytes,
        bytes,
        list[tuple[CodeType, int]],
        dict[int, str],
    ]:
        """The graph under roots as flat arrays: ``passes/values.py`` names them."""

    def pull(
        self,
        starts: Any,
        inputs: Any,
        partials: Any,
        ruled: Any,
        rule: Callable[[int, float], Any],
        gradients: Any,
        amounts: Any,
        befores: Any,
        /,
    ) -> None:
        """The backward pass over flat arrays, into the last three."""

    # modes of this thread

    def watch_cuts(self, watcher: Callable[[V], object] | None, /) -> Callable[[V], object] | None:
        """Have no_grad() say what it takes the history of; returns who was told before."""

    def swap_no_grad(self, depth: int, /) -> int:
        """Set how deep this thread is in no_grad, and return how deep it was."""

    def enter_no_grad(self) -> None:
        """Keep no history in this thread."""

    def leave_no_grad(self) -> None:
        """Undo one enter_no_grad."""

    def in_no_grad(self) -> bool:
        """Whether this thread keeps no history."""

    def enter_anomaly(self) -> None:
        """Raise at births in this thread."""

    def leave_anomaly(self) -> None:
        """Undo one enter_anomaly."""

    def in_anomaly(self) -> bool:
        """Whether this thread raises at births."""

    def enter_any_bits(self) -> None:
        """Allow NumPy's matrix product in this thread."""

    def leave_any_bits(self) -> None:
        """Undo one enter_any_bits."""

    def in_any_bits(self) -> bool:
        """Whether this thread allows NumPy's matrix product."""

    def in_recording(self) -> bool:
        """Whether this thread records a function; only the native core ever does."""

    # nodes taken apart, and put together

    def parts(self, value: V, /) -> tuple[int, tuple[V | None, ...], tuple[float, ...]]:
        """A value's op, inputs and numbers: None and the number itself for a number operand."""

    def node(
        self, op: int, data: float, inputs: tuple[V | None, ...], numbers: tuple[float, ...], /
    ) -> V:
        """A value from its parts."""

    def recompute(self, value: V, /) -> float | None:
        """What a value's op makes of its inputs now; None for leaves and customs."""

    def recorded_op(self, value: V, /) -> str:
        """What only recordings make: stop, take, or neither."""

    def peek(self, value: V, /) -> float:
        """The number of a value, also while recording."""

    def hides(self, value: Any, /) -> bool:
        """Whether a recording hides the number of a value now."""

    def instruction_of(self, value: V, /) -> tuple[CodeType, int] | None:
        """The code and offset that made a value."""

    def take_ufuncs(self, codes: dict[Any, int], call: Callable[..., Any], /) -> None:
        """How NumPy's functions are answered."""

    # nests: lists of lists … of values, and float64 arrays of their shape

    def read_data(self, nest: Any, array: Floats, /) -> None:
        """Copy the data of a nest into a float64 array."""

    def read_grad(self, nest: Any, array: Floats, /) -> None:
        """Copy the gradients of a nest into a float64 array."""

    def write_data(self, nest: Any, array: Floats, /) -> None:
        """Copy a float64 array into the data of a nest."""

    def zero(self, values: list[V], /) -> None:
        """Set the gradients of a list of values to zero."""

    # optimizers: leaves, arrays of state with one item a leaf, settings

    def sgd(
        self,
        leaves: Sequence[V],
        steps: Floats,
        velocity: Floats,
        lr: float,
        momentum: float,
        dampening: float,
        weight_decay: float,
        nesterov: float,
        /,
    ) -> None:
        """One step of stochastic gradient descent over leaves."""

    def adam(
        self,
        leaves: Sequence[V],
        steps: Floats,
        mean: Floats,
        square: Floats,
        lr: float,
        beta1: float,
        beta2: float,
        epsilon: float,
        weight_decay: float,
        decoupled: float,
        /,
    ) -> None:
        """One step of Adam or AdamW over leaves."""

    def rmsprop(
        self,
        leaves: Sequence[V],
        steps: Floats,
        square: Floats,
        mean: Floats,
        velocity: Floats,
        lr: float,
        alpha: float,
        epsilon: float,
        weight_decay: float,
        momentum: float,
        centered: float,
        /,
    ) -> None:
        """One step of RMSprop over leaves."""

    def grad_norm(self, values: Sequence[V], kind: float, /) -> float:
        """The length of the gradients of values."""

    def scale_grad(self, values: Sequence[V], factor: float, /) -> None:
        """Multiply the gradients of values."""

    def clip_grad(self, values: Sequence[V], limit: float, /) -> None:
        """Clip the gradients of values into a range."""

    # programs written for another engine

    def construct(
        self,
        data: Number,
        children: Iterable[V] | None = (),
        local_grads: Iterable[Number] | str | None = (),
        **more: Any,
    ) -> V:
        """Value(...), whoever answers that."""

    def set_constructor(self, constructor: Callable[..., V] | None, /) -> None:
        """Who answers Value(...); None: nobody else."""

    def lend_attributes(self, wanted: bool, /) -> None:
        """Whether values take attributes of any name."""

    def own_attributes(self, value: V, /) -> dict[str, Any]:
        """A copy of the attributes put on a value."""

    # recording

    def enter_recording(self) -> None:
        """Start to record a function."""

    def leave_recording(self) -> list[V]:
        """Undo one enter_recording. Returns the nodes of ops, in the order they were made."""

    def recorded_arrays(self) -> bool:
        """Whether array rows made nodes in this thread's latest recording."""

    def tell_of(self, count: int, function: Callable[[int], int], /) -> None:
        """Have a function called when a recording has made so many nodes."""

    def argument(self, given: Any, /) -> Any:
        """A fresh argument of a function being recorded: a value, or the tensor of an array."""

    def leaf_origin(self, leaf: Any, epoch: int, /) -> str:
        """Where a leaf met in a recording comes from."""

    def take(self, values: list[V | Number], index: V, /) -> V:
        """One of a list of values, chosen by a value."""

    def Names(self) -> Names:  # noqa: N802  a class
        """A fresh list of places."""

    def watch_entries(self, entered: Callable[[FrameType], bool], /) -> object:
        """Be told of the functions this thread enters."""

    def unwatch_entries(self, watcher: object, /) -> None:
        """Be told no longer."""

    def closures_of(self, frame: FrameType, /) -> list[tuple[CellType, ...]]:
        """The closure cells of a frame's function; several where it may be one of several."""

    def add_grad(self, nest: Any, array: Floats, /) -> None:
        """Add a float64 array to the gradients of a nest."""

    def taking(self, values: list[V], /) -> bytes:
        """Which values of a list take gradients: 0, 1, or 2 with hooks."""


class Names(Protocol):
    """What the names of a recorded function mean, and whether they still do."""

    def __len__(self) -> int: ...

    def read(self, kind: int, container: object, key: object, name: str, /) -> Any:
        """What stands at a place, remembered."""

    def unchanged(self) -> bool:
        """Whether every place holds what it did."""

    def changed(self) -> dict[tuple[int, int, Any], str]:
        """The places that hold something else now."""

    def differing(self, other: Any, /) -> dict[tuple[int, int, Any], str]:
        """The places where two lists found different things."""

    def drop(self, other: Any, /) -> int:
        """Forget the places of another list."""

    def prune(self) -> None:
        """Forget the places in what nobody else refers to."""

    def absorb(self, other: Any, keys: Iterable[tuple[int, int, Any]] | None = None, /) -> None:
        """Take over places of another list."""

    def keys(self) -> set[tuple[int, int, Any]]:
        """The keys of all places."""
