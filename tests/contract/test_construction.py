"""Making values: every form that is accepted, every form that is refused, and what it says."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

REAL_SCALARS = [
    np.float16, np.float32, np.float64, np.longdouble,
    np.int8, np.int16, np.int32, np.int64,
    np.uint8, np.uint16, np.uint32, np.uint64, np.bool_,
]  # fmt: skip

REFUSED_NUMBERS = [
    ("3.0", "str ('3.0')", "Write float(...) around it"),
    (b"3.0", "bytes (b'3.0')", "Write float(...) around it"),
    (None, "None", "None is no number: did a function forget to return?"),
    (1 + 2j, "complex ((1+2j))", "Values are real: take .real, .imag or abs()"),
    (np.complex64(1 + 2j), "complex64", "Values are real: take .real, .imag or abs()"),
    (np.complex128(1 + 2j), "complex128", "Values are real: take .real, .imag or abs()"),
    ([1.0, 2.0], "list ([1.0, 2.0])", "[Value(x) for x in numbers]"),
    ((1.0,), "tuple ((1.0,))", "[Value(x) for x in numbers]"),
    ({"a": 1}, "dict", "float(...)"),
    (Decimal("1.5"), "Decimal (Decimal('1.5'))", "Write float(...) around it"),
    (np.array([1.0, 2.0]), "ndarray (array([1., 2.]))", "must be a real number"),
    (np.array([1.0]), "ndarray (array([1.]))", "must be a real number"),
    (np.array("1.0"), "ndarray", "must be a real number"),
    (np.datetime64("2026-01-01"), "datetime64", "must be a real number"),
    (np.timedelta64(1, "s"), "timedelta64", "must be a real number"),
    (np.str_("1.0"), "str_", "must be a real number"),
    (object(), "object", "must be a real number"),
]
REFUSED_IDS = [type(case[0]).__name__ for case in REFUSED_NUMBERS]


# ---- what is accepted -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "data"),
    [
        (3, 3.0), (-2.5, -2.5), (True, 1.0), (False, 0.0), (2**53, 2.0**53), (10**300, 1e300),
        (Fraction(1, 4), 0.25), (float("inf"), float("inf")),
    ],
)  # fmt: skip
def test_numbers_of_python_become_floats(rg, given, data):
    value = rg.Value(given)
    assert type(value.data) is float
    assert value.data == data


@pytest.mark.parametrize("kind", REAL_SCALARS)
def test_numpy_scalars_become_floats(rg, kind):
    value = rg.Value(kind(1))
    assert type(value.data) is float
    assert value.data == 1.0


@pytest.mark.parametrize("kind", REAL_SCALARS)
def test_arrays_without_axes_become_floats(rg, kind):
    value = rg.Value(np.array(1, dtype=kind))
    assert type(value.data) is float
    assert value.data == 1.0


def test_an_array_with_axes_is_refused_also_after_one_without(rg):
    rg.Value(np.array(1.0))
    with pytest.raises(rg.errors.NumberError, match="ndarray"):
        rg.Value(np.array([1.0]))


def test_data_keeps_every_bit(rg):
    for number in (0.1, -0.0, 5e-324, 1.7976931348623157e308):
        assert rg.Value(number).data.hex() == number.hex()
    assert np.isnan(rg.Value(float("nan")).data)


def test_a_new_value_is_a_leaf_that_takes_gradients(rg):
    value = rg.Value(2)
    assert (value.op, value.inputs, value.partials) == ("leaf", (), ())
    assert (value._op, value._children, value._local_grads, value._prev) == ("", (), (), set())
    assert value.grad == 0.0
    assert type(value.grad) is float
    assert value.label == ""
    assert value.requires_grad is True


@pytest.mark.parametrize("empty", [(), [], None, set()])
def test_empty_children_make_a_leaf(rg, empty):
    assert rg.Value(1.0, empty).op == "leaf"
    assert rg.Value(1.0, empty, ()).op == "leaf"
    assert rg.Value(1.0, _children=empty).op == "leaf"
    assert rg.Value(1.0, empty, "name").op == "leaf"


def test_data_may_be_named(rg):
    assert rg.Value(data=3).data == 3.0


def test_labels_are_kept_changed_and_taken_away(rg):
    value = rg.Value(1.0, label="w")
    assert value.label == "w"
    value.label = "bias"
    assert value.label == "bias"
    value.label = None
    assert value.label == ""
    value.label = "w"
    value.label = ""
    assert value.label == ""
    assert rg.Value(1.0, label=None).label == rg.Value(1.0, label="").label == ""


def test_the_label_of_every_result_is_text(rg):
    """What the lecture's draw_dot prints of a node: never "None"."""
    x = rg.Value(2.0)
    values = [x, x * 3, rg.sum([x, x]), rg.Value(1.0, (x,), (2.0,)), x.detach(), *(x * 3)._children]
    assert [f"{value.label}" for value in values] == [""] * 7


def test_labels_of_many_values_stay_apart(rg):
    values = [rg.Value(1.0, label=f"w{i}") for i in range(500)]
    for value in values[::3]:
        value.label = None
    expected = ["" if i % 3 == 0 else f"w{i}" for i in range(500)]
    assert [value.label for value in values] == expected


def test_requires_grad_goes_by_truth(rg):
    assert rg.Value(1.0, requires_grad=False).requires_grad is False
    assert rg.Value(1.0, requires_grad=0).requires_grad is False
    assert rg.Value(1.0, requires_grad=1).requires_grad is True


@pytest.mark.parametrize("children", [tuple, list, iter])
@pytest.mark.parametrize("partials", [tuple, list, iter, np.array])
def test_partials_make_a_node_of_one_use(rg, children, partials):
    x, y = rg.Value(2.0), rg.Value(5.0)
    node = rg.Value(11.0, children([x, y]), partials([3.0, -1.0]))
    assert node.op == "custom"
    assert node.inputs == (x, y)
    assert node.inputs[0] is x
    assert node.inputs[1] is y
    assert node.partials == (3.0, -1.0)
    node.backward(2.0)
    assert (x.grad, y.grad) == (6.0, -2.0)


def test_partials_may_be_any_real_numbers(rg):
    x = rg.Value(2.0)
    node = rg.Value(1.0, (x, x, x, x), (1, True, np.float32(0.5), Fraction(1, 4)))
    assert node.partials == (1.0, 1.0, 0.5, 0.25)
    node.backward()
    assert x.grad == 2.75


def test_children_may_be_an_object_array(rg):
    x, y = rg.Value(2.0), rg.Value(5.0)
    children = np.array([x, y], dtype=object)
    rg.Value(11.0, children, (3.0, -1.0)).backward()
    assert (x.grad, y.grad) == (3.0, -1.0)


def test_an_input_given_twice_counts_twice(rg):
    x = rg.Value(3.0)
    node = rg.Value(9.0, (x, x), (3.0, 3.0))
    assert len(node._children) == 2
    assert node._prev == {x}
    node.backward()
    assert x.grad == 6.0


def test_underscored_keywords_of_the_wellknown_engines(rg):
    x = rg.Value(3.0)
    node = rg.Value(6.0, _children=(x,), _local_grads=(2.0,), _op="double", label="d")
    assert (node.op, node._op, node.label) == ("double", "double", "d")
    node.backward()
    assert x.grad == 2.0


@pytest.mark.parametrize(
    "make",
    [
        lambda rg, x: rg.Value(6.0, (x,), "double"),
        lambda rg, x: rg.Value(6.0, {x}, "double"),
        lambda rg, x: rg.Value(6.0, (x,), _op="double"),
        lambda rg, x: rg.Value(6.0, _children=(x,), _op="double"),
    ],
    ids=["third argument", "a set", "_op", "_children"],
)
def test_a_name_instead_of_partials_is_the_closure_style(rg, make):
    x = rg.Value(3.0)
    out = make(rg, x)

    def backward():
        x.grad += 2.0 * out.grad

    out._backward = backward
    assert (out.op, out._op, out.partials) == ("double", "double", ())
    assert out.inputs[0] is x
    assert isinstance(out, rg.Value)
    out.backward(10.0)
    assert x.grad == 20.0


def test_closure_style_without_a_name(rg):
    x = rg.Value(3.0)
    out = rg.Value(6.0, (x,))
    assert (out.op, out._op) == ("custom", "")
    assert out.inputs == (x,)


def test_a_constructed_node_takes_gradients_when_an_input_does(rg):
    frozen, free = rg.Value(1.0, requires_grad=False), rg.Value(1.0)
    assert rg.Value(1.0, (frozen, free), (1.0, 1.0)).requires_grad is True
    without = rg.Value(1.0, (frozen, frozen), (1.0, 1.0))
    assert without.requires_grad is False
    assert (without.op, without.inputs) == ("leaf", ())


def test_subclasses_keep_their_attributes_and_compute_plain_values(rg):
    class Parameter(rg.Value):
        def __init__(self, data, name):
            super().__init__(data, label=name)
            self.touched = 0

    weight = Parameter(3.0, "w")
    weight.touched += 1
    result = weight * weight + 1
    assert type(result) is rg.Value
    assert type(weight.detach()) is rg.Value
    result.backward()
    assert (weight.data, weight.grad, weight.label, weight.touched) == (3.0, 6.0, "w", 1)


def test_subclasses_can_be_nodes(rg):
    class Node(rg.Value):
        pass

    x = rg.Value(3.0)
    by_partials = Node(6.0, (x,), (2.0,))
    by_closure = Node(6.0, (x,), "double")

    def backward():
        x.grad += 2.0 * by_closure.grad

    by_closure._backward = backward
    (by_partials + 10.0 * by_closure).backward()
    assert x.grad == 22.0
    assert type(by_closure) is Node


def test_a_subclass_node_without_inputs_that_take_gradients_is_a_leaf(rg):
    class Node(rg.Value):
        pass

    node = Node(1.0, (rg.Value(1.0, requires_grad=False),), (1.0,))
    assert (node.op, node.inputs, node.requires_grad) == ("leaf", (), False)


# ---- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "names", "cure"), REFUSED_NUMBERS, ids=REFUSED_IDS)
def test_data_that_is_no_real_number_is_refused_by_name(rg, given, names, cure):
    with pytest.raises(rg.errors.NumberError) as caught:
        rg.Value(given)
    assert isinstance(caught.value, TypeError)
    text = str(caught.value)
    assert text.startswith("Value(data) must be a real number, got " + names)
    assert cure in text


def test_data_that_is_a_value_is_refused(rg):
    with pytest.raises(rg.errors.NumberError, match=re.escape("Write .data for the number")):
        rg.Value(rg.Value(1.0))


@pytest.mark.parametrize("huge", [10**400, -(10**400), Fraction(10**400), Fraction(-(10**400), 3)])
def test_numbers_past_the_range_of_a_float_are_refused(rg, huge):
    with pytest.raises(rg.errors.NumberError, match=r"too large for a float64.*scale it"):
        rg.Value(huge)


def test_partials_that_do_not_match_the_children_are_refused(rg):
    x = rg.Value(1.0)
    cases = [
        (((x, x), (1.0,)), "2 children but 1 local gradients"),
        (((x,), (1.0, 2.0)), "1 children but 2 local gradients"),
        (((), (1.0,)), "0 children but 1 local gradients"),
    ]
    for (children, partials), text in cases:
        with pytest.raises(rg.errors.ShapeError, match=text) as caught:
            rg.Value(1.0, children, partials)
        assert isinstance(caught.value, ValueError)
        assert "give one for each child" in str(caught.value)


@pytest.mark.parametrize("child", [2.0, None, "x", [1.0]])
def test_children_that_are_no_values_are_refused_by_place(rg, child):
    x = rg.Value(1.0)
    for rest in [(), ((1.0, 1.0),), ("name",)]:
        with pytest.raises(rg.errors.NotAValueError) as caught:
            rg.Value(1.0, (x, child), *rest)
        assert isinstance(caught.value, TypeError)
        text = str(caught.value)
        assert "children: item 1 is " + ("None" if child is None else type(child).__name__) in text
        assert "Value(number, requires_grad=False)" in text


@pytest.mark.parametrize("data", [0.0, 1.0])
def test_children_that_are_no_iterable_are_refused(rg, data):
    with pytest.raises(TypeError, match="itera"):
        rg.Value(1.0, rg.Value(data), (1.0,))
    with pytest.raises(TypeError, match="itera"):
        rg.Value(1.0, rg.Value(data))


@pytest.mark.parametrize("partial", ["a", None, 1j, [1.0]])
def test_partials_that_are_no_numbers_are_refused(rg, partial):
    with pytest.raises(rg.errors.NumberError, match="a local gradient must be a real number"):
        rg.Value(1.0, (rg.Value(1.0),), (partial,))


@pytest.mark.parametrize("label", [3, 1.5, ["w"], b"w"])
def test_labels_that_are_no_strings_are_refused(rg, label):
    with pytest.raises(rg.errors.LabelError, match="a label is a string or None, got") as caught:
        rg.Value(1.0, label=label)
    assert isinstance(caught.value, TypeError)
    assert type(label).__name__ in str(caught.value)
    assert "Write str(...) around it" in str(caught.value)


def test_calls_that_fit_no_signature_are_refused(rg):
    x = rg.Value(1.0)
    calls = [
        lambda: rg.Value(),
        lambda: rg.Value(1.0, (x,), (1.0,), "name"),
        lambda: rg.Value(1.0, colour="red"),
        lambda: rg.Value(1.0, data=1.0),
        lambda: rg.Value(1.0, (x,), _op=3),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()


def test_children_given_twice_are_refused(rg):
    x = rg.Value(1.0)
    with pytest.raises(TypeError):
        rg.Value(1.0, (x,), _children=(x,))
    with pytest.raises(TypeError):
        rg.Value(1.0, (x,), (1.0,), _local_grads=(1.0,))


def test_a_refused_child_leaves_the_others_untouched(rg):
    x = rg.Value(1.0)
    for _ in range(3):
        with pytest.raises(rg.errors.NotAValueError):
            rg.Value(1.0, (x, 2.0), (1.0, 1.0))
    y = x * 2
    y.backward()
    assert x.grad == 2.0


# ---- assignment -------------------------------------------------------------------------------


def state(value):
    return (value.data, value.grad, value.label, value.requires_grad, value.op, value.inputs)


@pytest.fixture(params=["leaf", "computed", "custom", "closure", "subclass"])
def value(request, rg):
    x = rg.Value(3.0)
    made = {
        "leaf": lambda: rg.Value(2.0),
        "computed": lambda: x * x,
        "custom": lambda: rg.Value(2.0, (x,), (1.0,)),
        "closure": lambda: rg.Value(2.0, (x,), "name"),
        "subclass": lambda: type("Sub", (rg.Value,), {})(2.0),
    }[request.param]()
    made.grad, made.label = 7.0, "w"
    return made


def test_assignments_take_any_real_number(rg, value):
    for number in (3, True, np.float32(0.5), np.int64(-4), Fraction(1, 8)):
        value.data = number
        value.grad = number
        assert (value.data, value.grad) == (float(number), float(number))
        assert type(value.data) is type(value.grad) is float


@pytest.mark.parametrize("bad", ["a", None, 1j, [1.0], 10**400, np.array([1.0]), Decimal(1)])
def test_refused_numbers_change_nothing(rg, value, bad):
    before = state(value)
    for attribute in ("data", "grad"):
        with pytest.raises(rg.errors.NumberError) as caught:
            setattr(value, attribute, bad)
        if not isinstance(bad, int):
            assert f"value.{attribute} must be a real number" in str(caught.value)
        assert state(value) == before


@pytest.mark.parametrize("bad", [3, b"w", ["w"]])
def test_refused_labels_change_nothing(rg, value, bad):
    before = state(value)
    with pytest.raises(rg.errors.LabelError):
        value.label = bad
    assert state(value) == before


@pytest.mark.parametrize("attribute", ["data", "grad", "requires_grad"])
def test_attributes_cannot_be_deleted(value, attribute):
    before = state(value)
    with pytest.raises(AttributeError):
        delattr(value, attribute)
    assert state(value) == before


@pytest.mark.parametrize("attribute", ["op", "inputs", "partials", "site", "_op", "_local_grads"])
def test_how_a_value_was_made_cannot_be_assigned(value, attribute):
    before = state(value)
    with pytest.raises(AttributeError):
        setattr(value, attribute, ())
    assert state(value) == before


@pytest.mark.parametrize("attribute", ["_children", "_prev"])
def test_inputs_of_a_ruled_value_cannot_be_assigned(rg, attribute):
    x = rg.Value(3.0)
    for value in (x, x * x, rg.Value(2.0, (x,), (1.0,))):
        before = state(value)
        with pytest.raises(rg.errors.ClosureStyleError, match="closure style"):
            setattr(value, attribute, (x,))
        assert state(value) == before


def test_inputs_of_a_closure_style_value_can_be_assigned(rg):
    x, y = rg.Value(3.0), rg.Value(4.0)
    value = rg.Value(2.0, (x,), "name")
    value._prev = {y}
    assert value.inputs == (y,)
    value._children = [x, y]
    assert value.inputs == (x, y)
    with pytest.raises(rg.errors.NotAValueError, match="item 1"):
        value._children = (x, 3.0)
    assert value.inputs == (x, y)


def test_rules_can_be_assigned_in_the_closure_style_only(rg):
    x = rg.Value(3.0)
    for value in (x * x, rg.Value(2.0, (x,), (1.0,))):
        with pytest.raises(rg.errors.ClosureStyleError, match="already has its rule") as caught:
            value._backward = lambda: None
        assert isinstance(caught.value, AttributeError)
    value = rg.Value(2.0, (x,), "name")
    with pytest.raises(rg.errors.ClosureStyleError, match="callable without arguments, got int"):
        value._backward = 3


def test_plain_values_have_no_room_for_other_attributes(rg):
    with pytest.raises(AttributeError):
        rg.Value(1.0).colour = "red"
