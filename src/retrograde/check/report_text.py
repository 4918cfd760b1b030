"""Reports as text: a table of inputs, and the sentences around it. Only reads the data."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from .._text.paragraphs import table, wrapped
from .verdicts import (
    BAD,
    KINKED,
    NOISE,
    NOT_FINITE,
    RIGHT,
    WRONG,
    Entry,
    Fault,
    Report,
    worst_first,
)

if TYPE_CHECKING:
    from .compare import Comparison

MOST_ROWS = 24
SIGNS = {RIGHT: "✓", WRONG: "✗", NOISE: "~", KINKED: "^", NOT_FINITE: "✗"}


def number(x: float) -> str:
    """A number for a column."""
    return f"{x:.10g}" if isfinite(x) else str(x)


def folded(text: str, indent: str = "") -> list[str]:
    """Sentences in lines of 80 columns; lines of their own (places) are left alone."""
    lines: list[str] = []
    for part in text.split("\n"):
        if part.startswith(" "):
            lines.append(indent + part)
        else:
            lines += wrapped(part, first=indent, more=indent + "  " * bool(indent))
    return lines


def share(x: float) -> str:
    """How far off, in per cent."""
    if not isfinite(x):
        return "far off"
    return f"off by {100 * x:.3g} %"


def against_of(entry: Entry) -> str:
    """What an entry was held against: the difference, or the slopes on both sides."""
    if entry.verdict == KINKED or (entry.left is not None and entry.right is not None):
        return f"{number(entry.left or 0.0)} | {number(entry.right or 0.0)}"
    return number(entry.difference)


def named(entry: Entry) -> str:
    """The place of an entry; in second order with what was differentiated."""
    return f"{entry.of} along {entry.place}" if entry.of else entry.place


def gradcheck_rows(entries: Sequence[Entry]) -> list[list[str]]:
    """The table of a gradcheck, titles first."""
    rows = [["", "input", "at", "gradient", "differences", "± error", "verdict"]]
    for entry in entries:
        rows.append(
            [
                SIGNS[entry.verdict],
                named(entry),
                number(entry.at),
                number(entry.gradient),
                against_of(entry),
                f"{entry.error:.0e}" if entry.error else "exact",
                _verdict(entry),
            ]
        )
    return rows


def _verdict(entry: Entry) -> str:
    if entry.verdict == WRONG:
        return f"{WRONG}, {share(entry.off)}"
    return entry.verdict


def fault_text(fault: Fault) -> str:
    """One faulty step: what it gives, what it should give, and its line."""
    name = f"'{fault.label}' = {fault.op}(…)" if fault.label else f"{fault.op}(…)"
    text = f"{name}: {fault.cause}"
    if fault.expected is not None:
        text += (
            f"; d/dinput[{fault.input}] is given as {number(fault.given)}, "
            f"it is {number(fault.expected)}"
        )
    if fault.site:
        text += f"\n    at {fault.site}"
    if fault.rule:
        text += f"\n    its rule: {fault.rule}"
    return text


def coverage_text(report: Report) -> str:
    """What was looked at, in a sentence."""
    seen = report.coverage
    parts = []
    if seen.directions:
        parts.append(f"{seen.directions} random directions through all {seen.inputs:,} inputs")
    parts.append(f"{seen.one_by_one:,} of {seen.inputs:,} inputs one by one")
    if seen.steps:
        parts.append(f"{seen.steps_checked:,} of {seen.steps:,} steps by themselves")
    text = f"Covered: {', '.join(parts)}; {seen.evaluations:,} evaluations."
    if seen.complex_step == "applies":
        return f"{text} A complex step applies."
    return f"{text} No complex step: {seen.complex_step}."


def gradcheck_text(report: Report) -> str:
    """A gradcheck as text."""
    lines = [f"gradcheck of {report.function} = {number(report.value)}: {report.verdict}", ""]
    entries = worst_first(report.entries)
    lines += table(gradcheck_rows(entries[:MOST_ROWS]), "llrrrrl")
    if len(entries) > MOST_ROWS:
        lines.append(f"… and {len(entries) - MOST_ROWS} more")
    lines += ["", *notes(entries[:MOST_ROWS])] if notes(entries[:MOST_ROWS]) else []
    if not report.right:
        lines += ["", "Likely:"]
        lines += [line for text in likely(report) for line in folded(text, "  ")]
    lines.append("")
    for text in (coverage_text(report), *report.notes):
        lines += folded(text)
    return "\n".join(lines)


def notes(entries: Sequence[Entry]) -> list[str]:
    """A line a note, with the inputs it is about."""
    by_note: dict[str, list[str]] = {}
    for entry in entries:
        if entry.note:
            by_note.setdefault(entry.note, []).append(named(entry))
    found = []
    for note, places in by_note.items():
        more = f" and {len(places) - 3} more" if len(places) > 3 else ""
        found += folded(f"{', '.join(places[:3])}{more}: {note}")
    return found


def likely(report: Report) -> list[str]:
    """What is likely wrong: the faulty steps, else what the entries have in common."""
    if report.faults:
        distinct = list(dict.fromkeys(fault_text(fault) for fault in report.faults))
        more = [f"… and {len(distinct) - 3} more steps"] if len(distinct) > 3 else []
        return distinct[:3] + more
    return report.causes[:5]


def gradcheck_error(report: Report) -> str:
    """The message of a failed gradcheck: the worst entry, the place, the likely cause."""
    wrong = [entry for entry in report.entries if entry.verdict in BAD]
    lines = []
    if wrong and report.worst is not None:
        worst = report.worst
        lines.append(
            f"gradcheck: the gradient of {report.function} at {named(worst)} = {number(worst.at)} "
            f"is {number(worst.gradient)}, but {worst.how} give {against_of(worst)} "
            f"(± {worst.error:.0e}): {share(worst.off)}."
        )
        if worst.note:
            lines.append(f"  {worst.note}")
    else:
        lines.append(
            f"gradcheck: the gradient of {report.function} passes at this point only because the "
            "fault below hardly counts here."
        )
    lines += [f"  likely: {text}" for text in likely(report)]
    good = len(report.entries) - len(wrong)
    lines.append(f"  {len(wrong)} of {len(report.entries)} entries are wrong, {good} are not.")
    return "\n".join(lines)


_NAMES = {"torch": "PyTorch", "jax": "JAX"}
COMPARE_SIGNS = {"agrees": "✓", "differs": "✗", "convention": "="}


def compare_rows(found: Comparison) -> list[list[str]]:
    """The table of a comparison, titles first."""
    rows = [["", "input", "at", "retrograde", _NAMES.get(found.against, found.against), "ulps"]]
    for row in found.rows:
        apart = "-" if row.ulps is None else f"{row.ulps:.3g}"
        word = "" if row.verdict == "agrees" else row.verdict
        rows.append(
            [
                COMPARE_SIGNS[row.verdict],
                row.place,
                number(row.at),
                f"{row.ours!r}",
                f"{row.theirs!r}",
                f"{apart} {word}".strip(),
            ]
        )
    return rows


def compare_text(found: Comparison) -> str:
    """A comparison as text."""
    name = _NAMES.get(found.against, found.against)
    with_version = f"{name} {found.version}".strip()
    word = "agree" if found.agrees else "differ"
    lines = [f"compare of {found.function} with {with_version}: they {word}", ""]
    rows = compare_rows(found)
    order = sorted(range(1, len(rows)), key=lambda i: found.rows[i - 1].verdict == "agrees")
    lines += table([rows[0], *(rows[i] for i in order[:MOST_ROWS])], "llrrrl")
    if len(rows) - 1 > MOST_ROWS:
        lines.append(f"… and {len(rows) - 1 - MOST_ROWS} more")
    if not found.values_agree:
        lines += ["", f"The values differ too: {found.ours!r} and {found.theirs!r}."]
    if found.conventions:
        lines += ["", "By convention:"]
        lines += [line for text in found.conventions for line in folded(text, "  ")]
    return "\n".join(lines)
