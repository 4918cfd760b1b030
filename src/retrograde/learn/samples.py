"""Small programs on values as text, fixed or drawn from a seed, and answers to them.

A program such as ``b = a + a; c = b * b`` can be asked of any engine. A session says
what is done with it: one backward pass, two, one after the leaves were zeroed, or one that finds
gradients there.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from .inside.asking import PRIMED

LEAVES = ("a", "b", "c", "d")


@dataclass(frozen=True)
class Answer:
    """One number an engine or a function gave, or what it raised instead.

    Some do not count for passing: they only tell apart faults that look alike.
    """

    label: str
    number: float | None = None
    raised: str = ""
    why: str = ""
    counts: bool = True
    line: int | None = None


@dataclass(frozen=True)
class Program:
    """Statements on values separated by semicolons; the last assigned name is the root."""

    text: str
    leaves: tuple[tuple[str, float], ...]
    session: str = "once"

    @property
    def shown(self) -> str:
        """The program as one would write it on a board."""
        if "\n" in self.text:
            return "a chain of 5,000 additions"
        given = ", ".join(f"{name} = {number:g}" for name, number in self.leaves)
        how = {
            "once": "",
            "twice": ", backward twice",
            "zeroed": ", again after zeroing the leaves",
            "primed": f", gradients of the leaves beginning at {PRIMED:g}",
        }
        return f"{self.text}   with {given}{how[self.session]}"

    @property
    def labels(self) -> tuple[str, ...]:
        """What is asked of it: the value, every leaf's gradient, once also the root's."""
        grads = [f"{name}.grad" for name, _ in self.leaves]
        last = [f"{self.root}.grad"] if self.session == "once" else []
        return (f"{self.root}.data", *grads, *last)

    @property
    def root(self) -> str:
        """The name of the last result."""
        return self.text.rpartition(";")[2].partition("=")[0].strip()


def program(text: str, session: str = "once", **leaves: float) -> Program:
    """A program of a text and its leaves.

    >>> program("y = a + a", a=3.0).shown
    'y = a + a   with a = 3'
    """
    return Program(text, tuple(leaves.items()), session)


def chance_of(text: str) -> random.Random:
    """Numbers drawn from a text, whatever it holds: names of files need not be proper Unicode.

    >>> chance_of("ada").random() == chance_of("ada").random() != chance_of("\\udce9").random()
    True
    """
    return random.Random(text.encode("utf-8", "surrogatepass"))


def drawn(seed: object, ops: Sequence[str], steps: int = 4, leaves: int = 3) -> Program:
    """A program drawn from a seed: its leaves and results are reused, so that order matters.

    >>> drawn("ada", ["add", "mul"]) == drawn("ada", ["add", "mul"])
    True
    """
    chance = chance_of(f"program {seed}")
    sizes = chance.sample([x for x in range(4, 20) if x not in (5, 10)], leaves)
    numbers = {name: chance.choice((-1, 1)) * size / 10 for name, size in zip(LEAVES, sizes)}
    names, statements = list(numbers), []
    unused = list(names)
    for step in range(steps):
        result = f"v{step + 1}" if step + 1 < steps else "y"
        first = unused.pop(0) if unused else chance.choice(names)
        waiting = unused[0] if unused and chance.random() < 0.6 else ""
        second = waiting or chance.choice(names[-3:])
        op = chance.choice(list(ops))
        if op == "sub" and first == second:
            op = "add"  # x - x is 0, and so is everything after it
        statements.append(f"{result} = {_operation(op, first, second)}")
        if waiting and op in _SIGNS:
            unused.pop(0)
        names.append(result)
        unused.append(result)
    rest = [name for name in unused if name != "y"]
    if rest:  # everything made is used
        join = " + " if "add" in ops else " * "
        statements[-1] = f"y = {join.join([*rest, '(' + statements[-1][4:] + ')'])}"
    return Program("; ".join(statements), tuple(numbers.items()))


_SIGNS = {"add": "+", "sub": "-", "mul": "*"}


def _operation(op: str, first: str, second: str) -> str:
    if op in _SIGNS:
        return f"{first} {_SIGNS[op]} {second}"
    if op == "div":
        return f"{first} / ({second}*{second} + a*a)"  # a leaf is never 0
    if op == "pow":
        return f"{first}**3"
    if op == "neg":
        return f"-{first}"
    if op == "log":
        return f"log({first}*{first} + a*a)"
    return f"{op}({first})"


def ops_in(text: str) -> set[str]:
    """The operations a program needs.

    >>> sorted(ops_in("y = exp(a) - b"))
    ['exp', 'sub']
    """
    signs = {"+": "add", "*": "mul", "/": "div", "**": "pow", "-": "sub"}
    bare = re.sub(r"[=(;,]\s*-", "= neg ", text)
    found = {signs[sign] for sign in re.findall(r"\*\*|[-+*/]", bare)}
    if "neg" in bare:
        found.add("neg")
    return found | set(re.findall(r"([a-z]+)\(", text)) - {"range"}
