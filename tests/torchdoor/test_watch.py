"""The watch and its questions: what it says of odd input, its log, its story, what it refuses."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F
from torch import nn

import retrograde as rg
from retrograde.errors import TorchFeatureError, TorchProgramError, UnhealthyError
from retrograde.explain.story import Story
from retrograde.torch import _private, lines


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))


X, Y = torch.linspace(-1, 1, 64).reshape(16, 4), torch.arange(16) % 3


def trained(model, steps=4, loss_of=None, **options):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with rg.torch.watch(model, **options) as watch:
        for _ in range(steps):
            optimizer.zero_grad()
            loss = loss_of() if loss_of else F.cross_entropy(model(X), Y)
            loss.backward()
            optimizer.step()
    return watch


# ---- refusals: what was given, and what to write instead ---------------------------------------

REFUSED = [
    (lambda: rg.torch.watch(3), "rg.torch.watch takes modules (torch.nn.Module), not int."),
    (lambda: rg.torch.ledger(3.0, X), "rg.torch.ledger takes a tensor of PyTorch, not float."),
    (lambda: rg.torch.story(X), "starts from one number, a loss; this tensor has shape [16, 4]."),
    (lambda: rg.torch.memory(X.sum()), "this tensor of shape [] has no history"),
    (lambda: rg.torch.births("loss"), "takes a tensor of PyTorch, not str"),
    (lambda: rg.torch.watch(net(), colour=3.0), "colour"),
    (lambda: rg.torch.watch(net(), log=True), "takes a path for a CSV file, or a writer"),
    (lambda: rg.torch.assert_healthy(3), "training step, a function that is called without arg"),
    (lambda: rg.torch.assert_healthy(None), "and give it step, without calling it."),
    (lambda: rg.torch.assert_healthy(net, 3), "rg.torch.assert_healthy takes modules"),
    (lambda: rg.torch.watch(net()).report(), "nothing inside the block called backward()"),
    (lambda: rg.torch.watch(net()).story(), "nothing inside the block called backward()"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "text"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_what_is_refused_says_what_to_write(what, text):
    with pytest.raises(rg.RetrogradeError) as refused:
        what()
    assert text in str(refused.value)


def test_an_index_must_name_one_number():
    w = torch.ones(2, 3, requires_grad=True)
    for index in ((0,), (2, 0), (0, 0, 0), ("a", 0)):
        with pytest.raises((TorchProgramError, TypeError), match=r"not one number|not supported"):
            rg.torch.ledger((w * w).sum(), w, index)


def test_a_ledger_of_what_is_not_used_says_so():
    w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with pytest.raises(TorchProgramError, match="the loss does not depend on it"):
        rg.torch.ledger((w * w).sum(), v)


def test_complex_tensors_are_refused_by_the_ledger():
    w = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    with pytest.raises(TorchProgramError, match="view_as_real"):
        rg.torch.ledger((w * w.conj()).real.sum(), w)


def test_a_graph_that_was_freed_is_named():
    w = torch.ones(2, requires_grad=True)
    loss = w.exp().sum()
    loss.backward()
    with pytest.raises(TorchProgramError, match="freed by backward"):
        rg.torch.story(loss)


def test_two_watches_are_refused():
    second = rg.torch.watch(net())
    with rg.torch.watch(net()), pytest.raises(TorchProgramError, match="a watch is on already"):
        second.__enter__()
    trained(net())  # and the first has left everything as it was


def test_everything_is_as_it_was_after_an_error_and_after_ctrl_c():
    before = torch.Tensor.backward, torch.autograd._engine_run_backward, torch.compile
    for error in (ZeroDivisionError, KeyboardInterrupt):
        model = net()
        with suppress(error), rg.torch.watch(model) as watch:
            F.cross_entropy(model(X), Y).backward()
            raise error
        assert watch.report().passes == 1
    assert before == (torch.Tensor.backward, torch.autograd._engine_run_backward, torch.compile)
    assert not torch.overrides._len_torch_function_stack()


def test_a_graph_freed_twice_is_an_alarm_with_a_cure():
    model = net()
    with rg.torch.watch(model) as watch:
        loss = F.cross_entropy(model(X), Y)
        loss.backward()
        with pytest.raises(RuntimeError):
            loss.backward()
    (alarm,) = watch.report().alarms
    assert alarm.kind == "freed graph"
    assert "retain_graph=True" in alarm.cure


def test_every_private_function_is_looked_for_and_missed_with_a_message(monkeypatch):
    absent = [name for name in _private.missing() if "cuda" not in name]
    assert absent == []
    for name, (where, what) in _private.FEATURES.items():
        monkeypatch.setitem(_private.FEATURES, name, (f"{where}_gone", what))
        with pytest.raises(TorchFeatureError) as missing:
            _private.find(name)
        assert f"torch.{where}_gone" in str(missing.value)
        assert what in str(missing.value)


# ---- reports -----------------------------------------------------------------------------------


def test_two_models_have_one_report():
    first, second = net(), net()
    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.01)
    with rg.torch.watch(first, second) as watch:
        for _ in range(3):
            optimizer.zero_grad()
            (F.cross_entropy(first(X), Y) + F.cross_entropy(second(X), Y)).backward()
            optimizer.step()
    report = watch.report()
    assert report.healthy
    assert {group.name for group in report.groups} == {"first.0", "first.2", "second.0", "second.2"}


def test_models_that_turn_up_later_are_taken_in():
    first, second = net(), net()
    with rg.torch.watch() as watch:
        F.cross_entropy(first(X), Y).backward()
        F.cross_entropy(second(X), Y).backward()
    assert len(watch.report().groups) == 4


def test_frozen_parameters_are_a_note():
    model = net()
    model[0].requires_grad_(False)
    report = trained(model).report()
    assert report.healthy
    assert [note.kind for note in report.notes] == ["frozen"]


def test_clipping_between_backward_and_step_is_no_reset():
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with rg.torch.watch(model) as watch:
        for _ in range(6):
            F.cross_entropy(model(X), Y).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()
    assert watch.report().kinds() == {"stale"}


def test_gradients_reset_in_place_are_not_stale():
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with rg.torch.watch(model) as watch:
        for _ in range(20):
            optimizer.zero_grad(set_to_none=False)
            F.cross_entropy(model(X), Y).backward()
            optimizer.step()
    assert watch.report().healthy


def test_a_reset_between_backward_and_step_is_found():
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with rg.torch.watch(model) as watch:
        for _ in range(6):
            F.cross_entropy(model(X), Y).backward()
            optimizer.zero_grad()
            optimizer.step()
    assert "reset too soon" in watch.report().kinds()


def test_a_birth_in_a_pass_nobody_looked_at_is_found():
    model = net()
    step = [0]

    def loss_of():
        step[0] += 1
        logits = model(X)
        return F.nll_loss(torch.log(logits - logits if step[0] == 7 else logits.softmax(1)), Y)

    watch = trained(model, 9, loss_of)
    births = watch.report().births
    assert not births.roots_are_finite
    assert watch.report().kinds() <= {"birth forward", "birth backward"}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_steps_out_of_proportion_are_measured_in_any_dtype(dtype):
    model = net().to(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-14)
    with rg.torch.watch(model) as watch:
        for _ in range(9):
            optimizer.zero_grad()
            F.cross_entropy(model(X.to(dtype)), Y).backward()
            optimizer.step()
    assert watch.report().kinds() == {"learning rate"}


def test_norms_and_loss_are_live():
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with rg.torch.watch(model) as watch:
        for _ in range(6):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(X), Y)
            loss.backward()
            own = {name: p.grad.norm().item() for name, p in model.named_parameters()}
            assert watch.norms == pytest.approx(own, rel=1e-5)
            assert watch.loss == pytest.approx(loss.item())
            optimizer.step()


def test_a_log_has_every_pass_as_it_ends(tmp_path):
    path, model = tmp_path / "norms.csv", net()
    with rg.torch.watch(model, log=path):
        for number in (1, 2, 3):
            F.cross_entropy(model(X), Y).backward()
            assert path.read_text().splitlines()[-1].startswith(f"{number},")


def test_a_leaf_that_is_detached_is_known_from_the_first_pass():
    w, b = torch.randn(4, 3, requires_grad=True), torch.zeros(3, requires_grad=True)
    optimizer = torch.optim.SGD([w, b], lr=0.05)
    for passes in (1, 3):
        with rg.torch.watch() as watch:
            for _ in range(passes):
                optimizer.zero_grad()
                F.cross_entropy(X @ w.detach() + b, Y).backward()
                optimizer.step()
        (alarm,) = watch.report().alarms
        assert (alarm.kind, alarm.began) == ("detached", 1)
        assert "'w': detached, detach() on line" in watch.report().text()


def test_norms_go_to_a_file_and_to_a_writer(tmp_path):
    path = tmp_path / "norms.csv"
    trained(net(), 3, log=path)
    rows = path.read_text().splitlines()
    assert rows[0] == "pass,loss,parameter,norm"
    assert len(rows) == 1 + 3 * 4

    class Writer:
        def __init__(self):
            self.told = []

        def add_scalar(self, tag, number, step):
            self.told.append((tag, step))

    writer = Writer()
    trained(net(), 2, log=writer)
    assert ("loss", 1) in writer.told
    assert ("gradient/0.weight", 2) in writer.told


def test_a_report_is_plain_data():
    report = trained(net()).report()
    assert json.loads(json.dumps(report.as_dict()))["healthy"] is True


def test_assert_healthy_raises_with_the_report():
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def step(detached=True):
        optimizer.zero_grad()
        hidden = model[1](model[0](X))
        F.cross_entropy(model[2](hidden.detach() if detached else hidden), Y).backward()
        optimizer.step()

    with pytest.raises(UnhealthyError, match=r"detach\(\) on line"):
        rg.torch.assert_healthy(step, model)
    assert rg.torch.assert_healthy(lambda: step(False), model).healthy


# ---- stories -----------------------------------------------------------------------------------


def test_a_story_has_lines_shapes_norms_and_words():
    story = trained(net(), pictures=True).story()
    text = story.text(100)
    assert "relu → 16×8: norm" in text
    assert "addmm multiplies matrices" in text
    assert "0.weight" in text
    assert Story.from_json(json.loads(json.dumps(story.to_json()))).to_json() == story.to_json()
    from retrograde.explain.html import page_html

    page = page_html(story)
    assert '"maps":{' in page or "gzip" in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")


def test_saved_memory_is_counted_once_by_line():
    x = torch.randn(100, 50, requires_grad=True)
    with rg.torch.watch() as _:
        h = x.exp()
        loss = (h * h).sum()  # h is kept by exp and by the product: once
        found = rg.torch.memory(loss)
    assert found.recorded == 100 * 50 * 4
    assert found.by_line[0].bytes == found.recorded


def test_steps_of_length_0_along_gradients_of_0_are_not_too_short():
    model = net()
    watch = trained(model, 8, lambda: F.relu(model(X) - 100.0).mean())
    assert not [v for v in watch.report().verdicts if v.kind == "learning rate"]


def test_a_number_left_of_a_view_without_history_is_under_its_owner():
    w = torch.ones(3, requires_grad=True)
    product = w * 2
    with torch.no_grad():
        view = product[:2]
    assert view.requires_grad
    assert lines.leaves_under(lines._owner(view)) == {id(w)}


def test_a_loss_of_frozen_parameters_alone_has_no_history_for_that_reason():
    model = net().requires_grad_(False)
    watch = rg.torch.watch(model)
    with suppress(RuntimeError), watch:
        model(X).sum().backward()
    (alarm,) = watch.report().alarms
    assert alarm.kind == "no history"
    assert "requires_grad is False for all 4 parameters" in alarm.sentence
    assert "requires_grad to True" in alarm.cure


# ---- who is told, by which name and since when --------------------------------------------------


def test_a_parameter_known_by_its_cut_is_detached_from_the_first_pass_on():
    torch.manual_seed(0)
    first, last = torch.randn(4, 8, requires_grad=True), torch.randn(8, 3, requires_grad=True)
    optimizer = torch.optim.SGD([first, last], lr=0.1)
    with rg.torch.watch() as watch:
        for _ in range(6):
            hidden = torch.tanh(X @ first).detach()
            optimizer.zero_grad()
            F.cross_entropy(hidden @ last, Y).backward()
            optimizer.step()
    (alarm,) = watch.report().alarms
    assert (alarm.kind, alarm.group, alarm.began) == ("detached", "first", 1)
    assert alarm.sentence.startswith("'first': detached, detach() on line")


def test_the_one_parameter_of_a_module_that_is_ill_is_named():
    model = net()

    def loss_of():
        hidden = torch.relu(F.linear(X, model[0].weight.detach(), model[0].bias))
        return F.cross_entropy(model[2](hidden), Y)

    (alarm,) = trained(model, 4, loss_of).report().alarms
    assert alarm.group == "0"
    assert alarm.sentence.startswith("'0.weight': detached, detach() on line")
    assert "cuts it off" in alarm.sentence


def beside(loss_of, after=lambda extra: None, steps=6):
    """A model trained with a tensor beside it that no optimizer holds; the report."""
    model, extra = net(), torch.linspace(-1, 1, 64).reshape(16, 4).requires_grad_()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with rg.torch.watch(model) as watch:
        for _ in range(steps):
            optimizer.zero_grad()
            loss_of(model, extra).backward()
            optimizer.step()
            after(extra)
    return watch.report()


def test_a_tensor_beside_the_model_that_nobody_steps_is_forgotten():
    report = beside(lambda m, t: (F.cross_entropy(m(X), Y) * t.exp()).mean())
    (alarm,) = report.alarms
    assert alarm.kind == "no optimizer"
    assert alarm.sentence.startswith("'extra' is held by no optimizer: gradients arrive")


def slope(model, points):
    along = torch.autograd.grad(model(points).sum(), points, create_graph=True)[0]
    return (along**2).mean()


def ascend(extra):
    extra.data += 0.1 * extra.grad.sign()
    extra.grad = None


def look_at(extra):
    assert extra.grad.norm() > 0.0


@pytest.mark.parametrize(
    ("loss_of", "after"),
    [
        (slope, lambda extra: None),  # points of a differential equation
        (lambda m, t: F.cross_entropy(m(X) + m(t), Y), lambda extra: None),  # a batch
        (lambda m, t: F.cross_entropy(m(t[:] * 2.0), Y), lambda extra: None),  # scaled first
        (lambda m, t: F.cross_entropy(m(t.sin() + t.cos()), Y), lambda extra: None),
        (lambda m, t: F.cross_entropy(m(torch.cat([X, t])[:16]), Y) + t.sum(), look_at),
        (lambda m, t: F.cross_entropy(m(torch.cat([X, t])[8:24]), Y), ascend),  # an attack
    ],
    ids=["points", "batch", "scaled", "features", "read", "moved"],
)
def test_data_beside_the_model_is_not_taken_for_a_parameter(loss_of, after):
    report = beside(loss_of, after)
    assert report.healthy, report.text()
    assert "extra" not in {group.name for group in report.groups}
