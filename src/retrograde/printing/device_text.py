"""Programs as kernels for a GPU, a thread a row; the same text runs as C on the CPU.

What an adjoint reads backwards comes from windows in fast memory (``windows.py``); whatever else a
row keeps is in a thread's own memory, or, where that is much, in memory that a launch is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from ..ops.structural import TAKE
from ..program.loops import Rolled
from ..program.nodes import Around, Body, Nest, Node
from ..program.places import Memory
from ..program.replay import Ready
from . import kernels
from .cfile import PRAGMAS
from .programs import Printed, ProgramText, printed, rolled_of
from .statements import Printer, affine
from .windows import Window, windows, windows_that_fit

NAME = "rg_program"
MOST_CONSTANT = 7000
"""Doubles that fit into a GPU's constant memory, beside the places of columns."""
MOST_PLACES = 1000
"""Places of columns that do."""
MOST_LOCAL = 4096
"""Doubles that a thread has as its own memory; what is more is handed to the launch."""
SUMS_BLOCK = 256
"""Threads of a block that adds rows up."""
BLOCK = 64
"""Threads of a block that computes rows: windows of so many fit into a block's share."""
LASTING = ("t", "c", "X(", "U(")
"""How operands begin that stay what they are to the end of their block."""


@dataclass(eq=False)
class DevicePrinter(Printer):
    """Prints what is done for every row: with windows, and one inverse for each divisor."""

    windows: list[Window] = field(default_factory=list)
    inverses: dict[str, str] = field(default_factory=dict)
    """By divisor: the variable that has its inverse, where it is seen."""

    @contextmanager
    def _block(self) -> Iterator[None]:
        """Variables of a block of its own."""
        around, self.inverses = self.inverses, {}
        yield
        self.inverses = around

    def _print(self, body: Body, nest: Nest, depth: int) -> None:
        with self._block():
            super()._print(body, nest, depth)

    def applied(self, node: Node, args: list[str], depth: int) -> str:
        """An op of some operands, as an expression."""
        if node.op != "div" or not args[1].startswith(LASTING):
            return super().applied(node, args, depth)
        over, by = args
        if by not in self.inverses:
            self.inverses[by] = f"i{node.number}"
            self.out(f"vd i{node.number} = rg_inverse({by});", depth)
        inverse = self.inverses[by]
        if over == "v_set(1.0)":
            return f"rg_one_over({by}, {inverse})"
        return f"rg_over({over}, {by}, {inverse})"

    def memory(self, place: Memory, vector: int) -> str:
        """A place in the memory of one row, or in a window."""
        for window in self.windows:
            if place.family in window.first:
                at = affine(place.base - window.first[place.family], place.moves)
                return f"R({window.rings[place.family]}, {at})"
        return super().memory(place, vector)

    def _window_of(self, loop: Around) -> Window | None:
        return next((window for window in self.windows if window.loop is loop), None)

    def before_loop(self, loop: Around, depth: int) -> None:
        """The place of the window when the loop is done."""
        window = self._window_of(loop)
        if window is not None and window.fills:
            self.out(f"int low{loop.number} = {window.low};", depth)

    def before_round(self, body: Body, depth: int) -> None:
        """Checkpoints of a loop with a window; the window filled for one that reads it."""
        assert body.loop is not None
        loop, window = body.loop, self._window_of(body.loop)
        if window is not None and window.carries:
            saved = [f"{self._saved(window, name)} = {name};" for name in self._carried(window)]
            self.out(f"if (k{loop.number} % {window.rounds} == 0) {{", depth)
            for line in saved:
                self.out(line, depth + 1)
            self.out("}", depth)
        for window in self.windows:
            if body in window.fills:
                at = f"{window.fills[body]} - k{loop.number}"
                self.out(f"if ({at} < low{window.loop.number}) {{", depth)
                self._fill(window, depth + 1)
                self.out("}", depth)

    def before_node(self, node: Node, depth: int) -> None:
        """The window filled for an instruction that reads it."""
        for window in self.windows:
            if node in window.fills:
                self.out("{", depth)
                self._fill(window, depth + 1)
                self.out("}", depth)

    def _carried(self, window: Window) -> list[str]:
        return [
            self.carry_name(carry, place)
            for carry in window.carries
            for place in range(len(carry.starts))
        ]

    def _saved(self, window: Window, name: str) -> str:
        return f"L(s{name}, k{window.loop.number} / {window.rounds})"

    def checkpoints(self, window: Window) -> list[tuple[str, int]]:
        """The arrays of what a loop carried every few rounds."""
        size = -(-window.loop.trips // window.rounds)
        return [(f"s{name}", size) for name in self._carried(window)]

    def _fill(self, window: Window, depth: int) -> None:
        """The rounds before those in the window."""
        number, rounds = window.loop.number, window.rounds
        self.out(f"low{number} -= {rounds};", depth)
        if window.before:
            self.out(f"if (low{number} < 0) {{", depth)
            for family, at, node, result in window.before:
                self.out(f"R({window.rings[family]}, {at}) = {self.name(node, result)};", depth + 1)
            self.out("} else {", depth)
        inside = depth + bool(window.before)
        self.out(f"int k{number} = low{number};", inside)
        for name in self._carried(window):
            self.out(f"vd {name} = {self._saved(window, name)};", inside)
        self.out(f"for (; k{number} < low{number} + {rounds}; k{number}++) {{", inside)
        self._again(window, inside + 1)
        self.out("}", inside)
        if window.before:
            self.out("}", depth)

    def _again(self, window: Window, depth: int) -> None:
        """One round, of which only what fills the window is computed."""
        for index in sorted(window.nodes):
            node = self.nodes.all[index]
            with self._block():
                self._compute(node, 0, depth)
            for result in range(node.count):
                stored = self.places.stored(node, result)
                if stored is not None and stored.family in window.first:
                    self._store(stored, self.name(node, result), 0, depth)
        for carry in window.carries:
            last = len(carry.starts) - 1
            for place in range(last):
                one, two = self.carry_name(carry, place), self.carry_name(carry, place + 1)
                self.out(f"{one} = {two};", depth)
            made = self.name(carry.node, carry.result)
            self.out(f"{self.carry_name(carry, last)} = {made};", depth)


@dataclass(frozen=True)
class DeviceProgram(Printed):
    """A program as kernels: how many outputs it has, how many threads a block has, how many doubles
    each row is given to keep things in, and whether rows may leave the trace."""

    outputs: int
    block: int
    tape: int
    is_guarded: bool


class DeviceText(ProgramText):
    """A program as two kernels: what is computed once, and a thread a row."""

    printer = DevicePrinter

    def __init__(
        self, rolled: Rolled, name: str, arguments: int, vectors: int, rounds: int | None = None
    ) -> None:
        super().__init__(rolled, name, arguments, vectors)
        if rounds is None:
            self.rounds, self.windows = windows_that_fit(self.places, self._outside())
        else:
            self.rounds = rounds
            self.windows = windows(self.places, self._outside(), rounds) if rounds else []
        self.tape = 0

    def run(self) -> DeviceProgram:
        """The whole text."""
        once, rows = self.once_body(), self._kernel()
        text = "\n".join([*self.tables, *self._memory(), *self._once_kernel(once), "", *rows])
        return DeviceProgram(
            **vars(self.printed(text)),
            outputs=len(self.frame.outputs),
            block=BLOCK,
            tape=self.tape if self.tape > MOST_LOCAL else 0,
            is_guarded=self.is_guarded,
        )

    def _outside(self) -> list[int]:
        guarded = [condition for _, _, condition in self.input_guards]
        return [*[index for _, index in self.end], *guarded]

    @property
    def rings(self) -> int:
        """How many arrays the windows have."""
        return sum(len(window.first) for window in self.windows)

    @property
    def is_guarded(self) -> bool:
        """Whether rows may leave the trace, or ask for elements that are not there."""
        takes = any(node.op == TAKE.name for node in self.nodes.all)
        return bool(self.frame.guards) or takes

    def _memory(self) -> list[str]:
        """What all threads read: places of columns, and what is the same for all rows."""
        columns, outputs = len(self.columns), len(self.frame.outputs)
        places = 2 * (columns + outputs) + 3 * len(self.arrays)
        window = 2 * self.rounds or 1
        return [
            f"enum {{ RG_IN = {columns}, RG_OUT = {outputs}, RG_WINDOW = {window} }};",
            f"{_where(places, MOST_PLACES)} int64_t rg_places[{max(places, 1)}];",
            f"{_where(self.uniforms, MOST_CONSTANT)} double rg_uniforms[{self.uniforms}];",
        ]

    def _once_kernel(self, body: list[str]) -> list[str]:
        return [
            "#define RG_U u",
            f"RG_KERNEL {NAME}_once(const double *given, double *u) {{",
            *body,
            "}",
            "#undef RG_U",
            "#define RG_U rg_uniforms",
        ]

    def _kernel(self) -> list[str]:
        printer = self.row_printer()
        assert isinstance(printer, DevicePrinter)
        printer.windows = self.windows
        kept = [
            (f"m{family.number}", family.size)
            for family in self.places.families
            if not family.once and all(family.number not in w.first for w in self.windows)
        ]
        kept += [array for window in self.windows for array in printer.checkpoints(window)]
        self.tape = sum(size for _, size in kept)
        body = self.rows_body(printer, 1)
        head = f"RG_KERNEL {NAME}_rows("
        lines = [
            head + "int64_t rows, int64_t first, const int64_t *index, double *tape,",
            " " * len(head) + "int64_t apart, int32_t *failed, int32_t *left) {",
            "    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;",
            "    if (at >= rows) return;",
            "    int64_t row = index ? index[at] : first + at;",
        ]
        if self.rings:
            lines.append(f"    RG_SHARED double window[{self.rings}][RG_WINDOW][RG_BLOCK];")
        lines += self._kept(kept)
        return [
            *lines,
            *body,
            "    rg_done(failed0, at, failed, left);",
            "    (void)tape, (void)apart;",
            "}",
            "#undef L",
        ]

    def _kept(self, kept: list[tuple[str, int]]) -> list[str]:
        """The arrays of one row: its thread's own, or columns of memory that all rows share."""
        if self.tape <= MOST_LOCAL:
            listed = [f"    double {name}[{size}];" for name, size in kept]
            return ["#define L(name, i) name[i]", *listed]
        lines, at = ["#define L(name, i) tape[(name + (i)) * apart + at]"], 0
        for name, size in kept:
            lines.append(f"    const int64_t {name} = {at};")
            at += size
        return lines


def _where(size: int, most: int) -> str:
    return "RG_CONSTANT" if size <= most else "RG_LARGE"


@dataclass(frozen=True)
class Kernels:
    """The text of a plan for a GPU, and the printed program in it."""

    text: str
    program: DeviceProgram


def device_source(ready: Ready, title: str, rounds: int | None = None) -> Kernels:
    """The kernels of a plan; ``rounds`` are what windows are filled with at once, 0 for none."""
    as_kernels = partial(DeviceText, rounds=rounds)
    program = printed(rolled_of(ready), NAME, ready.arguments, 1, title, as_kernels)
    assert isinstance(program, DeviceProgram)
    threads = kernels.text("threads.h")
    names = {"RG_INF", "RG_NAN"} | program.names | kernels.names_in(threads)
    needed = kernels.needed(names, frozenset({"CALLED"}))
    parts = (kernels.text("division.h"), kernels.lanes(), needed, threads, program.text)
    return Kernels(_file(program.block, *parts), program)


def sums_source() -> str:
    """The kernels that add rows up, in the interpreter's order."""
    return _file(SUMS_BLOCK, kernels.text("sums.h"))


def emulated(text: str) -> str:
    """Kernels as C for the CPU, one thread after another."""
    before = "#define RG_EMULATED\n#define RG_ONE"
    after = "emulated.h" if NAME in text else "emulated_sums.h"
    return _joined(before, PRAGMAS, kernels.text("exact.h"), text, kernels.text(after))


def _file(block: int, *parts: str) -> str:
    return _joined(f"enum {{ RG_BLOCK = {block} }};", kernels.text("device.h"), *parts)


def _joined(*parts: str) -> str:
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"
