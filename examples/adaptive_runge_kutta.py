"""An integrator that chooses its own steps, differentiated row by row.

A pendulum with friction is followed for a second by Heun's method with step control: a step
whose error estimate is too large is tried again with half its length, after one with room to spare
the next is twice as long. How many steps a row takes, and which were refused, depends on the row.
Each way is recorded once.

Run it: python examples/adaptive_runge_kutta.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import retrograde as rg

Slope = Callable[[Any, Any], tuple[Any, Any]]


def pendulum(length: Any, friction: Any) -> Slope:
    """Angle and speed to their rates of change."""
    return lambda angle, speed: (speed, -9.81 / length * rg.sin(angle) - friction * speed)


def heun(slope: Slope, angle: Any, speed: Any, step: Any) -> tuple[Any, Any, Any]:
    """One step, and the square of its error estimate: what Euler's method would have missed."""
    a1, s1 = slope(angle, speed)
    a2, s2 = slope(angle + step * a1, speed + step * s1)
    error = (0.5 * step * (a2 - a1)) ** 2 + (0.5 * step * (s2 - s1)) ** 2
    return angle + 0.5 * step * (a1 + a2), speed + 0.5 * step * (s1 + s2), error


@rg.compile
def swing(angle: Any, length: Any, friction: Any) -> Any:
    """The angle after a second of a pendulum let go at ``angle``."""
    slope = pendulum(length, friction)
    speed, time, step = 0.0 * angle, 0.0, 0.25
    while time < 1.0:
        step = min(step, 1.0 - time)
        next_angle, next_speed, error = heun(slope, angle, speed, step)
        if error > 1e-3:
            step = 0.5 * step  # refused: try again with half of it
            continue
        angle, speed, time = next_angle, next_speed, time + step
        if error < 1e-7:
            step = 2.0 * step
    return angle


def main() -> dict[str, Any]:
    """Follow a thousand pendulums and print a few."""
    random = np.random.default_rng(3)
    start, length = random.uniform(0.05, 1.2, 1000), random.uniform(0.8, 1.5, 1000)
    end, (to_start, to_length) = swing.value_and_grad(start, length, 0.1, wrt=("angle", "length"))
    print(f"{'start':>8}{'length':>8}{'end':>9}{'d/d start':>11}{'d/d length':>12}")
    for row in range(5):
        numbers = start[row], length[row], end[row], to_start[row], to_length[row]
        print("{:8.3f}{:8.3f}{:9.4f}{:11.4f}{:12.4f}".format(*numbers))
    steps = [len(trace.path) for trace in swing.traces]
    print(f"{len(steps)} ways of choosing steps, of {min(steps)} to {max(steps)} decisions")
    return {"start": start, "length": length, "end": end, "slopes": (to_start, to_length)}


if __name__ == "__main__":
    main()
