"""Verdicts on zeros: parameters without a gradient and why, units that are shut, and twins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._shared.numerics import np
from .._text.paragraphs import counted
from .cures import cure_of
from .history import History, Past
from .phrases import all_rows, listed, on_line, over, part_of, since
from .report import ALARM, NOTE, Verdict
from .units import Unit
from .zeros import (
    CANCELLED,
    DEAD_GATE,
    DETACHED,
    FROZEN,
    UNDERFLOW,
    UNREACHABLE,
    UNTRAINED,
    ZERO_FACTOR,
    Zero,
)

_SINGULAR = ("It is", "it", "its", "was")
_PLURAL = ("They are", "them", "their", "were")


@dataclass
class Silence:
    """Parameters of one or more groups whose gradients are zero for one reason."""

    kind: str
    alarm: bool
    groups: dict[str, tuple[int, int]] = field(default_factory=dict)  # silent, and all
    found: list[tuple[int, Zero]] = field(default_factory=list)

    @property
    def example(self) -> Zero:
        """The most frequent reason."""
        return Counter(zero for _, zero in self.found if zero.kind == self.kind).most_common(1)[0][
            0
        ]

    def who(self, names: Sequence[str]) -> str:
        """The groups in words, or the parameter where it is one of several; by their names."""
        counts = list(self.groups.values())
        count, size = sum(silent for silent, _ in counts), sum(whole for _, whole in counts)
        return part_of(list(self.groups), count, size, names[self.found[0][0]])

    @property
    def several(self) -> bool:
        """Whether there is more than one of them to speak of."""
        whole = next(iter(self.groups.values()))[1]
        return len(self.groups) > 1 or 1 < len(self.found) < whole


def zeros(history: History, members: dict[str, Any]) -> Iterator[Verdict]:
    """One verdict for each reason, whatever groups it concerns; and the silences that are over."""
    quiet = history.quiet()
    silences: dict[Any, Silence] = {}
    for name, numbers in members.items():
        for part in _parts_of(history, name, numbers, quiet):
            example = part.example
            ends = _resolves(history, part, quiet)
            key = (part.kind, part.alarm, example.site or example.words, ends, example.minimum)
            known = silences.setdefault(key, part)
            if known is not part:
                known.groups |= part.groups
                known.found += part.found
    for part in silences.values():
        yield _verdict(history, part)
    yield from _past(history, members, quiet)


def _parts_of(history: History, name: str, numbers: Any, quiet: Any) -> Iterator[Silence]:
    silent = numbers[quiet[numbers]]
    whole = len(silent) == len(numbers)
    kinds: dict[str, list[tuple[int, Zero]]] = {}
    for number in silent.tolist():
        zero = history.why(number)
        kinds.setdefault(zero.kind, []).append((number, zero))
    if DETACHED in kinds and UNREACHABLE in kinds:  # not every cut of a line is looked under
        kinds[DETACHED] += kinds.pop(UNREACHABLE)
    most = max((len(found) for found in kinds.values()), default=0)
    for kind, found in kinds.items():
        if kind == UNDERFLOW:
            continue  # said as vanishing
        part = Silence(kind, False, {name: (len(found), len(numbers))}, found)
        # a group is of the kind that most of it is
        part.alarm = _is_sick(history, part, whole and len(found) == most)
        late = int(history.silent.began[[n for n, _ in found]].max()) > 1
        if part.alarm or whole or not late or kind in (DETACHED, UNREACHABLE):
            yield part


def _is_sick(history: History, part: Silence, whole: bool) -> bool:
    """Whether a silence is an illness: of a whole group, or cut off by a line of the program."""
    kind, example = part.kind, part.example
    if kind in (FROZEN, UNTRAINED, CANCELLED):
        return False
    if kind == DETACHED:
        return whole or example.words == "detach()"
    if kind == UNREACHABLE or not whole:
        return whole
    if _at_rest(history, part):
        return False
    if kind == ZERO_FACTOR:
        return not _resolves(history, part, history.quiet()) and not example.minimum
    return kind != DEAD_GATE or _is_shut(history, part)


def _at_rest(history: History, part: Silence) -> bool:
    """Whether it ended in a loss of exactly 0: nothing is left to learn."""
    return _ended_in_zero(history, int(history.silent.began[[n for n, _ in part.found]].max()))


def _ended_in_zero(history: History, began: int) -> bool:
    return 1 < int(history.zero_loss.began[0]) <= began


def _resolves(history: History, part: Silence, quiet: Any) -> bool:
    """Whether the zero is itself a parameter that learns."""
    learning = [zero.learning for _, zero in part.found if zero.learning >= 0]
    return bool(learning) and not any(quiet[n] for n in learning)


def _is_shut(history: History, part: Silence) -> bool:
    """Whether a gate is shut for good: over enough rows, or steps of a recurrence, and if it was
    open before, over whole batches or for half of the time."""
    limits = history.thresholds
    numbers = np.array([n for n, _ in part.found])
    uses, passes = int(history.zero_uses[numbers].max()), int(history.silent.times[numbers].min())
    if uses < limits.rows:
        return False
    always = bool((history.silent.times[numbers] == history.silent.total[numbers]).all())
    half = bool((2 * history.silent.times[numbers] >= history.silent.total[numbers]).all())
    return always or half or uses >= limits.rows * passes


def _verdict(history: History, part: Silence) -> Verdict:
    kind, example, who = part.kind, part.example, part.who(history.parameters.names)
    numbers = [number for number, _ in part.found]
    began = int(history.silent.began[numbers].max())
    ago = since(began, history.passes)
    they, them, their, were = _PLURAL if part.several else _SINGULAR
    if kind == UNREACHABLE:
        sentence = f"{who}: unreachable{ago}, no path from the loss leads there."
        if history.rebuilding.replaced:
            sentence += f" Other values have taken {their} place in the graph."
        elif not history.cuts:
            sentence += f" {they} not used, or {were} cut off by .data, detach() or no_grad()."
    elif kind == DETACHED:
        line = on_line(example.site)
        sentence = f"{who}: detached{ago}, {example.words}{line} cuts {them} off from the loss."
    elif kind == FROZEN:
        sentence = f"{who}: frozen, requires_grad is False."
    elif kind == UNTRAINED:
        sentence = f"{who}: not trained, no loss leads there and no optimizer holds {them}."
    elif kind == CANCELLED:
        sentence = f"{who}: contributions arrive and add up to exactly zero."
    elif kind == ZERO_FACTOR:
        sentence = f"{who}: multiplied by an exact zero{ago}: {example.words}."
        if _resolves(history, part, history.quiet()):
            sentence += " That zero is a parameter which learns, so this ends with the next step."
        elif example.minimum:
            sentence += " The loss may simply be at its minimum."
    else:
        word = {"dead gate": "a dead gate", "flat": "a flat op"}.get(kind, "a saturated gate")
        sentence = f"{who}: zero gradient{ago} behind {word}: {example.words}."
    if (
        not part.alarm
        and kind not in (FROZEN, UNTRAINED, UNREACHABLE, DETACHED)
        and _at_rest(history, part)
    ):
        sentence += " The loss is 0: nothing is left to learn."
    return Verdict(
        kind, ALARM if part.alarm else NOTE, nearest(history, part), sentence, example.site,
        len(numbers), cure_of(kind, began) if part.alarm else "", began, 0, tuple(part.groups),
        example.source,
    )  # fmt: skip


def nearest(history: History, part: Silence) -> str:
    """Of the groups, the one nearest to the loss: there the illness sits, the others follow.

    What no pass ever reached has no depth; then it is the last, since layers are listed in order.
    """
    depths: dict[str, int] = {}
    numbers = iter(part.found)
    for name, (count, _) in part.groups.items():
        mine = [next(numbers)[0] for _ in range(count)]
        depths[name] = int(history.depths[mine].max())
    known = {name: depth for name, depth in depths.items() if depth >= 0}
    return min(known, key=lambda name: known[name]) if known else list(depths)[-1]


def _past(history: History, members: dict[str, Any], quiet: Any) -> Iterator[Verdict]:
    """Whole groups that were silent for a while, and are not now."""
    over_: dict[Any, tuple[Past, list[str], int]] = {}
    for name, numbers in members.items():
        spells = [history.past.get(number) for number in numbers.tolist()]
        known = [past for past in spells if past is not None]
        if len(known) < len(spells) or quiet[numbers].all():
            continue
        began, ended = max(p.began for p in known), min(p.ended for p in known)
        zero = Counter(past.zero for past in known).most_common(1)[0][0]
        if ended - began + 1 < history.thresholds.patience or zero.kind in (
            FROZEN,
            UNTRAINED,
            CANCELLED,
        ):
            continue
        key = (zero.kind, began, ended)
        _, names, count = over_.setdefault(key, (Past(began, ended, zero), [], 0))
        names.append(name)
        over_[key] = (Past(began, ended, zero), names, count + len(numbers))
    for past, names, count in over_.values():
        why = past.zero.words if past.zero.kind != DETACHED else (
            f"{past.zero.words}{on_line(past.zero.site)} cut it off"
        )  # fmt: skip
        yield Verdict(
            past.zero.kind, NOTE, names[-1],
            f"{listed(names)}: no gradient {over(past.began, past.ended)}"
            f"{f' ({why})' if why else ''}, and healthy since.",
            past.zero.site, count, "", past.began, past.ended, tuple(names),
        )  # fmt: skip


# ---- units ------------------------------------------------------------------------------------


@dataclass
class Shut:
    """Units of one or more groups that are shut, on one line and since one pass."""

    sick: bool
    groups: list[str] = field(default_factory=list)
    shut: list[Unit] = field(default_factory=list)
    count: int = 0


def units(history: History, members: dict[str, Any]) -> Iterator[Verdict]:
    """Units that are shut in every row: relus off, tanhs and sigmoids far out."""
    limits = history.thresholds
    found: dict[Any, Shut] = {}
    for name, numbers in members.items():
        mine = history.units_of(numbers)
        for saturates in (False, True):
            kind = [unit for unit in mine if unit.saturates == saturates]
            shut = [unit for unit in kind if unit.is_shut(limits.rows, limits.patience)]
            yield from _revived(history, name, kind, len(shut))
            if not shut:
                continue
            began, sick = max(unit.began for unit in shut), _are_sick(history, shut, len(kind))
            known = found.setdefault((saturates, shut[0].site, began, sick), Shut(sick))
            known.groups.append(name)
            known.shut += shut
            known.count += len(kind)
    for each in found.values():
        yield _unit_verdict(history, each)


def _are_sick(history: History, shut: list[Unit], count: int) -> bool:
    limits, began = history.thresholds, max(unit.began for unit in shut)
    if _ended_in_zero(history, began):
        return False  # the relus of a hinge are off where it is 0
    enough = max(unit.run for unit in shut) >= limits.rows
    return enough and len(shut) >= limits.shut_units * count


def _unit_verdict(history: History, each: Shut) -> Verdict:
    limits, shut, unit = history.thresholds, each.shut, each.shut[0]
    latest = max(shut, key=lambda unit: unit.began)
    rows, began = latest.run, latest.began
    threshold = f"threshold {limits.shut_units:g} of the units"
    verb, their = ("is", "its") if len(shut) == 1 else ("are", "their")
    who = f"{len(shut)} of {counted(each.count, 'unit')} of {listed(each.groups)} {verb}"
    ago = since(began, history.passes)
    if unit.saturates:
        kind = "saturated units"
        sentence = (
            f"{who} saturated{ago}: the slope of {their} {unit.op}{on_line(unit.site)} is at most "
            f"{limits.saturated:g} of its steepest in {all_rows(rows)} ({threshold})."
        )
    else:
        kind = "dead units"
        sentence = (
            f"{who} dead{ago}: {their} {unit.op}{on_line(unit.site)} is off in {all_rows(rows)} "
            f"({threshold})."
        )
    return Verdict(
        kind, ALARM if each.sick else NOTE, each.groups[0], sentence, unit.site, len(shut),
        cure_of(kind, began) if each.sick else "", began, 0, tuple(each.groups),
    )  # fmt: skip


def _revived(history: History, name: str, units: list[Unit], shut: int) -> Iterator[Verdict]:
    """Units that were shut over whole batches for a while, and are not now; others still are."""
    limits = history.thresholds
    past = [unit for unit in units if unit.past[1] - unit.past[0] + 1 >= limits.patience]
    past = [unit for unit in past if not unit.is_shut(limits.rows, limits.patience)]
    past = [u for u in past if u.longest >= limits.rows * (u.past[1] - u.past[0] + 1)]
    if past and len(past) + shut >= limits.shut_units * len(units):
        unit = past[0]
        began, ended = max(u.past[0] for u in past), min(u.past[1] for u in past)
        word, kind = ("saturated", "saturated units") if unit.saturates else ("dead", "dead units")
        yield Verdict(
            kind, NOTE, name,
            f"{len(past)} of {counted(len(units), 'unit')} of '{name}' were {word} "
            f"{over(began, ended)}, and work since.",
            unit.site, len(past), "", began, ended, (name,),
        )  # fmt: skip


# ---- twins ------------------------------------------------------------------------------------


def twins(history: History, members: dict[str, Any]) -> Iterator[Verdict]:
    """Units of a layer that compute the same and are taught the same: they stay the same."""
    limits = history.thresholds
    same = history.twins.present(limits.patience)
    found: dict[Any, tuple[list[str], list[int], int]] = {}
    for names, numbers in _layers(history, members):
        alike = [number for number in numbers if same[number]]
        if len(alike) < 2 or len(alike) < limits.shut_units * len(numbers):
            continue
        key = (history.units[alike[0]][0].site, int(history.twins.began[alike].max()))
        groups, owners, count = found.get(key, ([], [], 0))
        found[key] = ([*groups, *names], [*owners, *alike], count + len(numbers))
    for (site, began), (groups, owners, count) in found.items():
        where = f"{history.units[owners[0]][0].op}{on_line(site)}"
        yield Verdict(
            "identical units", ALARM, groups[0],
            f"The units of a layer are all the same{since(began, history.passes)}: "
            f"{len(owners)} of {counted(count, 'unit')} of {listed(groups)} have the values and "
            f"the gradients of their neighbours at the {where}, row for row.",
            site, len(owners), cure_of("identical units"), began, 0, tuple(groups),
        )  # fmt: skip


def _layers(history: History, members: dict[str, Any]) -> Iterator[tuple[list[str], list[int]]]:
    """Units that stand beside each other: of one group, or of groups of one at the same depth."""
    single: dict[int, tuple[list[str], list[int]]] = {}
    for name, numbers in members.items():
        mine = [n for n in numbers.tolist() if n in history.units]
        if len(mine) > 1:
            yield [name], mine
        elif mine:
            names, owners = single.setdefault(int(history.depths[mine[0]]), ([], []))
            names.append(name)
            owners += mine
    yield from single.values()
