"""The scripts everyone brings, as golden stories: names, the result, groups, the thermometer."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from retrograde.explain.groups import Group, group

from .support import agrees_with_golden
from .test_groups import check_flow

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.py"))

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="Python 3.10 keeps no columns, so it finds fewer names"
)


def told(rg: Any, path: Path) -> Any:
    scripted = importlib.import_module(f"{rg.__name__}.cli._scripted")
    story, code = scripted.story_of_script(str(path), [], None, True)
    assert code == 0
    return story


def outline(part: Group, names: list[str], indent: int = 0) -> list[str]:
    """A group, the groups in it, and the values it shows itself."""
    lines = [f"{'  ' * indent}{part.title}: {len(part.members)} values"]
    seen: set[tuple[str, ...]] = set()
    for it in part.parts:
        if isinstance(it, Group):
            inner = outline(it, names, indent + 1)
            shape = tuple(inner[1:])
            if part.repeats == 1 or not seen:  # alike parts are shown once
                lines += inner
            seen.add(shape)
    own = [names[it] for it in part.parts if isinstance(it, int)]
    if own:
        lines.append(f"{'  ' * (indent + 1)}{' '.join(own)}")
    return lines


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_the_story_reads_as_it_should(native: Any, path: Path) -> None:
    story = told(native, path)
    nodes = list(story.nodes)
    everything = group(nodes)
    check_flow(nodes, everything)
    title = story.text(100).splitlines()[0]
    parts = [
        title,
        "",
        *outline(everything, story.columns.names),
        "",
        native.thermometer(story).text(100),
    ]
    agrees_with_golden(f"script_{path.stem}.txt", "\n".join(parts))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_the_result_and_the_parameters_have_their_names(native: Any, path: Path) -> None:
    story = told(native, path)
    names = story.columns.names
    assert names[story.root] == "loss"
    assert not any(names[leaf].startswith("v") for leaf in story.leaves)
    titles = [part.title for part in every_group(group(list(story.nodes)))]
    for bad in ("<listcomp>", "<genexpr>", "__call__", "lambda"):
        assert not any(bad in title for title in titles)


def every_group(everything: Group) -> list[Group]:
    found = [everything]
    for it in found:
        found.extend(part for part in it.parts if isinstance(part, Group))
    return found


MATRICES = """
import retrograde as rg
def matrix(rows, columns):
    return [[rg.Value(0.1 * (i - j) + 0.05) for j in range(columns)] for i in range(rows)]
def times(m, x, b):
    return [sum((w * v for w, v in zip(row, x)), b_i) for row, b_i in zip(m, b)]
class Net:
    def __init__(self):
        self.w, self.b = matrix(20, 3), [rg.Value(0.0) for _ in range(20)]
        self.v, self.c = matrix(2, 20), [rg.Value(0.0) for _ in range(2)]
    def __call__(self, x):
        return times(self.v, [h.tanh() for h in times(self.w, x, self.b)], self.c)
class Layer:
    def __init__(self, rows, columns):
        self.w, self.b = matrix(rows, columns), [rg.Value(0.0) for _ in range(rows)]
    def __call__(self, x):
        return times(self.w, x, self.b)
{made}
loss = sum(y * y for x in ([1.0, 2.0, 3.0], [0.5, 0.1, -1.0]) for y in forward(x))
loss.backward()
"""

LOOSE = """
w, b = matrix(20, 3), [rg.Value(0.0) for _ in range(20)]
v, c = matrix(2, 20), [rg.Value(0.0) for _ in range(2)]
def forward(x): return times(v, [h.tanh() for h in times(w, x, b)], c)
"""


@pytest.mark.parametrize(
    ("made", "titles"),
    [
        ("net = Net()\ndef forward(x): return net(x)", ["net.w, net.b", "net.v, net.c"]),
        (LOOSE, ["w, b", "v, c"]),
        (
            "one, two = Net(), Net()\ndef forward(x): return one(x) + two(x)",
            ["one", "w, b", "v, c", "two", "w, b", "v, c"],
        ),
        (
            "one, two = Layer(4, 3), Layer(2, 4)\ndef forward(x): return two(one(x))",
            ["one", "two"],
        ),
    ],
    ids=["attributes", "variables", "two objects", "an object a layer"],
)
def test_matrices_are_layers(native: Any, tmp_path: Path, made: str, titles: list[str]) -> None:
    path = tmp_path / "script.py"
    path.write_text(MATRICES.format(made=made), encoding="utf-8")
    nodes = list(told(native, path).nodes)
    everything = group(nodes)
    check_flow(nodes, everything)
    found = every_group(everything)
    assert all(part.name for part in found)
    named = [part for part in found if part.title in {"one", "two", *titles}]
    assert sorted(part.title for part in named) == sorted(titles)
    inside = {it for part in named for it in part.members}
    assert all(it in inside for it, node in enumerate(nodes) if node.op == "tanh")
    assert all(it in inside for it, node in enumerate(nodes) if node.op == "leaf")


MADE_ANEW = """
import retrograde as rg
class Net:
    def __init__(self):
        self.w, self.b = [rg.Value(0.5), rg.Value(-0.25)], rg.Value(0.1)
        self.rows = [[rg.Value(1.0)]]
    def __call__(self, x):
        return (sum((w * v for w, v in zip(self.w, x)), self.b) * self.rows[0][0]).tanh()
def less(p):
    return rg.Value(p.data - 0.1 * p.grad)
net = Net()
layers = {{"w": net.w, "b": net.b, "rows": net.rows}}
data = [[0.0] * 50 for _ in range(1000)]
for step in range(3):
    loss = sum((net([x, rg.Value(2.0)]) - 1) ** 2 for x in (0.5, -1.0))
    loss.backward()
    old = net.w
    {update}
"""


@pytest.mark.parametrize(
    "update",
    [
        "net.w, net.b, net.rows = [less(p) for p in net.w], less(net.b), [[less(net.rows[0][0])]]",
        "net.w[:], net.b, net.rows[0][0] = map(less, old), less(net.b), less(net.rows[0][0])",
        "for i, p in enumerate(net.w): net.w[i] = less(p)\n    net.b = less(net.b)",
        "net = Net()",
    ],
    ids=["attributes", "items", "in turn", "the object"],
)
def test_parameters_made_anew_after_the_pass_keep_their_names(
    native: Any, tmp_path: Path, update: str
) -> None:
    path = tmp_path / "script.py"
    path.write_text(MADE_ANEW.format(update=update), encoding="utf-8")
    story = told(native, path)
    names = {story.columns.names[leaf] for leaf in story.leaves}
    assert {"net.w[0]", "net.w[1]", "net.b", "net.rows[0][0]"} <= names


RESULTS = """
import retrograde as rg
class Box: pass
box = Box()
a, b = rg.Value(2.0), rg.Value(3.0)
def helper(x, y): return x * y + 1
def pair(x, y): return x * y, x + y
{made}
{line}
"""


@pytest.mark.parametrize(
    ("made", "line", "name"),
    [
        ("loss = a * b", "loss.backward()", "loss"),
        ("loss = helper(a, b)", "loss.backward()", "loss"),
        ("loss = rg.mean([a, b])", "loss.backward()", "loss"),
        ("loss = sum([a * b, a])", "loss.backward()", "loss"),
        ("loss = a * b\nloss += helper(a, b)", "loss.backward()", "loss"),
        ("loss, other = pair(a, b)", "loss.backward()", "loss"),
        ("box.loss = helper(a, b)", "box.loss.backward()", "box.loss"),
        ("losses = [helper(a, b)]", "losses[-1].backward()", "losses[0]"),
        ("", "helper(a, b).backward()", "helper"),
        ("", "rg.square(a - b).backward()", "square"),
        ("", "(a * b).tanh().backward()", "v2"),
        ("cost = helper(a, b)", "rg.backward(cost)", "cost"),
        ("first = second = helper(a, b)", "second.backward()", "first"),
        ("def run(x):\n    x.backward()\ntotal = helper(a, b)", "run(total)", "total"),
        ("if (loss := helper(a, b)).data:", "    loss.backward()", "loss"),
    ],
)
def test_the_result_takes_its_name_from_the_program(
    native: Any, tmp_path: Path, made: str, line: str, name: str
) -> None:
    path = tmp_path / "script.py"
    path.write_text(RESULTS.format(made=made, line=line), encoding="utf-8")
    story = told(native, path)
    assert story.columns.names[story.root] == name
    assert {"a", "b"} <= set(story.columns.names)
