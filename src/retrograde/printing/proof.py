"""A small C program that holds a printed file to numbers that Python computed, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .cfile import CFile
from .entries import Entry
from .statements import number_text

_HEAD = """\
#include <stdio.h>
#include <string.h>

#define RG_NAN (0.0 / 0.0)
#define RG_INF (1.0 / 0.0)

/* How many numbers have other bits than expected; a NaN is any other. */
static int compared(const char *name, const double *found, const double *expected, int count) {
    int wrong = 0;
    for (int i = 0; i < count; i++)
        if (memcmp(found + i, expected + i, sizeof(double)) &&
            (found[i] == found[i] || expected[i] == expected[i])) {
            if (!wrong) printf("%s[%d] is %.17g, not %.17g\\n", name, i, found[i], expected[i]);
            wrong++;
        }
    return wrong;
}
"""


def _array(name: str, numbers: Any) -> str:
    listed = ", ".join(number_text(each) for each in np.asarray(numbers).reshape(-1).tolist())
    return f"    static const double {name}[] = {{{listed or '0'}}};"


def proof(
    file: CFile, header: str, rows: int, given: Sequence[Any], expected: dict[str, list[Any]]
) -> str:
    """The program: ``given`` are the numbers of each parameter, ``expected`` by function the
    numbers of each of its results, of all rows."""
    lines = [
        f'#include "{header}"',
        _HEAD,
        "#define RG_NAN (0.0 / 0.0)",
        "#define RG_INF (1.0 / 0.0)",
    ]
    entries = [entry for entry in file.entries if entry.name in expected]
    for entry in entries:
        lines += _checked(entry, rows, given, expected[entry.name])
    calls = " + ".join(f"check_{entry.name}()" for entry in entries)
    lines += [
        "int main(void) {",
        f"    int wrong = {calls};",
        '    printf(wrong ? "%d numbers are wrong\\n" : "all bits are as in Python\\n", wrong);',
        "    return wrong != 0;",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _checked(entry: Entry, rows: int, given: Sequence[Any], expected: Sequence[Any]) -> list[str]:
    lines = [f"static int check_{entry.name}(void) {{"]
    passed = [str(rows)]
    for parameter, numbers in zip(entry.parameters, given):
        if parameter.bare:
            passed.append(number_text(float(np.asarray(numbers))))
        else:
            lines.append(_array(f"in_{parameter.name}", numbers))
            passed.append(f"in_{parameter.name}")
    for result, numbers in zip(entry.results, expected):
        size = max(rows * result.count, 1)
        lines += [_array(f"is_{result.name}", numbers), f"    double {result.name}[{size}];"]
        passed.append(result.name)
    lines += [
        f"    int64_t lost = {entry.name}({', '.join(passed)}, NULL);",
        f'    int wrong = lost != 0 ? (printf("{entry.name}: rows without a path\\n"), 1) : 0;',
    ]
    for result in entry.results:
        count = rows * result.count
        name = f'"{entry.name}: {result.name}"'
        lines.append(f"    wrong += compared({name}, {result.name}, is_{result.name}, {count});")
    return [*lines, "    return wrong;", "}"]
