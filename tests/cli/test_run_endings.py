"""``retrograde run``: micrograd shimmed, and how a script ends under it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import signal
import subprocess
import sys
import time

import pytest

from .running import ENGINE, SCRIPTS, SOURCE, python, retrograde_run

# ---- micrograd --------------------------------------------------------------------------------


def test_an_import_of_micrograd_gets_our_value(run, rg, script):
    before = set(sys.modules), list(sys.meta_path)
    path = script(
        """
        import micrograd.engine
        from micrograd.engine import Value
        x = Value(3.0)
        (x * x).backward()
        print(x, Value.__module__, micrograd.engine.Value is Value)
        """
    )
    code, out, err = run(path, "--shim", "micrograd")
    assert (code, err) == (0, "")
    assert out == f"Value(data=3.0, grad=6.0) {rg.Value.__module__} True\n"
    assert not {n for n in set(sys.modules) - before[0] if n.startswith("micrograd")}
    assert sys.meta_path == before[1]


def test_an_installed_micrograd_is_back_afterwards(run, script, monkeypatch):
    installed = sys.modules.get("micrograd", object())
    monkeypatch.setitem(sys.modules, "micrograd", installed)
    assert run(script("from micrograd.engine import Value\n"), "--shim", "micrograd")[0] == 0
    assert sys.modules["micrograd"] is installed
    assert run(script("import micrograd.engine\n1 / 0\n"), "--shim", "micrograd")[0] == 1
    assert sys.modules["micrograd"] is installed


def test_other_modules_of_micrograd_are_not_made_up(run, script):
    path = script("import micrograd.vision\n")
    code, _, err = run(path, "--shim", "micrograd")
    assert code == 1
    assert "No module named 'micrograd.vision'" in err


def test_a_program_on_micrograd_prints_the_same(core):
    if importlib.util.find_spec("micrograd") is None:
        pytest.skip("micrograd is not installed (extra: test)")
    plain = python(SCRIPTS / "imports.py")
    ours = retrograde_run(SCRIPTS / "imports.py", "--shim", "micrograd", core=core)
    assert ours.returncode == plain.returncode == 0, ours.stderr
    assert ours.stdout == plain.stdout


# ---- how it ends ------------------------------------------------------------------------------

FAILING = (
    ENGINE
    + '''
    @property
    def broken(self):
        raise KeyError("in a property")


def deeper(x):
    """A
    docstring of several lines."""
    return {
        "a": x,
        "b": x.broken,
    }


deeper(Value(1.0)
       + Value(2.0))
'''
)


@pytest.mark.parametrize(
    "text",
    [
        FAILING,
        f"{ENGINE}\n\nraise ValueError('own')\n",
        f"{ENGINE}\ntry:\n    1 / 0\nexcept ArithmeticError as e:\n    raise OSError from e\n",
        f"{ENGINE}\n  wrong indent\n",
        f"{ENGINE}\nfor x in\n",
        f"{ENGINE}\ndef f():\n    return f()\n\n\nf(\n",
        "import no_such_module\nclass Value: pass\n",
        "class Value:\n    import sys\n    sys.exit('leaving')\n",
        "class Value:\n    raise RuntimeError('in the class')\n",
        f"{ENGINE}\nimport sys\nsys.exit(3)\n",
        f"{ENGINE}\nimport sys\nsys.exit()\n",
        f"{ENGINE}\nraise SystemExit('said')\n",
        f"def f(): pass\n{ENGINE}\nassert f() is not None, 'claimed'\n",
    ],
)  # fmt: skip
def test_a_script_that_fails_shows_its_own_traceback_and_code(core, script, text):
    path = script(text)
    plain = python(path)
    ours = retrograde_run(path, "--replace", "Value", core=core)
    assert ours.stderr == plain.stderr
    assert (ours.returncode, ours.stdout) == (plain.returncode, plain.stdout)


def test_what_a_script_finds_is_what_python_gives_it(core, script, tmp_path):
    (tmp_path / "helper.py").write_text("number = 5\n")
    path = script(
        """
        import pathlib, pickle, sys, threading
        import helper
        class Value:
            def __init__(self, data): self.data = data
        class Thing: pass
        if __name__ == "__main__":
            print(sys.argv[1:], __file__ == sys.argv[0], helper.number, input())
            print(type(pickle.loads(pickle.dumps(Thing()))) is Thing)
            pathlib.Path("written.txt").write_text("here")
            threading.Timer(0.05, lambda: print("later", Value)).start()
        """
    )
    options = {"input": "typed\n", "cwd": tmp_path}
    plain = python(path, "-x", "--json", "a b", **options)
    ours = retrograde_run(path, "--", "-x", "--json", "a b", core=core, **options)
    assert (ours.stdout, ours.stderr) == (plain.stdout, "")
    assert (tmp_path / "written.txt").read_text() == "here"
    ours = retrograde_run(path, "--replace", "Value", "--", "-x", core=core, **options)
    assert ours.stdout.splitlines()[1:] == plain.stdout.splitlines()[1:]
    assert ours.stderr.startswith("retrograde: Value stayed the script's own: ")


def test_a_script_given_by_a_relative_path_knows_where_it_is(script, tmp_path):
    path = script(
        """
        import os, pathlib, sys
        os.chdir("/")
        print(__file__, sys.argv[0], pathlib.Path(__file__).exists())
        def fail(): raise ValueError("here")
        fail()
        """
    )
    name = os.path.basename(path)
    plain = python(name, cwd=tmp_path)
    ours = retrograde_run(name, cwd=tmp_path)
    assert (ours.stdout, ours.stderr) == (plain.stdout, plain.stderr)


def test_an_interrupted_script_ends_as_python_does(script):
    path = script("class Value: pass\nprint('ready', flush=True)\nwhile True: pass\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "retrograde", "run", path, "--replace", "Value"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.startswith("Traceback (most recent call last):\n")
    assert "line 3, in <module>\n    while True: pass\nKeyboardInterrupt\n" in err


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("class Value: pass\n", "Valeu", "has no class Valeu to replace; did you mean 'Value'?"),
        ("class A: pass\nclass B: pass\n", "Value", "its classes are A, B; write --replace with"),
        ("x = 1\n", "Value", "has no class Value to replace; it defines no class."),
        ("from micrograd.engine import Value\n", "Value", "write --shim micrograd."),
        ("from a.engine import Value\n", "Value", "write --replace a.engine.Value."),
        ("import os\n", "no.such.Value", "there is no source of a module no.such"),
        ("import os\n", "math.Value", "there is no source of a module math"),
        ("import os\n", "textwrap.Value", "textwrap.py has no class Value to replace"),
        ("def f():\n    class V: pass\n", "V", "inside a function or a class, at line 2"),
    ],
)
def test_a_class_that_cannot_be_replaced_is_refused(run, script, text, name, message):
    code, out, err = run(script(f"{text}print('ran')\n"), "--replace", name)
    assert (code, out) == (1, "")
    assert message in err
    assert "Traceback" not in err


def test_scripts_that_cannot_be_read_are_named(run, tmp_path):
    missing = str(tmp_path / "missing.py")
    code, _, err = run(missing)
    assert (code, err) == (
        1, f"retrograde: cannot read the script {missing}: No such file or directory.\n"
    )  # fmt: skip
    code, _, err = run(str(tmp_path), "--replace", "Value")
    assert (code, err) == (
        1, f"retrograde: cannot read the script {tmp_path}: Is a directory.\n"
    )  # fmt: skip


def test_arguments_of_a_script_may_follow_our_options(run, script):
    path = script("import sys\nclass Value: pass\nprint(sys.argv[1:])\n")
    assert run(path, "--replace", "Value", "3", "a b")[1] == "['3', 'a b']\n"
    assert run(path, "1", "--replace", "Value", "2", "--", "-3")[1] == "['1', '2', '-3']\n"


def test_options_that_make_no_sense_are_refused(run, script):
    path = script("print('ran')\n")
    assert run(path, "--steps", "3")[0] == 2
    code, out, err = run(path, "--json")
    assert (code, out) == (2, "")
    assert "--json prints what --explain, --doctor or --profile find" in err
    assert run(path, "--shim", "torch")[0] == 2
    assert run(path, "--html", "/no/such/folder/x.html")[0] == 1
