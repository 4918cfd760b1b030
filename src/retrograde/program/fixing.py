"""Functions some of whose parameters have their values: partial functions, and statics."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any


class Fixed:
    """A function that takes the parameters which are left; ``defaults`` are new ones of those."""

    def __init__(
        self,
        function: Callable[..., Any],
        signature: inspect.Signature,
        fixed: Mapping[str, Any],
        defaults: Mapping[str, Any],
    ) -> None:
        self.function, self.fixed, self._whole = function, dict(fixed), signature
        left = [
            parameter.replace(default=defaults.get(name, parameter.default))
            for name, parameter in signature.parameters.items()
            if name not in fixed
        ]
        self.__signature__ = inspect.Signature(_in_order(left))
        self.__name__ = getattr(function, "__name__", "the function")
        self.__wrapped__ = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function, with what is fixed in its place."""
        given = self.__signature__.bind(*args, **kwargs)
        call = self._whole.bind_partial()
        call.arguments.update({**given.arguments, **self.fixed})
        return self.function(*call.args, **call.kwargs)


def _in_order(parameters: list[inspect.Parameter]) -> list[inspect.Parameter]:
    """Behind a default that is new, others without one can only be given by name."""
    found, seen, by_name = [], False, False
    for parameter in parameters:
        bare = parameter.default is parameter.empty
        if by_name or (seen and bare and parameter.kind is parameter.POSITIONAL_OR_KEYWORD):
            parameter, by_name = parameter.replace(kind=parameter.KEYWORD_ONLY), True
        seen = seen or not bare
        found.append(parameter)
    return found


def fixed_names(function: Any) -> tuple[str, ...]:
    """The names of those parameters of a function that have their values."""
    names: list[str] = []
    while isinstance(function, Fixed):
        names += function.fixed
        function = function.function
    return tuple(names)


def without_partials(function: Any) -> Any:
    """A partial function as one of the parameters that it left.

    Floats that it was given by name stay arguments with a default, which can be differentiated and
    given anew; everything else that it was given is fixed.
    """
    if not isinstance(function, partial):
        return function
    inner = without_partials(function.func)
    signature = inspect.signature(inner)
    by_order = signature.bind_partial(*function.args).arguments
    for name in by_order:
        if signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            return function
    defaults = {
        name: given
        for name, given in function.keywords.items()
        if type(given) is float and name in signature.parameters
    }
    fixed = {name: it for name, it in function.keywords.items() if name not in defaults}
    if any(name not in signature.parameters for name in fixed):
        return function
    return Fixed(inner, signature, {**by_order, **fixed}, defaults)
