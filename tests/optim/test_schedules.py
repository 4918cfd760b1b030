"""Schedules: the rates of every step are PyTorch's."""

from __future__ import annotations

import pytest

STEPS = 100


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="torch is an extra")


SCHEDULES = {
    "LambdaLR": lambda m, o: m.LambdaLR(o, lambda step: 1 - step / 120),
    "LambdaLR a group": lambda m, o: m.LambdaLR(o, [lambda s: 0.9**s, lambda s: 1 / (1 + s)]),
    "StepLR": lambda m, o: m.StepLR(o, step_size=7, gamma=0.5),
    "MultiStepLR": lambda m, o: m.MultiStepLR(o, milestones=[30, 10, 60], gamma=0.3),
    "ExponentialLR": lambda m, o: m.ExponentialLR(o, gamma=0.97),
    "LinearLR": lambda m, o: m.LinearLR(o),
    "LinearLR down": lambda m, o: m.LinearLR(o, 1.0, 0.0, total_iters=90),
    "CosineAnnealingLR": lambda m, o: m.CosineAnnealingLR(o, T_max=40, eta_min=1e-3),
    "SequentialLR": lambda m, o: m.SequentialLR(
        o,
        [m.LinearLR(o, 0.1, 1.0, total_iters=10), m.CosineAnnealingLR(o, T_max=60)],
        milestones=[10],
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCHEDULES)
def test_every_rate_equals_pytorchs(rg, torch, name):
    leaves = [rg.Value(1.0), rg.Value(2.0)]
    mine = rg.optim.SGD([{"params": leaves[:1]}, {"params": leaves[1:], "lr": 0.5}], lr=0.1)
    tensors = [torch.tensor(1.0, requires_grad=True) for _ in range(2)]
    theirs = torch.optim.SGD([{"params": tensors[:1]}, {"params": tensors[1:], "lr": 0.5}], lr=0.1)
    one = SCHEDULES[name](rg.optim, mine)
    two = SCHEDULES[name](torch.optim.lr_scheduler, theirs)
    for _ in range(STEPS):
        expected = [group["lr"] for group in theirs.param_groups]
        assert one.get_last_lr() == pytest.approx(expected, rel=1e-10, abs=1e-12)
        mine.step(), theirs.step(), one.step(), two.step()


def test_a_saved_schedule_goes_on(rg):
    def make():
        optimizer = rg.optim.SGD([rg.Value(1.0)], lr=1.0)
        return rg.optim.CosineAnnealingLR(optimizer, T_max=10)

    one, two = make(), make()
    for _ in range(4):
        one.step()
    two.load_state_dict(one.state_dict())
    one.step(), two.step()
    assert one.get_last_lr() == two.get_last_lr()
    with pytest.raises(rg.errors.StateError):
        two.load_state_dict({"last_step": 1, "base_lrs": [1.0, 2.0]})


@pytest.mark.parametrize(
    "make",
    [
        lambda m, o: m.StepLR(o, 0),
        lambda m, o: m.LinearLR(o, total_iters=0),
        lambda m, o: m.CosineAnnealingLR(o, 0),
        lambda m, o: m.LambdaLR(o, [lambda s: 1.0, lambda s: 1.0]),
        lambda m, o: m.SequentialLR(o, [m.LinearLR(o)], [3]),
    ],
)
def test_mistakes_are_named(rg, make):
    with pytest.raises(rg.errors.SettingError, match="must be"):
        make(rg.optim, rg.optim.SGD([rg.Value(1.0)]))
