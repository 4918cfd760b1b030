"""The bank: right functions that are hard to check, and wrong rules that must be found.

A right entry is (name, function of the package, point, verdicts allowed). ``NOISE`` is allowed only
where the function itself has no more digits than that, and the reason stands beside it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

RIGHT, WRONG, NOISE, KINK = "right", "wrong rule", "difference noise", "kink here"

SCALES = [10.0**k for k in range(-12, 13, 2)]


def black_scholes(rg: Any) -> Callable[..., Any]:
    def price(S: Any, K: Any, r: Any, sigma: Any, T: Any) -> Any:
        spread = sigma * rg.sqrt(T)
        d1 = (rg.log(S / K) + (r + sigma * sigma * 0.5) * T) / spread
        return S * rg.norm_cdf(d1) - K * rg.exp(-r * T) * rg.norm_cdf(d1 - spread)

    return price


def rosenbrock(v: Any) -> Any:
    return sum((v[i + 1] - v[i] ** 2) ** 2 * 100.0 + (1.0 - v[i]) ** 2 for i in range(len(v) - 1))


def network(rg: Any) -> tuple[Callable[..., Any], list[Any]]:
    rng = random.Random(7)
    weights = [[[rng.gauss(0, 0.5) for _ in range(4)] for _ in range(5)] for _ in range(1)]
    flat = [w for layer in weights for row in layer for w in row]

    def loss(v: Any) -> Any:
        rows = [v[4 * i : 4 * i + 4] for i in range(5)]
        hidden = [rg.tanh(rg.dot(row, [0.5, -1.0, 2.0, 0.1])) for row in rows]
        return rg.mean([(h - 0.3) ** 2 for h in hidden])

    return loss, flat


def smooth(rg: Any) -> Iterator[tuple[str, Callable[..., Any], Any]]:
    """Smooth functions at points where differences have to work for it."""
    for s in SCALES:
        yield f"square at {s:g}", lambda x: x * x, s
        yield f"cube minus x at {s:g}", lambda x: x**3 - x, s
        yield f"log at {s:g}", lambda x: x.log(), s
        yield f"sqrt at {s:g}", lambda x: x.sqrt(), s
        yield f"reciprocal at {s:g}", lambda x: 1.0 / x, s
        yield f"x + cos x at {s:g}", lambda x: x + x.cos(), s
        yield f"exp of x over {s:g}", lambda x, s=s: (x / s).exp(), 0.7 * s
        yield f"sin of x over {s:g}", lambda x, s=s: (x / s).sin(), 1.1 * s
        yield f"product of {s:g} and its inverse", lambda x, y: (x * y).tanh(), (s, 0.5 / s)
        yield f"sum of {s:g} and 1", lambda x, y: (x + y) ** 2, (s, 1.0)
        yield f"softplus scaled by {s:g}", lambda x, s=s: rg.softplus(x * s) / s, 0.3 / s
        yield f"offset {s:g}", lambda x, s=s: (x - s) ** 2 + x, s * 1.5
        yield f"norm at {s:g}", lambda v: rg.norm(v), [3.0 * s, 4.0 * s]
        yield f"sin of x times {s:g} at 0", lambda x, s=s: (x * s).sin(), 0.0
    yield "black-scholes", black_scholes(rg), (100.0, 95.0, 0.03, 0.2, 1.0)
    yield "black-scholes, a day left", black_scholes(rg), (100.0, 101.0, 0.03, 0.2, 1.0 / 365)
    yield "black-scholes, far out", black_scholes(rg), (100.0, 180.0, 0.01, 0.1, 0.25)
    yield "rosenbrock", rosenbrock, [-1.2, 1.0, 0.7, 0.3]
    yield "network", *network(rg)
    yield "softmax loss", lambda v: -rg.log(rg.softmax(v)[1]), [1.0, -2.0, 0.5]
    yield "softmax, saturated", lambda v: -rg.log(rg.softmax(v)[0]), [0.0, 35.0]
    yield "logsumexp, wide", lambda v: rg.logsumexp(v), [-500.0, 3.0, 2.5]
    yield "gelu", lambda x: rg.gelu(x), -1.3
    yield "silu near its minimum", lambda x: rg.silu(x), -1.278464542761074
    yield "erf far out", lambda x: rg.erf(x), 4.5
    yield "erfc far out", lambda x: rg.erfc(x), 12.0
    yield "atan2 behind", lambda y, x: rg.atan2(y, x), (0.3, -2.0)
    yield "a nested dict", lambda p: p["w"][0] * p["x"] + p["w"][1], {"w": [2.0, 3.0], "x": 0.5}
    yield "a derivative", lambda x: rg.grad(lambda t: (t * x).sin())(0.3), 1.4
    yield "constant", lambda x: x * 0.0 + 5.0, 3.0
    yield "unused input", lambda v: v[0] * 2.0, [1.0, 2.0]
    yield "a chain of 400 sines", lambda x: _chain(x), 0.8
    # close to an edge of the domain
    for d in (1e-3, 1e-6, 1e-9, 1e-12):
        yield f"asin {d:g} from its edge", lambda x: rg.asin(x), 1.0 - d
        yield f"acos {d:g} from its edge", lambda x: rg.acos(x), -1.0 + d
        yield f"atanh {d:g} from its pole", lambda x: rg.atanh(x), 1.0 - d
        yield f"log1p {d:g} from its pole", lambda x: rg.log1p(x), -1.0 + d
        yield f"acosh {d:g} from its edge", lambda x: rg.acosh(x), 1.0 + d
        yield f"sqrt(1-x²) {d:g} from its edge", lambda x: rg.sqrt(1.0 - x * x), 1.0 - d
        yield f"pole at {d:g}", lambda x: 1.0 / (x - 1.0), 1.0 + d
        yield f"kink at {d:g}", lambda x: abs(x - 1.0), 1.0 + d
        yield f"relu {d:g} above", lambda x: rg.relu(x) * 3.0 + x, d
        yield f"relu {d:g} below", lambda x: rg.relu(x) * 3.0 + x, -d
    # cancellation
    yield "a large offset", lambda x: (x + 1e8) - 1e8, 1.0
    yield "a large offset, squared", lambda x: (x + 1e5) ** 2 - 1e10, 1.0
    yield "1 - cos x", lambda x: 1.0 - x.cos(), 1e-4
    yield "exp(x) - 1 - x", lambda x: x.exp() - 1.0 - x, 1e-5
    yield "exp(x) - 1 over x", lambda x: (x.exp() - 1.0) / x, 1e-7
    yield "variance the bad way", lambda v: rg.mean([x * x for x in v]) - rg.mean(v) ** 2, [
        1000.1, 1000.2, 1000.4,
    ]  # fmt: skip
    yield "difference of logs", lambda x: (x + 1e-9).log() - x.log(), 3.0
    yield "difference of roots", lambda x: (x + 1.0).sqrt() - x.sqrt(), 1e8
    yield "cancelling contributions", lambda x: x * 1e10 - x * (1e10 - 1.0), 2.0
    # oscillation
    yield "sin of 1e3 x", lambda x: (x * 1e3).sin(), 1.0
    yield "sin of 1e8 x", lambda x: (x * 1e8).sin(), 1.0
    yield "a ripple on a line", lambda x: x + (x * 1e8).sin() * 1e-6, 1.0
    yield "a ripple on a parabola", lambda x: x * x + (x * 1e5).sin() * 1e-3, 2.0
    yield "sin at 1e12", lambda x: x.sin(), 1e12
    yield "chirp", lambda x: (x.exp() * 50.0).sin(), 3.0
    yield "many waves", lambda x: rg.sum([(x * k).sin() / k for k in range(1, 60)]), 0.7
    # extremes
    yield "exp at 700", lambda x: x.exp(), 700.0
    yield "exp at -700", lambda x: x.exp(), -700.0
    yield "tanh saturated", lambda x: x.tanh(), 12.0
    yield "tanh fully saturated", lambda x: x.tanh(), 25.0
    yield "sigmoid saturated", lambda x: rg.sigmoid(x), -40.0
    yield "fourth power at 1e12", lambda x: x**4, 1e12
    yield "a bell one width out", lambda x: (-(x * x) * 1e6).exp(), 1e-3
    yield "a tiny function", lambda x: x.sin() * 1e-200, 0.4
    yield "a huge function", lambda x: x.sin() * 1e200, 0.4
    yield "pow with real exponent", lambda x, p: x**p, (2.3, -1.7)
    yield "pow of a negative base", lambda x: rg.pow(x, 3.0), -2.0


def _chain(x: Any) -> Any:
    for _ in range(400):
        x = x.sin() + x * 0.3
    return x


def kinks(rg: Any) -> Iterator[tuple[str, Callable[..., Any], Any]]:
    """Points on a kink, a jump or the edge: one-sided slopes, none of them wrong."""
    yield "relu at 0", lambda x: rg.relu(x), 0.0
    yield "relu at 0 on a slope", lambda x: rg.relu(x) + (x - 1.0) ** 2 * 5.0, 0.0
    yield "leaky relu at 0", lambda x: rg.leaky_relu(x), 0.0
    yield "abs at 0", lambda x: abs(x), 0.0
    yield "abs of a difference", lambda x, y: abs(x - y) * 2.0, (1.5, 1.5)
    yield "maximum at a tie", lambda x, y: rg.maximum(x, y), (1.0, 1.0)
    yield "minimum at a tie", lambda x, y: rg.minimum(x * 2.0, y), (1.0, 2.0)
    yield "clip at its bound", lambda x: rg.clip(x, -1.0, 1.0) * 3.0, 1.0
    yield "floor at a whole number", lambda x: rg.floor(x), 2.0
    yield "sign at 0", lambda x: rg.sign(x), 0.0
    yield "a branch at its switch", lambda x: x * 2.0 if x > 1.0 else x * 3.0 - 1.0, 1.0
    yield "hypot at 0", lambda v: rg.hypot(v[0], v[1]), [0.0, 0.0]
    yield "sqrt at 0", lambda x: rg.sqrt(x), 0.0
    yield "power 1.5 at 0", lambda x: rg.pow(x, 1.5), 0.0
    yield "asin at 1", lambda x: rg.asin(x), 1.0
    yield "relu network at zero weights", lambda w: rg.relu(w[0] * 2.0 + w[1]) * 3.0, [0.0, 0.0]


def noisy(rg: Any) -> Iterator[tuple[str, Callable[..., Any], Any]]:
    """Functions whose values are not exact: a right rule may end as noise, never as wrong."""

    @rg.custom_op
    def rounded_sin(x: float) -> tuple[float, tuple[float]]:
        return round(math.sin(x), 9), (math.cos(x),)

    @rg.custom_op
    def bisected_root(x: float) -> tuple[float, tuple[float]]:
        low, high = 0.0, 2.0
        while high - low > 1e-7:
            middle = (low + high) / 2
            low, high = (middle, high) if middle * middle < x else (low, middle)
        return low, (0.5 / low,)

    rng = random.Random(3)

    @rg.custom_op
    def measured(x: float) -> tuple[float, tuple[float]]:
        return x * x + 1e-7 * rng.random(), (2 * x,)

    @rg.custom_op
    def single(x: float) -> tuple[float, tuple[float]]:
        import numpy as np

        return float(np.float32(np.exp(np.float32(x)))), (math.exp(x),)

    yield "a sine rounded to nine digits", lambda x: rounded_sin(x) * 2.0, 0.7
    yield "a root by bisection", lambda x: bisected_root(x) + x, 1.7
    yield "a measurement", measured, 2.0
    yield "float32 inside", lambda x: single(x), 0.5
    yield "1e20 in the way", lambda x: (x + 1e20) - 1e20, 3.0


def right(rg: Any) -> dict[str, tuple[Callable[..., Any], Any, set[str]]]:
    """Every right function with the verdicts it may get."""
    found = {}
    for kind, allowed in (
        (smooth, {RIGHT}),
        (kinks, {KINK, RIGHT}),
        (noisy, {RIGHT, NOISE, KINK}),
    ):
        for name, function, point in kind(rg):
            assert name not in found, name
            found[name] = (function, point, allowed)
    return found


# ---- wrong rules -------------------------------------------------------------------------------


def custom(rg: Any, value: Callable[..., float], rule: Callable[..., Any]) -> Any:
    """A custom op of a value and a rule, both on numbers."""

    @rg.custom_op
    def op(*numbers: float) -> tuple[float, tuple[float, ...]]:
        return value(*numbers), tuple(rule(*numbers))

    return op


def wrong(rg: Any) -> dict[str, tuple[Callable[..., Any], Any]]:
    """Wrong rules, alone and inside larger functions, at points of many sizes."""
    bank: dict[str, tuple[Callable[..., Any], Any]] = {}
    ops = {
        "cube": (lambda x: x**3, lambda x: (3 * x**2,)),
        "wave": (math.sin, lambda x: (math.cos(x),)),
        "growth": (math.exp, lambda x: (math.exp(x),)),
        "log": (math.log, lambda x: (1 / x,)),
        "bend": (math.tanh, lambda x: (1 - math.tanh(x) ** 2,)),
    }
    faults = {
        "off by 0.1 %": lambda p, x, z: p * 1.001,
        "off by -0.1 %": lambda p, x, z: p * 0.999,
        "sign": lambda p, x, z: -p,
        "factor 2": lambda p, x, z: 2 * p,
        "half": lambda p, x, z: p / 2,
        "missing": lambda p, x, z: 0.0,
        "the input": lambda p, x, z: x,
        "one": lambda p, x, z: 1.0,
    }
    for op_name, (value, rule) in ops.items():
        for fault_name, fault in faults.items():
            for at in (0.37, 2.3):
                op = custom(
                    rg,
                    value,
                    lambda x, value=value, rule=rule, fault=fault: (
                        fault(rule(x)[0], x, value(x)),
                    ),
                )
                bank[f"{op_name}, {fault_name}, at {at}"] = (op, at)
                bank[f"{op_name}, {fault_name}, at {at}, inside"] = (
                    lambda x, op=op: (op(x) * 2.0 + x * x).tanh() + x,
                    at,
                )
    for s in SCALES:
        square = custom(rg, lambda x: x * x, lambda x: (2.002 * x,))
        bank[f"square off by 0.1 % at {s:g}"] = (square, s)
        scaled = custom(
            rg, lambda x, s=s: math.sin(x / s), lambda x, s=s: (1.001 * math.cos(x / s) / s,)
        )
        bank[f"sine off by 0.1 % on scale {s:g}"] = (scaled, 0.7 * s)
        shifted = custom(rg, lambda x: x * x * x, lambda x: (3.003 * x * x,))
        bank[f"cube off by 0.1 % beside {s:g}"] = (lambda x, s=s, op=shifted: op(x) + s, 1.3)
    swapped = custom(rg, lambda x, y: x * x * y, lambda x, y: (x * x, 2 * x * y))
    bank["swapped partials"] = (lambda x, y: swapped(x, y), (1.3, 0.4))
    term = custom(rg, lambda x, y: x * y + math.sin(x), lambda x, y: (y, x))
    bank["missing term"] = (lambda x, y: term(x, y), (1.3, 0.4))
    masked = custom(rg, lambda x: x**3, lambda x: (3.003 * x**2,))
    bank["0.1 % of a share of 1e-6"] = (lambda x: masked(x) * 1e-6 + x, 1.3)
    noisy_sine = custom(rg, lambda x: round(math.sin(x), 6), lambda x: (1.001 * math.cos(x),))
    bank["0.1 % off and rounded to six digits"] = (noisy_sine, 0.7)
    bank["a number that left the graph"] = (lambda x: x * x.data, 2.0)
    bank["a detached branch"] = (lambda x, y: x * y + (x * x).detach(), (2.0, 3.0))
    bank["a kink with a slope outside"] = (
        custom(rg, abs, lambda x: (1.5 if x == 0 else math.copysign(1, x),)), 0.0,
    )  # fmt: skip

    @rg.custom_op
    def no_upstream(x: float) -> float:
        return x * x

    @no_upstream.vjp
    def _(upstream: Any, x: Any) -> Any:
        return 2 * x

    bank["a vjp without its upstream"] = (lambda x: no_upstream(x) * 3.0, 1.3)

    def assigns(x: Any, factor: float = 1.0, add: bool = False) -> Any:
        out = rg.Value(x.data**2, (x,), "squared")

        def backward() -> None:
            contribution = factor * 2 * x.data * out.grad
            x.grad = x.grad + contribution if add else contribution

        out._backward = backward
        return out

    bank["= for +="] = (lambda x: x * 3.0 + assigns(x), 1.3)
    bank["= for +=, the other way round"] = (lambda x: assigns(x) + x * 3.0, 1.3)
    bank["= for +=, one use only"] = (lambda x: assigns(x) * 3.0, 1.3)
    bank["a closure off by 0.1 %"] = (lambda x: assigns(x, 1.001, True) + x, 1.3)
    bank["a one-off value"] = (lambda x: rg.Value(x.data**2, (x,), (2.002 * x.data,)), 1.3)
    return bank
