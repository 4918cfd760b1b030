"""Every rule of the judge, on records just below, at and above each of its thresholds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from retrograde._shared.birth import Operand
from retrograde.diagnose.births import Births
from retrograde.diagnose.judge import members_of, report_of
from retrograde.diagnose.rebuilding import Rebuilding
from retrograde.diagnose.zeros import Zero

from .histories import LINE, OTHER, alarms, gate, record, silent, spell, unit, verdicts


def only(made):
    """The one verdict of a record; what is over is no alarm."""
    (found,) = report_of(made).verdicts
    assert found.severity == "note" or found.ended == 0
    return found


def test_a_healthy_record_has_no_verdict():
    for passes in (1, 2, 50):
        assert verdicts(record(passes)) == []


# ---- vanishing and exploding ------------------------------------------------------------------


@pytest.mark.parametrize("which", ["vanishing", "exploding"])
@pytest.mark.parametrize(
    ("passes", "times", "seen", "sick"),
    [
        (1, 1, 1, True),
        (2, 1, 2, True),  # half of all passes
        (3, 1, 3, False),
        (10, 2, 2, False),  # late, and too short
        (10, 3, 3, True),  # late, and long enough
        (10, 3, 6, True),
        (10, 3, 7, False),  # not in half of the passes of its spell
        (10, 0, 0, False),
    ],
)
def test_a_profile_is_judged_by_its_spell(which, passes, times, seen, sick):
    made = record(passes)
    spell(getattr(made, which), times, passes - seen + 1, seen=seen, total=passes)
    assert alarms(made) == ([which] if sick else [])


def test_the_sentences_say_how_far_since_when_and_how_often():
    made = record(10)
    spell(made.vanishing, 4, 7)
    made.fall = 3e-9
    found = only(made)
    assert found.sentence == (
        "Vanishing since pass 7 of 10: 4 products and functions below the loss, at 'a', gradients "
        "are 3.0e-09 of what they are nearer to it (threshold 1e-06; in 4 of 4 passes)."
    )
    assert (found.group, found.began, found.ended) == ("a", 7, 0)
    assert "residual" in found.cure
    made = record(1)
    spell(made.exploding, 1)
    made.rise = 5e7
    found = only(made)
    assert found.sentence == (
        "Exploding: gradients grow 5.0e+07-fold on the way down from the loss (threshold 1e+06)."
    )
    assert (found.group, found.began) == ("a", 1)
    assert "clip_grad_norm" in found.cure


@pytest.mark.parametrize("which", ["vanishing", "exploding"])
def test_a_spell_need_not_be_longer_than_those_before(which):
    made = record(20)
    spell(getattr(made, which), 3, 18, total=20, longest=9, past=(1, 9))
    assert alarms(made) == [which]


@pytest.mark.parametrize("which", ["vanishing", "exploding"])
def test_two_passes_are_counted_and_one_is_not(which):
    made = record(2)
    spell(getattr(made, which), 1, 2, seen=1, total=2)
    assert "; in 1 of 1 passes)" in only(made).sentence
    made = record(1)
    spell(getattr(made, which), 1)
    assert "passes)" not in only(made).sentence


@pytest.mark.parametrize("which", ["vanishing", "exploding"])
@pytest.mark.parametrize(("longest", "said"), [(2, False), (3, True)])
def test_a_profile_that_is_over_is_a_note(which, longest, said):
    made = record(20)
    spell(getattr(made, which), 0, longest=longest, past=(3, 2 + longest))
    assert verdicts(made) == ([("note", which, "a")] if said else [])
    if said:
        found = only(made)
        assert (found.began, found.ended) == (3, 5)
        assert "in passes 3 to 5, and do so no longer" in found.sentence
    spell(getattr(made, which), 1, 20, seen=1, total=20, longest=longest, past=(3, 2 + longest))
    assert verdicts(made) == []  # it may be beginning again


def faint(ratio, weight=1.0, depths=(4, 2)):
    made = record(5)
    made._squares[0][:2] = ratio**2
    for value in made.parameters.values[:2]:
        value.data = weight
    made.depths[:] = [depths[0], depths[0], depths[1], depths[1]]
    return made


@pytest.mark.parametrize(
    ("made", "sick"),
    [
        (faint(0.9e-8), True),
        (faint(1.1e-8), False),
        (faint(0.9e-8, weight=2.0), False),  # what it would change is not so faint
        (faint(0.9e-8, weight=0.5), True),
        (faint(0.9e-8, depths=(2, 2)), False),  # it is no deeper
        (faint(0.9e-8, depths=(3, 2)), True),
    ],
)
def test_a_faint_group_is_vanishing(made, sick):
    assert verdicts(made) == ([("alarm", "vanishing", "a")] if sick else [])


def test_a_faint_group_is_measured_by_the_root_mean_square():
    made = record(5, (("a", 100), ("b", 1)))
    made._squares[0][:100] = (0.95e-8) ** 2  # its norm is ten times that
    for value in made.parameters.values[:100]:
        value.data = 0.1
    assert verdicts(made) == [("alarm", "vanishing", "a")]
    assert "gradients of 'a' are 9.5e-09 of those of 'b' (threshold 1e-08)" in only(made).sentence


@pytest.mark.parametrize("strongest", [100.0, 0.01])
def test_a_faint_group_is_measured_by_the_strongest(strongest):
    for ratio, sick in ((0.9e-8, True), (1.1e-8, False)):
        made = faint(ratio * strongest)
        made._squares[0][2:] = strongest**2
        assert bool(verdicts(made)) == sick


def test_at_its_thresholds_a_group_is_not_faint():
    made = faint(2.0**-27)
    made.thresholds = type(made.thresholds)(faint=2.0**-27)
    assert verdicts(made) == []
    made = faint(2.0**-28, weight=2.0)
    made.thresholds = type(made.thresholds)(faint=2.0**-27)
    assert verdicts(made) == []  # by what it would change


def test_a_group_without_gradients_does_not_vanish():
    made = faint(0.0)
    made._largest[0][:2] = 0.0
    assert verdicts(made) == []


def test_rounding_is_not_vanishing():
    made = faint(0.9e-8)
    made.noise = np.array([True, True, False, False])
    assert verdicts(made) == []
    made.noise[0] = False
    assert verdicts(made) == [("alarm", "vanishing", "a")]
    made.largest[0] = 0.0  # what never was anything is not asked
    assert verdicts(made) == []


def test_underflow_is_vanishing():
    made = record(3)
    silent(made, [0, 1], Zero("underflow"), began=2, times=3)
    found = only(made)
    assert (found.kind, found.group, found.parameters, found.began) == ("vanishing", "a[0]", 2, 2)
    assert "2 parameters ('a[0]', …) are smaller than the smallest number" in found.sentence
    silent(made, [1], Zero("underflow"), times=0)
    assert "gradients of 'a[0]' are" in only(made).sentence
    made.silent.times[0] = 1  # not now
    assert verdicts(made) == []


@pytest.mark.parametrize(("norm", "sick"), [(0.99e8, False), (1.01e8, True)])
@pytest.mark.parametrize(("loss", "scale"), [(0.01, 1.0), (1.0, 1.0), (-50.0, 50.0), (7.0, 7.0)])
def test_gradient_times_weight_is_measured_by_the_loss(norm, sick, loss, scale):
    made = record(5)
    made.loss = loss
    made._squares[0][:2] = (norm * scale) ** 2 / 2
    made.parameters.values[0].data = made.parameters.values[1].data = 0.5**0.5
    made._squares[0][2:] = (0.1 * norm * scale) ** 2
    made.steep.began[0] = 4
    assert alarms(made) == (["exploding"] if sick else [])
    if sick:
        found = only(made)
        assert (found.group, found.groups, found.began) == ("a", ("a",), 4)
        assert found.sentence.startswith("Exploding since pass 4 of 5: gradient × weight of 'a' is")


def test_at_its_threshold_a_group_is_not_steep():
    made = record(5, (("a", 1), ("b", 1)), steep=2.0**20)
    made._squares[0][0] = 2.0**40
    assert verdicts(made) == []
    made._squares[0][0] = 2.0**42
    assert alarms(made) == ["exploding"]


def test_the_worst_of_steep_groups_is_so_by_its_weights_too():
    made = record(5, (("a", 1), ("b", 1)))
    made._squares[0][:] = 1e18
    made.parameters.values[0].data = 10.0
    assert only(made).group == "a"


def test_of_steep_groups_the_worst_is_named():
    made = record(5)
    made._squares[0][:] = [1e18, 0, 1e20, 0]
    found = only(made)
    assert (found.group, found.groups) == ("b", ("a", "b"))
    made._squares[0][2] = math.inf
    made._largest[0][2] = math.inf
    assert only(made).groups == ("a",)  # infinite gradients are told as births


def test_gradients_that_are_not_finite_neither_vanish_nor_explode():
    made = faint(1e-9)
    made._squares[0][2] = 1e20
    spell(made.not_finite, 2, 4)
    assert verdicts(made) == []
    spell(made.vanishing, 5)
    assert verdicts(made) == []


def test_an_explosion_that_ended_in_infinities_is_told():
    made = record(8)
    made.birth_pass = 6
    spell(made.not_finite, 3, 6)
    for began, told in ((1, True), (5, True), (6, False), (0, False)):
        spell(made.exploding, 1, began, seen=1)
        made.exploding.began[0] = began
        assert alarms(made) == (["exploding"] if told else []), began
    spell(made.exploding, 0, longest=9, past=(1, 3))
    assert verdicts(made) == []  # what is past is not worth telling then


# ---- births -----------------------------------------------------------------------------------


class Born:
    def __init__(self, phase, site=LINE):
        self.op, self.result, self.site, self.cure = "log", -math.inf, site, "Keep it above 0."
        self.target, self.partial, self.upstream, self.cause = "x", math.inf, 0.0, "0 × inf"
        self.how_many, self.group = 0, ""


def born(forward=(), backward=(), finite=False, gradients=1, passes=3, now=1):
    made = record(passes)
    made.births = Births.__new__(Births)
    for name, value in {
        "forward": forward, "backward": backward, "roots_are_finite": finite,
        "gradients": gradients, "values": 1,
    }.items():  # fmt: skip
        object.__setattr__(made.births, name, value)
    made.birth_pass = 2
    spell(made.not_finite, now, 2 if now else 0, past=(2, 2))
    return made


@pytest.mark.parametrize(
    ("finite", "gradients", "severities"),
    [
        (False, 1, ["alarm"]),
        (False, 0, ["alarm"]),
        (True, 1, ["alarm"]),
        (True, 0, ["note"]),
    ],
)
def test_a_birth_that_reaches_something_is_an_alarm(finite, gradients, severities):
    made = born((), (Born("backward"),), finite, gradients)
    assert [v.severity for v in report_of(made).verdicts] == severities


def test_what_does_not_reach_the_result_is_told_beside_what_does():
    made = born((Born("forward"),), (Born("backward"),), True, 1)
    found = only(made)
    assert (found.kind, [v.kind for v in found.consequences]) == (
        "birth backward", ["birth forward"],
    )  # fmt: skip
    assert "it does not reach the result" in found.consequences[0].sentence
    made = born((Born("forward"),), (Born("backward"),), False, 1)
    found = only(made)
    assert (found.kind, [v.kind for v in found.consequences]) == (
        "birth forward", ["birth backward"],
    )  # fmt: skip
    assert "reach the result" not in found.sentence


def test_births_say_where_when_and_what_to_do():
    found = only(born((Born("forward"),)))
    assert found.sentence == "Birth in the forward pass (pass 2): log made -inf on line 7."
    assert (found.site, found.cure, found.began, found.ended) == (LINE, "Keep it above 0.", 2, 0)
    assert "(pass 2)" in only(born((Born("forward"),), passes=2)).sentence
    found = only(born((), (Born("backward", None),), passes=1))
    assert found.sentence == (
        "Birth in the backward pass: log made the gradient of x -inf: partial inf × upstream 0.0 "
        "(0 × inf)."
    )


class BornInArray(Born):
    def __init__(self, phase, site=LINE, because="", operands=()):
        super().__init__(phase, site)
        self.how_many, self.because, self.operands = 3, because, operands

    def in_an_array(self):
        return "log made 3 of 8 numbers nan"


def test_a_birth_in_an_array_says_what_is_behind_it():
    found = only(born((BornInArray("forward", because="its input has zeros"),)))
    assert found.sentence == (
        "Birth in the forward pass (pass 2): log made 3 of 8 numbers nan on line 7; its input has "
        "zeros."
    )
    assert only(born((BornInArray("forward"),))).sentence.endswith("nan on line 7.")


@pytest.mark.parametrize(
    ("site", "operand", "first"),
    [
        (OTHER, math.nan, "birth forward"),
        (OTHER, 1.0, "birth backward"),
        (LINE, math.nan, "birth backward"),
    ],
)
def test_a_masked_nan_that_a_rule_on_another_line_takes_in_comes_first(site, operand, first):
    operands = (Operand("w", 2.0), Operand("x", operand))
    backward = BornInArray("backward", site, operands=operands)
    found = only(born((BornInArray("forward", LINE),), (backward,), finite=True))
    assert found.kind == first


def test_a_birth_that_is_over_is_a_note():
    found = only(born((Born("forward"),), now=0, passes=9))
    assert (found.severity, found.began, found.ended) == ("note", 2, 2)
    assert found.sentence.endswith("It was in pass 2; everything is finite since.")
    harmless = only(born((Born("forward"),), finite=True, gradients=0, now=0))
    assert (harmless.severity, harmless.ended) == ("note", 0)
    assert "is finite since" not in harmless.sentence


# ---- zeros ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "whole", "part"),
    [
        ("dead gate", "alarm", "note"),
        ("saturated gate", "alarm", "note"),
        ("flat", "alarm", "note"),
        ("zero factor", "alarm", "note"),
        ("cancelled", "note", "note"),
    ],
)
def test_a_silent_group_is_sick_where_all_of_it_is(kind, whole, part):
    for numbers, severity in (([0, 1], whole), ([1], part)):
        made = record(4)
        silent(made, numbers, Zero(kind, "the op", "op", LINE))
        found = only(made)
        assert (found.severity, found.kind, found.group) == (severity, kind, "a")
        assert (found.site, found.parameters, found.began) == (LINE, len(numbers), 1)
        assert bool(found.cure) == (found.severity == "alarm")


@pytest.mark.parametrize(
    ("how", "numbers", "severity"),
    [
        ("detach()", [0, 1], "alarm"),
        ("detach()", [1], "alarm"),  # a parameter cut by detach is never healthy
        ("no_grad()", [0, 1], "alarm"),
        ("no_grad()", [1], "note"),  # it may be what evaluation alone has used
        (None, [0, 1], "alarm"),
        (None, [1], "note"),
    ],
)
def test_what_is_not_reached_is_detached_where_a_line_cut_it(how, numbers, severity):
    made = record(4)
    silent(made, numbers, missing=True)
    if how:
        made.cuts.note(numbers, how, LINE, 1)
    found = only(made)
    assert (found.severity, found.kind) == (severity, "detached" if how else "unreachable")
    assert found.site == (LINE if how else None)
    if how:
        who = "'a'" if len(numbers) == 2 else "'a[1]'"
        assert found.sentence.startswith(f"{who}: detached, {how} on line 7 cuts it off")


def test_a_cut_counts_in_the_silence_it_was_made_in():
    for number, kind in ((4, "unreachable"), (5, "detached"), (6, "detached")):
        made = record(9)
        silent(made, [0, 1], missing=True, began=5, times=5, total=9)
        made.cuts.note([0, 1], "detach()", LINE, number)
        assert only(made).kind == kind, number
    made = record(9)
    silent(made, [0, 1], missing=True, began=5, times=5, total=9)
    made.cuts.note([0, 1], "detach()", OTHER, 5)
    made.cuts.note([0, 1], "detach()", LINE, 6)
    assert only(made).site == LINE  # the latest


def test_unreached_beside_detached_is_of_the_same_line():
    made = record(4)
    silent(made, [0, 1], missing=True)
    made.cuts.note([0], "detach()", LINE, 1)
    found = only(made)
    assert (found.kind, found.parameters) == ("detached", 2)


def test_what_no_pass_reached_is_missing():
    made = record(4)
    silent(made, [0, 1])
    made.reached[:2] = False
    found = only(made)
    assert found.sentence == (
        "'a': unreachable, no path from the loss leads there. It is not used, or was cut off by "
        ".data, detach() or no_grad()."
    )
    silent(made, [2, 3])
    made.reached[:] = False
    found = only(made)
    assert "They are not used, or were cut off" in found.sentence
    assert (found.group, found.groups) == ("b", ("a", "b"))
    made.rebuilding.replaced = 1
    assert only(made).sentence.endswith("Other values have taken their place in the graph.")
    made.rebuilding.replaced = 0
    made.cuts.note([], "detach()", LINE, 1)
    assert only(made).sentence.endswith("no path from the loss leads there.")


def test_frozen_parameters_are_a_note():
    made = record(4)
    silent(made, [0, 1], missing=True)
    for value in made.parameters.values[:2]:
        value.requires_grad = False
    found = only(made)
    assert (found.severity, found.sentence) == ("note", "'a': frozen, requires_grad is False.")


def test_a_group_is_of_the_kind_that_most_of_it_is():
    made = record(4, (("a", 5), ("b", 2)))
    silent(made, [0, 1, 2], gate())
    silent(made, [3, 4], Zero("flat", "the floor", "floor", OTHER))
    assert verdicts(made) == [("alarm", "dead gate", "a"), ("note", "flat", "a")]
    made = record(4)
    silent(made, [0], gate())
    silent(made, [1], Zero("flat", "the floor", "floor", OTHER))
    assert set(verdicts(made)) == {("alarm", "dead gate", "a"), ("alarm", "flat", "a")}


def test_one_reason_is_one_verdict_whatever_groups_it_concerns():
    made = record(4, (("a", 2), ("b", 2), ("c", 2)))
    silent(made, [0, 1, 2, 3], gate())
    found = only(made)
    assert found.sentence == (
        "'a', 'b': zero gradient behind a dead gate: the relu on line 7 is off."
    )
    assert (found.group, found.groups, found.parameters) == ("b", ("a", "b"), 4)
    silent(made, [4, 5], gate(OTHER))
    assert len(verdicts(made)) == 2
    silent(made, [1, 3], gate(), times=0)
    silent(made, [4, 5], gate(), times=0)
    found = only(made)
    assert found.sentence.startswith("2 of 4 parameters of 'a', 'b': zero gradient behind")


def test_the_nearest_group_is_the_one_with_the_least_depth():
    made = record(4, (("a", 1), ("b", 1), ("c", 1)))
    made.depths[:] = [5, 3, 9]
    silent(made, [0, 1, 2], gate())
    assert only(made).group == "b"
    made.depths[:] = [-1, 3, 2]
    assert only(made).group == "c"
    made.depths[:] = -1
    made.depths[1] = 0
    assert only(made).group == "b"


@pytest.mark.parametrize(
    ("passes", "times", "uses", "total", "sick"),
    [
        (1, 1, 7, 1, False),
        (1, 1, 8, 1, True),  # enough rows
        (10, 10, 8, 10, True),  # from the beginning
        (10, 4, 31, 10, False),  # late, in passes of few rows
        (10, 4, 32, 10, True),  # late, but over whole batches
        (10, 5, 8, 10, True),  # half of the time
    ],
)
def test_a_gate_is_dead_over_enough_rows(passes, times, uses, total, sick):
    made = record(passes)
    silent(made, [0, 1], gate(), times=times, began=passes - times + 1, uses=uses, total=total)
    expected = ("alarm" if sick else "note", "dead gate", "a")
    assert verdicts(made) == [expected]


def test_the_rows_of_a_gate_are_the_most_of_its_parameters_and_all_must_be_silent_as_long():
    made = record(10)
    silent(made, [0, 1], gate(), times=4, began=7, uses=8)
    made.zero_uses[1] = 32
    assert alarms(made) == ["dead gate"]
    made.silent.times[1] = 10  # one from the beginning, one late: whole batches needed
    made.silent.began[1] = 1
    made.zero_uses[:2] = 31
    assert alarms(made) == []
    made.silent.times[0] = 5
    assert alarms(made) == ["dead gate"]


@pytest.mark.parametrize(
    ("times", "longest", "missing", "cut", "quiet"),
    [
        (2, 0, True, False, False),
        (3, 0, True, False, True),
        (3, 1, True, False, True),
        (3, 2, True, False, False),  # it was away nearly as long before
        (4, 2, True, False, False),
        (5, 2, True, False, True),
        (3, 2, True, True, True),  # a line was seen that cut it
        (3, 3, True, True, False),
        (2, 0, True, True, False),
        (3, 2, False, True, False),  # the cut is of no account: it is reached
    ],
)
def test_a_late_silence_must_be_longer_than_is_usual(times, longest, missing, cut, quiet):
    made = record(20)
    zero = Zero("flat", "the floor", "floor", LINE)
    silent(made, [0, 1], zero, times=times, began=21 - times, missing=missing, total=20,
           longest=longest)  # fmt: skip
    if cut:
        made.cuts.note([0, 1], "detach()", LINE, 21)
    found = report_of(made).alarms
    assert bool(found) == quiet
    if quiet:
        assert f"since pass {21 - times} of 20" in found[0].sentence


def test_a_late_silence_of_a_part_is_told_only_where_it_is_cut_off():
    for zero, missing, said in (
        (Zero("flat", "the floor", "floor", LINE), False, False),
        (None, True, True),
    ):
        made = record(20)
        silent(made, [0], zero, times=5, began=16, missing=missing, total=20)
        assert bool(verdicts(made)) == said
    made = record(20)
    silent(made, [0], gate(), began=2, times=19, total=20)
    assert verdicts(made) == []
    silent(made, [0], gate(), began=1)
    assert verdicts(made) == [("note", "dead gate", "a")]
    silent(made, [0, 1], gate(), times=4, began=17, uses=5, total=20)
    assert verdicts(made) == [("note", "dead gate", "a")]  # whole, but of few rows


def factor(learning=-1, minimum=False, source=None):
    return Zero(
        "zero factor", "the mul multiplies by 'b' = 0", "mul", LINE, learning, minimum, source
    )


def test_a_zero_that_learns_ends_with_the_next_step():
    made = record(4)
    silent(made, [0, 1], factor(2))
    found = only(made)
    assert found.severity == "note"
    assert found.sentence.endswith("a parameter which learns, so this ends with the next step.")
    silent(made, [2, 3], factor(0))
    assert alarms(made) == ["zero factor"]  # neither learns
    made = record(4)
    silent(made, [0, 1], factor(0))
    assert alarms(made) == ["zero factor"]
    made = record(4)
    silent(made, [0, 1], factor(-1))
    found = only(made)
    assert found.severity == "alarm"
    assert found.sentence == "'a': multiplied by an exact zero: the mul multiplies by 'b' = 0."


def test_the_first_parameter_may_be_the_zero_that_learns():
    made = record(4)
    silent(made, [2, 3], factor(0))
    assert only(made).severity == "note"


def test_every_zero_must_learn():
    made = record(4, (("a", 2), ("b", 2), ("c", 2)))
    silent(made, [0], factor(2))
    silent(made, [1], factor(4))
    assert only(made).severity == "note"
    silent(made, [4, 5], gate(OTHER))
    assert ("alarm", "zero factor", "a") in verdicts(made)


def test_a_square_at_its_minimum_is_no_illness():
    made = record(4)
    silent(made, [0, 1], factor(minimum=True))
    found = only(made)
    assert found.severity == "note"
    assert found.sentence.endswith("The loss may simply be at its minimum.")


@pytest.mark.parametrize(
    ("loss_since", "silent_since", "at_rest"),
    [(0, 5, False), (4, 5, True), (5, 5, True), (6, 5, False), (1, 1, False), (2, 2, True)],
)
def test_a_loss_of_zero_leaves_nothing_to_learn(loss_since, silent_since, at_rest):
    made = record(20)
    silent(made, [0, 1], gate(), times=21 - silent_since, began=silent_since)
    spell(made.zero_loss, int(loss_since > 0), loss_since)
    found = only(made)
    assert found.severity == ("note" if at_rest else "alarm")
    assert found.sentence.endswith("nothing is left to learn.") == at_rest


def test_a_loss_of_zero_excuses_no_cut():
    made = record(20)
    silent(made, [0, 1], times=15, began=6, missing=True)
    spell(made.zero_loss, 16, 5)
    found = only(made)
    assert (found.severity, "nothing is left" in found.sentence) == ("alarm", False)


@pytest.mark.parametrize(
    ("kind", "words"),
    [("dead gate", "a dead gate"), ("flat", "a flat op"), ("saturated gate", "a saturated gate")],
)
def test_the_kinds_of_gates_in_words(kind, words):
    made = record(4)
    silent(made, [0, 1], Zero(kind, "the op", "op", LINE))
    assert only(made).sentence == f"'a': zero gradient behind {words}: the op."


def test_cancelled_contributions_are_a_note():
    made = record(4)
    silent(made, [0, 1])
    found = only(made)
    assert found.sentence == "'a': contributions arrive and add up to exactly zero."
    assert found.severity == "note"


def past(made, numbers, began, ended, zero):
    from retrograde.diagnose.history import Past

    for number in numbers:
        made.past[number] = Past(began, ended, zero)


def test_a_silence_that_is_over_is_a_note():
    made = record(20)
    past(made, [0, 1], 3, 7, gate())
    found = only(made)
    assert found.sentence == (
        "'a': no gradient in passes 3 to 7 (the relu on line 7 is off), and healthy since."
    )
    assert (found.severity, found.began, found.ended, found.groups) == ("note", 3, 7, ("a",))
    past(made, [2, 3], 3, 7, gate())
    found = only(made)
    assert (found.groups, found.parameters, found.group) == (("a", "b"), 4, "b")
    past(made, [3], 4, 7, gate())
    assert len(verdicts(made)) == 2


@pytest.mark.parametrize(
    ("spells", "said"),
    [
        ([(3, 7), None], False),  # a part of the group
        ([(3, 7), (5, 9)], True),  # together in three passes
        ([(3, 7), (6, 9)], False),
    ],
)
def test_a_silence_that_is_over_was_of_a_whole_group(spells, said):
    made = record(20)
    for number, each in enumerate(spells):
        if each:
            past(made, [number], *each, gate())
    assert bool(verdicts(made)) == said
    if said:
        assert (only(made).began, only(made).ended) == (5, 7)


def test_of_the_past_only_illnesses_are_told_and_not_beside_the_present():
    made = record(20)
    past(made, [0, 1], 3, 7, Zero("frozen"))
    past(made, [2, 3], 3, 7, Zero("cancelled"))
    assert verdicts(made) == []
    past(made, [0, 1], 3, 7, Zero("unreachable"))
    assert only(made).sentence == "'a': no gradient in passes 3 to 7, and healthy since."
    past(made, [0, 1], 3, 7, Zero("detached", "detach()", "", LINE))
    assert "(detach() on line 7 cut it off)" in only(made).sentence
    silent(made, [0, 1], gate(), times=11, began=10)
    assert verdicts(made) == [("alarm", "dead gate", "a")]
    silent(made, [0], gate(), times=0)
    assert verdicts(made)[-1] == ("note", "detached", "a")


# ---- units ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "shut", "units", "severity"),
    [
        (8, 9, 10, "alarm"),
        (7, 10, 10, "note"),
        (8, 8, 10, "note"),
        (8, 1, 1, "alarm"),
    ],
)
@pytest.mark.parametrize("op", ["relu", "tanh"])
def test_units_are_sick_where_most_are_shut_over_enough_rows(rows, shut, units, severity, op):
    made = record(1, (("a", 10), ("b", 2)))
    for number in range(units):
        unit(made, number, rows, rows if number < shut else rows - 1, op)
    found = only(made)
    kind = "dead units" if op == "relu" else "saturated units"
    assert (found.severity, found.kind, found.group) == (severity, kind, "a")
    assert (found.parameters, bool(found.cure)) == (shut, severity == "alarm")
    who = f"{shut} of {units} units" if units > 1 else "1 of 1 unit"
    assert found.sentence.startswith(f"{who} of 'a' {'is' if shut == 1 else 'are'} ")
    assert f"in all {rows} rows (threshold 0.9 of the units)" in found.sentence


def test_the_rows_of_units_are_the_most_of_them():
    made = record(1)
    unit(made, 0, 3)
    unit(made, 1, 8)
    assert alarms(made) == ["dead units"]


def test_units_in_words():
    made = record(30)
    unit(made, 0, 40, 30, run=30, passes=3, began=28)
    found = only(made)
    assert found.sentence == (
        "1 of 1 unit of 'a' is dead since pass 28 of 30: its relu is off in all 30 rows (threshold "
        "0.9 of the units)."
    )
    assert found.cure.startswith("A step before pass 28 was too long. Lower the learning rate")
    assert "leaky_relu" in found.cure
    made = record(1)
    unit(made, 0, 1, op="tanh")
    assert only(made).sentence == (
        "1 of 1 unit of 'a' is saturated: the slope of its tanh is at most 0.001 of its steepest "
        "in the only row (threshold 0.9 of the units)."
    )


def test_gates_and_saturating_units_are_counted_apart():
    made = record(1, (("a", 4), ("b", 2)))
    unit(made, 0, 8)
    unit(made, 1, 8, 0, "tanh")
    assert alarms(made) == ["dead units"]
    unit(made, 1, 8, 8, "tanh")
    assert set(alarms(made)) == {"dead units", "saturated units"}


def test_units_of_several_groups_are_one_verdict_where_they_shut_at_once():
    made = record(9)
    unit(made, 0, 20)
    unit(made, 2, 20)
    found = only(made)
    assert (found.groups, found.parameters) == (("a", "b"), 2)
    made.units[2][0].began = 4
    assert len(report_of(made).verdicts) == 1  # later: a consequence
    assert [v.kind for v in only(made).consequences] == ["dead units"]


@pytest.mark.parametrize(
    ("loss_since", "began", "sick"), [(0, 5, True), (4, 5, False), (5, 5, False), (6, 5, True)]
)
def test_the_units_of_a_loss_of_zero_are_excused(loss_since, began, sick):
    made = record(20)
    unit(made, 0, 40, 32, run=32, passes=4, began=began)
    spell(made.zero_loss, int(loss_since > 0), loss_since)
    assert verdicts(made) == [("alarm" if sick else "note", "dead units", "a")]


@pytest.mark.parametrize(
    ("ended", "longest", "said"),
    [(4, 16, False), (5, 24, True), (5, 23, False), (6, 32, True)],
)
def test_units_that_work_again_are_a_note(ended, longest, said):
    made = record(20)
    unit(made, 0, 80, 40, longest=longest, past=(3, ended))
    assert bool(verdicts(made)) == said
    if said:
        found = only(made)
        assert (found.severity, found.kind, found.ended) == ("note", "dead units", ended)
        assert found.sentence == (
            f"1 of 1 unit of 'a' were dead in passes 3 to {ended}, and work since."
        )


def test_revived_units_count_with_those_that_are_still_shut():
    made = record(20, (("a", 3), ("b", 2)))
    unit(made, 0, 80, 40, longest=40, past=(3, 7), op="tanh")
    unit(made, 1, 80, 40, op="tanh")
    assert verdicts(made) == []
    unit(made, 1, 80, 80, op="tanh")
    unit(made, 2, 80, 40, longest=48, past=(2, 6), op="tanh")
    found = [v for v in report_of(made).verdicts if v.ended]
    assert [(v.began, v.ended, v.parameters) for v in found] == [(3, 6, 2)]
    assert "saturated in passes 3 to 6" in found[0].sentence


@pytest.mark.parametrize(("past", "said"), [(9, True), (8, False)])
def test_revived_units_are_told_where_they_were_most(past, said):
    made = record(20, (("a", 10), ("b", 2)))
    for number in range(10):
        unit(made, number, 80, 40, longest=40 if number < past else 0,
             past=(3, 7) if number < past else (0, 0))  # fmt: skip
    assert bool(verdicts(made)) == said


def test_units_of_one_group_are_shut_since_the_last_of_them():
    made = record(20)
    unit(made, 0, 80, 72, run=72, passes=9, began=2)
    unit(made, 1, 80, 40, run=40, passes=5, began=5)
    found = only(made)
    assert found.began == 5
    assert "dead since pass 5 of 20" in found.sentence
    assert "in all 40 rows" in found.sentence
    spell(made.zero_loss, 16, 4)
    assert verdicts(made) == [("note", "dead units", "a")]
    spell(made.zero_loss, 16, 6)
    assert verdicts(made) == [("alarm", "dead units", "a")]


# ---- twins ------------------------------------------------------------------------------------


def twins(alike, units, passes=5, times=None, began=1, groups=(("a", 10), ("b", 2))):
    made = record(passes, groups)
    for number in range(units):
        unit(made, number, 8, 0)
        times_ = passes if times is None else times
        spell(made.twins, times_ if number < alike else 0, began, number)
    return made


@pytest.mark.parametrize(
    ("alike", "units", "sick"),
    [(1, 1, False), (2, 2, True), (9, 10, True), (8, 10, False), (2, 3, False)],
)
def test_a_layer_of_twins_is_sick(alike, units, sick):
    made = twins(alike, units)
    assert alarms(made) == (["identical units"] if sick else [])
    if sick:
        found = only(made)
        assert (found.group, found.parameters, found.began) == ("a", alike, 1)
        assert f"{alike} of {units} units of 'a' have the values" in found.sentence
        assert "random" in found.cure


def test_twins_are_judged_as_they_are_now():
    assert alarms(twins(4, 4, 9, times=2, began=8)) == []
    found = only(twins(4, 4, 9, times=3, began=7))
    assert "all the same since pass 7 of 9" in found.sentence
    assert found.began == 7


def test_units_of_one_each_form_a_layer_by_their_depth():
    made = twins(3, 3, groups=(("a", 1), ("b", 1), ("c", 1)))
    made.depths[:] = [2, 2, 4]
    found = only(made)
    assert found.groups == ("a", "b")
    made.depths[:] = [2, 3, 4]
    assert alarms(made) == []


def test_layers_of_twins_are_one_illness():
    made = twins(4, 4, groups=(("a", 2), ("b", 2)))
    found = only(made)
    assert (found.groups, found.parameters) == (("a", "b"), 4)
    made.twins.began[2:] = 3
    found = only(made)
    assert (found.groups, [v.groups for v in found.consequences]) == (("a",), [("b",)])


def test_groups_of_two_units_are_layers_of_their_own():
    made = twins(2, 4, groups=(("a", 2), ("b", 2)))
    made.depths[:] = 2
    found = only(made)
    assert (found.groups, found.parameters) == (("a",), 2)
    assert "2 of 2 units of 'a' have" in found.sentence
    both = only(twins(4, 4, groups=(("a", 2), ("b", 2))))
    assert "4 of 4 units of 'a', 'b' have" in both.sentence


# ---- overwriting ------------------------------------------------------------------------------


def test_a_rule_that_overwrites_is_an_alarm_until_it_is_gone():
    from retrograde.diagnose.overwriting import Overwrite

    made = record(9)
    made.rules._met[Overwrite("cube", "'x'", LINE)] = (3, 6, 6)
    made.rules._looks = 8
    found = only(made)
    assert (found.severity, found.began, found.ended, found.site) == ("alarm", 3, 0, LINE)
    assert found.sentence == (
        "The _backward of 'cube' writes the gradient of 'x' with = where += is needed since pass 3 "
        "of 9: contributions that arrived before are lost."
    )
    assert found.cure == "Write += in the rule."
    made.rules._looks = 9
    found = only(made)
    assert (found.severity, found.ended) == ("note", 6)
    assert "needed in passes 3 to 6, and is not met since: " in found.sentence


# ---- groups -----------------------------------------------------------------------------------


def test_groups_say_what_is_reached_and_silent_now():
    made = record(20)
    silent(made, [0], times=5, began=16, missing=True, total=20)
    silent(made, [1], gate(), times=20)
    silent(made, [2], times=2, began=19, missing=True, total=20)
    first, second = report_of(made).groups
    assert (first.parameters, first.reached, first.zeros) == (2, 1, 1)
    assert (second.reached, second.zeros) == (2, 0)
    assert (first.depth, second.depth) == (4, 2)


def test_groups_have_norms_shares_and_ratios():
    made = record(4)
    made._squares[0][:] = [9.0, 16.0, 144.0, 0.0]
    made._largest[0][3] = 0.0
    for value in made.parameters.values[:2]:
        value.data = 3.0
    for value in made.parameters.values[2:]:
        value.data = 0.0
    first, second = report_of(made).groups
    assert (first.norm, second.norm) == (5.0, 12.0)
    assert (first.share, second.share) == pytest.approx((25 / 169, 144 / 169))
    assert first.weight == pytest.approx(18**0.5)
    assert first.ratio == pytest.approx(5 / 18**0.5)
    assert (second.weight, second.ratio) == (0.0, 0.0)
    made._squares[0][2] = made._largest[0][2] = math.inf
    first, second = report_of(made).groups
    assert (second.norm, second.ratio) == (math.inf, math.inf)
    assert math.isnan(second.share)
    assert first.share == 1.0


def test_groups_count_their_units():
    made = record(4, (("a", 4), ("b", 2)))
    unit(made, 0, 8)
    unit(made, 1, 8, 3)
    unit(made, 2, 8, 8, "tanh")
    unit(made, 3, 8)
    first, second = report_of(made).groups
    assert (first.units, first.dead, first.saturated) == (4, 2, 1)
    assert (second.units, second.dead, second.saturated) == (0, 0, 0)


def test_groups_without_a_name_are_split_by_depth():
    import retrograde as rg
    from retrograde.diagnose.parameters import parameters_of
    from retrograde.diagnose.thresholds import Thresholds
    from retrograde.diagnose.value_history import ValueHistory

    values = [rg.Value(1.0) for _ in range(4)]
    made = ValueHistory(parameters_of(values), Thresholds())
    (name,) = made.parameters.group_names
    made.depths[:] = [2, 2, 2, -1]
    assert {k: v.tolist() for k, v in members_of(made).items()} == {name: [0, 1, 2, 3]}
    made.depths[:] = [0, 2, 2, -1]
    assert {k: v.tolist() for k, v in members_of(made).items()} == {
        f"{name}, depth 0": [0], f"{name}, depth 2": [1, 2], f"{name}, not reached": [3],
    }  # fmt: skip
    made.depths[:] = [0, 2, 2, 0]
    assert list(members_of(made)) == [f"{name}, depth 0", f"{name}, depth 2"]


def test_models_that_share_labels_are_told_apart_by_their_passes():
    import retrograde as rg
    from retrograde.diagnose.parameters import parameters_of
    from retrograde.diagnose.thresholds import Thresholds
    from retrograde.diagnose.value_history import ValueHistory

    values = [rg.Value(1.0, label=label) for label in ("w", "b", "w", "b", "w")]
    made = ValueHistory(parameters_of(values), Thresholds())
    made.reached[:4] = True
    made.component[:] = [0, 0, 2, 2, 4]
    assert {k: v.tolist() for k, v in members_of(made).items()} == {
        "w, model 1": [0, 4], "w, model 2": [2], "b, model 1": [1], "b, model 2": [3],
    }  # fmt: skip
    made.component[:] = [0, 0, 0, 0, 4]
    assert set(members_of(made)) == {"w", "b"}
    values = [rg.Value(1.0, label=f"w[{i}]") for i in range(3)]
    made = ValueHistory(parameters_of(values), Thresholds())
    made.reached[:] = True
    made.component[:] = [0, 1, 2]
    assert set(members_of(made)) == {"w"}  # one table, a row a pass


# ---- steps ------------------------------------------------------------------------------------


def stale(times, seen=None, repeated=None, began=2, passes=10, **more):
    made = record(passes)
    made.motion.stale[:2] = max(times, 1)
    spell(made.motion.stale_steps, times, began, seen=seen, **more)
    made.motion.repeated = (seen or times) if repeated is None else repeated
    made.motion.stale_site = LINE
    return made


@pytest.mark.parametrize(
    ("times", "seen", "total", "sick"),
    [
        (1, 1, 1, True),
        (1, 2, 2, True),
        (1, 3, 3, False),
        (2, 2, 9, False),
        (3, 3, 9, True),
        (3, 6, 9, True),
        (3, 7, 9, False),
    ],
)
def test_stale_gradients_are_judged_by_their_spell(times, seen, total, sick):
    found = only(stale(times, seen, total=total))
    assert found.severity == ("alarm" if sick else "note")
    assert bool(found.cure) == sick


def test_stale_gradients_in_words():
    found = only(stale(3, 4))
    assert found.sentence == (
        "Stale gradients: in 3 of 4 steps after the first the backward pass had been added to "
        "gradients that no zero_grad had reset since the step before ('a')."
    )
    assert (found.group, found.groups, found.parameters) == ("a", ("a",), 2)
    assert (found.site, found.began, found.ended) == (LINE, 2, 0)
    found = only(stale(4, 4, repeated=9, began=7))
    assert "in 4 of 4 steps since pass 7 of 10 the backward pass" in found.sentence
    assert "after the first" not in found.sentence
    assert " since pass" not in only(stale(3, 4, repeated=9)).sentence
    assert "since pass 3 of 10" in only(stale(3, 4, repeated=9, began=3)).sentence
    found = only(stale(0, past=(3, 6)))
    assert (found.severity, found.began, found.ended) == ("note", 3, 6)
    assert "Stale gradients: after passes 3 to 6, and no longer, the" in found.sentence
    made = stale(3)
    made.motion.stale[2] = 1
    assert only(made).parameters == 3
    made.motion.stale[:] = 0
    assert verdicts(made) == []
    assert only(stale(3, 3, total=9, longest=5)).severity == "alarm"  # shorter than before


@pytest.mark.parametrize(
    ("times", "seen", "total", "sick"),
    [(1, 1, 1, True), (1, 3, 3, False), (2, 2, 9, False), (3, 3, 9, True), (3, 7, 9, False)],
)
def test_gradients_reset_too_soon(times, seen, total, sick):
    made = record(10)
    spell(made.motion.wiped, times, 4, seen=seen, total=total, longest=5)
    made.motion.optimizer, made.motion.wiped_site = "Adam", LINE
    made.motion.held[:3] = True
    made.motion.updated[:] = True
    assert alarms(made) == (["reset too soon"] if sick else [])
    if sick:
        found = only(made)
        noun = "step" if seen == 1 else "steps"
        assert found.sentence == (
            "Gradients are reset between backward and step since pass 4 of 10: Adam found nothing "
            f"but zeros in {times} of {seen} {noun}."
        )
        assert (found.site, found.parameters, found.began) == (LINE, 3, 4)
        assert "zero_grad() after step()" in found.cure


@pytest.mark.parametrize(
    ("updated", "reached", "severity"),
    [
        ([1, 1], [0, 0], "alarm"),
        ([1, 0], [0, 0], "note"),
        ([1, 1], [0, 1], "note"),
        ([0, 0], [0, 0], None),
        ([1, 1], [1, 1], None),
    ],
)
def test_what_moves_without_a_pass(updated, reached, severity):
    made = record(10)
    made.motion.updated[:2] = updated
    made.reached[:2] = reached
    found = [v for v in report_of(made).verdicts if v.kind == "never reached"]
    assert [v.severity for v in found] == ([severity] if severity else [])
    if severity == "alarm":
        assert found[0].sentence.startswith("'a' was updated, but no backward pass ever reached it")
        assert (found[0].parameters, found[0].groups) == (2, ("a",))
        assert (found[0].began, found[0].ended) == (0, 0)
        assert "leave it out" in found[0].cure
    elif severity:
        moved = next(n for n in (0, 1) if updated[n] and not reached[n])
        sentence = f"'a[{moved}]' was updated, but no backward pass ever reached it"
        assert found[0].sentence.startswith(sentence)
        assert not found[0].cure
    made.thresholds = type(made.thresholds)(updated=0.5)
    found = [v for v in report_of(made).verdicts if v.kind == "never reached"]
    assert [v.severity for v in found] == (["alarm"] if severity else [])


def unheld(held=(0, 0, 1, 1), **changes):
    made = record(10)
    made.motion.optimizer, made.motion.optimizer_steps = "SGD", 5
    made.motion.held[:] = held
    made.motion.steps = 5
    for name, value in changes.items():
        owner = made.motion if hasattr(made.motion, name) else made
        getattr(owner, name)[:] = value
    return made


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (unheld(), True),
        (unheld(held=(1, 1, 1, 1)), False),
        (unheld(held=(0, 0, 0, 0)), False),  # the optimizer is of another model
        (unheld(updated=(1, 1, 1, 1)), False),  # someone else moves it
        (unheld(largest=(0, 0, 1, 1)), False),  # no gradient arrives
        (unheld(component=(0, 0, 2, 2)), False),  # a model of its own
    ],
)
def test_parameters_that_no_optimizer_holds(made, said):
    assert alarms(made) == (["no optimizer"] if said else [])
    if said:
        found = only(made)
        assert found.sentence == (
            "'a' is held by no optimizer: gradients arrive, and nothing moves. SGD moves 2 other "
            "parameters."
        )
        assert (found.groups, found.parameters, found.began) == (("a",), 2, 0)
        assert "requires_grad to False" in found.cure


def test_parameters_that_no_optimizer_holds_in_words():
    found = only(unheld((0, 1, 0, 1)))
    assert found.sentence.startswith("2 parameters of 'a', 'b' are held by no optimizer")
    found = only(unheld((0, 0, 0, 1)))
    assert found.sentence.startswith("3 parameters of 'a', 'b' are held by no optimizer")
    found = only(unheld((0, 1, 1, 1)))
    assert found.sentence.startswith("'a[0]' is held by no optimizer")
    made = record(10, (("a", 1), ("b", 1), ("c", 1)))
    made.motion.optimizer, made.motion.optimizer_steps = "SGD", 1
    made.motion.steps = 1
    made.motion.held[2] = True
    assert only(made).sentence.startswith("'a', 'b' are held by no optimizer")
    made.motion.optimizer_steps = 0
    assert verdicts(made) == []
    made.motion.optimizer_steps, made.rebuilding.stepped = 1, 1
    assert verdicts(made) == []


@pytest.mark.parametrize(
    ("name", "severity"),
    [("x", "note"), ("inputs", "note"), ("ys", "note"), ("w1", "alarm"), ("xw", "alarm")],
)
def test_data_that_no_optimizer_holds_is_a_note(name, severity):
    made = record(10, ((name, 2), ("b", 2)))
    made.motion.optimizer, made.motion.optimizer_steps = "SGD", 1
    made.motion.held[2:] = True
    made.motion.steps = 1
    assert verdicts(made) == [(severity, "no optimizer", name)]


def test_frozen_parameters_need_no_optimizer():
    made = unheld()
    for value in made.parameters.values[:2]:
        value.requires_grad = False
    assert verdicts(made) == []


@pytest.mark.parametrize(
    ("astray", "began", "reached", "said"),
    [(2, 3, True, True), (1, 3, True, False), (2, 0, True, False), (2, 0, False, True)],
)
def test_parameters_made_anew(astray, began, reached, said):
    made = record(10)
    made.motion.optimizer, made.motion.optimizer_steps = "SGD", 5
    made.motion.astray, made.rebuilding.began = astray, began
    made.motion.held[:] = True
    made.motion.steps = 1
    made.reached[:] = reached
    found = [v for v in report_of(made).alarms if v.kind == "rebuilt"]
    assert bool(found) == said
    if said:
        holds = "those of the first pass" if began else "values that no pass has used"
        assert found[0].sentence == (
            f"Parameters are made anew in the loop: SGD holds {holds}, and 2 steps have moved what "
            "is not in the loss."
        )
        assert (found[0].groups, found[0].parameters, found[0].began) == (("a", "b"), 4, began)
        assert (found[0].group, found[0].ended) == ("a", 0)
    made.motion.held[:] = False
    if not began:
        assert not [v for v in report_of(made).alarms if v.kind == "rebuilt"]


def ascent(times, seen=None, total=None, began=1, loss=2.0, at=1.0, index=0, closely=(0, 0)):
    made = record(20)
    made.motion.steps = 5
    made.motion._losses.append(loss)
    made.motion.loss_at["ascent"] = at
    spell(made.motion.ascent, times, began, index, seen=seen,
          total=times if total is None else total)  # fmt: skip
    spell(made.motion.closely, *closely)
    return made


@pytest.mark.parametrize(
    ("made", "sick"),
    [
        (ascent(3), True),
        (ascent(2), False),
        (ascent(4, 5), True),
        (ascent(4, 6), False),  # too often downhill
        (ascent(4, total=8), True),
        (ascent(4, total=9), False),  # late: it may be overshooting
        (ascent(4, total=9, began=6, closely=(4, 6)), True),  # late, and straight up
        (ascent(4, total=9, began=6, closely=(4, 7)), False),
        (ascent(4, total=9, began=6, closely=(3, 6)), False),
        (ascent(3, total=9, began=6, closely=(4, 6)), False),
        (ascent(4, total=9, began=6, closely=(0, 0)), False),
        (ascent(3, loss=1.0), False),  # the loss has not grown
        (ascent(3, loss=1.1), True),
        (ascent(3, loss=math.nan), True),
        (ascent(0), False),
    ],
)
def test_ascent_is_most_steps_uphill_with_a_loss_that_grows(made, sick):
    assert alarms(made) == (["ascent"] if sick else [])


def test_ascent_in_words():
    found = only(ascent(5, total=7, began=3, index=1))
    assert found.sentence == (
        "Gradient ascent since pass 3 of 20: 5 steps of 'b' follow the gradient uphill, and the "
        "loss has grown from 1 to 2."
    )
    assert (found.group, found.groups, found.parameters, found.began) == ("b", ("b",), 2, 3)
    assert "p.data -= lr * p.grad" in found.cure
    made = ascent(5, total=7, began=3, index=1)
    spell(made.motion.ascent, 4, 4, 0, total=4)
    found = only(made)
    assert (found.groups, found.began, found.parameters) == (("a", "b"), 3, 4)
    made.motion.ascent.began[0] = 0  # it is over
    assert only(made).groups == ("b",)


def hasty(times, seen=None, total=None, loss=2.0, at=1.0, began=1, ratio=3.0):
    made = record(20)
    made.motion.steps = 5
    made.motion._losses.append(loss)
    made.motion.loss_at["hasty"] = at
    made.motion.ratio, made.motion.hastiest = ratio, 1
    spell(made.motion.hasty, times, began, seen=seen, total=times if total is None else total)
    return made


def again(made):
    made.motion.hasty.longest[0] = 9
    return made


@pytest.mark.parametrize(
    ("made", "sick"),
    [
        (hasty(3), True),
        (hasty(2), False),
        (hasty(3, 6), True),
        (hasty(3, 7, 9), False),
        (hasty(3, total=9), True),
        (hasty(3, loss=1.0), True),  # it does not fall
        (hasty(3, loss=0.9), False),
        (hasty(3, loss=math.nan), True),
        (hasty(0), False),
        (again(hasty(3, total=9)), True),  # as long as before
    ],
)
def test_steps_that_are_too_long(made, sick):
    assert alarms(made) == (["learning rate"] if sick else [])


def test_steps_out_of_proportion_in_words():
    found = only(hasty(4, began=6))
    assert found.sentence == (
        "Steps are too long since pass 6 of 20: an update is 3 of the weights it changes "
        "(threshold 0.5, usual are 0.001 to 0.01; most in 'b'), and the loss does not fall: 1, now "
        "2."
    )
    assert (found.group, found.began, found.cure) == (
        "b", 6, "Divide the learning rate by about 300.",
    )  # fmt: skip
    made = record(20)
    made.motion.ratio = 1e-9
    made.motion.steps = 5
    spell(made.motion.idle, 5, 1, total=5)
    found = only(made)
    assert found.sentence == (
        "Steps are too short: an update is 1e-09 of the weights it changes (threshold 1e-06, usual "
        "are 0.001 to 0.01), although there are gradients to follow."
    )
    assert found.cure == "Multiply the learning rate by about 1,000,000."
    assert (found.group, found.began) == ("", 1)


@pytest.mark.parametrize(
    ("times", "total", "sick"), [(2, 2, False), (3, 3, True), (3, 6, True), (3, 7, False)]
)
def test_steps_that_are_too_short(times, total, sick):
    made = record(20)
    made.motion.steps, made.motion.ratio = 5, 1e-9
    spell(made.motion.idle, times, total=total)
    assert alarms(made) == (["learning rate"] if sick else [])


@pytest.mark.parametrize(
    ("times", "steps", "severity"), [(3, 1, None), (4, 1, "alarm"), (4, 0, "note")]
)
def test_a_graph_that_grows(times, steps, severity):
    made = record(12)
    made.motion.steps, made.nodes, made.nodes_at_first = steps, 2000, 100
    spell(made.growing, times, 6)
    assert verdicts(made) == ([(severity, "growing graph", "")] if severity else [])
    if severity:
        found = only(made)
        assert found.sentence.startswith(
            "The graph grows with every pass since pass 4 of 12: it had 100 values and has 2,000."
        )
        assert (found.began, found.parameters, "detach()" in found.cure) == (4, 0, True)


@pytest.mark.parametrize(
    ("steps", "intervals", "loss", "said"),
    [(0, 4, 1.0, True), (0, 3, 1.0, False), (1, 4, 1.0, False), (0, 4, math.nan, False)],
)
def test_a_loop_without_steps_is_a_note(steps, intervals, loss, said):
    made = record(4)
    made.motion.steps, made.motion.intervals, made.loss = steps, intervals, loss
    assert verdicts(made) == ([("note", "no step", "")] if said else [])
    if said:
        found = only(made)
        assert found.sentence == "Nothing moves: in 4 passes no parameter has changed."
        assert "step()" in found.cure


def test_a_report_has_the_births_of_the_record():
    made = record(3)
    assert not report_of(made).births
    made = born((Born("forward"),))
    assert report_of(made).births is made.births


def test_one_name_twice_is_enough_for_two_models():
    import retrograde as rg
    from retrograde.diagnose.parameters import parameters_of
    from retrograde.diagnose.thresholds import Thresholds
    from retrograde.diagnose.value_history import ValueHistory

    values = [rg.Value(1.0, label=label) for label in ("w", "b", "w")]
    made = ValueHistory(parameters_of(values, lambda name: "all"), Thresholds())
    made.reached[:] = True
    made.component[:] = [0, 0, 2]
    assert {k: v.tolist() for k, v in members_of(made).items()} == {
        "all, model 1": [0, 1], "all, model 2": [2],
    }  # fmt: skip


def test_a_report_is_of_the_record():
    made = record(7)
    made.nodes, made.edges, made.loss = 5, 6, 2.5
    report = report_of(made)
    assert (report.passes, report.nodes, report.edges, report.loss) == (7, 5, 6, 2.5)
    assert report.thresholds is made.thresholds
    assert report.profile is made.profile
    assert isinstance(made.rebuilding, Rebuilding)
