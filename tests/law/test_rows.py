"""A row checks itself when it is built, the table when it is imported; and what rows derive."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from retrograde.ops import OPS, WORDS, Edge, Op
from retrograde.ops.expr import Num, Var, calls, function
from retrograde.ops.op import PRIMITIVES
from retrograde.ops.scalar import _table

x, y, z = Var("x"), Var("y"), Var("z")

every_row = pytest.mark.parametrize("op", OPS.values(), ids=OPS)


def row(**changes: Any) -> Op:
    """A sound row, but for the changes."""
    sound = {"name": "scale", "value": x * y, "partials": (y, x), "kind": "swap"}
    return Op(**{**sound, **changes})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"name": "not a name"}, "op 'not a name': its name is not an identifier"),
        (
            {"partials": (y,)},
            "op 'scale': 2 inputs ('x', 'y') but 1 partials; state one partial an input",
        ),
        (
            {"partials": (y, x, x)},
            "op 'scale': 2 inputs ('x', 'y') but 3 partials; state one partial an input",
        ),
        (
            {"value": x * Var("w"), "inputs": ("x", "y")},
            "op 'scale': reads ['w'], which are not among its inputs ('x', 'y')",
        ),
        (
            {"partials": (y, Var("w")), "inputs": ("x", "y")},
            "op 'scale': reads ['w'], which are not among its inputs ('x', 'y')",
        ),
        ({"value": x * y + z}, "op 'scale': z is the result: only partials may read it"),
        (
            {"value": x, "inputs": ("x", "z")},
            "op 'scale': z is the result: only partials may read it",
        ),
        ({"kind": "magic"}, "op 'scale': kind 'magic' has no sentence in words.py; kinds: ["),
        (
            {"defaults": (1.0, 2.0)},
            "op 'scale': defaults fill trailing inputs only; the first input always has to be",
        ),
        ({"domain": ((-1.0, 1.0),)}, "op 'scale': domain needs one (low, high) an input"),
        ({"shown": (y,)}, "op 'scale': shown states the partials in a plainer form, one for each"),
        ({"shown": (y, Var("w"))}, "op 'scale': reads ['w'], which are not among its inputs"),
        ({"ulps": 0.0}, "op 'scale': ulps=0.0: state by how many units in the last place it may"),
        (
            {"edges": (Edge((1.0,), 1.0, (1.0, 1.0), "why"),)},
            "op 'scale': edge at (1.0,) does not fit 2 inputs",
        ),
        (
            {"edges": (Edge((1.0, 2.0), 1.0, (1.0,), "why"),)},
            "op 'scale': edge at (1.0, 2.0) does not fit 2 inputs",
        ),
    ],
)
def test_an_unsound_row_is_refused(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError) as refusal:  # noqa: PT011  the whole text is compared
        row(**changes)
    assert str(refusal.value).startswith(text)


def test_a_row_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        row().name = "other"  # type: ignore[misc]


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        OPS["scale"] = row()  # type: ignore[index]


def test_the_table_refuses_two_rows_of_one_name() -> None:
    with pytest.raises(ValueError, match=r"^op 'scale' has two rows$"):
        _table((row(), row()))


def test_the_table_refuses_a_call_to_a_row_that_does_not_stand_above() -> None:
    caller = row(name="caller", value=function("scale")(x, y))
    with pytest.raises(
        ValueError, match=r"^op 'caller' calls \['scale'\], which stand in no row above$"
    ):
        _table((caller, row()))
    assert list(_table((row(), caller))) == ["scale", "caller"]


@every_row
def test_a_row_stands_under_its_own_name(op: Op) -> None:
    assert OPS[op.name] is op


@every_row
def test_a_row_calls_primitives_and_rows_above_it(op: Op) -> None:
    """Its partials may call itself, too: the slope of the sigmoid at x takes that at -x."""
    above = list(OPS)[: list(OPS).index(op.name)]
    assert calls(op.value) <= {*PRIMITIVES, *above}
    assert op.calls <= {*PRIMITIVES, *above, op.name}


@every_row
def test_the_domain_of_a_row_is_made_of_intervals(op: Op) -> None:
    assert len(op.domain) == op.arity
    assert all(low < high for low, high in op.domain)


@every_row
def test_the_kind_of_a_row_has_a_sentence(op: Op) -> None:
    sentence = WORDS[op.kind]
    assert sentence == sentence.strip()
    assert " " in sentence
    assert not sentence.endswith(".")


def test_what_a_row_derives() -> None:
    assert (OPS["tanh"].saves, OPS["tanh"].linear) == (("x",), False)
    assert (OPS["exp"].saves, OPS["exp"].linear) == (("z",), False)
    assert (OPS["mul"].saves, OPS["mul"].arity) == (("x", "y"), 2)
    assert (OPS["add"].saves, OPS["add"].linear) == ((), True)
    assert OPS["softplus"].calls == {"add", "log1p", "exp", "neg", "abs", "sigmoid"}
    assert (row().inputs, row().symbol) == (("x", "y"), "scale")
    assert row().domain == ((-3.0, 3.0), (-3.0, 3.0))


@every_row
def test_a_row_is_linear_exactly_when_its_partials_read_nothing(op: Op) -> None:
    assert op.linear is all(isinstance(partial, Num) for partial in op.partials)


def test_one_input_gives_a_float(rg: Any) -> None:
    relu = rg.ops["relu"]
    assert relu.forward(3.0) == 3.0
    assert relu.forward(-3.0) == 0.0
    assert relu.backward(5.0, 3.0) == 5.0
    assert relu.backward(5.0, -3.0) == 0.0
    assert type(relu.backward(5, 3)) is float
    assert type(relu.forward(3)) is float


def test_several_inputs_give_a_tuple(rg: Any) -> None:
    assert rg.ops["mul"].forward(3.0, 4.0) == 12.0
    assert rg.ops["mul"].backward(2.0, 3.0, 4.0) == (8.0, 6.0)
    assert rg.ops["clip"].backward(2.0, 0.5, -1.0, 1.0) == (2.0, 0.0, 0.0)


def test_defaults_fill_trailing_inputs(rg: Any) -> None:
    leaky = rg.ops["leaky_relu"]
    assert leaky.forward(-2.0) == leaky.forward(-2.0, 0.01) == -0.02
    assert leaky.backward(10.0, -2.0) == leaky.backward(10.0, -2.0, 0.01) == (0.1, -20.0)
    assert leaky.forward(-2.0, 0.5) == -1.0


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda op: op["relu"].forward(), "ops['relu'].forward takes 1 input(s) (x), got 0"),
        (lambda op: op["mul"].forward(1.0), "ops['mul'].forward takes 2 input(s) (x, y), got 1"),
        (
            lambda op: op["mul"].backward(1.0, 2.0, 3.0, 4.0),
            "ops['mul'].backward takes 2 input(s) (x, y), got 3",
        ),
        (
            lambda op: op["leaky_relu"].forward(),
            "ops['leaky_relu'].forward takes 2 input(s) (x, slope), got 0",
        ),
        (lambda op: op["mul"].forward(1.0, "2"), "ops['mul'].forward: y is str, not a number"),
        (lambda op: op["relu"].forward(None), "ops['relu'].forward: x is NoneType, not a number"),
        (lambda op: op["relu"].forward(1j), "ops['relu'].forward: x is complex, not a number"),
        (lambda op: op["relu"].backward("1", 2.0), "ops['relu'].backward: dy is str, not a number"),
    ],
)
def test_wrong_counts_and_types_are_refused(rg: Any, call: Any, text: str) -> None:
    with pytest.raises(TypeError) as refusal:
        call(rg.ops)
    assert str(refusal.value) == text


@every_row
def test_plain_numbers_and_values_follow_the_same_rule(rg: Any, op: Op) -> None:
    point = tuple(0.75 * low + 0.25 * high for low, high in op.domain)
    inputs = [rg.Value(number) for number in point]
    result = getattr(rg, op.name)(*inputs)
    if op.absent:
        with pytest.raises(ValueError, match=f"no slope of {op.name} along {op.absent[0]}$"):
            op.backward(2.0, *point)
        return
    result.backward(2.0)
    rule = op.backward(2.0, *point)
    contributions = rule if isinstance(rule, tuple) else (rule,)
    assert result.data == pytest.approx(op.forward(*point), rel=1e-15)
    assert [v.grad for v in inputs] == pytest.approx(contributions, rel=1e-14)
