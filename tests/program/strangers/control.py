"""Controllers and state machines."""

from .common import *


def pid(target, gain):
    integral = 0.0
    previous = 0.0
    y = 0.0 * target
    for step in range(8):
        error = target - y
        integral = integral + 0.1 * error
        if integral > 0.5:
            integral = 0.5
        elif integral < -0.5:
            integral = -0.5
        u = gain * error + 0.3 * integral + 0.05 * (error - previous)
        u = min(max(u, -1.0), 1.0)
        previous = error
        y = y + 0.2 * (u - 0.1 * y * abs(y))
    return y


def bang_bang(x, v):
    cost = 0.0
    for _ in range(6):
        s = x + 0.5 * v * abs(v)
        if s > 0:
            u = -1.0
        elif s < 0:
            u = 1.0
        else:
            u = 0.0
        x, v = x + 0.1 * v + 0.005 * u, v + 0.1 * u
        cost = cost + x * x + 0.1 * u * u
    return cost


class State(Enum):
    IDLE = 0
    RUN = 1
    STOP = 2


def state_machine(x, y):
    state = State.IDLE
    total = x * 0.0
    for i in range(5):
        if state is State.IDLE:
            if x > 0.3:
                state = State.RUN
        elif state is State.RUN:
            total = total + x * y
            if total > 1.0:
                state = State.STOP
        else:
            total = total * 0.9
        x = x * 1.1 + 0.05
    return total


def machine_numbers(x, y):
    mode = 0
    for i in range(5):
        if mode == 0 and x > 0.2:
            mode = 1
        elif mode == 1 and y < 0.0:
            mode = 2
        if mode == 1:
            x = x * y + 0.1
        elif mode == 2:
            x = x - y
        y = y - 0.2
    return x + y


def machine_match(x, y):
    mode = "wait"
    for i in range(4):
        match mode:
            case "wait":
                x = x + 0.1
                if x > 0.5:
                    mode = "go"
            case "go":
                x = x * y
                if x < 0.1:
                    mode = "wait"
            case _:
                x = x - 1.0
    return x


def match_values(x, y):
    pair = (1, x) if y > 0 else (2, x * y)
    match pair:
        case (1, v):
            return v * 2.0
        case (2, v):
            return v - 1.0
    return x
