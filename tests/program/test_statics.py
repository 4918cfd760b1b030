"""Static arguments, partial functions, compiled methods, and dataclasses as arguments."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

X = np.array([1.0, 2.0, 3.0])


def powered(x: Any, n: Any, scale: Any = 1.0) -> Any:
    for _ in range(n):
        scale = scale * x
    return scale


# ---- static arguments ----------------------------------------------------------------------------


def test_a_static_argument_is_what_was_given(rg: Any) -> None:
    power = rg.compile(powered, static=("n",))
    assert power(X, 2).tolist() == (X**2).tolist()
    assert power(X, n=3, scale=2.0).tolist() == (2.0 * X**3).tolist()
    assert power(n=3, x=2.0) == 8.0
    value, (by_x, by_scale) = power.value_and_grad(X, 2)
    assert by_x.tolist() == (2.0 * X).tolist()
    assert by_scale.tolist() == value.tolist()
    assert power.hessian(X, 3, wrt="x").tolist() == (6.0 * X).tolist()
    assert len(power.traces) == 3  # n = 2, and n = 3 with numbers and with rows


def test_a_call_made_before_records_nothing(rg: Any) -> None:
    calls = []

    def f(x: Any, kind: Any) -> Any:
        calls.append(kind)
        return x * 2.0 if kind == "double" else x

    compiled = rg.compile(f, static="kind")
    for _ in range(3):
        assert compiled(X, "double").tolist() == (2.0 * X).tolist()
        assert compiled(X, kind="single").tolist() == X.tolist()
    assert set(calls) == {"double", "single"}
    before = len(calls)
    compiled(X, "double")
    assert len(calls) == before


def test_values_that_are_equal_and_not_the_same_are_told_apart(rg: Any) -> None:
    seen = rg.compile(lambda x, k: x + (1.0 if repr(k) in ("True", "(1.0,)") else 2.0), static="k")
    for k, expected in ((1, 2.0), (True, 1.0), ((1,), 2.0), ((1.0,), 1.0), ((True,), 2.0)):
        assert seen(0.0, k) == expected
    sign = rg.compile(lambda x, k: x + float(np.copysign(1.0, k)), static="k")
    assert (sign(0.0, 0.0), sign(0.0, -0.0)) == (1.0, -1.0)


def test_attributes_of_a_static_are_read_at_every_call(rg: Any) -> None:
    class Settings:
        rate = 2.0

    settings = Settings()
    f = rg.compile(lambda x, s: x * s.rate, static="s")
    assert f(1.0, settings) == 2.0
    settings.rate = 5.0
    assert f(1.0, settings) == 5.0


def test_statics_that_do_not_fit_say_so(rg: Any) -> None:
    errors = rg.errors
    with pytest.raises(
        errors.CompileError, match="static names 'm', but the parameters of powered"
    ):
        rg.compile(powered, static=("m",))
    power = rg.compile(powered, static="n")
    with pytest.raises(errors.CompileError, match=r"static argument n is list .*no hash.*tuple"):
        power(X, [2])
    with pytest.raises(errors.CompileError, match="powered: missing a required argument: 'n'"):
        power(X)
    with pytest.raises(errors.CompileError, match="multiple values for argument 'n'"):
        power(X, 2, n=2)
    with pytest.raises(errors.CompileError, match="by name, n; got none"):
        power.variant()
    with pytest.raises(errors.CompileError, match="compile takes a function"):
        rg.compile(3.0, static="n")


def test_variants_are_functions_of_their_own(rg: Any, tmp_path: Any) -> None:
    power = rg.compile(powered, static="n")
    cube = power.variant(n=3)
    assert cube is power.variant(n=3)
    assert cube(X).tolist() == (X**3).tolist()
    cube.save(tmp_path / "cube.rgp")
    assert rg.load(tmp_path / "cube.rgp")(X).tolist() == (X**3).tolist()
    assert "powered with n=3" in power.explain()
    assert "static n, 1 variant(s)" in repr(power)
    power.refresh()
    assert power.traces == ()


def test_few_variants_are_kept(rg: Any) -> None:
    power = rg.compile(lambda x, k: x * 2.0, static="k")
    for k in range(200):
        power.variant(k=k)
    assert "128 variant(s)" in repr(power)


# ---- partial functions ---------------------------------------------------------------------------


def test_what_a_partial_function_was_given_is_fixed(rg: Any) -> None:
    assert rg.compile(partial(powered, n=3))(X).tolist() == (X**3).tolist()
    assert rg.compile(partial(powered, n=3))(X, scale=2.0).tolist() == (2.0 * X**3).tolist()
    assert rg.compile(partial(partial(powered, 2.0), n=2))(3.0) == 12.0
    by_x, by_scale = rg.compile(partial(powered, n=2)).grad(3.0, 5.0)
    assert (by_x, by_scale) == (30.0, 9.0)


def test_a_float_by_name_stays_an_argument(rg: Any) -> None:
    f = rg.compile(partial(powered, n=2, scale=3.0))
    assert f(2.0) == 12.0
    assert f(2.0, scale=1.0) == 4.0
    assert f.grad(2.0, wrt="scale") == 4.0


def test_partial_functions_pickle(rg: Any) -> None:
    f = pickle.loads(pickle.dumps(rg.compile(partial(powered, n=2))))
    assert f(X).tolist() == (X**2).tolist()


# ---- methods -------------------------------------------------------------------------------------


def model(rg: Any) -> Any:
    class Model:
        def __init__(self, weight: float) -> None:
            self.weight = rg.Value(weight)

        @rg.compile
        def loss(self, x: Any) -> Any:
            return self.weight * x * x

        @rg.compile(static="n")
        def power(self, x: Any, n: int) -> Any:
            return self.weight * x**n

    return Model


def test_methods_are_compiled_for_each_object(rg: Any) -> None:
    Model = model(rg)
    one, other = Model(2.0), Model(5.0)
    assert (one.loss(3.0), other.loss(3.0)) == (18.0, 45.0)
    assert one.loss is one.loss
    assert one.loss.grad(X).tolist() == (4.0 * X).tolist()
    assert one.loss.backward(X) == 28.0
    assert (one.weight.grad, other.weight.grad) == (14.0, 0.0)
    assert one.power(2.0, 3) == 16.0
    one.weight = rg.Value(1.0)
    assert one.loss(3.0) == 9.0


def test_copies_of_an_object_have_their_own(rg: Any) -> None:
    one = model(rg)(2.0)
    assert one.loss(1.0) == 2.0
    for made in (copy.copy(one), copy.deepcopy(one)):
        made.weight = rg.Value(7.0)
        assert (made.loss(1.0), one.loss(1.0)) == (7.0, 2.0)


def test_objects_go_when_nobody_has_them(rg: Any) -> None:
    one = model(rg)(2.0)
    one.loss(1.0)
    gone = weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None


def test_methods_of_a_class_and_of_its_base(rg: Any) -> None:
    Model = model(rg)

    class Derived(Model):
        @rg.compile
        def loss(self, x: Any) -> Any:
            return super().loss(x) + 1.0

    derived = Derived(2.0)
    for _ in range(2):
        assert derived.loss(1.0) == 3.0
        assert Model.loss.__get__(derived)(1.0) == 2.0


def test_objects_without_room_say_so(rg: Any) -> None:
    class Slotted:
        __slots__ = ("rate",)

        @rg.compile
        def price(self, x: Any) -> Any:
            return x * self.rate

    with pytest.raises(rg.errors.CompileError, match="Slotted has __slots__ and no room"):
        Slotted().price(1.0)


def test_a_method_may_call_its_object_as_it_likes(rg: Any) -> None:
    class Model:
        def __init__(this, weight: float) -> None:
            this.weight = weight

        @rg.compile
        def loss(this, x: Any) -> Any:
            return this.weight * x * x

        @rg.compile(static="n")
        def power(_, x: Any, n: int) -> Any:
            return _.weight * x**n

        @staticmethod
        @rg.compile
        def twice(x: Any) -> Any:
            return x * 2.0

        thrice = rg.compile(staticmethod(lambda x: x * 3.0))

        @classmethod
        @rg.compile
        def made(cls, x: Any) -> Any:
            return x

    one, other = Model(2.0), Model(5.0)
    assert (one.loss(3.0), other.loss(3.0), one.power(2.0, 3)) == (18.0, 45.0, 16.0)
    assert one.loss.grad(X).tolist() == (4.0 * X).tolist()
    assert (one.twice(2.0), Model.twice(2.0), one.thrice(2.0)) == (4.0, 4.0, 6.0)
    with pytest.raises(rg.errors.RetrogradeError, match=r"made is a class method|cls is type"):
        Model.made(1.0)


def test_a_function_in_a_class_that_is_no_method_stays_one(rg: Any) -> None:
    class Holder:
        twice = rg.compile(lambda x: x * 2.0)

    assert Holder().twice(2.0) == 4.0


# ---- dataclasses and named tuples ----------------------------------------------------------------


@dataclass(frozen=True)
class Market:
    spot: Any
    vol: Any

    def spread(self) -> Any:
        return self.spot * self.vol


@dataclass
class Trade:
    market: Market
    strike: Any
    twice: Any = field(init=False)

    def __post_init__(self) -> None:
        self.twice = 2.0 * self.strike


class Pair(NamedTuple):
    a: Any
    b: Any


def worth(trade: Any, pair: Any) -> Any:
    return trade.market.spread() * trade.twice + pair.a * pair.b


def test_dataclasses_are_nests(rg: Any) -> None:
    f = rg.compile(worth)
    given, pair = Trade(Market(X, 0.5), 4.0), Pair(1.0, X)
    assert f(given, pair).tolist() == (5.0 * X).tolist()
    by_trade, by_pair = f.grad(given, pair)
    assert by_trade.market.spot.tolist() == [4.0] * 3
    assert by_trade.strike.tolist() == X.tolist()  # through what __post_init__ works out
    assert type(by_pair) is Pair
    total, (reduced, _) = f.value_and_grad(given, pair, reduce="sum")
    assert (total, reduced.market.vol) == (30.0, 48.0)
    assert f.hessian(given, Pair(1.0, 2.0), wrt="trade").market.spot.strike.tolist() == [1.0] * 3
    eager = rg.grad(lambda trade: worth(trade, Pair(1.0, 2.0)))(Trade(Market(3.0, 0.5), 4.0))
    assert (eager.market.spot, eager.strike) == (4.0, 3.0)


class Side(str, Enum):
    PUT = "put"


@dataclass
class Option:
    ticker: str
    spot: Any
    strike: Any
    side: Any = "call"
    barrier: Any = None
    legs: Any = (date(2026, 1, 2), date(2026, 7, 2))


def payoff(option: Any) -> Any:
    if option.side == "put":
        return (option.strike - option.spot) * (3.0 if isinstance(option.side, Side) else 1.0)
    found = option.spot * option.strike
    return found if option.barrier is None else found * option.barrier


def test_fields_that_are_no_numbers_are_static(rg: Any) -> None:
    f = rg.compile(payoff)
    for _ in range(2):
        call, put = Option("A", X, 4.0), Option("A", X, 4.0, side="put")
        assert f(call).tolist() == (4.0 * X).tolist()
        assert f(put).tolist() == (4.0 - X).tolist()
        assert f(Option("A", X, 4.0, Side.PUT)).tolist() == (12.0 - 3.0 * X).tolist()
        assert f(Option("A", X, 4.0, barrier=0.5)).tolist() == (2.0 * X).tolist()
    assert len(f.traces) == 4
    value, by = f.value_and_grad(put, reduce="sum")
    assert value == 6.0
    assert (by.ticker, by.side, by.barrier, by.legs, by.strike) == (
        "A", "put", None, call.legs, 3.0,
    )  # fmt: skip
    assert by.spot.tolist() == [-1.0] * 3
    second = f.hessian(Option("A", 2.0, 4.0)).spot
    assert (second.ticker, second.strike) == ("A", 1.0)
    out = Option("B", np.empty(3), np.empty(3))
    assert f.grad(call, out=out).ticker == "A"
    assert out.spot.tolist() == [4.0] * 3
    eager = rg.grad(payoff)(Option("A", 2.0, 4.0, barrier=0.5))
    assert (eager.ticker, eager.spot, eager.barrier) == ("A", 2.0, 8.0)
    assert f.grad(Option("A", 2.0, 4.0)) == rg.grad(payoff)(Option("A", 2.0, 4.0))


def test_fields_that_are_no_numbers_in_results(rg: Any) -> None:
    f = rg.compile(lambda x: Option("twice", 2.0 * x, x))
    found = f(X)
    assert (found.ticker, found.spot.tolist()) == ("twice", (2.0 * X).tolist())
    g = rg.compile(lambda x: Option("up" if x > 1.5 else "down", x, x))
    with pytest.raises(rg.errors.FunctionResultError, match="ticker='down' on one branch and 'up'"):
        g(X)
    h = rg.compile(lambda x: Option("up" if x[0, 0] > 1.5 else "down", x.sum(), 1.0))
    h(np.ones((1, 1, 1)))
    with pytest.raises(rg.errors.FunctionResultError, match="ticker='down' on one branch and 'up'"):
        h(2.0 * np.ones((1, 1, 1)))


def test_fields_that_are_no_numbers_are_not_saved(rg: Any, tmp_path: Any) -> None:
    for function, given in (
        (payoff, (Option("A", X, 4.0),)),
        (lambda it, m: (it.spot * m).sum(), (Option("A", 1.0, 4.0), np.ones((2, 2, 2)))),
    ):
        f = rg.compile(function)
        f(*given)
        with pytest.raises(rg.errors.ProgramFileError, match="whose field 'ticker' is no number"):
            f.save(tmp_path / "f.rgp")
    f = rg.compile(lambda it: it.spot * it.strike)
    f(Option("A", X, 4.0))
    copy = pickle.loads(pickle.dumps(f))
    assert copy(Option("B", X, 4.0)).tolist() == (4.0 * X).tolist()
    with pytest.raises(rg.errors.RowsError, match=r"it.side\[0\] is str"):
        f(Option("A", X, 4.0, side=["call"]))


def test_gradients_in_a_dataclass_can_be_printed(rg: Any) -> None:
    by_trade = rg.compile(worth).grad(Trade(Market(2.0, 0.5), 4.0), Pair(1.0, 2.0), wrt="trade")
    assert repr(by_trade).endswith("strike=2.0, twice=None)")


def test_dataclasses_are_written_into_where_told(rg: Any) -> None:
    f = rg.compile(lambda m: m.spread())
    out = Market(np.empty(3), np.empty(3))
    found = f.grad(Market(X, 2.0), out=out)
    assert found.spot is out.spot
    assert out.vol.tolist() == X.tolist()
    with pytest.raises(rg.errors.RowsError, match="out: it must be a Market"):
        f.grad(Market(X, 2.0), out={"spot": np.empty(3), "vol": np.empty(3)})


def test_dataclasses_are_results(rg: Any, tmp_path: Any) -> None:
    f = rg.compile(lambda x: Market(x, x * x))
    found = f(X)
    assert type(found) is Market
    assert found.vol.tolist() == (X * X).tolist()
    assert f.jacobian(X).vol.tolist() == (2.0 * X).tolist()
    f.save(tmp_path / "f.rgp")
    assert rg.load(tmp_path / "f.rgp")(X)["vol"].tolist() == (X * X).tolist()


def test_loaded_functions_take_dataclasses(rg: Any, tmp_path: Any) -> None:
    f = rg.compile(worth)
    given, pair = Trade(Market(X, 0.5), 4.0), Pair(1.0, X)
    f(given, pair)
    f.save(tmp_path / "f.rgp")
    loaded = rg.load(tmp_path / "f.rgp")
    assert loaded.grad(given, pair, wrt="trade").strike.tolist() == X.tolist()


def test_values_in_a_dataclass_call_the_function_itself(rg: Any) -> None:
    spot = rg.Value(3.0)
    rg.compile(lambda m: m.spread())(Market(spot, 2.0)).backward()
    assert spot.grad == 2.0


def test_text_in_a_dataclass_is_named(rg: Any) -> None:
    with pytest.raises(rg.errors.RowsError, match=r"m\.spot\[0\] is str"):
        rg.compile(lambda m: m.spread())(Market(["a"], 2.0))
    with pytest.raises(rg.errors.OperandError, match=r"cannot compute with str \('a'\)"):
        rg.compile(lambda m: m.spread())(Market("a", 2.0))
