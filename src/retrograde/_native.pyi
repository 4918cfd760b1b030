"""The native core, as type checkers see it; ``_shared/cores.py`` says what both cores offer.

``Value`` is shown with what ``face.py`` puts on it. What it refuses (``float(v)``, ``//``, ``%``,
``round`` and their kin) is left out, so that a type checker refuses it as well.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CellType, CodeType, FrameType
from typing import Any, ClassVar, TextIO, TypeAlias, final, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from ._shared.bound import Bound
from ._shared.cores import Number, PlanRows, Survey
from ._shared.hooks import Hook, HookHandle
from ._shared.sites import Site
from ._values.custom import CustomOp
from ._values.elementwise import *  # noqa: F403  one function a row of the law
from ._values.recorded_ops import RecordedOp

_Number: TypeAlias = Number

@disjoint_base
class Value:
    """A number that remembers how it was made.

    >>> from retrograde import Value
    >>> a, b = Value(2.0), Value(-3.0)
    >>> f = (a * b + 10.0).relu()
    >>> f.backward()
    >>> f.data, a.grad, b.grad
    (4.0, -3.0, 2.0)
    """

    shape: ClassVar[tuple[()]]
    ndim: ClassVar[int]
    size: ClassVar[int]

    def __array_ufunc__(self, ufunc: Any, method: str, /, *inputs: Any, **options: Any) -> Any: ...
    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: dict[str, Any]
    ) -> Any: ...
    def __getitem__(self, index: Any, /) -> Any: ...
    def sum(self, axis: None = None) -> Value:
        """The value itself, as the sum of an array without axes."""

    def mean(self, axis: None = None) -> Value:
        """The value itself, as the mean of an array without axes."""

    def reshape(self, *shape: Any) -> Any:
        """A sequence that computes, of one value: ``v.reshape(1)``; ``v.reshape(())`` is v."""

    def __init__(
        self,
        data: _Number,
        children: Iterable[Value] | None = (),
        local_grads: Iterable[_Number] | str | None = (),
        *,
        label: str | None = "",
        requires_grad: bool = True,
        _children: Iterable[Value] | None = None,
        _local_grads: Iterable[_Number] | None = None,
        _op: str | CustomOp | RecordedOp | None = None,
    ) -> None: ...

    # what it holds

    @property
    def data(self) -> float:
        """The number."""

    @data.setter
    def data(self, data: _Number) -> None: ...
    @property
    def grad(self) -> float:
        """The gradient of the last root with respect to this."""

    @grad.setter
    def grad(self, grad: _Number) -> None: ...
    @property
    def label(self) -> str:
        """A name for people; empty where there is none."""

    @label.setter
    def label(self, label: str | None) -> None: ...
    @property
    def requires_grad(self) -> bool:
        """Whether it takes gradients."""

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None: ...
    @property
    def op(self) -> str:
        """The name of the op that made it; 'leaf' for a leaf."""

    @property
    def inputs(self) -> tuple[Value, ...]:
        """The values it was made from, in order."""

    @property
    def partials(self) -> tuple[float, ...]:
        """The local derivatives, one an input."""

    @property
    def site(self) -> Site | None:
        """Where it was made: file, line, function; or None."""

    # as the small teaching engines name it

    @property
    def _prev(self) -> set[Value]:
        """The inputs as a set, as in micrograd."""

    @_prev.setter
    def _prev(self, inputs: Iterable[Value]) -> None: ...
    @property
    def _children(self) -> tuple[Value, ...]:
        """The inputs as a tuple, as in microgpt."""

    @_children.setter
    def _children(self, inputs: Iterable[Value]) -> None: ...
    @property
    def _op(self) -> str:
        """The op as drawings show it: '+', '*', 'tanh', …"""

    @property
    def _local_grads(self) -> tuple[float, ...]:
        """The partials as a tuple, as in microgpt."""

    @property
    def _backward(self) -> Callable[[], object]:
        """Adds this node's contributions, once."""

    @_backward.setter
    def _backward(self, closure: Callable[[], object]) -> None: ...
    @property
    def _rule(self) -> CustomOp | None: ...
    @property
    def _hooks(self) -> list[tuple[object, Hook]] | None: ...
    @_hooks.setter
    def _hooks(self, hooks: list[tuple[object, Hook]] | None) -> None: ...
    def _contribute(self) -> None: ...

    # what it does

    def backward(self, seed: _Number = 1.0) -> None:
        """Add the gradient of this value into every leaf under it.

        Interior gradients are replaced by this pass's; leaves accumulate.
        """

    def detach(self) -> Value:
        """The same number as a leaf that takes no gradient."""

    def item(self) -> float:
        """The plain number, as ``.data``."""

    def zero_grad(self) -> None:
        """Set the gradient of this value and of everything under it to zero."""

    def register_hook(self, hook: Hook) -> HookHandle:
        """Let ``hook(total)`` see the gradient each pass brings here, and replace it if it returns
        a number.
        """

    def explain(
        self,
        *,
        seed: float = 1.0,
        width: int | None = None,
        color: bool | None = None,
        file: TextIO | None = None,
        against: str | None = None,
    ) -> None:
        """Print the story of the backward pass from here: every step, with its numbers, in words.

        Colour on a terminal, plain text elsewhere; as wide as the terminal unless told otherwise.
        Nothing is changed. ``rg.story(root)`` gives the same as data. ``against`` names another
        engine, as for ``rg.compare``: each gradient then carries what that engine says of it.
        """

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]: ...
    def __copy__(self) -> Value: ...
    def __deepcopy__(self, memo: dict[int, Any]) -> Value: ...

    # operators

    @overload
    def __add__(self, other: Value | _Number, /) -> Value: ...
    @overload
    def __add__(self, other: NDArray[Any], /) -> NDArray[Any]: ...
    @overload
    def __radd__(self, other: _Number, /) -> Value: ...
    @overload
    def __radd__(self, other: NDArray[Any], /) -> NDArray[Any]: ...
    @overload
    def __sub__(self, other: Value | _Number, /) -> Value: ...
    @overload
    def __sub__(self, other: NDArray[Any], /) -> NDArray[Any]: ...
    @overload
    def __rsub__(self, other: _Number, /) -> Value: ...
    @overload
    def __rsub__(self, other: NDArray[Any], /) -> NDArray[Any]: ...
    @overload
    def __mul__(self, other: Value | _Number, /) -> Value: ...
    @overload
    def __mul__(self, other: NDArray[Any], /) -> NDArray[Any]: ...
    @overload
    def __rmul__(self, other: _Number, /) -> Value: ...
    @overload
    def __rmul__(self, other: NDArray[Any], /) -> NDArray[Any]: ...
    @overload
    def __truediv__(self, other: Value | _Number, /) -> Value: ...
    @overload
    def __truediv__(self, other: NDArray[Any], /) -> NDArray[Any]: ...
    @overload
    def __rtruediv__(self, other: _Number, /) -> Value: ...
    @overload
    def __rtruediv__(self, other: NDArray[Any], /) -> NDArray[Any]: ...
    @overload
    def __pow__(self, exponent: Value | _Number, modulus: None = None, /) -> Value: ...
    @overload
    def __pow__(self, exponent: NDArray[Any], modulus: None = None, /) -> NDArray[Any]: ...
    @overload
    def __rpow__(self, base: _Number, modulus: None = None, /) -> Value: ...
    @overload
    def __rpow__(self, base: NDArray[Any], modulus: None = None, /) -> NDArray[Any]: ...
    def __neg__(self) -> Value: ...
    def __pos__(self) -> Value: ...
    def __abs__(self) -> Value: ...

    # comparisons and truth go by data

    @overload
    def __lt__(self, other: Value | _Number, /) -> bool: ...
    @overload
    def __lt__(self, other: NDArray[Any], /) -> NDArray[np.bool_]: ...
    @overload
    def __le__(self, other: Value | _Number, /) -> bool: ...
    @overload
    def __le__(self, other: NDArray[Any], /) -> NDArray[np.bool_]: ...
    @overload
    def __gt__(self, other: Value | _Number, /) -> bool: ...
    @overload
    def __gt__(self, other: NDArray[Any], /) -> NDArray[np.bool_]: ...
    @overload
    def __ge__(self, other: Value | _Number, /) -> bool: ...
    @overload
    def __ge__(self, other: NDArray[Any], /) -> NDArray[np.bool_]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __bool__(self) -> bool: ...

    # Generated op methods: tools/regenerate.py writes from here

    def abs(self) -> Value:
        """``z = abs(x)``.

        Slope: ``dz/dx = sign(x)``. Backward, it multiplies the upstream gradient by the sign of
        its input.
        """

    def acos(self) -> Value:
        """``z = acos(x)``.

        Slope: ``dz/dx = -(1 / sqrt((1 - x) * (1 + x)))``. Backward, it multiplies the upstream
        gradient by the slope of the arc.
        """

    def acosh(self) -> Value:
        """``z = acosh(x)``.

        Slope: ``dz/dx = 1 / (sqrt(x - 1) * sqrt(x + 1))``. Backward, it multiplies the upstream
        gradient by the slope of the arc.
        """

    def add(self, y: Value | _Number) -> Value:
        """``z = x + y``.

        Slopes: ``dz/dx = 1``, ``dz/dy = 1``. Backward, it copies the upstream gradient to every
        input, unchanged and undivided.
        """

    def asin(self) -> Value:
        """``z = asin(x)``.

        Slope: ``dz/dx = 1 / sqrt((1 - x) * (1 + x))``. Backward, it multiplies the upstream
        gradient by the slope of the arc.
        """

    def asinh(self) -> Value:
        """``z = asinh(x)``.

        Slope: ``dz/dx = 1 / hypot(x, 1)``. Backward, it multiplies the upstream gradient by the
        slope of the arc.
        """

    def atan(self) -> Value:
        """``z = atan(x)``.

        Slope: ``dz/dx = 1 / (1 + x * x)``. Backward, it multiplies the upstream gradient by the
        slope of the arc.
        """

    def atan2(self, x: Value | _Number) -> Value:
        """``z = atan2(y, x)``.

        Slopes: ``dz/dy = x / hypot(x, y) / hypot(x, y)``, ``dz/dx = -(y / hypot(x, y) / hypot(x,
        y))``. Backward, it shares the upstream gradient out by how each input turns the angle.
        """

    def atanh(self) -> Value:
        """``z = atanh(x)``.

        Slope: ``dz/dx = 1 / ((1 - x) * (1 + x))``. Backward, it multiplies the upstream gradient
        by the slope of the arc.
        """

    def betaln(self, y: Value | _Number) -> Value:
        """``z = log_beta(x, y)``.

        Slopes: ``dz/dx = psi_drop(x, y)``, ``dz/dy = psi_drop(y, x)``. Backward, it multiplies
        the upstream gradient by the next function of its family.
        """

    def cbrt(self) -> Value:
        """``z = cube_root(x)``.

        Slope: ``dz/dx = 1 / (3 * (z * z))``. Backward, it multiplies the upstream gradient by
        the slope of the power.
        """

    def ceil(self) -> Value:
        """``z = -floor(-x)``.

        Slope: ``dz/dx = 0``. Backward, it is flat: it stops the upstream gradient, for its slope
        is zero wherever it has one.
        """

    def celu(self, alpha: Value | _Number = 1.0) -> Value:
        """``z = x if x > 0 or abs(x / alpha) < 1e-290 else alpha * expm1(x / alpha)``.

        Slopes: ``dz/dx = 1 if x > 0 else exp(x / alpha)``, ``dz/dalpha = 0 if x > 0 else
        growth_gap(x / alpha)``. Backward, it is a soft gate: it passes the upstream gradient on
        one side, stops it on the other, and changes smoothly between.
        """

    def clip(self, low: Value | _Number, high: Value | _Number) -> Value:
        """``z = high if (low if x < low or isnan(low) else x) > high or isnan(high) else low if x <
        low or isnan(low) else x``.

        Slopes: ``dz/dx = 0 if ((x < low or x > high) or isnan(low)) or isnan(high) else 1``,
        ``dz/dlow = 0 if (low if x < low or isnan(low) else x) > high or isnan(high) else 1 if x
        < low or isnan(low) else 0``, ``dz/dhigh = 1 if (low if x < low or isnan(low) else x) >
        high or isnan(high) else 0``. Backward, it chooses: the input that was taken receives the
        whole upstream gradient, the others zero.
        """

    def cos(self) -> Value:
        """``z = cos(x)``.

        Slope: ``dz/dx = -sin(x)``. Backward, it turns: the slope is the function a quarter
        period on.
        """

    def cosh(self) -> Value:
        """``z = cosh(x)``.

        Slope: ``dz/dx = sinh(x)``. Backward, it multiplies the upstream gradient by its partner:
        sinh and cosh are each other's slope.
        """

    def digamma(self) -> Value:
        """``z = psi(x)``.

        Slope: ``dz/dx = trigamma(x)``. Backward, it multiplies the upstream gradient by the next
        function of its family.
        """

    def div(self, y: Value | _Number) -> Value:
        """``z = x / y``.

        Slopes: ``dz/dx = 1 / y``, ``dz/dy = -(z / y)``. Backward, it divides: the numerator
        receives the upstream gradient over the denominator, the denominator minus that, times
        the quotient.
        """

    def elu(self, alpha: Value | _Number = 1.0) -> Value:
        """``z = x if x > 0 else alpha * expm1(x)``.

        Slopes: ``dz/dx = 1 if x > 0 else alpha * exp(x)``, ``dz/dalpha = 0 if x > 0 else
        expm1(x)``. Backward, it is a soft gate: it passes the upstream gradient on one side,
        stops it on the other, and changes smoothly between.
        """

    def equal(self, y: Value | _Number) -> Value:
        """``z = 1 if x == y else 0``.

        Slopes: ``dz/dx = 0``, ``dz/dy = 0``. Backward, it is flat: it stops the upstream
        gradient, for its slope is zero wherever it has one.
        """

    def erf(self) -> Value:
        """``z = erf(x)``.

        Slope: ``dz/dx = 1.1283791670955126 * exp(-(x * x))``. Backward, it multiplies the
        upstream gradient by a bell curve: only inputs near zero feel it.
        """

    def erfc(self) -> Value:
        """``z = erfc(x)``.

        Slope: ``dz/dx = -(1.1283791670955126 * exp(-(x * x)))``. Backward, it multiplies the
        upstream gradient by a bell curve: only inputs near zero feel it.
        """

    def erfcx(self) -> Value:
        """``z = scaled_erfc(x)``.

        Slope: ``dz/dx = scaled_erfc_slope(x)``. Backward, it multiplies the upstream gradient by
        a slope that fades from one side to the other.
        """

    def erfinv(self) -> Value:
        """``z = inverse_erf(x)``.

        Slope: ``dz/dx = 0.8862269254527579 * exp(z * z)``. Backward, it divides the upstream
        gradient by the density at its own result: the rarer that is, the larger the slope.
        """

    def exp(self) -> Value:
        """``z = exp(x)``.

        Slope: ``dz/dx = z``. Backward, it multiplies the upstream gradient by its own result:
        the exponential is its own slope.
        """

    def exp2(self) -> Value:
        """``z = 2 ** x``.

        Slope: ``dz/dx = 0.6931471805599453 * z``. Backward, it multiplies the upstream gradient
        by the slope of the power.
        """

    def expm1(self) -> Value:
        """``z = expm1(x)``.

        Slope: ``dz/dx = exp(x)``. Backward, it multiplies the upstream gradient by the
        exponential of its input, which is its own result plus one.
        """

    def floor(self) -> Value:
        """``z = floor(x)``.

        Slope: ``dz/dx = 0``. Backward, it is flat: it stops the upstream gradient, for its slope
        is zero wherever it has one.
        """

    def fmod(self, y: Value | _Number) -> Value:
        """``z = fmod(x, y)``.

        Slopes: ``dz/dx = 1``, ``dz/dy = -round((x - z) / y)``. Backward, it copies the upstream
        gradient to the first input, and hands it to the second times minus how often that was
        taken off.
        """

    def gauss(self) -> Value:
        """``z = exp(-(x * x))``.

        Slope: ``dz/dx = -(2 * (x * z))``. Backward, it multiplies the upstream gradient by the
        slope of a hill: flat at its top and far out, steepest in between.
        """

    def gelu(self) -> Value:
        """``z = x * norm_cdf(x)``.

        Slope: ``dz/dx = norm_cdf(x) + x * norm_pdf(x)``. Backward, it is a soft gate: it passes
        the upstream gradient on one side, stops it on the other, and changes smoothly between.
        """

    def hardswish(self) -> Value:
        """``z = 0 if x <= -3 else x if x >= 3 else x * (x + 3) / 6``.

        Slope: ``dz/dx = 0 if x <= -3 else 1 if x >= 3 else x / 3 + 0.5``. Backward, it is a soft
        gate: it passes the upstream gradient on one side, stops it on the other, and changes
        smoothly between.
        """

    def hardtanh(self, low: Value | _Number = -1.0, high: Value | _Number = 1.0) -> Value:
        """``z = high if x >= high or isnan(high) else low if x <= low or isnan(low) else x``.

        Slopes: ``dz/dx = 0 if (x <= low or isnan(low)) or (x >= high or isnan(high)) else 1``,
        ``dz/dlow = 0 if x >= high or isnan(high) else 1 if x <= low or isnan(low) else 0``,
        ``dz/dhigh = 1 if x >= high or isnan(high) else 0``. Backward, it is a window: it passes
        the upstream gradient between its bounds and stops it outside.
        """

    def hypot(self, y: Value | _Number) -> Value:
        """``z = hypot(x, y)``.

        Slopes: ``dz/dx = 0 if z == 0 else x / z``, ``dz/dy = 0 if z == 0 else y / z``. Backward,
        it shares the upstream gradient out by how much of the length each input makes up.
        """

    def leaky_relu(self, slope: Value | _Number = 0.01) -> Value:
        """``z = slope * x if x <= 0 else x``.

        Slopes: ``dz/dx = slope if x <= 0 else 1``, ``dz/dslope = x if x <= 0 else 0``. Backward,
        it is a gate: it passes the upstream gradient on the open side and scales it down or
        stops it on the other.
        """

    def less(self, y: Value | _Number) -> Value:
        """``z = 1 if x < y else 0``.

        Slopes: ``dz/dx = 0``, ``dz/dy = 0``. Backward, it is flat: it stops the upstream
        gradient, for its slope is zero wherever it has one.
        """

    def less_equal(self, y: Value | _Number) -> Value:
        """``z = 1 if x <= y else 0``.

        Slopes: ``dz/dx = 0``, ``dz/dy = 0``. Backward, it is flat: it stops the upstream
        gradient, for its slope is zero wherever it has one.
        """

    def lgamma(self) -> Value:
        """``z = log_gamma(x)``.

        Slope: ``dz/dx = digamma(x)``. Backward, it multiplies the upstream gradient by the next
        function of its family.
        """

    def log(self) -> Value:
        """``z = log(x)``.

        Slope: ``dz/dx = 1 / x``. Backward, it divides the upstream gradient by what the
        logarithm is taken of, up to a constant: the smaller that is, the larger the slope.
        """

    def log10(self) -> Value:
        """``z = log10(x)``.

        Slope: ``dz/dx = 1 / (x * 2.302585092994046)``. Backward, it divides the upstream
        gradient by what the logarithm is taken of, up to a constant: the smaller that is, the
        larger the slope.
        """

    def log1p(self) -> Value:
        """``z = log1p(x)``.

        Slope: ``dz/dx = 1 / (1 + x)``. Backward, it divides the upstream gradient by what the
        logarithm is taken of, up to a constant: the smaller that is, the larger the slope.
        """

    def log2(self) -> Value:
        """``z = log2(x)``.

        Slope: ``dz/dx = 1 / (x * 0.6931471805599453)``. Backward, it divides the upstream
        gradient by what the logarithm is taken of, up to a constant: the smaller that is, the
        larger the slope.
        """

    def log_ndtr(self) -> Value:
        """``z = log(0.5 * erfcx(-(x * 0.7071067811865476))) - 0.5 * (x * x) if x < 0 else
        log1p(-(0.5 * erfc(x * 0.7071067811865476)))``.

        Slope: ``dz/dx = norm_pdf(x) / norm_cdf(x)``. Backward, it multiplies the upstream
        gradient by a slope that fades from one side to the other.
        """

    def logaddexp(self, y: Value | _Number) -> Value:
        """``z = x + 0.6931471805599453 if x == y else (x if x > y else y) + log1p(exp(-abs(x -
        y)))``.

        Slopes: ``dz/dx = sigmoid(x - y)``, ``dz/dy = sigmoid(y - x)``. Backward, it shares the
        upstream gradient out: each input receives its part, and the parts add up to one.
        """

    def logit(self) -> Value:
        """``z = log(x / (1 - x))``.

        Slope: ``dz/dx = 1 / x / (1 - x)``. Backward, it divides the upstream gradient by the
        density at its own result: the rarer that is, the larger the slope.
        """

    def logsigmoid(self) -> Value:
        """``z = (x if x < 0 else 0) - log1p(exp(-abs(x)))``.

        Slope: ``dz/dx = sigmoid(-x)``. Backward, it multiplies the upstream gradient by a slope
        that fades from one side to the other.
        """

    def maximum(self, y: Value | _Number) -> Value:
        """``z = x if x >= y or isnan(x) else y``.

        Slopes: ``dz/dx = 1 if x >= y or isnan(x) else 0``, ``dz/dy = 0 if x >= y or isnan(x)
        else 1``. Backward, it chooses: the input that was taken receives the whole upstream
        gradient, the others zero.
        """

    def minimum(self, y: Value | _Number) -> Value:
        """``z = x if x <= y or isnan(x) else y``.

        Slopes: ``dz/dx = 1 if x <= y or isnan(x) else 0``, ``dz/dy = 0 if x <= y or isnan(x)
        else 1``. Backward, it chooses: the input that was taken receives the whole upstream
        gradient, the others zero.
        """

    def mish(self) -> Value:
        """``z = gated_by_softplus(x)``.

        Slope: ``dz/dx = gated_by_softplus_slope(x)``. Backward, it is a soft gate: it passes the
        upstream gradient on one side, stops it on the other, and changes smoothly between.
        """

    def mul(self, y: Value | _Number) -> Value:
        """``z = x * y``.

        Slopes: ``dz/dx = y``, ``dz/dy = x``. Backward, it swaps: each input receives the
        upstream gradient times the other input.
        """

    def ndtri(self) -> Value:
        """``z = normal_quantile(x)``.

        Slope: ``dz/dx = 1 / norm_pdf(z)``. Backward, it divides the upstream gradient by the
        density at its own result: the rarer that is, the larger the slope.
        """

    def neg(self) -> Value:
        """``z = -x``.

        Slope: ``dz/dx = -1``. Backward, it flips the sign of the upstream gradient.
        """

    def norm_cdf(self) -> Value:
        """``z = 0.5 * erfc(-(x * 0.7071067811865476))``.

        Slope: ``dz/dx = norm_pdf(x)``. Backward, it multiplies the upstream gradient by a bell
        curve: only inputs near zero feel it.
        """

    def norm_pdf(self) -> Value:
        """``z = 0.3989422804014327 * exp(-(0.5 * (x * x)))``.

        Slope: ``dz/dx = -(x * z)``. Backward, it multiplies the upstream gradient by the slope
        of a hill: flat at its top and far out, steepest in between.
        """

    def pow(self, y: Value | _Number) -> Value:
        """``z = x ** y``.

        Slopes: ``dz/dx = 0 if x == 0 and y == 0 else y * x ** (y - 1)``, ``dz/dy = 0 if x == 0
        and y > 0 else z * log(x)``. Backward, it multiplies the upstream gradient by the slope
        of the power.
        """

    def reciprocal(self) -> Value:
        """``z = 1 / x``.

        Slope: ``dz/dx = -(z * z)``. Backward, it multiplies the upstream gradient by the slope
        of the power.
        """

    def relu(self) -> Value:
        """``z = 0 if x <= 0 else x``.

        Slope: ``dz/dx = 0 if x <= 0 else 1``. Backward, it is a gate: it passes the upstream
        gradient on the open side and scales it down or stops it on the other.
        """

    def relu6(self) -> Value:
        """``z = 0 if x <= 0 else 6 if x >= 6 else x``.

        Slope: ``dz/dx = 0 if x <= 0 or x >= 6 else 1``. Backward, it is a window: it passes the
        upstream gradient between its bounds and stops it outside.
        """

    def remainder(self, y: Value | _Number) -> Value:
        """``z = fmod(x, y) + y if fmod(x, y) < 0 and y > 0 or (fmod(x, y) > 0 and y < 0) else
        fmod(x, y)``.

        Slopes: ``dz/dx = 1``, ``dz/dy = (1 if fmod(x, y) < 0 and y > 0 or (fmod(x, y) > 0 and y
        < 0) else 0) - round((x - fmod(x, y)) / y)``. Backward, it copies the upstream gradient
        to the first input, and hands it to the second times minus how often that was taken off.
        """

    def round(self) -> Value:
        """``z = (-(floor(abs(x)) if abs(x) - floor(abs(x)) < 0.5 else floor(abs(x)) + 1 if abs(x) -
        floor(abs(x)) > 0.5 else floor(abs(x)) + (floor(abs(x)) - 2 * floor(0.5 *
        floor(abs(x))))) if x < 0 else floor(abs(x)) if abs(x) - floor(abs(x)) < 0.5 else
        floor(abs(x)) + 1 if abs(x) - floor(abs(x)) > 0.5 else floor(abs(x)) + (floor(abs(x)) - 2
        * floor(0.5 * floor(abs(x))))) if abs(x) < 4503599627370496 and x != 0 else x``.

        Slope: ``dz/dx = 0``. Backward, it is flat: it stops the upstream gradient, for its slope
        is zero wherever it has one.
        """

    def rsqrt(self) -> Value:
        """``z = 1 / sqrt(x)``.

        Slope: ``dz/dx = -(0.5 * (z / x))``. Backward, it multiplies the upstream gradient by the
        slope of the power.
        """

    def sech2(self) -> Value:
        """``z = 1 / (cosh(x) * cosh(x))``.

        Slope: ``dz/dx = -(2 * tanh(x) * z)``. Backward, it multiplies the upstream gradient by
        the slope of a hill: flat at its top and far out, steepest in between.
        """

    def selu(self) -> Value:
        """``z = 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * expm1(x))``.

        Slope: ``dz/dx = 1.0507009873554805 * (1 if x > 0 else 1.6732632423543772 * exp(x))``.
        Backward, it is a soft gate: it passes the upstream gradient on one side, stops it on the
        other, and changes smoothly between.
        """

    def sigmoid(self) -> Value:
        """``z = 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))``.

        Slope: ``dz/dx = z * (1 - z)``. Backward, it saturates: the slope is largest in the
        middle and fades to nothing at both ends.
        """

    def sign(self) -> Value:
        """``z = 1 if x > 0 else -1 if x < 0 else x``.

        Slope: ``dz/dx = 0``. Backward, it is flat: it stops the upstream gradient, for its slope
        is zero wherever it has one.
        """

    def silu(self) -> Value:
        """``z = x * sigmoid(x)``.

        Slope: ``dz/dx = sigmoid(x) + z * sigmoid(-x)``. Backward, it is a soft gate: it passes
        the upstream gradient on one side, stops it on the other, and changes smoothly between.
        """

    def sin(self) -> Value:
        """``z = sin(x)``.

        Slope: ``dz/dx = cos(x)``. Backward, it turns: the slope is the function a quarter period
        on.
        """

    def sinc(self) -> Value:
        """``z = sine_cardinal(x)``.

        Slope: ``dz/dx = sine_cardinal_slope(x)``. Backward, it multiplies the upstream gradient
        by the slope of the wave.
        """

    def sinh(self) -> Value:
        """``z = sinh(x)``.

        Slope: ``dz/dx = cosh(x)``. Backward, it multiplies the upstream gradient by its partner:
        sinh and cosh are each other's slope.
        """

    def softplus(self) -> Value:
        """``z = (0 if x <= 0 else x) + log1p(exp(-abs(x)))``.

        Slope: ``dz/dx = sigmoid(x)``. Backward, it is a soft gate: it passes the upstream
        gradient on one side, stops it on the other, and changes smoothly between.
        """

    def softsign(self) -> Value:
        """``z = x / (1 + abs(x))``.

        Slope: ``dz/dx = 1 / (1 + abs(x)) / (1 + abs(x))``. Backward, it saturates: the slope is
        largest in the middle and fades to nothing at both ends.
        """

    def sqrt(self) -> Value:
        """``z = sqrt(x)``.

        Slope: ``dz/dx = 0.5 / z``. Backward, it divides the upstream gradient by twice the root:
        near zero the slope grows without bound.
        """

    def square(self) -> Value:
        """``z = x * x``.

        Slope: ``dz/dx = 2 * x``. Backward, it multiplies the upstream gradient by the slope of
        the power.
        """

    def sub(self, y: Value | _Number) -> Value:
        """``z = x - y``.

        Slopes: ``dz/dx = 1``, ``dz/dy = -1``. Backward, it copies the upstream gradient to the
        first input, and with its sign flipped to the second.
        """

    def tan(self) -> Value:
        """``z = tan(x)``.

        Slope: ``dz/dx = 1 + z * z``. Backward, it multiplies the upstream gradient by one plus
        the square of its own result: it is nowhere flat.
        """

    def tanh(self) -> Value:
        """``z = tanh(x)``.

        Slope: ``dz/dx = 1 - z * z``. Backward, it saturates: the slope is largest in the middle
        and fades to nothing at both ends.
        """

    def trigamma(self) -> Value:
        """``z = psi1(x)``.

        Slope: ``dz/dx = not given``. Backward, it multiplies the upstream gradient by the next
        function of its family.
        """

    def trunc(self) -> Value:
        """``z = -floor(-x) if x < 0 else floor(x)``.

        Slope: ``dz/dx = 0``. Backward, it is flat: it stops the upstream gradient, for its slope
        is zero wherever it has one.
        """

    def where(self, x: Value | _Number, y: Value | _Number) -> Value:
        """``z = x if condition != 0 else y``.

        Slopes: ``dz/dcondition = 0``, ``dz/dx = 1 if condition != 0 else 0``, ``dz/dy = 0 if
        condition != 0 else 1``. Backward, it chooses: the input that was taken receives the
        whole upstream gradient, the others zero.
        """

    def xlogy(self, y: Value | _Number) -> Value:
        """``z = 0 if x == 0 and y == y else x * log(y)``.

        Slopes: ``dz/dx = 0 if x == 0 and y <= 0 else log(y)``, ``dz/dy = 0 if x == 0 and y == 0
        else x / y``. Backward, it hands the first input the upstream gradient times the
        logarithm of the second, and the second the upstream gradient times their ratio.
        """

    # to here.

@final
class ClosureValue(Value):
    """A value whose contributions are added by a Python callable."""

@final
class TrackedValue(Value):
    """A value made from one whose rule is a Python callable."""

# functions of many values

@overload
def sum(terms: Iterable[Value], /) -> Value:
    """The sum of values or numbers as one node, in index order."""

@overload
def sum(terms: Iterable[_Number], /) -> float: ...
@overload
def sum(terms: Iterable[Value | _Number], /) -> Value | float: ...
@overload
def dot(left: Iterable[Value], right: Iterable[Value | _Number], /) -> Value:
    """The sum of products as one node, in index order."""

@overload
def dot(left: Iterable[_Number], right: Iterable[Value], /) -> Value: ...
@overload
def dot(left: Iterable[_Number], right: Iterable[_Number], /) -> float: ...
@overload
def dot(left: Iterable[Value | _Number], right: Iterable[Value | _Number], /) -> Value | float: ...

# walks over the graph

def backward(roots: tuple[Value, ...], seeds: tuple[_Number, ...], /) -> None:
    """Run the backward pass from several roots."""

def order(roots: tuple[Value, ...], /) -> list[Value]:
    """Everything under the roots, inputs before uses."""

def zero_under(roots: tuple[Value, ...], /) -> None:
    """Zero the gradient of everything under the roots."""

@final
class Tensor:
    """An array of numbers that remembers how it was made: see docs/tensors.md.

    >>> from retrograde import Tensor
    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> (x * x).sum().backward()
    >>> x.grad
    array([[2., 4.],
           [6., 8.]])
    """

    label: str
    requires_grad: bool

    def __new__(
        cls, data: Any, *, label: str | None = ..., requires_grad: bool = ...
    ) -> Tensor: ...
    @property
    def data(self) -> NDArray[np.float64]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def op(self) -> str: ...
    @property
    def inputs(self) -> tuple[Any, ...]: ...
    @property
    def site(self) -> Site | None: ...
    @property
    def T(self) -> Tensor: ...  # noqa: N802
    @property
    def mT(self) -> Tensor: ...  # noqa: N802
    @property
    def dtype(self) -> np.dtype[np.float64]: ...
    @property
    def grad(self) -> NDArray[np.float64]: ...
    @grad.setter
    def grad(self, grad: Any) -> None: ...
    def backward(self, seed: Any = ...) -> None: ...
    def retain_grad(self) -> None: ...
    def detach(self) -> Tensor: ...
    def register_hook(self, hook: Callable[[Any], Any]) -> HookHandle: ...
    def sum(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ...) -> Any: ...
    def mean(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ...) -> Any: ...
    def prod(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ...) -> Any: ...
    def max(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ...) -> Any: ...
    def min(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ...) -> Any: ...
    def var(
        self, axis: int | Sequence[int] | None = ..., ddof: int = ..., keepdims: bool = ...
    ) -> Any: ...
    def std(
        self, axis: int | Sequence[int] | None = ..., ddof: int = ..., keepdims: bool = ...
    ) -> Any: ...
    def logsumexp(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ...) -> Any: ...
    def norm(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ...) -> Any: ...
    def softmax(self, axis: int | Sequence[int] | None = ...) -> Any: ...
    def log_softmax(self, axis: int | Sequence[int] | None = ...) -> Any: ...
    def cumsum(self, axis: int | None = ...) -> Any: ...
    def cumprod(self, axis: int | None = ...) -> Any: ...
    def argmax(self, axis: int | None = ..., keepdims: bool = ...) -> Any: ...
    def argmin(self, axis: int | None = ..., keepdims: bool = ...) -> Any: ...
    def argsort(self, axis: int | None = ...) -> Any: ...
    def reshape(self, *shape: Any) -> Any: ...
    def ravel(self) -> Any: ...
    def flatten(self) -> Any: ...
    def transpose(self, *axes: Any) -> Any: ...
    def swapaxes(self, axis1: int, axis2: int) -> Any: ...
    def squeeze(self, axis: int | Sequence[int] | None = ...) -> Any: ...
    def repeat(self, repeats: Any, axis: int | None = ...) -> Any: ...
    def diagonal(self, offset: int = ..., axis1: int = ..., axis2: int = ...) -> Any: ...
    def trace(self, offset: int = ..., axis1: int = ..., axis2: int = ...) -> Any: ...
    def copy(self) -> Any: ...
    def take(self, indices: Any, axis: int | None = ...) -> Any: ...
    def put(self, key: Any, numbers: Any) -> Any: ...
    def add_at(self, key: Any, numbers: Any) -> Any: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __setitem__(self, key: Any, numbers: Any, /) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __contains__(self, item: Any) -> bool: ...
    def dot(self, other: Any) -> Any: ...
    def item(self, *index: int) -> float: ...
    def tolist(self) -> list[Any]: ...
    def astype(self, dtype: Any) -> Any: ...
    def zero_grad(self) -> None: ...
    @staticmethod
    def computed(function: Any, operands: tuple[Any, ...]) -> Any: ...
    def add(self, y: Any) -> Tensor: ...
    def sub(self, y: Any) -> Tensor: ...
    def mul(self, y: Any) -> Tensor: ...
    def div(self, y: Any) -> Tensor: ...
    def neg(self) -> Tensor: ...
    def pow(self, y: Any) -> Tensor: ...
    def square(self) -> Tensor: ...
    def reciprocal(self) -> Tensor: ...
    def exp(self) -> Tensor: ...
    def expm1(self) -> Tensor: ...
    def log(self) -> Tensor: ...
    def log1p(self) -> Tensor: ...
    def exp2(self) -> Tensor: ...
    def log2(self) -> Tensor: ...
    def log10(self) -> Tensor: ...
    def sqrt(self) -> Tensor: ...
    def rsqrt(self) -> Tensor: ...
    def cbrt(self) -> Tensor: ...
    def xlogy(self, y: Any) -> Tensor: ...
    def logit(self) -> Tensor: ...
    def sech2(self) -> Tensor: ...
    def tanh(self) -> Tensor: ...
    def sigmoid(self) -> Tensor: ...
    def relu(self) -> Tensor: ...
    def leaky_relu(self, slope: Any = ...) -> Tensor: ...
    def softplus(self) -> Tensor: ...
    def silu(self) -> Tensor: ...
    def logsigmoid(self) -> Tensor: ...
    def logaddexp(self, y: Any) -> Tensor: ...
    def elu(self, alpha: Any = ...) -> Tensor: ...
    def celu(self, alpha: Any = ...) -> Tensor: ...
    def selu(self) -> Tensor: ...
    def mish(self) -> Tensor: ...
    def softsign(self) -> Tensor: ...
    def relu6(self) -> Tensor: ...
    def hardtanh(self, low: Any = ..., high: Any = ...) -> Tensor: ...
    def hardswish(self) -> Tensor: ...
    def sin(self) -> Tensor: ...
    def cos(self) -> Tensor: ...
    def tan(self) -> Tensor: ...
    def asin(self) -> Tensor: ...
    def acos(self) -> Tensor: ...
    def atan(self) -> Tensor: ...
    def atan2(self, x: Any) -> Tensor: ...
    def sinh(self) -> Tensor: ...
    def cosh(self) -> Tensor: ...
    def asinh(self) -> Tensor: ...
    def acosh(self) -> Tensor: ...
    def atanh(self) -> Tensor: ...
    def hypot(self, y: Any) -> Tensor: ...
    def sinc(self) -> Tensor: ...
    def sign(self) -> Tensor: ...
    def abs(self) -> Tensor: ...
    def floor(self) -> Tensor: ...
    def ceil(self) -> Tensor: ...
    def trunc(self) -> Tensor: ...
    def round(self) -> Tensor: ...
    def fmod(self, y: Any) -> Tensor: ...
    def remainder(self, y: Any) -> Tensor: ...
    def maximum(self, y: Any) -> Tensor: ...
    def minimum(self, y: Any) -> Tensor: ...
    def clip(self, min: Any = ..., max: Any = ...) -> Tensor: ...
    def where(self, x: Any, y: Any) -> Tensor: ...
    def less(self, y: Any) -> Tensor: ...
    def less_equal(self, y: Any) -> Tensor: ...
    def equal(self, y: Any) -> Tensor: ...
    def gauss(self) -> Tensor: ...
    def norm_pdf(self) -> Tensor: ...
    def erf(self) -> Tensor: ...
    def erfc(self) -> Tensor: ...
    def norm_cdf(self) -> Tensor: ...
    def gelu(self) -> Tensor: ...
    def erfcx(self) -> Tensor: ...
    def log_ndtr(self) -> Tensor: ...
    def erfinv(self) -> Tensor: ...
    def ndtri(self) -> Tensor: ...
    def trigamma(self) -> Tensor: ...
    def digamma(self) -> Tensor: ...
    def lgamma(self) -> Tensor: ...
    def betaln(self, y: Any) -> Tensor: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __radd__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rsub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __rtruediv__(self, other: Any, /) -> Any: ...
    def __pow__(self, other: Any, modulus: None = None, /) -> Any: ...
    def __rpow__(self, other: Any, modulus: None = None, /) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...
    def __rmatmul__(self, other: Any, /) -> Any: ...
    def __lt__(self, other: Any, /) -> NDArray[np.bool_]: ...
    def __le__(self, other: Any, /) -> NDArray[np.bool_]: ...
    def __gt__(self, other: Any, /) -> NDArray[np.bool_]: ...
    def __ge__(self, other: Any, /) -> NDArray[np.bool_]: ...
    def __eq__(self, other: Any, /) -> NDArray[np.bool_]: ...  # type: ignore[override]
    def __ne__(self, other: Any, /) -> NDArray[np.bool_]: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __hash__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __array_ufunc__(self, ufunc: Any, method: str, /, *inputs: Any, **options: Any) -> Any: ...

def begin_epoch() -> int:
    """Start a new epoch and return its number."""

def leaf_origin(leaf: Any, epoch: int, /) -> str:
    """Where a leaf met in a recording comes from."""

def order_since(roots: tuple[Value, ...], epoch: int, /) -> list[Value]:
    """The inner nodes made since an epoch, in order."""

def is_closed(roots: tuple[Value, ...], inputs: tuple[Value, ...], epoch: int, /) -> bool:
    """Whether values depend on nothing but the inputs."""

def gradients(
    roots: tuple[Value, ...],
    seeds: tuple[_Number, ...],
    inputs: tuple[Value, ...],
    epoch: int,
    /,
) -> list[float | None] | None:
    """Gradients as numbers, touching no .grad."""

def leaves_under(roots: tuple[Value, ...], /) -> list[Value]:
    """The leaves under the roots that take gradients."""

def summarise(
    address: int, kind: int, count: int, /
) -> tuple[float, float, float, float, int, int, int, int]:
    """What the numbers at an address are like, in one pass; see ``passes/summary.py``."""

def survey(
    roots: tuple[Value, ...],
    seeds: tuple[_Number, ...],
    parameters: tuple[Value, ...],
    kinds: bytes,
    limits: bytes,
    /,
) -> Survey:
    """What the doctor asks of a graph, in one pass; see ``passes/survey.py``."""

# modes of this thread

def watch_cuts(watcher: Callable[[Value], object] | None, /) -> Callable[[Value], object] | None:
    """Have no_grad() say what it takes the history of; returns who was told before."""

def enter_no_grad() -> None:
    """Keep no history in this thread."""

def leave_no_grad() -> None:
    """Undo one enter_no_grad."""

def in_no_grad() -> bool:
    """Whether this thread keeps no history."""

def swap_no_grad(depth: int, /) -> int:
    """Set how deep this thread is in no_grad."""

def enter_anomaly() -> None:
    """Raise at births in this thread."""

def leave_anomaly() -> None:
    """Undo one enter_anomaly."""

def in_anomaly() -> bool:
    """Whether this thread raises at births."""

def enter_any_bits() -> None:
    """Allow NumPy's matrix product in this thread."""

def leave_any_bits() -> None:
    """Undo one enter_any_bits."""

def in_any_bits() -> bool:
    """Whether this thread allows NumPy's matrix product."""

def enter_recording() -> None:
    """Start to record a function."""

def leave_recording() -> list[Value]:
    """Undo one enter_recording. Returns the nodes of ops, in the order they were made."""

def recorded_arrays() -> bool:
    """Whether array rows made nodes in this thread's latest recording."""

def tell_of(count: int, function: Callable[[int], int], /) -> None:
    """Have a function called when a recording has made so many nodes."""

def in_recording() -> bool:
    """Whether this thread records a function."""

# what the names of a recorded function mean

_Key: TypeAlias = tuple[int, int, Any]

@final
class CallSite:
    def __new__(cls, *parts: Any) -> CallSite: ...
    def run(
        self,
        args: tuple[Any, ...],
        allocate: Callable[[int], list[Any]],
        threads: int | None,
        /,
    ) -> Any:
        """The call again; None where it is another one."""

@final
class ShapedSite:
    def __new__(cls, *parts: Any) -> ShapedSite: ...
    @property
    def key(self) -> tuple[Any, ...]:
        """What is asked, then a kind an argument."""

@final
class Names:
    def __len__(self) -> int: ...
    def read(self, kind: int, container: object, key: object, name: str, /) -> Any:
        """What stands at a place, remembered."""

    def unchanged(self) -> bool:
        """Whether every place holds what it did."""

    def changed(self) -> dict[_Key, str]:
        """The places that hold something else now."""

    def differing(self, other: Names, /) -> dict[_Key, str]:
        """The places where two lists found different things."""

    def drop(self, other: Names, /) -> int:
        """Forget the places of another list."""

    def prune(self) -> None:
        """Forget the places in what nobody else refers to."""

    def absorb(self, other: Names, keys: Iterable[_Key] | None = None, /) -> None:
        """Take over places of another list."""

    def keys(self) -> set[_Key]:
        """The keys of all places."""

def watch_entries(entered: Callable[[FrameType], bool], /) -> object:
    """Be told of the functions this thread enters."""

def unwatch_entries(watcher: object, /) -> None:
    """Be told no longer."""

def closures_of(frame: FrameType, /) -> list[tuple[CellType, ...]]:
    """The closure cells of a frame's function."""

# nodes taken apart, and put together

OP_NAMES: tuple[str, ...]

def read(
    roots: tuple[Value, ...], epoch: int, log: list[Value] | None = None, /
) -> tuple[
    list[Value],
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
    """The graph under roots as flat arrays."""

def pull(
    starts: NDArray[np.int64],
    inputs: NDArray[np.int64],
    partials: NDArray[np.float64],
    ruled: NDArray[np.bool_],
    rule: Callable[[int, float], object],
    gradients: NDArray[np.float64],
    amounts: NDArray[np.float64],
    befores: NDArray[np.float64],
    /,
) -> None:
    """The backward pass over flat arrays."""

def parts(value: Value, /) -> tuple[int, tuple[Value | None, ...], tuple[float, ...]]:
    """A value's op, inputs and numbers."""

def node(
    op: int, data: float, inputs: tuple[Value | None, ...], numbers: tuple[_Number, ...], /
) -> Value:
    """A value from its parts."""

def recompute(value: Value, /) -> float | None:
    """What a value's op makes of its inputs now."""

def recorded_op(value: Value, /) -> str:
    """What only recordings make: stop, take, or neither."""

def argument(given: Any, /) -> Any:
    """A fresh argument of a function being recorded."""

def peek(value: Value, /) -> float:
    """The number of a value, also while recording."""

def hides(value: Any, /) -> bool:
    """Whether a recording hides the number of a value now."""

def take(values: list[Value | _Number], index: Value, /) -> Value:
    """One of a list of values, chosen by a value."""

def array(bound: Bound, operands: tuple[Any, ...], wholes: dict[str, Any], /) -> Any:
    """One node of a bound row of the array law."""

def array_row(thing: Any, /) -> tuple[Bound, dict[str, Any]] | None:
    """The bound row that made a thing, and all its whole numbers."""

def array_node(
    bound: Bound, data: Any, operands: tuple[Any, ...], wholes: dict[str, Any], /
) -> Any:
    """A node of a bound row from its parts."""

def key(thing: Any, /) -> int:
    """Who a node is."""

def is_written_over(thing: Any, /) -> bool:
    """Whether t[i] = v has taken over its numbers."""

def mark_written_over(tensor: Any, /) -> None:
    """Let the numbers go that were written over."""

def stale_input(thing: Any, /) -> Any:
    """The input of an array row whose numbers were changed since."""

def write_tensor(tensor: Any, array: NDArray[np.float64], /) -> None:
    """Give a leaf other numbers of its shape."""

def put(tensor: Any, bound: Bound, operand: Any, wholes: dict[str, Any], /) -> None:
    """The handle becomes that of a node of the row put."""

def take_tensors(
    operated: Callable[..., Any], methods: type, array_ufunc: Callable[..., Any], /
) -> None:
    """Who answers what is out of the ordinary."""

def composed(name: str, operands: tuple[Any, ...], arguments: dict[str, Any], /) -> Any:
    """A row of the array law by its name; NotImplemented where Python does it."""

def take_compositions(
    trace: Callable[..., Any], whole_names: dict[str, Any], asarray: Callable[..., Any], /
) -> None:
    """Who traces rows and compositions."""

def take_ufuncs(codes: dict[Any, int], call: Callable[..., Any], /) -> None:
    """How NumPy's functions are answered."""

def instruction_of(value: Value, /) -> tuple[CodeType, int] | None:
    """The code and offset that made a value."""

# replay: parts are plans with their rows; inputs and outputs are buffers of (address, stride)

def replay(
    parts: list[PlanRows],
    inputs: Any,
    outputs: Any,
    threads: int,
    /,
) -> None:
    """Run plans over rows."""

# tensors

def array_map(op: int, out: Any, operands: tuple[Any, ...], /) -> None:
    """One row of the law on whole arrays."""

def array_back(op: int, which: int, out: Any, sources: tuple[Any, ...], add: bool, /) -> None:
    """What one row adds to the gradient of an operand."""

def array_product(a: Any, b: Any, c: Any, add: bool, /) -> None:
    """A matrix product into c."""

def array_total(x: Any, /) -> float:
    """The sum of an array."""

def array_choose(by: int, x: Any, out: Any, /) -> None:
    """Where the largest or smallest stands along the middle axis, or the order."""

def array_plan(words: bytes, numbers: bytes, /) -> Any:
    """A plan of the array law, ready to run."""

def array_run(
    plan: Any, out: Any, arrays: tuple[Any, ...], wholes: tuple[Any, ...], add: bool, /
) -> None:
    """Carry a plan out."""

def shaped_plan(
    words: bytes,
    slots: bytes,
    wholes: bytes,
    constants: tuple[Any, ...],
    data: tuple[Any, ...],
    plans: tuple[Any, ...],
    calls: tuple[Any, ...],
    shapes: tuple[tuple[int, ...], ...],
    outcomes: bytes,
    sizes: tuple[int, int, int, int, bool],
    /,
) -> Any:
    """A program with shapes, ready to run."""

def shaped_run(
    plan: Any, leaves: list[Any], captured: list[Any], takers: tuple[int, ...] | None, /
) -> Any:
    """Run a program with shapes."""

def shaped_compiled(plan: Any, address: int, /) -> None:
    """Run a library's maps in place of the steps of a plan."""

def shaped_again(sites: list[ShapedSite], asked: Any, args: tuple[Any, ...], /) -> Any:
    """The answer of a site that knows the call; None where none does."""

def array_threads(most: int, /) -> int:
    """Say how many threads a product may take; how many it was."""

def compiled_code(address: int, given: Any, /) -> Any:
    """Run a library's program for a plan."""

def evaluate(op: int, numbers: tuple[_Number, ...], /) -> float:
    """One row of the law by the replay kernels."""

def tile_lanes() -> int:
    """How many rows a thread works on at once, at the SIMD level in use."""

def use_kernels(level: str, /) -> str:
    """Choose the SIMD level; '' is the best there is."""

# nests: lists of lists … of values, and float64 arrays of their shape

def read_data(nest: Any, array: NDArray[np.float64], /) -> None:
    """Copy the data of a nest into a float64 array."""

def read_grad(nest: Any, array: NDArray[np.float64], /) -> None:
    """Copy the gradients of a nest into a float64 array."""

def write_data(nest: Any, array: NDArray[np.float64], /) -> None:
    """Copy a float64 array into the data of a nest."""

def add_grad(nest: Any, array: NDArray[np.float64], /) -> None:
    """Add a float64 array to the gradients of a nest."""

def taking(values: list[Value], /) -> bytes:
    """Which values of a list take gradients: 0, 1, or 2 with hooks."""

def zero(values: list[Value], /) -> None:
    """Set the gradients of a list of values to zero."""

# lists of values at once

def each(op: str, /, *operands: Any) -> list[Any]:
    """A row of the law on every item of lists; a value or number serves for all."""

def largest(terms: Iterable[Any], function: str, /) -> float:
    """The largest number of a list, or 0 where that is not finite."""

def linear(rows: Iterable[Any], xs: Iterable[Any], biases: Iterable[Any] | None, /) -> list[Any]:
    """The dot of every row with a list, on top of its bias: one node a row."""

# optimizers: leaves, arrays of state with one item a leaf, settings

def sgd(
    leaves: Sequence[Value],
    steps: NDArray[np.float64],
    velocity: NDArray[np.float64],
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: float,
    /,
) -> None:
    """One step of stochastic gradient descent over leaves."""

def adam(
    leaves: Sequence[Value],
    steps: NDArray[np.float64],
    mean: NDArray[np.float64],
    square: NDArray[np.float64],
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
    leaves: Sequence[Value],
    steps: NDArray[np.float64],
    square: NDArray[np.float64],
    mean: NDArray[np.float64],
    velocity: NDArray[np.float64],
    lr: float,
    alpha: float,
    epsilon: float,
    weight_decay: float,
    momentum: float,
    centered: float,
    /,
) -> None:
    """One step of RMSprop over leaves."""

def grad_norm(values: Sequence[Value], kind: float, /) -> float:
    """The length of the gradients of values."""

def scale_grad(values: Sequence[Value], factor: float, /) -> None:
    """Multiply the gradients of values."""

def clip_grad(values: Sequence[Value], limit: float, /) -> None:
    """Clip the gradients of values into a range."""

# the core itself

def simd_level() -> str:
    """The widest SIMD level this processor offers."""

def skip_sites(codes: Sequence[CodeType], /) -> None:
    """Nodes made in these code objects belong to the caller."""

# programs written for another engine

def construct(
    data: _Number,
    children: Iterable[Value] | None = (),
    local_grads: Iterable[_Number] | str | None = (),
    **more: Any,
) -> Value:
    """Value(...), whoever answers that."""

def set_constructor(constructor: Callable[..., Value] | None, /) -> None:
    """Who answers Value(...); None: nobody else."""

def lend_attributes(wanted: bool, /) -> None:
    """Whether values take attributes of any name."""

def own_attributes(value: Value, /) -> dict[str, Any]:
    """A copy of the attributes put on a value."""

def inject_allocation_failure(count: int, /) -> None:
    """Let the core's allocation after COUNT more fail, once; -1 switches it off."""
