"""The sentence of a step: every op has one, with the numbers at hand, and it is true."""

from __future__ import annotations

import math

import pytest

from retrograde.ops import OPS
from retrograde.ops.sentences import Operand, sentence, shown
from retrograde.ops.words import WORDS


def said(op, *numbers, upstream=1.0, takes=None):
    row = OPS[op]
    numbers = (*numbers, *row.defaults[len(numbers) - row.arity + len(row.defaults) :])
    result = row.forward(*numbers)
    partials = row.evaluate_partials(*map(float, numbers), result)
    takes = (True,) * row.arity if takes is None else takes
    operands = [
        Operand(name, float(x), partial, taking)
        for name, x, partial, taking in zip(row.inputs, numbers, partials, takes)
    ]
    return sentence(op, row.kind, operands, result, upstream)


@pytest.mark.parametrize("op", OPS)
def test_every_op_has_a_sentence_for_every_choice_of_inputs(op):
    row = OPS[op]
    middle = [(low + high) / 2 + 0.1 for low, high in row.domain]
    for mask in range(1, 2**row.arity):
        takes = tuple(bool(mask >> bit & 1) for bit in range(row.arity))
        text = said(op, *middle, takes=takes)
        assert text
        assert text[0].islower() or text.startswith(op)
        assert not text.endswith(".")
        assert len(text) < 240
        assert "step." not in text
    assert said(op, *middle, takes=(False,) * row.arity).endswith("no input that takes a gradient")


@pytest.mark.parametrize("op", OPS)
def test_a_zero_upstream_and_a_nan_are_said(op):
    row = OPS[op]
    middle = [(low + high) / 2 + 0.1 for low, high in row.domain]
    if not row.absent:
        assert "has nothing to hand on" in said(op, *middle, upstream=0.0)
    assert "the upstream gradient is NaN" in said(op, *middle, upstream=math.nan)


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("addition copies the upstream gradient, 1, to both inputs", ("add", 2, 3)),
        (
            "subtraction copies the upstream gradient, 1, to x and, with its sign flipped, -1, "
            "to y",
            ("sub", 2, 3),
        ),
        (
            "multiplication swaps: x receives the upstream gradient times y (3), y times x (2)",
            ("mul", 2, 3),
        ),
        (
            "division: x receives the upstream gradient divided by y (4); "
            "y receives minus that, times the quotient (0.5)",
            ("div", 2, 4),
        ),
        ("negation flips the sign of the upstream gradient: 1 becomes -1", ("neg", 5)),
        (
            "the square multiplies the upstream gradient by twice its input, 2 × 3 = 6",
            ("square", 3),
        ),
        (
            "the reciprocal multiplies the upstream gradient by minus the square of its result, "
            "-0.25",
            ("reciprocal", 2),
        ),
        (
            "exp is its own slope: it multiplies the upstream gradient by its own result, 1",
            ("exp", 0),
        ),
        (
            "tanh saturates, steep in the middle and flat at both ends; here its slope is 1",
            ("tanh", 0),
        ),
        (
            "relu is a gate, open here since x = 3 is above 0: the upstream gradient, 1, passes "
            "unchanged",
            ("relu", 3),
        ),
        ("relu is a gate, closed here since x = -2 is not above 0: nothing passes", ("relu", -2)),
        (
            "relu has a kink at x = 0: its slope is 0 just below and 1 just above. Backward uses "
            "0: relu'(0) = 0, as in PyTorch and JAX",
            ("relu", 0),
        ),
        ("relu is a gate, and its input is NaN, which it lets through", ("relu", math.nan)),
        (
            "leaky_relu is a gate, on its leaky side here since x = -2 is not above 0: the "
            "upstream gradient passes times 0.01",
            ("leaky_relu", -2),
        ),
        (
            "maximum chooses: it took x (3), which receives the whole upstream gradient, 1; "
            "y receives none",
            ("maximum", 3, 2),
        ),
        (
            "maximum has a kink at x = 2 and y = 2: the slope along each is 0 just below and 1 "
            "just above. Backward uses 1 and 0: a tie goes whole to the first (PyTorch: halves)",
            ("maximum", 2, 2),
        ),
        (
            "log has no value here: its result is NaN, so its slope, -1, and all that passes back "
            "mean nothing",
            ("log", -1),
        ),
        ("floor is flat: its slope is zero, so nothing passes", ("floor", 2.5)),
        ("abs multiplies the upstream gradient by the sign of its input, -1", ("abs", -4)),
    ],
)
def test_sentences_of_one_step(text, step):
    assert said(*step) == text


def test_a_number_operand_is_named_but_takes_nothing():
    assert said("mul", 2, 3, takes=(True, False)) == (
        "multiplication by y scales the upstream gradient by 3"
    )
    assert said("sub", 2, 3, takes=(False, True)) == (
        "subtraction copies the upstream gradient with its sign flipped, -1, to y"
    )


def test_kinds_have_general_words_too():
    assert {row.kind for row in OPS.values()} <= set(WORDS)


@pytest.mark.parametrize(
    ("number", "text"),
    [(2.0, "2"), (-0.0, "0"), (1 / 3, "0.333333"), (1e-12, "1e-12"), (123456789.0, "1.23457e+08"),
     (math.inf, "inf"), (-math.inf, "-inf"), (math.nan, "NaN")],
)  # fmt: skip
def test_numbers_are_shown_as_people_write_them(number, text):
    assert shown(number) == text
