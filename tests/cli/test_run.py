"""``retrograde run``: someone else's program on our engine, and what is said of it."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import retrograde

SCRIPTS = Path(__file__).parent / "scripts"
SOURCE = Path(retrograde.__file__).parent.parent
CORES = ("native", "reference")


def python(*arguments, core="native", **options):
    """Python in a process of its own."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": str(SOURCE),
            "PYTHONUTF8": "1",
            "RETROGRADE_CORE": core,
        },
        **options,
    )


def retrograde_run(*arguments, **options):
    return python("-m", "retrograde", "run", *arguments, **options)


@pytest.fixture(params=CORES)
def core(request):
    if request.param == "native" and retrograde.value.core_name != "native":
        pytest.skip("no native core here")
    return request.param


@pytest.fixture
def script(tmp_path):
    def write(text, name="theirs.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def run(cli, capsys):
    """The command in this process, on either core."""

    def call(*arguments):
        code = cli.main(["run", *arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


ENGINE = """
import math
class Value:
    def __init__(self, data, children=(), local_grads=()):
        self.data, self.grad = data, 0
        self._children, self._local_grads = children, local_grads
    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), (1, 1))
    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))
    def backward(self):
        order, seen = [], set()
        def visit(v):
            if v not in seen:
                seen.add(v)
                for c in v._children: visit(c)
                order.append(v)
        visit(self)
        self.grad = 1
        for v in reversed(order):
            for c, l in zip(v._children, v._local_grads): c.grad += l * v.grad
"""
"""A small engine, 22 lines with its import; methods may follow."""


# ---- the same output --------------------------------------------------------------------------


@pytest.mark.bank(every=3)
@pytest.mark.parametrize(
    ("name", "arguments"), [("closures.py", ["7"]), ("gpt.py", ["2"]), ("gpt.py", [])]
)
def test_a_program_with_its_own_class_prints_the_same(core, name, arguments):
    plain = python(SCRIPTS / name, *arguments)
    ours = retrograde_run(SCRIPTS / name, "--replace", "Value", "--", *arguments, core=core)
    assert plain.returncode == ours.returncode == 0, ours.stderr
    assert len(plain.stdout.splitlines()) > 4
    assert ours.stdout == plain.stdout


def test_our_class_is_really_in_its_place(core):
    done = retrograde_run(SCRIPTS / "gpt.py", "--replace", "Value", "--profile", "--json",
                          core=core)  # fmt: skip
    told = json.loads(done.stdout)
    assert told["replaced"] == {
        "class": "Value",
        "line": 17,
        "added": [],
        "kept": [],
        "own": "",
    }
    assert told["profile"]["passes"] == 3
    assert "step 3 / 3" in done.stderr  # what the script printed makes room for the data


def test_without_options_a_script_runs_as_it_stands(core):
    plain, ours = python(SCRIPTS / "closures.py"), retrograde_run(SCRIPTS / "closures.py")
    assert (ours.stdout, ours.stderr, ours.returncode) == (plain.stdout, "", 0)


# ---- methods of the script's class ------------------------------------------------------------


def test_methods_ours_lacks_are_added_and_those_that_differ_are_kept(run):
    code, out, err = run(
        str(SCRIPTS / "closures.py"), "--replace", "Value", "--profile", "--json", "--", "2"
    )
    replaced = json.loads(out)["replaced"]
    assert (code, replaced["added"], replaced["kept"]) == (0, ["swish2"], ["gelu"])
    assert "Value is ours but for gelu: the script's own differ from ours" in err


def test_our_class_is_as_it_was_afterwards(run, rg):
    before = dict(vars(rg.Value))
    x = rg.Value(0.5)
    printed, gelu = repr(x), x.gelu().data
    assert run(str(SCRIPTS / "closures.py"), "--replace", "Value")[0] == 0
    assert dict(vars(rg.Value)) == before
    assert (repr(x), x.gelu().data) == (printed, gelu)
    assert not hasattr(x, "swish2")


@pytest.mark.parametrize(
    ("method", "is_kept"),
    [
        ("def relu(self): return Value(max(0, self.data), (self,),"
         " (float(self.data > 0),))", False),
        ("def relu(self): return Value(max(0, self.data), (self,),"
         " (float(self.data >= 0),))", True),
        ("def relu(self): return self if self.data > 0 else self * 0.01", True),
        ("def log(self): return Value(math.log(self.data), (self,), (1 / self.data,))", False),
        ("def log(self): return Value(math.log(self.data + 1e-8), (self,),"
         " (1 / (self.data + 1e-8),))", True),
        ("def log(self): return Value(math.log(max(self.data, 1e-12)), (self,),"
         " (1 / max(self.data, 1e-12),))", True),
        ("def exp(self): return Value(math.exp(self.data), (self,),"
         " (math.exp(self.data),))", False),
        ("def exp(self): return Value(math.exp(self.data), (self,), (self.data,))", True),
        ("def tanh(self): return Value(math.tanh(self.data), (self,),"
         " (1 - math.tanh(self.data) ** 2,))", False),
        ("def __sub__(self, other): return self + other * -1", False),
        ("def __sub__(self, other): return self + other", True),
        ("def __pow__(self, n): return Value(self.data**n, (self,), (n * self.data**(n - 1),))",
         False),
        ("def __lt__(self, other): return self.data < other.data", False),
        ("def __float__(self): return float(self.data)", True),
        ("def sqrt(self): return undefined_yet(self)", True),
        ("def zero_grad(self): self.grad = 0", True),
        ("def sigmoid(self, steepness): return self * steepness", True),
    ],
)  # fmt: skip
def test_a_rule_is_ours_only_where_it_gives_the_same(run, script, method, is_kept):
    path = script(f"{ENGINE}    {method}\n(Value(2.0) * 3).backward()\n")
    code, out, _ = run(path, "--replace", "Value", "--profile", "--json")
    replaced = json.loads(out)["replaced"]
    name = re.match(r"def (\w+)", method)[1]
    assert (code, replaced["kept"]) == (0, [name] if is_kept else [])


def test_what_is_kept_works_on_our_values(run, script):
    path = script(
        f"{ENGINE}"
        "    def __float__(self): return float(self.data)\n"
        "    def cube(self): return Value(self.data**3, (self,), (3 * self.data**2,))\n"
        "    half = 0.5\n"
        "    @property\n"
        "    def size(self): return 1\n"
        "    @staticmethod\n"
        "    def zero(): return Value(0.0)\n"
        "    def _secret(self): return 7\n"
        "x = Value(2.0)\n"
        "y = (x * Value.half).cube() + Value.zero()\n"
        "y.backward()\n"
        "print(float(y), x.grad, y.size, math.exp(y * 0), x._secret(), type(y) is Value)\n"
    )
    code, out, _ = run(path, "--replace", "Value")
    assert (code, out) == (0, "1.0 1.5 1 1.0 7 True\n")


def test_comparing_leaves_no_trace_in_the_script(script, run):
    path = script(
        "import random\nrandom.seed(3)\nmade = 0\n"
        + ENGINE
        + "    def relu(self): print('relu'); random.random(); return self\n"
        "print(random.random(), sorted(n for n in globals() if 'retrograde' in n))\n"
    )
    expected = python("-c", "import random; random.seed(3); print(random.random(), [])").stdout
    assert run(path, "--replace", "Value")[1] == expected


def test_a_decorated_class_with_bases_is_replaced(run, script):
    path = script(
        """
        from dataclasses import dataclass

        class Base:
            def twice(self):
                return self + self

        @dataclass(eq=False)
        class Number(Base):
            data: float
            children: tuple = ()
            local_grads: tuple = ()
            grad: float = 0.0

            def __add__(self, other):
                return Number(self.data + other.data, (self, other), (1.0, 1.0))

            def backward(self):
                for child, slope in zip(self.children, self.local_grads):
                    child.grad += slope

        x = Number(3.0)
        y = x.twice()
        y.backward()
        print(y.data, x.grad)
        """
    )
    code, out, err = run(path, "--replace", "Number")
    assert (code, out) == (0, "6.0 2.0\n")
    assert "Number is ours but for backward" in err  # it goes one level down


def test_attributes_under_other_names_are_found(run, script):
    """A class that calls everything differently, and a program that walks its graph."""
    path = script(OTHER_NAMES)
    expected = python(path).stdout
    assert expected.startswith("4.0 2.0 1.0\nplus 8.0\n  times 6.0\n")
    code, out, err = run(path, "--replace", "Node")
    assert (code, out, err) == (0, expected, "")


OTHER_NAMES = """
class Node:
    colour = "red"
    depth = 0

    def __init__(self, value, parents=None, local=(), kind="leaf"):
        self.value, self.adjoint = value, 0.0
        self.parents, self.local = parents, list(local)

    def __add__(self, other):
        return Node(self.value + other.value, [self, other], (1.0, 1.0))

    def __mul__(self, other):
        return Node(self.value * other.value, [self, other], (other.value, self.value))

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if node not in seen:
                seen.add(node)
                for parent in node.parents or ():
                    visit(parent)
                order.append(node)

        visit(self)
        self.adjoint = 1.0
        for node in reversed(order):
            for parent, slope in zip(node.parents or (), node.local):
                parent.adjoint += slope * node.adjoint


def show(node, depth=0):
    kind = {(1.0, 1.0): "plus", (): "leaf"}.get(tuple(node.local), "times")
    print("  " * depth + kind, node.value)
    for parent in node.parents or ():
        show(parent, depth + 1)


a, b = Node(2.0), Node(3.0)
c = a * b + a
c.backward()
print(a.adjoint, b.adjoint, c.adjoint)
show(c)
a.value -= 0.5 * a.adjoint
a.adjoint = 0.0
print(a.value, a.adjoint, a.parents, a.local, Node.colour)
"""


def test_fields_of_a_dataclass_are_read_not_their_defaults(run, script):
    path = script(
        """
        from dataclasses import dataclass

        @dataclass(eq=False)
        class Value:
            data: float
            prev: tuple = ()
            slopes: tuple = ()
            grad: float = 0.0

            def __mul__(self, other):
                return Value(self.data * other.data, (self, other), (other.data, self.data))

            def backward(self):
                self.grad = 1.0
                for one, slope in zip(self.prev, self.slopes):
                    one.grad += slope

        x, y = Value(2.0), Value(3.0)
        z = x * y
        z.backward()
        print(z, len(z.prev), z.slopes)
        """
    )
    code, out, err = run(path, "--replace", "Value")
    assert (code, out) == (0, python(path).stdout)
    assert "Value is ours but for backward" in err


def test_an_attribute_that_every_object_begins_with_is_there(run, script):
    engine = ENGINE.replace("= data, 0\n", "= data, 0; self.n = 1\n")
    path = script(engine + "    n = 0\nx = Value(2.0)\ny = x * 3\ny.n += 4\nprint(x.n, y.n)\n")
    code, out, err = run(path, "--replace", "Value")
    assert (code, out, err) == (0, "1 5\n", "")


def test_a_counter_that_the_script_keeps_on_its_class_counts_as_before(run, script):
    engine = ENGINE.replace("= data, 0\n", "= data, 0; Value.made += 1\n")
    path = script(engine + "    made = 0\nx = Value(2.0) * 3\nprint(x.data, Value.made)\n")
    code, out, err = run(path, "--replace", "Value")
    assert (code, out) == (0, "6.0 3\n")
    assert "Value stayed the script's own: making a value does more than that" in err


def test_an_attribute_that_ours_has_too_reads_as_the_script_writes_it(run, script):
    path = script(
        ENGINE.replace(
            "def __init__(self, data, children=(), local_grads=()):",
            "def __init__(self, data, children=(), local_grads=()):\n        self.op = '?'",
        )
        + "y = Value(2.0) * 3\nprint(y.op)\ny.op = 'times'\nprint(y.data, y.op)\n"
    )
    code, out, _ = run(path, "--replace", "Value")
    assert (code, out) == (0, "?\n6.0 times\n")


def test_a_class_without_backward_stays_the_scripts_own(run, script):
    path = script(
        """
        class Number:
            def __init__(self, data):
                self.data = data

            def __add__(self, other):
                return Number(self.data + other.data)

        print((Number(1.0) + Number(2.0)).data)
        """
    )
    code, out, err = run(path, "--replace", "Number")
    assert (code, out) == (0, "3.0\n")
    assert "Number stayed the script's own: " in err


@pytest.mark.parametrize("package", ["", "tiny."])
def test_a_class_of_an_imported_module_is_replaced(core, script, tmp_path, package):
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "__init__.py").touch()
    engine = tmp_path / f"{package.replace('.', '/')}engine.py"
    engine.write_text(f"{ENGINE}    def fail(self): return {{}}[self.data]\n")
    path = script(
        f"""
        from {package}engine import Value
        x = Value(2.0)
        y = x * x
        y.backward()
        print(y.data, x.grad, type(x).__name__)
        x.fail()
        """
    )
    plain = python(path)
    ours = retrograde_run(path, "--replace", f"{package}engine.Value", "--profile", core=core)
    assert ours.stderr == plain.stderr
    assert ours.stdout.startswith(plain.stdout)
    assert "1 backward pass: 2 values" in ours.stdout


@pytest.mark.parametrize("text", ["1 / 0\n", "for x in\n", "import no_such_module\n"])
def test_a_module_that_fails_shows_its_own_traceback(script, tmp_path, text):
    (tmp_path / "engine.py").write_text(f"{ENGINE}\n{text}")
    path = script("from engine import Value\n")
    plain, ours = python(path), retrograde_run(path, "--replace", "engine.Value")
    assert (ours.stderr, ours.returncode) == (plain.stderr, plain.returncode)


def test_a_module_is_imported_afresh_afterwards(run, script, tmp_path, monkeypatch):
    (tmp_path / "their_engine.py").write_text(ENGINE)
    monkeypatch.syspath_prepend(tmp_path)
    before = list(sys.meta_path)
    text = "from their_engine import Value\nprint(Value.__module__, hasattr(Value, 'erfc'))\n"
    path = script(text)
    code, out, _ = run(path, "--replace", "their_engine.Value")
    assert (code, out) == (0, "their_engine True\n")
    assert "their_engine" not in sys.modules
    assert sys.meta_path == before
    assert importlib.import_module("their_engine").Value.__module__ == "their_engine"
    assert run(path, "--replace", "their_engine.Value")[1] == out
    assert sys.modules.pop("their_engine").Value.__module__ == "their_engine"


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


# ---- what is said of it -----------------------------------------------------------------------


@pytest.mark.bank
def test_the_last_pass_is_explained_with_the_scripts_own_names(run, rg):
    code, out, _ = run(str(SCRIPTS / "gpt.py"), "--replace", "Value", "--explain", "--json",
                       "--", "1")  # fmt: skip
    story = rg.explain.Story.from_json(json.loads(out)["explain"])
    assert code == 0
    names = {node.name for node in story.nodes if node.op == "leaf" and node.requires_grad}
    assert {
        "wte[5][0]",
        "wpe[1][3]",
        "head[4][11]",
        "layer0.wq[3][4]",
        "layer0.up[63][15]",
    } <= names
    assert not [name for name in names if re.match(r"v\d|params|p\b", name)]
    assert story.note.startswith("This is the only backward pass, at line 129")


def test_names_are_found_in_functions_and_objects_and_taken_away_again(run, script, rg):
    path = script(
        f"""
        from {rg.__name__} import Value

        class Unit:
            def __init__(self):
                self.w, self.b = [Value(1.5), Value(2.5)], Value(0.5, label="offset")

        def main():
            unit = Unit()
            kept.append(unit)
            for step in range(2):
                loss = unit.w[0] * 3 + unit.w[1] * unit.b
                loss.backward()

        kept = []
        import atexit
        main()
        """
    )
    code, out, _ = run(path, "--explain", "--json")
    nodes = {node["name"]: node["data"] for node in json.loads(out)["explain"]["nodes"]}
    assert code == 0
    assert nodes["unit.w[0]"] == 1.5
    assert nodes["unit.w[1]"] == 2.5
    assert nodes["offset"] == 0.5


def test_the_explanation_as_text_page_and_ledger(run, tmp_path):
    page = tmp_path / "story.html"
    path = str(SCRIPTS / "closures.py")
    code, out, _ = run(path, "--replace", "Value", "--explain", "--", "2")
    assert code == 0
    assert out.startswith("step 0 loss ")
    assert "GRADIENTS  how loss answers" in out
    assert max(map(len, out.splitlines())) <= 80
    code, out, _ = run(path, "--replace", "Value", "--ledger", "model.hidden[0].bias", "--", "2")
    assert "The gradient of model.hidden[0].bias in loss" in out
    code, out, err = run(path, "--replace", "Value", "--html", str(page), "--", "2")
    assert f"wrote {page}" in err
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_script_may_leave_its_folder(script, tmp_path):
    script(
        f"""
        from __future__ import annotations
        import os, warnings
        warnings.warn("once")
        {textwrap.indent(ENGINE, " " * 8).lstrip()}
        os.chdir("/")
        w = [Value(2.0)]
        loss = w[0] * 3
        loss.backward()
        """
    )
    done = retrograde_run(
        "theirs.py", "--replace", "Value", "--explain", "--profile", "--json", cwd=tmp_path
    )
    told = json.loads(done.stdout)
    assert [node["name"] for node in told["explain"]["nodes"]] == ["w[0]", "3", "loss"]
    assert told["profile"]["passes"] == 1
    assert done.stderr.count("UserWarning: once") == 1


def test_a_script_that_raises_is_explained_up_to_there(run, script, rg):
    path = script(
        f"from {rg.__name__} import Value\nx = Value(2.0)\ny = x * x\ny.backward()\n1 / 0\n"
    )
    code, out, err = run(path, "--explain")
    assert code == 1
    assert err.startswith("Traceback")
    assert "The script raised ZeroDivisionError at line 5" in " ".join(out.split())


def test_an_engine_of_its_own_is_named_with_the_option_that_replaces_it(run, script):
    code, _, err = run(script(f"{ENGINE}\n(Value(1.0) + 2).backward()\n"), "--explain")
    assert code == 1
    assert "it has an engine of its own. Put ours in its place with --replace Value." in err
    path = script("def f():\n    from micrograd.engine import Value\n")
    assert "--shim micrograd" in run(path, "--explain")[2]
    assert "ran no backward pass" in run(script("x = 1\n"), "--explain")[2]


@pytest.mark.bank
def test_a_profile_says_where_time_and_values_come_from(run):
    arguments = (str(SCRIPTS / "gpt.py"), "--replace", "Value", "--profile")
    code, out, _ = run(*arguments, "--json", "--", "8")
    profile = json.loads(out)["profile"]
    assert (code, profile["passes"]) == (0, 8)
    assert 1 <= profile["counted"] <= 8
    parts = (profile["forward"] or 0) + profile["backward"] + (profile["other"] or 0)
    assert parts + profile["watching"] == pytest.approx(profile["whole"], rel=0.05)
    assert profile["backward"] > 0
    lines = {line["line"]: line for line in profile["lines"]}
    top = max(profile["lines"], key=lambda line: line["values"])
    assert (top["line"], top["text"][:22]) == (85, "return [sum(w * xi for")
    assert sum(line["values"] for line in lines.values()) == pytest.approx(profile["values"])
    assert sum(line["bytes"] for line in lines.values()) == pytest.approx(profile["bytes"])
    assert all(Path(line["file"]).name == "gpt.py" for line in profile["lines"] if line["values"])
    code, out, _ = run(*arguments, "--", "2")
    assert "\nThe profile of gpt.py" in out
    assert "2 backward passes: " in out
    assert "\n  by values\n" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_profile_counts_exactly(run, script, rg):
    path = script(
        f"""
        from {rg.__name__} import Value
        x = Value(2.0)
        y = x
        for _ in range(100):
            y = y * x
        y.backward()
        y.backward()
        """
    )
    code, out, _ = run(path, "--profile", "--json")
    told = json.loads(out)
    lines = {line["line"]: (line["values"], line["bytes"]) for line in told["profile"]["lines"]}
    assert (code, told["profile"]["values"]) == (0, 101)
    assert lines[5][0] == 100
    if rg.value.core_name == "native":
        assert (lines[5][1], lines[2][1]) == (8000, 80)


def test_a_profile_of_a_script_without_passes_says_so(run, script):
    code, out, _ = run(script("x = 1\n"), "--profile")
    assert code == 0
    assert "no backward pass ran to its end" in out


@pytest.mark.bank
def test_the_doctor_examines_it(run):
    arguments = (str(SCRIPTS / "gpt.py"), "--replace", "Value", "--doctor")
    code, out, _ = run(*arguments, "--json", "--", "2")
    (report,) = json.loads(out)["doctor"]
    assert (code, report["passes"]) == (0, 2)
    assert {"wte", "wpe", "head", "layer0.wq"} <= {group["name"] for group in report["groups"]}
    code, out, _ = run(*arguments, "--explain", "--profile", "--", "2")
    assert code == 0
    assert out.index("GRADIENTS") < out.index("The doctor on gpt.py") < out.index("The profile of")


# ---- labels -----------------------------------------------------------------------------------


@pytest.fixture
def labels(cli):
    return importlib.import_module(f"{cli.__name__}._labels")


def test_labels_follow_lists_dicts_and_objects(labels, rg):
    class Unit:
        def __init__(self, data):
            self.w, self.me = [rg.Value(data)], self

    class Slotted:
        __slots__ = ("__dict__", "absent", "weight")

        def __init__(self):
            self.weight = rg.Value(7.0)

    state = {"wte": [[rg.Value(1.0)]], "layer0.wq": (rg.Value(2.0),), 3: rg.Value(3.0)}
    deep = {"deep": {"er": {"x": rg.Value(4.0)}}, "wte": rg.Value(5.0), "n": 1, "s": "text"}
    alone = rg.Value(8.0)
    variables = {
        "params": [state["wte"][0][0], alone, rg.Value(9.0)],
        "p": alone,
        "alone": alone,
        "state": state,
        "deep_one": deep,
        "model": {"units": [Unit(6.0)]},
        "slotted": Slotted(),
        "__hidden": rg.Value(10.0),
        "module": json,
        "function": lambda: None,
    }
    variables["everything"] = [variables]
    found = {value.data: label for value, label in labels.labels_of(variables, {"p"})}
    assert found == {
        1.0: "wte[0][0]",
        2.0: "layer0.wq[0]",
        3.0: "state[3]",
        4.0: "deep.er.x",
        5.0: "deep_one.wte",
        6.0: "units[0].w[0]",
        7.0: "slotted.weight",
        8.0: "alone",
        9.0: "params[2]",
        10.0: "everything[0].__hidden",
    }


def test_labels_are_set_where_there_are_none_and_taken_away_again(labels, rg):
    named, bare = rg.Value(1.0, label="mine"), rg.Value(2.0)
    with labels.labelled({"named": named, "bare": [bare]}):
        assert (named.label, bare.label) == ("mine", "bare[0]")
    assert (named.label, bare.label) == ("mine", "")


def test_labels_are_lent_while_a_watcher_is_told_of_a_pass(cli, labels, rg, monkeypatch):
    monkeypatch.setattr(labels, "MOST_PARTS", 100)  # a variable has its name, whatever lies around
    watch = importlib.import_module(f"{rg.__name__}._values.watch")
    w, told = rg.Value(2.0), []
    watcher = watch.watching(lambda this: told.append(w.label),
                             begun=lambda this: told.append(w.label))  # fmt: skip
    with labels.Lent(()).around(watcher):
        for _ in range(2):
            (w * 2).backward()
    assert told == ["w", "", "", ""]
    assert w.label == ""


def test_labels_of_deep_wide_and_circular_things(labels, rg, monkeypatch):
    chain = bottom = []
    for _ in range(50_000):
        bottom.append([])
        bottom = bottom[0]
    bottom.append(chain)
    near = rg.Value(1.0)
    assert len(labels.labels_of({"chain": chain, "near": [near]})) == 1
    monkeypatch.setattr(labels, "MOST_PARTS", 1000)
    wide = [[rg.Value(0.0)] for _ in range(5_000)]
    assert len(labels.labels_of({"near": {"x": near}, "wide": wide})) <= 1001
