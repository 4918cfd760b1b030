"""Structural rows against their expansion into rows of the table: value, partials, second
derivatives, replay and words; and every consumer that asks a row.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from retrograde.ops import OPS, STRUCTURAL, WORDS, Structural
from retrograde.ops.emit.docs import page
from retrograde.ops.emit.python import python
from retrograde.ops.expr import variables
from retrograde.ops.structural import DOT, EAGER, SUM, TAKE

from .expressions import same_bits

ROWS = list(STRUCTURAL.values())
ADDING = [row for row in ROWS if not row.chooses]


def counts(row: Structural) -> list[int]:
    return [row.sides * length + row.chooses for length in (1, 2, 3, 7, 40)]


def numbers(row: Structural, count: int, seed: int = 0) -> list[float]:
    """Numbers of very different size, so that another order of adding would show."""
    rng = random.Random(seed)
    found = [rng.gauss(0.0, 1.0) * 10.0 ** rng.randint(-4, 4) for _ in range(count)]
    if row.chooses:
        found[-1] = float(rng.randrange(count - 1))
    return found


def expanded(row: Structural, operands: list[Any], apply: Any) -> Any:
    """What the row stands for, step by step."""
    places = list(operands)
    for op, on in row.expansion(len(operands)):
        places.append(apply(op, *[places[at] if isinstance(at, int) else at for at in on]))
    return places[-1] if row.expansion(len(operands)) else places[0]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_value_is_that_of_the_expansion(row):
    for count in counts(row):
        given = numbers(row, count)
        expected = expanded(row, given, lambda op, *on: OPS[op].evaluate(*on))
        assert same_bits(row.evaluate(given), expected)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_stated_partials_are_the_slopes(row):
    for count in counts(row):
        given = numbers(row, count)
        names = {f"x{place}": number for place, number in enumerate(given)}
        for place, slope in enumerate(row.slopes(given)):
            partial = row.partial(place, count)
            assert variables(partial) <= names.keys()
            assert same_bits(eval(python(partial), dict(names)), float(slope))


def on_values(rg: Any, row: Structural, operands: list[Any]) -> Any:
    return getattr(rg, row.name)(*row.lists(operands))


@pytest.mark.parametrize("row", ADDING, ids=lambda row: row.name)
def test_values_and_gradients_on_both_cores(rg, row):
    for count in counts(row):
        given = numbers(row, count)
        one, other = ([rg.Value(number) for number in given] for _ in range(2))
        whole = on_values(rg, row, one)
        steps = expanded(row, other, lambda op, *on: getattr(rg, op)(*on))
        assert whole.op == row.name
        assert same_bits(whole.data, steps.data)
        assert list(whole.partials) == row.slopes(given)
        whole.backward(-0.3)
        steps.backward(-0.3)
        assert all(same_bits(a.grad, b.grad) for a, b in zip(one, other))


@pytest.mark.parametrize("row", ADDING, ids=lambda row: row.name)
def test_second_derivatives_on_both_cores(rg, row):
    count = row.sides * 3
    given = [0.5 + place for place in range(count)]

    def whole(xs):
        return rg.tanh(on_values(rg, row, list(xs)) * 0.1)

    def steps(xs):
        return rg.tanh(expanded(row, list(xs), lambda op, *on: getattr(rg, op)(*on)) * 0.1)

    np.testing.assert_allclose(rg.hessian(whole)(given), rg.hessian(steps)(given), rtol=1e-14)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_replayed_with_first_and_second_derivatives(native, row):
    rg, count = native, row.sides * 3

    def whole(xs, k):
        made = rg.take(list(xs), k) if row.chooses else on_values(rg, row, list(xs))
        return rg.tanh(made * 0.1)

    def steps(xs, k):
        operands = [*xs, k] if row.chooses else list(xs)
        return rg.tanh(expanded(row, operands, lambda op, *on: getattr(rg, op)(*on)) * 0.1)

    rows, index = np.random.default_rng(0).normal(size=(9, count)), np.arange(9.0) % count
    one, other = rg.compile(whole), rg.compile(steps)
    np.testing.assert_array_equal(one(rows, index), other(rows, index))
    for name, room in (("grad", 1e-15), ("hessian", 1e-13)):
        got, expected = (getattr(f, name)(rows, index, wrt="xs") for f in (one, other))
        np.testing.assert_allclose(np.array(got), np.array(expected), rtol=room, atol=1e-18)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_it_has_words_and_formulas(row):
    assert all((WORDS[row.kind], row.noun, row.why, row.written))
    assert len(row.latex) == 1 + row.sides
    assert f"| `{row.name}` | $`{row.latex[0]}`$ |" in page(OPS.values())
    assert not OPS.keys() & STRUCTURAL.keys()


@pytest.mark.parametrize("row", ADDING, ids=lambda row: row.name)
def test_it_is_told_in_words(rg, row):
    xs = [rg.Value(1.0 + place, label=f"x{place}") for place in range(row.sides * 2)]
    story = rg.story(on_values(rg, row, xs))
    assert story.backward[0].words.startswith(row.noun)
    assert row.name in story.text()


def test_their_codes_come_after_the_rows():
    from retrograde.value import core

    assert tuple(core.OP_NAMES) == (*OPS, "leaf", *EAGER)
    assert (EAGER, list(STRUCTURAL)) == (("sum", "dot"), ["sum", "dot", "take"])


def test_operands():
    assert [row.least for row in (SUM, DOT, TAKE)] == [1, 2, 2]
    assert (DOT.fits(4), DOT.fits(3), SUM.fits(3)) == (True, False, True)
    assert TAKE.items("abk") == "ab"
    assert DOT.lists([1, 2, 3, 4]) == [[1, 2], [3, 4]]
    assert [TAKE.evaluate([5.0, 6.0, k]) for k in (-3.0, 0.0, 1.0, 9.0)] == [5.0, 5.0, 6.0, 6.0]
    assert (SUM.linear, DOT.linear, TAKE.linear) == (True, False, True)
    assert (SUM.evaluate([]), DOT.evaluate([])) == (0.0, 0.0)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="has no sentence"):
        Structural("mean", kind="average", sides=1, latex=("", ""), written="", why="")
