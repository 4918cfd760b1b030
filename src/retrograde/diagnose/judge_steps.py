"""Verdicts on steps: what only the time between passes shows."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from .._shared.numerics import np
from .._text.paragraphs import counted
from .cures import cure_of, rate_cure
from .folding import SHUT
from .history import History
from .phrases import listed, on_line, over, part_of, since
from .report import ALARM, NOTE, Verdict
from .zeros import FROZEN, UNTRAINED

DATA_NAMES = frozenset(
    "x y z t xs ys X Y batch data features image images input inputs label labels point points row "
    "rows sample samples target targets token tokens".split()
)
"""What data is called where it lies in a variable: not parameters that were forgotten."""


def of_steps(history: History, members: dict[str, Any]) -> Iterator[Verdict]:
    """Every verdict on steps."""
    yield from _stale(history, members)
    yield from _wiped(history)
    yield from _never_reached(history, members)
    yield from _unheld(history, members)
    yield from _rebuilt(history)
    yield from _ascent(history)
    yield from _rate(history)
    yield from _growing(history)
    yield from _no_step(history)


def _stale(history: History, members: dict[str, Any]) -> Iterator[Verdict]:
    motion, limits = history.motion, history.thresholds
    spell, times = motion.stale_steps, int(motion.stale.max(initial=0))
    if not times:
        return
    concerned = [name for name, numbers in members.items() if motion.stale[numbers].any()]
    sick = bool(spell.present(limits.patience, 0, limits.persistence)[0])
    if spell.began[0]:
        began, ended = int(spell.began[0]), 0
        often = f"in {int(spell.times[0])} of {counted(int(spell.seen[0]), 'step')}"
        often += " after the first" if int(spell.seen[0]) == motion.repeated else ""
        often += since(began, history.passes) if began > 2 else ""
    else:
        began, ended = int(spell.past_began[0]), int(spell.past_ended[0])
        often = f"after {over(began, ended)[3:]}, and no longer,"
    yield Verdict(
        "stale", ALARM if sick else NOTE, concerned[0],
        f"Stale gradients: {often} the backward pass had been added to gradients that no zero_grad "
        f"had reset since the step before ({listed(concerned)}).",
        motion.stale_site, int((motion.stale > 0).sum()), cure_of("stale") if sick else "",
        began, ended, tuple(concerned),
    )  # fmt: skip


def _wiped(history: History) -> Iterator[Verdict]:
    motion, limits = history.motion, history.thresholds
    spell = motion.wiped
    if spell.present(limits.patience, 0, limits.persistence)[0]:
        began = int(spell.began[0])
        yield Verdict(
            "reset too soon", ALARM, "",
            f"Gradients are reset between backward and step{since(began, history.passes)}: "
            f"{motion.optimizer} found nothing but zeros in {int(spell.times[0])} of "
            f"{counted(int(spell.seen[0]), 'step')}.",
            motion.wiped_site, int(motion.held.sum()), cure_of("reset too soon"), began,
        )  # fmt: skip


def _never_reached(history: History, members: dict[str, Any]) -> Iterator[Verdict]:
    """Groups that steps have moved and no pass has reached: one verdict, and one for the rest."""
    found: dict[bool, dict[str, tuple[int, int]]] = {}
    first: dict[bool, int] = {}
    for name, numbers in members.items():
        lost = history.motion.updated[numbers] & ~history.reached[numbers]
        if lost.any():
            lost &= np.array(
                [history.why(n).kind not in (FROZEN, UNTRAINED) for n in numbers.tolist()]
            )
        if lost.any():
            sick = bool(lost.mean() >= history.thresholds.updated)
            found.setdefault(sick, {})[name] = int(lost.sum()), len(lost)
            first.setdefault(sick, int(numbers[lost][0]))
    for sick, groups in found.items():
        count, whole = (sum(each) for each in zip(*groups.values()))
        who = part_of(list(groups), count, whole, history.parameters.names[first[sick]])
        alone = count == 1 or (count == whole and len(groups) == 1)
        verb, them = ("was", "it") if alone else ("were", "them")
        yield Verdict(
            "never reached", ALARM if sick else NOTE, next(iter(groups)),
            f"{who} {verb} updated, but no backward pass ever reached {them}: what was subtracted "
            "is not a gradient of this loss.",
            None, count, cure_of("never reached") if sick else "", 0, 0, tuple(groups),
        )  # fmt: skip


def _unheld(history: History, members: dict[str, Any]) -> Iterator[Verdict]:
    """Parameters with gradients that no optimizer holds, beside others that one does."""
    motion = history.motion
    moved = history.trained()
    if not moved.any() or history.rebuilding.stepped:
        return
    if history.findings and history.passes < 2:  # it ended before every optimizer had stepped
        return
    trained = np.isin(history.component, np.unique(history.component[moved]))
    forgotten = trained & ~moved & ~motion.updated & (history.largest > 0.0)
    forgotten &= np.array([value.requires_grad for value in history.parameters.values])
    groups = {name: int(forgotten[numbers].sum()) for name, numbers in members.items()}
    for data in (False, True):
        names = [
            name for name, n in groups.items() if n and (_variable(name) in DATA_NAMES) == data
        ]
        if not names:
            continue
        count = sum(groups[name] for name in names)
        only = history.parameters.names[int(members[names[0]][forgotten[members[names[0]]]][0])]
        whole = all(groups[name] == len(members[name]) for name in names)
        who = listed(names) if whole else f"{counted(count, 'parameter')} of {listed(names)}"
        who = f"'{only}'" if count == 1 and not whole else who
        verb = "is" if count == 1 or (whole and len(names) == 1) else "are"
        yield Verdict(
            "no optimizer", NOTE if data else ALARM, names[0],
            f"{who} {verb} held by no optimizer: gradients arrive, and nothing moves. "
            f"{motion.optimizer or 'The loop'} moves "
            f"{counted(int(moved.sum()), 'other parameter')}.",
            None, count, cure_of("no optimizer"), 0, 0, tuple(names),
        )  # fmt: skip


def _variable(name: str) -> str:
    """The name of the variable a group lies in."""
    return name.partition(".")[0].partition("[")[0]


def _rebuilt(history: History) -> Iterator[Verdict]:
    """New values in every pass, while an optimizer steps on the old ones."""
    motion, began = history.motion, history.rebuilding.began
    unused = bool(motion.held.any()) and not history.reached[motion.held].any()
    if unused and history.cuts.cut_since(history.silent.began)[motion.held].all():
        return  # the line that cuts them off is named
    if motion.astray < 2 or not (began or unused):
        return
    holds = "those of the first pass" if began else "values that no pass has used"
    yield Verdict(
        "rebuilt", ALARM, history.parameters.group_names[0],
        f"Parameters are made anew in the loop: {motion.optimizer} holds {holds}, "
        f"and {counted(motion.astray, 'step')} have moved what is not in the loss.",
        None, len(history.parameters), cure_of("rebuilt"), began, 0, history.parameters.group_names,
    )  # fmt: skip


def _ascent(history: History) -> Iterator[Verdict]:
    """Steps along the gradient while the loss grows."""
    motion, limits = history.motion, history.thresholds
    spells = motion.ascent
    mostly = (spells.times >= limits.patience) & (spells.times >= 0.8 * spells.seen)
    mostly &= spells.times >= limits.persistence * spells.total
    if motion.closely.began[0] and motion.closely.times[0] > limits.patience:
        closely = spells.began >= motion.closely.began[0]  # late, but no mere overshooting
        mostly |= closely & (spells.times > limits.patience)
    uphill = np.flatnonzero((spells.began > 0) & mostly)
    if not len(uphill) or motion.loss <= motion.loss_at["ascent"]:  # a NaN has grown
        return
    names = [history.parameters.group_names[number] for number in uphill.tolist()]
    began = int(spells.began[uphill].min())
    yield Verdict(
        "ascent", ALARM, names[0],
        f"Gradient ascent{since(began, history.passes)}: {int(spells.times[uphill].max())} steps "
        f"of {listed(names)} follow the gradient uphill, and the loss has grown from "
        f"{motion.loss_at['ascent']:.3g} to {motion.loss:.3g}.",
        None, int(np.isin(history.parameters.group_of, uphill).sum()), cure_of("ascent"), began, 0,
        tuple(names),
    )  # fmt: skip


def _rate(history: History) -> Iterator[Verdict]:
    """Steps out of proportion to what they change."""
    motion, limits = history.motion, history.thresholds
    spell = motion.hasty
    long = bool(spell.present(limits.patience, 0, limits.persistence)[0])
    if long and spell.times[0] >= limits.patience and not motion.loss < motion.loss_at["hasty"]:
        began, name = int(spell.began[0]), history.parameters.group_names[motion.hastiest]
        yield Verdict(
            "learning rate", ALARM, name,
            f"Steps are too long{since(began, history.passes)}: an update is {motion.ratio:.2g} of "
            f"the weights it changes (threshold {limits.hasty:g}, usual are 0.001 to 0.01; most "
            f"in '{name}'), and the loss does not fall: {motion.loss_at['hasty']:.3g}, now "
            f"{motion.loss:.3g}.",
            cure=rate_cure(motion.ratio, 1e-2), began=began,
        )  # fmt: skip
    spell = motion.idle
    if spell.times[0] >= limits.patience and spell.times[0] >= limits.persistence * spell.total[0]:
        yield Verdict(
            "learning rate", ALARM, "",
            f"Steps are too short: an update is {motion.ratio:.2g} of the weights it changes "
            f"(threshold {limits.idle:g}, usual are 0.001 to 0.01), although there are gradients "
            "to follow.",
            cure=rate_cure(motion.ratio), began=int(spell.began[0]),
        )  # fmt: skip


def overshot(history: History, found: list[Verdict]) -> Iterator[Verdict]:
    """Steps that were too long now and then, where units have been shut since and the loss has not
    recovered: they are the cause. Shut units have hardly a gradient, so most steps are short.
    """
    motion, limits = history.motion, history.thresholds
    blow = motion.overshoot
    if blow.steps < limits.patience or motion.loss < blow.loss:
        return
    if any(verdict.kind == "learning rate" for verdict in found):
        return
    if any(v.kind in SHUT and v.severity == ALARM and v.began > blow.began for v in found):
        name = history.parameters.group_names[blow.group]
        yield Verdict(
            "learning rate", ALARM, name,
            f"Steps were too long{since(blow.began, history.passes)}: {blow.steps} of them were "
            f"more than {limits.hasty:g} of the weights they changed, up to {blow.ratio:.2g} "
            "(usual are "
            f"0.001 to 0.01; most in '{name}'), and the loss has not recovered: {blow.loss:.3g}, "
            f"now {motion.loss:.3g}.",
            cure=rate_cure(blow.ratio, 1e-2), began=blow.began,
        )  # fmt: skip


def _growing(history: History) -> Iterator[Verdict]:
    spell = history.growing
    if int(spell.times[0]) > history.thresholds.patience:
        began = int(spell.began[0])
        yield Verdict(
            "growing graph", ALARM if history.motion.steps else NOTE, "",
            f"The graph grows with every pass{since(began - 2, history.passes)}: it had "
            f"{counted(history.nodes_at_first, 'value')} and has {history.nodes:,}. What one pass "
            "has made goes into the next with its whole history"
            f"{on_line(history.carrier)}.",
            history.carrier, 0, cure_of("growing graph"), began - 2,
        )  # fmt: skip


def _no_step(history: History) -> Iterator[Verdict]:
    motion = history.motion
    still = not motion.steps and motion.intervals > history.thresholds.patience
    if still and isfinite(history.loss):
        yield Verdict(
            "no step", NOTE, "",
            f"Nothing moves: in {counted(history.passes, 'pass')} no parameter has changed.",
            cure=cure_of("no step"),
        )  # fmt: skip
