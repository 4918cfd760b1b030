"""Bad input: what is refused, and in which words."""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np
import pytest

from .support import same

X = np.array([1.0, 2.0, 3.0])


def refusal(error: type[Exception], call: Any, *args: Any, **kwargs: Any) -> str:
    """What a call says when it refuses."""
    with pytest.raises(error) as caught:
        call(*args, **kwargs)
    said = caught.value.__cause__ if type(caught.value) is ValueError else caught.value
    return str(said)  # of a class in Python, NumPy says something of its own first


# ---- functions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["wrt", "reduce", "threads", "dtype", "out", "weights"])
def test_parameters_with_names_of_our_own_are_refused_when_compiling(rg: Any, name: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def priced(x, {name}): return x", scope)
    assert refusal(rg.errors.CompileError, rg.compile, scope["priced"]) == (
        f"priced has a parameter named '{name}', which the methods of compiled functions use "
        "themselves. Rename it."
    )


def test_starred_parameters_are_refused(rg: Any) -> None:
    def many(*xs: Any) -> Any:
        return xs[0]

    def named(**options: Any) -> Any:
        return options["x"]

    cure = ": a compiled function has named parameters. Pass a list instead."
    assert refusal(rg.errors.CompileError, rg.compile, many) == f"many takes *xs{cure}"
    assert refusal(rg.errors.CompileError, rg.compile, named) == f"named takes *options{cure}"


@pytest.mark.parametrize("thing", [3, "f", None, [1.0]])
def test_what_is_no_function_is_refused(rg: Any, thing: Any) -> None:
    text = refusal(rg.errors.CompileError, rg.compile, thing)
    assert text.startswith("compile takes a function, got ")
    assert isinstance(rg.errors.CompileError("x"), TypeError)


def test_a_builtin_that_hides_its_parameters_is_refused(rg: Any) -> None:
    text = refusal(rg.errors.CompileError, rg.compile, max)
    assert text == (
        "max: no signature found for builtin <built-in function max>; wrap it in a function of "
        "yours."
    )


# ---- arguments -----------------------------------------------------------------------------------

KINDS = (
    "arguments of a compiled function are numbers, float arrays of one or two axes, and lists, "
    "tuples and dicts of those."
)
WRONG: dict[str, tuple[Any, str]] = {
    "a word": ("abc", "x is str ('abc')"),
    "bytes": (b"abc", "x is bytes (b'abc')"),
    "None": (None, "x is None"),
    "complex": (1j, "x is complex (1j)"),
    "a set": ({1.0}, "x is set ({1.0})"),
    "a function": (len, "x is builtin_function_or_method (<built-in function len>)"),
    "a generator": ((i for i in range(3)), "x is generator"),
    "complex rows": (np.array([1j]), "x is ndarray (array([0.+1.j]))"),
    "rows of words": (np.array(["a"]), "x is ndarray (array(['a'], dtype='<U1'))"),
    "rows of objects": (np.array([1.0, None]), "x is ndarray (array([1.0, None], dtype=object))"),
    "rows of numbers as objects": (
        np.array([1.0, 2.0], dtype=object), "x is ndarray (array([1.0, 2.0], dtype=object))"),
    "ragged rows": (
        np.array([[1.0], [1.0, 2.0]], dtype=object),
        "x is ndarray (array([list([1.0]), list([1.0, 2.0])]..."),
    "dates": (np.array(["2020-01-01"], dtype="M8[D]"), "x is ndarray (array(['2020-01-01'], dty"),
    "masked rows": (
        np.ma.array([1.0, 2.0], mask=[True, False]), "x is MaskedArray (masked_array(data="),
    "in a list": ([1.0, "a"], "x[1] is str ('a')"),
    "in a nest": ({"k": (1.0, [None])}, 'x["k"][1][0] is None'),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_number_is_named_by_its_place(rg: Any, name: str) -> None:
    given, text = WRONG[name]
    f = rg.compile(lambda x, y=1.0: y)
    for call in (f, f.grad, f.jacobian, f.backward):
        said = refusal(rg.errors.RowsError, call, given)
        assert said.startswith(text)
        assert said.endswith(KINDS)
    assert isinstance(rg.errors.RowsError("x"), ValueError)


def test_values_in_gradient_calls_are_refused_by_place(rg: Any) -> None:
    f = rg.compile(lambda x, y: x * y)
    assert refusal(rg.errors.RowsError, f.grad, X, rg.Value(2.0)).startswith("y is Value (")


@pytest.mark.parametrize("axes", [3, 4])
def test_more_than_two_axes_are_a_tensor_and_rows_stay_rows(rg: Any, axes: int) -> None:
    f, whole = rg.compile(lambda x: x * 2), np.ones((2,) * axes)
    for _ in range(2):
        assert same(f(whole), whole * 2)
        assert same(f(X), X * 2)
        assert same(f.grad(X), np.full(3, 2.0))


MISMATCHED: dict[str, tuple[Any, Any, str]] = {
    "two columns": (np.ones(3), np.ones(4), "x has 3 rows but y has 4"),
    "a column and a matrix": (np.ones(3), np.ones((4, 3)), "x has 3 rows but y has 4"),
    "a matrix the wrong way round": (np.ones((3, 2)), np.ones(2), "x has 3 rows but y has 2"),
    "one row is not stretched": (np.ones(1), np.ones(3), "x has 1 rows but y has 3"),
    "nor is it second": (np.ones(3), np.ones(1), "x has 3 rows but y has 1"),
    "no rows": (np.ones(0), np.ones(3), "x has 0 rows but y has 3"),
    "inside a nest": (np.ones(2), {"k": [1.0, np.ones(3)]}, 'x has 2 rows but y["k"][1] has 3'),
    "in one nest": ([np.ones(2), np.ones(3)], 1.0, "x[0] has 2 rows but x[1] has 3"),
}


@pytest.mark.parametrize("name", MISMATCHED)
def test_row_counts_that_differ_are_both_named(rg: Any, name: str) -> None:
    x, y, text = MISMATCHED[name]
    f = rg.compile(lambda x, y: rg.Value(1.0))
    for call in (f, f.value_and_grad, f.jacobian, f.backward):
        assert refusal(rg.errors.RowsError, call, x, y) == (
            f"{text}: row counts must agree, nothing is stretched. Use rg.uniform(array) for an "
            "array that is the same for all rows."
        )


@pytest.mark.parametrize(
    "array",
    ["abc", [[1.0], [1.0, 2.0]], [1j], [None], {"a": 1.0}, np.ma.array([1.0], mask=[True])],
)
def test_uniform_takes_numbers(rg: Any, array: Any) -> None:
    text = refusal(rg.errors.RowsError, rg.uniform, array)
    assert text.startswith("uniform is ")
    assert text.endswith(KINDS)


def priced(x: Any, rate: Any, *, years: Any = 1.0) -> Any:
    return x * rate * years


@pytest.mark.parametrize(
    ("args", "kwargs", "text"),
    [
        ((), {}, "priced: missing a required argument: 'x'."),
        ((X,), {}, "priced: missing a required argument: 'rate'."),
        ((X, 1.0, 2.0), {}, "priced: too many positional arguments."),
        ((X, 1.0), {"rates": 2.0}, "priced: got an unexpected keyword argument 'rates'."),
        ((X, 1.0), {"rate": 2.0}, "priced: multiple values for argument 'rate'."),
    ],
)
def test_missing_and_unknown_arguments(rg: Any, args: Any, kwargs: Any, text: str) -> None:
    f = rg.compile(priced)
    for call in (f, f.grad, f.jacobian, f.backward):
        assert refusal(rg.errors.CompileError, call, *args, **kwargs) == text


# ---- results -------------------------------------------------------------------------------------

RESULTS: dict[str, tuple[Any, str]] = {
    "nothing": (
        lambda x: None, "f: the function returned None, not a value. Did it forget its return?"),
    "a number": (
        lambda x: 2.0,
        "f: the function returned float (2.0), not a value. A plain number has left the graph"),
    "a NumPy number": (lambda x: np.float64(2), "f: the function returned float64"),
    "a word": (lambda x: "a", "f: the function returned str ('a'), not a value."),
    "a condition": (lambda x: x > 0, "f: the function returned Condition"),
    "an empty list": (lambda x: [], "f: the function returned list ([]), not a value."),
    "numbers alone": (
        lambda x: [1.0, 2.0], "f: the function returned list ([1.0, 2.0]), not a value."),
    "a set": (lambda x: {x}, "f: the function returned set"),
    "a value and a word": (
        lambda x: [x, "a"], "f, the result[1]: the function returned str ('a'), not a value."),
    "a value and None": (
        lambda x: {"v": x, "w": (x, None)},
        'f, the result["w"][1]: the function returned None, not a value.'),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_results_that_are_no_values(rg: Any, name: str) -> None:
    function, text = RESULTS[name]

    def f(x: Any) -> Any:
        return function(x)

    compiled = rg.compile(f)
    for call in (compiled, compiled.grad, compiled.jacobian, compiled.backward):
        assert refusal(rg.errors.FunctionResultError, call, X).startswith(text)
    assert compiled.traces == ()


def test_numbers_beside_values_are_constants(rg: Any) -> None:
    got = rg.compile(lambda x: {"value": x, "number": 2, "numpy": np.float32(0.5)})(X)
    assert same(got["number"], np.full(3, 2.0))
    assert same(got["numpy"], np.full(3, 0.5))


def test_gradients_are_of_one_output(rg: Any) -> None:
    w = rg.Value(1.0)
    f = rg.compile(lambda x: (x * w, x + w))
    for call in (f.grad, f.value_and_grad, f.backward):
        text = refusal(rg.errors.FunctionResultError, call, X)
        assert "For several outputs use jacobian" in text
    assert w.grad == 0.0


# ---- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrt", ["z", ("x", "z"), 0, ["x"], None.__class__, ("x", 1)])
def test_unknown_arguments_in_wrt(rg: Any, wrt: Any) -> None:
    f = rg.compile(lambda x, y: x * y)
    for call in (f.grad, f.value_and_grad, f.jacobian):
        text = refusal(rg.errors.CompileError, call, X, 2.0, wrt=wrt)
        assert re.fullmatch(r"<lambda>: wrt names '.*'; its arguments are x, y\.", text)


@pytest.mark.parametrize("reduce", ["max", "SUM", "", 1, True])
def test_unknown_reductions(rg: Any, reduce: Any) -> None:
    text = refusal(rg.errors.CompileError, rg.compile(lambda x: x).grad, X, reduce=reduce)
    assert text == f"<lambda>: reduce={reduce!r} is none of None, 'sum', 'mean'."


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        (np.ones(2), "weights has shape (2,), but there are 3 rows"),
        (np.ones(4), "weights has shape (4,), but there are 3 rows"),
        (np.ones((3, 1)), "weights has shape (3, 1), but there are 3 rows"),
        (2.0, "weights has shape (1,), but there are 3 rows"),
        ("abc", "weights are <U3, not numbers"),
        ([1.0, None, 2.0], "weights are object, not numbers"),
        ([1j, 1.0, 1.0], "weights are complex128, not numbers"),
    ],
)
def test_weights_that_do_not_fit(rg: Any, weights: Any, text: str) -> None:
    w = rg.Value(1.0)
    f = rg.compile(lambda x: w * x)
    for call in (f.grad, f.backward):
        assert refusal(rg.errors.CompileError, call, X, weights=weights) == f"<lambda>: {text}."
    assert w.grad == 0.0


def test_after_any_refusal_the_function_works(rg: Any) -> None:
    @rg.compile
    def f(x: Any) -> Any:
        return x * 2

    for wrong in ("abc", [np.ones(3), "abc"], None):
        refusal(rg.errors.RowsError, f, wrong)
        assert same(f(X), X * 2)
    refusal(rg.errors.CompileError, f.grad, X, wrt="y")
    assert same(f.grad(X), np.full(3, 2.0))


def test_partial_functions_name_what_is_left(rg: Any) -> None:
    f = rg.compile(functools.partial(priced, rate=2.0))
    assert same(f(X), X * 2)
    assert refusal(rg.errors.CompileError, f) == "priced: missing a required argument: 'x'."


@pytest.mark.parametrize("threads", [1.5, "two", [2]])
def test_threads_are_a_whole_number(rg: Any, threads: Any) -> None:
    f = rg.compile(lambda x: x * 2)
    for call in (f, f.value_and_grad, f.hessian):
        with pytest.raises(rg.errors.CompileError, match="is no whole number; None is all cores"):
            call(np.ones(3), threads=threads)
    assert f(np.ones(3), threads=np.int64(2)).tolist() == [2.0, 2.0, 2.0]


# ---- what the function makes of its arguments ----------------------------------------------------


def total(path: Any, strike: Any) -> Any:
    worth = 0.0
    for spot in path:
        worth = worth + spot
    return worth - strike


def ratio(spot: Any, strike: Any) -> Any:
    return spot / strike


def test_going_through_one_number_a_row_names_the_argument_and_its_axes(rg: Any) -> None:
    compiled = rg.compile(total)
    for call in (compiled, compiled.grad):
        text = refusal(rg.errors.CompileError, call, X, 1.0)
        assert text.startswith("total: '")
        assert "Value' object is not iterable: each row of path is one number, as of " in text
        assert "For one sequence pass path[None, :], or a list.\n  at " in text
        assert ", in total\n      for spot in path:" in text
    assert compiled(X[None, :], 1.0)[0] == pytest.approx(X.sum() - 1.0)
    assert "path is one number. Pass a list of numbers as path." in refusal(
        rg.errors.CompileError, compiled, 1.0, 1.0
    )
    for function in (lambda p: p[0], lambda p: p * len(p)):
        assert "pass p[None, :]" in refusal(rg.errors.CompileError, rg.compile(function), X)


def test_the_first_error_stays_behind_the_clearer_one(rg: Any) -> None:
    with pytest.raises(rg.errors.CompileError) as caught:
        rg.compile(total)(X, 1.0)
    assert type(caught.value.__cause__) is TypeError


def test_deciding_by_a_row_of_several_names_the_argument_and_its_axes(rg: Any) -> None:
    def decided(spot: Any) -> Any:
        return spot if spot > 0.0 else -spot

    text = refusal(rg.errors.CompileError, rg.compile(decided), np.ones((2, 3)))
    assert text.startswith("decided: the truth of a sequence of shape (3,): each of its items has ")
    assert "Write all(q > 0) or any(q > 0)" in text
    assert (
        "spot has 2 axes, so each row of it is a sequence of 3 numbers. Pass its columns, as "
        "spot[:, 0], for one number per row.\n  at "
    ) in text
    assert same(rg.compile(decided)(-np.ones((2, 1))), np.ones((2, 1)))


def test_computing_with_a_list_names_the_argument_and_what_computes(rg: Any) -> None:
    for function in (
        lambda x: -x,
        lambda x: x + 1.0,
        lambda x: x * 2.5,
        lambda x: x**2,
        lambda x: x if x > 0.0 else x[0],
        lambda x: rg.exp(x),
    ):
        text = refusal(rg.errors.CompileError, rg.compile(function), [1.0, 2.0])
        assert "x was given as a list, and lists stay lists. Pass rg.uniform(x) for" in text


def test_errors_that_are_the_functions_own_stay_as_they_are(rg: Any) -> None:
    assert refusal(TypeError, rg.compile(lambda x: x + len(3)), X) == (
        "object of type 'int' has no len()"
    )
    text = refusal(rg.errors.OperandError, rg.compile(lambda x: x * [1.0]), X)
    assert text.startswith("mul: cannot compute with list ([1.0]); loop over it")


def test_numpy_functions_without_a_rule_are_told_what_to_write(rg: Any) -> None:
    text = refusal(rg.errors.NumpyError, rg.compile(lambda x: np.heaviside(x, 0)), X)
    assert text.startswith(
        "np.heaviside of values would lose the gradient: it has no rule here. Write rg.where("
    )
    assert f"\n  at {__file__}:" in text


def assigned(x: Any) -> Any:
    z = np.zeros(2)
    z[0] = x
    return z.sum()


def counted(x: Any, n: Any) -> Any:
    total = x
    for _ in range(n):
        total = total * 2
    return total


def chosen(x: Any) -> Any:
    table = [1.0, 2.0, 3.0]
    return table[x] * x


def floats(x: Any) -> Any:
    return np.array([x, x], dtype=float).sum()


CURES = {
    assigned: "Make it an array of objects, np.zeros(n, dtype=object), or collect the values",
    counted: "write i = 0 and while i < n, which each row decides for itself, or close over",
    chosen: "Write rg.take(items, i) for items[i].",
    floats: "Leave out the dtype: np.array(values) is an array of the values themselves.",
}


@pytest.mark.parametrize("function", CURES, ids=lambda f: f.__name__)
def test_numbers_that_would_leave_name_the_line_and_the_cure(rg: Any, function: Any) -> None:
    given = (X, 3.0) if function is counted else (X,)
    text = refusal(rg.errors.GraphExitError, rg.compile(function), *given)
    assert CURES[function] in text
    assert f"\n  at {__file__}:" in text
    assert ".data" not in text  # no way out of a recording
    values = [rg.Value(1.0) for _ in given]
    assert (
        CURES[function].split(",")[0][:20]
        in refusal((rg.errors.GraphExitError, ValueError), function, *values)
        or function is counted
    )


def test_a_method_is_compiled_once_it_is_bound(rg: Any) -> None:
    class Model:
        rate = 2.0

        def price(self, x: Any) -> Any:
            return x * self.rate

    assert same(rg.compile(Model().price)(X), X * 2)
    assert refusal(rg.errors.CompileError, rg.compile(Model.price), Model(), X) == (
        "price is a method: it is compiled for the object that it is called on. Write "
        "model.price(…), not the class's price(model, …)."
    )


def test_gradients_of_several_numbers_name_them(rg: Any) -> None:
    f = rg.compile(lambda q: q * 2)
    text = refusal(rg.errors.FunctionResultError, f.grad, np.ones((3, 2)))
    assert text == (
        "<lambda> returns 2 numbers (the result[0], the result[1]), and a gradient is of one. For "
        "several outputs use jacobian, or return their sum."
    )


def test_text_is_told_how_it_becomes_numbers_and_flags_where_they_belong(rg: Any) -> None:
    compiled = rg.compile(ratio)
    for words in (np.array(["80", "90"]), np.array([b"80"]), np.array([80.0, 90.0], dtype=object)):
        text = refusal(rg.errors.RowsError, compiled, words, 1.0)
        assert "If it holds numbers, pass spot.astype(float);" in text
    text = refusal(rg.errors.RowsError, compiled, X, "call")
    assert text.startswith(
        "strike is str ('call'). If it is a flag, close over it, or compile one function for each "
        "kind; arguments of a compiled function are numbers"
    )
    assert "pass array.astype(float);" in refusal(rg.errors.RowsError, rg.uniform, np.array(["a"]))


def test_parameters_may_be_called_self(native):
    f = native.compile(lambda self, x: self * x)
    assert f(self=2.0, x=3.0) == 6.0
    assert f.value_and_grad(self=2.0, x=3.0, wrt="self") == (6.0, 3.0)
    assert f.jacobian(self=2.0, x=3.0, wrt="self") == 3.0
    assert f.hessian(self=2.0, x=3.0, wrt="self") == 0.0
    assert f.story(self=2.0, x=3.0).forward[-1].words == "self * x = 2 × 3 = 6"
    assert len(f.births(self=2.0, x=3.0).sick) == 0
