"""Records made by hand, to put a rule just below, at and above each of its thresholds."""

from __future__ import annotations

import numpy as np

import retrograde as rg
from retrograde._shared.sites import Site
from retrograde.diagnose.judge import report_of
from retrograde.diagnose.parameters import parameters_of
from retrograde.diagnose.thresholds import Thresholds
from retrograde.diagnose.units import Unit
from retrograde.diagnose.value_history import ValueHistory
from retrograde.diagnose.zeros import Zero

LINE, OTHER = Site("net.py", 7, "forward"), Site("net.py", 9, "forward")


def record(passes=1, groups=(("a", 2), ("b", 2)), **thresholds):
    """A record of healthy passes over some groups of parameters, the first of them deepest."""
    nest = {name: [rg.Value(1.0) for _ in range(size)] for name, size in groups}
    made = ValueHistory(parameters_of(nest), Thresholds.chosen(thresholds))
    count = len(made.parameters)
    made.passes = passes
    made.loss = 1.0
    made.reached[:] = True
    made.component[:] = 0
    made.depths[:] = [2 * (len(groups) - number) for number in made.parameters.group_of]
    made.largest[:] = 1.0
    made._squares = [np.ones(count), np.zeros(count)]
    made._largest = [np.ones(count), np.zeros(count)]
    made._averaged = [1, 0]
    for spells in vars(made).values():
        if type(spells).__name__ == "Spells":
            spells.total[:] = passes
    return made


def spell(spells, times, began=1, index=0, seen=None, total=None, longest=0, past=(0, 0)):
    """Give one entry of some spells a present spell, and one that has ended."""
    spells.began[index], spells.times[index] = began if times else 0, times
    spells.seen[index] = times if seen is None else seen
    if total is not None:
        spells.total[index] = total
    spells.longest[index] = longest
    spells.past_began[index], spells.past_ended[index] = past


def silent(made, numbers, zero=None, times=None, began=1, uses=100, missing=False, **more):
    """Make parameters silent: for a reason, or because no pass reaches them."""
    for number in numbers:
        times_ = made.passes if times is None else times
        spell(made.silent, times_, began, number, **more)
        if zero is not None:
            made.zeros[number] = (0, zero)
        made.zero_uses[number] = uses
        made.missing[number] = missing


def unit(made, number, rows=8, shut=None, op="relu", **more):
    """A unit owned by a parameter; where it is shut, since the first pass."""
    shut = rows if shut is None else shut
    found = Unit(op, op in ("tanh", "sigmoid"), None, rows, shut, **more)
    if "run" not in more and shut == rows:
        found.began, found.run, found.passes = 1, rows, made.passes
    made.units[number] = [found]
    return found


def verdicts(made):
    """Every verdict of a record, as (severity, kind, group)."""
    return [(v.severity, v.kind, v.group) for v in report_of(made).verdicts]


def alarms(made):
    """The kinds of the alarms of a record."""
    return [v.kind for v in report_of(made).alarms]


def gate(site=LINE):
    return Zero("dead gate", "the relu on line 7 is off", "relu", site)
