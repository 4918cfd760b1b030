"""Spells, units and cuts over time: small state machines, step by step."""

from __future__ import annotations

import numpy as np
import pytest

from retrograde._shared.sites import Site
from retrograde._values.cuts import OFTEN
from retrograde.diagnose.severed import MOST_LINES, Cuts
from retrograde.diagnose.spells import Spells
from retrograde.diagnose.units import Unit


def after(text, slack=1):
    """The spells of one thing: x where it holds, - where not, . where a pass does not count."""
    spells = Spells(1, slack)
    for number, sign in enumerate(text, start=1):
        spells.update(number, np.array([sign == "x"]), np.array([sign != "."]))
    return spells


@pytest.mark.parametrize(
    ("text", "slack", "began", "times", "seen", "total", "longest", "past"),
    [
        ("", 1, 0, 0, 0, 0, 0, (0, 0)),
        ("x", 1, 1, 1, 1, 1, 0, (0, 0)),
        ("-x", 1, 2, 1, 1, 2, 0, (0, 0)),
        ("xx-", 1, 0, 0, 0, 3, 2, (1, 2)),
        ("xx-x", 1, 4, 1, 1, 4, 2, (1, 2)),
        ("xx-xxx-", 1, 0, 0, 0, 7, 3, (4, 6)),
        ("xxx-xx-", 1, 0, 0, 0, 7, 3, (1, 3)),
        ("xx-xx-", 1, 0, 0, 0, 6, 2, (4, 5)),
        ("xx.x", 1, 1, 3, 3, 3, 0, (0, 0)),
        (".x", 1, 2, 1, 1, 1, 0, (0, 0)),
        ("xx-x", 2, 1, 3, 4, 4, 0, (0, 0)),
        ("xx--x", 2, 5, 1, 1, 5, 2, (1, 2)),
        ("xx-.-x", 2, 6, 1, 1, 5, 2, (1, 2)),
        ("xx-x-", 2, 1, 3, 5, 5, 0, (0, 0)),
        ("xx-x--", 2, 0, 0, 0, 6, 3, (1, 4)),
    ],
)
def test_a_spell_is_followed(text, slack, began, times, seen, total, longest, past):
    spells = after(text, slack)
    found = [int(each[0]) for each in (spells.began, spells.times, spells.seen, spells.total)]
    assert found == [began, times, seen, total]
    assert (int(spells.longest[0]), (int(spells.past_began[0]), int(spells.past_ended[0]))) == (
        longest, past,
    )  # fmt: skip


def test_things_are_followed_apart_and_ends_are_told():
    spells = Spells(3)
    spells.update(1, np.array([True, True, False]))
    ending = spells.update(2, np.array([True, False, False]))
    assert ending.tolist() == [False, True, False]
    assert spells.began.tolist() == [1, 0, 0]
    assert not spells.update(3, np.array([False, False, False]), np.array([False] * 3)).any()
    assert spells.update(3, np.array([False, False, False])).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("text", "slack", "patience", "beyond", "share", "present"),
    [
        ("x", 1, 3, 2, 1.0, True),
        ("xx", 1, 3, 2, 1.0, True),
        ("-xx", 1, 3, 2, 1.0, False),
        ("-xxx", 1, 3, 2, 1.0, True),
        ("xxx-", 1, 3, 2, 1.0, False),
        ("x-xxx", 1, 3, 2, 1.0, True),
        ("xx-xxx", 1, 3, 2, 1.0, False),
        ("xx-xxxx", 1, 3, 2, 1.0, False),
        ("xx-xxxxx", 1, 3, 2, 1.0, True),
        ("xx-xxx", 1, 3, 1, 1.0, True),
        ("xx-xx", 1, 3, 1, 1.0, False),
        ("--x-x", 3, 3, 0, 0.5, False),
        ("--x-x-x", 3, 3, 0, 0.5, True),
        ("x--x--x", 3, 3, 0, 0.5, False),
        ("x-", 3, 3, 0, 0.5, True),
        ("x--", 3, 3, 0, 0.5, False),
        ("", 1, 0, 0, 0.0, False),
        ("-", 1, 0, 0, 0.0, False),
    ],
)
def test_what_is_present(text, slack, patience, beyond, share, present):
    assert after(text, slack).present(patience, beyond, share).tolist() == [present]
    if (beyond, share) == (2, 1.0):
        assert after(text, slack).present(patience).tolist() == [present]


def test_what_has_ended_is_not_present_whatever_is_asked():
    assert after("xx-").present(0, 0, 0.0).tolist() == [False]
    assert after("---").present(0, 0, 0.0).tolist() == [False]


# ---- units ------------------------------------------------------------------------------------


def unit(*passes):
    found = Unit("relu", False)
    for number, (rows, shut) in enumerate(passes, start=1):
        found.add(number, rows, shut)
    return found


def test_a_unit_is_followed():
    found = unit((8, 8), (8, 8), (8, 7), (4, 4))
    assert (found.rows, found.shut, found.began, found.run, found.passes) == (28, 27, 4, 4, 1)
    assert (found.longest, found.past) == (16, (1, 2))
    found = unit((8, 8), (8, 7), (8, 8), (8, 8), (8, 0), (8, 8), (8, 8), (8, 0))
    assert (found.longest, found.past, found.began, found.run) == (16, (3, 4), 0, 0)
    assert unit((8, 0)).past == (0, 0)
    fresh = Unit("relu", False)
    assert (fresh.began, fresh.run, fresh.longest, fresh.last, fresh.site) == (0, 0, 0, 0, None)
    code = test_a_unit_is_followed.__code__
    assert Unit("relu", False, (code, 0)).site.line >= code.co_firstlineno


@pytest.mark.parametrize(
    ("passes", "shut"),
    [
        ([(1, 1)], True),  # always, however few
        ([(8, 0)], False),
        ([(8, 0), *[(8, 8)] * 2], False),  # not for long enough
        ([(8, 0), *[(8, 8)] * 3], True),
        ([(8, 0), *[(7, 7)] * 3], True),  # small batches, but most of the time
        ([*[(7, 0)] * 4, *[(7, 7)] * 3], False),
        ([*[(8, 0)] * 4, *[(8, 8)] * 3], True),  # whole batches
        ([(1, 0), *[(2, 2)] * 3], False),  # few rows
        ([(1, 0), *[(2, 2)] * 4], True),
        ([(1, 0), (8, 8), (1, 0), *[(8, 8)] * 3], True),
        ([(1, 0), *[(8, 8)] * 2, (1, 0), *[(8, 8)] * 4], False),  # as long as twice before
        ([(1, 0), *[(8, 8)] * 2, (1, 0), *[(8, 8)] * 5], True),
        ([*[(4, 0)] * 3, *[(4, 4)] * 3], True),  # just half
    ],
)
def test_when_a_unit_is_shut(passes, shut):
    assert unit(*passes).is_shut(8, 3) == shut


# ---- cuts -------------------------------------------------------------------------------------


def line(number):
    return Site("net.py", number, "f")


def test_cuts_are_remembered_by_line():
    cuts = Cuts(3)
    assert not cuts
    cuts.note([0, 2], "detach()", line(1), 4)
    cuts.note([1], "no_grad()", line(2), 6)
    assert cuts
    assert cuts.cut_since(np.array([4, 7, 5])).tolist() == [True, False, False]
    assert cuts.cut_since(np.array([4, 6, 4])).tolist() == [True, True, True]
    assert cuts.of(0, 4).site == line(1)
    assert cuts.of(0, 5) is None
    assert cuts.of(1, 6).how == "no_grad()"
    assert cuts.of(1, 1).times == 1
    cuts.note([2], "no_grad()", line(2), 7)
    assert cuts.of(2, 1).site == line(2)
    assert cuts.of(1, 7).times == 2


def test_a_line_that_cuts_often_is_not_reported_each_time():
    cuts = Cuts(1)
    for _ in range(OFTEN - 1):
        cuts.note([0], "detach()", line(1), 1)
    assert cuts.of(0, 2) is None
    cuts.note([0], "detach()", line(1), 1)
    assert cuts.of(0, 2) is not None


def test_lines_are_bounded():
    cuts = Cuts(1)
    for number in range(MOST_LINES):
        cuts.note([], "detach()", line(number), 1)
    assert cuts.line("detach()", line(MOST_LINES), 1) is None
    cuts.note([0], "detach()", line(MOST_LINES), 1)
    assert cuts.of(0, 1) is None
    assert cuts.line("detach()", line(0), 2).times == 2
