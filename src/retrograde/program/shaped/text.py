"""Programs with shapes and their plans as text: ``explain()`` of functions on tensors."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from ...ops import OPS
from .fusing import Group
from .program import CONSTANT, Program
from .runs import Run
from .steps import Choose, Map, Pack, Planned, Product, Reduce, Shape
from .traces import Family, Trace

MOST_LINES = 200
"""Lines of a program that are shown."""

_OPS = list(OPS)


def families_text(name: str, families: Iterable[Family]) -> str:
    """All that was recorded of a function."""
    found = list(families)
    lines = [f"{name}: a function on tensors, recorded for {len(found)} kind(s) of arguments"]
    for number, family in enumerate(found, 1):
        for place, trace in enumerate(family.traces, 1):
            lines.append("")
            lines.append(f"arguments {number}, trace {place} of {len(family.traces)}: "
                         f"{trace.calls} call(s)")  # fmt: skip
            lines += _trace_lines(trace)
    return "\n".join(lines)


def _trace_lines(trace: Trace) -> list[str]:
    program = trace.program
    lines = [
        f"  {given.kind} {given.name}: {shape_text(program.shapes[number])}"
        for number, given in program.inputs.items()
        if given.kind != CONSTANT
    ]
    for guard in program.guards:
        wanted = "holds" if guard.outcome else "does not hold"
        lines.append(
            f"  guard %{guard.value} {wanted}" + (f"    # {guard.site}" if guard.site else "")
        )
    lines.append(f"recorded: {len(program.instructions)} instructions")
    lines += _cut(listing(program))
    for key, run in trace.runs.items():
        asked = key if isinstance(key, str) else f"value and gradients by {key[0]}s {list(key[1])}"
        lines += _run_lines(asked, run)
    return lines


def listing(program: Program) -> list[str]:
    """The program, one line an instruction, with shapes."""
    lines = []
    for each in program.instructions:
        operands = " ".join(f"%{number}" for number in each.operands)
        site = program.sites[each.site] if each.site >= 0 else None
        stop = "" if each.takes else "  (no gradient)"
        lines.append(
            f"  %{each.result} = {each.row.name} {operands}: {shape_text(each.row.shape)}{stop}"
            + (f"    # line {site.line}" if site else "")
        )
    return lines


def _run_lines(asked: str, run: Run) -> list[str]:
    count = len(run.program.instructions)
    if run.packed is None:
        why = f"'{run.why}' has no native form" if run.why else "this is the pure-Python core"
        return [f"plan for the {asked}: {count} instructions by NumPy, one by one: {why}"]
    packed = run.packed
    steps = len(packed.groups)
    lines = [f"plan for the {asked}: {count} instructions in {steps} steps, an arena of "
             f"{8 * packed.arena:,} bytes"]  # fmt: skip
    return [*lines, *_cut([group_text(group) for group in packed.groups])]


def group_text(group: Group) -> str:
    """One step of a plan in one line."""
    if group.box is not None:
        maps = " ".join(_OPS[step.op] for step in group.steps if isinstance(step, Map))
        sums = sum(isinstance(step, Reduce) for step in group.steps)
        behind = f", {sums} reduction(s)" if sums else ""
        return f"  map over {shape_text(group.box)}: {maps or 'as it is'}{behind}"
    (step,) = group.steps
    if isinstance(step, Product):
        m, n, k = step.sizes
        times = f", {prod(step.loops)} times" if step.loops else ""
        return f"  product ({m}, {k}) @ ({k}, {n}){times}{', added' if step.adds else ''}"
    if isinstance(step, Pack):
        return f"  copy {shape_text(step.box)}"
    if isinstance(step, Choose):
        return f"  look along {shape_text(step.sizes)}"
    assert isinstance(step, Planned)
    return f"  {step.name}: {shape_text(step.plan.shape)}"


def shape_text(shape: Shape) -> str:
    """A shape with the bytes of its numbers."""
    return f"{tuple(shape)} {8 * prod(shape):,} bytes" if shape else "a number"


def _cut(lines: list[str]) -> list[str]:
    if len(lines) <= MOST_LINES:
        return lines
    half = MOST_LINES // 2
    return [*lines[:half], f"  … {len(lines) - 2 * half} more lines …", *lines[-half:]]
