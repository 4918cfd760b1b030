"""Births as text, folded to a width.

Lines keep their indent where they are folded; paths and lines of source stay whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._text.paragraphs import WIDTH, counted, wrapped

if TYPE_CHECKING:
    from .._shared.birth import Birth
    from .births import Births
    from .compiled_births import RowBirths

MOST_LISTED = 8
"""How many rows are listed by number."""
_INDENT = "    "


def birth_lines(birth: Birth, width: int = WIDTH) -> list[str]:
    """One birth."""
    lines: list[str] = []
    for line in str(birth).splitlines():
        whole = line.startswith(("  at ", "      "))
        lines += [line] if whole else wrapped(line, width, more=_INDENT)
    return lines


def births_lines(births: Births, width: int = WIDTH) -> list[str]:
    """What is not finite, and where it was born, pass by pass."""
    odd = {"value": births.values, "gradient": births.gradients}
    if not births and not any(odd.values()):
        return ["Every value and every gradient is finite."]
    counts = " and ".join(counted(count, noun) for noun, count in odd.items() if count)
    verb = "is" if sum(odd.values()) == 1 else "are"
    result = "finite" if births.roots_are_finite else "not finite"
    lines = [f"{counts} {verb} not finite; the result is {result}."]
    for title, found in (("forward", births.forward), ("backward", births.backward)):
        lines += ["", f"born in the {title} pass: {len(found) or 'nothing'}"]
        for each in found:
            lines += birth_lines(each, width)
    return lines


def row_lines(births: RowBirths) -> list[str]:
    """Which rows are not finite, and where that began; which are, but have lost a NaN."""
    sick = len(births.sick)
    verb = "is" if sick == 1 else "are"
    lines = [f"{sick:,} of {counted(births.rows, 'row')} {verb} not finite."]
    if not sick:
        lines = [f"Every value and every gradient of {counted(births.rows, 'row')} is finite."]
    for group in (*births.forward, *births.backward, *births.dropped):
        listed = ", ".join(map(str, group.rows[:MOST_LISTED].tolist()))
        more = ", …" if group.count > MOST_LISTED else ""
        lines += ["", f"{counted(group.count, 'row')} ({listed}{more}), {group.phase}:"]
        lines += birth_lines(group.birth)
    if births.unplaced:
        lines += ["", f"{counted(births.unplaced, 'more row')} in further places"]
    return lines
