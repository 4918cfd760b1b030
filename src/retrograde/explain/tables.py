"""The ledger and the thermometer as text. They only read the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._text.lines import Line, Span, as_text, folded, line_width, shortened, width_of
from ..ops.sentences import shown
from .thermometer import Reading, Thermometer

if TYPE_CHECKING:
    from .ledger import Entry, Ledger

MOST_ROWS = 24
LONGEST_NAME, LONGEST_ROOT = 24, 16
LONGEST_BAR, SHORTEST_BAR = 24, 5
NODES_OF_A_ROUTE = 7
"""Values of a route that are written out; of more, the ends."""


def heading(title: str, about: Sequence[Span], width: int) -> list[Line]:
    """A title, what it is about where there is room, and a rule."""
    line: Line = [(title, "strong"), ("  ", ""), *about]
    if line_width(line) > width:
        line = [(title, "strong")]
    return [line, [("─" * width, "quiet")]]


# ---- thermometer ------------------------------------------------------------------------------


def thermometer_text(readings: Thermometer, width: int = 80, color: bool = False) -> str:
    """Signed bars with their readings.

    >>> import retrograde as rg
    >>> a, b = rg.Value(2.0, label="a"), rg.Value(-3.0, label="b")
    >>> print(thermometer_text(rg.thermometer(a * b), 60))
    a  -3  ◀█████████│            a*b falls three times as fast
    b   2            │██████▶     a*b rises twice as fast
    """
    if not readings.readings:
        return as_text([[("no leaf takes gradients: there is nothing to read", "")]], color)
    return as_text(bars(readings, width), color)


def bars(readings: Thermometer, width: int) -> list[Line]:
    """One line a reading: name, gradient, a bar to either side, and what it means."""
    rows = readings.readings
    names = min(max(width_of(row.name) for row in rows), LONGEST_NAME, width // 4)
    numbers = max(width_of(shown(row.gradient)) for row in rows)
    words = [_answer(readings, row) for row in rows]
    longest = max(map(width_of, words))
    spare = width - names - numbers - 8 - longest
    half = max(min(spare // 2, LONGEST_BAR), SHORTEST_BAR)
    lines = []
    for row, said in zip(rows, words):
        style = "rises" if row.gradient > 0 else "falls" if row.gradient < 0 else "quiet"
        head: list[Span] = [
            (_fitted(row.name, names), "strong"),
            ("  ", ""),
            (f"{shown(row.gradient):>{numbers}}", style),
            ("  ", ""),
            *_bar(row, half, style),
            ("  ", ""),
        ]
        lines += folded([*head, (said, "")], width, line_width(head))
    return lines


def short_root(readings: Thermometer) -> str:
    """The root's name where it is short enough to be said on every line."""
    return readings.root if width_of(readings.root) <= LONGEST_ROOT else "the result"


def _bar(row: Reading, half: int, style: str) -> list[Span]:
    """The sign is shown by side and by the arrow at the end, not by colour alone."""
    length = round(abs(row.share) * half)
    left = right = " " * half
    if row.share < 0:
        left = f"{'◀' + '█' * max(length - 1, 0):>{half}}"
    elif row.share > 0:
        right = f"{'█' * max(length - 1, 0) + '▶':<{half}}"
    return [(left, style), ("│", "quiet"), (right, style)]


def _answer(readings: Thermometer, row: Reading) -> str:
    """The reading without what its line shows already."""
    said = row.answer
    root = short_root(readings)
    if root != readings.root:
        said = said.replace(readings.root, root)
    return f"{said} ({row.rank})" if row.rank else said


def _fitted(text: str, width: int) -> str:
    text = shortened(text, width)
    return text + " " * (width - width_of(text))


# ---- ledger -----------------------------------------------------------------------------------


def ledger_text(account: Ledger, width: int = 80, color: bool = False) -> str:
    """The contributions as they were added, then what whole routes say.

    >>> import retrograde as rg
    >>> a = rg.Value(3.0, label="a")
    >>> print(ledger_text(rg.ledger(a + a, a), 60))
    The gradient of a in a + a
    2 = 2 through a+a
    ────────────────────────────────────────────────────────────
    from a + a    1 × 1  =  1   0 → 1
    from a + a    1 × 1  =  1   1 → 2
    2 routes, all pulling the same way
    """
    lines: list[Line] = [[(f"The gradient of {account.name} in {account.root}", "strong")]]
    lines += folded([(account.words(), "")], width, 4)
    lines += [[("─" * width, "quiet")], *_rows(account.entries, width)]
    lines += folded([(_cancellation(account), "")], width, 2)
    if account.routes > 1 and account.strongest and len(account.entries) != account.routes:
        lines.append([("strongest routes", "strong")])
        for route in account.strongest:
            lines += folded(
                [(f"  {shown(route.amount)}  ", "amount"), (_path(route.names), "")], width, 6
            )
    return as_text(lines, color)


def _rows(entries: Sequence[Entry], width: int) -> list[Line]:
    if not entries:
        return [[("no contribution", "quiet")]]
    kept = entries
    if len(entries) > MOST_ROWS:
        kept = sorted(entries, key=lambda entry: -abs(entry.amount))[:MOST_ROWS]
    names = min(max(width_of(entry.name) for entry in kept), LONGEST_NAME)
    partials = max(len(shown(entry.partial)) for entry in kept)
    upstreams = max(len(shown(entry.upstream)) for entry in kept)
    amounts = max(len(shown(entry.amount)) for entry in kept)
    lines: list[Line] = []
    for entry in kept:
        line: Line = [
            ("from ", "quiet"), (_fitted(entry.name, names), "strong"), ("  ", ""),
            (f"{shown(entry.partial):>{partials + 2}}", "partial"), (" × ", "quiet"),
            (f"{shown(entry.upstream):<{upstreams}}", "upstream"), ("  =  ", "quiet"),
            (f"{shown(entry.amount):>{amounts}}", "amount"),
        ]  # fmt: skip
        running: Span = (f"   {shown(entry.before)} → {shown(entry.after)}", "quiet")
        fits = line_width([*line, running]) <= width
        lines += [[*line, running]] if fits else folded(line, width, 7)
    if len(entries) > len(kept):
        rest = len(entries) - len(kept)
        lines.append([(f"… and {rest:,} weaker contributions …", "quiet")])
    return lines


def _cancellation(account: Ledger) -> str:
    count = f"{account.routes:,}" if account.routes < 1e6 else f"about {account.routes:.2g}"
    routes = f"{count} route" + ("" if account.routes == 1 else "s")
    if account.routes <= 1:
        return routes
    if account.cancellation == float("inf"):
        return f"{routes}, which cancel out: {shown(account.absolute)} in all, 0 left"
    if account.cancellation != account.cancellation:
        return f"{routes}; how far they cancel out cannot be said: a partial is not a number"
    if account.cancellation <= 1.0 + 1e-9:
        return f"{routes}, all pulling the same way"
    return (
        f"{routes}, which cancel out in part: {shown(account.absolute)} in all, "
        f"{shown(abs(account.gradient))} left ({shown(account.cancellation)} to 1)"
    )


def _path(names: Sequence[str]) -> str:
    if len(names) > NODES_OF_A_ROUTE:
        ends = NODES_OF_A_ROUTE // 2
        hidden = len(names) - 2 * ends
        names = [*names[:ends], f"… {hidden:,} more …", *names[-ends:]]
    return " → ".join(names)
