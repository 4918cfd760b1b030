"""The checker: what every program must satisfy, recorded, read or made by passes."""

from __future__ import annotations

from collections.abc import Container

from ..errors import ProgramError
from .loops import Item, Loop, Rolled, ids_of, operands_of
from .program import ANY, INSTRUCTIONS, KINDS, Instruction, Kind, Program


def check(program: Program, after: str) -> Program:
    """The program itself, or the exception that says what a pass broke."""
    why = _fault_of_inputs(program) or _fault_of_instructions(program)
    if why is None:
        return program
    raise ProgramError.of(after, why)


def check_rolled(rolled: Rolled, after: str) -> Rolled:
    """The same for a program with loops, without writing them out: an operand moves by a constant
    in each loop around it, so the first and the last round say how far it goes."""
    why = _fault_of_inputs(rolled.frame) or _fault_of_items(rolled)
    if why is None:
        return rolled
    raise ProgramError.of(after, why)


def _fault_of_inputs(program: Program) -> str | None:
    for index, given in program.inputs.items():
        if not 0 <= index < program.count:
            return f"input %{index} has no id of this program"
        if given.kind not in KINDS:
            return f"input %{index} is of unknown kind {given.kind!r}"
    return None


def _kinds(program: Program) -> dict[str, Kind]:
    """What the instructions of a program may be, its custom ops included."""
    if not program.functions:
        return INSTRUCTIONS
    return INSTRUCTIONS | {
        name: Kind(each.operands, several=each.results > 1)
        for name, each in program.functions.items()
    }


def _fault_of_instructions(program: Program) -> str | None:
    """What is wrong with the instructions, or with what is read of their results."""
    kinds = _kinds(program)
    count, sites = program.count, len(program.sites)
    defined = set(program.inputs)
    known, define = defined.issuperset, defined.add
    for position, instruction in enumerate(program.instructions):
        op, results, args, site, parameters = instruction
        kind = kinds.get(op)
        if kind is None:
            return f"instruction {position} has unknown op {op!r}"
        if len(args) != kind.operands or len(results) != 1 or parameters or kind.parameters:
            why = illegal(kind, instruction)
            if why is not None:
                return f"instruction {position}: {why}"
        if not known(args):
            missing = next(arg for arg in args if arg not in defined)
            return f"instruction {position} ({op}) reads %{missing} before it is defined"
        for result in results:
            if result in defined or not 0 <= result < count:
                return f"instruction {position} ({op}) assigns %{result}, which is not free"
            define(result)
        if site >= sites:
            return f"instruction {position} names a site that is not there"
    return _fault_of_readers(program, defined)


def _fault_of_items(rolled: Rolled) -> str | None:
    """What is wrong with items: ids count up, and whatever is read was there before."""
    frame = rolled.frame
    if any(index >= len(frame.inputs) for index in frame.inputs):
        return "its inputs do not come first"
    inputs = len(frame.inputs) + len(rolled.tables)
    fault = _Items(_kinds(frame), inputs, len(frame.sites))
    at = inputs
    for item in rolled.items:
        why = fault.of(item, at, list(operands_of(item)), [])
        if why is not None:
            return why
        at += ids_of(item)
    if at != frame.count:
        return f"it has {at} numbers, not {frame.count}"
    return _fault_of_readers(frame, range(at))


class _Items:
    """The checker of items, loops in loops included."""

    def __init__(self, kinds: dict[str, Kind], inputs: int, sites: int) -> None:
        self.kinds, self.inputs, self.sites = kinds, inputs, sites

    def of(
        self, item: Item, at: int, operands: list[int], loops: list[tuple[Loop, list[int]]]
    ) -> str | None:
        """What is wrong with an item whose ids begin at ``at``, in loops with strides of their
        own for these operands."""
        if not isinstance(item, Loop):
            return self._instruction(item, at, operands, loops)
        period = sum(map(ids_of, item.body))
        if item.trips < 1 or period != item.period or len(item.strides) != len(operands):
            return f"the loop from %{at} on is not made of its body"
        done = 0
        around = [*loops, (item, list(item.strides))]
        for part in item.body:
            width = len(operands_of(part))
            inner = [(loop, moves[done : done + width]) for loop, moves in around]
            why = self.of(part, at, operands[done : done + width], inner)
            if why is not None:
                return why
            at += ids_of(part)
            done += width
        return None

    def _instruction(
        self,
        instruction: Instruction,
        at: int,
        operands: list[int],
        loops: list[tuple[Loop, list[int]]],
    ) -> str | None:
        op, results, _, site, _ = instruction
        kind = self.kinds.get(op)
        if kind is None:
            return f"the instruction of %{at} has unknown op {op!r}"
        why = illegal(kind, instruction)
        if why is not None:
            return f"the instruction of %{at}: {why}"
        if results != tuple(range(at, at + len(results))):
            return f"the instruction of %{at} ({op}) assigns other numbers than come next"
        if site >= self.sites:
            return f"the instruction of %{at} names a site that is not there"
        for place, base in enumerate(operands):
            low = high = base
            ahead = base - at
            for loop, moves in loops:
                far = (loop.trips - 1) * moves[place]
                low, high = low + min(far, 0), high + max(far, 0)
                ahead += max(far - (loop.trips - 1) * loop.period, 0)
            if low < 0 or ahead >= 0:
                return f"the instruction of %{at} ({op}) reads %{base} before it is defined"
            if low < self.inputs <= high:
                return f"the instruction of %{at} ({op}) goes from inputs on to results"
        return None


def _fault_of_readers(program: Program, defined: Container[int]) -> str | None:
    for guard in program.guards:
        if guard.condition not in defined:
            return f"a guard reads %{guard.condition}, which is never defined"
        if guard.site >= len(program.sites):
            return f"the guard of %{guard.condition} names a site that is not there"
    for output in program.outputs:
        if output not in defined:
            return f"output %{output} is never defined"
    return None


def illegal(kind: Kind, instruction: Instruction) -> str | None:
    """What about an instruction is not as its kind has it; None where all is."""
    op, results, args, _, parameters = instruction
    if kind.operands == ANY:
        if kind.pairs and len(args) % 2:
            return f"{op} takes pairs"
        if len(args) < kind.least:
            return f"{op} of nothing"
    elif len(args) != kind.operands:
        return f"{op} takes {kind.operands} operands, has {len(args)}"
    if len(results) != 1 and not (kind.several and results):
        return f"{op} has {len(results)} results"
    if len(parameters) != len(kind.parameters):
        names = ", ".join(each.name for each in kind.parameters) or "none"
        return f"{op} has {len(parameters)} parameters, its kind lists {names}"
    for each, given in zip(kind.parameters, parameters):
        if not each.fits(given):
            return f"the {each.name} of {op} is {given!r}, not {each.words}"
    return None
