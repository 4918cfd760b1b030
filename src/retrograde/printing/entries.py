"""The functions of a printed file that a user calls, over rows and for one row, and its header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .functions import Function
from .parameters import Parameter


@dataclass(frozen=True)
class Result:
    """An output parameter in C: ``count`` outputs, one after another.

    ``rows``: of an argument that differs from row to row, so that it is stored also where the rest
    is added up.
    """

    name: str
    count: int
    rows: bool = False


@dataclass
class Entry:
    """A function that a user calls: ``function`` in all its traces, and what it puts out.

    ``summed``: what is not of rows is added up over them.
    """

    name: str
    words: str
    function: Function
    parameters: list[Parameter]
    results: list[Result]
    seeds: list[Parameter] = field(default_factory=list)
    summed: bool = False

    def _is_added(self, result: Result) -> bool:
        return self.summed and not result.rows

    @property
    def _head(self) -> str:
        inputs = [each.declared for each in self.parameters]
        inputs += [f"const double *{each.name}" for each in self.seeds]
        outputs = [f"double *{each.name}" for each in self.results]
        parts = ["size_t rows", *inputs, *outputs, "int32_t *status"]
        return _wrapped(f"int64_t {self.name}(", parts, ")")

    @property
    def _head_of_one(self) -> str:
        inputs = [_for_one(each) for each in [*self.parameters, *self.seeds]]
        outputs = [f"double *{each.name}" for each in self.results]
        return _wrapped(f"int32_t {self.name}_one(", [*inputs, *outputs], ")")

    @property
    def declarations(self) -> list[str]:
        """What stands in the header."""
        lines = [f"/* {self.words}"]
        for each in [*self.parameters, *self.seeds]:
            if each.shape:
                lines.append(f" *   {each.name}{each.shape}")
        for result in self.results:
            width = f"[{result.count}]" if result.count > 1 else ""
            rows = "" if self._is_added(result) else "[rows]"
            lines.append(f" *   {result.name}{rows}{width or ('' if rows else '[1]')} receives")
        lines[-1] += " */"
        lines.append(self._head + ";")
        return lines if self.summed else [*lines, self._head_of_one + ";"]

    def lines(self, numbers: int, parameters: str) -> list[str]:
        """Its text: arguments and columns are put into tables."""
        columns = numbers + sum(each.count for each in self.seeds)
        outputs = sum(each.count for each in self.results)
        added = sum(each.count for each in self.results if self._is_added(each))
        lines = [
            self._head + " {",
            f"    double rg_arguments[{numbers + 1}] = {{0}};",
            f"    rg_column rg_in[{columns + 1}] = {{{{NULL, 0}}}};",
            f"    rg_column rg_out[{outputs - added + 1}] = {{{{NULL, 0}}}};",
        ]
        for each in self.parameters:
            lines += _bound(each, each.first)
        at = numbers
        for each in self.seeds:
            lines += _column("rg_in", at, each.name, each.count)
            at += each.count
        at, sums = 0, []
        for result in self.results:
            if self._is_added(result):
                sums += [(result.name, place) for place in range(result.count)]
                continue
            lines += _column("rg_out", at, result.name, result.count)
            at += result.count
        call = f"rg_call(&{self.function.name}, rows, rg_arguments, {parameters}, rg_in, rg_out"
        if not self.summed:
            return [*lines, f"    return {call}, NULL, 0, NULL, status);", "}", *self._one()]
        numbered, done = [], 0
        for result in self.results:
            mine = range(done, done + result.count) if self._is_added(result) else ()
            numbered += list(mine) or [-1] * result.count
            done += len(mine)
        lines += [
            f"    static const int rg_sum[] = {{{', '.join(map(str, numbered))}}};",
            f"    double rg_totals[{len(sums) + 1}];",
            f"    int64_t rg_lost = {call}, rg_sum, {len(sums)}, rg_totals, status);",
        ]
        for place, (name, inside) in enumerate(sums):
            lines.append(f"    {name}[{inside}] = rg_totals[{place}];")
        return [*lines, "    return rg_lost;", "}"]

    def _one(self) -> list[str]:
        """The same for one row."""
        given = []
        for each in self.parameters:
            given.append(f"&{each.name}" if each.rows and each.count == 1 else each.name)
        given += [f"&{each.name}" if each.count == 1 else each.name for each in self.seeds]
        given += [each.name for each in self.results]
        call = _wrapped(f"    int64_t rg_lost = {self.name}(", ["1", *given, "&status"], ");")
        return [
            self._head_of_one + " {",
            "    int32_t status = 0;",
            call,
            "    return rg_lost < 0 ? RG_NO_MEMORY : status;",
            "}",
        ]


def _for_one(parameter: Parameter) -> str:
    if parameter.bare or (parameter.rows and parameter.count == 1):
        return f"double {parameter.name}"
    return f"const double *{parameter.name}"


def _column(table: str, first: int, name: str, count: int) -> list[str]:
    """Columns of an array of rows."""
    if count == 1:
        return [f"    {table}[{first}] = (rg_column){{(char *){name}, sizeof(double)}};"]
    return [
        f"    for (int rg_i = 0; rg_i < {count}; rg_i++)",
        f"        {table}[{first} + rg_i] = (rg_column){{(char *)({name} + rg_i), "
        f"{count} * sizeof(double)}};",
    ]


def _bound(parameter: Parameter, first: int) -> list[str]:
    if parameter.rows:
        return _column("rg_in", first, parameter.name, parameter.count)
    if parameter.bare:
        return [f"    rg_arguments[{first}] = {parameter.name};"]
    return [
        f"    for (int rg_i = 0; rg_i < {parameter.count}; rg_i++) "
        f"rg_arguments[{first} + rg_i] = {parameter.name}[rg_i];"
    ]


def _wrapped(head: str, parts: Sequence[str], tail: str) -> str:
    """A list of parameters over as many lines as it takes."""
    lines, line = [], head
    for place, part in enumerate(parts):
        text = part + (tail if place == len(parts) - 1 else ",")
        if len(line) + len(text) > 96 and line.strip():
            lines.append(line.rstrip())
            line = " " * len(head)
        line += text + " "
    return "\n".join([*lines, line.rstrip()])
