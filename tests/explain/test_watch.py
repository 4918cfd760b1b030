"""Watching backward passes: every pass is reported, and everything is put back."""

from __future__ import annotations

import importlib
import threading

import pytest


def watch_of(rg):
    return importlib.import_module(f"{rg.__name__}._values.watch")


def test_every_pass_is_reported_with_roots_seeds_and_line(rg):
    seen = []
    x = rg.Value(3.0)
    with watch_of(rg).watching(seen.append):
        y = x * x
        y.backward()
        y.backward(seed=2.0)
        rg.backward([y, x], [1.0, 5.0])
        rg.backward(y)
    y.backward()
    assert [(each.roots, each.seeds) for each in seen] == [
        ((y,), (1.0,)),
        ((y,), (2.0,)),
        ((y, x), (1.0, 5.0)),
        ((y,), (1.0,)),
    ]
    lines = [each.site.line for each in seen]
    assert lines == list(range(lines[0], lines[0] + 4))
    assert all(each.site.file == __file__ for each in seen)
    assert x.grad == 6.0 + 12.0 + 6.0 + 5.0 + 6.0 + 6.0


def test_gradients_are_the_same_watched_or_not(rg):
    def gradient():
        x = rg.Value(0.3)
        (rg.tanh(x * x) + rg.exp(x)).backward()
        return x.grad

    plain = gradient()
    with watch_of(rg).watching(lambda each: None):
        assert gradient() == plain


def test_the_engines_own_functions_are_back_afterwards(rg):
    method, function = rg.Value.__dict__["backward"], rg.value.core.backward
    watching = watch_of(rg).watching

    def leave_early():
        with watching(lambda each: None):
            assert rg.Value.__dict__["backward"] is not method
            with watching(lambda each: None):
                pass
            assert rg.Value.__dict__["backward"] is not method
            raise KeyError

    with pytest.raises(KeyError):
        leave_early()
    assert rg.Value.__dict__["backward"] is method
    assert rg.value.core.backward is function


def test_watchers_may_be_nested_and_leave_in_any_order(rg):
    watching = watch_of(rg).watching
    outer, inner = [], []
    first, second = watching(outer.append), watching(inner.append)
    first.__enter__()
    second.__enter__()
    rg.Value(1.0).backward()
    first.__exit__(None, None, None)
    rg.Value(1.0).backward()
    second.__exit__(None, None, None)
    rg.Value(1.0).backward()
    assert (len(outer), len(inner)) == (1, 2)


def test_a_pass_that_raises_has_begun_but_is_not_done(rg):
    begun, done = [], []
    broken = rg.Value(1.0, (rg.Value(1.0),), "mine")
    watching = watch_of(rg).watching(done.append, begun=begun.append)
    with watching, pytest.raises(rg.errors.MissingBackwardError):
        broken.backward()
    assert (len(begun), len(done)) == (1, 0)


def test_what_the_engine_refuses_it_refuses_watched(rg):
    with watch_of(rg).watching(lambda each: None):
        with pytest.raises(rg.errors.NotAValueError):
            rg.backward([3.0])
        with pytest.raises(rg.errors.ShapeError):
            rg.backward([rg.Value(1.0)], [1.0, 2.0])
        with pytest.raises(rg.errors.NumberError):
            rg.Value(1.0).backward("a")
        with pytest.raises(TypeError):
            rg.Value(1.0).backward(1.0, 2.0)


def test_passes_of_other_threads_and_of_subclasses_are_seen(rg):
    class Mine(rg.Value):
        def backward(self, seed=1.0):
            super().backward(seed)

    seen = []
    with watch_of(rg).watching(seen.append):
        threads = [threading.Thread(target=rg.Value(1.0).backward) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        Mine(2.0).backward()
    assert len(seen) == 5
