"""How data flows between groups of values: in which order they stand, and groups taken apart where
data would flow out of one and back into it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from .belonging import Path, depths_of

if TYPE_CHECKING:
    from .entries import Node


class Flow:
    """The graph under groups: who uses whom."""

    def __init__(self, inputs: Sequence[Sequence[int]], depths: Sequence[int]) -> None:
        self._inputs, self._depths = inputs, depths

    def order(self, parts: Sequence[Sequence[int]]) -> list[int] | None:
        """The parts as data flows through them, those nearer to the leaves first; None where it
        flows in a circle.

        >>> flow = Flow([(), (0,), (1,)], [0, 1, 2])
        >>> flow.order([(2,), (0, 1)]), flow.order([(0, 2), (1,)])
        ([1, 0], None)
        """
        home = {value: place for place, part in enumerate(parts) for value in part}
        into: list[set[int]] = [set() for _ in parts]
        for value, place in home.items():
            for it in self._inputs[value]:
                other = home.get(it, place)
                if other != place:
                    into[place].add(other)
        uses: list[list[int]] = [[] for _ in parts]
        for place, others in enumerate(into):
            for other in others:
                uses[other].append(place)
        waiting = [len(others) for others in into]
        depths = [sum(self._depths[it] for it in part) / len(part) for part in parts]
        ready = [(depths[place], parts[place][0], place) for place in range(len(parts))
                 if not waiting[place]]  # fmt: skip
        heapify(ready)
        found = []
        while ready:
            place = heappop(ready)[2]
            found.append(place)
            for use in uses[place]:
                waiting[use] -= 1
                if not waiting[use]:
                    heappush(ready, (depths[use], parts[use][0], use))
        return found if len(found) == len(parts) else None


FEW_TURNS = 2
"""Turns of a circle up to which its groups are only counted up; more are a loop."""

TURN = "turn"


def refined(nodes: Sequence[Node], given: Sequence[Path]) -> list[Path]:
    """Paths under which no group's values flow out of it and back.

    Where they would, once, a group is two, counted up; groups that many turns of a loop go through
    lie inside the turns.
    """
    depths = depths_of(nodes)
    paths = list(given)
    values = [node.id for node in nodes if node.op != "number"]
    pending: list[tuple[int, list[int]]] = [(0, values)]
    while pending:
        depth, members = pending.pop()
        keys: dict[int, Hashable] = {
            value: paths[value][depth] if len(paths[value]) > depth else value for value in members
        }
        circles, turns = _turns(nodes, members, keys, depths)
        last: dict[int, int] = {}
        for value, turn in turns.items():
            circle = circles[keys[value]]
            last[circle] = max(last.get(circle, 0), turn)
        for value, turn in turns.items():
            if not nodes[value].inputs:
                continue
            head, rest = paths[value][:depth], paths[value][depth:]
            circle = circles[keys[value]]
            if last[circle] >= FEW_TURNS:
                loop = f"loop {circle + 1} · " if len(last) > 1 else ""
                paths[value] = (*head, f"{loop}{TURN} {turn + 1}", *rest)
            elif turn and rest:
                paths[value] = (*head, f"{rest[0]} · {turn + 1}", *rest[1:])
        inside: dict[str, list[int]] = {}
        for value in members:
            if len(paths[value]) > depth:
                inside.setdefault(paths[value][depth], []).append(value)
        pending.extend((depth + 1, part) for part in inside.values() if len(part) > 1)
    for node in reversed(nodes):  # a number goes with its first use
        for it in node.inputs:
            if nodes[it].op == "number":
                paths[it] = paths[node.id]
    return paths


def _turns(
    nodes: Sequence[Node],
    members: Sequence[int],
    keys: dict[int, Hashable],
    depths: Sequence[int],
) -> tuple[dict[Hashable, int], dict[int, int]]:
    """The groups that flow in a circle, each with the number of its circle; by value of those, how
    often the flow has come back before it."""
    into: dict[Hashable, set[Hashable]] = {key: set() for key in keys.values()}
    for value in members:
        for it in nodes[value].inputs:
            if it in keys and keys[it] != keys[value]:
                into[keys[value]].add(keys[it])
    circles = _circles(into)
    if not circles:
        return {}, {}
    nearest: dict[Hashable, int] = {}
    for value in members:
        if nodes[value].inputs:
            near = nearest.get(keys[value], depths[value])
            nearest[keys[value]] = min(near, depths[value])
    turns: dict[int, int] = {}
    for value in members:  # inputs stand before uses
        key = keys[value]
        if key not in circles:
            continue
        turn = 0
        for it in nodes[value].inputs:
            if it in keys and circles.get(keys[it]) == circles[key]:
                here, there = (nearest.get(keys[it], -1), str(keys[it])), (
                    nearest.get(key, -1), str(key),
                )  # fmt: skip
                turn = max(turn, turns[it] + (keys[it] != key and here > there))
        turns[value] = turn
    return circles, turns


def _circles(into: dict[Hashable, set[Hashable]]) -> dict[Hashable, int]:
    """The groups on circles, each with the number of its circle: Tarjan's algorithm, on a stack."""
    index: dict[Hashable, int] = {}
    lowest: dict[Hashable, int] = {}
    on_stack: set[Hashable] = set()
    stack: list[Hashable] = []
    found: dict[Hashable, int] = {}
    for start in into:
        if start in index:
            continue
        work = [(start, iter(into[start]))]
        index[start] = lowest[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            key, others = work[-1]
            for other in others:
                if other not in index:
                    index[other] = lowest[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(into[other])))
                    break
                if other in on_stack:
                    lowest[key] = min(lowest[key], index[other])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[key])
                if lowest[key] == index[key]:
                    circle = []
                    while True:
                        circle.append(stack.pop())
                        on_stack.discard(circle[-1])
                        if circle[-1] == key:
                            break
                    if len(circle) > 1:
                        found |= dict.fromkeys(circle, len(set(found.values())))
    return found
