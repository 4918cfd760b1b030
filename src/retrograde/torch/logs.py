"""Norms of gradients, pass by pass, to where people keep them: a CSV file, or TensorBoard."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from typing import Any, Protocol

from ..errors import TorchProgramError


class Log(Protocol):
    """Takes one pass after the other."""

    def write(self, number: int, loss: float, norms: Mapping[str, float]) -> None:
        """One pass."""

    def close(self) -> None:
        """The last pass has been seen."""


class CsvLog:
    """One row a pass and parameter: pass, loss, parameter, norm. A pass is there when it is over,
    whatever ends the program."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = open(path, "w", newline="", encoding="utf-8")  # noqa: SIM115  closed by close
        self._rows = csv.writer(self._file)
        self._rows.writerow(("pass", "loss", "parameter", "norm"))

    def write(self, number: int, loss: float, norms: Mapping[str, float]) -> None:
        """One pass."""
        self._rows.writerows((number, loss, name, norm) for name, norm in norms.items())
        self._file.flush()  # whoever follows the file sees every pass as it ends

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class ScalarLog:
    """Anything with ``add_scalar(tag, number, step)``, as TensorBoard's SummaryWriter."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write(self, number: int, loss: float, norms: Mapping[str, float]) -> None:
        """One pass."""
        self._writer.add_scalar("loss", loss, number)
        for name, norm in norms.items():
            self._writer.add_scalar(f"gradient/{name}", norm, number)

    def close(self) -> None:
        """Flush what is waiting; the writer is its owner's to close."""
        flush = getattr(self._writer, "flush", None)
        if flush is not None:
            flush()


def log_to(where: Any) -> Log | None:
    """The log for a path or a writer; None for nothing."""
    if where is None:
        return None
    if hasattr(where, "add_scalar"):
        return ScalarLog(where)
    if not isinstance(where, (str, os.PathLike)):
        raise TorchProgramError.no_log(where)
    return CsvLog(where)
