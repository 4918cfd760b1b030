"""One plan as the C of a shared library, for the native executor to run in place of its steps."""

from __future__ import annotations

from ..program.loops import Rolled, full_size
from ..program.replay import Ready
from . import kernels
from .cfile import kernels_text
from .programs import printed, printed_operands, rolled_of

VERSION = 1
"""Of what a library exports; ``native/replay.h`` has the same."""
EXPORTED = "retrograde_program"


ABREAST = ((4, 600, 1_000), (2, 2_000, 20_000))
"""Vectors of a tile: for how many printed operands, which compilers take time for, and for how many
operations of a row, which need memory."""


def library_source(ready: Ready, title: str) -> str:
    """The C of a plan; ``title`` is what errors call it."""
    rolled = rolled_of(ready)
    vectors = _abreast(rolled)
    program = printed(rolled, "rg_the_program", ready.arguments, vectors, title)
    sums, added = [], 0
    for what, _ in ready.plan.outputs:
        sums.append(str(added) if what == "reduce" else "-1")
        added += what == "reduce"
    name = program.name
    rows = (
        "static int run_rows(const double *u, void *scratch, double *room, size_t first, "
        "size_t last,\n"
        "                    const int64_t *index, const rg_column *in, const rg_column *out,\n"
        "                    double *sums, int32_t *failed) {\n"
        f"    static const int added_to[] = {{{', '.join(sums) or '-1'}}};\n"
        f"    return rg_rows(&{name}, u, scratch, room, first, last, index, in, out,\n"
        f"                   {'added_to' if added else 'NULL'}, sums, failed);\n}}"
    )
    table = (
        '__attribute__((visibility("default"))) rg_compiled retrograde_program;\n'
        "__attribute__((constructor)) static void describe(void) {\n"
        f"    retrograde_program = (rg_compiled){{{VERSION}, {len(program.given)}, "
        f"{name}.uniforms, rg_room(&{name}),\n"
        f"                                       {name}.vectors * sizeof(vd), {name}.once, "
        "run_rows};\n}"
    )
    parts = [
        *kernels_text([program], vectors),
        kernels.text("library.h"),
        program.text,
        rows,
        table,
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _abreast(rolled: Rolled) -> int:
    """How many vectors are computed side by side, so that one need not wait for another."""
    operands, operations = printed_operands(rolled), full_size(rolled.items)
    fitting = [n for n, most, full in ABREAST if operands <= most and operations <= full]
    return max(fitting, default=1)


def given_places(ready: Ready) -> list[int]:
    """Where a plan has what its program is given: captured leaves, then uniform arguments."""
    inputs = rolled_of(ready).frame.inputs.values()
    captured = sum(given.kind == "captured" for given in inputs)
    by_id = dict(zip(ready.plan.argument_ids, ready.plan.arguments))
    return [*range(captured), *[by_id[i] for i in sorted(by_id)]]
