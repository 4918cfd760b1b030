"""Checkpoints: all a training run needs to go on to the bit, in one file, written atomically.

A file is an ``.npz``: arrays, and the rest as JSON. It is written beside the old one, flushed to
the disk and renamed over it, so at every moment one whole checkpoint exists. Loading runs no code.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from .._shared.writing import write_whole
from ..errors import CheckpointError

VERSION = 1
ABOUT = "about"

_FORM: Final[dict[str, Any]] = {
    "sizes": dict, "settings": {"seed": int}, "characters": str, "done": int,
    "corpus": {"source": str, "digest": str, "share": (int, float)},
    "round": {"before": list, "at": int},
}  # fmt: skip
"""What each entry has to be; the rest of sizes and settings is checked where it is used."""


@dataclass(frozen=True)
class Checkpoint:
    """What a file holds: ``about`` is plain data, ``arrays`` are float64."""

    about: dict[str, Any]
    arrays: dict[str, Any]


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint; where that fails, the previous one is as it was."""
    about = json.dumps({**checkpoint.about, "version": VERSION}).encode()
    buffer = io.BytesIO()
    arrays: Any = {ABOUT: np.frombuffer(about, dtype=np.uint8), **checkpoint.arrays}
    np.savez(buffer, **arrays)
    write_atomically(path, buffer.getvalue())


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file as a whole, or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise CheckpointError.write(path, error, path.exists()) from error


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Read a checkpoint; what is not one, or not whole, raises :class:`CheckpointError`."""
    path = Path(path)
    try:
        content = io.BytesIO(path.read_bytes())
        with zipfile.ZipFile(content) as members:  # a packed one could unpack without end
            if any(each.compress_type != zipfile.ZIP_STORED for each in members.infolist()):
                raise ValueError("it is packed")
        file = np.load(content, allow_pickle=False)
        arrays = {name: file[name] for name in file.files}
        about = json.loads(arrays.pop(ABOUT).tobytes())
        for name, array in arrays.items():
            if array.dtype != np.float64:
                raise ValueError(f"'{name}' holds {array.dtype}, not float64")
    except FileNotFoundError as error:
        raise CheckpointError.missing(path) from error
    except Exception as error:  # altered bytes make the readers of zip and npy raise anything
        raise CheckpointError.damaged(path, str(error) or type(error).__name__) from error
    if not isinstance(about, Mapping) or about.get("version") != VERSION:
        raise CheckpointError.damaged(path, "it is not a checkpoint of this version")
    if misshapen := _misshapen(about, _FORM):
        raise CheckpointError.damaged(path, misshapen)
    return Checkpoint(dict(about), arrays)


def _misshapen(found: Mapping[str, Any], form: Mapping[str, Any], inside: str = "") -> str:
    """The first entry that is missing or of another kind; empty where all are as they should be."""
    for name, kind in form.items():
        place = f"{inside}{name}"
        if name not in found:
            return f"it lacks '{place}'"
        inner = dict if isinstance(kind, dict) else kind
        if not isinstance(found[name], inner):
            return f"'{place}' is {type(found[name]).__name__}"
        if isinstance(kind, dict) and (wrong := _misshapen(found[name], kind, f"{place}.")):
            return wrong
    return ""
