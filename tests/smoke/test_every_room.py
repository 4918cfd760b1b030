"""One short visit to every room of the house, on both cores: ``pytest -m smoke``.

For the minute after an edit. What is looked at closely is looked at in the room's own tests.
"""

from __future__ import annotations

import importlib
import json
import math
from pathlib import Path

import numpy as np
import pytest

import retrograde

pytestmark = pytest.mark.smoke

ROOMS = {
    path.name
    for path in Path(retrograde.__file__).parent.iterdir()
    if path.is_dir() and (path / "__init__.py").exists()
}


def part(rg, name):
    return importlib.import_module(f"{rg.__name__}.{name}")


def run(rg, capsys, *arguments):
    """A command of the command line: what it prints."""
    assert part(rg, "cli").main(list(arguments)) == 0
    return capsys.readouterr().out


def two_routes(rg):
    a, b = rg.Value(2.0, label="a"), rg.Value(-3.0, label="b")
    root = (a * b + 10.0) * (a + b)
    root.label = "L"
    return a, b, root


def visit_ops(rg, capsys, tmp_path):
    for name, row in part(rg, "ops").OPS.items():
        if any(isinstance(partial, part(rg, "ops.expr").Absent) for partial in row.partials):
            continue
        point = [0.5 * (low + high) + 0.1 for low, high in row.domain]
        values = [rg.Value(x) for x in point]
        result = getattr(part(rg, "_values.elementwise"), name)(*values)
        result.backward()
        partials = row.evaluate_partials(*point, row.evaluate(*point))
        assert [v.grad for v in values] == pytest.approx(list(partials), rel=1e-13)


def visit_errors(rg, capsys, tmp_path):
    with pytest.raises(rg.errors.NumberError, match="must be a real number"):
        rg.Value("3")


def visit__text(rg, capsys, tmp_path):
    lines = part(rg, "_text.lines")
    folded = lines.folded([("one ", ""), ("two", "strong"), (" three", "")], 8)
    assert lines.as_text(folded, color=False) == "one two\nthree"
    assert part(rg, "_text.paragraphs").table([["a", "1"], ["b", "10"]], "lr") == ["a   1", "b  10"]


def visit_passes(rg, capsys, tmp_path):
    a, b, root = two_routes(rg)
    graph = part(rg, "passes.values").read((root,))
    pulled = part(rg, "passes.backward").pull(graph, {len(graph) - 1: 1.0})
    root.backward()
    assert [pulled.gradients[place] for place in graph.of([a, b])] == [a.grad, b.grad]


def visit__shared(rg, capsys, tmp_path):
    assert (rg.Value(1.0) * 2.0).site.file == __file__
    part(rg, "_shared.writing").write_whole(tmp_path / "text", b"whole")
    assert (tmp_path / "text").read_bytes() == b"whole"


def visit__core(rg, capsys, tmp_path):
    x = part(rg, "_core.fallback").Value(3.0)
    (x * x).backward()
    assert x.grad == 6.0


def visit__values(rg, capsys, tmp_path):
    x = [rg.Value(1.0), rg.Value(2.0)]
    rg.dot(x, x).backward()
    assert rg.grads(x).tolist() == [2.0, 4.0]
    with rg.no_grad():
        assert (x[0] * 2.0).op == "leaf"


def visit__tensors(rg, capsys, tmp_path):
    x, v = rg.Tensor(np.arange(6.0).reshape(2, 3)), rg.Value(2.0)
    (np.exp(x * 0.1) @ rg.stack([v, v, 1.0])).sum().backward()
    assert x.grad.shape == (2, 3)
    assert v.grad == pytest.approx(np.exp(x.data[:, :2] * 0.1).sum())
    assert rg.hessian(lambda t: (t**3).sum())(np.ones(2)).tolist() == [[6.0, 0.0], [0.0, 6.0]]


def visit__derivatives(rg, capsys, tmp_path):
    assert rg.hessian(lambda q: q[0] ** 3 * q[1])([2.0, 5.0]) == [[60.0, 12.0], [12.0, 0.0]]


def visit_program(rg, capsys, tmp_path):
    if part(rg, "value").core_name != "native":
        return
    f = rg.compile(lambda x, a: rg.exp(-a * x) if x > 0 else x * a)
    rows = np.array([1.0, -2.0, 3.0])
    value, grad = f.value_and_grad(rows, 0.5, wrt="x")
    assert value.tolist() == pytest.approx([math.exp(-0.5), -1.0, math.exp(-1.5)])
    assert grad.tolist() == pytest.approx([-0.5 * math.exp(-0.5), 0.5, -0.5 * math.exp(-1.5)])
    assert f.hessian(3.0, 0.5, wrt="x") == pytest.approx(0.25 * math.exp(-1.5))
    f.save(tmp_path / "f.rgp")
    assert rg.load(tmp_path / "f.rgp")(rows, 0.5).tobytes() == value.tobytes()
    assert "trace" in f.explain()


def visit_explain(rg, capsys, tmp_path):
    _, _, root = two_routes(rg)
    root.backward()
    story = rg.story(root)
    assert [step.words for step in story.backward]
    assert "a + b" in story.text()
    page = tmp_path / "page.html"
    expression = ("L=(a*b+c)*(a+b)", "a=2", "b=-3", "c=10")
    run(rg, capsys, "explain", *expression, "--html", str(page))
    assert "<svg" in page.read_text(encoding="utf-8")


def visit_check(rg, capsys, tmp_path):
    assert rg.gradcheck(lambda x: rg.sin(x) * x, 0.7)
    assert rg.compare(lambda x: rg.sin(x) * x, 0.7, against="complex-step")


def visit_diagnose(rg, capsys, tmp_path):
    a, _, root = two_routes(rg)
    root.backward()
    assert not rg.births(root)
    assert rg.memory(root).nodes > 3
    assert rg.doctor(root, [a])


def visit_learn(rg, capsys, tmp_path):
    run(rg, capsys, "learn", "start", str(tmp_path / "mine"))
    assert "0 of" in run(rg, capsys, "learn", "list", "--folder", str(tmp_path / "mine"))


def visit_frames(rg, capsys, tmp_path):
    area = rg.compile(lambda a, b: a * b)
    book = {"a": np.array([1.0, 2.0]), "b": np.array([3.0, 4.0])}
    found = area.value_and_grad(rg.columns(book))
    assert {name: column.tolist() for name, column in found.items()} == {
        "value": [3.0, 8.0], "d_a": [3.0, 4.0], "d_b": [1.0, 2.0]
    }  # fmt: skip


def visit_streams(rg, capsys, tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"a": [1.0, 2.0], "b": [3.0, 4.0]}), tmp_path / "in.parquet")
    area = rg.compile(lambda a, b: a * b)
    assert area.map_batches(tmp_path / "in.parquet", tmp_path / "out.parquet", wrt="a") == 2
    found = parquet.read_table(tmp_path / "out.parquet").to_pydict()
    assert found == {"value": [3.0, 8.0], "d_a": [3.0, 4.0]}


def visit_nn(rg, capsys, tmp_path):
    model = rg.nn.MLP(2, [3, 1], seed=1)
    loss = sum((model([x, 1.0]) - x) ** 2 for x in (0.0, 1.0))
    loss.backward()
    assert any(parameter.grad for parameter in model.parameters())


def visit_optim(rg, capsys, tmp_path):
    x = rg.Value(3.0)
    for method in (rg.optim.SGD([x], lr=0.1), rg.optim.Adam([x], lr=0.1)):
        before = x.data
        method.zero_grad()
        (x * x).backward()
        method.step()
        assert x.data < before


def visit_models(rg, capsys, tmp_path):
    models = part(rg, "models")
    corpus = models.read_corpus()
    trainer = models.Trainer(corpus, {"embedding": 4, "heads": 2}, models.Settings(steps=2))
    assert 3.0 < trainer.step() < 3.6
    trainer.save(tmp_path / "checkpoint.npz")
    assert models.Trainer.resume(tmp_path / "checkpoint.npz", corpus).done == 1


def visit_torch(rg, capsys, tmp_path):
    torch = pytest.importorskip("torch")
    w = torch.tensor([2.0, -1.0], requires_grad=True)
    account = rg.torch.ledger((3 * w).sum() + (w**2).sum(), w)
    assert account.exact
    assert sum(use.share for use in account.uses) == pytest.approx(1.0)


def visit_printing(rg, capsys, tmp_path):
    file = rg.compile(lambda x: rg.exp(x) * x).c_file(1.0)
    file.write(tmp_path / "f.c")
    assert "v_exp" in (tmp_path / "f.c").read_text()
    assert "lambda_gradient_one" in (tmp_path / "f.h").read_text()


def visit_cli(rg, capsys, tmp_path):
    about = json.loads(run(rg, capsys, "info", "--json"))
    assert about["core"] == part(rg, "value").core_name


VISITS = {name.removeprefix("visit_"): visit for name, visit in globals().items()
          if name.startswith("visit_")}  # fmt: skip


def test_every_room_is_visited():
    assert set(VISITS) == ROOMS


@pytest.mark.parametrize("room", sorted(VISITS))
def test_it_works(rg, capsys, tmp_path, room):
    VISITS[room](rg, capsys, tmp_path)


def test_derivatives_agree(rg):
    def f(x):
        return rg.tanh(x) * x

    x = 0.7
    slope = math.tanh(x) + x / math.cosh(x) ** 2
    assert rg.grad(f)(x) == pytest.approx(slope, rel=1e-14)
    assert rg.jvp(f, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-14)
    assert rg.hessian(f)(x) == pytest.approx(rg.grad(rg.grad(f))(x), rel=1e-14)
