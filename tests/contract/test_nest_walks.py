"""Nests: what is taken apart comes back, each leaf has its place, and depth breaks nothing."""

from __future__ import annotations

from collections import OrderedDict, namedtuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrograde import errors
from retrograde._values import nests
from retrograde._values.sequences import sequence

Pair = namedtuple("Pair", "left right")


class Row(list):
    """A list of a class of its own."""


def containers(inner):
    return st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.lists(inner, max_size=3).map(Row),
        st.tuples(inner, inner).map(lambda two: Pair(*two)),
        st.dictionaries(st.sampled_from(["w", "b", 3, (0, 1)]), inner, max_size=3),
    )


trees = st.recursive(st.floats(allow_nan=False) | st.text(max_size=2), containers, max_leaves=12)


def reached(nest, path):
    for key in path:
        nest = nest[key]
    return nest


@given(trees)
def test_what_is_taken_apart_comes_back(nest):
    leaves, structure = nests.flatten(nest)
    again = structure.unflatten(leaves)
    assert again == nest
    assert type(again) is type(nest)
    assert nests.flatten(again)[1] == structure


@given(trees)
def test_paths_lead_to_the_leaves_and_places_say_so(nest):
    leaves, structure = nests.flatten(nest)
    assert [reached(nest, path) for path in structure.paths()] == leaves
    assert [eval(place, {"x": nest}) for place in structure.places("x")] == leaves


def test_labels_name_the_fields_of_named_tuples():
    nest = {"p": Pair(1.0, [2.0, (3.0,)]), 7: np.ones((1, 2))}
    _, structure = nests.flatten(nest)
    labels = [("p", "left"), ("p", "right", 0), ("p", "right", 1, 0), (7, 0, 0), (7, 0, 1)]
    assert structure.labels() == labels
    assert structure.paths()[:2] == [("p", 0), ("p", 1, 0)]


@given(trees)
def test_looking_finds_the_same_leaves(nest):
    assert list(nests.leaves(nest)) == nests.flatten(nest)[0]


@given(trees)
def test_mapping_keeps_the_structure(nest):
    wrapped = nests.mapped(lambda leaf: {"only": leaf}, nest)
    again = nests.mapped(
        lambda part: part["only"], wrapped, lambda part: type(part) is dict and "only" in part
    )
    assert again == nest


def test_arrays_are_opened_by_all_axes_at_once():
    array = np.arange(6.0).reshape(2, 3)
    leaves, structure = nests.flatten({"a": array})
    assert leaves == list(range(6))
    assert structure.places("x")[4] == 'x["a"][1, 1]'
    assert structure.paths()[4] == ("a", 1, 1)
    assert structure.unflatten([float(x) for x in leaves])["a"].shape == (2, 3)
    kept, _ = nests.flatten({"a": array}, nests.is_array)
    assert kept[0] is array


def test_sequences_that_compute_come_back_as_such_where_they_hold_values():
    import retrograde as rg

    row = sequence([rg.Value(1.0), rg.Value(2.0)], (2,))
    leaves, structure = nests.flatten([row])
    assert type(structure.unflatten(leaves)[0]) is type(row)
    assert type(structure.unflatten([1.0, 2.0])[0]) is np.ndarray


def test_no_axis_of_an_empty_array_is_spelt_out():
    leaves, structure = nests.flatten(np.empty((10**12, 0)))
    assert leaves == []
    assert structure.unflatten([]).shape == (10**12, 0)


def test_several_nests_may_share_one_source():
    first, second = nests.take_apart([1.0, 2.0], "a"), nests.take_apart({"k": 3.0}, "b")
    source = iter([10.0, 20.0, 30.0])
    assert (first.filled(source), second.filled(source)) == ([10.0, 20.0], {"k": 30.0})


def test_a_dict_of_another_class_is_opened_and_comes_back_plain():
    assert type(nests.mapped(float, OrderedDict(a=1))) is dict


def test_what_is_no_number_is_refused_by_place():
    with pytest.raises(errors.ArgumentError, match=r'x\[1\]\["w"\]'):
        nests.take_apart([1.0, {"w": "text"}], "x")


def test_deep_nests_are_walked():
    nest = leaf = []
    for _ in range(nests.DEEPEST - 2):
        nest = [nest]
    leaf.append(7.0)
    leaves, structure = nests.flatten(nest)
    assert leaves == [7.0] == list(nests.leaves(nest))
    assert nests.flatten(structure.unflatten([8.0]))[0] == [8.0]


@pytest.mark.parametrize("wrong", [1.0, 3, "text", None, object()])
def test_what_is_no_value_is_refused_wherever_it_stands(rg, wrong):
    for nest in (wrong, [wrong], {"a": [rg.Value(1.0), wrong]}, np.array([wrong], dtype=object)):
        with pytest.raises(rg.errors.NotAValueError):
            rg.zero_grad(nest)


def circles():
    own = []
    own.append(own)
    pair = [1.0]
    pair.append({"again": (pair, pair)})
    return [own, pair]


@pytest.mark.parametrize("nest", circles(), ids=["itself", "far"])
def test_a_list_that_holds_itself_is_refused_everywhere(rg, nest):
    with pytest.raises(rg.errors.ShapeError, match="may hold itself"):
        rg.grad(lambda v: v)(nest)
    with pytest.raises((rg.errors.ShapeError, rg.errors.NotAValueError)):
        rg.zero_grad(nest)


def test_the_doctor_looks_once_into_a_list_that_holds_itself(rg):
    w = rg.Value(1.0, label="w")
    nest = [w]
    nest.append(nest)
    report = rg.doctor(w * w, nest)
    assert [group.name for group in report.groups] == ["w"]
