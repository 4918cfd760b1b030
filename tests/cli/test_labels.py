"""What the values of a program are called: labels found by walking its variables."""

from __future__ import annotations

import importlib
import importlib.util
import json

import pytest


@pytest.fixture
def labels(cli):
    return importlib.import_module(f"{cli.__name__}._labels")


def test_labels_follow_lists_dicts_and_objects(labels, rg):
    class Unit:
        def __init__(self, data):
            self.w, self.me = [rg.Value(data)], self

    class Slotted:
        __slots__ = ("__dict__", "absent", "weight")

        def __init__(self):
            self.weight = rg.Value(7.0)

    state = {"wte": [[rg.Value(1.0)]], "layer0.wq": (rg.Value(2.0),), 3: rg.Value(3.0)}
    deep = {"deep": {"er": {"x": rg.Value(4.0)}}, "wte": rg.Value(5.0), "n": 1, "s": "text"}
    alone = rg.Value(8.0)
    variables = {
        "params": [state["wte"][0][0], alone, rg.Value(9.0)],
        "p": alone,
        "alone": alone,
        "state": state,
        "deep_one": deep,
        "model": {"units": [Unit(6.0)]},
        "slotted": Slotted(),
        "__hidden": rg.Value(10.0),
        "module": json,
        "function": lambda: None,
    }
    variables["everything"] = [variables]
    found = {value.data: label for value, label in labels.labels_of(variables, {"p": 5})}
    assert found == {
        1.0: "wte[0][0]",
        2.0: "layer0.wq[0]",
        3.0: "state[3]",
        4.0: "deep.er.x",
        5.0: "deep_one.wte",
        6.0: "units[0].w[0]",
        7.0: "slotted.weight",
        8.0: "alone",
        9.0: "params[2]",
        10.0: "everything[0].__hidden",
    }


def test_labels_are_set_where_there_are_none_and_taken_away_again(labels, rg):
    named, bare = rg.Value(1.0, label="mine"), rg.Value(2.0)
    with labels.labelled(labels.labels_of({"named": named, "bare": [bare]})):
        assert (named.label, bare.label) == ("mine", "bare[0]")
    assert (named.label, bare.label) == ("mine", "")


def test_labels_are_lent_while_a_watcher_is_told_of_a_pass(cli, labels, rg, monkeypatch):
    monkeypatch.setattr(labels, "MOST_PARTS", 100)  # a variable has its name, whatever lies around
    watch = importlib.import_module(f"{rg.__name__}._values.watch")
    w, told = rg.Value(2.0), []
    watcher = watch.watching(lambda this: told.append(w.label),
                             begun=lambda this: told.append(w.label))  # fmt: skip
    with labels.Lent({}).around(watcher):
        for _ in range(2):
            (w * 2).backward()
    assert told == ["w", "", "", ""]
    assert w.label == ""


def test_labels_of_deep_wide_and_circular_things(labels, rg, monkeypatch):
    chain = bottom = []
    for _ in range(50_000):
        bottom.append([])
        bottom = bottom[0]
    bottom.append(chain)
    near = rg.Value(1.0)
    assert len(labels.labels_of({"chain": chain, "near": [near]})) == 1
    monkeypatch.setattr(labels, "MOST_PARTS", 1000)
    wide = [[rg.Value(0.0)] for _ in range(5_000)]
    assert len(labels.labels_of({"near": {"x": near}, "wide": wide})) <= 1001


def test_a_name_of_a_loop_is_no_name_where_the_program_has_another(labels, rg):
    source = b"""
a, b = Net(), Net()
y = [v * a for v, a in zip(x, w)]
for p in a.parameters: p.grad = 0
"""
    passing = labels.passing_names(source)
    assert passing == {"v": 5, "p": 5}

    class Net:
        def __init__(self):
            self.o = [rg.Value(1.0), rg.Value(2.0)]

    a, b = Net(), Net()
    found = labels.labels_of({"a": a, "b": b, "p": a.o[1]}, passing)
    assert [label for _, label in found] == ["a.o[0]", "a.o[1]", "b.o[0]", "b.o[1]"]
