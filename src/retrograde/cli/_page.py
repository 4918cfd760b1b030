"""The demo on a terminal. Everything here only reads data; nothing is computed but the layout.

One colour belongs to one idea throughout: partials, contributions, and gradients, which are the
upstream of the steps that follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._text.console import Row, print_line, print_row, print_rows, widths_of
from ._race import Race, Timing
from ._worked import BackwardStep, Gradient, Worked, number

if TYPE_CHECKING:
    from rich.console import Console

PARTIAL, UPSTREAM, CONTRIBUTION = "cyan", "magenta", "green"
QUIET, STRONG, GOOD, BAD, NOTICE = "dim", "bold", "bold green", "bold red", "bold yellow"
INDENT = 2


def print_title(page: Console, version: str, core: str) -> None:
    """The first line: what runs here."""
    print_line(page, ("retrograde", STRONG), (f" {version} · {core} core", QUIET))


def print_worked(page: Console, place: int, worked: Worked) -> None:
    """One example: forward, backward, gradients."""
    root = worked["root"]
    _print_heading(page, f"{place}  {root} = {worked['expression']}", worked["point"])
    given = ", ".join(f"{name} = {number(x)}" for name, x in worked["inputs"].items())
    _print_part(page, "Forward", f"with {given}")
    _print_forward(page, worked)
    page.print()
    _print_part(page, "Backward", f"last step first, from {root}.grad = {number(worked['seed'])}")
    _print_backward(page, worked["backward"])
    page.print()
    _print_part(page, "Gradients", f"beside finite differences with h = {worked['step']:g}")
    print_rows(page, [_gradient_row(root, it) for it in worked["gradients"]], "lrll", 2 * INDENT)


def _print_forward(page: Console, worked: Worked) -> None:
    rows = [
        (
            (f"{step['value']} = {step['formula']}", STRONG),
            (f" = {step['numbers']}", QUIET),
            (f" = {number(step['data'])}", ""),
        )
        for step in worked["forward"]
    ]
    print_rows(page, rows, "lll", 2 * INDENT)


_HEADER: Row = (
    ("", ""), ("", ""), ("partial", PARTIAL), ("×", QUIET), ("upstream", UPSTREAM), ("=", QUIET),
    ("contribution", CONTRIBUTION), (" before", QUIET), ("→", QUIET), ("after", UPSTREAM),
)  # fmt: skip


def _print_backward(page: Console, steps: Sequence[BackwardStep]) -> None:
    rows = [row for step in steps for row in _contribution_rows(step)]
    sides = "llrcrcrrcl"
    widths = widths_of([_HEADER, *rows])
    if sum(widths) + len(widths) + 2 * INDENT <= page.width + 1:
        print_row(page, _HEADER, widths, sides, 2 * INDENT)
    else:
        widths = widths_of(rows)  # a narrow terminal: the numbers without their titles
    for step in steps:
        for row in _contribution_rows(step):
            print_row(page, row, widths, sides, 2 * INDENT)
        print_line(page, (step["words"], f"{QUIET} italic"), indent=3 * INDENT)
        _print_notice(page, step)


def _contribution_rows(step: BackwardStep) -> list[Row]:
    """One row a contribution; the first says what the step is."""
    titles = [f"{step['value']} = {step['formula']}"] + [""] * len(step["contributions"])
    return [
        (
            (title, STRONG),
            (f" {it['into']}.grad +=", ""),
            (number(it["partial"]), PARTIAL),
            ("×", QUIET),
            (number(it["upstream"]), UPSTREAM),
            ("=", QUIET),
            (number(it["contribution"]), CONTRIBUTION),
            (f" {number(it['before'])}", NOTICE if it["adds_up"] else QUIET),
            ("→", QUIET),
            (number(it["after"]), NOTICE if it["adds_up"] else UPSTREAM),
        )
        for title, it in zip(titles, step["contributions"])
    ]


def _print_notice(page: Console, step: BackwardStep) -> None:
    met = [f"{it['into']}.grad" for it in step["contributions"] if it["adds_up"]]
    if met:
        text = f"{' and '.join(met)} already held a gradient: this is why it is += and not ="
        print_line(page, (text, NOTICE), indent=3 * INDENT)


def _gradient_row(root: str, it: Gradient) -> Row:
    apart = f"apart by {it['difference']:.0e}" if it["difference"] else "equal"
    return (
        (f"d{root}/d{it['leaf']} = {number(it['gradient'])}", GOOD),
        (f"  {it['finite_difference']:.10f}", ""),
        (f" {apart}", QUIET),
        ("✓", GOOD) if it["agrees"] else ("✗ wrong", BAD),
    )


def print_race(page: Console, place: int, race: Race, core: str) -> None:
    """The timing, with bars as long as the times."""
    network = "-".join(map(str, race["widths"]))
    _print_heading(page, f"{place}  Speed", "measured here and now")
    _print_part(
        page,
        f"A {network} network on {race['points']} points",
        f"{race['operations']:,} operations; milliseconds",
    )
    titles: Row = (
        ("", ""),
        *((f"  {title}", QUIET) for title in ("forward", "backward", "whole pass")),
    )
    rows: list[Row] = [titles, *(_timing_row(it) for it in race["engines"])]
    widths = widths_of(rows)
    print_row(page, titles, widths, "lrrr", 2 * INDENT)
    room = max(1, page.width - sum(widths) - len(widths) - 2 * INDENT - 2)
    longest = max(it["whole_ms"] for it in race["engines"])
    for it, row in zip(race["engines"], rows[1:]):
        bar = "█" * round(room * it["whole_ms"] / longest) or "▏"
        style = GOOD if it["engine"] == "retrograde" else QUIET
        print_row(page, (*row, (f" {bar}", style)), [*widths, len(bar)], "lrrrl", 2 * INDENT)
    page.print()
    _print_verdict(page, race, core)


def _timing_row(it: Timing) -> Row:
    style = STRONG if it["engine"] == "retrograde" else ""
    times = (it["forward_ms"], it["backward_ms"], it["whole_ms"])
    return ((it["engine"], style), *((f"{ms:.1f}", style) for ms in times))


def _print_verdict(page: Console, race: Race, core: str) -> None:
    apart = race["largest_difference"]
    how_close = f"to within {apart:.0e}" if apart else "to the last bit"
    same = f", and the same {race['parameters']} gradients {how_close}"
    if core == "native":
        parts: Row = ((f"{race['times_faster']:.0f} times faster", GOOD), (f"{same}.", ""))
    else:
        parts = (
            (f"{race['times_faster']:.2g} times the speed of plain Python", NOTICE),
            (f"{same}. This is the reference core, made to be read: ", ""),
            ("retrograde info", STRONG),
            (" says why it runs here.", ""),
        )
    print_line(page, *parts, indent=INDENT)


def _print_heading(page: Console, title: str, point: str) -> None:
    """A rule with a title on it, and its point beside it where there is room."""
    page.print()
    beside = f" · {point}" if len(title) + len(point) + 10 <= page.width else ""
    rule = "─" * max(0, page.width - len(title) - len(beside) - 4)
    print_line(page, ("── ", QUIET), (title, STRONG), (f"{beside} {rule}", QUIET))
    if not beside:
        print_line(page, (point, QUIET), indent=INDENT)


def _print_part(page: Console, title: str, note: str) -> None:
    print_line(page, (title, STRONG), (f"  {note}", QUIET), indent=INDENT)
