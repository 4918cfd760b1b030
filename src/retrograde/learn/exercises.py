"""The exercises as data, read from the text files beside this module.

A file is Markdown: a title, a few ``key: value`` lines, what to do, then sections ``start``,
``test``, ``hint`` (several), ``solution`` and ``wrong NAME`` with a block of Python in each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ..errors import LearnError


@dataclass(frozen=True)
class Exercise:
    """One exercise: what a learner gets, what is asked of it, and ways to be wrong."""

    number: int
    name: str
    title: str
    chapter: str
    probe: str
    about: str
    start: str
    test: str
    hints: tuple[str, ...]
    solution: str
    wrong: tuple[tuple[str, str], ...]

    @property
    def module(self) -> str:
        """The name of the learner's file without ``.py``."""
        return f"ex{self.number:02}_{self.name}"

    @property
    def file(self) -> str:
        """The learner's file."""
        return f"{self.module}.py"

    @property
    def test_file(self) -> str:
        """The test module a learner can run in place."""
        return f"test_{self.module}.py"


@cache
def exercises() -> tuple[Exercise, ...]:
    """All exercises, in order.

    >>> exercises()[0].name, len(exercises()) >= 30
    ('add', True)
    """
    folder = files(__package__) / "exercises"
    texts = sorted((it.name, it) for it in folder.iterdir() if it.name.endswith(".md"))
    return tuple(
        _read(number, name[3:-3], it.read_text(encoding="utf-8"))
        for number, (name, it) in enumerate(texts, 1)
    )


def exercise(name: str) -> Exercise:
    """The exercise of a name, a number or a file.

    >>> exercise("mul").number == exercise(exercise("mul").file).number
    True
    """
    bare = name.rpartition("/")[2].removesuffix(".py").removeprefix("test_")
    for it in exercises():
        if bare in (it.name, it.module, str(it.number), f"{it.number:02}"):
            return it
    raise LearnError.unknown(name, [it.name for it in exercises()])


def _read(number: int, name: str, text: str) -> Exercise:
    head, *rest = re.split(r"^## ", text, flags=re.MULTILINE)
    title, _, body = head.strip().removeprefix("# ").partition("\n")
    keys = dict(re.findall(r"^(\w+): (.+)$", body, re.MULTILINE))
    about = re.sub(r"^\w+: .+\n", "", body.strip() + "\n", flags=re.MULTILINE).strip()
    sections: list[tuple[str, str]] = []
    for section in rest:
        heading, _, content = section.partition("\n")
        sections.append((heading.strip(), content.strip()))
    single = {heading: _code(content) for heading, content in sections}
    start, test, solution = (
        single[part].replace("MODULE", f"ex{number:02}_{name}")
        for part in ("start", "test", "solution")
    )
    return Exercise(
        number, name, title.strip(), keys["chapter"], keys["probe"], about,
        start, test,
        tuple(content for heading, content in sections if heading == "hint"),
        solution,
        tuple(
            (heading.removeprefix("wrong "), _wrong(solution, content))
            for heading, content in sections
            if heading.startswith("wrong ")
        ),
    )  # fmt: skip


def _code(content: str) -> str:
    found = re.search(r"^```python\n(.*?)^```", content, re.MULTILINE | re.DOTALL)
    return found[1] if found else content


def _wrong(solution: str, content: str) -> str:
    """A wrong answer: a whole file, or the solution with one piece replaced by another."""
    pieces = re.findall(r"^```python\n(.*?)^```", content, re.MULTILINE | re.DOTALL)
    if len(pieces) == 1:
        return str(pieces[0])
    right, wrong = pieces
    if right not in solution:
        raise ValueError(f"the solution does not contain {right!r}")
    return solution.replace(right, wrong)
