"""``retrograde explain``: expressions, scripts, files, and what is refused."""

from __future__ import annotations

import importlib
import json
import math
import os
import stat
import textwrap

import pytest

ESCAPE = "\x1b"


def run(cli, capsys, *arguments):
    code = cli.main(["explain", *arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.fixture
def script(tmp_path):
    def write(text, name="train.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text).lstrip(), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def values(rg):
    """How a script of this core imports its values."""
    return rg.__name__


# ---- expressions ------------------------------------------------------------------------------


def test_the_example_is_explained_without_arguments(cli, capsys):
    code, out, err = run(cli, capsys)
    assert code == 0
    assert out.startswith("relu(a*b + d) = 4\n")
    assert "a.grad += -3 × 1 = -3" in out
    assert ESCAPE not in out
    assert err == 'An example: retrograde explain "relu(a*b + d)" a=2 b=-3 d=10\n\n'
    assert max(map(len, out.splitlines())) == 80


def test_an_expression_is_the_same_as_the_program_it_stands_for(cli, capsys, rg):
    code, out, err = run(cli, capsys, "L = (a*b + c) * (a + b)", "a=2", "b=-3", "c=10", "--json")
    assert (code, err) == (0, "")
    plain = json.loads(out)
    grads = {node["name"]: node["grad"] for node in plain["nodes"]}
    assert (grads["a"], grads["b"], grads["c"]) == (7.0, 2.0, -1.0)
    assert plain["nodes"][plain["root"]]["name"] == "L"
    assert rg.explain.Story.from_json(plain).to_json() == plain
    assert all(node["site"] is None for node in plain["nodes"])


@pytest.mark.parametrize(
    ("text", "numbers", "value"),
    [
        ("a**2 + 1", {"a": 3.0}, 10.0),
        ("-a / 4", {"a": 2.0}, -0.5),
        ("2**a", {"a": 3.0}, 8.0),
        ("1/0 + a", {"a": 1.0}, float("inf")),
        ("max(a, b) - min(a, b)", {"a": 3.0, "b": 5.0}, 2.0),
        ("sum([a, b, 2]) + dot([a, b], [b, 1])", {"a": 3.0, "b": 5.0}, 30.0),
        ("mean([a, b]) + norm([a, b]) - norm([a, b])", {"a": 3.0, "b": 5.0}, 4.0),
        ("a.tanh() - rg.tanh(a) + math.exp(a*0)", {"a": 0.5}, 1.0),
        ("x = a*2; y = x + a; y*y", {"a": 1.0}, 9.0),
        ("leaky_relu(a)", {"a": -2.0}, -0.02),
        ("(a) # a comment", {"a": 1.0}, 1.0),
        ("clip(a, -1, 1)", {"a": 3.0}, 1.0),
        ("1/3*a", {"a": 3.0}, 1.0),
        ("ln(a) + arctan(a)", {"a": 0.5}, math.log(0.5) + math.atan(0.5)),
        ("a*pi - a*math.pi", {"a": 3.0}, 0.0),
        ("a*pi", {"a": 3.0, "pi": 2.0}, 6.0),
        ("max(a, 2, 1) + min(a, 5, 3, 4)", {"a": 7.0}, 10.0),
        (" + ".join(["a"] * 400), {"a": 1.0}, 400.0),
    ],
)
def test_the_grammar(cli, text, numbers, value):
    evaluate = importlib.import_module(f"{cli.__name__}._expression").evaluate
    assert evaluate(text, numbers).data == value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a*c", "a=1"], "'c' has no number (given: a). Add c=1.5 after the expression."),
        (
            ["e**x", "x=2"],
            "'e' has no number (given: x). Add e=1.5 after the expression. Euler's number is "
            "math.e, and its power exp(x).",
        ),
        (["a*b"], "'a' and 'b' have no numbers. Add a=1.5 b=1.5 after the expression."),
        (["a*2", "a=1", "b=2"], "'b' is given but not used: the names in the expression are a."),
        (["a*2", "a"], "'a' is no NAME=NUMBER, as in a=2, rate=-0.5 or third=1/3."),
        (["a*2", "a=two"], "'a=two' is no NAME=NUMBER, as in a=2, rate=-0.5 or third=1/3."),
        (["a*2", "a=2/b"], "'a=2/b' is no NAME=NUMBER"),
        (["a*2", "a=1", "a=2"], "'a' is given twice. Give each name one number."),
        (["x^2", "x=3"], "'x^2' is not how an expression is written; did you mean 'x**2'?"),
        (["2x", "x=3"], "'2x' is not how an expression is written; did you mean '2*x'?"),
        (
            ["3(x + 1)x", "x=3"],
            "'3(x + 1)x' is not how an expression is written; did you mean '3*(x + 1)*x'?",
        ),
        (
            ["ab + |a|", "a=3", "b=1"],
            "'ab + |a|' is not how an expression is written; did you mean 'a*b + abs(a)'?",
        ),
        (
            ["x² − √x", "x=3"],
            "'x² − √x' is not how an expression is written; did you mean 'x**2 - sqrt(x)'?",
        ),
        (
            ["a(b + 1)", "a=3", "b=1"],
            "'a(b + 1)' is not how an expression is written; did you mean 'a*(b + 1)'?",
        ),
        (
            ["2sin x", "x=3"],
            "'2sin x' is not how an expression is written; did you mean '2*sin(x)'?",
        ),
        (["a if a > 0 else -a", "a=1"], "an expression holds numbers, names, + - * / ** and"),
        (["2*3"], "'2*3' holds no name, so there is no gradient: write x for a number, x=3."),
        (["sigmod(a)", "a=1"], "there is no function 'sigmod'; did you mean 'sigmoid'?"),
        (["a +", "a=1"], "the expression cannot be read: invalid syntax."),
        (["", "a=1"], "the expression cannot be read: it is empty."),
        (["a.foo()", "a=1"], "there is no function 'foo'; did you mean 'floor'?"),
        (["exp(a, a)", "a=1"], "exp: "),
        (["dot([a], [a, a])", "a=1"], "dot: 1 items on the left, 2 on the right"),
        (["a", "a=1", "--at", "3"], "--at is for scripts: it names one of their lines."),
        (["a", "a=1", "--wat"], "there is no option '--wat'"),
    ],
)
def test_bad_expressions_say_what_is_wrong(cli, capsys, arguments, message):
    code, out, err = run(cli, capsys, *arguments)
    assert code in (1, 2)
    assert out == ""
    assert err.startswith(f"retrograde: {message}")
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "(lambda: a)()",
        "[a for a in (1, 2)]",
        "a if a else 1",
        "a.__class__",
        "a.data",
        "a[0]",
        "'text' * a",
        "a @ a",
        "a // 2",
        "a and a",
        "a < 2",
        "f'{a}'",
        "exp(x=a)",
        "exp(*[a])",
        "import os",
        "del a",
        "a = b = 2",
        "a, b = 1, 2",
        "open('x', a)",
        "getattr(a, a)",
        "True * a",
        "1j * a",
        "a ** [1]",
    ],
)
def test_nothing_outside_the_grammar_is_evaluated(cli, capsys, text):
    code, out, err = run(cli, capsys, text, "a=1")
    assert code == 2
    assert out == ""
    assert err.startswith("retrograde: ")
    assert "Traceback" not in err


def test_deep_nesting_and_long_texts_are_refused_or_done(cli, capsys):
    code, _, err = run(cli, capsys, "(" * 5000 + "a" + ")" * 4999, "a=1")
    assert code == 2
    assert "Traceback" not in err
    code, _, err = run(cli, capsys, "a" + "+a" * 6000, "a=1")
    assert code == 2
    assert "longer than 10,000 characters" in err


def test_lists_of_lists_are_refused_at_once(cli, capsys):
    """Forty lines of them would hold 2**40 numbers."""
    nested = ";".join(f"a{n + 1}=[a{n},a{n}]" for n in range(40))
    code, out, err = run(cli, capsys, f"a0=x;{nested};sum(a40)", "x=2")
    assert (code, out) == (2, "")
    assert "'[a1,a1]'" in err


def test_numbers_may_follow_options(cli, capsys):
    code, out, _ = run(cli, capsys, "a*b", "a=2", "--ledger", "b", "b=4")
    assert code == 0
    assert out.startswith("The gradient of b in a*b\n2 = 2 through a*b\n")


@pytest.mark.parametrize(
    "arguments",
    [["-a*b", "a=2", "b=4"], ["-a * b", "a=2", "b=4"], ["--", "-a*b", "a=2", "b=4"]],
)
def test_an_expression_may_begin_with_a_minus(cli, capsys, arguments):
    code, out, _ = run(cli, capsys, *arguments)
    assert code == 0
    assert out.startswith("-a*b = -8\n")


def test_a_ledger_of_an_unknown_name_is_refused(cli, capsys):
    code, out, err = run(cli, capsys, "a*b", "a=2", "b=4", "--ledger", "z")
    assert (code, out) == (1, "")
    assert "the story has no value named 'z'; its names are a, b." in err


def test_colour_and_width_follow_the_terminal(cli, terminal, monkeypatch):
    stream = terminal(100)
    assert cli.main(["explain", "a*a", "a=2"]) == 0
    assert ESCAPE in stream.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    stream = terminal(100)
    assert cli.main(["explain", "a*a", "a=2"]) == 0
    assert ESCAPE not in stream.getvalue()
    assert max(map(len, stream.getvalue().splitlines())) == 100


# ---- scripts ----------------------------------------------------------------------------------

TRAINING = """
    import sys
    from {values} import Value

    w = Value(0.5, label="w")
    for step in range(3):
        loss = (w * 2.0 - 3.0) ** 2
        loss.label = "loss"
        w.grad = 0
        loss.backward()
        w.data -= 0.1 * w.grad
    print("done", sys.argv[1:], __name__)
    other = w * w
    other.label = "other"
    other.backward()
"""


def test_a_script_is_run_and_its_last_backward_pass_explained(cli, capsys, script, values):
    path = script(TRAINING.format(values=values))
    code, out, err = run(cli, capsys, path, "one", "--", "--two")
    assert (code, err) == (0, "")
    assert out.startswith("done ['one', '--two'] __main__\nother = w*w = ")
    assert "Note: This is the last of 4 backward passes, at line 14 of train.py." in out


def test_at_chooses_a_line_and_shows_the_numbers_of_that_time(cli, capsys, script, values):
    path = script(TRAINING.format(values=values))
    code, out, err = run(cli, capsys, path, "--at", "9", "--json")
    assert code == 0
    assert err == "done [] __main__\n"
    plain = json.loads(out)
    assert plain["note"] == "This is the last of 3 backward passes there, at line 9 of train.py."
    first = plain["nodes"][0]
    assert first["name"] == "w"
    assert first["data"] != 0.5
    assert plain["nodes"][plain["root"]]["data"] == pytest.approx((first["data"] * 2 - 3) ** 2)
    code, _, err = run(cli, capsys, path, "--at", "8")
    assert code == 1
    assert "no backward pass began at line 8 of" in err
    assert "they began at line 9, 14." in err


def test_a_script_that_raises_is_told_up_to_there(cli, capsys, script, values):
    path = script(
        f"""
        from {values} import Value
        a = Value(2.0, label="a")
        (a * a).backward()
        def broken(x):
            return x / None
        broken(a)
        """
    )
    code, out, err = run(cli, capsys, path)
    assert code == 1
    assert err.startswith("Traceback (most recent call last):\n")
    assert f'File "{path}", line 6, in <module>' in err
    assert "_script.py" not in err
    assert "watch.py" not in err
    assert out.startswith("a*a = 4\n")
    folded = " ".join(out.split())
    assert "The script raised OperandError at line 5" in folded
    assert "This is the only backward pass, at line 3 of train.py." in folded


def test_a_script_that_raises_before_any_pass_shows_what_it_had_computed(
    cli, capsys, script, values
):
    path = script(
        f"""
        from {values} import Value
        def broken(a, b):
            product = a * b
            product.label = "product"
            return product + [1]
        broken(Value(2.0, label="a"), Value(3.0, label="b"))
        """
    )
    code, out, _ = run(cli, capsys, path)
    assert code == 1
    assert out.startswith("product = a*b = 6\n")
    assert "No backward pass had run" in " ".join(out.split())
    path = script("x = 1\nraise KeyError('no values at all')\n")
    code, out, err = run(cli, capsys, path)
    assert (code, out) == (1, "")
    assert "KeyError" in err


def test_a_pass_that_fails_is_told_too(cli, capsys, script, values):
    path = script(
        f"""
        import {values} as rg
        x = rg.Value(0.0, label="x")
        y = rg.sqrt(x)
        with rg.anomaly():
            y.backward()
        """
    )
    code, out, err = run(cli, capsys, path)
    assert code == 1
    assert "AnomalyError" in err
    assert "The backward pass at line 5 of train.py did not finish." in " ".join(out.split())
    assert "inf" in out


def test_exit_codes_of_scripts_are_passed_on(cli, capsys, script, values):
    body = f"from {values} import Value\n(Value(1.0) * 2).backward()\nimport sys\n"
    assert run(cli, capsys, script(body + "sys.exit(3)\n"))[0] == 3
    assert run(cli, capsys, script(body + "sys.exit()\n"))[0] == 0
    code, _, err = run(cli, capsys, script(body + "sys.exit('sorry')\n"))
    assert (code, err) == (1, "sorry\n")
    code, out, err = run(cli, capsys, script("def f(:\n"))
    assert (code, out) == (1, "")
    assert "SyntaxError" in err


def test_a_script_without_a_pass_and_one_that_is_not_there(cli, capsys, script):
    code, out, err = run(cli, capsys, script("print('nothing')\n"))
    assert (code, out) == (1, "nothing\n")
    assert "differentiates nothing" in err
    code, out, err = run(cli, capsys, script("import retrograde\n"))
    assert "ran no backward pass on retrograde's values" in err
    code, out, err = run(cli, capsys, "missing.py")
    assert (code, out) == (1, "")
    assert err == "retrograde: cannot read the script missing.py: No such file or directory.\n"


def test_a_script_finds_its_neighbours_and_leaves_no_trace(cli, capsys, script, values):
    import sys

    script("VALUE = 2.0\n", "neighbour_of_train.py")
    path = script(
        f"from {values} import Value\nimport neighbour_of_train\n"
        "x = Value(neighbour_of_train.VALUE, label='x')\n(x * x).backward()\n"
    )
    before = sys.modules["__main__"], list(sys.argv), list(sys.path)
    code, out, _ = run(cli, capsys, path)
    assert code == 0
    assert "4" in out
    assert (sys.modules["__main__"], sys.argv, sys.path) == before
    sys.modules.pop("neighbour_of_train")


# ---- files ------------------------------------------------------------------------------------


def files_of(cli):
    return importlib.import_module(f"{cli.__name__}._files")


def test_a_file_is_written_whole_or_not_at_all(cli, rg, tmp_path, monkeypatch):
    write_text = files_of(cli).write_text
    path = tmp_path / "story.html"
    write_text(str(path), "first ×")
    assert path.read_text(encoding="utf-8") == "first ×"
    path.chmod(0o640)
    write_text(str(path), "second")
    assert path.read_text(encoding="utf-8") == "second"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(rg.errors.OutputError, match="No space left on device"):
        write_text(str(path), "third")
    assert path.read_text(encoding="utf-8") == "second"
    assert os.listdir(tmp_path) == ["story.html"]


def test_an_unwritable_file_is_refused_before_a_script_runs(cli, capsys, script, tmp_path):
    path = script("print('this took an hour')\n")
    for place, why in ((tmp_path / "no" / "x.html", "there is no such folder"),
                       (tmp_path, "it is a folder")):  # fmt: skip
        code, out, err = run(cli, capsys, path, "--html", str(place))
        assert (code, out) == (1, "")
        assert err == (
            f"retrograde: cannot write {place}: {why}. Nothing was left there; choose another "
            "place.\n"
        )


def test_files_that_cannot_be_written_are_named(cli, rg, tmp_path):
    write_text = files_of(cli).write_text
    for path in (tmp_path / "missing" / "x.svg", tmp_path):
        with pytest.raises(rg.errors.OutputError, match="cannot write"):
            write_text(str(path), "")


def test_a_link_is_followed_and_a_pipe_is_written_to(cli, tmp_path):
    write_text = files_of(cli).write_text
    target, link = tmp_path / "target.svg", tmp_path / "link.svg"
    target.write_text("old")
    link.symlink_to(target)
    write_text(str(link), "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    write_text(os.devnull, "anything")


def test_the_page_the_picture_and_the_graph_are_written(cli, rg, capsys, tmp_path):
    page, picture, graph = (str(tmp_path / name) for name in ("p.html", "p.svg", "p.dot"))
    code, out, err = run(
        cli, capsys, "a*b", "a=2", "b=3", "--html", page, "--svg", picture, "--dot", graph
    )
    assert (code, out) == (0, "")
    assert err == f"wrote {page}\nwrote {picture}\nwrote {graph}\n"
    for path, start in ((page, "<!doctype html>"), (picture, "<svg"), (graph, "digraph")):
        with open(path, encoding="utf-8") as file:
            assert file.read(15).startswith(start)


def test_open_writes_a_page_and_opens_it(cli, rg, capsys, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    code, out, err = run(cli, capsys, "a*b", "a=2", "b=3", "--open")
    assert (code, out) == (0, "")
    assert opened[0].startswith("file:///")
    assert opened[0].endswith("story.html")
    assert err.startswith("wrote ")


TENSORS = """
import numpy as np
import retrograde as rg

rng = np.random.default_rng(0)
X, y = rng.normal(size=(16, 4)), rng.integers(0, 3, 16)
W = rg.Tensor(rng.normal(size=(4, 3)), label="W")
b = rg.Tensor(np.zeros(3), label="b")
optimizer = rg.optim.SGD([W, b], lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    loss = rg.cross_entropy(X @ W + b, y)
    loss.backward()
    print(f"{loss.data:.6g}")
    optimizer.step()
"""


def test_a_script_with_tensors_is_told_as_it_was_before_the_step(shell, tmp_path):
    path = tmp_path / "train.py"
    path.write_text(TENSORS)
    for step, options in ((4, ()), (1, ("--step", "2"))):
        done = shell("explain", str(path), *options)
        assert done.returncode == 0, done.stderr
        loss = [line for line in done.stdout.splitlines() if line[:1].isdigit()][step]
        assert f"loss = {loss}" in done.stdout
        assert "matmul" in done.stdout
    page = tmp_path / "story.html"
    done = shell("explain", str(path), "--html", str(page))
    assert done.returncode == 0, done.stderr
    assert page.read_text().startswith("<!doctype html>")
    done = shell("memory", str(path))
    assert done.returncode == 0, done.stderr
    assert "16 values recorded" in done.stdout
    done = shell("doctor", str(path))
    assert done.returncode == 0, done.stdout
    assert "15 parameters in 2 groups, 5 passes" in done.stdout
