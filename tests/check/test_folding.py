"""One illness, one alarm: which verdicts are told under which."""

from __future__ import annotations

import pytest

from retrograde.check.folding import (
    FOLLOWS,
    after,
    always,
    folded_under_causes,
    late,
    later,
    made_zero,
    same_gate,
    same_groups,
    same_line,
)
from retrograde.check.report import ALARM, NOTE, Verdict
from retrograde.sites import Site

LINE, OTHER = Site("net.py", 7, "f"), Site("net.py", 9, "f")


def verdict(kind, severity=ALARM, site=LINE, began=1, groups=("a",), **more):
    group = groups[0] if groups else ""
    return Verdict(kind, severity, group, kind, site, began=began, groups=groups, **more)


@pytest.mark.parametrize(
    ("cause", "others", "test"), FOLLOWS, ids=lambda x: getattr(x, "__name__", str(x)[:40])
)
def test_every_row_of_the_table_folds(cause, others, test):
    """The cause keeps its alarm and has the other under it, in whatever order they come."""
    for kind in others:
        first = verdict(cause, began=2, groups=("a", "b"))
        site, source = (OTHER, LINE) if test is made_zero else (LINE, None)
        groups = ("a", "b") if test is same_gate else ("a",)
        second = verdict(kind, site=site, began=3, groups=groups, source=source)
        assert test(first, second)
        for order in ([first, second], [second, first]):
            (kept,) = folded_under_causes(order)
            told = {kept.kind, *(each.kind for each in kept.consequences)}
            assert told == {cause, kind}
            assert len(kept.consequences) == 1


def test_what_must_hold_of_the_two():
    one = verdict("x", began=2, groups=("a", "b"))
    assert always(one, one)
    assert same_line(one, verdict("y"))
    assert not same_line(one, verdict("y", site=OTHER))
    assert same_line(one, verdict("y", site=OTHER, source=LINE))
    assert not same_line(verdict("x", site=None), verdict("y", site=None))
    assert same_gate(one, verdict("y", groups=("b", "a")))
    assert not same_gate(one, verdict("y"))
    assert not same_gate(one, verdict("y", site=OTHER, groups=("a", "b")))
    assert same_groups(one, verdict("y", groups=("b",)))
    assert same_groups(one, verdict("y", groups=("b", "a")))
    assert not same_groups(one, verdict("y", groups=("b", "c")))
    assert not same_groups(one, verdict("y", groups=()))
    assert made_zero(one, verdict("y", site=OTHER, source=LINE))
    assert not made_zero(one, verdict("y", source=LINE))
    assert not made_zero(one, verdict("y", site=OTHER, source=OTHER))
    assert not made_zero(verdict("x", site=None), verdict("y", source=None))
    times = {1: (0, 0, 0), 2: (1, 1, 0), 3: (1, 1, 1), 0: (1, 0, 0)}
    for began, expected in times.items():
        other = verdict("y", began=began)
        found = (later(one, other), late(one, other), after(one, other))
        assert found == tuple(map(bool, expected)), began
    start = verdict("x", began=1)
    assert later(start, verdict("y", began=1))
    assert not late(start, verdict("y", began=1))
    assert after(start, verdict("y", began=2))
    unknown = verdict("x", began=0)
    assert not later(unknown, verdict("y"))
    assert not after(unknown, verdict("y"))
    assert not late(unknown, verdict("y"))


def kinds(verdicts):
    return [(v.kind, [c.kind for c in v.consequences]) for v in folded_under_causes(verdicts)]


def test_a_note_is_no_cause_of_an_alarm():
    note, alarm = verdict("dead units", NOTE), verdict("dead gate", groups=("a", "b"))
    assert kinds([note, alarm]) == [("dead gate", []), ("dead units", [])]
    quiet = verdict("dead gate", NOTE, groups=("a", "b"))
    assert kinds([note, quiet]) == [("dead units", ["dead gate"])]
    assert kinds([verdict("dead units"), quiet]) == [("dead units", ["dead gate"])]


def test_what_is_over_neither_causes_nor_follows():
    past = verdict("dead units", NOTE, ended=4)
    quiet = verdict("dead gate", NOTE, groups=("a", "b"))
    assert kinds([past, quiet]) == [("dead units", []), ("dead gate", [])]
    gone = verdict("dead gate", NOTE, groups=("a", "b"), ended=4)
    assert kinds([verdict("dead units"), gone]) == [("dead units", []), ("dead gate", [])]


def test_alarms_come_first_and_else_the_order_stays():
    found = [verdict("frozen", NOTE), verdict("flat"), verdict("cancelled", NOTE), verdict("odd")]
    assert [v.kind for v in folded_under_causes(found)] == ["flat", "odd", "frozen", "cancelled"]


def test_what_follows_from_a_consequence_is_told_under_the_cause():
    """A step that is too long kills relus; what is behind them is silent."""
    long = verdict("learning rate", site=None, began=3, groups=())
    dead = verdict("dead units", began=4)
    gates = verdict("dead gate", began=4, groups=("a", "b"))
    factors = verdict("zero factor", began=4, site=OTHER, source=LINE, groups=("c",))
    for order in ([long, dead, gates, factors], [factors, gates, dead, long]):
        (kept,) = folded_under_causes(order)
        assert kept.kind == "learning rate"
        assert {each.kind for each in kept.consequences} == {
            "dead units", "dead gate", "zero factor",
        }  # fmt: skip
        assert all(not each.consequences for each in kept.consequences)


def test_two_illnesses_stay_two():
    found = [verdict("dead units"), verdict("dead gate", site=OTHER, groups=("b",))]
    assert len(folded_under_causes(found)) == 2
    found = [verdict("detached"), verdict("unreachable", groups=("c",))]
    assert len(folded_under_causes(found)) == 2
    assert len(folded_under_causes([verdict("detached"), verdict("flat")])) == 2


def test_no_verdict_is_lost():
    every = [verdict(kind, began=i % 4) for i, (kind, _, _) in enumerate(FOLLOWS)]
    folded = folded_under_causes(every)
    told = [v.kind for top in folded for v in (top, *top.consequences)]
    assert sorted(told) == sorted(v.kind for v in every)
