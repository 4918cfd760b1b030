"""Plans are checked as they are made, in every test of programs."""

import gc
import os
from typing import Any

import pytest

os.environ["RETROGRADE_CHECK_PLANS"] = "1"


@pytest.fixture(scope="module", autouse=True)
def few_objects() -> None:
    """The reference looks through all objects for the functions it enters: those of other tests,
    and the libraries they loaded, are put aside."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def traces_alone(rg: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Branches stay guards, so that functions have the traces a test is about."""
    from importlib import import_module

    choices = import_module(f"{rg.__name__}.program.choices").Choices
    monkeypatch.setattr(choices, "wanted", lambda self, asked: None)
