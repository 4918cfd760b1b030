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


def turns_of(nodes: Sequence[Node], values: Sequence[int], depths: Sequence[int]) -> dict[int, int]:
    """By value made on one line: the turn of the loop that runs through the line; nothing where no
    loop does, or several. What a turn does not compute from the turn before is of its first use."""
    sites = [site for value in values if (site := nodes[value].site) is not None]
    lines = {(site.file, site.line) for site in sites}
    if len(lines) != 1:
        return {}
    keys: dict[int, Hashable] = {it: id(nodes[it].site) for it in values}  # one an instruction
    circles, turns = _turns(nodes, values, keys, depths, within=True)
    if len(set(circles.values())) != 1 or max(turns.values()) < FEW_TURNS:
        return {}
    looping = set(turns)
    first: dict[int, int] = {}
    for value in reversed(values):
        if value in first and value not in looping:
            turns[value] = first[value]
        for it in nodes[value].inputs if value in turns else ():
            first[it] = min(first.get(it, turns[value]), turns[value])
    for value in values:
        if value not in turns:
            turns[value] = max((turns.get(it, 0) for it in nodes[value].inputs), default=0)
    return turns


def _turns(
    nodes: Sequence[Node],
    members: Sequence[int],
    keys: dict[int, Hashable],
    depths: Sequence[int],
    within: bool = False,
) -> tuple[dict[Hashable, int], dict[int, int]]:
    """The groups that flow in a circle, each with the number of its circle; by value of those, how
    often the flow has come back before it. What flows ``within`` a group is no circle unless told.
    """
    into: dict[Hashable, set[Hashable]] = {key: set() for key in keys.values()}
    for value in members:
        for it in nodes[value].inputs:
            if it in keys and (within or keys[it] != keys[value]):
                into[keys[value]].add(keys[it])
    circles = _circles(into)
    if not circles:
        return {}, {}
    nearest: dict[Hashable, int] = {}
    for value in members:
        if nodes[value].inputs:
            near = nearest.get(keys[value], depths[value])
            nearest[keys[value]] = min(near, depths[value])

    def back(it: int, value: int) -> bool:
        """Whether the flow from one to the other begins the next turn."""
        here, there = keys[it], keys[value]
        if here == there:
            return within
        return (nearest.get(here, -1), str(here)) > (nearest.get(there, -1), str(there))

    turns: dict[int, int] = {}
    latest: dict[int, int] = {}
    circling = [
        (value, [it for it in nodes[value].inputs
                 if it in keys and circles.get(keys[it]) == circles[keys[value]]])
        for value in members if keys[value] in circles
    ]  # fmt: skip
    for value, inputs in circling:  # inputs stand before uses
        turns[value] = max((turns[it] + back(it, value) for it in inputs), default=0)
    for value, inputs in reversed(circling):  # what comes from no turn is of its first use
        if not turns[value]:
            turns[value] = latest.get(value, 0)
        for it in inputs:
            turn = turns[value] - back(it, value)
            latest[it] = min(latest.get(it, turn), turn)
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
                    if len(circle) > 1 or key in into[key]:
                        found |= dict.fromkeys(circle, len(set(found.values())))
    return found
