"""Both cores are what ``_shared/cores.py`` and ``native_core.py`` say, by name and signature."""

from __future__ import annotations

import importlib
import inspect

import pytest

from retrograde._core import fallback
from retrograde._shared import cores, native_core
from retrograde.ops import OPS


def stated(protocol):
    """The public names of a Protocol, each with what it states."""
    found = {}
    for kind in reversed(protocol.__mro__):
        if kind.__module__ in (cores.__name__, native_core.__name__):
            found.update({name: it for name, it in vars(kind).items() if not name.startswith("_")})
    return found


def parameters(function, bound=False):
    """What a caller must know of a function: the name, kind and default of each parameter."""
    found = list(inspect.signature(function).parameters.values())[bound:]
    return [(p.name, p.kind, p.default) for p in found]


def offered(module):
    """What a core offers besides the ops."""
    return {
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and name not in OPS and not inspect.ismodule(thing)
    }


@pytest.fixture
def native_module(native):
    return importlib.import_module("retrograde._native")


def check(protocol, module):
    for name, said in stated(protocol).items():
        thing = getattr(module, name)
        if inspect.isfunction(said) and not inspect.isclass(thing):
            assert parameters(thing) == parameters(said, bound=True), name


def test_the_native_core_is_as_stated(native_module):
    check(native_core.NativeCore, native_module)
    subtypes = {"ClosureValue", "TrackedValue"}  # of Value; nobody calls them
    assert offered(native_module) == set(stated(native_core.NativeCore)) | subtypes


def test_the_pure_core_is_as_stated():
    check(cores.Core, fallback)
    assert offered(fallback) == set(stated(cores.Core))


def test_names_of_a_recording_are_as_stated(native_module):
    for name, said in stated(cores.Names).items():
        method = getattr(native_module.Names, name)
        assert parameters(method, bound=True) == parameters(said, bound=True), name


def test_both_cores_have_a_function_a_row(native_module):
    for name in OPS:
        assert callable(getattr(native_module, name))
        assert callable(getattr(fallback, name))


def test_the_same_constants(native_module):
    assert native_module.OP_NAMES == fallback.OP_NAMES


def test_a_survey_has_the_stated_parts(rg):
    x = rg.Value(2.0)
    survey = importlib.import_module(f"{rg.__name__}.passes.survey").survey
    found = survey((x * x,), (1.0,), (x,), bytes(256), bytes(2048))
    assert set(found) == set(cores.Survey.__annotations__)


def test_what_only_the_native_core_has_says_so(reference):
    only = set(stated(native_core.NativeCore)) - set(stated(cores.Core))
    assert {"replay", "CallSite", "simd_level"} <= only
    for name in only:
        with pytest.raises(reference.errors.CoreError) as raised:
            getattr(reference.value.native_core, name)
        assert str(raised.value).startswith(f"'{name}' needs the native core; the reference core")
    assert not hasattr(reference.value.native_core, "__wrapped__")


def test_on_the_native_core_both_are_the_module(native, native_module):
    assert native.value.core is native.value.native_core is native_module
