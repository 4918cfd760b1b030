"""One program as C: what is computed once, what is for every row, and their table.

A program is that of one trace in one mode, with its loops. What comes out are two functions and a
table of what they need, for ``text/rows.h`` to run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import PrintingError
from ..program.answers import Answer, Wanted, by_rule
from ..program.loops import Rolled, expand, full_size, operands_of
from ..program.nodes import IrregularError, Nodes, Reference
from ..program.numbering import roll
from ..program.places import Places
from ..program.program import CAPTURED, CONSTANT, ROW, SEED, Program
from ..program.replay import Ready
from .kernels import names_in
from .row_statements import RowPrinter
from .statements import Layout, Printer, number_text

MOST_OPERANDS = 40_000
"""Operands of a program that are printed; loops count once. Past this compilers take minutes."""
LEAST_TURNED = 8
"""Columns of one array from which on they are read together."""


@dataclass(frozen=True)
class Printed:
    """A printed program: its text, which kernels it calls, and what it is given, in that order:
    captured leaves and uniform arguments by their ids; which columns of a call it reads, singly and
    as arrays (the first, and how many); how many numbers are the same for all rows."""

    name: str
    text: str
    names: frozenset[str]
    given: list[int]
    columns: list[int]
    arrays: list[tuple[int, int]]
    uniforms: int


def rolled_of(ready: Ready) -> Rolled:
    """The program that a plan was made of, with its loops; its outputs are all of the plan's."""
    if ready.loops is not None:
        return ready.loops
    return roll(ready.program)


def _straight(rolled: Rolled) -> Rolled:
    """The same without loops."""
    return Rolled.of(expand(rolled))


def printed(
    rolled: Rolled,
    name: str,
    arguments: int,
    vectors: int = 1,
    title: str = "",
    text: Callable[[Rolled, str, int, int], ProgramText] | None = None,
) -> Printed:
    """A program as C: its outputs are those of the program, its columns those of a call.

    ``title`` is what errors call it, ``text`` how it is printed: for the CPU, unless told.
    """
    text = text or ProgramText
    if rolled.frame.functions and _calls(rolled.frame):
        raise PrintingError.calls(title or name)
    _check_size(rolled, title or name)
    try:
        return text(rolled, name, arguments, vectors).run()
    except IrregularError:
        straight = _straight(rolled)
        _check_size(straight, title or name)
        return text(straight, name, arguments, vectors).run()


def _calls(program: Program) -> bool:
    return any(each.rows is not None for each in program.functions.values())


def printed_operands(rolled: Rolled) -> int:
    """How many operands a program has, each loop written once."""
    return sum(len(operands_of(item)) for item in rolled.items)


def _check_size(rolled: Rolled, name: str) -> None:
    operands = printed_operands(rolled)
    if operands > MOST_OPERANDS:
        raise PrintingError.too_long(name, full_size(rolled.items), operands, MOST_OPERANDS)


class ProgramText:
    """A program while it is printed: its outputs, guards and inputs sorted, its two sides."""

    printer: type[Printer] = RowPrinter
    """What prints what is done for every row."""

    def __init__(self, rolled: Rolled, name: str, arguments: int, vectors: int) -> None:
        self.rolled, self.name, self.vectors = rolled, name, vectors
        self.frame = rolled.frame
        self.nodes = Nodes(rolled)
        self.inputs = [self.frame.inputs[i] for i in range(len(self.frame.inputs))]
        self.call_column = {
            i: i if given.kind == ROW else arguments + given.column
            for i, given in enumerate(self.inputs)
            if given.kind in (ROW, SEED)
        }
        self.tables: list[str] = []
        self.end: list[tuple[int, int]] = []  # outputs that are read when all is done
        self.puts: dict[int, list[Wanted]] = {}
        self._sort_outputs()
        self.places = Places(self.nodes, [index for _, index in self.end])
        self._drop_uniform_puts()
        self.guards = self._sorted_guards()
        self._lay_out()

    # ---- outputs and guards ------------------------------------------------------------------

    def _sort_outputs(self) -> None:
        """Outputs of loops that follow a rule are put where they are made, others at the end."""
        by_node: dict[tuple[int, int], dict[tuple[int, ...], Answer]] = {}
        for number, index in enumerate(self.frame.outputs):
            if index < self.nodes.first:
                self.end.append((number, index))
                continue
            node, result, rounds = self.nodes.locate(index)
            found = by_node.setdefault((node.number, result), {})
            if rounds in found:
                self.end.append((number, index))
            else:
                found[rounds] = Answer(number)
        for (number, result), found in by_node.items():
            rule = by_rule(self.nodes.all[number], result, found)
            if rule is not None:
                self.puts.setdefault(number, []).append(rule)
            else:
                self.end += [(a.number, self.frame.outputs[a.number]) for a in found.values()]

    def _drop_uniform_puts(self) -> None:
        """What is the same for all rows is put at the end."""
        once = [number for number in self.puts if not self.places.varies[number]]
        if not once:
            return
        for number in once:
            node = self.nodes.all[number]
            for wanted in self.puts.pop(number):
                for answer, index in enumerate(self.frame.outputs):
                    if index >= self.nodes.first and self._is_of(index, node.number, wanted.result):
                        if (answer, index) not in self.end:
                            self.end.append((answer, index))
        self.places = Places(self.nodes, [index for _, index in self.end])

    def _is_of(self, index: int, number: int, result: int) -> bool:
        node, which, _ = self.nodes.locate(index)
        return node.number == number and which == result

    def _sorted_guards(self) -> dict[int, list[Wanted]]:
        """Guards by the node that makes their condition."""
        by_node: dict[tuple[int, int], list[dict[tuple[int, ...], Answer]]] = {}
        self.input_guards: list[tuple[int, bool, int]] = []
        for number, guard in enumerate(self.frame.guards):
            if guard.condition < self.nodes.first:
                self.input_guards.append((number, guard.outcome, guard.condition))
                continue
            node, result, rounds = self.nodes.locate(guard.condition)
            layers = by_node.setdefault((node.number, result), [])
            layer = next((each for each in layers if rounds not in each), None)
            if layer is None:
                layers.append(layer := {})
            layer[rounds] = Answer(number, guard.outcome)
        guards: dict[int, list[Wanted]] = {}
        for (number, result), layers in by_node.items():
            for found in layers:
                rule = by_rule(self.nodes.all[number], result, found)
                rule = rule or self._table(number, result, found)
                guards.setdefault(number, []).append(rule)
        return guards

    def _table(self, number: int, result: int, found: dict[tuple[int, ...], Answer]) -> Wanted:
        """Guards that follow no rule: a number for each round, its sign how it must come out."""
        node = self.nodes.all[number]
        cells = [0] * node.rounds
        for rounds, answer in found.items():
            at = 0
            for trip, loop in zip(rounds, node.nest):
                at = at * loop.trips + trip
            cells[at] = (answer.number + 1) * (1 if answer.holds else -1)
        name = f"{self.name}_g{len(self.tables)}"
        listed = ", ".join(map(str, cells))
        self.tables.append(f"static const int32_t {name}[{len(cells)}] = {{{listed}}};")
        return Wanted(result, table=name)

    # ---- inputs ------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        """Give inputs their places: u[0] is the first guard that failed before any row."""
        uniforms: dict[int, int] = {}
        for index, given in enumerate(self.inputs):
            if given.kind not in (ROW, SEED):
                uniforms[index] = 1 + len(uniforms)
        self.groups = self._groups()
        listed: dict[int, tuple[int, int]] = {}
        self.arrays: list[tuple[int, int]] = []
        for number, (low, high) in enumerate(self.groups):
            columns = [self.call_column[i] for i in range(low, high + 1)]
            if columns != list(range(columns[0], columns[0] + len(columns))):
                raise IrregularError
            self.arrays.append((columns[0], len(columns)))
            for index in range(low, high + 1):
                listed[index] = number, index - low
        read = sorted(self._read_rows() - set(listed))
        self.columns = [self.call_column[i] for i in read]
        self.layout = Layout(
            uniforms, {i: place for place, i in enumerate(read)}, listed, 1 + len(uniforms)
        )
        self.given = [
            i for i, g in enumerate(self.inputs) if g.kind not in (ROW, SEED, CONSTANT, CAPTURED)
        ]
        self.given = [i for i, g in enumerate(self.inputs) if g.kind == CAPTURED] + self.given

    def _references(self) -> list[tuple[int, list[int]]]:
        """References to inputs that differ from row to row: base, and how far they go."""
        rows = self.call_column
        return [
            (ref.base, [stride * (loop.trips - 1) for loop, stride in ref.moves])
            for node in self.nodes.all
            for ref in node.operands
            if ref.base in rows
        ]

    def _read_rows(self) -> set[int]:
        """The inputs of rows that are read."""
        found = {base for base, _ in self._references()}
        found |= {index for _, index in self.end if index in self.call_column}
        return found | {i for _, _, i in self.input_guards if i in self.call_column}

    def _groups(self) -> list[tuple[int, int]]:
        """Ranges of inputs that are read together: those that loops run through, and the columns
        of an array of which many are read."""
        ranges: list[tuple[int, int]] = []
        for base, far in self._references():
            if any(far):
                low = base + sum(min(each, 0) for each in far)
                ranges.append((low, base + sum(max(each, 0) for each in far)))
        by_array: dict[str, list[int]] = {}
        for index in self._read_rows():
            if self.inputs[index].array:
                by_array.setdefault(self.inputs[index].array, []).append(index)
        ranges += [(min(i), max(i)) for i in by_array.values() if len(i) >= LEAST_TURNED]
        merged: list[tuple[int, int]] = []
        for low, high in sorted(ranges):
            if any(i not in self.call_column for i in range(low, high + 1)):
                raise IrregularError
            if merged and low <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(high, merged[-1][1])
            else:
                merged.append((low, high))
        return merged

    # ---- text --------------------------------------------------------------------------------

    def _printer(self, once: bool) -> Printer:
        mine = {n: g for n, g in self.guards.items() if self.places.varies[n] != once}
        puts = {} if once else self.puts
        vectors = 1 if once else self.vectors
        kind = Printer if once else self.printer
        return kind(self.places, self.layout, once, vectors, mine, puts)

    def row_printer(self) -> Printer:
        """What prints what is done for every row."""
        return self._printer(once=False)

    def run(self) -> Printed:
        """The whole text."""
        once, rows = self._once(), self._rows()
        lines = [*self.tables, *once, "", *rows, "", *self._record()]
        text = "\n".join(lines)
        return self.printed(text)

    def printed(self, text: str) -> Printed:
        """The text with what a target must know of it."""
        return Printed(
            self.name, text, names_in(text), self.given, self.columns, self.arrays, self.uniforms
        )

    def _guard_line(self, printer: Printer, guard: tuple[int, bool, int], vector: int) -> str:
        number, holds, index = guard
        condition = printer.read(Reference(index), (), vector)
        return f"GUARD({number}, {int(holds)}, {condition}, {vector});"

    def _once(self) -> list[str]:
        head = f"static void {self.name}_once(const double *given, double *u) {{"
        return [head, *self.once_body(), "}"]

    def once_body(self) -> list[str]:
        """The statements that fill the numbers that are the same for all rows."""
        printer = self._printer(once=True)
        lines: list[str] = []
        used_tables = len(self.rolled.tables)
        if used_tables:
            numbers = ", ".join(map(number_text, self.rolled.tables.tolist()))
            lines.append(f"    static const double tables[{used_tables}] = {{{numbers}}};")
        lines += ["    vd failed0 = v_set(RG_NONE);", "    u[0] = 0.0;"]
        for place, index in enumerate(self.given):
            lines.append(f"    u[{self.layout.uniforms[index]}] = given[{place}];")
        for index, given in enumerate(self.inputs):
            if given.kind == CONSTANT:
                place = self.layout.uniforms[index]
                lines.append(f"    u[{place}] = {number_text(given.number)};")
        if used_tables:
            lines.append(f"    memcpy(u + {self.layout.tables}, tables, sizeof tables);")
        for guard in self.input_guards:
            if guard[2] not in self.call_column:
                lines.append("    " + self._guard_line(printer, guard, 0))
        lines += printer.run()
        return [*lines, "    u[0] = v_first(failed0);", "    (void)given;"]

    def _rows(self) -> list[str]:
        printer = self.row_printer()
        assert isinstance(printer, RowPrinter)
        listed, asked = self.layout.listed, [index for _, _, index in self.input_guards]
        printer.keep_whole({listed[index][0] for index in asked if index in listed})
        head = f"static void {self.name}_tiles("
        lines = [
            head + "size_t count, const double *const *x, const rg_array *a, const double *u,",
            " " * len(head) + "double *const *o, double *number, vd *scratch) {",
        ]
        at = 0
        for number, (_, width) in enumerate(self.arrays):
            lines += [
                f"    vd *restrict xs{number} = scratch + {at} * RG_VECTORS;",
                f"    const rg_array a{number} = a[{number}];",
                f"    const int turns{number} = rg_turns(a{number});",
            ]
            at += width
        for family in self.places.families:
            if not family.once:
                place = f"{at} * RG_VECTORS"
                lines.append(f"    vd *restrict m{family.number} = scratch + {place};")
                at += family.size
        self.scratch = at
        lines += [
            "    (void)x, (void)a, (void)u, (void)o, (void)scratch;",
            *[f"    (void)turns{number};" for number in range(len(self.arrays))],
            "    for (size_t row = 0; row < count * RG_TILE; row += RG_TILE) {",
        ]
        for number, (_, width) in enumerate(self.arrays):
            lines += [f"        {line}" for line in printer.columns(number, width)]
        lines += self.rows_body(printer, 2)
        for vector in range(self.vectors):
            lines.append(f"        v_store(number + row + {vector} * RG_LANES, failed{vector});")
        return [*lines, "    }", "}"]

    def rows_body(self, printer: Printer, depth: int) -> list[str]:
        """The statements that are done for every row."""
        indent = "    " * depth
        lines = []
        for vector in range(self.vectors):
            lines.append(f"{indent}vd failed{vector} = U(0);")
            for guard in self.input_guards:
                if guard[2] in self.call_column:
                    lines.append(indent + self._guard_line(printer, guard, vector))
        lines += printer.run(depth)
        for number, index in self.end:
            for vector in range(self.vectors):
                text = printer.read(Reference(index), (), vector)
                lines.append(f"{indent}PUT({number}, {text}, {vector});")
        return lines

    @property
    def uniforms(self) -> int:
        """How many numbers are the same for all rows."""
        once = sum(each.size for each in self.places.families if each.once)
        return self.layout.tables + len(self.rolled.tables) + once

    def _record(self) -> list[str]:
        """The table of the program."""
        name = self.name
        columns = ", ".join(map(str, self.columns or [0]))
        arrays = ", ".join(f"{{{first}, {width}}}" for first, width in self.arrays or [(0, 0)])
        uniforms = self.uniforms
        sizes = (len(self.columns), len(self.arrays), len(self.frame.outputs))
        return [
            f"static const int {name}_column[] = {{{columns}}};",
            f"static const int {name}_array[][2] = {{{arrays}}};",
            f"static const rg_program {name} = {{{name}_once, {name}_tiles, "
            f"{', '.join(map(str, sizes))}, {len(self.frame.guards)}, {name}_column, "
            f"{name}_array, {uniforms}, {self.scratch} * RG_VECTORS}};",
        ]
