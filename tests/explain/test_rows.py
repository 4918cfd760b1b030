"""The story of one row of a compiled function is the eager story of that row."""

from __future__ import annotations

import numpy as np
import pytest

import retrograde as rg
from retrograde.value import core_name

from .support import plain_story

pytestmark = pytest.mark.skipif(core_name != "native", reason="only the native core compiles")

WEIGHT = rg.Value(0.7, label="weight")
BIAS = rg.Value(0.1)
FROZEN = rg.Value(2.0, label="frozen", requires_grad=False)
TABLE = [rg.Value(10.0 * k, label=f"row{k}") for k in range(3)]


def arithmetic(x, y):
    return (x * y + 3.0) / (x - y) ** 2


def captured(x, y):
    return rg.tanh(WEIGHT * x + BIAS) * (y * FROZEN) + FROZEN * FROZEN


def made_inside(x, y):
    total = rg.Value(0.0)
    for k in range(3):
        total = total + x * k
    scale = rg.Value(2.0, requires_grad=False)
    total = total * scale
    total.label = "total"
    return total - y


def branches(x, y):
    if x > y:
        return x * x
    return rg.where(x < 0, -x, rg.exp(y)) * rg.maximum(x, y)


def conditions(x, y):
    both = (x > 0) & ~(y > 3)
    return rg.where(both, x * 2.0, y) + rg.where(x != y, 1.0, x)


def stopped(x, y):
    with rg.no_grad():
        shift = x * 2
    return (x - x.detach() * y) * shift


def lists(x, y):
    return rg.sum([x, y, 2.0]) + rg.dot([x, y], [1.0, x]) + rg.logsumexp([x, y])


def chosen(x, y):
    return rg.take(TABLE, 1.0) * x + y


def powers(x, y):
    return x**3 + y**-2 + abs(x) ** 0.5 + rg.clip(x, -1.0, y) + rg.less(x, y)


FUNCTIONS = [
    arithmetic, captured, made_inside, branches, conditions, stopped, lists, chosen, powers,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("row", range(5))
def test_a_row_has_the_steps_the_words_and_the_numbers_of_its_eager_story(function, row):
    x = np.array([1.5, -2.0, 0.25, 3.0, -0.5])
    y = np.array([2.5, 1.0, -1.0, 0.5, 4.0])
    compiled = rg.compile(function)
    story = compiled.story(x, y, row=row)
    eager = rg.story(function(rg.Value(x[row], label="x"), rg.Value(y[row], label="y")))
    assert [node.expression for node in story.nodes] == [node.expression for node in eager.nodes]
    assert [step.words for step in story.forward] == [step.words for step in eager.forward]
    assert [step.words for step in story.backward] == [step.words for step in eager.backward]
    for node, other in zip(story.nodes, eager.nodes):
        assert (node.op, node.inputs, node.requires_grad, node.label, node.name) == (
            other.op, other.inputs, other.requires_grad, other.label, other.name,
        )  # fmt: skip
        if node.op not in ("leaf", "number"):
            assert node.site == other.site
        scale = rg.ledger(eager, node.id, strongest=0).absolute
        assert abs(node.grad - other.grad) <= 1e-13 * max(scale, abs(other.grad))
    value, gradient = compiled.value_and_grad(x[row], y[row], wrt="x")
    assert story.nodes[story.root].data == pytest.approx(value, rel=1e-13)
    assert story.nodes[story.find("x")].grad == pytest.approx(gradient, rel=1e-12, abs=1e-15)


def test_rows_of_two_axes_and_uniform_arguments():
    compiled = rg.compile(lambda x, w: rg.dot(x, w))
    story = compiled.story(np.array([[1.0, 2.0], [3.0, 4.0]]), [5.0, 6.0], row=-1)
    assert [node.name for node in story.nodes[:4]] == ["x[0]", "x[1]", "w[0]", "w[1]"]
    assert story.nodes[story.root].data == 39.0
    assert compiled.story([3.0, 4.0], [5.0, 6.0]).nodes[-1].data == 39.0


def test_the_views_read_it_like_any_other():
    story = rg.compile(lambda a, b, c: (a * b + c) * (a + b)).story(2.0, -3.0, 10.0)
    assert rg.ledger(story, "a").words() == "7 = 3 through a*b + 4 through a+b"
    a, b, c = (rg.Value(x, label=name) for name, x in (("a", 2.0), ("b", -3.0), ("c", 10.0)))
    eager = plain_story(rg, (a * b + c) * (a + b))
    assert story.backward[0].words == eager.backward[0].words


def test_a_row_that_takes_another_branch_is_told_along_its_own():
    absolute = rg.compile(lambda x: -x if x < 0 else x * 1.0)
    assert absolute(np.array([1.0, 2.0])).tolist() == [1.0, 2.0]
    story = absolute.story(np.array([1.0, -2.0]), row=1)
    assert [node.op for node in story.nodes] == ["leaf", "neg"]


def test_bad_rows_and_results_are_refused():
    compiled = rg.compile(lambda x: x * x)
    with pytest.raises(rg.errors.CompileError, match="there is no row 5: 2 rows"):
        compiled.story(np.ones(2), row=5)
    with pytest.raises(rg.errors.FunctionResultError):
        rg.compile(lambda x: [x, x]).story(1.0)
