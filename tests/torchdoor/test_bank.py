"""Sick scripts are diagnosed, healthy networks are left in peace."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path

import pytest

pytest.importorskip("torch")

import retrograde as rg

HERE = Path(__file__).parent
HEALTHY = 300


def load(name):
    """A helper beside this file, by path: tests are no package."""
    key = f"torchdoor_{name}"
    if key not in sys.modules:
        spec = importlib.util.spec_from_file_location(key, HERE / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[key] = module
        spec.loader.exec_module(module)
    return sys.modules[key]


CASES = load("sick").bank()


def examined(case, folder):
    """The report on a script, and how it ended."""
    path = folder / "script.py"
    path.write_text(case.text, encoding="utf-8")
    watch, error = rg.torch.watch(), None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with watch:
                exec(compile(case.text, str(path), "exec"), {"__name__": "__main__"})
        except RuntimeError as raised:
            error = raised
    return watch.report(), error


def test_the_bank_is_large_enough():
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)
    assert len({case.kind for case in CASES}) >= 14


@pytest.mark.bank(every=0)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_one_illness_is_one_alarm_of_its_kind(case, tmp_path):
    report, _ = examined(case, tmp_path)
    assert [verdict.kind for verdict in report.alarms] == [case.kind], report.text()
    alarm = report.alarms[0]
    named = {alarm.group, *alarm.groups}
    tops = named | {name.partition(".")[0] for name in named}
    assert not case.groups or tops & set(case.groups), report.text()
    assert alarm.cure
    if case.line:
        assert alarm.site is not None, report.text()
        assert alarm.site.line == case.line, report.text()


def train(seed):
    model, step = load("healthy").network(seed)
    with rg.torch.watch(*((model,) if seed % 2 else ())) as watch:
        for _ in range(3 + seed % 9):
            step()
    return watch


def check_healthy(seed):
    watch = train(seed)
    report = watch.report()
    assert report.healthy, report.text()
    graph = watch.last
    inner = [i for i in range(len(graph)) if graph.name(i) != "leaf"]
    known = [i for i in inner if graph.site(i) is not None]
    assert len(known) >= 0.99 * len(inner)
    assert all(graph.arrays.grads[i] is not None for i in inner)


@pytest.mark.bank(every=0)
@pytest.mark.parametrize("seed", range(0, HEALTHY, 25))
def test_healthy_networks_have_no_alarm(seed):
    check_healthy(seed)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", [seed for seed in range(HEALTHY) if seed % 25])
def test_every_healthy_network_has_no_alarm(seed):
    check_healthy(seed)
