"""What the engines lend to programs that were written for another one."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture
def core(rg):
    """The core, which takes back what it lent."""
    yield rg.value.core
    rg.value.core.lend_attributes(False)
    rg.value.core.set_constructor(None)


def test_attributes_are_refused_until_they_are_lent_and_afterwards(rg, core):
    x = rg.Value(1.0)
    with pytest.raises(AttributeError):
        x.m = 1
    core.lend_attributes(True)
    x.m = 1
    core.lend_attributes(False)
    with pytest.raises(AttributeError):
        x.m = 2


def test_lent_attributes_behave_as_those_of_any_object(rg, core):
    core.lend_attributes(True)
    x, y = rg.Value(1.0, label="x"), rg.Value(2.0)
    product = x * y
    x.m, product.colour = 0.5, ["red"]
    assert (x.m, product.colour, x.label) == (0.5, ["red"], "x")
    assert not hasattr(y, "m")
    assert getattr(product, "m", None) is None
    x.label = ""
    assert x.m == 0.5
    del x.m
    assert not hasattr(x, "m")
    with pytest.raises(AttributeError):
        del x.m
    assert core.own_attributes(product) == {"colour": ["red"]}


def test_they_hide_what_the_class_has_and_the_class_keeps_it(rg, core, monkeypatch):
    core.lend_attributes(True)
    monkeypatch.setattr(rg.Value, "rate", 0.1, raising=False)
    x, y = rg.Value(1.0), rg.Value(1.0)
    x.rate = 0.9
    assert (x.rate, y.rate, rg.Value.rate) == (0.9, 0.1, 0.1)


def test_what_a_node_is_made_of_is_never_taken_for_such_an_attribute(rg, core):
    core.lend_attributes(True)
    y = rg.Value(2.0) * 3
    for name in ("inputs", "partials", "_local_grads", "_prev", "_children", "_backward"):
        with pytest.raises(AttributeError):
            setattr(y, name, ())
    with pytest.raises(TypeError):
        y.data = "x"


def test_attributes_die_with_their_value(rg, core):
    core.lend_attributes(True)

    class Thing:
        alive = 0

        def __init__(self):
            Thing.alive += 1

        def __del__(self):
            Thing.alive -= 1

    values = [rg.Value(float(n)) * 2 for n in range(500)]
    for value in values:
        value.thing = Thing()
    assert Thing.alive == 500
    del values, value
    gc.collect()
    assert Thing.alive == 0


def test_a_value_with_attributes_takes_part_in_passes(rg, core):
    core.lend_attributes(True)
    x = rg.Value(3.0)
    x.m = 1.0
    y = x * x
    y.m = 2.0
    y.backward()
    assert (x.grad, x.m, y.m) == (6.0, 1.0, 2.0)


def test_construct_is_the_constructor_whoever_answers(rg, core):
    core.set_constructor(lambda *args, **kwargs: core.construct(7.0))
    assert core.construct(2.0, label="w").label == "w"
    core.set_constructor(None)
    assert rg.Value(2.0).data == 2.0
