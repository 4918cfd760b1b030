"""The text of the kernels that a printed program needs: those of the interpreter, no others.

The headers of ``native/kernels`` are cut into their definitions, and of these the ones are taken
that a program calls, and those that they call. So a printed file is short, and has the bits of the
interpreter because it computes with the same text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import PrintingError

HEADERS = ("vmath_exp.h", "vmath_erf.h", "vmath_trig.h", "rows.gen.h")
"""What is cut into definitions; ``simd.h`` is taken as a whole."""

_NAME = re.compile(r"[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(
    r"__attribute__\(\([^()]*(?:\([^()]*\)[^()]*)*\)\)|RG_TABLE_OF\(\w+\)|RG_UNUSED"
)
_DEFINED = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^=]*\]\s*)*(?:__attribute__\(\(.*\)\)\s*)?(?:=|\()")


def _folder() -> Path:
    """Where the headers are: beside this file in an installation, in ``native`` in a checkout."""
    here = Path(__file__).resolve().parent
    for folder in (here.parent / "_kernels", here.parents[2] / "native" / "kernels"):
        if (folder / "simd.h").is_file():
            return folder
    raise PrintingError.no_kernels(str(here.parent / "_kernels"))


@cache
def text(name: str) -> str:
    """A file of C that printed programs are made with."""
    own = Path(__file__).resolve().parent / "text" / name
    return own.read_text(encoding="utf-8")


@dataclass(frozen=True)
class Definition:
    """A piece of a header: what it defines, and the names that it uses."""

    names: tuple[str, ...]
    uses: frozenset[str]
    text: str


def _pieces(header: str) -> list[str]:
    """The top-level pieces of a header, each with the comment before it."""
    pieces: list[str] = []
    current: list[str] = []
    depth, in_comment, goes_on = 0, False, False
    for line in header.splitlines():
        current.append(line)
        if in_comment or (depth == 0 and not goes_on and line.lstrip().startswith("/*")):
            in_comment = "*/" not in line
            continue
        if depth == 0 and not line.strip() and not goes_on:
            current = []
            continue
        bare = re.sub(r"/\*.*?\*/", "", line).rstrip()
        depth += bare.count("{") - bare.count("}")
        goes_on = bare.endswith("\\")
        ends = bare.endswith(("}", ";")) or (bare.startswith("#") and not goes_on)
        if depth == 0 and ends:
            pieces.append("\n".join(current))
            current = []
    return pieces


def _code_of(piece: str) -> str:
    return re.sub(r"/\*.*?\*/", " ", piece, flags=re.DOTALL).strip()


def _defined(code: str) -> tuple[str, ...]:
    """The names that a piece defines."""
    if code.startswith("#define"):
        return (_NAME.findall(code)[1],)
    if code.startswith("typedef"):
        return (_NAME.findall(code)[-1],)
    head = re.split(r"\{", code, maxsplit=1)[0]
    head = _ATTRIBUTE.sub("", head)
    found = _DEFINED.search(head)
    return (found[1],) if found else ()


@cache
def _definitions() -> list[Definition]:
    found = []
    for name in HEADERS:
        for piece in _pieces((_folder() / name).read_text(encoding="utf-8")):
            code = _code_of(piece)
            if code.startswith("#") and not code.startswith("#define"):
                continue
            names = _defined(code)
            if not names or names[0].endswith("_H"):
                continue
            uses = frozenset(_NAME.findall(code)) - set(names)
            found.append(Definition(names, uses, piece))
    return found


@cache
def lanes() -> str:
    """``simd.h``: vectors of every width, and what it includes of ours."""
    compiler, simd = [
        (_folder() / name).read_text(encoding="utf-8") for name in ("compiler.h", "simd.h")
    ]
    return simd.replace('#include "compiler.h"\n', compiler)


def needed(names: set[str], without: frozenset[str] = frozenset()) -> str:
    """The definitions that some names need, in the order of the headers; not those that a target
    brings itself."""
    definitions = _definitions()
    by_name = {name: each for each in definitions for name in each.names}
    wanted: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name in by_name and name not in wanted and name not in without:
            wanted.add(name)
            pending += by_name[name].uses
    kept = [each.text for each in definitions if not wanted.isdisjoint(each.names)]
    return "\n\n".join(kept)


def names_in(code: str) -> frozenset[str]:
    """The names that a piece of C has."""
    return frozenset(_NAME.findall(code))
