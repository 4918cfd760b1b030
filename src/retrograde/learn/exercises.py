"""The exercises as data, read from the text files beside this module.

An exercise is known by its name, that of its file; ``order.txt`` lists the names, and an exercise's
number is its place there: one that is put between others renames nothing. A file is Markdown: a
title, a few ``key: value`` lines, what to do, then sections ``start``, ``test``, ``hint``
(several), ``solution`` and ``wrong NAME`` with a block of Python in each.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from ..errors import LearnError

TASK_WIDTH: Final = 86
"""Characters of a line of the task in a learner's file, without its ``#``."""

ALL_QUESTIONS: Final = """

def test_everything_that_retrograde_learn_check_asks():
    import MODULE
    from retrograde.learn.inplace import assert_right

    assert_right("NAME", vars(MODULE))
"""


@dataclass(frozen=True)
class Exercise:
    """One exercise: what a learner gets, what is asked of it, and ways to be wrong.

    ``module`` is the learner's file without ``.py``; the number in it is for people.
    """

    number: int
    name: str
    title: str
    chapter: str
    probe: str
    about: str
    beginning: str
    test_of_module: str
    hints: tuple[str, ...]
    solution: str
    wrong: tuple[tuple[str, str], ...]
    module: str

    @property
    def file(self) -> str:
        """The learner's file."""
        return f"{self.module}.py"

    @property
    def start(self) -> str:
        """What the learner's file holds at first: the task, as on the screen, then the code."""
        lines = [f"{self.number}  {self.title}", ""]
        for paragraph in self.about.split("\n\n"):
            given = paragraph.startswith("    ")
            lines += paragraph.splitlines() if given else textwrap.wrap(paragraph, TASK_WIDTH)
            lines.append("")
        return "\n".join(f"# {line}".rstrip() for line in lines) + "\n" + self.beginning

    @property
    def test_file(self) -> str:
        """The test module a learner can run in place."""
        return f"test_{self.module}.py"

    @property
    def test(self) -> str:
        """What is in it: a few tests to read, and everything that ``check`` asks."""
        return (
            (self.test_of_module + ALL_QUESTIONS)
            .replace("MODULE", self.module)
            .replace("NAME", self.name)
        )


@cache
def exercises() -> tuple[Exercise, ...]:
    """All exercises, in order.

    >>> exercises()[0].name, len(exercises()) >= 30
    ('add', True)
    """
    folder = files(__package__) / "exercises"
    names = (folder / "order.txt").read_text(encoding="utf-8").split()
    return tuple(
        _read(number, name, (folder / f"{name}.md").read_text(encoding="utf-8"))
        for number, name in enumerate(names, 1)
    )


def name_in(file: str) -> str:
    """The name of the exercise a file is for, whatever number it was given.

    >>> name_in("mine/test_ex04_mul.py"), name_in("ex99_mul"), name_in("mul")
    ('mul', 'mul', 'mul')
    """
    bare = file.rpartition("/")[2].removesuffix(".py").removeprefix("test_")
    return re.sub(r"^ex\d+_", "", bare)


def exercise(name: str) -> Exercise:
    """The exercise of a name, a number or a file.

    >>> exercise("mul").number == exercise(exercise("mul").file).number
    True
    """
    bare = name_in(name)
    for it in exercises():
        if bare in (it.name, str(it.number), f"{it.number:02}"):
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
    start, test, solution = (single[part] for part in ("start", "test", "solution"))
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
        f"ex{number:02}_{name}",
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
