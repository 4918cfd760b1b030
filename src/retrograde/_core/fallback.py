"""The public Value in pure Python, on the nodes of ``reference.py``: construction, operators, and
the checks on what a user assigns. What else the native module offers follows, under its names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType
from typing import Any, NoReturn

from .._shared.lending import Loan, refuse_lent
from .._shared.operands import COMPARISONS, indexed, is_real_scalar, other_comparison, other_operand
from .._shared.sites import Site, site_of
from ..errors import (
    AnomalyError,
    ClosureStyleError,
    LabelError,
    LeafError,
    NotAValueError,
    NumberError,
    OperandError,
    RecordingError,
    ShapeError,
    TakeError,
)
from ..ops import OPS, Op
from . import recording
from .descent import adam as adam
from .descent import clip_grad as clip_grad
from .descent import grad_norm as grad_norm
from .descent import rmsprop as rmsprop
from .descent import scale_grad as scale_grad
from .descent import sgd as sgd
from .entering import closures_of as closures_of
from .entering import unwatch_entries as unwatch_entries
from .entering import watch_entries as watch_entries
from .names import Names as Names
from .recording import Recordings
from .recording import hides as hides
from .recording import leaf_origin as leaf_origin
from .reference import Cuts, Epoch, Node, apply_row, constant, is_birth, modes, record, run_backward
from .reference import order as order_nodes
from .surveying import survey as survey


def number(thing: Any, what: str) -> float:
    """A real number as a float, or the exception that says what was expected."""
    if type(thing) is float:
        return thing
    if not is_real_scalar(thing):
        raise NumberError.of(what, thing)
    try:
        return float(thing)
    except OverflowError:
        raise NumberError.too_large() from None


def _operator(name: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: apply(name, self, other)


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: apply(name, other, self)


def _unary(name: str) -> Callable[[Any], Any]:
    return lambda self: apply(name, self)


def _comparison(symbol: int) -> Callable[[Any, Any], Any]:
    def compare(self: Value, other: Any) -> Any:
        if Recordings.now and other is not None:
            if recording.here.depth:
                return Conditions.compare(self, other, symbol)
            _refuse_elsewhere(self, other)
        if isinstance(other, Value):
            return COMPARISONS[symbol](self._data, other._data)
        if not is_real_scalar(other):
            return other_comparison(self, other, symbol)
        return COMPARISONS[symbol](self._data, number(other, "a comparison"))

    return compare


def _refuse_elsewhere(*values: Any) -> None:
    """Raise where another thread decides by a number that a recording hides."""
    for value in values:
        if isinstance(value, Value) and recording.hides(value):
            raise RecordingError.thread(value)


class Value(Node):
    """A number that remembers how it was made.

    >>> from retrograde import Value
    >>> a, b = Value(2.0), Value(-3.0)
    >>> f = (a * b + 10.0).relu()
    >>> f.backward()
    >>> f.data, a.grad, b.grad
    (4.0, -3.0, 2.0)
    """

    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Value:
        value = object.__new__(cls)
        value._become("leaf", 0.0)
        return value

    def __init__(
        self,
        data: float,
        children: Iterable[Value] | None = (),
        local_grads: Iterable[float] | str | None = (),
        *,
        label: str | None = "",
        requires_grad: bool = True,
        _children: Iterable[Value] | None = None,
        _local_grads: Iterable[float] | None = None,
        _op: str | None = None,
    ) -> None:
        if isinstance(local_grads, str):
            _op = local_grads
            local_grads = ()
        rule: Any = _op if hasattr(_op, "retrograde_rule") else None
        if rule is not None:
            _op = rule.name
        if not isinstance(_op, (str, type(None))):
            raise TypeError("Value(): _op is the name of the operation, a string")
        inputs = _checked_inputs(_either(children, _children, "_children"))
        partials = tuple(
            number(partial, "a local gradient")
            for partial in _either(local_grads, _local_grads, "_local_grads")
        )
        if partials and len(partials) != len(inputs):
            raise ShapeError.partials(len(inputs), len(partials))
        data, label = number(data, "Value(data)"), _checked_label(label)
        if inputs:
            takes = any(value._requires_grad for value in inputs)
            self._become(_op or "custom", data, inputs, partials or None, takes)
        else:
            self._become("leaf", data, requires_grad=bool(requires_grad))
        self._label = label
        if modes.anomaly and is_birth(self):
            raise AnomalyError.forward(self)
        if Recordings.now:
            recording.inherit(self)
        recorded = Recordings.now and recording.here.depth
        if inputs and not recorded and (modes.no_grad or not self._requires_grad):
            if Cuts.watcher is not None and self._requires_grad:
                Cuts.watcher(self)
            self._become("leaf", data, requires_grad=False)
        self._label = label
        if self._op_name != "leaf":
            self._custom = rule or self._op_name

    @property
    def data(self) -> float:
        if Recordings.now and recording.hides(self):
            raise RecordingError.data(self) if self._traced else RecordingError.captured_data(self)
        return self._data

    @data.setter
    def data(self, data: float) -> None:
        data = number(data, "value.data")
        recording.refuse((self,), "assignment")
        self._data = data

    @property
    def grad(self) -> float:
        if Recordings.now and recording.hides(self):
            raise RecordingError.grad(self)
        return self._grad

    @grad.setter
    def grad(self, grad: float) -> None:
        grad = number(grad, "value.grad")
        if Recordings.now and recording.hides(self):
            raise RecordingError.grad_assignment(self)
        refuse_lent((self,), others_only=True)
        self._grad = grad

    @property
    def label(self) -> str:
        return self._label

    @label.setter
    def label(self, label: str | None) -> None:
        self._label = _checked_label(label)

    @property
    def requires_grad(self) -> bool:
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if self._op_name == "leaf":
            self._requires_grad = bool(wanted)
        elif not wanted:
            raise LeafError.requires_grad(self)

    @property
    def op(self) -> str:
        return self._op_name

    @property
    def inputs(self) -> tuple[Value, ...]:
        return self._inputs

    @property
    def partials(self) -> tuple[float, ...]:
        if Recordings.now and self._partials and recording.hides(self):
            raise RecordingError.partials(self)
        return self._partials or ()

    @property
    def site(self) -> Site | None:
        return site_of(self._made_at)

    @property
    def _rule(self) -> Any:
        return None if isinstance(self._custom, str) else self._custom

    @property
    def _op(self) -> str:
        if self._op_name in OPS and self._custom is None:
            return OPS[self._op_name].symbol
        return "" if self._op_name in ("leaf", "custom") else self._op_name

    @property
    def _children(self) -> tuple[Value, ...]:
        return self._inputs

    @_children.setter
    def _children(self, inputs: Iterable[Value]) -> None:
        if self._partials is not None:
            raise ClosureStyleError.inputs(self)
        self._inputs = _checked_inputs(inputs)

    @property
    def _prev(self) -> set[Value]:
        return set(self._inputs)

    @_prev.setter
    def _prev(self, inputs: Iterable[Value]) -> None:
        self._children = tuple(inputs)

    @property
    def _local_grads(self) -> tuple[float, ...]:
        return self.partials

    @property
    def _backward(self) -> Callable[[], object]:
        return self._closure or self._contribute

    @_backward.setter
    def _backward(self, closure: Callable[[], object]) -> None:
        if not callable(closure):
            raise ClosureStyleError.not_callable(self, closure)
        if self._op_name == "leaf":
            return  # a leaf has nothing to contribute: the rule is not needed
        if self._partials is not None:
            raise ClosureStyleError.backward(self)
        self._closure = closure

    def backward(self, seed: float = 1.0) -> None:
        """Add the gradient of this value into every leaf under it."""
        run_backward((self,), (number(seed, "the seed"),))

    def detach(self) -> Value:
        """The same number as a leaf that takes no gradient."""
        if recording.here.depth:
            return recording.stopped(Value, self)  # type: ignore[no-any-return]
        return Value(self._data, requires_grad=False)

    __add__, __radd__ = _operator("add"), _reflected("add")
    __sub__, __rsub__ = _operator("sub"), _reflected("sub")
    __mul__, __rmul__ = _operator("mul"), _reflected("mul")
    __truediv__, __rtruediv__ = _operator("div"), _reflected("div")
    __rpow__ = _reflected("pow")
    __neg__, __abs__ = _unary("neg"), _unary("abs")
    __lt__, __le__, __gt__, __ge__ = map(_comparison, (0, 1, 4, 5))
    __eq__, __ne__ = map(_comparison, (2, 3))
    __hash__ = object.__hash__

    def __pow__(self, exponent: Any, modulus: None = None) -> Any:
        if modulus is not None:
            raise TypeError("pow() of values takes no modulus")
        return _power(self, exponent)

    def __pos__(self) -> Value:
        return self

    def __bool__(self) -> bool:
        if Recordings.now:
            if recording.here.depth:
                return Conditions.truth(self)
            _refuse_elsewhere(self)
        return self._data != 0.0

    __iter__ = None  # __getitem__ alone would make it iterable

    def __getitem__(self, index: Any) -> Any:
        return indexed(self, index)

    def __matmul__(self, other: Any) -> NoReturn:
        raise OperandError.matmul()

    __rmatmul__ = __matmul__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return Ufuncs.call(ufunc, method, inputs, options)


class Conditions:
    """Comparisons while a function is recorded: see :mod:`retrograde.program.conditions`."""

    compare: Callable[[Any, Any, int], Any]
    truth: Callable[[Any], bool]


def take_conditions(compare: Callable[..., Any], truth: Callable[..., bool]) -> None:
    """Have comparisons and truths answered by these while recording."""
    Conditions.compare, Conditions.truth = staticmethod(compare), staticmethod(truth)


class Ufuncs:
    """What NumPy's functions of arrays do with values: see :mod:`.protocols`."""

    call: Callable[[Any, str, tuple[Any, ...], dict[str, Any]], Any]


def take_ufuncs(codes: dict[Any, int], call: Callable[..., Any]) -> None:
    """Have NumPy's functions answered by ``call``; the native engine knows some by their codes."""
    Ufuncs.call = staticmethod(call)


def _either(given: Any, alias: Any, name: str) -> tuple[Any, ...]:
    """What was given under one of two names."""
    items = () if given is None else tuple(given)
    if alias is None:
        return items
    if items:
        raise TypeError(f"Value() got two values for argument '{name}'")
    return tuple(alias)


def _checked_inputs(inputs: Iterable[Value]) -> tuple[Value, ...]:
    inputs = tuple(inputs)
    for index, value in enumerate(inputs):
        if not isinstance(value, Value):
            raise NotAValueError.at("children", index, value)
    return inputs


def _checked_label(label: Any) -> str:
    if not isinstance(label, (str, type(None))):
        raise LabelError.of(label)
    return label or ""


def apply(name: str, *operands: Any) -> Any:
    """An op on values and numbers, as an operator does it."""
    for operand in operands:
        if not isinstance(operand, Value) and not is_real_scalar(operand):
            return other_operand(name, operands)
    return apply_row(
        Value, name, [v if isinstance(v, Value) else number(v, name) for v in operands]
    )


def _power(base: Value, exponent: Any) -> Any:
    """``**``: a constant exponent chooses the row."""
    if isinstance(exponent, Value) or not is_real_scalar(exponent):
        return apply("pow", base, exponent)
    whole = number(exponent, "an exponent")
    if whole == -1.0:
        return apply("reciprocal", base)
    if abs(whole) not in (2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0):
        return apply("pow", base, whole)
    if whole < 0.0:  # first: the slope of the power's reciprocal would be far smaller than either
        base = apply("reciprocal", base)
    if abs(whole) == 2.0:
        return apply("square", base)
    power = base
    for bit in bin(abs(int(whole)))[3:]:
        power = apply("mul", power, power)
        if bit == "1":
            power = apply("mul", power, base)
    return power


def function(op: Op) -> Callable[..., Any]:
    """A row as a function of values or numbers, with its defaults and names."""

    def call(*given: Any, **named: Any) -> Any:
        operands = dict(zip(op.inputs, given))
        unknown = [name for name in named if name not in op.inputs or name in operands]
        if unknown:
            raise TypeError(f"{op.name} has no free operand named '{unknown[0]}'")
        operands = {**operands, **named}
        for name, default in zip(op.inputs[op.arity - len(op.defaults) :], op.defaults):
            operands.setdefault(name, default)
        if len(given) > op.arity or len(operands) != op.arity:
            raise TypeError(f"{op.name} takes {op.arity} operand(s), got {len(given) + len(named)}")
        result = apply(op.name, *(operands[name] for name in op.inputs))
        if result is NotImplemented:
            wrong = [
                v for v in operands.values() if not isinstance(v, Value) and not is_real_scalar(v)
            ]
            raise OperandError.of(op.name, wrong[-1])
        return result

    call.__name__ = call.__qualname__ = op.name
    return call


FUNCTIONS = {name: function(op) for name, op in OPS.items()}

for _name, _function in FUNCTIONS.items():
    setattr(Value, _name, _function)


def _terms(function: str, terms: Iterable[Any]) -> tuple[tuple[Value, ...], list[float], bool]:
    """Items as nodes and as numbers, and whether any of them is a value."""
    items = tuple(terms)
    for index, item in enumerate(items):
        if not isinstance(item, Value) and not is_real_scalar(item):
            raise NumberError.at(function, index, item)
    numbers = [v._data if isinstance(v, Value) else number(v, function) for v in items]
    nodes = tuple(v if isinstance(v, Value) else constant(Value, n) for v, n in zip(items, numbers))
    return nodes, numbers, any(isinstance(item, Value) for item in items)


def sum(terms: Iterable[Any]) -> Any:
    """The sum of values or numbers as one node, in index order."""
    nodes, numbers, any_value = _terms("sum", terms)
    total = numbers[0] if numbers else 0.0
    for term in numbers[1:]:
        total += term
    if not any_value:
        return total
    return record(Value, "sum", total, nodes, (1.0,) * len(nodes))


def dot(left: Iterable[Any], right: Iterable[Any]) -> Any:
    """The sum of products as one node, in index order."""
    left_nodes, lefts, left_values = _terms("dot", left)
    right_nodes, rights, right_values = _terms("dot", right)
    if len(lefts) != len(rights):
        raise ShapeError.dot(len(lefts), len(rights))
    products = [x * y for x, y in zip(lefts, rights)]
    total = products[0] if products else 0.0
    for product in products[1:]:
        total += product
    if not (left_values or right_values):
        return total
    return record(Value, "dot", total, left_nodes + right_nodes, (*rights, *lefts))


def each(op: str, *operands: Any) -> list[Any]:
    """A row of the law on every item of lists; a value or number serves for all."""
    counts = [len(operand) for operand in operands if isinstance(operand, (list, tuple))]
    if not counts:
        raise TypeError("each takes at least one list")
    for count in counts[1:]:
        if count != counts[0]:
            raise ShapeError.lists(op, counts[0], count)
    lists = [
        operand if isinstance(operand, (list, tuple)) else [operand] * counts[0]
        for operand in operands
    ]
    return [FUNCTIONS[op](*items) for items in zip(*lists)]


def largest(terms: Iterable[Any], function: str) -> float:
    """The largest number of a list, or 0 where that is not finite; NaN is passed over."""
    most = float("-inf")
    for term in _terms(function, terms)[1]:
        most = term if term > most else most
    return most if abs(most) < float("inf") else 0.0


def linear(rows: Iterable[Any], xs: Iterable[Any], biases: Iterable[Any] | None) -> list[Any]:
    """The dot of every row with a list, on top of its bias: one node a row."""
    rows, xs = tuple(rows), tuple(xs)
    heads: Sequence[Any] = [()] * len(rows) if biases is None else [(bias,) for bias in biases]
    if len(heads) != len(rows):
        raise ShapeError.biases(len(rows), len(heads))
    _terms("linear", xs)
    results = []
    for at, (head, row) in enumerate(zip(heads, rows)):
        width = len(row) if isinstance(row, (list, tuple)) else -1
        if width != len(xs):
            raise ShapeError.linear(at, width, len(xs))
        if head and not isinstance(head[0], Value) and not is_real_scalar(head[0]):
            raise NumberError.at("linear, the biases", at, head[0])
        _terms("linear", row)
        results.append(dot((*head, *row), (*(1.0 for _ in head), *xs)))
    return results


def _checked_roots(where: str, roots: Sequence[Any]) -> None:
    for index, root in enumerate(roots):
        if not isinstance(root, Value):
            raise NotAValueError.at(where, index, root)


def order(roots: Sequence[Value]) -> list[Value]:
    """Everything under the roots, inputs before uses."""
    _checked_roots("order", roots)
    return order_nodes(roots)


def backward(roots: Sequence[Value], seeds: Sequence[float]) -> None:
    """Run the backward pass from several roots."""
    if len(roots) != len(seeds):
        raise ShapeError.seeds(len(roots), len(seeds))
    _checked_roots("backward", roots)
    run_backward(roots, [number(seed, "a seed") for seed in seeds])


def begin_epoch() -> int:
    """Start a new epoch and return its number."""
    Epoch.now += 1
    return Epoch.now


def order_since(roots: Sequence[Value], since: int) -> list[Value]:
    """The inner nodes made since an epoch, in order."""
    _checked_roots("order", roots)
    return [v for v in order_nodes(roots, since) if v._op_name != "leaf" and v._epoch >= since]


def is_closed(roots: Sequence[Value], inputs: Sequence[Value], since: int) -> bool:
    """Whether the roots depend on nothing but the inputs: no other leaf takes gradients.

    While recording, nothing that is read afresh counts as a number.
    """
    given = {id(v) for v in inputs}
    if recording.here.depth:
        ends = [v for v in order_nodes(roots, since) if v._op_name == "leaf" or v._epoch < since]
        if any(map(recording.is_read_afresh, [*roots, *ends])):
            return False
        if any(v._op_name != "leaf" for v in ends):
            return False
    return not any(
        v._requires_grad and (v._op_name == "leaf" or v._epoch < since) and id(v) not in given
        for v in order_nodes(roots, since)
    )


def gradients(
    roots: Sequence[Value], seeds: Sequence[float], inputs: Sequence[Value], since: int
) -> list[float | None] | None:
    """Gradients as numbers, touching no .grad; None where an input was not reached, or in place of
    all where the result depends on values made before the epoch."""
    if len(roots) != len(seeds):
        raise ShapeError.seeds(len(roots), len(seeds))
    values = order_nodes(roots, since)
    if not is_closed(roots, inputs, since):
        return None
    seeds = [number(seed, "a seed") for seed in seeds]
    inner = [v for v in values if v._op_name != "leaf" and v._epoch >= since]
    if any(value._partials is None for value in inner):
        found = _pulled_by_closures(values, inner, roots, seeds, inputs)
    else:
        found = _pulled(values, inner, roots, seeds, inputs)
    reached = {id(value) for value in values}
    return [g if id(value) in reached else None for value, g in zip(inputs, found)]


def _pulled(
    values: list[Value],
    inner: list[Value],
    roots: Sequence[Value],
    seeds: Sequence[float],
    inputs: Sequence[Value],
) -> list[float]:
    """The backward pass on numbers kept aside: other threads see nothing of it."""
    adjoints = dict.fromkeys(map(id, values), 0.0)
    for root, seed in zip(roots, seeds):
        adjoints[id(root)] += seed
    for value in reversed(inner):
        upstream = adjoints[id(value)]
        for v, partial in zip(value._inputs, value._partials or ()):
            if not v._number:
                adjoints[id(v)] += partial * upstream
    return [adjoints.get(id(value), 0.0) for value in inputs]


def _pulled_by_closures(
    values: list[Value],
    inner: list[Value],
    roots: Sequence[Value],
    seeds: Sequence[float],
    inputs: Sequence[Value],
) -> list[float]:
    """Closures add to ``.grad``: it is lent to them and put back."""
    with Loan(values, by_rule=True):
        for root, seed in zip(roots, seeds):
            root._grad += seed
        for value in reversed(inner):
            value._contribute()
        return [value._grad for value in inputs]


OP_NAMES = (*OPS, "leaf", "sum", "dot")
_RECORDED = ("stop", "take")
_INDEX = {name: index for index, name in enumerate((*OP_NAMES, *_RECORDED))}


def parts(value: Value) -> tuple[int, tuple[Value | None, ...], tuple[float, ...]]:
    """A value's op, inputs and numbers: None and the number itself for a number operand."""
    if value._custom is not None:
        return len(OP_NAMES), value._inputs, value._partials or ()
    pairs = list(zip(value._inputs, value._partials or ()))
    inputs = tuple(None if v._number else v for v, _ in pairs)
    return (
        _INDEX[value._op_name], inputs, tuple(v._data if v._number else p for v, p in pairs),
    )  # fmt: skip


def node(
    op: int, data: float, inputs: tuple[Value | None, ...], numbers: tuple[float, ...]
) -> Value:
    """A value from its parts."""
    nodes = tuple(constant(Value, n) if v is None else v for v, n in zip(inputs, numbers))
    now = _partials_now(OP_NAMES[op], data, [v._data for v in nodes])
    partials = tuple(p if v is None else n for v, n, p in zip(inputs, numbers, now))
    value = Value.__new__(Value)
    value._become(OP_NAMES[op], data, nodes, partials, any(v._requires_grad for v in nodes))
    return value


def _partials_now(op: str, data: float, numbers: list[float]) -> Sequence[float]:
    """The partials of a row, sum or dot at its operands: those of number operands are not kept."""
    if op == "sum":
        return [1.0] * len(numbers)
    if op == "dot":
        half = len(numbers) // 2
        return [*numbers[half:], *numbers[:half]]
    return OPS[op].evaluate_partials(*numbers, data)


def peek(value: Value) -> float:
    """The number of a value."""
    return value._data


def recompute(value: Value) -> float | None:
    """What a value's op makes of its inputs now; None for leaves and customs."""
    if value._custom is not None:
        return None
    numbers = [v._data for v in value._inputs]
    if value._op_name in OPS:
        return OPS[value._op_name].evaluate(*numbers)
    if value._op_name == "sum":
        return float(sum(numbers))
    if value._op_name == "dot":
        return float(dot(numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]))
    return None


def leaves_under(roots: Sequence[Value]) -> list[Value]:
    """The leaves under the roots that take gradients."""
    _checked_roots("leaves_under", roots)
    return [v for v in order_nodes(roots) if v._op_name == "leaf" and v._requires_grad]


def watch_cuts(watcher: Callable[[Value], object] | None) -> Callable[[Value], object] | None:
    """Have no_grad() say what it takes the history of; returns who was told before.

    A line is reported the first 256 times it cuts, and then each time the count has doubled.
    """
    before = Cuts.watcher
    times: dict[Any, int] = {}

    def sampled(value: Value) -> None:
        count = times[value._made_at] = times.get(value._made_at, 0) + 1
        if (count <= 256 or count & (count - 1) == 0) and watcher is not None:
            watcher(value)

    Cuts.watcher = None if watcher is None else sampled
    return before


def zero_under(roots: Sequence[Value]) -> None:
    """Zero the gradient of everything under the roots."""
    _checked_roots("zero_grad", roots)
    recording.refuse(roots, "grad_assignment")
    zero(order_nodes(roots))


def zero(values: list[Value]) -> None:
    """Set the gradients of a list of values to zero."""
    recording.refuse(values, "grad_assignment")
    refuse_lent(values)
    for value in values:
        value._grad = 0.0


def _leaves(
    nest: Any, shape: tuple[int, ...], only_values: bool, place: tuple[int, ...] = ()
) -> Iterator[Any]:
    """The items of a rectangular nest in order, checked against its shape."""
    if not shape:
        if not isinstance(nest, Value) and (only_values or not isinstance(nest, (float, int))):
            raise ShapeError.nest(place, nest)
        yield nest
        return
    if not isinstance(nest, (list, tuple)) or len(nest) != shape[0]:
        raise ShapeError.nest(place, nest)
    for index, item in enumerate(nest):
        yield from _leaves(item, shape[1:], only_values, (*place, index))


def _values(nest: Any, shape: tuple[int, ...]) -> list[Value]:
    return list(_leaves(nest, shape, True))


def read_data(nest: Any, array: Any) -> None:
    """Copy the data of a nest into a float64 array."""
    items = list(_leaves(nest, array.shape, False))
    recording.refuse([v for v in items if isinstance(v, Value)], "data")
    array.reshape(-1)[:] = [v._data if isinstance(v, Value) else v for v in items]


def read_grad(nest: Any, array: Any) -> None:
    """Copy the gradients of a nest into a float64 array."""
    values = _values(nest, array.shape)
    recording.refuse(values, "grad")
    array.reshape(-1)[:] = [v._grad for v in values]


def write_data(nest: Any, array: Any) -> None:
    """Copy a float64 array into the data of a nest."""
    values = _values(nest, array.shape)
    recording.refuse(values, "assignment")
    for value, data in zip(values, array.reshape(-1).tolist()):
        value._data = data


def add_grad(nest: Any, array: Any) -> None:
    """Add a float64 array to the gradients of a nest."""
    values = _values(nest, array.shape)
    recording.refuse(values, "grad_assignment")
    refuse_lent(values)
    for value, more in zip(values, array.reshape(-1).tolist()):
        value._grad += more


def taking(values: list[Value]) -> bytes:
    """Which values of a list take gradients: 0, 1, or 2 with hooks."""
    return bytes([(1 + bool(v._hooks)) if v._requires_grad else 0 for v in values])


def swap_no_grad(depth: int) -> int:
    """Set how deep this thread is in no_grad, and return how deep it was."""
    before, modes.no_grad = modes.no_grad, depth
    return before


def enter_no_grad() -> None:
    """Stop recording in this thread."""
    modes.no_grad += 1


def leave_no_grad() -> None:
    """Undo one enter_no_grad."""
    if modes.no_grad == 0:
        raise RuntimeError("this thread is not in that mode")
    modes.no_grad -= 1


def in_no_grad() -> bool:
    """Whether this thread does not record."""
    return modes.no_grad > 0


def enter_anomaly() -> None:
    """Raise at births in this thread."""
    modes.anomaly += 1


def leave_anomaly() -> None:
    """Undo one enter_anomaly."""
    if modes.anomaly == 0:
        raise RuntimeError("this thread is not in that mode")
    modes.anomaly -= 1


def in_anomaly() -> bool:
    """Whether this thread raises at births."""
    return modes.anomaly > 0


def construct(*args: Any, **kwargs: Any) -> Value:
    """Value(...), whoever answers that."""
    value = Value.__new__(Value)
    _init(value, *args, **kwargs)
    return value


_init = Value.__init__


def set_constructor(constructor: Callable[..., Value] | None) -> None:
    """Who answers Value(...): only the native engine is called without ``__init__``."""


_PARTS = frozenset(
    "data grad label requires_grad inputs _prev _children partials _backward _local_grads".split()
)


def _get_any(self: Value, name: str) -> Any:
    try:
        own = object.__getattribute__(self, "_own")
    except AttributeError:  # a node in the making
        own = None
    return own[name] if own and name in own else object.__getattribute__(self, name)


def _set_any(self: Value, name: str, thing: Any) -> None:
    try:
        object.__setattr__(self, name, thing)
    except AttributeError:
        if name in _PARTS:
            raise
        self._own = {**(self._own or {}), name: thing}


def _delete_any(self: Value, name: str) -> None:
    own = self._own or {}
    if name in own:
        self._own = {key: thing for key, thing in own.items() if key != name}
    else:
        object.__delattr__(self, name)


def lend_attributes(wanted: bool) -> None:
    """Whether values take attributes of any name."""
    for name, method in (
        ("__getattribute__", _get_any), ("__setattr__", _set_any), ("__delattr__", _delete_any),
    ):  # fmt: skip
        if wanted:
            setattr(Value, name, method)
        elif name in vars(Value):
            delattr(Value, name)


def own_attributes(value: Value) -> dict[str, Any]:
    """A copy of the attributes put on a value."""
    return dict(value._own or ())


def enter_recording() -> None:
    """Start to record a function in this thread."""
    recording.enter(Epoch.now)


def leave_recording() -> None:
    """Undo one enter_recording."""
    recording.leave()


def in_recording() -> bool:
    """Whether this thread records a function."""
    return recording.here.depth > 0


def argument(data: float) -> Value:
    """A fresh argument of a function being recorded."""
    value = Value.__new__(Value)
    value._become("leaf", number(data, "an argument"))
    value._traced = True
    return value


def take(items: list[Any], index: Value) -> Value:
    """One of a list of values and numbers, chosen by a value, while recording."""
    wanted, count = index._data, len(items)
    if not 0.0 <= wanted < count or wanted != int(wanted):
        raise TakeError.of(wanted, count)
    nodes, numbers, _ = _terms("take", items)
    chosen = int(wanted)
    partials = [float(place == chosen) for place in range(count)]
    return record(Value, "take", numbers[chosen], (*nodes, index), (*partials, 0.0))


def recorded_op(value: Value) -> str:
    """What only recordings make, stop or take; else nothing: a custom op may have any name."""
    return value._op_name if value._custom is None and value._op_name in _RECORDED else ""


def instruction_of(value: Value) -> tuple[CodeType, int] | None:
    """The code and offset that made a value."""
    return value._made_at
