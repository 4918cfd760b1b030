"""Who judges a generated answer: `check`, the test module, and many more questions than those."""

from __future__ import annotations

import contextlib
import io
import os
import random
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from retrograde.learn import inplace, tasks
from retrograde.learn.checking import check_source
from retrograde.learn.diagnosis import agree, diagnose, gives, right_answers
from retrograde.learn.exercises import Exercise, exercise
from retrograde.learn.faults import engine
from retrograde.learn.inside.tasks import values_under
from retrograde.learn.questions import ask_call, ask_engine, ask_program, local
from retrograde.learn.rules import RULES
from retrograde.learn.samples import Answer, Program, drawn

SECONDS = 5
"""What an answer may take for one judge."""

POINTS, PROGRAMS, GRAPHS = 50, 40, 120
OPS = ("add", "sub", "mul", "div", "pow", "neg", "exp", "log", "tanh", "relu", "sigmoid")


@dataclass(frozen=True)
class Judged:
    """One answer: what was changed, and who let it pass."""

    exercise: str
    what: str
    right: bool
    check: bool
    test: bool

    @property
    def quarrel(self) -> str:
        """Who says otherwise than the many questions; empty where all agree."""
        others = {"check": self.check, "the test module": self.test}
        told = [f"{who} {'passes' if it else 'fails'} it" for who, it in others.items()
                if it != self.right]  # fmt: skip
        return " and ".join(told) + (f": it is {'right' if self.right else 'wrong'}" * bool(told))

    def data(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "quarrel": self.quarrel}


def judged(name: str, what: str, source: str) -> Judged:
    """The three verdicts on an answer."""
    it = exercise(name)
    right_answers(it.probe)  # here, so that the processes have them
    _questions(it.probe)
    return Judged(
        name, what,
        right=apart(lambda: is_right(it, source)),
        check=check_source(it, source, SECONDS, naming=False).passed,
        test=apart(lambda: passes_its_module(it, source)),
    )  # fmt: skip


def apart(judge: Callable[[], bool]) -> bool:
    """A verdict from a process of its own, with a time limit; whatever ends it is no."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        signal.alarm(2 * SECONDS)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                passed = judge()
        except BaseException:
            passed = False
        os._exit(0 if passed else 1)
    return os.waitpid(child, 0)[1] == 0


def passes_its_module(it: Exercise, source: str) -> bool:
    """Whether pytest passes the module beside an exercise, in a folder as a learner has it."""
    inplace.diagnose = partial(diagnose, naming=False)  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / it.file).write_text(source, encoding="utf-8")
        (Path(folder) / it.test_file).write_text(it.test, encoding="utf-8")
        os.chdir(folder)
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        quiet = ["-q", "-x", "--tb=no", "--assert=plain", "-p", "no:cacheprovider"]
        return pytest.main([*quiet, "--rootdir", folder, "-c", os.devnull, it.test_file]) == 0


# ---- many questions ------------------------------------------------------------------------------


def is_right(it: Exercise, source: str) -> bool:
    """Whether an answer is right, as far as hundreds of questions can say."""
    warnings.simplefilter("ignore")  # odd code is what is wanted
    namespace: dict[str, Any] = {"__name__": it.module}
    exec(compile(source, it.file, "exec"), namespace)
    kind, *words = it.probe.split()
    if kind == "rule":
        return _right_rule(words[0], namespace)
    if kind == "engine":
        return _right_engine(it.probe, namespace)
    return all(_TASKS[kind](namespace))


def _right_rule(name: str, namespace: dict[str, Any]) -> bool:
    rule, ask = RULES[name], local(namespace)
    for seed in range(POINTS):
        for point in rule.points(f"sweep {seed}"):
            right = rule.right(*point)
            many = right if isinstance(right, tuple) else (right,)
            several = len(right) if isinstance(right, tuple) else 0
            found = ask_call(ask, rule.function, point, several)
            numbers = [each.number for each in found]
            if not all(_agrees(a, b) for a, b in zip(numbers, many, strict=True)):
                return False
    return True


@cache
def _questions(text: str) -> list[tuple[Program, list[Answer]]]:
    """Programs drawn for a probe of engines, and the right answers to them."""
    kind, *words = text.split()
    if kind != "engine":
        return []
    ops = [word for word in words if word in OPS]
    sessions = ["once", *(it for it in ("twice", "zeroed") if it in words)]
    drawn_ones = [drawn(f"sweep {number}", ops, 2 + number % 7) for number in range(PROGRAMS)]
    asked = [replace(it, session=session) for it in drawn_ones for session in sessions]
    right = local({"Value": engine()})
    return [(it, ask_program(right, it)) for it in asked]


def _right_engine(text: str, namespace: dict[str, Any]) -> bool:
    ask = local(namespace)
    if not gives(text, namespace, [it for it in right_answers(text) if it.counts]):
        return False
    return not isinstance(ask_engine(ask), str) and all(
        _alike(ask_program(ask, it), right) for it, right in _questions(text)
    )


def _agrees(mine: float | None, right: float | None) -> bool:
    return mine is not None and right is not None and agree(mine, right)


def _alike(mine: list[Answer], theirs: list[Answer]) -> bool:
    return len(mine) == len(theirs) and all(
        _agrees(one.number, other.number) for one, other in zip(mine, theirs)
    )


def _graphs(kind: Any, ops: int = 8) -> Iterator[Any]:
    for number in range(GRAPHS):
        chance = random.Random(f"sweep graph {number}")
        made = [kind(chance.randint(2, 9) / 4) for _ in range(chance.randint(1, 3))]
        for _ in range(chance.randint(1, ops)):
            one, other = chance.choice(made[-3:]), chance.choice(made)
            made.append(one + other if chance.random() < 0.5 else one * other)
        yield made[-1]


def _orders(namespace: dict[str, Any]) -> Iterator[bool]:
    for root in _graphs(namespace["Value"]):
        listed = list(namespace["order"](root))
        place = {id(value): at for at, value in enumerate(listed)}
        yield len(place) == len(listed)
        yield set(place) == set(values_under(root))
        yield all(place[id(it)] < place[id(value)] for value in listed for it in value.inputs)


def _zeroes(namespace: dict[str, Any]) -> Iterator[bool]:
    for root in _graphs(namespace["Value"]):
        root.backward()
        under = values_under(root).values()
        before = [value.data for value in under]
        namespace["zero_grad"](root)
        yield [value.data for value in under] == before
        yield all(value.grad == 0.0 for value in under)


def _detaches(namespace: dict[str, Any]) -> Iterator[bool]:
    for root in _graphs(namespace["Value"]):
        before = {name: list(value.inputs) for name, value in values_under(root).items()}
        apart = namespace["detach"](root)
        yield apart is not root and apart.data == root.data and not list(apart.inputs)
        (apart * apart).backward()
        yield all(value.grad == 0.0 for value in values_under(root).values())
        yield {name: list(it.inputs) for name, it in values_under(root).items()} == before


def _compared(name: str, make: Callable[[Any, random.Random], tuple[Any, ...]]) -> Any:
    """Answers beside those of the right function: the numbers, and every gradient under them."""

    def verdicts(namespace: dict[str, Any]) -> Iterator[bool]:
        right = tasks.TASKS[name]()[""]
        for number in range(GRAPHS):
            told = []
            for each in (namespace, right):
                kind, chance = each["Value"], random.Random(f"sweep {name} {number}")
                arguments = make(kind, chance)
                out = each[name](*arguments)
                if hasattr(out, "backward"):
                    out.backward()
                    leaves = [v for it in arguments for v in (it if isinstance(it, list) else [it])]
                    told.append([out.data, *(getattr(leaf, "grad", 0.0) for leaf in leaves)])
                else:
                    told.append([float(getattr(it, "data", it)) for it in out])
            yield len(told[0]) == len(told[1]) and all(map(agree, *told))

    return verdicts


def _number(chance: random.Random) -> float:
    return chance.choice((-1, 1)) * chance.randint(2, 20) / 10


def _for_neuron(kind: Any, chance: random.Random) -> tuple[Any, ...]:
    size = chance.randint(1, 4)
    weights = [kind(_number(chance) / 4) for _ in range(size)]
    return weights, kind(_number(chance)), [_number(chance) / 4 for _ in range(size)]


def _for_loss(kind: Any, chance: random.Random) -> tuple[Any, ...]:
    size = chance.randint(1, 5)
    return [kind(_number(chance)) for _ in range(size)], [_number(chance) for _ in range(size)]


def _for_train(kind: Any, chance: random.Random) -> tuple[Any, ...]:
    size = chance.randint(1, 5)
    xs, ys = ([_number(chance) for _ in range(size)] for _ in range(2))
    return xs, ys, chance.randint(1, 5), 0.03


_TASKS: dict[str, Callable[[dict[str, Any]], Iterator[bool]]] = {
    "order": _orders, "zero": _zeroes, "detach": _detaches,
    "neuron": _compared("neuron", _for_neuron), "loss": _compared("loss", _for_loss),
    "train": _compared("train", _for_train),
}  # fmt: skip
