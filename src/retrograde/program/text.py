"""Programs and plans as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from .checkpoints import stretches_in
from .loops import Item, Loop, Rolled, full_size, operands_of, static_size
from .plan import Plan, done_steps
from .program import CHOICE, CONSTANT, Program
from .staged import BLOCK
from .traces import Family, Route, Trace


def listing(rolled: Rolled, most: int | None = None) -> str:
    """The program, one line an instruction; those of a loop once, under the number of its rounds.

    ``most`` cuts the middle out of long programs. An operand of a loop is the one of the first
    round; ``+3`` behind it says that it moves by three ids from each round to the next.
    """
    program = rolled.frame
    lines = []
    for index, given in program.inputs.items():
        shown = f"{given.number!r}" if given.kind == CONSTANT else given.name
        lines.append(f"  %{index} = {given.kind} {shown}")
    if len(rolled.tables):
        first = len(program.inputs)
        lines.append(f"  %{first} … %{first + len(rolled.tables) - 1} = tables of the loops")
    for item in rolled.items:
        lines += _item_lines(program, item, "  ", [[] for _ in operands_of(item)])
    for guard in program.guards:
        where = program.site(guard.site)
        wanted = "holds" if guard.outcome else "does not hold"
        lines.append(f"  guard %{guard.condition} {wanted}" + (f"    # {where}" if where else ""))
    lines.append("  return " + " ".join(f"%{output}" for output in program.outputs))
    if most is not None and len(lines) > most:
        half = most // 2
        lines = [*lines[:half], f"  … {len(lines) - 2 * half} more lines …", *lines[-half:]]
    return "\n".join(lines)


def _item_lines(program: Program, item: Item, indent: str, moves: list[list[int]]) -> list[str]:
    """An item with the strides of its operands in each loop around it."""
    if not isinstance(item, Loop):
        left = ", ".join(f"%{result}" for result in item.results)
        right = " ".join(
            f"%{arg}" + "".join(f"{stride:+d}" for stride in strides if stride)
            for arg, strides in zip(item.args, moves)
        )
        where = program.site(item.site)
        line = f"{indent}{left} = {item.op} {right}"
        return [line + (f"    # line {where.line}" if where else "")]
    lines = [f"{indent}×{item.trips:,}, {item.period} ids a round:"]
    inner = [[*outer, stride] for outer, stride in zip(moves, item.strides)]
    done = 0
    for part in item.body:
        width = len(operands_of(part))
        lines += _item_lines(program, part, indent + "  ", inner[done : done + width])
        done += width
    return lines


def summary(rolled: Rolled) -> str:
    """A program in one line."""
    program = rolled.frame
    kinds = Counter(given.kind for given in program.inputs.values())
    if len(rolled.tables):
        kinds["in tables"] = len(rolled.tables)
    inputs = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return (
        f"{_size(rolled)}, {len(program.guards)} guards, "
        f"{len(program.outputs)} outputs; inputs: {inputs or 'none'}"
    )


def _size(rolled: Rolled) -> str:
    """How many instructions there are, and how many they are when done."""
    size = static_size(rolled.items)
    if not rolled.has_loops:
        return f"{size} instructions"
    return f"{size:,} instructions, loops written out {full_size(rolled.items):,}"


def plan_text(plan: Plan) -> str:
    """A plan in a few lines."""
    block, once = _steps(plan.steps), _steps(plan.uniform_steps)
    return (
        f"  {block} steps a block, {once} once a run\n"
        f"  {plan.slots} slots of {plan.block} lanes: {plan.bytes:,} bytes a thread\n"
        f"  {len(plan.columns)} columns loaded, {plan.stored} stored, {plan.reduced} reduced, "
        f"{plan.guards} guards"
    )


def _steps(steps: Sequence[int]) -> str:
    """How many steps there are, and how many are done when loops go round."""
    count, done = len(steps) // 6, done_steps(steps)
    return f"{count:,} ({done:,} in all rounds)" if done > count else f"{count}"


def family_text(name: str, families: Sequence[Family]) -> str:
    """All traces of a function: how the rows divide, then each one's program and plans."""
    traces = [trace for family in families for trace in family.traces]
    numbers = {id(trace): number for number, trace in enumerate(traces)}
    lines = [f"{name}: {len(traces)} trace(s)"]
    for family in families:
        lines += _tree(family, numbers)
    lines += _rejoining(traces)
    lines += _calls(traces)
    for number, trace in enumerate(traces):
        lines += [f"trace {number}, as recorded: {summary(trace.rolled)}"]
        lines += [listing(trace.rolled, 60)]
        for key, ready in trace.plans.items():
            kind = "its guards alone" if key[0] == "router" else key[0].kind
            lines += [f"{kind}, after the passes: {summary(ready.rolled)}"]
            lines += [plan_text(ready.plan)]
            cut = stretches_in(ready.rolled.items)
            if trace.checkpoint and ready.rolled.has_loops:
                lines += [f"  {cut} loop(s) computed again in stretches, from checkpoints"]
    return "\n".join(lines)


def _rejoining(traces: Sequence[Trace]) -> list[str]:
    """The lines whose branches rejoin, so that rows take either side in one trace."""
    chosen = {
        str(trace.rolled.frame.site(number)): None
        for trace in traces
        for number in _chosen_at(trace.rolled.items)
        if number >= 0
    }
    return [f"  choices, either side in one trace: {'; '.join(chosen)}"] if chosen else []


def _chosen_at(items: Sequence[Item]) -> Iterator[int]:
    for item in items:
        if isinstance(item, Loop):
            yield from _chosen_at(item.body)
        elif item.op == CHOICE:
            yield item.site


def _calls(traces: Sequence[Trace]) -> list[str]:
    """What custom ops over arrays cost."""
    used = [each for trace in traces for each in trace.rolled.frame.functions.values()]
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
