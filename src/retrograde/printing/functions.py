"""All traces of a function in one mode as C: their programs, and how rows find their way."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..program.derived import Mode
from ..program.traces import Family, Route, Trace
from .programs import Printed, printed, rolled_of


class Function:
    """All traces of a function in one mode, as C: programs, routes, and the table of them."""

    def __init__(
        self,
        family: Family,
        mode: Mode,
        what: str,
        arguments: int,
        name: str,
        vectors: int,
        title: str = "",
    ) -> None:
        self.family, self.name = family, name
        self.traces: list[Trace] = []
        self.routes: list[tuple[Route, list[tuple[int, int]]]] = []
        self._walk()
        self.outputs, self.seeds = len(what), mode.seeds
        self.programs: list[Printed] = []
        for number, trace in enumerate(self.traces):
            ready = trace.ready(mode, what, arguments)
            rolled, own = rolled_of(ready), f"{name}_{number}"
            self.programs.append(printed(rolled, own, arguments, vectors, title))

    def _walk(self) -> None:
        """Routes in an order in which those that leave one come after it."""
        assert self.family.root is not None
        pending: list[Route] = [self.family.root]
        numbers = {id(self.family.root): 0}
        at = 0
        while at < len(pending):
            route = pending[at]
            at += 1
            turnings = []
            for guard, other in sorted(route.others.items()):
                numbers[id(other)] = len(pending)
                turnings.append((guard, len(pending)))
                pending.append(other)
            self.routes.append((route, turnings))
            self.traces.append(route.trace)

    def lines(self, columns: int, sites: Sites, leaves: dict[int, int]) -> list[str]:
        """The table of the function; ``leaves`` are the numbers of captured leaves."""
        name = self.name
        lines: list[str] = []
        counts, most = [], 0
        for number, (program, trace) in enumerate(zip(self.programs, self.traces)):
            captured = [-1 - leaves[id(leaf)] for leaf in trace.captured]
            given = captured + program.given[len(captured) :]
            counts.append(len(given))
            most = max(most, len(given))
            listed = ", ".join(map(str, given or [0]))
            lines.append(f"static const int {name}_{number}_given[] = {{{listed}}};")
            where = [sites.number(trace, guard) for guard in range(len(trace.path))]
            listed = ", ".join(map(str, where or [0]))
            lines.append(f"static const int {name}_{number}_site[] = {{{listed}}};")
        every = range(len(self.programs))
        turnings = [turning for _, mine in self.routes for turning in mine]
        first, routes = 0, []
        for number, (_, mine) in enumerate(self.routes):
            routes.append(f"{{{number}, {first}, {first + len(mine)}}}")
            first += len(mine)
        pairs = ", ".join(f"{{{guard}, {route}}}" for guard, route in turnings or [(0, 0)])
        lines += [
            _listed("rg_program *const", f"{name}_programs", [f"&{name}_{n}" for n in every]),
            _listed("int *const", f"{name}_givens", [f"{name}_{n}_given" for n in every]),
            _listed("int", f"{name}_given_counts", [str(count) for count in counts]),
            _listed("int *const", f"{name}_sites", [f"{name}_{n}_site" for n in every]),
            f"static const rg_route {name}_routes[] = {{{', '.join(routes)}}};",
            f"static const rg_turning {name}_turnings[] = {{{pairs}}};",
            f"static const rg_function {name} = {{{name}_programs, {name}_givens, "
            f"{name}_given_counts, {name}_sites, {name}_routes, {name}_turnings, "
            f"{len(self.programs)}, {len(self.routes)}, {columns}, {self.outputs}, {most}}};",
        ]
        return lines


def _listed(kind: str, name: str, parts: Sequence[str]) -> str:
    return f"static const {kind} {name}[] = {{{', '.join(parts)}}};"


class Sites:
    """The places of guards as texts, each once."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def number(self, trace: Trace, guard: int) -> int:
        """The number of the text that says where a guard is."""
        site = trace.site(guard)
        answer = "does not hold" if trace.path[guard] else "holds"
        where = f"{os.path.basename(site.file)}, line {site.line}" if site else "a branch"
        text = f"{where}: no recorded path goes on where the condition {answer}"
        return self.texts.setdefault(text, len(self.texts))


def quoted(text: str) -> str:
    """A text as a literal of C."""
    plain = "".join(each if each.isprintable() and each.isascii() else "?" for each in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") + '"'
