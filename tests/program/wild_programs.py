"""Random functions in the ways people write: state in lists and dicts, exceptions, walrus, match."""

from __future__ import annotations

from .choice_programs import HELPERS, Writer

MORE = """
import math
from collections import namedtuple

Pair = namedtuple("Pair", "one other")
TABLE = {"low": 0.25, "high": 1.5, 0: 0.5, 1: 2.0}

def signed(v, *more, scale=1.0):
    return v * scale if v > 0 else -v + sum(more)

def stepped(v, n=3):
    while n:
        n -= 1
        if v > 1.0:
            break
        v = v * 1.25 + 0.0625
    return v

def nothing(v):
    if v > 0.25:
        return v

def halved(v, depth=0):
    return v if v < 0.5 or depth > 4 else halved(v * 0.5, depth + 1)

def pairs(v, w):
    if v > w:
        v, w = w, v
    return v, w

class Cart:
    def __init__(self, pos):
        self.pos, self.moves = pos, 0
    def push(self, u):
        self.moves += 1
        self.pos = self.pos + (0.1 if u > 0.0 else -0.2) * u
        return self
"""


class Wild(Writer):
    """Writes one function, half of whose statements are of other kinds."""

    def source(self) -> str:
        """The text of the function."""
        self.line(1, "s, d, m2, z = [x, y, 0.5], {'u': x, 'v': 1.0}, 0, y")
        plain = super().source()
        return plain.replace(HELPERS, HELPERS + MORE)

    def value(self, deep: int = 0) -> str:
        """An expression."""
        if deep > 2 or self.random.random() < 0.7:
            return super().value(deep)
        one, other = self.value(deep + 1), self.value(deep + 1)
        name = self.pick(*self.values)
        return self.pick(
            f"signed({one}, {name}, scale=0.5)",
            f"stepped({name})",
            f"halved({name})",
            f"sum(pairs({one}, {name}))",
            f"s[{self.pick(0, 1, 2, -1)}]",
            f"d[{self.pick('u', 'v')!r}]",
            f"(lambda q, r={name}: q if q > r else r * 0.5)({one})",
            f"sum(q for q in ({one}, {name}, y) if q > {self.pick('0.0', '0.5', 'x')})",
            f"max([{one}, {other}, {name}])",
            f"({name} or {one})",
            f"({self.test()} and {name} or {one})",
            f"(x, y, {name})[{self.test()}]",
            f"({one} if {self.test()} else {self.pick('0', '1', '-0.0', '2.5')})",
            f"({name} * ({self.test()}))",
            f"({name} * ({self.test()} + {self.pick(*self.flags)}))",
            f"rg.where({name} > {other}, {one}, {name})",
            f"({name} * (2 if any(q > 0.5 for q in (x, {name})) else 3))",
            f"({name} * {self.pick('n', 'm')} + len(s))",
            f"({name} * TABLE['low' if {self.test()} else 'high'])",
            f"sorted([{name}, y, 0.25])[{self.pick(0, 1, 2)}]",
            f"Cart({name}).push({self.atom()}).push(y).pos",
            f"abs({one} - {other})",
            f"({name} if w1 > {name} else w2)",
            f"({self.pick('w1', 'w2')} if {self.test()} else {self.pick('w1', 'w2', '0.5')})",
        )  # fmt: skip

    def statement(self, depth: int, loops: int) -> None:
        """A statement."""
        if depth > 3 or self.random.random() < 0.55:
            super().statement(depth, loops)
            return
        self.fresh += 1
        mine = f"t{self.fresh}"
        lines: list[str] = self.pick(*self.kinds(mine, loops))
        for each in lines:
            if each.strip() == "BLOCK":
                self.block(depth + 1, self.random.randint(1, 2))
            else:
                self.line(depth, each)

    def kinds(self, mine: str, loops: int) -> list[list[str]]:
        """Statements to pick from."""
        name, one = self.pick(*self.values), self.value(1)
        test, other = self.test(), self.value(1)
        leave = self.pick("break", "continue") if loops else "pass"
        return [
            [f"if ({mine} := {one}) > {name}:", f"    x = {mine} - y", "BLOCK"],
            [f"{mine} = {one}", f"if {mine} > 0.0 and {mine} < {name}:", f"    y = {mine}"],
            ["try:", f"    if {test}:", f"        y = {one} / {self.pick('n', '2.0', 'x')}",
             "    else:", f"        x = {other}", "except ZeroDivisionError:", f"    x = {name}"],
            ["try:", f"    {mine} = s[m2] * {name}", "except IndexError:", f"    {mine} = y",
             f"x = x + {mine}"],
            [f"if {test}:", "    m2 += 1", f"x = x * m2 + {name}"],
            [f"if {test}:", "    m2 = 1", "match m2:", "    case 0:", f"        y = {one}",
             "    case 1 | 2:", f"        x = {other}", "    case _:", f"        z = {name}"],
            [f"s[{self.pick(0, 1)}] = {one}", f"if {test}:", f"    s[2] = s[2] + {name}"],
            [f"if {test}:", f"    s = [{one}, {other}, {name}]"],
            ["s = [q * 0.5 if q > y else q for q in s]"],
            [f"d['u'] = {one}", f"if {test}:", f"    d['v'] = {name}", "x = x + d['v']"],
            [f"for q in (x, y, {name}):", f"    if q > {self.atom()}:", f"        {leave}",
             "    z = z + q * 0.25"],
            [f"for {mine} in range(m2 + 2):", f"    x = x * 0.5 + {mine} * 0.125", "BLOCK"],
            ["for q in (0.25, 0.5, x):", "    if y > q:", "        break", "    y = y + 0.375",
             "else:", f"    y = {one}"],
            [f"{mine} = 0", "while True:", f"    {mine} += 1", "    x = x * 0.75",
             f"    if {self.test()} or {mine} > 3:", "        break"],
            [f"{mine} = {one}", f"while {mine} > 0.5 and m2 < 6:",
             f"    {mine} = {mine} * 0.5", f"    z = z + {mine}", "    m2 += 1"],
            [f"def g{self.fresh}(q, k={self.pick('0.5', '2')}):", f"    if q > {name}:",
             "        q = q * k", "    return q", f"x = g{self.fresh}({one}) + g{self.fresh}(y)"],
            [f"{mine} = nothing({name})", f"y = y if {mine} is None else {mine} * 0.5"],
            [f"{mine} = Pair(x, {one})", f"if {mine}.one > {mine}.other:",
             f"    x = {mine}.other * 0.5"],
            [f"x, (y, z) = (y, (x, z)) if {test} else ({one}, (y, {name}))"],
            [f"{mine}, *q = (x, y, z) if {test} else (y, z, x)", f"x = {mine} + sum(q) * 0.5"],
            [f"{mine} = 'p' if {test} else 'q'", f"x = x * (2.0 if {mine} == 'p' else 0.5)"],
            [f"p = {test}", f"z = z * (not p) + {name} * p"],
            [f"p = p if {test} else not p", "n = n + p"],
            [f"k2 = {self.pick('1', '0')} if {test} else {self.pick('0', '2')}",
             f"x = x + {self.pick('k2 * y', 'TABLE.get(k2, 0.75)', 'k2', 'len(str(k2))')}"],
            [f"k2 = {self.pick('1.0', '0.5')} if {test} else {self.pick('0.25', '2', 'y')}",
             f"y = {self.pick('k2 * k2', 'abs(k2)', '-k2', 'k2 + 1', 'k2 * -1', 'max(k2, 0.75)')}"
             f" + {name} * 0.5"],
            [f"if 0.0 < {name} <= {one} < 2.0:", "BLOCK"],
            [f"if {test}:", f"    raise_ = {one}", "else:", f"    raise_ = {name}",
             "x = x + raise_ * 0.5"],
            [f"if {test}:", f"    {mine} = {one}", f"    y = {mine} * {mine}", f"    del {mine}"],
            [f"if {test}:", f"    {mine} = {one}", "else:", f"    {mine} = 2",
             f"y = y * {mine} - {mine}"],
            [f"assert {test} or True", f"if {test}:", f"    z = {one} if {name} > z else z"],
            [f"if {test}:", f"    return {one}"],
        ]  # fmt: skip

    def target(self) -> str:
        """A name to assign to."""
        return self.pick("z", super().target())


def wild_source(seed: int) -> str:
    """The text of a random function of x, y and a, with captured leaves w1 and w2."""
    wild = Wild(seed)
    wild.values.append("z")
    return wild.source()
