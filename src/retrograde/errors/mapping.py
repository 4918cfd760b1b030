"""Exceptions of maps over files: what cannot be read, computed or written, and what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .wording import RetrogradeError, closest

if TYPE_CHECKING:
    from typing_extensions import Self

_MOST, _LONGEST = 8, 40
_RESTART = "with restart=True, on the command line --restart"


def _listed(names: Sequence[Any]) -> str:
    shown = ", ".join(repr(name) for name in names[:_MOST])
    return shown + (f", … {len(names)} in all" if len(names) > _MOST else "") or "none"


def _hints(missing: Sequence[str], names: Sequence[str]) -> str:
    """What may have been meant by names that are missing."""
    meant = [(name, closest(name, list(names))) for name in missing]
    return "; ".join(f"{name}: {hint}" for name, hint in meant if hint)


def _left(path: str, partial: str, what: str) -> str:
    """What another map left behind, and what of it differs."""
    return f"{partial} was left by another map to {path}: its {what}"


def _set(names: Sequence[str]) -> str:
    """How parameters are given that are no columns."""
    entries = ", ".join(f"{name!r}: …" for name in names)
    options = " ".join(f"--set {name}=…" for name in names)
    return f"arguments={{{entries}}}, on the command line {options}"


def _apart(names: Sequence[str]) -> str:
    """What to do where all columns were taken for one."""
    found = next((mark for mark in ";\t|" if len(names) == 1 and mark in names[0]), None)
    if found is None:
        return ""
    said = "tab" if found == "\t" else f"'{found}'"
    return (
        f" Where {found!r} stands between columns, say so: separator={found!r}, on the command "
        f"line --separator {said}."
    )


class MapError(RetrogradeError, ValueError):
    """A map over files that cannot be done, or cannot go on."""

    # ---- the source ------------------------------------------------------------------------------

    @classmethod
    def no_source(cls, kind: str) -> Self:
        return cls(
            "map_batches reads files: a path, a list of paths, a folder or a dataset of pyarrow's, "
            f"not a {kind}. What is in memory is an argument: f.value_and_grad(frame)."
        )

    @classmethod
    def filtered(cls) -> Self:
        return cls(
            "The dataset has a filter, which map_batches would not apply. Map all rows and filter "
            "the results, or write the rows that are meant to a file first."
        )

    @classmethod
    def absent(cls, path: str) -> Self:
        return cls(f"There is no file {path}.")

    @classmethod
    def no_files(cls, where: str) -> Self:
        return cls(f"There are no Parquet, Arrow or CSV files in {where}.")

    @classmethod
    def mixed(cls, path: str, kinds: Sequence[str]) -> Self:
        return cls(
            f"{path} has files of several kinds: {', '.join(kinds)}. Name those that are meant."
        )

    @classmethod
    def unknown(cls, path: str) -> Self:
        return cls(
            f"{path}: its name does not say what it is. Files that are read end with .parquet, "
            ".arrow (also .ipc, .feather), .csv or .tsv (also .csv.gz)."
        )

    @classmethod
    def unreadable(cls, path: str, problem: str) -> Self:
        said = problem.partition("\n")[0].rstrip(".")
        return cls(
            f"{path} cannot be read: {said}. It may be cut off or damaged, or no such file at all."
        )

    @classmethod
    def cell(cls, path: str, name: str, kind: str, text: str) -> Self:
        shown = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
        return cls(
            f"{path}: the column {name!r} holds {shown!r}, which is no {kind}. Parameters are read "
            "as numbers, and columns to keep in the type of their first rows. Correct it, leave it "
            "empty where there is no number, or write a Parquet file."
        )

    @classmethod
    def repeated(cls, path: str, name: str) -> Self:
        return cls(f"{path} has several columns {name!r}. Rename all but one.")

    @classmethod
    def missing(cls, path: str, missing: Sequence[str], names: Sequence[str], first: str) -> Self:
        hints = _hints(missing, names)
        also = f", which {first} has" if path != first else ""
        return cls(
            f"{path} has no column {_listed(missing)}{also}. Its columns are {_listed(names)}."
            f"{' ' + hints if hints else ''}{_apart(names)}"
        )

    @classmethod
    def differs(cls, path: str, name: str, kind: object, wanted: object, first: str) -> Self:
        return cls(
            f"{path}: the column {name!r} is {kind}, and in {first} it is {wanted}, which cannot "
            "hold the same. Cast it to one type in all files."
        )

    @classmethod
    def null(cls, path: str, name: str, row: int) -> Self:
        return cls(
            f"{path}: the column {name!r} is null in row {row:,}. Fill or drop nulls, or compute "
            "with NaN there: nulls='nan', on the command line --nulls nan."
        )

    # ---- what is asked ---------------------------------------------------------------------------

    @classmethod
    def batch_rows(cls, got: object) -> Self:
        return cls(f"batch_rows={got!r} is no number of rows: it is a whole number above 0.")

    @classmethod
    def separator(cls, got: object) -> Self:
        return cls(
            f"separator={got!r} cannot stand between the columns of a CSV file: it is one ASCII "
            "character, such as ';', '|' or '\\t' (on the command line: tab)."
        )

    @classmethod
    def arguments(cls, function: str, unknown: Sequence[str], names: Sequence[str]) -> Self:
        return cls(
            f"arguments: {function} has no parameter {_listed(unknown)}. Its parameters are "
            f"{_listed(names)}."
        )

    @classmethod
    def value(cls, name: str) -> Self:
        return cls(
            f"arguments: {name!r} is a Value, and files hold numbers alone. Pass {name}.data, or "
            "let the function read the Value by its name: a map captures it."
        )

    @classmethod
    def unfilled(
        cls, function: str, path: str, missing: Sequence[str], extra: Sequence[str]
    ) -> Self:
        hints = _hints(missing, extra)
        others = f" Columns that nothing takes: {_listed(extra)}." if extra else ""
        return cls(
            f"{function} takes columns by the names of its parameters, and {path} has no column "
            f"{_listed(missing)}.{others}{' ' + hints if hints else ''} Rename columns, or pass "
            f"{_set(missing)}.{_apart(extra)}"
        )

    @classmethod
    def defaults(cls, function: str, path: str, left: Sequence[str], extra: Sequence[str]) -> Self:
        return cls(
            f"{function}: {path} has columns that nothing takes ({_listed(extra)}) while "
            f"{_listed(left)} would be left to the default. Name the column after the parameter, "
            f"keep those that are to be copied over, or pass {_set(left)}."
        )

    @classmethod
    def twice(cls, function: str, path: str, names: Sequence[str]) -> Self:
        return cls(
            f"{function} was given {_listed(names)} among its arguments, and {path} has a column "
            "of that name. Leave one of them out."
        )

    @classmethod
    def fixed(cls, function: str, path: str, names: Sequence[str]) -> Self:
        return cls(
            f"{function}: {path} has columns with the names of parameters that are static, or were "
            f"given to functools.partial ({_listed(names)}), and these are the same for all rows. "
            "Rename the columns or write the file without them, and pass a static parameter among "
            "the arguments."
        )

    @classmethod
    def no_columns(cls, function: str, path: str) -> Self:
        return cls(f"{function}: no column of {path} is one of its parameters.")

    @classmethod
    def taken(cls, name: str) -> Self:
        return cls(
            f"keep names a column {name!r}, and a result has that name. Rename the column, or do "
            "not keep it."
        )

    @classmethod
    def counted_from(cls, path: str, row: int) -> str:
        return f"rows are counted from row {row:,} of {path}"

    # ---- the file that is written ----------------------------------------------------------------

    @classmethod
    def no_sink(cls, path: str, endings: Sequence[str]) -> Self:
        return cls(
            f"{path}: results are written to Parquet or Arrow IPC, and the name says which. Let it "
            f"end with one of {', '.join(endings)}."
        )

    @classmethod
    def itself(cls, path: str) -> Self:
        return cls(f"{path} is among the files that are read. Write to another one.")

    @classmethod
    def unwritten(cls, path: str, error: OSError) -> Self:
        return cls(f"{path} cannot be written: {error.strerror or error}.")

    @classmethod
    def locked(cls, path: str) -> Self:
        return cls(f"Another process is writing {path}. Wait for it, or write to another file.")

    @classmethod
    def journal(cls, journal: str, partial: str) -> Self:
        return cls(
            f"{journal} does not fit {partial}: one of them was altered. Begin again {_RESTART}."
        )

    @classmethod
    def other(cls, path: str, partial: str, name: str, before: object, now: object) -> Self:
        differs = _left(path, partial, f"{name} was {before}, and now it is {now}")
        return cls(f"{differs}. Finish that one, or begin again {_RESTART}.")

    @classmethod
    def changed(cls, path: str, partial: str) -> Self:
        batch = "last batch, computed again, comes out with other numbers"
        return cls(
            f"{_left(path, partial, batch)}. The function or what it reads has changed. Begin "
            f"again {_RESTART}."
        )

    @classmethod
    def kept(cls, rows: int, partial: str) -> str:
        return f"{rows:,} rows are safe in {partial}, and the same call goes on from there."

    @classmethod
    def interrupted(cls, rows: int, path: str) -> str:
        kept = f" after {rows:,} rows; the same command goes on from what is safe" if rows else ""
        return f"interrupted{kept}. {path} was not touched"

    # ---- clusters --------------------------------------------------------------------------------

    @classmethod
    def workers(cls, problem: str) -> Self:
        return cls(
            f"Workers of the cluster died of the same rows several times: {problem} Memory is the "
            "usual reason: try fewer batch_rows, or workers with more memory."
        )

    @classmethod
    def lost(cls) -> Self:
        return cls(
            "The Dask scheduler was lost on the way. Call the map again once it is back, or "
            "without a scheduler: the file comes out the same."
        )

    @classmethod
    def environment(cls, problem: str) -> Self:
        return cls(
            f"The cluster cannot read what it is sent: {problem.rstrip('.')}. Install the packages "
            "that are here for its scheduler and its workers, too."
        )

    @classmethod
    def no_scheduler(cls, address: str, problem: str) -> Self:
        return cls(
            f"There is no Dask scheduler at {address}: {problem.rstrip('.')}. Start one with "
            "`dask scheduler`, and say where it listens, as in tcp://127.0.0.1:8786."
        )
