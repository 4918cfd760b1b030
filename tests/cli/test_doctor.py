"""``retrograde doctor``: a script's passes examined, and what comes back to the shell."""

from __future__ import annotations

import json
import textwrap

import pytest

HEALTHY = """
import sys
from retrograde import Value

def main(steps):
    w, b = Value(0.5), Value(0.0)
    for _ in range(steps):
        w.grad = b.grad = 0.0
        loss = sum((w * x + b - 2.0 * x) ** 2 for x in (1.0, 2.0, 3.0)) * (1 / 3)
        loss.backward()
        w.data -= 0.01 * w.grad
        b.data -= 0.01 * b.grad
    print("loss", round(loss.data, 3))

main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
"""
STALE = HEALTHY.replace("w.grad = b.grad = 0.0", "pass")
NAN = """
import retrograde as rg
w = {"scale": rg.Value(0.0), "shift": rg.Value(1.0)}
loss = rg.sqrt(w["scale"]) + w["shift"] * 2.0
loss.backward()
"""
MODEL = """
from retrograde import Value

class Model:
    def __init__(self):
        self.used, self.unused = [Value(0.3), Value(0.4)], [Value(0.1)]
    def parameters(self):
        return self.used + self.unused
    def loss(self, x):
        return (self.used[0] * x + self.used[1].detach() - 1.0) ** 2

def train():
    model = Model()
    model.loss(2.0).backward()

train()
"""


@pytest.fixture
def script(tmp_path):
    def write(source):
        path = tmp_path / "train.py"
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        return str(path)

    return write


def test_a_healthy_script(shell, script):
    done = shell("doctor", script(HEALTHY), "5")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("loss ")
    assert "healthy: 2 parameters in 2 groups, 5 passes" in done.stdout


@pytest.mark.parametrize("core", ["native", "reference"])
def test_a_sick_script(shell, script, core):
    done = shell("doctor", script(STALE), RETROGRADE_CORE=core)
    assert done.returncode == 1
    assert "✗ Stale gradients: in 2 of 2 steps" in done.stdout
    assert "train.py:10,in" in done.stdout.replace("\n", "").replace(" ", "")
    assert max(map(len, done.stdout.splitlines())) <= 110


def test_births_are_shown_with_their_line(shell, script):
    done = shell("doctor", script(NAN))
    assert done.returncode == 1
    assert "sqrt on line 4 made the gradient of a leaf = 0.0 inf" in done.stdout.replace(
        "\n    ", " "
    )


BRANCH = """
import retrograde as rg
x = rg.Value(0.0, label="x")
y = rg.where(x > 0.0, rg.sqrt(x), 0.0)
y.backward()
"""


def test_a_nan_gradient_is_shown_as_nan(shell, script):
    done = shell("doctor", script(BRANCH))
    assert done.returncode == 1
    assert "1 alarm: 1 parameter in 1 group, 1 pass, " in done.stdout
    assert "add up to exactly zero" not in done.stdout
    assert "x          1       nan    nan       nan     1\n" in done.stdout
    assert "1 gradient is not finite; the result is finite." in done.stdout


@pytest.mark.parametrize("columns", ["80", "50"])
def test_folded_lines_keep_their_indent(shell, script, columns):
    done = shell("doctor", script(BRANCH), COLUMNS=columns)
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= int(columns)
    first = next(i for i, line in enumerate(lines) if line.startswith("  why: "))
    last = next(i for i, line in enumerate(lines) if line.startswith("  cure: "))
    assert last > first + 1
    assert all(line.startswith("    ") for line in lines[first + 1 : last])


def test_parameters_are_found_in_the_locals_of_functions(shell, script):
    done = shell("doctor", script(MODEL), "--json")
    assert done.returncode == 1, done.stderr
    (report,) = json.loads(done.stdout)["reports"]
    said = {(v["kind"], v["group"], v["severity"]) for v in report["verdicts"]}
    assert ("unreachable", "model.unused", "alarm") in said
    assert ("detached", "model.used", "alarm") in said
    (detached,) = [v for v in report["verdicts"] if v["kind"] == "detached"]
    assert detached["site"]["line"] == 10


def test_json_is_alone_on_standard_output(shell, script):
    done = shell("doctor", script(HEALTHY), "--json")
    data = json.loads(done.stdout)
    assert (data["healthy"], data["passes"], data["unexamined"]) == (True, 3, 0)
    assert "loss" in done.stderr


def test_the_page_is_written(shell, script, tmp_path):
    page = tmp_path / "report.html"
    done = shell("doctor", script(STALE), "--html", str(page))
    assert done.returncode == 1
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "wrote" in done.stderr


def test_thresholds_can_be_changed(shell, script):
    done = shell("doctor", script(HEALTHY), "--threshold", "steep=1e-9")
    assert done.returncode == 1
    assert "Exploding" in done.stdout
    for wrong in ("steep", "steep=x", "stoop=1"):
        done = shell("doctor", script(HEALTHY), "--threshold", wrong)
        assert done.returncode == 1
        assert done.stderr.startswith("retrograde: doctor:")


def test_a_script_that_fails_passes_its_failure_on(shell, script):
    done = shell("doctor", script(HEALTHY + "\nraise SystemExit(7)\n"))
    assert done.returncode == 7
    assert "healthy" in done.stdout
    done = shell("doctor", script("1 / 0"))
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr


def test_a_script_without_passes_says_so(shell, script):
    done = shell("doctor", script("print('nothing')"))
    assert done.returncode == 1
    assert "differentiates nothing" in done.stderr
    assert "Import Value from retrograde" in done.stderr


def test_a_script_that_is_not_there(shell):
    done = shell("doctor", "nowhere.py")
    assert done.returncode == 1
    assert "cannot read the script nowhere.py" in done.stderr


def test_two_models_have_a_report_each(shell, script):
    source = HEALTHY.replace("main(int", "main(2)\nmain(int")
    done = shell("doctor", script(source))
    assert "train.py, model 1" in done.stdout
    assert "train.py, model 2" in done.stdout


LECTURE = """
from retrograde import Value
w, b = Value(0.1), Value(0.0)
for step in range(12):
    loss = sum((w * x + b - 2 * x - 1) ** 2 for x in (-1.0, 0.0, 1.0, 2.0))
    loss.backward()
    w = Value(w.data - 0.01 * w.grad)
    b = Value(b.data - 0.01 * b.grad)
"""
HELD = LECTURE.replace("w, b = Value(0.1), Value(0.0)", """import retrograde as rg
w, b = Value(0.1), Value(0.0)
optimizer = rg.optim.SGD([w, b], lr=0.01)""").replace(
    "    w = Value", "    optimizer.step()\n    w = Value"
)  # fmt: skip
INSIDE = """
import retrograde as rg
model = rg.nn.MLP(2, [3, 1])
optimizer = rg.optim.SGD(model.parameters(), lr=0.05)
for step in range(10):
    model = rg.nn.MLP(2, [3, 1])
    optimizer.zero_grad()
    loss = sum((model(x) - 1.0) ** 2 for x in ([1.0, 2.0], [0.5, -1.0], [-1.0, 0.3]))
    loss.backward()
    optimizer.step()
"""


def test_a_functional_step_is_one_healthy_model(shell, script):
    done = shell("doctor", script(LECTURE))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "healthy: 2 parameters in 2 groups, 12 passes" in done.stdout


def test_an_optimizer_that_holds_the_values_from_before_is_told(shell, script):
    done = shell("doctor", script(HELD))
    assert done.returncode == 1
    assert "1 alarm: 2 parameters in 2 groups, 12 passes" in done.stdout
    assert "✗ Parameters are made anew in the loop: SGD holds those of the first" in done.stdout


@pytest.mark.parametrize("seed", [1, 24])  # with 24 some new parameters look like a step
def test_a_model_made_inside_the_loop_is_told_once(shell, script, seed):
    done = shell("doctor", script(f"import random\nrandom.seed({seed})\n{INSIDE}"))
    assert done.returncode == 1
    assert done.stdout.count("Parameters are made anew in the loop") == 1
    assert "model 2" not in done.stdout


POINTS = """
from retrograde import Value
for start in (1.0, 2.0, 3.0):
    x = Value(start)
    (x * x + 3 * x).backward()
"""


def test_a_function_at_three_points_is_not_made_anew(shell, script):
    done = shell("doctor", script(POINTS))
    assert done.returncode == 0
    assert done.stdout.count("healthy: 1 parameter") == 3


ADVERSARIES = """
import random
import retrograde as rg
from retrograde import Value
random.seed(1)
g = [Value(random.gauss(0, 1)) for _ in range(3)]
d = [Value(random.gauss(0, 1)) for _ in range(3)]
def made(z): return g[0] * z + g[1] * z * z + g[2]
def score(x): return d[0] * x + d[1] * x * x + d[2]
{optimizers}
for step in range(8):
    fake = [made(random.gauss(0, 1)) for _ in range(8)]
    {reset_d}
    real = [random.gauss(2, 1) for _ in range(8)]
    parts = [rg.softplus(-score(x)) for x in real]
    parts += [rg.softplus(score(f.detach())) for f in fake]
    sum(parts).backward()
    {step_d}
    {reset_g}
    sum(rg.softplus(-score(f)) for f in fake).backward()
    {step_g}
"""
BY_OPTIMIZER = {
    "optimizers": "og, od = rg.optim.Adam(g, lr=0.01), rg.optim.Adam(d, lr=0.01)",
    "reset_d": "od.zero_grad()", "step_d": "od.step()",
    "reset_g": "og.zero_grad()", "step_g": "og.step()",
}  # fmt: skip
BY_HAND = {
    "optimizers": "",
    "reset_d": "for p in d: p.grad = 0.0", "step_d": "for p in d: p.data -= 0.01 * p.grad",
    "reset_g": "for p in g: p.grad = 0.0", "step_g": "for p in g: p.data -= 0.01 * p.grad",
}  # fmt: skip


@pytest.mark.parametrize("style", [BY_OPTIMIZER, BY_HAND], ids=["optimizers", "by hand"])
def test_the_standard_adversarial_script_is_healthy(shell, script, style):
    done = shell("doctor", script(ADVERSARIES.format(**style)), "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    reports = json.loads(done.stdout)["reports"]
    names = [group["name"] for report in reports for group in report["groups"]]
    assert sorted(names) == ["d", "g"]


TWO = """
import retrograde as rg
one, two = rg.nn.Linear(2, 1), rg.nn.Linear(2, 1)
optimizer = rg.optim.SGD(one.parameters() + two.parameters(), lr=0.01)
for step in range(5):
    optimizer.zero_grad()
    (sum((one([x, 1.0])[0] - two([x, 2.0])[0] - x) ** 2 for x in (0.5, 1.0))).backward()
    optimizer.step()
"""


def test_two_modules_with_the_same_labels_are_both_examined(shell, script):
    done = shell("doctor", script(TWO), "--json")
    (report,) = json.loads(done.stdout)["reports"]
    groups = {group["name"]: group["parameters"] for group in report["groups"]}
    assert groups == {"one.weight": 2, "one.bias": 1, "two.weight": 2, "two.bias": 1}


FORGOTTEN = TWO.replace("one.parameters() + two.parameters()", "one")


def test_a_cure_is_shown_in_text_data_and_page(shell, script, tmp_path):
    done = shell("doctor", script(FORGOTTEN), COLUMNS="80")
    assert done.returncode == 1
    assert "✗ 'two.weight', 'two.bias' are held by no optimizer" in done.stdout
    assert "    cure: Give them to the optimizer" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    data = json.loads(shell("doctor", script(FORGOTTEN), "--json").stdout)
    (verdict,) = data["reports"][0]["verdicts"]
    assert verdict["kind"] == "no optimizer"
    assert verdict["groups"] == ["two.weight", "two.bias"]
    assert verdict["cure"].startswith("Give them")
    assert (verdict["began"], verdict["ended"], verdict["consequences"]) == (0, 0, [])
    page = tmp_path / "page.html"
    shell("doctor", script(FORGOTTEN), "--html", str(page))
    assert "<strong>Cure.</strong> Give them to the optimizer" in page.read_text(encoding="utf-8")


DEAD = """
import retrograde as rg
w, b, v = [rg.Value(x) for x in (0.5, 0.3)], [rg.Value(0.1), rg.Value(0.2)], rg.Value(1.0)
for step in range(12):
    loss = 0.0
    for x in range(10):
        hidden = [rg.relu(wi * 0.1 * x + bi) for wi, bi in zip(w, b)]
        loss = loss + (v * (hidden[0] + hidden[1]) + 0.1 * v - 1.0) ** 2
    for p in (*w, *b, v):
        p.grad = 0.0
    loss.backward()
    for p in (*w, *b, v):
        p.data -= 0.001 * p.grad
    if step == 1:
        for p in b:
            p.data = -50.0
"""


def test_consequences_are_told_under_their_cause(shell, script, tmp_path):
    page = tmp_path / "page.html"
    done = shell("doctor", script(DEAD), COLUMNS="80")
    assert "1 alarm: 5 parameters" in done.stdout
    assert "dead since pass 3 of 12" in done.stdout
    assert "    consequences: dead gate (" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 110
    shell("doctor", script(DEAD), "--html", str(page))
    assert "<summary>So too: dead gate (" in page.read_text(encoding="utf-8")


CUT = """
from retrograde import Value
encoder, decoder = [Value(0.3), Value(-0.2)], [Value(0.5), Value(0.1)]
for step in range(10):
    for p in encoder + decoder:
        p.grad = 0.0
    hidden = (encoder[0] * 1.5 + encoder[1]).tanh().detach()
    loss = (decoder[0] * hidden + decoder[1] - 1.0) ** 2
    loss.backward()
    for p in encoder + decoder:
        p.data -= 0.1 * p.grad
"""
MOVED = CUT.replace("    loss.backward()", "    loss.backward()\n    encoder[0].data *= 0.9\n"
                    "    encoder[1].data *= 0.9")  # fmt: skip


def test_parameters_cut_off_by_detach_are_never_healthy(shell, script):
    done = shell("doctor", script(CUT))
    assert done.returncode == 1
    words = " ".join(done.stdout.split())
    assert "2 parameters of 'encoder': detached, detach() on line 7 cuts them off" in words
    assert "Leave the value attached where it is to learn" in words
    assert "healthy" not in words


def test_a_copy_that_is_moved_by_hand_behind_a_detach_is_meant(shell, script):
    assert "detached" not in shell("doctor", script(MOVED)).stdout


IN_TURN = """
from retrograde import Value
class Net:
    def __init__(self, first):
        self.w, self.b = [Value(first), Value(-first)], Value(0.0)
    def __call__(self, x):
        return (self.w[0] * x[0] + self.w[1] * x[1] + self.b).tanh()
def train(first):
    net = Net(first)
    for step in range(5):
        loss = (net([1.0, 2.0]) - 0.5) ** 2
        for p in [*net.w, net.b]:
            p.grad = 0.0
        loss.backward()
        for p in [*net.w, net.b]:
            p.data -= 0.05 * p.grad
train(0.3)
train(0.7)
"""


def test_objects_of_the_scripts_own_classes_are_one_model_each(shell, script):
    done = shell("doctor", script(IN_TURN), "--json")
    reports = json.loads(done.stdout)["reports"]
    groups = [[(it["name"], it["parameters"]) for it in report["groups"]] for report in reports]
    assert [sorted(each) for each in groups] == [[("net.b", 1), ("net.w", 2)]] * 2


NAMED = """
from retrograde import Value
theta = {"first": {"W": [[Value(0.1), Value(0.2)]], "b": [Value(0.3)]}, "last": [Value(0.5)]}
B = {"a": Value(0.1)}

class Net:
    def __init__(self):
        self.layers = [[Value(0.2), Value(0.4)]]

net = Net()
hidden = sum(w * x for w, x in zip(theta["first"]["W"][0], net.layers[0])) + theta["first"]["b"][0]
loss = (hidden.tanh() * theta["last"][0] + B["a"]) ** 2
loss.backward()
"""


def test_parameters_have_the_names_that_explain_gives_them(rg, cli, capsys, script):
    path = script(NAMED.replace("retrograde", rg.__name__))
    assert cli.main(["doctor", path, "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)["reports"]
    groups = {group["name"] for group in report["groups"]}
    assert cli.main(["explain", path, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    leaves = [it["name"] for it in told["nodes"] if it["op"] == "leaf"]
    assert len(leaves) == 7
    for leaf in leaves:
        assert any(leaf.startswith(group) for group in groups), (leaf, groups)
