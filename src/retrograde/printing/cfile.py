"""A whole C file of a function, and its header: it depends on nothing but a compiler."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..value import Value
from . import kernels
from .entries import Entry
from .functions import Sites, quoted
from .names import comment
from .programs import Printed
from .statements import number_text

PRAGMAS = """\
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off") /* gcc does not know the standard's pragma */
#endif
"""


def kernels_text(programs: Sequence[Printed], vectors: int) -> list[str]:
    """What stands before programs: exact arithmetic, vectors, the kernels that they call, rows."""
    rows = kernels.text("rows.h")
    names = {"RG_INF", "RG_NAN"}
    for program in programs:
        names |= program.names
    return [
        PRAGMAS,
        kernels.text("exact.h"),
        kernels.lanes(),
        kernels.needed(names | kernels.names_in(rows)),
        f"enum {{ RG_VECTORS = {vectors} }};",
        rows,
    ]


@dataclass(frozen=True)
class CFile:
    """A printed function: ``header`` declares what ``source`` defines."""

    name: str
    source: str
    header: str
    entries: tuple[Entry, ...]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file, and its header beside it."""
        target = Path(path)
        target.write_text(self.source, encoding="utf-8")
        target.with_suffix(".h").write_text(self.header, encoding="utf-8")


def c_file(
    name: str,
    title: str,
    entries: Sequence[Entry],
    numbers: int,
    parameters: dict[str, Value],
    vectors: int,
) -> CFile:
    """The file of some functions; ``parameters`` are captured leaves by their names."""
    functions = list({id(entry.function): entry.function for entry in entries}.values())
    programs = [program for each in functions for program in each.programs]
    sites = Sites()
    header = _header(name, title, entries, parameters)
    table = f"{name}_parameters"
    leaves = {id(leaf): number for number, leaf in enumerate(parameters.values())}
    listed = ", ".join(number_text(float(leaf.data)) for leaf in parameters.values())
    parts = [
        header,
        *kernels_text(programs, vectors),
        kernels.text("calls.h"),
        *[program.text for program in programs],
    ]
    for each in functions:
        columns = numbers + each.seeds
        parts.append("\n".join(each.lines(columns, sites, leaves)))
    if parameters:
        parts.append(f"double {table}[{len(parameters)}] = {{{listed}}};")
    for entry in entries:
        parts.append("\n".join(entry.lines(numbers, table if parameters else "NULL")))
    parts.append("\n".join(_status(name, sites)))
    return CFile(
        name, "\n\n".join(part.strip("\n") for part in parts) + "\n", header, tuple(entries)
    )


def _status(name: str, sites: Sites) -> list[str]:
    """What a status means, in words."""
    texts = ", ".join(quoted(text) for text in sites.texts) or '""'
    return [
        f"const char *{name}_status(int32_t status) {{",
        f"    static const char *const texts[] = {{{texts}}};",
        '    if (status == 0) return "the row is done";',
        '    if (status == -1) return "an index of take is out of range";',
        '    if (status < 0) return "there was no memory";',
        f'    return status <= {len(sites.texts)} ? texts[status - 1] : "no status";',
        "}",
    ]


def _header(name: str, title: str, entries: Sequence[Entry], parameters: dict[str, Value]) -> str:
    guard = f"RG_PRINTED_{name.upper()}_H"
    lines = [
        f"/* {comment(title)}",
        " *",
        " * Printed by retrograde from recorded Python: one C17 file, no libraries. Batch",
        " * functions return how many rows no recorded path serves (their results are NaN, their",
        " * status is not 0),",
        " * or -1 without memory; `status` may be NULL. Arrays of rows are row-major. Calls share",
        " * nothing that they write, so any number of threads may make them. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
    ]
    if parameters:
        lines.append("/* What the function had captured; set them between calls:")
        lines += [f" *   [{place}] {comment(each)}" for place, each in enumerate(parameters)]
        lines[-1] += " */"
        lines.append(f"extern double {name}_parameters[{len(parameters)}];")
    for entry in entries:
        lines += ["", *entry.declarations]
    lines += [
        "",
        "/* What the status of a row means, in words. */",
        f"const char *{name}_status(int32_t status);",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "#endif",
    ]
    return "\n".join(lines) + "\n"
