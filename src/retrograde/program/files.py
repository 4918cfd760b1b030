"""Program files: what ``save`` writes and ``rg.load`` reads, sealed and put in place whole.

The format is documented in docs/file-format.md; ``writer.py`` and ``reader.py`` know what is
inside. A file is read back before it replaces another, and never half-written.
"""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from struct import Struct

from .._shared.writing import write_whole
from ..errors import ProgramFileError
from .reader import decoded
from .shaped.reader import TensorReader
from .shaped.writer import StoredTensors
from .shaped.writer import encoded as encoded_tensors
from .writer import Stored, encoded

MAGIC = b"\x89RGP\r\n\x1a\n"
VERSION = 2
"""Of functions on values."""
TENSORS = 3
"""Of functions on tensors."""
OLDEST, NEWEST = 1, 3
"""Versions that are read."""
_START = Struct("<8sHQ")
HEADER = _START.size + sha256().digest_size
"""Bytes before the body: the magic, the version, the body's length, the checksum."""


def sealed(body: bytes, version: int = VERSION) -> bytes:
    """A body with its header."""
    start = _START.pack(MAGIC, version, len(body))
    return start + sha256(start + body).digest() + body


def opened(data: bytes, file: str) -> tuple[bytes, int]:
    """The body of a file that is whole and of a version we know, and that version."""
    if data[: len(MAGIC)] != MAGIC[: len(data)] or not data:
        raise ProgramFileError.other(file)
    if len(data) < HEADER:
        raise ProgramFileError.cut(file, len(data), HEADER)
    _, version, length = _START.unpack_from(data)
    if not OLDEST <= version <= NEWEST:
        raise ProgramFileError.version(file, version, NEWEST)
    body = data[HEADER:]
    if len(body) < length:
        raise ProgramFileError.cut(file, len(data), HEADER + length)
    if len(body) > length:
        raise ProgramFileError.content(file, HEADER + length, "there is more behind its end")
    if sha256(data[: _START.size] + body).digest() != data[_START.size : HEADER]:
        raise ProgramFileError.altered(file)
    return body, version


def packed(stored: Stored | StoredTensors) -> bytes:
    """A function as the bytes of a file, read back to see that they can be."""
    if not stored.families:
        raise ProgramFileError.nothing(stored.name)
    if isinstance(stored, StoredTensors):
        body, version = encoded_tensors(stored), TENSORS
    else:
        body, version = encoded(stored), VERSION
    try:
        _decoded(body, "", version)
    except ProgramFileError as error:
        raise ProgramFileError.unsaveable(stored.name, error.why) from None
    return sealed(body, version)


def unpacked(data: bytes, file: str) -> Stored | StoredTensors:
    """The function in the bytes of a file; ``file`` is what messages call it."""
    body, version = opened(data, file)
    return _decoded(body, file, version)


def _decoded(body: bytes, file: str, version: int) -> Stored | StoredTensors:
    if version == TENSORS:
        return TensorReader(body, file, HEADER, version).run()
    return decoded(body, file, version, HEADER)


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Put a file in place, whole or not at all."""
    try:
        write_whole(path, data)
    except OSError as error:
        folder = os.path.dirname(os.path.realpath(path))
        raise ProgramFileError.unwritten(os.fspath(path), folder, error) from error


def read(path: str | os.PathLike[str]) -> Stored | StoredTensors:
    """The function in a file."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError("it is not a regular file")
            data = file.read()
    except OSError as error:
        raise ProgramFileError.unread(name, error) from error
    return unpacked(data, name)
