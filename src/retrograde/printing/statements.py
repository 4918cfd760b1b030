"""A program as statements of C, for any target: what differs between targets are macros.

``U(i)`` is number i of those that are the same for all rows, ``X(c)`` a column of the rows,
``XS(a, i)`` column i of an array that loops run through, ``M(f, i)`` a place of memory f,
``PUT(o, x)`` an output, ``GUARD(n, holds, x)`` a condition that must come out as it was recorded,
``TAKE`` and ``TAKE_ONCE`` elements chosen by an index. Everything else is calls of the kernels.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..ops.structural import DOT, SUM, TAKE
from ..program.answers import Wanted
from ..program.nodes import Around, Body, Moves, Nest, Node, Nodes, Reference, nodes_in
from ..program.places import Carry, Given, Last, Memory, Places, Variable
from ..program.program import CONSTANT, ROW, SEED


def number_text(number: float) -> str:
    """A number as C, exactly."""
    if number != number:
        return "RG_NAN"
    if number in (float("inf"), float("-inf")):
        return "RG_INF" if number > 0 else "-RG_INF"
    return repr(number)


def affine(base: int, moves: Moves) -> str:
    """A linear function of the rounds."""
    text = "" if base == 0 and moves else str(base)
    for loop, stride in moves:
        size = f"k{loop.number}" if abs(stride) == 1 else f"{abs(stride)} * k{loop.number}"
        sign = "-" if stride < 0 else "+" if text else ""
        text += f" {sign} {size}" if text else f"{sign}{size}"
    return text


@dataclass(eq=False)
class Layout:
    """Which number stands where among a program's inputs.

    ``uniforms`` are the places of inputs that are the same for all rows, ``columns`` the columns of
    a call that the others are; ``listed`` are those that loops run through: by id the number of the
    array and the place in it.
    """

    uniforms: dict[int, int]
    columns: dict[int, int]
    listed: dict[int, tuple[int, int]]
    tables: int


@dataclass(eq=False)
class Printer:
    """Prints one side of a program: what is computed once, or what is for every row."""

    places: Places
    layout: Layout
    once: bool
    vectors: int = 1
    guards: dict[int, list[Wanted]] = field(default_factory=dict)
    puts: dict[int, list[Wanted]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    @property
    def nodes(self) -> Nodes:
        """The program."""
        return self.places.nodes

    def _mine(self, node: Node) -> bool:
        return self.places.varies[node.number] != self.once

    # ---- expressions -------------------------------------------------------------------------

    def name(self, node: Node, result: int, lasting: bool = False) -> str:
        """The variable of a result, or the one that outlives its loop."""
        letter = "f" if lasting else "t"
        return f"{letter}{node.number}" + (f"_{result}" if node.count > 1 else "")

    def carry_name(self, carry: Carry, place: int = 0) -> str:
        """The variable in which a loop carries something on."""
        number = self.places.carries[carry.loop, self.once].index(carry)
        return f"c{carry.loop.number}_{number}" + (f"_{place}" if place else "")

    def suffix(self, vector: int) -> str:
        """What tells the vectors of a tile apart."""
        return "" if self.vectors == 1 else "abcdefgh"[vector]

    def uniform(self, base: int, moves: Moves) -> str:
        """A number among those that are the same for all rows."""
        return f"U({affine(base, moves)})"

    def read(self, reference: Reference, nest: Nest, vector: int = 0) -> str:
        """The expression of an operand."""
        place = self.places.place(reference, nest, self.once)
        suffix = self.suffix(vector)
        match place:
            case Given(base, moves):
                return self._given(base, moves, vector)
            case Variable(node, result):
                return self.name(node, result) + suffix
            case Last(node, result, _):
                return self.name(node, result, lasting=True) + suffix
            case Carry():
                return self.carry_name(place) + suffix
        assert isinstance(place, Memory)
        if self.places.families[place.family].once:
            return self.uniform(place.base + self._first_of(place.family), place.moves)
        return self.memory(place, vector)

    def memory(self, place: Memory, vector: int) -> str:
        """A place in the memory of one row."""
        return f"M({place.family}, {affine(place.base, place.moves)}, {vector})"

    def _first_of(self, family: int) -> int:
        """Where the results of a family begin among the uniform numbers."""
        at = self.layout.tables + len(self.nodes.rolled.tables)
        for each in self.places.families[:family]:
            at += each.size if each.once else 0
        return at

    def _given(self, base: int, moves: Moves, vector: int) -> str:
        inputs = self.nodes.rolled.frame.inputs
        if base >= len(inputs):
            return self.uniform(self.layout.tables + base - len(inputs), moves)
        given = inputs[base]
        if given.kind in (ROW, SEED):
            if base in self.layout.listed:
                array, place = self.layout.listed[base]
                return f"XS({array}, {affine(place, moves)}, {vector})"
            return f"X({self.layout.columns[base]}, {vector})"
        if given.kind == CONSTANT and not moves:
            return f"v_set({number_text(given.number)})"
        return self.uniform(self.layout.uniforms[base], moves)

    # ---- statements --------------------------------------------------------------------------

    def out(self, text: str, depth: int) -> None:
        """One line."""
        self.lines.append("    " * depth + text)

    def run(self, depth: int = 1) -> list[str]:
        """The whole side."""
        self._declare(None, depth)
        self._print(self.nodes.body, (), depth)
        return self.lines

    def before_node(self, node: Node, depth: int) -> None:
        """For targets that do something of their own before an instruction."""

    def before_loop(self, loop: Around, depth: int) -> None:
        """For targets that do something of their own before a loop."""

    def before_round(self, body: Body, depth: int) -> None:
        """For targets that do something of their own before each round of a loop."""

    def _declare(self, loop: Around | None, depth: int) -> None:
        """Variables that outlive a loop stand around it."""
        names = []
        for (number, result), outermost in self.places.lasting.items():
            node = self.nodes.all[number]
            level = node.nest.index(outermost)
            around = node.nest[level - 1] if level else None
            if around is loop and self._mine(node):
                names += [
                    self.name(node, result, lasting=True) + self.suffix(vector)
                    for vector in range(self.vectors)
                ]
        if names:
            zero = " = v_set(0.0)"
            self.out("vd " + ", ".join(name + zero for name in names) + ";", depth)

    def _print(self, body: Body, nest: Nest, depth: int) -> None:
        for part in body.parts:
            if isinstance(part, Node):
                if self._mine(part):
                    self.before_node(part, depth)
                    self._instruction(part, depth)
            elif any(self._mine(node) for node in nodes_in(part)):
                self._loop(part, nest, depth)

    def _loop(self, body: Body, nest: Nest, depth: int) -> None:
        loop = body.loop
        assert loop is not None
        carries = self.places.carries.get((loop, self.once), [])
        self.before_loop(loop, depth)
        self.out("{", depth)
        for carry in carries:
            for vector in range(self.vectors):
                for place, start in enumerate(carry.starts):
                    name = self.carry_name(carry, place) + self.suffix(vector)
                    self.out(f"vd {name} = {self.read(start, nest, vector)};", depth)
        counter = f"k{loop.number}"
        self.out(f"for (int {counter} = 0; {counter} < {loop.trips}; {counter}++) {{", depth)
        self._declare(loop, depth + 1)
        self.before_round(body, depth + 1)
        self._print(body, (*nest, loop), depth + 1)
        for carry in carries:
            lasting = carry.node.nest[-1] is not loop
            for vector in range(self.vectors):
                suffix = self.suffix(vector)
                last = len(carry.starts) - 1
                for place in range(last):
                    one, two = self.carry_name(carry, place), self.carry_name(carry, place + 1)
                    self.out(f"{one}{suffix} = {two}{suffix};", depth + 1)
                made = self.name(carry.node, carry.result, lasting)
                self.out(f"{self.carry_name(carry, last)}{suffix} = {made}{suffix};", depth + 1)
        self.out("}", depth)
        self.out("}", depth)

    def _instruction(self, node: Node, depth: int) -> None:
        for vector in range(self.vectors):
            self._compute(node, vector, depth)
        for result in range(node.count):
            self._keep(node, result, depth)

    def _compute(self, node: Node, vector: int, depth: int) -> None:
        suffix = self.suffix(vector)
        op, half = node.op, len(node.operands) // 2
        name = self.name(node, 0) + suffix
        if op == TAKE.name:
            self._take(node, name, vector, depth)
            return
        args = [self.read(reference, node.nest, vector) for reference in node.operands]
        if op == SUM.name:
            terms = args
            self.out(f"vd {name} = {terms[0]};", depth)
            for term in terms[1:]:
                self.out(f"{name} = v_add({name}, {term});", depth)
        elif op == DOT.name:
            pairs = list(zip(args[:half], args[half:]))
            self.out(f"vd {name} = v_mul({pairs[0][0]}, {pairs[0][1]});", depth)
            for left, right in pairs[1:]:
                self.out(f"{name} = v_add({name}, v_mul({left}, {right}));", depth)
        elif op == "scatter":
            self._scatter(node, args, suffix, depth)
        elif op == "stop":
            self.out(f"vd {name} = {args[0]};", depth)
        else:
            self.out(f"vd {name} = {self.applied(node, args, depth)};", depth)

    def applied(self, node: Node, args: list[str], depth: int) -> str:
        """An op of some operands, as an expression."""
        function = "v_fma" if node.op == "fma" else f"rgv_{node.op}"
        return f"{function}({', '.join(args)})"

    def _take(self, node: Node, name: str, vector: int, depth: int) -> None:
        """One of some elements: from among the uniform numbers where all are there."""
        *elements, index = node.operands
        wanted = self.read(index, node.nest, vector)
        count = len(elements)
        known = [self._uniform_place(element) for element in elements]
        if None not in known:
            listed = ", ".join(map(str, known))
            self.out(f"static const int e{name}[{count}] = {{{listed}}};", depth)
            self.out(f"vd {name} = TAKE_ONCE(e{name}, {count}, {wanted}, {vector});", depth)
            return
        texts = [self.read(element, node.nest, vector) for element in elements]
        self.out(f"vd e{name}[{count}] = {{{', '.join(texts)}}};", depth)
        self.out(f"vd {name} = TAKE(e{name}, {count}, {wanted}, {vector});", depth)

    def _uniform_place(self, element: Reference) -> int | None:
        """Where an element stands among the uniform numbers, the same one in all rounds."""
        if element.moves:
            return None
        if element.base < self.nodes.first:
            inputs = self.nodes.rolled.frame.inputs
            if element.base >= len(inputs):
                return self.layout.tables + element.base - len(inputs)
            return self.layout.uniforms.get(element.base)
        place = self.places.place(element, (), self.once)
        if isinstance(place, Memory) and self.places.families[place.family].once:
            return place.base + self._first_of(place.family)
        return None

    def _scatter(self, node: Node, args: list[str], suffix: str, depth: int) -> None:
        """Upstreams added up where their indices say."""
        whole = f"s{node.number}{suffix}"
        self.out(f"vd {whole}[{node.count}];", depth)
        self.out(f"rg_clear({whole}, {node.count});", depth)
        for index, upstream in zip(args[::2], args[1::2]):
            self.out(f"rg_scatter({whole}, {node.count}, {index}, {upstream});", depth)
        for result in range(node.count):
            self.out(f"vd {self.name(node, result)}{suffix} = {whole}[{result}];", depth)

    def _keep(self, node: Node, result: int, depth: int) -> None:
        """What becomes of a result: variables, memory, guards, outputs."""
        stored = self.places.stored(node, result)
        for vector in range(self.vectors):
            name = self.name(node, result) + self.suffix(vector)
            if (node.number, result) in self.places.lasting:
                outer = self.name(node, result, lasting=True) + self.suffix(vector)
                self.out(f"{outer} = {name};", depth)
            if stored is not None:
                self._store(stored, name, vector, depth)
            for wanted in self.guards.get(node.number, ()):
                if wanted.result == result:
                    self._guard(wanted, node, name, vector, depth)
            for wanted in self.puts.get(node.number, ()):
                if wanted.result == result:
                    target = affine(wanted.base, wanted.moves)
                    self.out(f"PUT({target}, {name}, {vector});", depth)

    def _store(self, stored: Memory, name: str, vector: int, depth: int) -> None:
        if self.once:
            base = stored.base + self._first_of(stored.family)
            self.out(f"u[{affine(base, stored.moves)}] = v_first({name});", depth)
        else:
            self.out(f"{self.memory(stored, vector)} = {name};", depth)

    def _guard(self, wanted: Wanted, node: Node, name: str, vector: int, depth: int) -> None:
        if wanted.table:
            flat, size = [], 1
            for loop in reversed(node.nest):
                flat.append((loop, size))
                size *= loop.trips
            at = affine(0, tuple(reversed(flat)))
            self.out(f"GUARD_BY({wanted.table}[{at}], {name}, {vector});", depth)
            return
        number = affine(wanted.base, wanted.moves)
        self.out(f"GUARD({number}, {int(wanted.holds)}, {name}, {vector});", depth)
