"""The public Tensor in pure Python: a handle of a node of ``arrays.py``, and what a core offers on
it. Methods, operators and NumPy's protocols are put on the class by ``_tensors/``.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

from .._shared.arrays import floats
from .._shared.bound import Bound
from .._shared.lending import refuse_lent
from .._shared.numerics import np
from .._shared.references import references
from .._shared.sites import Site, site_of
from ..errors import AliasError, LeafError, RecordingError, TensorError
from . import arrays
from .arrays import Applied, TensorNode, read_only, tensor_node, watch
from .public import _checked_label
from .recording import Recordings, here, hides
from .reference import Node, modes, run_backward


class Tensor:
    """An array of numbers that remembers how it was made.

    >>> import retrograde as rg
    >>> x = rg.Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> (x * x).sum().backward()
    >>> x.grad
    array([[2., 4.],
           [6., 8.]])
    """

    __slots__ = ("__weakref__", "_node")

    _node: TensorNode

    def __init__(self, data: Any, *, label: str | None = None, requires_grad: bool = True) -> None:
        given = floats(data, "Tensor(data)")
        if given.ndim == 0:
            raise TensorError.no_axes(data)
        name = _checked_label(label)
        self._node = tensor_node("leaf", np.array(given), (), bool(requires_grad))
        self._node._label, self._node._handle = name, ref(self)
        if modes.anomaly:
            watch(self._node)

    # ---- numbers -------------------------------------------------------------------------------

    @property
    def data(self) -> Any:
        """Its numbers: an array that cannot be written to."""
        if self._node._data is None:
            raise AliasError.gone(self)
        if Recordings.now and hides(self._node):
            traced = self._node._traced
            raise getattr(RecordingError, f"{'' if traced else 'captured_'}tensor_data")(self)
        return self._node._data.view()

    @data.setter
    def data(self, data: Any) -> None:
        raise TensorError.data(self)

    @property
    def grad(self) -> Any:
        """The gradient: of a leaf zeros before a backward pass, of others after retain_grad()."""
        node = self._node
        if node._op_name != "leaf" and not node._retains:
            raise LeafError.tensor_grad(self)
        if node._grad is None:
            return read_only(np.zeros(self.shape))
        return node._grad

    @grad.setter
    def grad(self, grad: Any) -> None:
        node = self._node
        if node._op_name != "leaf" and not node._retains:
            raise LeafError.tensor_grad(self)
        refuse_lent((node,), others_only=True)
        if grad is None:
            node._grad = None
            return
        given = floats(grad, "tensor.grad")
        if given.shape != self.shape:
            raise TensorError.shape("tensor.grad", self.shape, given.shape)
        node._grad = read_only(np.array(given))

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths along its axes."""
        return self._node._shape

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return int(np.prod(self.shape, dtype=np.int64))

    # ---- how it was made -----------------------------------------------------------------------

    @property
    def label(self) -> str:
        """Its name in stories and messages."""
        return self._node._label

    @label.setter
    def label(self, label: str | None) -> None:
        self._node._label = _checked_label(label)

    @property
    def requires_grad(self) -> bool:
        """Whether it takes gradients."""
        return self._node._requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if self._node._op_name == "leaf":
            self._node._requires_grad = bool(wanted)
        elif not wanted:
            raise LeafError.requires_grad(self)

    @property
    def op(self) -> str:
        """The row that made it, or "leaf"."""
        return self._node._op_name

    @property
    def _op(self) -> str:
        return "" if self._node._op_name == "leaf" else self._node._op_name

    @property
    def inputs(self) -> tuple[Any, ...]:
        """What it was made from: values and tensors."""
        return tuple(v._shown() for v in self._node._inputs)

    @property
    def _children(self) -> tuple[Any, ...]:
        return self.inputs

    @property
    def site(self) -> Site | None:
        """Where it was made."""
        return site_of(self._node._made_at)

    @property
    def _hooks(self) -> Any:
        return self._node._hooks

    @_hooks.setter
    def _hooks(self, pairs: Any) -> None:
        self._node._hooks = pairs

    # ---- backward ------------------------------------------------------------------------------

    def backward(self, seed: Any = None) -> None:
        """Add the gradients of ``sum(seed * self)`` into every leaf under it.

        The seed is an array of its shape; a tensor of one number needs none.
        """
        run_backward((self._node,), (seed_of(self, seed),))

    def retain_grad(self) -> None:
        """Keep the gradient of an interior tensor after each backward pass, in ``.grad``."""
        self._node._retains = True

    def detach(self) -> Tensor:
        """The same numbers as a leaf that takes no gradient."""
        if here.depth:
            return self._stopped()  # type: ignore[attr-defined, no-any-return]
        return handle(tensor_node("leaf", np.array(self.data), (), False))


def seed_of(root: Any, seed: Any) -> Any:
    """The seed of a pass from a tensor: an array of its shape."""
    if seed is None:
        if root.size != 1:
            raise TensorError.seed(root)
        return np.ones(root.shape)
    given = floats(seed, "the seed")
    if given.shape != root.shape:
        raise TensorError.shape("the seed", root.shape, given.shape)
    return given


def handle(node: TensorNode) -> Tensor:
    """The tensor of a node: the same one as long as somebody holds it."""
    known = None if node._handle is None else node._handle()
    if known is None:
        known = object.__new__(Tensor)
        known._node = node
        node._handle = ref(known)
    return known


def node_of(thing: Any) -> Any:
    """The node behind a value or a tensor; other operands as they are."""
    if isinstance(thing, Tensor):
        if thing._node._data is None:
            raise AliasError.gone(thing)
        return thing._node
    return thing


# ---- what a core offers ------------------------------------------------------------------------


def array(bound: Bound, operands: tuple[Any, ...], wholes: dict[str, Any], /) -> Any:
    """One node of a bound row of the array law; a value where its shape is ()."""
    return arrays.array(bound, tuple(map(node_of, operands)), wholes)._shown()


def array_row(thing: Any, /) -> tuple[Bound, dict[str, Any]] | None:
    """The bound row that made a thing, and all its whole numbers; None for anything else."""
    node: Node = thing._node if isinstance(thing, Tensor) else thing
    made = node._array
    return None if made is None else (made.bound, made.wholes)


def array_node(
    bound: Bound, data: Any, operands: tuple[Any, ...], wholes: dict[str, Any], /
) -> Any:
    """A node of a bound row from its parts: nothing is computed, no mode is asked."""
    nodes = tuple([it._node if isinstance(it, Tensor) else it for it in operands])
    return arrays.array_node(bound, data, nodes, wholes)._shown()


def stale_input(thing: Any, /) -> Any:
    """The input of an array row whose numbers were changed since; None where none was."""
    node: Node = thing._node if isinstance(thing, Tensor) else thing
    changed = None if node._array is None else node._array.changed(node)
    return None if changed is None else changed._shown()


def is_written_over(thing: Any, /) -> bool:
    """Whether ``t[i] = v`` has taken over the numbers of a tensor's node."""
    return isinstance(thing, Tensor) and thing._node._data is None


def mark_written_over(tensor: Tensor, /) -> None:
    """Let the numbers of a copy go, as those of a node that ``t[i] = v`` has written on."""
    tensor._node._data = None


def key(thing: Any, /) -> int:
    """Who a node is: the same number for every handle of it, as long as it lives."""
    return id(thing._node) if isinstance(thing, Tensor) else id(thing)


def write_tensor(tensor: Tensor, array: Any, /) -> None:
    """Give a leaf other numbers of its shape, and a new version."""
    node = tensor._node
    if here.depth:
        raise RecordingError.tensor("assign")
    if node._op_name != "leaf":
        raise LeafError.tensor_data(tensor)
    if array.shape != node._shape:
        raise TensorError.shape("assign", node._shape, array.shape)
    node._data = read_only(np.array(array, dtype=float))
    node._version += 1


def put(tensor: Tensor, bound: Bound, operand: Any, wholes: dict[str, Any], /) -> None:
    """``tensor[key] = operand``: the handle becomes that of a node of the row.

    In place where nothing else holds the numbers of the tensor.
    """
    old = node_of(tensor)
    if here.depth:
        _record_put(tensor, old, bound, operand, wholes)
        return
    given = node_of(operand)
    value = given if isinstance(given, Node) else arrays.constant(given)
    if not _is_alone(old):
        raise AliasError.held(tensor)
    buffer = old._data.base
    _written(bound, buffer, value._data, wholes)
    takes = old._requires_grad or value._requires_grad
    cut = modes.no_grad or not takes
    if cut and old._op_name == "leaf":
        old._version += 1
        return
    if cut:
        node = tensor_node("leaf", buffer, (), False)
    else:
        node = tensor_node(bound.name, buffer, (old, value), True)
        node._array = Applied(bound, (old, value), {}, dict(wholes))
    node._label, node._handle = old._label, ref(tensor)
    old._data, old._handle, tensor._node = None, None, node
    if modes.anomaly:
        watch(node)


def _record_put(
    tensor: Tensor, old: TensorNode, bound: Bound, operand: Any, wholes: dict[str, Any]
) -> None:
    """The same in a recording: a node of the row, and the two handles change nodes."""
    if not (old._traced or old._inside):  # a replay repeats nothing outside
        raise RecordingError.tensor("t[i] = v of a tensor from outside")
    if not _is_alone(old):
        raise AliasError.held(tensor)
    made = array(bound, (tensor, operand), wholes)
    node = made._node
    tensor._node, made._node = node, old
    node._handle, old._handle = ref(tensor), ref(made)


def _is_alone(node: TensorNode) -> bool:
    """Whether nothing else holds the numbers of a node: no result, no array from .data. Where the
    interpreter does not count references, something may."""
    if references(node, "_data") != 1 or references(node._data, "base") != 1:
        return False
    buffer = node._data.base
    return type(buffer) is np.ndarray and buffer.flags.writeable


def _written(bound: Bound, buffer: Any, numbers: Any, wholes: dict[str, Any]) -> None:
    if bound.name == "put_at":
        place = tuple(int(wholes[f"n{axis + 1}"]) for axis in range(bound.arguments["count"]))
        buffer[place] = numbers
    else:
        known = {"x": np.array(buffer), "y": np.asarray(numbers), **wholes}
        buffer[...] = bound.run(known)[0]
