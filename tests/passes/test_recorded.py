"""A check inside a function that is being recorded would bake in the numbers of one row."""

from __future__ import annotations

import importlib

import pytest


def test_a_check_while_recording_is_refused(native):
    rg, tape = native, importlib.import_module(f"{native.__name__}.check.tape")

    def checked(x):
        y = x * x
        tape.read(y)
        return y

    with pytest.raises(rg.errors.RecordingError, match="while recording"):
        rg.compile(checked)(3.0)
