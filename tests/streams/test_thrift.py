"""Footers of Parquet files, read and written again."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograde.streams.thrift import (
    BINARY,
    BYTE,
    DOUBLE,
    I16,
    I32,
    I64,
    LIST,
    STRUCT,
    TRUE,
    Items,
    read_struct,
    written,
)  # fmt: skip

LEAVES = {
    TRUE: st.booleans(),
    BYTE: st.integers(0, 255),
    I16: st.integers(-(2**15), 2**15 - 1),
    I32: st.integers(-(2**31), 2**31 - 1),
    I64: st.integers(-(2**63), 2**63 - 1),
    DOUBLE: st.floats(allow_nan=False),
    BINARY: st.binary(max_size=200),
}


def lists(kind: int, items: Any) -> Any:
    return st.lists(items, max_size=40).map(lambda found: (LIST, Items(kind, found)))


def structs(values: Any) -> Any:
    return st.dictionaries(st.integers(1, 200), values, max_size=6).map(
        lambda fields: dict(sorted(fields.items()))
    )


LEAF = st.one_of(
    [numbers.map(lambda it, kind=kind: (kind, it)) for kind, numbers in LEAVES.items()]
)
LISTS = st.one_of([lists(kind, numbers) for kind, numbers in LEAVES.items()])
VALUES = st.recursive(
    LEAF | LISTS,
    lambda deeper: structs(deeper).map(lambda it: (STRUCT, it)) | lists(STRUCT, structs(deeper)),
    max_leaves=12,
)


def plain(struct: Any) -> Any:
    """Either kind of a truth is a truth."""
    if isinstance(struct, dict):
        return {
            number: (1 if kind in (1, 2) else kind, plain(it))
            for number, (kind, it) in struct.items()
        }
    return [plain(it) for it in struct.items] if isinstance(struct, Items) else struct


@settings(max_examples=60, deadline=None)
@given(structs(VALUES))
def test_what_is_written_is_read(struct: Any) -> None:
    assert plain(read_struct(written(struct))) == plain(struct)


def test_footers_come_out_as_they_were() -> None:
    table = pa.table({f"c{n}": pa.array([1.0, None, float(n)]) for n in range(40)})
    for chosen in ({}, {"write_page_index": True}, {"use_dictionary": False}, {"version": "1.0"}):
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, row_group_size=1, **chosen)
        data = sink.getvalue().to_pybytes()
        size = int.from_bytes(data[-8:-4], "little")
        assert written(read_struct(data[-8 - size : -8])) == data[-8 - size : -8]
