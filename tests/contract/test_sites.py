"""Where values say they were made: file, line and function of the user's own source."""

from __future__ import annotations

import numpy as np
import pytest

from .support import line_of


def is_made_at(value, mark, *functions):
    """Assert that a value was made on the line marked so, in a function of that name."""
    site = value.site
    assert site is not None
    assert (site.file, site.line) == (__file__, line_of(__file__, mark))
    assert site.function in functions


def build(rg):
    """One value for every way to make one, by the mark of its line."""
    x, y = rg.Value(0.5), rg.Value(1.5)
    made = {}
    made["a leaf"] = rg.Value(2.0)  # a leaf
    made["a frozen leaf"] = rg.Value(2.0, requires_grad=False)  # a frozen leaf
    made["an operator"] = x + y  # an operator
    made["a number on the left"] = 2 - x  # a number on the left
    made["a power"] = x**3  # a power
    made["a sign"] = -x  # a sign
    made["a method"] = x.tanh()  # a method
    made["a method of two"] = x.maximum(y)  # a method of two
    made["a function"] = rg.exp(x)  # a function
    made["a function of three"] = rg.clip(x, low=0.0, high=y)  # a function of three
    made["a sum"] = rg.sum([x, y])  # a sum
    made["a dot"] = rg.dot([x, y], [y, 2.0])  # a dot
    made["a builtin sum"] = sum([x, y])  # a builtin sum
    made["a custom node"] = rg.Value(1.0, (x,), (1.0,))  # a custom node
    made["a closure-style node"] = rg.Value(1.0, (x,), "mine")  # a closure-style node
    made["a detached copy"] = (x * y).detach()  # a detached copy
    made["a mean"] = rg.mean([x, y])  # a mean
    made["a norm"] = rg.norm([x, y])  # a norm
    made["a logsumexp"] = rg.logsumexp([x, y])  # a logsumexp
    made["a softmax"] = rg.softmax([x, y])[1]  # a softmax
    with rg.no_grad():
        made["a constant"] = x * y  # a constant
    return made


def build_from_arrays(rg):
    """The same for array operands."""
    x, y = rg.Value(0.5), rg.Value(1.5)
    made = {}
    made["an array on the right"] = (x * np.array([1.0, 2.0]))[1]  # an array on the right
    made["an array on the left"] = (np.array([1.0, 2.0]) / x)[1]  # an array on the left
    made["a function of an array"] = rg.exp(np.array([x, y]))[0]  # a function of an array
    made["a method on an array"] = x.maximum(np.array([y, 2.0]))[0]  # a method on an array
    return made


MARKS = [
    "a leaf", "a frozen leaf", "an operator", "a number on the left", "a power", "a sign",
    "a method", "a method of two", "a function", "a function of three", "a sum", "a dot",
    "a builtin sum", "a custom node", "a closure-style node", "a detached copy", "a mean", "a norm",
    "a logsumexp", "a softmax", "a constant",
]  # fmt: skip
ARRAY_MARKS = [
    "an array on the right", "an array on the left", "a function of an array",
    "a method on an array",
]  # fmt: skip


@pytest.mark.parametrize("mark", MARKS)
def test_a_value_knows_its_line(rg, mark):
    is_made_at(build(rg)[mark], mark, "build")


@pytest.mark.parametrize("mark", ARRAY_MARKS)
def test_a_value_made_with_an_array_knows_its_line(rg, mark):
    is_made_at(build_from_arrays(rg)[mark], mark, "build_from_arrays")


def test_every_way_to_make_a_value_is_listed(rg):
    assert list(build(rg)) == MARKS
    assert list(build_from_arrays(rg)) == ARRAY_MARKS


@pytest.mark.parametrize("make", [build, build_from_arrays])
def test_both_cores_agree(native, reference, make):
    mine, theirs = make(native), make(reference)
    assert {mark: v.site for mark, v in mine.items()} == {
        mark: v.site for mark, v in theirs.items()
    }


def test_every_value_inside_a_composite_belongs_to_the_caller(rg):
    x, y = rg.Value(0.5), rg.Value(1.5)
    made = [*rg.softmax([x, y]), rg.logsumexp([x, y]), rg.mean([x, y]), rg.norm([x, y])]  # all four
    for value in rg.order(*made):
        if value is not x and value is not y and value.requires_grad:
            is_made_at(
                value, "all four", "test_every_value_inside_a_composite_belongs_to_the_caller"
            )


def test_comprehensions_generators_and_lambdas(rg):
    x = rg.Value(0.5)
    name = "test_comprehensions_generators_and_lambdas"
    in_list = [x * n for n in range(2)]  # in a list
    in_dict = {n: x * n for n in range(2)}  # in a dict
    in_generator = list(x * n for n in range(2))  # noqa: C400  # in a generator
    double = lambda value: value * 2  # noqa: E731  # in a lambda
    is_made_at(in_list[1], "in a list", name, "<listcomp>")
    is_made_at(in_dict[1], "in a dict", name, "<dictcomp>")
    is_made_at(in_generator[1], "in a generator", "<genexpr>")
    is_made_at(double(x), "in a lambda", "<lambda>")
    is_made_at(next(map(double, [x])), "in a lambda", "<lambda>")


def test_a_sum_over_a_generator_belongs_to_the_one_who_sums(rg):
    x = rg.Value(0.5)
    total = rg.sum(x * n for n in range(3))  # summed here
    is_made_at(total, "summed here", "test_a_sum_over_a_generator_belongs_to_the_one_who_sums")


def test_statements_over_several_lines(rg):
    x, y = rg.Value(0.5), rg.Value(1.5)
    total = rg.sum(
        [
            x * y,  # the product
            x.exp(),  # the power
        ]
    )
    name = "test_statements_over_several_lines"
    is_made_at(total.inputs[0], "the product", name)
    is_made_at(total.inputs[1], "the power", name)


def test_methods_and_nested_functions_by_their_own_name(rg):
    class Layer:
        def __call__(self, x):
            def inner():
                return x * 2  # inside inner

            return inner() + 1  # inside call

    result = Layer()(rg.Value(0.5))
    is_made_at(result, "inside call", "__call__")
    is_made_at(result.inputs[0], "inside inner", "inner")


def test_subclasses_show_where_they_were_called(rg):
    class Plain(rg.Value):
        pass

    leaf = Plain(1.0)  # a leaf of a subclass
    node = Plain(1.0, (leaf,), (1.0,))  # a node of a subclass
    is_made_at(leaf, "a leaf of a subclass", "test_subclasses_show_where_they_were_called")
    is_made_at(node, "a node of a subclass", "test_subclasses_show_where_they_were_called")


def test_a_site_reads_as_a_place(rg):
    site = build(rg)["an operator"].site
    assert str(site) == f"{__file__}:{site.line}, in build"
    assert tuple(site) == (__file__, site.line, "build")


def test_code_without_a_file_still_has_a_line(rg):
    space = {"x": rg.Value(0.5)}
    exec("\n\ny = x * 2", space)
    assert tuple(space["y"].site) == ("<string>", 3, "<module>")


def test_sites_outlive_their_function(rg):
    space = {}
    exec("def make(x):\n    return x * 2", space)
    value = space.pop("make")(rg.Value(0.5))
    space.clear()
    assert tuple(value.site) == ("<string>", 2, "make")


@pytest.mark.parametrize(("function", "told"), [("<module>", ""), ("loss", ", in loss")])
def test_a_cell_of_a_notebook_is_told_without_its_passing_file(rg, function, told):
    site = type(rg.Value(1.0).site)("/tmp/ipykernel_81/4711.py", 3, function)
    assert str(site) == f"line 3 of a notebook cell{told}"
