"""Random functions with branches and loops, as source text: plain Python that runs eagerly too."""

from __future__ import annotations

import linecache
import random
from itertools import count
from typing import Any

_NUMBERS = count()


def function_of(source: str, **names: Any) -> Any:
    """The function ``f`` of a source text that its lines can be read from."""
    file = f"<choice program {next(_NUMBERS)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    found: dict[str, Any] = dict(names)
    exec(compile(source, file, "exec"), found)
    return found["f"]


HELPERS = """
def cut(v, low):
    if v < low:
        v = low + 0.25 * (v - low)
    return v

def bent(v, w):
    u = v
    for k in (0.5, 1.5):
        u = u * 0.5 + (w if u > k else v - k)
    return u

def early(v):
    if v > 1.0:
        return v * 0.5
    return v + 0.125

class Model:
    def __init__(self):
        self.rate = 0.75
    def step(self, v):
        r = self.rate * v
        if r > 0.5:
            r = r - 0.25 * v * v
        return r
    def __call__(self, v):
        return self.step(v) if v > 0.0 else -v

model = Model()
"""


class Writer:
    """Writes one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.values = ["x", "y", "a", "w1", "w2"]
        self.numbers = ["n", "m"]
        self.flags = ["p"]
        self.fresh = 0
        self.budget = 26

    def source(self) -> str:
        """The text of the function."""
        self.line(1, "n, m, p = 0.0, 1.0, True")
        if self.random.random() < 0.5:
            self.line(1, "k = 0")
            self.numbers.append("k")
        self.block(1, self.random.randint(3, 6))
        terms = [self.value() for _ in range(self.random.randint(1, 3))]
        self.line(1, f"return {' + '.join(terms)} + {self.atom()} * x")
        return HELPERS + "\ndef f(x, y, a):\n" + "\n".join(self.lines) + "\n"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    # ---- expressions -------------------------------------------------------------------------

    def pick(self, *options: Any) -> Any:
        return self.random.choice(options)

    def atom(self) -> str:
        return self.pick(*self.values, *self.values, *self.numbers, "0.5", "2.0", "1.0", "-1.0")

    def value(self, deep: int = 0) -> str:
        if deep > 2 or self.random.random() < 0.25:
            return self.atom()
        kind = self.random.random()
        one, other = self.value(deep + 1), self.value(deep + 1)
        if kind < 0.5:
            return f"({one} {self.pick('+', '-', '*')} {other})"
        name = self.pick(*self.values)
        if kind < 0.58:
            return f"rg.{self.pick('tanh', 'exp', 'sqrt', 'log', 'sin')}({name} * 0.5)"
        if kind < 0.62:
            return f"({one} / ({name} + 2.5))"
        if kind < 0.72:
            return f"({one} if {self.test()} else {other})"
        if kind < 0.80:
            return f"{self.pick('min', 'max')}({one}, {other})"
        if kind < 0.84:
            return f"abs({one})"
        if kind < 0.88:
            return f"rg.{self.pick('maximum', 'minimum')}({name}, {other})"
        if kind < 0.96:
            call = self.pick("cut({}, 0.5)", "bent({}, y)", "model.step({})", "model({})")
            return call.format(name)
        if kind < 0.98:
            return f"early({name})"
        return f"({name} * {self.pick(*self.flags)})"

    def test(self, deep: int = 0) -> str:
        kind = self.random.random()
        one, other = self.pick(*self.values), self.atom()
        sign = self.pick("<", ">", "<=", ">=")
        if kind < 0.55 or deep > 1:
            return f"{one} {sign} {other}"
        if kind < 0.62:
            return f"{self.atom()} {sign} {self.atom()}"
        if kind < 0.70:
            return f"-0.5 < {one} < 1.5"
        if kind < 0.78:
            return f"not {self.test(deep + 1)}"
        if kind < 0.85:
            return self.pick(*self.flags)
        word = self.pick("and", "or")
        return f"({self.test(deep + 1)} {word} {self.test(deep + 1)})"

    # ---- statements --------------------------------------------------------------------------

    def block(self, depth: int, length: int, loops: int = 0) -> None:
        self.line(depth, "pass")
        for _ in range(length):
            if self.budget <= 0:
                break
            self.budget -= 1
            self.statement(depth, loops)

    def statement(self, depth: int, loops: int) -> None:
        kind = self.random.random()
        if depth > 4:
            kind *= 0.5
        if kind < 0.30:
            self.line(depth, f"{self.target()} = {self.value()}")
        elif kind < 0.38:
            name = self.pick(*[v for v in self.values if not v.startswith("w")])
            self.line(depth, f"{name} {self.pick('+=', '-=', '*=')} {self.atom()}")
        elif kind < 0.43:
            self.line(depth, f"{self.pick(*self.numbers)} {self.pick('+=', '-=')} 1")
        elif kind < 0.47:
            self.line(
                depth, f"{self.pick(*self.flags)} = {self.pick('True', 'False', self.test())}"
            )
        elif kind < 0.5:
            self.line(depth, f"x, y = {self.value(1)}, {self.value(1)}")
        elif kind < 0.8:
            self.line(depth, f"if {self.test()}:")
            self.block(depth + 1, self.random.randint(1, 3))
            if self.random.random() < 0.5:
                self.line(depth, "else:")
                self.block(depth + 1, self.random.randint(1, 2))
        elif kind < 0.9:
            self.line(depth, f"for i in range({self.random.randint(1, 4)}):")
            self.block(depth + 1, self.random.randint(1, 3), loops + 1)
        elif kind < 0.94:
            self.fresh += 1
            counter = f"c{self.fresh}"
            self.line(depth, f"{counter} = 0")
            self.line(depth, f"while {self.test()} and {counter} < {self.random.randint(1, 9)}:")
            self.line(depth + 1, f"{counter} += 1")
            self.line(depth + 1, f"x = {self.value(1)}")
            self.block(depth + 1, 1)
        elif kind < 0.96:
            self.line(depth, f"if {self.test()}:")
            leave = f"return {self.value(1)}"
            self.line(depth + 1, self.pick(leave, "break", "continue") if loops else leave)
        elif kind < 0.98:
            self.fresh += 1
            self.line(depth, f"l{self.fresh} = []")
            self.line(depth, f"if {self.test()}:")
            self.line(depth + 1, f"l{self.fresh}.append({self.value(1)})")
            self.line(depth, f"x = x + 0.5 * len(l{self.fresh})")
        else:
            self.line(depth, f"x = x + sum({self.value(2)} * j for j in (0.5, 1.5))")

    def target(self) -> str:
        return self.pick("x", "y", "a", "x", "y", *self.numbers)


def source_of(seed: int) -> str:
    """The text of a random function of x, y and a, with captured leaves w1 and w2."""
    return Writer(seed).source()
