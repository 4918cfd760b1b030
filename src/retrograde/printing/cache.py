"""Compiled libraries kept on disk: a private folder, entries checked before they are loaded.

An entry is a library under the hash of all that it depends on, and beside it a small file with the
hash of its bytes. Both are put in place whole, so that any number of processes may share the
folder. What is not ours, or what others may write to, is not used; what is loaded are the very
bytes that were checked.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import stat
import tempfile
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MOST_BYTES = 256 * 1024 * 1024
MOST_ENTRIES = 1000
STALE = 3600.0
"""Seconds after which what a compiler left half done is thrown away."""


def default_folder() -> Path:
    """Where libraries are kept: ``RETROGRADE_CACHE``, or the user's cache."""
    asked = os.environ.get("RETROGRADE_CACHE")
    if asked:
        return Path(asked)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "retrograde" / "cc"


def _is_private(path: Path, kind: Callable[[int], bool]) -> bool:
    """Whether a path is ours, of a kind, and nobody else may write to it."""
    try:
        found = path.lstat()
    except OSError:
        return False
    mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return mine and kind(found.st_mode) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


class Cache:
    """A folder of libraries; one of this process alone where the usual one cannot be used."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = self._usable((folder or default_folder()).absolute())
        self.is_shared = self.folder is not None
        self._loaded: dict[bytes, ctypes.CDLL] = {}
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="retrograde-"))
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    @staticmethod
    def _usable(folder: Path) -> Path | None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_private(folder, stat.S_ISDIR):
                return None
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError:
            return None
        return folder

    def _paths(self, key: str) -> tuple[Path, Path]:
        assert self.folder is not None
        return self.folder / f"{key}.so", self.folder / f"{key}.sum"

    def find(self, key: str) -> bytes | None:
        """The library of a key, if it is there and as it was made."""
        library, sums = self._paths(key)
        if not (_is_private(library, stat.S_ISREG) and _is_private(sums, stat.S_ISREG)):
            return None
        try:
            found = library.read_bytes()
            if sums.read_text() != hashlib.sha256(found).hexdigest():
                return None
            os.utime(library)
        except OSError:
            return None
        return found

    def add(self, key: str, make: Callable[[Path, Path], None]) -> bytes:
        """Have a library made, in a folder of its own, and put it in place."""
        library, sums = self._paths(key)
        self.clean()
        with tempfile.TemporaryDirectory(prefix="making-", dir=self.folder) as name:
            folder = Path(name)
            made, told = folder / "made.so", folder / "made.sum"
            make(folder, made)
            made.chmod(0o600)
            found = made.read_bytes()
            told.write_text(hashlib.sha256(found).hexdigest())
            told.chmod(0o600)
            made.replace(library)
            told.replace(sums)
        return found

    def load(self, found: bytes) -> ctypes.CDLL:
        """Load the bytes that were checked, from a file that nobody else knows: what is in the
        folder may change under a process that has it loaded. The same bytes are loaded once."""
        digest = hashlib.sha256(found).digest()
        known = self._loaded.get(digest)
        if known is not None:
            return known
        with tempfile.TemporaryDirectory(prefix="making-", dir=self.folder) as name:
            path = Path(name) / "loaded.so"
            path.write_bytes(found)
            return self._loaded.setdefault(digest, ctypes.CDLL(str(path)))

    def clean(self) -> None:
        """Throw away what was not used for longest, until there is room, and what was left over."""
        assert self.folder is not None
        kept = []
        for path in self.folder.iterdir():
            with suppress(OSError):
                found = path.lstat()
                if path.suffix == ".so":
                    kept.append((found.st_mtime, found.st_size, path))
                elif path.name.startswith("making-") and time.time() - found.st_mtime > STALE:
                    shutil.rmtree(path, ignore_errors=True)
        kept.sort()
        total = sum(size for _, size, _ in kept)
        while kept and (total > MOST_BYTES or len(kept) >= MOST_ENTRIES):
            _, size, path = kept.pop(0)
            total -= size
            for each in (path, path.with_suffix(".sum")):
                with suppress(OSError):
                    each.unlink()
