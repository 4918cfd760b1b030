"""The bank: no right function fails, no wrong rule passes; and every row of the law, made wrong."""

from __future__ import annotations

import importlib.util
import random
from math import isfinite
from pathlib import Path
from types import ModuleType

import pytest


def load_bank() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bank", Path(__file__).with_name("bank.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bank = load_bank()


def test_no_right_function_fails(rg):
    found = bank.right(rg)
    assert len(found) > 250
    failed = []
    for name, (function, point, allowed) in found.items():
        report = rg.gradcheck(function, point, raises=False)
        if not report.right or not {entry.verdict for entry in report.entries} <= allowed:
            failed.append((name, str(report)))
    assert not failed


def test_no_wrong_rule_passes(rg):
    found = bank.wrong(rg)
    assert len(found) > 200
    passed = [
        name
        for name, (function, point) in found.items()
        if rg.gradcheck(function, point, raises=False).right
    ]
    assert not passed


CAUSES = {
    "growth, sign, at 0.37": "the sign is wrong",
    "growth, factor 2, at 0.37": "a factor 2 too many",
    "growth, half, at 0.37": "a factor 2 is missing",
    "growth, missing, at 0.37": "the contribution is missing",
    "growth, the input, at 0.37": "taken from the input where it should be the result",
    "growth, off by 0.1 %, at 0.37": "a constant factor: 1.001 times",
    "bend, one, at 0.37": "the op's own slope is missing",
    "swapped partials": "the partials of inputs 0 and 1 are swapped",
    "= for +=": "= for +=",
    "= for +=, one use only": "= for +=",
    "a vjp without its upstream": "does not multiply by the upstream",
    "a number that left the graph": "missing contribution: the function depends on it beside",
    "a detached branch": "missing contribution: the function depends on it beside",
}


@pytest.mark.parametrize("name", CAUSES)
def test_the_likely_cause_is_named(rg, name):
    function, point = bank.wrong(rg)[name]
    with pytest.raises(rg.errors.GradcheckError) as caught:
        rg.gradcheck(function, point)
    assert CAUSES[name] in str(caught.value)
    assert any(CAUSES[name] in cause for cause in caught.value.report.causes)


def test_a_faulty_step_is_named_with_its_line(rg):
    function, point = bank.wrong(rg)["0.1 % of a share of 1e-6"]
    with pytest.raises(rg.errors.GradcheckError) as caught:
        rg.gradcheck(function, point)
    assert "bank.py:" in str(caught.value)
    assert "hardly counts here" in str(caught.value)  # the whole gradient is right to 1e-8


def away_from_kinks(rg, op, rng):
    formulas = importlib.import_module(f"{rg.__name__}.check.printed")
    while True:
        point = tuple(rng.uniform(*bounds) for bounds in op.domain)
        if not formulas.at_a_kink(op.name, *point):
            return point


def test_every_row_of_the_law_is_right_and_one_per_mille_off_is_found(reference, monkeypatch):
    """Scaled by 1.001, or 0.001 added where it is identically zero; on the core that reads rows."""
    rg = reference
    missed, alarms, tried = [], [], 0
    for name, op in rg.ops.items():
        if op.absent:
            continue
        rng = random.Random(name)

        def function(*values, name=name):
            return getattr(rg, name)(*values)

        points = [away_from_kinks(rg, op, rng) for _ in range(3)]
        evaluate, partials = op.evaluate, op.evaluate_partials
        alarms += [(name, p) for p in points if not rg.gradcheck(function, p, raises=False).right]
        for index in range(op.arity):

            def wrong(*numbers, partials=partials, index=index):
                found = list(partials(*numbers))
                found[index] = found[index] * 1.001 if found[index] else 0.001
                return tuple(found)

            with monkeypatch.context() as patch:
                patch.setitem(op.__dict__, "_functions", (evaluate, wrong))
                for point in points:
                    tried += 1
                    if rg.gradcheck(function, point, raises=False).right:
                        missed.append((name, index, point))
    assert tried > 180
    assert not alarms
    assert not missed


# ---- random programs ---------------------------------------------------------------------------

SMOOTH = "exp tanh sigmoid softplus silu gelu sin cos atan asinh erf norm_cdf sqrt log square"


def random_program(rg, seed, fault=None):
    """A random program that stays in its domain, and a point; ``fault`` wraps one of its steps."""
    rng = random.Random(seed)
    inputs = rng.randint(1, 4)
    steps = []
    for index in range(rng.randint(3, 30)):
        names = [rng.randrange(max(0, inputs + index - 5), inputs + index) for _ in range(2)]
        steps.append((rng.choice([*SMOOTH.split(), "add", "mul", "sub", "maximum", "dot"]), *names))
    broken = rng.randrange(len(steps) // 2, len(steps))
    point = [rng.choice((-1, 1)) * 10.0 ** rng.uniform(-2, 1) for _ in range(inputs)]

    def program(v):
        values = list(v)
        for index, (name, left, right) in enumerate(steps):
            x, y = values[left], values[right]
            if name in ("sqrt", "log"):
                made = getattr(rg, name)(x * x + 0.5)
            elif name in ("exp", "square"):
                made = getattr(rg, name)(rg.tanh(x))
            elif name == "dot":
                made = rg.dot([x, y, 0.3], [y, 1.5, x])
            elif name in SMOOTH.split():
                made = getattr(rg, name)(x)
            else:
                made = getattr(rg, name)(x, y)
            if fault is not None and index == broken:
                made = fault(made)
            values.append(made)
        return rg.mean(values[inputs:])

    return program, point


@pytest.mark.slow
def test_random_programs_raise_no_alarm(rg):
    count = 300 if rg.value.core_name == "native" else 60
    verdicts = []
    for seed in range(count):
        program, point = random_program(rg, seed)
        report = rg.gradcheck(program, point, raises=False)
        verdicts += [(seed, entry.verdict) for entry in report.entries]
        assert report.right, (seed, str(report))
    undecided = [pair for pair in verdicts if pair[1] == "difference noise"]
    assert len(undecided) <= 0.02 * len(verdicts)


@pytest.mark.slow
def test_one_step_in_a_thousandth_off_is_found_wherever_it_stands(rg):
    """As a custom op it is found always; a value of which only the rule is known has to show in
    the whole gradient, by more than its threshold."""

    @rg.custom_op
    def same(x):
        return x, (1.001,)

    def one_off(x):
        return rg.Value(x.data, (x,), (1.001,))

    count = 200 if rg.value.core_name == "native" else 40
    tried = missed = 0
    for seed in range(count):
        program, point = random_program(rg, seed, same)
        assert not rg.gradcheck(program, point, raises=False).right, seed
        right = rg.grad(random_program(rg, seed)[0])(point)
        wrong = rg.grad(random_program(rg, seed, one_off)[0])(point)
        shares = [abs(a - b) / abs(a) for a, b in zip(right, wrong) if a and isfinite(a)]
        off = max(shares, default=0.0)
        if off > 3e-4:
            tried += 1
            program, point = random_program(rg, seed, one_off)
            missed += rg.gradcheck(program, point, raises=False).right
    assert tried > count / 8
    assert missed == 0
