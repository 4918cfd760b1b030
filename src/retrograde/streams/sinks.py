"""Files that results are written to, batch by batch: Parquet and Arrow IPC.

A batch is encoded by itself, wherever that is, and its bytes are put behind those of the batches
before it. So a file that broke off is continued from its last whole batch, and comes out with the
bytes that it would have had.
"""

from __future__ import annotations

import base64
import io
from typing import Any, BinaryIO

from .thrift import Items, Struct, read_struct, written

_MAGIC = b"PAR1"
_TAIL = 8
"""Bytes behind a footer: its length, and the magic."""
_MOST_ORDINALS = 1 << 15
"""Row groups that can be numbered."""

_ROWS, _GROUPS = 3, 4
_COLUMNS, _GROUP_START, _ORDINAL = 1, 5, 7
_CHUNK_STARTS = (2, 4, 6)
_ABOUT_CHUNK = 3
_PAGE_STARTS = (9, 10, 11, 14)
"""Numbers of fields in Parquet's footers: where things lie in the file, and on the way there."""


class Sink:
    """A file that grows by batches."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    @staticmethod
    def encoded(table: Any) -> Any:
        """A batch as bytes; done wherever it was computed."""
        raise NotImplementedError

    def begin(self, schema: Any) -> None:
        """Write what stands before the first batch."""
        raise NotImplementedError

    def write(self, table: Any) -> str:
        """Encode a batch behind the others; what the journal is to remember of it."""
        raise NotImplementedError

    def append(self, encoded: Any) -> str:
        """Put a batch that was encoded elsewhere behind the others."""
        raise NotImplementedError

    def recall(self, schema: Any, notes: list[str], ends: list[int]) -> None:
        """Go on behind batches that are there already, each up to some byte."""
        raise NotImplementedError

    def holds(self, encoded: Any) -> bool:
        """Whether this is the last of the batches that were there."""
        raise NotImplementedError

    def finish(self) -> None:
        """Write what stands behind the last batch."""
        raise NotImplementedError


class ParquetSink(Sink):
    """A Parquet file: a row group for each batch, a footer of all of them at the end."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self._footer: Struct = {}
        self._groups: list[Struct] = []
        self._rows = 0
        self._last = 0, 0

    @staticmethod
    def encoded(table: Any) -> Any:
        """A Parquet file of one row group. Results hardly ever repeat or shrink: they are stored as
        they are; what was kept may do both."""
        import pyarrow as arrow

        sink = arrow.BufferOutputStream()
        _write_parquet(sink, table)
        return sink.getvalue()

    def begin(self, schema: Any) -> None:
        """What a footer says of columns; the magic comes with each batch."""
        self._footer = _footer_of(memoryview(self.encoded(schema.empty_table())))[0]

    def write(self, table: Any) -> str:
        """Straight into the file, whose footer is taken off again."""
        import pyarrow as arrow

        start = self.file.tell()
        _write_parquet(arrow.PythonFile(_There(self.file, 0), mode="w"), table)
        end = self.file.tell() - _TAIL
        self.file.seek(end)
        size = int.from_bytes(self.file.read(_TAIL)[:4], "little")
        self.file.seek(end - size)
        footer = self.file.read(size)
        self.file.seek(end - size)
        self.file.truncate()
        return self._added(footer, start)

    def append(self, encoded: Any) -> str:
        """All of it but its footer, which is remembered."""
        start = self.file.tell()
        data = memoryview(encoded)
        _, size = _footer_of(data)
        self.file.write(data[: -size - _TAIL])
        return self._added(bytes(data[-size - _TAIL : -_TAIL]), start)

    def _added(self, footer: bytes, start: int) -> str:
        """Take note of the row group of a batch; ``start`` is where its places are counted from."""
        self._add(read_struct(footer), start)
        return f"{base64.b85encode(footer).decode()} {start}"

    def recall(self, schema: Any, notes: list[str], ends: list[int]) -> None:
        """The footers of the batches are in their notes."""
        self._footer = _footer_of(memoryview(self.encoded(schema.empty_table())))[0]
        for note in notes:
            text, start = note.split()
            self._add(read_struct(base64.b85decode(text)), int(start))
        self._last = (ends[-2] if len(ends) > 1 else 0), ends[-1]
        self.file.seek(ends[-1])

    def holds(self, encoded: Any) -> bool:
        """Byte for byte."""
        first, end = self._last
        data = memoryview(encoded)
        self.file.seek(first)
        found = self.file.read(end - first)
        self.file.seek(end)
        return found == bytes(data[: -_footer_of(data)[1] - _TAIL])

    def finish(self) -> None:
        """One footer for all row groups."""
        rows, groups = self._footer[_ROWS], self._footer[_GROUPS]
        self._footer[_ROWS] = rows[0], self._rows
        self._footer[_GROUPS] = groups[0], Items(12, self._groups)
        data = written(self._footer)
        if not self._groups:
            self.file.write(_MAGIC)
        self.file.write(data + len(data).to_bytes(4, "little") + _MAGIC)

    def _add(self, footer: Struct, start: int) -> None:
        self._rows += footer[_ROWS][1]
        for group in footer[_GROUPS][1].items:
            _moved(group, (_GROUP_START,), start)
            for column in group[_COLUMNS][1].items:
                _moved(column, _CHUNK_STARTS, start)
                _moved(column[_ABOUT_CHUNK][1], _PAGE_STARTS, start)
            if _ORDINAL in group:
                kind, _ = group.pop(_ORDINAL)
                if len(self._groups) < _MOST_ORDINALS:
                    group[_ORDINAL] = kind, len(self._groups)
            self._groups.append(group)


def _is_result(field: Any) -> bool:
    """Results are the columns that have no nulls by their schema."""
    return not field.nullable


def _write_parquet(sink: Any, table: Any) -> None:
    from pyarrow import parquet

    names = table.schema.names
    kept = [name for name in names if not _is_result(table.schema.field(name))]
    with parquet.ParquetWriter(
        sink,
        table.schema,
        use_dictionary=kept,
        compression={name: "snappy" if name in kept else "none" for name in names},
        write_page_checksum=True,
    ) as writer:
        if table.num_rows:
            writer.write_table(table, row_group_size=table.num_rows)


def _footer_of(data: memoryview) -> tuple[Struct, int]:
    """The footer of a file, and how long it is."""
    size = int.from_bytes(data[-_TAIL : -len(_MAGIC)], "little")
    return read_struct(bytes(data[-_TAIL - size : -_TAIL])), size


def _moved(struct: Struct, fields: tuple[int, ...], by: int) -> None:
    """Places in the file, further on; 0 stands for none."""
    for number in fields:
        kind, place = struct.get(number, (0, 0))
        if place:
            struct[number] = kind, place + by


class IpcSink(Sink):
    """An Arrow IPC file: a record batch for each batch."""

    _STREAM = 8
    """Where the batches begin, as they would in a stream of them."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self._writer: Any = None
        self._last: Any = None

    @staticmethod
    def encoded(table: Any) -> Any:
        """A stream of one record batch."""
        import pyarrow as arrow

        sink = arrow.BufferOutputStream()
        with arrow.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table.combine_chunks(), max_chunksize=max(table.num_rows, 1))
        return sink.getvalue()

    def begin(self, schema: Any) -> None:
        """The schema."""
        self._writer = _writer(self.file, schema)

    def write(self, table: Any) -> str:
        """One record batch."""
        self._writer.write_table(table.combine_chunks(), max_chunksize=max(table.num_rows, 1))
        return ""

    def append(self, encoded: Any) -> str:
        """Its record batch."""
        import pyarrow as arrow

        for batch in arrow.ipc.open_stream(encoded):
            self._writer.write_batch(batch)
        return ""

    def recall(self, schema: Any, notes: list[str], ends: list[int]) -> None:
        """The batches are read again and handed to the writer, which notes where they lie; what it
        writes is there already."""
        import pyarrow as arrow

        there = _There(self.file, ends[-1])
        self._writer = _writer(there, schema)
        with arrow.memory_map(self.file.name) as partial:
            partial.seek(self._STREAM)
            batches = arrow.ipc.open_stream(partial)
            for _ in notes:
                batch = batches.read_next_batch()
                self._writer.write_batch(batch)
            self._last = self.encoded(arrow.Table.from_batches([batch]))
            del batch, batches
        self.file.seek(ends[-1])

    def holds(self, encoded: Any) -> bool:
        """Byte for byte."""
        return bool(self._last.equals(encoded))

    def finish(self) -> None:
        """Where each batch lies."""
        self._writer.close()


def _writer(file: Any, schema: Any) -> Any:
    import pyarrow as arrow

    return arrow.ipc.new_file(arrow.PythonFile(file, mode="w"), schema)


class _There(io.RawIOBase):
    """A file whose first bytes are there already."""

    def __init__(self, file: BinaryIO, end: int) -> None:
        self._file, self._end, self._at = file, end, 0

    def writable(self) -> bool:
        """Yes."""
        return True

    def tell(self) -> int:
        """Behind what was written, or would have been."""
        return self._at

    def write(self, data: Any) -> int:
        """What lies behind the end."""
        size = len(memoryview(data).cast("B"))
        if self._at >= self._end:
            self._file.write(data)
        self._at += size
        return size

    def flush(self) -> None:
        """The file's own affair."""
        if not self._file.closed:
            self._file.flush()


SINKS: dict[str, type[Sink]] = {
    ".parquet": ParquetSink, ".pq": ParquetSink,
    ".arrow": IpcSink, ".ipc": IpcSink, ".feather": IpcSink,
}  # fmt: skip
"""By how the name of the file ends."""
