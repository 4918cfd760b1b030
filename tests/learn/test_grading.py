"""Grading anyone's engine: closures, local gradients, functions, and each with one fault."""

from __future__ import annotations

from pathlib import Path

import pytest

import retrograde
from retrograde.cli import main
from retrograde.learn import faults
from retrograde.learn.cards import card
from retrograde.learn.exercises import exercise
from retrograde.learn.exhibits import EXHIBITS, RULES, exhibit_svg, rule_card_svg
from retrograde.learn.grading import grade_source

ENGINES = Path(__file__).parents[1] / "compat" / "engines.py"
CLOSURES = ENGINES.read_text() + "\nValue = ClosureEngine\n"
LOCAL = ENGINES.read_text() + "\nValue = LocalGradEngine\n"


def verdicts(grade):
    return {it.name: it.verdict for it in grade.capabilities}


def names(grade):
    return [it.name for it in grade.misconceptions]


@pytest.mark.parametrize("source", [CLOSURES, LOCAL], ids=["micrograd-like", "microgpt-like"])
def test_teaching_engines_are_right_but_for_the_interior(source):
    grade = grade_source(source, "student.py", "ada")
    wrong = [name for name, verdict in verdicts(grade).items() if verdict == "wrong"]
    assert wrong == ["zeroing", "second backward"]
    assert names(grade) == ["interior-leak"]
    assert grade.right == grade.counted - 2


SIGMOID = """
class Value(ClosureEngine):
    def sigmoid(self):
        s = 1 / (1 + 2.718281828459045 ** -self.data)
        out = ClosureEngine(s, (self,))
        def push():
            self.grad += ({slope}) * out.grad
        out._backward = push
        return out
ClosureEngine.sigmoid = Value.sigmoid
Value = ClosureEngine
"""


@pytest.mark.parametrize("slope", ["s", "1 - s", "s * (1 + s)", "1 - s * s", "1.001 * s * (1 - s)"])
def test_a_wrong_sigmoid_is_told_beside_another_fault(slope, tmp_path, capsys):
    source = ENGINES.read_text() + SIGMOID.format(slope=slope)
    (line,) = [at for at, text in enumerate(source.splitlines(), 1) if "def sigmoid" in text]
    grade = grade_source(source, "student.py", "ada")
    assert names(grade) == ["interior-leak"]
    assert grade.unexplained == ("sigmoid",)
    (tmp_path / "student.py").write_text(source)
    assert main(["grade", str(tmp_path / "student.py")]) == 1
    assert f"line {line}: y = sigmoid(a)" in capsys.readouterr().out


def test_a_right_sigmoid_is_told_beside_no_fault():
    right = grade_source(ENGINES.read_text() + SIGMOID.format(slope="s * (1 - s)"), "student.py")
    assert right.unexplained == ()


def test_an_operation_that_is_not_there_is_absent_and_does_not_count():
    grade = grade_source(LOCAL, "student.py")
    assert verdicts(grade)["tanh"] == "absent"
    there = [name for name, verdict in verdicts(grade).items() if verdict != "absent"]
    assert 0 < grade.counted == len(there) < len(grade.capabilities)


def test_what_every_engine_must_have_counts_when_it_is_absent():
    grade = grade_source(exercise("value_add").solution, "student.py")
    assert verdicts(grade)["mul"] == "absent"
    assert grade.score < 0.6


RIGHT = Path(faults.__file__).read_text() + "\nValue = FaultyValue\n"


def test_a_right_engine_is_right():
    grade = grade_source(RIGHT, "student.py", "ada")
    assert (grade.problem, grade.score, grade.misconceptions) == ("", 1.0, ())
    assert grade.counted == len(grade.capabilities) > 0


def test_our_own_values_are_not_there_to_be_handed_in():
    grade = grade_source("from retrograde import Value\n", "student.py", "ada")
    assert "No module named 'retrograde'" in grade.problem
    assert grade.score == 0.0


PUSH = "self.grad += other.data * out.grad\n            other.grad += self.data * out.grad"
SAME = "self.grad += self.data * out.grad\n            other.grad += other.data * out.grad"
WALK = "reversed(ordered(self, lambda node: node._children))"
POWER = "(power * self.data ** (power - 1),)"
EXP = "self.grad += out.data * out.grad"
FAULTY = {
    "not-swapped": (CLOSURES, PUSH, SAME),
    "overwrites": (CLOSURES, "grad += ", "grad = "),
    "halves": (CLOSURES, "grad += out.grad\n", "grad += out.grad / 2\n"),
    "from-input": (CLOSURES, EXP, EXP.replace("out.data", "self.data")),
    "gate-always-open": (CLOSURES, "(out.data > 0) * out.grad", "out.grad"),
    "no-seed": (LOCAL, "self.grad = 1\n", "pass\n"),
    "forgot-upstream": (LOCAL, "local_grad * node.grad", "local_grad"),
    "order-not-reversed": (LOCAL, WALK, WALK[9:-1]),
    "power-factor-lost": (LOCAL, POWER, "(self.data ** (power - 1),)"),
    "reflected-swapped": (LOCAL, "return other + (-self)", "return self - other"),
    "missing-reflected": (LOCAL, "__radd__", "__no_radd__"),
    "second-sign": (exercise("engine").solution, "(1.0, -1.0)", "(1.0, 1.0)"),
    "visits-too-early": (exercise("recursion").wrong[0][1], "\n", "\n"),
    "recursion-limit": (exercise("backward").solution, "\n", "\n"),
    "clears-leaves": (exercise("twice").wrong[1][1], "\n", "\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_is_named(name):
    source, right, wrong = FAULTY[name]
    assert right in source
    grade = grade_source(source.replace(right, wrong), "student.py", "ada")
    assert grade.problem == ""
    assert name in names(grade), (names(grade), [it for it in grade.capabilities if it.got])


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["", "bob", "eve"])
@pytest.mark.parametrize("name", ["overwrites", "not-swapped", "halves"])
def test_a_fault_is_named_whoever_the_student_is(name, seed):
    source, right, wrong = FAULTY[name]
    assert name in names(grade_source(source.replace(right, wrong), "student.py", seed))


ODD = """
class Scalar:
    def __init__(self, value):
        self.value = value
        self.gradient = None
        self.parents = []

    def __add__(self, other):
        out = Scalar(self.value + other.value)
        out.parents = [(self, 1), (other, 1)]
        return out

    def __mul__(self, other):
        out = Scalar(self.value * other.value)
        out.parents = [(self, other.value), (other, self.value)]
        return out

def backprop(root, seed):
    order, seen = [], set()
    def visit(node):
        if id(node) not in seen:
            seen.add(id(node))
            for parent, _ in node.parents:
                visit(parent)
            order.append(node)
    visit(root)
    root.gradient = seed
    for node in reversed(order):
        for parent, slope in node.parents:
            parent.gradient = (parent.gradient or 0) + slope * node.gradient
"""


def test_another_class_with_other_names_and_a_function_with_a_seed():
    grade = grade_source(ODD, "student.py")
    assert grade.engine == {
        "class": "Scalar", "data": "value", "gradient": "gradient", "backward": "backprop(value)",
    }  # fmt: skip
    assert {verdicts(grade)[it] for it in ("add", "mul", "reuse", "diamond", "order")} == {"right"}
    assert "recursion-limit" in names(grade)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("x = 1\n", "the file has no class Value"),
        ("class Value:\n    pass\n", "takes no arguments"),
        ("class Value:\n    def __init__(self, data):\n        pass\n", "in no attribute"),
        (
            "class Value:\n    def __init__(self, data):\n        self.data = data\n",
            "no attribute for a gradient",
        ),
        (
            "class Value:\n    def __init__(self, d):\n        self.data, self.grad = d, 0\n",
            "has no method backward()",
        ),
        ("def (", "SyntaxError"),
    ],
)
def test_a_file_that_cannot_be_graded_says_why(source, told):
    grade = grade_source(source, "student.py")
    assert told in grade.problem
    assert grade.score == 0.0


def test_seeds_give_students_questions_of_their_own():
    assert card("ada", 2) == card("ada", 2)
    assert card("ada", 2).expression != card("bob", 2).expression or (
        card("ada", 2).leaves != card("bob", 2).leaves
    )


@pytest.mark.parametrize("number", range(1, 8))
def test_cards_are_right(number):
    it = card("ada", number)
    for name in it.leaves:
        step = 1e-6
        rise = []
        for sign in (-1, 1):
            names = {**it.leaves, name: it.leaves[name] + sign * step}
            exec(it.expression, {f: getattr(retrograde, f) for f in ("relu", "tanh", "exp")}, names)
            rise.append(names["y"])
        assert it.gradients[name] == pytest.approx((rise[1] - rise[0]) / (2 * step), abs=1e-6)
    assert "______" in it.text()
    assert it.front_svg().startswith("<svg")
    assert "gradient" not in it.front_svg()
    assert f"{it.data['y']:.6g}" in it.back_svg()
    assert it.graph_svg().startswith("<svg")


def test_rule_cards_have_wires_that_copy_and_cross():
    assert rule_card_svg("add").count('class="copied"') == 2
    assert rule_card_svg("mul").count('class="crossing"') == 2
    assert "crossing" not in rule_card_svg("tanh")
    assert "1 − z·z" in rule_card_svg("tanh")


def test_the_waterfall_is_drawn_in_colours_with_a_bar_to_each_contribution():
    a, b = retrograde.Value(2.0, label="a"), retrograde.Value(-3.0, label="b")
    drawn = exhibit_svg("waterfall", (a * b + a) * a)
    assert drawn.count('class="positive"') + drawn.count('class="negative"') == 6
    assert "a.grad += " in drawn
    assert " → " in drawn  # what was there already, and what it becomes


def test_a_long_waterfall_says_what_it_leaves_out():
    total = a = retrograde.Value(1.0, label="a")
    for _ in range(60):
        total = total + a
    assert "more steps" in exhibit_svg("waterfall", total)


def test_exhibits_are_well_formed():
    from xml.dom.minidom import parseString

    a = retrograde.Value(2.0, label="a")
    for kind in EXHIBITS:
        parseString(exhibit_svg(kind, a * a + a))
    for name in RULES:
        parseString(rule_card_svg(name))
    with pytest.raises(retrograde.errors.LearnError, match="did you mean 'tanh'"):
        rule_card_svg("tan_h")
