"""Files that rows are read from, in batches of a fixed number of rows whatever their own pieces.

All files of a source are looked at before the first row is computed: that they can be read, and
have the columns that are asked for.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import MapError
from .formats import FORMATS, Reader, format_of


@dataclass
class File:
    """One file of a source: where it is, how it is read, and columns that its folder names."""

    path: str
    system: Any
    reader: type[Reader]
    constants: dict[str, Any] = field(default_factory=dict)
    separator: str | None = None

    def open(self) -> Reader:
        """Ready to be read."""
        return self.reader(self.path, self.system, self.separator)

    def identity(self) -> list[Any]:
        """What tells whether it is the file that it was."""
        info = self.system.get_file_info(self.path)
        return [os.path.basename(self.path), info.size, info.mtime_ns]


class Source:
    """The rows of some files, one behind the other."""

    def __init__(self, files: Sequence[File]) -> None:
        self.files = list(files)
        self.types: dict[str, Any] = {}
        self._counts: list[int | None] = []
        self._columns: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The columns of the first file."""
        first = self.files[0]
        return [*first.open().types, *first.constants]

    def chosen(self, columns: Sequence[str], numbers: Sequence[str]) -> Source:
        """Read these columns only; ``numbers`` are those that have to be numbers."""
        import pyarrow as arrow

        self._columns = tuple(columns)
        for file in self.files:
            reader = file.open()
            constants = {name: arrow.scalar(it).type for name, it in file.constants.items()}
            types = {**reader.types, **constants}
            missing = [name for name in columns if name not in types]
            if missing:
                raise MapError.missing(file.path, missing, list(types), self.files[0].path)
            for name in columns:
                if reader.names.count(name) > 1:
                    raise MapError.repeated(file.path, name)
            for name in numbers:
                if reader.texts and name in reader.types:
                    types[name] = arrow.float64()
                reader.check_numbers(name, types[name])
            for name in columns:
                kind = _plain(types[name])
                first = self.types.setdefault(name, kind)
                if kind == first:
                    continue
                if name not in numbers:
                    raise MapError.differs(file.path, name, kind, first, self.files[0].path)
                self.types[name] = _both(first, kind)
            self._counts.append(reader.rows)
        return self

    @property
    def rows(self) -> int | None:
        """How many there are, where the files say so."""
        known = [count for count in self._counts if count is not None]
        return sum(known) if len(known) == len(self.files) else None

    @property
    def seekable(self) -> bool:
        """Whether some rows can be read without those before them."""
        return self.rows is not None

    def identity(self) -> list[list[Any]]:
        """What tells whether the files are those that they were."""
        return [file.identity() for file in self.files]

    def place(self, row: int) -> tuple[str, int]:
        """The file that a row is in, and which of its rows it is."""
        starts = [0]
        for count in self._counts:
            if count is None:
                break
            starts.append(starts[-1] + count)
        number = min(bisect_right(starts, row) - 1, len(self.files) - 1)
        return self.files[number].path, row - starts[number]

    def batches(self, size: int, first: int = 0, last: int | None = None) -> Iterator[Any]:
        """The rows from ``first`` up to ``last``, in tables of ``size`` rows."""
        import pyarrow as arrow

        waiting: list[Any] = []
        count, left = 0, None if last is None else last - first
        for piece in self._pieces(first, size):
            if left is not None:
                piece = piece.slice(0, left)
                left -= piece.num_rows
            while piece.num_rows:
                taken = piece.slice(0, size - count)
                piece = piece.slice(taken.num_rows)
                waiting.append(taken)
                count += taken.num_rows
                if count == size:
                    yield arrow.concat_tables(waiting)
                    waiting, count = [], 0
            if left == 0:
                break
        if waiting:
            yield arrow.concat_tables(waiting)

    def _pieces(self, skip: int, size: int) -> Iterator[Any]:
        """The rows as the files give them, but for the first."""
        for number, file in enumerate(self.files):
            count = self._counts[number]
            if count is not None and count <= skip:
                skip -= count
                continue
            reader = file.open()
            own = [name for name in self._columns if name not in file.constants]
            texts = {name: self.types[name] for name in own} if reader.texts else {}
            with reader.said():
                read = reader.seek(skip)
                skip -= read
                for piece in reader.pieces(own, texts, size):
                    read += piece.num_rows
                    if piece.num_rows > skip:
                        yield self._fitted(file, piece.slice(skip))
                    skip = max(skip - piece.num_rows, 0)
            self._counts[number] = read

    def _fitted(self, file: File, piece: Any) -> Any:
        """A piece with all columns, of the types that hold what all files have in them."""
        import pyarrow as arrow

        columns = []
        for name in self._columns:
            wanted = self.types[name]
            if name in file.constants:
                column = arrow.repeat(arrow.scalar(file.constants[name], wanted), piece.num_rows)
            else:
                column = piece.column(name)
            if column.type != wanted:
                try:
                    column = column.cast(wanted)
                except arrow.ArrowInvalid:
                    first = self.files[0].path
                    raise MapError.differs(file.path, name, column.type, wanted, first) from None
            columns.append(column)
        return arrow.table(columns, names=list(self._columns))


def _plain(kind: Any) -> Any:
    """A type without its dictionary: batches have one each."""
    import pyarrow as arrow

    return kind.value_type if arrow.types.is_dictionary(kind) else kind


def _both(one: Any, other: Any) -> Any:
    """A type of numbers that holds those of two types."""
    import numpy as np
    import pyarrow as arrow

    kinds = [kind.to_pandas_dtype() for kind in (one, other) if not arrow.types.is_null(kind)]
    return arrow.from_numpy_dtype(np.result_type(*kinds))


def source_of(thing: Any, separator: str | None = None) -> Source:
    """What is given as a source, as one: a path, some paths, a folder, a dataset of pyarrow's.
    ``separator`` stands between the columns of CSV files."""
    if separator is not None and not (
        isinstance(separator, str) and len(separator) == 1 and separator.isascii()
        and separator not in '"\r\n'
    ):  # fmt: skip
        raise MapError.separator(separator)
    files = _files_of(thing)
    for file in files:
        file.separator = separator or file.separator
    return Source(files)


def _files_of(thing: Any) -> list[File]:
    if isinstance(thing, (str, os.PathLike)):
        return _of_path(os.fspath(thing))
    if isinstance(thing, (list, tuple)) and all(isinstance(it, (str, os.PathLike)) for it in thing):
        if not thing:
            raise MapError.no_files("the list")
        return [file for path in thing for file in _of_path(os.fspath(path))]
    fragments = getattr(thing, "fragments", None) or getattr(thing, "get_fragments", None)
    if fragments is None or not hasattr(thing, "files"):
        raise MapError.no_source(type(thing).__name__)
    if getattr(thing, "_scan_options", None):
        raise MapError.filtered()
    return _of_fragments(fragments() if callable(fragments) else fragments)


def _of_path(path: str) -> list[File]:
    from pyarrow import dataset
    from pyarrow.fs import LocalFileSystem

    if os.path.isdir(path):
        found = sorted({format_of(name) for _, _, names in os.walk(path) for name in names} - {""})
        if not found:
            raise MapError.no_files(path)
        if len(found) > 1:
            raise MapError.mixed(path, found)
        kind = {"parquet": "parquet", "arrow": "ipc", "csv": "csv"}[found[0]]
        files = dataset.dataset(path, format=kind, partitioning="hive", exclude_invalid_files=False)
        return _of_fragments(files.get_fragments())
    if not os.path.exists(path):
        raise MapError.absent(path)
    kind = format_of(path)
    if not kind:
        raise MapError.unknown(path)
    return [File(os.path.abspath(path), LocalFileSystem(), FORMATS[kind])]


def _of_fragments(fragments: Any) -> list[File]:
    from pyarrow.dataset import get_partition_keys

    files = []
    for fragment in sorted(fragments, key=lambda each: each.path):
        kind = {"ipc": "arrow", "feather": "arrow"}.get(
            fragment.format.default_extname, fragment.format.default_extname
        )
        if kind not in FORMATS:
            raise MapError.unknown(fragment.path)
        keys = get_partition_keys(fragment.partition_expression)
        parsing = getattr(fragment.format, "parse_options", None)
        separator = getattr(parsing, "delimiter", ",")
        if separator == ",":  # it does not say that it is another
            separator = None
        files.append(File(fragment.path, fragment.filesystem, FORMATS[kind], keys, separator))
    if not files:
        raise MapError.no_files("the dataset")
    return files
