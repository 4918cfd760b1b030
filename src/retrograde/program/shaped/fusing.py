"""Steps put together: maps over one box, with what is summed behind them, become one step.

A step goes into the latest group of its box if all it reads is made before that group, or in it
number by number. So nothing is looked for twice, however long the program is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ...ops.arrays.flat import strides
from ...ops.arrays.programs import NUMBERS
from .steps import Layout, Map, Operand, Product, Reduce, Shape, Step

MOST_OPERANDS, MOST_STEPS, MOST_ROOMS = 24, 32, 12
"""What one group holds at most, as ``native/kernels/shaped.h`` has it."""
MOST_REDUCTIONS = 4


@dataclass
class Group:
    """Maps and reductions over one box; or one other step, alone."""

    box: Shape | None
    steps: list[Step] = field(default_factory=list)
    inside: set[int] = field(default_factory=set)
    outside: set[Operand] = field(default_factory=set)

    def has_room(self, step: Step) -> bool:
        """Whether another map or reduction fits in."""
        if len(self.steps) >= MOST_STEPS:
            return False
        reductions = sum(isinstance(it, Reduce) for it in self.steps)
        if isinstance(step, Reduce) and reductions >= MOST_REDUCTIONS:
            return False
        args = step.args if isinstance(step, Map) else (step.arg,)
        more = {it for it in args if it.root not in self.inside}
        stored = len(self.inside) + reductions + 1
        return len(self.outside | more) + stored <= MOST_OPERANDS and stored <= MOST_ROOMS

    def add(self, step: Step) -> None:
        """One more step."""
        self.steps.append(step)
        if isinstance(step, Map):
            self.outside.update(it for it in step.args if it.root not in self.inside)
            self.inside.add(step.result)
        elif isinstance(step, Reduce) and step.arg.root not in self.inside:
            self.outside.add(step.arg)


def grouped(steps: Sequence[Step]) -> list[Group]:
    """All steps in groups, in an order in which everything is made before it is read."""
    groups: list[Group] = []
    made: dict[int, int] = {}
    latest: dict[Shape, int] = {}
    for step in steps:
        place = -1
        if isinstance(step, (Map, Reduce)):
            place = latest.get(step.box, -1)
            if place >= 0 and not _fits(step, groups[place], place, made):
                place = -1
        if place < 0:
            place = len(groups)
            box = step.box if isinstance(step, (Map, Reduce)) else None
            groups.append(Group(box))
            if box is not None:
                latest[box] = place
        groups[place].add(step)
        made[step.result] = place
    return groups


def _fits(step: Map | Reduce, group: Group, place: int, made: dict[int, int]) -> bool:
    args = step.args if isinstance(step, Map) else (step.arg,)
    order = strides(step.box)
    for it in args:
        where = made.get(it.root, -1)
        if where > place:
            return False
        if where == place and (it.root not in group.inside or it.offset != 0 or it.steps != order):
            return False
    return group.has_room(step)


def accumulated(steps: Sequence[Step], kept: set[int]) -> tuple[list[Step], dict[int, int]]:
    """Products that are only added to something become products that add to it.

    ``kept`` are roots that must stay as they are. What comes back with the steps says which roots
    are now others.
    """
    uses = Counter(root for step in steps for root in step.reads)
    last = {root: place for place, step in enumerate(steps) for root in step.reads}
    makers = {step.result: (place, step) for place, step in enumerate(steps)}
    renamed: dict[int, int] = {}
    gone: set[int] = set()
    changed: dict[int, Product] = {}
    for place, step in enumerate(steps):
        if not isinstance(step, Map) or step.op != NUMBERS["add"]:
            continue
        found = _added(step, place, makers, uses, last, kept)
        if found is None:
            continue
        at, product, total = found
        total = renamed.get(total, total)
        if at in changed:
            continue
        changed[at] = replace(product, result=total, c=replace(product.c, root=total), adds=True)
        renamed[step.result] = total
        gone.add(place)
    result: list[Step] = []
    for place, step in enumerate(steps):
        if place not in gone:
            result.append(_with_roots(changed.get(place, step), renamed))
    return result, renamed


def _added(
    step: Map,
    place: int,
    makers: dict[int, tuple[int, Step]],
    uses: Counter[int],
    last: dict[int, int],
    kept: set[int],
) -> tuple[int, Product, int] | None:
    """The product that a sum adds last, and the total it could be added to in place."""
    order = strides(step.box)
    if any(it.offset != 0 or it.steps != order for it in step.args):
        return None
    for one, other in (step.args, step.args[::-1]):
        at, product = makers.get(one.root, (-1, None))
        before, _ = makers.get(other.root, (-1, None))
        if (
            isinstance(product, Product)
            and not product.adds
            and uses[one.root] == 1
            and one.root not in kept
            and other.root not in kept
            and 0 <= before < at
            and uses[other.root] == 1
            and last[other.root] == place
        ):
            return at, product, other.root
    return None


def turned(
    steps: Sequence[Step], layouts: dict[int, Layout], outputs: Sequence[int]
) -> tuple[list[Step], dict[int, Layout]]:
    """Products of which only the transpose is asked for make that."""
    read = {root for step in steps for root in step.reads}
    asked = Counter(layouts[number].root for number in outputs)
    found = dict(layouts)
    result = list(steps)
    places = {step.result: place for place, step in enumerate(steps)}
    for number in outputs:
        of = layouts[number]
        place = places.get(of.root, -1)
        step = steps[place] if place >= 0 else None
        if not isinstance(step, Product) or step.loops or of.root in read or asked[of.root] > 1:
            continue
        m, n, k = step.sizes
        if of.offset != 0 or of.in_order or of.steps != (1, n) or of.shape != (n, m):
            continue
        a = replace(step.b, row=step.b.column, column=step.b.row)
        b = replace(step.a, row=step.a.column, column=step.a.row)
        c = replace(step.c, row=m)
        result[place] = replace(step, sizes=(n, m, k), a=a, b=b, c=c)
        found[number] = of._replace(steps=(m, 1))
    return result, found


def _with_roots(step: Step, renamed: dict[int, int]) -> Step:
    """A step that reads totals where they are now."""
    if not renamed:
        return step
    if isinstance(step, Map):
        return replace(step, args=tuple(_moved(it, renamed) for it in step.args))
    if isinstance(step, Product):
        a = replace(step.a, root=renamed.get(step.a.root, step.a.root))
        b = replace(step.b, root=renamed.get(step.b.root, step.b.root))
        return replace(step, a=a, b=b)
    arg = getattr(step, "arg", None)
    if isinstance(arg, Operand):
        return replace(step, arg=_moved(arg, renamed))
    if arg is not None:
        return replace(step, arg=(renamed.get(arg[0], arg[0]), arg[1]))
    args = tuple((renamed.get(root, root), offset) for root, offset in step.args)
    return replace(step, args=args)


def _moved(it: Operand, renamed: dict[int, int]) -> Operand:
    return it._replace(root=renamed.get(it.root, it.root))
