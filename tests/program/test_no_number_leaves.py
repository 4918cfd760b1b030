"""While recording, no number of a row leaves the graph but by raising.

Everything public is gone through: the attributes of values and conditions, the functions of the
package and the methods of compiled functions. Each is tried twice on the same arguments but for
their numbers: what comes out, and what is printed, must not tell which. An attribute or a function
that is added is tried with no change here.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import io
import itertools
import logging
import math
import pickle
import re
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from .support import same

ONE = (1.2345678901, 2.3456789012)
OTHER = (1.3579246801, 2.4680135792)
"""Numbers that every comparison below answers alike."""

BY_IDENTITY = {"__hash__", "__dir__", "__getstate__"}
"""They tell which object it is, not which number."""
UNRELATED = {
    "__init_subclass__", "__subclasshook__", "__class__", "__new__", "__init__", "__setattr__",
    "__delattr__", "__doc__", "__module__", "compile", "load", "ops", "errors",
}  # fmt: skip
"""The class itself, and what makes new things of numbers given to it."""


# ---- what comes out ------------------------------------------------------------------------------


def told(thing: Any, rg: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """The numbers and texts in a result, however deep; values may leave, they are no numbers."""
    seen = set() if seen is None else seen
    if id(thing) in seen or isinstance(thing, (rg.Value, type, types.ModuleType)):
        return
    seen.add(id(thing))
    if isinstance(thing, (bool, int, float, complex, np.generic)):
        yield repr(thing)
    elif isinstance(thing, (str, bytes)):
        text = thing.decode("latin-1") if isinstance(thing, bytes) else str.__str__(thing)
        yield re.sub(r"#[a-z]+:|0x[0-9a-f]+", "", text)
    elif isinstance(thing, np.ndarray):
        yield from told(thing.tolist(), rg, seen)
    elif isinstance(thing, dict):
        for key, part in thing.items():
            yield from told(key, rg, seen)
            yield from told(part, rg, seen)
    elif isinstance(thing, (list, tuple, set, frozenset)):
        for part in thing:
            yield from told(part, rg, seen)
    else:
        held = getattr(thing, "__dict__", {})
        slots = [getattr(thing, name, None) for name in getattr(type(thing), "__slots__", ())]
        yield from told(dict(held) if isinstance(held, dict) else {}, rg, seen)
        yield from told(slots, rg, seen)


def outcome(rg: Any, act: Callable[[], Any]) -> list[str]:
    """What an act lets out: results, text, or the kind of its exception."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            result = act()
            if callable(result) and not isinstance(result, rg.Value):
                with contextlib.suppress(TypeError, AttributeError):
                    result = result, result()
        except Exception as error:  # whatever it raises, it says so
            return [type(error).__name__]
    return [*told(result, rg), *told(printed.getvalue(), rg)]


def recorded(
    rg: Any, numbers: tuple[float, float], acts: Sequence[Callable[..., Any]]
) -> list[list[str]]:
    """The outcomes of acts inside one recording: on arguments and on what is captured."""
    w = rg.Value(numbers[1], label="w")
    frozen = rg.Value(numbers[1], requires_grad=False)
    w.grad = numbers[0]
    found: list[list[str]] = []

    def f(x: Any, y: Any) -> Any:
        found.clear()  # it may be recorded again
        found.extend(outcome(rg, partial(act, x, y, w, frozen)) for act in acts)
        return x

    with contextlib.suppress(rg.errors.RetrogradeError):
        rg.compile(f)(*numbers)
    return found


def leaks(rg: Any, *acts: Callable[..., Any]) -> bool:
    return recorded(rg, ONE, acts) != recorded(rg, OTHER, acts)


SUBJECTS: dict[str, Callable[..., Any]] = {
    "an argument": lambda x, y, w, frozen: x,
    "a result": lambda x, y, w, frozen: x * y,
    "a stopped one": lambda x, y, w, frozen: (x * y).detach(),
    "a captured leaf": lambda x, y, w, frozen: w,
    "a frozen leaf": lambda x, y, w, frozen: frozen,
    "made of captured ones": lambda x, y, w, frozen: frozen * 2.0,
    "made of both": lambda x, y, w, frozen: (w * frozen).exp(),
}

ARGUMENTS: list[Callable[..., tuple[Any, ...]]] = [
    lambda v: (),
    lambda v: (v,),
    lambda v: (2.0,),
    lambda v: (2,),
    lambda v: (".6f",),
    lambda v: (v, v),
    lambda v: ({},),
    lambda v: ("data",),
    lambda v: ("grad",),
]


def test_the_search_finds_what_leaks(rg: Any) -> None:
    """The oracle itself: a number, a text, an array, an object or a print is found."""
    for leak in (
        lambda n: n, lambda n: [{"a": (n,)}], lambda n: f"{n:.3f}", lambda n: np.array([n]),
        lambda n: types.SimpleNamespace(a=n), print, lambda n: n > 1.3,
    ):  # fmt: skip
        assert leaks(rg, lambda x, y, w, frozen, leak=leak: leak(rg.value.core.peek(x)))
    assert not leaks(rg, lambda x, y, w, frozen: (x, [1.0], "text"))


def attributes(rg: Any) -> list[str]:
    """All attributes; of the reference core not its own fields, which hold the numbers."""
    own = {name for kind in rg.Value.__mro__[1:] for name in getattr(kind, "__slots__", ())}
    return sorted(set(dir(rg.Value)) - BY_IDENTITY - UNRELATED - own - {"_become"})


@pytest.mark.bank(every=7, native=3)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_no_attribute_of_a_value_lets_its_number_out(rg: Any, subject: str) -> None:
    of, names = SUBJECTS[subject], attributes(rg)
    assert {"data", "partials", "_local_grads", "item", "__float__", "__format__"} <= set(names)
    for name in names:

        def act(arguments: Any, *given: Any, name: str = name) -> Any:
            value = of(*given)
            found = getattr(value, name)
            return found(*arguments(value)) if callable(found) else found

        assert not leaks(rg, *(partial(act, each) for each in ARGUMENTS)), f"value.{name}"


@pytest.mark.bank(native=3)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_no_attribute_of_a_condition_lets_its_answer_out_unguarded(rg: Any, subject: str) -> None:
    """Answers that differ: x > 1.3 is False for one and True for the other."""
    from retrograde.program.conditions import Condition

    of = SUBJECTS[subject]
    guarded = {"__bool__", "__index__", "__hash__"}  # they ask, and every row is asked

    names = sorted(set(dir(Condition)) - UNRELATED - guarded - BY_IDENTITY)
    for name, arguments in itertools.product(names, ARGUMENTS):  # together they part in many ways

        def act(*given: Any, name: str = name, arguments: Any = arguments) -> Any:
            value = of(*given)
            condition = value > (ONE[0] + OTHER[0]) / 2
            found = getattr(condition, name)
            return found(*arguments(condition)) if callable(found) else found

        assert not leaks(rg, act), f"condition.{name}"


def functions(rg: Any) -> dict[str, Any]:
    """Every public function: the package's own, and those of its public rooms."""
    found = {f"rg.{name}": getattr(rg, name) for name in dir(rg) if not name.startswith("_")}
    for room in (rg.explain, rg.nn, rg.optim):
        short = room.__name__.partition(".")[2]
        found |= {f"{short}.{n}": getattr(room, n) for n in dir(room) if not n.startswith("_")}
    return {
        name: function
        for name, function in sorted(found.items())
        if callable(function) and name.rpartition(".")[2] not in UNRELATED
        and not (isinstance(function, type) and issubclass(function, (BaseException, rg.Value)))
    }  # fmt: skip


def calls(x: Any, y: Any) -> list[tuple[Any, ...]]:
    """Arguments to try a function with: values, nests of them, functions that use them."""

    def over(p: Any) -> Any:
        first = p[0] if isinstance(p, (list, tuple)) else p
        return (first - x) ** 2 + y

    return [
        (x,), (x, y), ([x, y],), (x, [y]), ([x, y], [y, x]), (x, y, x), ([x], 2.0), ({"a": x},),
        (x * y, [x]), (x * y, x), (over,), (over, 0.5), (over, [0.5]), (over, x), (over, [x]),
        (lambda: over(0.5),), ([x, y], x),
    ]  # fmt: skip


@pytest.mark.bank
@pytest.mark.slow
def test_no_public_function_lets_a_number_out(rg: Any) -> None:
    names = functions(rg)
    assert {"rg.data", "rg.grads", "rg.story", "rg.memory", "rg.minimize"} <= set(names)
    found = []
    for (name, function), subject in itertools.product(
        names.items(), ("an argument", "a captured leaf", "made of both")
    ):

        def act(number: int, *given: Any, f: Any = function, s: str = subject) -> Any:
            arguments = calls(SUBJECTS[s](*given), given[1])[number]
            result = f(*arguments)
            if callable(result) and not isinstance(result, rg.Value):  # rg.grad(f) and its kin
                result = [result, *(outcome(rg, lambda a=a: result(a)) for a in (0.5, given[0]))]
            return result

        if leaks(rg, *(partial(act, number) for number in range(len(calls(0, 0))))):
            found.append(f"{name}, {subject}")
    assert not found


def test_no_method_of_a_compiled_function_lets_a_number_out(rg: Any) -> None:
    """Replayed inside another recording its results would be plain numbers."""
    for name in dir(rg.compile(lambda x: x)):
        if name.startswith("_") and name != "__call__":
            continue

        for number in range(3):

            def act(*given: Any, name: str = name, number: int = number) -> Any:
                x, _, w, frozen = given
                inner = rg.compile(lambda v: v * w * frozen)
                found = getattr(inner, name)
                return found(*[(), (x,), (2.0,)][number]) if callable(found) else found

            assert not leaks(rg, act), f"compiled.{name}, call {number}"


# ---- what people write ---------------------------------------------------------------------------


@dataclasses.dataclass
class Point:
    """A dataclass of values: its repr has theirs."""

    x: Any


def through_struct(x: Any) -> Any:
    import struct

    return struct.pack("d", x)


def through_array(x: Any) -> Any:
    import array

    return array.array("d", [x])


WAYS: dict[str, Callable[[Any], Any]] = {
    "float of text": lambda x: float(f"{x:.3f}"),
    "float of str": lambda x: float(str(x)),
    "float of repr": lambda x: float(repr(x)[11:14]),
    "percent": lambda x: float("%s" % x),  # noqa: UP031
    "percent f": lambda x: float("%.3f" % x),  # noqa: UP031
    "format": lambda x: float(format(x, ".3f")),
    "format method": lambda x: float("{:.3f}".format(x)),  # noqa: UP032
    "round of text": lambda x: round(float(f"{x:.2f}")),
    "int of text": lambda x: int(f"{x:.0f}"),
    "eval of text": lambda x: eval(f"{x:.3f}"),
    "text of a comparison": lambda x: {"True": 1.0, "False": 0.0}[str(x > 1.3)],
    "compared text": lambda x: f"{x:.1f}" == "1.2",
    "looked-up text": lambda x: {"1.2": 1.0}.get(f"{x:.1f}", 0.0),
    "sorted by text": lambda x: sorted([f"{x:.2f}", "1.3"]),
    "searched text": lambda x: f"{x:.2f}".startswith("1.2"),
    "digits of text": lambda x: re.findall(r"[\d.]+", f"is {x * 2:.3f}"),
    "a list's text": lambda x: str([x, {1: x}, (x,)]),
    "a dataclass's text": lambda x: str(Point(x)),
    "partials": lambda x: (x * x).partials,
    "local grads": lambda x: (x * x)._local_grads[0],
    "grad": lambda x: x.grad,
    "pickle": pickle.dumps,
    "pickled conditions": lambda x: pickle.dumps(x > 1.3),
    "copy": lambda x: copy.copy(x),
    "deepcopy": lambda x: copy.deepcopy([x]),
    "complex": complex,
    "bytes": lambda x: bytes(x),
    "struct": through_struct,
    "array": through_array,
    "np.float64": np.float64,
    "np.array of floats": lambda x: np.array([x], dtype=float),
    "np.asarray of text": lambda x: np.asarray([x]).astype(str),
    "np.isclose": lambda x: bool(np.isclose(np.array([x]), 1.2)),
    "math.isnan": math.isnan,
    "math.fsum": lambda x: math.fsum([x]),
    "math.log": math.log,
    "round": round,
    "decimal": lambda x: __import__("decimal").Decimal(x),
    "fraction": lambda x: __import__("fractions").Fraction(x),
    "statistics": lambda x: __import__("statistics").stdev([x, x + 1.0]),
    "json": lambda x: __import__("json").dumps([x]),
    "range": lambda x: range(x),
    "index": lambda x: [1, 2][x],
    "print": lambda x: print(x, [x], f"{x:.3f}"),
    "label": lambda x: setattr(x, "label", f"{x:.3f}") or x.label,
}


def in_thread(act: Callable[[], Any]) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(attempt(act)))
    thread.start()
    thread.join()
    return found


def attempt(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except RuntimeError as error:
        return type(error).__name__


@pytest.mark.parametrize("subject", sorted(set(SUBJECTS) - {"a captured leaf", "a frozen leaf"}))
def test_other_threads_see_no_number_either(rg: Any, subject: str) -> None:
    """But for those of captured leaves, which nothing marks as part of a recording."""
    for read in (lambda v: v.data, lambda v: v > 1.3, lambda v: f"{v:.4f}", bool, lambda v: v.grad):

        def act(*given: Any, read: Any = read) -> Any:
            value = SUBJECTS[subject](*given)
            return in_thread(lambda: read(value))

        assert not leaks(rg, act)


@pytest.mark.bank(every=4, native=2)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_no_way_out_is_silent(rg: Any, way: str, subject: str) -> None:
    assert not leaks(rg, lambda *given: WAYS[way](SUBJECTS[subject](*given)))


def test_logging_shows_a_placeholder(rg: Any, caplog: pytest.LogCaptureFixture) -> None:
    @rg.compile
    def f(x: Any) -> Any:
        logging.warning("x is %s, doubled %s", x, x * 2)
        logging.warning(f"{x:.2f}")
        return x

    assert f(ONE[0]) == ONE[0]
    first, second = caplog.text.splitlines()
    assert re.search(
        r"x is Value\(<x#[a-z]+: no number while recording>\), "
        r"doubled Value\(<mul#[a-z]+: no number while recording>\)$",
        first,
    )
    assert re.search(r" <x#[a-z]+: no number while recording>$", second)


def test_a_value_has_one_placeholder_and_no_two_values_share_it(rg: Any) -> None:
    texts: list[str] = []

    @rg.compile
    def f(xs: Any) -> Any:
        texts.extend(str.__str__(f"{x * 2:.2f}") for x in xs)
        texts.extend(str.__str__(format(xs[0], ".2f")) for _ in range(2))
        return xs[0]

    f([1.0] * 30)
    assert len(set(texts)) == 31
    assert texts[-1] == texts[-2]


def test_a_cache_by_text_serves_no_other_value(rg: Any) -> None:
    cache: dict[str, Any] = {}

    def squared(v: Any) -> Any:
        key = f"key of {v:.1f}"
        if key not in cache:
            cache[key] = v * v
        return cache[key]

    f = rg.compile(lambda x: squared(x * 2) + squared(x * 3))
    assert same(f(np.array([1.0, 2.0])), np.array([13.0, 52.0]))


def test_text_that_decides_raises_and_names_the_line(rg: Any) -> None:
    @rg.compile
    def f(x: Any) -> Any:
        return x if f"{x:.2f}" == "0.00" else -x

    with pytest.raises(rg.errors.RecordingError) as caught:
        f(1.0)
    assert re.match(
        r"the text <x#[a-z]+: no number while recording> was compared: while recording it stands "
        r"for another number in every row\. Compare the value itself \(if x > 0\), and compute "
        r"with it\.\n  at .*test_no_number_leaves\.py",
        str(caught.value),
    )


def test_constants_show_their_numbers(rg: Any) -> None:
    seen: list[Any] = []

    @rg.compile
    def f(x: Any) -> Any:
        constant = rg.Value(2.0) * 3
        seen.extend([str(constant), f"{constant:.2f}", constant.data, constant.partials, str(2.5)])
        return x * constant

    assert f(1.0) == 6.0
    assert seen == ["Value(data=6.0, grad=0.0)", "6.00", 6.0, (3.0, 2.0), "2.5"]


def test_text_is_as_ever_outside_a_recording(rg: Any) -> None:
    kept: list[Any] = []
    rg.compile(lambda x: kept.append(x) or x)(1.5)
    assert repr(kept[0]) == "Value(data=1.5, grad=0.0)"
    assert f"{kept[0]:.3f}" == "1.500"
    with pytest.raises(ValueError, match=r"Unknown format code|Invalid format"):
        rg.compile(lambda x: f"{x:zz}" and x)(1.5)


def test_what_an_earlier_recording_left_behind_is_from_outside(rg: Any) -> None:
    kept: dict[str, Any] = {}

    def f(x: Any) -> Any:
        if "w" not in kept:
            kept["w"] = rg.Value(2.0)
        return x * kept["w"].data

    for _ in range(2):
        with pytest.raises(rg.errors.RecordingError, match="was read while recording"):
            rg.compile(f)(1.0)


ACTS: dict[str, tuple[Callable[[Any, Any, Any], Any], str]] = {
    "grad": (lambda rg, x, w: w.grad, r"\.grad of 'w' was read while recording"),
    "grads": (lambda rg, x, w: rg.grads([w]), r"\.grad of 'w' was read while recording"),
    "set": (lambda rg, x, w: setattr(w, "grad", 0.0), r"\.grad of 'w' was changed while recording"),
    "zero": (lambda rg, x, w: w.zero_grad(), r"\.grad of 'w' was changed while recording"),
    "zeros": (lambda rg, x, w: rg.zero_grad([w]), r"\.grad of 'w' was changed while recording"),
    "norm": (lambda rg, x, w: rg.optim.clip_grad_norm([w], 1.0), r"\.grad of 'w'"),
    "backward": (lambda rg, x, w: (w * 2).backward(), r"backward\(\) of a result of mul"),
    "_backward": (lambda rg, x, w: (w * 2)._backward(), r"backward\(\) of a result of mul"),
    "partials": (lambda rg, x, w: (x * w).partials, "the partials of a result of mul were read"),
    "story": (lambda rg, x, w: rg.story(x * w), "the story of a result of mul was asked for"),
    "explain": (lambda rg, x, w: (x * w).explain(), "of a result of mul was asked for"),
    "replay": (lambda rg, x, w: rg.compile(lambda v: v * w).grad(1.0), "was replayed inside"),
}


@pytest.mark.parametrize("act", ACTS)
def test_what_a_replay_would_not_repeat_raises_with_its_cure(rg: Any, act: str) -> None:
    w = rg.Value(2.0, label="w")
    w.grad = 5.0
    function, message = ACTS[act]
    with pytest.raises(rg.errors.RecordingError, match=message) as caught:
        rg.compile(lambda x: function(rg, x, w) and x * w)(3.0)
    assert "test_no_number_leaves.py" in str(caught.value)
    assert w.grad == 5.0


def test_derivatives_inside_use_frozen_leaves_afresh(rg: Any) -> None:
    frozen = rg.Value(2.0, requires_grad=False)
    f = rg.compile(lambda x: x * rg.grad(lambda y: y * y * frozen)(3.0))
    assert f(1.0) == 12.0
    frozen.data = 5.0
    assert f(1.0) == 30.0


def test_threads_of_the_function_may_compute(rg: Any) -> None:
    def f(x: Any) -> Any:
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.append(rg.exp(x * 2)))
        thread.start()
        thread.join()
        return found[0] + x

    rows = np.array([0.5, 1.0])
    assert np.allclose(rg.compile(f)(rows), np.exp(rows * 2) + rows)


def test_identity_with_true_cannot_be_caught(rg: Any) -> None:
    """As docs/compile.md says: ``is`` calls no method, and a condition is not True."""
    f = rg.compile(lambda x: x if (x > 0) is True else -x)
    assert f(1.0) == -1.0
