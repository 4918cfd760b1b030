"""Loops that run through columns of the rows, eight rounds written as one.

Eight adjacent columns are loaded in hardly more time than one of them, since rows lie in memory
one after another. The ids of a loop stay what they were: only its rounds are counted otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

from .loops import Item, Loop, Rolled, operands_of
from .program import ROW, SEED, Instruction

EIGHT = 8
LEAST = 64
"""Rounds from which on it is worth the steps."""
MOST = 200
"""Instructions of a loop up to which eight rounds of it are not too many."""


def by_eights(rolled: Rolled) -> Rolled:
    """The same program."""
    inputs = rolled.frame.inputs.items()
    columns = {index for index, given in inputs if given.kind in (ROW, SEED)}
    if not columns:
        return rolled
    items, _ = _grouped(rolled.items, [], columns)
    return Rolled(rolled.frame, items, rolled.tables)


def _grouped(
    items: Sequence[Item], outer: list[list[int]], columns: set[int]
) -> tuple[list[Item], list[list[int]]]:
    """Items, and the strides of their operands in each of the loops around them."""
    found: list[Item] = []
    strides: list[list[int]] = [[] for _ in outer]
    done = 0
    for item in items:
        width = len(operands_of(item))
        mine = [each[done : done + width] for each in outer]
        done += width
        made: list[Item] = [item]
        if isinstance(item, Loop):
            body, around = _grouped(item.body, [*mine, list(item.strides)], columns)
            loop = item._replace(body=tuple(body), strides=tuple(around.pop()))
            made, mine = [loop], around
            if _runs_through(loop, columns):
                made = _eight_rounds(loop)
                copies = EIGHT + (len(made) > 1)
                mine = [each * copies for each in around]
        found += made
        for all_strides, more in zip(strides, mine):
            all_strides += more
    return found, strides


def _runs_through(loop: Loop, columns: set[int]) -> bool:
    """Whether a loop reads another column in each round."""
    if loop.trips < LEAST or any(isinstance(part, Loop) for part in loop.body):
        return False
    moving = zip(operands_of(loop), loop.strides)
    return len(loop.body) <= MOST and any(abs(s) == 1 and i in columns for i, s in moving)


def _eight_rounds(loop: Loop) -> list[Item]:
    """Eight rounds at a time, and what is left."""
    trips, left = divmod(loop.trips, EIGHT)
    body = [part for number in range(EIGHT) for part in _round(loop, number)]
    moves = tuple([EIGHT * stride for stride in loop.strides] * EIGHT)
    made: list[Item] = [Loop(trips, tuple(body), EIGHT * loop.period, moves)]
    if left:
        made.append(loop._replace(trips=left, body=tuple(_round(loop, trips * EIGHT))))
    return made


def _round(loop: Loop, number: int) -> list[Item]:
    """The instructions of one round."""
    operands = [base + number * s for base, s in zip(operands_of(loop), loop.strides)]
    made: list[Item] = []
    done = 0
    for part in loop.body:
        assert isinstance(part, Instruction)
        width = len(part.args)
        results = tuple([result + number * loop.period for result in part.results])
        args = tuple(operands[done : done + width])
        made.append(part._replace(results=results, args=args))
        done += width
    return made
