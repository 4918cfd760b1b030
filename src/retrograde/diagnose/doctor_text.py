"""The doctor's report as text, 80 columns wide. Nothing is computed here but the layout."""

from __future__ import annotations

from math import isfinite, log10
from typing import TYPE_CHECKING

from .._text.lines import shortened
from .._text.paragraphs import WIDTH, counted, wrapped
from .births_text import births_lines
from .phrases import listed

if TYPE_CHECKING:
    from .report import Group, Report, Verdict

MOST_GROUPS = 24
MOST_NOTES = 12
BARS = 24


def as_text(report: Report, width: int = WIDTH) -> str:
    """The whole report; sentences are folded to the width."""
    lines = [headline(report), ""]
    lines += _verdicts("what is wrong", report.alarms, "✗", width)
    lines += _verdicts("worth knowing", report.notes, "·", width)
    lines += group_table(report)
    lines += profile_lines(report)
    if report.births:
        lines += ["", *births_lines(report.births, width)]
    return "\n".join(lines).rstrip()


def headline(report: Report) -> str:
    """One line: healthy or not, and what was seen."""
    state = "healthy" if report.healthy else counted(len(report.alarms), "alarm")
    parameters = counted(sum(group.parameters for group in report.groups), "parameter")
    groups, passes = counted(len(report.groups), "group"), counted(report.passes, "pass")
    values = counted(report.nodes, "value")
    return f"{state}: {parameters} in {groups}, {passes}, {values}, loss {number(report.loss)}"


def _verdicts(title: str, verdicts: tuple[Verdict, ...], sign: str, width: int) -> list[str]:
    if not verdicts:
        return []
    lines = [title]
    for verdict in verdicts[:MOST_NOTES]:
        lines += wrapped(verdict.sentence, width, f"  {sign} ", "    ")
        if verdict.site:
            lines.append(f"    at {verdict.site}")
        if verdict.cure:
            lines += wrapped(verdict.cure, width, "    cure: ", "      ")
        if verdict.consequences:
            lines += wrapped(consequences(verdict), width, "    consequences: ", "      ")
    if len(verdicts) > MOST_NOTES:
        lines.append(f"    … and {len(verdicts) - MOST_NOTES} more")
    return [*lines, ""]


def consequences(verdict: Verdict) -> str:
    """What follows from a verdict, in a few words each: kinds, and where.

    >>> from retrograde.diagnose.report import ALARM, Verdict
    >>> gate = Verdict("dead gate", ALARM, "b", "", groups=("w", "b"))
    >>> consequences(Verdict("dead units", ALARM, "b", "", consequences=(gate,)))
    "dead gate ('w', 'b')"
    """
    parts = []
    for each in verdict.consequences:
        groups = each.groups or ((each.group,) if each.group else ())
        parts.append(f"{each.kind} ({listed(groups)})" if groups else each.kind)
    return ", ".join(dict.fromkeys(parts))


def shown_groups(report: Report) -> list[Group]:
    """The groups a table shows, the deepest last; the first ones where there are many."""
    ordered = sorted(report.groups, key=lambda group: (group.depth < 0, group.depth))
    return ordered[:MOST_GROUPS]


def group_table(report: Report) -> list[str]:
    """One line a group."""
    groups = shown_groups(report)
    widest = min(max(len(name) for name in ("group", *(group.name for group in groups))), 26)
    sizes = [f"{group.parameters:,}" for group in groups]
    wide = max(6, max(map(len, sizes), default=0))
    lines = [
        f"{'group':<{widest}} {'size':>{wide}} {'gradient':>9} {'share':>6} {'ratio':>9} "
        f"{'depth':>5}  units"
    ]
    for group, size in zip(groups, sizes):
        name = shortened(group.name, widest)
        depth = str(group.depth) if group.depth >= 0 else "–"
        lines.append(
            f"{name:<{widest}} {size:>{wide}} {number(group.norm):>9} "
            f"{percent(group.share):>6} {number(group.ratio):>9} {depth:>5}  {units_of(group)}"
        )
    if len(report.groups) > len(groups):
        lines.append(f"… and {counted(len(report.groups) - len(groups), 'more group')}")
    return [line.rstrip() for line in lines]


def units_of(group: Group) -> str:
    """A group's units in a few words."""
    if not group.units:
        return f"{group.zeros} zero" if group.zeros else ""
    parts = [f"{group.units}"]
    if group.dead:
        parts.append(f"{group.dead} dead")
    if group.saturated:
        parts.append(f"{group.saturated} saturated")
    return ", ".join(parts)


def profile_lines(report: Report) -> list[str]:
    """Mean gradients along depth, as bars on a logarithmic scale."""
    levels = levels_of(report)
    if len(levels) < 2:
        return []
    lines = ["", "gradient along depth (mean size, logarithmic)"]
    for depth, mean, share in levels:
        bar = "█" * round(share * BARS) or "▏"
        lines.append(f"  {depth:>6} {number(mean):>9} {bar}")
    return lines


def levels_of(report: Report, most: int = 16) -> list[tuple[int, float, float]]:
    """Depth, mean gradient, and the length of its bar from 0 to 1; at most ``most`` levels."""
    profile = report.profile
    means = [(i * profile.step, mean) for i, mean in enumerate(profile.means)]
    live = [(depth, mean) for depth, mean in means if mean > 0.0 and isfinite(mean)]
    if not live:
        return []
    if len(live) > most:
        live = [live[round(i * (len(live) - 1) / (most - 1))] for i in range(most)]
    high = max(log10(mean) for _, mean in live)
    low = min(min(log10(mean) for _, mean in live), high - 3.0)
    return [(d, m, 0.05 + 0.95 * (log10(m) - low) / (high - low)) for d, m in live]


def number(x: float) -> str:
    """A number in at most nine characters."""
    if x == 0.0:
        return "0"
    if not isfinite(x):
        return repr(x)
    return f"{x:.3g}" if 1e-3 <= abs(x) < 1e5 else f"{x:.1e}"


def percent(share: float) -> str:
    """A share as a percentage."""
    if not isfinite(share):
        return repr(share)
    return f"{100 * share:.0f} %" if share >= 0.005 or share == 0.0 else "<1 %"
