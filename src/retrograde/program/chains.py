"""Chains: products that are added up one after another, gathered into one step.

An adjoint is a chain of ``fma``, each handing its result only to the next: what a matrix gives back
to one of its inputs, what all uses of a weight give to it. As one step it is the same operations in
the same order, so the same bits; but a partial sum needs no slot meanwhile, and a link no dispatch.
In exchange the operands of its links are kept until the last one, so a chain is only gathered where
that costs no more slots than it frees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from ..ops import OPS
from .program import ROW, SEED, Instruction, Program

_LINKS = ("fma", OPS["mul"].name)
"""What a chain is made of; a product only begins one."""
LEAST_LINKS = 4
"""Products from which on one step is worth it."""


def gathered(program: Program, outputs: Sequence[int]) -> list[Instruction]:
    """The instructions, chains in them as ``chain``: lefts, then rights, then what it starts from.

    Without a start the first product is it.
    """
    work = _Chains(program, outputs)
    accepted = {links[-1]: links for links in work.found() if work.is_worth(links)}
    if not accepted:
        return program.instructions
    gone = {position for links in accepted.values() for position in links}
    made = []
    for position, instruction in enumerate(program.instructions):
        if position in accepted:
            made.append(work.as_one(accepted[position]))
        elif position not in gone:
            made.append(instruction)
    return made


class _Chains:
    """The chains of a program, and what is needed to judge them."""

    def __init__(self, program: Program, outputs: Sequence[int]) -> None:
        self.instructions = program.instructions
        self.varying = {i for i, given in program.inputs.items() if given.kind in (ROW, SEED)}
        self.last: dict[int, int] = {}
        conditions = (guard.condition for guard in program.guards)
        read = chain.from_iterable(args for _, _, args, _, _ in self.instructions)
        self.uses = Counter(chain(outputs, conditions, read))
        varying, last = self.varying, self.last
        for position, (_, results, args, _, _) in enumerate(self.instructions):
            for arg in args:
                last[arg] = position
            if not varying.isdisjoint(args):
                varying.update(results)
        self.sharing: Counter[int] = Counter()
        """How many links use a number."""

    def found(self) -> list[list[int]]:
        """The chains: positions of their links in order."""
        links = dict(self._links())
        before = set(links.values())
        chains = []
        for end in links:
            if end in before:
                continue
            one = [end]
            while one[-1] in links:
                one.append(links[one[-1]])
            if len(one) >= LEAST_LINKS:
                chains.append(one[::-1])
        for one in chains:
            for position in one:
                self.sharing.update(self.instructions[position].args[:2])
        return chains

    def _links(self) -> Iterator[tuple[int, int]]:
        """Positions of two links of which the first hands its result to the second alone."""
        made_at: dict[int, int] = {}
        for position, (op, results, args, _, _) in enumerate(self.instructions):
            if op not in _LINKS or results[0] not in self.varying:
                continue
            made_at[results[0]] = position
            if op == "fma" and self.uses[args[2]] == 1 and args[2] in made_at:
                yield position, made_at[args[2]]

    def is_worth(self, links: list[int]) -> bool:
        """Whether its operands wait no longer, all in all, than a partial sum would."""
        end, waiting = links[-1], 0.0
        for position in links:
            for operand in set(self.instructions[position].args[:2]) & self.varying:
                waiting += max(end - self.last[operand], 0) / self.sharing[operand]
        return waiting <= end - links[0]

    def as_one(self, links: list[int]) -> Instruction:
        """The chain as one instruction, in the place of its last link."""
        parts = [self.instructions[position] for position in links]
        lefts, rights = [part.args[0] for part in parts], [part.args[1] for part in parts]
        start = parts[0].args[2:]
        return Instruction("chain", parts[-1].results, (*lefts, *rights, *start), parts[-1].site)
