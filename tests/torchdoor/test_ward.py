"""Sick scripts as strangers write them, and programs of every kind that PyTorch knows.

A sick script begins with what is to be found: ``# expect: kind, kind | pattern of a group``, or
``# expect-note:``. The line to blame ends in ``# sick``. A healthy one leaves what it has computed
in ``LEFT``: it is the same, bit for bit, however it is watched.
"""

from __future__ import annotations

import contextlib
import io
import random
import re
import sys
import types
import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import retrograde as rg

HERE = Path(__file__).parent
SICK = sorted((HERE / "ward").glob("*.py"))
HEALTHY = sorted((HERE / "ward_healthy").glob("*.py"))
ILL = [path for path in SICK if path.read_text(encoding="utf-8").startswith("# expect:")]


def ran(path, watch):
    """The variables of a script that ran as the main program, and the error that ended it."""
    torch.manual_seed(0)
    random.seed(0)
    main = types.ModuleType("__main__")
    main.__file__ = str(path)
    before, sys.modules["__main__"] = sys.modules["__main__"], main
    error = None
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            with watch:
                exec(code, main.__dict__)
        except RuntimeError as raised:
            error = raised
        finally:
            sys.modules["__main__"] = before
    return main.__dict__, error


def expected(path):
    """Kinds, a pattern of groups, and the lines to blame."""
    lines = path.read_text(encoding="utf-8").splitlines()
    kinds, _, group = lines[0].partition(":")[2].partition("|")
    marked = [number for number, line in enumerate(lines, 1) if line.endswith("# sick")]
    return [kind.strip() for kind in kinds.split(",")], group.strip(), marked


def test_the_ward_is_large_enough():
    assert len(SICK) >= 70
    assert len({kind for path in SICK for kind in expected(path)[0]}) >= 20


@pytest.mark.bank(every=0, native=4)
@pytest.mark.parametrize("path", ILL, ids=lambda path: path.stem)
def test_one_illness_is_one_alarm(path):
    kinds, group, marked = expected(path)
    watch = rg.torch.watch()
    ran(path, watch)
    report = watch.report()
    assert len(report.alarms) == 1, report.text()
    alarm = report.alarms[0]
    assert alarm.kind in kinds, report.text()
    assert alarm.cure
    assert any(re.fullmatch(group, name) for name in (*alarm.groups, alarm.group)), report.text()
    if marked:
        assert alarm.site is not None, report.text()
        assert alarm.site.line in marked, report.text()


def test_a_frozen_trunk_is_a_note():
    watch = rg.torch.watch()
    ran(HERE / "ward" / "frozen_all_trunk.py", watch)
    report = watch.report()
    assert report.healthy
    assert [(v.kind, v.groups) for v in report.verdicts if v.kind == "frozen"] == [
        ("frozen", ("trunk.0", "trunk.2"))
    ]


@pytest.mark.parametrize("name", ["ema_frozen", "hinge_solved", "pinn_attribute"])
def test_what_is_not_meant_to_learn_or_has_learnt_is_no_illness(name):
    watch = rg.torch.watch()
    _, error = ran(HERE / "ward_healthy" / f"{name}.py", watch)
    assert error is None
    assert watch.report().healthy, watch.report().text()


def test_what_softmax_makes_of_a_masked_row_is_named_though_the_loss_is_finite():
    watch = rg.torch.watch()
    ran(HERE / "ward" / "masked_row_late.py", watch)
    (alarm,) = watch.report().alarms
    assert (alarm.kind, alarm.began) == ("birth forward", 3)  # a pass that is not examined
    assert "no row is masked altogether" in alarm.cure


def test_a_zero_that_is_only_added_is_no_factor():
    watch = rg.torch.watch()
    ran(HERE / "ward" / "frozen_gamma_zero.py", watch)
    (alarm,) = watch.report().alarms
    assert "the batch_norm on line 6 multiplies by exact zeros" in alarm.sentence


def numbers(thing):
    """Every number that a program leaves behind."""
    if isinstance(thing, torch.nn.Module):
        yield from numbers(list(thing.state_dict().values()))
        yield from numbers([p.grad for p in thing.parameters() if p.grad is not None])
    elif isinstance(thing, (list, tuple)):
        for each in thing:
            yield from numbers(each)
    elif isinstance(thing, torch.Tensor):
        yield thing.detach().to_dense() if thing.is_sparse else thing.detach().clone()
    elif not isinstance(thing, str):
        yield torch.tensor(float(thing), dtype=torch.float64)


def same(first, second):
    """Whether two numbers have one bit pattern; NaN equals NaN."""
    return first.dtype == second.dtype and torch.equal(
        torch.nan_to_num(first, nan=1.25), torch.nan_to_num(second, nan=1.25)
    )


WATCHES = {
    "doubling": lambda: rg.torch.watch(),
    "everything": lambda: rg.torch.watch(examine=lambda n: True, pictures=True),
}


@pytest.mark.slow
@pytest.mark.parametrize("how", WATCHES)
@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.stem)
def test_watched_equals_unwatched_bit_for_bit(path, how):
    plain, error = ran(path, contextlib.nullcontext())
    assert error is None
    watch = WATCHES[how]()
    seen, error = ran(path, watch)
    assert error is None
    before, after = list(numbers(plain["LEFT"])), list(numbers(seen["LEFT"]))
    assert len(before) == len(after) > 2
    assert all(map(same, before, after))
    assert watch.report().healthy, watch.report().text()
