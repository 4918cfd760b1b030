"""Random functions whose branches are hard to rejoin: flags that depend on each other, loops with
ends in the data, kinks, NaN in the code, nests built in branches, settings kept, things done once.
"""

from __future__ import annotations

from .style_programs import PRELUDE as STYLES
from .style_programs import Styled

HARD = """
NAN, INF = float("nan"), float("inf")
COUNTED, ROUNDS = [], {"n": 0}

class Box:
    __slots__ = ("leaf", "side")
    def __init__(self, leaf, side=0.5):
        self.leaf, self.side = leaf, side
    def scaled(self, v):
        return v * self.leaf if v > self.leaf else v + self.side
    def __getitem__(self, at):
        return self.leaf if at else self.side
    def __mul__(self, v):
        return v * self.side if v < self.leaf else v

BOXES = [Box(w1), Box(w2, 1.5)]

def flags(zs, s, up, down):
    alive, hit, low, days = True, False, s, 0
    for z in zs:
        s = s * rg.exp(0.2 * z)
        if s > up:
            alive = False
        if s < down:
            hit = True
        if alive and not hit:
            low = min(low, s)
            days += 1
        elif hit and s > 1.0:
            low = low + 0.1 * s
    return low * 1.5 if alive else low - s if hit else low

def regimes(zs, v):
    bull = v > 0.0
    for z in zs:
        if bull:
            v = v + 0.25 * z
            bull = v > -0.25
        else:
            v = v * 0.5
            if z > 0.5 or v > 0.75:
                bull = True
    return v if bull else v * v

def long_flags(s):
    alive, crossed, total = True, False, 0.0 * s
    for k in range(14):
        s = s * (0.75 if k % 3 else 1.75)
        if s > 2.0:
            alive = False
        if s < -0.5:
            crossed = not crossed
        if alive and s > 0.25:
            total = total + s
        if crossed or not alive:
            total = total * 0.5 + 0.125 * s
    return total

def shrunk(v, low=0.1):
    k = 0
    while v * v > low and k < 14:
        v = v * 0.6 if v > 1.0 else v * 0.7 - 0.01
        k = k + 1
    return v + 0.125 * k

def settled(v, target):
    rounds, step = 0, 1.0
    while abs(step) > 0.05:
        step = 0.5 * (target - v)
        v = v + step
        rounds += 1
        if rounds > 10:
            break
    else:
        v = v * 0.5
    return v

def nested_while(v, w):
    i = 0
    while i < 3:
        j = 0
        while v > w and j < 3:
            v = v * 0.5 - 0.125
            j += 1
        i += 1
        v = v + (0.25 if v > 0.0 else -0.5) * i
    return v

def logged(v):
    return rg.log(v) if v > 0.0 else 0.0 * v

def rooted(v):
    if v >= 0.0:
        r = rg.sqrt(v)
    else:
        r = -rg.sqrt(-v)
    return r

def divided(v, w):
    if w == 0.0:
        return v
    return v / w

def guarded(v, w):
    if w != 0 and v / w > 0.5:
        v = v / w
    return v

def powered(v):
    n = 2 if v > 0.0 else 3
    return v ** n

def detached(v):
    kept = v.detach() if v > 0.25 else v
    return kept * v

def quietly(v):
    with rg.no_grad():
        k = 0.5 * v if v > 0.0 else v + 1.0
    return v * 0.5 + k

def raising(v):
    if v > 1.2:
        raise ValueError("too much")
    return v * 0.5

def caught(v, w):
    try:
        v = raising(v)
    except ValueError:
        v = w * 0.25
    finally:
        w = w + 0.5
    return v * w

def counted(v):
    if v > 0.5:
        COUNTED.append(1)
        v = v * 0.5
    return v

def looked_up(v, w):
    found = {True: v, False: w}
    return found[v > 0.5] if v > 0.0 else found.get(w > v, v)

def built(v, w):
    out = []
    for q in (v, w, 0.5):
        if q > 0.0:
            out.append(q)
        elif q < -1.0:
            out += [q, 0.5 * q]
    return sum(out, 0.0 * v) + 0.125 * len(out)

def swapped(v, w):
    pair = [v, w]
    if v > w:
        pair = [w, v]
    pair[0] *= 0.5
    return pair[0] - pair[-1] * 0.25

def tupled(v, w):
    one, (other, flag) = (v, (w, True)) if v < w else (w * 0.5, (v, False))
    return one + other * 2.0 if flag else one * other

def kinks(v):
    return abs(v) + max(v, 0.0) - min(v, 0.0, -v) + rg.relu(v - 0.5) + rg.clip(v, -1.0, 1.0)

def scanned(zs, v):
    def body(carry, z):
        level, top = carry
        level = level + 0.25 * z
        if level > top:
            top = level
        return (level, top), top - level
    (level, top), falls = rg.scan(body, (v, v), zs)
    return top + level + sum(falls)

def picked(v, w, i):
    index = (v > 0.0) * 1.0 + (v > w)
    return rg.take([v, w, i], index)

def recursive(v, w, n):
    if n == 0:
        return v if v > w else w * 0.5
    if v > w:
        v, w = w, v * 0.75
    return recursive(v + 0.25, w, n - 1)

@rg.compile
def inner(v, w):
    return v * w if v > w else v - 0.5 * w

def viterbi(zs, a, b):
    for z in zs:
        a, b = max(a + z, b - 0.25), max(a * 0.5, b + 0.5 * z)
    return max(a, b)

def sortish(zs):
    best, second = zs[0], zs[1]
    if second > best:
        best, second = second, best
    for z in zs[2:]:
        if z > best:
            best, second = z, best
        elif z > second:
            second = z
    return best - 0.5 * second

def cycled():
    ROUNDS["n"] = 1 - ROUNDS["n"]
    return 0.5
"""


class Hard(Styled):
    """Writes one short function, most of whose lines are of these kinds."""

    def value(self, deep: int = 0) -> str:
        """An expression."""
        if deep > 1 or self.random.random() < 0.45:
            return super().value(deep + 1)
        one, other, name = self.value(deep + 1), self.atom(), self.pick(*self.values)
        cut = self.pick("zs", "zs[1:]", "zs[::-1]", "[*zs, x, y]", "[x, y, z]", "[*zs, *zs]")
        return self.pick(
            f"flags({cut}, {name}, {self.pick('1.5', 'y')}, {self.pick('0.5', '-0.5', 'x')})",
            f"regimes({cut}, {name})",
            f"long_flags({name})",
            f"shrunk({one}, {self.pick('0.1', '0.5')})",
            f"settled({name}, {other})",
            f"nested_while({name}, {self.pick('0.25', 'y')})",
            f"logged({one})",
            f"rooted({name})",
            f"divided({one}, {name})",
            f"guarded({one}, {self.pick(name, 'm', 'n')})",
            f"powered({name})",
            f"detached({one} + x)",
            f"quietly({name})",
            f"caught({one}, {name})",
            f"counted({name})",
            f"looked_up({name}, {other} * x)",
            f"built({one}, {name})",
            f"swapped({one}, {name})",
            f"tupled({name}, {one})",
            f"kinks({name})",
            f"scanned({cut}, {name})",
            f"picked({name}, {one}, z)",
            f"recursive({name}, {one}, 2)",
            f"inner({name}, {one} * x)",
            f"viterbi({cut}, {name}, y)",
            f"sortish([*{cut}, {name}])",
            f"BOXES[{self.pick(0, 1)}].scaled({name})",
            f"(BOXES[0] * {name})",
            f"BOXES[1][{self.pick(0, 1)}] * {name}",
            f"({name} if {self.test()} else {self.pick('NAN', 'INF', '-INF', '-0.0')} * 0.0)",
            f"(rg.log({name}) if {name} > 0.0 else rg.sqrt(-{name}) if {name} < -0.5 else 1.0)",
            f"(1.0 / {name} if {name} else {other})",
            f"rg.where({self.test()}, {name}, {one}) * x",
            f"({name} - {name} if {self.test()} else {one} / ({name} - {name} + 1.0))",
            f"(not {name} > {other}) * {one}",
            f"({name} == {other} or {name} != {name} or {self.test()}) * {one}",
            f"cycled() * {name}",
            f"max({one}, {other}, {name}) * min({name}, {other})",
            f"(min(zs) if {self.test()} else max(zs, key=lambda q: q))",
            f"rg.logsumexp([{name}, {one}, y])",
            f"rg.sum([q if {self.test()} else {name} for q in {cut}])",
        )

    def test(self, deep: int = 0) -> str:
        """A condition."""
        if self.random.random() < 0.6:
            return super().test(deep)
        one, other, third = self.pick(*self.values), self.atom(), self.pick(*self.values)
        sign = self.pick("<", ">", "<=", ">=", "==", "!=")
        return self.pick(
            f"{one} {sign} {other}",
            f"{one} < {other} <= {third}",
            f"{one} > {third} {sign} {other}",
            f"not ({one} > {other} and {third} <= {one})",
            f"({one} < NAN or {third} > {other})",
            f"{one} == {one}",
            f"bool({one} > {other})",
            f"(({one} > {other}) == ({third} > 0.0))",
            f"({one} > {other}) & ({third} < 1.0)",
            f"({one} > {other}) | ({third} < {one})",
            f"any(q > {one} for q in zs)",
            f"all([q < {one} for q in zs])",
            f"({one} - {third} > {other} if {one} > 0.0 else {third} < 0.5)",
            f"{one}",
        )

    def kinds(self, mine: str, loops: int) -> list[list[str]]:
        """Statements to pick from."""
        if self.random.random() < 0.35:
            return super().kinds(mine, loops)
        name, one, test, other = self.pick(*self.values), self.value(1), self.test(), self.test()
        third, low = self.test(), self.pick("0.25", "0.0", "w1")
        far = self.pick("break", "continue", f"return {name} * 0.5")
        n = self.pick(3, 6, 11)
        return [
            [f"{mine}, p, k2 = True, False, x", f"for q in range({n}):",
             "    k2 = k2 * 0.875 + 0.125 * q", f"    if {test}:", f"        {mine} = False",
             f"    if {other}:", "        p = True",
             f"    if {mine} and not p:", "        z = z + k2", "    elif p:",
             "        y = y * 0.5 + k2", "    x = x * 0.75 - 0.125"],
            [f"{mine} = {one}", f"while {low} < {mine} < 99.0:",
             f"    {mine} = {mine} * 0.5 - 0.0625",
             f"    z = z + {mine} if {mine} > {name} else z", f"x = x + {mine}"],
            [f"{mine}, k2 = x, 0", f"while k2 < {n} and {mine} * {mine} > 0.0625:",
             f"    if {mine} > 0.5:", f"        {mine} = {mine} * 0.5", "    else:",
             f"        {mine} = {mine} * 0.75 + 0.03125", f"    if {test}:",
             f"        y = y + 0.25 * {mine}", "    k2 += 1", f"z = z + {mine} * k2"],
            ["for q in zs:", f"    if {test}:", "        z = z + q", f"        if {other}:",
             f"            y = {one}", f"            if {third}:",
             "                x = x * 0.5 + q", "            else:", "                z = q"],
            [f"for {mine} in zs:", f"    if {test}:", f"        {far}",
             f"    if {mine} > {name}:", f"        z = z * 0.5 + {mine}"],
            [f"{mine} = [x, y, z]", f"if {test}:", f"    {mine}[1] = {one}",
             f"    {mine}.append(y)", f"z = sum({mine}) * 0.5"],
            [f"{mine} = [x, {name}] if {test} else [y, 0.5, {one}]", f"z = z + max({mine})"],
            [f"{mine} = {{}}", f"if {test}:", f"    {mine}['q'] = {one}",
             f"x = x + {mine}.get('q', {name})"],
            [f"{mine} = {self.pick('NAN', 'INF', '0.0', '-0.0')}", f"if {test}:",
             f"    {mine} = {one}", f"y = y + ({mine} if {mine} == {mine} else 0.5 * x)"],
            [f"{mine} = y / (x - x) if {test} else {one}",
             f"x = {mine} if {mine} < 10.0 else x"],
            [f"if {test}:", f"    z = rg.log({name})", "else:", f"    z = rg.sqrt({name} * x)",
             "z = z if z == z else 0.25 * y"],
            ["try:", f"    if {test}:", f"        {mine} = raising({name})", "    else:",
             f"        {mine} = {one}", "except ValueError:", f"    {mine} = y * 0.5",
             f"x = x + {mine}"],
            [f"if {test}:", "    with rg.no_grad():", f"        {mine} = {one}", "else:",
             f"    {mine} = {name}", f"y = y + {mine} * 0.5"],
            [f"{mine} = {one}", f"if {test}:", f"    {mine} += w1", f"if {mine} > w2:",
             f"    x = {mine} * w2", "elif w1 > x:", "    y = w1"],
            [f"p = {test}", f"{mine} = {other}", f"if p and {mine} or {third}:",
             f"    x = {one}", f"if not p or {mine}:", "    z = x * 0.5"],
            [f"{mine} = x", f"x = (y if {other} else {mine}) if {test} else {name} * 0.5",
             f"y = {mine} if x > {mine} else y"],
            [f"z, y, x = sorted_{self.fresh} = ordered(x, y, {name})",
             f"z = sum(sorted_{self.fresh}[:2])"],
            [f"assert {name} == {name} or True, 'text'", f"x = x * 0.5 if {test} else {one}"],
            [f"{mine} = 1", f"if {test}:", f"    {mine} = {self.pick('2', '0', '1.0', 'True')}",
             f"x = x * {mine} + {self.pick(f'{mine} * y', f'{mine}', f'-{mine}', f'{mine} ** 2')}"],
            [f"def h{self.fresh}(v, w=y):", f"    while v > {low} and v < 9.0:",
             "        v = v * 0.5 - 0.125", "    return v if v > w else w",
             f"z = h{self.fresh}({one}) + h{self.fresh}(z)"],
            [f"def h{self.fresh}(v):", f"    if {test}:", "        return v",
             "    elif v > y:", "        return x * v", "    return 0.5",
             f"z = sum([h{self.fresh}(q) for q in zs])"],
            [f"x, y, z = (z, x, y) if {test} else (x, y, z)"],
            [f"if {test}: x, z = z, x", f"if {other}: y, z = z, y", f"if {third}: x, y = y, x"],
        ]  # fmt: skip


def hard_source(seed: int, budget: int = 4) -> str:
    """The text of a random function of x, y, a and a sequence, with captured leaves w1 and w2."""
    return Hard(seed, budget).source()


PRELUDE = STYLES + HARD
