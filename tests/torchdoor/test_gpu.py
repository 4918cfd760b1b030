"""Looking at tensors on a GPU, on one that is emulated: the kernel's own text, run as C."""

from __future__ import annotations

import ctypes
import math
import warnings

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F
from torch import nn

import retrograde as rg
from retrograde.errors import TorchFeatureError
from retrograde.torch import board, gates, samples
from retrograde.torch.kernel import THREADS
from retrograde.torch.summaries import look, summary

from ..printing.support import needs_compiler
from .emulated_gpu import compiled, on_emulated_gpu
from .test_bank import CASES, examined, train

pytestmark = needs_compiler


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("kernel"))


@pytest.fixture
def gpu(monkeypatch, kernel):
    return on_emulated_gpu(monkeypatch, kernel)


def same(near, far):
    """Whether two summaries say the same; sums are added up in another order."""
    exact = ("count", "low", "high", "zeros", "nans", "infs", "first")
    return (
        all(getattr(near, name) == getattr(far, name) for name in exact)
        and math.isclose(near.norm, far.norm, rel_tol=1e-5)
        and math.isclose(near.mean, far.mean, rel_tol=1e-3, abs_tol=1e-5 * near.rms)
    )


# ---- the kernel ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("count", [1, 7, 8, 33, 4099])
@pytest.mark.parametrize("lead", [0, 1, 3])
def test_summaries_are_those_of_the_cpu(gpu, dtype, count, lead):
    torch.manual_seed(count)
    for odd in (False, True):
        t = (torch.randn(count + lead) * 3).to(dtype)[lead:]  # not aligned where something leads
        if odd and count > 7:
            t[5], t[6], t[-1] = float("nan"), 0.0, float("-inf")
        seen = look(t)
        board.read()
        assert same(summary(t), seen.settled())
        board.clear()


@pytest.mark.parametrize("size", [1e-30, 1e-20, 0.0, 1e18, 3e38, float("inf"), float("nan")])
def test_squares_do_not_leave_what_can_be_told(gpu, size):
    t = torch.full((40,), size)
    t[3] = 0.0
    seen = look(t)
    board.read()
    assert same(summary(t), seen.settled())


def test_numbers_are_read_as_they_lie(gpu):
    whole = torch.randn(6, 10, 4)
    for t in (whole.transpose(0, 2), whole[:, ::2], whole[1:, :, 1], whole[0].expand(3, 10, 4)):
        seen = look(t)
        board.read()
        assert same(summary(t), seen.settled())


def test_what_it_cannot_read_is_read_by_pytorch(gpu):
    t = torch.randn(5, dtype=torch.complex64)
    assert look(t) == summary(t)
    assert gpu.launches == 0


@pytest.mark.parametrize("shape", [(30, 7), (5, 3, 4, 2), (2, 600), (1, 3000), (40, 1)])
@pytest.mark.parametrize("op", sorted({**gates._BY_RESULT, **gates._BY_INPUT}))
def test_shut_units_are_counted(gpu, op, shape):
    torch.manual_seed(0)
    _, shut = {**gates._BY_INPUT, **gates._BY_RESULT}[op]
    kept = torch.randn(shape) * 4
    rest = [d for d in range(kept.dim()) if d != 1]
    inner = kept.numel() // (shape[0] * shape[1])
    task = kept, board.kind_of(kept), op, shape[1], inner
    counts = board.board_of(kept).count_shut([task, task]).numbers()
    assert torch.equal(torch.as_tensor(counts), shut(kept).sum(rest).repeat(2))


@pytest.mark.parametrize("shape", [(2,), (50,), (3, 4), (60, 70), (25, 3, 5), (1, 1000)])
def test_samples_are_those_of_the_cpu(gpu, monkeypatch, shape):
    t = torch.randn(shape).to(torch.float64)
    far = samples.sample(t)
    board.read()
    monkeypatch.setattr(board, "far", lambda t: False)
    near = samples.sample(t)
    assert far.shape == tuple(near.shape)
    assert far.numbers().tolist() == near.reshape(-1).tolist()


def test_a_launch_hands_on_what_the_driver_wants():
    called, codes = [], [0, 1]
    gpu = object.__new__(board.Gpu)
    gpu._kernel, gpu._device, gpu._pointers = ctypes.c_void_p(7), 0, None
    gpu._stream = lambda device: 5
    gpu._launch = board._LAUNCH(lambda *given: called.append(given) or codes.pop(0))
    tasks = ctypes.create_string_buffer(b"tasks")
    gpu.launch(tasks, 3, 2)
    *numbers, stream, pointers, nothing = called[0]
    assert numbers == [7, 3, 2, 1, THREADS, 1, 1, 0]
    assert (stream, nothing) == (5, None)
    assert ctypes.cast(pointers, ctypes.POINTER(ctypes.c_void_p))[0] == ctypes.addressof(tasks)
    with pytest.raises(TorchFeatureError, match=r"a launch .* ended with error 1 of the driver"):
        gpu.launch(tasks, 3, 2)


# ---- programs -----------------------------------------------------------------------------------


def convolutional():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(2, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Flatten(), nn.Linear(96, 5), nn.GELU(),
        nn.Linear(5, 3),
    )  # fmt: skip
    x, y = torch.randn(4, 2, 6, 6), torch.arange(4) % 3
    return model, lambda: F.cross_entropy(model(x), y)


def trained(program=convolutional, steps=5, to_none=True, clip=False, **options):
    """A watch, the losses and the parameters behind it."""
    model, loss_of = program()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    with rg.torch.watch(model, **options) as watch:
        for _ in range(steps):
            optimizer.zero_grad(set_to_none=to_none)
            loss = loss_of()
            loss.backward()
            if clip:
                nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()
            losses.append(loss.item())
    return watch, losses, [p.detach().clone() for p in model.parameters()]


OPTIONS = [
    {"examine": lambda n: True},
    {"examine": lambda n: True, "pictures": True},
    {"to_none": False},
    {"clip": True},
    {},
]


@pytest.mark.parametrize("options", OPTIONS, ids=["each", "story", "zeros", "clipped", "usual"])
def test_a_program_there_is_seen_as_here(monkeypatch, kernel, options):
    here, losses, numbers = trained(**options)
    on_emulated_gpu(monkeypatch, kernel)
    there, losses_there, numbers_there = trained(**options)
    assert losses == losses_there
    assert all(map(torch.equal, numbers, numbers_there))
    assert here.report().text() == there.report().text()
    assert here.norms == pytest.approx(there.norms)
    assert here.loss == pytest.approx(there.loss)
    mine, theirs = here.last.arrays, there.last.arrays
    for near, far in zip(mine.values + mine.grads, theirs.values + theirs.grads):
        assert (near is None) == (far is None)
        assert near is None or same(near, far)
    assert mine.order == theirs.order
    assert mine.amounts.keys() == theirs.amounts.keys()
    assert [each.shut.tolist() for each in mine.gates] == [e.shut.tolist() for e in theirs.gates]
    assert dict(mine.pictures) == dict(theirs.pictures)


def test_an_examined_pass_waits_once(gpu):
    for options in ({}, {"pictures": True}, {"clip": True}):
        gpu.waits = 0
        trained(steps=6, examine=lambda n: True, **options)
        clips = 5 if options.get("clip") else 0  # an optimizer that steps on what was clipped
        assert gpu.waits <= 6 + clips


def test_other_passes_do_not_wait(gpu):
    model, loss_of = convolutional()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for to_none in (True, False):
        with rg.torch.watch(model):
            for number in range(8):
                if number == 4:
                    gpu.waits = 0
                optimizer.zero_grad(set_to_none=to_none)
                loss_of().backward()
                optimizer.step()
                if number == 6:
                    assert gpu.waits == 0


def test_several_tensors_share_a_launch(gpu):
    model, loss_of = convolutional()
    with rg.torch.watch(model, examine=lambda n: True) as watch:
        loss_of().backward()
        gpu.launches = gpu.tasks = 0
        loss_of().backward()
    assert watch.passes == 2
    assert 0 < gpu.launches < 0.6 * gpu.tasks


@pytest.mark.parametrize("case", CASES[::5], ids=lambda case: case.name.replace(" ", "-"))
def test_sick_scripts_are_diagnosed_there_too(gpu, case, tmp_path):
    report, _ = examined(case, tmp_path)
    assert [verdict.kind for verdict in report.alarms] == [case.kind], report.text()


@pytest.mark.parametrize("seed", range(0, 300, 60))
def test_healthy_networks_are_left_in_peace_there_too(gpu, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = train(seed).report()
    assert report.healthy, report.text()


# ---- the order of a pass ------------------------------------------------------------------------


def recurrent():
    torch.manual_seed(0)
    model = nn.LSTM(4, 6, 2)
    x = torch.randn(5, 2, 4)
    return (
        model,
        lambda: (
            (model(x)[0].transpose(0, 1).reshape(-1, 6).t()[0] ** 2).mean()
            + sum(p.abs().sum() for p in model.parameters())
        ),
    )


@pytest.mark.parametrize("program", [convolutional, recurrent])
def test_nodes_without_hooks_stand_where_the_engine_runs_them(program):
    orders = [
        trained(program, 1, pictures=pictures)[0].last.arrays.order for pictures in (True, False)
    ]
    assert orders[0] == orders[1]
    assert len(set(orders[0])) == len(orders[0])
