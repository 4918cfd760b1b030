"""Verdicts on passes: births, rules that overwrite, gradients that vanish or explode."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from .births import Births
from .cures import cure_of
from .history import History
from .phrases import over, parameters, since
from .report import ALARM, NOTE, Group, Verdict
from .spells import Spells
from .zeros import UNDERFLOW


def births(history: History) -> Iterator[Verdict]:
    """Where NaN and infinities come from."""
    found = history.births
    if not found:
        return
    harmless = found.roots_are_finite and not found.gradients
    spell = history.not_finite
    gone = not harmless and not spell.began[0] and not history.spoiled
    seen = f" (pass {history.birth_pass})" if history.passes > 1 else ""
    spoils = _spoils(found)
    for phase, born in (("forward", found.forward), ("backward", found.backward)):
        if not born:
            continue
        first = born[0]
        beside = harmless or (phase == "forward" and found.roots_are_finite and not spoils)
        where = f" on line {first.site.line}" if first.site else ""
        if first.how_many:
            what = f"{first.in_an_array()}{where}"
            after = f"; {first.because}" if first.because else ""
        elif phase == "forward":
            what = f"{first.op} made {first.result!r}{where}"
            after = "; it does not reach the result" if beside else ""
        else:
            what = f"{first.op}{where} made the gradient of {first.target} {first.result!r}"
            if first.upstream is not None:
                what += f": partial {first.partial!r} × upstream {first.upstream!r}"
            after = f" ({first.cause})"
        end = f" It was {_ended(spell)}." if gone else ""
        yield Verdict(
            f"birth {phase}", NOTE if beside or gone else ALARM, first.group,
            f"Birth in the {phase} pass{seen}: {what}{after}.{end}", first.site,
            cure=first.cure, began=history.birth_pass, ended=int(spell.past_ended[0]) * gone,
        )  # fmt: skip


def _spoils(found: Births) -> bool:
    """Whether a NaN of the forward pass misses the result, masked, and spoils the gradients on
    another line, whose rule takes it in."""
    if not found.forward or not found.backward or not found.forward[0].how_many:
        return False
    taken = any(operand.data != operand.data for operand in found.backward[0].operands)
    return taken and found.forward[0].site != found.backward[0].site


def _ended(spell: Spells) -> str:
    began, ended = int(spell.past_began[0]), int(spell.past_ended[0])
    return f"{over(began, ended)}; everything is finite since"


def overwrites(history: History) -> Iterator[Verdict]:
    """Rules of the closure style that write = for +=."""
    for each, began, ended in history.rules.overwrites(history.thresholds.patience):
        when = (
            f" {over(began, ended)}, and is not met since"
            if ended
            else since(began, history.passes)
        )
        yield Verdict(
            "overwrites", NOTE if ended else ALARM, "",
            f"The _backward of '{each.op}' writes the gradient of {each.what} with = where += is "
            f"needed{when}: contributions that arrived before are lost.", each.site,
            cure=cure_of("overwrites"), began=began, ended=ended,
        )  # fmt: skip


def vanishing(
    history: History, groups: tuple[Group, ...], members: dict[str, Any]
) -> Iterator[Verdict]:
    """Gradients that shrink on the way down."""
    limits, spell = history.thresholds, history.vanishing
    deepest = max(groups, key=lambda group: group.depth)
    if spell.present(limits.patience, 0, limits.persistence)[0]:
        yield Verdict(
            "vanishing", ALARM, deepest.name,
            f"Vanishing{since(int(spell.began[0]), history.passes)}: {deepest.depth} products and "
            f"functions below the loss, at '{deepest.name}', gradients are {history.fall:.1e} of "
            f"what they are nearer to it (threshold {limits.vanishing:g}{_times(history, spell)}).",
            cure=cure_of("vanishing"), began=int(spell.began[0]),
        )  # fmt: skip
        return
    if _is_past(history, spell):
        yield _past("vanishing", "Gradients vanished", deepest.name, spell)
    live = [g for g in groups if g.norm > 0.0 and isfinite(g.norm)]
    strongest = max(live, key=_size, default=None)
    effect = max((_size(g) * g.weight for g in live), default=0.0)
    for group in live:
        assert strongest is not None
        ratio = _size(group) / _size(strongest)
        faint = ratio < limits.faint and _size(group) * group.weight < limits.faint * effect
        if faint and group.depth > strongest.depth and not _cancels(history, members[group.name]):
            yield Verdict(
                "vanishing", ALARM, group.name,
                f"Vanishing: gradients of '{group.name}' are {ratio:.1e} of those of "
                f"'{strongest.name}' (threshold {limits.faint:g}).", cure=cure_of("vanishing"),
            )  # fmt: skip
    quiet = history.quiet()
    lost = [n for n, (_, zero) in history.zeros.items() if zero.kind == UNDERFLOW and quiet[n]]
    if lost:
        name = history.parameters.names[lost[0]] or "parameters"
        yield Verdict(
            "vanishing", ALARM, name,
            f"Vanishing: gradients of {parameters(name, len(lost))} are smaller than the smallest "
            "number and have become exactly 0.", None, len(lost), cure_of("vanishing"),
            int(history.silent.began[lost].max()),
        )  # fmt: skip


def _size(group: Group) -> float:
    """The root mean square of a group's gradients."""
    return group.norm / float(group.parameters**0.5)


def _cancels(history: History, numbers: Any) -> bool:
    """Rounding noise where contributions cancel is not a vanishing gradient."""
    live = numbers[history.largest[numbers] > 0.0]
    return history.noise is not None and bool(history.noise[live].all())


def exploding(history: History, groups: tuple[Group, ...]) -> Iterator[Verdict]:
    """Gradients that grow on the way down, or beyond all proportion to the loss."""
    limits, spell = history.thresholds, history.exploding
    deepest = max(groups, key=lambda group: group.depth)
    blown = bool(history.not_finite.began[0])
    ended_so = blown and 0 < spell.began[0] < history.birth_pass
    if ended_so or (not blown and spell.present(limits.patience, 0, limits.persistence)[0]):
        yield Verdict(
            "exploding", ALARM, deepest.name,
            f"Exploding{since(int(spell.began[0]), history.passes)}: gradients grow "
            f"{history.rise:.1e}-fold on the way down from the loss (threshold "
            f"{limits.exploding:g}{_times(history, spell)}).",
            cure=cure_of("exploding"), began=int(spell.began[0]),
        )  # fmt: skip
        return
    if blown:
        return
    if _is_past(history, spell):
        yield _past("exploding", "Gradients exploded", deepest.name, spell)
    steep = [
        group
        for group in groups
        if isfinite(group.norm) and group.norm * group.weight > limits.steep * history.scale
    ]
    if steep:
        worst = max(steep, key=lambda group: group.norm * group.weight)
        began = int(history.steep.began[0])
        yield Verdict(
            "exploding", ALARM, worst.name,
            f"Exploding{since(began, history.passes)}: gradient × weight of '{worst.name}' is "
            f"{worst.norm * worst.weight:.1e}, for a loss of {history.loss:.3g} (threshold "
            f"{limits.steep:g} × the loss, or × 1 where that is more).",
            cure=cure_of("exploding"), began=began, groups=tuple(group.name for group in steep),
        )  # fmt: skip


def _is_past(history: History, spell: Spells) -> bool:
    """Whether there was a spell that was an illness, and is over."""
    return bool(spell.began[0] == 0 and spell.longest[0] >= history.thresholds.patience)


def _past(kind: str, what: str, group: str, spell: Spells) -> Verdict:
    began, ended = int(spell.past_began[0]), int(spell.past_ended[0])
    return Verdict(
        kind, NOTE, group, f"{what} {over(began, ended)}, and do so no longer.",
        began=began, ended=ended,
    )  # fmt: skip


def _times(history: History, spell: Spells) -> str:
    if history.passes < 2:
        return ""
    return f"; in {int(spell.times[0])} of {int(spell.seen[0])} passes"
