"""Root finders, and loops that end when they are done."""

from .common import *


def newton(a, start):
    x = start * 0.0 + 1.0
    for _ in range(30):
        fx = x * x * x - a - 2.5
        if abs(fx) < 1e-6:
            break
        x = x - fx / (3 * x * x + 0.1)
    return x


def newton_while(a, start):
    x = 1.0 + 0.1 * start
    n = 0
    while abs(x * x * x - a - 3.0) > 1e-4 and n < 25:
        x = x - (x**3 - a - 3.0) / (3.0 * x**2 + 0.5)
        n += 1
    return x * (1 + 0.001 * n)


def bisect(a, b):
    lo, hi = -5.0, 5.0
    for _ in range(12):
        mid = 0.5 * (lo + hi)
        if mid + 0.1 * mid * mid * mid < a:
            lo = mid
        else:
            hi = mid
    return 0.5 * (lo + hi) * b


def bisect_values(a, b):
    lo, hi = a - 3.0, a + 3.0
    for _ in range(8):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if rg.tanh(mid) * mid < b else (lo, mid)
    return lo + hi


def secant(a, b):
    x0, x1 = a, b + 2.0
    for _ in range(6):
        f0, f1 = x0 * x0 - 2.0, x1 * x1 - 2.0
        d = f1 - f0
        if abs(d) < 1e-9:
            return x1
        x0, x1 = x1, x1 - f1 * (x1 - x0) / d
    return x1


def golden(a, b):
    lo, hi = -2.0 + 0.0 * a, 2.0 + 0.0 * b
    g = (math.sqrt(5) - 1) / 2
    for _ in range(6):
        c, d = hi - g * (hi - lo), lo + g * (hi - lo)
        if (c - a) ** 2 + b * c < (d - a) ** 2 + b * d:
            hi = d
        else:
            lo = c
    return (lo + hi) * 0.5


def collatz(x, y):
    steps = 0
    n = 13
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return x * steps + (y if x > 0 else -y)


def while_true(x, y):
    count = 0
    while True:
        x = x * 0.7
        count += 1
        if abs(x) < 0.2 or count > 20:
            break
    return x * y + count


def loop_continue(x, y):
    total = y * 0.0
    for i in range(6):
        x = x + 0.3
        if x < 0:
            continue
        total += rg.sqrt(x) * i
    return total
