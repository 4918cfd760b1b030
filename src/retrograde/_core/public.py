"""The public Value in pure Python, on the nodes of ``reference.py``: construction, operators, and
the checks on what a user assigns. The ops as functions are here too, one a row of the law.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from .._shared.lending import refuse_lent
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
)
from ..ops import OPS, Op
from . import recording
from .recording import Recordings
from .reference import Cuts, Node, apply_row, is_birth, modes, run_backward

if TYPE_CHECKING:
    from .._shared.cores import Number


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
        data: Number,
        children: Iterable[Value] | None = (),
        local_grads: Iterable[Number] | str | None = (),
        *,
        label: str | None = "",
        requires_grad: bool = True,
        _children: Iterable[Value] | None = None,
        _local_grads: Iterable[Number] | None = None,
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
        return self._data  # type: ignore[no-any-return]

    @data.setter
    def data(self, data: float) -> None:
        data = number(data, "value.data")
        recording.refuse((self,), "assignment")
        self._data = data

    @property
    def grad(self) -> float:
        if Recordings.now and recording.hides(self):
            raise RecordingError.grad(self)
        return self._grad  # type: ignore[no-any-return]

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
        return self._inputs if self._array is None else tuple(v._shown() for v in self._inputs)

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
        if self._op_name in OPS and self._custom is None and self._array is None:
            return OPS[self._op_name].symbol
        return "" if self._op_name in ("leaf", "custom") else self._op_name

    @property
    def _children(self) -> tuple[Value, ...]:
        return self.inputs

    @_children.setter
    def _children(self, inputs: Iterable[Value]) -> None:
        if self._partials is not None:
            raise ClosureStyleError.inputs(self)
        self._inputs = _checked_inputs(inputs)

    @property
    def _prev(self) -> set[Value]:
        return set(self.inputs)

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
        return bool(self._data != 0.0)

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


def take_conditions(compare: Callable[..., Any], truth: Callable[..., bool], /) -> None:
    """Have comparisons and truths answered by these while recording."""
    Conditions.compare, Conditions.truth = staticmethod(compare), staticmethod(truth)


class Ufuncs:
    """What NumPy's functions of arrays do with values: see :mod:`.protocols`."""

    call: Callable[[Any, str, tuple[Any, ...], dict[str, Any]], Any]


def take_ufuncs(codes: dict[Any, int], call: Callable[..., Any], /) -> None:
    """Have NumPy's functions answered by ``call``; the native core knows some by their codes."""
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
