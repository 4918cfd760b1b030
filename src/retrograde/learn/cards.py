"""Predict-then-reveal cards: an expression of one's own, drawn from a student's name.

The front asks, the back answers; both are data first, then text or SVG.
"""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass
from typing import Any

from .._values.elementwise import exp, log, relu, tanh
from ..value import Value
from .drawing import BACKWARD, FAINT, MONO, svg_page, svg_text
from .exhibits import exhibit_svg
from .plain import plain
from .samples import Program, drawn

LEVELS = (
    (("add", "mul"), 2, 2), (("add", "mul", "sub"), 3, 3), (("add", "mul", "sub"), 4, 3),
    (("add", "mul", "sub", "relu"), 5, 3), (("add", "mul", "sub", "relu", "tanh"), 6, 4),
)  # fmt: skip
"""Operations, steps and leaves of each card: they grow."""

ATTEMPTS = 20


@dataclass(frozen=True)
class Card:
    """One question and its answer: the expression, its numbers, and every gradient."""

    student: str
    number: int
    expression: str
    leaves: dict[str, float]
    data: dict[str, float]
    gradients: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    @property
    def front(self) -> list[str]:
        """What is asked, a line each."""
        given = ", ".join(f"{name} = {number:g}" for name, number in self.leaves.items())
        statements = [it.strip() for it in self.expression.split(";")]
        asked = [f"d y / d {name} = ______" for name in self.leaves]
        return [*statements, f"with {given}", "", "y = ______", *asked]

    @property
    def back(self) -> list[str]:
        """The answers, a line each."""
        widest = max(len(f"{number:.6g}") for number in self.data.values())
        return [
            f"{name:<2} = {self.data[name] + 0.0:<{widest}.6g}   "  # + 0.0: no -0
            f"gradient {self.gradients[name] + 0.0:.6g}"
            for name in self.data
        ]

    def text(self) -> str:
        """Both sides as text, the answers below a line to fold along."""
        title = f"Card {self.number} for {self.student}: predict"
        fold = "- - - - - - - - - - - - fold here, then reveal - - - - - - - - - - - -"
        return "\n".join([title, "", *(f"  {it}" for it in self.front), "", fold, "",
                          *(f"  {it}" for it in self.back), ""])  # fmt: skip

    def front_svg(self) -> str:
        """The side that asks."""
        parts = [svg_text(24, 40, f"Predict · {self.student} · {self.number}", 18, weight="bold")]
        parts += [
            svg_text(24, 76 + 26 * place, line, 16, family=MONO)
            for place, line in enumerate(self.front)
        ]
        title = f"Card {self.number} for {self.student}: predict {self.expression}"
        return svg_page(560, 100 + 26 * len(self.front), title, parts)

    def back_svg(self) -> str:
        """The side that answers."""
        parts = [
            svg_text(
                24, 40, f"Reveal · {self.student} · {self.number}", 18, BACKWARD, weight="bold"
            ),
        ]
        asked = textwrap.wrap(self.expression, 60)
        parts += [
            svg_text(24, 66 + 18 * place, line, 13, FAINT, MONO) for place, line in enumerate(asked)
        ]
        top = 82 + 18 * len(asked)
        parts += [
            svg_text(24, top + 26 * place, line, 16, family=MONO)
            for place, line in enumerate(self.back)
        ]
        title = f"Card {self.number} for {self.student}: the answers"
        return svg_page(560, top + 26 * len(self.back), title, parts)

    def graph_svg(self) -> str:
        """The graph with data and gradients, for the back."""
        return exhibit_svg("graph", _run(self.expression, self.leaves)["y"])


def _run(text: str, leaves: dict[str, float]) -> dict[str, Value]:
    names: dict[str, Any] = {name: Value(number, label=name) for name, number in leaves.items()}
    functions = {"exp": exp, "log": log, "relu": relu, "tanh": tanh}
    exec(text, {"__builtins__": {}, **functions}, names)  # the package's own text
    for name, value in names.items():
        if not value.label:
            value.label = name
    return names


def card(student: str, number: int) -> Card:
    """A student's card: the same for the same name and number.

    >>> card("ada", 1) == card("ada", 1), card("ada", 1) == card("bob", 1)
    (True, False)
    """
    ops, steps, leaves = LEVELS[min(number, len(LEVELS)) - 1]
    for attempt in range(ATTEMPTS):
        again = f" again {attempt}" if attempt else ""
        it: Program = drawn(f"{student} card {number}{again}", ops, steps, leaves)
        numbers = dict(it.leaves)
        names = _run(it.text, numbers)
        names["y"].backward()
        if all(names[leaf].grad for leaf in numbers):
            break  # a card where nothing counts teaches little
    return Card(
        plain(student), number, it.text, numbers,
        {name: value.data for name, value in names.items()},
        {name: value.grad for name, value in names.items()},
    )  # fmt: skip
