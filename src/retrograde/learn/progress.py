"""A learner's folder: the files of the exercises, and what was done, in one small JSON file."""

from __future__ import annotations

import json
import os
import tokenize
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from .._shared.writing import write_whole
from ..errors import LearnError
from .exercises import Exercise, exercises, name_in

STATE: Final = ".retrograde-learn.json"
DEFAULT: Final = "retrograde-exercises"
VERSION: Final = 1


class Folder:
    """The exercises of one learner, in one folder.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     mine = Folder.start(place)
    ...     mine.current.name, mine.file(mine.current).name, mine.done
    ('add', 'ex01_add.py', ())
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._state = _read_state(path / STATE)
        self._modules = _modules_in(path)

    @classmethod
    def find(cls, given: str | None) -> Folder:
        """The folder that was named, or this one, or the usual one inside this one."""
        places = [Path(given)] if given else [Path(), Path(DEFAULT)]
        for place in places:
            if (place / STATE).is_file() or _modules_in(place):
                return cls(place)
        raise LearnError.no_folder(given or DEFAULT)

    @classmethod
    def start(cls, given: str) -> Folder:
        """Make a folder of exercises, or add to one what is missing; nothing is overwritten."""
        path = Path(given)
        try:
            path.mkdir(parents=True, exist_ok=True)
            if not (path / STATE).exists():
                write_whole(path / STATE, _encoded(_empty()))
            folder = cls(path)
            for it in map(folder.own, exercises()):
                for name, text in ((it.file, it.start), (it.test_file, it.test)):
                    if not (path / name).exists():
                        (path / name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise LearnError.unwritable(given, error) from None
        return folder

    def own(self, it: Exercise) -> Exercise:
        """An exercise as it is called here: files that are there keep the numbers they have."""
        return replace(it, module=self._modules.get(it.name, it.module))

    def file(self, it: Exercise) -> Path:
        """The learner's file of an exercise."""
        return self.path / self.own(it).file

    def source(self, it: Exercise) -> str:
        """What the learner wrote."""
        path = self.file(it)
        if not path.is_file():
            raise LearnError.missing(path.name, it.name)
        return read_source(path)

    @property
    def done(self) -> tuple[str, ...]:
        """The names of the exercises that passed."""
        return tuple(it.name for it in exercises() if it.name in self._state["done"])

    @property
    def current(self) -> Exercise:
        """The one that was chosen, else the first, that is not done; the last when all are."""
        left = [it for it in exercises() if it.name not in self._state["done"]]
        chosen = [it for it in left if it.name == self._state["chosen"]]
        return self.own((chosen or left or exercises()[-1:])[0])

    def choose(self, it: Exercise) -> None:
        """Make an exercise the current one until it is done."""
        self._save(chosen=it.name)

    def hints_seen(self, it: Exercise) -> int:
        """How many hints of an exercise were asked for."""
        return int(self._state["hints"].get(it.name, 0))

    def saw_solution(self, it: Exercise) -> bool:
        """Whether the solution of an exercise was asked for."""
        return it.name in self._state["solutions"]

    def mark(self, it: Exercise, passed: bool) -> None:
        """Remember whether an exercise passed."""
        done = [name for name in self._state["done"] if name != it.name]
        self._save(done=[*done, it.name] if passed else done)

    def next_hint(self, it: Exercise) -> tuple[int, str]:
        """The next hint with its number, remembered as seen; after the last, the last again."""
        if not it.hints:
            raise LearnError.no_hint(it.name)
        number = min(self.hints_seen(it) + 1, len(it.hints))
        self._save(hints={**self._state["hints"], it.name: number})
        return number, it.hints[number - 1]

    def solution(self, it: Exercise) -> str:
        """The solution, remembered as seen."""
        if not self.saw_solution(it):
            self._save(solutions=[*self._state["solutions"], it.name])
        return it.solution

    def reset(self, it: Exercise) -> Path | None:
        """Bring back the files as they were; what the learner wrote is kept beside as ``.old``."""
        kept = None
        try:
            it = self.own(it)
            for name, text in ((it.file, it.start), (it.test_file, it.test)):
                path = self.path / name
                if name == it.file and path.exists() and read_source(path) != text:
                    kept = path.with_suffix(".py.old")
                    os.replace(path, kept)
                write_whole(path, text.encode())
        except OSError as error:
            raise LearnError.unwritable(str(self.path), error) from None
        self.mark(it, False)
        return kept

    def _save(self, **changed: Any) -> None:
        state = {**self._state, **changed}
        if state == self._state:
            return
        try:
            write_whole(self.path / STATE, _encoded(state))
        except OSError as error:
            raise LearnError.unwritable(str(self.path), error) from None
        self._state = state


def _modules_in(path: Path) -> dict[str, str]:
    """The learner's modules that are there, by the name of their exercise. Exercises that came
    later have moved the numbers of others, so a number says nothing."""
    found = sorted(file.stem for file in path.glob("ex*_*.py"))
    names = {it.name for it in exercises()}
    return {name_in(module): module for module in reversed(found) if name_in(module) in names}


def read_source(path: Path) -> str:
    """A file of Python as text, as Python reads it: a first line may say in which encoding."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except OSError as error:
        raise LearnError.unread(str(path), error.strerror or str(error)) from None
    except (UnicodeDecodeError, SyntaxError):
        raise LearnError.unread(str(path), "it is not text in UTF-8") from None


def _empty() -> dict[str, Any]:
    return {"version": VERSION, "done": [], "hints": {}, "solutions": [], "chosen": ""}


def _encoded(state: dict[str, Any]) -> bytes:
    return json.dumps(state, indent=1).encode()


def _read_state(path: Path) -> dict[str, Any]:
    if not path.exists():
        return _empty()
    try:
        state: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        state.setdefault("chosen", "")  # earlier versions wrote none
        if {name: type(it) for name, it in state.items()} != {
            name: type(it) for name, it in _empty().items()
        }:
            raise ValueError
    except (OSError, ValueError, AttributeError):
        raise LearnError.progress(str(path)) from None
    return state
