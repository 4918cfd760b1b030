"""The doctor's report as text, 80 columns wide. Nothing is computed here but the layout."""

from __future__ import annotations

import textwrap
from math import isfinite, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import Group, Report, Verdict

WIDTH = 80
MOST_GROUPS = 24
MOST_NOTES = 12
BARS = 24


def as_text(report: Report) -> str:
    """The whole report."""
    lines = [headline(report), ""]
    lines += _verdicts("what is wrong", report.alarms, "✗")
    lines += _verdicts("worth knowing", report.notes, "·")
    lines += group_table(report)
    lines += profile_lines(report)
    if report.births:
        lines += ["", *str(report.births).splitlines()]
    return "\n".join(lines).rstrip()


def headline(report: Report) -> str:
    """One line: healthy or not, and what was seen."""
    count = len(report.alarms)
    state = "healthy" if report.healthy else f"{count} alarm{'s' if count != 1 else ''}"
    parameters = sum(group.parameters for group in report.groups)
    passes = f"{report.passes:,} pass{'es' if report.passes != 1 else ''}"
    groups = f"{len(report.groups)} group{'s' if len(report.groups) != 1 else ''}"
    return (
        f"{state}: {parameters:,} parameters in {groups}, {passes}, "
        f"{report.nodes:,} values, loss {number(report.loss)}"
    )


def _verdicts(title: str, verdicts: tuple[Verdict, ...], sign: str) -> list[str]:
    if not verdicts:
        return []
    lines = [title]
    for verdict in verdicts[:MOST_NOTES]:
        lines += textwrap.wrap(
            verdict.sentence, WIDTH, initial_indent=f"  {sign} ", subsequent_indent="    "
        )
        if verdict.site:
            lines.append(f"    at {verdict.site}")
    if len(verdicts) > MOST_NOTES:
        lines.append(f"    … and {len(verdicts) - MOST_NOTES} more")
    return [*lines, ""]


def shown_groups(report: Report) -> list[Group]:
    """The groups a table shows, the deepest last; the first ones where there are many."""
    ordered = sorted(report.groups, key=lambda group: (group.depth < 0, group.depth))
    return ordered[:MOST_GROUPS]


def group_table(report: Report) -> list[str]:
    """One line a group."""
    groups = shown_groups(report)
    widest = min(max((len(group.name) for group in groups), default=5), 26)
    head = f"{'group':<{widest}} {'size':>6} {'gradient':>9} {'share':>6} {'ratio':>9} {'depth':>5}"
    lines = [f"{head}  units"]
    for group in groups:
        name = group.name if len(group.name) <= widest else group.name[: widest - 1] + "…"
        depth = str(group.depth) if group.depth >= 0 else "–"
        lines.append(
            f"{name:<{widest}} {group.parameters:>6,} {number(group.norm):>9} "
            f"{percent(group.share):>6} {number(group.ratio):>9} {depth:>5}  {units_of(group)}"
        )
    if len(report.groups) > len(groups):
        lines.append(f"… and {len(report.groups) - len(groups)} more groups")
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
