"""The files learner code may see: Python itself, the libraries it needs, and NumPy.

Found in the process that judges, where Python knows them; handed to the one that is confined.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

HIDDEN: Final = ("site-packages", "dist-packages")
"""Folders of other people's packages, ours among them."""

_LIBRARIES: Final = re.compile(
    r"(?:libc|libm|libdl|libpthread|librt|libutil|libresolv|libmvec|libgcc_s|libstdc\+\+|libpython|"
    r"libssl|libcrypto|libz|libzstd|libbz2|liblzma|libffi|libsqlite3|libuuid|libexpat|libmpdec|"
    r"libcrypt|libb2|libatomic|libgomp|libgfortran|libquadmath|libopenblasp?|libcblas|libblas|"
    r"liblapack|ld-linux|ld-musl|ld)(?:[-.\d][^/]*)?\.so\.[\d.]+"
)
"""Libraries that modules of Python's own and NumPy are linked with."""


class Place(NamedTuple):
    """A file or folder, where it is seen, and the folders in it that are not shown."""

    source: str
    target: str
    hidden: tuple[str, ...] = ()


class Shown(NamedTuple):
    """Everything that is shown: places, and links of the root such as /lib to usr/lib."""

    places: tuple[Place, ...]
    links: tuple[tuple[str, str], ...]


def interpreter() -> str:
    """The program of Python itself, not the link of a virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


def found(packages: dict[str, str]) -> Shown:
    """What a process needs that runs this Python with these packages (their paths by name).

    Of our own package what judges stays hidden.
    """
    library = os.path.dirname(os.__file__)
    wanted = [library, *(it for it in sys.path if os.path.basename(it) == "lib-dynload")]
    for path in packages.values():
        wanted += [path, f"{path}.libs"]
    wanted += ["/etc/ld.so.cache", interpreter(), *_libraries()]
    places: dict[str, Place] = {}
    for path in wanted:
        if os.path.exists(path) and not any(_beneath(path, it) for it in places.values()):
            names = ("learn",) if path == packages.get("retrograde") else HIDDEN
            hidden = tuple(it for it in names if os.path.isdir(os.path.join(path, it)))
            places[path] = Place(os.path.realpath(path), path, hidden)
    links = [(path, os.readlink(path)) for path in ("/lib", "/lib64") if os.path.islink(path)]
    return Shown(tuple(places.values()), tuple(links))


def _beneath(path: str, place: Place) -> bool:
    inside = path.startswith(place.target + os.sep)
    return inside and not any(it in path.split(os.sep) for it in place.hidden)


def _libraries() -> Iterator[str]:
    """Libraries by name, in the folders of the system and in those of libraries loaded here."""
    import sysconfig  # here: the process that is confined needs none of it

    several = sysconfig.get_config_var("MULTIARCH") or "."
    usual = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
    folders = [os.path.join(sys.base_prefix, "lib"), *usual]
    folders += [os.path.join(it, several) for it in usual]
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        loaded = {line.split(None, 5)[-1].strip() for line in maps if ".so" in line}
    folders += sorted(map(os.path.dirname, loaded))
    for folder in dict.fromkeys(map(os.path.realpath, folders)):
        if os.path.isdir(folder):
            for name in sorted(os.listdir(folder)):
                if _LIBRARIES.fullmatch(name):
                    yield os.path.join(folder, name)
