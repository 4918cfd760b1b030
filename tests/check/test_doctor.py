"""One examination: that it changes nothing, what it says of groups, and what it refuses."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from .networks import Network


def alarms(report):
    return [(verdict.kind, verdict.group) for verdict in report.alarms]


# ---- nothing is changed -----------------------------------------------------------------------


def test_no_gradient_is_read_or_written(rg):
    network = Network(rg, 4, "tanh", rows=12)
    loss = network.loss()
    loss.backward()
    nodes = rg.order(loss)
    before = [(v.grad.hex(), v.data.hex(), v.site) for v in nodes]
    report = rg.doctor(loss, network.parameters)
    assert [(v.grad.hex(), v.data.hex(), v.site) for v in nodes] == before
    norms = math.fsum(group.norm**2 for group in report.groups)
    grads = math.fsum(p.grad**2 for p in network.values())
    assert norms == pytest.approx(grads, rel=1e-12)


def test_it_may_be_asked_before_backward(rg):
    network = Network(rg, 4, "tanh", rows=12)
    first = rg.doctor(network.loss(), network.parameters)
    loss = network.loss()
    loss.backward()
    again = rg.doctor(loss, network.parameters)
    assert first.groups == again.groups
    assert all(p.grad != 0.0 for p in network.values())


def test_closures_are_tried_and_gradients_put_back(rg):
    x = rg.Value(0.5, label="x")
    out = rg.Value(0.25, (x,), "mine")

    def rule():
        x.grad += 2 * x.data * out.grad

    out._backward = rule
    loss = out * 3.0 + x
    loss.backward()
    grads = [v.grad for v in rg.order(loss)]
    assert rg.doctor(loss, [x]).healthy
    assert [v.grad for v in rg.order(loss)] == grads


def test_a_rule_that_raises_leaves_everything_as_it_was(rg):
    x = rg.Value(0.5, label="x")
    out = rg.Value(0.25, (x,), "mine")
    out._backward = lambda: 1 / 0
    loss = out * 3.0 + x
    x.grad = 7.0
    with pytest.raises(ZeroDivisionError):
        rg.doctor(loss, [x])
    assert (x.grad, out.grad, loss.grad) == (7.0, 0.0, 0.0)
    assert out.site.file == __file__


# ---- groups -----------------------------------------------------------------------------------


def test_groups_come_from_labels_keys_attributes_and_lines(rg):
    def names(parameters, **options):
        values = rg.sum(flat(parameters))
        return [group.name for group in rg.doctor(values * 1.0, parameters, **options).groups]

    def flat(part):
        if isinstance(part, rg.Value):
            return [part]
        if hasattr(part, "parameters"):
            return part.parameters()
        parts = part.values() if isinstance(part, dict) else part
        return [v for inner in parts for v in flat(inner)]

    def some(*labels):
        return [rg.Value(1.0, label=label) for label in labels]

    class Neuron:
        def __init__(self):
            self.w, self.b = some(None, None), rg.Value(1.0)

        def __call__(self):
            return None

    class Model:
        def __init__(self):
            self.layers = [[Neuron(), Neuron()], [Neuron()]]
            self.table = {"in": some(None)}
            self.itself = self

        def parameters(self):
            found = [n for layer in self.layers for n in layer]
            return [v for n in found for v in (*n.w, n.b)] + self.table["in"]

    assert names(some("l1.w[0]", "l1.w[1]", "l2.w[0]")) == ["l1.w", "l2.w"]
    assert names({"wte": [some(None, None)], "wpe": some(None)}) == ["wte", "wpe"]
    assert names([some(None, None), some(None)]) == ["[0]", "[1]"]
    assert names(Model()) == ["layers[0]", "layers[1]", "table.in"]
    (name,) = names(some(None, None))
    assert name.startswith("made on line ")
    assert names(some("a1", "a2", "b1"), groups=lambda name: name[0]) == ["a", "b"]


def test_a_flat_list_is_split_by_depth(rg):
    network = Network(rg, 21, "tanh", depth=2, rows=12)
    network.penalty = network.residual = False
    groups = rg.doctor(network.loss(), network.values()).groups
    assert len(groups) >= 3
    assert len({group.depth for group in groups}) == len(groups)


def test_shares_add_up_and_ratios_are_to_weights(rg):
    a, b = rg.Value(4.0, label="a"), rg.Value(2.0, label="b")
    report = rg.doctor(3.0 * a + 4.0 * b, [a, b])
    first, second = report.groups
    assert (first.norm, second.norm) == (3.0, 4.0)
    assert (first.share, second.share) == pytest.approx((0.36, 0.64))
    assert (first.ratio, second.ratio) == (0.75, 2.0)
    assert first.depth == 1


def test_a_shared_parameter_counts_once(rg):
    w = rg.Value(0.5, label="w")
    (group,) = rg.doctor(w * w, [w, [w]]).groups
    assert (group.parameters, group.norm) == (1, 1.0)


def test_a_computed_parameter_has_its_gradient_too(rg):
    raw = rg.Value(0.3, label="raw")
    scale = rg.exp(raw)
    scale.label = "scale"
    report = rg.doctor((scale * 2.0 + raw) ** 2, [raw, scale])
    expected = 2 * (math.exp(0.3) * 2 + 0.3)
    by_name = {group.name: group.norm for group in report.groups}
    assert by_name["scale"] == pytest.approx(2 * expected)
    assert by_name["raw"] == pytest.approx(expected * (1 + 2 * math.exp(0.3)))


def test_units_belong_to_the_parameters_nearest_to_them(rg):
    network = Network(rg, 8, "relu", depth=2, rows=12)
    network.residual = False
    report = rg.doctor(network.loss(), network.parameters, groups=lambda name: name[:6])
    counted = {group.name: group.units for group in report.groups}
    assert counted["layer0"] == network.widths[1]
    assert counted["layer1"] == network.widths[2]


# ---- thresholds -------------------------------------------------------------------------------


def test_thresholds_are_adjustable_and_stated(rg):
    w = [rg.Value(1e-3, label=f"w{i}") for i in range(3)]
    loss = (w[0] * (w[1] * (w[2] * 1.0) * 1.0) * 1.0 - 1.0) ** 2
    assert rg.doctor(loss, w).healthy
    report = rg.doctor(loss, w, vanishing=1e-2)
    assert ("vanishing", "w2") in alarms(report)
    assert "threshold 0.01" in str(report)
    assert report.as_dict()["thresholds"]["vanishing"] == 1e-2


def test_rows_are_a_threshold(rg):
    w = rg.Value(-1.0, label="w")
    loss = rg.sum([rg.relu(w * x) for x in (1.0, 2.0, 3.0)])
    assert rg.doctor(loss, [w]).healthy
    assert ("dead gate", "w") in alarms(rg.doctor(loss, [w], rows=3))


# ---- gradients that are not finite ---------------------------------------------------------------


def test_a_nan_gradient_is_not_a_zero(rg):
    x = rg.Value(0.0, label="x")
    y = rg.where(x > 0.0, rg.sqrt(x), 0.0)
    y.backward()
    report = rg.doctor(y, [x])
    (group,) = report.groups
    assert all(map(math.isnan, (x.grad, group.norm, group.share, group.ratio)))
    assert group.zeros == 0
    assert [verdict.kind for verdict in report.verdicts] == ["birth backward"]
    assert "worth knowing" not in report.text()
    assert table(report)[1].split() == ["x", "1", "nan", "nan", "nan", "1"]
    assert "<td>nan</td><td>nan</td><td>nan</td>" in report.html()
    assert math.isnan(report.history[0].gradient_norm)
    assert report.as_dict()["groups"][0]["norm"] == "nan"


def test_an_infinite_gradient_is_shown_as_such(rg):
    x, y = rg.Value(0.0, label="x"), rg.Value(2.0, label="y")
    report = rg.doctor(rg.sqrt(x) + 3.0 * y, [x, y])
    groups = {group.name: group for group in report.groups}
    assert (groups["x"].norm, groups["x"].ratio, groups["x"].zeros) == (math.inf, math.inf, 0)
    assert (groups["y"].norm, groups["y"].ratio) == (3.0, 1.5)
    assert {verdict.kind for verdict in report.verdicts} == {"birth backward"}


def test_a_nan_among_others_leaves_them_alone(rg):
    x, y = rg.Value(0.0, label="x"), rg.Value(2.0, label="y")
    loss = rg.where(x > 0.0, rg.sqrt(x), 0.0) + rg.relu(-y)
    report = rg.doctor(loss, {"x": x, "y": y})
    assert {verdict.group for verdict in report.verdicts if "zero" in verdict.sentence} == {"y"}
    both = rg.doctor(loss, [x, y], groups=lambda name: "both").groups[0]
    assert math.isnan(both.norm)
    assert both.zeros == 1


def test_a_nan_seen_once_is_not_forgotten(rg):
    x = rg.Value(0.0, label="x")
    with rg.doctor.watch([x]) as watched:
        rg.where(x > 0.0, rg.sqrt(x), 0.0).backward()
        (x * 0.0).backward()
    (group,) = watched.report().groups
    assert math.isnan(group.norm)
    assert group.zeros == 0


# ---- renderers --------------------------------------------------------------------------------


def sick(rg):
    w, b, v = rg.Value(0.5, label="<w>"), rg.Value(-9.0, label="b"), rg.Value(0.0, label="v")
    rows = [rg.relu(w * x + b) + rg.sqrt(v * v) for x in range(9)]
    return rg.doctor(rg.mean(rows), [w, b, v])


def test_text_is_narrow_and_complete(rg):
    report = sick(rg)
    text = report.text()
    assert text.startswith("2 alarms: 3 parameters in 3 groups, 1 pass")
    for verdict in report.alarms:
        assert verdict.sentence.split(":")[0] in text.replace("\n    ", " ")
    assert max(map(len, text.split("born in the")[0].splitlines())) <= 110
    assert str(report) == text


def table(report):
    lines = report.text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("group"))
    return lines[first : first + 1 + len(report.groups)]


@pytest.mark.parametrize("name", ["c", "group", "layers.0.weight", "n" * 40])
def test_columns_stand_under_their_heads(rg, name):
    w, c = rg.Value(1.5), rg.Value(2.0)
    head, *rows = table(rg.doctor(w * c * 3.0, {name: w, "d": [c]}))
    for row in rows:
        for column in ("size", "gradient", "share", "ratio", "depth"):
            end = head.index(column) + len(column)
            assert row[end - 1] != " "
            assert row[end : end + 1] in (" ", "")
        assert len(row) <= 80


def test_wide_counts_keep_the_columns(rg):
    w = rg.Value(1.5)
    report = rg.doctor(w * 3.0, [w])
    many = replace(report.groups[0], name="many", parameters=12_345_678)
    head, *rows = table(replace(report, groups=(*report.groups, many)))
    assert {len(row) for row in rows} == {head.index("depth") + len("depth")}


def test_one_is_singular(rg):
    w = rg.Value(1.5, label="w")
    assert rg.doctor(w * 3.0, [w]).text().startswith("healthy: 1 parameter in 1 group, 1 pass, ")
    b = rg.Value(-9.0, label="b")
    loss = rg.relu(b)
    said = " ".join(verdict.sentence for verdict in rg.doctor(loss, [b]).verdicts)
    assert "1 units" not in said
    assert "1 rows" not in said


def test_the_page_is_whole_and_needs_nothing_else(rg):
    page = sick(rg).html()
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert "http" not in page
    assert "&lt;w&gt;" in page
    assert "<w>" not in page
    assert '<html lang="en">' in page
    assert 'scope="col"' in page
    assert "prefers-color-scheme:dark" in page


def test_data_is_json_without_exceptions(rg):
    data = json.loads(json.dumps(sick(rg).as_dict(), allow_nan=False))
    assert data["healthy"] is False
    assert {verdict["kind"] for verdict in data["verdicts"]} >= {"birth backward"}
    assert data["births"]["backward"][0]["partial"] == "inf"


def test_a_notebook_shows_a_fragment(rg):
    fragment = sick(rg)._repr_html_()
    assert "<html" not in fragment
    assert fragment.count("<style>") == 1


# ---- bad input --------------------------------------------------------------------------------


def test_what_is_no_loss_is_refused(rg):
    for wrong in (3.0, None, "loss", [rg.Value(1.0)]):
        with pytest.raises(rg.errors.NotAValueError):
            rg.doctor(wrong, [rg.Value(1.0)])


def test_what_are_no_parameters_is_refused(rg):
    x = rg.Value(1.0)
    for wrong in (3.0, [x, 3.0], {"w": None}, "w", object()):
        with pytest.raises(rg.errors.NotAValueError):
            rg.doctor(x * x, wrong)
    with pytest.raises(rg.errors.DoctorError, match="no parameters"):
        rg.doctor(x * x, [])
    with pytest.raises(rg.errors.DoctorError, match="no threshold 'vanish'"):
        rg.doctor(x * x, [x], vanish=1.0)
    for wrong in (-1.0, "1", None, True):
        with pytest.raises(rg.errors.DoctorError, match="vanishing"):
            rg.doctor(x * x, [x], vanishing=wrong)


def test_parameters_that_are_not_in_the_graph_are_said_so(rg):
    x, y = rg.Value(1.0, label="x"), rg.Value(1.0, label="y")
    assert alarms(rg.doctor(x * x, [y])) == [("unreachable", "y")]


def test_a_loss_without_history_leaves_all_unreachable(rg):
    x = rg.Value(1.0, label="x")
    with rg.no_grad():
        loss = x * x
    assert alarms(rg.doctor(loss, [x])) == [("unreachable", "x")]


def test_a_parameter_that_is_the_loss(rg):
    x = rg.Value(1.0, label="x")
    report = rg.doctor(x, [x])
    assert report.healthy
    assert report.groups[0].norm == 1.0


def test_huge_and_tiny_gradients_do_not_overflow_the_norms(rg):
    a, b = rg.Value(1.0, label="a"), rg.Value(1.0, label="b")
    report = rg.doctor(1e200 * a + 1e-200 * b, [a, b])
    assert [group.norm for group in report.groups] == pytest.approx([1e200, 1e-200])


def test_a_deep_chain_is_no_trouble(rg):
    x = rg.Value(1.0, label="x")
    y = x
    for _ in range(200_000 if rg.__name__ == "retrograde" else 20_000):
        y = y * 1.0
    report = rg.doctor(y, [x])
    assert report.healthy
    assert len(report.profile.means) <= 256
