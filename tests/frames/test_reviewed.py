"""Frames where a wrong number came out once: now a right one, or an error."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import retrograde as rg
from retrograde.errors import FrameError, MapError

pandas = pytest.importorskip("pandas")
arrow = pytest.importorskip("pyarrow")


def _volume(Z: Any, b: Any) -> Any:
    return Z[0] * Z[1] * Z[2] * b


def test_second_derivatives_of_columns_with_several_numbers() -> None:
    table = {"Z": np.array([[2.0, 3.0, 5.0]]), "b": np.array([7.0])}
    found = rg.compile(_volume).hessian(table)
    assert [found[f"d2_Z_{place}_b"].tolist() for place in range(3)] == [[15.0], [10.0], [6.0]]
    assert found["d2_Z_1_Z"].tolist() == [[35.0, 0.0, 14.0]]
    assert found["d2_b_Z"].tolist() == [[15.0, 10.0, 6.0]]
    frame = pandas.DataFrame({"b": [7.0]})
    of_frame = rg.compile(_volume).hessian(frame, Z=[2.0, 3.0, 5.0])
    assert len(of_frame.columns) == 16
    assert of_frame["d2_Z_0_Z_2"].tolist() == [21.0]
    assert of_frame["d2_Z_2_b"].tolist() == of_frame["d2_b_Z_2"].tolist() == [6.0]


def test_second_derivatives_of_nests() -> None:
    product = rg.compile(lambda p, b: p["u"] * p["v"] * b)
    table = {"p": {"u": np.array([2.0]), "v": np.array([3.0])}, "b": np.array([7.0])}
    found = product.hessian(rg.columns(table))
    assert {name: it.tolist() for name, it in found.items() if name.startswith("d2_p_v")} == {
        "d2_p_v_p_u": [7.0],
        "d2_p_v_p_v": [0.0],
        "d2_p_v_b": [2.0],
    }


def test_results_of_one_name_are_refused() -> None:
    frame = pandas.DataFrame({"x": [1.0, 2.0]})
    with pytest.raises(FrameError, match="'a_b'"):
        rg.compile(lambda x: {"a_b": x, "a": {"b": 2 * x}})(frame)
    with pytest.raises(FrameError, match="'1'"):
        rg.compile(lambda x: {1: x, "1": 2 * x})(frame)
    both = rg.compile(lambda x, d_x: {"p": x + d_x, "p_d": x * d_x})
    with pytest.raises(FrameError, match="'p_d_d_x'"):
        both.jacobian(frame.assign(d_x=1.0))


def _grown(x: Any, n: int = 1) -> Any:
    for _ in range(n):
        x = x * 2.0
    return x


def _less(x: Any, K: Any) -> Any:
    return x - K


def test_columns_named_like_fixed_parameters_are_refused(tmp_path: Any) -> None:
    grown = rg.compile(_grown, static=("n",))
    frame = pandas.DataFrame({"x": [1.0, 2.0], "n": [3, 3]})
    for call in (grown, grown.grad, grown.variant(n=2), partial(grown, n=3)):
        with pytest.raises(FrameError, match=r"'n'.*by name"):
            call(frame)
    with pytest.raises(FrameError, match="'n'"):
        grown({"x": np.array([1.0]), "n": 3})
    assert grown(frame[["x"]], n=3).tolist() == [8.0, 16.0]
    less = rg.compile(partial(_less, K=100))
    with pytest.raises(FrameError, match="'K'"):
        less(frame.assign(K=1.0))
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(arrow.table({"x": [1.0], "n": [3]}), tmp_path / "in.parquet")
    with pytest.raises(MapError, match="'n'"):
        grown.map_batches(tmp_path / "in.parquet", tmp_path / "out.parquet")


def test_mapped_results_of_one_name_are_refused(tmp_path: Any) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(arrow.table({"x": [1.0]}), tmp_path / "in.parquet")
    two = rg.compile(lambda x: {"p": x, "p_d_x": x * x})
    with pytest.raises(FrameError, match="'p_d_x'"):
        two.map_batches(tmp_path / "in.parquet", tmp_path / "out.parquet")


def test_series_whose_rows_have_other_names_are_refused() -> None:
    less = rg.compile(_less)
    a = pandas.Series([1.0, 2.0, 3.0], index=list("abc"))
    b = pandas.Series([1.0, 2.0, 3.0], index=list("cba"))
    frame = pandas.DataFrame({"x": a})
    inside = rg.compile(lambda x, ks: x - ks[0] * ks[1])
    one = rg.compile(lambda x: x**3)
    calls: list[Any] = [
        lambda: less({"x": a, "K": b}),
        lambda: less(frame, K=b),
        lambda: inside(frame, ks=[1.0, b]),
        lambda: inside({"x": a, "ks": [b, b]}),
        lambda: inside(np.ones(3), [a, b]),
        lambda: less.value_and_grad(a, a, reduce="sum", weights=b),
        lambda: less.grad(frame, K=a, weights=b),
        lambda: one.hvp(a, vector=b),
        lambda: one.hvp(frame, vector=b),
    ]
    for call in calls:
        with pytest.raises(FrameError, match="different indexes"):
            call()
    assert less({"x": a, "K": a}).tolist() == [0.0] * 3
    assert less(frame, K=b.to_numpy()).index.tolist() == list("abc")
    assert less.grad(frame, K=a, wrt="x", weights=a).tolist() == [1.0, 2.0, 3.0]
    assert one.hvp(frame, vector=a).tolist() == [6.0, 24.0, 54.0]


def test_partitions_whose_rows_have_other_names_are_refused() -> None:
    dd = pytest.importorskip("dask.dataframe")
    less = rg.compile(_less)
    numbers = np.arange(6.0)
    frame = dd.from_pandas(pandas.DataFrame({"x": numbers}, index=list("abcdef")), npartitions=3)
    alike = dd.from_pandas(pandas.Series(numbers, index=list("abcdef")), npartitions=3)
    other = dd.from_pandas(pandas.Series(numbers, index=list("uvwxyz")), npartitions=3)
    assert less(frame, K=alike).compute().tolist() == [0.0] * 6
    with pytest.raises(FrameError, match="different indexes"):
        less(frame, K=other).compute()
    total = less.grad(frame, K=1.0, wrt="K", reduce="sum", weights=alike)
    assert float(total.compute()) == -15.0
    total = less.grad(frame, K=1.0, wrt="K", reduce="sum", weights=other)
    with pytest.raises(FrameError, match="different indexes"):
        total.compute()


def test_reduced_gradients_of_uniform_arrays_are_no_rows() -> None:
    model = rg.compile(lambda x, w: x * rg.sum([each * each for each in w]))
    series = pandas.Series([1.0, 2.0, 3.0], index=list("abc"))
    for width in (1, 2, 3):
        w = np.arange(1.0, width + 1.0)
        for args, others in (
            ((series, rg.uniform(w)), {}),
            ((pandas.DataFrame({"x": series}),), {"w": rg.uniform(w)}),
        ):
            by_x, by_w = model.grad(*args, **others, reduce="sum")
            assert isinstance(by_w, np.ndarray)
            assert by_w.tolist() == (12.0 * w).tolist()
            assert by_x.index.tolist() == list("abc")


def test_reduced_gradients_of_nests_have_columns_where_there_are_rows() -> None:
    model = rg.compile(lambda p, Z: p["u"] * p["v"] * Z[0] * Z[1])
    series = pandas.Series([1.0, 2.0], index=["a", "b"])
    table = {"p": {"u": series, "v": 3.0}, "Z": np.ones((2, 2))}
    by_p, by_z = model.grad(table["p"], table["Z"], reduce="sum")
    assert (by_p["u"].index.tolist(), by_p["v"]) == (["a", "b"], 3.0)
    assert by_z.columns.tolist() == ["d_Z_0", "d_Z_1"]
    frame = pandas.DataFrame({"x": series})
    of_frame = rg.compile(lambda x, Z: x * Z[0] * Z[1])
    by_z = of_frame.grad(frame, Z=np.ones((2, 2)), wrt="Z", reduce="sum")
    assert by_z.to_dict("list") == {"d_Z_0": [1.0, 2.0], "d_Z_1": [1.0, 2.0]}


def test_structs_that_are_null_themselves_are_nulls() -> None:
    product = rg.compile(lambda x, y: x * y)
    fields = [arrow.array([1.0, 2.0, None, 4.0]), arrow.array([1.0, 2.0, 3.0, 4.0])]
    mask = arrow.array([False, True, False, False])
    struct = arrow.StructArray.from_arrays(fields, names=["x", "y"], mask=mask)
    with pytest.raises(FrameError, match=r"x is null in row 1.*2 nulls"):
        product(struct)
    with pytest.raises(FrameError, match="x is null in row 0"):
        product(struct[1:])
    assert product(struct[3:]).to_pylist() == [16.0]
    found = product(rg.columns(struct, nulls="nan")).to_pylist()
    assert [it if it == it else None for it in found] == [1.0, None, None, 16.0]
