"""Paths, inventories, recursions and tables."""

from .common import *


def heston(x, y):
    s, v = x * 0.0 + 1.0, 0.04
    for i in range(5):
        vp = v if v > 0.0 else 0.0
        s = s * rg.exp(-0.5 * vp * 0.1 + rg.sqrt(vp + 1e-12) * 0.3 * x)
        v = v + 0.5 * (0.04 - vp) * 0.1 + 0.3 * rg.sqrt(vp + 1e-12) * y * 0.3
    return max(s - 1.0, 0.0)


def lookback(x, y):
    low = high = s = x * 0.0 + 1.0
    for i in range(6):
        s = s * rg.exp(0.1 * (x if i % 2 else y))
        low = min(low, s)
        high = max(high, s)
    return high - low


def cliquet(x, y):
    total = 0.0
    for i in range(5):
        r = 0.3 * x * math.sin(i + 1) + 0.1 * y
        total += min(max(r, -0.05), 0.1)
    return max(total, 0.0)


def autocall(x, y):
    s = 1.0
    for i in range(1, 5):
        s = s * rg.exp(0.2 * x * math.cos(i))
        if s > 1.05:
            return (1.0 + 0.05 * i) * rg.exp(-0.03 * i * y)
    return s if s < 0.7 else 1.0 + 0.0 * s


def autocall_flag(x, y):
    s, paid, done = 1.0, 0.0, False
    for i in range(1, 5):
        s = s * rg.exp(0.2 * x * math.cos(i))
        if not done and s > 1.05:
            paid = (1.0 + 0.05 * i) * rg.exp(-0.03 * i * y)
            done = True
    if not done:
        paid = s if s < 0.7 else 1.0
    return paid + 0.0 * y


def swing(x, y):
    rights, total = 3, x * 0.0
    price = x + 1.0
    for i in range(6):
        price = price * (1.0 + 0.1 * y)
        if rights > 0 and price > 1.2:
            total = total + price - 1.0
            rights -= 1
    return total + rights * 0.01


def inventory(x, y):
    stock, cost = 2.0, 0.0
    for i in range(6):
        demand = abs(x) * (0.5 + 0.1 * i)
        sold = min(stock, demand)
        stock -= sold
        if stock < 0.5:
            order = 2.0 - stock
            cost += 0.3 + 0.1 * order
            stock += order
        cost += 0.02 * stock - sold * abs(y)
    return cost


def bouncing(x, y):
    h, v = abs(x) + 0.5, y
    for _ in range(10):
        v = v - 0.98 * 0.1
        h = h + v * 0.1
        if h < 0:
            h, v = -h * 0.8, -v * 0.8
    return h + v


def friction(x, y):
    v = x
    for _ in range(6):
        if v > 0.05:
            v = v - 0.05 - 0.02 * v * v
        elif v < -0.05:
            v = v + 0.05 + 0.02 * v * v
        else:
            v = 0.0
    return v * y + y


def dead_zone(x, y):
    u = 0.0 if abs(x) < 0.3 else x - 0.3 if x > 0 else x + 0.3
    return u * y


def hysteresis(x, y):
    on = False
    out = 0.0
    for k in range(8):
        t = x + 0.5 * math.sin(k) * y
        if on:
            if t > 0.6:
                on = False
        else:
            if t < 0.2:
                on = True
        out = out + (0.1 if on else -0.05 * t)
    return out


def spline_basis(x, i, k):
    if k == 0:
        return 1.0 if KNOTS[i] <= x < KNOTS[i + 1] else 0.0
    left = (x - KNOTS[i]) / (KNOTS[i + k] - KNOTS[i]) * spline_basis(x, i, k - 1)
    right = (
        (KNOTS[i + k + 1] - x) / (KNOTS[i + k + 1] - KNOTS[i + 1]) * spline_basis(x, i + 1, k - 1)
    )
    return left + right


def spline(x, y):
    return spline_basis(x, 0, 2) * y + x * 0.0


def binary_search(x, y):
    lo, hi = 0, 8
    while lo < hi:
        mid = (lo + hi) // 2
        if mid * 0.25 - 1.0 < x:
            lo = mid + 1
        else:
            hi = mid
    return lo * y + x


def interpolate(x, y):
    i = 0
    while i < 2 and x > KNOTS[i + 1]:
        i += 1
    t = (x - KNOTS[i]) / (KNOTS[i + 1] - KNOTS[i])
    return t * y + i


def simpson_adaptive(x, y):
    def f(t):
        return rg.exp(-t * t) if t > 0 else 1.0 + t

    total = 0.0
    n = 6
    for i in range(n):
        a = x + (y - x) * i / n
        b = x + (y - x) * (i + 1) / n
        total += (f(a) + 4 * f((a + b) / 2) + f(b)) * (b - a) / 6
    return total


def viterbi(x, y):
    s0, s1 = x, y
    for o in (0.3, -0.2, 0.8):
        n0 = max(s0 + 0.1, s1 - 0.3) + o * x
        n1 = max(s0 - 0.2, s1 + 0.05) - o * y
        s0, s1 = n0, n1
    return max(s0, s1)


def edit_distance(x, y):
    row = [0.0, 0.5, 1.0]
    for a in (x, y, x * y):
        new = [row[0] + 0.5]
        for j in range(1, 3):
            cost = abs(a - KNOTS[j])
            new.append(min(row[j] + 0.5, new[j - 1] + 0.5, row[j - 1] + cost))
        row = new
    return row[-1]


def dp_list(x, y):
    best = [0.0] * 4
    for i in range(1, 4):
        best[i] = best[i - 1]
        if x * i > y:
            best[i] = best[i] + x
    return best[-1] + y


def quantile_loss(x, y):
    total = 0.0
    for q in (0.1, 0.5, 0.9):
        e = y - x * q
        total += q * e if e >= 0 else (q - 1) * e
    return total / 3


def hinge(x, y):
    loss = 0.0
    for s, t in ((1, x), (-1, y), (1, x * y)):
        m = 1 - s * t * WEIGHT
        if m > 0:
            loss += m * m
    return loss


def mixed_accumulate(x, y):
    a = b = 0.0
    for v in (x, y, x - y, x * y):
        if v > 0:
            a += v
        else:
            b -= v
    return a / (b + 1) if b < a else b * a
