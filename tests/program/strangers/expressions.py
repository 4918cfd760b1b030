"""Branches in expressions, flags, exceptions, and state in lists and dicts."""

from .common import *


def piecewise_linear(x, y):
    values = [0.0, 1.0, 0.5, 2.0]
    for (x0, x1), (y0, y1) in zip(pairwise(KNOTS), pairwise(values)):
        if x0 <= x < x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0) + y
    return values[0] + y if x < KNOTS[0] else values[-1] + y


def horner(x, y):
    return reduce(lambda acc, c: acc * x + c if y > 0 else acc * y + c, [1.0, -2.0, 0.5], 0.0 * x)


def huber(x, y):
    r = x - y
    a = abs(r)
    return 0.5 * r * r if a <= 1.0 else a - 0.5


def smooth_clip(x, y):
    lo, hi = -1, 1
    return lo if x < lo else hi if x > hi else x * (1.5 - 0.5 * x * x) + y * 0.0


def leaky(x, y):
    h = [WEIGHT * x + BIAS, WEIGHT * y - BIAS, x * y]
    return sum(v if v > 0 else 0.01 * v for v in h)


def relu_net(x, y):
    layer = [x, y]
    for n in range(3):
        layer = [max(0.0, WEIGHT * a - BIAS * b + 0.1 * n) for a, b in zip(layer, layer[::-1])]
    return layer[0] - layer[1]


def argmax_like(x, y):
    best, where = x, 0
    for i, v in enumerate([y, x * y, x - y, 0.4]):
        if v > best:
            best, where = v, i + 1
    return best * 2 + where


def sort_three(x, y):
    a, b, c = x, y, 0.25
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    return a + 2 * b + 3 * c


def sorted_list(x, y):
    s = sorted([x, y, x * y, 0.3])
    return s[0] - s[-1] * s[1]


def any_all(x, y):
    if any(v > 1.0 for v in (x, y)) and not all([x > 0, y > 0]):
        return x * y
    return x + y


def count_positive(x, y):
    n = sum(1 for v in (x, y, x * y) if v > 0)
    return x * n + y


def comprehension_filter(x, y):
    picked = [v * v for v in (x, y, x + y) if v > 0.1]
    return sum(picked) + (x if picked else y)


def walrus(x, y):
    if (d := x - y) > 0:
        return d * d
    return d * 3.0


def walrus_while(x, y):
    n = 0
    while (x := x * 0.5) > 0.1 and n < 10:
        n += 1
        y = y + x
    return y + x


def walrus_and(x, y):
    if x > 0 and (z := x * y) > 0.5:
        return z
    return x - y


def chained(x, y):
    if -1 < x <= y < 2:
        x = x * y
    elif x < y != 0.5:
        x = x - y
    return x if 0 < x * y < 1 else y


def chained_calls(x, y):
    return rg.exp(x) if 0.1 < rg.tanh(x) < rg.tanh(y) < 0.9 else x * y


def truthy(x, y):
    z = x or y
    w = x and y
    u = not x
    return z + w * 2 + (1.0 if u else y)


def value_truth(x, y):
    if x:
        x = x + 1.0
    return x * y


def or_default(x, y):
    scale = 0.0
    if x > 0.5:
        scale = 2.0
    return y * (scale or 1.0)


def flags(x, y):
    up, down = x > y, x < -y
    both = up and down
    n = up + down
    return x * n + (y if both else -y) + (up - down) * 0.5


def flag_arithmetic(x, y):
    return (x > 0) * x + (x <= 0) * y + (not x > y) * 2.0


def xor(x, y):
    return x if (x > 0) != (y > 0) else y


def bit_ops(x, y):
    c = (x > 0) & (y > 0) | (x < -1)
    return rg.where(c, x, y) * (2.0 if c else 3.0)


def try_except(x, y):
    try:
        if x > 0:
            y = y / x
        z = rg.log(y * y + 0.1)
    except ZeroDivisionError:
        z = x
    return z


def raising_side(x, y):
    try:
        if x > 1.0:
            raise ValueError("big")
        return x * y
    except ValueError:
        return y


def try_finally(x, y):
    z = 0.0
    try:
        if x > 0:
            z = x * y
    finally:
        z = z + y
    return z


def index_error(x, y):
    items = [x]
    try:
        if y > 0:
            k = 0
        else:
            k = 3
        return items[k] * y
    except IndexError:
        return y


def unbound(x, y):
    if x > 0:
        z = x * 2.0
    if x > 0.5:
        return z + y
    return y


def deleted(x, y):
    z = x * y
    if x > 0:
        t = z * z
        x = t - 1.0
        del t
    return x + z


def none_marker(x, y):
    best = None
    for v in (x, y, x * y):
        if v > 0 and (best is None or v < best):
            best = v
    return best if best is not None else x - y


def none_merge(x, y):
    best = None
    if x > 0:
        best = x
    return y if best is None else best * y


def text_merge(x, y):
    kind = "low" if x < 0 else "high"
    return TABLE[kind] * x + y


def dict_state(x, y):
    state = {"x": x, "y": y}
    for _ in range(3):
        if state["x"] > state["y"]:
            state["x"] = state["x"] * 0.5
        else:
            state["y"] = state["y"] - 0.2
    return state["x"] * state["y"]


def list_state(x, y):
    s = [x, y, 0.0]
    for i in range(4):
        if s[0] > 0.2:
            s[2] += s[1]
        s[0] = s[0] - 0.3
    return s[2] + s[0]


def list_swap(x, y):
    s = [x, y, x * y]
    for i in range(2):
        for j in range(2 - i):
            if s[j] > s[j + 1]:
                s[j], s[j + 1] = s[j + 1], s[j]
    return s[0] + 2 * s[1] + 4 * s[2]


def alias_list(x, y):
    a = [x]
    b = a if x > 0 else [y]
    b.append(y)
    return sum(a) + len(a) * x
