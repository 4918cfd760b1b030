"""The examples run, find what they should, and say so."""

from __future__ import annotations

import math
import random
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

import retrograde

from ..models.support import ROOT, example


@pytest.fixture(autouse=True)
def _native(native):
    """On the native core, which the examples are sized for."""


def test_two_moons_are_told_apart_and_drawn(tmp_path, capsys):
    moons = example("two_moons")
    out = tmp_path / "moons.svg"
    moons.main(["--points", "60", "--steps", "60", "--cells", "20", "--out", str(out)])
    root = ElementTree.parse(out).getroot()
    kinds = [part.tag.rpartition("}")[2] for part in root.iter()]
    assert kinds.count("circle") == 60
    assert kinds.count("rect") == 20 * 12
    printed = capsys.readouterr().out
    assert "accuracy 100%" in printed or "accuracy 98%" in printed


def test_the_drawing_shows_the_side_of_each_cell():
    moons = example("two_moons")
    points = moons.moons(20, 0.05, random.Random(1))
    model, losses = moons.train(points, 40, seed=1)
    assert losses[-1] < losses[0]
    drawn = moons.drawing(model, points, 12)
    assert "#d9480f" in drawn
    assert "#1864ab" in drawn


def test_the_o_rings_have_the_published_coefficients(capsys):
    regression = example("logistic_regression")
    regression.main([])
    printed = capsys.readouterr().out
    assert "23 flights, 7 with distress" in printed
    assert "intercept  15.0429" in printed
    assert "slope      -0.2322 per °F, standard error 0.1082" in printed
    assert "at 31 °F: 99.96%" in printed


def test_the_o_rings_on_the_reference_core():
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "logistic_regression.py")],
        capture_output=True,
        encoding="utf-8",
        check=True,
        env={
            "PYTHONPATH": str(ROOT / "src") + ":" + ":".join(sys.path),
            "RETROGRADE_CORE": "reference",
            "PYTHONUTF8": "1",
        },
    )
    assert "intercept  15.0429" in done.stdout


def test_the_smile_is_fitted_to_within_its_rounding():
    smile = example("option_smile")
    fit = smile.calibrate(smile.QUOTES)
    assert fit.error < 0.5e-4
    assert (fit.alpha, fit.rho, fit.nu) == pytest.approx((0.0385, -0.28, 0.52), rel=5e-3)
    at_the_money = smile.implied_volatility(smile.FORWARD, fit.alpha, fit.rho, fit.nu)
    beside = smile.implied_volatility(smile.FORWARD * (1 + 1e-6), fit.alpha, fit.rho, fit.nu)
    assert at_the_money == pytest.approx(beside, rel=1e-5)


def test_the_hares_and_lynxes_have_the_rates_others_found(capsys):
    equations = example("lotka_volterra")
    equations.main(["--steps", "8", "--iterations", "60"])
    found = dict(line.split() for line in capsys.readouterr().out.splitlines()[:6])
    expected = {"birth": 0.55, "hunt": 0.028, "feed": 0.024, "death": 0.80}  # Carpenter, 2018
    for name, number in expected.items():
        assert float(found[name]) == pytest.approx(number, rel=0.05)


def test_the_gradient_through_the_solver_is_right():
    equations = example("lotka_volterra")
    data = equations.read(equations.DATA)[:5]

    def loss(logs):
        return equations.misfit(logs, data, 4)

    logs = [math.log(x) for x in equations.GUESS]
    slopes = retrograde.grad(loss)(logs)
    for at, slope in enumerate(slopes):
        up, down = logs[:], logs[:]
        up[at] += 1e-5
        down[at] -= 1e-5
        with retrograde.no_grad():
            values = [loss([retrograde.Value(x) for x in side]).data for side in (up, down)]
        assert slope == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-6, abs=1e-8)


def test_the_pendulum_is_swung_up_and_held(capsys):
    pendulum = example("pendulum")
    assert pendulum.STRONGEST < pendulum.GRAVITY
    pendulum.main([])
    printed = capsys.readouterr().out
    off, speed = printed.splitlines()[-1].split(": ")[1].split(" rad from upright, ")
    assert abs(float(off)) < 0.2
    assert abs(float(speed.split()[0])) < 0.2


def test_the_gpt_runs_as_a_script(tmp_path, capsys, monkeypatch):
    text = tmp_path / "words.txt"
    text.write_text("ab\nba\nabab\n")
    monkeypatch.setattr(sys, "argv", ["microgpt.py", str(text), "--steps", "3"])
    example("microgpt").main()
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("3 documents, ")
    assert printed[1].startswith("step     1  loss 1.0")
    assert len(printed) == 12


def test_every_example_is_listed():
    scripts = {path.name for path in (ROOT / "examples").glob("*.py")}
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert len(scripts) > 5
    assert all(f"`{name}`" in listed for name in scripts)


@pytest.mark.parametrize("options", [[], ["--conv"]])
def test_digits_are_read(options, capsys):
    pytest.importorskip("sklearn", reason="install scikit-learn")
    example("digits").main([*options, "--epochs", "3"])
    last = capsys.readouterr().out.splitlines()[-1]
    assert float(last.partition("right ")[2].partition("%")[0]) > 88.0
