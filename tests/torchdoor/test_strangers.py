"""Programs in styles that nobody had in mind: the same bits, no alarm on the healthy, the right
line on the sick."""

from __future__ import annotations

import contextlib
import importlib.util
import random
import sys
import types
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import retrograde as rg

HERE = Path(__file__).parent


def load(name):
    """A helper beside this file, by path: tests are no package."""
    key = f"torchdoor_{name}"
    if key not in sys.modules:
        spec = importlib.util.spec_from_file_location(key, HERE / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[key] = module
        spec.loader.exec_module(module)
    return sys.modules[key]


STRANGERS = load("strangers")


def ran(text, path, watch=None):
    """A script's variables after it ran as the main program, in a process that begins anew."""
    torch.manual_seed(0)
    random.seed(0)
    main = types.ModuleType("__main__")
    main.__file__ = str(path)
    before, sys.modules["__main__"] = sys.modules["__main__"], main
    try:
        if watch is None:
            exec(compile(text, str(path), "exec"), main.__dict__)
        else:
            with watch:
                exec(compile(text, str(path), "exec"), main.__dict__)
    finally:
        sys.modules["__main__"] = before
    return main.__dict__


def numbers(thing):
    """Every number that a program leaves behind, as arrays."""
    if isinstance(thing, torch.nn.Module):
        yield from (each.detach().clone() for each in thing.state_dict().values())
        grads = [p.grad for p in thing.parameters() if p.grad is not None]
        yield from (grad.detach().to_dense().clone() for grad in grads)
    elif isinstance(thing, torch.Tensor):
        yield thing.detach().clone()
    elif isinstance(thing, torch.optim.Optimizer):
        yield from (n for state in thing.state.values() for n in numbers(list(state.values())))
    elif isinstance(thing, (list, tuple)):
        yield from (number for each in thing for number in numbers(each))
    elif isinstance(thing, float):
        yield torch.tensor(thing, dtype=torch.float64)


def left(variables):
    found = [n for name in sorted(variables) if name[0] != "_" for n in numbers(variables[name])]
    return [*found, torch.rand(3)]  # and no random number was drawn


@pytest.mark.slow
@pytest.mark.bank(every=0)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", STRANGERS.HEALTHY)
def test_healthy_scripts_keep_their_bits_and_have_no_alarm(name):
    path = STRANGERS.HERE / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    plain = left(ran(text, path))
    for options in ({}, {"examine": lambda n: True}):
        watch = rg.torch.watch(**options)
        seen = left(ran(text, path, watch))
        assert len(seen) == len(plain) > 1
        assert all(map(torch.equal, seen, plain))
        report, graph = watch.report(), watch.last
        assert report.healthy, report.text()
        inner = [i for i in range(len(graph)) if graph.name(i) != "leaf"]
        assert sum(graph.site(i) is not None for i in inner) >= 0.99 * len(inner)


@pytest.mark.slow
@pytest.mark.bank(every=0)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", STRANGERS.SICK, ids=lambda case: case.name)
def test_sick_scripts_have_one_alarm_on_its_line(case, tmp_path):
    path = tmp_path / "script.py"
    path.write_text(case.text, encoding="utf-8")
    lines = case.text.splitlines()
    blamed = [n for n, line in enumerate(lines, 1) if line.rstrip().endswith("# sick")]
    watch = rg.torch.watch()
    with contextlib.suppress(RuntimeError, TypeError):  # a report up to there is asked for
        ran(case.text, path, watch)
    report = watch.report()
    assert [alarm.kind for alarm in report.alarms] == [case.kind], report.text()
    (alarm,) = report.alarms
    assert alarm.cure
    if blamed:
        assert alarm.site is not None, report.text()
        assert [alarm.site.line] == blamed, report.text()


def test_two_losses_of_one_graph_have_lines():
    torch.manual_seed(0)
    body, heads = torch.nn.Linear(4, 4), [torch.nn.Linear(4, 1) for _ in range(3)]
    x = torch.randn(8, 4)
    with rg.torch.watch(torch.nn.ModuleList([body, *heads])) as watch:
        for _ in range(4):
            h = torch.tanh(body(x))
            losses = [head(h).pow(2).mean() for head in heads]
            for loss in losses:
                loss.backward(retain_graph=True)
    graph = watch.last
    assert watch.passes == 12
    assert all(graph.site(i) for i in range(len(graph)) if graph.name(i) != "leaf")


def test_a_target_network_is_a_note():
    torch.manual_seed(0)
    online, target = torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(online.parameters(), lr=0.01)
    with rg.torch.watch() as watch:
        for _ in range(6):
            with torch.no_grad():
                wanted = target(torch.randn(8, 4))
            optimizer.zero_grad()
            (online(torch.randn(8, 4)) - wanted).pow(2).mean().backward()
            optimizer.step()
            target.load_state_dict(online.state_dict())
    report = watch.report()
    assert report.healthy
    assert [verdict.kind for verdict in report.verdicts] == ["not trained"]
    assert report.verdicts[0].sentence.endswith("no loss leads there and no optimizer holds it.")
    assert report.verdicts[0].groups == ("target",)


def test_a_write_that_changes_nothing_is_no_step():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model[2].parameters(), lr=0.01)
    with rg.torch.watch(model) as watch:
        for _ in range(5):
            model.zero_grad()
            model(torch.randn(8, 4)).pow(2).mean().backward()
            optimizer.step()
            with torch.no_grad():
                model[0].weight.clamp_(-100.0, 100.0)
                model[0].bias.clamp_(-100.0, 100.0)
    (alarm,) = watch.report().alarms
    assert (alarm.kind, alarm.group) == ("no optimizer", "0")
