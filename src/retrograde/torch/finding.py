"""What went wrong in one pass, in words: births of NaN, and the errors that end a backward pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .._shared.birth import Birth
from .._shared.sites import Site
from ..diagnose.births import Births
from ..diagnose.cures import cure_of
from ..diagnose.pass_births import backward_birth, births_of, described
from ..diagnose.report import ALARM, Verdict
from ..passes.flat import Pass
from ..passes.summary import Summary, joined, shape_text
from ._private import number_of, overwritten_in, saved_by
from .graph import Reading
from .lines import Call, Lines, Lost
from .patients import Patients
from .pulling import Oddity
from .summaries import summary
from .traps import Trap


def births_in(
    graph: Pass, reading: Reading, oddities: Sequence[Oddity], lines: Lines | None
) -> Births:
    """The births of a pass that was read."""
    arrays = graph.arrays
    assert arrays is not None
    backward = []
    for each in oddities[:1]:
        target = reading.inputs[reading.starts[each.node] + each.position]
        seen = arrays.amount(reading.starts[each.node] + each.position, target)
        if seen is not None:
            backward.append(backward_birth(graph, each.node, target, seen, each.at, each.numbers))
    given = _given(lines.births[0]) if lines is not None and lines.births else None
    return births_of(graph, reading.roots, backward, given)


def births_caught(trap: Trap, reading: Reading, last: Reading | None) -> Births:
    """The births of a pass that was only listened to, with the lines of the last one read."""
    if last is not None:
        reading.borrow_what_fits(last)
    node, odd, above, made = trap.caught[0]
    index = reading.place[node]
    edge = reading.starts[index] + odd.position
    reading.grads[index], reading.amounts[edge] = above, made
    if trap.behind is not None:
        first, seen = trap.behind
        reading.values[reading.place[first]] = seen
    for place, variable in reading.variables.items():
        if variable.grad is not None:
            reading.grads[place] = summary(variable.grad)
    graph = reading.whole()
    birth = backward_birth(graph, index, reading.inputs[edge], made, odd.at, odd.numbers)
    return births_of(graph, reading.roots, [birth], None)


def _given(call: Call) -> Birth | None:
    """A call that gave NaN outside of the graph, or was given it by data."""
    values = [each for each in call.values if isinstance(each, Summary)]
    after = joined(values) if values else None
    words = [f"{shape_text(shape)}: {seen}" for shape, seen in call.operands]
    nans = any(seen.nans for _, seen in call.operands)
    because = "it was given NaN by its data" if nans else ""
    many = after.odd if after is not None else 1
    result = float("inf") if after is not None and not after.nans else float("nan")
    return described(call.name, call.site, call.module, words, result, because, max(many, 1))


def trouble(
    error: BaseException, roots: Sequence[torch.Tensor], patients: Patients, lines: Lines | None,
    lost: Sequence[Lost], site: Site | None,
) -> Verdict | None:  # fmt: skip
    """An error of backward, explained; None for one that explains itself."""
    text = str(error)
    if "does not require grad" in text:
        return _no_history(patients, lost, site)
    if "modified by an inplace operation" in text:
        return _overwritten(roots, patients, lines, site)
    if "backward through the graph a second time" in text:
        return Verdict(
            "freed graph", ALARM, "",
            "backward() ran a second time through a graph that the first had freed.", site,
            cure="Compute the loss anew for every backward(), or give the first one "
            "retain_graph=True.",
        )  # fmt: skip
    return None


def _no_history(patients: Patients, lost: Sequence[Lost], site: Site | None) -> Verdict:
    sentence = "backward() was called on a loss that has no history"
    where, group, cure = site, "", cure_of("no history")
    frozen = [t for t in patients.tensors if not t.requires_grad]
    if frozen and len(frozen) == len(patients.tensors):
        sentence += f": requires_grad is False for {_all(len(frozen))}"
        cure = "Set requires_grad to True for the parameters that are to learn."
    elif lost:
        last = max(reversed(lost), key=lambda each: each.strength)  # of alike ones the last
        names = [patients.names[patients.place[k]] for k in last.leaves if k in patients.place]
        names.sort(key=patients.names.index)
        sentence += f": {last.how}"
        sentence += f" on line {last.site.line}" if last.site else ""
        sentence += f" cut it off from {len(names)} parameters" if names else " cut it off"
        sentence += f" ('{names[0]}', …)" if names else ""
        where, group = last.site, last.module
    return Verdict("no history", ALARM, group, f"{sentence}.", where, cure=cure, began=1)


def _all(count: int) -> str:
    return "its only parameter" if count == 1 else f"all {count} parameters"


def _overwritten(
    roots: Sequence[torch.Tensor], patients: Patients, lines: Lines | None, site: Site | None
) -> Verdict | None:
    reading = Reading(roots, patients.names_by_id(), lines)
    for index, live in enumerate(reading.live):
        name = overwritten_in(live)
        if not name:
            continue
        at = reading.sites[index]
        kept: Any = next((t for n, t in saved_by(live) if n == name), None)
        by, where, group = "something", at or site, reading.groups[index]
        cure, moved = cure_of("overwritten"), None if kept is None else patients.writer_of(kept)
        if kept is not None and lines is not None:
            storage, number = kept.untyped_storage().data_ptr(), number_of(live)
            writers = [c for place, c in lines.writes if place == storage and c.last > number]
            if writers:
                call = writers[0]
                by, where, group = call.name, call.site, call.module
                by += f" on line {call.site.line}" if call.site else ""
            elif moved is not None:
                where = moved[1] or where
                by = f"{moved[0]}.step()" + (f" on line {where.line}" if where else "")
                cure = cure_of("overwritten by a step")
        what = reading.calls[index] or reading.ops[index]
        line = f" on line {at.line}" if at else ""
        shape = f", shape {list(kept.shape)}" if kept is not None else ""
        return Verdict(
            "overwritten", ALARM, group,
            f"{by} overwrote in place what {what}{line} keeps for its backward rule "
            f"({name}{shape}).", where, cure=cure, began=1,
        )  # fmt: skip
    return None
