"""A profile on a terminal; only reads the data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import TYPE_CHECKING

from .._text.console import Row, print_line, print_rows, widths_of
from .._text.lines import clipped
from ._page import QUIET, STRONG
from ._profile import Line, Profile

if TYPE_CHECKING:
    from rich.console import Console

MOST_LINES = 10


def print_profile(page: Console, profile: Profile) -> None:
    """Time first, then the lines that make most values, and those that hold most bytes."""
    name = PurePath(profile.script).name
    print_line(page, (f"The profile of {name}", STRONG), (f"  {_seconds(profile.whole)}", QUIET))
    for text in _told(profile):
        print_line(page, (text, ""), indent=2)
    first = _print_top(page, profile, "by values", lambda line: line.values, [])
    _print_top(page, profile, "by bytes", lambda line: line.bytes, first)
    _print_top(page, profile, "by time outside of backward", lambda line: line.seconds, [])


def _told(profile: Profile) -> list[str]:
    spent = profile.whole - profile.watching
    parts = [("backward", profile.backward)]
    if profile.forward is None or profile.other is None:
        parts.append(("forward and the rest, too short to tell apart", spent - profile.backward))
    else:
        parts = [("forward", profile.forward), *parts, ("other", profile.other)]
    shares = (
        f"{what} {_seconds(seconds)} ({100 * seconds / spent if spent > 0 else 0:.0f} %)"
        for what, seconds in parts
    )
    told = [", ".join(shares), f"watching took another {_seconds(profile.watching)}"]
    if not profile.passes:
        return [*told, "no backward pass ran to its end"]
    passes = "1 backward pass" if profile.passes == 1 else f"{profile.passes:,} backward passes"
    counted = "" if profile.counted == profile.passes else f", mean of {profile.counted:,} counted"
    graph = f"{profile.values:,.0f} values and {_bytes(profile.bytes)} a pass{counted}"
    return [*told, f"{passes}: {graph}"]


def _print_top(
    page: Console,
    profile: Profile,
    title: str,
    key: Callable[[Line], float],
    shown: list[Line],
) -> list[Line]:
    """The lines with most of something; nothing where another table shows the same ones."""
    top = sorted((line for line in profile.lines if key(line) > 0), key=key, reverse=True)
    top = top[:MOST_LINES]
    if not top or top == shown:
        return top
    page.print()
    print_line(page, (title, STRONG), indent=2)
    head: Row = [(text, QUIET) for text in ("values ", "bytes ", "time ", "line")]
    script = PurePath(profile.script).name
    rows = [head, *(_row(line, script) for line in top)]
    taken = 4 + sum(widths_of(rows)[:3]) + 3
    short = [(*row[:3], (clipped(row[3][0], page.width - taken), row[3][1])) for row in rows]
    print_rows(page, short, "rrrl", indent=4)
    return top


def _row(line: Line, script: str) -> Row:
    name = PurePath(line.file).name
    where = f"{line.line}" if name == script else f"{name}:{line.line}"
    return (
        (f"{line.values:,.0f} ", ""),
        (f"{_bytes(line.bytes)} ", ""),
        (f"{_seconds(line.seconds)} ", ""),
        (f"{where}  {line.text}" if line.file else "no line known", ""),
    )


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.1f} ms"


def _bytes(count: float) -> str:
    for unit, scale in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count:.0f} B"
