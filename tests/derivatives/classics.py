"""Twenty classic functions of a list of numbers, written once for any library.

``m`` is a namespace with exp, log, sin, cos, sqrt, tanh, norm_cdf; ``v`` anything that can be
indexed. Each comes with a point and a direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Classic:
    """A function, where to look at it, and in which direction."""

    function: Callable[..., Any]
    point: tuple[float, ...]

    @property
    def direction(self) -> tuple[float, ...]:
        return tuple(math.cos(1.0 + 2.0 * index) for index in range(len(self.point)))


CLASSICS: dict[str, Classic] = {}


def classic(*point: float) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        CLASSICS[function.__name__] = Classic(function, point)
        return function

    return keep


def total(items: Any) -> Any:
    items = list(items)
    result = items[0]
    for item in items[1:]:
        result = result + item
    return result


@classic(-1.2, 1.0, 0.7, 0.4)
def rosenbrock(m, v):
    return total(100 * (v[i + 1] - v[i] ** 2) ** 2 + (1 - v[i]) ** 2 for i in range(3))


@classic(1.3, -0.4)
def himmelblau(m, v):
    return (v[0] ** 2 + v[1] - 11) ** 2 + (v[0] + v[1] ** 2 - 7) ** 2


@classic(0.8, 0.3)
def beale(m, v):
    x, y = v[0], v[1]
    return (1.5 - x + x * y) ** 2 + (2.25 - x + x * y**2) ** 2 + (2.625 - x + x * y**3) ** 2


@classic(0.5, -1.5)
def booth(m, v):
    return (v[0] + 2 * v[1] - 7) ** 2 + (2 * v[0] + v[1] - 5) ** 2


@classic(1.1, -0.6)
def matyas(m, v):
    return 0.26 * (v[0] ** 2 + v[1] ** 2) - 0.48 * v[0] * v[1]


@classic(0.7, -0.3, 0.5)
def ackley(m, v):
    squares = total(v[i] ** 2 for i in range(3)) / 3
    waves = total(m.cos(2 * math.pi * v[i]) for i in range(3)) / 3
    return -20 * m.exp(-0.2 * m.sqrt(squares)) - m.exp(waves) + 20 + math.e


@classic(0.3, -1.1, 2.2)
def rastrigin(m, v):
    return 30 + total(v[i] ** 2 - 10 * m.cos(2 * math.pi * v[i]) for i in range(3))


@classic(0.4, 1.7, -0.8)
def levy(m, v):
    w = [1 + (v[i] - 1) / 4 for i in range(3)]
    middle = total((w[i] - 1) ** 2 * (1 + 10 * m.sin(math.pi * w[i] + 1) ** 2) for i in range(2))
    last = (w[2] - 1) ** 2 * (1 + m.sin(2 * math.pi * w[2]) ** 2)
    return m.sin(math.pi * w[0]) ** 2 + middle + last


@classic(-2.0, 0.9, 1.4)
def styblinski_tang(m, v):
    return total(v[i] ** 4 - 16 * v[i] ** 2 + 5 * v[i] for i in range(3)) / 2


@classic(0.3, -0.7)
def goldstein_price(m, v):
    x, y = v[0], v[1]
    first = 19 - 14 * x + 3 * x**2 - 14 * y + 6 * x * y + 3 * y**2
    second = 18 - 32 * x + 12 * x**2 + 48 * y - 36 * x * y + 27 * y**2
    return (1 + (x + y + 1) ** 2 * first) * (30 + (2 * x - 3 * y) ** 2 * second)


@classic(0.6, -1.2)
def mccormick(m, v):
    return m.sin(v[0] + v[1]) + (v[0] - v[1]) ** 2 - 1.5 * v[0] + 2.5 * v[1] + 1


@classic(2.6, 3.5)
def easom(m, v):
    bell = m.exp(-((v[0] - math.pi) ** 2) - (v[1] - math.pi) ** 2)
    return -m.cos(v[0]) * m.cos(v[1]) * bell


@classic(1.2, -0.9)
def three_hump_camel(m, v):
    x, y = v[0], v[1]
    return 2 * x**2 - 1.05 * x**4 + x**6 / 6 + x * y + y**2


ROWS = [
    (math.sin(1.0 + i), math.cos(2.0 * i), math.sin(0.5 * i * i), i % 2, i % 3) for i in range(8)
]


@classic(0.4, -1.1, 0.7, 0.2)
def logistic_regression(m, v):
    def loss(row):
        score = v[0] * row[0] + v[1] * row[1] + v[2] * row[2] + v[3]
        sign = 1.0 if row[3] else -1.0
        return m.log(1 + m.exp(-sign * score))

    return total(map(loss, ROWS)) / len(ROWS) + 0.01 * total(v[i] ** 2 for i in range(3))


@classic(0.3, -0.5, 0.8, -0.2, 0.1, 0.6, 0.05, -0.1, 0.2)
def softmax_regression(m, v):
    def loss(row):
        scores = [v[2 * k] * row[0] + v[2 * k + 1] * row[1] + v[6 + k] for k in range(3)]
        return m.log(total(m.exp(score) for score in scores)) - scores[row[4]]

    return total(map(loss, ROWS)) / len(ROWS)


@classic(0.5, -0.4, 0.1, 0.9, 0.3, -0.2, -0.7, 0.6, 0.05, 0.8, -0.9, 0.4, 0.1)
def small_network(m, v):
    def output(row):
        hidden = [
            m.tanh(v[3 * k] * row[0] + v[3 * k + 1] * row[1] + v[3 * k + 2]) for k in range(3)
        ]
        return total(v[9 + k] * hidden[k] for k in range(3)) + v[12]

    return total((output(row) - row[2]) ** 2 for row in ROWS) / len(ROWS)


@classic(0.3, -0.2, 0.1)
def gaussian_process_kernel(m, v):
    """A sum of squared-exponential and periodic kernels over pairs, by log length, scale, noise."""
    length, scale, noise = m.exp(v[0]), m.exp(v[1]), m.exp(2 * v[2])
    pairs = [(i * 0.4, j * 0.7) for i in range(4) for j in range(4)]
    return total(
        scale**2 * m.exp(-((a - b) ** 2) / (2 * length**2))
        + m.exp(-2 * m.sin((a - b) / length) ** 2) * noise
        for a, b in pairs
    ) + m.log(noise + scale)


@classic(100.0, 95.0, 0.03, 0.25, 0.8)
def black_scholes(m, v):
    spot, strike, rate, sigma, time = v[0], v[1], v[2], v[3], v[4]
    spread = sigma * m.sqrt(time)
    d1 = (m.log(spot / strike) + (rate + sigma**2 / 2) * time) / spread
    return spot * m.norm_cdf(d1) - strike * m.exp(-rate * time) * m.norm_cdf(d1 - spread)


@classic(0.2, -1.3, 0.9, 2.1)
def log_sum_exp(m, v):
    return m.log(total(m.exp(v[i]) for i in range(4)))


@classic(0.7, -0.4, 1.3)
def rational(m, v):
    x, y, z = v[0], v[1], v[2]
    return (x**3 - 2 * x * y + z) / (1 + x**2 + y**2 * z**2) + y / (2 + z) - 1 / (3 + x * z)
