"""SciPy's minimisers and root finders with gradients wired in; SciPy is imported when first used.

The option names and result objects are SciPy's own. Functions take a tensor of one axis (a single
value for :func:`root_scalar`), as under ``grad``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._shared.numerics import np
from .._values.modes import no_grad
from .._values.sequences import ComputingSequence
from ..errors import MissingPackageError
from ..tensor import Tensor, number_of
from ..value import Value
from .derivatives import grad, hvp, jacobian, value_and_grad

WITH_HESSIAN_PRODUCTS = frozenset(("newton-cg", "trust-ncg", "trust-krylov", "trust-constr"))
WITHOUT_GRADIENT = frozenset(("nelder-mead", "powell", "cobyla", "cobyqa"))
WITH_HESSIAN = frozenset(("dogleg", "trust-exact"))
ROOT_WITH_JACOBIAN = frozenset(("hybr", "lm"))


def _scipy() -> Any:
    try:
        import scipy.optimize
    except ImportError as error:
        raise MissingPackageError.of("scipy", "rg.minimize and its kin") from error
    return scipy.optimize


def _numbers(point: Any) -> Any:
    """A point of SciPy's as one axis of floats."""
    return np.asarray(point, dtype=np.float64).reshape(-1)


def _number(result: Any) -> float:
    """A result as SciPy wants it, also where it depends on parameters from outside."""
    return float(number_of(result))


def _array(nest: Any) -> Any:
    """Results in arrays and lists as one array of floats."""
    if isinstance(nest, Tensor):
        return np.array(nest.data)
    if isinstance(nest, list):
        nest = [number_of(item) for item in nest]
    found = np.asarray(nest)
    return np.array([_number(item) for item in found.flat]).reshape(found.shape)


def _evaluated(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function on values without history, for where no gradient is wanted."""

    def call(x: Any, *args: Any, **named: Any) -> Any:
        with no_grad():
            return function(Tensor(_numbers(x)), *args, **named)

    return call


def _plain(function: Callable[..., Any]) -> Callable[..., float]:
    """The function's number."""
    evaluated = _evaluated(function)
    return lambda x, *args: _number(evaluated(x, *args))


def minimize(
    fun: Callable[..., Any],
    x0: Sequence[float],
    args: tuple[Any, ...] = (),
    method: str | None = None,
    **options: Any,
) -> Any:
    """Minimise a function of a sequence of values with ``scipy.optimize.minimize``.

    The gradient is wired in; so are Hessian-vector products, or the Hessian, for the methods that
    use them, and the Jacobians of constraints given as ``{"type": …, "fun": …}``. Anything given in
    ``options`` (``bounds``, ``tol``, ``callback``, ``options``, also ``jac``, ``hess`` or
    ``hessp``) is passed on as it is.

    >>> import retrograde as rg
    >>> found = rg.minimize(lambda v: (v[0] - 1)**2 + (v[1] + 2)**2, [0.0, 0.0])
    >>> [round(float(x), 6) for x in found.x]
    [1.0, -2.0]
    """
    scipy_optimize = _scipy()
    name = method.lower() if isinstance(method, str) else ""
    if "constraints" in options:
        options["constraints"] = _constraints(options["constraints"])
    if name in WITHOUT_GRADIENT or "jac" in options:
        return scipy_optimize.minimize(_plain(fun), x0, args, method, **options)
    both = value_and_grad(fun)

    def value_and_slope(x: Any, *args: Any) -> tuple[float, Any]:
        value, slope = both(_numbers(x), *args)
        return _number(value), _array(slope)

    given = {"hess", "hessp"} & options.keys()
    if name in WITH_HESSIAN_PRODUCTS and not given:
        options["hessp"] = lambda x, p, *args: _array(
            hvp(lambda v: fun(v, *args), _numbers(x), _numbers(p))
        )
    if name in WITH_HESSIAN and not given:
        second = jacobian(grad(fun))
        options["hess"] = lambda x, *args: _array(second(_numbers(x), *args))
    return scipy_optimize.minimize(value_and_slope, x0, args, method, jac=True, **options)


def _constraints(constraints: Any) -> Any:
    """Constraints given as dicts, with their Jacobians wired in."""
    if not isinstance(constraints, (dict, list, tuple)):
        return constraints
    listed = [constraints] if isinstance(constraints, dict) else list(constraints)
    return [_constraint(item) if isinstance(item, dict) else item for item in listed]


def _constraint(constraint: dict[str, Any]) -> dict[str, Any]:
    if "jac" in constraint:
        return constraint
    value, slopes = _outputs(constraint["fun"])
    return {**constraint, "fun": value, "jac": slopes}


def _outputs(
    fun: Callable[..., Any],
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A function of several outputs, and its Jacobian, on arrays."""
    all_slopes = jacobian(lambda x, *args, **named: _listed(fun(x, *args, **named)))
    evaluated = _evaluated(fun)

    def value(x: Any, *args: Any, **named: Any) -> Any:
        return _array(_listed(evaluated(x, *args, **named)))

    def slopes(x: Any, *args: Any, **named: Any) -> Any:
        return _array(all_slopes(_numbers(x), *args, **named))

    return value, slopes


def _listed(outputs: Any) -> list[Any]:
    return (
        list(outputs)
        if isinstance(outputs, (list, tuple, np.ndarray, ComputingSequence, Tensor))
        else [outputs]
    )


def least_squares(fun: Callable[..., Any], x0: Sequence[float], **options: Any) -> Any:
    """Minimise a sum of squares with ``scipy.optimize.least_squares``, its Jacobian wired in.

    >>> import retrograde as rg
    >>> found = rg.least_squares(lambda v: [v[0] - 3, v[0] * v[1] - 6], [1.0, 1.0])
    >>> [round(float(x), 6) for x in found.x]
    [3.0, 2.0]
    """
    scipy_optimize = _scipy()
    value, slopes = _outputs(fun)
    return scipy_optimize.least_squares(value, x0, **{"jac": slopes, **options})


def root(fun: Callable[..., Any], x0: Sequence[float], **options: Any) -> Any:
    """Solve a system of equations with ``scipy.optimize.root``, its Jacobian wired.

    >>> import retrograde as rg
    >>> found = rg.root(lambda v: [v[0]**2 - 2, v[0] * v[1] - 1], [1.0, 1.0])
    >>> [round(float(x), 6) for x in found.x]
    [1.414214, 0.707107]
    """
    scipy_optimize = _scipy()
    value, slopes = _outputs(fun)
    if options.get("method", "hybr") in ROOT_WITH_JACOBIAN:
        options.setdefault("jac", slopes)
    return scipy_optimize.root(value, x0, **options)


def root_scalar(
    f: Callable[..., Any], args: tuple[Any, ...] = (), method: str | None = None, **options: Any
) -> Any:
    """Solve one equation in one unknown with ``scipy.optimize.root_scalar``; first and second
    derivatives are wired for the methods that use them.

    >>> import retrograde as rg
    >>> round(float(rg.root_scalar(lambda x: rg.exp(x) - 2, x0=1.0).root), 6)
    0.693147
    """
    scipy_optimize = _scipy()
    if method in ("newton", "halley") or (method is None and "bracket" not in options):
        options.setdefault("fprime", _slope(grad(f)))
    if method == "halley":
        options.setdefault("fprime2", _slope(grad(grad(f))))

    def value(x: float, *args: Any) -> float:
        with no_grad():
            return _number(f(Value(x), *args))

    return scipy_optimize.root_scalar(value, args, method, **options)


def _slope(derivative: Callable[..., Any]) -> Callable[..., float]:
    return lambda x, *args: _number(derivative(float(x), *args))
