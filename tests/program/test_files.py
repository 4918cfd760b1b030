"""Saving compiled functions and loading them: the same bits, the same names, nothing recorded."""

from __future__ import annotations

import math
import os
import pickle
import re
import stat
import sys
from collections import namedtuple
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ..contract.support import output_of
from .saved import SAVED, Point, X
from .support import CASES, bits, flat, same


def again(rg: Any, compiled: Any, folder: Path) -> Any:
    """The function after a round trip through a file."""
    compiled.save(folder / "function.rgp")
    return rg.load(folder / "function.rgp")


def assert_same(one: Any, other: Any) -> None:
    one, other = flat(one), flat(other)
    assert len(one) == len(other)
    for left, right in zip(one, other):
        assert same(left, right)


# ---- the same function ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_a_loaded_function_gives_the_same_bits(rg: Any, tmp_path: Path, name: str) -> None:
    compiled, arguments = rg.compile(CASES[name].make(rg)), CASES[name].columns(300)
    expected = compiled(**arguments)
    loaded = again(rg, compiled, tmp_path)
    assert_same(loaded(**arguments), expected)
    for reduce in (None, "sum", "mean"):
        assert_same(
            loaded.value_and_grad(**arguments, reduce=reduce),
            compiled.value_and_grad(**arguments, reduce=reduce),
        )
    first = next(iter(arguments))
    for method in ("grad", "jacobian", "hessian"):
        ask = {"wrt": first, **arguments}
        assert_same(getattr(loaded, method)(**ask), getattr(compiled, method)(**ask))
    ask = {"wrt": first, "vector": np.ones_like(arguments[first]), **arguments}
    assert_same(loaded.hvp(**ask), compiled.hvp(**ask))


@pytest.mark.parametrize("name", SAVED)
def test_programs_come_back_as_they_were(rg: Any, tmp_path: Path, name: str) -> None:
    compiled = SAVED[name](rg)
    loaded = again(rg, compiled, tmp_path)
    assert len(loaded.traces) == len(compiled.traces)
    for old, new in zip(compiled.traces, loaded.traces):
        assert new.path == old.path
        assert new.rows == old.rows > 0
        assert new.outputs.paths == old.outputs.paths
        assert new.program.outputs == old.program.outputs
        assert new.program.count == old.program.count
        assert list(new.program.inputs) == list(old.program.inputs)
        for index, given in old.program.inputs.items():
            kept = new.program.inputs[index]
            assert kept._replace(name="", number=0.0) == given._replace(name="", number=0.0)
            assert kept.kind == "captured" or kept.name == given.name
            assert bits(kept.number) == bits(given.number)
        for one, other in zip(old.program.instructions, new.program.instructions, strict=True):
            assert one[:3] == other[:3]
            assert old.program.site(one.site) == new.program.site(other.site)
        for asked, kept in zip(old.program.guards, new.program.guards, strict=True):
            assert asked[:2] == kept[:2]
            assert old.program.site(asked.site) == new.program.site(kept.site)
    loaded.save(tmp_path / "again.rgp")
    assert (tmp_path / "again.rgp").read_bytes() == (tmp_path / "function.rgp").read_bytes()


@pytest.mark.usefixtures("traces_alone")
def test_rows_of_every_trace_go_their_way(rg: Any, tmp_path: Path) -> None:
    compiled = rg.compile(lambda a: _newton(a))
    column = np.random.default_rng(3).uniform(0.1, 1e4, 3000)
    expected = compiled.value_and_grad(column)
    assert len(compiled.traces) > 4
    loaded = again(rg, compiled, tmp_path)
    assert_same(loaded.value_and_grad(column), expected)
    shuffled = np.random.default_rng(4).permutation(column)
    assert_same(loaded.value_and_grad(shuffled), compiled.value_and_grad(shuffled))
    out = np.empty(3000)
    assert loaded(column, out=out, threads=2) is out
    assert same(out, expected[0])
    assert f"{len(compiled.traces)} trace(s)" in loaded.explain()
    assert "leaves trace" in loaded.explain()


def _newton(a: Any) -> Any:
    y = a
    while abs(y * y - a) > 1e-12 * a:
        y = 0.5 * (y + a / y)
    return y


def test_constants_keep_their_bits(rg: Any, tmp_path: Path) -> None:
    constants = [-0.0, 0.0, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, 0.1]
    compiled = rg.compile(lambda x: [x, *constants, math.nan])
    compiled(1.0)
    loaded = again(rg, compiled, tmp_path)(1.0)
    assert bits(loaded[1:-1]).tolist() == bits(constants).tolist()
    assert math.isnan(loaded[-1])


def test_nests_come_back_as_they_were(rg: Any, tmp_path: Path) -> None:
    compiled = SAVED["nests"](rg)
    loaded = again(rg, compiled, tmp_path)
    arguments = ((np.ones((2, 3)), X[:2]), rg.uniform(np.ones((2, 2))))
    more = {"k": 2.0, None: [X[:2], 0.0]}
    one, other = compiled(*arguments, more=more), loaded(*arguments, more=more)
    assert list(one) == list(other) == ["sum", 7, "grid"]
    assert type(other["sum"]) is list
    assert type(other[7]) is tuple
    assert other["grid"].shape == one["grid"].shape == (2, 1, 2)
    assert same(one["grid"], other["grid"])
    gradients = loaded.jacobian(*arguments, more=more, wrt="more")["sum"][0]
    assert list(gradients) == ["k", None]


def test_named_tuples_are_tuples_in_a_file(rg: Any, tmp_path: Path) -> None:
    compiled = rg.compile(lambda p: Point(p[0] * p[1], p[0]))
    compiled(Point(2.0, 3.0))
    loaded = again(rg, compiled, tmp_path)
    assert loaded((2.0, 3.0)) == (6.0, 2.0)
    assert type(loaded((2.0, 3.0))) is tuple
    assert loaded(Point(2.0, 3.0)) == (6.0, 2.0)
    value = rg.compile(lambda p: p[0] * p[1])
    value(Point(2.0, 3.0))
    assert again(rg, value, tmp_path).grad(Point(2.0, 3.0)) == Point(3.0, 2.0)
    value((2.0, 3.0))
    with pytest.raises(rg.errors.ProgramFileError, match="with tuples and with named tuples"):
        value.save(tmp_path / "both.rgp")


def test_arguments_keep_names_kinds_and_defaults_that_are_numbers(rg: Any, tmp_path: Path) -> None:
    def f(a: Any, /, b: Any = 2.0, *, c: Any = 3, d: Any = (1.0, 2.0), e: Any) -> Any:
        return a + b * c * d[0] - e

    compiled = rg.compile(f)
    assert compiled(1.0, e=0.0) == 7.0
    loaded = again(rg, compiled, tmp_path)
    assert str(loaded.__signature__) == "(a, /, b=2.0, *, c=3.0, d, e)"
    assert loaded.__name__ == "f"
    assert loaded(1.0, d=(1.0, 2.0), e=0.0) == 7.0
    assert repr(loaded) == "<loaded f(a, /, b=2.0, *, c=3.0, d, e): 1 trace(s), 0 parameter(s)>"
    with pytest.raises(rg.errors.CompileError, match="missing a required argument: 'e'"):
        loaded(1.0, d=(1.0, 2.0))

    def g(a: Any = 1.0, b: Any = (2.0,), c: Any = 3.0) -> Any:
        return a + b[0] + c

    compiled = rg.compile(g)
    compiled()
    assert str(again(rg, compiled, tmp_path).__signature__) == "(a, b, c=3.0)"


def test_what_was_recorded_under_other_meanings_of_its_names_is_not_saved(
    rg: Any, tmp_path: Path
) -> None:
    factor = 2.0
    compiled = rg.compile(lambda x: x * factor)
    assert compiled(1.0) == 2.0
    assert compiled(X).tolist() == (2 * X).tolist()
    factor = 3.0
    with pytest.raises(rg.errors.ProgramFileError, match="nothing has been recorded yet"):
        compiled.save(tmp_path / "stale.rgp")
    compiled(1.0)
    assert len(again(rg, compiled, tmp_path).traces) == 1


# ---- parameters ----------------------------------------------------------------------------------


class Model:
    def __init__(self, rg: Any) -> None:
        self.bias = rg.Value(0.25)


def test_captured_leaves_are_named_parameters(rg: Any, tmp_path: Path) -> None:
    plain, twins = rg.Value(1.0), [rg.Value(2.0, label="twin"), rg.Value(3.0, label="twin")]
    layer = {"w": [[rg.Value(4.0)], [rg.Value(5.0)]], "a": np.array([rg.Value(6.0)])}
    frozen, model = rg.Value(7.0, requires_grad=False), Model(rg)
    compiled = rg.compile(
        lambda x: (
            x * plain + twins[0] * twins[1] + layer["w"][1][0] * frozen
            + model.bias * layer["a"][0] + layer["w"][0][0]
        )
    )  # fmt: skip
    expected = compiled.value_and_grad(X)
    loaded = again(rg, compiled, tmp_path)
    assert {name: leaf.data for name, leaf in loaded.parameters.items()} == {
        "plain": 1.0, "twin": 2.0, "twin_2": 3.0, 'layer["w"][1][0]': 5.0, "frozen": 7.0,
        "model.bias": 0.25, 'layer["a"][0]': 6.0, 'layer["w"][0][0]': 4.0,
    }  # fmt: skip
    assert not loaded.parameters["frozen"].requires_grad
    assert loaded.parameters["plain"].label == "plain"
    assert_same(loaded.value_and_grad(X), expected)
    assert loaded.backward(X) == compiled.backward(X)
    assert loaded.parameters["plain"].grad == plain.grad != 0.0
    assert loaded.parameters["model.bias"].grad == model.bias.grad == 6.0 * len(X)
    assert loaded.parameters["frozen"].grad == 0.0
    plain.data = loaded.parameters["plain"].data = -3.5
    assert same(loaded(X), compiled(X))
    with pytest.raises(TypeError):
        loaded.parameters["plain"] = rg.Value(1.0)


def test_leaves_are_found_where_helpers_and_methods_lead(rg: Any, tmp_path: Path) -> None:
    gain, deep = rg.Value(2.0), np.array([[rg.Value(3.0)], [rg.Value(4.0)]])

    def helper(x: Any) -> Any:
        return x * gain + deep[1, 0]

    inner = rg.compile(helper)
    found = again(rg, _called(rg.compile(lambda x: inner(x) + helper(x))), tmp_path)
    assert list(found.parameters) == ["gain", "deep[1][0]"]

    class Line(Model):
        def at(self, x: Any) -> Any:
            return x * self.bias

    found = again(rg, _called(rg.compile(Line(rg).at)), tmp_path)
    assert list(found.parameters) == ["self.bias"]
    unseen = {"get": partial(min, [rg.Value(5.0)])}
    found = again(rg, _called(rg.compile(lambda x: x * unseen["get"]())), tmp_path)
    assert list(found.parameters) == ["captured 1"]


def _called(compiled: Any) -> Any:
    compiled(1.0)
    return compiled


def test_a_leaf_of_several_families_is_one_parameter(rg: Any, tmp_path: Path) -> None:
    w = rg.Value(2.0, label="w")
    compiled = rg.compile(lambda x: x[0] * w if isinstance(x, list) else x * w)
    compiled(1.0), compiled([1.0, 2.0]), compiled(X)
    loaded = again(rg, compiled, tmp_path)
    assert list(loaded.parameters) == ["w"]
    loaded.backward(1.0), loaded.backward([3.0, 0.0])
    assert loaded.parameters["w"].grad == 4.0


def weighted(rg: Any, folder: Path) -> Any:
    w = [[rg.Value(1.0), rg.Value(2.0)], [rg.Value(3.0), rg.Value(4.0)]]
    b = rg.Value(5.0)
    compiled = rg.compile(lambda x: rg.sum([v * x for row in w for v in row]) + b)
    compiled(1.0)
    return again(rg, compiled, folder)


def test_many_parameters_are_set_together(rg: Any, tmp_path: Path) -> None:
    loaded = weighted(rg, tmp_path)
    assert loaded(1.0) == 15.0
    loaded.set_parameters({"w": np.zeros((2, 2)), "b": 1})
    assert loaded(1.0) == 1.0
    loaded.set_parameters({"w[0][1]": 7.0, "b": rg.Value(2.0)})
    assert loaded(1.0) == 9.0
    loaded.set_parameters({"w[1]": [1.0, 1.0]})
    assert loaded(1.0) == 11.0


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"b": 1.0, "v": 2.0}, "CompileError", "there is no parameter 'v': w[0][0], w[0][1]"),
        ({"b": 1.0, "w": [1.0, 2.0]}, "CompileError", "'w' was given as w[0], w[1], but the par"),
        ({"b": 1.0, "w": np.zeros((2, 3))}, "CompileError", "w[0][2], w[1][0]"),
        ({"b": 1.0, "w": 1.0}, "CompileError", "'w' was given as w, but the parameters are w[0][0"),
        ({"w[0][0]": 1.0, "b": [1.0]}, "CompileError", "'b' was given as b[0], but the parameters"),
        ({"w[0][0]": 1.0, "b": "1"}, "NumberError", "the parameter 'b' must be a real number, got"),
        ({"w[0][0]": 1.0, "b": None}, "NumberError", "must be a real number, got None"),
    ],
)  # fmt: skip
def test_parameters_that_do_not_fit_are_refused_all_together(
    rg: Any, tmp_path: Path, given: dict[str, Any], error: str, text: str
) -> None:
    loaded = weighted(rg, tmp_path)
    before = {name: leaf.data for name, leaf in loaded.parameters.items()}
    with pytest.raises(getattr(rg.errors, error)) as caught:
        loaded.set_parameters(given)
    assert text in str(caught.value)
    assert {name: leaf.data for name, leaf in loaded.parameters.items()} == before


# ---- what was not recorded -----------------------------------------------------------------------


def halves(x: Any) -> Any:
    if x > 0.0:
        return x
    return -x


def test_rows_that_fit_no_trace_raise_and_are_listed(rg: Any, tmp_path: Path) -> None:
    compiled = rg.compile(halves)
    compiled(np.array([1.0, 2.0]))
    loaded = again(rg, compiled, tmp_path)
    rows = np.array([1.0, -1.0, 2.0, math.nan, -5.0])
    for method in (loaded, loaded.grad, loaded.backward, loaded.hessian):
        with pytest.raises(rg.errors.GuardError, match="3 of 5 rows take a branch") as caught:
            method(rows)
        assert caught.value.rows.tolist() == [1, 3, 4]
    assert caught.value.site.function == "halves"
    assert "if x > 0.0:" in str(caught.value)
    assert "rows 1, 3, 4" in str(caught.value)
    with pytest.raises(rg.errors.GuardError):
        loaded.value_and_grad(rows, reduce="sum")
    with pytest.raises(rg.errors.CompileError, match="was not recorded for such arguments"):
        loaded(-1.0)
    assert len(loaded.traces) == 1
    assert loaded(rows[rows > 0]).tolist() == [1.0, 2.0]


def test_a_line_is_shown_from_the_file_and_its_source_is_not_opened(
    rg: Any, tmp_path: Path
) -> None:
    source = tmp_path / "source.py"
    source.write_text("def f(x):\n    return x if x > 7.5 else -x\n", encoding="utf-8")
    scope: dict[str, Any] = {}
    exec(compile(source.read_text(encoding="utf-8"), str(source), "exec"), scope)
    compiled = rg.compile(scope["f"])
    compiled(np.array([8.0]))
    loaded = again(rg, compiled, tmp_path)
    source.unlink()
    os.mkfifo(source)  # whoever opens it waits
    with pytest.raises(rg.errors.GuardError, match=r"return x if x > 7\.5 else -x"):
        loaded(np.array([1.0]))


def test_arguments_of_another_shape_are_refused_with_those_that_are_known(
    rg: Any, tmp_path: Path
) -> None:
    compiled = rg.compile(lambda x, y: x[0] + y)
    compiled([1.0, X], 2.0)
    compiled(np.ones((4, 3)), X)
    loaded = again(rg, compiled, tmp_path)
    with pytest.raises(rg.errors.CompileError) as caught:
        loaded(np.ones((4, 2)), {"k": rg.uniform(np.ones(2))})
    assert "x: rows of 2, y: {'k': rg.uniform of shape (2,)}" in str(caught.value)
    assert "x: [a number, rows], y: a number\n  x: rows of 3, y: rows" in str(caught.value)
    assert "before saving it" in str(caught.value)


def test_no_rows_at_all_give_no_results(rg: Any, tmp_path: Path) -> None:
    loaded = again(rg, SAVED["branches"](rg), tmp_path)
    value, grad = loaded.value_and_grad(np.empty(0))
    assert value.shape == grad.shape == (0,)


# ---- what cannot be saved ------------------------------------------------------------------------


def test_nothing_recorded_is_nothing_to_save(rg: Any, tmp_path: Path) -> None:
    with pytest.raises(rg.errors.ProgramFileError, match="Call it first, on rows that take every"):
        rg.compile(lambda x: x).save(tmp_path / "x.rgp")
    assert not list(tmp_path.iterdir())


def test_keys_and_nests_that_a_file_cannot_hold_are_refused(rg: Any, tmp_path: Path) -> None:
    odd = rg.compile(lambda d: d[1.5])
    odd({1.5: 2.0})
    with pytest.raises(rg.errors.ProgramFileError, match=r"a dict has the key 1\.5; in a file"):
        odd.save(tmp_path / "x.rgp")
    large = rg.compile(lambda x: {2**63: x})
    large(1.0)
    with pytest.raises(rg.errors.ProgramFileError, match="a dict has the key 9223372036854775808"):
        large.save(tmp_path / "x.rgp")
    surrogate = rg.compile(lambda x: {"\ud800": x})
    surrogate(1.0)
    with pytest.raises(rg.errors.ProgramFileError, match="not text that UTF-8 can write"):
        surrogate.save(tmp_path / "x.rgp")
    nest: Any = 1.0
    for _ in range(70):
        nest = [nest]
    deep = rg.compile(lambda x, y: y)
    deep(nest, 1.0)
    with pytest.raises(rg.errors.ProgramFileError, match="deeper than 64 levels"):
        deep.save(tmp_path / "x.rgp")
    assert not list(tmp_path.iterdir())


def test_a_function_that_changes_its_questions_is_refused(rg: Any, tmp_path: Path) -> None:
    levels = iter([0.0, 1.0])

    def unsteady(x: Any) -> Any:
        return x if x > next(levels) else -x

    compiled = rg.compile(unsteady)
    compiled(np.array([1.0, -1.0]))
    with pytest.raises(rg.errors.ProgramFileError, match="besides its arguments and captured"):
        compiled.save(tmp_path / "x.rgp")


def test_text_for_people_is_kept_printable(rg: Any, tmp_path: Path) -> None:
    w = rg.Value(2.0, label="w\x1b[2J\n")
    compiled = rg.compile(lambda x: x * w)
    compiled(1.0)
    assert list(again(rg, compiled, tmp_path).parameters) == ["w\ufffd[2J\ufffd"]


# ---- putting a file in place ---------------------------------------------------------------------


def test_a_file_that_cannot_be_written_says_so(rg: Any, tmp_path: Path) -> None:
    compiled = SAVED["straight"](rg)
    missing = tmp_path / "no" / "such" / "f.rgp"
    with pytest.raises(OSError, match="No such file or directory") as caught:
        compiled.save(missing)
    assert isinstance(caught.value, rg.errors.ProgramFileError)
    assert f"'{missing.parent}' must be a folder that may be written to" in str(caught.value)
    with pytest.raises(rg.errors.ProgramFileError, match="it is a folder"):
        compiled.save(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(rg.errors.ProgramFileError, match="Not a directory"):
        compiled.save(tmp_path / "file" / "f.rgp")
    if os.geteuid() != 0:
        tmp_path.chmod(0o500)
        with pytest.raises(rg.errors.ProgramFileError, match="Permission denied"):
            compiled.save(tmp_path / "f.rgp")
        tmp_path.chmod(0o700)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    rg: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    compiled, path = SAVED["straight"](rg), tmp_path / "f.rgp"
    path.write_bytes(b"old")

    def fails(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fails)
        with pytest.raises(rg.errors.ProgramFileError, match="No space left on device"):
            compiled.save(path)
    assert [path.name for path in tmp_path.iterdir()] == ["f.rgp"]
    assert path.read_bytes() == b"old"
    compiled.save(path)
    assert rg.load(str(path))(X).shape == X.shape


def test_a_saved_file_has_usual_rights_and_follows_links(rg: Any, tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    (tmp_path / "link").symlink_to("target")
    SAVED["straight"](rg).save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "target")]
    assert modes[0] == modes[1]


# ---- other processes -----------------------------------------------------------------------------


def test_a_function_found_by_its_name_pickles_by_it(rg: Any) -> None:
    compiled = rg.compile(rg.mean)
    compiled(np.ones((2, 3)))
    copy = pickle.loads(pickle.dumps(compiled))
    assert type(copy) is type(compiled)
    assert not copy.traces


@pytest.mark.parametrize("name", SAVED)
def test_one_that_is_not_pickles_as_its_traces(rg: Any, name: str) -> None:
    compiled = SAVED[name](rg)
    copy = pickle.loads(pickle.dumps(compiled))
    assert type(copy).__name__ in ("Loaded", "Compiled")  # the latter with its source
    travels = type(copy).__name__ == "Loaded" or compiled._recordings.travels
    count = len(compiled.traces) if travels else 0
    assert len(copy.traces) == count
    twice = pickle.loads(pickle.dumps(copy))
    assert len(twice.traces) == count
    if type(copy).__name__ == "Loaded":
        assert list(twice.parameters) == list(copy.parameters)


def test_a_pickle_of_what_was_never_called_says_what_to_do(
    rg: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cloudpickle", None)  # it would take the source along
    with pytest.raises(rg.errors.ProgramFileError, match="cannot be saved or pickled"):
        pickle.dumps(rg.compile(lambda x: x))


def test_methods_and_partial_functions_pickle_by_what_they_are(rg: Any) -> None:
    compiled = rg.compile(partial(rg.mean))
    assert compiled([3.0, 1.0]) == 2.0
    assert pickle.loads(pickle.dumps(compiled))([3.0, 1.0]) == 2.0


def test_copies_in_this_process_keep_the_function(rg: Any) -> None:
    import copy

    compiled = SAVED["branches"](rg)
    for twin in (copy.copy(compiled), copy.deepcopy(compiled)):
        assert type(twin) is type(compiled)
        assert same(twin(X), compiled(X))


@pytest.mark.slow
def test_workers_give_the_same_bits(native: Any, tmp_path: Path) -> None:
    compiled = SAVED["branches"](native)
    loaded = again(native, compiled, tmp_path)
    loaded.parameters["slope"].data = 0.75
    column = np.random.default_rng(5).uniform(-3.0, 3.0, 5000)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as workers:
        for function in (compiled, loaded):
            for method in (function, function.value_and_grad, function.hessian):
                assert_same(workers.submit(method, column).result(), method(column))


def test_a_file_of_one_core_is_read_by_the_other(native: Any, tmp_path: Path) -> None:
    compiled = SAVED["branches"](native)
    column = np.random.default_rng(6).uniform(-3.0, 3.0, 50)
    expected = compiled.value_and_grad(column)
    compiled.save(tmp_path / "branches.rgp")
    code = f"""
import numpy as np, retrograde as rg
loaded = rg.load({str(tmp_path / "branches.rgp")!r})
value, slope = loaded.value_and_grad(np.random.default_rng(6).uniform(-3.0, 3.0, 50))
print([x.hex() for x in (*value.tolist(), *slope.tolist())])
"""
    got = [float.fromhex(word) for word in re.findall(r"'([^']*)'", output_of(code, "reference"))]
    assert got == pytest.approx(np.concatenate(expected).tolist(), rel=1e-13)


def test_fields_of_named_tuples_do_not_matter(rg: Any, tmp_path: Path) -> None:
    compiled = rg.compile(lambda p: p[0] * p[1])
    compiled(Point(2.0, 3.0))
    Other = namedtuple("Other", "a b")
    assert again(rg, compiled, tmp_path).grad(Other(2.0, 3.0)) == Other(3.0, 2.0)
