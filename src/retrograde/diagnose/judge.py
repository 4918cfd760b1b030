"""From a history to a report: the groups as they are now, and every verdict of ``docs/doctor.md``.

The verdicts come from three rooms: on passes, on zeros and units, on steps. A rule reads sums and
thresholds and says sentences; nothing here looks at a graph.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import isfinite
from typing import Any

from .._shared.numerics import np
from .births import Births
from .folding import folded_under_causes
from .history import History, scaled_norm
from .judge_arrays import of_arrays
from .judge_passes import births, exploding, overwrites, vanishing
from .judge_steps import of_steps, overshot
from .judge_zeros import twins, units, zeros
from .report import Group, Report, Verdict


def report_of(history: History) -> Report:
    """The report on what a history holds."""
    members = members_of(history)
    groups = _groups(history, members)
    return Report(
        passes=history.passes,
        nodes=history.nodes,
        edges=history.edges,
        loss=history.loss,
        groups=groups,
        profile=history.profile,
        verdicts=folded_under_causes(
            replace(each, cure=_in_its_words(each.cure, history))
            for each in _verdicts(history, members, groups)
        ),
        births=history.births or Births(),
        history=tuple(history.moments),
        thresholds=history.thresholds,
    )


def _in_its_words(cure: str, history: History) -> str:
    """A cure in the words of the engine that was watched."""
    cure = cure.replace(History.clipping, history.clipping)
    return cure.replace(History.by_hand, history.by_hand)


def _verdicts(
    history: History, members: dict[str, Any], groups: tuple[Group, ...]
) -> list[Verdict]:
    found = [*births(history), *overwrites(history), *of_steps(history, members)]
    found += [*of_arrays(history, members, groups), *exploding(history, groups)]
    if not history.not_finite.began[0]:
        found += vanishing(history, groups, members)
    found += [*zeros(history, members), *units(history, members), *twins(history, members)]
    return [*history.findings, *_once(found), *overshot(history, found)]


def _once(found: list[Verdict]) -> list[Verdict]:
    """Two rules may find that steps are too long, by what they measure; it is said once."""
    rates = [verdict for verdict in found if verdict.kind == "learning rate"]
    return [verdict for verdict in found if verdict not in rates[1:]]


def members_of(history: History) -> dict[str, Any]:
    """The parameters of each group by number.

    Groups without a name are split by depth; those in which two parameters have one name, by the
    models that passes have shown.
    """
    parameters = history.parameters
    members: dict[str, Any] = {}
    for number, name in enumerate(parameters.group_names):
        inside = np.flatnonzero(parameters.group_of == number)
        if number in parameters.anonymous:
            members.update(_by_depth(history, name, inside))
        else:
            members.update(_by_model(history, name, inside))
    return members


def _by_depth(history: History, name: str, inside: Any) -> dict[str, Any]:
    depths = history.depths[inside]
    levels = np.unique(depths[depths >= 0])
    if len(levels) < 2:
        return {name: inside}
    parts = {f"{name}, depth {depth}": inside[depths == depth] for depth in levels}
    if (depths < 0).any():
        parts[f"{name}, not reached"] = inside[depths < 0]
    return parts


def _by_model(history: History, name: str, inside: Any) -> dict[str, Any]:
    models = np.unique(history.component[inside[history.reached[inside]]])
    if len(models) < 2:
        return {name: inside}
    names = Counter(history.parameters.names[number] for number in inside.tolist())
    if max(names.values()) < 2:
        return {name: inside}
    mine = history.component[inside]
    unknown = ~np.isin(mine, models)  # not reached yet: with the first
    parts = {f"{name}, model 1": inside[(mine == models[0]) | unknown]}
    for place, model in enumerate(models[1:].tolist(), start=2):
        parts[f"{name}, model {place}"] = inside[mine == model]
    return parts


def _groups(history: History, members: dict[str, Any]) -> tuple[Group, ...]:
    weights, limits = history.weights(), history.thresholds
    sizes, quiet = history.sizes(), history.quiet()
    counts = history.parameters.counts()
    reached = history.reached & ~(quiet & history.missing)
    norms = {name: scaled_norm(sizes[numbers]) for name, numbers in members.items()}
    largest = max((norm for norm in norms.values() if isfinite(norm)), default=0.0) or 1.0
    total = sum((norm / largest) ** 2 for norm in norms.values() if isfinite(norm)) or 1.0
    groups = []
    for name, numbers in members.items():
        norm, weight = norms[name], scaled_norm(weights[numbers])
        mine = history.units_of(numbers)
        shut = [unit for unit in mine if unit.is_shut(limits.rows, limits.patience)]
        groups.append(
            Group(
                name=name,
                parameters=int(counts[numbers].sum()),
                reached=int(counts[numbers[reached[numbers]]].sum()),
                zeros=int(counts[numbers[(reached & quiet)[numbers]]].sum()),
                norm=norm,
                share=(norm / largest) ** 2 / total if isfinite(norm) else float("nan"),
                weight=weight,
                ratio=norm / weight if weight else (0.0 if isfinite(norm) else norm),
                depth=int(history.depths[numbers].max(initial=-1)),
                units=len(mine),
                dead=sum(not unit.saturates for unit in shut),
                saturated=sum(unit.saturates for unit in shut),
            )
        )
    return tuple(groups)
