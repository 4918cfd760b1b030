"""One illness, one alarm: which verdicts are told under which; and the words and cures."""

from __future__ import annotations

import pytest

from retrograde._shared.sites import Site
from retrograde.diagnose.cures import cure_of, rate_cure
from retrograde.diagnose.folding import (
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
    whole_layer,
)
from retrograde.diagnose.phrases import all_rows, listed, on_line, over, parameters, since
from retrograde.diagnose.report import ALARM, NOTE, Verdict

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
        source = LINE if test is whole_layer else source
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
    assert whole_layer(one, verdict("y", source=LINE))
    assert not whole_layer(one, verdict("y"))
    assert not whole_layer(one, verdict("y", site=OTHER, source=OTHER))
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


# ---- words and cures --------------------------------------------------------------------------


def test_words_of_lists_and_times():
    assert listed(list("abcd")) == "'a', 'b', 'c', 'd'"
    assert listed(list("abcde")) == "'a', 'b', 'c', 'd' and 1 more group"
    assert listed(["a"]) == "'a'"
    assert [since(began, 9) for began in (0, 1, 2)] == ["", "", " since pass 2 of 9"]
    assert [over(3, 3), over(3, 4)] == ["in pass 3", "in passes 3 to 4"]
    assert [on_line(None), on_line(LINE)] == ["", " on line 7"]
    assert [parameters("w", 1), parameters("w", 2000)] == ["'w'", "2,000 parameters ('w', …)"]
    assert [all_rows(1), all_rows(2), all_rows(2000)] == [
        "the only row",
        "all 2 rows",
        "all 2,000 rows",
    ]


ILLNESSES = {
    "vanishing", "exploding", "dead units", "saturated units", "identical units", "no optimizer",
    "reset too soon", "rebuilt", "ascent", "stale", "never reached", "overwrites", "unreachable",
    "detached", "dead gate", "zero factor", "flat", "saturated gate", "growing graph", "no step",
}  # fmt: skip


def test_every_illness_has_its_cure():
    for kind in ILLNESSES:
        assert cure_of(kind).endswith("."), kind
    assert cure_of("frozen") == cure_of("cancelled") == ""
    for kind, word in {
        "vanishing": "residual", "exploding": "clip_grad_norm", "dead units": "leaky_relu",
        "saturated units": "sqrt(1 / inputs)", "identical units": "random", "stale": "zero_grad()",
    }.items():  # fmt: skip
        assert word in cure_of(kind)


@pytest.mark.parametrize("kind", ["dead units", "saturated units", "dead gate", "saturated gate"])
def test_what_shut_while_learning_is_cured_by_shorter_steps(kind):
    assert cure_of(kind, 1) == cure_of(kind)
    assert cure_of(kind, 2).startswith("A step before pass 2 was too long. Lower the learning rate")
    assert cure_of(kind, 2).endswith(cure_of(kind))
    assert cure_of("flat", 2) == cure_of("flat")


@pytest.mark.parametrize(
    ("ratio", "usual", "cure"),
    [
        (1.0, 1e-2, "Divide the learning rate by about 100."),
        (0.0123, 1e-3, "Divide the learning rate by about 10."),
        (1e-3, 1e-3, "Multiply the learning rate by about 1."),
        (3e-8, 1e-3, "Multiply the learning rate by about 30,000."),
    ],
)
def test_the_learning_rate_is_given_a_factor(ratio, usual, cure):
    assert rate_cure(ratio, usual) == cure
    if usual == 1e-3:
        assert rate_cure(ratio) == cure
