"""``backend="cc"``: the interpreter's bits from compiled libraries, and the interpreter where there
is none."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import retrograde as rg
from retrograde import printing
from retrograde.errors import BackendWarning, PrintingError
from retrograde.printing import cache, cc
from retrograde.printing.cache import Cache
from retrograde.printing.compiler import Compiler, compiler

from ..program.choice_programs import Writer, function_of
from ..program.loop_programs import random_function, rows_for
from .support import needs_compiler, same_bits

pytestmark = needs_compiler


FLAGS = compiler().flags if compiler() else ()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, native):
    """A cache of its own for every test, on the native core; compiled without optimisation."""
    monkeypatch.setenv("RETROGRADE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cc.CC, "shared", None)
    slow = {"-O3": "-O0", "-march=native": "-DRG_ONE"}  # to run, and fast to compile
    monkeypatch.setattr(Compiler, "flags", tuple(slow.get(it, it) for it in compiler().flags))
    return tmp_path / "cache"


def draws(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def forked(x, y):
    if x > 0.0:
        return rg.exp(-x) * y if y > x else x - y
    return rg.sin(x) * y


def used(function):
    """How many plans a function has whose library runs."""
    plans = [each for trace in function.traces for each in trace.plans.values()]
    return sum(ready.code[-1] is not None for ready in plans)


def leaves(nest):
    if isinstance(nest, (tuple, list)):
        return [leaf for part in nest for leaf in leaves(part)]
    return [nest]


def check(function, arguments, ask=None, **options):
    """A call has the bits of the interpreter before, while and after it is compiled."""
    ask = ask or (lambda it: (it(*arguments), it.value_and_grad(*arguments)))
    plain, compiled = rg.compile(function, **options), rg.compile(function, backend="cc", **options)
    expected = leaves(ask(plain))
    for attempt in range(3):
        for one, other in zip(leaves(ask(compiled)), expected):
            same_bits(one, other)
        if attempt == 0:
            assert compiled.wait(120)
    assert used(compiled)
    return compiled


def test_rows_of_several_traces_sums_and_seeds():
    arguments = (draws(2500), draws(2500, seed=1))
    weights = draws(2500, seed=2)
    check(
        forked,
        arguments,
        lambda it: (
            it(*arguments),
            it.value_and_grad(*arguments, reduce="sum"),
            it.value_and_grad(*arguments, weights=weights, threads=2),
            it(*arguments, threads=1),
        ),
    )


def test_vectors_and_hessian_products(monkeypatch):
    monkeypatch.setattr(Compiler, "flags", FLAGS)
    arguments = (draws(35), draws(35, seed=1))
    check(lambda x, y: rg.exp(-x) * y, arguments, lambda it: it.hvp(*arguments, vector=arguments))


def test_one_row_and_strides():
    wide = draws(300, 8)
    check(forked, (0.5, 0.7))
    check(forked, (wide[:, 3], np.asfortranarray(wide)[::-1, 2]))
    check(lambda z: rg.dot(z, z) * z[1], (np.asfortranarray(draws(50, 9)),))


def test_captured_leaves_are_read_at_each_call():
    w = rg.Value(0.5)
    x = draws(77)
    compiled = check(lambda x: rg.tanh(w * x), (x,))
    w.data = 1.5
    same_bits(compiled(x), rg.compile(lambda x: rg.tanh(w * x))(x))
    assert compiled.backward(x) == rg.compile(lambda x: rg.tanh(w * x)).backward(x)


@pytest.mark.parametrize("seed", [3, 11])
def test_random_loops(seed):
    function, _ = random_function(rg, seed)
    check(function, rows_for(seed, count=67))


def test_loops_computed_again_in_stretches():
    def swing(angle, push):
        for _ in range(700):
            angle = rg.sin(angle) * push + 0.5
        return angle

    compiled = check(swing, (draws(40), draws(40, seed=1) * 0.1), checkpoint=True)
    assert "1 loop(s) computed again" in compiled.explain()


def test_choices():
    source = Writer(4).source()
    function = function_of(source, rg=rg, w1=rg.Value(0.5), w2=rg.Value(1.5), __name__="outside")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(function, (draws(133), draws(133, seed=1), 0.7), choices=True)


def test_guards_that_rows_made_up_never_hold():
    w, x = rg.Value(31.7), draws(300)

    def function(x, top):
        return rg.exp(x) * w if 31.0 < w < 32.0 and top == 123.0 else x

    check(
        function, (x, 123.0),
        lambda it: (it(x, 123.0), it.value_and_grad(x, 123.0, reduce="sum")),
    )  # fmt: skip
    compiled = rg.compile(function, backend="cc")
    compiled.value_and_grad(x, 123.0, reduce="sum")
    assert compiled.wait(60)
    assert compiled._target.failed == 0


def test_calls_go_on_by_the_quick_way():
    compiled = check(lambda x, y: x * y + 1.0, (0.5, 0.7))
    assert compiled(2.0, 3.0) == 7.0
    assert compiled._sites.find(("value", None), (2.0, 3.0)) == 7.0


# ---- the cache ---------------------------------------------------------------------------------


def built(monkeypatch):
    """A list that grows with every call of the compiler."""
    calls, build = [], Compiler.build
    monkeypatch.setattr(Compiler, "build", lambda *args: calls.append(1) or build(*args))
    return calls


def compiled_once(function=None):
    made = rg.compile(function or (lambda x: x * 3.0), backend="cc")
    assert made(2.0) == 6.0
    assert made.wait(60)
    assert made(2.0) == 6.0
    return made


def test_what_was_compiled_is_found_again(monkeypatch, folder):
    calls = built(monkeypatch)
    assert used(compiled_once()) == used(compiled_once()) == 1
    assert len(calls) == 1
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.suffix for path in folder.iterdir()} == {".so", ".sum"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())


def test_a_poisoned_entry_is_made_anew(monkeypatch, folder):
    calls = built(monkeypatch)
    compiled_once()
    library = next(folder.glob("*.so"))
    library.write_bytes(library.read_bytes()[:-1] + b"\0\0")
    cc.CC.shared = None
    assert used(compiled_once()) == 1
    assert len(calls) == 2


def test_entries_that_others_may_write_to_are_not_loaded(monkeypatch, folder):
    calls = built(monkeypatch)
    compiled_once()
    next(folder.glob("*.so")).chmod(0o666)
    assert used(compiled_once()) == 1
    assert len(calls) == 2
    folder.chmod(0o777)
    assert not Cache(folder).is_shared
    link = folder.parent / "link"
    link.symlink_to(folder)
    assert not Cache(link).is_shared


def test_a_folder_that_cannot_be_used_is_done_without(monkeypatch, tmp_path):
    nowhere = tmp_path / "file"
    nowhere.write_text("no folder")
    monkeypatch.setenv("RETROGRADE_CACHE", str(nowhere / "cache"))
    assert used(compiled_once()) == 1


def test_a_relative_folder_stays_where_it_is(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETROGRADE_CACHE", "near")
    assert used(compiled_once()) == 1
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert used(compiled_once(lambda x: x * 2.0 + x)) == 1
    assert len(list((tmp_path / "near").glob("*.so"))) == 2


def test_a_full_disk_leaves_the_interpreter(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Cache, "add", full)
    with pytest.warns(BackendWarning, match="No space left"):
        made = compiled_once()
    assert used(made) == 0


def test_the_cache_is_bounded(monkeypatch, folder):
    monkeypatch.setattr(cache, "MOST_ENTRIES", 3)
    for number in range(6):
        compiled_once(function_of(f"def f(x):\n    return x * 3.0 + 0.0 * (x - {number}.0)\n"))
    assert len(list(folder.glob("*.so"))) == len(list(folder.glob("*.sum"))) == 3


@pytest.mark.slow
def test_several_processes_share_the_cache(folder):
    code = (
        "import retrograde as rg\n"
        "f = rg.compile(lambda x: rg.exp(x) * x, backend='cc')\n"
        "before = f(0.5)\n"
        "assert f.wait(100) and f(0.5) == before\n"
        "print(f._target.done, f._target.failed)\n"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    assert [each.communicate(timeout=200)[0].split() for each in started] == [["1", "0"]] * 6
    assert len(list(folder.glob("*.so"))) == 1
    assert not list(folder.glob("making-*"))


# ---- no compiler, or one that fails --------------------------------------------------------------


def test_without_a_compiler_the_interpreter_runs(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.warns(BackendWarning, match="no C compiler was found.*Install gcc or clang"):
        made = rg.compile(forked, backend="cc")
    assert made(0.5, 0.7) == rg.compile(forked)(0.5, 0.7)
    assert made.wait()
    assert used(made) == 0
    assert "no compiler" in made._target.words


def test_a_compiler_that_fails_is_told_once(monkeypatch, tmp_path):
    script = tmp_path / "broken"
    script.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo broken 1.0 && exit 0\n'
        "echo 'program.c:1: error: it rains' >&2\nexit 1\n"
    )
    script.chmod(0o700)
    monkeypatch.setenv("CC", str(script))
    made = rg.compile(forked, backend="cc")

    def call():
        made(draws(50), draws(50, seed=1))
        made.value_and_grad(draws(50), draws(50, seed=1))
        assert made.wait(60)

    with pytest.warns(BackendWarning, match="it rains") as told:
        call()
    assert len(told) == 1
    assert made._target.failed >= 2


def test_a_compiler_that_hangs_is_stopped_with_all_it_started(monkeypatch, tmp_path):
    script, told = tmp_path / "hangs", tmp_path / "started"
    script.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo hangs 1.0 && exit 0\n'
        f"sleep 600 &\necho $! > {told}\nwait\n"
    )
    script.chmod(0o700)
    monkeypatch.setenv("CC", str(script))
    monkeypatch.setattr(printing.compiler, "PATIENCE", 2)
    made = rg.compile(forked, backend="cc")
    made(0.5, 0.7)
    with pytest.warns(BackendWarning, match="not done after 2 seconds"):
        made.wait(60)
    started = Path(f"/proc/{told.read_text().strip()}/stat")
    until = time.monotonic() + 20
    while (state := state_of(started)) not in ("gone", "Z") and time.monotonic() < until:
        time.sleep(0.01)
    assert state in ("gone", "Z")


def state_of(process):
    """What a process does, by its file in /proc."""
    try:
        return process.read_text().split()[2]
    except (FileNotFoundError, ProcessLookupError):
        return "gone"


def test_a_compiler_whose_name_has_no_end_is_none(monkeypatch):
    monkeypatch.setenv("CC", "gcc 'with a quote")
    with pytest.warns(BackendWarning, match="no C compiler was found"):
        assert rg.compile(forked, backend="cc")(0.5, 0.7) == rg.compile(forked)(0.5, 0.7)


def test_a_compiler_that_says_much_is_cut_short():
    message = str(PrintingError.compiler("cc", "\n".join(["x" * 100_000] * 100)))
    assert len(message) < 6000


def test_a_library_with_other_bits_is_not_used(monkeypatch):
    source = cc.library_source
    monkeypatch.setattr(
        cc, "library_source", lambda *args: source(*args).replace("v_exp(x); }", "v_expm1(x); }")
    )
    made = rg.compile(lambda x: rg.expm1(x) + rg.exp(x), backend="cc")
    made(2.0)
    with pytest.warns(BackendWarning, match="other bits than the interpreter"):
        made.wait(60)
    assert used(made) == 0


def test_backends_have_names():
    with pytest.raises(PrintingError, match="backend='gpu' is none of"):
        rg.compile(forked, backend="gpu")


def test_copies_and_pickles_keep_the_backend():
    import copy

    made = rg.compile(forked, backend="cc")
    assert copy.copy(made)._settings[2] == "cc"
    assert made.__reduce__()[1][3] == "cc"
    assert os.environ["RETROGRADE_CACHE"]
