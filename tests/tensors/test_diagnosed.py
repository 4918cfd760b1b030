"""The doctor, memory and births of graphs with tensors, on both cores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

rng = np.random.default_rng(0)
X, CLASSES = rng.normal(size=(64, 8)), rng.integers(0, 3, 64)
HIDDEN, LAST = rng.normal(size=(8, 16)) * 0.5, rng.normal(size=(16, 3)) * 0.3


def network(rg: Any, bias: float = 0.0) -> dict[str, Any]:
    return {
        "hidden": {"w": rg.Tensor(HIDDEN), "b": rg.Tensor(np.full(16, bias))},
        "last": {"w": rg.Tensor(LAST)},
    }


def loss_of(rg: Any, net: Any, act: str = "relu") -> Any:
    h = getattr(rg, act)(X @ net["hidden"]["w"] + net["hidden"]["b"])
    return rg.cross_entropy(h @ net["last"]["w"], CLASSES)


def leaves(net: Any) -> list[Any]:
    return [net["hidden"]["w"], net["hidden"]["b"], net["last"]["w"]]


def trained(rg: Any, net: Any, passes: int = 8, lr: float = 0.1, loss: Any = loss_of) -> Any:
    optimizer = rg.optim.SGD(leaves(net), lr=lr)
    with rg.doctor.watch(net) as watched:
        for _ in range(passes):
            optimizer.zero_grad()
            loss(rg, net).backward()
            optimizer.step()
    return watched.report()


def test_a_healthy_network(rg: Any) -> None:
    report = trained(rg, network(rg))
    assert report.healthy, report.text()
    assert {group.name: group.parameters for group in report.groups} == {
        "last.w": 48, "hidden.b": 16, "hidden.w": 128,
    }  # fmt: skip
    assert sum(group.units for group in report.groups) == 16


def test_dead_units_are_columns(rg: Any) -> None:
    report = trained(rg, network(rg, bias=-50.0))
    (dead,) = [each for each in report.alarms if "dead" in each.sentence]
    assert "16 of 16 units" in dead.sentence
    assert "all 512 rows" in dead.sentence
    assert dead.site.file == __file__


def test_one_dead_unit_of_many_is_no_alarm(rg: Any) -> None:
    net = network(rg)
    bias = np.zeros(16)
    bias[3] = -50.0
    rg.assign(net["hidden"]["b"], bias)
    report = trained(rg, net)
    assert report.healthy, report.text()
    (group,) = [each for each in report.groups if each.units]
    assert (group.dead, group.units) == (1, 16)


def test_saturated_units(rg: Any) -> None:
    report = trained(rg, network(rg, bias=30.0), loss=lambda rg, net: loss_of(rg, net, "tanh"))
    assert any("saturate" in each.sentence for each in report.alarms), report.text()


def test_cuts_are_named(rg: Any) -> None:
    def loss(rg: Any, net: Any) -> Any:
        h = rg.tanh(X @ net["hidden"]["w"] + net["hidden"]["b"]).detach()
        return rg.cross_entropy(h @ net["last"]["w"], CLASSES)

    report = trained(rg, network(rg), loss=loss)
    cut = [each for each in report.alarms if "detach() on line" in each.sentence]
    assert cut, report.text()
    assert cut[0].site.file == __file__

    def without(rg: Any, net: Any) -> Any:
        with rg.no_grad():
            h = rg.tanh(X @ net["hidden"]["w"] + net["hidden"]["b"])
        return rg.cross_entropy(h @ net["last"]["w"], CLASSES)

    report = trained(rg, network(rg), loss=without)
    assert any("no_grad() on line" in each.sentence for each in report.alarms), report.text()


def test_the_cut_of_a_row_is_nobodys(rg: Any) -> None:
    report = trained(rg, network(rg))
    assert "detach" not in report.text()


def test_a_step_the_wrong_way(rg: Any) -> None:
    net = network(rg)
    with rg.doctor.watch(net) as watched:
        for _ in range(8):
            rg.zero_grad(leaves(net))
            loss_of(rg, net).backward()
            for p in leaves(net):
                rg.assign(p, p.data + 0.5 * p.grad)
    assert any(each.kind == "ascent" for each in watched.report().alarms)


def test_nothing_moves(rg: Any) -> None:
    net = network(rg)
    with rg.doctor.watch(net) as watched:
        for _ in range(8):
            rg.zero_grad(leaves(net))
            loss_of(rg, net).backward()
    text = " ".join(watched.report().text().split())
    assert "no parameter has changed" in text
    assert "rg.assign(p, p.data - lr * p.grad)" in text


def test_gradients_that_are_never_reset(rg: Any) -> None:
    net = network(rg)
    optimizer = rg.optim.SGD(leaves(net), lr=0.01)
    with rg.doctor.watch(net) as watched:
        for _ in range(8):
            loss_of(rg, net).backward()
            optimizer.step()
    assert any("zero_grad" in f"{each.sentence} {each.cure}" for each in watched.report().alarms)


def test_unreached_and_frozen(rg: Any) -> None:
    net = network(rg)
    spare = rg.Tensor(np.ones(3), label="spare")
    still = rg.Tensor(np.ones(3), label="still", requires_grad=False)
    report = rg.doctor(loss_of(rg, net), [*leaves(net), spare, still])
    assert any("'spare'" in each.sentence for each in report.alarms)
    assert not any("'still'" in each.sentence for each in report.alarms)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nan_is_born_at_a_line_and_an_index(rg: Any) -> None:
    x = rg.Tensor([[1.0, 4.0], [0.0, 9.0]], label="x")
    report = rg.doctor((rg.sqrt(x) * 2.0).sum(), [x])
    (birth,) = report.births.backward
    assert birth.index == (1, 0)
    assert any("sqrt" in each.sentence and "None" not in each.sentence for each in report.alarms)


def test_values_and_tensors_together(rg: Any) -> None:
    scale, w = rg.Value(2.0, label="scale"), rg.Tensor([1.0, 2.0], label="w")
    report = rg.doctor(((w * scale) ** 2).sum(), {"scale": scale, "w": w})
    assert report.healthy, report.text()
    assert {group.name: group.parameters for group in report.groups} == {"scale": 1, "w": 2}


def test_memory_counts_numbers(rg: Any) -> None:
    x = rg.Tensor(np.ones((100, 100)), label="x")
    kept = rg.tanh(rg.tanh(x))
    report = rg.memory(kept.sum(), [x])
    assert report.leaves >= 80_000
    assert 240_000 <= report.recorded < 320_000
    assert 160_000 <= report.forward_alone < 260_000
    assert report.by_op[0].name == "tanh"


def test_watching_changes_no_bit(rg: Any) -> None:
    watched, alone = network(rg), network(rg)
    trained(rg, watched)
    optimizer = rg.optim.SGD(leaves(alone), lr=0.1)
    for _ in range(8):
        optimizer.zero_grad()
        loss_of(rg, alone).backward()
        optimizer.step()
    for one, other in zip(leaves(watched), leaves(alone)):
        assert np.array_equal(one.data, other.data)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_nan_in_a_late_pass_is_found_where_it_is_born(rg: Any) -> None:
    w = rg.Tensor([1.0, 2.0], label="w")
    with rg.doctor.watch([w]) as watched:
        for number in range(60):
            rg.zero_grad([w])
            (rg.log(w * (0.0 if number == 50 else 1.0)) * 0.1).sum().backward()
            rg.assign(w, w.data - 0.01)
    report = watched.report()
    assert report.passes == 60
    assert "log" in report.text()
    assert "51" in report.text()


def test_units_that_die_late_are_found(rg: Any) -> None:
    net = network(rg)
    optimizer = rg.optim.SGD(leaves(net), lr=0.05)
    with rg.doctor.watch(net) as watched:
        for number in range(200):
            if number == 40:
                rg.assign(net["hidden"]["b"], np.full(16, -50.0))
            optimizer.zero_grad()
            loss_of(rg, net).backward()
            optimizer.step()
    assert any("16 of 16 units" in each.sentence for each in watched.report().alarms)
