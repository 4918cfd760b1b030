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
from .awkward import Sides
from .phrases import AS_FAST, TIMES
from .stored import jsonable
from .story import Story

if TYPE_CHECKING:
    from ..value import Value


@dataclass(frozen=True)
class Reading:
    """One value's gradient. ``share`` is it over the largest absolute one: -1 to 1, a bar's
    length; ``words`` say what it means, ``answer`` the same without the value's name; ``rank`` is
    "strongest", "weakest" or "". At a kink ``below`` and ``above`` are the slopes to either side,
    infinite where the root jumps and NaN where it has no value."""

    node: int
    name: str
    data: float
    gradient: float
    share: float
    words: str
    rank: str = ""
    answer: str = ""
    below: float | None = None
    above: float | None = None


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
    odd = not math.isfinite(data[story.root])
    for node in nodes:
        gradient, name = grads[node], story.spelled(node)
        many = arrays is not None and arrays.shapes[node] != shape_text(())
        sides = None if many or odd else story.corners.sides(node)
        if odd:
            words, answer = _without_value(name, root, data[story.root], gradient)
        elif sides is not None:
            words, answer = _words_of_sides(name, root, gradient, sides)
        else:
            words = (_words_of_array if many else _words)(name, root, gradient)
            answer = _answer(root, gradient)
        readings.append(
            Reading(
                node,
                name,
                data[node],
                gradient,
                0.0 if odd else _share(gradient, largest),
                words,
                ranks.get(node, ""),
                answer,
                *(sides.slopes if sides else (None, None)),
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
    return f"increase {name} by a little and {_answer(root, gradient)}"


def _answer(root: str, gradient: float) -> str:
    """What the root does as a value is increased: ``L rises twice as fast``."""
    if math.isnan(gradient):
        return "NaN: it says nothing"
    if gradient == 0.0:
        return f"{root} does not move"
    way = "rises" if gradient > 0 else "falls"
    if math.isinf(gradient):
        return f"{root} {way} without bound"
    return f"{root} {way} {how_fast(abs(gradient))}"


def _without_value(name: str, root: str, data: float, gradient: float) -> tuple[str, str]:
    said = "" if math.isnan(gradient) else f", {shown(gradient)},"
    words = f"{root} is {shown(data)}, so the gradient of {name}{said} says nothing"
    return words, f"{root} is {shown(data)}: this says nothing"


def _words_of_sides(name: str, root: str, gradient: float, sides: Sides) -> tuple[str, str]:
    """A reading where the slopes below and above differ, or are not the gradient.

    >>> _words_of_sides("x", "L", 0.0, Sides((0.0, 1.0), (False, False), "so"))[1]
    'at a kink: increased, L rises just as fast; decreased, L does not move'
    """
    (below, above), (falls, jumps) = sides.slopes, sides.jumps
    up, down = _moved(root, above, jumps), _moved(root, -below, falls)
    what = "at a jump" if falls or jumps else "at a kink"
    if math.isnan(below) or math.isnan(above):
        what = "at an edge"
    why = f": {sides.why}" if sides.why else ""
    words = (
        f"{name} stands {what}: increase it by a little and {up}, decrease it and {down}. "
        f"Its gradient, {shown(gradient)}, is a convention{why}"
    )
    if math.isinf(gradient):
        words = words.partition(". Its")[0]
    return words, f"{what}: increased, {up}; decreased, {down}"


def _moved(root: str, slope: float, jumps: bool) -> str:
    if jumps:
        return f"{root} jumps"
    return f"{root} has no finite value" if math.isnan(slope) else _answer(root, slope)


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
        return AS_FAST.format(times="just")
    return AS_FAST.format(times=TIMES.get(size, f"{shown(size)} times"))
