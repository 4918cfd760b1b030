"""Numbers made in the order in which they are read, where only one step reads them.

A copy into another order is left out: the map or the product before it writes that order itself. A
product that one map reads in another order writes that too, so that the map goes straight on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from ...ops.arrays.flat import strides
from .steps import Map, Matrix, Operand, Pack, Product, Shape, Step


def in_order(steps: Sequence[Step], kept: set[int]) -> list[Step]:
    """Steps without copies that the step before can make unnecessary.

    ``kept`` are roots that somebody else reads.
    """
    uses = Counter(root for step in steps for root in step.reads)
    places = {step.result: place for place, step in enumerate(steps)}
    result: list[Step | None] = list(steps)

    def maker(it: Operand) -> tuple[int, Step | None]:
        """The step that makes an operand for one reader alone, and its place."""
        place = places.get(it.root, -1)
        alone = it.offset == 0 and uses[it.root] == 1 and it.root not in kept
        return place, result[place] if alone and place >= 0 else None

    for number, step in enumerate(steps):
        if isinstance(step, Pack):
            place, before = maker(step.arg)
            made: Step | None = None
            if isinstance(before, Product):
                made = _written(before, step.box, step.arg.steps)
            elif isinstance(before, Map):
                made = _walked(before, step.box, step.arg.steps)
                made = made and _straight(made, result, maker)
            if made is not None:
                result[place] = _as(made, step.result)
                places[step.result] = place
                result[number] = None
        elif isinstance(step, Map):
            result[number] = _straight(step, result, maker)
    return [step for step in result if step is not None]


def _straight(
    step: Map, result: list[Step | None], maker: Callable[[Operand], tuple[int, Step | None]]
) -> Map:
    """A map whose operands, where products make them for it, come in its own order."""
    order = strides(step.box)
    args = list(step.args)
    for n, it in enumerate(args):
        if it.steps == order or args.count(it) > 1:
            continue
        place, before = maker(it)
        if not isinstance(before, Product):
            continue
        made = _written(before, step.box, it.steps)
        if made is not None:
            result[place] = made
            args[n] = it._replace(steps=order)
    return replace(step, args=tuple(args))


def _as(step: Map | Product, result: int) -> Step:
    """A step that makes another root."""
    if isinstance(step, Product):
        return replace(step, result=result, c=replace(step.c, root=result))
    return replace(step, result=result)


def _written(product: Product, box: Shape, steps: Shape) -> Product | None:
    """A product that writes in order what is read by these steps; None where it cannot."""
    if product.adds:
        return None
    order = dict(zip(zip(box, steps), strides(box)))
    m, n, _ = product.sizes
    c = product.c
    row = order.get((m, c.row)) if m > 1 else c.row
    column = order.get((n, 1)) if n > 1 else 1
    turns = tuple(order.get(it, 0) for it in zip(product.loops, c.turns))
    count = (m > 1) + (n > 1) + len(turns)
    if row is None or column is None or 0 in turns or not len(order) == len(box) == count:
        return None
    if column != 1:
        if row != 1:
            return None
        product, row = _turned(product), column
    return replace(product, c=replace(product.c, row=row, turns=turns))


def _turned(product: Product) -> Product:
    """The transpose of a product, which has the same bits."""
    m, n, k = product.sizes

    def transpose(it: Matrix) -> Matrix:
        return replace(it, row=it.column, column=it.row)

    return replace(product, sizes=(n, m, k), a=transpose(product.b), b=transpose(product.a))


def _walked(step: Map, box: Shape, steps: Shape) -> Map | None:
    """A map that goes over its box in another order of axes; None where that is not all."""
    order = strides(step.box)
    if sorted(zip(box, steps)) != sorted(zip(step.box, order)):
        return None
    axes = [order.index(it) for it in steps]
    args = tuple(it._replace(steps=tuple(it.steps[axis] for axis in axes)) for it in step.args)
    return replace(step, args=args, box=box)
