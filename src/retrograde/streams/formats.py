"""How files of each kind are read, piece by piece: Parquet, Arrow IPC, CSV."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import FrameError, MapError
from ..frames.tables import ArrowTable

_BUFFER = 1 << 16
"""Bytes of a column that are read at a time."""
_STREAM_END = b"\xff\xff\xff\xff\0\0\0\0"
"""What stands behind the last message of an Arrow stream. Each message begins with the first half,
since Arrow 0.15."""
_NOT_OF_ITS_TYPE = re.compile(
    r"In CSV column #(\d+): CSV conversion error to ([^:]+): invalid value '(.*)'", re.DOTALL
)
"""What Arrow says of a cell that it cannot read."""


class Reader:
    """One file, open: what it has, and its rows."""

    texts = False
    """Whether it says nothing of types, so that they are asked for."""

    names: list[str]
    types: dict[str, Any]
    rows: int | None

    def __init__(self, path: str, system: Any, separator: str | None = None) -> None:
        self.path, self._system = path, system
        self._separator = separator or ("\t" if ".tsv" in path.lower() else ",")
        with self.said():
            self._open()

    def _open(self) -> None:
        raise NotImplementedError

    def _describe(self, schema: Any) -> None:
        """Take note of the columns; of two with one name it is not said which is meant."""
        self.names, self.types = list(schema.names), dict(zip(schema.names, schema.types))

    def seek(self, row: int) -> int:
        """Leave out rows before a row, as many as need not be read; how many these are."""
        return 0

    def pieces(self, names: Sequence[str], texts: Mapping[str, Any], size: int) -> Iterator[Any]:
        """Some columns, but for the rows left out, in tables of about ``size`` rows."""
        raise NotImplementedError

    def check_numbers(self, name: str, kind: Any) -> None:
        """Refuse a column that holds no numbers, in the words that frames have for it."""
        import pyarrow as arrow

        empty = arrow.schema([(name, kind)]).empty_table()
        try:
            ArrowTable(empty).numbers([name], self.path, "nan")
        except FrameError as error:
            raise MapError(str(error)) from None

    @contextmanager
    def said(self) -> Iterator[None]:
        """Say of what is wrong with a file which file it is."""
        import pyarrow as arrow

        try:
            yield
        except MapError:
            raise
        except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise MapError.unreadable(self.path, str(error)) from error


class ParquetReader(Reader):
    """A Parquet file."""

    def _open(self) -> None:
        from pyarrow import parquet

        self._file = parquet.ParquetFile(
            self._system.open_input_file(self.path),
            buffer_size=_BUFFER,
            pre_buffer=False,
            page_checksum_verification=True,  # where the file has any
        )
        self._describe(self._file.schema_arrow)
        self.rows = self._file.metadata.num_rows
        self._groups = list(range(self._file.metadata.num_row_groups))

    def seek(self, row: int) -> int:
        """Row groups before the row are not read."""
        before, metadata = 0, self._file.metadata
        while self._groups:
            rows = metadata.row_group(self._groups[0]).num_rows
            if before + rows > row:
                break
            before += rows
            del self._groups[0]
        return before

    def pieces(self, names: Sequence[str], texts: Mapping[str, Any], size: int) -> Iterator[Any]:
        """Row group by row group, some rows at a time."""
        import pyarrow as arrow

        if self._groups:
            for batch in self._file.iter_batches(
                batch_size=size, row_groups=self._groups, columns=list(names), use_threads=False
            ):
                yield arrow.Table.from_batches([batch]).select(names)


class ArrowReader(Reader):
    """An Arrow IPC file, or a stream in a file."""

    def _open(self) -> None:
        import pyarrow as arrow

        file = self._system.open_input_file(self.path)
        try:
            self._file: Any = arrow.ipc.open_file(file)
            self._stream = False
        except arrow.ArrowInvalid:
            file.seek(0)
            head = file.read(6)
            if head == b"ARROW1":  # a file, and cut off
                raise
            file.seek(max(file.size() - 8, 0))
            whole = file.read() == _STREAM_END or head[:4] != _STREAM_END[:4]
            file.seek(0)
            self._file, self._stream = arrow.ipc.open_stream(file), True
            if not whole:
                raise arrow.ArrowInvalid("the end of the stream is missing") from None
        self._describe(self._file.schema)
        self._sizes: list[int] = []
        self._first, self.rows = 0, None
        if not self._stream:
            for number in range(self._file.num_record_batches):
                self._sizes.append(self._file.get_batch(number).num_rows)
            self.rows = sum(self._sizes)

    def seek(self, row: int) -> int:
        """Record batches before the row are not read."""
        before = 0
        while self._first < len(self._sizes) and before + self._sizes[self._first] <= row:
            before += self._sizes[self._first]
            self._first += 1
        return before

    def pieces(self, names: Sequence[str], texts: Mapping[str, Any], size: int) -> Iterator[Any]:
        """Record batches as they are."""
        import pyarrow as arrow

        numbers = range(self._first, len(self._sizes))
        batches = self._file if self._stream else map(self._file.get_batch, numbers)
        for batch in batches:
            yield arrow.Table.from_batches([batch]).select(names)


class CsvReader(Reader):
    """A CSV file with a line of names; also compressed, where its name says so."""

    texts = True
    rows = None

    def _open(self) -> None:
        from pyarrow import csv

        with csv.open_csv(self._stream(), parse_options=self._parsing()) as found:
            self._describe(found.schema)

    @contextmanager
    def said(self) -> Iterator[None]:
        """Say which column holds what is not of its type, rather than its number."""
        import pyarrow as arrow

        try:
            with super().said():
                yield
        except MapError as error:
            cause = error.__cause__
            wrong = _NOT_OF_ITS_TYPE.match(str(cause))
            if wrong is None or not isinstance(cause, arrow.ArrowInvalid):
                raise
            number, kind, text = wrong.groups()
            raise MapError.cell(self.path, self.names[int(number)], kind, text) from cause

    def _parsing(self) -> Any:
        from pyarrow import csv

        return csv.ParseOptions(delimiter=self._separator)

    def _stream(self) -> Any:
        return self._system.open_input_stream(self.path, compression="detect")

    def pieces(self, names: Sequence[str], texts: Mapping[str, Any], size: int) -> Iterator[Any]:
        """Blocks of lines, their columns in the types that were asked for."""
        import pyarrow as arrow
        from pyarrow import csv

        options = csv.ConvertOptions(include_columns=list(names), column_types=dict(texts))
        with csv.open_csv(
            self._stream(), parse_options=self._parsing(), convert_options=options
        ) as batches:
            for batch in batches:
                yield arrow.Table.from_batches([batch])


FORMATS: dict[str, type[Reader]] = {
    "parquet": ParquetReader, "arrow": ArrowReader, "csv": CsvReader,
}  # fmt: skip

_ENDINGS = {
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".ipc": "arrow",
    ".feather": "arrow", ".csv": "csv", ".csv.gz": "csv", ".csv.zst": "csv", ".csv.bz2": "csv",
    ".tsv": "csv", ".tsv.gz": "csv", ".tsv.zst": "csv", ".tsv.bz2": "csv",
}  # fmt: skip


def format_of(path: str) -> str:
    """The kind of a file by how its name ends; empty where that says nothing."""
    name = path.lower().rpartition("/")[2]
    if name.startswith((".", "_")):
        return ""
    return next((kind for ending, kind in _ENDINGS.items() if name.endswith(ending)), "")
