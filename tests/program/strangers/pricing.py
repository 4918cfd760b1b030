"""Prices of options, bonds and contracts."""

from .common import *


def norm_cdf(x):
    return 0.5 * (1.0 + rg.erf(x / math.sqrt(2.0)))


def black_scholes(s, k=1.1, t=0.5, sigma=0.2, call=True):
    d1 = (rg.log(s / k) + (RATE + 0.5 * sigma**2) * t) / (sigma * math.sqrt(t))
    d2 = d1 - sigma * math.sqrt(t)
    if call:
        return s * norm_cdf(d1) - k * math.exp(-RATE * t) * norm_cdf(d2)
    return k * math.exp(-RATE * t) * norm_cdf(-d2) - s * norm_cdf(-d1)


def barrier(s, v):
    alive = True
    spot = s
    high = s
    for i in range(6):
        spot = spot * rg.exp(0.1 * v * (i - 2.5))
        if spot > high:
            high = spot
        if spot > 3.0 or spot < 0.2:
            alive = False
    if not alive:
        return 0.0 * s
    payoff = max(spot - 1.0, 0.0)
    return payoff * math.exp(-RATE) + 0.1 * high


def tiered_tax(income, other):
    brackets = [(0.5, 0.1), (1.0, 0.2), (2.0, 0.35)]
    tax, lower = 0.0, 0.0
    for upper, rate in brackets:
        if income > upper:
            tax += (upper - lower) * rate
        else:
            tax += max(income - lower, 0) * rate
            break
        lower = upper
    else:
        tax += (income - brackets[-1][0]) * 0.5
    return tax + other * 0.01


def tiered_no_break(income, other):
    tax = 0.0 * other
    for low, up, rate in ((0.0, 0.5, 0.1), (0.5, 1.0, 0.2), (1.0, math.inf, 0.4)):
        if income > low:
            top = income if income < up else up
            tax += (top - low) * rate
    return tax


def bermudan(s, v):
    cash = 0.0
    df = math.exp(-RATE * 0.1)
    path = [s * rg.exp(v * 0.1 * i) for i in range(6)]
    for p in path[::-1]:
        cash *= df
        exercise = 1.5 - p
        if exercise > 0 and exercise > cash:
            cash = exercise
    return cash + 0.0 * s


def convertible(s, r):
    value = 1.0 + r
    for step in range(5):
        conv = s * (1 + 0.1 * step)
        call_price = 1.3
        hold = value * 0.98
        value = max(conv, min(hold, call_price)) if step > 1 else max(conv, hold)
    return value


def later_bs(x, y):
    return black_scholes(abs(x) + 0.5, call=True) + black_scholes(abs(y) + 0.5, call=False)
