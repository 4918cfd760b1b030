"""Verdicts on arrays: what only programs with modules, optimizers of others and ties can have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._shared.numerics import np
from .._text.paragraphs import counted
from .array_history import ArrayHistory
from .cures import cure_of, rate_cure
from .history import History
from .phrases import listed, on_line, since
from .report import ALARM, Group, Verdict

HASTY = 4.0
"""A single step this many times the threshold is too long."""


def of_arrays(
    history: History, members: dict[str, Any], groups: tuple[Group, ...]
) -> Iterator[Verdict]:
    """Every verdict on arrays."""
    if isinstance(history, ArrayHistory):
        yield from _strangers(history, members)
        yield from _severed(history)
        yield from _blown(history)
        yield from _through_time(history, groups)
        yield from _hasty(history)
        yield from _alike(history)


def _strangers(history: ArrayHistory, members: dict[str, Any]) -> Iterator[Verdict]:
    """Arrays that an optimizer holds and no model has; named by those that it should hold."""
    if not history.beside.strangers:
        return
    forgotten = ~history.motion.held & (history.largest > 0.0)
    forgotten &= np.array([value.requires_grad for value in history.parameters.values])
    names = tuple(name for name, numbers in members.items() if forgotten[numbers].any())
    instead = f", and not {listed(list(names))}" if names else ""
    for each in history.beside.strangers:
        yield Verdict(
            "strangers", ALARM, names[0] if names else "",
            f"{each.optimizer} holds {counted(each.count, 'tensor')} that no model has (the first "
            f"of shape {list(each.shape)}){instead}: steps move what is not in the loss.",
            each.site, each.count, cure_of("strangers"), 0, 0, names,
        )  # fmt: skip


def _severed(history: ArrayHistory) -> Iterator[Verdict]:
    """A tied parameter that learns by one of its uses only."""
    parameters = history.parameters
    for each in history.beside.severed.values():
        if not history.reached[each.number]:
            continue  # then it is detached altogether, and said so
        name = parameters.group_names[parameters.group_of[each.number]]
        others = listed([other for other in each.names if other != parameters.names[each.number]])
        own = parameters.names[each.number]
        yield Verdict(
            "tied", ALARM, name,
            f"'{own}' is tied to {others} and learns by one of its uses only"
            f"{since(each.began, history.passes)}: {each.how}{on_line(each.site)} cuts the other "
            "off.",
            each.site, 1, cure_of("tied"), each.began, 0, (name,),
        )  # fmt: skip


def _blown(history: ArrayHistory) -> Iterator[Verdict]:
    """A loss far above where it began."""
    losses, limits = history.beside.losses, history.thresholds
    if losses.grown >= min(limits.patience, 2) or (losses.grown and history.not_finite.began[0]):
        yield Verdict(
            "exploding loss", ALARM, "",
            f"The loss explodes{since(losses.began, history.passes)}: it began at "
            f"{losses.first:.3g} and is {losses.last:.3g} (threshold {limits.blown:g} times).",
            None, 0, cure_of("exploding loss"), losses.began,
        )  # fmt: skip


def _hasty(history: ArrayHistory) -> Iterator[Verdict]:
    """A step far longer than what it changed, that the loss has not recovered from. Not every step
    is measured, so one is enough."""
    blow, motion = history.motion.overshoot, history.motion
    limit = HASTY * history.thresholds.hasty
    if not blow.steps or blow.ratio < limit or motion.loss < blow.loss:
        return
    name = history.parameters.group_names[blow.group]
    yield Verdict(
        "learning rate", ALARM, name,
        f"Steps are too long{since(blow.began, history.passes)}: an update was {blow.ratio:.2g} "
        f"times the weights it changed (threshold {limit:g}, usual are 0.001 to 0.01; most in "
        f"'{name}'), and the loss has not recovered: {blow.loss:.3g}, now {motion.loss:.3g}.",
        cure=rate_cure(blow.ratio, 1e-2), began=blow.began,
    )  # fmt: skip


def _alike(history: ArrayHistory) -> Iterator[Verdict]:
    """Layers whose units are all the same, and are taught the same."""
    parameters, found = history.parameters, history.beside.alike
    if not found:
        return
    names = [parameters.names[number] for number in found]
    groups = tuple(dict.fromkeys(parameters.group_names[parameters.group_of[n]] for n in found))
    site = next(iter(found.values()))
    yield Verdict(
        "identical units", ALARM, groups[0],
        f"The units of a layer are all the same: those of {listed(names)} have equal weights and "
        "equal gradients, and stay equal.", site, len(found), cure_of("identical units"), 1, 0,
        groups,
    )  # fmt: skip


def _through_time(history: ArrayHistory, groups: tuple[Group, ...]) -> Iterator[Verdict]:
    """Gradients that vanish or explode below the deepest parameter: along the steps of a
    recurrence, whose parameters are all near by their last use."""
    limits, profile = history.thresholds, history.profile
    fall, rise = profile.fall_and_rise(len(profile.means) * profile.step)
    if history.not_finite.began[0] or not groups:
        return
    deepest = max(groups, key=lambda group: group.depth)
    own = profile.fall_and_rise(int(np.max(history.depths, initial=0)))
    depth = len(profile.means) - 1
    if fall < limits.vanishing**2 and own[0] >= limits.vanishing:
        yield Verdict(
            "vanishing", ALARM, deepest.name,
            f"Vanishing along {depth} steps: gradients of the first of them are {fall:.1e} of "
            f"those near the loss (threshold {limits.vanishing**2:g}).",
            cure=cure_of("vanishing"),
        )  # fmt: skip
    elif rise > limits.exploding and own[1] <= limits.exploding:
        yield Verdict(
            "exploding", ALARM, deepest.name,
            f"Exploding along {depth} steps: gradients grow {rise:.1e}-fold on the way down from "
            f"the loss (threshold {limits.exploding:g}).",
            cure=cure_of("exploding"), began=1,
        )  # fmt: skip
