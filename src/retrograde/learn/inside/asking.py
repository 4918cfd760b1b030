"""Questions to a namespace, and its replies: both plain data that fits in one line of JSON.

The same code asks learners' files in their own process and the engines we know in ours. It sends
back numbers, or what was raised; what is right is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from .adapter import FUNCTIONS, OPERATORS, Adapter, NoEngineError, number_hashes
from .tasks import ASKS, AbsentError

Question = Mapping[str, Any]
Reply = dict[str, Any]
LONGEST_WORDS: Final = 300
MOST_NUMBERS: Final = 64
PRIMED: Final = 0.75
"""The gradient leaves begin with where it is asked what happens to it."""


class Subject:
    """A namespace that can be asked; ``file`` is what its code objects say they come from.

    One that is ``confined`` is alone in its process, and its class may be changed.
    """

    def __init__(
        self, namespace: Mapping[str, Any], file: str = "", confined: bool = False
    ) -> None:
        self._namespace, self._file, self._confined = namespace, file, confined
        self._adapter: Adapter | None = None

    @property
    def adapter(self) -> Adapter:
        """The engine in the namespace."""
        if self._adapter is None:
            self._adapter = Adapter(self._namespace)
            if self._confined:
                number_hashes(self._adapter.kind)
        return self._adapter

    def reply(self, question: Question) -> Reply:
        """What the namespace says to a question."""
        asking: dict[str, Callable[[Question], Reply]] = {
            "engine": self._engine, "program": self._program,
            "call": self._call, "task": self._task,
        }  # fmt: skip
        try:
            return asking[question["ask"]](question)
        except Exception as error:
            return raised(error, self._file)

    def _engine(self, question: Question) -> Reply:
        try:
            adapter = self.adapter
        except NoEngineError as error:
            return {"missing": str(error)[:LONGEST_WORDS]}
        ops = [op for op in (*OPERATORS, *FUNCTIONS) if adapter.has(op)]
        return {"engine": adapter.describe(), "ops": ops, "lines": adapter.lines(self._file)}

    def _program(self, question: Question) -> Reply:
        return {"numbers": run(self.adapter, **{it: question[it] for it in _PARTS})}

    def _call(self, question: Question) -> Reply:
        function = self._namespace.get(question["name"])
        if not callable(function):
            return {"absent": question["name"]}
        arguments = [_GIVEN.get(it, it) for it in question["arguments"]]
        return _shaped(function(*arguments))

    def _task(self, question: Question) -> Reply:
        try:
            return {"numbers": [float(it) for _, it in ASKS[question["name"]](self._namespace)]}
        except AbsentError as error:
            return {"absent": str(error)}


_PARTS: Final = ("text", "root", "leaves", "session")


def run(
    engine: Adapter, text: str, root: str, leaves: Sequence[Sequence[Any]], session: str
) -> list[float]:
    """Run a program and backward: the value, every leaf's gradient, and once also the root's."""
    made = {name: engine.leaf(number) for name, number in leaves}
    names: dict[str, Any] = {**engine.functions(), **made}
    exec(text, {"__builtins__": {"range": range}}, names)  # the package's own text
    result = names[root]
    if session == "primed":
        engine.prime(list(made.values()), PRIMED)
    engine.backward(result)
    if session == "twice":
        engine.backward(result)
    elif session == "zeroed":
        engine.prime(list(made.values()), 0.0)
        engine.backward(result)
    found = [engine.data(result), *map(engine.gradient, made.values())]
    return [*found, engine.gradient(result)] if session == "once" else found


def _shaped(got: Any) -> Reply:
    """What a function returned: its numbers, and whether it was one or several."""
    if got is None:
        return {"shape": "nothing"}
    if isinstance(got, (str, bytes)):
        return {"shape": "text"}
    if not (getattr(got, "ndim", 1) and hasattr(got, "__iter__")):
        return {"shape": "one", "numbers": [float(got)]}
    found = list(islice(got, MOST_NUMBERS))
    if any(isinstance(it, (str, bytes)) for it in found):
        return {"shape": "text"}
    return {"shape": "several", "numbers": [float(it) for it in found]}


def raised(error: BaseException, file: str) -> Reply:
    """What was raised, in words, and the last line of the learner's file on the way there."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    try:
        words = str(error)
        if isinstance(error, SyntaxError):
            words, line = str(error.msg), error.lineno if error.filename == file else line
    except BaseException:  # it is the learner's code
        words = ""
    return {"raised": type(error).__name__, "why": words[:LONGEST_WORDS], "line": line}


def cube(x: float) -> float:
    """A function whose slope is asked for."""
    return x * x * x


def bend(x: float) -> float:
    """Another one."""
    return x * x + 2 / (1 + x * x)


_GIVEN: Final[dict[Any, Any]] = {"cube": cube, "bend": bend}
"""Arguments that are functions, by name."""
