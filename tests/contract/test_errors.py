"""Every exception: raised by what a user would do, of the right kinds, saying cause and cure."""

from __future__ import annotations

import importlib
import inspect
import pickle
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import retrograde

from .support import core_of, output_of, run_python


def number(rg):
    rg.Value("3")


def not_a_value(rg):
    rg.backward([rg.Value(1.0), 2.0])


def operand(rg):
    rg.Value(1.0) + "2"


def label(rg):
    rg.Value(1.0, label=3)


def shape(rg):
    rg.dot([1.0], [1.0, 2.0])


def leaf(rg):
    (rg.Value(1.0) * 2).requires_grad = False


def closure_style(rg):
    (rg.Value(1.0) * 2)._backward = lambda: None


def graph_exit(rg):
    float(rg.Value(1.0))


def no_gradient(rg):
    rg.Value(1.0, requires_grad=False).backward()


def missing_backward(rg):
    rg.Value(1.0, (rg.Value(1.0),), "mine").backward()


def pass_in_progress(rg):
    x = rg.Value(1.0)
    value = rg.Value(1.0, (x,), "mine")
    value._backward = lambda: (x * 2.0).backward()
    value.backward()


def cycle(rg):
    value = rg.Value(1.0, (rg.Value(1.0),), "mine")
    value._children = (value,)
    value.backward()


def graph_memory(rg):
    if core_of(rg) != "native":
        raise rg.errors.GraphMemoryError.of(80)  # Python's own allocator serves the reference
    inject = rg.value.core.inject_allocation_failure
    inject(0)
    try:
        rg.Value(1.0)
    finally:
        inject(-1)


def anomaly(rg):
    with rg.anomaly():
        rg.Value(0.0).log()


def doctor(rg):
    rg.doctor(rg.Value(1.0), [])


def hook(rg):
    rg.Value(1.0).register_hook(3)


def not_twice_differentiable(rg):
    rg.grad(rg.grad(lambda x: rg.Value(1.0, (x,), (2.0,))))(1.0)


def not_differentiable(rg):
    rg.trigamma(rg.Value(2.0)).backward()


def stale_graph(rg):
    x = rg.Value(2.0)
    y = x * x
    x.data = 3.0
    rg.gradients(y, [x])


def function_result(rg):
    rg.grad(lambda x: None)(1.0)


def argument(rg):
    rg.grad(lambda x: x)("a")


def unused_input(rg):
    rg.gradients(rg.Value(1.0) * 2, [rg.Value(1.0)], unused="raise")


def custom_op(rg):
    @rg.custom_op
    def broken(x):
        return "a"

    broken(rg.Value(1.0))


def custom_domain(rg):
    @rg.custom_op
    def root(x):
        return x**0.5, (0.5 / x**0.5,)

    root(rg.Value(-4.0))


def copy_(rg):
    pickle.dumps(rg.Value(1.0, (rg.Value(1.0),), "mine"))


def missing_package(rg):
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "scipy", None)
        patch.setitem(sys.modules, "scipy.optimize", None)
        rg.minimize(lambda x: x[0] * x[0], [1.0])


def program(rg):
    from retrograde.program.checker import check
    from retrograde.program.program import Program

    raise_as(rg, lambda: check(Program(outputs=[3]), "a pass"))


def recording(rg):
    raise_as(rg, lambda: retrograde.compile(lambda x: x * x.data)(1.0))


def take(rg):
    rg.take([rg.Value(1.0)], 7)


def loaded(function, *arguments):
    """A function that was called, saved and loaded again."""
    compiled = retrograde.compile(function)
    compiled(*arguments)
    with tempfile.TemporaryDirectory() as folder:
        compiled.save(Path(folder) / "function.rgp")
        return retrograde.load(Path(folder) / "function.rgp")


def guard(rg):
    positive = loaded(lambda x: x if x > 0 else -x, np.ones(1))
    raise_as(rg, lambda: positive(np.array([1.0, -1.0])))


def not_recorded(rg):
    known = loaded(lambda x: x * x, np.ones(1))
    raise_as(rg, lambda: known(np.ones((2, 3))))


def frame(rg):
    total = retrograde.compile(lambda x, y: x + y)
    raise_as(rg, lambda: total({"x": np.ones(2)}))


class Later:
    """What a collection of Dask's looks like."""

    def __dask_graph__(self):
        return {}


def lazy(rg):
    total = retrograde.compile(lambda x: x + x)
    raise_as(rg, lambda: total.births(Later()))


def mapped(rg):
    pytest.importorskip("pyarrow", reason="install pyarrow")
    total = retrograde.compile(lambda x: x + x)
    raise_as(rg, lambda: total.map_batches("none.parquet", "out.parquet"))


def printing(rg):
    raise_as(rg, lambda: retrograde.compile(lambda x: x + x, backend="abacus"))


def program_file(rg):
    raise_as(rg, lambda: retrograde.load(__file__))


def rows(rg):
    total = retrograde.compile(lambda x, y: x + y)
    raise_as(rg, lambda: total(np.ones(2), np.ones(3)))


def compile_(rg):
    raise_as(rg, lambda: retrograde.compile(3))


def check_(rg):
    rg.gradcheck(lambda x: [x, x], 1.0)


def gradcheck(rg):
    rg.gradcheck(lambda x: rg.Value(x.data**2, (x,), (4 * x.data,)), 1.5)


def story(rg):
    rg.ledger(rg.Value(1.0, label="speed") * 2, "sped")


def module(rg, name):
    return importlib.import_module(f"{rg.__name__}.{name}")


def script(rg):
    module(rg, "cli._script").run_script("no such script.py")


def replace_(rg):
    replacement = module(rg, "cli._replace").Replacement("Valeu")
    replacement.code(b"class Value: pass", "theirs.py", {})


def expression(rg):
    module(rg, "cli._expression").evaluate("a * b", {"a": 1.0})


def output(rg):
    module(rg, "cli._files").write_text("/no/such/folder/story.html", "")


def setting(rg):
    rg.optim.SGD([rg.Value(1.0)], lr=-1.0)


def parameter(rg):
    rg.optim.SGD([])


def state(rg):
    rg.nn.Neuron(2).load_state_dict({"w": [0.0, 0.0]})


def models(rg):
    return module(rg, "models")


def token(rg):
    models(rg).Tokenizer("ab").tokens("a7")


def corpus(rg):
    models(rg).read_corpus(str(__file__) + ".missing")


def checkpoint(rg):
    models(rg).load_checkpoint("nowhere.npz")


def training(rg):
    room = models(rg)
    trainer = room.Trainer(room.read_corpus(), {"embedding": 2, "heads": 1}, room.Settings(steps=1))
    trainer.model.head.weight[0][0].data = float("nan")
    trainer.step()


def raise_as(rg, action):
    """Only the native core compiles; the same exceptions of the other copy are built by hand."""
    if core_of(rg) == "native":
        action()
    try:
        action()
    except retrograde.RetrogradeError as error:
        raise getattr(rg.errors, type(error).__name__)(str(error)) from None


def learn(rg):
    importlib.import_module(f"{rg.__name__}.learn.exercises").exercise("ad")


def boundary(rg):
    run = importlib.import_module(f"{rg.__name__}.learn.sandbox").run
    run("", lambda ask: None, boundary="moat")


def sequence_of(rg, count):
    make = importlib.import_module(f"{rg.__name__}._values.sequences").sequence
    return make([rg.Value(1.0) for _ in range(count)], (count,))


def sequence_(rg):
    sequence_of(rg, 1)[0] = 2.0


def tensor_(rg):
    rg.Tensor(np.ones(2) * 1j)


def fit(rg):
    rg.Tensor([1.0, 2.0]) + rg.Tensor([1.0, 2.0, 3.0])


def tensor_index(rg):
    rg.Tensor([1.0, 2.0])[2]


def alias(rg):
    x = rg.Tensor([1.0, 2.0])
    kept = x * x
    x[0] = 3.0
    return kept


def numpy_(rg):
    np.rint(rg.Value(1.0))


CASES = {
    "BoundaryError": (boundary, ValueError, "keeps a student's code away", "--trust"),
    "LearnError": (learn, ValueError, "there is no exercise 'ad'", "did you mean 'add'?"),
    "ProgramError": (program, RuntimeError, "output %3 is never defined", "after a pass"),
    "RecordingError": (recording, RuntimeError, ".data of 'x' was read", "Compute with the value"),
    "TakeError": (take, IndexError, "index 7.0 in a list of 1", "whole number from 0 to 0"),
    "GuardError": (guard, RuntimeError, "1 of 2 rows take a branch that no trace", "before saving"),
    "NotRecordedError": (not_recorded, TypeError, "not recorded for such arg", "before saving it"),
    "FrameError": (frame, ValueError, "the frame has no column 'y'", "Rename columns, or pass"),
    "LazyError": (lazy, ValueError, "does not take Dask's collections", "argument.compute()"),
    "MapError": (mapped, ValueError, "There is no file none.parquet", "none.parquet"),
    "PrintingError": (printing, RuntimeError, "backend='abacus' is none of", "'cc'"),
    "ProgramFileError": (program_file, ValueError, "is not a program file", "Make one with save()"),
    "RowsError": (rows, ValueError, "x has 2 rows but y has 3", "rg.uniform(array)"),
    "CompileError": (compile_, TypeError, "compile takes a function", "got int (3)"),
    "NumberError": (number, TypeError, "got str ('3')", "Write float(...) around it"),
    "NotAValueError": (not_a_value, TypeError, "item 1 is float (2.0)", "Wrap a number as Value("),
    "OperandError": (operand, TypeError, "add: cannot compute with str ('2')", "convert it with"),
    "LabelError": (label, TypeError, "a label is a string or None, got int (3)", "Write str(...)"),
    "ShapeError": (shape, ValueError, "1 items on the left, 2 on the right", "as many of each"),
    "LeafError": (leaf, RuntimeError, "the result of mul = 2.0 was computed", "value.detach()"),
    "ClosureStyleError": (closure_style, AttributeError, "already has its rule", "(x,), 'name')"),
    "GraphExitError": (graph_exit, TypeError, "float(v) would take the number", "Write v.data"),
    "NoGradientError": (no_gradient, RuntimeError, "requires_grad is False", "Make the leaves"),
    "MissingBackwardError": (missing_backward, RuntimeError, "without a rule", "out._backward ="),
    "CycleError": (cycle, RuntimeError, "depends on itself", "Give a value only inputs that were"),
    "PassInProgressError": (
        pass_in_progress, RuntimeError, "still running", "after the outer backward() has returned",
    ),
    "GraphMemoryError": (graph_memory, MemoryError, "80 bytes could not be had", "Drop graphs"),
    "DoctorError": (doctor, ValueError, "no parameters were given", "something with parameters()"),
    "AnomalyError": (anomaly, ArithmeticError, "log produced -inf", "cure: keep the input above 0"),
    "NotTwiceDifferentiable": (
        not_twice_differentiable, RuntimeError, "partials as numbers only", "in terms of ops",
    ),
    "NotDifferentiable": (
        not_differentiable, RuntimeError, "the slope of trigamma is not known", "x.detach()",
    ),
    "StaleGraph": (stale_graph, RuntimeError, "is now 9.0", "Run the forward pass again"),
    "FunctionResultError": (function_result, TypeError, "returned None", "forget its return?"),
    "ArgumentError": (argument, TypeError, "is str ('a')", "Choose others with wrt="),
    "UnusedInputError": (unused_input, ValueError, "does not depend on", "pass unused='zero'"),
    "CustomDomainError": (custom_domain, ValueError, "a complex number at (-4)", "return math.nan"),
    "CustomOpError": (custom_op, TypeError, "returned str ('a')", "return (value, partials), or"),
    "CopyError": (copy_, TypeError, "its rule as a Python closure", "or detach() first"),
    "MissingPackageError": (missing_package, ImportError, "needs scipy", "pip install scipy"),
    "CheckError": (check_, ValueError, "the function returned list", "one output at a time"),
    "GradcheckError": (gradcheck, AssertionError, "at x = 1.5 is 6, but", "a factor 2 too many"),
    "StoryError": (story, ValueError, "no value named 'sped'", "did you mean 'speed'?"),
    "ScriptError": (script, OSError, "cannot read the script no such script.py", "No such file"),
    "ReplaceError": (replace_, ValueError, "theirs.py has no class Valeu", "did you mean 'Value'?"),
    "ExpressionError": (expression, ValueError, "'b' has no number", "Add b=1.5 after"),
    "OutputError": (output, OSError, "cannot write /no/such/folder", "choose another place"),
    "SettingError": (setting, ValueError, "lr must be", "a number from 0 up, got float (-1.0)"),
    "ParameterError": (parameter, ValueError, "no parameters", "pass module.parameters()"),
    "StateError": (state, ValueError, "does not fit Neuron: it lacks b", "or pass strict=False"),
    "TokenError": (token, ValueError, "does not know '7'", "Use those characters"),
    "CorpusError": (corpus, ValueError, "cannot be read: No such file", "Give the path of a text"),
    "CheckpointError": (checkpoint, RuntimeError, "no checkpoint at", "Begin one without --resume"),
    "TrainingError": (training, ArithmeticError, "document is nan", "a learning rate below 0.01"),
    "SequenceError": (sequence_, TypeError, "does not change", "Write q = np.array(q) before"),
    "TensorError": (tensor_, TypeError, "got dtype complex128", "compute with .real and .imag"),
    "FitError": (fit, ValueError, "shapes (2,), (3,) do not broadcast", "made at"),
    "TensorIndexError": (tensor_index, IndexError, "index 2 is out of bounds", "of shape (2,)"),
    "AliasError": (alias, RuntimeError, "that something else holds", "Write t = t.put(i, v)"),
    "NumpyError": (numpy_, TypeError, "np.rint of values", "Write rg.round(v)"),
    "HookError": (hook, TypeError, "got int (3)", "takes a function of the gradient"),
}  # fmt: skip
FURTHER = {
    "Value(None)": (lambda rg: rg.Value(None), "NumberError", "got None", "forget to return?"),
    "a point of too many": (
        lambda rg: rg.gradcheck(lambda q: q * 2, (1.0, 2.0)),
        "CheckError", "takes 1 argument, but the point is a tuple of 2", "give one list",
    ),
    "a row gone through": (
        lambda rg: raise_as(rg, lambda: retrograde.compile(lambda x: x[0])(np.ones(2))),
        "CompileError", "each row of x is one number", "pass x[None, :], or a list",
    ),
    "a row decided by": (
        lambda rg: raise_as(rg, lambda: retrograde.compile(lambda x: max(x, 0))(np.ones((2, 2)))),
        "CompileError", "the truth of a sequence", "Pass its columns, as x[:, 0]",
    ),
    "a list computed with": (
        lambda rg: raise_as(rg, lambda: retrograde.compile(lambda x: x / 2)([1.0])),
        "CompileError", "for /: 'list' and 'int': x was given as a list", "Pass rg.uniform(x)",
    ),
    "lengths": (
        lambda rg: sequence_of(rg, 2) + [1.0, 2.0, 3.0],  # noqa: RUF005
        "ShapeError", "add: sequences of 2 and 3 numbers do not fit", "write [*a, *b]",
    ),
    "text for numbers": (
        lambda rg: raise_as(rg, lambda: retrograde.compile(lambda x: x)(np.array(["80"]))),
        "RowsError", "x is ndarray (array(['80']", "pass x.astype(float)",
    ),
    "a flag": (
        lambda rg: raise_as(rg, lambda: retrograde.compile(lambda x: x)("call")),
        "RowsError", "x is str ('call')", "close over it, or compile one function for each kind",
    ),
}  # fmt: skip
"""Further words of exceptions that have a case above."""
BY_IMPORT = {"CoreError"}  # raised while importing: further down
OF_TORCH = {"TorchFeatureError", "TorchProgramError", "UnhealthyError"}  # in tests/torchdoor


@pytest.mark.parametrize("name", CASES)
def test_every_error_has_its_kinds_its_cause_and_its_cure(rg, name):
    act, builtin, cause, cure = CASES[name]
    error = getattr(rg.errors, name)
    with pytest.raises(error) as caught:
        act(rg)
    assert type(caught.value) is error
    assert isinstance(caught.value, rg.RetrogradeError)
    assert isinstance(caught.value, builtin)
    text = str(caught.value)
    assert cause in text
    assert cure in text


@pytest.mark.parametrize("name", FURTHER)
def test_further_causes_have_their_cure(rg, name):
    act, error, cause, cure = FURTHER[name]
    with pytest.raises(getattr(rg.errors, error)) as caught:
        act(rg)
    assert cause in str(caught.value)
    assert cure in str(caught.value)


def test_every_error_is_tried(rg):
    classes = {
        name
        for name, thing in vars(rg.errors).items()
        if inspect.isclass(thing)
        and issubclass(thing, Exception)
        and not issubclass(thing, Warning)
    }
    tried = set(CASES) | BY_IMPORT | OF_TORCH | {"RetrogradeError"}
    assert classes == tried, "add a case here for every exception of errors/"


def test_every_error_is_documented_and_derives_from_ours_and_a_builtin(rg):
    for name in {*CASES, *BY_IMPORT, *OF_TORCH}:
        error = getattr(rg.errors, name)
        assert error.__doc__
        assert issubclass(error, rg.RetrogradeError)
        builtins = [base for base in error.__mro__ if base.__module__ == "builtins"]
        assert builtins[0] not in (Exception, BaseException, object)
    assert rg.RetrogradeError is rg.errors.RetrogradeError


@pytest.mark.parametrize("name", [name for name in CASES if name != "GraphMemoryError"])
def test_both_cores_say_the_same(native, reference, name):
    texts = []
    for rg in (native, reference):
        with pytest.raises(rg.RetrogradeError) as caught:
            CASES[name][0](rg)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_errors_about_a_computed_value_name_its_line(rg):
    for act in (leaf, no_gradient, missing_backward, cycle, anomaly):
        with pytest.raises(rg.RetrogradeError) as caught:
            act(rg)
        first, last = inspect.getsourcelines(act)[1], len(inspect.getsourcelines(act)[0])
        lines = [f"{__file__}:{n}, in {act.__name__}" for n in range(first, first + last)]
        assert any(line in str(caught.value) for line in lines)


def test_a_long_thing_is_shown_by_a_glimpse(rg):
    with pytest.raises(rg.errors.NumberError) as caught:
        rg.Value("x" * 1000)
    assert "str ('xxx" in str(caught.value)
    assert len(str(caught.value)) < 200


# ---- choosing the core ------------------------------------------------------------------------


def test_an_unknown_core_is_refused_while_importing():
    code = """
try:
    import retrograde
except ImportError as error:
    print([base.__name__ for base in type(error).__mro__[:3]], error)
"""
    printed = output_of(code, "nonsense")
    assert "['CoreError', 'RetrogradeError', 'ImportError']" in printed
    assert "RETROGRADE_CORE='nonsense' is not a core: use 'native' or 'reference'" in printed
    done = run_python("import retrograde", "nonsense")
    assert done.returncode != 0
    assert "CoreError" in done.stderr


HIDDEN = "import sys; sys.modules['retrograde._native'] = None\n"


def test_the_native_core_asked_for_but_absent_is_refused():
    done = run_python(HIDDEN + "import retrograde", "native")
    assert done.returncode != 0
    assert "RETROGRADE_CORE=native, but the native core is not available: " in done.stderr


def test_the_reference_serves_where_the_native_core_is_absent():
    code = """
import retrograde as rg
x = rg.Value(3.0)
(x * x).backward()
print(rg.value.core_name, x.grad, bool(rg.value.core_reason))
"""
    assert output_of(HIDDEN + code).strip() == "reference 6.0 True"


@pytest.mark.parametrize("core", ["native", "reference"])
def test_the_environment_forces_either_core(core, native):
    code = "import retrograde; print(retrograde.value.core_name, retrograde.value.core_reason)"
    assert output_of(code, core).strip() == f"{core} RETROGRADE_CORE={core} asks for it"


def test_a_nest_that_shares_its_lists_is_named_in_a_few_words(rg):
    nest = [1.0]
    for _ in range(60):
        nest = [nest, nest]
    with pytest.raises(rg.errors.NumberError) as caught:
        rg.Value(nest)
    assert len(str(caught.value)) < 200
