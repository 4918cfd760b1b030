"""Programs as kernels for a GPU, a thread a row; the same text runs as C on the CPU."""

from __future__ import annotations

from dataclasses import dataclass

from ..program.replay import Ready
from . import kernels
from .cfile import PRAGMAS
from .programs import Printed, ProgramText, printed, rolled_of

NAME = "rg_program"
BLOCK = 128
"""Threads of a block."""
MOST_CONSTANT = 7000
"""Doubles that fit into a GPU's constant memory, beside the columns."""


class DeviceText(ProgramText):
    """A program as two kernels: what is computed once, and a thread a row."""

    def run(self) -> Printed:
        """The whole text."""
        once = self.once_body()
        rows = self._kernel()
        text = "\n".join([*self.tables, *self._memory(), *self._once_kernel(once), "", *rows])
        return self.printed(text)

    def _memory(self) -> list[str]:
        """What all threads read: columns, and the numbers that are the same for all rows."""
        place = "RG_CONSTANT" if self.uniforms <= MOST_CONSTANT else "RG_LARGE"
        return [
            f"RG_CONSTANT rg_column in[{len(self.columns) + 1}];",
            f"RG_CONSTANT rg_column out[{len(self.frame.outputs) + 1}];",
            f"RG_CONSTANT rg_array arrays[{len(self.arrays) + 1}];",
            f"{place} double uv[{self.uniforms}];",
        ]

    def _once_kernel(self, body: list[str]) -> list[str]:
        return [
            "#define RG_U u",
            f"RG_KERNEL {NAME}_once(const double *given, double *u) {{",
            *body,
            "}",
            "#undef RG_U",
            "#define RG_U uv",
        ]

    def _kernel(self) -> list[str]:
        printer = self._printer(once=False)
        body = self.rows_body(printer, 1)
        head = f"RG_KERNEL {NAME}_rows("
        lines = [
            head + "int64_t rows, int64_t first, const int64_t *index, int32_t *failed) {",
            "    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;",
            "    if (at >= rows) return;",
            "    int64_t row = index ? index[at] : first + at;",
        ]
        for family in self.places.families:
            if not family.once:
                lines.append(f"    double m{family.number}[{family.size}];")
        return [
            *lines,
            *body,
            "    failed[at] = failed0 >= RG_NONE ? -1 : failed0 < 0.0 ? -2 : (int32_t)failed0;",
            "}",
        ]


@dataclass(frozen=True)
class Kernels:
    """The text of a plan for a GPU, and the printed program in it."""

    text: str
    program: Printed


def device_source(ready: Ready, title: str, emulated: bool = False) -> Kernels:
    """The kernels of a plan; ``emulated``: as C for the CPU."""
    program = printed(rolled_of(ready), NAME, ready.arguments, 1, title, DeviceText)
    brought = frozenset({"CALLED"})
    threads = kernels.text("threads.h")
    names = {"RG_INF", "RG_NAN"} | program.names | kernels.names_in(threads)
    parts = [
        f"enum {{ RG_BLOCK = {BLOCK} }};",
        kernels.text("device.h"),
        kernels.lanes(),
        kernels.needed(names, brought),
        threads,
        program.text,
    ]
    if emulated:
        parts = ["#define RG_EMULATED", "#define RG_ONE", PRAGMAS, kernels.text("exact.h"), *parts]
        parts.append(_EMULATION)
    return Kernels("\n\n".join(part.strip("\n") for part in parts) + "\n", program)


_EMULATION = f"""\
/* The kernels as a library: one thread after another, in blocks of two. */
void run(int64_t rows, const double *given, const rg_column *columns, const rg_column *outputs,
         const rg_array *blocks, const int64_t *index, int32_t *failed) {{
    memcpy(in, columns, sizeof in);
    memcpy(out, outputs, sizeof out);
    memcpy(arrays, blocks, sizeof arrays);
    {NAME}_once(given, uv);
    blockDim.x = 2;
    for (int64_t row = 0; row < rows; row++) {{
        blockIdx.x = row / 2, threadIdx.x = row % 2;
        {NAME}_rows(rows, 0, index, failed);
    }}
}}
void add(int64_t rows, const double *from, int64_t apart, int columns, double *sums) {{
    blockDim.x = 1, threadIdx.x = 0;
    int64_t threads = (rows + 1023) / 1024 * columns;
    for (blockIdx.x = 0; blockIdx.x < threads; blockIdx.x++)
        rg_sums(rows, from, apart, columns, sums);
}}
"""
