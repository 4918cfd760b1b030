"""Dask's arrays and frames as arguments: lazy results, with the bits of a call in memory."""

from __future__ import annotations

import importlib
import pickle
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

ROWS = 2_500


@pytest.fixture(autouse=True)
def _at_once() -> Any:
    """Tasks run here, one after the other."""
    with dask.config.set(scheduler="synchronous"):
        yield


def function(rg: Any) -> Any:
    @rg.compile
    def f(S: Any, K: Any, a: Any) -> Any:
        return rg.exp(-a * S / K) * S if S > K else S * S * a

    return f


def columns(seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 1.5, ROWS), rng.uniform(0.5, 1.5, ROWS)


def same(found: Any, wanted: Any) -> None:
    """Nests of lazy results, and of results."""
    if isinstance(wanted, (list, tuple)):
        assert type(found) is type(wanted)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted):
            same(one, other)
    elif isinstance(wanted, dict):
        same(list(found.values()), list(wanted.values()))
    elif isinstance(wanted, (pd.DataFrame, pd.Series)):
        computed = found.compute()
        assert type(computed) is type(wanted)
        assert computed.index.equals(wanted.index)
        for name in [None] if isinstance(wanted, pd.Series) else list(wanted.columns):
            one, other = (it if name is None else it[name] for it in (computed, wanted))
            assert one.name == other.name
            assert one.to_numpy().tobytes() == other.to_numpy().tobytes()
        meta = found._meta
        assert list(getattr(meta, "columns", [meta.name if hasattr(meta, "name") else 0])) == list(
            getattr(wanted, "columns", [getattr(wanted, "name", 0)])
        )
    else:
        computed = np.asarray(found.compute())
        assert hasattr(found, "__dask_graph__")
        assert computed.shape == np.shape(wanted)
        assert computed.tobytes() == np.asarray(wanted).tobytes()


CALLS = {
    "value": lambda f, S, K: f(S, K, 0.3),
    "value_and_grad": lambda f, S, K: f.value_and_grad(S, K, 0.3),
    "bare": lambda f, S, K: f.value_and_grad(S, K, 0.3, wrt="a"),
    "by name": lambda f, S, K: f.value_and_grad(K=K, S=S, a=0.3, wrt=("a", "K")),
    "grad": lambda f, S, K: f.grad(S, K, 0.3, wrt="S"),
    "weights": lambda f, S, K: f.grad(S, K, 0.3, wrt="S", weights=K),
    "jacobian": lambda f, S, K: f.jacobian(S, K, 0.3, wrt=("S", "a")),
    "hessian": lambda f, S, K: f.hessian(S, K, 0.3, wrt=("S", "a")),
    "hvp": lambda f, S, K: f.hvp(S, K, 0.3, wrt="S", vector=K),
    "sum": lambda f, S, K: f.value_and_grad(S, K, 0.3, reduce="sum"),
    "mean": lambda f, S, K: f.value_and_grad(S, K, 0.3, reduce="mean", wrt=("K", "a")),
    "mean of rows": lambda f, S, K: f.grad(S, K, 0.3, reduce="mean", wrt=("S", "K")),
    "sum of gradients": lambda f, S, K: f.grad(S, K, 0.3, reduce="sum", wrt="a"),
    "weighted mean": lambda f, S, K: f.grad(S, K, 0.3, reduce="mean", wrt="a", weights=K),
}


@pytest.mark.bank(every=5)
@pytest.mark.parametrize("call", CALLS)
def test_arrays(rg: Any, call: str) -> None:
    S, K = columns()
    wanted = CALLS[call](function(rg), S, K)
    for chunks, others in ((1234, 777), (1024, 1024)):
        lazy = da.from_array(S, chunks=chunks), da.from_array(K, chunks=others)
        same(CALLS[call](function(rg), *lazy), wanted)
    same(CALLS[call](function(rg), da.from_array(S, chunks=900), K), wanted)  # one in memory


@pytest.mark.bank(every=5)
@pytest.mark.parametrize("call", CALLS)
def test_series(rg: Any, call: str) -> None:
    S, K = (pd.Series(it, index=np.arange(ROWS) * 3, name="x") for it in columns())
    frame = dd.from_pandas(pd.DataFrame({"S": S, "K": K}), npartitions=6)
    same(CALLS[call](function(rg), frame["S"], frame["K"]), CALLS[call](function(rg), S, K))


FRAMES = {
    "value": lambda f, it: f(it, a=0.3),
    "value_and_grad": lambda f, it: f.value_and_grad(it, a=0.3),
    "wrt": lambda f, it: f.value_and_grad(it, a=0.3, wrt=("K", "a")),
    "grad": lambda f, it: f.grad(it, a=0.3, wrt="S"),
    "hessian": lambda f, it: f.hessian(it, a=0.3, wrt=("S", "K")),
    "sum": lambda f, it: f.value_and_grad(it, a=0.3, reduce="sum"),
    "mean": lambda f, it: f.value_and_grad(it, a=0.3, reduce="mean", wrt=("S", "a")),
}


@pytest.mark.bank(every=5)
@pytest.mark.parametrize("call", FRAMES)
@pytest.mark.parametrize("parts", [1, 7])
def test_frames(rg: Any, call: str, parts: int) -> None:
    S, K = columns()
    frame = pd.DataFrame({"id": np.arange(ROWS), "K": K, "S": S}, index=np.arange(ROWS) * 2)
    lazy = dd.from_pandas(frame, npartitions=parts)
    same(FRAMES[call](function(rg), lazy), FRAMES[call](function(rg), frame))


def test_other_arguments(rg: Any) -> None:
    class Pair(NamedTuple):
        low: Any
        high: Any

    both = rg.compile(lambda v, w, p: {"dot": rg.dot(v, w), "span": (p.high - p.low) * v[0]})
    v = np.random.default_rng(1).normal(size=(300, 4))
    w = rg.uniform(np.arange(4.0))
    pair = Pair(v[:, 0], 2.0)
    lazy = da.from_array(v, chunks=(77, 3))
    same(both(lazy, w, Pair(lazy[:, 0], 2.0)), both(v, w, pair))
    dots = rg.compile(lambda v, w: rg.dot(v, w))
    same(dots.value_and_grad(lazy, w, reduce="sum"), dots.value_and_grad(v, w, reduce="sum"))
    same(dots.value_and_grad(lazy, w), dots.value_and_grad(v, w))
    power = rg.compile(lambda x, n: x**n, static="n")
    same(power.grad(lazy[:, 1], 3), power.grad(v[:, 1], 3))


def test_chunks_of_unknown_sizes(rg: Any) -> None:
    S, K = columns()
    f = function(rg)
    frame = dd.from_pandas(pd.DataFrame({"S": S, "K": K}), npartitions=7)
    few = frame[frame.S > 0.9]
    picked = S > 0.9
    wanted = f.value_and_grad(S[picked], K[picked], 0.3, reduce="sum", wrt=("a", "S"))
    lazy = f.value_and_grad(few.S.values, few.K.values, 0.3, reduce="sum", wrt=("a", "S"))
    same(lazy, wanted)
    same(f(few.S.values, few.K.values, 0.3), f(S[picked], K[picked], 0.3))
    table = f.value_and_grad(few, a=0.3, reduce="sum", wrt="a")
    same(table, f.value_and_grad(S[picked], K[picked], 0.3, reduce="sum", wrt="a"))
    with pytest.raises(rg.errors.LazyError, match="compute_chunk_sizes"):
        f(few.S.values, K[picked], 0.3)


def test_nulls_become_nan_on_request(rg: Any) -> None:
    S, K = columns()
    S[17] = np.nan
    frame = pd.DataFrame({"S": S, "K": K})
    lazy, f = dd.from_pandas(frame, npartitions=3), function(rg)
    with pytest.raises(rg.errors.FrameError, match="S is null in row 17"):
        f(lazy, a=0.3).compute()
    same(f(rg.columns(lazy, nulls="nan"), a=0.3), f(rg.columns(frame, nulls="nan"), a=0.3))


def test_nothing_is_computed_before_it_is_asked_for(rg: Any) -> None:
    computed = []

    def chunk(block: Any) -> Any:
        computed.append(len(block))
        return block

    S = da.ones(100, chunks=10).map_blocks(chunk, dtype=float, meta=np.empty(0))
    found = function(rg).value_and_grad(S, 2.0, 0.3, reduce="sum")
    assert computed == []
    assert (
        found[0].compute() == function(rg).value_and_grad(np.ones(100), 2.0, 0.3, reduce="sum")[0]
    )
    assert computed == [10] * 10


def test_tasks_have_names(rg: Any) -> None:
    from dask.utils import key_split

    lazy = function(rg).value_and_grad(da.ones(330, chunks=10), 2.0, 0.3, reduce="sum")
    names = {key_split(key) for key in dict(lazy[0].dask)}
    assert {name for name in names if name.startswith("f.")} == {
        "f.value_and_grad", "f.value_and_grad.sums", "f.value_and_grad.joined",
    }  # fmt: skip


def test_a_chunk_is_one_task(rg: Any) -> None:
    S = da.ones(100, chunks=10) + 1.0
    for lazy, others in (
        (function(rg)(S, 2.0, 0.3), 0),
        (function(rg).value_and_grad(S, 2.0, 0.3)[1][0], 0),
        (function(rg).value_and_grad(S, 2.0, 0.3, reduce="sum")[0], 1),
        (function(rg).grad(S, 2.0, 0.3, wrt="a", reduce="mean"), 1),
    ):
        assert len(dict(dask.optimize(lazy)[0].dask)) == 10 + others


@pytest.mark.parametrize("chunks", [7, 100, 1_300])
def test_calls_that_are_a_task_of_their_own(rg: Any, monkeypatch: Any, chunks: int) -> None:
    lazily = importlib.import_module(f"{rg.__name__}.streams.lazy")
    monkeypatch.setattr(lazily, "_MOST_REPEATED", -1)
    S, K = columns()
    for call in ("value", "value_and_grad", "sum", "mean"):
        wanted = CALLS[call](function(rg), S, K)
        lazy = da.from_array(S, chunks=chunks), da.from_array(K, chunks=chunks)
        found = CALLS[call](function(rg), *lazy)
        same(found, wanted)
        first = found
        while isinstance(first, tuple):
            first = first[0]
        names = [str(key) for key in dict(first.dask)]
        assert any(".call-" in name for name in names)


@pytest.mark.parametrize("large", [False, True])
def test_functions_arrive_once(rg: Any, monkeypatch: Any, large: bool) -> None:
    shipping = importlib.import_module(f"{rg.__name__}.streams.shipping")
    if large:
        monkeypatch.setattr(shipping, "_LARGE", 0)
    f = function(rg)
    f(1.0, 2.0, 0.3)
    data = pickle.dumps(shipping.Shipped(f))
    one, other = pickle.loads(data), pickle.loads(data)
    assert one.function is one.function
    assert (one.function is other.function) != large  # what is large is one for each who holds it
    assert one.function(1.0, 2.0, 0.3) == f(1.0, 2.0, 0.3)
    assert pickle.loads(pickle.dumps(one)).function(3.0, 2.0, 0.3) == f(3.0, 2.0, 0.3)


def test_calls_arrive_with_their_arguments(rg: Any) -> None:
    f, (S, K) = function(rg), columns()
    f(S, K, 0.3)
    lazy = f.grad(da.from_array(S, chunks=1_000), K, 0.3, wrt="a", reduce="sum")
    functions = [getattr(task, "func", None) for task in dict(lazy.dask).values()]
    runs = [it for it in functions if isinstance(it, partial)]
    calls = [it.args[0] for it in runs if it.func.__name__ == "run"]
    call = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(calls[0]))))
    found = call((0, 0), [S[:1_000], K[:1_000]])
    assert type(call).__name__ == "Sent"
    assert found.sums.tobytes() == calls[0]((0, 0), [S[:1_000], K[:1_000]]).sums.tobytes()


def test_what_cannot_be_lazy(rg: Any) -> None:
    f, S = function(rg), da.ones(100, chunks=10)
    error = rg.errors.LazyError
    for name in ("backward", "story", "births"):
        with pytest.raises(error, match=f"f.{name} does not take Dask's collections"):
            getattr(f, name)(S, 1.0, 1.0)
    with pytest.raises(error, match="out= does not go with"):
        f(S, 1.0, 1.0, out=np.empty(100))
    with pytest.raises(error, match="sparse= does not go with"):
        f.hessian(S, 1.0, 1.0, sparse=True)
    with pytest.raises(error, match="100 rows in one argument and 90 in another"):
        f(S, da.ones(90, chunks=10), 1.0)
    with pytest.raises(error, match="100 rows in one argument and 7 in another"):
        f(S, np.ones(7), 1.0)
    with pytest.raises(error, match="without rows"):
        f(S, S.sum(), 1.0)
    frame = dd.from_pandas(pd.DataFrame({"S": np.ones(9), "K": np.ones(9)}), npartitions=3)
    with pytest.raises(error, match="of 3 and of 1 partitions"):
        f(frame.S, frame.K.repartition(npartitions=1), 1.0)
    with pytest.raises(rg.errors.FrameError, match="no column 'a'"):
        f(frame)
    with pytest.raises(rg.errors.CompileError, match="reduce='max' is none of"):
        f.value_and_grad(S, 1.0, 1.0, reduce="max")
    with pytest.raises(rg.errors.CompileError, match="wrt names 'x'"):
        f.grad(S, 1.0, 1.0, wrt="x")
    with pytest.raises(error, match="there is no mean"):
        f.grad(da.ones(0, chunks=1), 1.0, 1.0, wrt="a", reduce="mean").compute()
    assert f.grad(da.ones(0, chunks=1), 1.0, 1.0, wrt="a", reduce="sum").compute() == 0.0


def test_errors_name_the_chunk(rg: Any) -> None:
    def bad(x: Any) -> Any:
        if x > 50.0:
            raise ValueError("too much")
        return x

    f = rg.compile(bad)
    f(1.0)
    with pytest.raises(ValueError, match="too much") as caught:
        f(da.arange(100.0, chunks=30)).compute()
    assert any("in chunk" in note for note in caught.value.__notes__)
