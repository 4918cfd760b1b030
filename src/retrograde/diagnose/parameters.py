"""Parameters with names, and the groups they belong to.

A parameter is named by its label, by the keys that lead to it in a nest, or by the attributes that
lead to it in a module. Its group is that name without what counts: ``layer1.w[3]`` belongs to
``layer1.w``, ``layers[0].neurons[3].w[1]`` to ``layers[0]``. Parameters with no name at all are
grouped by the line that made them. Two models that label their parameters alike stay two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from .._shared.numerics import np
from .._shared.sites import site_of
from .._values.nests import dotted, entries
from ..errors import NotAValueError
from ..tensor import Tensor
from ..value import Value, core

MOST_LABELLED = 64
"""Past so many groups, labels that differ by a number at the end share one."""

_INDICES = re.compile(r"(\[[^\]]*\])+$")
_NEURON = re.compile(r"(?P<list>(?P<layer>.*\.\d+)\.\w+)\.\d+\.\w+")
_COUNTS = re.compile(r"\d")
_COUNTED = re.compile(r"[_.]?\d+$")

_CLOSED = (
    str, bytes, int, float, complex, type, type(None), ModuleType, FunctionType, MethodType,
    BuiltinFunctionType,
)  # fmt: skip

Grouping = Callable[[str], str]


class Found(NamedTuple):
    """A value or tensor that was found: the part of the nest it lies in ('' for none), its name,
    itself."""

    branch: str
    name: str
    value: Any


@dataclass(frozen=True)
class Parameters:
    """Parameters in order, each once: values, names, and the group of each by number.

    ``anonymous`` are the numbers of groups named by a line of source only. ``values`` may be
    arrays; ``sizes`` are then how many numbers each has.
    """

    values: tuple[Any, ...]
    names: Sequence[str]
    group_names: tuple[str, ...]
    group_of: Any
    anonymous: frozenset[int] = frozenset()
    place: dict[int, int] = field(default_factory=dict)
    sizes: Any = None

    def __len__(self) -> int:
        return len(self.values)

    def counts(self) -> Any:
        """How many numbers each parameter has."""
        return np.ones(len(self), np.int64) if self.sizes is None else self.sizes


def parameters_of(nest: Any, grouping: Grouping | None = None) -> Parameters:
    """The parameters of a value, a nest, a module, or anything with ``parameters()``."""
    if grouping is None and isinstance(nest, (list, tuple)):
        flat = _flat(nest)
        if flat is not None:
            return flat
    return parameters_from(_named(nest), grouping)


def parameters_from(found: Sequence[Found], grouping: Grouping | None = None) -> Parameters:
    """The parameters found in a nest or a program, grouped."""
    names, values = _told_apart(found), [each.value for each in found]
    if grouping is not None:
        groups, anonymous = [str(grouping(name)) for name in names], [False] * len(names)
    else:
        groups, anonymous = _groups(names, values)
    numbers: dict[str, int] = {}
    group_of = np.array([numbers.setdefault(g, len(numbers)) for g in groups], dtype=np.intp)
    hidden = frozenset(numbers[g] for g, unnamed in zip(groups, anonymous) if unnamed)
    place = {id(value): index for index, value in enumerate(values)}
    sizes = _sizes(values)
    return Parameters(tuple(values), tuple(names), tuple(numbers), group_of, hidden, place, sizes)


def _sizes(values: Sequence[Any]) -> Any:
    """How many numbers each has; None where all are values."""
    if not any(isinstance(value, Tensor) for value in values):
        return None
    return np.array([np.size(value.data) for value in values], np.int64)


def _flat(values: Sequence[Any]) -> Parameters | None:
    """A flat list of values without labels, the quick way; None for anything else."""
    if not all([isinstance(value, Value) for value in values]):
        return None
    place = dict(zip(map(id, values), range(len(values))))
    if len(place) != len(values) or any([value.label for value in values]):
        return None
    lines: dict[Any, int] = {}
    made = [lines.setdefault(where, len(lines)) for where in map(core.instruction_of, values)]
    names: dict[str, int] = {}
    number = [names.setdefault(_line(where), len(names)) for where in lines]
    group_of = np.array(number, dtype=np.intp)[made] if values else np.zeros(0, dtype=np.intp)
    everything = frozenset(range(len(names)))
    return Parameters(
        tuple(values), _Places(len(values)), tuple(names), group_of, everything, place
    )


class _Places(Sequence[str]):
    """The names ``[0]``, ``[1]``, …, made when they are asked for."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        return f"[{range(self._count)[index]}]"


def _line(made: Any) -> str:
    site = site_of(made)
    return f"made on line {site.line}" if site else "made somewhere"


def _named(nest: Any) -> list[Found]:
    found: list[Found] = []
    seen: set[int] = set()
    entered: dict[int, Any] = {}  # kept alive, so that no id comes twice
    branched = isinstance(nest, (list, tuple, Mapping))
    pending: list[tuple[str, str, Any]] = [("", "", nest)]
    while pending:
        branch, path, part = pending.pop()
        if isinstance(part, (Value, Tensor)):
            if id(part) not in seen:
                seen.add(id(part))
                found.append(Found(branch, part.label or path, part))
            continue
        if id(part) in entered:
            continue
        entered[id(part)] = part
        inner = _parts(path, part)
        if branched and part is nest:
            named = [(_branch(where), where, thing) for where, thing in inner]
        else:
            named = [(branch, where, thing) for where, thing in inner]
        pending.extend(reversed(named))
    return found


def _branch(path: str) -> str:
    """A part of a nest by name: a key as it is, a place in a list as a number from 1."""
    return f"model{int(path[1:-1]) + 1}" if re.fullmatch(r"\[\d+\]", path) else path


def _told_apart(found: Sequence[Found]) -> list[str]:
    """The names, with their model in front where two models have labelled theirs alike.

    A label that counts (``layers.0.w[1]``) names one parameter of a model, so where it comes again
    another model has begun; one that does not (``w``) may name them all.
    """
    models, seen, count = [], dict[str, set[str]](), Counter[str]()
    sizes = Counter(branch for branch, _, _ in found)
    for branch, name, value in found:
        home = branch if sizes[branch] > 1 else ""  # a list of values is no list of models
        labels = seen.setdefault(home, set())
        if name in labels and value.label == name and _COUNTS.search(name):
            labels.clear()
            count[home] += 1
        labels.add(name)
        models.append((home, count[home]))
    owners: dict[str, set[tuple[str, int]]] = {}
    for model, (_, name, value) in zip(models, found):
        if value.label == name:
            owners.setdefault(name, set()).add(model)
    alike = {model for models in owners.values() if len(models) > 1 for model in models}
    return [
        f"{_model(model, count)}.{name}" if model in alike and value.label == name else name
        for model, (_, name, value) in zip(models, found)
    ]


def _model(model: tuple[str, int], count: Counter[str]) -> str:
    """A model's name: its branch, its number there, or both."""
    branch, number = model
    if not branch:
        return f"model{number + 1}"
    return f"{branch}.model{number + 1}" if count[branch] else branch


def _parts(path: str, part: Any) -> list[tuple[str, Any]]:
    """What is inside a part of a nest, each with its path."""
    held = entries(part)
    if held is None and callable(getattr(part, "named_parameters", None)):
        held = list(part.named_parameters())
    if held is not None:
        return [(dotted(path, key), inner) for key, inner in held]
    if callable(getattr(part, "parameters", None)):
        return _attributes(path, part)
    if hasattr(part, "__next__") or isinstance(part, (set, frozenset)):
        return _parts(path, list(part))
    raise NotAValueError.of("doctor: parameters", part)


def _attributes(path: str, module: Any) -> list[tuple[str, Any]]:
    """The parameters of a module, named by the attributes that lead to them where they can be."""
    wanted = list(module.parameters())
    for index, value in enumerate(wanted):
        if not isinstance(value, (Value, Tensor)):
            raise NotAValueError.at("parameters()", index, value)
    names: dict[int, str] = {}
    missing = {id(value) for value in wanted}
    seen: set[int] = set()
    pending: list[tuple[str, Any]] = [(path, module)]
    while pending and missing:
        where, part = pending.pop()
        if isinstance(part, (Value, Tensor)):
            if id(part) in missing:
                missing.discard(id(part))
                names[id(part)] = where
            continue
        if id(part) in seen:
            continue
        seen.add(id(part))
        pending.extend(reversed(_insides(where, part)))
    return [
        (names.get(id(value), f"{dotted(path, 'parameters')}[{index}]"), value)
        for index, value in enumerate(wanted)
    ]


def _insides(path: str, part: Any) -> list[tuple[str, Any]]:
    held = entries(part)
    if held is None:
        closed = isinstance(part, (*_CLOSED, np.ndarray))
        held = [] if closed else list((getattr(part, "__dict__", None) or {}).items())
    return [(dotted(path, key), inner) for key, inner in held]


def _groups(names: Sequence[str], values: Sequence[Any]) -> tuple[list[str], list[bool]]:
    groups = _without_neurons(names, [_group(name) for name in names])
    if len(set(groups)) > MOST_LABELLED:
        groups = [_COUNTED.sub("", group) or group for group in groups]
    anonymous = [not group for group in groups]
    lines: dict[Any, str] = {}
    for index, value in enumerate(values):
        if anonymous[index]:
            made = core.instruction_of(value)
            if made not in lines:
                lines[made] = _line(made)
            groups[index] = lines[made]
    return groups, anonymous


def _without_neurons(names: Sequence[str], groups: list[str]) -> list[str]:
    """``layers.0.neurons.3.w`` and ``….b`` belong to ``layers.0``, since a neuron is one unit: a
    list of weights, not a matrix, in a list inside a list."""
    inside = [_NEURON.fullmatch(group) for group in groups]
    matrices = {
        match["list"]
        for name, match in zip(names, inside)
        if match and name[match.end() :].count("[") > 1
    }
    return [
        match["layer"] if match and match["list"] not in matrices else group
        for group, match in zip(groups, inside)
    ]


def _group(name: str) -> str:
    """The group of a name: '' where the name says nothing but a place in a flat list."""
    base = _INDICES.sub("", name)
    if not base:
        indices = re.findall(r"\[[^\]]*\]", name)
        return indices[0] if len(indices) > 1 else ""
    if base.count("[") > 1:  # layers[0].neurons[3].w: the outermost list of modules
        return base[: base.index("]") + 1]
    return base
