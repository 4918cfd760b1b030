"""A controller that swings a pendulum up and holds it there, learnt through the simulation.

    python examples/pendulum.py

The motor is too weak to lift the pendulum directly, so it has to swing. The controller is a small
network that sees sine and cosine of the angle and the speed; its loss is how far from upright and
still the pendulum is, over the whole simulation, and the gradient comes back through every step.
"""

from __future__ import annotations

import argparse
import math
import random

import retrograde as rg

GRAVITY, STRONGEST, FRICTION, STEP = 9.81, 8.0, 0.1, 0.05
HANGING = math.pi


class Controller(rg.nn.Module):
    """Torque from what the pendulum does (the angle is 0 upright): springs, brakes, a network."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.hidden = rg.nn.Linear(3, 8, seed=draw)
        self.torque = rg.nn.Linear(11, 1, bias=False, seed=draw)
        for place, gain in ((8, -2.0), (10, -1.0)):  # towards upright, and against the speed
            self.torque.weight[0][place].data = gain

    def __call__(self, angle, speed):
        seen = [rg.sin(angle), rg.cos(angle), 0.2 * speed]
        (push,) = self.torque([rg.tanh(x) for x in self.hidden(seen)] + seen)
        return STRONGEST * rg.tanh(push)


def simulate(controller: Controller, angle: float, steps: int) -> tuple[list, object]:
    """The path of angle and speed from rest, and how bad it was: semi-implicit Euler."""
    speed, path, costs = 0.0, [], []
    for at in range(steps):
        torque = controller(angle, speed)
        speed = speed + STEP * (GRAVITY * rg.sin(angle) + torque - FRICTION * speed)
        angle = angle + STEP * speed
        path.append((angle, speed))
        weight = at / steps  # late positions count more: how it gets there is its own business
        costs.append(weight * (1 - rg.cos(angle) + 0.02 * speed * speed))
    return path, rg.sum(costs) / steps


def train(rounds: int, steps: int, seed: int) -> tuple[Controller, list[float]]:
    controller = Controller(seed)
    optimizer = rg.optim.Adam(controller, lr=0.03)
    schedule = rg.optim.CosineAnnealingLR(optimizer, T_max=rounds)
    losses = []
    for at in range(rounds):
        hardest = min(1.0, 0.1 + at / (0.7 * rounds))  # begin near the top, then from lower down
        begin = [side * (HANGING - 0.1) * hardest for side in (1, -1)]
        cost = rg.mean([simulate(controller, angle, steps)[1] for angle in begin])
        optimizer.zero_grad()
        cost.backward()
        rg.optim.clip_grad_norm(controller, 1.0)
        optimizer.step()
        schedule.step()
        losses.append(cost.data)
    return controller, losses


def picture(angle: float) -> str:
    """The direction of the pendulum, as an arrow."""
    return "↑↗→↘↓↙←↖"[round(-angle / (math.pi / 4)) % 8]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--steps", type=int, default=100, help="steps of the simulation")
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args(arguments)
    controller, losses = train(options.rounds, options.steps, options.seed)
    print(f"{options.rounds} rounds, the last at a cost of {losses[-1]:.4f}")
    with rg.no_grad():
        path, _ = simulate(controller, HANGING - 0.1, 2 * options.steps)
    angle, speed = (x.data for x in path[-1])
    print(" ".join(picture(a.data) for a, _ in path[::5]))
    off = math.remainder(angle, 2 * math.pi)
    print(f"after {2 * options.steps * STEP:g} s: {off:+.3f} rad from upright, {speed:+.3f} rad/s")


if __name__ == "__main__":
    main()
