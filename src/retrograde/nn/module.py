"""Module: parameters found by name in the attributes of an object, moved, frozen and saved.

A parameter is a leaf held in an attribute: by itself, in lists of lists, in dicts, or in another
module. It is a value, or a tensor: ``tensors()`` and ``values()`` turn the one into the other.
Attributes that begin with an underscore are private and not searched. A parameter is labelled with
its name when the outermost module is made, so explanations can group by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import Signature, signature
from typing import Any, ClassVar, NamedTuple, TypeVar

from .._shared.numerics import np
from .._values import bulk
from .._values.nests import dotted, entries
from ..errors import SettingError, StateError
from ..tensor import Tensor, in_graph
from ..value import Value, core
from .turning import Turning, is_leaf, shape_of

LIST = (list, tuple)
M = TypeVar("M", bound="Module")


class Slot(NamedTuple):
    """One entry of a state dict: a nest of leaves of one shape or a tensor, and its name."""

    name: str
    nest: Any
    shape: tuple[int, ...]


class Loaded(NamedTuple):
    """What ``load_state_dict(…, strict=False)`` passed over."""

    missing: list[str]
    unexpected: list[str]


class _Labelling(type):
    """Labels the parameters of a module once it is complete."""

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        module = super().__call__(*arguments, **named)
        module._label_parameters()
        return module

    @property
    def __signature__(cls) -> Signature:
        """What the class is called with, for ``help``: that of its ``__init__``."""
        shown = signature(getattr(cls, "__init__"))  # noqa: B009  of the class, not a class of it
        return shown.replace(parameters=list(shown.parameters.values())[1:])


class Module(metaclass=_Labelling):
    """The base of all modules; subclass it, make leaves in ``__init__``, compute in ``__call__``.

    >>> import retrograde as rg
    >>> class Line(rg.nn.Module):
    ...     def __init__(self):
    ...         self.slope, self.shift = rg.Value(2.0), rg.Value(1.0)
    ...     def __call__(self, x):
    ...         return self.slope * x + self.shift
    >>> line = Line()
    >>> line(3.0).backward()
    >>> [(name, p.grad) for name, p in line.named_parameters()]
    [('slope', 3.0), ('shift', 1.0)]
    """

    training: bool = True
    buffers: ClassVar[tuple[str, ...]] = ()
    """Attributes that are arrays of state without gradients: running means and the like."""

    # what is in it

    def parameters(self) -> list[Any]:
        """Every parameter once, in the order of the attributes."""
        found: dict[int, Any] = {}
        for slot in self._slots():
            for value in bulk.values_in(slot.nest, "parameters"):
                found.setdefault(id(value), value)
        return list(found.values())

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        """Every parameter once, with its name: ``layers.0.neurons.3.w[1]``, or a tensor's."""
        seen: set[int] = set()
        for slot in self._slots():
            if isinstance(slot.nest, Tensor):
                if id(slot.nest) not in seen:
                    seen.add(id(slot.nest))
                    yield slot.name, slot.nest
                continue
            values = bulk.values_in(slot.nest, "named_parameters")
            for at, value in zip(np.ndindex(slot.shape), values):
                if id(value) not in seen:
                    seen.add(id(value))
                    yield slot.name + "".join(f"[{index}]" for index in at), value

    def modules(self) -> Iterator[Module]:
        """This module and every module inside it, once each."""
        for _, thing in self._walk():
            if isinstance(thing, Module):
                yield thing

    def _walk(self) -> Iterator[tuple[str, Any]]:
        """Every module, value, tensor and nest of values inside, each with its name."""
        pending: list[tuple[str, Any]] = [("", self)]
        seen: set[int] = set()
        while pending:
            name, thing = pending.pop()
            if in_graph(thing):
                yield name, thing
                continue
            if not isinstance(thing, (Module, Mapping, *LIST)) or id(thing) in seen:
                continue
            seen.add(id(thing))
            if isinstance(thing, LIST) and shape_of(thing) is not None:
                yield name, thing
                continue
            if isinstance(thing, Module):
                yield name, thing
                held = [(key, part) for key, part in vars(thing).items() if key[0] != "_"]
            else:
                held = list(entries(thing) or ())
            by_place = isinstance(thing, LIST)
            pending.extend(
                (_item(name, key, part) if by_place else dotted(name, str(key)), part)
                for key, part in reversed(held)
            )

    def _slots(self) -> Iterator[Slot]:
        for name, thing in self._walk():
            if in_graph(thing):
                if is_leaf(thing):
                    yield Slot(name, thing, thing.shape)
            elif not isinstance(thing, Module):
                yield Slot(name, thing, shape_of(thing) or ())

    def _state(self) -> Iterator[tuple[str, Module, str]]:
        """The arrays of state without gradients: name, module, attribute."""
        for path, thing in self._walk():
            if isinstance(thing, Module):
                for name in thing.buffers:
                    yield dotted(path, name), thing, name

    def _label_parameters(self) -> None:
        """Give each parameter its name here; a label that says something else is the user's."""
        for name, value in self.named_parameters():
            if not value.label or name.endswith(f".{value.label}"):
                value.label = name

    # values or tensors

    def tensors(self: M) -> M:
        """Have each nest of values be one tensor, here and in every module inside.

        Names, numbers, gradients and state dicts stay; a single value stays a value. Layers then
        take arrays and tensors whose last axis is theirs, so a batch is one call. Do this before an
        optimizer is made: it would go on with the values. Returns the module.

        >>> import retrograde as rg
        >>> layer = rg.nn.Linear(3, 2, seed=0).tensors()
        >>> layer.weight.shape, layer([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).shape
        ((2, 3), (2, 2))
        """
        self._turn(Turning(to_tensors=True))
        return self

    def values(self: M) -> M:
        """Undo :meth:`tensors`: every number a value of its own, to be looked at one by one.

        >>> import retrograde as rg
        >>> layer = rg.nn.Linear(3, 2, seed=0).tensors().values()
        >>> [name for name, _ in layer.named_parameters()][:2]
        ['weight[0][0]', 'weight[0][1]']
        """
        self._turn(Turning(to_tensors=False))
        return self

    def _turn(self, turning: Turning) -> None:
        turned = [
            (
                module,
                {key: turning(key, part) for key, part in vars(module).items() if key[0] != "_"},
            )
            for module in self.modules()
        ]
        for module, attributes in turned:
            vars(module).update(attributes)
        self._label_parameters()

    # what is done to all of it

    def zero_grad(self) -> None:
        """Set every gradient to zero."""
        core.zero(list(self.parameters()))

    def freeze(self) -> None:
        """Have the parameters take no gradient: optimizers pass them over."""
        bulk.freeze(list(self.parameters()))

    def unfreeze(self) -> None:
        """Undo :meth:`freeze`."""
        bulk.unfreeze(list(self.parameters()))

    def train(self, mode: bool = True) -> Module:
        """Set ``training`` here and in every module inside, and return this module."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Module:
        """Undo :meth:`train`."""
        return self.train(False)

    # saving and loading

    def state_dict(self) -> dict[str, Any]:
        """The numbers of the parameters as arrays, one a nest, by name.

        >>> import retrograde as rg
        >>> list(rg.nn.MLP(2, [1]).state_dict())
        ['layers.0.neurons.0.w', 'layers.0.neurons.0.b']
        """
        state = {slot.name: bulk.data(slot.nest) for slot in self._slots()}
        return state | {name: np.array(vars(of)[key]) for name, of, key in self._state()}

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> Loaded:
        """Set the parameters from a state dict; nothing is changed where anything does not fit.

        Names missing from it, or found in it alone, raise :class:`StateError` unless ``strict`` is
        False; a wrong shape always does.
        """
        if not isinstance(state, Mapping):
            raise SettingError.of("a state", state, "a dict of arrays by name")
        slots = {slot.name: slot for slot in self._slots()}
        buffers = {name: (of, key) for name, of, key in self._state()}
        known = {**slots, **buffers}
        loaded = Loaded([n for n in known if n not in state], [n for n in state if n not in known])
        if strict and any(loaded):
            raise StateError.names(type(self).__name__, *loaded)
        chosen = {name: slot for name, slot in slots.items() if name in state}
        held = {name: vars(of)[key] for name, (of, key) in buffers.items() if name in state}
        shapes = {name: slot.shape for name, slot in chosen.items()}
        shapes |= {name: array.shape for name, array in held.items()}
        arrays = {name: _numbers(name, state[name]) for name in shapes}
        for name, shape in shapes.items():
            if arrays[name].shape != shape:
                raise StateError.shape(name, shape, arrays[name].shape)
        into = {name: slot.nest for name, slot in chosen.items()}
        bulk.assign(into, {name: arrays[name] for name in into})
        for name in held:
            of, key = buffers[name]
            vars(of)[key] = np.array(arrays[name], dtype=float)
        return loaded

    # seeing it

    def __repr__(self) -> str:
        inside = {
            name: part
            for name, part in vars(self).items()
            if not name.startswith("_") and name != "training"
        }
        lines = [
            f"  {name}: {_shown(part)}".replace("\n", "\n  ")
            for name, part in inside.items()
            if in_graph(part) or isinstance(part, (Module, Mapping, *LIST))
        ]
        name = type(self).__name__
        return "\n".join([f"{name}(", *lines, ")"]) if lines else f"{name}()"


def _numbers(name: str, given: Any) -> Any:
    """What a state has under a name, as an array of real numbers."""
    try:
        array = np.asarray(given)
    except ValueError:  # ragged
        raise StateError.numbers(name, given) from None
    if array.dtype.kind not in "biuf":
        raise StateError.numbers(name, given)
    return array


def _item(name: str, index: int, item: Any) -> str:
    """The name of an item of a list: modules by a dot, values by brackets."""
    brackets = in_graph(item) or isinstance(item, LIST)
    return f"{name}[{index}]" if brackets else f"{name}.{index}"


def _shown(part: Any) -> str:
    """A part of a module in its repr: values by their shape only."""
    if isinstance(part, Value):
        return "a value"
    if isinstance(part, Tensor):
        return "a tensor " + "×".join(map(str, part.shape))
    shape = shape_of(part) if isinstance(part, LIST) else None
    if shape is not None:
        return "×".join(map(str, shape)) + " values"
    if isinstance(part, Mapping):
        return "{" + ", ".join(f"{key}: {_shown(item)}" for key, item in part.items()) + "}"
    if isinstance(part, LIST):
        return "[" + ", ".join(_shown(item) for item in part) + "]"
    return repr(part)
