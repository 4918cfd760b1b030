"""Programs and plans as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .plan import Plan
from .program import CONSTANT, Program
from .staged import BLOCK
from .traces import Family, Route, Trace


def listing(program: Program, most: int | None = None) -> str:
    """The program, one line an instruction.

    ``most`` cuts the middle out of long programs.
    """
    lines = []
    for index, given in program.inputs.items():
        shown = f"{given.number!r}" if given.kind == CONSTANT else given.name
        lines.append(f"  %{index} = {given.kind} {shown}")
    for op, results, args, site, _ in program.instructions:
        left = ", ".join(f"%{result}" for result in results)
        right = " ".join(f"%{arg}" for arg in args)
        where = program.site(site)
        lines.append(f"  {left} = {op} {right}" + (f"    # line {where.line}" if where else ""))
    for guard in program.guards:
        where = program.site(guard.site)
        wanted = "holds" if guard.outcome else "does not hold"
        lines.append(f"  guard %{guard.condition} {wanted}" + (f"    # {where}" if where else ""))
    lines.append("  return " + " ".join(f"%{output}" for output in program.outputs))
    if most is not None and len(lines) > most:
        half = most // 2
        lines = [*lines[:half], f"  … {len(lines) - 2 * half} more lines …", *lines[-half:]]
    return "\n".join(lines)


def summary(program: Program) -> str:
    """A program in one line."""
    kinds = Counter(given.kind for given in program.inputs.values())
    inputs = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return (
        f"{len(program.instructions)} instructions, {len(program.guards)} guards, "
        f"{len(program.outputs)} outputs; inputs: {inputs or 'none'}"
    )


def plan_text(plan: Plan) -> str:
    """A plan in a few lines."""
    return (
        f"  {len(plan.steps) // 6} steps a block, {len(plan.uniform_steps) // 6} once a run\n"
        f"  {plan.slots} slots of {plan.block} lanes: {plan.bytes:,} bytes a thread\n"
        f"  {len(plan.columns)} columns loaded, {plan.stored} stored, {plan.reduced} reduced, "
        f"{plan.guards} guards"
    )


def family_text(name: str, families: Sequence[Family]) -> str:
    """All traces of a function: how the rows divide, then each one's program and plans."""
    traces = [trace for family in families for trace in family.traces]
    numbers = {id(trace): number for number, trace in enumerate(traces)}
    lines = [f"{name}: {len(traces)} trace(s)"]
    for family in families:
        lines += _tree(family, numbers)
    lines += _calls(traces)
    for number, trace in enumerate(traces):
        lines += [f"trace {number}, as recorded: {summary(trace.program)}"]
        lines += [listing(trace.program, 60)]
        for key, ready in trace.plans.items():
            kind = "its guards alone" if key[0] == "router" else key[0].kind
            lines += [f"{kind}, after the passes: {summary(ready.program)}"]
            lines += [plan_text(ready.plan)]
    return "\n".join(lines)


def _calls(traces: Sequence[Trace]) -> list[str]:
    """What custom ops over arrays cost."""
    used = [each for trace in traces for each in trace.program.functions.values()]
    called = sorted({each.name for each in used if each.rows is not None})
    if not called:
        return []
    return [
        f"  calls Python: {', '.join(called)}, once a block of {BLOCK:,} rows, holding the GIL.",
        "  It cannot be saved, and its bits are what those functions make of a block.",
    ]


def _tree(family: Family, numbers: dict[int, int]) -> list[str]:
    """One line a trace: its rows, where it leaves which other trace, and the line of the branch."""
    lines = []
    pending: list[tuple[Route, str]] = [] if family.root is None else [(family.root, "")]
    while pending:
        route, parting = pending.pop()
        number, rows = numbers[id(route.trace)], route.trace.rows
        lines.append(f"  trace {number}: {rows:,} rows{parting}")
        for guard, other in sorted(route.others.items(), reverse=True):
            site = route.trace.site(guard)
            answer = "false" if route.trace.path[guard] else "true"
            where = f" at {site}" if site else ""
            pending.append((other, f", leaves trace {number}{where}, where {answer}"))
    return lines
