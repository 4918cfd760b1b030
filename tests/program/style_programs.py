"""Random functions in strangers' styles: models with attributes, closures, recursion, searches,
comprehensions, scans of a row's numbers, early exits out of nested loops. They are short, so that
many run.
"""

from __future__ import annotations

from .wild_programs import MORE, Wild

STYLES = """
import functools
from dataclasses import dataclass, replace

@dataclass
class State:
    price: object
    peak: object
    count: int = 0
    def move(self, z):
        self.price = self.price * (1.0 + 0.1 * z)
        if self.price > self.peak:
            self.peak = self.price
        return self.price
    @property
    def fall(self):
        return self.peak - self.price

class Filter:
    gain = 0.5
    def __init__(self, limit):
        self.limit = limit
    @staticmethod
    def squash(v, low=-1.0, high=1.0):
        return low if v < low else high if v > high else v
    @classmethod
    def scaled(cls, v):
        return v * cls.gain if v > 0 else v / (1.0 + cls.gain)
    def run(self, zs, start):
        level = start
        for z in zs:
            change = self.gain * (z - level)
            if change > self.limit:
                change = self.limit
            elif change < -self.limit:
                change = -self.limit
            level += change
        return level

class Model2(Filter):
    def run(self, zs, start):
        out = super().run(zs, start)
        return out if out < 1.0 else out * 0.5 + self.squash(out)

FILTER, SHARP = Filter(0.3), Model2(0.7)

def first_above(zs, level):
    for i, z in enumerate(zs):
        if z > level:
            return z * (i + 1)
    return level * 0.5

def last_below(zs, level):
    found = None
    for z in zs:
        if z >= level:
            continue
        found = z
    if found is None:
        return level
    return found

def solved(target, guess=1.0):
    r = guess
    for _ in range(6):
        step = (r * r - target) / (2.0 * r + 0.5)
        r = r - step
        if abs(step) < 1e-3:
            break
    return r

def bisected(v, low=-2.0, high=2.0):
    for _ in range(5):
        mid = 0.5 * (low + high)
        if mid * mid * mid < v:
            low = mid
        else:
            high = mid
    return 0.5 * (low + high) + 0.25 * v

def folded(v, depth):
    if depth == 0:
        return v
    if v > 0.75:
        return folded(v * 0.5, depth - 1) + 0.125
    return folded(v + 0.5, depth - 1)

def ordered(*vs):
    vs = list(vs)
    for i in range(len(vs)):
        for j in range(len(vs) - 1 - i):
            if vs[j] > vs[j + 1]:
                vs[j], vs[j + 1] = vs[j + 1], vs[j]
    return vs

def twice(g):
    @functools.wraps(g)
    def inner(v, *more):
        return g(g(v, *more), *more)
    return inner

@twice
def leaky(v, slope=0.25):
    return v if v > 0.0 else slope * v - 0.125

def knocked(zs, s, barrier):
    alive = True
    for z in zs:
        s *= 1.0 + 0.2 * z
        if s > barrier:
            alive = False
    return max(s - 0.5, 0.0) if alive else 0.0 * s

def drawdown(zs):
    top = worst = zs[0]
    for z in zs[1:]:
        top = max(top, z)
        worst = min(worst, z - top)
    return worst

def tree(u, d, n, strike):
    values = [max(u * (n - i) + d * i - strike, 0.0) for i in range(n + 1)]
    while len(values) > 1:
        values = [max(0.5 * (p + q), p - 0.25) for p, q in zip(values, values[1:])]
    return values[0]
"""


class Styled(Wild):
    """Writes one short function of x, y, a and a row's numbers zs."""

    arguments = "x, y, a, zs"

    def __init__(self, seed: int, budget: int = 8) -> None:
        super().__init__(seed)
        self.budget = self.random.randint(2, budget)
        self.values.append("z")

    def source(self) -> str:
        """The text of the function alone; it reads ``STYLES`` and what the others have."""
        self.line(1, "n, m, p = 0.0, 1.0, True")
        self.line(1, "s, d, m2, z = [x, y, 0.5], {'u': x, 'v': 1.0}, 0, y")
        self.block(1, self.random.randint(1, 4))
        self.line(1, f"return {self.value()} + {self.atom()} * x")
        return f"def f({self.arguments}):\n" + "\n".join(self.lines) + "\n"

    def value(self, deep: int = 0) -> str:
        """An expression."""
        if deep > 1 or self.random.random() < 0.55:
            return super().value(deep + 1)
        one, other, name = self.value(deep + 1), self.atom(), self.pick(*self.values)
        cut = self.pick("zs", "zs[1:]", "zs[::-1]", "[*zs, x]", "[x, y, z]", "zs[:3]")
        return self.pick(
            f"FILTER.run({cut}, {name})",
            f"SHARP.run({cut}, {name})",
            f"Filter.squash({one}, high={self.pick('0.5', 'y', '1.5')})",
            f"SHARP.scaled({name})",
            f"first_above({cut}, {name})",
            f"last_below({cut}, {name})",
            f"solved({name} * {name} + 0.5)",
            f"bisected({name})",
            f"folded({name}, {self.pick(2, 3, 4)})",
            f"ordered(x, {name}, z)[{self.pick(0, 1, 2)}]",
            f"leaky({one}, 0.5)",
            f"knocked({cut}, {name}, {self.pick('1.0', '1.5', 'y')})",
            f"drawdown({cut})",
            f"tree({name}, y, 3, {self.pick('0.25', 'a')})",
            f"State({name}, {other}).move({self.atom()})",
            f"sum([q if q > {other} else 0.5 * q for q in {cut}])",
            f"sum(q * w1 for q in {cut} if q > {self.pick('0.0', name)})",
            f"max({cut}) - min(z, *{cut})",
            f"rg.sum([abs(q - {name}) for q in {cut}])",
            f"functools.reduce(lambda p, q: p if p > q else q + 0.125 * p, {cut}, {name})",
            f"next((q for q in {cut} if q > {name}), {other} * x)",
            f"({name} * sum(1 for q in {cut} if q > 0.0))",
            f"({name} if all(q < 1.0 for q in {cut}) else {other} * x)",
            f"({one} if {self.test()} else {self.value(deep + 1)} if {self.test()} else {name})",
            f"(lambda q: q * q if q > {other} else -q)({name})",
            f"({name} > {other} and {name} < 1.0) * {name}",
        )

    def kinds(self, mine: str, loops: int) -> list[list[str]]:
        """Statements to pick from."""
        if self.random.random() < 0.3:
            return super().kinds(mine, loops)
        name, one, test, other = self.pick(*self.values), self.value(1), self.test(), self.test()
        leave = self.pick(f"return {name}", "break", "continue") if loops else f"return {one}"
        far = self.pick("break", "continue", f"return {name} * 0.5")
        cut = self.pick("zs", "zs[1:]", "reversed(zs)", "list(zs) + [x]")
        return [
            [f"for {mine} in {cut}:", f"    z = z * 0.5 + {mine}", "BLOCK"],
            [f"for {mine} in {cut}:", f"    if {mine} > {name}:", f"        {far}",
             f"    x = x + 0.25 * {mine}"],
            [f"for {mine} in {cut}:", f"    if {mine} > {name}:", f"        z += {mine}",
             f"    elif {test}:", "        z -= 0.5 * x", "    else:", f"        z = {one}"],
            [f"for i, {mine} in enumerate({cut}):", f"    if {test}:",
             f"        z = z + {mine} * i", f"        if {other}:",
             f"            y = y * 0.5 + {mine}"],
            ["for i in range(3):", "    for j in range(3):", f"        if {test}:",
             f"            {far}", "        y = y + 0.125 * x * j", "    x = x * 0.75 + y"],
            [f"for {mine}, q in zip(zs, zs[1:]):",
             f"    z = max(z, {mine}) if q > {mine} else z * 0.5"],
            [f"{mine} = State(x, {name})", "for q in zs:", f"    {mine}.move(q)",
             f"    if {mine}.fall > 0.5:", "        break", f"x = {mine}.price"],
            [f"{mine} = FILTER", f"if {test}:", f"    {mine} = SHARP",
             f"x = {mine}.run(zs, {name})"],
            [f"{mine} = State(x, y)", f"if {test}:", f"    {mine} = replace({mine}, price={one})",
             f"    {mine}.count += 1", f"y = {mine}.price * (1 + {mine}.count)"],
            [f"def g{self.fresh}(q):", "    nonlocal z", f"    if q > {name}:", "        z = z + q",
             "        return q", "    return q * 0.5", f"x = g{self.fresh}({one}) + z"],
            [f"g{self.fresh} = lambda q, k={self.pick('0.5', 'x')}: q if q < k else k + q * 0.25",
             f"x, y = g{self.fresh}(y), g{self.fresh}({one})"],
            [f"if {test}:", f"    if {other}:", f"        x = {one}", "    else:", "        y *= x",
             "else:", f"    z = x if {other} else {name}"],
            [f"if {test}:", f"    {leave}"],
            [f"if {test} and ({other} or {self.test()}):", "BLOCK"],
            [f"{mine} = 0.0", "for q in zs:", f"    {mine} = max({mine} + q, 0.0)",
             f"    if {mine} > 2.0:", f"        {mine} = 2.0", f"y = y + {mine}"],
            [f"{mine}, k2 = x, 0", f"while abs({mine}) > 0.25 and k2 < {self.pick(3, 6)}:",
             f"    {mine} = {mine} * 0.5", f"    if {mine} < {name}:", f"        z = z + {mine}",
             "    k2 += 1", f"y = {mine} + k2"],
            ["k2 = 0", "while True:", "    x = x * 0.75 - 0.125", "    k2 += 1",
             f"    if {test} or k2 == 4:", "        break"],
            [f"{mine} = [q for q in zs if q > {name}]",
             f"z = sum({mine}, 0.5 * x) / (1 + len({mine}))"],
            [f"{mine} = [x if q > 0.0 else q * y for q in zs]", f"z = rg.dot({mine}, zs)"],
            [f"x, y = (y, x) if {test} else (x * 0.5, {name})"],
            [f"{mine} = None", f"if {test}:", f"    {mine} = {one}", f"if {mine} is not None:",
             f"    x = {mine}"],
            ["try:", f"    z = {one} / (0.0 if {test} else 2.0)", "except ZeroDivisionError:",
             f"    z = {name}"],
            [f"for {mine} in zs:", f"    if {mine} < -0.5: continue", f"    if {mine} > 1.5: break",
             f"    x += {mine} * {name}", "else:", "    x = x - y"],
            [f"with_sign = 1.0 if {test} else -1.0", f"x = with_sign * {one}"],
            [f"{mine} = {{'a': x, 'b': y}}", f"{mine}['c'] = {one} if {test} else {name}",
             f"for q in {mine}.values():", "    z = z + q if q > z else z"],
            [f"p = {test}", f"for {mine} in zs:", f"    p = p and {mine} < 1.0",
             f"    z = z + ({mine} if p else 0.25)"],
            ["assert not (x > 1e6 and y > 1e6)", f"z = abs({one} - z) if {test} else z"],
        ]  # fmt: skip


def styled_source(seed: int, budget: int = 8) -> str:
    """The text of a random function of x, y, a and a sequence, with captured leaves w1 and w2."""
    return Styled(seed, budget).source()


PRELUDE = MORE + STYLES
