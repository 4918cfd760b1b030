"""Programs drawn at random, as plain data: any op that IEEE 754 defines to the bit, n-ary ones,
takes, stops and guards, on inputs of every kind, with numbers wherever they lead. And functions as
source: helpers that read settings, branch and print.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from retrograde.ops import OPS
from retrograde.program.checker import check
from retrograde.program.program import (
    CAPTURED,
    CONSTANT,
    ROW,
    UNIFORM,
    Guard,
    Input,
    Instruction,
    Program,
)

from ..law.expressions import SMOOTH as LASTING
from ..law.expressions import is_exact
from .support import AWKWARD

EXACT = sorted(name for name, op in OPS.items() if is_exact(op))
SMOOTH = sorted(set(LASTING) - set(EXACT))
TAME = sorted(
    "add sub mul neg square tanh sigmoid sin cos atan erf softplus gelu silu relu abs maximum "
    "minimum where clip less leaky_relu".split()
)
"""Ops that stay finite on whatever they are given, near enough."""
LENGTH = 3
"""Of the lists to take from; the row input 0 is an index into them."""


@dataclass(frozen=True)
class Wild:
    """A program, and the seed of its rows."""

    program: Program
    seed: int
    tame: bool = False

    def rows(self, count: int) -> list[dict[int, float]]:
        """Rows of numbers by id; what is uniform is the same in all."""
        chance = random.Random(self.seed)

        def number() -> float:
            if chance.random() < 0.3 and not self.tame:
                return chance.choice(AWKWARD)
            return chance.uniform(-3.0, 3.0)

        uniform = {i: number() for i, g in self.program.inputs.items() if g.kind != ROW}
        return [
            {
                **uniform,
                **{i: number() for i, g in self.program.inputs.items() if g.kind == ROW},
                0: float(chance.randrange(LENGTH)),
            }
            for _ in range(count)
        ]


@st.composite
def wild_programs(
    draw: Callable[..., Any],
    ops: list[str] | None = None,
    tame: bool = False,
    stops: bool = True,
    most: int = 12,
) -> Wild:
    """A well formed program. Tame ones have no conditions and no numbers that lead nowhere."""
    inputs = {0: Input(ROW, "index")}
    kinds = st.sampled_from([ROW, ROW, UNIFORM, CAPTURED, CONSTANT])
    constants = st.sampled_from([0.5, 2.0, -1.0, 1.0, 0.0] if tame else AWKWARD)
    for kind in [ROW, *draw(st.lists(kinds, min_size=1, max_size=5))]:
        index = len(inputs)
        number = draw(constants) if kind == CONSTANT else 0.0
        inputs[index] = Input(kind, "" if kind == CONSTANT else f"{kind} {index}", number)
    for column in range(draw(st.sampled_from([0, 0, 2, 9]))):  # an argument of several numbers
        inputs[len(inputs)] = Input(ROW, f"vector[{column}]", 0.0, "vector", column)
    program = Program(inputs=inputs, count=len(inputs))
    wide = ["sum", "dot", "take", "fma"] + ["stop"] * stops
    names = st.one_of(st.sampled_from(ops or (TAME if tame else EXACT)), st.sampled_from(wide))
    for _ in range(draw(st.integers(1, most))):
        _add(draw, program, draw(names))
    made = st.integers(1, program.count - 1)
    program.outputs = draw(st.lists(made, min_size=1, max_size=3))
    if not tame:
        program.guards = [
            Guard(condition, draw(st.booleans())) for condition in draw(st.lists(made, max_size=2))
        ]
    return Wild(check(program, "drawing"), draw(st.integers(0, 2**32)), tame)


def _add(draw: Callable[..., Any], program: Program, name: str) -> None:
    """One more instruction on what is there."""
    operands = {"sum": 4, "dot": 6, "take": LENGTH, "fma": 3, "stop": 1}
    count = OPS[name].arity if name in OPS else operands[name]
    if name in ("sum", "dot"):
        count -= 2 * draw(st.integers(0, 1))
    known = st.integers(1, program.count - 1)
    args = tuple(draw(known) for _ in range(count)) + ((0,) if name == "take" else ())
    program.instructions.append(Instruction(name, (program.count,), args))
    program.count += 1


PLACES = (
    "G{n}", "CFG.a{n}", "CFG.deep.items[{n}]", "D['k{n}']", "L[{n}]", "MOD.v{n}", "Shared.c{n}",
    "self.a{n}", "CFG.deep.by['k{n}'].a{n}", "cell{n}", "SLOTS.s{n}",
)  # fmt: skip
"""Where a setting may be kept, by its number."""


@dataclass(frozen=True)
class WildFunction:
    """A function as source, the places of its settings, and settings to try one after the other.

    ``source`` defines ``f(x)`` and ``put(number, setting)``; it finds ``rg`` there.
    """

    source: str
    settings: tuple[tuple[int, float], ...]


@st.composite
def wild_functions(draw: Callable[..., Any]) -> WildFunction:
    """Helpers that call helpers; each reads a setting, and may branch, print or keep something."""
    count = draw(st.integers(1, 5))
    places = [draw(st.sampled_from(PLACES)).format(n=n) for n in range(count)]
    helpers = []
    for n, place in enumerate(places):
        body = [f"y = x {draw(st.sampled_from('+-*'))} {place}"]
        if draw(st.booleans()):
            body.append("print(f'{y:.3f}', x, [y], y > 0)")
        if draw(st.booleans()):
            body.append("self.last = y; y = self.last * 1.0")
        if n + 1 < count:
            call = draw(
                st.sampled_from(
                    [
                        "self.h{0}(y)",
                        "(lambda v: self.h{0}(v))(y)",
                        "sum([self.h{0}(v) for v in [y, x]])",
                    ]
                )
            ).format(n + 1)
            other = draw(st.sampled_from(["y", f"y * {place}", f"-y + {places[-1]}"]))
            choice = f"y = {call} if y > {draw(st.integers(-1, 1))} else {other}"
            body.append(draw(st.sampled_from([f"y = {call}", choice])))
        text = "\n        ".join([*body, "return y"])
        helpers.append(f"    def h{n}(self, x):\n        {text}")
    cells = ", ".join(f"cell{n}=1.0" for n in range(count))
    puts = "".join(
        f"    if number == {n}: {place} = setting\n" for n, place in enumerate(places)
    ).replace("self.", "MODEL.")
    source = (
        "import types\n"
        f"class Slots: __slots__ = {tuple(f's{n}' for n in range(count))!r}\n"
        "class Shared: pass\n"
        "SLOTS, CFG, MOD = Slots(), types.SimpleNamespace(), types.ModuleType('wild_config')\n"
        f"D, L = {{}}, [1.0] * {count}\n"
        f"CFG.deep = types.SimpleNamespace(items=[1.0] * {count}, by={{}})\n"
        f"for n in range({count}): CFG.deep.by[f'k{{n}}'] = types.SimpleNamespace()\n"
        f"def make({cells}):\n    class Model:\n"
        + "\n".join(f"    {line}" for helper in helpers for line in helper.splitlines())
        + "\n    def put(number, setting):\n"
        + "".join(f"        nonlocal cell{n}\n" for n in range(count))
        + f"        global {', '.join(f'G{n}' for n in range(count))}\n"
        + "".join(f"    {line}\n" for line in puts.splitlines())
        + "    return Model(), put\n"
        "MODEL, put = make()\n"
        "def f(x): return MODEL.h0(x)\n"
    )
    number = st.sampled_from([0.5, 2.0, -1.5, 3.0, -0.25])
    first = [(n, draw(number)) for n in range(count)]
    later = draw(st.lists(st.tuples(st.integers(0, count - 1), number), min_size=1, max_size=6))
    return WildFunction(source, (*first, *later))
