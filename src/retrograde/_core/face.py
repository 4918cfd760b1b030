"""What both cores' values share: how they print, and what they refuse.

Written once and put on whichever class the core provides. Nothing here is hot.
"""

from __future__ import annotations

import linecache
import sys
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from .._shared import hooks
from .._shared.operands import reshaped
from .._shared.placeholders import Hidden, placeholder
from ..errors import GraphExitError
from ..ops import OPS

if TYPE_CHECKING:
    from ..value import Value

_MATH_NAMES = frozenset(OPS)


def _refuse_conversion(what: str) -> NoReturn:
    """Raise for float(v) and its kin, naming the op that the calling line was after."""
    frame = sys._getframe(2)
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    raise GraphExitError.conversion(what, line, _MATH_NAMES, _recording())


def _recording() -> bool:
    from ..value import core

    return core.in_recording()


def _refuse_operator(what: str, cure: str) -> Any:
    def refuse(self: Value, *operands: object) -> NoReturn:
        raise GraphExitError.of(what, cure)

    return refuse


def _number(value: Any) -> float:
    """The number, whatever a subclass makes of ``data``."""
    from ..value import core

    return core.peek(value)


def _is_hidden(value: Any) -> bool:
    """Whether a function is recorded, and this number is one row's: its text is a placeholder."""
    from ..value import core

    return core.hides(value)


class Face:
    """The shared part of ``Value``; never instantiated."""

    def __repr__(self: Any) -> str:
        if _is_hidden(self):
            return Hidden(f"Value({placeholder(self)})")
        return f"Value(data={_number(self)}, grad={self.grad})"

    def __format__(self: Any, spec: str) -> str:
        if spec and _is_hidden(self):
            format(0.0, spec)  # a spec that is wrong for a number is wrong here too
            return Hidden(placeholder(self))
        return format(_number(self), spec) if spec else str(self)

    def __float__(self) -> float:
        _refuse_conversion("float(v)")

    def __int__(self) -> int:
        _refuse_conversion("int(v)")

    def __complex__(self) -> complex:
        _refuse_conversion("complex(v)")

    def __index__(self) -> int:
        frame = sys._getframe(1)
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        raise GraphExitError.whole_number(line, _recording())

    def __trunc__(self) -> int:
        raise GraphExitError.of("math.trunc(v)", "Write rg.trunc(v), or math.trunc(v.data).")

    def __ceil__(self) -> int:
        raise GraphExitError.of("math.ceil(v)", "Write rg.ceil(v), or math.ceil(v.data).")

    def __floor__(self) -> int:
        raise GraphExitError.of("math.floor(v)", "Write rg.floor(v), or math.floor(v.data).")

    __round__ = _refuse_operator(
        "round(v)", "Write rg.round(v), or round(v.data) for the number; f'{v:.3f}' prints."
    )
    __floordiv__ = __rfloordiv__ = _refuse_operator(
        "//", "Write rg.floor(a / b), whose gradient is zero, or compute with .data."
    )
    __mod__ = __rmod__ = _refuse_operator("%", "Write rg.remainder(a, b), or compute with .data.")
    __divmod__ = __rdivmod__ = _refuse_operator(
        "divmod", "Write rg.floor(a / b) and rg.remainder(a, b), or compute with .data."
    )

    def item(self: Any) -> float:
        """The plain number, as ``.data``."""
        return float(self.data)

    # A value is what a reduction of a sequence gives, so it answers like an array without axes.

    shape = ()
    ndim = 0
    size = 1

    def sum(self: Any, axis: None = None) -> Any:
        """The value itself, as the sum of an array without axes."""
        return self

    def mean(self: Any, axis: None = None) -> Any:
        """The value itself, as the mean of an array without axes."""
        return self

    def reshape(self: Any, *shape: Any) -> Any:
        """A tensor of one number: ``v.reshape(1)``; ``v.reshape(())`` is v. While recording, a
        sequence that computes.

        >>> from retrograde import Value
        >>> Value(2.0).reshape(1, 1).shape
        (1, 1)
        """
        if len(shape) == 1 and not isinstance(shape[0], int):
            shape = tuple(shape[0])
        return reshaped(self, shape)

    def __array_function__(self: Any, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .._values.protocols import array_function

        return array_function(function, args, kwargs)

    def zero_grad(self: Any) -> None:
        """Set the gradient of this value and of everything under it to zero."""
        from ..value import core

        core.zero_under((self,))

    def register_hook(self: Any, hook: hooks.Hook) -> hooks.HookHandle:
        """Let ``hook(total)`` see the gradient each pass brings here, and replace it if it returns
        a number.

        >>> from retrograde import Value
        >>> x = Value(3.0)
        >>> handle = x.register_hook(lambda total: total * 10)
        >>> (x * 2).backward(); x.grad
        20.0
        >>> handle.remove()
        """
        return hooks.register(self, hook)

    def explain(
        self: Any,
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

        >>> from retrograde import Value
        >>> Value(2.0, label="x").explain()
        x = 2
        <BLANKLINE>
        Note: x is a leaf: it was made from nothing, so its only step is its own seed.
        """
        from ..explain import explain

        explain(self, seed=seed, width=width, color=color, file=file, against=against)

    def _repr_mimebundle_(self: Any, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What a notebook shows: the text, and the picture of how the value came about."""
        from ..explain import value_bundle

        return value_bundle(self)

    def __copy__(self: Any) -> Any:
        from .._values.copying import shallow_copy

        return shallow_copy(self)

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        from .._values.copying import deep_copy

        return deep_copy(self, memo)

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        from .._values.copying import reduced

        return reduced(self)

    def __reduce__(self: Any) -> Any:
        return self.__reduce_ex__(2)


def put_on(value_class: type) -> None:
    """Give a core's class the shared face."""
    for name, attribute in vars(Face).items():
        if name not in ("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__"):
            setattr(value_class, name, attribute)
