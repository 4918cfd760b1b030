"""Frames as arguments: columns by name, results in the same kind, and what is refused."""

from __future__ import annotations

import gc
import inspect
import subprocess
import sys
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

from retrograde.frames.arrow import Exported
from retrograde.frames.binding import taken

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
arrow = pytest.importorskip("pyarrow")

S = np.array([90.0, 100.0, 110.0])
K = np.array([95.0, 95.0, 100.0])
INDEX = ["a", "b", "c"]


def structured(columns: dict[str, Any]) -> Any:
    made = np.zeros(3, dtype=[(name, np.asarray(part).dtype) for name, part in columns.items()])
    for name, part in columns.items():
        made[name] = part
    return made


def chunked(columns: dict[str, Any]) -> Any:
    """An Arrow table in two pieces, the second of which begins inside its buffers."""
    whole = arrow.table(columns)
    return arrow.concat_tables([whole.slice(0, 1), whole.slice(1)])


class ByProtocol:
    """A frame that offers the dataframe protocol and nothing else."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return self.frame.__dataframe__(allow_copy=allow_copy)


MAKE = {
    "dataframe protocol": lambda columns: ByProtocol(arrow.table(columns)),
    "pandas": lambda columns: pandas.DataFrame(columns, index=INDEX),
    "pandas nullable": lambda columns: pandas.DataFrame(
        {name: pandas.array(part) for name, part in columns.items()}, index=INDEX
    ),
    "pandas arrow": lambda columns: pandas.DataFrame(
        {
            name: pandas.array(part, dtype=pandas.ArrowDtype(arrow.array(part).type))
            for name, part in columns.items()
        },
        index=INDEX,
    ),
    "polars": lambda columns: polars.DataFrame(columns),
    "polars sliced": lambda columns: polars.concat(
        [polars.DataFrame(columns)[:1], polars.DataFrame(columns)[1:]], rechunk=False
    ),
    "arrow table": lambda columns: arrow.table(columns),
    "arrow chunks": chunked,
    "arrow batch": lambda columns: arrow.record_batch(columns),
    "arrow slice": lambda columns: arrow.record_batch(
        {name: np.concatenate([part[:1], part]) for name, part in columns.items()}
    ).slice(1),
    "dict": dict,
    "structured": structured,
}


KIND_BACK: dict[type, type] = {ByProtocol: arrow.Table}
"""Kinds of results that are not the frame's own."""


@pytest.fixture(params=MAKE)
def make(request: pytest.FixtureRequest) -> Any:
    return MAKE[request.param]


def numbers(thing: Any) -> Any:
    """A column of any kind as an array."""
    return np.asarray(thing.to_numpy() if hasattr(thing, "to_numpy") else thing)


def priced(rg: Any) -> Any:
    @rg.compile
    def price(S: Any, K: Any, sigma: Any) -> Any:
        return S * rg.exp(-sigma) - K * sigma**2 if S > K else K * sigma * S

    return price


def test_every_kind_gives_the_bits_of_arrays_in_its_own_kind(rg: Any, make: Any) -> None:
    price = priced(rg)
    frame = make({"S": S, "K": K})
    value, (by_s, by_sigma) = price.value_and_grad(S, K, 0.2, wrt=("S", "sigma"))
    found = price.value_and_grad(frame, sigma=0.2, wrt=("S", "sigma"))
    assert type(found) is KIND_BACK.get(type(frame), type(frame))
    for name, expected in (("value", value), ("d_S", by_s), ("d_sigma", by_sigma)):
        assert numbers(found[name]).tobytes() == expected.tobytes()
    if isinstance(frame, pandas.DataFrame):
        assert found.index is frame.index or found.index.equals(frame.index)
        assert list(found.columns) == ["value", "d_S", "d_sigma"]
    assert numbers(price(frame, sigma=0.2)).tobytes() == value.tobytes()


def test_the_order_of_columns_does_not_matter_and_those_nothing_takes_are_left(
    rg: Any, make: Any
) -> None:
    price = priced(rg)
    frame = make({"desk": K, "K": K, "sigma": np.full(3, 0.2), "S": S})
    assert numbers(price(frame)).tolist() == price(S, K, np.full(3, 0.2)).tolist()


def test_whole_numbers_and_bools_are_read(rg: Any, make: Any) -> None:
    pick = rg.compile(lambda i, x: rg.take([x, x * x], i))
    for index in (np.array([0, 1, 1]), np.array([0, 1, 1], dtype=np.int8), np.array([0, 1, 1]) > 0):
        found = pick.value_and_grad(make({"i": index, "x": S}))
        assert numbers(found["value"]).tolist() == [90.0, 10000.0, 12100.0]
        assert numbers(found["d_i"]).tolist() == [0.0, 0.0, 0.0]
        assert numbers(found["d_x"]).tolist() == [1.0, 200.0, 220.0]


def test_an_integer_column_that_is_a_number_says_so(rg: Any, make: Any) -> None:
    twice = rg.compile(lambda n, x: n * x)
    frame = make({"n": np.array([1, 2, 3]), "x": S})
    with pytest.raises(rg.errors.RetrogradeError, match="n"):
        twice.grad(frame)
    assert numbers(twice.grad(frame, wrt="x")).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.float64])
def test_every_width_of_number_is_read(rg: Any, make: Any, dtype: Any) -> None:
    half = rg.compile(lambda x: x * 0.5)
    column = np.array([1, 2, 250]).astype(dtype)
    assert numbers(half(make({"x": column}))).tolist() == [0.5, 1.0, 125.0]


def test_missing_columns_are_named_with_those_that_nothing_takes(rg: Any, make: Any) -> None:
    price = priced(rg)
    with pytest.raises(rg.errors.FrameError) as caught:
        price(make({"S": S, "k": K, "desk": K}))
    text = str(caught.value)
    assert "'K', 'sigma'" in text
    assert "'k', 'desk'" in text
    assert "K: did you mean 'k'?" in text
    assert "price(frame, K=…)" in text


def test_a_default_beside_columns_that_nothing_takes_is_doubted(rg: Any, make: Any) -> None:
    f = rg.compile(lambda x, rate=0.5: x * rate)
    assert numbers(f(make({"x": S}))).tolist() == (S * 0.5).tolist()
    with pytest.raises(rg.errors.FrameError, match=r"'Rate'.*'rate' would be left.*pass rate="):
        f(make({"x": S, "Rate": K}))
    assert numbers(f(make({"x": S, "Rate": K}), rate=0.5)).tolist() == (S * 0.5).tolist()


def test_text_is_refused_with_a_cure(rg: Any, make: Any) -> None:
    f = rg.compile(lambda x: x * 2.0)
    with pytest.raises(rg.errors.FrameError, match=r"x holds text, not numbers.*astype\(float\)"):
        f(make({"x": np.array(["1", "2", "3"])}))


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pandas.Series([1.0, "b", 3.0], dtype=object), r"x holds objects.*to_numeric"),
        (pandas.Series(["u", "v", "u"], dtype="category"), "x holds categories.*codes"),
        (pandas.to_datetime(pandas.Series(["2026-01-01"] * 3)), "x holds times.*in years"),
        (pandas.to_timedelta(pandas.Series([1, 2, 3])), "x holds durations.*in years"),
        (pandas.Series([1j, 2j, 3j]), "x holds complex numbers.*real and imaginary"),
        (polars.Series([[1.0], [2.0], [3.0]]), "x holds lists.*a column of its own"),
        (polars.Series(["u", "v", "u"], dtype=polars.Categorical), "x holds categories"),
        (polars.Series([1, 2, 3]).cast(polars.Date), "x holds times"),
        (polars.Series([1, 2, 3]).cast(polars.Decimal(10, 2)), "x holds decimals.*float64"),
        (arrow.array([b"1", b"2", b"3"]), "x holds bytes"),
    ],
    ids=lambda part: str(getattr(part, "dtype", getattr(part, "type", "")))[:20],
)
def test_what_is_no_number_is_refused_in_frames_and_alone(rg: Any, column: Any, said: str) -> None:
    f = rg.compile(lambda x: x * 2.0)
    kind = type(column).__module__.partition(".")[0]
    frame = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "pyarrow": arrow.table}[kind]
    for given in (frame({"x": column}), column, {"x": column}):
        with pytest.raises(rg.errors.FrameError, match=said):
            f(given)


NULLS = {
    "pandas": pandas.DataFrame({"x": [1.0, None, None]}, index=INDEX),
    "pandas nullable": pandas.DataFrame({"x": [1, None, None]}, index=INDEX, dtype="Int64"),
    "polars": polars.DataFrame({"x": [1.0, None, None]}),
    "polars whole": polars.DataFrame({"x": [1, None, None]}),
    "arrow": arrow.table({"x": [1.0, None, None]}),
    "arrow chunks": arrow.table({"x": arrow.chunked_array([[1.0], [None, None]])}),
    "arrow slice": arrow.table({"x": [None, 1.0, None, None]}).slice(1),
}


@pytest.mark.parametrize("kind", NULLS)
def test_nulls_name_their_first_row_or_are_nan_on_request(rg: Any, kind: str) -> None:
    f, frame = rg.compile(lambda x: x * 2.0), NULLS[kind]
    where = r"row 1 \(index 'b'\)" if "pandas" in kind else "row 1"
    said = rf"x is null in {where} \(2 nulls in all\).*rg.columns\(…, nulls='nan'\)"
    with pytest.raises(rg.errors.FrameError, match=said):
        f(frame)
    found = numbers(f(rg.columns(frame, nulls="nan")))
    assert np.array_equal(found.astype(float), [2.0, np.nan, np.nan], equal_nan=True)


def test_a_column_of_nulls_alone(rg: Any) -> None:
    f = rg.compile(lambda x: x * 2.0)
    frame = arrow.table({"x": arrow.nulls(3)})
    with pytest.raises(rg.errors.FrameError, match="x is null in row 0"):
        f(frame)
    assert np.isnan(numbers(f(rg.columns(frame, nulls="nan")))).all()


def test_nan_is_a_number_where_nulls_are_something_else(rg: Any) -> None:
    f = rg.compile(lambda x: x * 2.0)
    given = np.array([1.0, np.nan])
    for frame in (polars.DataFrame({"x": given}), arrow.table({"x": given}), {"x": given}):
        assert np.isnan(numbers(f(frame))).tolist() == [False, True]


def test_frames_without_rows(rg: Any) -> None:
    f = rg.compile(lambda x, y: x * y)
    none = np.empty(0)
    for frame in (pandas.DataFrame, polars.DataFrame, arrow.table, dict):
        found = f.value_and_grad(frame({"x": none, "y": none}))
        assert numbers(found["d_y"]).shape == (0,)
    assert f(arrow.table({"x": none, "y": none}).slice(0, 0)).to_pylist() == []
    assert len(f(arrow.Table.from_batches([], arrow.table({"x": none, "y": none}).schema))) == 0


def test_columns_are_read_where_they_lie() -> None:
    signature = inspect.signature(lambda x, y: 0)
    base = arrow.table({"x": S, "y": K})
    frame = polars.DataFrame({"x": S, "y": K})
    kinds = {
        "arrow": (base, base["x"].chunk(0).buffers()[1].address),
        "polars": (frame, frame["x"].to_arrow().buffers()[1].address),
        "pandas": (pandas.DataFrame({"x": S}, copy=False).assign(y=K), S.ctypes.data),
        "dict": ({"x": S, "y": K}, S.ctypes.data),
    }
    for kind, (given, address) in kinds.items():
        found = taken("f", signature, (given,), {}, True)
        assert found is not None
        assert found.kwargs["x"].ctypes.data == address, kind


def test_what_was_read_stays_while_it_is_used_and_goes_afterwards() -> None:
    gc.collect()
    before = arrow.total_allocated_bytes()
    table = arrow.table({"x": arrow.array(range(100_000), type=arrow.float64())})
    (read,) = Exported(table).columns([0])
    del table
    gc.collect()
    assert read.numbers[-1] == 99_999.0
    assert arrow.total_allocated_bytes() > before
    del read
    gc.collect()
    assert arrow.total_allocated_bytes() == before


def test_results_are_the_frames_own(rg: Any) -> None:
    """Memory of results is used again: not while a frame looks at it."""
    f = rg.compile(lambda x: x * 2.0)
    many = np.arange(200_000.0)
    for make in (pandas.DataFrame, polars.DataFrame, arrow.table):
        kept = [f.value_and_grad(make({"x": many + start})) for start in range(4)]
        gc.collect()
        for start, frame in enumerate(kept):
            assert numbers(frame["value"])[-1] == 2.0 * (many[-1] + start)


def test_series_come_back_as_series(rg: Any) -> None:
    f = rg.compile(lambda x, y, a: a * x * y)
    frame = pandas.DataFrame({"x": S, "y": K}, index=INDEX)
    value, (by_x, by_a) = f.value_and_grad(frame.x, frame.y, 2.0, wrt=("x", "a"))
    assert (value.name, by_x.name, by_a.name) == ("value", "d_x", "d_a")
    assert value.index.tolist() == INDEX
    assert by_x.tolist() == (2.0 * K).tolist()
    mixed = f(frame.x, K, a=2.0)
    assert isinstance(mixed, pandas.Series)
    assert mixed.tolist() == value.tolist()
    other = f(polars.Series(S), polars.Series(K), 2.0)
    assert isinstance(other, polars.Series)
    assert isinstance(f(arrow.array(S), arrow.chunked_array([K]), 2.0), arrow.Array)
    total, by_a = f.value_and_grad(frame.x, frame.y, 2.0, wrt="a", reduce="sum")
    assert (type(total), type(by_a)) == (float, float)


class Greeks(NamedTuple):
    delta: Any
    both: Any


@dataclass
class Priced:
    price: Any
    greeks: Any


@pytest.mark.parametrize(
    ("made", "labels"),
    [
        (lambda x: [x, (x, [x])], ["value_0", "value_1_0", "value_1_1_0"]),
        (lambda x: {"a": x, 3: {"b": x}}, ["a", "3_b"]),
        (lambda x: Greeks(x, [x, x]), ["delta", "both_0", "both_1"]),
        (lambda x: Priced(x, Greeks(x, x)), ["price", "greeks_delta", "greeks_both"]),
        (lambda x: [Greeks(x, x)], ["value_0_delta", "value_0_both"]),
    ],
)
def test_results_in_nests_are_columns_by_their_keys(rg: Any, made: Any, labels: Any) -> None:
    found = rg.compile(made)(pandas.DataFrame({"x": S}))
    assert list(found.columns) == labels


def test_series_inside_nests(rg: Any) -> None:
    f = rg.compile(lambda p, k: p["x"] * p["y"][0] * k)
    frame = pandas.DataFrame({"x": S, "y": K}, index=INDEX)
    by_p, by_k = f.grad({"x": frame.x, "y": [frame.y]}, 2.0)
    assert by_p["y"][0].tolist() == (2.0 * S).tolist()
    assert by_k.index.tolist() == INDEX


def test_rows_are_not_matched_behind_ones_back(rg: Any) -> None:
    f = rg.compile(lambda x, y: x * y)
    x = pandas.Series(S, index=INDEX)
    y = pandas.Series(K, index=INDEX[::-1])
    with pytest.raises(rg.errors.FrameError, match="x and y have different indexes"):
        f(x, y)
    with pytest.raises(rg.errors.RowsError, match="x has 3 rows but y has 2"):
        f(x, K[:2])


def test_the_other_derivatives_of_frames(rg: Any, make: Any) -> None:
    f = rg.compile(lambda x, y: x * x * y)
    frame = make({"x": S, "y": K})
    second = f.hessian(frame)
    assert numbers(second["d2_x_x"]).tolist() == (2.0 * K).tolist()
    assert numbers(second["d2_x_y"]).tolist() == (2.0 * S).tolist()
    along = f.hvp(frame, vector=(np.ones(3), np.zeros(3)))
    assert numbers(along["hvp_y"]).tolist() == (2.0 * S).tolist()
    both = rg.compile(lambda x, y: {"sum": x + y, "product": x * y})
    found = both(frame)
    assert numbers(found["product"]).tolist() == (S * K).tolist()
    slopes = both.jacobian(frame, wrt="x")
    assert numbers(slopes["product_d_x"]).tolist() == K.tolist()
    pair = rg.compile(lambda x, y: (x, [y, x * y]))(frame)
    assert numbers(pair["value_1_1"]).tolist() == (S * K).tolist()


def test_reduced_values_are_numbers_beside_columns(rg: Any, make: Any) -> None:
    price = priced(rg)
    frame = make({"S": S, "K": K})
    expected = price.value_and_grad(S, K, 0.2, wrt=("S", "sigma"), reduce="sum")
    value, (by_s, by_sigma) = price.value_and_grad(
        frame, sigma=0.2, wrt=("S", "sigma"), reduce="sum"
    )
    assert (value, by_sigma) == (expected[0], expected[1][1])
    assert numbers(by_s).tolist() == expected[1][0].tolist()
    assert price.grad(frame, sigma=0.2, wrt="sigma", reduce="sum") == by_sigma


def test_stories_births_and_backward_take_frames(rg: Any, make: Any) -> None:
    weight = rg.Value(2.0)
    f = rg.compile(lambda x, y: rg.log(x) * y * weight)
    frame = make({"x": np.array([1.0, 0.0, 2.0]), "y": K})
    assert f.births(frame).sick.tolist() == [1]
    assert "2" in f.story(frame, row=2).forward[0].words
    assert np.isneginf(f.backward(frame))


def test_arrays_to_write_into_stay_arrays(rg: Any, make: Any) -> None:
    f, out = rg.compile(lambda x: x * 2.0), np.empty(3)
    assert f(make({"x": S}), out=out) is out
    assert out.tolist() == (2.0 * S).tolist()


def test_calls_that_are_no_frames_say_what_they_did(rg: Any) -> None:
    f = rg.compile(lambda x, y: x * y)
    frame = pandas.DataFrame({"x": S, "y": K})
    with pytest.raises(rg.errors.FrameError, match="DataFrame among other arguments"):
        f(frame, 2.0)
    with pytest.raises(rg.errors.FrameError, match="'y' both by name and as a column"):
        f(frame, y=2.0)
    with pytest.raises(rg.errors.FrameError, match="several columns 'x'"):
        f(pandas.DataFrame(np.ones((2, 3)), columns=["x", "x", "y"]))
    with pytest.raises(rg.errors.FrameError, match=r"no rows yet.*collect\(\)"):
        f(polars.DataFrame({"x": S, "y": K}).lazy())
    with pytest.raises(rg.errors.FrameError, match="all were given by name"):
        f(frame[[]], x=1.0, y=2.0)
    with pytest.raises(rg.errors.FrameError, match=r"takes a frame .*got list"):
        rg.columns([1.0])
    with pytest.raises(rg.errors.FrameError, match="nulls='drop' is neither"):
        rg.columns(frame, nulls="drop")
    with pytest.raises(rg.errors.CompileError, match="missing a required argument"):
        f(S)
    with pytest.raises(rg.errors.RowsError, match="x is str"):
        f("abc", 1.0)
    with pytest.raises(rg.errors.RowsError, match=r'p\["a"\] is str'):
        rg.compile(lambda p: p["a"])({"a": "text"})


def test_functions_on_tensors_say_to_pass_columns(rg: Any) -> None:
    def loss(x: Any, y: Any) -> Any:
        return rg.square(x - y).sum()

    loss.__annotations__ = {"x": rg.Tensor, "y": rg.Tensor}
    f, frame = rg.compile(loss), pandas.DataFrame({"x": S, "y": K})
    for call in (f, f.grad):
        with pytest.raises(rg.errors.FrameError, match=r"loss is a function on tensors.*rg.rows"):
            call(frame)
    assert f(frame.x, frame.y) == f(S, K)


def test_frames_beside_values_say_what_to_pass(rg: Any, make: Any) -> None:
    price, frame = priced(rg), make({"S": S, "K": K})
    if isinstance(frame, dict):
        frame = rg.columns(frame)
    for call in (
        lambda: price(frame, sigma=rg.Value(0.2)),
        lambda: rg.compile(lambda sigma: price(frame, sigma=sigma))(0.2),
    ):
        with pytest.raises(rg.errors.FrameError, match=r"given a frame beside a Value, or while"):
            call()
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'sigma'"):
        price(rg.Value(1.0), K=rg.Value(1.0))


def test_series_mark_rows_seed_and_point(rg: Any) -> None:
    frame = pandas.DataFrame({"x": S, "y": K})
    f = rg.compile(lambda x, y: x * y)
    assert f(rg.rows(frame.x), 2.0).tolist() == (2.0 * S).tolist()
    assert f.hvp(frame, vector=(frame.x, frame.y))["hvp_x"].tolist() == K.tolist()
    weighted = f.value_and_grad(frame, weights=frame.x)
    assert weighted["d_y"].tolist() == (S * S).tolist()


def test_a_dict_that_is_one_argument_stays_one(rg: Any) -> None:
    f = rg.compile(lambda p: p["x"] * p["y"])
    assert f({"x": S, "y": K}).tolist() == (S * K).tolist()
    assert f.grad({"x": S, "y": 2.0})["x"].tolist() == [2.0, 2.0, 2.0]
    wide = rg.compile(lambda v, a: rg.sum(v) * a)
    found = wide.value_and_grad({"v": np.stack([S, K], axis=1), "a": S})
    assert found["value"].tolist() == ((S + K) * S).tolist()
    assert found["d_v"].shape == (3, 2)


def test_loaded_functions_take_frames(rg: Any, make: Any, tmp_path: Any) -> None:
    price = priced(rg)
    frame = make({"S": S, "K": K})
    value = numbers(price(frame, sigma=0.2))
    price.save(tmp_path / "price.rgp")
    loaded = rg.load(tmp_path / "price.rgp")
    assert numbers(loaded.value_and_grad(frame, sigma=0.2)["value"]).tolist() == value.tolist()


def test_anything_that_exports_arrow_is_a_table(rg: Any) -> None:
    class Stranger:
        def __init__(self, table: Any) -> None:
            self.table = table

        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return self.table.__arrow_c_stream__(requested_schema)

    f = rg.compile(lambda x, y: x * y)
    found = f.value_and_grad(Stranger(arrow.table({"y": K, "name": INDEX, "x": S})))
    assert numbers(found["d_x"]).tolist() == K.tolist()


def test_frames_that_the_protocol_cannot_carry(rg: Any) -> None:
    frame = ByProtocol(arrow.table({"x": arrow.array([1, 2]).cast(arrow.decimal128(21, 2))}))
    with pytest.raises(rg.errors.FrameError, match=r"through the dataframe protocol: .*decimal"):
        rg.compile(lambda x: x)(frame)


def test_a_library_that_another_thread_is_loading_is_not_there_yet(
    rg: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    f, table = rg.compile(lambda x: x * x), arrow.table({"x": S})
    loading = ModuleType("pandas")
    loading.__spec__ = ModuleSpec("pandas", None)
    loading.__spec__._initializing = True
    monkeypatch.setitem(sys.modules, "pandas", loading)
    assert numbers(f(table)).tolist() == numbers(f(table["x"])).tolist() == (S * S).tolist()
    assert numbers(f(rg.columns({"x": S}))).tolist() == (S * S).tolist()


def test_calls_on_arrays_load_no_frames() -> None:
    code = (
        "import sys, numpy as np, retrograde as rg\n"
        "f = rg.compile(lambda x, p: x * p['a'] if x > 0 else x)\n"
        "f.value_and_grad(np.array([1.0, -1.0]), {'a': 2.0})\n"
        "print([name for name in sys.modules if name.startswith('retrograde.frames')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
