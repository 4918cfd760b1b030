"""The maps of a plan with shapes as the C of a shared library, for the native executor to run in
place of their steps.

What a map is laid out for, and what is summed behind it, stays the executor's: a printed map goes
over numbers that lie side by side, as the kernels do that it stands for, with what is made on the
way in registers. So shapes and strides are not in the text, and plans that differ in nothing else
share a library.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ops import OPS
from ..program.shaped.steps import Body
from . import kernels
from .cfile import PRAGMAS

VERSION = 1
"""Of what a library exports; ``native/kernels/shaped.h`` has the same."""
EXPORTED = "retrograde_maps"

MOST_ROWS = 2_000
"""Rows of a plan that are printed: maps beyond are left to the interpreter."""

ABREAST = ((4, 200), (2, MOST_ROWS))
"""Vectors of a tile, so that one need not wait for another: for how many rows of a plan, which
compilers take time for."""

FEWEST = 2
"""Rows from which on a map is printed: a kernel does one as well."""

_OPS = list(OPS.values())


def is_printed(body: Body) -> bool:
    """Whether printing a map pays."""
    return len(body.rows) >= FEWEST


def _lines(body: Body, name: str, vectors: int) -> list[str]:
    """The tiles of a map, and what goes over numbers by them."""
    rows = [(op, to, args[: _OPS[op].arity]) for op, to, *args in body.rows]
    read = sorted({it for _, _, args in rows for it in args if it < body.reads})
    lines = [f"static void {name}_tiles(rg_count n, double *const *at, const rg_count *step) {{"]
    inner: list[str] = []
    now: dict[int, str] = {}
    for it in read:
        if it in body.alike:
            now[it] = f"u{it}"
            lines.append(f"    vd u{it} = v_set(*at[{it}]);")
        else:
            now[it] = f"r{it}_%d"
            lines.append(f"    FOLLOW({it})")
            inner.append(f"vd r{it}_%d = READ({it}, %d);")
    for place, (op, to, args) in enumerate(rows):
        given = ", ".join(now[it] for it in args)
        now[to] = f"t{place}_%d"
        inner.append(f"vd {now[to]} = {_function(op)}({given});")
    inner += [f"WRITE({it}, %d, {now[it]});" for it in sorted(body.kept)]
    lines.append("    for (rg_count i = 0; i < n; i += RG_ACROSS) {")
    for line in inner:
        lines += [f"        {line.replace('%d', str(vector))}" for vector in range(vectors)]
    total = max(body.operands, *(it + 1 for it in body.kept))
    return [
        *lines, "    }", "    (void)step;", "}", "",
        f"static int {name}(rg_count n, double *const *at, const rg_count *step) {{",
        f"    return rg_map({name}_tiles, {total}, n, at, step);", "}",
    ]  # fmt: skip


def _function(op: int) -> str:
    name = _OPS[op].name
    return "v_fma" if name == "fma" else f"rgv_{name}"


def _printed(bodies: Sequence[Body]) -> dict[Body, str]:
    """The bodies that are worth it, each once, and what they are called."""
    found: dict[Body, str] = {}
    rows = 0
    for body in bodies:
        if is_printed(body) and body not in found and rows + len(body.rows) <= MOST_ROWS:
            found[body] = f"rg_map_{len(found)}"
            rows += len(body.rows)
    return found


def maps_source(bodies: Sequence[Body]) -> str:
    """The C of the maps of a plan; those that are alike share a function."""
    printed = _printed(bodies)
    rows = sum(len(body.rows) for body in printed)
    vectors = next(count for count, most in ABREAST if rows <= most)
    names = {_function(op) for body in printed for op, *_ in body.rows}
    listed = ", ".join(printed.get(body, "NULL") for body in bodies)
    table = (
        f"static const rg_map_rows rows[] = {{{listed}}};\n"
        f'__attribute__((visibility("default"))) const rg_maps {EXPORTED} = '
        f"{{{VERSION}, {len(bodies)}, rows}};"
    )
    parts = [
        PRAGMAS,
        kernels.text("exact.h"),
        kernels.lanes(),
        kernels.needed(names),
        f"enum {{ RG_VECTORS = {vectors} }};",
        kernels.text("maps.h"),
        *("\n".join(_lines(body, name, vectors)) for body, name in printed.items()),
        table,
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"
