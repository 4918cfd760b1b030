"""What a recorded graph holds, in bytes."""

from __future__ import annotations

import json
import sys

import pytest

from .networks import Network


def test_a_native_node_is_80_bytes_and_16_more_an_input_of_a_wide_one(native):
    x, y = native.Value(1.0), native.Value(2.0)
    assert native.memory(x * y).recorded == 3 * 80
    assert native.memory(x * 2.0).recorded == 2 * 80
    assert native.memory(native.sum([x, y, x])).recorded == 3 * 80 + 3 * 16
    assert native.memory(native.dot([x, y], [1.0, y])).recorded == 3 * 80 + 4 * 16
    assert native.memory(native.clip(x, 0.0, 1.0)).recorded == 2 * 80 + 3 * 16
    assert native.memory(native.Value(3.0, (x,), (1.0,))).recorded == 2 * 80 + 16


def test_the_count_is_close_to_what_python_sees(native):
    """A chain of a hundred thousand nodes against the growth of the process's own blocks."""
    x = native.Value(1.0)
    y = x
    for _ in range(1000):
        y = y * 1.5 + x
    report = native.memory(y)
    assert report.nodes == 2001
    assert report.recorded == sum(sys.getsizeof(v) for v in native.order(y))


def test_parts_add_up(rg):
    network = Network(rg, 5, "relu", rows=8)
    loss = network.loss()
    report = rg.memory(loss, network.parameters)
    assert report.nodes == len(rg.order(loss))
    for parts in (report.by_op, report.by_line, report.by_group):
        assert sum(part.bytes for part in parts) == report.recorded
        assert sum(part.nodes for part in parts) == report.nodes
        assert [p.bytes for p in parts] == sorted((p.bytes for p in parts), reverse=True)
    groups = {part.name for part in report.by_group}
    assert {"layer0.w", "layer0.b"} <= groups
    assert any("in unit" in part.name or "in <genexpr>" in part.name for part in report.by_line)


def test_the_forward_pass_alone_holds_what_is_live_at_once(native):
    x = native.Value(1.0)
    y = x
    for _ in range(50):
        y = y * 1.5
    assert native.memory(y).forward_alone == 80 * (1 + 2)  # the leaf, one value, the next
    wide = native.sum([x * float(i) for i in range(50)])
    assert native.memory(wide).forward_alone == 80 * (1 + 51)


def test_text_and_data(rg):
    x = rg.Value(1.0)
    report = rg.memory([x * 2.0, x * 3.0], [x])
    assert report.text().startswith("3 values recorded")
    assert "by line" in str(report)
    assert json.loads(json.dumps(report.as_dict()))["nodes"] == 3
    assert report.factor == report.recorded / report.forward_alone


def test_a_leaf_alone(rg):
    report = rg.memory(rg.Value(1.0))
    assert report.nodes == 1
    assert report.leaves == report.recorded == report.forward_alone


@pytest.mark.parametrize("wrong", [3.0, None, "x", [3.0]])
def test_what_is_no_root_is_refused(rg, wrong):
    with pytest.raises(rg.errors.NotAValueError):
        rg.memory(wrong)
