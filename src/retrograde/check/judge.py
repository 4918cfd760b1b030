"""From a record to verdicts: every rule of ``docs/doctor.md``, one function each.

A rule reads sums and thresholds and says sentences; nothing here looks at a graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import isfinite
from typing import Any

import numpy as np

from .births import Births
from .births_text import counted
from .record import Cut, Record, Unit, scaled_norm
from .report import ALARM, NOTE, Group, Report, Verdict
from .zeros import (
    CANCELLED,
    DEAD_GATE,
    DETACHED,
    FROZEN,
    UNDERFLOW,
    UNREACHABLE,
    ZERO_FACTOR,
    Zero,
)


def report_of(record: Record) -> Report:
    """The report on what a record holds."""
    members = _members(record)
    groups = _groups(record, members)
    return Report(
        passes=record.passes,
        nodes=record.nodes,
        edges=record.edges,
        loss=record.loss,
        groups=groups,
        profile=record.profile,
        verdicts=tuple(_verdicts(record, members, groups)),
        births=record.births or Births(),
        history=tuple(record.history),
        thresholds=record.thresholds,
    )


def _verdicts(
    record: Record, members: dict[str, Any], groups: tuple[Group, ...]
) -> Iterator[Verdict]:
    found: list[Verdict] = [
        *_births(record),
        *_overwrites(record),
        *_stale(record, members),
        *_never_reached(record, members),
    ]
    if not (record.births or Births()).gradients:
        found += [*_vanishing(record, groups, members), *_exploding(record, groups)]
    zeros = list(_zeros(record, members))
    found += [*zeros, *_units(record, members)]
    yield from sorted(found, key=lambda verdict: verdict.severity != ALARM)


# ---- groups -----------------------------------------------------------------------------------


def _members(record: Record) -> dict[str, Any]:
    """The parameters of each group by number; groups without a name are split by depth."""
    parameters = record.parameters
    members: dict[str, Any] = {}
    for number, name in enumerate(parameters.group_names):
        inside = np.flatnonzero(parameters.group_of == number)
        depths = record.depths[inside]
        levels: Any = np.unique(depths[depths >= 0]) if number in parameters.anonymous else []
        if len(levels) < 2:
            members[name] = inside
            continue
        for depth in levels:
            members[f"{name}, depth {depth}"] = inside[depths == depth]
        if (depths < 0).any():
            members[f"{name}, not reached"] = inside[depths < 0]
    return members


def _groups(record: Record, members: dict[str, Any]) -> tuple[Group, ...]:
    weights = record.weights()
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.sqrt(record.squares / record.passes)
    usual = (sizes > 0.0) & np.isfinite(sizes)  # squares may underflow, and overflow
    sizes = np.where(usual, sizes, record.largest)
    silent = record.reached & (record.largest == 0.0)
    norms = {name: scaled_norm(sizes[numbers]) for name, numbers in members.items()}
    largest = max((norm for norm in norms.values() if isfinite(norm)), default=0.0) or 1.0
    total = sum((norm / largest) ** 2 for norm in norms.values() if isfinite(norm)) or 1.0
    groups = []
    for name, numbers in members.items():
        norm, weight = norms[name], scaled_norm(weights[numbers])
        units = [record.units[n] for n in numbers.tolist() if n in record.units]
        shut = [unit for unit in units if unit.shut == unit.rows]
        groups.append(
            Group(
                name=name,
                parameters=len(numbers),
                reached=int(np.count_nonzero(record.reached[numbers])),
                zeros=int(np.count_nonzero(silent[numbers])),
                norm=norm,
                share=(norm / largest) ** 2 / total if isfinite(norm) else float("nan"),
                weight=weight,
                ratio=norm / weight if weight else (0.0 if isfinite(norm) else norm),
                depth=int(record.depths[numbers].max(initial=-1)),
                units=len(units),
                dead=sum(not unit.saturates for unit in shut),
                saturated=sum(unit.saturates for unit in shut),
            )
        )
    return tuple(groups)


# ---- births, rules, time ----------------------------------------------------------------------


def _births(record: Record) -> Iterator[Verdict]:
    found = record.births
    if not found:
        return
    harmless = found.roots_are_finite and not found.gradients
    seen = f" (pass {record.birth_pass})" if record.passes > 1 else ""
    for phase, born in (("forward", found.forward), ("backward", found.backward)):
        if not born:
            continue
        first = born[0]
        where = f" on line {first.site.line}" if first.site else ""
        if phase == "forward":
            what = f"{first.op} made {first.result!r}{where}"
            after = "; it does not reach the result" if harmless else ""
        else:
            what = (
                f"{first.op}{where} made the gradient of {first.target} {first.result!r}: partial "
                f"{first.partial!r} × upstream {first.upstream!r}"
            )
            after = f" ({first.cause})"
        yield Verdict(
            f"birth {phase}", NOTE if harmless else ALARM, "",
            f"Birth in the {phase} pass{seen}: {what}{after}.", first.site,
        )  # fmt: skip


def _overwrites(record: Record) -> Iterator[Verdict]:
    for each in record.overwrites:
        yield Verdict(
            "overwrites", ALARM, "",
            f"The _backward of '{each.op}' writes the gradient of {each.what} with = where += is "
            "needed: contributions that arrived before are lost.", each.site,
        )  # fmt: skip


def _stale(record: Record, members: dict[str, Any]) -> Iterator[Verdict]:
    if not record.stale_passes:
        return
    sick = record.stale_passes >= record.thresholds.persistence * record.steps
    concerned = [name for name, numbers in members.items() if record.stale[numbers].any()]
    yield Verdict(
        "stale", ALARM if sick else NOTE, ", ".join(concerned[:4]),
        f"Stale gradients: in {record.stale_passes} of {counted(record.steps, 'step')} the "
        "backward pass was added to gradients nobody had reset since the step before "
        f"({_listed(concerned)}). Call zero_grad before backward.",
        record.stale_site, int((record.stale > 0).sum()),
    )  # fmt: skip


def _never_reached(record: Record, members: dict[str, Any]) -> Iterator[Verdict]:
    for name, numbers in members.items():
        lost = record.updated[numbers] & ~record.reached[numbers]
        if lost.any():
            sick = lost.mean() >= record.thresholds.updated
            yield Verdict(
                "never reached", ALARM if sick else NOTE, name,
                f"{_some(lost, name)} updated, but no backward pass ever reached "
                f"{_them(lost)}: what was subtracted is not a gradient of this loss.",
                None, int(lost.sum()),
            )  # fmt: skip


# ---- along depth ------------------------------------------------------------------------------


def _vanishing(
    record: Record, groups: tuple[Group, ...], members: dict[str, Any]
) -> Iterator[Verdict]:
    limits = record.thresholds
    worst, times = record.falls
    if times and times >= limits.persistence * record.passes:
        deepest = max(groups, key=lambda group: group.depth)
        yield Verdict(
            "vanishing", ALARM, deepest.name,
            f"Vanishing: {deepest.depth} products and functions below the loss, at "
            f"'{deepest.name}', gradients are {worst:.1e} of what they are nearer to it (threshold "
            f"{limits.vanishing:g}{_times(record, int(times))}).",
        )  # fmt: skip
        return
    live = [g for g in groups if g.norm > 0.0 and isfinite(g.norm)]
    strongest = max(live, key=_size, default=None)
    effect = max((_size(g) * g.weight for g in live), default=0.0)
    for group in live:
        assert strongest is not None
        ratio = _size(group) / _size(strongest)
        faint = ratio < limits.faint and _size(group) * group.weight < limits.faint * effect
        if faint and group.depth > strongest.depth and not _cancels(record, members[group.name]):
            yield Verdict(
                "vanishing", ALARM, group.name,
                f"Vanishing: gradients of '{group.name}' are {ratio:.1e} of those of "
                f"'{strongest.name}' (threshold {limits.faint:g}).",
            )  # fmt: skip
    lost = [
        n for n, (_, z) in record.zeros.items() if z.kind == UNDERFLOW and not record.largest[n]
    ]
    if lost:
        name = record.parameters.names[lost[0]] or "parameters"
        yield Verdict(
            "vanishing", ALARM, name,
            f"Vanishing: gradients of {_parameters(name, len(lost))} are smaller than the smallest "
            "number and have become exactly 0.", None, len(lost),
        )  # fmt: skip


def _size(group: Group) -> float:
    """The root mean square of a group's gradients."""
    return group.norm / float(group.parameters**0.5)


def _cancels(record: Record, numbers: Any) -> bool:
    """Rounding noise where contributions cancel is not a vanishing gradient."""
    live = numbers[record.largest[numbers] > 0.0]
    return record.noise is not None and bool(record.noise[live].all())


def _exploding(record: Record, groups: tuple[Group, ...]) -> Iterator[Verdict]:
    limits = record.thresholds
    worst, times = record.rises
    if times and times >= limits.persistence * record.passes:
        yield Verdict(
            "exploding", ALARM, max(groups, key=lambda group: group.depth).name,
            f"Exploding: gradients grow {worst:.1e}-fold on the way down from the loss (threshold "
            f"{limits.exploding:g}{_times(record, int(times))}).",
        )  # fmt: skip
        return
    scale = max(abs(record.loss), 1.0) if isfinite(record.loss) else 1.0
    for group in groups:
        if isfinite(group.norm) and group.norm * group.weight > limits.steep * scale:
            yield Verdict(
                "exploding", ALARM, group.name,
                f"Exploding: gradient × weight of '{group.name}' is "
                f"{group.norm * group.weight:.1e}, for a loss of {record.loss:.3g} (threshold "
                f"{limits.steep:g} × the loss, or × 1 where that is more).",
            )  # fmt: skip


def _times(record: Record, times: int) -> str:
    return f"; in {times} of {record.passes} passes" if record.passes > 1 else ""


# ---- zeros ------------------------------------------------------------------------------------


def _zeros(record: Record, members: dict[str, Any]) -> Iterator[Verdict]:
    for name, numbers in members.items():
        silent = numbers[(record.largest[numbers] == 0.0)]
        if not len(silent):
            continue
        whole = len(silent) == len(numbers)
        kinds: dict[str, list[tuple[int, Any]]] = {}
        for number in silent.tolist():
            zero = _why(record, number)
            kinds.setdefault(zero.kind, []).append((number, zero))
        if DETACHED in kinds and UNREACHABLE in kinds:  # not every cut of a line is looked under
            kinds[DETACHED] += kinds.pop(UNREACHABLE)
        for kind, found in kinds.items():
            if kind == UNDERFLOW:
                continue  # said as vanishing
            yield _zero_verdict(record, name, kind, found, len(numbers), whole)


def _why(record: Record, number: int) -> Any:
    if not record.parameters.values[number].requires_grad:
        return Zero(FROZEN)
    if not record.reached[number]:
        cut: Cut | None = record.cuts.get(number)
        if cut is None:
            return Zero(UNREACHABLE)
        return Zero(DETACHED, cut.how, "", cut.site)
    known = record.zeros.get(number)
    return known[1] if known else Zero(CANCELLED)


def _zero_verdict(
    record: Record, name: str, kind: str, found: list[tuple[int, Any]], size: int, whole: bool
) -> Verdict:
    count = len(found)
    example: Zero = _common([zero for _, zero in found if zero.kind == kind])
    who = f"'{name}'" if count == size else f"{count} of {size} parameters of '{name}'"
    line = f" on line {example.site.line}" if example.site else ""
    most = count * 2 > size  # a group is of the kind that most of it is
    alarm = whole and most
    if kind == UNREACHABLE:
        sentence = f"{who}: unreachable, no path from the loss leads there."
        if record.passes and not record.cuts:
            sentence += " It is not used, or was cut off by .data, detach() or no_grad()."
    elif kind == DETACHED:
        sentence = f"{who}: detached, {example.words}{line} cuts it off from the loss."
    elif kind == FROZEN:
        alarm = False
        sentence = f"{who}: frozen, requires_grad is False."
    elif kind == CANCELLED:
        alarm = False
        sentence = f"{who}: contributions arrive and add up to exactly zero."
    elif kind == ZERO_FACTOR:
        learning = [zero.learning for _, zero in found if zero.learning >= 0]
        resolves = learning and all(record.largest[n] > 0.0 for n in learning)
        alarm = alarm and not resolves and not example.minimum
        sentence = f"{who}: multiplied by an exact zero: {example.words}."
        if resolves:
            sentence += " That zero is a parameter which learns, so this ends with the next step."
        elif example.minimum:
            sentence += " The loss may simply be at its minimum."
    else:
        alarm = alarm and (kind != DEAD_GATE or _uses(record, found) >= record.thresholds.rows)
        word = {"dead gate": "a dead gate", "flat": "a flat op"}.get(kind, "a saturated gate")
        sentence = f"{who}: zero gradient behind {word}: {example.words}."
    return Verdict(kind, ALARM if alarm else NOTE, name, sentence, example.site, count)


def _uses(record: Record, found: list[tuple[int, Zero]]) -> int:
    """The most uses that brought one of them nothing: rows, or steps of a recurrence."""
    return max(int(record.zero_uses[number]) for number, _ in found)


def _common(zeros: list[Zero]) -> Zero:
    """The most frequent reason."""
    return Counter(zeros).most_common(1)[0][0]


# ---- units ------------------------------------------------------------------------------------


def _units(record: Record, members: dict[str, Any]) -> Iterator[Verdict]:
    limits = record.thresholds
    for name, numbers in members.items():
        units = [record.units[n] for n in numbers.tolist() if n in record.units]
        for saturates in (False, True):
            kind = [unit for unit in units if unit.saturates == saturates]
            shut = [unit for unit in kind if unit.shut == unit.rows]
            if shut:
                enough = max(unit.rows for unit in shut) >= limits.rows
                sick = enough and len(shut) >= limits.shut_units * len(kind)
                yield _unit_verdict(record, name, shut, len(kind), sick)


def _unit_verdict(record: Record, name: str, shut: list[Unit], count: int, sick: bool) -> Verdict:
    unit = shut[0]
    rows = max(each.rows for each in shut)
    line = f" on line {unit.site.line}" if unit.site else ""
    threshold = f"threshold {record.thresholds.shut_units:g} of the units"
    verb, their = ("is", "its") if len(shut) == 1 else ("are", "their")
    who = f"{len(shut)} of {counted(count, 'unit')} of '{name}' {verb}"
    if unit.saturates:
        return Verdict(
            "saturated units", ALARM if sick else NOTE, name,
            f"{who} saturated: the slope of {their} {unit.op}{line} is at most "
            f"{record.thresholds.saturated:g} of its steepest in {_all_rows(rows)} ({threshold}).",
            unit.site, len(shut),
        )  # fmt: skip
    return Verdict(
        "dead units", ALARM if sick else NOTE, name,
        f"{who} dead: {their} {unit.op}{line} is off in {_all_rows(rows)} ({threshold}).",
        unit.site, len(shut),
    )  # fmt: skip


# ---- words ------------------------------------------------------------------------------------


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:4])
    return shown + (f" and {counted(len(names) - 4, 'more group')}" if len(names) > 4 else "")


def _parameters(name: str, count: int) -> str:
    return f"'{name}'" if count == 1 else f"{count:,} parameters ('{name}', …)"


def _all_rows(rows: int) -> str:
    return "the only row" if rows == 1 else f"all {rows:,} rows"


def _some(mask: Any, name: str) -> str:
    if mask.all():
        return f"'{name}' was"
    return f"{int(mask.sum())} of {len(mask)} parameters of '{name}' were"


def _them(mask: Any) -> str:
    return "it" if mask.all() else "them"
