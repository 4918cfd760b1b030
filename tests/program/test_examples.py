"""The examples run, and what they print is right."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def _native_only(native: Any) -> None:
    """They compile."""


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_barrier_book(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    module = example("barrier_book")
    monkeypatch.setattr(module, "PATHS", 3000)
    monkeypatch.setattr(module, "STEPS", 12)
    book = module.main()
    draws = np.random.default_rng(7).standard_normal((3000, 12))
    growth = (0.03 - 0.02) / 12 + 0.2 * (1 / 12) ** 0.5 * draws
    paths = 100.0 * np.exp(np.cumsum(growth, axis=1))
    hit = (paths >= 120.0).any(axis=1)
    when = np.argmax(paths >= 120.0, axis=1)
    call = math.exp(-0.03) * np.maximum(paths[:, -1] - 100.0, 0.0)
    out = np.where(hit, 2.0 * np.exp(-0.03 * (when + 1) / 12), call).mean()
    assert book["call 100, out at 120, rebate 2"][0] == pytest.approx(out, rel=1e-12)
    into = (paths >= 115.0).any(axis=1)
    payoff = math.exp(-0.03) * np.maximum(paths[:, -1] - 105.0, 0.0) * into
    value, delta, _, _ = book["call 105, in at 115, rebate 0"]
    assert value == pytest.approx(payoff.mean(), rel=1e-12)
    slope = math.exp(-0.03) * paths[:, -1] / 100.0 * (payoff > 0)
    assert delta == pytest.approx(slope.mean(), rel=1e-12)
    assert "ways through the branches" in capsys.readouterr().out


def test_an_integrator_that_chooses_its_steps(capsys: Any) -> None:
    module = example("adaptive_runge_kutta")
    found = module.main()
    plain = module.swing.__wrapped__
    for row in range(0, 1000, 97):
        angle, length = float(found["start"][row]), float(found["length"][row])
        assert found["end"][row] == pytest.approx(float(plain(angle, length, 0.1)), rel=1e-9)
        step = 1e-6
        ahead, behind = (float(plain(angle + s, length, 0.1)) for s in (step, -step))
        if abs(ahead - behind) < 1e-4:  # no change of steps in between
            slope = (ahead - behind) / (2 * step)
            assert found["slopes"][0][row] == pytest.approx(slope, abs=1e-5)
    assert "ways of choosing steps" in capsys.readouterr().out


def test_implied_volatility(capsys: Any) -> None:
    found = example("newton_root").main()
    assert found["worst"] < 1e-8
    d1 = np.log(found["S"] / found["K"]) + (0.02 + 0.5 * found["sigma"] ** 2) * found["T"]
    d1 /= found["sigma"] * np.sqrt(found["T"])
    vega = found["S"] * np.sqrt(found["T"]) * np.exp(-0.5 * d1**2) / math.sqrt(2 * math.pi)
    assert np.allclose(found["vega"], vega, rtol=1e-5)
    assert "200,000 quotes" in capsys.readouterr().out
