"""Programs written for those engines, run on them and on ``Value`` with only the class replaced."""

from __future__ import annotations

from functools import cache

import pytest

from .engines import ClosureEngine, LocalGradEngine
from .programs import train_characters, train_network, train_softmax

WITH_CLOSURES = [train_network, train_softmax]
WITH_LOCAL_GRADS = [train_network, train_characters]


@cache
def original(program, engine):
    """What a program gives on the engine it was written for."""
    return program(engine)


def assert_equal(got, expected):
    """Equal to 1e-12, relative where numbers are large."""
    assert set(got) == set(expected)
    for what, numbers in expected.items():
        assert len(got[what]) == len(numbers) > 0
        worst = max(abs(a - b) / max(1.0, abs(b)) for a, b in zip(got[what], numbers))
        assert worst <= 1e-12, what


@pytest.mark.parametrize("program", WITH_CLOSURES, ids=lambda p: p.__name__)
def test_closure_style_programs_need_only_another_class(rg, program):
    expected = original(program, ClosureEngine)
    assert_equal(program(rg.Value), expected)
    assert expected["losses"][-1] < expected["losses"][0]
    assert any(expected["gradients"])


@pytest.mark.parametrize("program", WITH_LOCAL_GRADS, ids=lambda p: p.__name__)
def test_local_grad_style_programs_need_only_another_class(rg, program):
    expected = original(program, LocalGradEngine)
    assert_equal(program(rg.Value), expected)
    assert expected["losses"][-1] < expected["losses"][0]
    assert any(expected["gradients"])


def test_the_two_small_engines_agree_with_each_other():
    assert_equal(train_network(LocalGradEngine, 5), train_network(ClosureEngine, 5))
    assert_equal(train_characters(ClosureEngine, 1), train_characters(LocalGradEngine, 1))


def test_a_subclass_runs_the_programs_too(rg):
    class Own(rg.Value):
        """Operators give plain values; leaves are of this class."""

        def __init__(self, data, *args, **named):
            super().__init__(data, *args, **named)
            self.born = "here"

    assert_equal(train_network(Own, 3), train_network(ClosureEngine, 3))
    assert_equal(train_characters(Own, 1), train_characters(LocalGradEngine, 1))
