"""What a compiled function reads by name, in every function it enters: seen when it is rebound."""

from __future__ import annotations

import dataclasses
import functools
import gc
import sys
import threading
import types
import weakref
from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from .support import same

X = np.array([0.5, 1.5, -2.0, 3.0])

RATE: Any = 2.0
TABLE: Any = [2.0, 5.0]
SETTINGS: Any = {"rate": 2.0, "deep": {"er": [1.0, 2.0]}}
ARRAY: Any = np.array([1.0, 2.0])
CONFIG = types.ModuleType("config")


# ---- the ways to a number ------------------------------------------------------------------------
# Each is a function of the number's place: what to compile, and how to put another number there.


def read_global() -> Any:
    return RATE


def helper_of_a_helper(x: Any) -> Any:
    return x * read_global()


class Model:
    """A model of a number, with every usual way to it."""

    shared: Any = 2.0

    def __init__(self, rate: Any) -> None:
        self.rate = rate
        self.parts = types.SimpleNamespace(params={"rate": [0.0, rate]})
        self._hidden = rate

    def times(self, x: Any) -> Any:
        return x * self.rate

    def by_parts(self, x: Any) -> Any:
        return x * self.parts.params["rate"][1]

    def by_local(self, x: Any) -> Any:
        parts = self.parts
        params = parts.params
        return x * params["rate"][1]

    @property
    def by_property(self) -> Any:
        return self._hidden

    def by_class(self, x: Any) -> Any:
        return x * self.shared

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x * cls.shared

    @staticmethod
    def static(model: Model, x: Any) -> Any:
        return x * model.rate

    def __call__(self, x: Any) -> Any:
        return self.times(x)

    def __getattr__(self, name: str) -> Any:
        if name == "made_up":
            return self._hidden
        raise AttributeError(name)


class Slotted:
    """A number in a slot."""

    __slots__ = ("rate",)

    def __init__(self, rate: Any) -> None:
        self.rate = rate


@dataclasses.dataclass
class Data:
    """A number in a dataclass."""

    rate: Any


Pair = namedtuple("Pair", "rate other")

Way = tuple[Callable[[Any], Any], Callable[[Any], None]]


def in_globals() -> Way:
    def put(rate: Any) -> None:
        globals()["RATE"] = rate

    return helper_of_a_helper, put


def in_a_lambda() -> Way:
    times = lambda x: x * RATE  # noqa: E731
    return (lambda x: times(x)), in_globals()[1]


def in_a_cell() -> Way:
    rate: Any = None

    def put(new: Any) -> None:
        nonlocal rate
        rate = new

    def inner(x: Any) -> Any:
        return x * rate

    return (lambda x: inner(x) + 0.0), put


def in_a_cell_of_what_is_iterated_over() -> Way:
    rate: Any = None

    def put(new: Any) -> None:
        nonlocal rate
        rate = new

    functions = [lambda x: x * rate]

    def f(x: Any) -> Any:
        for function in functions:
            x = function(x)
        return x

    return f, put


def on(attribute: str, call: str | None = None) -> Callable[[], Way]:
    def way() -> Way:
        model = Model(None)
        function = getattr(model, call) if call else lambda x: x * getattr_of(model, attribute)
        return (lambda x: function(x)), lambda rate: setattr(model, attribute, rate)

    return way


def getattr_of(model: Any, name: str) -> Any:
    return {"_hidden": lambda: model.by_property, "rate": lambda: model.rate}[name]()


def in_parts(method: str) -> Callable[[], Way]:
    def way() -> Way:
        model = Model(None)

        def put(rate: Any) -> None:
            model.parts.params["rate"][1] = rate

        return (lambda x: getattr(model, method)(x)), put

    return way


def in_replaced_parts() -> Way:
    model = Model(None)

    def put(rate: Any) -> None:
        model.parts = types.SimpleNamespace(params={"rate": [0.0, rate]})

    return model.by_parts, put


def in_a_class(method: str) -> Callable[[], Way]:
    def way() -> Way:
        return (lambda x: getattr(Model(0.0), method)(x)), lambda rate: setattr(
            Model, "shared", rate
        )

    return way


def shadowing_a_class() -> Way:
    model = Model(0.0)
    return model.by_class, lambda rate: setattr(model, "shared", rate)


def made_up() -> Way:
    model = Model(None)
    return (lambda x: x * model.made_up), lambda rate: setattr(model, "_hidden", rate)


def in_a_slot() -> Way:
    thing = Slotted(None)
    return (lambda x: x * thing.rate), lambda rate: setattr(thing, "rate", rate)


def in_a_dataclass() -> Way:
    thing = Data(None)
    return (lambda x: x * thing.rate), lambda rate: setattr(thing, "rate", rate)


def in_a_frozen_dataclass() -> Way:
    frozen = dataclasses.make_dataclass("Frozen", ["rate"], frozen=True)
    thing = frozen(None)
    return (lambda x: x * thing.rate), lambda rate: object.__setattr__(thing, "rate", rate)


def in_a_named_tuple() -> Way:
    pair = Pair(None, 0.0)

    def put(rate: Any) -> None:
        nonlocal pair
        pair = pair._replace(rate=rate)

    return (lambda x: x * pair.rate * pair[0] / pair[0]), put


def in_a_module() -> Way:
    return (lambda x: x * CONFIG.rate), lambda rate: setattr(CONFIG, "rate", rate)


def in_an_imported_module() -> Way:
    def f(x: Any) -> Any:
        import test_names_config

        return x * test_names_config.rate

    def named(x: Any) -> Any:
        from test_names_config import rate

        return x * rate

    module = sys.modules["test_names_config"] = types.ModuleType("test_names_config")
    return (lambda x: (f(x) + named(x)) / 2.0), lambda rate: setattr(module, "rate", rate)


def in_a_list() -> Way:
    return (lambda x: x * TABLE[1]), lambda rate: TABLE.__setitem__(1, rate)


def at_the_end_of_a_list() -> Way:
    return (lambda x: x * TABLE[-1]), lambda rate: TABLE.append(rate)


def in_a_dict(kind: Callable[[], Any]) -> Callable[[], Way]:
    def way() -> Way:
        held = kind()
        return (lambda x: x * held["rate"]), lambda rate: held.__setitem__("rate", rate)

    return way


def in_an_argument() -> Way:
    held = {"rate": None}

    def helper(settings: Any, x: Any) -> Any:
        return x * settings["rate"]

    return (lambda x: helper(held, x)), lambda rate: held.__setitem__("rate", rate)


def through_partial() -> Way:
    model = Model(None)
    bound = functools.partial(Model.static, model)
    return (lambda x: bound(x)), lambda rate: setattr(model, "rate", rate)


def decorated() -> Way:
    def logged(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(*args: Any) -> Any:
            return function(*args)

        return wrapper

    return (lambda x: logged(helper_of_a_helper)(x)), in_globals()[1]


def in_a_generator() -> Way:
    def terms(x: Any) -> Iterator[Any]:
        for _ in range(2):
            yield x * RATE / 2.0

    return (lambda x: sum(terms(x))), in_globals()[1]


def in_a_comprehension() -> Way:
    model = Model(None)
    return (lambda x: sum([x * model.rate / 2.0 for _ in range(2)])), lambda rate: setattr(
        model, "rate", rate
    )


def in_recursion() -> Way:
    def power(x: Any, n: int) -> Any:
        return x * RATE if n == 0 else power(x, n - 1)

    return (lambda x: power(x, 5)), in_globals()[1]


def as_a_callable_object() -> Way:
    model = Model(None)
    return model, lambda rate: setattr(model, "rate", rate)


def as_a_bound_method() -> Way:
    model = Model(None)
    return model.times, lambda rate: setattr(model, "rate", rate)


def by_default() -> Way:
    default = Data(None)

    def helper(x: Any, settings: Any = None) -> Any:
        settings = settings or default
        return x * settings.rate

    return (lambda x: helper(x)), lambda rate: setattr(default, "rate", rate)


def of_a_later_argument() -> Way:
    """The first time the helper is entered there is nothing to follow."""
    held = Data(None)

    def helper(x: Any, settings: Any) -> Any:
        return x if settings is None else x * settings.rate

    return (lambda x: helper(helper(x, None), held)), lambda rate: setattr(held, "rate", rate)


def in_an_array() -> Way:
    array = np.zeros(3)

    def put(rate: Any) -> None:
        array[1] = rate

    return (lambda x: x * array[1]), put


WAYS: dict[str, Callable[[], Way]] = {
    way.__name__.replace("_", " "): way
    for way in (
        in_globals, in_a_lambda, in_a_cell, in_a_cell_of_what_is_iterated_over, in_replaced_parts,
        shadowing_a_class, made_up, in_a_slot, in_a_dataclass, in_a_frozen_dataclass,
        in_a_named_tuple, in_a_module, in_an_imported_module, in_a_list, at_the_end_of_a_list,
        in_an_argument, through_partial, decorated, in_a_generator, in_a_comprehension,
        in_recursion, as_a_callable_object, as_a_bound_method, by_default, of_a_later_argument,
    )
} | {
    "an attribute": on("rate"), "a method's attribute": on("rate", "times"),
    "a property": on("_hidden"), "deep parts": in_parts("by_parts"),
    "parts by locals": in_parts("by_local"), "a class attribute": in_a_class("by_class"),
    "a class method": in_a_class("of_class"), "a dict": in_a_dict(dict),
    "an ordered dict": in_a_dict(OrderedDict),
    "a default dict": in_a_dict(lambda: defaultdict(int)),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _put_back() -> Iterator[None]:
    kept = RATE, list(TABLE), Model.shared
    yield
    globals()["RATE"], TABLE[:], Model.shared = kept[0], kept[1], kept[2]


@pytest.mark.parametrize("way", WAYS)
def test_a_number_that_is_put_elsewhere_is_seen(rg: Any, way: str) -> None:
    function, put = WAYS[way]()
    put(2.0)
    f = rg.compile(function)
    for rate in (2.0, 3.0, 3.0, 5.5, 2.0):
        put(rate)
        assert same(f(X), X * rate), way
        assert same(f.grad(X), np.full(4, rate))
        assert f(1.0) == rate


@pytest.mark.parametrize("way", sorted(set(WAYS) - {"in a named tuple"}))
def test_a_leaf_that_is_replaced_gets_the_gradient(rg: Any, way: str) -> None:
    function, put = WAYS[way]()
    old, new = rg.Value(2.0), rg.Value(3.0)
    put(old)
    f = rg.compile(function)
    assert f.backward(X) == (2.0 * X).sum()
    put(new)
    assert f.backward(X) == (3.0 * X).sum()
    assert f.backward(X) == (3.0 * X).sum()
    assert np.allclose([old.grad, new.grad], [X.sum(), 2 * X.sum()])


@pytest.mark.parametrize("way", sorted(set(WAYS) - {"in replaced parts", "in a named tuple"}))
def test_what_is_not_rebound_is_recorded_once(rg: Any, way: str) -> None:
    function, put = WAYS[way]()
    put(2.0)
    calls = []

    def counted(x: Any) -> Any:
        calls.append(1)
        return function(x)

    f = rg.compile(counted)
    for _ in range(5):
        f(X)
        f.grad(X)
        put(float("2")) if way != "at the end of a list" else None  # an equal number, made anew
    assert len(calls) == 1, way


@pytest.mark.parametrize("way", WAYS)
def test_a_number_is_seen_after_something_else_was_put_beside_it(rg: Any, way: str) -> None:
    function, put = WAYS[way]()
    put(2.0)
    f = rg.compile(function)
    beside = [globals(), vars(CONFIG), SETTINGS]
    for number in range(3):
        for rate in (2.0, 3.0):
            put(rate)
            assert same(f(X), X * rate), way
            for names in beside:  # as it was, in another state
                names["beside"] = number
            assert same(f(X), X * rate), way
    for names in beside:
        del names["beside"]


def test_numbers_in_arrays_are_seen(rg: Any) -> None:
    function, put = in_an_array()
    f = rg.compile(function)
    for rate in (2.0, 3.0):
        put(rate)
        assert same(f(X), X * rate)


def test_numbers_are_told_apart_by_type_and_bits(rg: Any) -> None:
    held: dict[str, Any] = {"rate": 0.0}
    f = rg.compile(lambda x: x * held["rate"] if held["rate"] is not True else x)
    assert same(f(X), X * 0.0)
    held["rate"] = -0.0
    assert same(f(X), X * -0.0)
    held["rate"] = 1
    assert same(f(X), X)
    held["rate"] = True
    assert same(f(X), X)
    held["rate"] = float("nan")
    assert np.isnan(f(X)).all()


# ---- one snapshot a call -------------------------------------------------------------------------


def test_a_branch_that_is_recorded_later_never_mixes_old_and_new(rg: Any) -> None:
    model = Model(2.0)

    @rg.compile
    def f(x: Any) -> Any:
        return model.times(x) if x > 0 else -model.times(x)

    assert same(f(np.array([1.0, 2.0])), np.array([2.0, 4.0]))
    model.rate = 3.0
    assert same(f(np.array([1.0, -1.0])), np.array([3.0, 3.0]))
    model.rate = 4.0
    assert same(f(np.array([-1.0, 1.0, -2.0])), np.array([4.0, 4.0, 8.0]))


def test_what_only_one_branch_reads_is_seen(rg: Any) -> None:
    model = Model(2.0)
    f = rg.compile(lambda x: x if x > 0 else model.times(x))
    assert same(f(np.array([1.0])), np.array([1.0]))
    model.rate = 3.0
    assert same(f(np.array([1.0, -1.0])), np.array([1.0, -3.0]))
    model.rate = 4.0
    assert same(f(np.array([1.0, -1.0])), np.array([1.0, -4.0]))


def test_a_name_rebound_by_another_thread_in_the_middle_begins_the_call_again(rg: Any) -> None:
    """The second recording of the call finds another number: no row has the old one."""
    model = Model(2.0)
    times: list[int] = []

    def elsewhere() -> None:
        model.rate = 10.0

    def f(x: Any) -> Any:
        times.append(1)
        if x > 0:
            return x * model.rate
        if len(times) == 2:
            thread = threading.Thread(target=elsewhere)
            thread.start()
            thread.join()
        return -x * model.rate

    assert same(rg.compile(f)(np.array([1.0, -1.0])), np.array([10.0, 10.0]))


def test_threads_see_one_snapshot_each(rg: Any) -> None:
    held = {"rate": 1.0}

    @rg.compile
    def f(x: Any) -> Any:
        return x * held["rate"] if x > 0 else x * held["rate"] * 3.0

    rows = np.array([1.0, -1.0] * 50)
    wrong: list[Any] = []
    stop = threading.Event()

    def call() -> None:
        while not stop.is_set():
            try:
                found = f(rows)
            except rg.errors.RecordingError:
                continue  # it was rebound too often to be caught standing
            if len(set(found[::2])) != 1 or not same(found[1::2], -3.0 * found[::2]):
                wrong.append(found)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(100):
        held["rate"] = float(number)
        f(rows)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


# ---- what the function changes itself ------------------------------------------------------------


def test_what_is_made_the_first_time_is_recorded_with_it(rg: Any) -> None:
    class Lazy:
        weight: Any = None

        def __call__(self, x: Any) -> Any:
            if self.weight is None:
                self.weight = rg.Value(2.0)
            return x * self.weight

    lazy = Lazy()
    f = rg.compile(lazy)
    assert same(f(X), X * 2)
    lazy.weight.data = 3.0
    assert same(f(X), X * 3)
    lazy.weight = rg.Value(5.0)
    f.backward(X)
    assert lazy.weight.grad == X.sum()


def test_a_counter_without_effect_is_let_go(rg: Any) -> None:
    class Counted:
        calls = 0

        def __call__(self, x: Any) -> Any:
            self.calls += 1
            return x * 2.0 if x > 0 else x * 3.0

    counted = Counted()
    f = rg.compile(counted)
    for _ in range(4):
        assert same(f(X), np.where(X > 0, X * 2, X * 3))
    assert counted.calls == 4  # two for each trace


def test_a_result_kept_on_the_way_is_no_setting(rg: Any) -> None:
    class Keeps:
        def encode(self, x: Any) -> None:
            self.hidden = x * 2.0
            self.all = [x, x * 3.0]

        def __call__(self, x: Any) -> Any:
            calls.append(1)
            self.out = x + 1.0
            self.encode(x)
            return self.out * self.hidden + self.all[1]

    calls: list[int] = []
    keeps = Keeps()
    f = rg.compile(keeps)
    wanted = (X + 1) * (X * 2) + X * 3
    assert same(f(X), wanted)
    first = len(calls)
    for _ in range(3):
        assert same(f(X), wanted)
        assert f(1.0) == 7.0
    keeps(2.0)
    f(X)
    f(1.0)
    settled = len(calls)
    for _ in range(3):
        keeps(2.0)  # in plain numbers, between calls
        assert same(f(X), wanted)
        assert f(1.0) == 7.0
    assert len(calls) == settled + 3
    assert first <= 3


def test_state_that_tells_in_the_result_is_refused(rg: Any) -> None:
    class Stateful:
        step = 0

        def __call__(self, x: Any) -> Any:
            self.step += 1
            return x * self.step

    with pytest.raises(rg.errors.RecordingError) as caught:
        rg.compile(Stateful())(X)
    assert str(caught.value) == (
        "the function changes self.step, which it reads, and comes out otherwise each time it is "
        "recorded: a replay would not repeat the change. Pass it in as an argument, and return "
        "what it becomes."
    )


def test_a_global_that_the_function_rebinds_is_refused_too(rg: Any) -> None:
    def f(x: Any) -> Any:
        global RATE
        RATE = RATE * 2.0
        return x * RATE

    with pytest.raises(rg.errors.RecordingError, match="f changes RATE, which it reads"):
        rg.compile(f)(X)


def test_a_branch_that_sets_what_another_reads_begins_the_call_again(rg: Any) -> None:
    model = Model(2.0)

    @rg.compile
    def f(x: Any) -> Any:
        if x < 0:
            model.rate = 5.0
        return x * model.rate

    assert same(f(np.array([1.0, -1.0, 2.0])), np.array([5.0, -5.0, 10.0]))


def test_a_branch_that_always_rebinds_what_another_reads_is_refused(rg: Any) -> None:
    model = Model(2.0)

    @rg.compile
    def f(x: Any) -> Any:
        if x < 0:
            setattr(model, "rate", model.rate + 1.0)  # noqa: B010
            return x
        return x * model.rate

    with pytest.raises(rg.errors.RecordingError) as caught:
        f(np.array([1.0, -1.0]))
    assert "model.rate" in str(caught.value)


def test_hidden_state_of_an_earlier_row_is_refused(rg: Any) -> None:
    class Recurrent:
        hidden: Any = rg.Value(0.0)

        def __call__(self, x: Any) -> Any:
            self.hidden = rg.tanh(self.hidden + x)
            return self.hidden

    with pytest.raises(rg.errors.RecordingError, match="Pass it in"):
        rg.compile(Recurrent())(X)


# ---- what is not seen, and refresh() -------------------------------------------------------------


def test_what_is_iterated_over_is_not_seen_but_by_refresh(rg: Any) -> None:
    rates = [1.0, 2.0]
    f = rg.compile(lambda x: x * sum(rates))
    assert same(f(X), X * 3)
    rates.append(4.0)
    assert same(f(X), X * 3)
    assert f.refresh() is None
    assert f.traces == ()
    assert same(f(X), X * 7)


def test_get_is_not_seen_but_by_refresh(rg: Any) -> None:
    held = {"rate": 2.0}
    f = rg.compile(lambda x: x * held.get("rate"))
    assert same(f(X), X * 2)
    held["rate"] = 3.0
    assert same(f(X), X * 2)
    f.refresh()
    assert same(f(X), X * 3)


def test_refresh_while_another_call_runs_leaves_that_call_alone(rg: Any) -> None:
    @rg.compile
    def f(x: Any) -> Any:
        f.refresh()
        return x * 2.0 if x > 0 else x * 3.0

    assert same(f(X), np.where(X > 0, X * 2, X * 3))


# ---- looking runs nobody's code, and keeps nothing alive -----------------------------------------


def test_comparing_runs_no_code_of_the_user(rg: Any) -> None:
    ran: list[str] = []

    class Loud:
        def __init__(self) -> None:
            self.quiet = 2.0

        def __getattribute__(self, name: str) -> Any:
            ran.append(name)
            return object.__getattribute__(self, name)

        def __eq__(self, other: object) -> bool:
            ran.append("==")
            return True

        def __hash__(self) -> int:
            ran.append("hash")
            return 1

        @property
        def rate(self) -> float:
            ran.append("property")
            return 2.0

    class Meta(type):
        @property
        def rate(cls) -> float:
            ran.append("metaclass")
            return 3.0

    class WithMeta(metaclass=Meta):
        pass

    loud = Loud()
    held = {"loud": loud, 1: loud}
    f = rg.compile(lambda x: x * loud.rate * held["loud"].quiet * held[1].quiet * WithMeta.rate)
    f(X)
    ran.clear()
    f(X)
    assert ran == []
    held["loud"] = Loud()
    ran.clear()
    f(X)
    assert "property" in ran


def test_a_recording_keeps_nothing_alive_that_only_it_had(rg: Any) -> None:
    class Temporary:
        def __init__(self, x: Any) -> None:
            self.x = x
            self.parts = {"x": [x]}

    kept: list[weakref.ref[Any]] = []

    def helper(thing: Any, items: Any) -> Any:
        return thing.x * thing.parts["x"][0] + items[0]

    def f(x: Any) -> Any:
        thing = Temporary(x * 2.0)
        kept.append(weakref.ref(thing))
        inner = lambda: thing.x  # noqa: E731
        return helper(thing, [x, x]) + inner()

    compiled = rg.compile(f)
    compiled(X)
    gc.collect()
    assert kept[0]() is None


def test_models_that_were_replaced_are_let_go(rg: Any) -> None:
    model = Model(2.0)
    f = rg.compile(lambda x: model.times(x))
    f(X)
    old = weakref.ref(model)
    model = Model(3.0)
    assert same(f(X), X * 3)
    gc.collect()
    assert old() is None


def test_a_function_and_its_model_that_refer_to_each_other_are_collected(rg: Any) -> None:
    class Owner:
        def __init__(self) -> None:
            self.rate = 2.0
            self.run = rg.compile(lambda x: x * self.rate)

    owner = Owner()
    owner.run(X)
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


# ---- beside other tools --------------------------------------------------------------------------


def test_a_profile_function_that_is_set_sees_the_same_and_stays(rg: Any) -> None:
    events: list[str] = []

    def profile(frame: Any, event: str, arg: Any) -> None:
        if event == "call":
            events.append(frame.f_code.co_name)

    f = rg.compile(helper_of_a_helper)
    sys.setprofile(profile)
    try:
        f(X)
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(None)
    assert "read_global" in events
    globals()["RATE"] = 7.0
    assert same(f(X), X * 7)
    assert sys.getprofile() is None


def test_a_profile_function_that_the_function_sets_stays(rg: Any) -> None:
    def profile(frame: Any, event: str, arg: Any) -> None:
        pass

    def f(x: Any) -> Any:
        sys.setprofile(profile)
        return x

    try:
        rg.compile(f)(X)
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(None)


def test_a_trace_function_that_is_set_sees_the_same_and_stays(rg: Any) -> None:
    lines: list[str] = []

    def trace(frame: Any, event: str, arg: Any) -> Any:
        if event == "call":
            lines.append(frame.f_code.co_name)
        return trace

    f = rg.compile(helper_of_a_helper)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        f(X)
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)
    assert "read_global" in lines
    globals()["RATE"] = 7.0
    assert same(f(X), X * 7)


def test_an_exception_takes_the_profile_function_away_again(rg: Any) -> None:
    def f(x: Any) -> Any:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        rg.compile(f)(X)
    assert sys.getprofile() is None


def test_user_functions_are_all_but_the_librarys() -> None:
    import json
    import os

    import scipy

    from retrograde.program.entered import is_user_file

    assert is_user_file(__file__)
    assert is_user_file("<string>")
    assert is_user_file("<ipython-input-1-abc>")
    assert is_user_file(scipy.__file__)
    assert not is_user_file(json.__file__)
    assert not is_user_file(os.__file__)
    assert not is_user_file("<frozen importlib._bootstrap>")
    assert not is_user_file(np.__file__)
    import retrograde

    assert not is_user_file(retrograde._values.functions.__file__)
    assert is_user_file(retrograde.nn.layers.__file__)


def test_layers_of_ours_are_watched_as_the_users(rg: Any) -> None:
    layer = rg.nn.Linear(1, 1)
    f = rg.compile(lambda x: layer([x])[0])
    before = f(X)
    layer.bias = [rg.Value(100.0)]
    assert np.ptp(f(X) - before) < 1e-9
    assert (f(X) - before > 50.0).all()
    f.backward(X)
    assert layer.bias[0].grad == 4.0


def test_saved_is_what_was_recorded_with_the_names_as_they_are(rg: Any, tmp_path: Any) -> None:
    f = rg.compile(helper_of_a_helper)
    f(X)
    globals()["RATE"] = 7.0
    f(1.0)
    f.save(tmp_path / "f.rgp")
    loaded = rg.load(tmp_path / "f.rgp")
    assert loaded(1.0) == 7.0
    with pytest.raises(rg.errors.CompileError):
        loaded(X)
