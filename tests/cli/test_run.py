"""``retrograde run``: someone else's program on our core prints what it printed before."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import sys

import pytest

from .running import ENGINE, SCRIPTS, python, retrograde_run

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


@pytest.mark.slow
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
