"""Exercises that are functions of numbers: the right answer, and each way to be wrong.

A row names the function a learner writes, the arguments it is asked for, and the answer as it
should be and as each misconception would give it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from .inside.asking import bend, cube

Answering = Callable[..., Any]
POINTS: Final = 16
"""Points at which a function is asked for its answer."""


@dataclass(frozen=True)
class Rule:
    """A function of numbers: its name, how to draw arguments, the right and the wrong answers."""

    function: str
    draw: Callable[[random.Random], tuple[Any, ...]]
    right: Answering
    wrong: MappingProxyType[str, Answering]
    also: tuple[tuple[Any, ...], ...] = ()

    def points(self, seed: object) -> list[tuple[Any, ...]]:
        """The arguments a learner's function is called with: the same for the same seed."""
        chance = random.Random(f"rule {seed}")
        return [*(self.draw(chance) for _ in range(POINTS)), *self.also]

    def answers(self, answering: Answering) -> list[tuple[Any, ...]]:
        """What a function answers at points of its own, several numbers or one."""
        return [_numbers(answering(*point)) for point in self.points("")]


def _numbers(answer: Any) -> tuple[Any, ...]:
    return answer if isinstance(answer, tuple) else (answer,)


def _tenths(low: int, high: int) -> Callable[[random.Random], float]:
    """Numbers with one decimal, never 0 and never 1 or 2: there wrong rules may look right."""

    def draw(chance: random.Random) -> float:
        while True:
            number = chance.randint(low, high) / 10
            if number not in (0.0, 1.0, 2.0, -1.0, 0.5):
                return number

    return draw


_ANY = _tenths(-30, 30)
_POSITIVE = _tenths(3, 30)


def _rule(
    right: Answering,
    inputs: int = 1,
    number: Callable[[random.Random], float] = _ANY,
    function: str = "backward",
    also: tuple[tuple[Any, ...], ...] = (),
    **wrong: Answering,
) -> Rule:
    def draw(chance: random.Random) -> tuple[Any, ...]:
        upstream = (_ANY(chance),) if function == "backward" else ()
        chosen = [number(chance)]
        while len(chosen) < inputs:
            other = number(chance)
            if all(abs(other) != abs(it) for it in chosen):
                chosen.append(other)
        return (*upstream, *chosen)

    known = {name.replace("__", ":").replace("_", "-"): it for name, it in wrong.items()}
    rule = Rule(function, draw, right, MappingProxyType({}), also)
    if function == "backward":
        seen = [rule.answers(it) for it in (right, *known.values())]
        usual = _usual(right).items()
        known |= {name: it for name, it in usual if rule.answers(it) not in seen}
    return replace(rule, wrong=MappingProxyType(known))


def _usual(right: Answering) -> dict[str, Answering]:
    """Ways to get any rule wrong, made from the right one; a partial is its answer to dy = 1."""

    def wrong(change: Callable[[float, list[float], list[float]], Any]) -> Answering:
        def answering(dy: float, *inputs: float) -> Any:
            partials, whole = _numbers(right(1.0, *inputs)), _numbers(right(dy, *inputs))
            changed = tuple(change(dy, [*partials], [*whole]))
            return changed if len(changed) > 1 else changed[0]

        return answering

    return {
        "forgot-upstream": wrong(lambda dy, partials, whole: partials),
        "forgot-upstream:first": wrong(lambda dy, partials, whole: [partials[0], *whole[1:]]),
        "forgot-upstream:second": wrong(lambda dy, partials, whole: [*whole[:1], *partials[1:]]),
        "one-input": wrong(lambda dy, partials, whole: [whole[0], *(0.0 for _ in whole[1:])]),
        "one-input:second": wrong(
            lambda dy, partials, whole: [*(0.0 for _ in whole[1:]), whole[-1]]
        ),
        "adds-upstream": wrong(lambda dy, partials, whole: [it + dy for it in partials]),
        "passes-unchanged": wrong(lambda dy, partials, whole: [dy for _ in whole]),
        "sign": wrong(lambda dy, partials, whole: [-it for it in whole]),
        "answers-swapped": wrong(lambda dy, partials, whole: whole[::-1]),
    }


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _quotients(chance: random.Random) -> tuple[Any, ...]:
    return chance.choice((cube, bend)), _ANY(chance), 0.1


def _branches(a: float, b: float, c: float) -> tuple[float, float, float]:
    return b * (a + b) + (a * b + c), a * (a + b) + (a * b + c), a + b


RULES: Final = MappingProxyType({
    "add": _rule(
        lambda dy, x, y: (dy, dy), 2,
        halves=lambda dy, x, y: (dy / 2, dy / 2),
        value_not_slope=lambda dy, x, y: (dy * x, dy * y),
        add_like_mul=lambda dy, x, y: (dy * y, dy * x),
    ),
    "sub": _rule(
        lambda dy, x, y: (dy, -dy), 2,
        second_sign=lambda dy, x, y: (dy, dy),
        sign=lambda dy, x, y: (-dy, dy),
        halves=lambda dy, x, y: (dy / 2, -dy / 2),
    ),
    "neg": _rule(
        lambda dy, x: -dy,
        sign=lambda dy, x: dy,
        value_not_slope=lambda dy, x: dy * -x,
    ),
    "mul": _rule(
        lambda dy, x, y: (dy * y, dy * x), 2,
        not_swapped=lambda dy, x, y: (dy * x, dy * y),
        value_not_slope=lambda dy, x, y: (dy * x * y, dy * x * y),
        mul_like_add=lambda dy, x, y: (dy, dy),
    ),
    "square": _rule(
        lambda dy, x: dy * 2 * x,
        one_path=lambda dy, x: dy * x,
        value_not_slope=lambda dy, x: dy * x * x,
        power_not_lowered=lambda dy, x: dy * 2 * x * x,
    ),
    "pow": _rule(
        lambda dy, x, n: dy * n * x ** (n - 1), 2, _POSITIVE,
        power_not_lowered=lambda dy, x, n: dy * n * x**n,
        power_factor_lost=lambda dy, x, n: dy * x ** (n - 1),
        value_not_slope=lambda dy, x, n: dy * x**n,
    ),
    "div": _rule(
        lambda dy, x, y: (dy / y, -dy * x / y**2), 2,
        denominator_sign=lambda dy, x, y: (dy / y, dy * x / y**2),
        denominator_square=lambda dy, x, y: (dy / y, -dy * x / y),
        denominator_like_numerator=lambda dy, x, y: (dy / y, dy / x),
        denominator_like_numerator__same=lambda dy, x, y: (dy / y, dy / y),
    ),
    "exp": _rule(
        lambda dy, x: dy * math.exp(x),
        from_input=lambda dy, x: dy * x,
        power_rule_on_exp=lambda dy, x: dy * x * math.exp(x - 1),
    ),
    "log": _rule(
        lambda dy, x: dy / x, 1, _POSITIVE,
        value_not_slope=lambda dy, x: dy * math.log(x),
        from_result=lambda dy, x: dy / math.log(x),
        inverse_lost=lambda dy, x: dy * x,
    ),
    "tanh": _rule(
        lambda dy, x: dy * (1 - math.tanh(x) ** 2),
        from_input=lambda dy, x: dy * (1 - x**2),
        value_not_slope=lambda dy, x: dy * math.tanh(x),
        square_forgotten=lambda dy, x: dy * (1 - math.tanh(x)),
    ),
    "sigmoid": _rule(
        lambda dy, x: dy * _sigmoid(x) * (1 - _sigmoid(x)),
        from_input=lambda dy, x: dy * x * (1 - x),
        value_not_slope=lambda dy, x: dy * _sigmoid(x),
    ),
    "relu": _rule(
        lambda dy, x: dy if x > 0 else 0.0,
        gate_on_upstream=lambda dy, x: max(0.0, dy),
        gate_always_open=lambda dy, x: dy,
        value_not_slope=lambda dy, x: dy * max(0.0, x),
        gate_inverted=lambda dy, x: dy if x < 0 else 0.0,
        gate_inverted__edge=lambda dy, x: dy if x <= 0 else 0.0,
        edge=lambda dy, x: dy if x >= 0 else 0.0,
        also=((-1.5, 2.0), (1.5, -2.0), (1.3, 0.0), (-0.7, 0.0)),
    ),
    "max": _rule(
        lambda dy, x, y: (dy, 0.0) if x >= y else (0.0, dy), 2,
        both_receive=lambda dy, x, y: (dy, dy),
        split_choice=lambda dy, x, y: (dy / 2, dy / 2),
        wrong_choice=lambda dy, x, y: (0.0, dy) if x >= y else (dy, 0.0),
        wrong_choice__edge=lambda dy, x, y: (0.0, dy) if x > y else (dy, 0.0),
        edge=lambda dy, x, y: (dy, 0.0) if x > y else (0.0, dy),
        value_not_slope=lambda dy, x, y: (dy * x, 0.0) if x >= y else (0.0, dy * y),
        also=((1.7, 1.2, 1.2), (-0.4, -2.3, -2.3)),
    ),
    "chain": _rule(
        lambda x: math.exp(math.sin(x)) * math.cos(x), function="slope",
        uncomposed=lambda x: math.exp(x) * math.cos(x),
        inner_forgotten=lambda x: math.exp(math.sin(x)),
        outer_forgotten=lambda x: math.cos(x),
    ),
    "three_links": _rule(
        lambda x: (1 - math.tanh(x**2 + 1) ** 2) * 2 * x, function="slope",
        uncomposed=lambda x: (1 - math.tanh(x) ** 2) * 2 * x,
        inner_forgotten=lambda x: 1 - math.tanh(x**2 + 1) ** 2,
        from_input=lambda x: (1 - (x**2 + 1) ** 2) * 2 * x,
        one_path=lambda x: (1 - math.tanh(x**2 + 1) ** 2) * x,
    ),
    "two_paths": _rule(
        lambda x: math.exp(x) + x * math.exp(x), function="slope",
        one_path=lambda x: math.exp(x),
        one_path__second=lambda x: x * math.exp(x),
    ),
    "branches": _rule(
        _branches, 3, function="gradients",
        one_path=lambda a, b, c: (b * (a + b), a * (a + b), a + b),
        overwrites=lambda a, b, c: (a * b + c, a * b + c, a + b),
        not_swapped=lambda a, b, c: (a * (a + b) + (a * b + c), b * (a + b) + (a * b + c), a + b),
        forgot_upstream=lambda a, b, c: (b + 1, a + 1, 1.0),
    ),
    "differences": Rule(
        "slope", _quotients,
        lambda f, x, h: (f(x + h) - f(x - h)) / (2 * h),
        MappingProxyType({
            "one-sided": lambda f, x, h: (f(x + h) - f(x)) / h,
            "one-sided:left": lambda f, x, h: (f(x) - f(x - h)) / h,
            "half-width": lambda f, x, h: (f(x + h) - f(x - h)) / h,
            "sign": lambda f, x, h: (f(x - h) - f(x + h)) / (2 * h),
        }),
    ),
    "step": _rule(
        lambda data, grad, rate: data - rate * grad, 3, function="step",
        climbs=lambda data, grad, rate: data + rate * grad,
        replaces_data=lambda data, grad, rate: -rate * grad,
        no_rate=lambda data, grad, rate: data - grad,
        replaces_data__plus=lambda data, grad, rate: rate * grad,
    ),
})  # fmt: skip
"""The rule of every exercise that is a function of numbers."""
