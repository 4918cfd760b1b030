"""L-BFGS: Newton's method with a curvature remembered from the last steps.

For smooth problems of few parameters, where the whole loss can be computed again and again.
Settings and their defaults are PyTorch's; the line search is Nocedal and Wright's, chapter 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from .._shared.numerics import np
from ..errors import SettingError
from ..value import Value
from . import flat
from .optimizer import Group, Optimizer

Array = Any


class Point(NamedTuple):
    """A place on the line of a search: how far, the loss there, its gradient, and the slope."""

    t: float
    loss: float
    gradient: Array
    slope: float


class LBFGS(Optimizer):
    """L-BFGS over all parameters at once; ``step`` takes a closure that computes the loss.

    The closure sets gradients to zero, computes the loss, calls ``backward`` and returns the loss.
    ``line_search_fn="strong_wolfe"`` searches along each direction; without it each step is ``lr``
    long, as in PyTorch.

    >>> import retrograde as rg
    >>> x, y = rg.Value(-1.0), rg.Value(2.0)
    >>> optimizer = rg.optim.LBFGS([x, y], max_iter=100, line_search_fn="strong_wolfe")
    >>> def loss():
    ...     optimizer.zero_grad()
    ...     total = (1 - x)**2 + 100 * (y - x**2)**2
    ...     total.backward()
    ...     return total
    >>> first = optimizer.step(loss)
    >>> round(x.data, 5), round(y.data, 5)
    (1.0, 1.0)
    """

    arrays: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        params: Any,
        lr: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if line_search_fn not in (None, "strong_wolfe"):
            raise SettingError.of("line_search_fn", line_search_fn, "'strong_wolfe' or None")
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
            },
        )
        if len(self.param_groups) != 1:
            raise SettingError.of("the groups of LBFGS", len(self.param_groups), "one")
        self._moved: list[Any] = []
        self._history: list[tuple[Array, Array]] = []  # steps, and how the gradient changed
        self._last: tuple[Array, Array] | None = None  # the last gradient, and the step from it

    def check(self, group: Group) -> None:
        """The counts are whole and positive."""
        super().check(group)
        for name in ("max_iter", "max_eval", "history_size"):
            if not isinstance(group[name], int) or group[name] < 1:
                raise SettingError.of(name, group[name], "a whole number from 1 up")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Up to ``max_iter`` iterations; returns the loss at the beginning."""
        if closure is None:
            raise SettingError.of("closure", closure, "a function that computes the loss")
        settings = self.param_groups[0]
        moved = [value for value in settings["params"] if value.requires_grad]
        if [id(v) for v in moved] != [id(v) for v in self._moved]:
            self._moved, self._history, self._last = moved, [], None
        before = closure()
        loss, gradient = _number(before), flat.grads(moved)
        evaluations = 1
        for _ in range(settings["max_iter"]):
            if not gradient.size or np.abs(gradient).max() <= settings["tolerance_grad"]:
                break
            self._remember(gradient, settings["history_size"])
            direction = self._direction(gradient)
            slope = float(gradient @ direction)
            if slope > -settings["tolerance_change"] or not np.isfinite(slope):
                break
            begin = flat.data(moved)
            t = settings["lr"]
            if not self._history:
                t *= min(1.0, 1.0 / float(np.abs(gradient).sum()))
            line = _Line(closure, moved, begin, direction)
            here = Point(0.0, loss, gradient, slope)
            if settings["line_search_fn"]:
                found = search(line, here, t, settings["tolerance_change"])
            else:
                found = line(t)
            flat.assign(moved, begin + found.t * direction)
            evaluations += line.evaluations
            self._last = gradient, found.t * direction
            change, loss, gradient = abs(found.loss - loss), found.loss, found.gradient
            small = float(np.abs(self._last[1]).max()) <= settings["tolerance_change"]
            if small or change < settings["tolerance_change"]:
                break
            if evaluations >= settings["max_eval"]:
                break
        return before

    def _remember(self, gradient: Array, size: int) -> None:
        """Take the last step into the history, where it shows positive curvature."""
        if self._last is None:
            return
        before, step = self._last
        change = gradient - before
        if float(change @ step) > 1e-10:
            self._history.append((step, change))
            del self._history[:-size]
        self._last = None

    def _direction(self, gradient: Array) -> Array:
        """Minus the inverse curvature times the gradient: the two loops."""
        direction = -gradient
        weights = []
        for step, change in reversed(self._history):
            weight = float(step @ direction) / float(change @ step)
            weights.append(weight)
            direction = direction - weight * change
        if self._history:
            step, change = self._history[-1]
            direction = direction * (float(change @ step) / float(change @ change))
        for (step, change), weight in zip(self._history, reversed(weights)):
            again = float(change @ direction) / float(change @ step)
            direction = direction + (weight - again) * step
        return direction

    def state_dict(self) -> dict[str, Any]:
        """Settings and the history of steps."""
        last = [] if self._last is None else [array.copy() for array in self._last]
        pairs = [[step.copy(), change.copy()] for step, change in self._history]
        return {**super().state_dict(), "history": pairs, "last": last}

    def load_state_dict(self, saved: Any) -> None:
        """Take over settings and the history of steps."""
        super().load_state_dict(saved)
        self._moved = [v for v in self.param_groups[0]["params"] if v.requires_grad]
        self._history = [(np.array(step), np.array(change)) for step, change in saved["history"]]
        self._last = tuple(map(np.array, saved["last"])) if saved["last"] else None  # type: ignore[assignment]


def _number(loss: Any) -> float:
    return float(loss.data if isinstance(loss, Value) else loss)


class _Line:
    """The loss along a direction: calling it moves the parameters and runs the closure."""

    def __init__(
        self, closure: Callable[[], Any], moved: list[Any], begin: Array, direction: Array
    ) -> None:
        self._closure, self._moved = closure, moved
        self._begin, self._direction = begin, direction
        self.evaluations = 0

    def __call__(self, t: float) -> Point:
        flat.assign(self._moved, self._begin + t * self._direction)
        loss = _number(self._closure())
        gradient = flat.grads(self._moved)
        self.evaluations += 1
        return Point(t, loss, gradient, float(gradient @ self._direction))


ENOUGH_DECREASE, ENOUGH_CURVATURE, MOST_TRIES = 1e-4, 0.9, 25


def search(line: Callable[[float], Point], origin: Point, t: float, tolerance: float) -> Point:
    """A point that meets the strong Wolfe conditions; the best one seen where none is found."""
    before, best = origin, origin
    for attempt in range(MOST_TRIES):
        here = line(t)
        if np.isfinite(here.loss) and here.loss < best.loss:
            best = here
        too_high = here.loss > origin.loss + ENOUGH_DECREASE * t * origin.slope
        if not np.isfinite(here.loss) or too_high or (attempt and here.loss >= before.loss):
            return _zoom(line, origin, before, here, tolerance)
        if abs(here.slope) <= -ENOUGH_CURVATURE * origin.slope:
            return here
        if here.slope >= 0:
            return _zoom(line, origin, here, before, tolerance)
        before, t = here, _between(before, here, t + 0.01 * (t - before.t), t * 10)
    return best


def _zoom(
    line: Callable[[float], Point], origin: Point, low: Point, high: Point, tolerance: float
) -> Point:
    """Between two points that enclose what is wanted; ``low`` is the better of them."""
    for _ in range(MOST_TRIES):
        width = abs(high.t - low.t)
        if width * float(np.abs(origin.slope)) < tolerance * 1e-3 or width < 1e-16 * abs(low.t):
            break
        left, right = min(low.t, high.t), max(low.t, high.t)
        t = _between(low, high, left + 0.1 * width, right - 0.1 * width)
        here = line(t)
        too_high = here.loss > origin.loss + ENOUGH_DECREASE * t * origin.slope
        if not np.isfinite(here.loss) or too_high or here.loss >= low.loss:
            high = here
            continue
        if abs(here.slope) <= -ENOUGH_CURVATURE * origin.slope:
            return here
        if here.slope * (high.t - low.t) >= 0:
            high = low
        low = here
    return low


def _between(one: Point, two: Point, least: float, most: float) -> float:
    """The minimum of the cubic through two points and their slopes, kept within a range."""
    if one.t > two.t:
        one, two = two, one
    middle = (least + most) / 2
    if not (np.isfinite(one.loss) and np.isfinite(two.loss) and np.isfinite(two.slope)):
        return middle
    slope = one.slope + two.slope - 3 * (one.loss - two.loss) / (one.t - two.t)
    inside = slope**2 - one.slope * two.slope
    if inside < 0:
        return middle
    root = float(np.sqrt(inside))
    below = two.slope - one.slope + 2 * root
    if below == 0:
        return middle
    found = two.t - (two.t - one.t) * ((two.slope + root - slope) / below)
    return min(max(found, least), most)
