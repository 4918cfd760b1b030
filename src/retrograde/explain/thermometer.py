"""The thermometer: how the root answers when a value is increased a little, as data and in words.

A reading is a value's gradient, how it compares with the strongest one, and a sentence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..ops.sentences import shown
from ..passes.summary import shape_text
from .stored import jsonable
from .story import Story

if TYPE_CHECKING:
    from ..value import Value

_TIMES = {2.0: "twice", 3.0: "three times", 4.0: "four times", 5.0: "five times", 6.0: "six times",
          7.0: "seven times", 8.0: "eight times", 9.0: "nine times", 10.0: "ten times",
          0.5: "half", 0.25: "a quarter"}  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """One value's gradient. ``share`` is it over the largest absolute one: -1 to 1, a bar's
    length; ``words`` say what it means; ``rank`` is "strongest", "weakest" or ""."""

    node: int
    name: str
    data: float
    gradient: float
    share: float
    words: str
    rank: str = ""


@dataclass(frozen=True)
class Thermometer:
    """The readings of chosen values against one root."""

    root: str
    data: float
    readings: tuple[Reading, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain data; NaN and the infinities as texts."""
        plain: dict[str, Any] = jsonable(asdict(self))
        return plain

    def text(self, width: int = 80, color: bool = False) -> str:
        """Signed bars with their readings."""
        from .tables import thermometer_text

        return thermometer_text(self, width, color)

    def __str__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from .notebook import thermometer_bundle

        return thermometer_bundle(self)


def thermometer(
    root: Value | Story,
    values: Sequence[Value | str | int] | None = None,
    *,
    seed: float = 1.0,
) -> Thermometer:
    """How the root answers when each of the values is increased a little.

    ``values`` are all leaves that take gradients unless given. No ``.grad`` is read or written.

    >>> import retrograde as rg
    >>> a, b = rg.Value(2.0, label="a"), rg.Value(-3.0, label="b")
    >>> for reading in rg.thermometer(a * b + a).readings:
    ...     print(reading.words)
    increase a by a little and a*b + a falls twice as fast
    increase b by a little and a*b + a rises twice as fast
    """
    from .reading import story

    told = root if isinstance(root, Story) else story(root, seed)
    nodes = told.leaves if values is None else [told.find(each) for each in values]
    return readings_of(told, nodes)


def readings_of(story: Story, nodes: Sequence[int]) -> Thermometer:
    """The readings of some values of a story, in the given order."""
    grads, data = story.pulled.grads, story.columns.data
    root = story.spelled(story.root)
    sizes = {node: abs(grads[node]) for node in nodes if math.isfinite(grads[node])}
    largest = max(sizes.values(), default=0.0)
    ranks = _ranks(sizes)
    arrays = story.columns.arrays
    readings = []
    for node in nodes:
        gradient, name = grads[node], story.spelled(node)
        many = arrays is not None and arrays.shapes[node] != shape_text(())
        readings.append(
            Reading(
                node,
                name,
                data[node],
                gradient,
                _share(gradient, largest),
                (_words_of_array if many else _words)(name, root, gradient),
                ranks.get(node, ""),
            )
        )
    return Thermometer(root, data[story.root], tuple(readings))


def _ranks(sizes: dict[int, float]) -> dict[int, str]:
    """The strongest and the weakest of three or more, where there is one of each."""
    ranks = {}
    if len(sizes) > 2:
        for rank, size in (("strongest", max(sizes.values())), ("weakest", min(sizes.values()))):
            those = [node for node, its in sizes.items() if its == size]
            if len(those) == 1:
                ranks[those[0]] = rank
    return ranks


def _share(gradient: float, largest: float) -> float:
    if math.isnan(gradient):
        return 0.0
    if math.isinf(gradient):
        return math.copysign(1.0, gradient)
    return gradient / largest if largest else 0.0


def _words(name: str, root: str, gradient: float) -> str:
    """A gradient in words.

    >>> _words("a", "L", -3.0)
    'increase a by a little and L falls three times as fast'
    >>> _words("a", "L", 0.0), _words("a", "L", float("nan"))
    ('increase a by a little and L does not move', 'the gradient of a is NaN: it says nothing')
    """
    if math.isnan(gradient):
        return f"the gradient of {name} is NaN: it says nothing"
    if gradient == 0.0:
        return f"increase {name} by a little and {root} does not move"
    way = "rises" if gradient > 0 else "falls"
    if math.isinf(gradient):
        return f"increase {name} by a little and {root} {way} without bound"
    return f"increase {name} by a little and {root} {way} {how_fast(abs(gradient))}"


def _words_of_array(name: str, root: str, norm: float) -> str:
    """The norm of an array's gradient in words.

    >>> _words_of_array("W", "L", 2.0)
    'move W a little along its gradient and L rises twice as fast; any other way, slower'
    """
    if not math.isfinite(norm):
        return f"the gradient of {name} is not finite: it says nothing"
    if norm == 0.0:
        return f"move {name} a little and {root} does not move"
    speed = how_fast(norm)
    return (
        f"move {name} a little along its gradient and {root} rises {speed}; any other way, slower"
    )


def how_fast(size: float) -> str:
    """A rate in words: ``just as fast``, ``twice as fast``, ``0.7 times as fast``."""
    if size == 1.0:
        return "just as fast"
    return f"{_TIMES.get(size, f'{shown(size)} times')} as fast"
